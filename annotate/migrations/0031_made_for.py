import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0030_core_queries_and_replacements'),
    ]

    operations = [
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
