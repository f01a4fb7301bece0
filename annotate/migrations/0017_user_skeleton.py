from django.db import migrations, models

from base.lookalikes import skeleton


def keep_skeletons(apps, schema_editor):
    """Write each account's skeleton; of accounts that look alike the oldest has it."""
    users = apps.get_model("annotate", "User").objects.using(schema_editor.connection.alias)
    taken = set()
    for user in users.order_by("pk").only("username").iterator():
        found = skeleton(user.username)
        if found not in taken:
            taken.add(found)
            users.filter(pk=user.pk).update(skeleton=found)


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0016_when_a_step_began'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='skeleton',
            field=models.CharField(editable=False, max_length=300, null=True, unique=True),
        ),
        migrations.RunPython(keep_skeletons, migrations.RunPython.noop),
    ]
