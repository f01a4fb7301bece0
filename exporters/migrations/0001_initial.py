import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotate', '0001_initial'),
        ('jobs', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Release',
            fields=[
                ('job_ptr', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, parent_link=True, primary_key=True, related_name='+', serialize=False, to='jobs.job')),
                ('note', models.TextField(blank=True)),
                ('at', models.DateTimeField(blank=True, null=True)),
                ('code_version', models.CharField(blank=True, max_length=40)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('manifest', models.JSONField(blank=True, null=True)),
                ('guideline', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='releases', to='annotate.guideline')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('at__isnull', True), ('code_version', ''), ('manifest__isnull', True), ('sha256', '')), models.Q(('at__isnull', False), ('manifest__isnull', False), models.Q(('sha256', ''), _negated=True), models.Q(('code_version', ''), _negated=True)), _connector='OR'), name='release_whole_or_not_at_all')],
            },
            bases=('jobs.job',),
        ),
        migrations.CreateModel(
            name='Evaluation',
            fields=[
                ('job_ptr', models.OneToOneField(auto_created=True, on_delete=django.db.models.deletion.CASCADE, parent_link=True, primary_key=True, serialize=False, to='jobs.job')),
                ('systems', models.JSONField()),
                ('options', models.JSONField(blank=True, default=dict)),
                ('baseline', models.CharField(blank=True, max_length=255)),
                ('code_version', models.CharField(blank=True, max_length=40)),
                ('results', models.JSONField(blank=True, null=True)),
                ('release', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='evaluations', to='exporters.release')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('results__isnull', True), models.Q(('code_version', ''), _negated=True), _connector='OR'), name='evaluation_results_with_version')],
            },
            bases=('jobs.job',),
        ),
        migrations.CreateModel(
            name='SettlingEffect',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('effect', models.PositiveBigIntegerField()),
                ('candidate', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.candidate')),
                ('evaluation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='settling_effects', to='exporters.evaluation')),
                ('narrative', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.narrative')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('evaluation', 'narrative', 'candidate'), name='settling_effect_once')],
            },
        ),
        migrations.CreateModel(
            name='Export',
            fields=[
                ('job_ptr', models.OneToOneField(auto_created=True, on_delete=django.db.models.deletion.CASCADE, parent_link=True, primary_key=True, serialize=False, to='jobs.job')),
                ('format', models.CharField(choices=[('trec', 'TREC: paired qrels, topics, changed documents, runs'), ('jsonl', 'JSON lines: every judgment, review and adjudication'), ('mteb', 'MTEB: a folder for the instruction reranking task, with its task file'), ('hf', 'Hugging Face: the same data with a dataset card'), ('beir', 'BEIR: corpus, queries, qrels before and after the change'), ('ir-datasets', 'ir_datasets: a package to install'), ('followtable', 'FollowTable: queries, tables and instructions'), ('infosearch', 'InfoSearch: three instructions a query, three qrels'), ('multiconir', 'MultiConIR: a table of queries with growing conditions'), ('multi-infosearch', 'Multi-InfoSearch: attributes, a positive and a hard negative'), ('citation', 'Citation: CITATION.cff and .zenodo.json')], max_length=20)),
                ('folder', models.CharField(blank=True, max_length=200)),
                ('manifest', models.JSONField(blank=True, null=True)),
                ('prove', models.BooleanField(default=False)),
                ('proof', models.JSONField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('folder', ''), ('manifest__isnull', True)), models.Q(models.Q(('folder', ''), _negated=True), ('manifest__isnull', False)), _connector='OR'), name='export_folder_with_manifest'), models.CheckConstraint(condition=models.Q(('proof__isnull', True), models.Q(('manifest__isnull', False), ('prove', True)), _connector='OR'), name='export_proof_of_its_files')],
            },
            bases=('jobs.job',),
        ),
        migrations.CreateModel(
            name='Publication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('texts', models.BooleanField(default=False, help_text='Only if the licence of the collection allows it. Otherwise ids alone.', verbose_name='Publish titles and texts of documents')),
                ('claims', models.BooleanField(default=False, help_text='Only of accepted instructions; what a check found stands before the claim.', verbose_name='Publish claimed labels where nobody has judged')),
                ('licence', models.CharField(blank=True, max_length=100, verbose_name='Licence of instructions and labels')),
                ('texts_licence', models.CharField(blank=True, default='', max_length=200, verbose_name='Licence of the texts')),
                ('texts_source', models.CharField(blank=True, default='', max_length=500, verbose_name='Source of the texts')),
                ('languages', models.CharField(blank=True, max_length=200, verbose_name='Languages')),
                ('creators', models.TextField(blank=True, max_length=20000, verbose_name='Creators')),
                ('publisher', models.CharField(blank=True, max_length=200, verbose_name='Publisher')),
                ('year', models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='Year')),
                ('description', models.TextField(blank=True, max_length=20000, verbose_name='Description')),
                ('citation', models.TextField(blank=True, max_length=20000, verbose_name='Citation')),
                ('instructions_in_queries', models.BooleanField(default=True, verbose_name='In BEIR, append the instruction to the query')),
                ('layouts', models.JSONField(blank=True, default=list)),
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='publication', to='annotate.project')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('texts', False), models.Q(('licence', ''), _negated=True), _connector='OR'), name='publication_of_texts_names_a_licence')],
            },
        ),
    ]
