"""Look up, in one query, everything that decides whether a judgment or flag may be recorded."""

from __future__ import annotations

import uuid as uuids
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import SimpleNamespace

from annotate.collection import text_versions
from annotate.collection.models import Document
from annotate.collection.shown_documents import is_shown_to_judges
from annotate.judgments.models import Flag, Statement
from annotate.judgments.repeats import chance, count_repeats
from annotate.pairs.models import InstructionPair
from annotate.pairs.pool import pool_sql, repeat_seed
from annotate.projects import access as projects_access
from annotate.projects import hash_chain
from annotate.projects.models import Membership, Project
from base import bulk
from base.bulk import aware_datetime, first_named_values
from base.errors import ObjectNotFound, Refused, Stale

# As `instead_of`: the sender does not say which statement they saw as current, so none is compared.
UNKNOWN_PREVIOUS = uuids.UUID(int=0)
# As a text version: the document had no text when the annotator read it.
NO_TEXT = 0
INSTANT = timedelta(microseconds=1)


@dataclass
class JudgingState:
    """The stored state of one document, narrative version and annotator.

    It is read under the lock on the annotator's assignment.
    """

    now: datetime
    side: str
    version: int
    narrative_length: int
    stale: bool
    is_to_judge: bool
    prior: int | None
    query_id: str
    doc_id: str
    # The text version that was read (None if there was no text), and when a newer one replaced it.
    text_version: int | None
    text_replaced_at: datetime | None
    # Whether it is a final flag of a document without text that has got its first text since.
    got_text: bool
    # The length of the text that was read, and whether passages of it can be marked.
    document_length: int | None
    markable: bool
    grades: list[int]
    # The newest version of the project's guidelines; 0 if it has none.
    guidelines: int
    # The narrative's conditions: numbers by key.
    conditions: dict[int, int]
    # The current statement; for a repeat, the current answer to the repeat.
    current: Statement | None
    # For a repeat: the key of the annotator's current judgment of the same document.
    first: int | None
    # Whether the current answer has a rejudge request.
    has_rejudge_request: bool
    # Whether the UUID was used before.
    is_resend: bool
    # Whether other documents or repeats of the assignment still need an answer.
    others_left: bool
    # The end of the assignment's hash chain, which the lock guards.
    end: hash_chain.End

    def refuse_if_closed(self, by: Membership, *, late: bool) -> None:
        """Refuse if nothing can be recorded: the project is archived, the narrative or the text is
        stale (unless `late`), or the document is not to be judged.
        """
        projects_access.refuse_if_archived(by.project)
        if self.stale and not late:
            raise Stale("The narrative changed while you were reading. Read it again, then judge.")
        if self.text_replaced_at is not None and not late:
            raise Stale(
                "The document got another text while you were reading. Read it, then judge."
            )
        if self.got_text and not late:
            raise Stale("The document has a text by now. Read it, then judge.")
        if not self.is_to_judge:
            raise Refused("This document is not among those to be judged for this query.")

    @property
    def is_history(self) -> bool:
        """Whether the narrative or the text that was read has a newer version."""
        return self.stale or self.text_replaced_at is not None

    @property
    def is_of_older_text(self) -> bool:
        """Whether the document has a newer text than was read, which has no answer yet."""
        return self.text_replaced_at is not None or self.got_text

    @property
    def is_settled(self) -> bool:
        """Whether the document needs no further answer: it has a grade, or a flag other than
        "later", without a rejudge request.
        """
        if self.current is None or self.has_rejudge_request:
            return False
        return self.current.is_final

    def warning(
        self,
        sent: Statement,
        before: Statement | None,
        instead_of: uuids.UUID | None,
        guidelines: int | None,
    ) -> str:
        """Return the warnings to show although a statement was recorded; "" for none.

        `before`: the statement that it superseded; `instead_of`: the one that its sender saw as
        current; `guidelines`: the version that was beside it, None if that is not known.
        """
        sentences = []
        if guidelines is not None and guidelines < self.guidelines:
            sentences.append(
                "The guidelines have a new version since you opened this page. Your answer is "
                "saved; reload the page and read them before you go on."
            )
        if self.stale:
            sentences.append(
                "The narrative has changed since. Your answer is saved under version "
                f"{self.version}, which you read. Reload the page, read the new version and judge "
                "again."
            )
        if self.text_replaced_at is not None:
            sentences.append(
                "The document has a new text since. Your answer is saved under version "
                f"{self.text_version or 1} of the text, which you read. The document is open "
                "again: read the new version and judge."
            )
        if self.got_text:
            sentences.append(
                "The document has a text by now. Your flag is kept but does not count; read the "
                "text and judge."
            )
        was_seen = before is None or instead_of in {UNKNOWN_PREVIOUS, before.uuid}
        if before is not None and not was_seen and before.answer != sent.answer:
            sentences.append(
                "You had given this document another answer in another tab or on another "
                "device. Both answers are kept; this one counts."
            )
        return " ".join(sentences)


def _lookup_sql(project: Project, *, again: bool) -> str:
    """Return the one query of `look_up`."""
    # A repeat also needs the first judgment of the document; nobody asks to rejudge a repeat.
    first, request = ("o.id", "0") if again else ("NULL", _rejudge_request_sql("s"))
    # Everything interpolated is a constant of this module or of `judging_session`.
    return f"""
        SELECT v.side, v.version, LENGTH(v.text) AS narrative_length,
            NOT v.is_current AS is_stale,
            c.prior_relevance, c.made_for_id, q.query_id, d.doc_id, d.text_version AS newest_text,
            t.version AS text_version, t.length AS document_length, t.markup,
            (
                SELECT n.created_at FROM annotate_documenttext n
                WHERE n.document_id = d.id AND n.version = {_NEXT_TEXT}
            ) AS text_replaced_at,
            (
                SELECT {bulk.listed("g.value", ",")} FROM annotate_grade g
                WHERE g.project_id = %(project)s
            ) AS grades,
            (
                SELECT MAX(u.version) FROM annotate_guideline u WHERE u.project_id = %(project)s
            ) AS guidelines,
            (
                SELECT {bulk.listed("k.id || ':' || k.number", ",")} FROM annotate_condition k
                WHERE k.narrative_id = v.id
            ) AS conditions,
            s.id AS statement_id, s.uuid, s.at, s.relevance, s.flag,
            {request} AS has_rejudge_request, {first} AS first_id,
            {_UUID_IS_KNOWN} AS is_resend,
            {_others_unsettled_sql(project, again=again)} AS others_left,
            {_pool_and_repeats_sql(project, again=again)},
            {_LAST_LINK % "number"} AS link_number, {_LAST_LINK % "sum"} AS link_sum
        FROM annotate_narrative v
        JOIN annotate_candidate c ON c.id = %(candidate)s AND c.query_id = %(query)s
        JOIN annotate_query q ON q.id = c.query_id
        JOIN annotate_document d ON d.id = c.document_id
        LEFT JOIN annotate_documenttext t ON t.document_id = d.id AND t.version = {_TEXT_READ}
            AND t.version <= d.text_version
        LEFT JOIN annotate_statement s ON s.narrative_id = v.id AND s.candidate_id = c.id
            AND s.annotator_id = %(member)s AND s.ended_at IS NULL
            AND {"s.repeat" if again else "NOT s.repeat"} AND {_same_text_sql("s")}
        {_FIRST if again else ""}
        WHERE v.id = %(narrative)s AND v.pair_id = %(pair)s
        {text_versions.SHARE_LOCK if bulk.on_postgresql() else ""}
    """  # noqa: S608


def look_up(
    statement: Statement, *, text: int | None, pair: InstructionPair, by: Membership, now: datetime
) -> JudgingState:
    """Look up everything that decides whether a statement may be recorded.

    `text`: the text version that was on the screen; NO_TEXT for none, None for the newest one. One
    query, because every key press waits for it.
    """
    project = by.project
    links = hash_chain.of_assignment(pair.pair_id, by.name)
    row = first_named_values(
        _lookup_sql(project, again=statement.repeat),
        {
            "project": project.pk,
            "query": pair.query_id,
            "pair": pair.pk,
            "narrative": statement.narrative_id,
            "candidate": statement.candidate_id,
            "text": text,
            "member": by.pk,
            "uuid": bulk.uuid_parameter(statement.uuid),
            "chain": bulk.uuid_parameter(links),
        },
    )
    if row is None:
        raise ObjectNotFound(
            "This document is not among those to be judged for this query, or the narrative does "
            "not belong to it."
        )
    if text and row.text_version is None:
        raise Refused(text_versions.missing_version_message(text, row.newest_text))
    current = _read_statement(row)
    if current:
        # A new statement is always later than the current one, whatever the clock says.
        now = max(now, current.at + INSTANT)
    return JudgingState(
        now=now,
        side=row.side,
        version=row.version,
        narrative_length=row.narrative_length,
        stale=bool(row.is_stale),
        is_to_judge=row.made_for_id in (None, pair.pk)
        and is_shown_to_judges(
            project, prior=row.prior_relevance, generated=row.made_for_id is not None
        ),
        prior=row.prior_relevance,
        query_id=row.query_id,
        doc_id=row.doc_id,
        text_version=row.text_version,
        text_replaced_at=aware_datetime(row.text_replaced_at),
        got_text=bool(statement.flag)
        and statement.is_final
        and text == NO_TEXT
        and row.newest_text is not None,
        document_length=row.document_length,
        markable=row.markup == Document.Markup.PLAIN and bool(row.document_length),
        grades=sorted(map(int, row.grades.split(",") if row.grades else ())),
        guidelines=row.guidelines or 0,
        conditions=dict(_parse_numbers(row.conditions)),
        current=current,
        has_rejudge_request=bool(row.has_rejudge_request),
        first=row.first_id,
        is_resend=bool(row.is_resend),
        others_left=bool(row.others_left) or _repeats_left(statement, pair, by, row),
        end=hash_chain.End(row.link_number, bytes(row.link_sum))
        if row.link_number
        else hash_chain.End(),
    )


def _others_unsettled_sql(project: Project, *, again: bool) -> str:
    """Return SQL that is true if a judge has an unsettled document other than one candidate.

    Repeats are not counted. It equals what a `JudgingSession` would show, without reading one.
    `again`: the candidate's first occurrence counts too.
    """
    before = "<=" if again else "<"
    scope = pool_sql(project, "o", "%(pair)s")
    unsettled = f"""
        SELECT 1 FROM annotate_candidate o
        WHERE o.query_id = %(query)s AND o.removed_at IS NULL AND {scope}
        AND NOT EXISTS (
            SELECT 1 FROM annotate_statement p WHERE p.narrative_id = %(narrative)s
            AND p.candidate_id = o.id AND p.annotator_id = %(member)s AND NOT p.repeat
            AND p.ended_at IS NULL AND p.text_replaced_at IS NULL
            AND p.flag <> '{Flag.Kind.LATER}' AND NOT {_rejudge_request_sql("p")} {_LOOK_UP}
        )
    """  # noqa: S608 (constants)
    # A member who judges in pool order has settled every document before this one and none after.
    return f"""(
        EXISTS ({unsettled} AND o.id > %(candidate)s)
        OR EXISTS ({unsettled} AND o.id {before} %(candidate)s)
    )"""


# Has PostgreSQL look up each row by an index. Without it, it joins all that somebody has judged.
_LOOK_UP = "LIMIT 1 OFFSET 0"


def _pool_and_repeats_sql(project: Project, *, again: bool) -> str:
    """Return SQL for two columns: `pool_size`, a judge's, and the number of `settled_repeats`.

    `again`: the candidate's own repeat is not counted. Both are 0 if the project has no repeats.
    """
    if not project.repeat_percent:
        return "0 AS pool_size, 0 AS settled_repeats"
    scope = f"AND {pool_sql(project, 'o', '%(pair)s')}"
    others = "AND p.candidate_id <> %(candidate)s" if again else ""
    return f"""
        (
            SELECT COUNT(*) FROM annotate_candidate o
            WHERE o.query_id = %(query)s AND o.removed_at IS NULL {scope}
        ) AS pool_size,
        (
            SELECT COUNT(*) FROM annotate_statement p
            JOIN annotate_candidate o ON o.id = p.candidate_id AND o.removed_at IS NULL {scope}
            WHERE p.narrative_id = %(narrative)s AND p.annotator_id = %(member)s AND p.repeat
            AND p.ended_at IS NULL AND p.text_replaced_at IS NULL
            AND p.flag <> '{Flag.Kind.LATER}' {others}
        ) AS settled_repeats
    """  # noqa: S608 (constants)


def _rejudge_request_sql(statement: str) -> str:
    """Return SQL that is true if the statement with this table alias has a rejudge request."""
    return f"""
        EXISTS (
            SELECT 1 FROM annotate_rejudgerequest l
            WHERE l.statement_id = {statement}.id AND l.withdrawn_at IS NULL
        )
    """  # noqa: S608 (our own alias)


# A column of the last link of an assignment's chain.
_LAST_LINK = """(
    SELECT l.%s FROM annotate_link l WHERE l.project_id = %%(project)s AND l.chain = %%(chain)s
    ORDER BY l.number DESC LIMIT 1
)"""

# Whether a statement has the UUID already.
_UUID_IS_KNOWN = "EXISTS (SELECT 1 FROM annotate_statement u WHERE u.uuid = %(uuid)s)"

_FIRST = """
    LEFT JOIN annotate_statement o ON o.narrative_id = v.id AND o.candidate_id = c.id
        AND o.annotator_id = %(member)s AND NOT o.repeat AND o.relevance IS NOT NULL
        AND o.ended_at IS NULL AND o.text_replaced_at IS NULL
"""


# The text version that was read: the one sent, else the newest; 0 if there was no text.
_TEXT_READ = "COALESCE(%(text)s, d.text_version, 0)"

# The version that replaced it: the first text of a document replaces nothing.
_NEXT_TEXT = f"CASE WHEN {_TEXT_READ} < 1 THEN 2 ELSE {_TEXT_READ} + 1 END"


def _same_text_sql(row: str) -> str:
    """Return SQL that is true if a row's statement is about the text version that was read."""
    return (
        f"(COALESCE({row}.text_version, 1) = CASE WHEN {_TEXT_READ} < 1 THEN 1 "
        f"ELSE {_TEXT_READ} END)"
    )


def _repeats_left(
    statement: Statement, pair: InstructionPair, by: Membership, row: SimpleNamespace
) -> bool:
    """Return whether repeats are left, apart from the one being answered, if any."""
    percent = by.project.repeat_percent
    if not percent:
        return False
    seed = repeat_seed(pair, row.side, row.version, by)
    settled: int = row.settled_repeats + statement.repeat
    return settled < count_repeats(row.pool_size, percent, chance(seed))


def _parse_numbers(conditions: str | None) -> Iterator[tuple[int, int]]:
    """Parse "17:1,18:2" into (condition key, number) pairs."""
    for part in conditions.split(",") if conditions else ():
        key, _colon, position = part.partition(":")
        yield int(key), int(position)


def _read_statement(row: SimpleNamespace) -> Statement | None:
    """Return the current statement in a row of the look-up, if there is one."""
    if row.statement_id is None:
        return None
    # SQLite stores a UUID as hexadecimal digits.
    uuid = row.uuid if isinstance(row.uuid, uuids.UUID) else uuids.UUID(row.uuid)
    at = aware_datetime(row.at)
    assert at is not None
    return Statement(pk=row.statement_id, uuid=uuid, at=at, relevance=row.relevance, flag=row.flag)
