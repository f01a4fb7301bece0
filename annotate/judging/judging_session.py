"""A judging session: the documents of a pair in one person's order, repeats among them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models.functions import Length

from annotate.judgments import repeats
from annotate.judgments.models import Flag, RejudgeRequest, Statement
from annotate.judgments.repeats import Spot
from annotate.pairs.models import InstructionPair, Narrative
from annotate.pairs.pool import candidates_to_judge, repeat_seed
from annotate.projects.models import Membership, Project


def judging_order(*, pair: InstructionPair, by: Membership) -> list[int]:
    """Return the candidates of a pair in the order in which `by` judges them: one query.

    Shuffled: each person has their own fixed order, which anybody can reproduce: ascending by the
    16-byte BLAKE2b of "seed:member name:query_id:doc_id" in UTF-8, without a key.

    The same for all: documents whose ids judges see come first, in byte order of the ids; the
    others follow, shuffled with an empty member name. Sorting by hidden ids would reveal them:
    "9_positive" comes after "9_hn1".
    """
    return [pk for pk, _ in ordered_pool(pair, by)]


def ordered_pool(pair: InstructionPair, by: Membership) -> list[tuple[int, str]]:
    """Return the candidates of a pair with their document ids, in the judging order of `by`."""
    project = pair.project
    is_shared = project.judge_order == Project.Order.DOC_ID
    prefix = f"{project.order_seed}:{'' if is_shared else by.name}:{pair.query.query_id}:"

    def sort_key(row: tuple[int, str, int | None]) -> tuple[bool, bytes, int]:
        key, doc_id, length = row
        is_shown = is_shared and project.show_ids and length is None
        return (not is_shown, doc_id.encode() if is_shown else _digest(prefix + doc_id), key)

    rows = candidates_to_judge(pair).values_list("pk", "document__doc_id", "document__length")
    return [(key, doc_id) for key, doc_id, _length in sorted(rows, key=sort_key)]


def _digest(words: str) -> bytes:
    return hashlib.blake2b(words.encode(), digest_size=16).digest()


@dataclass(frozen=True)
class JudgingSession:
    """One judge's session on one narrative: the documents in order and the answer to each.

    Documents are identified by number: the candidate's key or, if the project has repeats, the
    number from `spot_number`, which does not reveal repeats.
    """

    order: list[int]
    judged: dict[int, int]
    flagged: dict[int, str]
    # The UUID of the current judgment or flag, by document.
    uuids: dict[int, UUID] = field(default_factory=dict)
    # The documents whose answer can be withdrawn, earliest answer first; none from a file.
    history: list[int] = field(default_factory=list)
    # The documents whose answer has a rejudge request.
    again: frozenset[int] = frozenset()
    # The UUIDs of the statements that rejudge requests are shown with: also of superseded ones
    # (they may become current again), and of "later" flags on such documents.
    rejudge_uuids: list[UUID] = field(default_factory=list)
    # The documents whose judgment has a note.
    noted: frozenset[int] = frozenset()
    # The active time with each judged document, in milliseconds, where it is known.
    active_ms: dict[int, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The number of documents to judge."""
        return len(self.order)

    @property
    def settled(self) -> int:
        """The number of documents that need no answer: judged, or flagged other than "later",
        without a rejudge request.
        """
        return sum(1 for candidate in self.order if self._is_settled(candidate))

    @property
    def seconds(self) -> float:
        """The active time with all judged documents, in seconds."""
        return sum(self.active_ms.values()) / 1_000

    @property
    def done(self) -> bool:
        """Whether no document is left, not even one flagged "later"."""
        return self.settled == self.total

    def next(self, after: int | None = None) -> int | None:
        """Return the next document to judge, searching from `after` and wrapping around.

        Rejudge requests come first, then unanswered documents, then those flagged "later".
        """
        start = self.order.index(after) + 1 if after in self.order else 0
        onward = self.order[start:] + self.order[:start]
        again = (c for c in onward if c in self.again)
        unanswered = (c for c in onward if c not in self.judged and c not in self.flagged)
        later = (c for c in onward if self.flagged.get(c) == Flag.Kind.LATER)
        return next(again, None) or next(unanswered, None) or next(later, None)

    def script_data(self) -> dict[str, Any]:
        """Return it in the form for the page's script."""
        return {
            "order": self.order,
            "answers": {
                **{
                    number: ["flag", kind, str(self.uuids[number])]
                    for number, kind in self.flagged.items()
                },
                **{
                    number: ["judgment", value, str(self.uuids[number])]
                    for number, value in self.judged.items()
                },
            },
            # The first to be undone comes last.
            "history": self.history,
            "noted": sorted(self.noted),
            "active_ms": self.active_ms,
            "asked": [str(uuid) for uuid in self.rejudge_uuids],
        }

    def before(self, candidate: int) -> int | None:
        """Return the previous document in order, judged or not."""
        position = self.order.index(candidate)
        return self.order[position - 1] if position else None

    def following(self, candidate: int) -> int | None:
        """Return the following document in order, judged or not."""
        position = self.order.index(candidate)
        return self.order[position + 1] if position + 1 < len(self.order) else None

    def _is_settled(self, candidate: int) -> bool:
        if candidate in self.again:
            return False
        flag = self.flagged.get(candidate, Flag.Kind.LATER)
        return candidate in self.judged or flag != Flag.Kind.LATER


def read_judging_session(
    *, narrative: Narrative, by: Membership, with_repeats: bool = True
) -> JudgingSession:
    """Return the judging session of `by` under `narrative`: three queries, whatever the pool's
    size. Answers to documents that are not judged any more, or were taken out, are not in it.

    `with_repeats`: False for a list, which would expose them.
    """
    with_repeats = with_repeats and by.project.repeat_percent > 0
    rows = Statement.objects.current().filter(narrative=narrative, annotator=by)
    if not with_repeats:
        rows = rows.filter(repeat=False)
    answers = list(
        rows.with_time()
        .annotate(note_length=Length("note"))
        .values_list(
            *("candidate", "repeat", "relevance", "flag", "uuid", "at", "source", "time_ms"),
            "note_length",
            named=True,
        )
    )
    ordered = ordered_pool(narrative.pair, by)
    spots = [Spot(candidate) for candidate, _ in ordered]
    if with_repeats:
        spots = repeats.plan_repeats(
            ordered,
            percent=by.project.repeat_percent,
            words=repeat_seed(narrative.pair, narrative.side, narrative.version, by),
            answered={row.candidate for row in answers if row.repeat},
        )
    numbers = {spot: spot_number(spot, by) for spot in spots}
    statements = [
        (numbers[spot], row)
        for row in answers
        if (spot := Spot(row.candidate, row.repeat)) in numbers
    ]
    first = [(number, row) for number, row in statements if not row.repeat]
    rejudge_requests = RejudgeRequest.objects.not_withdrawn().filter(
        statement__narrative=narrative, statement__annotator=by, statement__text_replaced_at=None
    )
    requests = list(
        rejudge_requests.order_by("pk").values_list(
            "statement__candidate", "statement__uuid", "statement__ended_at"
        )
    )
    later = {(row.candidate, row.at): row.uuid for _, row in first if row.flag == Flag.Kind.LATER}
    return JudgingSession(
        order=list(numbers.values()),
        judged={number: row.relevance for number, row in statements if not row.flag},
        flagged={number: row.flag for number, row in statements if row.flag},
        uuids={number: row.uuid for number, row in statements},
        history=[
            number
            for number, row in sorted(statements, key=lambda numbered: numbered[1].at)
            if row.source == Statement.Source.PAGE
        ],
        again=frozenset(
            numbers[spot]
            for candidate, _, ended in requests
            if ended is None and (spot := Spot(candidate)) in numbers
        ),
        rejudge_uuids=[uuid for _, uuid, _ in requests]
        + [
            later[candidate, ended]
            for candidate, _, ended in requests
            if ended is not None and (candidate, ended) in later
        ],
        noted=frozenset(number for number, row in first if row.note_length and not row.flag),
        active_ms={number: row.time_ms for number, row in statements if row.time_ms},
    )


def spot_number(spot: Spot, by: Membership) -> int:
    """Return the number that identifies a document, or its repeat, on the pages of `by`."""
    if by.project.repeat_percent:
        return repeats.mask(spot, by.pk)
    return spot.candidate
