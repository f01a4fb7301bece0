"""Guidelines: every change inserts a version."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from annotate.actions.seats import refuse_if_archived
from annotate.errors import Refused, Stale
from annotate.models import Guideline, Membership, Project

MAX_LENGTH = 100_000


def write_guideline(*, text: str, by: Membership, based_on: int) -> Guideline:
    """Insert the next version of the guidelines; `based_on` is the version the author had before
    them.
    """
    refuse_if_archived(by.project)
    text = text.replace("\r\n", "\n").strip()
    if not by.leads:
        raise Refused(_("Only leads of this project write its guidelines."))
    if not text:
        raise Refused(_("The guidelines are empty. Write what judges should know."))
    if len(text) > MAX_LENGTH:
        raise Refused(
            _("The guidelines have %(text)s characters; at most %(max_length)s are kept.")
            % {"text": f"{len(text):,}", "max_length": f"{MAX_LENGTH:,}"}
        )
    with transaction.atomic():
        project = Project.objects.select_for_update().get(pk=by.project_id)
        latest = Guideline.objects.latest_of(project)
        version = latest.version if latest else 0
        if version != based_on:
            raise Stale(
                _(
                    "Version %(version)s was saved while you were writing. Your text is still "
                    "here: compare it with that version, then save again."
                )
                % {"version": version}
            )
        if latest is not None and latest.text == text:
            raise Refused(_("Nothing has changed yet, so there is no new version to save."))
        return Guideline.objects.create(project=project, version=version + 1, text=text, author=by)
