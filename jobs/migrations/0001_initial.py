import django.utils.timezone
import jobs.log_context
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Heartbeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker', models.CharField(max_length=200, unique=True)),
                ('at', models.DateTimeField(blank=True, default=None, null=True)),
                ('seen_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(editable=False, max_length=20)),
                ('named', models.BooleanField(default=False, editable=False)),
                ('name', models.CharField(blank=True, max_length=60)),
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
                ('request', models.UUIDField(blank=True, default=jobs.log_context.current_request, editable=False, null=True)),
            ],
            options={'constraints': [
                models.CheckConstraint(condition=models.Q(models.Q(('claim__isnull', False), ('lease_until__isnull', False), ('started_at__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('claim__isnull', True), ('lease_until__isnull', True)), _connector='OR'), name='job_running_has_a_lease'),
                models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ['queued', 'running'])), models.Q(('finished_at__isnull', False), ('state__in', ['done', 'failed', 'cancelled'])), _connector='OR'), name='job_finished_at_its_end'),
                models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), models.Q(('error', ''), _negated=True)), models.Q(models.Q(('state', 'failed'), _negated=True), ('error', '')), _connector='OR'), name='job_failed_says_why'),
                models.CheckConstraint(condition=models.Q(models.Q(('state', 'cancelled'), _negated=True), ('cancel_requested_at__isnull', False), _connector='OR'), name='job_cancelled_when_asked'),
                models.CheckConstraint(condition=models.Q(models.Q(('named', True), models.Q(('name', ''), _negated=True)), models.Q(('name', ''), ('named', False)), _connector='OR'), name='job_has_a_name_if_named'),
            ]},
        ),
    ]
