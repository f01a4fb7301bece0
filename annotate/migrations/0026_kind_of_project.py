from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("annotate", "0025_named_members"),
    ]

    operations = [
        migrations.AddField(
            model_name="project",
            name="kind",
            field=models.CharField(db_default="own", default="own", max_length=30),
        ),
    ]
