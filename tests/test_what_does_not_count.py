"""Answers that were taken out, replaced or withdrawn change no figure, on no page and in no file.

The lead of an example and an annotator open each kind of page that links lead to, before and after
such answers are added. DIFFERENT names the pages that show these answers on purpose. Qrels and the
figures of agreement are compared likewise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from difflib import unified_diff
from html import unescape
from io import StringIO
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.urls import resolve, reverse
from pytest_django.plugin import DjangoDbBlocker

from annotate.collection.removal import INSTRUCTIONS, QUERIES
from annotate.judgments.cached_counts import clear_caches
from annotate.judgments.models import Statement
from annotate.models import Candidate, Condition, InstructionPair, Narrative, Project, Query, User
from annotate.pools.removal import DOCUMENTS
from audit.models import Rating, Review
from audit.reports.reliability import agreement_of
from config.examples.making import make_example
from config.examples.tides import ensure_example
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.long]

READERS = ("carla", "ada")

# Pages that show on purpose what does not count.
DIFFERENT = {
    "annotate:audit_log": "lists that something was taken out",
    "annotate:person": "counts the answers of a day, and how many of them no longer count",
    "annotate:pools": "says how many documents are taken out",
    "annotate:progress": "counts the answers of a day, and how many of them no longer count",
    "annotate:query": "lists the instructions and documents that are taken out",
    "annotate:removed_candidates": "lists the documents that are taken out",
    "annotate:removed_queries": "lists the queries and instructions that are taken out",
    "audit:reviews": "lists instructions that are taken out, and says so",
    "audit:rubric": "counts every review under the rubric",
    "exporters:new_release": "counts all rows that the archive contains",
    "exporters:publication": "counts the instructions that are left out",
}

# The line of a page after which it counts what was loaded, and what each person did.
ONLY_UNTIL = {"annotate:project": "Steps"}
# How the addresses of pages about projects begin, other than the first page.
OF_PROJECTS = ("/notices/", "/projects/", "/pairs/", "/narratives/", "/conditions/", "/samples/")
_INVISIBLE = re.compile(r"(?s)<(script|style|template)\b.*?</\1>|<!--.*?-->")
_MAIN = re.compile(r"(?s)<main\b.*</main>")
_TAG = re.compile(r"<[^<>]+>")
_LINK = re.compile(r'\bhref="([^"#]+)')


@pytest.fixture(scope="module", params=["own", "followtable"])
def project(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Project]:
    """Make the example of a kind once for this file; each test is rolled back."""
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock(), transaction.atomic():
        patch.setattr(settings, "DATA", tmp_path_factory.mktemp("data"))
        patch.setattr("jobs.runner.PULSE", 3_600)
        if request.param == "own":
            ensure_example()
            yield Project.objects.get()
        else:
            for name in ("ada", "ben", "dan"):
                factories.user(name)
            carla = factories.user("carla")
            yield make_example(kind=request.param, by=carla, with_accounts=True)
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def before(project: Project) -> dict[str, dict[str, list[str]]]:
    """The lines of every kind of page, by reader and address."""
    clear_caches()
    start = reverse("annotate:project", args=[project.slug])
    pages = {name: read_every_kind(name, start) for name in READERS}
    # Few pages would mean that links were not followed.
    assert len(pages["carla"]) > 50
    assert len(pages["ada"]) > 10
    return pages


def read_every_kind(name: str, start: str) -> dict[str, list[str]]:
    """Open each kind of page that links lead to: each route without a filter, and with each one."""
    client = client_of(name)
    pages: dict[str, list[str]] = {}
    kinds: set[tuple[str, str]] = set()
    to_open = [start]
    for address in to_open:
        route, filter_name = kind_of(address)
        if (route, filter_name) in kinds:
            continue
        kinds.add((route, filter_name))
        answer = client.get(address, follow=True)
        if answer.status_code == 200 and answer["Content-Type"].startswith("text/html"):
            page = answer.content.decode()
            if route not in DIFFERENT:
                pages[address] = lines_of(page, route)
            links = (urljoin(address, unescape(link)) for link in _LINK.findall(page))
            to_open += [link for link in links if link == "/" or link.startswith(OF_PROJECTS)]
    return pages


def client_of(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


def kind_of(address: str) -> tuple[str, str]:
    """Return the route of an address, and the name of its first filter."""
    parts = urlsplit(address)
    return resolve(parts.path).view_name, parts.query.partition("=")[0]


def lines_of(page: str, route: str) -> list[str]:
    """Return the lines that a page shows in its main part, for a page in ONLY_UNTIL the first."""
    main = _MAIN.search(page)
    text = _TAG.sub("\n", _INVISIBLE.sub("", main[0] if main else page))
    lines = (" ".join(line.split()) for line in unescape(text).split("\n"))
    until = ONLY_UNTIL.get(route)
    return [line for line in takewhile(lambda line: line != until, lines) if line]


def take_out(project: Project) -> None:
    """Add documents, instructions and a query, judged and reviewed, and take them out."""
    queries = list(project.queries.filter(removed_at=None))
    documents = [factories.candidate(query, prior=1) for query in queries]
    for candidate in documents:
        for narrative in Narrative.objects.current().filter(pair__query=candidate.query):
            add_answers(narrative, [candidate])
    pairs = [
        add_instruction(query, query.candidates.filter(made_for=None)[:4]) for query in queries[:4]
    ]
    query = factories.query(project, "new")
    add_instruction(query, [factories.candidate(query, prior=1) for _ in range(6)])

    lead = project.memberships.get(name="carla")
    for kind, rows in ((DOCUMENTS, documents), (INSTRUCTIONS, pairs), (QUERIES, [query])):
        keys = [row.pk for row in rows]
        kind.remove(project=project, keys=keys, reason="Out of scope.", by=lead)


def judge_again(project: Project) -> None:
    """Put another answer before each judgment, which replaces it."""
    for judgment in current_judgments(project):
        replaced = add_earlier(judgment, ended_at=judgment.at)
        Statement.objects.filter(pk=judgment.pk).update(replaces=replaced)


def withdraw(project: Project) -> None:
    """Put another answer before each judgment, which was withdrawn before it was made."""
    for judgment in current_judgments(project):
        withdrawn_at = judgment.at - timedelta(hours=1)
        add_earlier(judgment, ended_at=withdrawn_at, withdrawn_at=withdrawn_at)


def current_judgments(project: Project) -> Iterable[Statement]:
    current = Statement.objects.filter(ended_at=None, repeat=False, relevance__isnull=False)
    return current.filter(
        annotator__project=project, annotator__is_machine=False, replaces__isnull=True
    )


def add_earlier(judgment: Statement, **fields: Any) -> Statement:
    return Statement.objects.create(
        narrative=judgment.narrative,
        candidate=judgment.candidate,
        annotator=judgment.annotator,
        text_version=judgment.text_version,
        relevance=0 if judgment.relevance else 1,
        at=judgment.at - timedelta(hours=3),
        **fields,
    )


def add_instruction(query: Query, candidates: Iterable[Candidate]) -> InstructionPair:
    """Add an instruction with answers, and with reviews that reject it and that do not."""
    like = query.project.pairs.filter(removed_at=None).earliest("pk")
    pair = factories.pair(
        query,
        pair_id=f"new-{query.pk}",
        category=like.category,
        origin=like.origin,
        model=like.model,
    )
    narrative = factories.altered(pair)
    Condition.objects.create(narrative=narrative, number=1, text="At sea.")
    add_answers(narrative, candidates)
    earlier = Review.objects.submitted().filter(auditor__project=query.project).earliest("pk")
    for auditor, level, place in (("ada", "poor", 2), ("ben", "excellent", 0)):
        review = Review.objects.create(
            narrative=narrative,
            auditor=query.project.memberships.get(name=auditor),
            rubric=earlier.rubric,
            started_at=earlier.started_at,
            submitted_at=earlier.submitted_at,
        )
        for criterion in earlier.ratings.values_list("criterion", flat=True):
            Rating.objects.create(
                review=review,
                criterion=criterion,
                level=level,
                place=place,
                rejects=level == "poor",
                words="Unclear." if level == "poor" else "",
            )
    return pair


def add_answers(narrative: Narrative, candidates: Iterable[Candidate]) -> None:
    """Add grades of people who disagree, a flag, and the grade of a machine; all of them old."""
    members = narrative.pair.project.memberships
    machine = members.filter(is_machine=True).get().name
    answers: dict[str, dict[str, Any]] = {
        "ada": {"relevance": 0, "active_ms": 60_000},
        "ben": {"relevance": 1, "active_ms": 60_000},
        "dan": {"flag": "problem", "note": "Not this one."},
        machine: {"relevance": 0, "source": Statement.Source.FILE},
    }
    at = Statement.objects.filter(annotator__in=members.all()).earliest("at").at
    for candidate in candidates:
        for name, answer in answers.items():
            annotator = members.get(name=name)
            Statement.objects.create(
                narrative=narrative, candidate=candidate, annotator=annotator, at=at, **answer
            )


every_way = pytest.mark.parametrize("add", [take_out, judge_again, withdraw])


@every_way
@pytest.mark.parametrize("name", READERS)
def test_pages_stay_the_same(
    add: Callable[[Project], None],
    name: str,
    project: Project,
    before: dict[str, dict[str, list[str]]],
) -> None:
    add(project)
    clear_caches()
    client = client_of(name)

    changed = {}
    for address, lines in before[name].items():
        page = client.get(address, follow=True).content.decode()
        changed[address] = list(unified_diff(lines, lines_of(page, kind_of(address)[0]), n=1))

    assert {address: lines for address, lines in changed.items() if lines} == {}


@every_way
def test_qrels_and_agreement_stay_the_same(
    add: Callable[[Project], None], project: Project, tmp_path: Path
) -> None:
    files, agreement = write_qrels(project, tmp_path / "before"), agreement_figures(project)

    add(project)

    assert write_qrels(project, tmp_path / "after") == files
    assert agreement_figures(project) == agreement


def write_qrels(project: Project, folder: Path) -> dict[str, bytes]:
    call_command("export", project.slug, "trec", output=str(folder), stdout=StringIO())
    return {path.name: path.read_bytes() for path in folder.glob("*qrels*")}


def agreement_figures(project: Project) -> tuple[Any, Any]:
    figures = agreement_of(project, seed=1, resamples=100)
    return figures["judgments"], figures["reviews"]
