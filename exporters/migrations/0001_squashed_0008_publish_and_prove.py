"""All tables of exporters as the migrations up to 0008 leave them, made in one step.

The replaced files stay: a restore brings a database to the tables of an older backup with them.
"""

from importlib import import_module

import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import jobs.about
from django.conf import settings
from django.db import migrations, models


release = import_module('exporters.migrations.0002_release')


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('exporters', '0001_initial'),
        ('exporters', '0002_release'),
        ('exporters', '0003_request'),
        ('exporters', '0004_when_a_step_began'),
        ('exporters', '0005_evaluation'),
        ('exporters', '0006_publication'),
        ('exporters', '0007_settling_effects'),
        ('exporters', '0008_publish_and_prove'),
    ]

    dependencies = [
        ('annotate', '0001_squashed_0030_core_queries_and_replacements'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('requested_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('published_at', models.DateTimeField(blank=True, null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('claim', models.UUIDField(blank=True, default=None, null=True)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('cancel_requested_at', models.DateTimeField(blank=True, null=True)),
                ('step', models.CharField(blank=True, max_length=200)),
                ('step_began_at', models.DateTimeField(blank=True, null=True)),
                ('done', models.PositiveBigIntegerField(default=0)),
                ('total', models.PositiveBigIntegerField(blank=True, null=True)),
                ('error', models.TextField(blank=True)),
                ('request', models.UUIDField(blank=True, default=jobs.about.current_request, editable=False, null=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='annotate.project')),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='annotate.membership')),
                ('name', models.CharField(max_length=60)),
                ('note', models.TextField(blank=True)),
                ('at', models.DateTimeField(blank=True, null=True)),
                ('guideline', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='annotate.guideline')),
                ('code_version', models.CharField(blank=True, max_length=40)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('manifest', models.JSONField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('claim__isnull', False), ('lease_until__isnull', False), ('started_at__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('claim__isnull', True), ('lease_until__isnull', True)), _connector='OR'), name='exporters_release_running_has_a_lease'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ['queued', 'running'])), models.Q(('finished_at__isnull', False), ('state__in', ['done', 'failed', 'cancelled'])), _connector='OR'), name='exporters_release_finished_at_its_end'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), models.Q(('error', ''), _negated=True)), models.Q(models.Q(('state', 'failed'), _negated=True), ('error', '')), _connector='OR'), name='exporters_release_failed_says_why'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'cancelled'), _negated=True), ('cancel_requested_at__isnull', False), _connector='OR'), name='exporters_release_cancelled_when_asked'), models.UniqueConstraint(models.F('project'), django.db.models.functions.text.Lower('name'), condition=models.Q(('state__in', ['queued', 'running', 'done'])), name='release_name_once_per_project'), models.UniqueConstraint(condition=models.Q(('state__in', ['queued', 'running'])), fields=('project',), name='release_one_under_way'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='release_has_a_name'), models.CheckConstraint(condition=models.Q(models.Q(('at__isnull', True), ('code_version', ''), ('manifest__isnull', True), ('sha256', '')), models.Q(('at__isnull', False), ('manifest__isnull', False), models.Q(('sha256', ''), _negated=True), models.Q(('code_version', ''), _negated=True)), _connector='OR'), name='release_whole_or_not_at_all'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'done'), _negated=True), ('manifest__isnull', False), _connector='OR'), name='release_made_is_whole')],
            },
        ),
        migrations.CreateModel(
            name='Export',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('requested_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('published_at', models.DateTimeField(blank=True, null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('claim', models.UUIDField(blank=True, default=None, null=True)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('cancel_requested_at', models.DateTimeField(blank=True, null=True)),
                ('step', models.CharField(blank=True, max_length=200)),
                ('step_began_at', models.DateTimeField(blank=True, null=True)),
                ('done', models.PositiveBigIntegerField(default=0)),
                ('total', models.PositiveBigIntegerField(blank=True, null=True)),
                ('error', models.TextField(blank=True)),
                ('request', models.UUIDField(blank=True, default=jobs.about.current_request, editable=False, null=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='exports', to='annotate.project')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='exports', to='annotate.membership')),
                ('format', models.CharField(choices=[('trec', 'TREC: paired qrels, topics, changed documents, runs'), ('jsonl', 'JSON lines: every judgment, review and adjudication'), ('mteb', 'MTEB: a folder for the instruction reranking task, with its task file'), ('hf', 'Hugging Face: the same data with a dataset card'), ('beir', 'BEIR: corpus, queries, qrels before and after the change'), ('ir-datasets', 'ir_datasets: a package to install'), ('followtable', 'FollowTable: queries, tables and instructions'), ('infosearch', 'InfoSearch: three instructions a query, three qrels'), ('multiconir', 'MultiConIR: a table of queries with growing conditions'), ('multi-infosearch', 'Multi-InfoSearch: attributes, a positive and a hard negative'), ('citation', 'Citation: CITATION.cff and .zenodo.json')], max_length=20)),
                ('folder', models.CharField(blank=True, max_length=200)),
                ('manifest', models.JSONField(blank=True, null=True)),
                ('prove', models.BooleanField(default=False)),
                ('proof', models.JSONField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('claim__isnull', False), ('lease_until__isnull', False), ('started_at__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('claim__isnull', True), ('lease_until__isnull', True)), _connector='OR'), name='exporters_export_running_has_a_lease'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ['queued', 'running'])), models.Q(('finished_at__isnull', False), ('state__in', ['done', 'failed', 'cancelled'])), _connector='OR'), name='exporters_export_finished_at_its_end'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), models.Q(('error', ''), _negated=True)), models.Q(models.Q(('state', 'failed'), _negated=True), ('error', '')), _connector='OR'), name='exporters_export_failed_says_why'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'cancelled'), _negated=True), ('cancel_requested_at__isnull', False), _connector='OR'), name='exporters_export_cancelled_when_asked'), models.CheckConstraint(condition=models.Q(models.Q(('folder', ''), ('manifest__isnull', True)), models.Q(models.Q(('folder', ''), _negated=True), ('manifest__isnull', False)), _connector='OR'), name='export_folder_with_manifest'), models.CheckConstraint(condition=models.Q(('proof__isnull', True), models.Q(('manifest__isnull', False), ('prove', True)), _connector='OR'), name='export_proof_of_its_files')],
            },
        ),
        migrations.CreateModel(
            name='Publication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='publication', to='annotate.project')),
                ('texts', models.BooleanField(default=False, help_text='Only if the licence of the collection allows it. Otherwise ids alone.', verbose_name='Publish titles and texts of documents')),
                ('claims', models.BooleanField(default=False, help_text='Only of accepted instructions; what a check found stands before the claim.', verbose_name='Publish claimed labels where nobody has judged')),
                ('licence', models.CharField(blank=True, max_length=100, verbose_name='Licence')),
                ('languages', models.CharField(blank=True, max_length=200, verbose_name='Languages')),
                ('creators', models.TextField(blank=True, verbose_name='Creators')),
                ('publisher', models.CharField(blank=True, max_length=200, verbose_name='Publisher')),
                ('year', models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='Year')),
                ('description', models.TextField(blank=True, verbose_name='Description')),
                ('citation', models.TextField(blank=True, verbose_name='Citation')),
                ('instructions_in_queries', models.BooleanField(default=True, verbose_name='In BEIR, append the instruction to the query')),
                ('layouts', models.JSONField(blank=True, default=list)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('texts', False), models.Q(('licence', ''), _negated=True), _connector='OR'), name='publication_of_texts_names_a_licence')],
            },
        ),
        migrations.CreateModel(
            name='Evaluation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('requested_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('published_at', models.DateTimeField(blank=True, null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('claim', models.UUIDField(blank=True, default=None, null=True)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('cancel_requested_at', models.DateTimeField(blank=True, null=True)),
                ('step', models.CharField(blank=True, max_length=200)),
                ('step_began_at', models.DateTimeField(blank=True, null=True)),
                ('done', models.PositiveBigIntegerField(default=0)),
                ('total', models.PositiveBigIntegerField(blank=True, null=True)),
                ('error', models.TextField(blank=True)),
                ('request', models.UUIDField(blank=True, default=jobs.about.current_request, editable=False, null=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='evaluations', to='annotate.project')),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='evaluations', to='annotate.membership')),
                ('release', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='evaluations', to='exporters.release')),
                ('systems', models.JSONField()),
                ('options', models.JSONField(blank=True, default=dict)),
                ('baseline', models.CharField(blank=True, max_length=255)),
                ('code_version', models.CharField(blank=True, max_length=40)),
                ('results', models.JSONField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['project', '-id'], name='evaluation_newest')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('claim__isnull', False), ('lease_until__isnull', False), ('started_at__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('claim__isnull', True), ('lease_until__isnull', True)), _connector='OR'), name='exporters_evaluation_running_has_a_lease'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ['queued', 'running'])), models.Q(('finished_at__isnull', False), ('state__in', ['done', 'failed', 'cancelled'])), _connector='OR'), name='exporters_evaluation_finished_at_its_end'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), models.Q(('error', ''), _negated=True)), models.Q(models.Q(('state', 'failed'), _negated=True), ('error', '')), _connector='OR'), name='exporters_evaluation_failed_says_why'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'cancelled'), _negated=True), ('cancel_requested_at__isnull', False), _connector='OR'), name='exporters_evaluation_cancelled_when_asked'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'done'), _negated=True), models.Q(('results__isnull', False), models.Q(('code_version', ''), _negated=True)), _connector='OR'), name='evaluation_done_has_results')],
            },
        ),
        migrations.CreateModel(
            name='SettlingEffect',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('evaluation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='settling_effects', to='exporters.evaluation')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.narrative')),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.candidate')),
                ('effect', models.PositiveBigIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('evaluation', 'narrative', 'candidate'), name='settling_effect_once')],
            },
        ),
        migrations.RunPython(release.freeze, release.thaw),
    ]
