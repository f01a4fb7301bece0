"""Triggers that refuse changes and deletions of a release once it has its content.

`base.constraints.deletions_allowed` lets whole projects be deleted, with their releases.
On SQLite a migration that alters a table makes it anew without its triggers: it has to create
them again.
"""

from django.db import migrations

SENTENCE = 'a release never changes'
DELETIONS_ALLOWED = "current_setting('rejudge.thawed', true) IS DISTINCT FROM 'on'"
# Name -> event, table, and which rows it protects.
TRIGGERS = {
    'release_never_changes': (
        'UPDATE OF job_ptr_id, note, at, guideline_id, code_version, sha256, manifest',
        'exporters_release',
        'OLD.manifest IS NOT NULL',
    ),
    # Its job has its name, and who requested it.
    'release_stays_made': (
        'UPDATE OF kind, project_id, by_id, name, state',
        'jobs_job',
        "OLD.kind = 'release' AND OLD.state = 'done'",
    ),
    # Its job's row cannot be deleted without it.
    'exporters_release_no_delete': ('DELETE', 'exporters_release', 'OLD.manifest IS NOT NULL'),
}


def create_triggers(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == 'postgresql'
    for name, (event, table, condition) in TRIGGERS.items():
        if is_postgresql and event == 'DELETE':
            condition += f' AND {DELETIONS_ALLOWED}'
        refuse = (
            f"FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION annotate_refuse('{SENTENCE}')"
            if is_postgresql
            else f"WHEN {condition} BEGIN SELECT RAISE(ABORT, '{SENTENCE}'); END"
        )
        schema_editor.execute(
            f'CREATE TRIGGER {name} BEFORE {event} ON {table} {refuse}',
            params=None,
        )


def drop_triggers(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == 'postgresql'
    for name, (_event, table, _condition) in TRIGGERS.items():
        schema_editor.execute(f'DROP TRIGGER {name}' + (f' ON {table}' if is_postgresql else ''))


class Migration(migrations.Migration):
    dependencies = [
        ('exporters', '0001_initial'),
        ('annotate', '0002_append_only'),
        ('jobs', '0002_project_and_person'),
    ]

    operations = [migrations.RunPython(create_triggers, drop_triggers)]
