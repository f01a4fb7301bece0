"""The only door from a request to a row of the second pass: the row, or 404, or 403 with why."""

from __future__ import annotations

from typing import NamedTuple

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate import access
from annotate.access import Person
from annotate.actions import seats
from annotate.errors import Refused
from annotate.models.collection import Candidate
from annotate.models.instruction import Condition, InstructionPair, Narrative
from annotate.models.judgment import (
    Adjudication,
    Assignment,
    ConditionAdjudication,
    Judgment,
    Verdict,
)
from annotate.models.looking import LookAgain
from annotate.models.project import Membership
from audit.models import AgreementReport, Check, Decision, SampleItem
from audit.reviews.passes import must_answer_first
from audit.settling.queue import judge_first

BLIND = gettext_lazy(
    "You have judging or reviewing left in this project, and agreement would tell you what others "
    "said. Finish it, or leave the seat, then look here again."
)


NO_NARRATIVE = "There is no such narrative among yours."
NO_CONDITION = "There is no such condition among yours."
NO_LABEL = "There is no such label among yours."


class Reviewing(NamedTuple):
    """An auditor before the altered narrative that is in force."""

    member: Membership
    pair: InstructionPair
    narrative: Narrative


class Differing(NamedTuple):
    """A lead before what people said of a narrative version, and of a candidate under it."""

    member: Membership
    narrative: Narrative
    candidate: Candidate


def reviewing(user: Person, pk: int) -> Reviewing:
    """Return the pair whose review seat the person holds, with the narrative to review.

    A stranger gets Http404; a member without a seat, or where nothing is written yet, Refused.
    """
    member, pair = access.pair(user, pk)
    if not seats.holds(pair=pair, task=Assignment.Task.REVIEW, by=member):
        raise Refused(_("This is not your seat. Take one from your list, then go on."))
    narrative = pair.current(Narrative.Side.ALTERED)
    if narrative is None:
        raise Refused(_("There is no altered narrative to review here yet."))
    return Reviewing(member, pair, narrative)


def judgments_differing(user: Person, pk: int, candidate: int) -> Differing:
    """Return narrative version `pk` and a candidate for a lead who may see what was said of it.

    A stranger gets Http404; an annotator, and a lead who has yet to judge it, PermissionDenied.
    """
    member, narrative = _led(user, pk)
    found = access.candidate(narrative.pair, candidate)
    if judge_first(member, narrative, found):
        raise PermissionDenied("You hold a seat here. Judge this document first, then settle it.")
    return Differing(member, narrative, found)


def verdicts_differing(user: Person, pk: int, candidate: int) -> tuple[Differing, Condition]:
    """Return condition `pk` and a candidate for a lead who may see what was said of it.

    A stranger gets Http404; an annotator, and a lead who has yet to judge it, PermissionDenied.
    """
    found = Condition.objects.filter(pk=min(pk, access.LARGEST_KEY)).first()
    if found is None:
        raise Http404(NO_CONDITION)
    with access.told_alike(NO_CONDITION):
        differing = judgments_differing(user, found.narrative_id, candidate)
    found.narrative = differing.narrative
    return differing, found


def checks_differing(user: Person, pk: int) -> tuple[Differing, SampleItem]:
    """Return label `pk` for a lead, who may see what two checkers said once both have spoken.

    A stranger gets Http404, as does a lead where not both have spoken; an annotator
    PermissionDenied.
    """
    found = (
        SampleItem.objects.select_related(
            "sample", "narrative__pair__project", "narrative__pair__query", "candidate__document"
        )
        .filter(pk=min(pk, access.LARGEST_KEY))
        .first()
    )
    if found is None:
        raise Http404(NO_LABEL)
    with access.told_alike(NO_LABEL):
        member = access.lead(user, found.narrative.pair.project.slug)
    said = Check.objects.current().filter(item=found, place__in=(1, 2))
    if said.count() < 2:
        raise Http404("What people say of this label shows here once two have checked it.")
    return Differing(member, found.narrative, found.candidate), found


def reviews_differing(user: Person, pk: int) -> tuple[Membership, Narrative]:
    """Return narrative version `pk` for a lead who may see what auditors said of it.

    A stranger gets Http404; an annotator, and a lead who has yet to review it, PermissionDenied.
    """
    member, found = _led(user, pk)
    if must_answer_first(member, found):
        raise PermissionDenied("You hold a seat here. Submit your own review first, then decide.")
    return member, found


def judgment(differing: Differing, pk: int) -> Judgment:
    """Return one person's answer to what differs, current or not, or raise Http404."""
    found = (
        Judgment.objects.of_people()
        .select_related("annotator", "narrative", "candidate")
        .filter(pk=pk, narrative=differing.narrative, candidate=differing.candidate)
        .first()
    )
    if found is None:
        raise Http404("There is no such answer here.")
    return found


def verdict(differing: Differing, condition: Condition, pk: int) -> Verdict:
    """Return one person's answer to a condition, current or not, or raise Http404."""
    found = (
        Verdict.objects.select_related("condition__narrative", "judgment__candidate")
        .filter(
            pk=pk,
            condition=condition,
            judgment__candidate=differing.candidate,
            judgment__annotator__is_machine=False,
        )
        .first()
    )
    if found is None:
        raise Http404("There is no such answer here.")
    return found


def check(item: SampleItem, pk: int) -> Check:
    """Return what one of the first two said of a label, or raise Http404."""
    found = Check.objects.current().filter(pk=pk, item=item, place__in=(1, 2)).first()
    if found is None:
        raise Http404("There is no such answer here.")
    return found


def condition_adjudication(condition: Condition, candidate: Candidate) -> ConditionAdjudication:
    """Return the settling decision on a condition that stands, or raise Http404."""
    found = (
        ConditionAdjudication.objects.current()
        .select_related("condition__narrative", "by")
        .filter(condition=condition, candidate=candidate)
        .first()
    )
    if found is None:
        raise Http404("Nothing is settled here.")
    return found


def wish(differing: Differing, key: str) -> LookAgain:
    """Return what was asked again of an answer to what differs, by its key as a form sends it, or
    raise Http404.
    """
    found = (
        LookAgain.objects.select_related("judgment__annotator", "judgment__narrative")
        .filter(
            pk=int(key) if key.isascii() and key.isdecimal() and len(key) < 19 else 0,
            judgment__narrative=differing.narrative,
            judgment__candidate=differing.candidate,
        )
        .first()
    )
    if found is None:
        raise Http404("Nothing of the kind was asked here.")
    return found


def adjudication(differing: Differing) -> Adjudication:
    """Return the settling decision that stands, or raise Http404."""
    found = (
        Adjudication.objects.current()
        .select_related("narrative", "by")
        .filter(narrative=differing.narrative, candidate=differing.candidate)
        .first()
    )
    if found is None:
        raise Http404("Nothing is settled here.")
    return found


def decision(narrative: Narrative) -> Decision:
    """Return the decision that stands on a narrative version, or raise Http404."""
    found = (
        Decision.objects.current()
        .select_related("narrative__pair", "by")
        .filter(narrative=narrative)
        .first()
    )
    if found is None:
        raise Http404("Nothing is decided here.")
    return found


def report(user: Person, slug: str, pk: int) -> tuple[Membership, AgreementReport]:
    """Return a report of a project that the person leads, or raise Http404 or PermissionDenied."""
    member = access.lead(user, slug)
    found = (
        AgreementReport.objects.select_related("project")
        .filter(pk=pk, project=member.project_id)
        .first()
    )
    if found is None:
        raise Http404("There is no such report in this project.")
    return member, found


def computed_report(user: Person, slug: str, pk: int) -> AgreementReport:
    """Return a report of a project with its figures; as `report`, and PermissionDenied for a lead
    who is still blind.
    """
    member, found = report(user, slug, pk)
    if seats.must_answer_first(member):
        raise PermissionDenied(BLIND)
    return found


def told(user: Person, slug: str) -> Membership:
    """Return a lead of a project who may read what each person said, or raise Http404 or
    PermissionDenied: also for a lead who is still blind.
    """
    member = access.lead(user, slug)
    if seats.must_answer_first(member):
        raise PermissionDenied(BLIND)
    return member


def _led(user: Person, pk: int) -> tuple[Membership, Narrative]:
    found = Narrative.objects.select_related("pair__project", "pair__query").filter(pk=pk).first()
    if found is None:
        raise Http404(NO_NARRATIVE)
    with access.told_alike(NO_NARRATIVE):
        return access.lead(user, found.pair.project.slug), found
