"""Pages need as many database queries for a large project as for a small one."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.models import Candidate, Document, DocumentText, Flag, Judgment, Run, RunLine
from tests import factories


@pytest.fixture
def carla(db):
    client = Client()
    client.force_login(factories.user("carla"))
    return client


def make_project(slug: str, *, queries: int, documents: int):
    """Create a project that carla leads; ada and ben have judged all of it, differently."""
    project = factories.project(slug)
    factories.lead(project)
    people = [factories.member(project, name) for name in ("ada", "ben")]
    for number in range(queries):
        pair = factories.pair(query := factories.query(project, f"{300 + number}"))
        narrative = factories.altered(pair)
        for person in people:
            factories.assignment(pair, person)
        for _ in range(documents):
            candidate = factories.candidate(query)
            for relevance, person in enumerate(people):
                factories.judgment(narrative, candidate, person, relevance)
    return project


def count_queries(client: Client, path: str) -> int:
    client.get(path)
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(path)
    assert answer.status_code == 200
    return len(queries)


def test_the_project_page_asks_the_same_queries_however_much_was_judged(carla):
    make_project("small", queries=1, documents=1)
    make_project("large", queries=3, documents=3)

    small, large = (count_queries(carla, f"/projects/{slug}/") for slug in ("small", "large"))

    assert small == large
    assert large <= 40


def test_home_asks_no_further_query_for_a_further_project(carla):
    make_project("first", queries=1, documents=1)
    one = count_queries(carla, "/")
    make_project("second", queries=2, documents=2)

    assert count_queries(carla, "/") == one


# Each list of a project for its lead -> the most database queries it may take.
LISTS = {
    "queries": 13,
    "progress": 24,
    "matrix": 17,
    "flags": 9,
    "members": 6,
    "guidelines": 6,
    "disagreements": 21,
    "disagreements/?state=settled": 16,
    "disagreements/?order=effect": 21,
    "disagreements/reveals": 5,
    "differences": 15,
    "collection": 19,
    "agreement": 16,
    "reviews": 15,
    "checks": 6,
    "suspects": 6,
    "loads": 9,
    "missing-texts": 5,
    "exports": 8,
    "releases": 7,
    "pools": 10,
    "replacements": 6,
    "removed-candidates": 6,
    "removed-queries": 8,
    "queries/?choose=yes": 14,
    "audit-log": 7,
}


def test_each_list_asks_the_same_queries_however_many_rows_there_are(carla):
    make_project("small", queries=1, documents=1)
    make_project("large", queries=4, documents=3)

    def queries_by_page(slug: str) -> dict[str, int]:
        addresses = {one: one if "?" in one else f"{one}/" for one in LISTS}
        return {
            one: count_queries(carla, f"/projects/{slug}/{end}") for one, end in addresses.items()
        }

    small, large = queries_by_page("small"), queries_by_page("large")

    assert large == small
    assert {one: number for one, number in large.items() if number > LISTS[one]} == {}


def fill_project(slug: str, *, queries: int, documents: int, people: int) -> None:
    """Create a project with judgments, flags and a run of all its documents.

    The rows of each table are inserted together, so that there can be thousands.
    """
    project = factories.project(slug)
    factories.lead(project)
    members = [factories.member(project, f"ada{number}") for number in range(people)]
    run = Run.objects.create(project=project, name="bm25")
    narratives = {}
    for number in range(queries):
        query = factories.query(project, f"{300 + number}")
        narratives[query] = factories.altered(factories.pair(query))
    made = Document.objects.bulk_create(
        Document(project=project, doc_id=f"D{number}", text_version=1, length=4)
        for number in range(queries * documents)
    )
    DocumentText.objects.bulk_create(
        DocumentText(document=one, text="Text", markup=one.markup, digest=one.digest, length=4)
        for one in made
    )
    pool = Candidate.objects.bulk_create(
        Candidate(query=query, document=made[place * documents + rank], prior_relevance=1)
        for (place, query), rank in product(enumerate(narratives), range(documents))
    )
    Judgment.objects.bulk_create(
        Judgment(
            narrative=narratives[one.query],
            candidate=one,
            annotator=members[(rank + relevance) % people],
            relevance=relevance,
            text_version=1,
        )
        for (rank, one), relevance in product(enumerate(pool), (0, 1))
    )
    Flag.objects.bulk_create(
        Flag(
            narrative=narratives[one.query],
            candidate=one,
            annotator=members[(rank + 2) % people],
            flag=Flag.Kind.PROBLEM,
            note="Two in one.",
            text_version=1,
        )
        for rank, one in enumerate(pool)
    )
    RunLine.objects.bulk_create(
        RunLine(run=run, query=one.query, document=one.document, rank=rank + 1, score=-rank)
        for rank, one in enumerate(pool)
    )


def rows_read(client: Client, path: str) -> Counter[str]:
    """Open a page; return the most rows that one of its queries reads from each table."""
    most: Counter[str] = Counter()

    def explain(execute: Any, sql: Any, parameters: Any, many: bool, context: Any) -> Any:
        if str(sql).lstrip().startswith(("SELECT", "WITH")):
            cursor = connection.connection.cursor()
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", parameters)
            (found,) = cursor.fetchone()
            plan = json.loads(found) if isinstance(found, str) else found
            for table, rows in _scanned(plan[0]["Plan"]).items():
                most[table] = max(most[table], rows)
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(explain):
        assert client.get(path).status_code == 200
    return most


def _scanned(plan: dict[str, Any]) -> Counter[str]:
    found: Counter[str] = Counter()
    if "Relation Name" in plan:
        rows = sum(plan.get(f"Rows Removed by {how}", 0) for how in ("Filter", "Index Recheck"))
        found[plan["Relation Name"]] = round((plan["Actual Rows"] + rows) * plan["Actual Loops"])
    for part in plan.get("Plans", ()):
        found += _scanned(part)
    return found


@pytest.mark.postgresql
def test_no_page_of_a_project_reads_the_rows_of_another(carla):
    fill_project("small", queries=2, documents=3, people=3)
    fill_project("large", queries=30, documents=100, people=60)
    with connection.cursor() as cursor:
        # Without the second, PostgreSQL reads small tables whole, whatever a query asks for.
        cursor.execute("ANALYZE; SET LOCAL enable_seqscan = off")
    ends = [one if "?" in one else f"{one}/" for one in LISTS]
    query = Candidate.objects.filter(query__project__slug="small").values_list("query")[0][0]
    addresses = ["", *ends, f"queries/{query}/", "publication/"]

    found = {end: rows_read(carla, f"/projects/small/{end}") for end in addresses}

    # The small project has at most 12 rows in a table, the large one at least 3,000 in each of
    # these.
    too_many = {
        (end, table): rows
        for end, tables in found.items()
        for table, rows in tables.items()
        if rows > 500
    }
    assert too_many == {}
    # 6 flags; in so small a project PostgreSQL may read its 12 judgments in the same table too.
    assert 6 <= found["flags/"]["annotate_statement"] <= 18


@pytest.mark.postgresql
def test_pages_read_no_more_judgments_than_they_need(carla):
    """The page of a query reads those of that query, and publication one under each narrative."""
    fill_project("large", queries=30, documents=100, people=60)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE; SET LOCAL enable_seqscan = off")
    query = Candidate.objects.values_list("query")[0][0]

    of_query = rows_read(carla, f"/projects/large/queries/{query}/")
    publication = rows_read(carla, "/projects/large/publication/")

    # Of 6,000 in the project.
    assert of_query["annotate_statement"] <= 400
    assert publication["annotate_statement"] <= 30
