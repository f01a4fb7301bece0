"""All tables of audit in one step. The replaced files stay: a restore of an older backup needs them."""

import django.db.models.deletion
import django.utils.timezone
import jobs.about
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('audit', '0001_initial'),
        ('audit', '0002_checks'),
        ('audit', '0003_rubrics'),
        ('audit', '0004_report_scopes'),
        ('audit', '0005_reveals'),
        ('audit', '0006_checks'),
        ('audit', '0007_request'),
        ('audit', '0008_trail'),
        ('audit', '0009_outcome_in_words'),
        ('audit', '0010_when_a_step_began'),
    ]

    dependencies = [
        ('annotate', '0001_squashed_0016_when_a_step_began'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Review',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rubric', models.CharField(max_length=60)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('submitted_at', models.DateTimeField(blank=True, null=True)),
                ('auditor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='annotate.membership')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='annotate.narrative')),
            ],
        ),
        migrations.CreateModel(
            name='Rating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('criterion', models.CharField(max_length=40)),
                ('level', models.CharField(blank=True, max_length=20)),
                ('place', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('rejects', models.BooleanField(blank=True, null=True)),
                ('words', models.TextField(blank=True)),
                ('review', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='audit.review')),
            ],
        ),
        migrations.CreateModel(
            name='Rubric',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=60)),
                ('title', models.CharField(max_length=120)),
                ('levels', models.JSONField()),
                ('criteria', models.JSONField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('chosen_at', models.DateTimeField(blank=True, null=True)),
                ('chosen_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rubrics', to='annotate.project')),
            ],
        ),
        migrations.CreateModel(
            name='Sample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('kind', models.CharField(choices=[('random', 'Drawn at random'), ('suspects', 'Suspects from runs')], default='random', max_length=10)),
                ('source', models.CharField(choices=[('machine', 'Judgments of a machine'), ('consensus', "What people's judgments come to"), ('prior', 'Earlier qrels')], max_length=10)),
                ('relevant_only', models.BooleanField(default=False)),
                ('asks', models.CharField(choices=[('grade', 'Which grade it is'), ('count', 'How many conditions it meets')], default='grade', max_length=10)),
                ('stratify', models.CharField(choices=[('none', 'Nothing: one stratum'), ('category', 'Category of the instruction'), ('query', 'Query'), ('model', 'Who wrote the instruction')], default='none', max_length=10)),
                ('seed', models.PositiveBigIntegerField(blank=True, null=True)),
                ('per', models.CharField(choices=[('stratum', 'of each stratum'), ('instruction', 'of each instruction')], default='stratum', max_length=12)),
                ('size', models.PositiveIntegerField(blank=True, null=True)),
                ('fewer', models.BooleanField(default=False)),
                ('at_least', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('depth', models.PositiveIntegerField(blank=True, null=True)),
                ('below', models.FloatField(blank=True, null=True)),
                ('frame', models.JSONField(default=dict)),
                ('shows_claim', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='samples', to='annotate.project')),
                ('rater', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
                ('runs', models.ManyToManyField(blank=True, related_name='+', to='annotate.run')),
            ],
        ),
        migrations.CreateModel(
            name='SampleItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('claimed', models.IntegerField()),
                ('stratum', models.CharField(blank=True, max_length=255)),
                ('missed', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.candidate')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.narrative')),
                ('sample', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='items', to='audit.sample')),
            ],
        ),
        migrations.CreateModel(
            name='Reveal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reveals', to='annotate.membership')),
                ('candidate', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.candidate')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.narrative')),
                ('item', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reveals', to='audit.sampleitem')),
            ],
        ),
        migrations.CreateModel(
            name='Check',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('place', models.PositiveSmallIntegerField()),
                ('relevance', models.IntegerField(blank=True, null=True)),
                ('cannot_judge', models.BooleanField(default=False)),
                ('verdicts', models.JSONField(blank=True, default=dict)),
                ('words', models.TextField(blank=True)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('superseded_at', models.DateTimeField(blank=True, null=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('checker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='checks', to='annotate.membership')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='checks', to='audit.sampleitem')),
            ],
        ),
        migrations.CreateModel(
            name='AgreementReport',
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
                ('scope', models.TextField(blank=True, default='')),
                ('compares', models.BooleanField(default=False)),
                ('against', models.TextField(blank=True, default='')),
                ('seed', models.PositiveIntegerField(default=20260101)),
                ('resamples', models.PositiveIntegerField(default=2000)),
                ('code_version', models.CharField(blank=True, max_length=40)),
                ('sha256', models.CharField(blank=True, default='', max_length=64)),
                ('figures', models.JSONField(blank=True, null=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='agreement_reports', to='annotate.project')),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(fields=['project', '-id'], name='report_newest')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('claim__isnull', False), ('lease_until__isnull', False), ('started_at__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('claim__isnull', True), ('lease_until__isnull', True)), _connector='OR'), name='audit_agreementreport_running_has_a_lease'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ['queued', 'running'])), models.Q(('finished_at__isnull', False), ('state__in', ['done', 'failed', 'cancelled'])), _connector='OR'), name='audit_agreementreport_finished_at_its_end'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), models.Q(('error', ''), _negated=True)), models.Q(models.Q(('state', 'failed'), _negated=True), ('error', '')), _connector='OR'), name='audit_agreementreport_failed_says_why'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'cancelled'), _negated=True), ('cancel_requested_at__isnull', False), _connector='OR'), name='audit_agreementreport_cancelled_when_asked')],
            },
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('outcome', models.CharField(choices=[('accepted', 'Accepted'), ('revise', 'Sent back for revision'), ('removed', 'Removed')], max_length=10)),
                ('reason', models.TextField(blank=True)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='annotate.membership')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='annotate.narrative')),
                ('withdrawn_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('withdrawn_at__isnull', True)), fields=('narrative',), name='decision_one_current'), models.CheckConstraint(condition=models.Q(('outcome', 'accepted'), models.Q(('reason', ''), _negated=True), _connector='OR'), name='decision_against_has_a_reason'), models.CheckConstraint(condition=models.Q(models.Q(('withdrawn_at__isnull', True), ('withdrawn_by__isnull', True)), models.Q(('withdrawn_at__isnull', False), ('withdrawn_by__isnull', False)), _connector='OR'), name='decision_withdrawn_by_and_at')],
            },
        ),
        migrations.AddConstraint(
            model_name='review',
            constraint=models.UniqueConstraint(fields=('narrative', 'auditor'), name='review_once_per_auditor'),
        ),
        migrations.AddConstraint(
            model_name='rating',
            constraint=models.UniqueConstraint(fields=('review', 'criterion'), name='rating_once_per_criterion'),
        ),
        migrations.AddConstraint(
            model_name='rating',
            constraint=models.CheckConstraint(condition=models.Q(('criterion', ''), _negated=True), name='rating_names_a_criterion'),
        ),
        migrations.AddConstraint(
            model_name='rating',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('level', ''), ('place__isnull', True), ('rejects__isnull', True)), models.Q(models.Q(('level', ''), _negated=True), ('place__isnull', False), ('rejects__isnull', False)), _connector='OR'), name='rating_level_has_a_place'),
        ),
        migrations.AddConstraint(
            model_name='rubric',
            constraint=models.UniqueConstraint(fields=('project', 'name'), name='rubric_name_once_per_project'),
        ),
        migrations.AddConstraint(
            model_name='rubric',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='rubric_has_a_name'),
        ),
        migrations.AddConstraint(
            model_name='rubric',
            constraint=models.CheckConstraint(condition=models.Q(('chosen_by__isnull', True), ('chosen_at__isnull', False), _connector='OR'), name='rubric_chosen_by_someone_at_some_time'),
        ),
        migrations.AddConstraint(
            model_name='sample',
            constraint=models.UniqueConstraint(fields=('project', 'name'), name='sample_name_once_per_project'),
        ),
        migrations.AddConstraint(
            model_name='sample',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='sample_has_a_name'),
        ),
        migrations.AddConstraint(
            model_name='sample',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('rater__isnull', False), ('source', 'machine')), models.Q(models.Q(('source', 'machine'), _negated=True), ('rater__isnull', True)), _connector='OR'), name='sample_of_a_machine_names_it'),
        ),
        migrations.AddConstraint(
            model_name='sample',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('at_least__isnull', True), ('below__isnull', True), ('depth__isnull', True), ('kind', 'random'), ('seed__isnull', False), ('size__gte', 1)), models.Q(('at_least__gte', 1), ('depth__gte', 1), ('kind', 'suspects'), ('seed__isnull', True), ('size__isnull', True)), _connector='OR'), name='sample_says_how_it_was_made'),
        ),
        migrations.AddConstraint(
            model_name='sampleitem',
            constraint=models.UniqueConstraint(fields=('sample', 'narrative', 'candidate'), name='sample_item_once'),
        ),
        migrations.AddIndex(
            model_name='reveal',
            index=models.Index(fields=['narrative', 'candidate'], name='reveal_of'),
        ),
        migrations.AddConstraint(
            model_name='reveal',
            constraint=models.UniqueConstraint(condition=models.Q(('candidate__isnull', True)), fields=('by', 'narrative'), name='reveal_of_auditors_once'),
        ),
        migrations.AddConstraint(
            model_name='reveal',
            constraint=models.UniqueConstraint(condition=models.Q(('candidate__isnull', False), ('item__isnull', True)), fields=('by', 'narrative', 'candidate'), name='reveal_of_judges_once'),
        ),
        migrations.AddConstraint(
            model_name='reveal',
            constraint=models.UniqueConstraint(condition=models.Q(('item__isnull', False)), fields=('by', 'item'), name='reveal_of_checkers_once'),
        ),
        migrations.AddConstraint(
            model_name='reveal',
            constraint=models.CheckConstraint(condition=models.Q(('item__isnull', True), ('candidate__isnull', False), _connector='OR'), name='reveal_of_a_label_names_its_document'),
        ),
        migrations.AddIndex(
            model_name='check',
            index=models.Index(fields=['checker', '-at'], name='check_history'),
        ),
        migrations.AddConstraint(
            model_name='check',
            constraint=models.UniqueConstraint(condition=models.Q(('superseded_at__isnull', True)), fields=('item', 'checker'), name='check_one_current'),
        ),
        migrations.AddConstraint(
            model_name='check',
            constraint=models.UniqueConstraint(condition=models.Q(('superseded_at__isnull', True)), fields=('item', 'place'), name='check_place_taken_once'),
        ),
        migrations.AddConstraint(
            model_name='check',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('cannot_judge', True), ('relevance__isnull', True)), models.Q(('cannot_judge', False), ('relevance__isnull', False)), _connector='OR'), name='check_grade_or_cannot_judge'),
        ),
        migrations.AddConstraint(
            model_name='check',
            constraint=models.CheckConstraint(condition=models.Q(('place__range', (1, 3))), name='check_places_1_to_3'),
        ),
        migrations.AddConstraint(
            model_name='check',
            constraint=models.CheckConstraint(condition=models.Q(('withdrawn_at__isnull', True), ('superseded_at__isnull', False), _connector='OR'), name='check_withdrawn_is_superseded'),
        ),
    ]
