"""Change the publication settings of a project, and preview what would be published."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q

from annotate.collection.models import Candidate, Document
from annotate.pairs.models import Narrative
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from annotate.projects.taxonomy import OVERTAKEN
from audit.checks.machines import undecided_sentence
from base.errors import Refused, Stale, state_token
from base.texts import agree, amount
from exporters.exports import before_publishing
from exporters.exports.actions import WRITERS
from exporters.exports.before_publishing import KINDS, Finding
from exporters.exports.layouts.citation import missing
from exporters.exports.layouts.published import MOST_CHARACTERS
from exporters.exports.models import Export, Publication, publication_of
from exporters.exports.selection import selection
from exporters.exports.selection.selection import Pair

FIELDS = [field.name for field in Publication._meta.fields if field.name not in ("id", "project")]
# How many proven exports are searched for the newest one of each layout.
MOST_PROOFS = 50


def set_publication(
    *,
    project: Project,
    changes: Mapping[str, Any],
    token: str = "",
    by: Membership | None,
    now: datetime | None = None,
) -> Publication:
    """Change fields of a project's publication settings and return them.

    Refused: a member who is not a lead, an archived project, texts without a licence, an unknown
    layout, a language not written as in eng-Latn, an invalid year. Stale: `token` is that of other
    settings (`publication_token`).
    """
    if by is not None and (not by.leads or by.project_id != project.pk):
        raise Refused("Only leads of this project can change how it is published.")
    unknown = sorted(set(changes) - set(FIELDS))
    if unknown:
        raise ValueError(f"not publication settings: {', '.join(unknown)}")
    with transaction.atomic():
        locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        refuse_if_archived(locked)
        publication = publication_of(locked)
        if token and token != publication_token(publication):
            raise Stale(OVERTAKEN)
        before = {name: getattr(publication, name) for name in FIELDS}
        for name, value in changes.items():
            setattr(publication, name, value.strip() if isinstance(value, str) else value)
        try:
            publication.full_clean(exclude=["project"], validate_constraints=False)
        except ValidationError as error:
            raise Refused(" ".join(dict.fromkeys(error.messages))) from error
        after = {name: getattr(publication, name) for name in FIELDS}
        if before == after:
            return publication
        publication.save()
        record(
            project=locked,
            what="publication.changed",
            about=locked,
            by=by,
            changes={name: (before[name], after[name]) for name in FIELDS},
            now=now,
        )
    return publication


def publication_token(publication: Publication) -> str:
    """Return a token of these settings, which differs once they have changed."""
    return state_token([getattr(publication, name) for name in FIELDS])


class Preview(NamedTuple):
    """What would be published now: labelled counts, under which licences ("" if none is named),
    what is kept back, and what is missing.
    """

    counts: list[tuple[str, int]]
    rights: str
    kept_back: list[str]
    checks: list[str]


def preview(project: Project) -> Preview:
    """Return what a layout would contain now, by counting in the database."""
    publication = publication_of(project)
    pairs = selection.pairs(project)
    judged = selection.written_pairs(pairs, Narrative.Side.ALTERED)
    judged_keys = {pair.pk for pair in judged}
    claimed = [pair for pair in selection.claimed(pairs) if pair.pk not in judged_keys]
    chosen = judged + claimed if publication.claims else judged
    queries = {pair.query.pk for pair in chosen}
    documents = Document.objects.filter(
        Exists(Candidate.objects.filter(document=OuterRef("pk"), query__in=queries)),
        project=project,
    )
    of_documents = documents.aggregate(
        all=Count("pk"),
        without=Count("pk", filter=Q(text_version=None)),
        long=Count("pk", filter=Q(length__gt=MOST_CHARACTERS)),
    )
    counts = [
        ("instruction pair[s] that people judged", len(judged)),
        ("instruction pair[s] with claimed labels only", len(chosen) - len(judged)),
        ("instruction pair[s] that [is|are] left out", selection.count_pairs(pairs) - len(chosen)),
        ("quer[y|ies]", len(queries)),
        ("document[s]", of_documents["all"]),
    ]
    return Preview(
        [(agree(words, n), n) for words, n in counts],
        publication.rights,
        _kept_back_sentences(publication),
        _check_sentences(publication, chosen, claimed, of_documents),
    )


def findings(project: Project) -> list[tuple[str, str, Finding]]:
    """Return what to look at before publishing: heading, reason and rows of each kind."""
    findings_by_kind = before_publishing.find(project, claims=publication_of(project).claims)
    return [
        (heading, reason, findings_by_kind[kind])
        for kind, (heading, reason) in KINDS.items()
        if findings_by_kind[kind].total
    ]


def newest_request_of_proof(project: Project) -> Export | None:
    """Return the newest export whose proof was requested, in whatever state it is."""
    rows = Export.objects.filter(project=project, prove=True).select_related("project")
    return rows.defer("manifest", "proof").order_by("-pk").first()


def newest_proofs(project: Project) -> list[Export]:
    """Return the newest proven export of each layout, in the order of the layouts."""
    newest: dict[str, Export] = {}
    rows = Export.objects.filter(project=project, proof__isnull=False).order_by("-pk")
    for export in rows.select_related("project").defer("manifest")[:MOST_PROOFS]:
        newest.setdefault(export.format, export)
    return [newest[name] for name in WRITERS if name in newest]


def _kept_back_sentences(publication: Publication) -> list[str]:
    """Return sentences about what is not published."""
    people = Membership.objects.people().filter(project=publication.project_id)
    agreed, everybody = people.exclude(named_at=None).count(), people.count()
    sentences = [
        (
            f"Layouts and releases show people as numbers. {agreed:,} of "
            f"{amount(everybody, 'member')}, present or past, agreed to be named, in their own "
            "settings."
        ),
        (
            "An export in the format jsonl has everybody's name, because it carries the project "
            "to another installation. In a release it has numbers."
        ),
    ]
    if not publication.texts:
        sentences.insert(
            0,
            "Except for TREC, layouts have only the ids of documents, not their titles and texts. "
            "TREC has the texts of documents whose relevance changed, in documents.changed.jsonl, "
            "and JSON lines those of documents that have had several texts, in documents.jsonl.",
        )
    return sentences


def _check_sentences(
    publication: Publication, chosen: list[Pair], claimed: list[Pair], counts: dict[str, int]
) -> list[str]:
    """Return sentences about what prevents a layout from being written, or makes it incomplete."""
    sentences = []
    if claimed and not publication.claims:
        sentences.append(
            f"{amount(len(claimed), 'instruction pair has', 'instruction pairs have')} claimed "
            "labels only. The publication settings leave claimed labels out."
        )
    elif not chosen:
        sentences.append("No instruction pair is judged yet, so no layout can be written.")
    if sentence := undecided_sentence(publication.project):
        sentences.append(sentence)
    if publication.texts and counts["without"]:
        documents = amount(counts["without"], "document has", "documents have")
        sentences.append(
            f"{documents} no text in this project and would be written with an empty one."
        )
    if publication.texts and counts["long"]:
        documents = amount(counts["long"], "document has a text", "documents have a text")
        sentences.append(f"{documents} that is too long for a layout.")
    if lacking := missing(publication):
        sentences.append(f"A citation and a DOI also need {', '.join(lacking)}.")
    return sentences
