"""Document views: documents of a pool as a judge sees them, each with this judge's answer."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple
from uuid import UUID

from django.db.models import OuterRef, Q, Subquery
from django.urls import reverse

from annotate.collection.document_rendering import DocumentPane, ShownTable, build_pane
from annotate.collection.models import Candidate, Document, DocumentText, Run, RunLine
from annotate.judging.answer_rules import grades_that_need_evidence
from annotate.judging.judging_session import JudgingSession
from annotate.judgments.document_names import Name, hidden_from, name_of
from annotate.judgments.models import Flag, RejudgeRequest, Statement
from annotate.judgments.repeats import Spot, unmask
from annotate.pairs.models import InstructionPair, Narrative
from annotate.pairs.pool import words_to_mark
from annotate.projects.models import Grade, Guideline, Membership


@dataclass(frozen=True)
class ShownRejudgeRequest:
    """A rejudge request as it is shown to the judge."""

    rejudge_request: RejudgeRequest
    # The UUID of the statement it is shown with: the answer, or the "later" flag that followed.
    uuid: UUID
    # Whether that statement is current.
    open: Annotated[bool, "Whether it waits for your answer."]

    api_fields = ("words", "open")

    @property
    def words(self) -> str:
        """What the lead asks."""
        return self.rejudge_request.words


class Rank(NamedTuple):
    """The rank of a document in a run."""

    rank: int
    run: str


@dataclass(frozen=True)
class DocumentView:
    """One document on the judge page, with its position and the judge's answer to it."""

    # The document's number on the page: see `annotate.judging.judging_session.spot_number`.
    number: int
    candidate: Candidate
    # Its position in the judge's order, from 1.
    position: int
    url: str
    shown: DocumentPane
    # The id is shown once the judge has answered.
    name: Name
    # The loaded relevance, and its (rank, run) in every run, if the project shows them.
    prior: int | None
    ranks: list[Rank]
    # The grades that need a marked passage.
    evidence_grades: list[int]
    # The judge's current answer: a grade, or a flag instead.
    given: Statement | None
    again: list[ShownRejudgeRequest]
    # The answer as JSON for the page's script.
    answer_json: str

    @property
    def document(self) -> Document:
        """The document."""
        return self.shown.document

    @property
    def text(self) -> str | None:
        """Its text, or None if it has none."""
        return self.shown.text

    @property
    def text_version(self) -> int:
        """The version of the text that is shown; 0 if there is no text."""
        return self.shown.text_version

    @property
    def flag(self) -> str | None:
        """The kind of flag that was given instead of a grade, if any."""
        return self.given.flag or None if self.given else None

    @property
    def table(self) -> ShownTable | None:
        """Its table, if it is one."""
        return self.shown.table


def document_views(
    *,
    pair: InstructionPair,
    narrative: Narrative,
    member: Membership,
    order: Sequence[int],
    numbers: Iterable[int],
    grades: Sequence[Grade],
) -> list[DocumentView]:
    """Return the views of the documents `numbers`, in that order, except those not in `order`, the
    judge's pool. Both hold document numbers as the page uses them.

    Three queries, however many documents: for the texts, the judge's answers and the rejudge
    requests. Only if there are answers: one more for verdicts, and two for whether ids may be
    shown. If ranks are shown, one more.
    """
    positions = {unmask(number, member.pk): at for at, number in enumerate(order, start=1)}
    spots = {number: unmask(number, member.pk) for number in numbers}
    spots = {number: spot for number, spot in spots.items() if spot in positions}
    keys = {spot.candidate for spot in spots.values()}
    candidates, texts = _read_candidates(keys)
    answers = read_answers(narrative, member, keys)
    again = read_rejudge_requests(narrative, member, keys, answers)
    ranks = _read_ranks(pair, candidates.values()) if pair.project.show_rank else {}
    values = [grade.value for grade in grades]
    words = words_to_mark(pair, narrative)
    final = {spot for spot in spots.values() if spot in answers and answers[spot].is_final}
    hidden = hidden_from(member, [candidates[spot.candidate] for spot in final], under=narrative)
    # Reversed once: reversing a URL costs as much as reading a document's row.
    url = reverse("annotate:judge", args=[pair.pk, 0])
    views = []
    for number, spot in spots.items():
        candidate = candidates[spot.candidate]
        answer = answers.get(spot)
        views.append(
            DocumentView(
                number=number,
                candidate=candidate,
                position=positions[spot],
                url=f"{url.removesuffix('0/')}{number}/",
                shown=build_pane(candidate.document, texts[candidate.pk], words),
                name=name_of(
                    candidate.document,
                    pair.project,
                    hidden=spot not in final or spot.candidate in hidden,
                ),
                prior=candidate.prior_relevance if pair.project.show_prior else None,
                ranks=ranks.get(candidate.document_id, []),
                evidence_grades=grades_that_need_evidence(
                    pair.project, candidate.prior_relevance, values
                ),
                given=answer,
                again=[] if spot.again else again.get(spot.candidate, []),
                answer_json=json.dumps(
                    answer_data(answer), ensure_ascii=False, separators=(",", ":")
                ),
            )
        )
    return views


def _read_candidates(keys: Collection[int]) -> tuple[dict[int, Candidate], dict[int, str | None]]:
    """Return candidates with their documents, and the documents' newest texts, both by candidate
    key: one query.
    """
    newest = DocumentText.objects.filter(
        document=OuterRef("document"), version=OuterRef("document__text_version")
    )
    rows = (
        Candidate.with_removed.filter(pk__in=keys)
        .select_related("document")
        .annotate(newest_text=Subquery(newest.values("text")[:1]))
    )
    candidates: dict[int, Candidate] = {}
    texts: dict[int, str | None] = {}
    for candidate in rows:
        candidates[candidate.pk], texts[candidate.pk] = candidate, candidate.newest_text
    return candidates, texts


def read_answers(
    narrative: Narrative, member: Membership, candidates: Collection[int]
) -> dict[Spot, Statement]:
    """Return the judge's current answers to documents and to repeats of them: two queries."""
    rows = Statement.objects.current().filter(
        narrative=narrative, annotator=member, candidate__in=candidates
    )
    return {Spot(row.candidate_id, row.repeat): row for row in rows.prefetch_related("verdicts")}


def read_rejudge_requests(
    narrative: Narrative,
    member: Membership,
    candidates: Collection[int],
    answers: Mapping[Spot, Statement],
) -> dict[int, list[ShownRejudgeRequest]]:
    """Return the judge's rejudge requests by candidate: one query.

    Answered requests are included, because the answer can be withdrawn. `answers`: the judge's
    current answers.
    """
    requests: dict[int, list[ShownRejudgeRequest]] = {}
    for rejudge_request in (
        RejudgeRequest.objects.not_withdrawn()
        .filter(
            statement__narrative=narrative,
            statement__annotator=member,
            statement__candidate__in=candidates,
            statement__text_replaced_at=None,
        )
        .select_related("statement", "by", "guideline")
        .defer("guideline__text")
        .order_by("pk")
    ):
        asked = rejudge_request.statement
        answer = answers.get(Spot(asked.candidate_id))
        is_later = (
            answer is not None and answer.flag == Flag.Kind.LATER and answer.at == asked.ended_at
        )
        requests.setdefault(asked.candidate_id, []).append(
            ShownRejudgeRequest(
                rejudge_request,
                answer.uuid if answer and is_later else asked.uuid,
                is_later or asked.ended_at is None,
            )
        )
    return requests


def answer_data(given: Statement | None) -> dict[str, Any]:
    """Return a judge's answer to a document in the form for the page's script; {} for none."""
    if given is None:
        return {}
    if given.flag:
        return {"kind": "flag", "uuid": str(given.uuid), "flag": given.flag, "words": given.note}
    return {
        "kind": "judgment",
        "uuid": str(given.uuid),
        "relevance": given.relevance,
        "note": given.note,
        "evidence": given.evidence,
        "clauses": given.clauses,
        "verdicts": {str(condition): answer for condition, answer in given.answers().items()},
    }


def session_data(
    *,
    member: Membership,
    pair: InstructionPair,
    narrative: Narrative,
    number: int | None,
    session: JudgingSession,
    grades: Sequence[Grade],
    keys: dict[int, str],
    guideline: Guideline | None,
) -> dict[str, Any]:
    """Return the data on a judging session for the page's script, to be written as JSON.

    `number`: the number of the document on the page. `keys`: the keyboard key of each grade value.
    `guideline`: the version that the page shows.
    """
    project = pair.project
    return {
        "user": member.user_id,
        "member": member.pk,
        "pair": pair.pk,
        "narrative": narrative.pk,
        "guidelines": guideline.version if guideline else 0,
        "candidate": number,
        **session.script_data(),
        "grades": [
            {"value": grade.value, "name": grade.name, "key": keys[grade.value]} for grade in grades
        ],
        "relevant_from": project.relevant_from,
        "evidence_rule": project.evidence_rule,
        "condition_rule": project.condition_rule,
        "conditions": [
            {"id": pk, "number": number, "name": name, "text": text}
            for pk, number, name, text in narrative.conditions.order_by("number").values_list(
                "pk", "number", "name", "text"
            )
        ],
        "urls": {
            "documents": reverse("annotate:documents", args=[pair.pk]),
            "judging": reverse("annotate:judging", args=[pair.pk]),
            "candidate": reverse("annotate:judge", args=[pair.pk, 0]),
        },
    }


def _read_ranks(pair: InstructionPair, candidates: Iterable[Candidate]) -> dict[int, list[Rank]]:
    """Return each document's ranks, by document key."""
    ranks: dict[int, list[Rank]] = {}
    lines = (
        RunLine.objects.filter(
            # A run over instructions ranks documents for its own pair only.
            Q(pair=None) | Q(pair=pair),
            query=pair.query_id,
            document__in=[candidate.document_id for candidate in candidates],
        )
        .exclude(run__side=Run.Side.REVERSED)
        .order_by("rank", "run__name")
    )
    for document, rank, run in lines.values_list("document", "rank", "run__name"):
        ranks.setdefault(document, []).append(Rank(rank, run))
    return ranks
