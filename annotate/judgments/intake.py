"""What somebody said of a document: judgments, flags, adjudications, claims.

All four find their rows the same way: the pair, the version of its narrative, the candidate, the
member. What is already here is told by its UUID; one is made from a record that has none, so that
the same file says nothing new the second time, also if people have gone on judging in between.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from annotate.collection.intake.arrivals import Arrivals, Intake
from annotate.collection.intake.documents import Qrels
from annotate.collection.spans import Span
from annotate.judgments import adjudication_chain, judgment_chain
from annotate.judgments.evidence import checked
from annotate.judgments.models import Adjudication, Flag
from annotate.pairs.intake.pairs import Pairs
from annotate.pairs.intake.shared import MAX_NAME, refuse_other_query
from annotate.projects import chain
from base import bulk
from formats.records import AdjudicationRecord, Claim, Evidence, FlagRecord, JudgmentRecord

# Of the UUIDs made here. Any constant will do, as long as it stays.
NAMESPACE = uuid.UUID("7d6e2f0a-6c0b-5b43-9d55-0d5a3a2f6c41")

# Characters of a text that nobody has seen yet.
ANY_LENGTH = 2**31

_JUDGMENT, _FLAG, _ADJUDICATION = "judgment", "flag", "adjudication"

# The members of one group of statements: they are about the same and exclude each other.
_KEY = (
    "COALESCE(query_id, ''), COALESCE(pair_id, ''), COALESCE(side, ''), COALESCE(version, 0), "
    "doc_id, COALESCE(text_version, 0), rater"
)

# Whether a row `{row}` is of the text version that a statement names, or names none.
_TEXT_NAMED = (
    "COALESCE({row}.text_version, 1) = COALESCE({statement}.text_version, {row}.text_version, 1)"
)
# Whether it is of the text version that a statement is about.
_TEXT_READ = "COALESCE({row}.text_version, 1) = COALESCE(stage_statements.text_read, 1)"

# Whether the file has a verdict that the judgment `j` has not.
_OTHER_VERDICTS = """EXISTS (
    SELECT 1 FROM stage_verdicts x WHERE x.statement = {statement} AND NOT EXISTS (
        SELECT 1 FROM annotate_verdict y JOIN annotate_condition c ON c.id = y.condition_id
        WHERE y.judgment_id = j.id AND c.number = x.number AND y.answer = x.answer
    )
)"""


class Statements(Arrivals):
    """Judgments, flags and adjudications; claims are judgments of a machine."""

    order = 60
    records: ClassVar = (JudgmentRecord, Claim, FlagRecord, AdjudicationRecord)

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.statements = self.stage(
            "stage_statements",
            what="text",
            query_id="text",
            pair_id="text",
            side="text",
            version="integer",
            doc_id="text",
            text_version="integer",
            rater="text",
            machine="integer",
            relevance="integer",
            words="text",
            # Of a flag its kind, of an adjudication its cause.
            kind="text",
            uuid="uuid",
            # Whether the UUID came with the record.
            given="integer",
            evidence="json",
            clauses="json",
            # Where the last span of each ends; 0: there is none.
            evidence_end="integer",
            clauses_end="integer",
            # All verdicts, to be compared with those of another line.
            verdicts="text",
            active_ms="integer",
            pressed="text",
            at="moment",
            made_at="moment",
            # Since when it no longer stands: superseded, cleared or withdrawn.
            ended_at="moment",
            withdrawn_at="moment",
            withdrawn_by="text",
            # Found as the value that means no grade.
            ungraded="integer",
            # Found when it is written: keys of the rows it belongs to, ...
            pair="integer NULL",
            candidate="integer NULL",
            member="integer NULL",
            narrative="integer NULL",
            # ... of the text version it is about, and since when there is a newer one, ...
            text_read="integer NULL",
            text_replaced="moment NULL",
            # ... of the row it already is, and of those that give way to it.
            known="integer NULL",
            judged="integer NULL",
            flagged="integer NULL",
            settled="integer NULL",
            # 1 changed, 2 new.
            state="integer 0",
        )
        self.verdicts = self.stage(
            "stage_verdicts", statement="integer", number="integer", answer="text"
        )
        self.renamed = self.stage("stage_renamed", statement="integer", uuid="uuid")

    # --- taking in --------------------------------------------------------------------------------

    def take(
        self, record: JudgmentRecord | Claim | FlagRecord | AdjudicationRecord, place: int
    ) -> None:
        self.taken += 1
        if isinstance(record, Claim):
            record = JudgmentRecord(
                query_id="",
                doc_id=record.doc_id,
                annotator=record.rater,
                relevance=record.relevance,
                side="altered",
                pair_id=record.pair_id,
                machine=True,
            )
        rater = record.by if isinstance(record, AdjudicationRecord) else record.annotator
        if not 0 < len(rater) <= MAX_NAME:
            self.intake.refuse(f"a name has 1 to {MAX_NAME} characters", place)
        elif isinstance(record, JudgmentRecord):
            self._take_judgment(record, place)
        elif isinstance(record, FlagRecord):
            self._add(
                place,
                record,
                _FLAG,
                rater,
                words=record.words,
                kind=record.kind,
                uuid=record.uuid,
                given=int(record.uuid is not None),
                ended_at=record.cleared_at,
                made_at=record.made_at,
                machine=record.machine,
            )
        else:
            self._take_adjudication(record, place)

    def _take_judgment(self, record: JudgmentRecord, place: int) -> None:
        ended_at = record.superseded_at or record.withdrawn_at
        if record.relevance == self.intake.options.no_grade:
            self._add(
                place,
                record,
                _FLAG,
                record.annotator,
                machine=record.machine,
                relevance=record.relevance,
                words=record.note or f"no grade in the file ({record.relevance})",
                kind=Flag.Kind.CANNOT_JUDGE,
                ended_at=ended_at,
                made_at=record.made_at,
                ungraded=1,
            )
            return
        try:
            evidence, clauses = _spans(record.evidence), _spans(record.clauses)
        except ValueError as error:
            self.intake.refuse(str(error), place)
            return
        self._add(
            place,
            record,
            _JUDGMENT,
            record.annotator,
            machine=record.machine,
            relevance=record.relevance,
            words=record.note,
            uuid=record.uuid or self._uuid(record),
            given=int(record.uuid is not None),
            evidence=evidence,
            clauses=clauses,
            verdicts=_verdicts(record),
            active_ms=record.active_ms,
            pressed=record.pressed,
            made_at=record.made_at,
            ended_at=ended_at,
            withdrawn_at=record.withdrawn_at,
        )
        for verdict in record.verdicts:
            self.verdicts.add(place, self.statements.count, verdict.condition, verdict.answer)

    def _take_adjudication(self, record: AdjudicationRecord, place: int) -> None:
        if not record.reason.strip():
            self.intake.refuse("an adjudication needs a reason", place)
        elif record.cause not in Adjudication.Cause.values:
            known = ", ".join(Adjudication.Cause.values)
            self.intake.refuse(f"the cause is “{record.cause}”; it is one of {known}", place)
        elif (record.withdrawn_by is None) != (record.withdrawn_at is None):
            self.intake.refuse("a withdrawn adjudication says by whom and when", place)
        else:
            self._add(
                place,
                record,
                _ADJUDICATION,
                record.by,
                relevance=record.relevance,
                words=record.reason,
                kind=record.cause,
                ended_at=record.withdrawn_at,
                withdrawn_by=record.withdrawn_by,
            )

    def _add(
        self,
        place: int,
        record: JudgmentRecord | FlagRecord | AdjudicationRecord,
        what: str,
        rater: str,
        *,
        machine: bool = False,
        relevance: int | None = None,
        words: str = "",
        kind: str = "",
        uuid: str | uuid.UUID | None = None,
        given: int = 0,
        evidence: Sequence[Span] = (),
        clauses: Sequence[Span] = (),
        verdicts: str = "",
        active_ms: int | None = None,
        pressed: str = "",
        made_at: datetime | None = None,
        ended_at: datetime | None = None,
        withdrawn_at: datetime | None = None,
        withdrawn_by: str | None = None,
        ungraded: int = 0,
    ) -> None:
        self.statements.add(
            place,
            what,
            record.query_id or None,
            record.pair_id,
            record.side,
            record.version,
            record.doc_id,
            record.text_version,
            rater,
            int(machine),
            relevance,
            words,
            kind,
            uuid,
            given,
            _json(evidence),
            _json(clauses),
            evidence[-1].end if evidence else 0,
            clauses[-1].end if clauses else 0,
            verdicts,
            active_ms,
            pressed,
            record.at,
            made_at,
            ended_at,
            withdrawn_at,
            withdrawn_by,
            ungraded,
            weight=len(words) + 32 * (len(evidence) + len(clauses)),
        )

    def _uuid(self, record: JudgmentRecord) -> uuid.UUID:
        """Make the UUID of a record that has none: the same for the same words in this project."""
        said = (
            self.intake.project.pk,
            record.query_id,
            record.pair_id,
            record.side,
            record.version,
            record.doc_id,
            record.annotator,
            record.relevance,
            record.at and record.at.isoformat(),
            record.note,
            # At the end, and only where there are any: the others keep the UUIDs they have.
            *([_verdicts(record)] if record.verdicts else []),
            *([f"text {record.text_version}"] if record.text_version is not None else []),
        )
        return uuid.uuid5(NAMESPACE, "\x1f".join("" if one is None else str(one) for one in said))

    def query_ids(self) -> list[str]:
        return ["SELECT query_id FROM stage_statements WHERE query_id IS NOT NULL"]

    def doc_ids(self) -> list[str]:
        return ["SELECT doc_id FROM stage_statements"]

    # --- between the lines ------------------------------------------------------------------------

    def check(self) -> None:
        intake = self.intake
        intake.refuse_found(
            f"""
            SELECT n, place, place AS here, first_place, doc_id, query_id, rater FROM (
                SELECT s.*, FIRST_VALUE(place) OVER w AS first_place,
                    FIRST_VALUE(relevance) OVER w AS first_relevance,
                    FIRST_VALUE(at) OVER w AS first_at
                FROM stage_statements s
                WHERE (what = 'judgment' OR ungraded = 1) AND ended_at IS NULL
                WINDOW w AS (PARTITION BY {_KEY} ORDER BY n)
            ) x
            WHERE relevance <> first_relevance
            AND (at IS NULL OR first_at IS NULL OR at = first_at)
            """,  # noqa: S608 (a constant)
            lambda place, first, doc_id, query_id, rater: (
                f"{rater} has given document {doc_id}"
                f"{f' of query {query_id}' if query_id else ''} another relevance on "
                f"{intake.line(first, place)}"
            ),
        )
        intake.refuse_found(
            """
            SELECT n, place, place AS here, first_place, what, uuid FROM (
                SELECT s.*, FIRST_VALUE(place) OVER w AS first_place,
                    FIRST_VALUE(relevance) OVER w AS first_relevance,
                    FIRST_VALUE(doc_id) OVER w AS first_doc,
                    FIRST_VALUE(rater) OVER w AS first_rater,
                    FIRST_VALUE(verdicts) OVER w AS first_verdicts,
                    FIRST_VALUE(kind) OVER w AS first_kind
                FROM stage_statements s WHERE given = 1
                WINDOW w AS (PARTITION BY what, uuid ORDER BY n)
            ) x
            WHERE COALESCE(relevance, 0) <> COALESCE(first_relevance, 0) OR doc_id <> first_doc
            OR rater <> first_rater OR verdicts <> first_verdicts OR kind <> first_kind
            """,
            lambda place, first, what, key: (
                f"the UUID {uuid.UUID(str(key))} is that of another {what} on "
                f"{intake.line(first, place)}"
            ),
        )
        if not intake.report.refused:
            # What is said twice in the same words is said once.
            intake.run(
                f"""
                DELETE FROM stage_statements WHERE n IN (
                    SELECT n FROM (
                        SELECT n, ROW_NUMBER() OVER (
                            PARTITION BY what, uuid, {_KEY}, relevance, kind, words, at, ended_at
                            ORDER BY n
                        ) AS nth FROM stage_statements
                    ) x WHERE nth > 1
                )
                """  # noqa: S608
            )
        if ungraded := bulk.number(
            "SELECT COUNT(*) FROM stage_statements WHERE ungraded = 1 AND ended_at IS NULL"
        ):
            lines, kept = (
                ("1 line has", "kept as a flag")
                if ungraded == 1
                else (f"{ungraded:,} lines have", "kept as flags")
            )
            intake.report.notes.append(
                f"{lines} the value {intake.options.no_grade}, which means no grade: {kept}, "
                "“cannot judge”"
            )

    # --- writing ----------------------------------------------------------------------------------

    def write(self) -> None:
        steps = (
            self._refuse_other_grades,
            self._find_members,
            self._find_pairs,
            self._find_candidates,
            self._find_texts,
            self._find_narratives,
            self._refuse_spans_outside,
            self._refuse_verdicts_on_nothing,
        )
        for step in steps:
            step()
            if self.intake.report.refused:
                return
        self._write_judgments()
        self._write_verdicts()
        self._write_flags()
        self._write_adjudications()
        if not self.intake.dry_run:
            self._link()
        self.new = bulk.number("SELECT COUNT(*) FROM stage_statements WHERE state = 2")
        self.changed = bulk.number("SELECT COUNT(*) FROM stage_statements WHERE state = 1")

    def _refuse_other_grades(self) -> None:
        grades = sorted(self.intake.project.grades.values_list("value", flat=True))
        named = ", ".join(map(str, grades))

        def sentence(relevance: int) -> str:
            said = f"{relevance} is not a grade of this project; its grades are {named}"
            if relevance < 0 and self.intake.options.no_grade is None:
                said += (
                    f" (if {relevance} means no grade, say so when loading: --no-grade {relevance})"
                )
            return said

        self.intake.refuse_found(
            """
            SELECT n, place, relevance FROM stage_statements
            WHERE what IN ('judgment', 'adjudication') AND relevance NOT IN (
                SELECT g.value FROM annotate_grade g WHERE g.project_id = %(project)s
            )
            """,
            sentence,
        )

    def _find_members(self) -> None:
        self.intake.add_raters(
            "SELECT n, place, rater AS name, machine FROM stage_statements UNION ALL "
            "SELECT n, place, withdrawn_by, 0 FROM stage_statements WHERE withdrawn_by IS NOT NULL"
        )
        self.intake.run(
            """
            UPDATE stage_statements SET member = (
                SELECT m.id FROM annotate_membership m
                WHERE m.project_id = %(project)s AND m.name = stage_statements.rater
            )
            """
        )
        self.intake.refuse_found(
            """
            SELECT s.n, s.place, s.rater FROM stage_statements s
            JOIN annotate_membership m ON m.id = s.member
            WHERE s.what = 'adjudication' AND m.is_machine
            """,
            lambda name: f"“{name}” is a machine here: an adjudication is made by a person",
        )

    def _find_pairs(self) -> None:
        """Find the pair of each statement; a query without one gets one, with an empty original."""
        intake = self.intake
        refuse_other_query(intake, "stage_statements")
        if intake.report.refused:
            return
        self._point_to_pairs()
        intake.refuse_found(
            """
            SELECT n, place, pair_id FROM stage_statements
            WHERE pair IS NULL AND pair_id IS NOT NULL
            AND (query_id IS NULL OR query_id <> pair_id)
            """,
            lambda pair_id: (
                f"there is no instruction pair {pair_id} in this project: load it first"
            ),
        )
        bulk.drop("stage_pairs_of")
        intake.run(
            """
            CREATE TEMPORARY TABLE stage_pairs_of AS
            SELECT q.query_id, MIN(p.id) AS pair, COUNT(*) AS pairs FROM annotate_query q
            JOIN annotate_instructionpair p ON p.query_id = q.id
            WHERE q.project_id = %(project)s AND q.query_id IN (
                SELECT query_id FROM stage_statements WHERE pair IS NULL AND pair_id IS NULL
            )
            GROUP BY q.query_id
            """
        )
        bulk.index("stage_pairs_of", "query_id")
        intake.refuse_found(
            """
            SELECT s.n, s.place, s.query_id, x.pairs FROM stage_statements s
            JOIN stage_pairs_of x ON x.query_id = s.query_id
            WHERE s.pair IS NULL AND s.pair_id IS NULL AND x.pairs > 1
            """,
            lambda query_id, pairs: (
                f"query {query_id} has {pairs} instruction pairs: say which one, in pair_id"
            ),
        )
        intake.run(
            """
            UPDATE stage_statements SET pair = (
                SELECT x.pair FROM stage_pairs_of x WHERE x.query_id = stage_statements.query_id
            )
            WHERE pair IS NULL AND pair_id IS NULL
            """
        )
        bulk.drop("stage_pairs_of")
        intake.refuse_found(
            """
            SELECT s.n, s.place, s.query_id FROM stage_statements s
            CROSS JOIN annotate_instructionpair p
            WHERE s.pair IS NULL AND COALESCE(s.pair_id, s.query_id) = s.query_id
            AND p.project_id = %(project)s AND p.pair_id = s.query_id
            """,
            lambda query_id: (
                f"query {query_id} has no instruction pair, and another query's pair has its id: "
                "load its pair first"
            ),
        )
        if not intake.report.refused:
            self._make_pairs()

    def _point_to_pairs(self) -> None:
        self.intake.run(
            """
            UPDATE stage_statements SET pair = (
                SELECT p.id FROM annotate_instructionpair p
                WHERE p.project_id = %(project)s AND p.pair_id = stage_statements.pair_id
            )
            WHERE pair IS NULL AND pair_id IS NOT NULL
            """
        )

    def _make_pairs(self) -> None:
        made = self.intake.run(
            """
            INSERT INTO annotate_instructionpair
                (project_id, query_id, pair_id, category, origin, model)
            SELECT %(project)s, q.id, q.query_id, '', 'human', '' FROM annotate_query q
            WHERE q.project_id = %(project)s AND q.query_id IN (
                SELECT query_id FROM stage_statements WHERE pair IS NULL
            )
            ORDER BY q.id
            """
        )
        if not made:
            return
        self.intake.run(
            """
            UPDATE stage_statements SET pair = (
                SELECT p.id FROM annotate_instructionpair p
                WHERE p.project_id = %(project)s AND p.pair_id = stage_statements.query_id
            )
            WHERE pair IS NULL
            """
        )
        written = self.intake.run(
            """
            INSERT INTO annotate_narrative (pair_id, side, version, text, note, created_at)
            SELECT DISTINCT s.pair, 'original', 1, '', '', %(now)s FROM stage_statements s
            WHERE NOT EXISTS (SELECT 1 FROM annotate_narrative v WHERE v.pair_id = s.pair)
            """
        )
        self.intake.rows("pairs").new += made
        self.intake.rows("narratives").new += written

    def _find_candidates(self) -> None:
        self._point_to_candidates()
        joined = self.intake.run(
            """
            INSERT INTO annotate_candidate (query_id, document_id, prior_relevance, origin)
            SELECT DISTINCT p.query_id, d.id, CAST(NULL AS integer), 'judged'
            FROM stage_statements s CROSS JOIN annotate_instructionpair p
            CROSS JOIN annotate_document d
            WHERE s.candidate IS NULL AND p.id = s.pair
            AND d.project_id = %(project)s AND d.doc_id = s.doc_id
            """
        )
        if joined:
            self._point_to_candidates()
        candidates = self.intake.rows("candidates")
        candidates.new += joined
        if not self.intake.brings(Qrels):
            candidates.unchanged += (
                bulk.number("SELECT COUNT(DISTINCT candidate) FROM stage_statements") - joined
            )

    def _point_to_candidates(self) -> None:
        self.intake.run(
            """
            UPDATE stage_statements SET candidate = (
                SELECT c.id FROM annotate_instructionpair p
                CROSS JOIN annotate_document d
                CROSS JOIN annotate_candidate c
                WHERE p.id = stage_statements.pair
                AND d.project_id = %(project)s AND d.doc_id = stage_statements.doc_id
                AND c.query_id = p.query_id AND c.document_id = d.id
            )
            WHERE candidate IS NULL
            """
        )

    def _find_texts(self) -> None:
        """Find the text version each statement is about: the one it names, or the newest."""
        self.intake.refuse_found(
            """
            SELECT s.n, s.place, s.doc_id, s.text_version, d.text_version AS newest
            FROM stage_statements s CROSS JOIN annotate_candidate c CROSS JOIN annotate_document d
            WHERE s.text_version > 1 AND c.id = s.candidate AND d.id = c.document_id
            AND COALESCE(d.text_version, 0) < s.text_version
            """,
            lambda doc_id, version, newest: (
                f"the text of document {doc_id} has no version {version} here; the newest is "
                f"{newest or 'none'}: load the documents first"
            ),
        )
        self.intake.run(
            """
            UPDATE stage_statements SET text_read = COALESCE(text_version, (
                SELECT d.text_version FROM annotate_candidate c
                CROSS JOIN annotate_document d
                WHERE c.id = stage_statements.candidate AND d.id = c.document_id
            ))
            """
        )
        self.intake.run(
            """
            UPDATE stage_statements SET text_replaced = (
                SELECT t.created_at FROM annotate_candidate c
                CROSS JOIN annotate_document d CROSS JOIN annotate_documenttext t
                WHERE c.id = stage_statements.candidate AND d.id = c.document_id
                AND t.document_id = d.id AND t.version = stage_statements.text_read + 1
                AND t.version <= d.text_version
            )
            WHERE text_version IS NOT NULL
            """
        )

    def _find_narratives(self) -> None:
        """Find the version each statement is about: the one it names, or the one in force."""
        intake = self.intake
        if intake.brings(Pairs):
            # Claims are about the narratives they came with, also once these were rewritten.
            bulk.index("stage_narratives", "pair_id, side")
            intake.run(
                """
                UPDATE stage_statements SET version = (
                    SELECT MAX(x.version) FROM stage_narratives x
                    WHERE x.pair_id = stage_statements.pair_id AND x.side = stage_statements.side
                )
                WHERE version IS NULL AND side IS NOT NULL
                """
            )
        self._find_known_judgments()
        intake.run(
            """
            UPDATE stage_statements SET side = CASE WHEN EXISTS (
                SELECT 1 FROM annotate_narrative v
                WHERE v.pair_id = stage_statements.pair AND v.side = 'altered'
            ) THEN 'altered' ELSE 'original' END
            WHERE side IS NULL
            """
        )
        self._find_known_flags()
        self._find_known_adjudications()
        intake.run(
            """
            UPDATE stage_statements SET narrative = (
                SELECT v.id FROM annotate_narrative v
                WHERE v.pair_id = stage_statements.pair AND v.side = stage_statements.side
                AND v.version = COALESCE(stage_statements.version, (
                    SELECT MAX(x.version) FROM annotate_narrative x
                    WHERE x.pair_id = stage_statements.pair AND x.side = stage_statements.side
                ))
            )
            WHERE known IS NULL
            """
        )
        intake.refuse_found(
            """
            SELECT s.n, s.place, p.pair_id, s.side, s.version, (
                SELECT MAX(x.version) FROM annotate_narrative x
                WHERE x.pair_id = s.pair AND x.side = s.side
            ) AS newest
            FROM stage_statements s CROSS JOIN annotate_instructionpair p
            WHERE s.known IS NULL AND s.narrative IS NULL AND p.id = s.pair
            """,
            lambda pair, side, version, newest: (
                f"the {side} narrative of {pair} has no version {version}; the newest is {newest}"
                if newest
                else f"instruction pair {pair} has no {side} narrative"
            ),
        )

    def _find_known_judgments(self) -> None:
        """Find what is here already, by its UUID; one that says something else is refused."""
        if self.verdicts.count:
            bulk.index("stage_verdicts", "statement")
        if self._elsewhere(_JUDGMENT, "annotate_judgment"):
            return
        if self._rename_later_claims() and self._elsewhere(_JUDGMENT, "annotate_judgment"):
            return
        self.intake.refuse_found(
            f"""
            SELECT s.n, s.place, s.uuid FROM stage_statements s
            CROSS JOIN annotate_judgment j CROSS JOIN annotate_narrative v
            WHERE s.what = 'judgment' AND j.id = s.known AND v.id = j.narrative_id AND (
                v.pair_id <> s.pair OR j.candidate_id <> s.candidate
                OR j.annotator_id <> s.member OR j.relevance <> s.relevance
                OR v.side <> COALESCE(s.side, v.side)
                OR v.version <> COALESCE(s.version, v.version)
                OR NOT {_TEXT_NAMED.format(row="j", statement="s")}
                OR {_OTHER_VERDICTS.format(statement="s.n")}
            )
            """,  # noqa: S608 (a constant)
            lambda key: (
                f"a judgment with the UUID {uuid.UUID(str(key))} is here already and says "
                "something else"
            ),
        )

    def _rename_later_claims(self) -> int:
        """Give claims about a newer version UUIDs of their own, and return how many there are.

        The version is known only now, so that what is claimed again of the next one has the UUID
        of what was claimed of the last.
        """
        for place, n, key, version in bulk.select(
            """
            SELECT s.place, s.n, s.uuid, s.version FROM stage_statements s
            CROSS JOIN annotate_judgment j CROSS JOIN annotate_narrative v
            WHERE s.what = 'judgment' AND s.given = 0 AND j.id = s.known
            AND v.id = j.narrative_id AND v.pair_id = s.pair AND v.side = s.side
            AND v.version < s.version
            ORDER BY s.n
            """
        ):
            said = f"{uuid.UUID(str(key))}\x1f{version}"
            self.renamed.add(place, n, uuid.uuid5(NAMESPACE, said))
        if self.renamed.count:
            self.renamed.settle()
            bulk.index("stage_renamed", "statement")
            bulk.run(
                """
                UPDATE stage_statements SET known = NULL, uuid = (
                    SELECT r.uuid FROM stage_renamed r WHERE r.statement = stage_statements.n
                )
                WHERE n IN (SELECT statement FROM stage_renamed)
                """
            )
        return self.renamed.count

    def _find_known_flags(self) -> None:
        """Find flags by their UUIDs; those without one, or from before flags had one, by what they
        say.
        """
        if self._elsewhere(_FLAG, "annotate_flag"):
            return
        self.intake.refuse_found(
            f"""
            SELECT s.n, s.place, s.uuid FROM stage_statements s
            CROSS JOIN annotate_flag f CROSS JOIN annotate_narrative v
            WHERE s.what = 'flag' AND f.id = s.known AND v.id = f.narrative_id AND (
                v.pair_id <> s.pair OR f.candidate_id <> s.candidate
                OR f.annotator_id <> s.member OR f.kind <> s.kind
                OR v.side <> s.side OR v.version <> COALESCE(s.version, v.version)
                OR NOT {_TEXT_NAMED.format(row="f", statement="s")}
            )
            """,  # noqa: S608 (a constant)
            lambda key: (
                f"a flag with the UUID {uuid.UUID(str(key))} is here already and says "
                "something else"
            ),
        )
        self.intake.run(
            f"""
            UPDATE stage_statements SET known = (
                SELECT MIN(f.id) FROM annotate_flag f
                JOIN annotate_narrative v ON v.id = f.narrative_id
                WHERE f.candidate_id = stage_statements.candidate
                AND f.annotator_id = stage_statements.member
                AND f.kind = stage_statements.kind AND f.words = stage_statements.words
                AND f.at = COALESCE(stage_statements.at, f.at)
                AND v.pair_id = stage_statements.pair AND v.side = stage_statements.side
                AND v.version = COALESCE(stage_statements.version, v.version)
                AND {_TEXT_NAMED.format(row="f", statement="stage_statements")}
            )
            WHERE what = 'flag' AND known IS NULL AND (given = 0 OR at IS NOT NULL)
            """  # noqa: S608 (a constant)
        )

    def _elsewhere(self, what: str, table: str) -> int:
        """Find what is known by its UUID; refuse what another project has, and return how many."""
        self.intake.run(
            f"""
            UPDATE stage_statements SET known = (
                SELECT o.id FROM {table} o WHERE o.uuid = stage_statements.uuid
            )
            WHERE what = %(what)s
            """,  # noqa: S608 (our own tables)
            what=what,
        )
        return self.intake.refuse_found(
            f"""
            SELECT s.n, s.place, s.uuid FROM stage_statements s
            CROSS JOIN {table} o CROSS JOIN annotate_membership m
            WHERE s.what = %(what)s AND o.id = s.known AND m.id = o.annotator_id
            AND m.project_id <> %(project)s
            """,  # noqa: S608
            lambda key: (
                f"the {what} with the UUID {uuid.UUID(str(key))} is in another project of this "
                "installation already, and a UUID is there only once: take the field uuid out of "
                f"every line, and they become {what}s of this project's own"
            ),
            what=what,
        )

    def _refuse_spans_outside(self) -> None:
        """Refuse new judgments whose spans lie outside of a text that is known."""
        self.intake.refuse_found(
            """
            SELECT s.n, s.place, s.doc_id, s.evidence_end, t.length
            FROM stage_statements s
            CROSS JOIN annotate_candidate c CROSS JOIN annotate_documenttext t
            WHERE s.known IS NULL AND s.evidence_end > 0 AND c.id = s.candidate
            AND t.document_id = c.document_id AND t.version = s.text_read
            AND t.length < s.evidence_end
            """,
            lambda doc_id, end, length: (
                f"the evidence goes to character {end:,}, but the text of document {doc_id} has "
                f"{length:,}"
            ),
        )
        self.intake.refuse_found(
            """
            SELECT s.n, s.place, p.pair_id, v.side, v.version, s.clauses_end,
                LENGTH(v.text) AS length
            FROM stage_statements s
            CROSS JOIN annotate_narrative v CROSS JOIN annotate_instructionpair p
            WHERE s.known IS NULL AND s.clauses_end > 0 AND v.id = s.narrative
            AND p.id = v.pair_id AND LENGTH(v.text) < s.clauses_end
            """,
            lambda pair, side, version, end, length: (
                f"the clauses go to character {end:,}, but version {version} of the {side} "
                f"narrative of {pair} has {length:,}"
            ),
        )

    def _refuse_verdicts_on_nothing(self) -> None:
        """Refuse new judgments with a verdict on a condition that their narrative has not."""
        if not self.verdicts.count:
            return
        self.intake.refuse_found(
            """
            SELECT x.n, s.place, p.pair_id, v.side, v.version, x.number, (
                SELECT COUNT(*) FROM annotate_condition c WHERE c.narrative_id = v.id
            ) AS conditions
            FROM stage_verdicts x
            CROSS JOIN stage_statements s
            CROSS JOIN annotate_narrative v
            CROSS JOIN annotate_instructionpair p
            WHERE s.n = x.statement AND s.known IS NULL AND v.id = s.narrative AND p.id = v.pair_id
            AND NOT EXISTS (
                SELECT 1 FROM annotate_condition c
                WHERE c.narrative_id = v.id AND c.number = x.number
            )
            """,
            lambda pair, side, version, number, conditions: (
                f"there is a verdict on condition {number}, but version {version} of the {side} "
                f"narrative of {pair} has {conditions or 'no'} "
                f"condition{'' if conditions == 1 else 's'}"
            ),
        )

    def _find_known_adjudications(self) -> None:
        self.intake.run(
            f"""
            UPDATE stage_statements SET known = (
                SELECT MIN(a.id) FROM annotate_adjudication a
                JOIN annotate_narrative v ON v.id = a.narrative_id
                WHERE a.candidate_id = stage_statements.candidate
                AND a.by_id = stage_statements.member
                AND a.relevance = stage_statements.relevance
                AND a.cause = stage_statements.kind AND a.reason = stage_statements.words
                AND a.at = COALESCE(stage_statements.at, a.at)
                AND v.pair_id = stage_statements.pair AND v.side = stage_statements.side
                AND v.version = COALESCE(stage_statements.version, v.version)
                AND {_TEXT_NAMED.format(row="a", statement="stage_statements")}
            )
            WHERE what = 'adjudication'
            """  # noqa: S608 (a constant)
        )

    # --- judgments --------------------------------------------------------------------------------

    def _write_judgments(self) -> None:
        run = self.intake.run
        # One that is here and stands, while the file knows that it no longer does.
        run(
            """
            UPDATE stage_statements SET state = 1
            WHERE what = 'judgment' AND ended_at IS NOT NULL AND EXISTS (
                SELECT 1 FROM annotate_judgment j
                WHERE j.id = stage_statements.known AND j.superseded_at IS NULL
            )
            """
        )
        run(
            """
            UPDATE annotate_judgment SET superseded_at = s.ended_at, withdrawn_at = s.withdrawn_at
            FROM stage_statements s
            WHERE annotate_judgment.id = s.known AND s.what = 'judgment' AND s.state = 1
            """
        )
        self._end_all_but_the_last(_JUDGMENT)
        self._find_what_gives_way(_JUDGMENT)
        # What an undated record said before, and another file has changed since, is said anew; what
        # a person has changed since on a page stays as they left it.
        run(
            f"""
            UPDATE stage_statements SET known = NULL, uuid = {bulk.new_uuid()}, judged = (
                SELECT c.id FROM annotate_judgment k JOIN annotate_judgment c
                    ON c.narrative_id = k.narrative_id AND c.candidate_id = k.candidate_id
                    AND c.annotator_id = k.annotator_id
                    AND COALESCE(c.text_version, 1) = COALESCE(k.text_version, 1)
                WHERE k.id = stage_statements.known AND c.superseded_at IS NULL
            ), narrative = (
                SELECT k.narrative_id FROM annotate_judgment k WHERE k.id = stage_statements.known
            ), text_read = (
                SELECT k.text_version FROM annotate_judgment k WHERE k.id = stage_statements.known
            ), text_replaced = (
                SELECT k.text_replaced_at FROM annotate_judgment k
                WHERE k.id = stage_statements.known
            )
            WHERE n IN (
                SELECT s.n FROM stage_statements s
                CROSS JOIN annotate_judgment k CROSS JOIN annotate_judgment c
                WHERE s.what = 'judgment' AND s.at IS NULL AND s.given = 0 AND s.ended_at IS NULL
                AND k.id = s.known AND k.superseded_at IS NOT NULL
                AND c.narrative_id = k.narrative_id AND c.candidate_id = k.candidate_id
                AND c.annotator_id = k.annotator_id AND c.superseded_at IS NULL
                AND COALESCE(c.text_version, 1) = COALESCE(k.text_version, 1)
                AND c.source = 'file' AND c.relevance <> k.relevance
            )
            """  # noqa: S608 (a constant)
        )
        # What says the same as the judgment that stands is no other judgment, unless it says so.
        run(
            f"""
            UPDATE stage_statements SET known = judged
            WHERE what = 'judgment' AND known IS NULL AND given = 0 AND EXISTS (
                SELECT 1 FROM annotate_judgment j
                WHERE j.id = stage_statements.judged AND j.relevance = stage_statements.relevance
                AND (stage_statements.words = '' OR j.note = stage_statements.words)
                AND NOT {_OTHER_VERDICTS.format(statement="stage_statements.n")}
            )
            """  # noqa: S608 (a constant)
        )
        self._end_what_came_earlier(_JUDGMENT)
        self._give_way(_JUDGMENT)
        run(
            """
            INSERT INTO annotate_judgment (uuid, narrative_id, candidate_id, annotator_id,
                relevance, note, evidence, clauses, active_ms, pressed, source, at, made_at,
                superseded_at, withdrawn_at, text_version, text_replaced_at, replaces_id)
            SELECT s.uuid, s.narrative, s.candidate, s.member, s.relevance, s.words, s.evidence,
                s.clauses, s.active_ms, s.pressed, 'file', COALESCE(s.at, %(now)s), s.made_at,
                s.ended_at, s.withdrawn_at, s.text_read, s.text_replaced,
                CASE WHEN s.ended_at IS NULL AND NOT EXISTS (
                    SELECT 1 FROM annotate_judgment o WHERE o.replaces_id = s.judged
                ) THEN s.judged END
            FROM stage_statements s WHERE s.what = 'judgment' AND s.known IS NULL
            ORDER BY s.n
            """
        )
        self._count(_JUDGMENT, "judgments", "judged IS NOT NULL AND ended_at IS NULL")

    def _write_verdicts(self) -> None:
        """Write the verdicts of the judgments that came just now."""
        if not self.verdicts.count:
            return
        written = self.intake.run(
            """
            INSERT INTO annotate_verdict (judgment_id, condition_id, answer)
            SELECT j.id, c.id, x.answer
            FROM stage_verdicts x
            CROSS JOIN stage_statements s
            CROSS JOIN annotate_judgment j
            CROSS JOIN annotate_condition c
            WHERE s.n = x.statement AND s.known IS NULL AND j.uuid = s.uuid
            AND c.narrative_id = s.narrative AND c.number = x.number
            ORDER BY x.n
            """
        )
        verdicts = self.intake.rows("verdicts")
        verdicts.new += written
        verdicts.unchanged += (
            bulk.number(
                "SELECT COUNT(*) FROM stage_verdicts x JOIN stage_statements s ON s.n = x.statement"
            )
            - written
        )

    def _link(self) -> None:
        """Give what was written a chain of sums of its own; nobody else writes to it."""
        new = judgment_chain.rows(
            "s.what = 'judgment' AND s.known IS NULL",
            {},
            joined="JOIN stage_statements s ON s.uuid = j.uuid",
            order="s.n",
            texts=True,
        )
        ended = judgment_chain.rows(
            """
            j.id IN (
                SELECT s.judged FROM stage_statements s
                WHERE s.what IN ('judgment', 'flag') AND s.known IS NULL AND s.ended_at IS NULL
                AND s.judged IS NOT NULL
                UNION SELECT s.known FROM stage_statements s
                WHERE s.what = 'judgment' AND s.state = 1 AND s.known IS NOT NULL
            )
            """,
            {},
            order="j.id",
            texts=True,
        )
        project, links = self.intake.project.pk, uuid.uuid4()
        end = chain.End()
        written = chain.append(project, links, judgment_chain.events_of_new(new), after=end)
        if written:
            end = chain.end_of(project, links)
        chain.append(project, links, judgment_chain.events_of_ended(ended), after=end)

    # --- flags ------------------------------------------------------------------------------------

    def _write_flags(self) -> None:
        run = self.intake.run
        run(
            """
            UPDATE stage_statements SET state = 1
            WHERE what = 'flag' AND ended_at IS NOT NULL AND EXISTS (
                SELECT 1 FROM annotate_flag f
                WHERE f.id = stage_statements.known AND f.cleared_at IS NULL
            )
            """
        )
        run(
            """
            UPDATE annotate_flag SET cleared_at = s.ended_at FROM stage_statements s
            WHERE annotate_flag.id = s.known AND s.what = 'flag' AND s.state = 1
            """
        )
        self._end_all_but_the_last(_FLAG)
        self._find_what_gives_way(_FLAG)
        self._end_what_came_earlier(_FLAG)
        self._give_way(_FLAG)
        run(
            f"""
            INSERT INTO annotate_flag (uuid, narrative_id, candidate_id, annotator_id, kind, words,
                at, made_at, cleared_at, text_version, text_replaced_at)
            SELECT COALESCE(s.uuid, {bulk.new_uuid()}), s.narrative, s.candidate, s.member, s.kind,
                s.words, COALESCE(s.at, %(now)s), s.made_at, s.ended_at, s.text_read,
                s.text_replaced
            FROM stage_statements s WHERE s.what = 'flag' AND s.known IS NULL
            ORDER BY s.n
            """  # noqa: S608 (nothing but a constant is put in)
        )
        self._count(
            _FLAG, "flags", "(judged IS NOT NULL OR flagged IS NOT NULL) AND ended_at IS NULL"
        )

    def _end_all_but_the_last(self, what: str) -> None:
        """Of several new statements of one person on one document only the last one stands."""
        self.intake.run(
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
            what=what,
        )

    def _find_what_gives_way(self, what: str) -> None:
        """Find the judgment and the flag that stand where a new statement comes."""
        self.intake.run(
            f"""
            UPDATE stage_statements SET judged = (
                SELECT j.id FROM annotate_judgment j
                WHERE j.narrative_id = stage_statements.narrative
                AND j.candidate_id = stage_statements.candidate
                AND j.annotator_id = stage_statements.member AND j.superseded_at IS NULL
                AND {_TEXT_READ.format(row="j")}
            ), flagged = (
                SELECT f.id FROM annotate_flag f
                WHERE f.narrative_id = stage_statements.narrative
                AND f.candidate_id = stage_statements.candidate
                AND f.annotator_id = stage_statements.member AND f.cleared_at IS NULL
                AND {_TEXT_READ.format(row="f")}
            )
            WHERE what = %(what)s AND known IS NULL AND ended_at IS NULL
            """,  # noqa: S608 (a constant)
            what=what,
        )

    def _end_what_came_earlier(self, what: str) -> None:
        """A dated statement that is older than what stands is history: it takes nothing's place."""
        for table, ours in (("annotate_judgment", "judged"), ("annotate_flag", "flagged")):
            self.intake.run(
                f"""
                UPDATE stage_statements SET ended_at = o.at FROM {table} o
                WHERE o.id = stage_statements.{ours} AND o.at > stage_statements.at
                AND stage_statements.what = %(what)s AND stage_statements.known IS NULL
                AND stage_statements.ended_at IS NULL
                """,  # noqa: S608 (our own tables)
                what=what,
            )

    def _give_way(self, what: str) -> None:
        """Supersede the judgment, and clear the flag, that a new statement takes the place of."""
        for table, column, ours in (
            ("annotate_judgment", "superseded_at", "judged"),
            ("annotate_flag", "cleared_at", "flagged"),
        ):
            self.intake.run(
                f"""
                UPDATE {table} SET {column} = COALESCE(s.at, %(now)s) FROM stage_statements s
                WHERE {table}.id = s.{ours} AND s.what = %(what)s AND s.known IS NULL
                AND s.ended_at IS NULL
                """,  # noqa: S608
                what=what,
            )

    # --- adjudications ----------------------------------------------------------------------------

    def _write_adjudications(self) -> None:
        run = self.intake.run
        newest = bulk.number("SELECT MAX(a.id) FROM annotate_adjudication a")
        self.intake.refuse_found(
            """
            SELECT n, place, place AS here, first_place, doc_id FROM (
                SELECT s.*, FIRST_VALUE(place) OVER w AS first_place, FIRST_VALUE(n) OVER w AS first
                FROM stage_statements s
                WHERE what = 'adjudication' AND known IS NULL AND ended_at IS NULL
                WINDOW w AS (PARTITION BY narrative, candidate, COALESCE(text_read, 1) ORDER BY n)
            ) x WHERE n <> first
            """,
            lambda place, first, doc_id: (
                f"document {doc_id} was settled otherwise on {self.intake.line(first, place)}"
            ),
        )
        if self.intake.report.refused:
            return
        run(
            """
            UPDATE stage_statements SET state = 1
            WHERE what = 'adjudication' AND ended_at IS NOT NULL AND EXISTS (
                SELECT 1 FROM annotate_adjudication a
                WHERE a.id = stage_statements.known AND a.withdrawn_at IS NULL
            )
            """
        )
        run(
            """
            UPDATE annotate_adjudication SET withdrawn_at = s.ended_at, withdrawn_by_id = m.id
            FROM stage_statements s JOIN annotate_membership m
                ON m.project_id = %(project)s AND m.name = s.withdrawn_by
            WHERE annotate_adjudication.id = s.known AND s.what = 'adjudication' AND s.state = 1
            """
        )
        run(
            f"""
            UPDATE stage_statements SET settled = (
                SELECT a.id FROM annotate_adjudication a
                WHERE a.narrative_id = stage_statements.narrative
                AND a.candidate_id = stage_statements.candidate AND a.withdrawn_at IS NULL
                AND {_TEXT_READ.format(row="a")}
            )
            WHERE what = 'adjudication' AND known IS NULL AND ended_at IS NULL
            """  # noqa: S608 (a constant)
        )
        # Older than the decision that stands: withdrawn for that one.
        run(
            """
            UPDATE stage_statements SET ended_at = a.at, withdrawn_by = m.name
            FROM annotate_adjudication a JOIN annotate_membership m ON m.id = a.by_id
            WHERE a.id = stage_statements.settled AND a.at > stage_statements.at
            AND stage_statements.ended_at IS NULL
            """
        )
        run(
            """
            UPDATE annotate_adjudication SET
                withdrawn_at = COALESCE(s.at, %(now)s), withdrawn_by_id = s.member
            FROM stage_statements s
            WHERE annotate_adjudication.id = s.settled AND s.ended_at IS NULL
            """
        )
        run(
            """
            INSERT INTO annotate_adjudication (narrative_id, candidate_id, relevance, reason, cause,
                by_id, at, withdrawn_at, text_version, text_replaced_at, withdrawn_by_id)
            SELECT s.narrative, s.candidate, s.relevance, s.words, s.kind, s.member,
                COALESCE(s.at, %(now)s), s.ended_at, s.text_read, s.text_replaced, (
                    SELECT m.id FROM annotate_membership m
                    WHERE m.project_id = %(project)s AND m.name = s.withdrawn_by
                )
            FROM stage_statements s WHERE s.what = 'adjudication' AND s.known IS NULL
            ORDER BY s.n
            """
        )
        self._link_adjudications(newest)
        self._count(_ADJUDICATION, "adjudications", "settled IS NOT NULL AND ended_at IS NULL")

    def _link_adjudications(self, newest: int) -> None:
        """Put what was settled since the key `newest`, and what that ended, into their chain."""
        if self.intake.dry_run or not bulk.number(
            "SELECT COUNT(*) FROM stage_statements WHERE what = 'adjudication'"
        ):
            return
        project = self.intake.project.pk
        ended = bulk.select(
            """
            SELECT s.settled FROM stage_statements s
            WHERE s.what = 'adjudication' AND s.settled IS NOT NULL AND s.ended_at IS NULL
            UNION SELECT s.known FROM stage_statements s
            WHERE s.what = 'adjudication' AND s.state = 1 AND s.known IS NOT NULL
            """
        )
        rows = list(adjudication_chain.adjudications(project, texts=True))
        fresh = chain.unlinked(adjudication_chain.KIND, project, rows)
        adjudication_chain.follow(
            project,
            new={key for key in fresh if key > newest},
            ended={key for (key,) in ended},
            texts=True,
        )

    def _count(self, what: str, kind: str, gave_way: str) -> None:
        """Mark and count what is new and what has changed."""
        params: dict[str, Any] = {"what": what}
        bulk.run(
            f"""
            UPDATE stage_statements SET state = CASE WHEN {gave_way} THEN 1 ELSE 2 END
            WHERE what = %(what)s AND known IS NULL
            """,  # noqa: S608 (our own conditions)
            params,
        )
        [(new, changed, total)] = bulk.select(
            """
            SELECT COALESCE(SUM(CASE WHEN state = 2 THEN 1 ELSE 0 END), 0),
                COALESCE(SUM(CASE WHEN state = 1 THEN 1 ELSE 0 END), 0), COUNT(*)
            FROM stage_statements WHERE what = %(what)s
            """,
            params,
        )
        if total:
            rows = self.intake.rows(kind)
            rows.new += new
            rows.changed += changed
            rows.unchanged += total - new - changed


def _spans(spans: Sequence[Evidence]) -> list[Span]:
    """Spans as they are kept; ValueError with a sentence for what no text can have, and too many.

    How long the text is shows only when it is written.
    """
    return checked((Span(*span) for span in spans), ANY_LENGTH)


def _json(spans: Sequence[Span]) -> str:
    return json.dumps([span._asdict() for span in spans]) if spans else "[]"


def _verdicts(record: JudgmentRecord) -> str:
    return " ".join(f"{verdict.condition}:{verdict.answer}" for verdict in record.verdicts)
