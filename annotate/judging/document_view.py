"""Document views: documents of a pool as a judge meets them, each with what this judge said of
it.
"""

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
from base.raw_sql import columns, every


@dataclass(frozen=True)
class Again:
    """That a lead asks the reader to look again at what they said."""

    rejudge_request: RejudgeRequest
    # The UUID of the statement with which it is shown: the judgment, or what put it off.
    uuid: UUID
    # Whether that statement stands now.
    open: bool


@dataclass(frozen=True)
class DocumentView:
    """One document on the judge page, with its place and what the reader said of it."""

    # What the page knows it by: see `annotate.judging.judging_session.numbered`.
    number: int
    candidate: Candidate
    # Its place in the reader's order, from 1.
    position: int
    url: str
    shown: DocumentPane
    # The id shows once the reader has answered.
    name: Name
    # The relevance it came with, and its (rank, run) in every run, where the lead shows them.
    prior: int | None
    ranks: list[tuple[int, str]]
    # The grades that need a marked passage.
    wanted: list[int]
    given: Judgment | Repeat | None
    flag: Flag | None
    again: list[Again]
    # As the page's script reads it: JSON.
    said: str

    @property
    def document(self) -> Document:
        """The document."""
        return self.shown.document

    @property
    def text(self) -> str | None:
        """Its text; None where it is not known."""
        return self.shown.text

    @property
    def text_version(self) -> int:
        """Which of its texts is shown; 0 for none."""
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
    """Return the document views of the documents `wanted`, in that order; one that is not in
    `order`, the reader's pool, is left out. Both hold the numbers that the page knows documents by.

    Two queries read the texts, and of which documents the reader has said anything, however many
    there are. Only where they have, three more read judgments, flags and what is asked for again,
    one what was said of repeats, one the verdicts, and two whether ids may be shown. One reads the
    ranks where they are shown.
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
    # Made once: an address costs as much as a document's row.
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
    """Return candidates of a pool with their documents, and the newest texts of these, by key: one
    query.
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
    for candidate, document, text in every(sql, list(keys), Candidate, Document):
        candidate.document = document
        found[candidate.pk], texts[candidate.pk] = candidate, text
    return found, texts


def _statements(
    narrative: Narrative, member: Membership, keys: Collection[int], spots: Mapping[int, Spot]
) -> tuple[dict[int, tuple[Judgment | Repeat | None, Flag | None]], dict[int, Flag]]:
    """What the reader said of each document, by its number; and their flags by candidate. `keys`:
    the candidates of which they said anything.
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
    """The candidates of which a judge has said anything under a narrative, or is asked again."""
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
    """What the reader said of a document, the first time or again."""
    if spot.again:
        return _of_repeat(repeats.get(spot.candidate))
    return judgments.get(spot.candidate), flags.get(spot.candidate)


def _ends(given: Judgment | Repeat | None, flag: Flag | None) -> bool:
    """Whether what was said is an answer; what was put off is open."""
    return given is not None or (flag is not None and flag.kind != Flag.Kind.LATER)


def _of_repeat(repeat: Repeat | None) -> tuple[Repeat | None, Flag | None]:
    """What was said of a document that had come again, as a first time has it."""
    if repeat is None:
        return None, None
    return (repeat if repeat.relevance is not None else None), repeat.as_flag()


def rejudge_requests(
    narrative: Narrative,
    member: Membership,
    wanted: Sequence[int],
    flags: Mapping[int, Flag],
) -> dict[int, list[Again]]:
    """What leads ask the reader to look at again, by candidate: one query.

    Answered rejudge requests are among them, for an answer can be taken back. `flags`: those that
    stand.
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
    """What a judge said of a document, as the page's script reads it; empty: nothing."""
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
    """What the page's script has to know of a judge before a narrative, to be written as JSON.

    `number`: that of the document on the page. `keys`: a key for the value of each grade.
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
        # What is taken back first stands last.
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
    """At which rank which run has a document."""
    found: dict[int, list[tuple[int, str]]] = {}
    lines = (
        RunLine.objects.filter(
            # A run over instructions says something of its own pair alone.
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
