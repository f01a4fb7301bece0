"""Deed becomes AuditEvent and LookAgain becomes RejudgeRequest: the classes only.

The tables keep their names, for triggers and the SQL of older migrations name them. So nothing is
done to the database but to rename two content types.
"""

import django.db.models.deletion
from django.db import migrations, models

RENAMED = {'deed': 'auditevent', 'lookagain': 'rejudgerequest'}


def rename_content_types(apps, schema_editor):
    """Let what names these models by content type name them by their new names."""
    types = apps.get_model('contenttypes', 'ContentType').objects.using(
        schema_editor.connection.alias
    )
    for old, new in RENAMED.items():
        if not types.filter(app_label='annotate', model=new).exists():
            types.filter(app_label='annotate', model=old).update(model=new)


def restore_content_types(apps, schema_editor):
    types = apps.get_model('contenttypes', 'ContentType').objects.using(
        schema_editor.connection.alias
    )
    for old, new in RENAMED.items():
        if not types.filter(app_label='annotate', model=old).exists():
            types.filter(app_label='annotate', model=new).update(model=old)


class Migration(migrations.Migration):
    dependencies = [
        ('annotate', '0021_text_versions'),
        ('contenttypes', '0002_remove_content_type_name'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel('Deed', 'AuditEvent'),
                migrations.AlterModelTable('AuditEvent', 'annotate_deed'),
                migrations.RenameModel('LookAgain', 'RejudgeRequest'),
                migrations.AlterModelTable('RejudgeRequest', 'annotate_lookagain'),
                migrations.AlterField(
                    'AuditEvent',
                    'project',
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name='audit_events',
                        to='annotate.project',
                    ),
                ),
            ],
        ),
        migrations.RunPython(rename_content_types, restore_content_types),
    ]
