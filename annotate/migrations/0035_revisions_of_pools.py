from importlib import import_module

from django.db import migrations

RANDOM = import_module('annotate.migrations.0029_revisions').RANDOM
# The source of a query's revision that changes as its pool grows or shrinks. What changes a candidate
# that is in a pool has source 0 (migration 0029): a long load does not hold up who takes one out.
POOL = -1
TRIGGERS = {
    'annotate_candidate_revises_insert': 'annotate_candidate',
    'annotate_candidate_revises_delete': 'annotate_candidate',
    'annotate_unseen_revises_delete': 'annotate_unseen',
}


def watch(apps, schema_editor):
    """Change a query's revision when candidates come into its pool or are deleted.

    On SQLite rows of a load stay unseen until it is done: they change it then.
    """
    vendor = schema_editor.connection.vendor
    random = RANDOM[vendor]
    again = 'ON CONFLICT (query_id, source) DO UPDATE SET value = excluded.value'
    if vendor == 'postgresql':
        bodies = {
            'insert': f"""
                INSERT INTO annotate_revision (query_id, source, value)
                SELECT k.query_id, {POOL}, {random} FROM (
                    SELECT DISTINCT c.query_id FROM changed c
                ) k ORDER BY k.query_id {again};""",
            'delete': f"""
                UPDATE annotate_revision r SET value = {random} FROM changed c
                WHERE r.query_id = c.query_id AND r.source = {POOL};""",
        }
        for event, body in bodies.items():
            name = f'annotate_candidate_revises_{event}'
            schema_editor.execute(
                f"""CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN {body} RETURN NULL; END $$""",
                params=None,
            )
            schema_editor.execute(
                f"""CREATE TRIGGER {name} AFTER {event.upper()} ON annotate_candidate
                REFERENCING {'OLD' if event == 'delete' else 'NEW'} TABLE AS changed
                FOR EACH STATEMENT EXECUTE FUNCTION {name}()""",
                params=None,
            )
        return
    schema_editor.execute(
        f"""
        CREATE TRIGGER annotate_candidate_revises_insert AFTER INSERT ON annotate_candidate
        WHEN NOT EXISTS (
            SELECT 1 FROM annotate_unseen u
            WHERE u.kind = 'candidate' AND NEW.id BETWEEN u.first AND u.last
        )
        BEGIN
            INSERT INTO annotate_revision (query_id, source, value)
            VALUES (NEW.query_id, {POOL}, {random}) {again};
        END
        """,
        params=None,
    )
    schema_editor.execute(
        f"""
        CREATE TRIGGER annotate_candidate_revises_delete AFTER DELETE ON annotate_candidate
        BEGIN
            UPDATE annotate_revision SET value = {random}
            WHERE query_id = OLD.query_id AND source = {POOL};
        END
        """,
        params=None,
    )
    schema_editor.execute(
        f"""
        CREATE TRIGGER annotate_unseen_revises_delete AFTER DELETE ON annotate_unseen
        WHEN OLD.kind = 'candidate'
        BEGIN
            INSERT INTO annotate_revision (query_id, source, value)
            SELECT k.query_id, {POOL}, {random} FROM (
                SELECT DISTINCT query_id FROM annotate_candidate
                WHERE id BETWEEN OLD.first AND OLD.last
            ) k WHERE 1 = 1 {again};
        END
        """,
        params=None,
    )


def unwatch(apps, schema_editor):
    postgresql = schema_editor.connection.vendor == 'postgresql'
    for name, table in TRIGGERS.items():
        if postgresql and table == 'annotate_unseen':
            continue
        schema_editor.execute(f'DROP TRIGGER {name}{f" ON {table}" if postgresql else ""}')
        if postgresql:
            schema_editor.execute(f'DROP FUNCTION {name}()')


def revise_all(apps, schema_editor):
    """Give the pools that there are a revision."""
    schema_editor.execute(
        f"""
        INSERT INTO annotate_revision (query_id, source, value)
        SELECT k.query_id, {POOL}, {RANDOM[schema_editor.connection.vendor]} FROM (
            SELECT DISTINCT query_id FROM annotate_candidate
        ) k
        """,
        params=None,
    )


def forget_all(apps, schema_editor):
    schema_editor.execute(f'DELETE FROM annotate_revision WHERE source = {POOL}', params=None)


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0034_named_people_quotas_and_notices'),
    ]

    operations = [
        migrations.RunPython(watch, unwatch),
        migrations.RunPython(revise_all, forget_all),
    ]
