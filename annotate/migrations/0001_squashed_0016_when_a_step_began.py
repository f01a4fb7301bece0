"""All tables of annotate as the migrations up to 0016 leave them, made in one step.

The replaced files stay: a restore brings a database to the tables of an older backup with them.
"""

from importlib import import_module

import django.contrib.auth.models
import django.contrib.auth.validators
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import jobs.about
import uuid
from django.conf import settings
from django.db import migrations, models


people = import_module('annotate.migrations.0009_people')
trail = import_module('annotate.migrations.0010_trail')


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('annotate', '0001_initial'),
        ('annotate', '0002_candidate_listed'),
        ('annotate', '0003_judging'),
        ('annotate', '0004_draft_places'),
        ('annotate', '0005_categories'),
        ('annotate', '0006_looking_again'),
        ('annotate', '0007_condition_adjudications'),
        ('annotate', '0008_repeats'),
        ('annotate', '0009_people'),
        ('annotate', '0010_trail'),
        ('annotate', '0011_tokens'),
        ('annotate', '0013_request'),
        ('annotate', '0014_tasks_nobody_is_asked_to_do'),
        ('annotate', '0015_unseen_rows'),
        ('annotate', '0016_when_a_step_began'),
    ]

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Condition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('name', models.CharField(blank=True, max_length=120)),
                ('text', models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name='Document',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('doc_id', models.CharField(max_length=512)),
                ('title', models.TextField(blank=True)),
                ('markup', models.CharField(choices=[('plain', 'Plain text'), ('html', 'HTML table'), ('markdown', 'Markdown table')], default='plain', max_length=10)),
                ('digest', models.CharField(blank=True, max_length=32)),
                ('length', models.PositiveIntegerField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Guideline',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('deactivated_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('deactivated_by', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'user',
                'verbose_name_plural': 'users',
                'abstract': False,
            },
            managers=[
                ('objects', django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='DocumentText',
            fields=[
                ('document', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='body', serialize=False, to='annotate.document')),
                ('text', models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name='Candidate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('prior_relevance', models.IntegerField(null=True)),
                ('origin', models.CharField(choices=[('prior', 'Earlier qrels'), ('run', 'A run'), ('judged', 'Loaded judgments'), ('listed', 'Earlier qrels, without a grade')], max_length=10)),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='candidates', to='annotate.document')),
            ],
        ),
        migrations.CreateModel(
            name='Judgment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('relevance', models.IntegerField()),
                ('note', models.TextField(blank=True)),
                ('evidence', models.JSONField(blank=True, default=list)),
                ('clauses', models.JSONField(blank=True, default=list)),
                ('active_ms', models.PositiveIntegerField(blank=True, null=True)),
                ('pressed', models.CharField(blank=True, choices=[('key', 'A key'), ('click', 'A click')], max_length=10)),
                ('source', models.CharField(choices=[('page', 'Entered here'), ('file', 'Loaded from a file')], default='page', max_length=10)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('made_at', models.DateTimeField(blank=True, null=True)),
                ('superseded_at', models.DateTimeField(blank=True, null=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='annotate.candidate')),
                ('replaces', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='replaced_by', to='annotate.judgment')),
            ],
        ),
        migrations.CreateModel(
            name='KeptAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=255)),
                ('digest', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField()),
                ('body', models.TextField(blank=True)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=150)),
                ('role', models.CharField(choices=[('annotator', 'Annotator'), ('lead', 'Lead')], default='annotator', max_length=10)),
                ('is_machine', models.BooleanField(default=False)),
                ('joined_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('left_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='LookAgain',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('words', models.TextField()),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('guideline', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='asks', to='annotate.guideline')),
                ('judgment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='asks', to='annotate.judgment')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
                ('withdrawn_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
            ],
        ),
        migrations.AddField(
            model_name='judgment',
            name='annotator',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='annotate.membership'),
        ),
        migrations.CreateModel(
            name='InstructionPair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pair_id', models.CharField(max_length=255)),
                ('category', models.CharField(blank=True, max_length=60)),
                ('origin', models.CharField(choices=[('human', 'People'), ('llm', 'A language model')], default='human', max_length=10)),
                ('model', models.CharField(blank=True, max_length=120)),
                ('sent_back_at', models.DateTimeField(blank=True, null=True)),
                ('removed_at', models.DateTimeField(blank=True, null=True)),
                ('removed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
                ('sent_back_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
            ],
        ),
        migrations.AddField(
            model_name='guideline',
            name='author',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership'),
        ),
        migrations.CreateModel(
            name='Draft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('side', models.CharField(choices=[('original', 'Original'), ('altered', 'Altered'), ('reversed', 'Reversed')], max_length=10)),
                ('text', models.TextField(blank=True)),
                ('note', models.CharField(blank=True, max_length=500)),
                ('conditions', models.TextField(blank=True)),
                ('based_on', models.PositiveIntegerField(default=0)),
                ('drops', models.JSONField(blank=True, default=list)),
                ('saved_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('place', models.CharField(blank=True, max_length=36)),
                ('turn', models.BigIntegerField(default=0)),
                ('overtaken', models.JSONField(blank=True, default=list)),
                ('pair', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='annotate.instructionpair')),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='annotate.membership')),
            ],
        ),
        migrations.CreateModel(
            name='ConditionAdjudication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('answer', models.CharField(choices=[('met', 'Met'), ('not_met', 'Not met'), ('cant_tell', "Can't tell")], max_length=10)),
                ('reason', models.TextField()),
                ('cause', models.CharField(choices=[('ambiguous', 'Ambiguous text'), ('guideline', 'Gap in the guidelines'), ('error', "Annotator's error"), ('edge', 'Edge case')], max_length=20)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='condition_adjudications', to='annotate.candidate')),
                ('condition', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='adjudications', to='annotate.condition')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='condition_adjudications', to='annotate.membership')),
                ('withdrawn_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
            ],
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.CharField(choices=[('rewrite', 'Rewrite'), ('judge', 'Judge'), ('review', 'Review')], max_length=10)),
                ('seat', models.PositiveSmallIntegerField()),
                ('taken_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('touched_at', models.DateTimeField(blank=True, null=True)),
                ('done_at', models.DateTimeField(blank=True, null=True)),
                ('pair', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='annotate.instructionpair')),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='annotate.membership')),
            ],
        ),
        migrations.CreateModel(
            name='Narrative',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('side', models.CharField(choices=[('original', 'Original'), ('altered', 'Altered'), ('reversed', 'Reversed')], max_length=10)),
                ('version', models.PositiveIntegerField(default=1)),
                ('text', models.TextField(blank=True)),
                ('note', models.CharField(blank=True, max_length=500)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='narratives', to='annotate.membership')),
                ('pair', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='narratives', to='annotate.instructionpair')),
            ],
        ),
        migrations.AddField(
            model_name='judgment',
            name='narrative',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='annotate.narrative'),
        ),
        migrations.CreateModel(
            name='GuidelineCase',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.candidate')),
                ('guideline', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='annotate.guideline')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.narrative')),
            ],
        ),
        migrations.CreateModel(
            name='Flag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('kind', models.CharField(choices=[('later', 'Later'), ('cannot_judge', 'Cannot judge'), ('problem', 'Problem with this document')], max_length=20)),
                ('words', models.TextField(blank=True)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('made_at', models.DateTimeField(blank=True, null=True)),
                ('cleared_at', models.DateTimeField(blank=True, null=True)),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='flags', to='annotate.candidate')),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='flags', to='annotate.membership')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='flags', to='annotate.narrative')),
            ],
        ),
        migrations.AddField(
            model_name='condition',
            name='narrative',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='conditions', to='annotate.narrative'),
        ),
        migrations.CreateModel(
            name='Adjudication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('relevance', models.IntegerField()),
                ('reason', models.TextField()),
                ('cause', models.CharField(choices=[('ambiguous', 'Ambiguous text'), ('guideline', 'Gap in the guidelines'), ('error', "Annotator's error"), ('edge', 'Edge case')], max_length=20)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('batch', models.UUIDField(blank=True, null=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='adjudications', to='annotate.candidate')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='adjudications', to='annotate.membership')),
                ('withdrawn_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='adjudications', to='annotate.narrative')),
            ],
        ),
        migrations.CreateModel(
            name='Preferences',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('keys', models.JSONField(blank=True, default=dict)),
                ('theme', models.CharField(blank=True, choices=[('light', 'Light'), ('dark', 'Dark')], max_length=10)),
                ('time_zone', models.CharField(blank=True, max_length=64)),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='preferences', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('relevant_from', models.SmallIntegerField(default=1, help_text='The lowest grade that counts as relevant.')),
                ('judge_scope', models.CharField(choices=[('relevant', 'Only documents that were relevant before'), ('pool', 'Every document in the pool')], default='relevant', max_length=10)),
                ('consensus', models.CharField(choices=[('unanimous', 'All agree, else disputed'), ('majority', 'More than half agree, else disputed')], default='unanimous', max_length=10)),
                ('show_prior', models.BooleanField(default=False, help_text='Show judges the relevance a document came with.')),
                ('show_rank', models.BooleanField(default=False, help_text='Show judges at which rank which run had a document.')),
                ('hide_names', models.BooleanField(default=True)),
                ('judge_order', models.CharField(choices=[('shuffled', 'Shuffled for each person'), ('doc_id', 'By document id, the same for all')], default='shuffled', max_length=10)),
                ('order_seed', models.PositiveIntegerField(default=0)),
                ('repeat_percent', models.PositiveSmallIntegerField(default=0, validators=[django.core.validators.MaxValueValidator(50)])),
                ('evidence_rule', models.CharField(choices=[('none', 'Nothing'), ('document', 'A passage of the document'), ('narrative', 'A clause of the narrative')], default='none', max_length=10)),
                ('condition_rule', models.CharField(choices=[('by_hand', 'It does not: relevance is given by hand'), ('all_met', 'The highest grade when all are met, else the lowest'), ('count_met', 'The number of conditions that are met')], default='by_hand', max_length=10)),
                ('overlap_rewrite', models.PositiveSmallIntegerField(default=1, validators=[django.core.validators.MaxValueValidator(50)])),
                ('overlap_judge', models.PositiveSmallIntegerField(default=2, validators=[django.core.validators.MaxValueValidator(50)])),
                ('overlap_review', models.PositiveSmallIntegerField(default=2, validators=[django.core.validators.MaxValueValidator(50)])),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
                ('archived_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddField(
            model_name='membership',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to='annotate.project'),
        ),
        migrations.CreateModel(
            name='Load',
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
                ('format', models.CharField(max_length=40)),
                ('file', models.FileField(max_length=300, upload_to='uploads')),
                ('file_name', models.CharField(max_length=255)),
                ('no_grade', models.IntegerField(blank=True, null=True)),
                ('dry_run', models.BooleanField(default=True)),
                ('report', models.JSONField(blank=True, null=True)),
                ('preview', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='confirmed_as', to='annotate.load')),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='loads', to='annotate.membership')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='loads', to='annotate.project')),
            ],
        ),
        migrations.CreateModel(
            name='Link',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain', models.UUIDField()),
                ('number', models.PositiveBigIntegerField()),
                ('event', models.PositiveSmallIntegerField(choices=[(1, 'what was said'), (2, 'since when it no longer stands')])),
                ('kind', models.CharField(max_length=20)),
                ('name', models.UUIDField()),
                ('digest', models.BinaryField(max_length=32)),
                ('sum', models.BinaryField(max_length=32)),
                ('project', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.project')),
            ],
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('annotator', 'Annotator'), ('lead', 'Lead')], default='annotator', max_length=10)),
                ('name', models.CharField(blank=True, max_length=150)),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('accepted_at', models.DateTimeField(blank=True, null=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('accepted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('withdrawn_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='annotate.project')),
            ],
        ),
        migrations.AddField(
            model_name='instructionpair',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pairs', to='annotate.project'),
        ),
        migrations.AddField(
            model_name='guideline',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='guidelines', to='annotate.project'),
        ),
        migrations.CreateModel(
            name='Grade',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value', models.SmallIntegerField()),
                ('name', models.CharField(max_length=60)),
                ('sentence', models.CharField(blank=True, max_length=300)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grades', to='annotate.project')),
            ],
        ),
        migrations.AddField(
            model_name='document',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='documents', to='annotate.project'),
        ),
        migrations.CreateModel(
            name='Deed',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('name', models.CharField(blank=True, max_length=150)),
                ('what', models.CharField(max_length=40)),
                ('about', models.TextField(blank=True)),
                ('kind', models.CharField(blank=True, max_length=80)),
                ('key', models.BigIntegerField(blank=True, null=True)),
                ('words', models.TextField(blank=True)),
                ('changes', models.JSONField(blank=True, default=dict)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='deeds', to='annotate.project')),
            ],
        ),
        migrations.CreateModel(
            name='Category',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=60)),
                ('name', models.CharField(max_length=120)),
                ('sentence', models.CharField(blank=True, max_length=500)),
                ('place', models.PositiveSmallIntegerField(default=0)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='categories', to='annotate.project')),
            ],
            options={
                'verbose_name_plural': 'categories',
            },
        ),
        migrations.CreateModel(
            name='Query',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('query_id', models.CharField(max_length=255)),
                ('title', models.TextField(blank=True)),
                ('description', models.TextField(blank=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='queries', to='annotate.project')),
            ],
        ),
        migrations.AddField(
            model_name='instructionpair',
            name='query',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pairs', to='annotate.query'),
        ),
        migrations.AddField(
            model_name='candidate',
            name='query',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='candidates', to='annotate.query'),
        ),
        migrations.CreateModel(
            name='Repeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('relevance', models.IntegerField(blank=True, null=True)),
                ('flag', models.CharField(blank=True, choices=[('later', 'Later'), ('cannot_judge', 'Cannot judge'), ('problem', 'Problem with this document')], max_length=20)),
                ('note', models.TextField(blank=True)),
                ('evidence', models.JSONField(blank=True, default=list)),
                ('clauses', models.JSONField(blank=True, default=list)),
                ('verdicts', models.JSONField(blank=True, default=dict)),
                ('active_ms', models.PositiveIntegerField(blank=True, null=True)),
                ('pressed', models.CharField(blank=True, choices=[('key', 'A key'), ('click', 'A click')], max_length=10)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('made_at', models.DateTimeField(blank=True, null=True)),
                ('superseded_at', models.DateTimeField(blank=True, null=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='repeats', to='annotate.membership')),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='repeats', to='annotate.candidate')),
                ('first', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='repeats', to='annotate.judgment')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='repeats', to='annotate.narrative')),
            ],
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=255)),
                ('tag', models.CharField(blank=True, max_length=255)),
                ('sha256', models.CharField(max_length=64)),
                ('file', models.FileField(max_length=300, upload_to='runs')),
                ('loaded_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='annotate.project')),
            ],
        ),
        migrations.CreateModel(
            name='RunLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rank', models.PositiveIntegerField()),
                ('score', models.FloatField()),
                ('document', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.document')),
                ('query', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.query')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='annotate.run')),
            ],
        ),
        migrations.CreateModel(
            name='Token',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('start', models.CharField(max_length=12)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('may_judge', models.BooleanField(default=False)),
                ('may_lead', models.BooleanField(default=False)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Unseen',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=10)),
                ('first', models.BigIntegerField()),
                ('last', models.BigIntegerField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('first__lte', models.F('last'))), name='unseen_from_first_to_last'), models.CheckConstraint(condition=models.Q(('kind__in', ['query', 'document', 'candidate'])), name='unseen_of_a_known_kind')],
            },
        ),
        migrations.CreateModel(
            name='Verdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('answer', models.CharField(choices=[('met', 'Met'), ('not_met', 'Not met'), ('cant_tell', "Can't tell")], max_length=10)),
                ('condition', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='verdicts', to='annotate.condition')),
                ('judgment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='verdicts', to='annotate.judgment')),
            ],
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('deactivated_at__isnull', True), ('deactivated_by__isnull', True)), models.Q(('deactivated_at__isnull', False), ('deactivated_by__isnull', False), ('is_active', False)), _connector='OR'), name='user_deactivated_by_and_at'),
        ),
        migrations.AddIndex(
            model_name='keptanswer',
            index=models.Index(fields=['user', 'at'], name='kept_answer_age'),
        ),
        migrations.AddConstraint(
            model_name='keptanswer',
            constraint=models.UniqueConstraint(fields=('user', 'key'), name='kept_answer_once'),
        ),
        migrations.AddConstraint(
            model_name='lookagain',
            constraint=models.UniqueConstraint(condition=models.Q(('withdrawn_at__isnull', True)), fields=('judgment',), name='look_again_once_per_judgment'),
        ),
        migrations.AddConstraint(
            model_name='lookagain',
            constraint=models.CheckConstraint(condition=models.Q(('words', ''), _negated=True), name='look_again_has_words'),
        ),
        migrations.AddConstraint(
            model_name='lookagain',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('withdrawn_at__isnull', True), ('withdrawn_by__isnull', True)), models.Q(('withdrawn_at__isnull', False), ('withdrawn_by__isnull', False)), _connector='OR'), name='look_again_withdrawn_by_and_at'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.UniqueConstraint(fields=('pair', 'side', 'member'), name='draft_once_per_side'),
        ),
        migrations.AddConstraint(
            model_name='conditionadjudication',
            constraint=models.UniqueConstraint(condition=models.Q(('withdrawn_at__isnull', True)), fields=('condition', 'candidate'), name='condition_adjudication_one_current'),
        ),
        migrations.AddConstraint(
            model_name='conditionadjudication',
            constraint=models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='condition_adjudication_has_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='conditionadjudication',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('withdrawn_at__isnull', True), ('withdrawn_by__isnull', True)), models.Q(('withdrawn_at__isnull', False), ('withdrawn_by__isnull', False)), _connector='OR'), name='condition_adjudication_withdrawn_by_and_at'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(fields=('pair', 'task', 'seat'), name='seat_taken_once'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(fields=('pair', 'task', 'member'), name='seat_one_per_person'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(('seat__range', (1, 50))), name='seats_from_1_to_50'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(('done_at__isnull', True), ('touched_at__isnull', False), _connector='OR'), name='seat_done_was_touched'),
        ),
        migrations.AddConstraint(
            model_name='narrative',
            constraint=models.UniqueConstraint(fields=('pair', 'side', 'version'), name='narrative_version_once'),
        ),
        migrations.AddConstraint(
            model_name='narrative',
            constraint=models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='narrative_versions_from_1'),
        ),
        migrations.AddConstraint(
            model_name='narrative',
            constraint=models.CheckConstraint(condition=models.Q(('side', 'original'), models.Q(('text', ''), _negated=True), _connector='OR'), name='narrative_rewritten_has_words'),
        ),
        migrations.AddIndex(
            model_name='judgment',
            index=models.Index(fields=['narrative', 'annotator', 'at'], name='judgment_history'),
        ),
        migrations.AddIndex(
            model_name='judgment',
            index=models.Index(condition=models.Q(('superseded_at__isnull', True)), fields=['narrative', 'candidate', 'annotator', 'relevance', 'at', 'superseded_at'], name='judgment_differing'),
        ),
        migrations.AddConstraint(
            model_name='judgment',
            constraint=models.UniqueConstraint(condition=models.Q(('superseded_at__isnull', True)), fields=('narrative', 'candidate', 'annotator'), name='judgment_one_current'),
        ),
        migrations.AddConstraint(
            model_name='judgment',
            constraint=models.CheckConstraint(condition=models.Q(('withdrawn_at__isnull', True), ('superseded_at__isnull', False), _connector='OR'), name='judgment_withdrawn_is_superseded'),
        ),
        migrations.AddConstraint(
            model_name='judgment',
            constraint=models.CheckConstraint(condition=models.Q(('replaces__isnull', True), models.Q(('replaces', models.F('id')), _negated=True), _connector='OR'), name='judgment_never_replaces_itself'),
        ),
        migrations.AddConstraint(
            model_name='guidelinecase',
            constraint=models.UniqueConstraint(fields=('guideline', 'narrative', 'candidate'), name='guideline_case_once'),
        ),
        migrations.AddConstraint(
            model_name='flag',
            constraint=models.UniqueConstraint(condition=models.Q(('cleared_at__isnull', True)), fields=('narrative', 'candidate', 'annotator'), name='flag_one_current'),
        ),
        migrations.AddConstraint(
            model_name='condition',
            constraint=models.UniqueConstraint(fields=('narrative', 'number'), name='condition_number_once'),
        ),
        migrations.AddConstraint(
            model_name='condition',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='condition_numbers_from_1'),
        ),
        migrations.AddConstraint(
            model_name='condition',
            constraint=models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='condition_has_words'),
        ),
        migrations.AddIndex(
            model_name='adjudication',
            index=models.Index(condition=models.Q(('batch__isnull', False)), fields=['batch'], name='adjudication_of_batch'),
        ),
        migrations.AddConstraint(
            model_name='adjudication',
            constraint=models.UniqueConstraint(condition=models.Q(('withdrawn_at__isnull', True)), fields=('narrative', 'candidate'), name='adjudication_one_current'),
        ),
        migrations.AddConstraint(
            model_name='adjudication',
            constraint=models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='adjudication_has_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='adjudication',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('withdrawn_at__isnull', True), ('withdrawn_by__isnull', True)), models.Q(('withdrawn_at__isnull', False), ('withdrawn_by__isnull', False)), _connector='OR'), name='adjudication_withdrawn_by_and_at'),
        ),
        migrations.AddConstraint(
            model_name='project',
            constraint=models.CheckConstraint(condition=models.Q(('overlap_rewrite__range', (0, 50)), ('overlap_judge__range', (0, 50)), ('overlap_review__range', (0, 50))), name='project_overlaps_from_0_to_50'),
        ),
        migrations.AddConstraint(
            model_name='project',
            constraint=models.CheckConstraint(condition=models.Q(('repeat_percent__lte', 50)), name='project_repeats_at_most_half'),
        ),
        migrations.AddConstraint(
            model_name='project',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('archived_at__isnull', True), ('archived_by__isnull', True)), models.Q(('archived_at__isnull', False), ('archived_by__isnull', False)), _connector='OR'), name='project_archived_by_and_at'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('project', 'name'), name='member_name_once_per_project'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.UniqueConstraint(fields=('project', 'user'), name='member_user_once_per_project'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(('role', 'annotator'), ('user__isnull', False), _connector='OR'), name='member_lead_signs_in'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(('is_machine', False), ('user__isnull', True), _connector='OR'), name='member_machine_has_no_login'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='member_has_a_name'),
        ),
        migrations.AddConstraint(
            model_name='membership',
            constraint=models.CheckConstraint(condition=models.Q(('left_at__isnull', True), ('left_at__gte', models.F('joined_at')), _connector='OR'), name='member_leaves_after_joining'),
        ),
        migrations.AddConstraint(
            model_name='load',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('claim__isnull', False), ('lease_until__isnull', False), ('started_at__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('claim__isnull', True), ('lease_until__isnull', True)), _connector='OR'), name='annotate_load_running_has_a_lease'),
        ),
        migrations.AddConstraint(
            model_name='load',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ['queued', 'running'])), models.Q(('finished_at__isnull', False), ('state__in', ['done', 'failed', 'cancelled'])), _connector='OR'), name='annotate_load_finished_at_its_end'),
        ),
        migrations.AddConstraint(
            model_name='load',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), models.Q(('error', ''), _negated=True)), models.Q(models.Q(('state', 'failed'), _negated=True), ('error', '')), _connector='OR'), name='annotate_load_failed_says_why'),
        ),
        migrations.AddConstraint(
            model_name='load',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'cancelled'), _negated=True), ('cancel_requested_at__isnull', False), _connector='OR'), name='annotate_load_cancelled_when_asked'),
        ),
        migrations.AddConstraint(
            model_name='load',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('dry_run', True), ('preview__isnull', True)), models.Q(('dry_run', False), ('preview__isnull', False)), _connector='OR'), name='load_writes_after_preview'),
        ),
        migrations.AddConstraint(
            model_name='link',
            constraint=models.UniqueConstraint(fields=('project', 'chain', 'number'), name='link_number_once'),
        ),
        migrations.AddConstraint(
            model_name='link',
            constraint=models.UniqueConstraint(condition=models.Q(('project__isnull', True)), fields=('chain', 'number'), name='link_number_once_of_all'),
        ),
        migrations.AddConstraint(
            model_name='link',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='link_numbers_from_1'),
        ),
        migrations.AddConstraint(
            model_name='invitation',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('accepted_at__isnull', True), ('accepted_by__isnull', True)), models.Q(('accepted_at__isnull', False), ('accepted_by__isnull', False)), _connector='OR'), name='invitation_accepted_by_and_at'),
        ),
        migrations.AddConstraint(
            model_name='invitation',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('withdrawn_at__isnull', True), ('withdrawn_by__isnull', True)), models.Q(('withdrawn_at__isnull', False), ('withdrawn_by__isnull', False)), _connector='OR'), name='invitation_withdrawn_by_and_at'),
        ),
        migrations.AddConstraint(
            model_name='invitation',
            constraint=models.CheckConstraint(condition=models.Q(('accepted_at__isnull', True), ('withdrawn_at__isnull', True), _connector='OR'), name='invitation_ends_once'),
        ),
        migrations.AddConstraint(
            model_name='invitation',
            constraint=models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('created_at'))), name='invitation_expires_after_it_is_made'),
        ),
        migrations.AddConstraint(
            model_name='invitation',
            constraint=models.CheckConstraint(condition=models.Q(('role', 'annotator'), ('project__isnull', False), _connector='OR'), name='invitation_leads_a_project'),
        ),
        migrations.AddConstraint(
            model_name='guideline',
            constraint=models.UniqueConstraint(fields=('project', 'version'), name='guideline_version_once'),
        ),
        migrations.AddConstraint(
            model_name='grade',
            constraint=models.UniqueConstraint(fields=('project', 'value'), name='grade_once_per_project'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.UniqueConstraint(fields=('project', 'doc_id'), name='document_id_once_per_project'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.CheckConstraint(condition=models.Q(('doc_id', ''), _negated=True), name='document_has_an_id'),
        ),
        migrations.AddIndex(
            model_name='deed',
            index=models.Index(fields=['project', '-id'], name='deed_newest'),
        ),
        migrations.AddIndex(
            model_name='deed',
            index=models.Index(fields=['project', 'user', '-id'], name='deed_newest_of'),
        ),
        migrations.AddIndex(
            model_name='deed',
            index=models.Index(fields=['project', 'what', '-id'], name='deed_newest_what'),
        ),
        migrations.AddConstraint(
            model_name='deed',
            constraint=models.CheckConstraint(condition=models.Q(('what', ''), _negated=True), name='deed_says_what'),
        ),
        migrations.AddConstraint(
            model_name='deed',
            constraint=models.CheckConstraint(condition=models.Q(('user__isnull', True), models.Q(('name', ''), _negated=True), _connector='OR'), name='deed_of_someone_names_them'),
        ),
        migrations.AddConstraint(
            model_name='category',
            constraint=models.UniqueConstraint(fields=('project', 'key'), name='category_once_per_project'),
        ),
        migrations.AddConstraint(
            model_name='category',
            constraint=models.CheckConstraint(condition=models.Q(('key', ''), _negated=True), name='category_has_a_key'),
        ),
        migrations.AddConstraint(
            model_name='query',
            constraint=models.UniqueConstraint(fields=('project', 'query_id'), name='query_id_once_per_project'),
        ),
        migrations.AddConstraint(
            model_name='query',
            constraint=models.CheckConstraint(condition=models.Q(('query_id', ''), _negated=True), name='query_has_an_id'),
        ),
        migrations.AddConstraint(
            model_name='instructionpair',
            constraint=models.UniqueConstraint(fields=('project', 'pair_id'), name='pair_id_once_per_project'),
        ),
        migrations.AddConstraint(
            model_name='instructionpair',
            constraint=models.CheckConstraint(condition=models.Q(('pair_id', ''), _negated=True), name='pair_has_an_id'),
        ),
        migrations.AddConstraint(
            model_name='instructionpair',
            constraint=models.CheckConstraint(condition=models.Q(('origin', 'llm'), ('model', ''), _connector='OR'), name='pair_by_people_names_no_model'),
        ),
        migrations.AddConstraint(
            model_name='instructionpair',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('sent_back_at__isnull', True), ('sent_back_by__isnull', True)), models.Q(('sent_back_at__isnull', False), ('sent_back_by__isnull', False)), _connector='OR'), name='pair_sent_back_by_and_at'),
        ),
        migrations.AddConstraint(
            model_name='instructionpair',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('removed_at__isnull', True), ('removed_by__isnull', True)), models.Q(('removed_at__isnull', False), ('removed_by__isnull', False)), _connector='OR'), name='pair_removed_by_and_at'),
        ),
        migrations.AddIndex(
            model_name='candidate',
            index=models.Index(fields=['query', 'prior_relevance'], name='candidate_by_relevance'),
        ),
        migrations.AddConstraint(
            model_name='candidate',
            constraint=models.UniqueConstraint(fields=('query', 'document'), name='candidate_once_per_query'),
        ),
        migrations.AddConstraint(
            model_name='candidate',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('origin', 'prior'), _negated=True), ('prior_relevance__isnull', False), _connector='OR'), name='candidate_from_qrels_has_relevance'),
        ),
        migrations.AddIndex(
            model_name='repeat',
            index=models.Index(fields=['narrative', 'annotator', 'at'], name='repeat_history'),
        ),
        migrations.AddConstraint(
            model_name='repeat',
            constraint=models.UniqueConstraint(condition=models.Q(('superseded_at__isnull', True)), fields=('narrative', 'candidate', 'annotator'), name='repeat_one_current'),
        ),
        migrations.AddConstraint(
            model_name='repeat',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('flag', ''), ('relevance__isnull', False)), models.Q(('relevance__isnull', True), models.Q(('flag', ''), _negated=True)), _connector='OR'), name='repeat_is_a_grade_or_a_flag'),
        ),
        migrations.AddConstraint(
            model_name='repeat',
            constraint=models.CheckConstraint(condition=models.Q(('withdrawn_at__isnull', True), ('superseded_at__isnull', False), _connector='OR'), name='repeat_withdrawn_is_superseded'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(fields=('project', 'name'), name='run_name_once_per_project'),
        ),
        migrations.AddConstraint(
            model_name='runline',
            constraint=models.UniqueConstraint(fields=('run', 'query', 'document'), name='run_document_once'),
        ),
        migrations.AddConstraint(
            model_name='token',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='token_has_a_name'),
        ),
        migrations.AddConstraint(
            model_name='token',
            constraint=models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('made_at'))), name='token_expires_after_it_is_made'),
        ),
        migrations.AddConstraint(
            model_name='verdict',
            constraint=models.UniqueConstraint(fields=('judgment', 'condition'), name='verdict_once_per_condition'),
        ),
        migrations.RunPython(people.make_cache_table, migrations.RunPython.noop),
        migrations.RunPython(trail.freeze, trail.thaw),
    ]
