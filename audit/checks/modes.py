"""Checking labels in several modes: original, instructed, reversed. Each is a sample of its own.

InfoSearch asks of a gold document that it is relevant to the original and to the instructed query,
and not to the reversed one; so it is looked at once in each mode, with the narrative of that mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from audit.checks.claims import Asked, frame
from audit.checks.models import Sample
from base.errors import Refused

# The modes in the paper's words, by the sides of the narratives.
MODES: Mapping[str, str | Promise] = {
    Narrative.Side.ORIGINAL: gettext_lazy("Original"),
    Narrative.Side.ALTERED: gettext_lazy("Instructed"),
    Narrative.Side.REVERSED: gettext_lazy("Reversed"),
}


def asked_in(project: Project, asked: Asked, mode: str) -> Asked:
    """Return what is asked for in one mode.

    In the original mode a label is what the qrels say, where a machine claims nothing there.
    """
    in_mode = asked._replace(side=mode)
    if mode != Narrative.Side.ORIGINAL or asked.source != Sample.Source.MACHINE:
        return in_mode
    if frame(project, in_mode).claims:
        return in_mode
    return in_mode._replace(source=Sample.Source.PRIOR, rater=None)


def passes(
    project: Project, asked: Asked, name: str, modes: Sequence[str]
) -> Iterator[tuple[str, Asked]]:
    """Yield the name of the sample of each mode, and what is asked for in it."""
    for mode in modes:
        yield (
            _("%(name)s (%(mode)s)") % {"name": name, "mode": str(MODES[mode]).lower()},
            asked_in(project, asked, mode),
        )


def make_passes(
    make: Callable[[str, Asked], Sample],
    *,
    project: Project,
    asked: Asked,
    name: str,
    modes: Sequence[str],
) -> list[Sample]:
    """Make a sample for each mode, or one of all of them where none is named. All or none.

    Refused: as by `make` (`draw_sample` or `pick_suspects`), and where no mode has anything.
    """
    if not modes:
        return [make(name, asked)]
    with transaction.atomic():
        made = [
            make(of_mode, in_mode)
            for of_mode, in_mode in passes(project, asked, name, modes)
            if frame(project, in_mode).claims
        ]
    if not made:
        raise Refused(_("Nothing is claimed in these modes."))
    return made
