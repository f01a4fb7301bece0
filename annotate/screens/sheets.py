"""Sheets: documents of a pool as a judge meets them, each with what this judge said of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.urls import reverse

from annotate.actions.judging import grades_that_need_evidence
from annotate.actions.pool import Sitting
from annotate.models import (
    Candidate,
    Document,
    DocumentText,
    Flag,
    Grade,
    InstructionPair,
    Judgment,
    LookAgain,
    Membership,
    Narrative,
    RunLine,
)
from annotate.screens.shown import Shown, ShownTable, prepared, words_to_mark


@dataclass(frozen=True)
class Again:
    """That a lead asks the reader to look again at what they said."""

    wish: LookAgain
    # The UUID of the statement with which it is shown: the judgment, or what put it off.
    uuid: UUID
    # Whether that statement stands now.
    open: bool


@dataclass(frozen=True)
class Sheet:
    """One document on the judge page, with its place and what the reader said of it."""

    candidate: Candidate
    # Its place in the reader's order, from 1.
    position: int
    url: str
    shown: Shown
    # The relevance it came with, and its (rank, run) in every run, where the lead shows them.
    prior: int | None
    ranks: list[tuple[int, str]]
    # The grades that need a marked passage.
    wanted: list[int]
    given: Judgment | None
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
    def table(self) -> ShownTable | None:
        """Its table, if it is one."""
        return self.shown.table


def sheets(
    *,
    pair: InstructionPair,
    narrative: Narrative,
    member: Membership,
    order: Sequence[int],
    wanted: Iterable[int],
    grades: Sequence[Grade],
) -> list[Sheet]:
    """Return the sheets of the candidates `wanted`, in that order; one that is not in `order`, the
    reader's pool, is left out.

    Four queries read texts, judgments, flags and what is asked for again, however many there are;
    two more the verdicts and the ranks where there are any to be shown.
    """
    places = {candidate: place for place, candidate in enumerate(order, start=1)}
    wanted = [candidate for candidate in dict.fromkeys(wanted) if candidate in places]
    found = Candidate.objects.select_related("document__body").in_bulk(wanted)
    mine = {"narrative": narrative, "annotator": member, "candidate__in": wanted}
    judgments = {
        judgment.candidate_id: judgment
        for judgment in Judgment.objects.current().filter(**mine).prefetch_related("verdicts")
    }
    flags = {flag.candidate_id: flag for flag in Flag.objects.current().filter(**mine)}
    again = wishes(narrative, member, wanted, flags)
    ranks = _ranks(pair, found.values()) if pair.project.show_rank else {}
    values = [grade.value for grade in grades]
    words = words_to_mark(pair, narrative)
    # Made once: an address costs as much as a document's row.
    url = reverse("annotate:judge", args=[pair.pk, 0])
    made = []
    for pk in wanted:
        candidate = found[pk]
        given, flag = judgments.get(pk), flags.get(pk)
        made.append(
            Sheet(
                candidate=candidate,
                position=places[pk],
                url=f"{url.removesuffix('0/')}{pk}/",
                shown=prepared(candidate.document, _text(candidate.document), words),
                prior=candidate.prior_relevance if pair.project.show_prior else None,
                ranks=ranks.get(candidate.document_id, []),
                wanted=grades_that_need_evidence(pair.project, candidate.prior_relevance, values),
                given=given,
                flag=flag,
                again=again.get(pk, []),
                said=json.dumps(said(given, flag), ensure_ascii=False, separators=(",", ":")),
            )
        )
    return made


def wishes(
    narrative: Narrative,
    member: Membership,
    wanted: Sequence[int],
    flags: Mapping[int, Flag],
) -> dict[int, list[Again]]:
    """What leads ask the reader to look at again, by candidate: one query.

    Answered wishes are among them, for an answer can be taken back. `flags`: those that stand.
    """
    found: dict[int, list[Again]] = {}
    for wish in (
        LookAgain.objects.standing()
        .filter(
            judgment__narrative=narrative,
            judgment__annotator=member,
            judgment__candidate__in=wanted,
        )
        .select_related("judgment", "by", "guideline")
        .defer("guideline__text")
        .order_by("pk")
    ):
        judgment = wish.judgment
        off = flags.get(judgment.candidate_id)
        put_off = (
            off is not None and off.kind == Flag.Kind.LATER and off.at == judgment.superseded_at
        )
        found.setdefault(judgment.candidate_id, []).append(
            Again(
                wish,
                off.uuid if off and put_off else judgment.uuid,
                put_off or judgment.superseded_at is None,
            )
        )
    return found


def said(given: Judgment | None, flag: Flag | None) -> dict[str, Any]:
    """What a judge said of a document, as the page's script reads it; empty: nothing."""
    if given is not None:
        return {
            "kind": "judgment",
            "uuid": str(given.uuid),
            "relevance": given.relevance,
            "note": given.note,
            "evidence": given.evidence,
            "clauses": given.clauses,
            "verdicts": {
                str(verdict.condition_id): verdict.answer for verdict in given.verdicts.all()
            },
        }
    if flag is not None:
        return {"kind": "flag", "uuid": str(flag.uuid), "flag": flag.kind, "words": flag.words}
    return {}


def sitting_of(
    *,
    member: Membership,
    pair: InstructionPair,
    narrative: Narrative,
    candidate: int | None,
    at: Sitting,
    grades: Sequence[Grade],
    keys: dict[int, str],
) -> dict[str, Any]:
    """What the page's script has to know of a judge before a narrative, to be written as JSON.

    `keys`: a key for the value of each grade.
    """
    project = pair.project
    return {
        "user": member.user_id,
        "member": member.pk,
        "pair": pair.pk,
        "narrative": narrative.pk,
        "candidate": candidate,
        "order": at.order,
        "said": {
            **{pk: ["flag", kind, str(at.uuids[pk])] for pk, kind in at.flagged.items()},
            **{pk: ["judgment", value, str(at.uuids[pk])] for pk, value in at.judged.items()},
        },
        # What is taken back first stands last.
        "history": at.history,
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


def _text(document: Document) -> str | None:
    try:
        return document.body.text
    except DocumentText.DoesNotExist:
        return None


def _ranks(
    pair: InstructionPair, candidates: Iterable[Candidate]
) -> dict[int, list[tuple[int, str]]]:
    """At which rank which run has a document."""
    found: dict[int, list[tuple[int, str]]] = {}
    lines = RunLine.objects.filter(
        query=pair.query_id, document__in=[candidate.document_id for candidate in candidates]
    ).order_by("rank", "run__name")
    for document, rank, run in lines.values_list("document", "rank", "run__name"):
        found.setdefault(document, []).append((rank, run))
    return found
