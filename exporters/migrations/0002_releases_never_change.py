"""Triggers that refuse changes of a release once it has its content.

On SQLite a migration that alters a table makes it anew without its triggers: it has to create
them again.
"""

from django.db import migrations

SENTENCE = 'a release never changes'
TRIGGERS = {
    'release_never_changes': (
        'job_ptr_id, note, at, guideline_id, code_version, sha256, manifest',
        'exporters_release',
        'OLD.manifest IS NOT NULL',
    ),
    # Its job has its name, and who requested it.
    'release_stays_made': (
        'kind, project_id, by_id, name, state',
        'jobs_job',
        "OLD.kind = 'release' AND OLD.state = 'done'",
    ),
}


def create_triggers(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == 'postgresql'
    for name, (columns, table, condition) in TRIGGERS.items():
        refuse = (
            f"FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION annotate_refuse('{SENTENCE}')"
            if is_postgresql
            else f"WHEN {condition} BEGIN SELECT RAISE(ABORT, '{SENTENCE}'); END"
        )
        schema_editor.execute(
            f'CREATE TRIGGER {name} BEFORE UPDATE OF {columns} ON {table} {refuse}',
            params=None,
        )


def drop_triggers(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == 'postgresql'
    for name, (_columns, table, _condition) in TRIGGERS.items():
        schema_editor.execute(f'DROP TRIGGER {name}' + (f' ON {table}' if is_postgresql else ''))


class Migration(migrations.Migration):
    dependencies = [
        ('exporters', '0001_initial'),
        ('annotate', '0002_append_only'),
        ('jobs', '0002_project_and_person'),
    ]

    operations = [migrations.RunPython(create_triggers, drop_triggers)]
