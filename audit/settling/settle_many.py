"""Settle many documents or checked labels at once by one rule, after a preview.

This covers only open disagreements, and none that was sent back to an annotator. The preview has a
token computed from all it counted; settling with that token settles exactly what was previewed, or
nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Annotated, Any, NamedTuple
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Count, Max, OuterRef, Q, TextChoices
from django.utils import timezone

from annotate.collection import text_versions
from annotate.collection.models import Candidate
from annotate.judging.answer_rules import check_grade
from annotate.judgments import adjudication_chain
from annotate.judgments.models import Adjudication
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects import hash_chain
from annotate.projects.audit_log import name_documents, record
from annotate.projects.models import Membership, Project
from audit.checks import actions as checking
from audit.checks.models import Check, Sample, SampleItem
from audit.settling.adjudication import check_reason, refuse_unless_lead
from audit.settling.kinds import build_source
from audit.settling.kinds.judgments import GroupSubquery
from audit.settling.queue import read_documents
from audit.settling.queue_filters import DisagreementKey, Kind, QueueFilter, Reader, State
from base.errors import Refused, Stale
from base.requests import read_once

# How many documents of each outcome a preview shows.
SHOWN = 5

# Settling as one person says would reveal that person's judgments.
NO_PERSON_WHILE_NAMES_ARE_HIDDEN = (
    "Names are hidden in this project, so documents cannot be settled as one person says. "
    "Choose another rule, or show names in the settings."
)


class Rule(TextChoices):
    """How each document is settled."""

    MAJORITY = "majority", "More than half say"
    ALONE = "alone", "Two or more say against only one"
    HIGHER = "higher", "The highest of the grades given"
    LOWER = "lower", "The lowest of the grades given"
    EARLIER = "earlier", "The earlier grade, if somebody gave it"
    PERSON = "person", "One person says"
    GRADE = "grade", "One grade for all"


@dataclass(frozen=True)
class RuleChoice:
    """The rule for settling documents; `person` is the key of the member it follows."""

    rule: Rule
    person: int | None = None
    grade: int | None = None


class Outcome(NamedTuple):
    """The outcome for one document or checked label; `relevance` is None if it is left open.
    `grade_counts`: each grade and how many people gave it.
    """

    narrative: int
    candidate: int
    relevance: int | None
    grade_counts: tuple[tuple[int, int], ...]
    # The relevance that the document came with, or the claim of the label.
    earlier: int | None
    # When it was last answered.
    since: datetime
    # The key of a checked label.
    item: int = 0
    # Whether its answers are numbers of conditions met, which are no grades.
    is_count: bool = False


@dataclass
class ShownOutcome:
    """One outcome as a page shows it."""

    key: DisagreementKey
    narrative: Narrative
    candidate: Candidate
    relevance: int | None
    grades: list[int]
    is_count: bool = False


@dataclass(frozen=True)
class Preview:
    """The result that settling would have."""

    # How many are settled as each grade, from low to high.
    settled: dict[int, int]
    left: Annotated[int, "Documents that the rule leaves open."]
    counts_then: Annotated[
        int, "Documents that would count as relevant though somebody says they are not."
    ]
    drops_then: Annotated[
        int, "Documents that would not count though somebody says they are relevant."
    ]
    token: str
    shown: list[ShownOutcome] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many are settled."""
        return sum(self.settled.values())

    @property
    def decided(self) -> int:
        """For how many settling decides whether the document is relevant."""
        return self.counts_then + self.drops_then

    @property
    def is_count(self) -> bool:
        """Whether what is shown are numbers of conditions met, not grades."""
        return any(outcome.is_count for outcome in self.shown)


def preview(by: Membership, filters: QueueFilter, choice: RuleChoice) -> Preview:
    """Preview settling all documents, or checked labels, that match `filters`: one query, and two
    for those shown. No document's text is read.
    """
    outcomes = _compute_outcomes(by, filters, choice)
    settled = Counter(outcome.relevance for outcome in outcomes if outcome.relevance is not None)
    threshold = by.project.relevant_from
    decided: Counter[bool] = Counter()
    for outcome in outcomes:
        if outcome.relevance is not None and not outcome.is_count:
            relevant = outcome.relevance >= threshold
            sides = [grade >= threshold for grade, _ in outcome.grade_counts]
            decided[relevant] += (not relevant) in sides
    return Preview(
        settled=dict(sorted(settled.items())),
        left=len(outcomes) - settled.total(),
        counts_then=decided[True],
        drops_then=decided[False],
        token=_token(outcomes),
        shown=_sample_outcomes(outcomes),
    )


def settle_many(
    *,
    filters: QueueFilter,
    choice: RuleChoice,
    cause: str,
    reason: str,
    token: str,
    by: Membership,
    now: datetime | None = None,
) -> UUID:
    """Settle what the preview with this token showed, and return the batch.

    Stale: since the preview somebody judged, settled or sent something back, or a document got
    another text, and the rule now gives another result. Refused: not a lead, no reason, no cause,
    nothing to settle, a grade the project does not have.
    """
    now = now or timezone.now()
    reason = check_reason(reason, cause)
    batch = uuid4()
    with transaction.atomic():
        _lock_pairs(by)
        outcomes = _require_unchanged(_compute_outcomes(by, filters, choice), token)
        if text_versions.lock_texts(outcome.candidate for outcome in outcomes):
            # A load that committed before the locks may have replaced texts that were counted.
            _require_unchanged(_compute_outcomes(by, filters, choice), token)
        settled = _settled(outcomes)
        for relevance in sorted({relevance for _outcome, relevance in settled}):
            check_grade(by, relevance)
        read = text_versions.lock_newest_versions(outcome.candidate for outcome, _ in settled)
        made = Adjudication.objects.bulk_create(
            (
                Adjudication(
                    narrative_id=outcome.narrative,
                    candidate_id=outcome.candidate,
                    relevance=relevance,
                    reason=reason,
                    cause=cause,
                    by=by,
                    at=now,
                    batch=batch,
                    text_version=read[outcome.candidate],
                )
                for outcome, relevance in settled
            ),
            batch_size=1_000,
        )
        rows = Adjudication.objects.filter(batch=batch)
        hash_chain.append_new(adjudication_chain.KIND, by.project_id, rows)
        about = name_documents(len(made), batch)
        record(project=by.project, what="judgments.settled", about=about, by=by, now=now)
    return batch


def settle_checks(
    *,
    filters: QueueFilter,
    choice: RuleChoice,
    reason: str,
    token: str,
    by: Membership,
    now: datetime | None = None,
) -> int:
    """Settle what the preview with this token showed, and return the number of labels.

    Each is settled as by hand: a grade adopts the answer of the checker who gave it. Stale: as in
    `settle_many`. Refused: no reason, nothing to settle.
    """
    if not reason.strip():
        raise Refused("Give a reason.")
    with transaction.atomic():
        outcomes = _require_unchanged(_compute_outcomes(by, filters, choice), token)
        counted = [outcome.item for outcome in outcomes]
        locked = SampleItem.objects.select_for_update().filter(pk__in=counted)
        list(locked.order_by("pk").values_list("pk", flat=True))
        # An answer that was saved before the locks may have changed what was counted.
        outcomes = _require_unchanged(_compute_outcomes(by, filters, choice), token)
        grades = {outcome.item: relevance for outcome, relevance in _settled(outcomes)}
        items = SampleItem.objects.select_related(
            "sample", "narrative__pair", "candidate__document"
        ).in_bulk(grades)
        checks = {
            (check.item_id, check.relevance): check
            for check in Check.objects.current().filter(item__in=grades, place__in=(1, 2))
        }
        for key, item in sorted(items.items()):
            answer = _answer(grades[key], checks.get((key, grades[key])))
            checking.settle(item=item, words=reason, by=by, now=now, **answer)
    return len(grades)


def _settled(outcomes: list[Outcome]) -> list[tuple[Outcome, int]]:
    """Return what the rule settles, each with its grade, or refuse if that is nothing."""
    settled = [
        (outcome, outcome.relevance) for outcome in outcomes if outcome.relevance is not None
    ]
    if not settled:
        raise Refused("There is nothing to settle.")
    return settled


def _answer(grade: int, adopted: Check | None) -> dict[str, Any]:
    """Return the answer that settles a label: that of the checker who gave the grade, if any."""
    if adopted is not None and adopted.verdicts:
        return {"verdicts": adopted.answers()}
    if adopted is not None and (questions := adopted.questions()):
        return {"questions": questions}
    return {"relevance": grade}


def _lock_pairs(by: Membership) -> None:
    """Lock every pair of the project of `by` against other leads and rewriters, for this
    transaction. Refused: not a lead.
    """
    refuse_unless_lead(by, by.project_id)
    held = InstructionPair.objects.select_for_update().filter(project=by.project_id)
    list(held.order_by("pk").values_list("pk", flat=True))


def withdraw_batch(*, batch: UUID, by: Membership, now: datetime | None = None) -> int:
    """Withdraw the decisions of a batch that are still current, and return how many there were.
    Repeating changes nothing. Refused: not a lead.
    """
    now = now or timezone.now()
    with transaction.atomic():
        _lock_pairs(by)
        standing = Adjudication.objects.current().filter(batch=batch, by__project=by.project_id)
        count = standing.update(withdrawn_at=now, withdrawn_by=by)
        if count:
            rows = Adjudication.objects.filter(batch=batch, withdrawn_at=now)
            hash_chain.append_ended(adjudication_chain.KIND, by.project_id, rows)
            about = name_documents(count, batch)
            record(project=by.project, what="judgments.unsettled", about=about, by=by, now=now)
    return count


def _require_unchanged(outcomes: list[Outcome], token: str) -> list[Outcome]:
    """Return the outcomes if the preview with this token showed them, else raise Stale."""
    if _token(outcomes) != token:
        raise Stale(
            "Something has changed since this was counted: people judged, something was "
            "settled or sent back, or a document got another text. Look at the new preview."
        )
    return outcomes


def _compute_outcomes(by: Membership, filters: QueueFilter, choice: RuleChoice) -> list[Outcome]:
    """Return the outcome for each wanted document or checked label, ordered by key."""
    reader = Reader(by)
    if choice.rule is Rule.GRADE and choice.grade not in reader.grades:
        raise Refused("Choose one of the grades of this project.")
    of_checks = filters.kind is Kind.CHECK
    if choice.rule is Rule.PERSON and of_checks:
        raise Refused("Checked labels are not settled as one person says. Choose another rule.")
    if choice.rule is Rule.PERSON and by.project.hide_names:
        raise Refused(NO_PERSON_WHILE_NAMES_ARE_HIDDEN)
    filters = filters.replaced(kind=filters.kind or Kind.JUDGMENT)
    together = {Kind.JUDGMENT, Kind.CHECK}.intersection(filters.kinds)
    if filters.state is not State.OPEN or not together:
        return []
    if of_checks:
        return _compute_label_outcomes(reader, filters, choice)
    rows = read_once(
        (_read_documents_to_settle, by.pk, filters, choice.person),
        lambda: _read_documents_to_settle(reader, filters, choice.person),
    )
    outcomes = []
    for narrative, candidate, followed, earlier, since, *counts in rows:
        grade_counts = tuple(
            (grade, count) for grade, count in zip(reader.grades, counts, strict=True) if count
        )
        relevance = _apply_rule(choice, grade_counts, followed, earlier)
        outcomes.append(Outcome(narrative, candidate, relevance, grade_counts, earlier, since))
    return outcomes


def _read_documents_to_settle(
    reader: Reader, filters: QueueFilter, person: int | None
) -> list[tuple[Any, ...]]:
    """Read for each wanted document, ordered by key: its narrative and candidate, what `person`
    said, its earlier relevance, when it was last judged, and how many people gave each grade.
    """
    loaded = Candidate.objects.filter(pk=OuterRef("candidate_id"))
    columns = {f"n_{place}": grade for place, grade in enumerate(reader.grades)}
    rows = (
        build_source(Kind.JUDGMENT, reader, filters)
        .rows.annotate(
            followed=Max("relevance", filter=Q(annotator=person or 0)),
            earlier=GroupSubquery(loaded.values("prior_relevance")),
            **{
                name: Count("annotator", filter=Q(relevance=grade))
                for name, grade in columns.items()
            },
        )
        .order_by("narrative_id", "candidate_id")
    )
    names = ("narrative_id", "candidate_id", "followed", "earlier", "since")
    return list(rows.values_list(*names, *columns))


def idle_rules(reader: Membership, filters: QueueFilter) -> list[Rule]:
    """Return the rules that settle nothing of what matches `filters`, if anything does.

    Between two people, for example, nobody is more than half.
    """
    choice, rules = RuleChoice(Rule.HIGHER), [Rule.MAJORITY, Rule.ALONE, Rule.EARLIER]
    if filters.kind is Kind.CHECK:
        rules.append(Rule.PERSON)
    outcomes = _compute_outcomes(reader, filters, choice)
    return [
        rule
        for rule in rules
        if outcomes
        and all(
            _apply_rule(RuleChoice(rule), outcome.grade_counts, None, outcome.earlier) is None
            for outcome in outcomes
        )
    ]


def _apply_rule(
    choice: RuleChoice,
    grade_counts: tuple[tuple[int, int], ...],
    followed: int | None,
    earlier: int | None,
) -> int | None:
    """Return the grade that the rule gives one document, or None.

    `grade_counts`: each grade given, from low to high, with the number of people; `followed`: the
    grade of the chosen person; `earlier`: the relevance that the document came with.
    """
    counts = dict(grade_counts)
    people = sum(counts.values())
    # With at least two others, all of one grade, against one person.
    agreed = people - 1 if people > 2 else people + 1
    return {
        Rule.MAJORITY: next((grade for grade in counts if 2 * counts[grade] > people), None),
        Rule.ALONE: next((grade for grade in counts if counts[grade] == agreed), None),
        Rule.HIGHER: max(counts, default=None),
        Rule.LOWER: min(counts, default=None),
        Rule.EARLIER: earlier if earlier in counts else None,
        Rule.PERSON: followed,
        Rule.GRADE: choice.grade,
    }[choice.rule]


def _token(outcomes: list[Outcome]) -> str:
    seen = blake2b(digest_size=16)
    for outcome in outcomes:
        seen.update(f"{outcome}\n".encode())
    return seen.hexdigest()


def _sample_outcomes(outcomes: list[Outcome]) -> list[ShownOutcome]:
    """Return the first few documents of each outcome, those left open last."""
    first: dict[int | None, list[Outcome]] = {}
    for outcome in outcomes:
        alike = first.setdefault(outcome.relevance, [])
        if len(alike) < SHOWN:
            alike.append(outcome)
    settled = sorted(grade for grade in first if grade is not None)
    chosen = [outcome for grade in [*settled, None] for outcome in first.get(grade, [])]
    narratives, candidates = read_documents(
        (outcome.narrative, outcome.candidate) for outcome in chosen
    )
    return [
        ShownOutcome(
            DisagreementKey(
                Kind.CHECK if outcome.item else Kind.JUDGMENT,
                outcome.narrative,
                outcome.candidate,
                outcome.item,
            ),
            narratives[outcome.narrative],
            candidates[outcome.candidate],
            outcome.relevance,
            [grade for grade, count in outcome.grade_counts for _ in range(count)],
            outcome.is_count,
        )
        for outcome in chosen
    ]


def _compute_label_outcomes(
    reader: Reader, filters: QueueFilter, choice: RuleChoice
) -> list[Outcome]:
    """Return the outcome for each wanted label. One that somebody could not judge is left open."""
    rows = build_source(Kind.CHECK, reader, filters).rows.order_by("pk")
    columns = ("pk", "narrative_id", "candidate_id", "claimed", "sample__asks")
    met_is_grade = reader.project.condition_rule == Project.ConditionRule.COUNT_MET
    outcomes = []
    for item, narrative, candidate, claimed, asks, first, other, since in rows.values_list(
        *columns, "first", "second", "since"
    ):
        # Of equal grades with different answers, a rule could not say which to adopt.
        rankable = None not in (first, other) and first != other
        counts = tuple((grade, 1) for grade in sorted((first, other))) if rankable else ()
        relevance = _apply_rule(choice, counts, None, claimed) if counts else None
        if (
            choice.rule is Rule.GRADE
            and asks != Sample.Asks.GRADE
            and relevance not in (first, other)
        ):
            relevance = None
        is_count = asks == Sample.Asks.COUNT and not met_is_grade
        outcomes.append(
            Outcome(narrative, candidate, relevance, counts, claimed, since, item, is_count)
        )
    return outcomes
