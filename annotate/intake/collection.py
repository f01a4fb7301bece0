"""Documents, queries and candidates."""

from __future__ import annotations

import hashlib
from typing import ClassVar

from annotate import bulk
from annotate.intake.arrivals import Arrivals, Intake
from formats.records import Doc, Qrel

# So many new rows that PostgreSQL should know of them before it joins them.
MANY = 1_000


def digest(markup: str, text: str) -> str:
    """Return what tells whether a document's text, or how it is written, has changed."""
    return hashlib.blake2b(f"{markup}\0{text}".encode(), digest_size=16).hexdigest()


class Documents(Arrivals):
    """Documents with their texts; without a text, known by id and title."""

    records: ClassVar = (Doc,)
    in_slices = True
    differing = "stage_docs_changed"

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.docs = self.stage(
            "stage_docs",
            doc_id="text",
            title="text",
            markup="text",
            digest="text",
            length="integer",
        )
        # Apart, and numbered alike: whatever only compares documents never touches a text.
        self.texts = self.stage("stage_texts", text="text")

    def take(self, record: Doc, place: int) -> None:
        doc_id, title, text, markup = record
        self.taken += 1
        if text is None:
            self.docs.add(place, doc_id, title, markup, "", None)
            self.texts.add(place, None)
        else:
            self.docs.add(place, doc_id, title, markup, digest(markup, text), len(text))
            self.texts.add(place, text, weight=len(text))

    def check(self) -> None:
        self.repeats(
            self.docs,
            ["doc_id"],
            "s.digest <> f.digest OR s.title <> f.title OR s.markup <> f.markup",
            lambda first, doc_id: f"document {doc_id} was already on {first}, with another text",
        )

    def write(self) -> None:
        intake = self.intake
        bulk.drop(self.differing)
        # What a text is missing from keeps the text it has.
        intake.run(
            """
            CREATE TEMPORARY TABLE stage_docs_changed AS
            SELECT d.id, s.n FROM stage_docs s CROSS JOIN annotate_document d
            WHERE d.project_id = %(project)s AND d.doc_id = s.doc_id AND (
                s.length IS NOT NULL
                AND (d.digest <> s.digest OR d.title <> s.title OR d.markup <> s.markup)
                OR s.length IS NULL AND s.title <> '' AND d.title <> s.title
            )
            """
        )
        self.changed = bulk.number("SELECT COUNT(*) FROM stage_docs_changed")
        self.new = intake.put(
            "annotate_document",
            "project_id, doc_id, title, markup, digest, length",
            """
            SELECT %(project)s, s.doc_id, s.title, s.markup, s.digest, s.length FROM stage_docs s
            WHERE NOT EXISTS (
                SELECT 1 FROM annotate_document d
                WHERE d.project_id = %(project)s AND d.doc_id = s.doc_id
            )
            ORDER BY s.doc_id
            """,
            needed=len(intake.arrivals) > 1,
        )
        if self.new > MANY:
            bulk.analyze("annotate_document")
        if self.changed:
            intake.at_last(
                """
                UPDATE annotate_document SET
                    title = s.title,
                    markup = CASE WHEN s.length IS NULL THEN annotate_document.markup
                        ELSE s.markup END,
                    digest = CASE WHEN s.length IS NULL THEN annotate_document.digest
                        ELSE s.digest END,
                    length = COALESCE(s.length, annotate_document.length)
                FROM stage_docs_changed x CROSS JOIN stage_docs s
                WHERE annotate_document.id = x.id AND s.n = x.n
                """
            )
            intake.at_last(
                """
                UPDATE annotate_documenttext SET text = s.text
                FROM stage_docs_changed x CROSS JOIN stage_texts s
                WHERE annotate_documenttext.document_id = x.id AND s.n = x.n
                AND s.text IS NOT NULL
                """
            )
        intake.put(
            "annotate_documenttext",
            "document_id, text",
            """
            SELECT d.id, s.n FROM stage_docs s CROSS JOIN annotate_document d
            WHERE d.project_id = %(project)s AND d.doc_id = s.doc_id AND s.length IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM annotate_documenttext o WHERE o.document_id = d.id)
            """,
            values="p.id, t.text",
            beside="CROSS JOIN stage_texts t WHERE t.n = p.n",
            needed=False,
        )
        rows = intake.rows("documents")
        rows.new += self.new
        rows.changed += self.changed


class Ids:
    """Every query and document that a file names: made where the project does not know them.

    Documents that it brings are `Documents`' own to write.
    """

    def __init__(self, intake: Intake) -> None:
        self.intake = intake

    def gather(self) -> None:
        """Put the distinct ids into two temporary tables."""
        of_queries = [sql for arrivals in self.intake.arrivals for sql in arrivals.query_ids()]
        of_docs = [sql for arrivals in self.intake.arrivals for sql in arrivals.doc_ids()]
        self.drop()
        bulk.run(
            "CREATE TEMPORARY TABLE stage_query_ids "
            "(query_id text PRIMARY KEY, fresh integer NOT NULL DEFAULT 0)"
        )
        bulk.run("CREATE TEMPORARY TABLE stage_doc_ids (doc_id text)")
        if of_queries:
            distinct = " UNION ".join(of_queries)
            bulk.run(
                f"INSERT INTO stage_query_ids (query_id) SELECT query_id FROM ({distinct}) x "  # noqa: S608
                "WHERE query_id IS NOT NULL GROUP BY query_id"
            )
        if of_docs:
            distinct = " UNION ".join(of_docs)
            bulk.run(
                f"INSERT INTO stage_doc_ids SELECT DISTINCT doc_id FROM ({distinct}) x "  # noqa: S608
                "ORDER BY doc_id"
            )
        bulk.analyze("stage_query_ids")
        bulk.analyze("stage_doc_ids")

    def write(self) -> None:
        """Make the missing queries and documents, known by their ids only."""
        self.intake.run(
            """
            UPDATE stage_query_ids SET fresh = 1 WHERE NOT EXISTS (
                SELECT 1 FROM annotate_query q
                WHERE q.project_id = %(project)s AND q.query_id = stage_query_ids.query_id
            )
            """
        )
        queries = self.intake.put(
            "annotate_query",
            "project_id, query_id, title, description",
            """
            SELECT %(project)s, query_id, '', '' FROM stage_query_ids
            WHERE fresh = 1 ORDER BY query_id
            """,
        )
        documents = self.intake.put(
            "annotate_document",
            "project_id, doc_id, title, markup, digest",
            """
            SELECT %(project)s, s.doc_id, '', 'plain', '' FROM stage_doc_ids s
            WHERE NOT EXISTS (
                SELECT 1 FROM annotate_document d
                WHERE d.project_id = %(project)s AND d.doc_id = s.doc_id
            )
            ORDER BY s.doc_id
            """,
        )
        self.intake.rows("queries").new += queries
        self.intake.rows("documents").new += documents
        for table, made in (("annotate_query", queries), ("annotate_document", documents)):
            if made > MANY:
                bulk.analyze(table)

    def count(self) -> None:
        """Count the queries and documents that stayed as they were."""
        queries, documents = self.intake.rows("queries"), self.intake.rows("documents")
        named = bulk.number("SELECT COUNT(*) FROM stage_query_ids")
        queries.unchanged = named - queries.new - queries.changed
        named = bulk.number("SELECT COUNT(*) FROM stage_doc_ids")
        if self.intake.brings(Documents):
            named = bulk.number(
                "SELECT COUNT(*) FROM "
                "(SELECT doc_id FROM stage_docs UNION SELECT doc_id FROM stage_doc_ids) x"
                if named
                else "SELECT COUNT(*) FROM stage_docs"
            )
        documents.unchanged = named - documents.new - documents.changed

    def drop(self) -> None:
        """Drop the two tables."""
        bulk.drop("stage_query_ids")
        bulk.drop("stage_doc_ids")


class Qrels(Arrivals):
    """Earlier relevance: each line is a candidate of its query."""

    records: ClassVar = (Qrel,)
    in_slices = True
    differing = "stage_qrels_changed"

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.qrels = self.stage("stage_qrels", query_id="text", doc_id="text", relevance="integer")
        self._add = self.qrels.add
        self._no_grade = intake.options.no_grade
        self._without = 0

    def take(self, record: Qrel, place: int) -> None:
        relevance: int | None = record[2]
        if relevance == self._no_grade:
            relevance = None
            self._without += 1
        self.taken += 1
        self._add(place, record[0], record[1], relevance)

    def query_ids(self) -> list[str]:
        return ["SELECT query_id FROM stage_qrels"]

    def doc_ids(self) -> list[str]:
        return ["SELECT doc_id FROM stage_qrels"]

    def check(self) -> None:
        self.repeats(
            self.qrels,
            ["query_id", "doc_id"],
            "COALESCE(s.relevance, 40000) <> COALESCE(f.relevance, 40000)",
            lambda first, query_id, doc_id: (
                f"document {doc_id} of query {query_id} has another relevance on {first}"
            ),
        )
        if self._without:
            lines, documents = (
                ("1 line has", "its document joins")
                if self._without == 1
                else (f"{self._without:,} lines have", "their documents join")
            )
            self.intake.report.notes.append(
                f"{lines} the value {self._no_grade}, which means no grade: "
                f"{documents} the pool without a relevance"
            )

    def write(self) -> None:
        intake = self.intake
        known = intake.number(
            """
            SELECT COUNT(*) FROM (
                SELECT 1 FROM annotate_candidate c JOIN annotate_query q ON q.id = c.query_id
                WHERE q.project_id = %(project)s LIMIT 1
            ) x
            """
        )
        if known:
            # Found before the new ones are written: then only these are looked at.
            bulk.drop(self.differing)
            intake.run(
                """
                CREATE TEMPORARY TABLE stage_qrels_changed AS
                SELECT c.id, s.relevance FROM stage_qrels s
                CROSS JOIN annotate_query q
                CROSS JOIN annotate_document d
                CROSS JOIN annotate_candidate c
                WHERE q.project_id = %(project)s AND q.query_id = s.query_id
                AND d.project_id = %(project)s AND d.doc_id = s.doc_id
                AND c.query_id = q.id AND c.document_id = d.id
                AND (c.prior_relevance IS NULL OR c.prior_relevance <> s.relevance)
                AND s.relevance IS NOT NULL
                """
            )
            self.changed = bulk.number("SELECT COUNT(*) FROM stage_qrels_changed")
            intake.at_last(
                """
                UPDATE annotate_candidate SET prior_relevance = x.relevance
                FROM stage_qrels_changed x WHERE annotate_candidate.id = x.id
                """
            )
        self.new = intake.put(
            "annotate_candidate",
            "query_id, document_id, prior_relevance, origin",
            """
            SELECT q.id, d.id, s.relevance,
                CASE WHEN s.relevance IS NULL THEN 'listed' ELSE 'prior' END
            FROM stage_qrels s CROSS JOIN annotate_query q CROSS JOIN annotate_document d
            WHERE q.project_id = %(project)s AND q.query_id = s.query_id
            AND d.project_id = %(project)s AND d.doc_id = s.doc_id
            AND NOT EXISTS (
                SELECT 1 FROM annotate_candidate c
                WHERE c.query_id = q.id AND c.document_id = d.id
            )
            ORDER BY q.id, d.id
            """,
            needed=False,
        )
        rows = intake.rows("candidates")
        rows.new += self.new
        rows.changed += self.changed
        rows.unchanged += self.qrels_left() - self.new - self.changed

    def qrels_left(self) -> int:
        """Return how many lines there are without repeats."""
        return bulk.number("SELECT COUNT(*) FROM stage_qrels")
