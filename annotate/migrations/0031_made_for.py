from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models

revisions = import_module('annotate.migrations.0029_revisions')


def watch_again(apps, schema_editor):
    """On the way back SQLite makes the table of candidates anew, and its triggers are gone."""
    if schema_editor.connection.vendor == 'sqlite':
        for _table, _event, name, _change in revisions._each():
            schema_editor.execute(f'DROP TRIGGER IF EXISTS {name}')
        revisions.watch(apps, schema_editor)


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0030_core_queries_and_replacements'),
    ]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, watch_again),
        migrations.RemoveIndex(
            model_name='candidate',
            name='candidate_in_pool',
        ),
        migrations.AddField(
            model_name='candidate',
            name='made_for',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.instructionpair'),
        ),
        migrations.AlterField(
            model_name='project',
            name='judge_scope',
            field=models.CharField(choices=[('relevant', 'Only documents that were relevant before'), ('pool', 'Every document in the pool'), ('existing', 'Every document in the pool but generated ones')], default='relevant', max_length=10),
        ),
        migrations.AddIndex(
            model_name='candidate',
            index=models.Index(fields=['query', 'prior_relevance', 'removed_at', 'made_for'], name='candidate_in_pools'),
        ),
        migrations.AddIndex(
            model_name='candidate',
            index=models.Index(condition=models.Q(('made_for__isnull', False)), fields=['made_for'], name='candidate_made_for'),
        ),
    ]
