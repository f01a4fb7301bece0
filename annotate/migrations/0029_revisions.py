import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

# Of 40 bits; both databases can add up many of them.
RANDOM = {
    'postgresql': '(random() * 1099511627775)::bigint',
    'sqlite': 'abs(random() % 1099511627776)',
}
# Table -> what a row of it changes: the column of the revision, the column of the row that names
# it, and what names its source.
CHANGES = {
    'annotate_judgment': ('narrative_id', 'narrative_id', '{row}.annotator_id'),
    'annotate_flag': ('narrative_id', 'narrative_id', '{row}.annotator_id'),
    'annotate_adjudication': ('narrative_id', 'narrative_id', '{row}.by_id'),
    'annotate_conditionadjudication': ('condition_id', 'condition_id', '{row}.by_id'),
    'annotate_candidate': ('query_id', 'query_id', '0'),
}
# A candidate of which nothing is said yet changes no count.
EVENTS = {'annotate_candidate': ('UPDATE',)}


def _each():
    for table, change in CHANGES.items():
        for event in EVENTS.get(table, ('INSERT', 'UPDATE', 'DELETE')):
            yield table, event, f'{table}_revises_{event.lower()}', change


def watch(apps, schema_editor):
    """Make the triggers.

    A later migration that alters one of the tables has to do this again on SQLite, which makes the
    table anew and leaves its triggers behind; tests/judgments/test_revisions.py would say so. No
    trigger reads another table than that of the revisions: SQLite could not make that one anew.
    """
    vendor = schema_editor.connection.vendor
    random = RANDOM[vendor]
    for table, event, name, (column, named, source) in _each():
        if vendor == 'postgresql':
            # One statement for all rows that one statement changes: files bring many at once.
            body = f"""
                INSERT INTO annotate_revision ({column}, source, value)
                SELECT k.of, k.source, {random} FROM (
                    SELECT DISTINCT c.{named} AS of, {source.format(row='c')} AS source
                    FROM changed c
                ) k ORDER BY k.of, k.source
                ON CONFLICT ({column}, source) DO UPDATE SET value = excluded.value;"""
            if event == 'DELETE':
                body = f"""
                    UPDATE annotate_revision r SET value = {random} FROM changed c
                    WHERE r.{column} = c.{named} AND r.source = {source.format(row='c')};"""
            schema_editor.execute(
                f"""CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN {body} RETURN NULL; END $$""",
                params=None,
            )
            rows = 'OLD' if event == 'DELETE' else 'NEW'
            schema_editor.execute(
                f"""CREATE TRIGGER {name} AFTER {event} ON {table}
                REFERENCING {rows} TABLE AS changed FOR EACH STATEMENT
                EXECUTE FUNCTION {name}()""",
                params=None,
            )
            continue
        body = f"""
            INSERT INTO annotate_revision ({column}, source, value)
            VALUES (NEW.{named}, {source.format(row='NEW')}, {random})
            ON CONFLICT ({column}, source) DO UPDATE SET value = excluded.value;"""
        if event == 'DELETE':
            body = f"""
                UPDATE annotate_revision SET value = {random}
                WHERE {column} = OLD.{named} AND source = {source.format(row='OLD')};"""
        schema_editor.execute(
            f'CREATE TRIGGER {name} AFTER {event} ON {table} BEGIN {body} END', params=None
        )


def unwatch(apps, schema_editor):
    postgresql = schema_editor.connection.vendor == 'postgresql'
    for table, _event, name, _change in _each():
        schema_editor.execute(f'DROP TRIGGER {name}{f" ON {table}" if postgresql else ""}')
        if postgresql:
            schema_editor.execute(f'DROP FUNCTION {name}()')


def revise_all(apps, schema_editor):
    """Give what was said before a revision."""
    random = RANDOM[schema_editor.connection.vendor]
    for table, (column, named, source) in CHANGES.items():
        if table == 'annotate_candidate':
            continue
        schema_editor.execute(
            f"""
            INSERT INTO annotate_revision ({column}, source, value)
            SELECT k.of, k.source, {random} FROM (
                SELECT DISTINCT c.{named} AS of, {source.format(row='c')} AS source FROM {table} c
            ) k WHERE 1 = 1
            ON CONFLICT ({column}, source) DO UPDATE SET value = excluded.value
            """,
            params=None,
        )
    # SQLite, which knows nothing of a new index, takes it for a better one than it is: a page that
    # counts answers took a hundred times as long.
    schema_editor.execute('ANALYZE annotate_judgment', params=None)


def _one(*names):
    every = ('narrative', 'query', 'condition')
    return Q(**{f'{name}__isnull': name not in names for name in every})


def _key(to):
    return models.ForeignKey(
        db_index=False,
        null=True,
        on_delete=django.db.models.deletion.CASCADE,
        related_name='+',
        to=to,
    )


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0028_conditions'),
    ]

    operations = [
        migrations.CreateModel(
            name='Revision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.BigIntegerField()),
                ('value', models.BigIntegerField()),
                ('narrative', _key('annotate.narrative')),
                ('query', _key('annotate.query')),
                ('condition', _key('annotate.condition')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('narrative', 'source'), name='revision_once_per_narrative'),
                    models.UniqueConstraint(fields=('query', 'source'), name='revision_once_per_query'),
                    models.UniqueConstraint(fields=('condition', 'source'), name='revision_once_per_condition'),
                    models.CheckConstraint(
                        condition=_one('narrative') | _one('query') | _one('condition'),
                        name='revision_is_of_one_thing',
                    ),
                ],
            },
        ),
        migrations.AddIndex(
            model_name='judgment',
            index=models.Index(fields=['annotator', 'source', 'at'], name='judgment_last_of_person'),
        ),
        migrations.RunPython(watch, unwatch),
        migrations.RunPython(revise_all, migrations.RunPython.noop),
    ]
