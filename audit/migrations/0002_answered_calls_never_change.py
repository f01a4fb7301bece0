"""Triggers that refuse changes of a call once it is answered, and deletions of any call.

On SQLite a migration that alters this table makes it anew without its triggers: it has to create
them again.
"""

from django.db import migrations

SENTENCE = 'an answered call never changes'
DELETIONS_ALLOWED = "current_setting('rejudge.thawed', true) IS DISTINCT FROM 'on'"


def create_triggers(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == 'postgresql'
    conditions = {
        'update': 'WHEN (OLD.answered_at IS NOT NULL)',
        'delete': f'WHEN ({DELETIONS_ALLOWED})' if is_postgresql else '',
    }
    for event, condition in conditions.items():
        refuse = (
            f"FOR EACH ROW {condition} EXECUTE FUNCTION annotate_refuse('{SENTENCE}')"
            if is_postgresql
            else f"{condition} BEGIN SELECT RAISE(ABORT, '{SENTENCE}'); END"
        )
        schema_editor.execute(
            f'CREATE TRIGGER audit_call_no_{event} BEFORE {event.upper()} ON audit_call {refuse}',
            params=None,
        )


def drop_triggers(apps, schema_editor):
    of_table = ' ON audit_call' if schema_editor.connection.vendor == 'postgresql' else ''
    for event in ('update', 'delete'):
        schema_editor.execute(f'DROP TRIGGER audit_call_no_{event}{of_table}')


class Migration(migrations.Migration):
    dependencies = [('audit', '0001_initial'), ('annotate', '0002_append_only')]

    operations = [migrations.RunPython(create_triggers, drop_triggers)]
