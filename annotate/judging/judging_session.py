"""A judging session: the documents of a pair in one person's order, repeats among them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from django.db.models.functions import Length

from annotate.collection.models import Candidate
from annotate.collection.unseen_rows import Unseen, seen_condition
from annotate.judgments import repeats
from annotate.judgments.models import Flag, Judgment, RejudgeRequest, Repeat
from annotate.judgments.repeats import Spot
from annotate.pairs.models import InstructionPair, Narrative
from annotate.pairs.pool import in_scope, pool_sql, repeat_seed
from annotate.projects.models import Membership, Project
from base.prepared_queries import Built, prepared


@dataclass(frozen=True)
class JudgingSession:
    """One judge before one narrative: the documents in their order and what was said of each.

    A document is known by its number: its candidate's key, or where the project has repeats the one
    that `numbered` gives it, by which nobody can tell a repeat.
    """

    order: list[int]
    judged: dict[int, int]
    flagged: dict[int, str]
    # Of each candidate of which something was said: the UUID of the judgment or flag that stands.
    uuids: dict[int, UUID] = field(default_factory=dict)
    # The candidates of what can be taken back, the earliest said first: not what came from a file.
    history: list[int] = field(default_factory=list)
    # The candidates whose judgment a lead wants looked at again.
    again: frozenset[int] = frozenset()
    # The UUIDs of the statements with which such a rejudge request is shown: also of judgments that
    # have given way (they may come back), and of what put the document off.
    asked: list[UUID] = field(default_factory=list)
    # The candidates whose judgment has a note.
    noted: frozenset[int] = frozenset()
    # How long was worked on what stands, in milliseconds.
    active_ms: int = 0

    @property
    def total(self) -> int:
        """How many documents there are to judge."""
        return len(self.order)

    @property
    def settled(self) -> int:
        """How many need nothing more: judged and not asked for again, or flagged as not to be
        judged.
        """
        return sum(1 for candidate in self.order if self._is_settled(candidate))

    @property
    def done(self) -> bool:
        """Whether nothing is left, not even what was put off."""
        return self.settled == self.total

    def next(self, after: int | None = None) -> int | None:
        """The next document to judge: onward from `after`, then around; what is asked for again
        comes first, what was put off last.
        """
        start = self.order.index(after) + 1 if after in self.order else 0
        onward = self.order[start:] + self.order[:start]
        again = (c for c in onward if c in self.again)
        fresh = (c for c in onward if c not in self.judged and c not in self.flagged)
        later = (c for c in onward if self.flagged.get(c) == Flag.Kind.LATER)
        return next(again, None) or next(fresh, None) or next(later, None)

    def before(self, candidate: int) -> int | None:
        """The neighbour on the left, judged or not."""
        place = self.order.index(candidate)
        return self.order[place - 1] if place else None

    def behind(self, candidate: int) -> int | None:
        """The neighbour on the right, judged or not."""
        place = self.order.index(candidate)
        return self.order[place + 1] if place + 1 < len(self.order) else None

    def _is_settled(self, candidate: int) -> bool:
        if candidate in self.judged:
            return candidate not in self.again
        return self.flagged.get(candidate, Flag.Kind.LATER) != Flag.Kind.LATER


def read_judging_session(*, narrative: Narrative, by: Membership) -> JudgingSession:
    """Return where `by` stands with the pool under `narrative`: four queries, whatever the pool's
    size.
    """
    mine = {"narrative": narrative, "annotator": by}
    judged = Judgment.objects.current().filter(**mine)
    flagged = Flag.objects.current().filter(**mine)
    given = list(
        judged.values_list(
            "candidate", "relevance", "uuid", "at", "source", "active_ms", Length("note")
        )
    )
    put = list(flagged.values_list("candidate", "kind", "uuid", "at"))
    rejudge_requests = RejudgeRequest.objects.standing().filter(
        judgment__narrative=narrative, judgment__annotator=by, judgment__text_replaced_at=None
    )
    asked = list(
        rejudge_requests.order_by("pk").values_list(
            "judgment__candidate", "judgment__uuid", "judgment__superseded_at"
        )
    )
    off = {(candidate, at): uuid for candidate, kind, uuid, at in put if kind == Flag.Kind.LATER}
    spoken = [(at, candidate) for candidate, *_, at in put]
    spoken += [
        (at, candidate)
        for candidate, _, _, at, source, *_ in given
        if source == Judgment.Source.PAGE
    ]
    ordered = _ordered(narrative.pair, by)
    at = JudgingSession(
        order=[candidate for candidate, _ in ordered],
        judged={candidate: relevance for candidate, relevance, *_ in given},
        flagged={candidate: kind for candidate, kind, *_ in put},
        uuids={candidate: uuid for candidate, _, uuid, *_ in put}
        | {candidate: uuid for candidate, _, uuid, *_ in given},
        history=[candidate for _, candidate in sorted(spoken)],
        again=frozenset(candidate for candidate, _, ended in asked if ended is None),
        asked=[uuid for _, uuid, _ in asked]
        + [
            off[candidate, ended]
            for candidate, _, ended in asked
            if ended is not None and (candidate, ended) in off
        ],
        noted=frozenset(candidate for candidate, *_, note in given if note),
        active_ms=sum(active_ms or 0 for *_, active_ms, _ in given),
    )
    if not by.project.repeat_percent:
        return at
    return _with_repeats(at, ordered, spoken, narrative, by)


def numbered(spot: Spot, by: Membership) -> int:
    """The number under which the pages of `by` know a document of a pool, the first time or
    again.
    """
    if by.project.repeat_percent:
        return repeats.masked(spot, by.pk)
    return spot.candidate


def _with_repeats(
    at: JudgingSession,
    ordered: list[tuple[int, str]],
    spoken: list[tuple[datetime, int]],
    narrative: Narrative,
    by: Membership,
) -> JudgingSession:
    """The same judging session with the repeats in it, every document under its number."""
    rows = Repeat.objects.current().filter(narrative=narrative, annotator=by)
    said = list(rows.values_list("candidate", "relevance", "flag", "uuid", "at"))
    again = {
        candidate: repeats.masked(Spot(candidate, again=True), by.pk) for candidate, *_ in said
    }
    first = {
        candidate: repeats.masked(Spot(candidate), by.pk)
        for candidate in {*at.order, *at.uuids, *at.history}
    }
    planned = repeats.planned(
        ordered,
        percent=by.project.repeat_percent,
        words=repeat_seed(narrative.pair, narrative.side, narrative.version, by),
        answered=again,
    )
    said_when = [(moment, first[candidate]) for moment, candidate in spoken]
    said_when += [(moment, again[candidate]) for candidate, *_, moment in said]
    return replace(
        at,
        order=[repeats.masked(spot, by.pk) for spot in planned],
        judged={first[candidate]: relevance for candidate, relevance in at.judged.items()}
        | {again[candidate]: grade for candidate, grade, *_ in said if grade is not None},
        flagged={first[candidate]: kind for candidate, kind in at.flagged.items()}
        | {again[candidate]: flag for candidate, _, flag, *_ in said if flag},
        uuids={first[candidate]: uuid for candidate, uuid in at.uuids.items()}
        | {again[candidate]: uuid for candidate, _, _, uuid, _ in said},
        history=[number for _, number in sorted(said_when)],
        again=frozenset(first[candidate] for candidate in at.again),
        noted=frozenset(first[candidate] for candidate in at.noted if candidate in first),
    )


def without_repeats(at: JudgingSession, by: Membership) -> JudgingSession:
    """The same judging session with each document once, for a list, which shows them all
    together.
    """
    if not by.project.repeat_percent:
        return at

    def is_first(number: int) -> bool:
        return not repeats.unmasked(number, by.pk).again

    return replace(
        at,
        order=list(filter(is_first, at.order)),
        judged={number: value for number, value in at.judged.items() if is_first(number)},
        flagged={number: kind for number, kind in at.flagged.items() if is_first(number)},
        uuids={number: uuid for number, uuid in at.uuids.items() if is_first(number)},
        history=list(filter(is_first, at.history)),
    )


def order(*, pair: InstructionPair, by: Membership) -> list[int]:
    """The candidates of a pair in the order in which `by` meets them: one query.

    Shuffled: each person has an order of their own, always the same, and anybody can make it again:
    ascending by the 16-byte BLAKE2b of "seed:member name:query_id:doc_id" in UTF-8, without a key.

    The same for all: documents whose ids judges see come first, in the byte order of the ids; the
    others follow, shuffled with an empty member name. The order of hidden ids would reveal them:
    "9_positive" comes after "9_hn1".
    """
    return [pk for pk, _ in _ordered(pair, by)]


def _ordered(pair: InstructionPair, by: Membership) -> list[tuple[int, str]]:
    """The candidates of a pair with their documents' ids, in the order in which `by` meets them."""
    project = pair.project
    alike = project.judge_order == Project.Order.DOC_ID
    before = f"{project.order_seed}:{'' if alike else by.name}:{pair.query.query_id}:"

    def place(one: tuple[int, str, int | None]) -> tuple[bool, bytes, int]:
        key, doc_id, length = one
        shown = alike and project.show_ids and length is None
        return (not shown, doc_id.encode() if shown else _place(before + doc_id), key)

    scope = project.judge_scope
    rows = _pool.rows(scope, query=pair.query_id, relevant_from=project.relevant_from, pair=pair.pk)
    return [(key, doc_id) for key, doc_id, _length in sorted(rows, key=place)]


@prepared("query", "relevant_from", "pair")
def _pool(scope: str, query: int, relevant_from: int, pair: int) -> Built:
    """The pool of a pair: candidate, the id of its document, and how long its text is."""
    rules = Project(judge_scope=scope, relevant_from=relevant_from)
    candidates = in_scope(rules, Candidate.objects.filter(query=query), pair)
    return candidates.values_list("pk", "document__doc_id", "document__length")


def others_unsettled(project: Project, *, again: bool = False) -> str:
    """SQL that says whether a judge has left anything but one candidate unsettled, repeats not
    counted: what `JudgingSession` says, for who cannot wait for a whole one. `again`: of the first
    times, that of the candidate as well.

    Parameters: query, pair, candidate, narrative, member, relevant_from.
    """
    others = "" if again else "AND o.id <> %(candidate)s"
    scope = f"AND {pool_sql(project, 'o', '%(pair)s')}"
    return f"""
        EXISTS (
            SELECT 1 FROM annotate_candidate o
            WHERE o.query_id = %(query)s AND o.removed_at IS NULL
            {others} {scope} AND {seen_condition(Unseen.Kind.CANDIDATE, "o.id")}
            AND NOT EXISTS (
                SELECT 1 FROM annotate_judgment p WHERE p.narrative_id = %(narrative)s
                AND p.candidate_id = o.id AND p.annotator_id = %(member)s
                AND p.superseded_at IS NULL AND p.text_replaced_at IS NULL
                AND NOT {asked_again("p")}
            )
            AND NOT EXISTS (
                SELECT 1 FROM annotate_flag q WHERE q.narrative_id = %(narrative)s
                AND q.candidate_id = o.id AND q.annotator_id = %(member)s
                AND q.cleared_at IS NULL AND q.text_replaced_at IS NULL
                AND q.kind <> '{Flag.Kind.LATER}'
            )
        )
    """  # noqa: S608 (constants)


def pool_and_repeats(project: Project, *, again: bool = False) -> str:
    """SQL of two columns: how many documents a judge's pool has, and how many repeats they have
    settled; `again`: other than that of the candidate. Zeros where the project has no repeats.

    Parameters as of `others_unsettled`.
    """
    if not project.repeat_percent:
        return "0, 0"
    scope = f"AND {pool_sql(project, 'o', '%(pair)s')}"
    others = "AND p.candidate_id <> %(candidate)s" if again else ""
    return f"""
        (
            SELECT COUNT(*) FROM annotate_candidate o
            WHERE o.query_id = %(query)s AND o.removed_at IS NULL {scope}
            AND {seen_condition(Unseen.Kind.CANDIDATE, "o.id")}
        ),
        (
            SELECT COUNT(*) FROM annotate_repeat p
            JOIN annotate_candidate o ON o.id = p.candidate_id AND o.removed_at IS NULL {scope}
            WHERE p.narrative_id = %(narrative)s AND p.annotator_id = %(member)s
            AND p.superseded_at IS NULL AND p.text_replaced_at IS NULL
            AND p.flag <> '{Flag.Kind.LATER}' {others}
        )
    """  # noqa: S608 (constants)


def asked_again(judgment: str) -> str:
    """SQL that says whether a lead wants a judgment, a row under this alias, looked at again."""
    return f"""
        EXISTS (
            SELECT 1 FROM annotate_lookagain l
            WHERE l.judgment_id = {judgment}.id AND l.withdrawn_at IS NULL
        )
    """  # noqa: S608 (our own alias)


def _place(words: str) -> bytes:
    return hashlib.blake2b(words.encode(), digest_size=16).digest()
