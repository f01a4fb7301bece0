"""A new text reopens the assignments of those pairs whose judges are shown the document."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotate.models import Assignment, Candidate, Project
from annotate.pairs.pool import candidates_to_judge
from tests import factories
from tests.collection.arriving import jsonl, load

pytestmark = pytest.mark.both_databases

# By scope: the pairs whose judges are shown each document.
SHOWN = {
    Project.Scope.RELEVANT: {"relevant": ["p", "q"], "relevant made for p": ["p"]},
    Project.Scope.EXISTING: {
        "relevant": ["p", "q"],
        "irrelevant": ["p", "q"],
        "unjudged": ["p", "q"],
    },
    Project.Scope.POOL: {
        "relevant": ["p", "q"],
        "irrelevant": ["p", "q"],
        "unjudged": ["p", "q"],
        "relevant made for p": ["p"],
        "made for p": ["p"],
    },
}
DOCUMENTS = {
    "relevant": 1,
    "irrelevant": 0,
    "unjudged": None,
    "relevant made for p": 1,
    "made for p": None,
    "removed": 1,
}


@pytest.fixture
def project(db):
    """A project with six documents, and one judging assignment of each of two pairs."""
    project = factories.project(relevant_from=1)
    ada, query = factories.member(project, "ada"), factories.query(project)
    pairs = {name: factories.pair(query, pair_id=name) for name in "pq"}
    for pair in pairs.values():
        factories.assignment(pair, ada)
    for name, prior in DOCUMENTS.items():
        candidate = factories.candidate(query, name.replace(" ", "-"), prior)
        if name.endswith("made for p"):
            candidate.made_for = pairs["p"]
        if name == "removed":
            candidate.removed_at, candidate.removed_reason = timezone.now(), "Off topic."
        candidate.save()
    return project


@pytest.mark.parametrize("scope", Project.Scope)
def test_a_new_text_reopens_what_judges_are_shown(project, scope):
    Project.objects.filter(pk=project.pk).update(judge_scope=scope)
    project.refresh_from_db()
    shown, reopened, now = {}, {}, timezone.now()

    for name in DOCUMENTS:
        doc_id = name.replace(" ", "-")
        Assignment.objects.update(touched_at=now, done_at=now)
        load(project, "docs-jsonl", jsonl({"doc_id": doc_id, "text": "Another text."}))
        found = Assignment.objects.filter(done_at=None).order_by("pair__pair_id")
        reopened[name] = list(found.values_list("pair__pair_id", flat=True))
        candidate = Candidate.with_removed.get(document__doc_id=doc_id)
        shown[name] = [
            pair.pair_id
            for pair in project.pairs.order_by("pair_id")
            if candidates_to_judge(pair).filter(pk=candidate.pk).exists()
        ]

    assert {name: pairs for name, pairs in reopened.items() if pairs} == SHOWN[scope]
    assert reopened == shown
