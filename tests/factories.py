"""Factories of the cast and of rows, with as few arguments as a test needs.

ada and ben judge the same pairs; carla leads and adjudicates; dan audits; eve belongs to another
project.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from annotate.models import (
    Assignment,
    Candidate,
    Document,
    DocumentText,
    Grade,
    InstructionPair,
    Judgment,
    Membership,
    Narrative,
    Project,
    Query,
    User,
)

PASSWORD = "a long enough password"
_number = count(1)


def user(name: str) -> User:
    """Return an account that can sign in with PASSWORD; create it if necessary."""
    found = User.objects.filter(username=name).first()
    return found or User.objects.create_user(name, password=PASSWORD)


def project(slug: str = "tides", *, grades: tuple[int, ...] = (0, 1, 2), **fields: Any) -> Project:
    """Create a project with its grades and no members."""
    made = Project.objects.create(slug=slug, name=slug.capitalize(), **fields)
    names = {0: "Not relevant", 1: "Relevant", 2: "Highly relevant"}
    Grade.objects.bulk_create(
        Grade(project=made, value=value, name=names.get(value, f"Grade {value}"))
        for value in grades
    )
    return made


def member(of: Project, name: str, role: str = Membership.Role.ANNOTATOR) -> Membership:
    """Create a member of a project."""
    return Membership.objects.create(project=of, user=user(name), name=name, role=role)


def lead(of: Project, name: str = "carla") -> Membership:
    """Create a lead of a project."""
    return member(of, name, Membership.Role.LEAD)


def machine(of: Project, name: str = "model") -> Membership:
    """Create a machine rater."""
    return Membership.objects.create(project=of, name=name, is_machine=True)


def document(
    of: Project, doc_id: str | None = None, text: str | None = "Some text.", **fields: Any
) -> Document:
    """Create a document; with `text=None` only its id is known."""
    made = Document.objects.create(
        project=of,
        doc_id=doc_id or f"D{next(_number)}",
        length=None if text is None else len(text),
        text_version=None if text is None else 1,
        **fields,
    )
    if text is not None:
        DocumentText.objects.create(
            document=made, text=text, markup=made.markup, digest=made.digest, length=len(text)
        )
    return made


def query(of: Project, query_id: str = "301", title: str = "tidal power") -> Query:
    """Create a query."""
    return Query.objects.create(project=of, query_id=query_id, title=title)


def candidate(
    of: Query, doc_id: str | None = None, prior: int | None = 1, **fields: Any
) -> Candidate:
    """Create a document in a query's pool."""
    return Candidate.objects.create(
        query=of,
        document=document(of.project, doc_id, **fields),
        prior_relevance=prior,
        origin=Candidate.Origin.RUN if prior is None else Candidate.Origin.PRIOR,
    )


def pair(
    of: Query,
    *,
    original: str = "Any plant counts.",
    altered: str | None = "Only plants at sea count.",
    **fields: Any,
) -> InstructionPair:
    """Create a pair with version 1 of its narratives; `altered=None`: not written yet."""
    made = InstructionPair.objects.create(
        project=of.project, query=of, **{"pair_id": of.query_id, **fields}
    )
    # Current from the start: `save` would compare each with the other versions of its side.
    first = [Narrative(pair=made, side=Narrative.Side.ORIGINAL, text=original, is_current=True)]
    if altered is not None:
        first.append(
            Narrative(
                pair=made,
                side=Narrative.Side.ALTERED,
                text=altered,
                origin=made.origin,
                model=made.model,
                is_current=True,
            )
        )
    Narrative.objects.bulk_create(first)
    return made


def narrative(
    of: InstructionPair,
    side: str = Narrative.Side.ALTERED,
    text: str = "Only plants at sea count.",
    version: int = 1,
    **fields: Any,
) -> Narrative:
    """Create one version of a narrative."""
    return Narrative.objects.create(pair=of, side=side, text=text, version=version, **fields)


def altered(of: InstructionPair) -> Narrative:
    """Return the pair's current altered narrative."""
    return of.narratives.filter(side=Narrative.Side.ALTERED).latest("version")


def assignment(
    of: InstructionPair, by: Membership, task: str = Assignment.Task.JUDGE
) -> Assignment:
    """Create an assignment, even if the rules would not allow it."""
    taken = Assignment.objects.filter(pair=of, task=task).count()
    return Assignment.objects.create(pair=of, task=task, seat=taken + 1, member=by)


def judgment(
    under: Narrative, of: Candidate, by: Membership, relevance: int = 1, **fields: Any
) -> Judgment:
    """Create a judgment, by default of the document's newest text."""
    if of.document_id is not None:
        fields.setdefault("text_version", of.document.text_version)
    return Judgment.objects.create(
        narrative=under, candidate=of, annotator=by, relevance=relevance, **fields
    )
