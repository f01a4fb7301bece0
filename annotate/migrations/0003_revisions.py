"""Triggers that change the revision of what an answer, a settling decision or a candidate is about.

On SQLite a migration that alters one of these tables makes it anew without its triggers: it has to
create them again. There no trigger reads another table, or the table could not be made anew.
"""

from django.db import migrations

# Of 40 bits; both databases can add up many of them.
RANDOM = {
    'postgresql': '(random() * 1099511627775)::bigint',
    'sqlite': 'abs(random() % 1099511627776)',
}
# Table -> what a row of it changes: the column in both tables, and the source of the revision.
CHANGES = {
    'annotate_statement': ('narrative_id', '{row}.annotator_id'),
    'annotate_adjudication': ('narrative_id', '{row}.by_id'),
    'annotate_conditionadjudication': ('narrative_id', '{row}.by_id'),
    # A candidate with which something happened.
    'annotate_candidate': ('query_id', '0'),
}
# A query's pool grew or shrank. A source of its own, so that a long load does not hold up whoever
# takes a candidate out.
POOL = -1
AGAIN = 'ON CONFLICT ({column}, source) DO UPDATE SET value = excluded.value'


def _triggers():
    """Yield (table, event, name, column, source)."""
    for table, (column, source) in CHANGES.items():
        for event in ('INSERT', 'UPDATE', 'DELETE'):
            is_pool = table == 'annotate_candidate' and event != 'UPDATE'
            name = f'{table}_revises_{event.lower()}'
            yield table, event, name, column, str(POOL) if is_pool else source


def create_triggers(apps, schema_editor):
    create = {'postgresql': _create_on_postgresql, 'sqlite': _create_on_sqlite}
    for trigger in _triggers():
        create[schema_editor.connection.vendor](schema_editor, *trigger)


def _create_on_postgresql(schema_editor, table, event, name, column, source):
    """One statement for all rows that one statement changes: files bring many at once."""
    random = RANDOM['postgresql']
    source_of_row = source.format(row='c')
    if event == 'DELETE':
        body = f"""
            UPDATE annotate_revision r SET value = {random} FROM changed c
            WHERE r.{column} = c.{column} AND r.source = {source_of_row};"""
    else:
        body = f"""
            INSERT INTO annotate_revision ({column}, source, value)
            SELECT k.of, k.source, {random} FROM (
                SELECT DISTINCT c.{column} AS of, {source_of_row} AS source FROM changed c
            ) k ORDER BY k.of, k.source {AGAIN.format(column=column)};"""
    schema_editor.execute(
        f"""CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN {body} RETURN NULL; END $$""",
        params=None,
    )
    rows = 'OLD' if event == 'DELETE' else 'NEW'
    schema_editor.execute(
        f"""CREATE TRIGGER {name} AFTER {event} ON {table} REFERENCING {rows} TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION {name}()""",
        params=None,
    )


def _create_on_sqlite(schema_editor, table, event, name, column, source):
    random = RANDOM['sqlite']
    if event == 'DELETE':
        body = f"""
            UPDATE annotate_revision SET value = {random}
            WHERE {column} = OLD.{column} AND source = {source.format(row='OLD')};"""
    else:
        body = f"""
            INSERT INTO annotate_revision ({column}, source, value)
            VALUES (NEW.{column}, {source.format(row='NEW')}, {random})
            {AGAIN.format(column=column)};"""
    schema_editor.execute(
        f'CREATE TRIGGER {name} AFTER {event} ON {table} BEGIN {body} END',
        params=None,
    )


def drop_triggers(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == 'postgresql'
    for _table, _event, name, *_rest in _triggers():
        schema_editor.execute(
            f'DROP FUNCTION {name}() CASCADE' if is_postgresql else f'DROP TRIGGER {name}'
        )


class Migration(migrations.Migration):
    dependencies = [('annotate', '0002_append_only')]

    operations = [migrations.RunPython(create_triggers, drop_triggers)]
