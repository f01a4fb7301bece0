"""What decides whether somebody may say something of a document: all of it in one query."""

from __future__ import annotations

import uuid as uuids
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection
from django.utils.translation import gettext as _

from annotate.collection import text_versions
from annotate.collection.models import Document
from annotate.collection.unseen_rows import Unseen, seen_condition
from annotate.judging.judging_session import asked_again, others_unsettled, pool_and_repeats
from annotate.judging.statement import INSTANT, UNSAID, On
from annotate.judgments import assignments, judgment_chain
from annotate.judgments.models import Repeat
from annotate.judgments.repeats import chance, number
from annotate.pairs.models import Assignment
from annotate.pairs.pool import is_shown_to_judges, repeat_seed
from annotate.projects import access as projects_access
from annotate.projects import chain
from annotate.projects.models import Membership, Project
from base.errors import NotHere, Refused, Stale
from base.raw_sql import moment, values_of


class Standing(NamedTuple):
    """A judgment or flag that stands."""

    pk: int
    uuid: uuids.UUID
    at: datetime
    says: int | str


@dataclass
class Place:
    """What the database knows of a document, a narrative version and a person, read under the lock
    on their assignment.
    """

    now: datetime
    again: bool
    side: str
    version: int
    narrative_length: int
    stale: bool
    to_judge: bool
    prior: int | None
    doc_id: str
    # The text version that was read, None where there was no text, and since when there is a newer
    # one.
    text_version: int | None
    text_replaced_at: datetime | None
    # Of the text that was read.
    document_length: int | None
    markable: bool
    grades: list[int]
    # Their numbers by their keys.
    conditions: dict[int, int]
    # What stands of the document; where it has come again, what was said of it then.
    judgment: Standing | None
    flag: Standing | None
    # The current judgment of a document that has come again.
    first: int | None
    # Whether a lead wants that judgment looked at again.
    asked: bool
    # Whether the UUID was used before.
    sent: bool
    # Whether their assignment is done, and whether it is begun.
    done: bool
    begun: bool
    others_left: bool
    # The end of the assignment's chain of sums, which the lock keeps as it is.
    end: chain.End

    def refuse_if_closed(self, by: Membership, *, late: bool) -> None:
        """Refuse where nothing can be said now."""
        projects_access.refuse_if_archived(by.project)
        if self.stale and not late:
            raise Stale(
                _("The narrative changed while you were reading. Read it again, then judge.")
            )
        if self.text_replaced_at is not None and not late:
            raise Stale(
                _("The document got another text while you were reading. Read it, then judge.")
            )
        if not self.to_judge:
            raise Refused(_("This document is not among those to be judged for this query."))

    def text_read(self) -> dict[str, Any]:
        """The fields of `ReadsText` of what is said here."""
        return {"text_version": self.text_version, "text_replaced_at": self.text_replaced_at}

    @property
    def is_history(self) -> bool:
        """Whether the narrative or the text that was read has a newer version."""
        return self.stale or self.text_replaced_at is not None

    def end_what_stands(self) -> None:
        """Let what was said before give way."""
        if self.again:
            ended = [standing.pk for standing in (self.judgment, self.flag) if standing]
            if ended:
                Repeat.objects.filter(pk__in=ended).update(superseded_at=self.now)
            return
        if self.judgment:
            self._end("annotate_judgment", "superseded_at", self.judgment)
        if self.flag:
            self._end("annotate_flag", "cleared_at", self.flag)

    def _end(self, table: str, column: str, standing: Standing) -> None:
        now = connection.ops.adapt_datetimefield_value(self.now)
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {table} SET {column} = %s WHERE id = %s",  # noqa: S608 (our own names)
                [now, standing.pk],
            )

    def link(self, on: On, by: Membership, *, said: chain.Event | None = None) -> None:
        """Put a new judgment, and that it ended what stood, into the assignment's chain: one
        statement.

        What is said of a document that has come again is no judgment, and has no link.
        """
        events = [said] if said else []
        if self.judgment and not self.again:
            events.append(judgment_chain.event_of_end(self.judgment.uuid, self.now))
        if events:
            of = chain.of_assignment(on.pair.pair_id, by.name)
            chain.append(by.project_id, of, events, after=self.end)

    def settle_assignment(self, on: On, by: Membership, *, settled: bool) -> None:
        """Record whether anything is left to do in the assignment. What is said under an older
        version does not change that.
        """
        done = settled and not self.others_left
        if not self.is_history and done != self.done:
            assignments.end(
                pair=on.pair, task=Assignment.Task.JUDGE, by=by, at=self.now if done else None
            )

    def warning(self, instead_of: uuids.UUID | None, says: int | str) -> str:
        """What the person must be told although what they said was recorded."""
        return warning_of(self, self.judgment or self.flag, instead_of, says)


def warning_of(
    place: Place,
    before: Standing | None,
    instead_of: uuids.UUID | None,
    says: int | str,
) -> str:
    """`before`: what gave way."""
    sentences = []
    if place.stale:
        sentences.append(
            _(
                "The narrative has changed since. This is kept under version %(version)d, which "
                "you read; read the new one and judge again."
            )
            % {"version": place.version}
        )
    if place.text_replaced_at is not None:
        sentences.append(
            _(
                "The document has got another text since. This is kept under version %(version)d "
                "of its text, which you read; read the new one and judge again."
            )
            % {"version": place.text_version or 1}
        )
    known = instead_of == UNSAID or before is None or before.uuid == instead_of
    if before is not None and not known and before.says != says:
        sentences.append(
            _(
                "In another tab or place you had said something else of this document meanwhile. "
                "Both are kept; this one counts."
            )
        )
    return " ".join(sentences)


def _query(on: On, project: Project) -> str:
    """Return the one query of `look_up`."""
    listed = "string_agg(%s::text, ',')" if _is_postgresql() else "group_concat(%s)"
    # What is said of a repeat stands in one table, and its first judgment beside it.
    says, flags, cleared, first, asked = (
        ("repeat", "repeat", "superseded_at", "o.id", "0")
        if on.again
        else ("judgment", "flag", "cleared_at", "NULL", asked_again("j"))
    )
    # The names in here are our own tables, and what `pool` and this function write.
    return f"""
        SELECT v.side, v.version, LENGTH(v.text),
            EXISTS (
                SELECT 1 FROM annotate_narrative w
                WHERE w.pair_id = v.pair_id AND w.side = v.side AND w.version > v.version
            ),
            c.prior_relevance, c.made_for_id, d.doc_id, d.text_version, t.version, t.length,
            t.markup,
            (
                SELECT n.created_at FROM annotate_documenttext n
                WHERE n.document_id = d.id AND n.version = {_NEXT_TEXT}
            ),
            (
                SELECT {listed % "g.value"} FROM annotate_grade g
                WHERE g.project_id = %(project)s
            ),
            (
                SELECT {listed % "(k.id || ':' || k.number)"} FROM annotate_condition k
                WHERE k.narrative_id = v.id
            ),
            j.id, j.uuid, j.at, j.relevance, f.id, f.uuid, f.at, f.{"flag" if on.again else "kind"},
            {asked}, {first},
            EXISTS (SELECT 1 FROM annotate_judgment u WHERE u.uuid = %(uuid)s)
                OR EXISTS (SELECT 1 FROM annotate_flag u WHERE u.uuid = %(uuid)s)
                OR EXISTS (SELECT 1 FROM annotate_repeat u WHERE u.uuid = %(uuid)s),
            (
                SELECT s.done_at IS NOT NULL FROM annotate_assignment s
                WHERE s.pair_id = v.pair_id AND s.task = 'judge' AND s.member_id = %(member)s
            ),
            EXISTS (
                SELECT 1 FROM annotate_assignment s
                WHERE s.pair_id = v.pair_id AND s.task = 'judge' AND s.member_id = %(member)s
                    AND s.touched_at IS NOT NULL
            ),
            {others_unsettled(project, again=on.again)},
            {pool_and_repeats(project, again=on.again)},
            {_LAST_LINK % "number"}, {_LAST_LINK % "sum"}
        FROM annotate_narrative v
        JOIN annotate_candidate c ON c.id = %(candidate)s AND c.query_id = %(query)s
        JOIN annotate_document d ON d.id = c.document_id
        LEFT JOIN annotate_documenttext t ON t.document_id = d.id AND t.version = {_TEXT_READ}
            AND t.version <= d.text_version
        LEFT JOIN annotate_{says} j ON j.narrative_id = v.id AND j.candidate_id = c.id
            AND j.annotator_id = %(member)s AND j.superseded_at IS NULL AND {_same_text("j")}
            {"AND j.flag = ''" if on.again else ""}
        LEFT JOIN annotate_{flags} f ON f.narrative_id = v.id AND f.candidate_id = c.id
            AND f.annotator_id = %(member)s AND f.{cleared} IS NULL AND {_same_text("f")}
            {"AND f.flag <> ''" if on.again else ""}
        {_FIRST if on.again else ""}
        WHERE v.id = %(narrative)s AND v.pair_id = %(pair)s
            AND {seen_condition(Unseen.Kind.CANDIDATE, "c.id")}
        {text_versions.SHARE_LOCK if _is_postgresql() else ""}
    """  # noqa: S608


def look_up(on: On, by: Membership, uuid: uuids.UUID, now: datetime) -> Place:
    """Look everything up that decides whether something may be said: one query, not many, for this
    is what every key press waits for.
    """
    project = by.project
    links = chain.of_assignment(on.pair.pair_id, by.name)
    row = values_of(
        _query(on, project),
        {
            "project": project.pk,
            "relevant_from": project.relevant_from,
            "query": on.pair.query_id,
            "pair": on.pair.pk,
            "narrative": on.narrative,
            "candidate": on.candidate,
            "text": on.text,
            "member": by.pk,
            "uuid": uuid if _is_postgresql() else uuid.hex,
            "chain": links if _is_postgresql() else links.hex,
        },
    )
    if row is None:
        raise NotHere(not_here())
    side, version, length, stale, prior, made_for, doc_id, newest, *rest = row
    text, document_length, markup, replaced_at, grades, conditions, *rest = rest
    if on.text and text is None:
        raise Refused(text_versions.missing_version_message(on.text, newest))
    judgment, flagged = _standing(rest[0:4]), _standing(rest[4:8])
    for standing in (judgment, flagged):
        if standing:
            # Whatever the clocks say: what comes after is later.
            now = max(now, standing.at + INSTANT)
    return Place(
        now=now,
        again=on.again,
        side=side,
        version=version,
        narrative_length=length,
        stale=bool(stale),
        to_judge=is_shown_to_judges(project, prior=prior, made_for=made_for, pair=on.pair.pk),
        prior=prior,
        doc_id=doc_id,
        text_version=text,
        text_replaced_at=moment(replaced_at),
        document_length=document_length,
        markable=markup == Document.Markup.PLAIN and bool(document_length),
        grades=sorted(map(int, (grades or "").split(",") if grades else ())),
        conditions=dict(_numbers(conditions)),
        judgment=judgment,
        flag=flagged,
        asked=bool(rest[8]),
        first=rest[9],
        sent=bool(rest[10]),
        done=bool(rest[11]),
        begun=bool(rest[12]),
        others_left=bool(rest[13]) or _repeats_left(on, by, side, version, rest[14], rest[15]),
        end=chain.End(rest[16], bytes(rest[17])) if rest[16] else chain.End(),
    )


# The link after which the next one of an assignment comes.
_LAST_LINK = """(
    SELECT l.%s FROM annotate_link l WHERE l.project_id = %%(project)s AND l.chain = %%(chain)s
    ORDER BY l.number DESC LIMIT 1
)"""


_FIRST = """
    LEFT JOIN annotate_judgment o ON o.narrative_id = v.id AND o.candidate_id = c.id
        AND o.annotator_id = %(member)s AND o.superseded_at IS NULL
        AND o.text_replaced_at IS NULL
"""


# The text version that was read: the one that was sent, else the newest; 0 where there was no text.
_TEXT_READ = "COALESCE(%(text)s, d.text_version, 0)"


# The version that replaced it: the first text of a document replaces nothing.
_NEXT_TEXT = f"CASE WHEN {_TEXT_READ} < 1 THEN 2 ELSE {_TEXT_READ} + 1 END"


def _same_text(row: str) -> str:
    """SQL that says whether a row was said of the text that was read."""
    return (
        f"(COALESCE({row}.text_version, 1) = CASE WHEN {_TEXT_READ} < 1 THEN 1 "
        f"ELSE {_TEXT_READ} END)"
    )


def _repeats_left(on: On, by: Membership, side: str, version: int, size: int, settled: int) -> bool:
    """Whether repeats are left other than that of the document, if it has come again."""
    percent = by.project.repeat_percent
    if not percent:
        return False
    wanted = number(size, percent, chance(repeat_seed(on.pair, side, version, by)))
    return settled + on.again < wanted


def _numbers(conditions: str | None) -> Iterator[tuple[int, int]]:
    """Read "17:1,18:2": keys of conditions and their numbers."""
    for one in conditions.split(",") if conditions else ():
        key, _colon, number = one.partition(":")
        yield int(key), int(number)


def _standing(columns: Sequence[Any]) -> Standing | None:
    pk, uuid, at, says = columns
    if pk is None:
        return None
    # SQLite keeps a UUID as its digits.
    uuid = uuid if isinstance(uuid, uuids.UUID) else uuids.UUID(uuid)
    stands_since = moment(at)
    assert stands_since is not None
    return Standing(pk, uuid, stands_since, says)


def not_here() -> str:
    """Return the sentence on a document that is not of this pair."""
    return _(
        "This document is not among those to be judged for this query, or the narrative is not "
        "one of its own."
    )


def _is_postgresql() -> bool:
    return connection.vendor == "postgresql"
