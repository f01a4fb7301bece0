"""Rejudge requests: for one answer, or for all answers that were given under older guidelines.

A rejudge request edits nothing. While it is open, the document is shown again to the answer's
author, whose assignment has work again; any answer they give then answers the request."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, NamedTuple

from django.db import models, transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotate.guidelines.models import GuidelineCase
from annotate.judgments import assignments
from annotate.judgments.in_force import answers_in_force
from annotate.judgments.models import Judgment, RejudgeRequest, Statement
from annotate.pairs.models import Assignment, InstructionPair
from annotate.pairs.pool import candidates_to_judge, judged_narrative
from annotate.projects import access as projects_access
from annotate.projects.audit_log import name_documents, record
from annotate.projects.models import Guideline, Membership, Project
from base.bulk import CHUNK
from base.errors import Refused, Stale, refuse_invalid_characters, refuse_longer
from base.texts import tidy

Task = Assignment.Task


def lock_assignment(pair: InstructionPair, author: Membership, now: datetime) -> Assignment:
    """Lock and return the author's judge assignment on the pair; assign it if they have none."""
    try:
        return assignments.lock_or_take(pair=pair, task=Task.JUDGE, by=author, now=now)
    except Refused as refused:
        raise Refused(
            "Whoever gave this answer has no task here, and none is free: the document "
            "cannot be shown to them again."
        ) from refused


def lock_assignments(project: Project) -> None:
    """Lock the judge assignments of a project, so that no answer is saved during a count."""
    held = Assignment.objects.filter(task=Task.JUDGE, pair__project=project).order_by("pk")
    list(held.select_for_update(of=("self",)).values_list("pk", flat=True))


MAX_WORDS = 2_000
ONLY_LEADS = "Only leads of this project can ask its judges to look again."


@dataclass(frozen=True)
class AnswerSelection:
    """A selection of the judgments and flags that are older than a version of the guidelines."""

    # A query's key.
    query: int | None = None
    grade: int | None = None
    # Only judgments of documents to which people gave different grades.
    differing: bool = False
    # Only flags.
    flags: bool = False
    # Only documents of the cases that led to the version.
    cases: bool = False
    # Excluded pairs (keys): a lead who still judges these must not learn of answers there.
    without: frozenset[int] = frozenset()


class OlderCount(NamedTuple):
    """The numbers of answers that could be asked for again, and of their authors."""

    answers: Annotated[int, "Judgments and flags."]
    people: int
    # Not counted above: answers whose author has left, cannot sign in, or has no assignment.
    unreachable: Annotated[int, "Those whose authors cannot be asked."]
    token: Annotated[str, "Identifies these answers; it differs for others."]


class RequestCounts(NamedTuple):
    """The numbers of rejudge requests for a version of the guidelines, by status."""

    open: Annotated[int, "Asked for, and not answered yet."]
    answered: Annotated[int, "Not those whose author only took the answer back."]
    withdrawn: int

    @property
    def not_withdrawn(self) -> int:
        """The number of requests that were not withdrawn."""
        return self.open + self.answered


def ask(
    *, statement: Statement, words: str, by: Membership, now: datetime | None = None
) -> RejudgeRequest:
    """Ask the author of a judgment or a flag to judge again, and return the rejudge request.

    The same request by the same lead again changes nothing. Refused: a member who is not a lead of
    the project, a request without words, an answer by a machine or by somebody who cannot be
    asked, one that already has a request, a flag "later", a document that is not judged any more.
    Stale: its author has answered again since, or the narrative or the text has a newer version.
    """
    now = now or timezone.now()
    words = _clean_words(words)
    with transaction.atomic():
        pair = _lock_pair_for_lead(statement, by)
        author = statement.annotator
        if author.user is None or not author.user.is_active or author.left_at is not None:
            # The message has no name: the lead may not know whose judgment it is.
            raise Refused("Whoever gave this answer does not sign in here, and cannot be asked.")
        if not statement.is_final:
            raise Refused("This was put off, and waits for an answer already.")
        in_force = judged_narrative(pair)
        if in_force is None or in_force.pk != statement.narrative_id:
            raise Stale("The narrative changed. Nobody judges under this version any more.")
        if not candidates_to_judge(pair).filter(pk=statement.candidate_id).exists():
            raise Refused("This document is not among those to be judged for this query.")
        assignment = lock_assignment(pair, author, now)
        stored = Statement.objects.only("ended_at", "text_replaced_at").get(pk=statement.pk)
        if stored.ended_at is not None:
            raise Stale("This answer has changed in the meantime. Look at it, then ask.")
        if stored.text_replaced_at is not None:
            raise Stale("The document got a new text. Its judges will judge it again anyway.")
        existing = RejudgeRequest.objects.not_withdrawn().filter(statement=statement).first()
        if existing is not None:
            if (existing.words, existing.by_id) != (words, by.pk):
                raise Refused("This was asked already. Take that back first, then ask again.")
            return existing
        made = RejudgeRequest.objects.create(statement=statement, words=words, by=by, at=now)
        # They have judged in this assignment, so it must not be given back as untouched.
        assignments.touch(assignment, done=False, now=now)
        _record("rejudging.asked", made, by, now)
    return made


def withdraw(
    *, rejudge_request: RejudgeRequest, by: Membership, now: datetime | None = None
) -> RejudgeRequest:
    """Withdraw a rejudge request, so that its document is not shown again.

    Idempotent. Refused once the request is answered.
    """
    now = now or timezone.now()
    with transaction.atomic():
        pair = _lock_pair_for_lead(rejudge_request.statement, by)
        author = rejudge_request.statement.annotator
        # Lock their assignment, to wait for an answer that is being saved.
        held = pair.assignments.filter(task=Task.JUDGE, member=author)
        list(held.select_for_update())
        stored = RejudgeRequest.objects.select_related("statement").get(pk=rejudge_request.pk)
        if stored.withdrawn_at is not None:
            return stored
        if stored.statement.ended_at is not None:
            raise Refused("This was already answered.")
        stored.withdrawn_at, stored.withdrawn_by = now, by
        stored.save(update_fields=["withdrawn_at", "withdrawn_by"])
        assignments.update_ends(project=pair.project, held=held, now=now)
        _record("rejudging.withdrawn", stored, by, now)
    return stored


def older(guideline: Guideline, selection: AnswerSelection) -> QuerySet[Statement]:
    """Return the answers that can be asked for again for a version of the guidelines.

    They were given before it, are current under current narratives, have no request yet, and their
    authors can be asked.
    """
    return _reachable(_older(guideline, selection))


def count_older(guideline: Guideline, selection: AnswerSelection) -> OlderCount:
    """Count the answers that `ask_older` would ask for."""
    selected = _older(guideline, selection)
    sums = (
        _reachable(selected)
        .order_by()
        .aggregate(n=Count("pk"), people=Count("annotator", distinct=True), keys=Sum("pk"))
    )
    count = selected.count()
    return OlderCount(
        sums["n"], sums["people"], count - sums["n"], f"{sums['n']}-{sums['keys'] or 0}"
    )


def ask_older(
    *,
    guideline: Guideline,
    selection: AnswerSelection,
    words: str,
    token: str,
    by: Membership,
    now: datetime | None = None,
) -> int:
    """Create rejudge requests for all of `older(guideline, selection)`, and return their number.

    `token` is the token of the count that the lead saw. Refused: a member who is not a lead,
    missing words, no answer to ask for. Stale: the selection has other answers by now, or the
    guidelines have a newer version.
    """
    now = now or timezone.now()
    words = _clean_words(words)
    with transaction.atomic():
        project = projects_access.lock_project(by.project_id, by, ONLY_LEADS)
        if Guideline.objects.latest_of(project) != guideline:
            raise Stale("The guidelines have a newer version. Ask from there.")
        lock_assignments(project)
        count = count_older(guideline, selection)
        if count.token != token:
            raise Stale("People have judged in the meantime, so the answers differ. Look again.")
        if not count.answers:
            raise Refused("There is no answer to ask for again.")
        chosen = older(guideline, selection)
        touched = list(
            chosen.order_by().values_list("annotator__pk", "narrative__pair__pk").distinct()
        )
        RejudgeRequest.objects.bulk_create(
            (
                RejudgeRequest(statement_id=key, by=by, words=words, guideline=guideline, at=now)
                for key in chosen.order_by("pk").values_list("pk", flat=True)
            ),
            batch_size=CHUNK,
        )
        pairs: dict[int, list[int]] = {}
        for annotator, pair in touched:
            pairs.setdefault(annotator, []).append(pair)
        for annotator, theirs in pairs.items():
            # They have judged in these assignments, so none must be given back as untouched.
            begun = Coalesce("touched_at", Value(now, models.DateTimeField()))
            Assignment.objects.filter(task=Task.JUDGE, member=annotator, pair__in=theirs).update(
                done_at=None, touched_at=begun
            )
        _record_many("rejudging.asked", guideline, count.answers, by, now)
    return count.answers


def count_requests(guideline: Guideline) -> RequestCounts:
    """Count the rejudge requests for this version by status."""
    rejudge_requests = RejudgeRequest.objects.filter(guideline=guideline)
    later = Statement.objects.filter(
        narrative=OuterRef("statement__narrative"),
        candidate=OuterRef("statement__candidate"),
        annotator=OuterRef("statement__annotator"),
        repeat=False,
        withdrawn_at__isnull=True,
        at__gt=OuterRef("statement__at"),
    )
    ended = rejudge_requests.not_withdrawn().filter(statement__ended_at__isnull=False)
    return RequestCounts(
        _open_requests(guideline).count(),
        ended.filter(Q(statement__withdrawn_at__isnull=True) | Exists(later)).count(),
        rejudge_requests.filter(withdrawn_at__isnull=False).count(),
    )


def withdraw_older(*, guideline: Guideline, by: Membership, now: datetime | None = None) -> int:
    """Withdraw all open rejudge requests for this version; return how many."""
    now = now or timezone.now()
    with transaction.atomic():
        project = projects_access.lock_project(by.project_id, by, ONLY_LEADS)
        lock_assignments(project)
        rejudge_requests = _open_requests(guideline)
        theirs = rejudge_requests.filter(
            statement__annotator=OuterRef("member"), statement__narrative__pair=OuterRef("pair")
        )
        judges = Assignment.objects.filter(task=Task.JUDGE, pair__project=project)
        concerned = list(judges.filter(Exists(theirs)).values_list("pk", flat=True))
        withdrawn = rejudge_requests.update(withdrawn_at=now, withdrawn_by=by)
        held = Assignment.objects.filter(pk__in=concerned)
        assignments.update_ends(project=project, held=held, now=now)
        if withdrawn:
            _record_many("rejudging.withdrawn", guideline, withdrawn, by, now)
    return withdrawn


def _record(what: str, rejudge_request: RejudgeRequest, by: Membership, now: datetime) -> None:
    """Record in the audit log which document is to be judged again, but not by whom."""
    statement = rejudge_request.statement
    narrative = statement.narrative
    named = f"{narrative.pair} · {narrative} · {statement.candidate.document}"
    record(project=by.project, what=what, about=rejudge_request, named=named, by=by, now=now)


def _record_many(
    what: str, guideline: Guideline, count: int, by: Membership, now: datetime
) -> None:
    named = name_documents(count, guideline)
    record(project=by.project, what=what, about=guideline, named=named, by=by, now=now)


def _open_requests(guideline: Guideline) -> QuerySet[RejudgeRequest]:
    """Return the requests for a version that can still be answered.

    A new narrative version ends a rejudge request.
    """
    return RejudgeRequest.objects.open().filter(
        guideline=guideline, statement__in=answers_in_force(guideline.project)
    )


def _older(guideline: Guideline, selection: AnswerSelection) -> QuerySet[Statement]:
    requests = RejudgeRequest.objects.not_withdrawn().filter(statement=OuterRef("pk"))
    answers = answers_in_force(guideline.project).filter(
        # Answers that waited in a browser were given earlier than they arrived.
        ~Exists(requests),
        Q(at__lt=guideline.created_at) | Q(made_at__lt=guideline.created_at),
    )
    if selection.without:
        answers = answers.exclude(narrative__pair__in=selection.without)
    if selection.query is not None:
        answers = answers.filter(narrative__pair__query=selection.query)
    if selection.grade is not None:
        answers = answers.filter(relevance=selection.grade)
    if selection.flags:
        answers = answers.exclude(flag="")
    same = {"narrative": OuterRef("narrative"), "candidate": OuterRef("candidate")}
    if selection.differing:
        others = Judgment.objects.current().of_people().filter(**same)
        differ = Exists(others.exclude(relevance=OuterRef("relevance")))
        answers = answers.filter(differ, flag="")
    if selection.cases:
        cases = GuidelineCase.objects.filter(**same, guideline=guideline)
        answers = answers.filter(Exists(cases))
    return answers


def _reachable(answers: QuerySet[Statement]) -> QuerySet[Statement]:
    assignment = Assignment.objects.filter(
        pair=OuterRef("narrative__pair"), task=Task.JUDGE, member=OuterRef("annotator")
    )
    return answers.filter(Exists(assignment), annotator__in=Membership.objects.who_can_sign_in())


def _clean_words(words: str) -> str:
    words = tidy(words)
    if not words:
        raise Refused("Say in a few words what to look at.")
    refuse_longer(
        words, MAX_WORDS, "These words have %(length)s characters; at most %(most)s are allowed."
    )
    refuse_invalid_characters(words)
    return words


def _lock_pair_for_lead(statement: Statement, by: Membership) -> InstructionPair:
    """Lock and return the pair of an answer, as settling does; refuse members who do not lead."""
    pair = (
        InstructionPair.objects.select_for_update(of=("self",))
        .select_related("project")
        .get(pk=statement.narrative.pair_id)
    )
    if not by.leads or by.project_id != pair.project_id:
        raise Refused(ONLY_LEADS)
    projects_access.refuse_if_archived(pair.project)
    return pair
