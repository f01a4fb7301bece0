"""All tables of jobs in one step. The replaced files stay: restoring an older backup needs them."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('jobs', '0001_initial'),
        ('jobs', '0002_request'),
    ]

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
    ]
