"""Write judgments with their verdicts, flags and adjudications, and append them to hash chains.

Of several statements on one document the newest is current; the others have ended.
"""

from __future__ import annotations

import uuid
from itertools import chain

from django.db.models import Case, Exists, F, OuterRef, Q, Subquery, When
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce

from annotate.collection.intake.arrivals import Intake
from annotate.judgments import adjudication_chain, judgment_chain
from annotate.judgments.intake.statement_kinds import (
    ADJUDICATION,
    FLAG,
    JUDGMENT,
    StatementKind,
    has_other_verdicts,
)
from annotate.judgments.models import Adjudication, Judgment, Statement
from annotate.pairs.intake.steps import WITHDRAWN_BY, count_states, end_known, refuse_second
from annotate.projects import hash_chain
from base import bulk

# The rows that a file ended: superseded by a new statement, or known and over by now.
_ENDED_ROWS = """
    SELECT superseded FROM stage_statements
    WHERE {where} AND superseded IS NOT NULL AND known IS NULL AND ended_at IS NULL
    UNION SELECT known FROM stage_statements WHERE {where} AND state = 1 AND known IS NOT NULL
"""


def write_statements(intake: Intake, *, with_verdicts: bool) -> None:
    """Write the judgments and the flags that the project does not have yet."""
    newest = bulk.number("SELECT MAX(id) FROM annotate_statement")
    _write(intake, JUDGMENT, "judgments")
    if with_verdicts:
        _write_verdicts(intake)
    _write(intake, FLAG, "flags")
    if not intake.dry_run:
        _link_judgments(intake, newest)


def _write(intake: Intake, kind: StatementKind, rows: str) -> None:
    """Write the statements of one kind; `rows` is its name in the report."""
    end_known(
        intake,
        "stage_statements",
        kind.table,
        kind.ended,
        also=", withdrawn_at = s.withdrawn_at",
        where=kind.where,
    )
    _end_all_but_the_last(intake, kind)
    _find_superseded(kind)
    if kind == JUDGMENT:
        _renew_undated(intake)
        _match_current()
    _end_outdated(intake, kind)
    _supersede_current(intake, kind)
    how = Statement.HOW
    intake.run(
        f"""
        INSERT INTO annotate_statement (uuid, narrative_id, candidate_id, annotator_id, repeat,
            relevance, flag, note, {", ".join(how)}, evidence, clauses, source, at, made_at,
            ended_at, withdrawn_at, text_version, text_replaced_at, replaces_id)
        SELECT COALESCE(s.uuid, {bulk.new_uuid()}), s.narrative, s.candidate, s.member, FALSE,
            CASE WHEN s.kind = '' THEN s.relevance END, s.kind, s.words,
            {", ".join(f"s.{name}" for name in how)}, s.evidence, s.clauses, 'file',
            COALESCE(s.at, %(now)s), s.made_at, s.ended_at, s.withdrawn_at, s.text_read,
            s.text_replaced,
            CASE WHEN s.ended_at IS NULL AND NOT EXISTS (
                SELECT 1 FROM annotate_statement o WHERE o.replaces_id = s.superseded
            ) THEN s.superseded END
        FROM stage_statements s WHERE {kind.where} AND s.known IS NULL
        ORDER BY s.n
        """  # noqa: S608 (our own columns)
    )
    _count(intake, kind, rows)


def write_adjudications(intake: Intake) -> None:
    """Write the adjudications that the project does not have yet; they replace current ones."""
    newest = bulk.number("SELECT MAX(a.id) FROM annotate_adjudication a")
    refuse_second(
        intake,
        ADJUDICATION.staged.filter(known=None, ended_at=None),
        ["narrative", "candidate", Coalesce("text_read", 1)],
        ["doc_id"],
        lambda first, doc_id: f"document {doc_id} was settled differently on {first}",
    )
    if intake.report.refused:
        return
    end_known(
        intake,
        "stage_statements",
        ADJUDICATION.table,
        ADJUDICATION.ended,
        also=f", withdrawn_by_id = {WITHDRAWN_BY}",
        where=ADJUDICATION.where,
    )
    _find_superseded(ADJUDICATION)
    _end_outdated(intake, ADJUDICATION)
    _supersede_current(intake, ADJUDICATION, also=", withdrawn_by_id = s.member")
    intake.run(
        f"""
        INSERT INTO annotate_adjudication (uuid, narrative_id, candidate_id, relevance, reason,
            cause, by_id, at, withdrawn_at, text_version, text_replaced_at, withdrawn_by_id)
        SELECT {bulk.new_uuid()}, s.narrative, s.candidate, s.relevance, s.words, s.kind,
            s.member, COALESCE(s.at, %(now)s), s.ended_at, s.text_read, s.text_replaced,
            {WITHDRAWN_BY}
        FROM stage_statements s WHERE s.what = 'adjudication' AND s.known IS NULL
        ORDER BY s.n
        """  # noqa: S608
    )
    _count(intake, ADJUDICATION, "adjudications")
    if not intake.dry_run:
        _link_adjudications(intake, newest)


# --- which statement is current -------------------------------------------------------------------


def _end_all_but_the_last(intake: Intake, kind: StatementKind) -> None:
    """End all but the last of one person's new statements of one kind on one document."""
    intake.run(
        """
        UPDATE stage_statements SET ended_at = x.next_at FROM (
            SELECT n, LEAD(COALESCE(at, %(now)s)) OVER (
                PARTITION BY narrative, candidate, member, COALESCE(text_read, 1)
                ORDER BY COALESCE(at, %(now)s), n
            ) AS next_at
            FROM stage_statements
            WHERE what = %(what)s AND known IS NULL AND ended_at IS NULL
        ) x
        WHERE x.n = stage_statements.n AND x.next_at IS NOT NULL
        """,
        what=kind.what,
    )


def _find_superseded(kind: StatementKind) -> None:
    """Find the current row that each new statement may supersede."""
    current = (
        kind.model._base_manager.annotate(text=Coalesce("text_version", 1))
        .filter(**{kind.ended: None}, **kind.excludes)
        .filter(narrative=OuterRef("narrative"), candidate=OuterRef("candidate"))
        .filter(text=Coalesce(OuterRef("text_read"), 1))
    )
    kind.staged.filter(known=None, ended_at=None).update(superseded=Subquery(current.values("pk")))


def _end_outdated(intake: Intake, kind: StatementKind) -> None:
    """End each dated statement that is older than the current one: it supersedes nothing."""
    intake.run(
        f"""
        UPDATE stage_statements SET ended_at = o.at, withdrawn_by = m.name
        FROM {kind.table} o JOIN annotate_membership m ON m.id = o.{kind.author}_id
        WHERE o.id = stage_statements.superseded AND o.at > stage_statements.at
        AND stage_statements.{kind.where} AND stage_statements.known IS NULL
        AND stage_statements.ended_at IS NULL
        """  # noqa: S608
    )


def _supersede_current(intake: Intake, kind: StatementKind, *, also: str = "") -> None:
    """End the current row for each new statement; `also` sets more columns."""
    intake.run(
        f"""
        UPDATE {kind.table} SET {kind.ended} = COALESCE(s.at, %(now)s){also}
        FROM stage_statements s
        WHERE {kind.table}.id = s.superseded AND s.{kind.where} AND s.known IS NULL
        AND s.ended_at IS NULL
        """  # noqa: S608
    )


def _count(intake: Intake, kind: StatementKind, rows: str) -> None:
    """Mark and count new statements; those that supersede others count as changes."""
    replacing = When(superseded__isnull=False, ended_at=None, then=1)
    kind.staged.filter(known=None).update(state=Case(replacing, default=2))
    count_states(intake, kind.staged, rows)


def _renew_undated(intake: Intake) -> None:
    """Turn a known, undated judgment that another file has superseded since into a new one.

    If the person has judged again on a page since, nothing changes.
    """
    intake.run(
        f"""
        UPDATE stage_statements SET known = NULL, uuid = {bulk.new_uuid()}, superseded = (
            SELECT c.id FROM annotate_statement k JOIN annotate_statement c
                ON c.narrative_id = k.narrative_id AND c.candidate_id = k.candidate_id
                AND c.annotator_id = k.annotator_id
                AND COALESCE(c.text_version, 1) = COALESCE(k.text_version, 1)
            WHERE k.id = stage_statements.known AND c.ended_at IS NULL AND NOT c.repeat
        ), narrative = (
            SELECT k.narrative_id FROM annotate_statement k WHERE k.id = stage_statements.known
        ), text_read = (
            SELECT k.text_version FROM annotate_statement k WHERE k.id = stage_statements.known
        ), text_replaced = (
            SELECT k.text_replaced_at FROM annotate_statement k
            WHERE k.id = stage_statements.known
        )
        WHERE n IN (
            SELECT s.n FROM stage_statements s
            CROSS JOIN annotate_statement k CROSS JOIN annotate_statement c
            WHERE s.what = 'judgment' AND s.at IS NULL AND s.given = 0 AND s.ended_at IS NULL
            AND k.id = s.known AND k.ended_at IS NOT NULL
            AND c.narrative_id = k.narrative_id AND c.candidate_id = k.candidate_id
            AND c.annotator_id = k.annotator_id AND c.ended_at IS NULL AND NOT c.repeat
            AND COALESCE(c.text_version, 1) = COALESCE(k.text_version, 1)
            AND c.source = 'file' AND c.relevance <> k.relevance
        )
        """  # noqa: S608 (a constant)
    )


def _match_current() -> None:
    """Match statements without a UUID to the current judgment if it has the same content."""
    current = Statement.objects.filter(pk=OuterRef("superseded"), relevance=OuterRef("relevance"))
    same_words = Q(words="") | Q(Exists(current.filter(note=OuterRef("words"))))
    JUDGMENT.staged.filter(
        Exists(current), same_words, ~has_other_verdicts("superseded"), known=None, given=0
    ).update(known=F("superseded"))


def _write_verdicts(intake: Intake) -> None:
    """Write the verdicts of the newly written judgments."""
    written = intake.run(
        """
        INSERT INTO annotate_verdict (statement_id, condition_id, answer)
        SELECT j.id, c.id, x.answer
        FROM stage_verdicts x
        CROSS JOIN stage_statements s
        CROSS JOIN annotate_statement j
        CROSS JOIN annotate_condition c
        WHERE s.n = x.statement AND s.known IS NULL AND j.uuid = s.uuid
        AND c.narrative_id = s.narrative AND c.number = x.number
        ORDER BY x.n
        """
    )
    verdicts = intake.row_counts("verdicts")
    verdicts.new += written
    verdicts.unchanged += (
        bulk.number(
            "SELECT COUNT(*) FROM stage_verdicts x JOIN stage_statements s ON s.n = x.statement"
        )
        - written
    )


# --- chains ---------------------------------------------------------------------------------------


def _link_judgments(intake: Intake, newest: int) -> None:
    """Append the judgments above the key `newest`, and the ends of others, to a new hash chain,
    which nobody else writes to.
    """
    written = Judgment.objects.filter(
        annotator__project=intake.project, source=Statement.Source.FILE, pk__gt=newest
    )
    of_ended = RawSQL(_ENDED_ROWS.format(where="what IN ('judgment', 'flag')"), ())  # noqa: S611
    events = chain(
        hash_chain.events_of_new(judgment_chain.KIND, written),
        hash_chain.events_of_ended(judgment_chain.KIND, Judgment.objects.filter(pk__in=of_ended)),
    )
    hash_chain.append(intake.project.pk, uuid.uuid4(), events, after=hash_chain.End())


def _link_adjudications(intake: Intake, newest: int) -> None:
    """Append decisions above the key `newest`, and the ends of those they replace, to the chain."""
    if not ADJUDICATION.staged.exists():
        return
    kind, project = adjudication_chain.KIND, intake.project.pk
    of_ended = RawSQL(_ENDED_ROWS.format(where=ADJUDICATION.where), ())  # noqa: S611
    # Leads settle meanwhile: what they wrote is linked already.
    written = Adjudication.objects.filter(by__project=project, pk__gt=newest)
    hash_chain.append_new(kind, project, written.exclude(uuid__in=hash_chain.linked(kind, project)))
    hash_chain.append_ended(kind, project, Adjudication.objects.filter(pk__in=of_ended))
