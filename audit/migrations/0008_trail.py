from django.db import migrations


def take_up(apps, schema_editor):
    """What is there already is linked as it stands now: from here on a change of it is noticed."""
    # What is read and written there is there since this migration, by the names it has here.
    from audit.checks import check_chain
    from audit.reviews import review_chain

    for project in apps.get_model('annotate', 'Project').objects.values_list('pk', flat=True):
        for kind, rows in review_chain.ROWS.items():
            review_chain.follow(kind, project, new={key for key, _row in rows(project)})
        check_chain.follow(project, new={key for key, _row in check_chain.checks(project)})


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0010_trail'),
        ('audit', '0007_request'),
    ]

    operations = [
        migrations.RunPython(take_up, migrations.RunPython.noop),
    ]
