"""The items of the list of disagreements: each with its answers and its decision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

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
from audit.settling.models import Reveal
from audit.settling.names import display_names
from audit.settling.queue_filters import (
    DisagreementKey,
    Kind,
    QueueFilter,
    QueuePosition,
    reveal_keys,
)
from audit.settling.reader import Reader

HEADER = (
    "key",
    "kind",
    "query_id",
    "pair_id",
    "side",
    "version",
    "doc_id",
    "condition",
    "answers",
    "distance",
    "decides",
    "since",
    "settled_as",
    "cause",
    "reason",
    "by",
)


class Voice(NamedTuple):
    """One person's answer in the list: by kind a relevance, an answer, or the number of criteria
    they reject.
    """

    who: Annotated[str, "A pseudonym where names are hidden."]
    relevance: int | None = None
    answer: Annotated[str, "To a condition."] = ""
    rejects: int | None = None
    replies: Annotated[str, "Answers to the two questions, in words."] = ""


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

    @property
    def waiting(self) -> bool:
        """Whether an annotator was asked again and has yet to answer."""
        return self.rejudge_request is not None and self.rejudge_request.judgment.is_current


def read_documents(
    places: Iterable[tuple[int, int]],
) -> tuple[dict[int, Narrative], dict[int, Candidate]]:
    """Return the narratives and candidates of these keys, without texts."""
    of = list(places)
    narratives = Narrative.objects.select_related("pair__query")
    candidates = Candidate.with_removed.select_related("document")
    return (
        narratives.defer("text", "pair__query__description").in_bulk(
            [narrative for narrative, _ in of]
        ),
        candidates.in_bulk([candidate for _, candidate in of if candidate]),
    )


def read_items(reader: Reader, keys: list[QueuePosition], filters: QueueFilter) -> list[Item]:
    """Read the items of these keys."""
    narratives, candidates = read_documents((key.narrative, key.candidate) for key in keys)
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
    by_kind = {kind: [key for key in items if key.kind is kind] for kind in Kind}
    of_documents = by_kind[Kind.JUDGMENT] + by_kind[Kind.VERDICT]
    voices = {
        **_read_judges(of_documents),
        **_read_auditors(by_kind[Kind.REVIEW]),
        **_read_checkers(by_kind[Kind.CHECK]),
    }
    revealed = _revealed_keys(reader, keys) if reader.project.hide_names else None
    for key, item in items.items():
        answers = voices.get(key, {})
        hidden = revealed is not None and reveal_keys(key) not in revealed
        names = display_names(key, {member: voice.who for member, voice in answers.items()}, hidden)
        item.voices = [answers[member]._replace(who=name) for member, name in names.items()]
        _compare_voices(item, reader.project.relevant_from)
    if filters.settled:
        _add_decisions(items, by_kind)
    else:
        _add_rejudge_requests(items, of_documents)
    return list(items.values())


# The answers of people to one disagreement, by the key of the membership.
Voices = dict[int, Voice]


def _revealed_keys(reader: Reader, keys: list[QueuePosition]) -> set[tuple[int, int, int]]:
    """Return those `reveal_keys` whose names the reader has revealed."""
    seen = Reveal.objects.filter(by=reader.member, narrative__in={key.narrative for key in keys})
    return {
        (narrative, candidate or 0, item or 0)
        for narrative, candidate, item in seen.values_list("narrative", "candidate", "item")
    }


def _compare_voices(item: Item, relevant_from: int) -> None:
    """Set the distance between the answers of an item, and whether settling decides."""
    grades = [voice.relevance for voice in item.voices if voice.relevance is not None]
    match item.key.kind:
        case Kind.JUDGMENT if grades:
            item.distance = max(grades) - min(grades)
            item.decides = min(grades) < relevant_from <= max(grades)
        case Kind.VERDICT:
            item.voices = [voice for voice in item.voices if voice.answer]
            answers = {voice.answer for voice in item.voices}
            item.distance = 2 if {Verdict.Answer.MET, Verdict.Answer.NOT_MET} <= answers else 1
        case Kind.REVIEW:
            item.decides = True
        case Kind.CHECK if item.voices:
            apart = len(grades) == len(item.voices)
            # Different answers to the two questions may lead to the same grade.
            item.distance = max(max(grades) - min(grades), 1) if apart else 1


def _read_judges(keys: list[DisagreementKey]) -> dict[DisagreementKey, Voices]:
    """Return the judges' grades of documents and answers to conditions; the answer of a judge who
    gave none is empty.
    """
    rows = (
        Judgment.objects.current()
        .of_people()
        .filter(
            narrative__in={key.narrative for key in keys},
            candidate__in={key.candidate for key in keys},
        )
        .values_list("narrative", "candidate", "annotator", "annotator__name", "relevance", "pk")
    )
    documents = {(key.narrative, key.candidate) for key in keys}
    judges: dict[tuple[int, int], list[tuple[int, str, int, int]]] = defaultdict(list)
    for narrative, candidate, member, name, relevance, pk in rows:
        if (narrative, candidate) in documents:
            judges[narrative, candidate].append((member, name, relevance, pk))
    verdicts = Verdict.objects.filter(
        condition__in=[key.part for key in keys if key.kind is Kind.VERDICT],
        statement__in=[pk for rows in judges.values() for *_judge, pk in rows],
    )
    answers = {
        (judgment, condition): answer
        for judgment, condition, answer in verdicts.values_list("statement", "condition", "answer")
    }
    return {
        key: {
            member: Voice(name, relevance=relevance)
            if key.kind is Kind.JUDGMENT
            else Voice(name, answer=answers.get((pk, key.part), ""))
            for member, name, relevance, pk in judges[key.narrative, key.candidate]
        }
        for key in keys
    }


def _read_auditors(keys: list[DisagreementKey]) -> dict[DisagreementKey, Voices]:
    """Return on how many criteria each auditor rejects."""
    of = {key.narrative: key for key in keys}
    rows = (
        Review.objects.submitted()
        .of_people()
        .filter(narrative__in=of)
        .annotate(n_rejects=Count("ratings", filter=Q(ratings__rejects=True)))
        .values_list("narrative", "auditor", "auditor__name", "n_rejects")
    )
    voices: dict[DisagreementKey, Voices] = defaultdict(dict)
    for narrative, member, name, rejects in rows:
        voices[of[narrative]][member] = Voice(name, rejects=rejects)
    return voices


def _read_checkers(keys: list[DisagreementKey]) -> dict[DisagreementKey, Voices]:
    """Return the answers of the first two checkers of claimed labels."""
    of = {key.part: key for key in keys}
    columns = [question.column for question in Question]
    rows = (
        Check.objects.current()
        .filter(item__in=of)
        .exclude(place=Check.SETTLES)
        .values_list("item", "checker", "checker__name", "relevance", *columns)
    )
    voices: dict[DisagreementKey, Voices] = defaultdict(dict)
    for item, member, name, relevance, *replies in rows:
        said = describe_replies(*replies)
        voices[of[item]][member] = Voice(name, relevance=relevance, replies=said)
    return voices


def _add_rejudge_requests(items: dict[DisagreementKey, Item], keys: list[DisagreementKey]) -> None:
    """Add the latest rejudge request of each document, also to its conditions."""
    requests = RejudgeRequest.objects.not_withdrawn().filter(
        judgment__narrative__in={key.narrative for key in keys},
        judgment__candidate__in={key.candidate for key in keys},
    )
    last = {
        (request.judgment.narrative_id, request.judgment.candidate_id): request
        for request in requests.select_related("judgment", "by").order_by("at", "pk")
    }
    for key in keys:
        items[key].rejudge_request = last.get((key.narrative, key.candidate))


def _add_decisions(
    items: dict[DisagreementKey, Item], by_kind: dict[Kind, list[DisagreementKey]]
) -> None:
    """Add the decision that settled each item."""
    documents = by_kind[Kind.JUDGMENT]
    adjudications = Adjudication.objects.current().filter(
        narrative__in=[key.narrative for key in documents],
        candidate__in=[key.candidate for key in documents],
    )
    for adjudication in adjudications.select_related("by"):
        if item := items.get(
            DisagreementKey(Kind.JUDGMENT, adjudication.narrative_id, adjudication.candidate_id, 0)
        ):
            item.settled = adjudication
    verdicts = {(key.candidate, key.part): key for key in by_kind[Kind.VERDICT]}
    on_conditions = ConditionAdjudication.objects.current().filter(
        condition__in=[part for _candidate, part in verdicts]
    )
    for answer in on_conditions.select_related("by"):
        if key := verdicts.get((answer.candidate_id, answer.condition_id)):
            items[key].settled = answer
    reviews = {key.narrative: key for key in by_kind[Kind.REVIEW]}
    for decision in Decision.objects.current().filter(narrative__in=reviews).select_related("by"):
        items[reviews[decision.narrative_id]].settled = decision
    checks = {key.part: key for key in by_kind[Kind.CHECK]}
    thirds = Check.objects.current().filter(item__in=checks, place=Check.SETTLES)
    for check in thirds.select_related("checker"):
        items[checks[check.item_id]].settled = check


def table_rows(items: Iterable[Item]) -> Iterator[list[str]]:
    """Yield the header, and a row for each disagreement."""
    yield list(HEADER)
    for item in items:
        narrative, document = item.narrative, item.candidate.document if item.candidate else None
        yield [
            str(item.key.disagreement_key),
            item.key.kind.value,
            narrative.pair.query.query_id,
            narrative.pair.pair_id,
            narrative.side,
            str(narrative.version),
            document.doc_id if document else "",
            (item.condition.name or str(item.condition.number)) if item.condition else "",
            "; ".join(f"{voice.who}: {_answer(voice)}" for voice in item.voices),
            str(item.distance),
            "yes" if item.decides else "no",
            item.key.at.isoformat(),
            *_decision(item),
        ]


def _answer(voice: Voice) -> str:
    """Return a person's answer in words."""
    if voice.rejects is not None:
        return f"rejects on {voice.rejects}"
    if voice.relevance is None:
        return voice.answer or voice.replies or "cannot judge"
    return f"{voice.relevance} ({voice.replies})" if voice.replies else str(voice.relevance)


def _decision(item: Item) -> list[str]:
    """Return the cells of the decision: what, the cause, the reason, who."""
    decision = item.settled
    if decision is None:
        return ["", "", "", ""]
    if isinstance(decision, Check):
        grade = decision.relevance
        return [
            "cannot judge" if grade is None else str(grade),
            "",
            decision.words,
            decision.checker.name,
        ]
    if isinstance(decision, Adjudication):
        return [str(decision.relevance), decision.cause, decision.reason, decision.by.name]
    if isinstance(decision, ConditionAdjudication):
        return [decision.answer, decision.cause, decision.reason, decision.by.name]
    return [decision.outcome, "", decision.reason, decision.by.name]
