"""The items of the list of disagreements: each with its answers and its decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import Count, Q

from annotate.collection.models import Candidate
from annotate.judgments.models import (
    Adjudication,
    ConditionAdjudication,
    Judgment,
    RejudgeRequest,
    Verdict,
)
from annotate.pairs.models import Condition, Narrative
from audit.checks.models import Check, Question, SampleItem
from audit.checks.questions import describe_replies
from audit.reviews.models import Decision, Review
from audit.settling.kinds.frame import Reader
from audit.settling.models import Reveal
from audit.settling.pseudonyms import positions_of, pseudonym
from audit.settling.queue_filters import (
    DisagreementKey,
    Kind,
    QueueFilter,
    QueuePosition,
    reveal_keys,
)


class Voice(NamedTuple):
    """One person's answer in the list: a relevance, an answer to a condition, or the number of
    criteria they reject. `name` is their name or pseudonym; `replies` are their answers to the two
    questions, in words.
    """

    name: str
    relevance: int | None = None
    answer: str = ""
    rejects: int | None = None
    replies: str = ""


@dataclass
class Item:
    """One disagreement as the list shows it."""

    key: QueuePosition
    narrative: Narrative
    candidate: Candidate | None
    condition: Condition | None = None
    sample: SampleItem | None = None
    voices: list[Voice] = field(default_factory=list)
    # Whether settling decides if a document, or a whole instruction, counts.
    decides: bool = False
    distance: int = 0
    settled: Adjudication | ConditionAdjudication | Decision | Check | None = None
    # The latest rejudge request, answered or not.
    rejudge_request: RejudgeRequest | None = None


def read_items(reader: Reader, keys: list[QueuePosition], filters: QueueFilter) -> list[Item]:
    """Read the items of these keys."""
    narratives = (
        Narrative.objects.select_related("pair__query")
        .defer("text", "pair__query__description")
        .in_bulk([key.narrative for key in keys])
    )
    candidates = Candidate.with_removed.select_related("document").in_bulk(
        [key.candidate for key in keys if key.candidate]
    )
    parts = {kind: [key.part for key in keys if key.kind is kind] for kind in Kind}
    conditions = Condition.objects.in_bulk(parts[Kind.VERDICT])
    samples = SampleItem.objects.select_related("sample").in_bulk(parts[Kind.CHECK])
    items = {
        key.disagreement_key: Item(
            key,
            narratives[key.narrative],
            candidates.get(key.candidate),
            conditions.get(key.part) if key.kind is Kind.VERDICT else None,
            samples.get(key.part) if key.kind is Kind.CHECK else None,
            distance=key.distance,
        )
        for key in keys
    }
    names = _Names(reader, keys)
    _add_judgments(items, names, reader)
    _add_reviews(items, names)
    _add_checks(items, names)
    if filters.settled:
        _add_decisions(items)
    else:
        _add_rejudge_requests(items)
    return list(items.values())


class _Names:
    """The names shown in a list: real ones where they are not hidden from the reader."""

    def __init__(self, reader: Reader, keys: list[QueuePosition]) -> None:
        self._hides = reader.project.hide_names
        self._known: set[tuple[int, int, int]] = set()
        if self._hides and keys:
            seen = Reveal.objects.filter(
                by=reader.member, narrative__in={key.narrative for key in keys}
            )
            self._known = {
                (narrative, candidate or 0, item or 0)
                for narrative, candidate, item in seen.values_list("narrative", "candidate", "item")
            }

    def displayed(
        self, disagreement_key: DisagreementKey, people: dict[int, str]
    ) -> dict[int, str]:
        """Return the displayed name of each of these people, in display order."""
        about = reveal_keys(disagreement_key)
        in_order = sorted(positions_of(about, people).items(), key=lambda one: one[1])
        if self._hides and about not in self._known:
            return {member: pseudonym(place) for member, place in in_order}
        return {member: people[member] for member, _place in in_order}


def _keys_of_kind(items: dict[DisagreementKey, Item], *kinds: Kind) -> list[DisagreementKey]:
    return [disagreement_key for disagreement_key in items if disagreement_key.kind in kinds]


def _add_judgments(items: dict[DisagreementKey, Item], names: _Names, reader: Reader) -> None:
    """Add the judges' grades of documents and answers to conditions."""
    disagreement_keys = _keys_of_kind(items, Kind.JUDGMENT, Kind.VERDICT)
    documents = {
        (disagreement_key.narrative, disagreement_key.candidate)
        for disagreement_key in disagreement_keys
    }
    by_document: dict[tuple[int, int], dict[int, tuple[str, int, int]]] = {}
    rows = (
        Judgment.objects.current()
        .of_people()
        .filter(
            narrative__in={narrative for narrative, _candidate in documents},
            candidate__in={candidate for _narrative, candidate in documents},
        )
        .values_list("narrative", "candidate", "annotator", "annotator__name", "relevance", "pk")
    )
    for narrative, candidate, member, name, relevance, pk in rows:
        if (narrative, candidate) in documents:
            by_document.setdefault((narrative, candidate), {})[member] = name, relevance, pk
    verdicts = Verdict.objects.filter(
        condition__in=[
            disagreement_key.part for disagreement_key in _keys_of_kind(items, Kind.VERDICT)
        ],
        judgment__in=[
            pk for people in by_document.values() for _name, _relevance, pk in people.values()
        ],
    )
    answers = {
        (judgment, condition): answer
        for judgment, condition, answer in verdicts.values_list("judgment", "condition", "answer")
    }
    threshold = reader.project.relevant_from
    for disagreement_key in disagreement_keys:
        people = by_document.get((disagreement_key.narrative, disagreement_key.candidate), {})
        called = names.displayed(
            disagreement_key, {member: name for member, (name, *_) in people.items()}
        )
        item = items[disagreement_key]
        for member, shown in called.items():
            _name, relevance, judgment = people[member]
            if disagreement_key.kind is Kind.JUDGMENT:
                item.voices.append(Voice(shown, relevance=relevance))
            elif answer := answers.get((judgment, disagreement_key.part)):
                item.voices.append(Voice(shown, answer=answer))
        if disagreement_key.kind is Kind.JUDGMENT and item.voices:
            grades = [voice.relevance for voice in item.voices if voice.relevance is not None]
            item.distance = max(grades) - min(grades)
            item.decides = min(grades) < threshold <= max(grades)
        elif disagreement_key.kind is Kind.VERDICT:
            given = {voice.answer for voice in item.voices}
            item.distance = 2 if {Verdict.Answer.MET, Verdict.Answer.NOT_MET} <= given else 1


def _add_reviews(items: dict[DisagreementKey, Item], names: _Names) -> None:
    """Add on how many criteria each auditor rejects."""
    disagreement_keys = {
        disagreement_key.narrative: disagreement_key
        for disagreement_key in _keys_of_kind(items, Kind.REVIEW)
    }
    by_narrative: dict[int, dict[int, tuple[str, int]]] = {}
    rows = (
        Review.objects.submitted()
        .of_people()
        .filter(narrative__in=disagreement_keys)
        .annotate(n_rejects=Count("ratings", filter=Q(ratings__rejects=True)))
        .values_list("narrative", "auditor", "auditor__name", "n_rejects")
    )
    for narrative, member, name, rejects in rows:
        by_narrative.setdefault(narrative, {})[member] = name, rejects
    for narrative, disagreement_key in disagreement_keys.items():
        people = by_narrative.get(narrative, {})
        items[disagreement_key].decides = True
        for member, shown in names.displayed(
            disagreement_key, {member: name for member, (name, _rejects) in people.items()}
        ).items():
            items[disagreement_key].voices.append(Voice(shown, rejects=people[member][1]))


def _add_checks(items: dict[DisagreementKey, Item], names: _Names) -> None:
    """Add the answers of the first two checkers of claimed labels."""
    disagreement_keys = {
        disagreement_key.part: disagreement_key
        for disagreement_key in _keys_of_kind(items, Kind.CHECK)
    }
    by_label: dict[int, dict[int, tuple[str, int | None, str]]] = {}
    columns = [one.column for one in Question]
    rows = (
        Check.objects.current()
        .filter(item__in=disagreement_keys)
        .exclude(place=Check.SETTLES)
        .values_list("item", "checker", "checker__name", "relevance", *columns)
    )
    for item, member, name, relevance, *replies in rows:
        by_label.setdefault(item, {})[member] = name, relevance, describe_replies(*replies)
    for part, disagreement_key in disagreement_keys.items():
        people = by_label.get(part, {})
        for member, shown in names.displayed(
            disagreement_key, {member: name for member, (name, *_) in people.items()}
        ).items():
            _name, relevance, replies = people[member]
            items[disagreement_key].voices.append(
                Voice(shown, relevance=relevance, replies=replies)
            )
        grades = [grade for _name, grade, _replies in people.values() if grade is not None]
        if people:
            apart = len(grades) == len(people)
            distance = max(grades) - min(grades) if apart else 1
            # Different answers to the two questions may lead to the same grade.
            items[disagreement_key].distance = max(distance, 1)


def _add_rejudge_requests(items: dict[DisagreementKey, Item]) -> None:
    """Add the latest rejudge request of each document, also to its conditions."""
    disagreement_keys = _keys_of_kind(items, Kind.JUDGMENT, Kind.VERDICT)
    rejudge_requests = RejudgeRequest.objects.not_withdrawn().filter(
        judgment__narrative__in={
            disagreement_key.narrative for disagreement_key in disagreement_keys
        },
        judgment__candidate__in={
            disagreement_key.candidate for disagreement_key in disagreement_keys
        },
    )
    last = {
        (
            rejudge_request.judgment.narrative_id,
            rejudge_request.judgment.candidate_id,
        ): rejudge_request
        for rejudge_request in rejudge_requests.select_related("judgment", "by").order_by(
            "at", "pk"
        )
    }
    for disagreement_key in disagreement_keys:
        items[disagreement_key].rejudge_request = last.get(
            (disagreement_key.narrative, disagreement_key.candidate)
        )


def _add_decisions(items: dict[DisagreementKey, Item]) -> None:
    """Add the decision that settled each item."""
    documents = _keys_of_kind(items, Kind.JUDGMENT)
    adjudications = Adjudication.objects.current().filter(
        narrative__in=[disagreement_key.narrative for disagreement_key in documents],
        candidate__in=[disagreement_key.candidate for disagreement_key in documents],
    )
    for one in adjudications.select_related("by"):
        if item := items.get(DisagreementKey(Kind.JUDGMENT, one.narrative_id, one.candidate_id, 0)):
            item.settled = one
    verdicts = {
        (disagreement_key.candidate, disagreement_key.part): disagreement_key
        for disagreement_key in _keys_of_kind(items, Kind.VERDICT)
    }
    on_conditions = ConditionAdjudication.objects.current().filter(
        condition__in=[part for _candidate, part in verdicts]
    )
    for answer in on_conditions.select_related("by"):
        if disagreement_key := verdicts.get((answer.candidate_id, answer.condition_id)):
            items[disagreement_key].settled = answer
    reviews = {
        disagreement_key.narrative: disagreement_key
        for disagreement_key in _keys_of_kind(items, Kind.REVIEW)
    }
    for decision in Decision.objects.current().filter(narrative__in=reviews).select_related("by"):
        items[reviews[decision.narrative_id]].settled = decision
    checks = {
        disagreement_key.part: disagreement_key
        for disagreement_key in _keys_of_kind(items, Kind.CHECK)
    }
    thirds = Check.objects.current().filter(item__in=checks, place=Check.SETTLES)
    for check in thirds.select_related("checker"):
        items[checks[check.item_id]].settled = check
