"""Triggers that refuse changes and deletions of the audit log and of hash chains.

`base.constraints.deletions_allowed` lets whole projects be deleted. On SQLite a migration that
alters one of these tables makes it anew without its triggers: it has to create them again.
"""

from django.core.management import call_command
from django.db import migrations

SENTENCES = {
    'annotate_auditevent': 'the audit log never changes',
    'annotate_link': 'a chain never changes',
}
DELETIONS_ALLOWED = "current_setting('rejudge.thawed', true) IS DISTINCT FROM 'on'"


def create_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == 'postgresql':
        _create_on_postgresql(schema_editor)
        return
    for table, sentence in SENTENCES.items():
        for event in ('UPDATE', 'DELETE'):
            schema_editor.execute(
                f"""CREATE TRIGGER {table}_no_{event.lower()} BEFORE {event} ON {table}
                BEGIN SELECT RAISE(ABORT, '{sentence}'); END"""
            )


def _create_on_postgresql(schema_editor):
    schema_editor.execute(
        """CREATE FUNCTION annotate_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
        END $$""",
        params=None,
    )
    for table, sentence in SENTENCES.items():
        for event in ('UPDATE', 'DELETE', 'TRUNCATE'):
            each = 'STATEMENT' if event == 'TRUNCATE' else 'ROW'
            # Nobody who deletes a project changes a row of another.
            condition = '' if event == 'UPDATE' else f'WHEN ({DELETIONS_ALLOWED})'
            schema_editor.execute(
                f"""CREATE TRIGGER {table}_no_{event.lower()} BEFORE {event} ON {table}
                FOR EACH {each} {condition} EXECUTE FUNCTION annotate_refuse('{sentence}')""",
                params=None,
            )


def drop_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == 'postgresql':
        schema_editor.execute('DROP FUNCTION annotate_refuse() CASCADE')
        return
    for table in SENTENCES:
        for event in ('update', 'delete'):
            schema_editor.execute(f'DROP TRIGGER {table}_no_{event}')


def create_cache_table(apps, schema_editor):
    """Create the table for what several processes count together, if no Redis is named."""
    call_command(
        'createcachetable', 'shared_cache', database=schema_editor.connection.alias, verbosity=0
    )


class Migration(migrations.Migration):
    dependencies = [('annotate', '0001_initial')]

    operations = [
        migrations.RunPython(create_triggers, drop_triggers),
        migrations.RunPython(create_cache_table, migrations.RunPython.noop),
    ]
