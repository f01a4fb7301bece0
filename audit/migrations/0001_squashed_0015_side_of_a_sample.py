"""All tables of audit as the migrations up to 0015 leave them, made in one step.

The replaced files stay: a restore brings a database to the tables of an older backup with them.
"""

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
        ('audit', '0011_text_versions'),
        ('audit', '0012_reviewed_texts'),
        ('audit', '0013_strata_by_domain'),
        ('audit', '0014_two_questions'),
        ('audit', '0015_side_of_a_sample'),
    ]

    dependencies = [
        ('annotate', '0001_squashed_0030_core_queries_and_replacements'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Sample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='samples', to='annotate.project')),
                ('name', models.CharField(max_length=120)),
                ('kind', models.CharField(choices=[('random', 'Drawn at random'), ('suspects', 'Suspects from runs')], default='random', max_length=10)),
                ('source', models.CharField(choices=[('machine', 'Judgments of a machine'), ('consensus', "What people's judgments come to"), ('prior', 'Earlier qrels'), ('never', 'Earlier non-relevant documents, under the altered narrative')], max_length=10)),
                ('rater', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
                ('relevant_only', models.BooleanField(default=False)),
                ('asks', models.CharField(choices=[('grade', 'Which grade it is'), ('count', 'How many conditions it meets'), ('questions', 'Two questions: on topic, and meets the constraint')], default='grade', max_length=10)),
                ('side', models.CharField(blank=True, choices=[('original', 'Original'), ('altered', 'Altered'), ('reversed', 'Reversed')], db_default='', default='', max_length=10)),
                ('stratify', models.CharField(choices=[('none', 'Nothing: one stratum'), ('category', 'Category of the instruction'), ('query', 'Query'), ('domain', 'Domain of the query'), ('model', 'Who wrote the instruction'), ('label', 'What is claimed: complies, violates, off topic')], default='none', max_length=10)),
                ('seed', models.PositiveBigIntegerField(blank=True, null=True)),
                ('per', models.CharField(choices=[('stratum', 'of each stratum'), ('instruction', 'of each instruction')], default='stratum', max_length=12)),
                ('size', models.PositiveIntegerField(blank=True, null=True)),
                ('fewer', models.BooleanField(default=False)),
                ('at_least', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('depth', models.PositiveIntegerField(blank=True, null=True)),
                ('below', models.FloatField(blank=True, null=True)),
                ('frame', models.JSONField(default=dict)),
                ('shows_claim', models.BooleanField(default=False)),
                ('shows_reason', models.BooleanField(db_default=False, default=False)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('runs', models.ManyToManyField(blank=True, related_name='+', to='annotate.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('project', 'name'), name='sample_name_once_per_project'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='sample_has_a_name'), models.CheckConstraint(condition=models.Q(models.Q(('rater__isnull', False), ('source', 'machine')), models.Q(models.Q(('source', 'machine'), _negated=True), ('rater__isnull', True)), _connector='OR'), name='sample_of_a_machine_names_it'), models.CheckConstraint(condition=models.Q(models.Q(('at_least__isnull', True), ('below__isnull', True), ('depth__isnull', True), ('kind', 'random'), ('seed__isnull', False), ('size__gte', 1)), models.Q(('at_least__gte', 1), ('depth__gte', 1), ('kind', 'suspects'), ('seed__isnull', True), ('size__isnull', True)), _connector='OR'), name='sample_says_how_it_was_made')],
            },
        ),
        migrations.CreateModel(
            name='AgreementReport',
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
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='agreement_reports', to='annotate.project')),
                ('scope', models.TextField(blank=True, default='')),
                ('compares', models.BooleanField(default=False)),
                ('against', models.TextField(blank=True, default='')),
                ('seed', models.PositiveIntegerField(default=20260101)),
                ('resamples', models.PositiveIntegerField(default=2000)),
                ('code_version', models.CharField(blank=True, max_length=40)),
                ('sha256', models.CharField(blank=True, default='', max_length=64)),
                ('figures', models.JSONField(blank=True, null=True)),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(fields=['project', '-id'], name='report_newest')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('claim__isnull', False), ('lease_until__isnull', False), ('started_at__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('claim__isnull', True), ('lease_until__isnull', True)), _connector='OR'), name='audit_agreementreport_running_has_a_lease'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ['queued', 'running'])), models.Q(('finished_at__isnull', False), ('state__in', ['done', 'failed', 'cancelled'])), _connector='OR'), name='audit_agreementreport_finished_at_its_end'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), models.Q(('error', ''), _negated=True)), models.Q(models.Q(('state', 'failed'), _negated=True), ('error', '')), _connector='OR'), name='audit_agreementreport_failed_says_why'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'cancelled'), _negated=True), ('cancel_requested_at__isnull', False), _connector='OR'), name='audit_agreementreport_cancelled_when_asked')],
            },
        ),
        migrations.CreateModel(
            name='Rubric',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rubrics', to='annotate.project')),
                ('name', models.CharField(max_length=60)),
                ('title', models.CharField(max_length=120)),
                ('levels', models.JSONField()),
                ('criteria', models.JSONField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
                ('chosen_at', models.DateTimeField(blank=True, null=True)),
                ('chosen_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('project', 'name'), name='rubric_name_once_per_project'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='rubric_has_a_name'), models.CheckConstraint(condition=models.Q(('chosen_by__isnull', True), ('chosen_at__isnull', False), _connector='OR'), name='rubric_chosen_by_someone_at_some_time')],
            },
        ),
        migrations.CreateModel(
            name='Review',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='annotate.narrative')),
                ('auditor', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='annotate.membership')),
                ('rubric', models.CharField(max_length=60)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('submitted_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('narrative', 'auditor'), name='review_once_per_auditor')],
            },
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='annotate.narrative')),
                ('outcome', models.CharField(choices=[('accepted', 'Accepted'), ('revise', 'Sent back for revision'), ('removed', 'Removed')], max_length=10)),
                ('reason', models.TextField(blank=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='annotate.membership')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('withdrawn_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('withdrawn_at__isnull', True)), fields=('narrative',), name='decision_one_current'), models.CheckConstraint(condition=models.Q(('outcome', 'accepted'), models.Q(('reason', ''), _negated=True), _connector='OR'), name='decision_against_has_a_reason'), models.CheckConstraint(condition=models.Q(models.Q(('withdrawn_at__isnull', True), ('withdrawn_by__isnull', True)), models.Q(('withdrawn_at__isnull', False), ('withdrawn_by__isnull', False)), _connector='OR'), name='decision_withdrawn_by_and_at')],
            },
        ),
        migrations.CreateModel(
            name='SampleItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sample', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='items', to='audit.sample')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.narrative')),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.candidate')),
                ('claimed', models.IntegerField()),
                ('claimed_topic', models.BooleanField(blank=True, null=True)),
                ('claimed_constraint', models.BooleanField(blank=True, null=True)),
                ('reason', models.TextField(blank=True, db_default='', default='')),
                ('stratum', models.CharField(blank=True, max_length=255)),
                ('missed', models.PositiveSmallIntegerField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('sample', 'narrative', 'candidate'), name='sample_item_once')],
            },
        ),
        migrations.CreateModel(
            name='ReviewedText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('review', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='texts', to='audit.review')),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotate.document')),
                ('text_version', models.PositiveIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('review', 'document'), name='reviewed_text_once_per_document'), models.CheckConstraint(condition=models.Q(('text_version__gte', 1)), name='reviewed_text_has_a_version')],
            },
        ),
        migrations.CreateModel(
            name='Rating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('review', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='audit.review')),
                ('criterion', models.CharField(max_length=40)),
                ('level', models.CharField(blank=True, max_length=20)),
                ('place', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('rejects', models.BooleanField(blank=True, null=True)),
                ('words', models.TextField(blank=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('review', 'criterion'), name='rating_once_per_criterion'), models.CheckConstraint(condition=models.Q(('criterion', ''), _negated=True), name='rating_names_a_criterion'), models.CheckConstraint(condition=models.Q(models.Q(('level', ''), ('place__isnull', True), ('rejects__isnull', True)), models.Q(models.Q(('level', ''), _negated=True), ('place__isnull', False), ('rejects__isnull', False)), _connector='OR'), name='rating_level_has_a_place')],
            },
        ),
        migrations.CreateModel(
            name='Check',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text_version', models.PositiveIntegerField(blank=True, null=True)),
                ('text_replaced_at', models.DateTimeField(blank=True, null=True)),
                ('uuid', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='checks', to='audit.sampleitem')),
                ('checker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='checks', to='annotate.membership')),
                ('place', models.PositiveSmallIntegerField()),
                ('relevance', models.IntegerField(blank=True, null=True)),
                ('cannot_judge', models.BooleanField(default=False)),
                ('verdicts', models.JSONField(blank=True, default=dict)),
                ('on_topic', models.CharField(blank=True, choices=[('yes', 'Yes'), ('no', 'No'), ('cant_tell', "Can't tell")], db_default='', default='', max_length=9)),
                ('meets_constraint', models.CharField(blank=True, choices=[('yes', 'Yes'), ('no', 'No'), ('cant_tell', "Can't tell")], db_default='', default='', max_length=9)),
                ('words', models.TextField(blank=True)),
                ('reason_read_at', models.DateTimeField(blank=True, null=True)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('superseded_at', models.DateTimeField(blank=True, null=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['checker', '-at'], name='check_history')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('superseded_at__isnull', True), ('text_replaced_at__isnull', True)), fields=('item', 'checker'), name='check_one_current'), models.UniqueConstraint(condition=models.Q(('superseded_at__isnull', True), ('text_replaced_at__isnull', True)), fields=('item', 'place'), name='check_place_taken_once'), models.CheckConstraint(condition=models.Q(models.Q(('cannot_judge', True), ('relevance__isnull', True)), models.Q(('cannot_judge', False), ('relevance__isnull', False)), _connector='OR'), name='check_grade_or_cannot_judge'), models.CheckConstraint(condition=models.Q(models.Q(('meets_constraint', ''), ('on_topic', '')), models.Q(models.Q(('on_topic', ''), _negated=True), models.Q(('meets_constraint', ''), _negated=True)), _connector='OR'), name='check_answers_both_questions'), models.CheckConstraint(condition=models.Q(('place__range', (1, 3))), name='check_places_1_to_3'), models.CheckConstraint(condition=models.Q(('withdrawn_at__isnull', True), ('superseded_at__isnull', False), _connector='OR'), name='check_withdrawn_is_superseded')],
            },
        ),
        migrations.CreateModel(
            name='Reveal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.narrative')),
                ('candidate', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.candidate')),
                ('item', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reveals', to='audit.sampleitem')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reveals', to='annotate.membership')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'indexes': [models.Index(fields=['narrative', 'candidate'], name='reveal_of')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('candidate__isnull', True)), fields=('by', 'narrative'), name='reveal_of_auditors_once'), models.UniqueConstraint(condition=models.Q(('candidate__isnull', False), ('item__isnull', True)), fields=('by', 'narrative', 'candidate'), name='reveal_of_judges_once'), models.UniqueConstraint(condition=models.Q(('item__isnull', False)), fields=('by', 'item'), name='reveal_of_checkers_once'), models.CheckConstraint(condition=models.Q(('item__isnull', True), ('candidate__isnull', False), _connector='OR'), name='reveal_of_a_label_names_its_document')],
            },
        ),
    ]
