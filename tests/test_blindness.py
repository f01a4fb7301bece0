"""Blind means blind, at every address: others' answers change no byte for a reader without answers.

Others answer in one way, and the reader reads everything; that is rolled back, others answer in
another way, and the reader reads everything again. The addresses are every named route
(`tests.test_permissions` has an example of each) and every link and filter that a lead or the
reader is offered.
"""

from __future__ import annotations

import copy
import html
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client, override_settings
from django.test.client import MULTIPART_CONTENT
from django.urls import resolve
from django_htmx.middleware import HtmxDetails
from pytest_django.plugin import DjangoDbBlocker

from annotate.collection.marking import Span
from annotate.judging import actions as judging
from annotate.models import (
    Assignment,
    Candidate,
    Condition,
    Judgment,
    Load,
    Membership,
    Project,
    Verdict,
)
from audit.checks import actions as checks
from audit.models import Check, Review, Sample, SampleItem
from audit.reviews.actions import save_ratings, submit_review
from audit.reviews.decisions import decide
from audit.settling.adjudication import adjudicate
from exporters.models import Release
from jobs import runner
from jobs.models import Job
from tests import factories
from tests.conftest import finish_all_jobs
from tests.second_pass import levels
from tests.services.copied import Copied
from tests.services.database import empty_tables, rolled_back
from tests.services.once import make_once
from tests.test_permissions import ADMINS, LEADS, RIGHTS, ROUTES, world

pytestmark = pytest.mark.long

AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
ANSWERED_AT = AT + timedelta(hours=1)
NOW = AT + timedelta(hours=2)

# Parts of a response that always differ, whatever people answered.
CHANGING = [
    re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*"|"x-csrftoken": "[^"]*"'),
    # UUIDs are random.
    re.compile(rb"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
    # The time up to which notices are marked as read.
    re.compile(rb'name="until" value="[^"]*"'),
    # The number of rows and the sum of their keys, which PostgreSQL never uses twice.
    re.compile(rb'(?:name="token" value=|"token": ?)"[0-9]+-[0-9]+"'),
]
HEADERS = ("Location", "Content-Type", "Content-Disposition", "HX-Redirect", "ETag")

LINK = re.compile(r'(?:href|hx-get|src|action|data-[a-z-]+)="(/[^"# ]*|\?[^"# ]*)')
FORM = re.compile(r"<form\b[^>]*>.*?</form>", re.DOTALL)
GET_FORM = re.compile(r'<form\b(?=[^>]*method="get")(?=[^>]*action="([^"]*)")', re.DOTALL)
SELECT = re.compile(r'<select\b[^>]*name="([^"]+)"[^>]*>(.*?)</select>', re.DOTALL)
OPTION = re.compile(r'<option\b[^>]*value="([^"]*)"')
LEFT_OUT = ("/static/", "/accounts/", "/admin/")
MOST_ADDRESSES = 1_000
# How many options of one filter are tried: people are alike, and so are criteria.
MOST_OPTIONS = 2

# Readers with a task and without an answer: a judge, an auditor, a checker and a writer.
BLIND = ("ada", "dan", "nina", "wim")
# A lead who has assignments to judge and to review.
LEAD = ("gina",)

# Routes at which everybody sees others' progress, but never their answers.
PROGRESS_ROUTES = {
    # How many judgments, assignments and labels are done, and of how many.
    *("annotate:project", "annotate:queries", "audit:reviews", "audit:checks"),
    # The same for all projects of the reader; and pages that show a message which one of these
    # pages has left.
    *("annotate:home", "api_page", "glossary"),
    *("annotate:notices", "annotate:api_notices"),
    *("annotate:api_progress", "annotate:api_queries", "annotate:api_query"),
    # Who has finished their work.
    *("annotate:query", "annotate:api_pair"),
    # That somebody has reviewed this version.
    "audit:story",
    # Which labels are left: two people have checked the others.
    *("audit:check", "audit:sample", "audit:checking", "audit:labels"),
    # The same in the API.
    *("audit:api_reviews", "audit:api_story", "audit:api_samples", "audit:api_sample"),
    *("audit:api_label", "audit:api_next_label"),
}
PROGRESS_ROUTES_OF_LEADS = {
    # How many judgments could be asked for again, and the counts of every pair and category.
    *(
        "annotate:guideline_rejudge_requests",
        "audit:differences",
        "audit:collection",
        "audit:rubric",
    ),
    "audit:agreement_reports",
    # Which machines have judged.
    "audit:new_sample",
    *("annotate:progress", "annotate:person", "annotate:api_rejudge_requests_of_guideline"),
    *("annotate:api_pace", "annotate:api_member_pace", "annotate:api_steps"),
    # That there are judgments, so grades cannot be removed; that there are figures.
    *("annotate:settings", "audit:agreement", "audit:agreement_report"),
    # The same in the API; and when work was requested and done.
    *("audit:api_differences", "audit:api_coverage", "audit:api_reports"),
    *("audit:api_category_figures", "audit:categories_table"),
    *("audit:api_sample_figures", "audit:api_sample_labels", "audit:sample_labels"),
    *("exporters:api_exports", "exporters:api_export"),
    *("exporters:api_releases", "exporters:api_release"),
}
# The status, headers and body read at each address.
Read = dict[str, tuple[int, list[str], bytes]]


KINDS = ("note", "flag", "machine", "settled", "review", "decided", "check")


class AnswerSet:
    """One set of others' answers: every number and every word of theirs."""

    def __init__(self, number: int) -> None:
        self.words = {kind: f"{kind}zebra{number}" for kind in KINDS}
        one = number == 1
        self.grades = {"ben": 0 if one else 2, "ivy": 2, "machine": 1 if one else 0}
        self.differ = one
        self.span = Span(0, 5) if one else Span(4, 10)
        self.verdicts = ("met", "not_met") if one else ("not_met", "cant_tell")
        self.levels = {"ben": "poor" if one else "excellent", "ivy": "acceptable"}
        self.checks = {"ben": 0 if one else 1, "ivy": 2 if one else 1}
        self.flag = "problem" if one else "cannot_judge"
        self.flags = ("ivy",) if one else ("ben", "ivy")
        self.active_ms = 1_234 if one else 98_765
        self.claimed = 1 if one else 2
        self.prior = 1 if one else 2


STAGE: Copied[SimpleNamespace] = Copied("stage")


@pytest.fixture(scope="module")
def committed_stage(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SimpleNamespace]:
    """The rows of `stage`: made once for all test files, and copied for each.

    They are committed and all jobs are done: a job may create a table, and then SQLite would read
    its whole schema again at each rollback within the same transaction.
    """
    files = str(tmp_path_factory.mktemp("storage"))
    with django_db_blocker.unblock():
        with pytest.MonkeyPatch.context() as patch, _storage(files):
            _as_on_stage(patch)

            def make() -> SimpleNamespace:
                made = _make_stage()
                finish_all_jobs(patch)
                return made

            made = STAGE.copy_or_make(make, tmp_path_factory, Path(files))
        made.files = files
        yield made
        empty_tables()
        connection.close()


@pytest.fixture
def stage(committed_stage, db, published, monkeypatch, finish_jobs):
    """A project with one row of every kind and people in every role, without any answers."""
    made = copy.deepcopy(committed_stage)
    made.finish_jobs = finish_jobs
    _as_on_stage(monkeypatch)
    with _storage(made.files):
        yield made


def _storage(folder: str) -> override_settings:
    """Store files in a folder of the test."""
    return override_settings(
        STORAGES={
            **settings.STORAGES,
            "default": {
                "BACKEND": "django.core.files.storage.FileSystemStorage",
                "OPTIONS": {"location": folder},
            },
        }
    )


def _as_on_stage(patch: pytest.MonkeyPatch) -> None:
    """Stop the clock, and send no messages to a broker."""
    patch.setattr("config.celery.deliver", lambda task, pk: None)
    patch.setattr("django.utils.timezone.now", lambda: NOW)


def _make_stage() -> SimpleNamespace:
    made = world("tides", "ada", "carla")
    Project.objects.filter(pk=made.project.pk).update(
        overlap_judge=6, overlap_review=6, judge_scope="pool", condition_rule="by_hand"
    )
    project = Project.objects.get(pk=made.project.pk)
    pair, first = made.pair, made.candidate
    query = pair.query
    members = {one.name: one for one in project.memberships.select_related("project")}
    for name in ("ben", "ivy", "dan", "nina", "wim"):
        members[name] = factories.member(project, name)
    members["gina"] = factories.lead(project, "gina")
    members["machine"] = factories.machine(project, "machine")
    second = factories.candidate(
        query, "Rance", text="| mill | river |\n|---|---|\n| old | Rance |", markup="markdown"
    )
    narrative = factories.altered(pair)
    Condition.objects.create(narrative=narrative, number=2, text="In use.")
    conditions = list(narrative.conditions.order_by("number"))
    SampleItem.objects.filter(pk=made.keys["audit:check.pk"]).update(claimed=1)
    sample = Sample.objects.get()
    twice = SampleItem.objects.create(
        sample=sample, narrative=narrative, candidate=second, claimed=1
    )
    for name, task in (
        *(("ben", "judge"), ("ivy", "judge"), ("gina", "judge"), ("wim", "rewrite")),
        *(("ben", "review"), ("ivy", "review"), ("dan", "review"), ("gina", "review")),
    ):
        # Not through `assignments.take`, which would refuse some of them: the writer's narrative is
        # written already.
        taken = Assignment.objects.filter(pair=pair, task=task).count()
        Assignment.objects.create(
            pair=pair, task=task, seat=taken + 1, member=members[name], taken_at=AT
        )
    Load.objects.update(state=Job.State.DONE, finished_at=AT)
    runner.run(Release.objects.get().pk)
    made.keys["after"] = "v2"
    Release.objects.create(project=project, by=members["carla"], name="v2")
    others = {"candidate": second.pk, "candidate_pk": second.pk, "name": "release.json"} | {
        f"{name}.pk": twice.pk
        for name, route in ROUTES.items()
        if str(route.pattern).startswith("labels/")
    }
    return SimpleNamespace(
        world=made,
        project=project,
        pair=pair,
        narrative=narrative,
        others=others,
        first=first,
        second=second,
        conditions=conditions,
        once=SampleItem.objects.get(pk=made.keys["audit:check.pk"]),
        twice=twice,
        members=members,
        **members,
    )


def give_answers(stage: SimpleNamespace, given: AnswerSet, *, twice: bool = True) -> None:
    """Create everybody else's answers.

    `twice`: also those that leads may see (second checks and times), and labels that came with
    files.
    """
    for name in ("ben", "ivy"):
        for candidate in (stage.first, stage.second):
            judging.judge(
                narrative=stage.narrative,
                candidate=candidate,
                relevance=given.grades[name],
                note=given.words["note"],
                # The second document is a table, in which no passage can be marked.
                evidence=[given.span] if candidate == stage.first else [],
                clauses=[given.span],
                verdicts=dict(
                    zip([one.pk for one in stage.conditions], given.verdicts, strict=True)
                ),
                # Leads may see how long people take, even while they are blind.
                active_ms=given.active_ms if twice else 1_234,
                by=stage.members[name],
                now=ANSWERED_AT,
            )
    # One of two people flags, in the other set of answers both: whether somebody gave a judgment or
    # a flag is an answer as well, and no count may reveal it.
    for name in ("ben", "ivy"):
        on = {"narrative": stage.narrative, "candidate": stage.second, "by": stage.members[name]}
        later = ANSWERED_AT + timedelta(minutes=1)
        if name in given.flags:
            judging.flag(kind=given.flag, words=given.words["flag"], now=later, **on)
        else:
            judging.judge(
                relevance=given.grades[name],
                verdicts=dict(
                    zip([one.pk for one in stage.conditions], given.verdicts, strict=True)
                ),
                note=given.words["note"],
                now=later,
                **on,
            )
    machines = factories.judgment(
        stage.narrative,
        stage.first,
        stage.machine,
        given.grades["machine"],
        note=given.words["machine"],
        at=ANSWERED_AT,
    )
    Verdict.objects.create(
        statement=machines, condition=stage.conditions[0], answer=given.verdicts[0]
    )
    if given.differ:
        adjudicate(
            narrative=stage.narrative,
            candidate=stage.first,
            relevance=1,
            reason=given.words["settled"],
            cause="edge",
            by=stage.carla,
            now=ANSWERED_AT,
        )
    for name in ("ben", "ivy"):
        level = given.levels[name]
        answers = dict.fromkeys(levels(), (level, given.words["review"]))
        save_ratings(
            narrative=stage.narrative, answers=answers, by=stage.members[name], now=ANSWERED_AT
        )
        submit_review(narrative=stage.narrative, by=stage.members[name], now=ANSWERED_AT)
    # Decided while two reviews were required; ben's says poor in one of the sets of answers.
    Project.objects.update(overlap_review=2)
    decide(
        narrative=stage.narrative,
        outcome="accepted",
        reason=given.words["decided"],
        by=project_of(stage.carla),
        now=ANSWERED_AT,
    )
    Project.objects.update(overlap_review=6)
    checks.check(
        item=stage.once,
        relevance=given.checks["ben"],
        words=given.words["check"],
        by=stage.ben,
        now=ANSWERED_AT,
    )
    if twice:
        for name in ("ben", "ivy"):
            checks.check(
                item=stage.twice,
                relevance=given.checks["ben"],
                words=given.words["check"],
                by=stage.members[name],
                now=ANSWERED_AT,
            )
        SampleItem.objects.update(claimed=given.claimed)
        Candidate.objects.update(prior_relevance=given.prior)
    stage.finish_jobs()


def add_differing_check(stage: SimpleNamespace, given: AnswerSet) -> None:
    """Let a second person check the first label differently, so that a third reads both."""
    words = given.words["check"]
    checks.check(item=stage.once, relevance=2, words=words, by=stage.ivy, now=ANSWERED_AT)


def project_of(member: Membership) -> Membership:
    """Return the member, with the project's rules reloaded."""
    member.project.refresh_from_db()
    return member


@pytest.fixture
def asking_for_htmx(monkeypatch):
    """Addresses whose views check whether htmx sent the request; the others answer it the same."""
    asking: set[str] = set()
    read_header = HtmxDetails._get_header_value

    def note(self: HtmxDetails, name: str) -> str | None:
        asking.add(self.request.get_full_path())
        return read_header(self, name)

    monkeypatch.setattr(HtmxDetails, "_get_header_value", note)
    return asking


def examples(stage: SimpleNamespace) -> dict[str, list[str]]:
    """Return addresses of every route; a route without an example raises.

    Routes for a document or a label get the addresses of both.
    """
    others = replace(stage.world, keys=stage.world.keys | stage.others)
    urls = {name: [stage.world.url(name), others.url(name)] for name in ROUTES}
    for name in ("annotate:search", "annotate:api_search"):
        urls[name] += [f"{urls[name][0]}?q={words}" for words in ("1", "e")]
    return urls


def addresses(stage: SimpleNamespace) -> list[str]:
    """Return all addresses of `examples`, each once."""
    return list(dict.fromkeys(url for urls in examples(stage).values() for url in urls))


def links(page: str, url: str) -> Iterator[str]:
    """Yield every address that a page names, in links, in attributes for scripts, in filters."""
    for link in LINK.findall(page):
        yield urljoin(url, html.unescape(link))
    for form in FORM.findall(page):
        if (action := GET_FORM.match(form)) is None:
            continue
        for name, options in SELECT.findall(form):
            for value in OPTION.findall(options)[:MOST_OPTIONS]:
                chosen = urlencode({name: html.unescape(value)})
                yield urljoin(url, f"{html.unescape(action[1]).partition('#')[0]}?{chosen}")


def answer(response: Any) -> tuple[int, list[str], bytes]:
    """Return status, headers and body of a response, without the parts that always differ."""
    body = b"".join(response) if response.streaming else response.content
    for changing in CHANGING:
        body = changing.sub(b"", body)
    headers = [f"{name}: {response.headers[name]}" for name in HEADERS if name in response.headers]
    return response.status_code, headers, body


def signed_in(member: Membership) -> Client:
    """Return a client that this person is signed in to."""
    client = Client()
    assert member.user is not None
    client.force_login(member.user)
    return client


def crawl(
    member: Membership, start: Iterable[str], *, follow: bool = True, htmx: bool = False
) -> Read:
    """Return the responses to this person at these addresses, in their order.

    With `follow`, links found on the way are followed too.
    """
    client = signed_in(member)
    waiting, read = deque(start), {}
    while waiting:
        url = waiting.popleft()
        if url in read or url.startswith(LEFT_OUT):
            continue
        response = client.get(url, headers={"HX-Request": "true"} if htmx else None)
        read[url] = answer(response)
        body = read[url][2]
        # Combined filters show nothing that single ones do not.
        if not follow or "?" in url:
            continue
        if response.status_code in {301, 302}:
            waiting.append(urljoin(url, response.headers["Location"]))
        elif response.headers["Content-Type"].startswith("text/html"):
            waiting += [one for one in dict.fromkeys(links(body.decode(), url)) if one not in read]
        assert len(read) < MOST_ADDRESSES, sorted(read)
    return read


def of_every_kind(urls: Iterable[str]) -> list[str]:
    """Return the first and the last address of each route and set of parameters."""
    found: dict[tuple[str, ...], list[str]] = {}
    for url in urls:
        parts = urlsplit(url)
        kind = (resolve(parts.path).view_name, *sorted(key for key, _ in parse_qsl(parts.query)))
        found.setdefault(kind, []).append(url)
    return [url for alike in found.values() for url in dict.fromkeys((alike[0], alike[-1]))]


def open_to_annotators(urls: Iterable[str]) -> list[str]:
    """Return the addresses without those that are refused to all annotators alike."""
    rights = {url: RIGHTS.get(resolve(urlsplit(url).path).view_name) for url in urls}
    return [url for url, right in rights.items() if right not in {*LEADS, *ADMINS}]


def read_by_lead(stage: SimpleNamespace, factory: pytest.TempPathFactory) -> dict[str, int]:
    """Return the addresses that a lead who is not blind can reach, with the status of each.

    One process of a run reads them, for all blind readers.
    """

    def read(folder: Path) -> None:
        given = AnswerSet(1)
        with rolled_back():
            give_answers(stage, given)
            add_differing_check(stage, given)
            pages = crawl(stage.carla, addresses(stage))
        # The lead sees every word that the others must not see.
        words = b"".join(body for _, _, body in pages.values())
        assert {kind for kind, word in given.words.items() if word.encode() in words} == set(KINDS)
        folder.mkdir()
        (folder / "statuses.json").write_text(json.dumps(statuses_of(pages)), encoding="utf-8")

    folder = make_once(factory, "read-by-lead", read)
    statuses: dict[str, int] = json.loads((folder / "statuses.json").read_bytes())
    return statuses


def statuses_of(read: Read) -> dict[str, int]:
    """Return the status of each address."""
    return {url: status for url, (status, _, _) in read.items()}


def find_differences(one: Read, other: Read) -> set[str]:
    """Return the addresses at which two walks got different bytes."""
    return {url for url in one.keys() | other.keys() if one.get(url) != other.get(url)}


# Routes that answer nobody with content, and the statuses that they answer instead.
SILENT = {
    # They redirect to the next document or label.
    "annotate:judging": {302},
    "audit:checking": {302},
    "audit:settling": {302},
    # It leads to the page of the job, unless a script asks for its progress.
    "annotate:job": {302, 403},
    # They lead to the page that has their form.
    "annotate:several_invitations": {302, 403},
    "annotate:topics": {302, 403},
    # For administrators only.
    "annotate:people": {403},
    "annotate:api_accounts": {403},
    "annotate:api_account_invitations": {403},
    # They require a parameter; the page of a run asks for it.
    "annotate:api_document_views": {400},
    "audit:api_model_run_plan": {400, 403},
    "audit:api_model_batch": {400, 403},
    "audit:model_batch": {302, 403},
    # No narrative is sent back.
    "annotate:api_sent_back": {404},
    # The report has no table.
    "audit:agreement_table": {403, 404},
    # The pages of one's own account are under one of the addresses LEFT_OUT.
    "annotate:account": set(),
    "annotate:sessions": set(),
}


def statuses_of_silent_routes(*reads: dict[str, int]) -> dict[str, set[int]]:
    """Return the routes that no read page has come from, with the statuses that they answered."""
    answered: dict[str, set[int]] = {name: set() for name in ROUTES if ":" in name}
    for url, status in ((url, status) for read in reads for url, status in read.items()):
        if (name := resolve(urlsplit(url).path).view_name) in answered:
            answered[name].add(status)
    # 405: the route takes only POST.
    return {name: statuses for name, statuses in answered.items() if not statuses & {200, 405}}


@pytest.mark.parametrize("names", [BLIND, LEAD], ids=["annotators", "a lead with open assignments"])
def test_others_answers_change_no_byte_except_progress(
    stage, names, asking_for_htmx, tmp_path_factory
):
    twice = names is BLIND
    known = addresses(stage)
    with rolled_back():
        stage.finish_jobs()
        before = {
            name: crawl(
                stage.members[name],
                known if name == names[0] else open_to_annotators(known),
                follow=False,
            )
            for name in names
        }
    of_lead = read_by_lead(stage, tmp_path_factory)
    found = [url for url, status in of_lead.items() if status in {200, 302} and url not in known]
    # Links that only a lead finds: two rows of a list stand for all, which are refused alike.
    start = [*known, *of_every_kind(found)]
    assert len(start) > len(ROUTES)
    read: dict[int, dict[tuple[str, str], Read]] = {}
    for number in (1, 2):
        with rolled_back():
            give_answers(stage, AnswerSet(number), twice=twice)
            read[number] = {}
            for name in names:
                asked = start if name == names[0] else open_to_annotators(start)
                pages = crawl(stage.members[name], asked)
                read[number][name, "page"] = pages
                shown = [url for url, (status, _, _) in pages.items() if status == 200]
                parts = of_every_kind(url for url in shown if url in asking_for_htmx)
                assert parts
                read[number][name, "htmx"] = crawl(
                    stage.members[name], parts, follow=False, htmx=True
                )

    assert {who: find_differences(pages, read[2][who]) for who, pages in read[1].items()} == {
        who: set() for who in read[1]
    }
    if names is BLIND:
        # Nothing is left out: somebody has read every route.
        answered = map(statuses_of, read[1].values())
        assert statuses_of_silent_routes(of_lead, *answered) == SILENT
    for pages in read[1].values():
        # No word of others is shown either, in case both sets of answers look the same.
        assert b"zebra" not in b"".join(body for _, _, body in pages.values())
    for name in names:
        after = {url: read[1][name, "page"][url] for url in before[name]}
        routes = {
            resolve(urlsplit(url).path).view_name for url in find_differences(before[name], after)
        }
        assert routes <= (
            PROGRESS_ROUTES if twice else PROGRESS_ROUTES | PROGRESS_ROUTES_OF_LEADS
        ), name
        assert "annotate:project" in routes


@pytest.mark.parametrize(
    "url",
    [
        "/projects/tides/agreement/",
        "/projects/tides/differences/",
        "/projects/tides/guidelines/1/rejudge-requests/?grade=0",
        "/projects/tides/guidelines/1/rejudge-requests/?among=differing",
    ],
)
def test_the_page_tells_a_blind_lead_why_figures_are_missing(stage, url):
    page = signed_in(stage.gina).get(url).content.decode()

    assert "You have judging or reviewing left in this project" in page


def first_requests(stage: SimpleNamespace, name: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the first requests of a blind reader: form or JSON, address, content."""
    url, narrative, first = stage.world.url, stage.narrative.pk, stage.first.pk
    verdicts = {f"verdict-{one.pk}": "met" for one in stage.conditions}
    grade = {"narrative": narrative, "relevance": 1, "uuid": UUID(int=77), **verdicts}
    judged: list[tuple[str, str, dict[str, Any]]] = [
        ("form", url("annotate:judgment"), grade),
        ("form", url("annotate:undo"), {}),
        ("form", url("annotate:flag"), {"narrative": narrative, "kind": "later"}),
        (
            "json",
            url("annotate:api_judgments"),
            {
                "uuid": str(UUID(int=78)),
                "narrative": narrative,
                "candidate": first,
                "relevance": 1,
                "verdicts": {str(one.pk): "met" for one in stage.conditions},
            },
        ),
    ]
    entry = {
        "uuid": str(UUID(int=80)),
        "user": stage.members[name].user_id,
        "pair": stage.pair.pk,
        "narrative": narrative,
        "made_at": ANSWERED_AT.isoformat(),
    }
    level = {"kind": "rating", "criterion": "semantic_expansion"}
    reviewed: list[tuple[str, str, dict[str, Any]]] = [
        (
            "json",
            url("annotate:api_journal"),
            {"entries": [{**entry, **level, "fields": {"level": "acceptable"}}]},
        ),
        (
            "form",
            url("audit:review"),
            {"narrative": narrative, "criterion": "query_dependency", "level": "poor"},
        ),
    ]
    checked = [("form", url("audit:check"), {"relevance": 1, "uuid": UUID(int=79)})]
    return {
        "ada": judged,
        "dan": reviewed,
        "nina": checked,
        "gina": [*judged, *reviewed, *checked],
    }[name]


@pytest.mark.parametrize(
    ("name", "kept"),
    [("ada", (2, 0, 0)), ("dan", (0, 1, 0)), ("nina", (0, 0, 1)), ("gina", (2, 1, 1))],
)
def test_the_response_to_a_first_answer_reveals_nothing_of_others(stage, name, kept):
    blind = stage.members[name]
    answers: dict[int, list[Any]] = {1: [], 2: []}
    for number in (1, 2):
        with rolled_back():
            give_answers(stage, AnswerSet(number), twice=not blind.leads)
            client = signed_in(blind)
            for shape, url, data in first_requests(stage, name):
                kind = "application/json" if shape == "json" else MULTIPART_CONTENT
                response = client.post(url, data, content_type=kind, follow=True)
                answers[number].append((url, *answer(response)))
            # Their request was stored, so the response is not a refusal.
            counts = (
                Judgment.objects.filter(annotator=blind).count(),
                Review.objects.filter(auditor=blind).count(),
                Check.objects.filter(checker=blind).count(),
            )
            assert counts == kept

    assert answers[1] == answers[2]
