"""Asking judges to look again: at one judgment, or at all that were made under older guidelines.

A rejudge request edits nothing. While it is open the document comes again to whoever judged it,
and there is work again in their assignment; whatever they say then answers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import connection, models, transaction
from django.db.models import Count, Exists, OuterRef, QuerySet, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.guidelines.models import GuidelineCase
from annotate.guidelines.rejudge_assignments import (
    Task,
    assignment_of,
    assignments_of,
    end_finished,
    hold_assignments,
)
from annotate.judgments import assignments
from annotate.judgments.in_force import judgments_in_force
from annotate.judgments.models import Judgment, RejudgeRequest
from annotate.pairs.models import Assignment, InstructionPair
from annotate.pairs.pool import candidates_to_judge, judged_narrative
from annotate.projects import access as projects_access
from annotate.projects.audit_log import many, record
from annotate.projects.models import Guideline, Membership, Project
from base.bulk import moment
from base.errors import Refused, Stale, refuse_strange

MAX_WORDS = 2_000


@dataclass(frozen=True)
class Which:
    """Which of the judgments older than a version of the guidelines are meant."""

    # A query's key.
    query: int | None = None
    grade: int | None = None
    # Only where people gave different grades.
    differing: bool = False
    # Only those of the cases that led to the version.
    cases: bool = False
    # Not those of these pairs (keys): a lead who still judges there is not told of judgments.
    without: frozenset[int] = frozenset()


class Older(NamedTuple):
    """How many judgments would be asked for again, of how many people."""

    judgments: int
    people: int
    # Not counted above: nobody could be asked, for whoever made them has left, cannot sign in, or
    # has no assignment.
    unreachable: int
    # Says which judgments these are: another one means that others are meant by now.
    token: str


class Asked(NamedTuple):
    """What became of the judgments that were asked for again for a version of the guidelines."""

    open: int
    answered: int
    withdrawn: int

    @property
    def standing(self) -> int:
        """How many were asked for and not taken back."""
        return self.open + self.answered


def ask(
    *, judgment: Judgment, words: str, by: Membership, now: datetime | None = None
) -> RejudgeRequest:
    """Ask whoever made a judgment to look again, and return the rejudge request.

    The same rejudge request by the same lead again changes nothing. Refused: who does not lead, no
    words, a judgment of a machine or of somebody who cannot be asked, one that was asked for
    already, a document that is not judged any more. Stale: its author has said something else
    since, or the narrative has a newer version.
    """
    now = now or timezone.now()
    words = _checked(words)
    with transaction.atomic():
        pair = _led(judgment, by)
        author = judgment.annotator
        if author.is_machine or author.user_id is None or author.left_at is not None:
            # Without a name: whoever asks may not know who it is.
            raise Refused(_("Whoever said this does not sign in here, and cannot be asked."))
        in_force = judged_narrative(pair)
        if in_force is None or in_force.pk != judgment.narrative_id:
            raise Stale(_("The narrative changed. Nobody judges under this version any more."))
        if not candidates_to_judge(pair).filter(pk=judgment.candidate_id).exists():
            raise Refused(_("This document is not among those to be judged for this query."))
        assignment = assignment_of(pair, author, now)
        now_said = Judgment.objects.only("superseded_at", "text_replaced_at").get(pk=judgment.pk)
        if now_said.superseded_at is not None:
            raise Stale(_("This answer was changed meanwhile. Look at it, then ask."))
        if now_said.text_replaced_at is not None:
            raise Stale(_("The document got another text. Its judges are asked for it anew."))
        standing = RejudgeRequest.objects.standing().filter(judgment=judgment).first()
        if standing is not None:
            if (standing.words, standing.by_id) != (words, by.pk):
                raise Refused(_("This was asked already. Take that back first, then ask anew."))
            return standing
        made = RejudgeRequest.objects.create(judgment=judgment, words=words, by=by, at=now)
        # They have judged here, so it does not come back by itself.
        assignments.touch(assignment, done=False, now=now)
        _record("look.asked", made, by, now)
    return made


def withdraw(
    *, rejudge_request: RejudgeRequest, by: Membership, now: datetime | None = None
) -> RejudgeRequest:
    """Take a rejudge request back: nothing comes again. Twice changes nothing; refused once
    answered.
    """
    now = now or timezone.now()
    with transaction.atomic():
        pair = _led(rejudge_request.judgment, by)
        author = rejudge_request.judgment.annotator
        # Under the lock on their assignment, so that an answer on its way is seen.
        list(assignments_of(pair, [author.pk]).select_for_update())
        standing = RejudgeRequest.objects.select_related("judgment").get(pk=rejudge_request.pk)
        if standing.withdrawn_at is not None:
            return standing
        if standing.judgment.superseded_at is not None:
            raise Refused(_("This was answered already."))
        standing.withdrawn_at, standing.withdrawn_by = now, by
        standing.save(update_fields=["withdrawn_at", "withdrawn_by"])
        end_finished(pair.project, [(standing.judgment.narrative_id, author.pk)], now)
        _record("look.withdrawn", standing, by, now)
    return standing


def older(guideline: Guideline, which: Which) -> QuerySet[Judgment]:
    """The judgments that can be asked for again for a version of the guidelines: made before it,
    current under narratives in force, by people who can be asked, and not asked for already.
    """
    return _reachable(_older(guideline, which))


def count_older(guideline: Guideline, which: Which) -> Older:
    """Count what `ask_older` would ask for."""
    meant = _older(guideline, which)
    found = (
        _reachable(meant)
        .order_by()
        .aggregate(n=Count("pk"), people=Count("annotator", distinct=True), keys=Sum("pk"))
    )
    everything = meant.count()
    return Older(
        found["n"], found["people"], everything - found["n"], f"{found['n']}-{found['keys'] or 0}"
    )


def ask_older(
    *,
    guideline: Guideline,
    which: Which,
    words: str,
    token: str,
    by: Membership,
    now: datetime | None = None,
) -> int:
    """Ask for all of `older(guideline, which)` again, and return how many these are.

    `token` is that of the count that the lead saw. Refused: who does not lead, no words, nothing to
    ask for. Stale: these are others by now, or the guidelines have a newer version.
    """
    now = now or timezone.now()
    words = _checked(words)
    with transaction.atomic():
        project = _led_project(by)
        if Guideline.objects.latest_of(project) != guideline:
            raise Stale(_("The guidelines have a newer version. Ask from there."))
        hold_assignments(project)
        found = count_older(guideline, which)
        if found.token != token:
            raise Stale(
                _("People have judged meanwhile, so these are other judgments now. Look again.")
            )
        if not found.judgments:
            raise Refused(_("There is no judgment to be asked for again."))
        chosen = older(guideline, which)
        touched = list(
            chosen.order_by().values_list("annotator__pk", "narrative__pair__pk").distinct()
        )
        sql, parameters = chosen.order_by("pk").values("id").query.sql_with_params()
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO annotate_lookagain (judgment_id, by_id, words, guideline_id, at) "  # noqa: S608 (Django's own query)
                f"SELECT q.id, %s, %s, %s, %s FROM ({sql}) q",
                [by.pk, words, guideline.pk, moment(now), *parameters],
            )
        pairs: dict[int, list[int]] = {}
        for annotator, pair in touched:
            pairs.setdefault(annotator, []).append(pair)
        for annotator, theirs in pairs.items():
            # They have judged there, so no such assignment comes back by itself.
            begun = Coalesce("touched_at", Value(now, models.DateTimeField()))
            Assignment.objects.filter(task=Task.JUDGE, member=annotator, pair__in=theirs).update(
                done_at=None, touched_at=begun
            )
        _record_many("look.asked", guideline, found.judgments, by, now)
    return found.judgments


def asked_for(guideline: Guideline) -> Asked:
    """Count what became of the judgments that were asked for again for this version."""
    rejudge_requests = RejudgeRequest.objects.filter(guideline=guideline)
    return Asked(
        _waiting(guideline).count(),
        rejudge_requests.standing().filter(judgment__superseded_at__isnull=False).count(),
        rejudge_requests.filter(withdrawn_at__isnull=False).count(),
    )


def withdraw_older(*, guideline: Guideline, by: Membership, now: datetime | None = None) -> int:
    """Take back all that was asked for this version and is still open; return how many."""
    now = now or timezone.now()
    with transaction.atomic():
        project = _led_project(by)
        hold_assignments(project)
        rejudge_requests = _waiting(guideline)
        concerned = list(
            rejudge_requests.order_by()
            .values_list("judgment__narrative", "judgment__annotator")
            .distinct()
        )
        taken_back = rejudge_requests.update(withdrawn_at=now, withdrawn_by=by)
        end_finished(project, concerned, now)
        if taken_back:
            _record_many("look.withdrawn", guideline, taken_back, by, now)
    return taken_back


def _record(what: str, rejudge_request: RejudgeRequest, by: Membership, now: datetime) -> None:
    """Keep in the audit log at which document somebody is to look again; whose it is stays
    unsaid.
    """
    judgment = rejudge_request.judgment
    narrative = judgment.narrative
    named = f"{narrative.pair} · {narrative} · {judgment.candidate.document}"
    record(project=by.project, what=what, about=rejudge_request, named=named, by=by, now=now)


def _record_many(
    what: str, guideline: Guideline, count: int, by: Membership, now: datetime
) -> None:
    named = many(count, guideline)
    record(project=by.project, what=what, about=guideline, named=named, by=by, now=now)


def _waiting(guideline: Guideline) -> QuerySet[RejudgeRequest]:
    """What was asked for a version and can still be answered: a new narrative ends a rejudge
    request.
    """
    return RejudgeRequest.objects.open().filter(
        guideline=guideline, judgment__in=judgments_in_force(guideline.project)
    )


def _older(guideline: Guideline, which: Which) -> QuerySet[Judgment]:
    said = judgments_in_force(guideline.project).filter(at__lt=guideline.created_at)
    said = said.filter(~Exists(RejudgeRequest.objects.standing().filter(judgment=OuterRef("pk"))))
    if which.without:
        said = said.exclude(narrative__pair__in=which.without)
    if which.query is not None:
        said = said.filter(narrative__pair__query=which.query)
    if which.grade is not None:
        said = said.filter(relevance=which.grade)
    same = {"narrative": OuterRef("narrative"), "candidate": OuterRef("candidate")}
    if which.differing:
        others = Judgment.objects.current().of_people().filter(**same)
        said = said.filter(Exists(others.exclude(relevance=OuterRef("relevance"))))
    if which.cases:
        said = said.filter(Exists(GuidelineCase.objects.filter(**same, guideline=guideline)))
    return said


def _reachable(said: QuerySet[Judgment]) -> QuerySet[Judgment]:
    assignment = Assignment.objects.filter(
        pair=OuterRef("narrative__pair"), task=Task.JUDGE, member=OuterRef("annotator")
    )
    return said.filter(
        Exists(assignment), annotator__user__isnull=False, annotator__left_at__isnull=True
    )


def _checked(words: str) -> str:
    words = words.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not words:
        raise Refused(_("Say in a few words what to look at."))
    if len(words) > MAX_WORDS:
        raise Refused(
            _("These words have %(length)s characters; at most %(most)s are kept.")
            % {"length": f"{len(words):,}", "most": f"{MAX_WORDS:,}"}
        )
    refuse_strange(words)
    return words


def _led(judgment: Judgment, by: Membership) -> InstructionPair:
    """Lock the pair of a judgment for its lead, as settling does."""
    pair = (
        InstructionPair.objects.select_for_update(of=("self",))
        .select_related("project")
        .get(pk=judgment.narrative.pair_id)
    )
    if not by.leads or by.project_id != pair.project_id:
        raise Refused(_("Only leads of this project can ask its judges to look again."))
    projects_access.refuse_if_archived(pair.project)
    return pair


def _led_project(by: Membership) -> Project:
    """Lock the project: two leads who ask at once ask one after the other."""
    project = Project.objects.select_for_update(no_key=True).get(pk=by.project_id)
    if not by.leads:
        raise Refused(_("Only leads of this project can ask its judges to look again."))
    projects_access.refuse_if_archived(project)
    return project
