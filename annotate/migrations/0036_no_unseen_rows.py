from importlib import import_module

from django.db import migrations

RANDOM = import_module('annotate.migrations.0029_revisions').RANDOM['sqlite']
POOL = import_module('annotate.migrations.0035_revisions_of_pools').POOL


def revise_on_every_insert(apps, schema_editor):
    """On SQLite: a trigger of its own looked up the rows of a load that was not done."""
    if schema_editor.connection.vendor == 'postgresql':
        return
    schema_editor.execute('DROP TRIGGER annotate_unseen_revises_delete', params=None)
    schema_editor.execute('DROP TRIGGER annotate_candidate_revises_insert', params=None)
    schema_editor.execute(
        f"""
        CREATE TRIGGER annotate_candidate_revises_insert AFTER INSERT ON annotate_candidate
        BEGIN
            INSERT INTO annotate_revision (query_id, source, value)
            VALUES (NEW.query_id, {POOL}, {RANDOM})
            ON CONFLICT (query_id, source) DO UPDATE SET value = excluded.value;
        END
        """,
        params=None,
    )


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0035_revisions_of_pools'),
    ]

    operations = [
        migrations.RunPython(revise_on_every_insert),
        migrations.DeleteModel(name='Unseen'),
    ]
