"""Exports, and the publication settings of projects."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.urls import reverse
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from annotate.projects.models import Project
from base.errors import Refused, refuse_invalid_characters, refuse_invalid_names
from base.snapshot import once_in_snapshot
from base.texts import tidy
from jobs.models import Job

# Characters of each long text of the publication settings.
MAX_TEXT = 20_000
FIRST_YEAR, LAST_YEAR = 1900, 2200
# MTEB's names of languages: three letters, a hyphen, the script.
LANGUAGE = re.compile(r"[a-z]{3}-[A-Z][a-z]{3}")
# The publication settings that are names, or have one on each line.
_NAMES = ("licence", "texts_licence", "texts_source", "publisher", "creators")


class Export(Job):
    """One export: its files are in storage under `folder`, and its manifest describes them."""

    KIND: ClassVar[str] = "export"
    WORK: ClassVar[str] = "exporters.exports.actions.build"
    TITLE: ClassVar[str] = "Writing the files"

    class Format(models.TextChoices):
        """The formats and layouts of exports."""

        TREC = "trec", "TREC: paired qrels, topics, changed documents, runs"
        JSONL = "jsonl", "JSON lines: every judgment, review and adjudication"
        MTEB = "mteb", "MTEB: a folder for the instruction reranking task, with its task file"
        HF = "hf", "Hugging Face: the same data with a dataset card"
        BEIR = "beir", "BEIR: corpus, queries, qrels before and after the change"
        IR_DATASETS = "ir-datasets", "ir_datasets: a package to install"
        FOLLOWTABLE = "followtable", "FollowTable: queries, tables and instructions"
        INFOSEARCH = "infosearch", "InfoSearch: three instructions a query, three qrels"
        MULTICONIR = "multiconir", "MultiConIR: a table of queries with growing conditions"
        MULTI_INFOSEARCH = (
            "multi-infosearch",
            "Multi-InfoSearch: attributes, a positive and a hard negative",
        )
        CITATION = "citation", "Citation: CITATION.cff and .zenodo.json"

    format = models.CharField(max_length=20, choices=Format)
    # The storage folder of its files; empty until they are all written.
    folder = models.CharField(max_length=200, blank=True)
    # Counts, files with their sha256, rule and versions, as `exporters.exports.manifest` defines
    # them.
    manifest: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )
    # Whether the folder is read with the field's tools as soon as it is written, and the result, as
    # `exporters.exports.proof.proving.Proof`.
    prove = models.BooleanField(default=False)
    proof: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    class Meta:
        constraints: ClassVar = [
            # A partial export is never offered: a folder is set together with its manifest.
            models.CheckConstraint(
                name="export_folder_with_manifest",
                condition=Q(folder="", manifest__isnull=True)
                | (~Q(folder="") & Q(manifest__isnull=False)),
            ),
            # A proof needs existing files, and must have been requested.
            models.CheckConstraint(
                name="export_proof_of_its_files",
                condition=Q(proof__isnull=True) | Q(manifest__isnull=False, prove=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.format} export {self.pk}"

    def get_absolute_url(self) -> str:
        """Return the URL of the export's page."""
        return reverse("exporters:export", args=[self.project.slug, self.pk])


class Publication(models.Model):
    """The publication settings of a project: what may be published, under which licence, by whom.

    A project without a row publishes ids only.
    """

    project = models.OneToOneField(Project, on_delete=models.PROTECT, related_name="publication")
    texts = models.BooleanField(
        "Publish titles and texts of documents",
        default=False,
        help_text="Only if the licence of the collection allows it. Otherwise ids alone.",
    )
    claims = models.BooleanField(
        "Publish claimed labels where nobody has judged",
        default=False,
        help_text="Only of accepted instructions; what a check found stands before the claim.",
    )
    licence = models.CharField("Licence of instructions and labels", max_length=100, blank=True)
    # "": the texts have the same licence.
    texts_licence = models.CharField("Licence of the texts", max_length=200, blank=True, default="")
    texts_source = models.CharField("Source of the texts", max_length=500, blank=True, default="")
    # As MTEB names them: eng-Latn, deu-Latn.
    languages = models.CharField("Languages", max_length=200, blank=True)
    # One per line: Family name, Given name.
    creators = models.TextField("Creators", max_length=MAX_TEXT, blank=True)
    publisher = models.CharField("Publisher", max_length=200, blank=True)
    year = models.PositiveSmallIntegerField("Year", null=True, blank=True)
    description = models.TextField("Description", max_length=MAX_TEXT, blank=True)
    citation = models.TextField("Citation", max_length=MAX_TEXT, blank=True)
    # BEIR has no field for instructions: they are appended to the query, or left out.
    instructions_in_queries = models.BooleanField(
        "In BEIR, append the instruction to the query", default=True
    )
    # The layouts that a release holds besides trec and jsonl.
    layouts: models.JSONField[list[str], list[str]] = models.JSONField(default=list, blank=True)

    class Meta:
        constraints: ClassVar = [
            # Texts are not published without a licence.
            models.CheckConstraint(
                name="publication_of_texts_names_a_licence",
                condition=Q(texts=False) | ~Q(licence=""),
            ),
        ]

    def __str__(self) -> str:
        return f"publication of project {self.project_id}"

    def clean(self) -> None:
        """Raise ValidationError with a sentence for each field that is not as it should be."""
        faults: dict[str, str] = {}
        for name in (*_NAMES, "description", "citation"):
            text = getattr(self, name)
            try:
                if name in _NAMES:
                    refuse_invalid_names(*(text.splitlines() if name == "creators" else [text]))
                else:
                    refuse_invalid_characters(tidy(text))
            except Refused as refused:
                faults[name] = str(refused)
        if "licence" not in faults and (fault := self._fault_of_licence()):
            faults["licence"] = fault
        for language in self.languages.split():
            if not LANGUAGE.fullmatch(language):
                faults["languages"] = (
                    f"“{language}” is not a language. Write its three letters and its script, as "
                    "in eng-Latn, several separated by spaces."
                )
        if self.year is not None and not FIRST_YEAR <= self.year <= LAST_YEAR:
            faults["year"] = f"The year must be between {FIRST_YEAR} and {LAST_YEAR}."
        known = [layout for layout in Export.Format.values if layout not in ("trec", "jsonl")]
        for layout in self.layouts:
            if layout not in known:
                faults["layouts"] = f"“{layout}” is not a layout. Choose from: {', '.join(known)}."
        if faults:
            raise ValidationError(faults)

    def _fault_of_licence(self) -> str:
        """Say why the licence cannot stay as it is, or ""."""
        if not self.licence and not self.texts:
            return ""
        if not self.licence:
            return (
                "Instructions and labels are published with the texts: name their licence too, as "
                "in CC-BY-4.0."
                if self.texts_licence
                else "Texts are published under a licence. Name it, as in CC-BY-4.0."
            )
        try:
            canonicalize_license_expression(self.licence)
        except InvalidLicenseExpression:
            return (
                f"“{self.licence}” is not the name of a licence. Write its SPDX name, as in "
                "CC-BY-4.0, or LicenseRef- and a name of your own."
            )
        return ""

    @property
    def rights(self) -> str:
        """Under which licence instructions and labels are published, and texts if they are."""
        if not self.texts:
            return f"{self.licence} for instructions and labels." if self.licence else ""
        if not (self.texts_licence or self.texts_source):
            return f"{self.licence} for instructions, labels and texts."
        return f"{self.licence} for instructions and labels. {self.texts_rights}"

    @property
    def texts_rights(self) -> str:
        """The licence of the texts, and where they come from."""
        source = f", from {self.texts_source}" if self.texts_source else ""
        return f"Texts of documents: {self.texts_licence or self.licence}{source}."


@once_in_snapshot
def publication_of(project: Project) -> Publication:
    """Return the publication settings of a project; an unsaved default if it has none."""
    publication = Publication.objects.filter(project=project).first()
    return publication or Publication(project=project)
