"""The collection: documents, queries, pools, runs, and filters."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotate.projects.models import Membership, Project


class Document(models.Model):
    """A document, identified by its id. For a licensed collection there may be only the id."""

    class Markup(models.TextChoices):
        """The markup of the text, which decides how it is shown."""

        PLAIN = "plain", "Plain text"
        HTML = "html", "HTML table"
        MARKDOWN = "markdown", "Markdown table"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="documents")
    doc_id = models.CharField(max_length=512)
    title = models.TextField(blank=True)
    markup = models.CharField(max_length=10, choices=Markup, default=Markup.PLAIN)
    # Of markup and text together: detects whether loading a file again would change anything.
    digest = models.CharField(max_length=32, blank=True)
    # Characters of the text; null while the text is not known.
    length = models.PositiveIntegerField(null=True)
    # The newest text version, to which markup, digest and length belong; null if there is none.
    text_version = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="document_id_once_per_project", fields=["project", "doc_id"]
            ),
            models.CheckConstraint(name="document_has_an_id", condition=~Q(doc_id="")),
        ]

    def __str__(self) -> str:
        return self.doc_id

    @property
    def label(self) -> str:
        """The label in lists: the title, or the id if there is no title."""
        return self.title or self.doc_id


class DocumentTextQuerySet(models.QuerySet["DocumentText"]):
    """Text versions of documents."""

    def current(self) -> DocumentTextQuerySet:
        """Return the newest version of each document."""
        return self.filter(version=F("document__text_version"))


class DocumentText(models.Model):
    """One version of a document's text. A new text inserts a version; versions never change.

    Texts have a separate table so that no list can read one by accident (decision 0001).
    """

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="texts")
    # From 1, without gaps.
    version = models.PositiveIntegerField(default=1)
    # The markup of this version, which decides how it is shown.
    markup = models.CharField(max_length=10, choices=Document.Markup, default=Document.Markup.PLAIN)
    # Of markup and text together.
    digest = models.CharField(max_length=32, blank=True)
    # Characters of the text.
    length = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    # The last column, because SQLite reads a row only up to the column it needs.
    text = models.TextField()

    objects = DocumentTextQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="text_version_once", fields=["document", "version"]),
            models.CheckConstraint(name="text_versions_from_1", condition=Q(version__gte=1)),
        ]

    def __str__(self) -> str:
        return f"text {self.version} of document {self.document_id}"


class ReadsText(models.Model):
    """An answer about a document, and therefore about the text version that was read.

    `text_version` is null if the document had no text. The first text of a document replaces
    nothing: an answer given before it counts as one about version 1. See decision 0020.
    """

    text_version = models.PositiveIntegerField(null=True, blank=True)
    # When a newer text of the document arrived. Earlier answers are stale: they are kept under
    # their version and counted nowhere.
    text_replaced_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class CanBeTakenOut(models.Model):
    """A row that a lead takes out of the collection and brings back; what refers to it is kept."""

    # When, by whom (null: a command) and why it was taken out.
    removed_at = models.DateTimeField(null=True, blank=True)
    removed_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    removed_reason = models.TextField(blank=True, default="", db_default="")

    class Meta:
        abstract = True


def removed_with_a_reason(name: str) -> models.CheckConstraint:
    """Return the constraint that rows that are taken out, and only they, have time and reason."""
    return models.CheckConstraint(
        name=name,
        condition=Q(removed_at__isnull=True, removed_by__isnull=True, removed_reason="")
        | Q(removed_at__isnull=False) & ~Q(removed_reason=""),
    )


class Query(CanBeTakenOut):
    """A stored information need. While it is taken out, its pairs are out as well."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="queries")
    query_id = models.CharField(max_length=255)
    title = models.TextField(blank=True)
    description = models.TextField(blank=True)
    # The part of a benchmark it belongs to (books, movies), if its file names one.
    domain = models.CharField(max_length=120, blank=True, default="", db_default="")
    # The key of the core query: queries of a project that share it differ only in their
    # instruction. From the file, or else from the title (`annotate.collection.core_queries`).
    core = models.CharField(max_length=255, blank=True, default="", db_default="")
    # Whether a file gave the key, in which case a new title does not change it.
    core_given = models.BooleanField(default=False, db_default=False)
    # Whether its tasks are handed out before those of other queries.
    is_urgent = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes: ClassVar = [
            # The queries of one core query.
            models.Index(fields=["project", "core"], name="query_core"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="query_id_once_per_project", fields=["project", "query_id"]
            ),
            models.CheckConstraint(name="query_has_an_id", condition=~Q(query_id="")),
            removed_with_a_reason("query_removed_with_a_reason"),
        ]

    def __str__(self) -> str:
        return self.query_id


class InPoolManager(models.Manager["Candidate"]):
    """Manager of candidates that were not taken out of their pools.

    Candidates that a lead took out are not judged and in no qrels; `Candidate.with_removed`
    includes them.
    """

    def get_queryset(self) -> models.QuerySet[Candidate]:
        """Return all candidates except those that were taken out."""
        return super().get_queryset().filter(removed_at__isnull=True)


class Candidate(CanBeTakenOut):
    """One document in one query's pool, with the relevance it came with."""

    class Origin(models.TextChoices):
        """How the document entered the pool."""

        PRIOR = "prior", "Earlier qrels"
        RUN = "run", "A run"
        JUDGED = "judged", "Loaded judgments"
        LISTED = "listed", "Earlier qrels, without a grade"

    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="candidates")
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="candidates")
    # As in the qrels, whatever grades the project uses; null if there is none.
    prior_relevance = models.IntegerField(null=True)
    origin = models.CharField(max_length=10, choices=Origin)
    removed_by = models.ForeignKey(
        Membership,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        # Few rows are removed; the index `candidate_removed` finds them.
        db_index=False,
    )
    # The only instruction whose pool it belongs to, for a document that was written for it; nobody
    # judges it under another one. Null: it is in the pool of every instruction of its query.
    made_for = models.ForeignKey(
        "annotate.InstructionPair",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        # Few rows have one; the index `candidate_made_for` finds them.
        db_index=False,
    )

    objects = InPoolManager()
    # Includes candidates that were taken out of their pools.
    with_removed = models.Manager()  # noqa: DJ012 (a manager, not a field)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="candidate_once_per_query", fields=["query", "document"]),
            models.CheckConstraint(
                name="candidate_from_qrels_has_relevance",
                condition=~Q(origin="prior") | Q(prior_relevance__isnull=False),
            ),
            removed_with_a_reason("candidate_removed_with_a_reason"),
        ]
        indexes: ClassVar = [
            # The relevant documents of a query, for the judge and rewrite pages. Includes the
            # columns that decide whether they are in the pool, so that counts need not read rows.
            models.Index(
                fields=["query", "prior_relevance", "removed_at", "made_for"],
                name="candidate_in_pools",
            ),
            # The few that were written for one instruction.
            models.Index(
                fields=["made_for"],
                condition=Q(made_for__isnull=False),
                name="candidate_made_for",
            ),
            # The few that were taken out.
            models.Index(
                fields=["query"],
                condition=Q(removed_at__isnull=False),
                name="candidate_removed",
            ),
        ]

    def __str__(self) -> str:
        return f"candidate {self.pk}"


class PassageRule(models.Model):
    """How a project's documents are cut into passages, and which texts layouts publish."""

    class Published(models.TextChoices):
        """Which texts a layout contains, if texts are published."""

        DOCUMENTS = "documents", "Whole documents"
        PASSAGES = "passages", "Passages of whole documents"
        EVIDENCE = "evidence", "Passages around the evidence only"

    project = models.OneToOneField(Project, on_delete=models.PROTECT, related_name="passage_rule")
    # The length of a passage, and how many of its words the next one repeats.
    words = models.PositiveIntegerField(default=400)
    overlap = models.PositiveIntegerField(default=200)
    # Whether passages begin and end at sentences.
    at_sentences = models.BooleanField(default=False)
    published = models.CharField(
        max_length=10, choices=Published, default=Published.DOCUMENTS, db_default="documents"
    )
    # Percent of a document's characters that passages around the evidence may hold.
    share = models.PositiveSmallIntegerField(default=20)

    class Meta:
        constraints: ClassVar = [
            # Each passage begins after the start of the one before it.
            models.CheckConstraint(
                name="passage_longer_than_overlap", condition=Q(words__gt=F("overlap"))
            ),
            models.CheckConstraint(
                name="passage_share_is_a_percentage",
                condition=Q(share__gte=1) & Q(share__lte=100),
            ),
            models.CheckConstraint(
                name="passage_publishes_a_known_kind",
                condition=Q(published__in=["documents", "passages", "evidence"]),
            ),
        ]

    def __str__(self) -> str:
        return f"passages of {self.words} words"


class Run(models.Model):
    """A system's ranking, as uploaded; the file itself is stored unchanged."""

    class Side(models.TextChoices):
        """What the system searched for; the values are those of `Narrative.Side`."""

        ORIGINAL = "original", "Queries"
        ALTERED = "altered", "Instructions"
        REVERSED = "reversed", "Reversed instructions"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="runs")
    # The file's name: the same run tag occurs in several files.
    name = models.CharField(max_length=255)
    tag = models.CharField(max_length=255, blank=True)
    sha256 = models.CharField(max_length=64)
    # Under which narratives the documents were ranked. Each line of a run over instructions or
    # reversed instructions has a pair.
    side = models.CharField(
        max_length=10, choices=Side, default=Side.ORIGINAL, db_default=Side.ORIGINAL
    )
    file = models.FileField(upload_to="runs", max_length=300)
    loaded_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="run_name_once_per_project", fields=["project", "name"]),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def names_pairs(self) -> bool:
        """Whether its lines name instruction pairs instead of queries."""
        return self.side != self.Side.ORIGINAL


class RunLine(models.Model):
    """One document in a run, with the rank given by its score.

    Ties are ordered by document id, descending, as in trec_eval.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="lines")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+")
    # In a run over instructions: the pair under whose narrative the document was ranked.
    pair = models.ForeignKey(
        "annotate.InstructionPair",
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        # Lines are found by their run: see the constraints.
        db_index=False,
    )
    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="+")
    rank = models.PositiveIntegerField()
    score = models.FloatField()

    class Meta:
        constraints: ClassVar = [
            # Like trec_eval, refuse a run with a document twice.
            models.UniqueConstraint(
                name="run_document_once",
                fields=["run", "query", "document"],
                condition=Q(pair__isnull=True),
            ),
            models.UniqueConstraint(
                name="run_document_once_per_pair",
                fields=["run", "pair", "document"],
                condition=Q(pair__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"rank {self.rank}"


class FilterDecision(models.Model):
    """A machine keeps or discards a query, an instruction, or a document of a query's pool.

    Discarding takes the object out once, when the decision is loaded; a lead may bring it back.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="filter_decisions")
    machine = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    # Exactly one of the three.
    query = models.ForeignKey(
        Query, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    pair = models.ForeignKey(
        "annotate.InstructionPair",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
    )
    candidate = models.ForeignKey(
        Candidate, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    discards = models.BooleanField()
    reason = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                name="filter_decision_is_on_one_thing",
                condition=Q(query__isnull=False, pair__isnull=True, candidate__isnull=True)
                | Q(query__isnull=True, pair__isnull=False, candidate__isnull=True)
                | Q(query__isnull=True, pair__isnull=True, candidate__isnull=False),
            ),
            models.CheckConstraint(
                name="filter_discards_with_a_reason",
                condition=Q(discards=False) | ~Q(reason=""),
            ),
            # A machine decides once on each object.
            *(
                models.UniqueConstraint(
                    name=f"filter_decides_once_on_a_{thing}",
                    fields=["machine", thing],
                    condition=Q(**{f"{thing}__isnull": False}),
                )
                for thing in ("query", "pair", "candidate")
            ),
        ]

    def __str__(self) -> str:
        return f"filter decision {self.pk}"
