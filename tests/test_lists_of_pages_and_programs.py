"""Operations of the API that return lists read the same rows as the pages of these lists.

Operations are read from the URL configuration: a test fails for one that returns a list until LISTS
names the page with the same rows, or EMPTY: set[str] = set()
WITHOUT_A_PAGE_TO_COMPARE says why there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest
from django.utils import timezone

from annotate.collection.removal import INSTRUCTIONS, QUERIES
from annotate.judgments import assignments
from annotate.models import Assignment, Flag, InstructionPair, Load
from annotate.people.accounts import deactivate
from annotate.people.invitations import invite, invite_to_installation, withdraw
from annotate.people.members import remove_member
from annotate.pools.removal import DOCUMENTS
from annotate.projects.actions import archive
from audit.models import Call
from tests import factories
from tests.attacks.test_tokens import DECLARED
from tests.test_pages_and_programs import administered_world
from tests.test_permissions import World


class Listed(NamedTuple):
    """The page with the rows of an operation, where its context has them, and what names a row."""

    page: str
    # In the page's context, "rows.query": `query` of each of the `rows`.
    rows: str
    # Of the page's row, and of the operation's.
    name: str = "pk"
    field: str = "id"
    # A page and its operation may call a filter differently.
    filters: tuple[tuple[Mapping[str, str], Mapping[str, str]], ...] = (({}, {}),)
    reader: str = "root"


def filters(name: str, *values: str) -> tuple[tuple[Mapping[str, str], Mapping[str, str]], ...]:
    """Return no filter, and each value of a filter that page and operation call the same."""
    return ({}, {}), *(({name: one}, {name: one}) for one in values)


# The page that lists the same rows as each operation.
LISTS = {
    "annotate:api_account_invitations": Listed("annotate:people", "open"),
    "annotate:api_accounts": Listed(
        "annotate:people",
        "accounts",
        filters=(({}, {}), ({"state": "closed"}, {"closed": "true"})),
    ),
    "annotate:api_assignments": Listed("annotate:person", "assignments.assignment", reader="ada"),
    "annotate:api_attribute_documents": Listed("annotate:attributes", "rows.candidate"),
    "annotate:api_attributes": Listed("annotate:attributes", "conditions", "number", "number"),
    "annotate:api_audit_log": Listed("annotate:audit_log", "lines.audit_event", "uuid", "uuid"),
    "annotate:api_candidates": Listed(
        "annotate:query",
        "candidates.candidate",
        filters=filters("state", "unjudged", "relevant"),
    ),
    "annotate:api_guidelines": Listed("annotate:guidelines", "versions", "version", "version"),
    "annotate:api_invitations": Listed("annotate:members", "open"),
    "annotate:api_loads": Listed("annotate:loads", "rows.load"),
    "annotate:api_members": Listed("annotate:members", "members"),
    "annotate:api_missing_texts": Listed(
        "annotate:missing_texts",
        "documents",
        "doc_id",
        "doc_id",
        filters=filters("show", "judged", "pool"),
    ),
    "annotate:api_pools": Listed("annotate:pools", "pools"),
    "annotate:api_project_flags": Listed(
        "annotate:flags",
        "flags",
        "candidate_id",
        "candidate",
        filters=filters("kind", "problem", "later"),
    ),
    "annotate:api_projects": Listed(
        "annotate:home", "archived.project", "slug", "slug", filters=(({}, {"archived": "true"}),)
    ),
    "annotate:api_queries": Listed(
        "annotate:queries",
        "rows.query",
        filters=filters("state", "waiting", "open", "begun", "done", "removed"),
    ),
    "annotate:api_removed_candidates": Listed(
        "annotate:removed_candidates", "candidates.document", "doc_id", "doc_id"
    ),
    "annotate:api_removed_pairs": Listed("annotate:removed_queries", "pairs", "pair_id"),
    "annotate:api_removed_queries": Listed("annotate:removed_queries", "queries", "query_id"),
    "annotate:api_replacements": Listed("annotate:replacements", "rows"),
    "annotate:api_topics": Listed(
        "annotate:queries", "topics", "query_id", "query_id", (({"choose": "yes"}, {}),)
    ),
    "api_installation_audit_log": Listed(
        "installation_audit_log", "lines.audit_event", "uuid", "uuid"
    ),
    "audit:api_batch": Listed("audit:batch", "rows.decision", "candidate_id", "candidate"),
    "audit:api_machine_claims": Listed("audit:machines", "labels", name="id"),
    "audit:api_model_runs": Listed("audit:models", "runs"),
    "audit:api_models": Listed("audit:models", "models.endpoint"),
    "audit:api_prompts": Listed("audit:prompt", "versions", "version", "version"),
    "audit:api_model_calls": Listed(
        "audit:model_calls", "calls", filters=filters("show", "answered", "failed", "in_doubt")
    ),
    "audit:api_reports": Listed("audit:agreement_reports", "rows.report"),
    "audit:api_reviews": Listed("audit:reviews", "rows.narrative", field="narrative.id"),
    "audit:api_rubrics": Listed("audit:rubric", "others.rubric", "name", "rubric.name"),
    "audit:api_sample_labels": Listed("audit:sample", "rows", filters=filters("show", "unchecked")),
    "audit:api_samples": Listed("audit:checks", "rows.sample"),
    "exporters:api_evaluations": Listed("exporters:evaluations", "evaluations.evaluation"),
    "exporters:api_exports": Listed("exporters:exports", "exports"),
    "exporters:api_releases": Listed("exporters:releases", "releases.release"),
}
WITHOUT_A_PAGE_TO_COMPARE = {
    "annotate:api_document_views": "the judge page shows one document",
    "annotate:api_filters": "figures, one function for both",
    "annotate:api_flags": "the judge page shows the answer to one document",
    "annotate:api_formats": "choices of a form",
    "annotate:api_labelled": "figures, one function for both",
    "annotate:api_judgments": "the judge page shows the answer to one document",
    "annotate:api_kinds": "choices of a form",
    "annotate:api_narratives": "the page of the history renders them side by side",
    "annotate:api_pairs": "each query's page shows its pairs",
    "annotate:api_rewrite_impact": "tests/rewriting compares it with the page",
    "api_examples": "choices of a form",
    "audit:api_category_figures": "figures, one function for both",
    "audit:api_coverage": "figures, one function for both",
    "audit:api_disagreements": "one function for both, with many filters: tests/settling",
    "audit:api_reveals": "the audit log shows them",
    "audit:api_runs": "choices of forms",
    "audit:api_second_look": "figures, one function for both",
    "audit:api_suspects": "one function for both, with many parameters: tests/checks",
    "exporters:api_release_changes": "files compared by one function: tests/releases",
}


@pytest.fixture(scope="module")
def crowded_of_file(rows_of_file: None) -> World:
    """A project in which each list has rows that it shows, and rows that are gone."""
    tides = administered_world()
    project = tides.project
    root, ada = (project.memberships.get(name=name) for name in ("root", "ada"))
    administrator = factories.user("root")
    begun, not_begun, waiting, done, removed = (
        factories.query(project, one) for one in ("302", "303", "304", "305", "306")
    )
    for query in (begun, not_begun, done):
        pair = factories.pair(query)
        factories.candidate(query, text=None)
    factories.candidate(begun)
    factories.pair(waiting, altered=None)
    factories.pair(removed)
    factories.pair(not_begun, pair_id="303_2")
    for query in (begun, done):
        narrative = factories.altered(InstructionPair.objects.get(query=query))
        for judge in (ada, factories.member(project, f"judge of {query.query_id}")):
            factories.judgment(narrative, query.candidates.earliest("pk"), judge)
    out = factories.candidate(tides.pair.query, "OUT")
    DOCUMENTS.remove(project=project, keys=[out.pk], reason="Off topic.", by=root)
    QUERIES.remove(project=project, keys=[removed.pk], reason="Off topic.", by=root)
    gone = project.pairs.get(pair_id="303_2")
    INSTRUCTIONS.remove(project=project, keys=[gone.pk], reason="Off topic.", by=root)

    narrative, query = factories.altered(tides.pair), tides.pair.query
    for kind, by in (("later", ada), ("problem", ada), ("problem", factories.machine(project))):
        flagged = {"candidate": factories.candidate(query), "annotator": by, "flag": kind}
        Flag.objects.create(narrative=narrative, **flagged, note="So.")
    cleared = {"flag": "problem", "note": "So.", "ended_at": timezone.now()}
    Flag.objects.create(narrative=narrative, candidate=tides.candidate, annotator=ada, **cleared)

    # One label that two machines claim differently, and one that they claim alike.
    for grades in ((1, 0), (1, 1)):
        claimed = factories.candidate(query)
        for name, grade in zip(("first", "second"), grades, strict=True):
            machine = project.memberships.filter(name=name).first()
            machine = machine or factories.machine(project, name)
            factories.judgment(narrative, claimed, machine, grade)
    # Calls of a model that were answered and that failed, beside one that is in doubt.
    in_doubt = Call.objects.get(run__project=project)
    for end in ({"value": {"grade": 1}}, {"failure": "busy", "reason": "Wait."}):
        Call.objects.create(
            run=in_doubt.run,
            pair=in_doubt.pair,
            narrative=in_doubt.narrative,
            candidate=in_doubt.candidate,
            text_version=1,
            key="1" * 64,
            request={"messages": []},
            reserved_tokens=10,
            answered_at=timezone.now(),
            **end,
        )
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
    remove_member(member=factories.member(project, "eve"), by=root)
    deactivate(user=factories.user("closed"), by=administrator)
    withdraw(invitation=invite(role="annotator", by=root).invitation, by=administrator)
    withdraw(invitation=invite_to_installation(by=administrator).invitation, by=administrator)
    archive(by=factories.lead(factories.project("old"), "root"))
    others = factories.project("old-of-others")
    factories.member(others, "root")
    archive(by=factories.lead(others, "carla"))
    file = {"project": project, "by": root, "format": "trec-qrels", "file_name": "a.txt"}
    preview = Load.objects.create(**file)
    Load.objects.create(**file, dry_run=False, preview=preview)
    return tides


@pytest.fixture
def crowded(crowded_of_file: World, copy_rows: Callable[[World], World]) -> World:
    return copy_rows(crowded_of_file)


def rows_of_page(context: Any, path: str) -> list[Any]:
    """Return what a page's context has at "rows.query": `query` of each of the `rows`."""
    name, _, rest = path.partition(".")
    return [value_at(row, rest) if rest else row for row in context[name]]


def value_at(row: Any, path: str) -> Any:
    for name in path.split("."):
        row = row[name] if isinstance(row, dict) else getattr(row, name)
    return row


def test_every_list_of_the_api_has_the_page_with_the_same_rows():
    lists = {name for name, verb, one in DECLARED if verb == "GET" and (one.paged or one.many)}

    assert lists == LISTS.keys() | WITHOUT_A_PAGE_TO_COMPARE.keys()
    assert LISTS.keys().isdisjoint(WITHOUT_A_PAGE_TO_COMPARE)


@pytest.mark.parametrize("operation", LISTS)
def test_a_list_of_the_api_has_the_rows_of_its_page(crowded, client, operation):
    listed = LISTS[operation]
    client.force_login(factories.user(listed.reader))

    for on_page, in_api in listed.filters:
        context = client.get(crowded.url(listed.page), on_page).context
        shown = [value_at(one, listed.name) for one in rows_of_page(context, listed.rows)]
        content = client.get(crowded.url(operation), {"page_size": 200, **in_api}).json()
        rows = content["results"] if isinstance(content, dict) else content

        assert {str(value_at(row, listed.field)) for row in rows} == set(map(str, shown))
        assert shown, on_page


@pytest.mark.parametrize("reader", ["root", "ada"])
def test_the_documents_of_a_query_have_the_order_of_its_page(crowded, client, reader):
    for number in range(6):
        factories.candidate(crowded.pair.query, f"more {number}")
    client.force_login(factories.user(reader))
    shown = client.get(crowded.url("annotate:query")).context["candidates"]

    read, address = [], crowded.url("annotate:api_candidates") + "?page_size=2"
    while address:
        content = client.get(address).json()
        read += [row["id"] for row in content["results"]]
        address = content["next"]

    assert read == [one.candidate.pk for one in shown]
    assert (read == sorted(read)) == (reader == "root")


def test_an_unknown_place_in_the_documents_of_a_query_is_refused(crowded, client):
    client.force_login(factories.user("ada"))

    response = client.get(crowded.url("annotate:api_candidates"), {"cursor": "0"})

    assert response.status_code == 400


def test_the_topics_have_pages(crowded, client):
    factories.query(crowded.pair.project, "another")
    client.force_login(factories.user("root"))

    read, address = [], crowded.url("annotate:api_topics") + "?page_size=1"
    while address:
        content = client.get(address).json()
        assert len(content["results"]) == 1
        read += [row["query_id"] for row in content["results"]]
        address = content["next"]

    in_use = crowded.pair.project.queries.filter(removed_at__isnull=True).order_by("pk")
    assert read == list(in_use.values_list("query_id", flat=True))
    assert len(read) > 1
