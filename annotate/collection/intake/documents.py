"""Intake of documents with their text versions, which make the answers to earlier texts stale.

An answer names the text version that was read. When a newer one arrives, `text_replaced_at` is set
on the answers to the older ones: they are kept and no longer counted anywhere. All of this happens
in the transaction that writes the new texts.
"""

from __future__ import annotations

import hashlib
from typing import ClassVar

from django.db import models
from django.db.models.expressions import RawSQL

from annotate.collection.answers import (
    count_evidence,
    describe_about,
    describe_beside,
    kinds_about_documents,
)
from annotate.collection.intake.arrivals import Intake, StagedLine, StagedRecords
from base import bulk
from base.stages import StagedRow
from base.texts import amount
from formats.records import Doc

# After this many new rows a table is analyzed before PostgreSQL joins it.
ANALYZE_AFTER = 1_000

# The documents that get a new text. A first text replaces nothing.
_DOCUMENTS = RawSQL("SELECT x.id FROM stage_docs_changed x WHERE x.version >= 2", ())
_CANDIDATES = RawSQL(
    "SELECT c.id FROM stage_docs_changed x JOIN annotate_candidate c ON c.document_id = x.id "
    "WHERE x.version >= 2",
    (),
)


def digest(markup: str, text: str) -> str:
    """Return the digest of a document's markup and text, to detect changes of either."""
    return hashlib.blake2b(f"{markup}\0{text}".encode(), digest_size=16).hexdigest()


class StagedDocument(StagedLine):
    """A document without its text."""

    doc_id = models.TextField()
    title = models.TextField()
    markup = models.TextField()
    digest = models.TextField()
    length = models.BigIntegerField(null=True)
    # The text version that the record names; 0 for none.
    version = models.BigIntegerField()
    # Whether the file has no later version of the document.
    newest = models.IntegerField(db_default=1)

    class Meta(StagedRow.Meta):
        db_table = "stage_docs"


class StagedText(StagedLine):
    """The text of the document with the same number: comparing documents never reads a text."""

    text = models.TextField(null=True)

    class Meta(StagedRow.Meta):
        db_table = "stage_texts"


class Documents(StagedRecords):
    """Documents with their text versions; without a text, only id and title are known.

    A text that differs from the newest one becomes the next version, and answers about the older
    ones become stale (`annotate.collection.intake.documents`). A record that names its version
    becomes that version.
    """

    order = 10
    records: ClassVar = (Doc,)
    differing = "stage_docs_changed"

    def __init__(self, intake: Intake) -> None:
        super().__init__(intake)
        self.docs = self.create_stage(StagedDocument)
        self.texts = self.create_stage(StagedText)
        self.names_versions = False

    def take(self, record: Doc, place: int) -> None:
        doc_id, title, text, markup, version = record
        self.taken += 1
        if text is None:
            self.docs.add(place, doc_id, title, markup, "", None, 0)
            self.texts.add(place, None)
        else:
            self.names_versions = self.names_versions or version is not None
            sum_of = digest(markup, text)
            self.docs.add(place, doc_id, title, markup, sum_of, len(text), version or 0)
            self.texts.add(place, text, weight=len(text))

    def check(self) -> None:
        self.refuse_contradictions(
            StagedDocument.objects.all(),
            ["doc_id", "version"],
            ["digest", "title", "markup"],
            lambda first, doc_id, _version: (
                f"document {doc_id} was already on {first}, with another text"
            ),
        )
        if not self.names_versions:
            return
        bulk.index("stage_docs", "doc_id, version")
        self.intake.refuse_repeats(
            """
            SELECT s.n, s.place, f.place AS first, s.doc_id, f.version
            FROM stage_docs s CROSS JOIN stage_docs f
            WHERE s.version = 0 AND f.doc_id = s.doc_id AND f.version > 0
            AND f.version = (SELECT MIN(x.version) FROM stage_docs x
                WHERE x.doc_id = s.doc_id AND x.version > 0)
            """,
            lambda first, doc_id, version: (
                f"document {doc_id} has no text version on this line, and version {version} on "
                f"{first}: give one on every line, or on none"
            ),
        )
        bulk.run(
            """
            UPDATE stage_docs SET newest = 0 WHERE EXISTS (
                SELECT 1 FROM stage_docs x
                WHERE x.doc_id = stage_docs.doc_id AND x.version > stage_docs.version
            )
            """
        )

    def write(self) -> None:
        intake = self.intake
        if self.names_versions:
            self._refuse_other_versions()
            if intake.report.refused:
                return
        self._find_changed()
        earlier_of_new, earlier_of_known = self._count_earlier()
        new = intake.run(
            """
            INSERT INTO annotate_document
                (project_id, doc_id, title, markup, digest, length, text_version)
            SELECT %(project)s, s.doc_id, s.title, s.markup, s.digest, s.length,
                CASE WHEN s.length IS NULL THEN NULL WHEN s.version > 0 THEN s.version ELSE 1 END
            FROM stage_docs s
            WHERE s.newest = 1 AND NOT EXISTS (
                SELECT 1 FROM annotate_document d
                WHERE d.project_id = %(project)s AND d.doc_id = s.doc_id
            )
            ORDER BY s.doc_id
            """
        )
        if new > ANALYZE_AFTER:
            bulk.analyze("annotate_document")
        self._write_first_texts()
        changed = bulk.number("SELECT COUNT(*) FROM stage_docs_changed")
        if changed:
            self._write_changes()
        rows = intake.row_counts("documents")
        rows.new += new
        rows.changed += changed
        self.new, self.changed = new + earlier_of_new, changed + earlier_of_known

    def _refuse_other_versions(self) -> None:
        """Refuse a version that exists with another text, and one that leaves a gap."""
        self.intake.refuse_rows(
            """
            SELECT s.n, s.place, s.doc_id, s.version FROM stage_docs s
            CROSS JOIN annotate_document d CROSS JOIN annotate_documenttext t
            WHERE s.version > 0 AND d.project_id = %(project)s AND d.doc_id = s.doc_id
            AND t.document_id = d.id AND t.version = s.version
            AND t.version <= COALESCE(d.text_version, 0) AND t.digest <> s.digest
            """,
            lambda doc_id, version: (
                f"version {version} of the text of document {doc_id} already exists, with other "
                "words or another markup: leave text_version out, and it becomes the next version"
            ),
        )
        self.intake.refuse_rows(
            """
            SELECT s.n, s.place, s.doc_id, s.version FROM stage_docs s
            WHERE s.version > 1 AND NOT EXISTS (
                SELECT 1 FROM stage_docs x WHERE x.doc_id = s.doc_id AND x.version = s.version - 1
            ) AND NOT EXISTS (
                SELECT 1 FROM annotate_document d
                WHERE d.project_id = %(project)s AND d.doc_id = s.doc_id
                AND d.text_version >= s.version - 1
            )
            """,
            lambda doc_id, version: (
                f"there is no version {version - 1} of the text of document {doc_id}, so this "
                f"cannot be version {version}: load all versions, in one file or one after another"
            ),
        )

    def _find_changed(self) -> None:
        """Find the documents that change.

        `version` is the newest text version they get, null where the text stays.
        """
        bulk.drop(self.differing)
        # A record without a text leaves the document's text unchanged.
        self.intake.run(
            """
            CREATE TEMPORARY TABLE stage_docs_changed AS
            SELECT x.id, x.n, x.version FROM (
                SELECT d.id, s.n, d.title AS had, s.title, s.length, s.version AS named,
                    d.text_version, CASE
                        WHEN s.length IS NULL THEN NULL
                        WHEN s.version > COALESCE(d.text_version, 0) THEN s.version
                        WHEN s.version = 0 AND (d.text_version IS NULL OR d.digest <> s.digest
                            OR d.markup <> s.markup) THEN COALESCE(d.text_version, 0) + 1
                    END AS version
                FROM stage_docs s CROSS JOIN annotate_document d
                WHERE s.newest = 1 AND d.project_id = %(project)s AND d.doc_id = s.doc_id
            ) x
            WHERE x.version IS NOT NULL
            OR x.had <> x.title AND (x.length IS NOT NULL OR x.title <> '')
                AND (x.named = 0 OR x.named = x.text_version)
            """
        )

    def _count_earlier(self) -> tuple[int, int]:
        """Count the lines with a new version that is not the newest in the file.

        Returns two numbers: for new documents, and for documents that already exist.
        """
        if not self.names_versions:
            return 0, 0
        new = self.intake.number(
            """
            SELECT COUNT(*) FROM stage_docs s WHERE s.newest = 0 AND NOT EXISTS (
                SELECT 1 FROM annotate_document d
                WHERE d.project_id = %(project)s AND d.doc_id = s.doc_id
            )
            """
        )
        existing = self.intake.number(
            """
            SELECT COUNT(*) FROM stage_docs s CROSS JOIN annotate_document d
            WHERE s.newest = 0 AND d.project_id = %(project)s AND d.doc_id = s.doc_id
            AND s.version > COALESCE(d.text_version, 0)
            """
        )
        return new, existing

    def _write_first_texts(self) -> None:
        """Write the texts of documents that had none."""
        self.intake.run(
            """
            INSERT INTO annotate_documenttext
                (document_id, version, markup, digest, length, created_at, text)
            SELECT d.id, CASE WHEN s.version > 0 THEN s.version ELSE 1 END, s.markup,
                s.digest, s.length, %(now)s, t.text
            FROM stage_docs s CROSS JOIN annotate_document d CROSS JOIN stage_texts t
            WHERE d.project_id = %(project)s AND d.doc_id = s.doc_id AND s.length IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM annotate_documenttext o WHERE o.document_id = d.id)
            AND t.n = s.n
            """
        )

    def _write_changes(self) -> None:
        """Insert next versions, mark answers about older ones stale, update the documents."""
        intake = self.intake
        note_stale_answers(intake)
        # If lines name versions, all lines of the document with later versions.
        lines = (
            "s.doc_id = d.doc_id AND (s.version = 0 OR s.version > d.text_version)"
            if self.names_versions
            else "s.n = x.n"
        )
        of_changed = f"""
            FROM stage_docs_changed x CROSS JOIN annotate_document d CROSS JOIN stage_docs s
            WHERE x.version IS NOT NULL AND d.id = x.id AND d.text_version IS NOT NULL
            AND s.length IS NOT NULL AND {lines}
            """
        intake.row_counts("texts").new += bulk.number(f"SELECT COUNT(*) {of_changed}")
        lock_answers(intake)
        intake.run(
            f"""
            INSERT INTO annotate_documenttext
                (document_id, version, markup, digest, length, created_at, text)
            SELECT p.id, p.version, p.markup, p.digest, p.length, %(now)s, t.text FROM (
                SELECT d.id, CASE WHEN s.version > 0 THEN s.version ELSE x.version END AS version,
                    s.markup, s.digest, s.length, s.n {of_changed}
            ) p CROSS JOIN stage_texts t WHERE t.n = p.n
            """  # noqa: S608
        )
        mark_stale(intake)
        intake.run(
            """
            UPDATE annotate_document SET
                title = CASE WHEN s.length IS NULL AND s.title = '' THEN annotate_document.title
                    ELSE s.title END,
                markup = CASE WHEN x.version IS NULL THEN annotate_document.markup
                    ELSE s.markup END,
                digest = CASE WHEN x.version IS NULL THEN annotate_document.digest
                    ELSE s.digest END,
                length = CASE WHEN x.version IS NULL THEN annotate_document.length
                    ELSE s.length END,
                text_version = COALESCE(x.version, annotate_document.text_version)
            FROM stage_docs_changed x CROSS JOIN stage_docs s
            WHERE annotate_document.id = x.id AND s.n = x.n
            """
        )


def note_stale_answers(intake: Intake) -> None:
    """Count the answers that become stale, and note them in the report."""
    documents = bulk.number("SELECT COUNT(*) FROM stage_docs_changed WHERE version >= 2")
    if not documents:
        return
    answers = ", ".join(describe_about(_CANDIDATES))
    spans = count_evidence(_CANDIDATES)
    evidence = f" ({amount(spans, 'evidence span')})" if spans else ""
    texts = amount(documents, "document gets", "documents get")
    intake.report.notes.append(
        f"{texts} another text. "
        + (
            f"Answers to the earlier text: {answers}{evidence}. They are kept under that text and "
            "become stale: they no longer count, and judges are asked again"
            if answers
            else "The earlier text has no answers"
        )
    )
    intake.report.notes += [
        f"{unaffected} had the earlier text at hand. They rate the instruction and stay as they "
        "are; their pages say that a document has another text since"
        for unaffected in describe_beside(_DOCUMENTS)
    ]


def lock_answers(intake: Intake) -> None:
    """Block answers about the changed documents until the end of the transaction.

    The locks are taken in the order in which judging takes them: the assignment, then the document
    (`annotate.collection.text_versions`).
    """
    if not bulk.on_postgresql():
        return
    intake.run(
        """
        SELECT s.id FROM annotate_assignment s WHERE s.task = 'judge' AND s.pair_id IN (
            SELECT p.id FROM stage_docs_changed x
            JOIN annotate_candidate c ON c.document_id = x.id
            JOIN annotate_instructionpair p ON p.query_id = c.query_id
            WHERE x.version IS NOT NULL
        ) ORDER BY s.id FOR UPDATE
        """
    )
    intake.run(
        "SELECT id FROM annotate_document WHERE id IN (SELECT id FROM stage_docs_changed "
        "WHERE version IS NOT NULL) ORDER BY id FOR UPDATE"
    )


def mark_stale(intake: Intake) -> None:
    """Mark answers about replaced texts stale."""
    paths = {
        (kind.current().model._meta.concrete_model, kind.candidate)
        for kind in kinds_about_documents()
    }
    for model, candidate in paths:
        of_earlier_texts = model._base_manager.filter(
            text_replaced_at=None, **{f"{candidate}__in": _CANDIDATES}
        )
        of_earlier_texts.update(text_replaced_at=intake.now)
