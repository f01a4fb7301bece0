import hashlib
import unicodedata

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


def group_by_title(apps, schema_editor):
    """Give the queries that are here the core query of their title."""
    queries = apps.get_model("annotate", "Query")._base_manager
    changed = []
    for query in queries.only("pk", "title").order_by("pk").iterator(2_000):
        query.core = core_of(query.title)
        if query.core:
            changed.append(query)
        if len(changed) == 2_000:
            queries.bulk_update(changed, ["core"])
            changed = []
    queries.bulk_update(changed, ["core"])


def core_of(title):
    words = " ".join(unicodedata.normalize("NFC", title).casefold().split())
    if len(words) <= 200:
        return words
    return f"{words[:200]} {hashlib.blake2b(words.encode(), digest_size=16).hexdigest()}"


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0029_revisions'),
    ]

    operations = [
        migrations.CreateModel(
            name='ReplacedCandidate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
            ],
        ),
        migrations.CreateModel(
            name='Replacement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField()),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.AddField(
            model_name='condition',
            name='negated',
            field=models.BooleanField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='instructionpair',
            name='source_fields',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='query',
            name='core',
            field=models.CharField(blank=True, db_default='', default='', max_length=255),
        ),
        migrations.AddField(
            model_name='query',
            name='core_given',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name='query',
            index=models.Index(fields=['project', 'core'], name='query_core'),
        ),
        migrations.AddField(
            model_name='replacedcandidate',
            name='new',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.candidate'),
        ),
        migrations.AddField(
            model_name='replacedcandidate',
            name='old',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.candidate'),
        ),
        migrations.AddField(
            model_name='replacement',
            name='by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership'),
        ),
        migrations.AddField(
            model_name='replacement',
            name='new',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.document'),
        ),
        migrations.AddField(
            model_name='replacement',
            name='old',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.document'),
        ),
        migrations.AddField(
            model_name='replacement',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='replacements', to='annotate.project'),
        ),
        migrations.AddField(
            model_name='replacement',
            name='undone_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotate.membership'),
        ),
        migrations.AddField(
            model_name='replacedcandidate',
            name='replacement',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pools', to='annotate.replacement'),
        ),
        migrations.AddConstraint(
            model_name='replacement',
            constraint=models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='replacement_has_a_reason'),
        ),
        migrations.AddConstraint(
            model_name='replacement',
            constraint=models.CheckConstraint(condition=models.Q(('old', models.F('new')), _negated=True), name='replacement_by_another_document'),
        ),
        migrations.AddConstraint(
            model_name='replacement',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('undone_at__isnull', True), ('undone_by__isnull', True)), models.Q(('undone_at__isnull', False), ('undone_by__isnull', False)), _connector='OR'), name='replacement_undone_by_and_at'),
        ),
        migrations.AddConstraint(
            model_name='replacedcandidate',
            constraint=models.UniqueConstraint(fields=('replacement', 'old'), name='replaced_candidate_once'),
        ),
        migrations.RunPython(group_by_title, migrations.RunPython.noop),
    ]
