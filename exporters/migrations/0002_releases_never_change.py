"""Triggers that refuse changes of a release once it has its content.

On SQLite a migration that alters the table makes it anew without its triggers: it has to create
them again.
"""

from django.db import migrations

COLUMNS = 'project_id, by_id, name, note, at, guideline_id, code_version, sha256, manifest'
SENTENCE = 'a release never changes'
CONDITIONS = {
    'release_never_changes': (COLUMNS, 'OLD.manifest IS NOT NULL'),
    'release_stays_made': ('state', "OLD.state = 'done'"),
}


def create_triggers(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == 'postgresql'
    if is_postgresql:
        schema_editor.execute(
            f"""CREATE FUNCTION exporters_release_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RAISE EXCEPTION '{SENTENCE}' USING ERRCODE = 'integrity_constraint_violation';
            END $$"""
        )
    for name, (columns, condition) in CONDITIONS.items():
        refuse = (
            f'FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION exporters_release_refuse()'
            if is_postgresql
            else f"WHEN {condition} BEGIN SELECT RAISE(ABORT, '{SENTENCE}'); END"
        )
        schema_editor.execute(
            f'CREATE TRIGGER {name} BEFORE UPDATE OF {columns} ON exporters_release {refuse}'
        )


def drop_triggers(apps, schema_editor):
    if schema_editor.connection.vendor == 'postgresql':
        schema_editor.execute('DROP FUNCTION exporters_release_refuse() CASCADE')
        return
    for name in CONDITIONS:
        schema_editor.execute(f'DROP TRIGGER {name}')


class Migration(migrations.Migration):
    dependencies = [('exporters', '0001_initial')]

    operations = [migrations.RunPython(create_triggers, drop_triggers)]
