"""Replace a document that failed a check, in every pool of its core query.

The old candidates leave their pools; people's answers about them are kept. The new ones take over
the claims of machines and files, because the new document was found or written to fulfil them.
"""

from __future__ import annotations

import uuid as uuids
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotate.collection.answers import describe_about
from annotate.collection.core_queries import siblings
from annotate.collection.intake.documents import digest as text_digest
from annotate.collection.models import Candidate, Document, DocumentText
from annotate.collection.removal import removal_fields
from annotate.collection.text_versions import lock_read_version
from annotate.judgments import judgment_chain
from annotate.judgments.in_force import CLAIMS
from annotate.judgments.models import Judgment, Verdict
from annotate.judgments.pair_rules import Rule
from annotate.judgments.rule_report import rule_report_in
from annotate.pools.models import ReplacedCandidate, Replacement
from annotate.pools.removal import reopen_judging
from annotate.projects import hash_chain
from annotate.projects.access import lock_project
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused, Stale, refuse_invalid_characters, state_token
from base.providers import Provider
from formats.texts import check_id

MAX_ID = Document._meta.get_field("doc_id").max_length or 0
MAX_TEXT = 1_000_000
ONLY_LEADS = "Only leads of this project can replace documents."
# Returns the names of a project's releases, all or since a time. The exporters provide it.
releases_of: Provider[[Project, datetime | None], list[str]] = Provider(
    "Which releases does a project have?"
)


@dataclass(frozen=True)
class NewDocument:
    """The new document: the id of an existing one, or with a text, one to create."""

    doc_id: str
    title: str = ""
    text: str = ""


@dataclass(frozen=True)
class Effects:
    """The effects of a replacement."""

    # The candidates that leave their pools, each with its query.
    pools: list[Candidate]
    answers: Annotated[list[str], "Answers that no longer count, each kind with its number."]
    claims: Annotated[int, "Claims that the new document takes over."]
    rules: Annotated[dict[Rule, list[str]], "Rules that the old document breaks, with the pairs."]
    releases: Annotated[list[str], "Releases, which do not change."]
    # Whether the new document has to be created.
    makes_document: bool
    # A digest of the effects.
    token: str

    api_fields = (
        *("queries", "answers", "claims", "rules", "releases"),
        *("makes_document", "token"),
    )

    @property
    def queries(self) -> list[str]:
        """Queries in whose pools it is replaced."""
        return [candidate.query.query_id for candidate in self.pools]


def effects(candidate: Candidate, new: NewDocument) -> Effects:
    """Return the effects of replacing a candidate's document, without writing anything.

    Refused: an invalid id, the document itself, a title or text for a document that exists, no text
    for one that does not, a document that is already in one of the pools.
    """
    project = candidate.query.project
    existing = _find_new_document(project, candidate, new)
    pools = _candidates_to_replace(candidate)
    if existing is not None:
        taken = Candidate.objects.filter(
            document=existing, query__in=[pooled.query_id for pooled in pools]
        )
        if in_the_way := taken.select_related("query").first():
            raise Refused(
                f"Document {new.doc_id[:100]} is already in the pool of query "
                f"{in_the_way.query.query_id[:100]}."
            )
    keys = [pooled.pk for pooled in pools]
    answers, claims = describe_about(keys, but=CLAIMS), CLAIMS.count(CLAIMS.candidate, keys)
    rules = _rules_broken_by(project, set(keys))
    return Effects(
        pools=pools,
        answers=answers,
        claims=claims,
        rules=rules,
        releases=releases_of(project, None),
        makes_document=existing is None,
        token=state_token(keys, answers, claims, new.doc_id, new.title, new.text),
    )


def replace_document(
    *,
    candidate: Candidate,
    new: NewDocument,
    reason: str,
    token: str,
    by: Membership,
    now: datetime | None = None,
) -> Replacement:
    """Replace a candidate's document by another in the pools of its core query.

    `token` is that of the effects that `by` has seen. Stale: the effects are different now.
    Refused: as by `effects`; a member who is not a lead, an archived project, no reason.
    """
    reason = str(removal_fields(reason, by)["removed_reason"])
    now = now or timezone.now()
    with transaction.atomic():
        project = lock_project(candidate.query.project_id, by, ONLY_LEADS)
        current = effects(
            Candidate.objects.select_related("query__project").get(pk=candidate.pk), new
        )
        if current.token != token:
            raise Stale(
                "The effects of the replacement have changed since the preview. Look again."
            )
        document = _make_document(project, new, now) if current.makes_document else None
        document = document or Document.objects.get(project=project, doc_id=new.doc_id)
        made = Replacement.objects.create(
            project=project, old=candidate.document, new=document, reason=reason, by=by, at=now
        )
        for old_candidate in current.pools:
            new_candidate = _add_to_pool(old_candidate, document)
            ReplacedCandidate.objects.create(replacement=made, old=old_candidate, new=new_candidate)
            _take_over_claims(project, old_candidate, new_candidate, made, now)
        words = f"Replaced by {document.doc_id}: {reason}"
        Candidate.with_removed.filter(pk__in=[pooled.pk for pooled in current.pools]).update(
            removed_at=now, removed_by=by, removed_reason=words
        )
        reopen_judging([pooled.query_id for pooled in current.pools])
        record(
            project=project,
            what="document.replaced",
            about=made,
            named=f"{candidate.document} → {document} · {len(current.pools)}",
            words=reason,
            by=by,
            now=now,
        )
    return made


def undo_replacement(
    *, replacement: Replacement, by: Membership, now: datetime | None = None
) -> Replacement:
    """Put the old document back into its pools, and take the new one out.

    Undoing twice changes nothing. Refused: a member who is not a lead, an archived project, a new
    document that was replaced in turn.
    """
    now = now or timezone.now()
    with transaction.atomic():
        project = lock_project(replacement.project_id, by, ONLY_LEADS)
        row = Replacement.objects.select_related("old", "new").get(pk=replacement.pk)
        if row.undone_at is not None:
            return row
        pools = list(row.pools.values_list("old", "new"))
        in_turn = Replacement.objects.filter(
            undone_at=None, pools__old__in=[new for _old, new in pools]
        )
        if (later := in_turn.select_related("new").first()) is not None:
            raise Refused(f"{row.new} was replaced by {later.new} since. Undo that first.")
        Candidate.with_removed.filter(pk__in=[new for _old, new in pools]).update(
            removed_at=now, removed_by=by, removed_reason="Its replacement was undone."
        )
        back = Candidate.with_removed.filter(pk__in=[old for old, _new in pools])
        back.update(removed_at=None, removed_by=None, removed_reason="")
        reopen_judging(list(back.values_list("query_id", flat=True)))
        row.undone_at, row.undone_by = now, by
        row.save(update_fields=["undone_at", "undone_by"])
        record(
            project=project,
            what="document.replacement_undone",
            about=row,
            named=f"{row.old} → {row.new} · {len(pools)}",
            by=by,
            now=now,
        )
    return row


def replacements(project: Project) -> QuerySet[Replacement]:
    """Return the replacements of a project, including undone ones."""
    return Replacement.objects.filter(project=project).select_related(
        "old", "new", "by", "undone_by"
    )


def _find_new_document(project: Project, candidate: Candidate, new: NewDocument) -> Document | None:
    """Return the existing new document, or None if it has to be created."""
    try:
        check_id(new.doc_id, "doc_id")
    except ValueError as error:
        raise Refused(f"The new document has no valid id: {error}.") from error
    refuse_invalid_characters(new.title)
    refuse_invalid_characters(new.text)
    if new.doc_id == candidate.document.doc_id:
        raise Refused("This is the old document itself. Name another one.")
    if len(new.doc_id) > MAX_ID or len(new.text) > MAX_TEXT:
        raise Refused(f"An id has at most {MAX_ID} characters, and a text {MAX_TEXT:,}.")
    existing = Document.objects.filter(project=project, doc_id=new.doc_id).first()
    if existing is not None and (new.text.strip() or new.title.strip()):
        raise Refused(
            f"Document {new.doc_id[:100]} already exists. Leave title and text empty, or use "
            "another id."
        )
    if existing is None and not new.text.strip():
        raise Refused(
            f"This project has no document {new.doc_id[:100]}. Give its text, or load it first."
        )
    return existing


def _candidates_to_replace(candidate: Candidate) -> list[Candidate]:
    """Return the candidates of its document in the pools of its core query."""
    queries = [candidate.query_id, *siblings(candidate.query).values_list("pk", flat=True)]
    pooled = Candidate.objects.filter(document=candidate.document_id, query__in=queries)
    pools = list(pooled.select_related("query", "document").order_by("query"))
    if not pools:
        raise Refused("This document was already taken out of its pool.")
    return pools


def _rules_broken_by(project: Project, candidates: set[int]) -> dict[Rule, list[str]]:
    """Return the rules of the kind that these candidates break, with the ids of the pairs."""
    report = rule_report_in(project, None)
    broken: dict[Rule, list[str]] = {}
    for rule in report.rules:
        pairs = [
            status.pair.pair_id
            for status in report.pairs
            if candidates.intersection(status.breaking_candidates(rule))
        ]
        if pairs:
            broken[rule] = pairs
    return broken


def _make_document(project: Project, new: NewDocument, now: datetime) -> Document:
    markup = Document.Markup.PLAIN
    written: dict[str, Any] = {
        "markup": markup,
        "digest": text_digest(markup, new.text),
        "length": len(new.text),
    }
    made = Document.objects.create(
        project=project, doc_id=new.doc_id, title=new.title, text_version=1, **written
    )
    DocumentText.objects.create(document=made, version=1, text=new.text, created_at=now, **written)
    return made


def _add_to_pool(old: Candidate, document: Document) -> Candidate:
    """Add a document to the pool of an old candidate, with its relevance and instruction.

    If the document was taken out of that pool before, it is brought back.
    """
    fields = {
        "prior_relevance": old.prior_relevance,
        "origin": old.origin,
        "made_for_id": old.made_for_id,
    }
    made, fresh = Candidate.with_removed.get_or_create(
        query=old.query, document=document, defaults=fields
    )
    if not fresh:
        fields |= {"removed_at": None, "removed_by": None, "removed_reason": ""}
        Candidate.with_removed.filter(pk=made.pk).update(**fields)
    return made


def _take_over_claims(
    project: Project, old: Candidate, new: Candidate, of: Replacement, now: datetime
) -> None:
    """Copy the claims of machines about the old candidate to the new one."""
    claims = Judgment.objects.current().filter(candidate=old, annotator__is_machine=True)
    already_made = set(
        Judgment.objects.current().filter(candidate=new).values_list("narrative", "annotator")
    )
    read = lock_read_version(new.document_id)
    made_keys = []
    for claim in claims.prefetch_related("verdicts"):
        if (claim.narrative_id, claim.annotator_id) in already_made:
            continue
        made = Judgment.objects.create(
            uuid=uuids.uuid4(),
            narrative_id=claim.narrative_id,
            candidate=new,
            annotator_id=claim.annotator_id,
            relevance=claim.relevance,
            note=f"Taken over from {old.document.doc_id}, which this document replaces.",
            source=Judgment.Source.FILE,
            at=now,
            **read,
        )
        Verdict.objects.bulk_create(
            Verdict(statement=made, condition_id=verdict.condition_id, answer=verdict.answer)
            for verdict in claim.verdicts.all()
        )
        made_keys.append(made.pk)
    if made_keys:
        events = hash_chain.events_of_new(
            judgment_chain.KIND, Judgment.objects.filter(pk__in=made_keys)
        )
        own = hash_chain.named(
            "replacement", of.old.doc_id, of.new.doc_id, of.at, old.query.query_id
        )
        hash_chain.append(project.pk, own, events)
