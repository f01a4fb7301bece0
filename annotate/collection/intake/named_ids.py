"""Create rows for the queries and documents that a file only names by id."""

from __future__ import annotations

from annotate.collection.intake.arrivals import Intake
from annotate.collection.intake.documents import ANALYZE_AFTER, Documents
from base import bulk

# Queries that a note names, of the file and of the project.
_FIRST_FRESH = "SELECT query_id FROM stage_query_ids WHERE fresh = 1 ORDER BY n, query_id LIMIT 4"
_FIRST_KNOWN = """
    SELECT q.query_id FROM annotate_query q WHERE q.project_id = %(project)s AND NOT EXISTS (
        SELECT 1 FROM stage_query_ids g WHERE g.query_id = q.query_id AND g.fresh = 1
    ) ORDER BY q.id LIMIT 4
"""


def _first_three(ids: list[str]) -> str:
    return ", ".join(ids[:3]) + (" …" if len(ids) > 3 else "")


class NamedIds:
    """Every query and document that a file names, created if the project does not have them.

    Documents contained in the file are written by `Documents`.
    """

    def __init__(self, intake: Intake) -> None:
        self.intake = intake

    def gather(self) -> None:
        """Collect the distinct ids in two temporary tables."""
        of_queries = [sql for records in self.intake.staged for sql in records.query_ids()]
        of_docs = [sql for records in self.intake.staged for sql in records.doc_ids()]
        self.drop()
        bulk.run(
            "CREATE TEMPORARY TABLE stage_query_ids "
            "(query_id text PRIMARY KEY, n bigint NOT NULL, fresh integer NOT NULL DEFAULT 0)"
        )
        bulk.run("CREATE TEMPORARY TABLE stage_doc_ids (doc_id text)")
        if of_queries:
            named = " UNION ALL ".join(of_queries)
            bulk.run(
                "INSERT INTO stage_query_ids (query_id, n) "  # noqa: S608
                f"SELECT query_id, MIN(n) FROM ({named}) x "
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
        """Create the missing queries and documents, with nothing but their ids."""
        self.intake.run(
            """
            UPDATE stage_query_ids SET fresh = 1 WHERE NOT EXISTS (
                SELECT 1 FROM annotate_query q
                WHERE q.project_id = %(project)s AND q.query_id = stage_query_ids.query_id
            )
            """
        )
        queries = self.intake.run(
            """
            INSERT INTO annotate_query (project_id, query_id, title, description)
            SELECT %(project)s, query_id, '', '' FROM stage_query_ids
            WHERE fresh = 1 ORDER BY n, query_id
            """
        )
        documents = self.intake.run(
            """
            INSERT INTO annotate_document (project_id, doc_id, title, markup, digest)
            SELECT %(project)s, s.doc_id, '', 'plain', '' FROM stage_doc_ids s
            WHERE NOT EXISTS (
                SELECT 1 FROM annotate_document d
                WHERE d.project_id = %(project)s AND d.doc_id = s.doc_id
            )
            ORDER BY s.doc_id
            """
        )
        self.intake.row_counts("queries").new += queries
        self.intake.row_counts("documents").new += documents
        if documents:
            self.intake.report.notes.append(
                "1 new document has no text yet: load it before people judge it"
                if documents == 1
                else f"{documents:,} new documents have no text yet: "
                "load the texts of those to judge"
            )
        if queries and not any(staged.defines_queries for staged in self.intake.staged):
            self._note_foreign_queries(queries)
        for table, made in (("annotate_query", queries), ("annotate_document", documents)):
            if made > ANALYZE_AFTER:
                bulk.analyze(table)

    def _note_foreign_queries(self, created: int) -> None:
        """Add a note if the project has queries, and the file names none of them."""
        fresh = [row[0] for row in bulk.select(_FIRST_FRESH)]
        foreign = [row[0] for row in bulk.select(_FIRST_KNOWN, self.intake.params)]
        if created == bulk.number("SELECT COUNT(*) FROM stage_query_ids") and foreign:
            self.intake.report.notes.append(
                f"no query of this file is in the project: the file has {_first_three(fresh)}, "
                f"the project has {_first_three(foreign)}; "
                f"{'1 new query' if created == 1 else f'{created:,} new queries'} without a title "
                "are created: correct the ids if this is not intended"
            )

    def count(self) -> None:
        """Count the queries and documents that did not change."""
        queries, documents = self.intake.row_counts("queries"), self.intake.row_counts("documents")
        named = bulk.number("SELECT COUNT(*) FROM stage_query_ids")
        queries.unchanged = named - queries.new - queries.changed
        named = bulk.number("SELECT COUNT(*) FROM stage_doc_ids")
        if self.intake.has_records(Documents):
            named = bulk.number(
                "SELECT COUNT(*) FROM "
                "(SELECT doc_id FROM stage_docs UNION SELECT doc_id FROM stage_doc_ids) x"
                if named
                else "SELECT COUNT(*) FROM stage_docs WHERE newest = 1"
            )
        documents.unchanged = named - documents.new - documents.changed

    def drop(self) -> None:
        """Drop the two tables."""
        bulk.drop("stage_query_ids")
        bulk.drop("stage_doc_ids")
