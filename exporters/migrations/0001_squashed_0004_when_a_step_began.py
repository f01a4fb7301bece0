"""All tables of exporters in one step. The replaced files stay: a restore of an older backup needs them."""

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
    ]

    dependencies = [
        ('annotate', '0001_squashed_0016_when_a_step_began'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Export',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
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
                ('format', models.CharField(choices=[('trec', 'TREC: paired qrels, topics, changed documents, runs'), ('jsonl', 'JSON lines: every judgment, review and adjudication')], max_length=10)),
                ('folder', models.CharField(blank=True, max_length=200)),
                ('manifest', models.JSONField(blank=True, null=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='exports', to='annotate.membership')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='exports', to='annotate.project')),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('claim__isnull', False), ('lease_until__isnull', False), ('started_at__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('claim__isnull', True), ('lease_until__isnull', True)), _connector='OR'), name='exporters_export_running_has_a_lease'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ['queued', 'running'])), models.Q(('finished_at__isnull', False), ('state__in', ['done', 'failed', 'cancelled'])), _connector='OR'), name='exporters_export_finished_at_its_end'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), models.Q(('error', ''), _negated=True)), models.Q(models.Q(('state', 'failed'), _negated=True), ('error', '')), _connector='OR'), name='exporters_export_failed_says_why'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'cancelled'), _negated=True), ('cancel_requested_at__isnull', False), _connector='OR'), name='exporters_export_cancelled_when_asked'), models.CheckConstraint(condition=models.Q(models.Q(('folder', ''), ('manifest__isnull', True)), models.Q(models.Q(('folder', ''), _negated=True), ('manifest__isnull', False)), _connector='OR'), name='export_folder_with_manifest')],
            },
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
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
                ('name', models.CharField(max_length=60)),
                ('note', models.TextField(blank=True)),
                ('at', models.DateTimeField(blank=True, null=True)),
                ('code_version', models.CharField(blank=True, max_length=40)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('manifest', models.JSONField(blank=True, null=True)),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='annotate.membership')),
                ('guideline', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='annotate.guideline')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='annotate.project')),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('claim__isnull', False), ('lease_until__isnull', False), ('started_at__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('claim__isnull', True), ('lease_until__isnull', True)), _connector='OR'), name='exporters_release_running_has_a_lease'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ['queued', 'running'])), models.Q(('finished_at__isnull', False), ('state__in', ['done', 'failed', 'cancelled'])), _connector='OR'), name='exporters_release_finished_at_its_end'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), models.Q(('error', ''), _negated=True)), models.Q(models.Q(('state', 'failed'), _negated=True), ('error', '')), _connector='OR'), name='exporters_release_failed_says_why'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'cancelled'), _negated=True), ('cancel_requested_at__isnull', False), _connector='OR'), name='exporters_release_cancelled_when_asked'), models.UniqueConstraint(models.F('project'), django.db.models.functions.text.Lower('name'), condition=models.Q(('state__in', ['queued', 'running', 'done'])), name='release_name_once_per_project'), models.UniqueConstraint(condition=models.Q(('state__in', ['queued', 'running'])), fields=('project',), name='release_one_under_way'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='release_has_a_name'), models.CheckConstraint(condition=models.Q(models.Q(('at__isnull', True), ('code_version', ''), ('manifest__isnull', True), ('sha256', '')), models.Q(('at__isnull', False), ('manifest__isnull', False), models.Q(('sha256', ''), _negated=True), models.Q(('code_version', ''), _negated=True)), _connector='OR'), name='release_whole_or_not_at_all'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'done'), _negated=True), ('manifest__isnull', False), _connector='OR'), name='release_made_is_whole')],
            },
        ),
        migrations.RunPython(release.freeze, release.thaw),
    ]
