"""Document views: documents of a pool as a judge sees them, each with this judge's answer."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.urls import reverse

from annotate.collection.document_rendering import DocumentPane, ShownTable, build_pane
from annotate.collection.models import Candidate, Document, Run, RunLine
from annotate.judging.answer_rules import grades_that_need_evidence
from annotate.judging.judging_session import JudgingSession
from annotate.judgments.document_names import Name, name_of, open_to
from annotate.judgments.models import Flag, Judgment, RejudgeRequest, Repeat
from annotate.judgments.repeats import Spot, unmasked
from annotate.pairs.marked_words import words_to_mark
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Grade, Membership
from base.prepared_queries import Built
from base.prepared_queries import prepared as prepared_query
from base.raw_sql import all_rows, columns


@dataclass(frozen=True)
class Again:
    """A rejudge request as it is shown to the judge."""

    rejudge_request: RejudgeRequest
    # The UUID of the statement it is shown with: the judgment, or the "later" flag that followed.
    uuid: UUID
    # Whether that statement is current.
    open: bool


@dataclass(frozen=True)
class DocumentView:
    """One document on the judge page, with its position and the judge's answer to it."""

    # The document's number on the page: see `annotate.judging.judging_session.numbered`.
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
    ranks: list[tuple[int, str]]
    # The grades that need a marked passage.
    wanted: list[int]
    given: Judgment | Repeat | None
    flag: Flag | None
    again: list[Again]
    # The answer as JSON for the page's script.
    said: str

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
    def table(self) -> ShownTable | None:
        """Its table, if it is one."""
        return self.shown.table


def document_views(
    *,
    pair: InstructionPair,
    narrative: Narrative,
    member: Membership,
    order: Sequence[int],
    wanted: Iterable[int],
    grades: Sequence[Grade],
) -> list[DocumentView]:
    """Return the views of the documents `wanted`, in that order, except those not in `order`, the
    judge's pool. Both hold document numbers as the page uses them.

    Two queries, however many documents: one for the texts, one for the documents the judge has
    answered. Only if there are such documents: three more for judgments, flags and rejudge
    requests, one for answers to repeats, one for verdicts and two for whether ids may be shown. If
    ranks are shown, one more.
    """
    places = {unmasked(number, member.pk): place for place, number in enumerate(order, start=1)}
    spots = {number: unmasked(number, member.pk) for number in wanted}
    spots = {number: spot for number, spot in spots.items() if spot in places}
    keys = {spot.candidate for spot in spots.values()}
    found, texts = _with_texts(keys)
    spoken = _spoken.rows(narrative=narrative.pk, member=member.pk, candidates=list(keys))
    spoken_of = {candidate for (candidate,) in spoken}
    said_of, flags = _statements(narrative, member, spoken_of, spots)
    again = rejudge_requests(narrative, member, list(spoken_of), flags) if spoken_of else {}
    ranks = _ranks(pair, found.values()) if pair.project.show_rank else {}
    values = [grade.value for grade in grades]
    words = words_to_mark(pair, narrative)
    answered = {
        spots[number].candidate for number, (given, flag) in said_of.items() if _ends(given, flag)
    }
    hidden = open_to(member, [found[key] for key in answered], under=narrative)
    # Reversed once: reversing a URL costs as much as reading a document's row.
    url = reverse("annotate:judge", args=[pair.pk, 0])
    made = []
    for number, spot in spots.items():
        candidate = found[spot.candidate]
        given, flag = said_of[number]
        made.append(
            DocumentView(
                number=number,
                candidate=candidate,
                position=places[spot],
                url=f"{url.removesuffix('0/')}{number}/",
                shown=build_pane(candidate.document, texts[candidate.pk], words),
                name=name_of(
                    candidate.document,
                    pair.project,
                    hidden=not _ends(given, flag) or spot.candidate in hidden,
                ),
                prior=candidate.prior_relevance if pair.project.show_prior else None,
                ranks=ranks.get(candidate.document_id, []),
                wanted=grades_that_need_evidence(pair.project, candidate.prior_relevance, values),
                given=given,
                flag=flag,
                again=[] if spot.again else again.get(spot.candidate, []),
                said=json.dumps(said(given, flag), ensure_ascii=False, separators=(",", ":")),
            )
        )
    return made


def _with_texts(keys: Collection[int]) -> tuple[dict[int, Candidate], dict[int, str | None]]:
    """Return candidates with their documents, and the documents' newest texts, both by candidate
    key: one query.
    """
    if not keys:
        return {}, {}
    sql = f"""
        SELECT {columns(Candidate, "c")}, {columns(Document, "d")}, t.text
        FROM annotate_candidate c JOIN annotate_document d ON d.id = c.document_id
        LEFT JOIN annotate_documenttext t
            ON t.document_id = d.id AND t.version = d.text_version
        WHERE c.id IN ({", ".join(["%s"] * len(keys))})
    """  # noqa: S608 (the columns of our own tables)
    found: dict[int, Candidate] = {}
    texts: dict[int, str | None] = {}
    for candidate, document, text in all_rows(sql, list(keys), Candidate, Document):
        candidate.document = document
        found[candidate.pk], texts[candidate.pk] = candidate, text
    return found, texts


def _statements(
    narrative: Narrative, member: Membership, keys: Collection[int], spots: Mapping[int, Spot]
) -> tuple[dict[int, tuple[Judgment | Repeat | None, Flag | None]], dict[int, Flag]]:
    """Return the judge's answer to each document by number, and their flags by candidate.

    `keys`: the candidates that the judge has answered.
    """
    if not keys:
        return dict.fromkeys(spots, (None, None)), {}
    mine = {"narrative": narrative, "annotator": member, "candidate__in": keys}
    judgments = {
        judgment.candidate_id: judgment
        for judgment in Judgment.objects.current().filter(**mine).prefetch_related("verdicts")
    }
    flags = {flag.candidate_id: flag for flag in Flag.objects.current().filter(**mine)}
    repeats = (
        {repeat.candidate_id: repeat for repeat in Repeat.objects.current().filter(**mine)}
        if any(spot.again for spot in spots.values())
        else {}
    )
    said = {number: _said_of(spot, judgments, flags, repeats) for number, spot in spots.items()}
    return said, flags


@prepared_query("narrative", "member", "candidates")
def _spoken(narrative: int, member: int, candidates: int) -> Built:
    """Return the candidates that a judge has answered under a narrative, or should rejudge."""
    mine = {"narrative": narrative, "annotator": member, "candidate__in": [candidates]}
    asked = RejudgeRequest.objects.standing().filter(
        **{f"judgment__{name}": value for name, value in mine.items()}
    )
    judged, flagged, repeated = (
        rows.filter(**mine).values_list("candidate_id")
        for rows in (
            Judgment.objects.current(),
            Flag.objects.current(),
            Repeat.objects.current(),
        )
    )
    return judged.union(flagged, repeated, asked.values_list("judgment__candidate_id"), all=True)


def _said_of(
    spot: Spot,
    judgments: Mapping[int, Judgment],
    flags: Mapping[int, Flag],
    repeats: Mapping[int, Repeat],
) -> tuple[Judgment | Repeat | None, Flag | None]:
    """Return the judge's answer to a document, or to its repeat."""
    if spot.again:
        return _of_repeat(repeats.get(spot.candidate))
    return judgments.get(spot.candidate), flags.get(spot.candidate)


def _ends(given: Judgment | Repeat | None, flag: Flag | None) -> bool:
    """Return whether there is a grade, or a flag other than "later"."""
    return given is not None or (flag is not None and flag.kind != Flag.Kind.LATER)


def _of_repeat(repeat: Repeat | None) -> tuple[Repeat | None, Flag | None]:
    """Return the answer to a repeat in the form of a first answer."""
    if repeat is None:
        return None, None
    return (repeat if repeat.relevance is not None else None), repeat.as_flag()


def rejudge_requests(
    narrative: Narrative,
    member: Membership,
    wanted: Sequence[int],
    flags: Mapping[int, Flag],
) -> dict[int, list[Again]]:
    """Return the judge's rejudge requests by candidate: one query.

    Answered requests are included, because the answer can be withdrawn. `flags`: the judge's
    current flags.
    """
    found: dict[int, list[Again]] = {}
    for rejudge_request in (
        RejudgeRequest.objects.standing()
        .filter(
            judgment__narrative=narrative,
            judgment__annotator=member,
            judgment__candidate__in=wanted,
            judgment__text_replaced_at=None,
        )
        .select_related("judgment", "by", "guideline")
        .defer("guideline__text")
        .order_by("pk")
    ):
        judgment = rejudge_request.judgment
        off = flags.get(judgment.candidate_id)
        put_off = (
            off is not None and off.kind == Flag.Kind.LATER and off.at == judgment.superseded_at
        )
        found.setdefault(judgment.candidate_id, []).append(
            Again(
                rejudge_request,
                off.uuid if off and put_off else judgment.uuid,
                put_off or judgment.superseded_at is None,
            )
        )
    return found


def said(given: Judgment | Repeat | None, flag: Flag | None) -> dict[str, Any]:
    """Return a judge's answer to a document in the form for the page's script; {} for none."""
    if given is not None:
        return {
            "kind": "judgment",
            "uuid": str(given.uuid),
            "relevance": given.relevance,
            "note": given.note,
            "evidence": given.evidence,
            "clauses": given.clauses,
            "verdicts": {str(condition): answer for condition, answer in given.answers().items()},
        }
    if flag is not None:
        return {"kind": "flag", "uuid": str(flag.uuid), "flag": flag.kind, "words": flag.words}
    return {}


def judging_session_of(
    *,
    member: Membership,
    pair: InstructionPair,
    narrative: Narrative,
    number: int | None,
    at: JudgingSession,
    grades: Sequence[Grade],
    keys: dict[int, str],
) -> dict[str, Any]:
    """Return the data on a judging session for the page's script, to be written as JSON.

    `number`: the number of the document on the page. `keys`: the keyboard key of each grade value.
    """
    project = pair.project
    return {
        "user": member.user_id,
        "member": member.pk,
        "pair": pair.pk,
        "narrative": narrative.pk,
        "candidate": number,
        "order": at.order,
        "said": {
            **{pk: ["flag", kind, str(at.uuids[pk])] for pk, kind in at.flagged.items()},
            **{pk: ["judgment", value, str(at.uuids[pk])] for pk, value in at.judged.items()},
        },
        # The first to be undone comes last.
        "history": at.history,
        "noted": sorted(at.noted),
        "active_ms": at.active_ms,
        "asked": [str(uuid) for uuid in at.asked],
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


def _ranks(
    pair: InstructionPair, candidates: Iterable[Candidate]
) -> dict[int, list[tuple[int, str]]]:
    """Return each document's (rank, run) in every run, by document key."""
    found: dict[int, list[tuple[int, str]]] = {}
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
        found.setdefault(document, []).append((rank, run))
    return found
