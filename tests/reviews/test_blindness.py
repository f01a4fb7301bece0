"""Blind means blind: no page reveals others' answers to someone who has not answered yet."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import Assignment, Judgment, Project
from audit.models import AgreementReport
from audit.reports.actions import compute_agreement
from audit.reviews.actions import save_ratings, submit_review
from audit.reviews.decisions import decide
from audit.settling.adjudication import adjudicate
from jobs.runner import Progress
from tests import factories
from tests.second_pass import levels
from tests.test_blindness import asking_for_htmx

__all__ = ["asking_for_htmx"]

LINK = re.compile(r'(?:href|hx-get|action)="(/[^"#]*)"')

# A unique word for each note, review and decision.
ADA, BEN, MACHINE = "Anchovy", "Banjo", "Machete"
BENS_REVIEW, DANS_DRAFT, SETTLED, DECIDED = "Bassoon", "Dandelion", "Sextant", "Deckchair"
SECRETS = {ADA, BEN, MACHINE, BENS_REVIEW, DANS_DRAFT, SETTLED, DECIDED}


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    """Ada and ben have judged and differ; ben has reviewed, dan has a draft; carla has decided."""
    scene = scene_of_file
    Project.objects.update(overlap_judge=3)
    for member in (scene.ada, scene.ben, scene.carla, scene.dan):
        member.project.refresh_from_db()
    for member in (scene.ada, scene.ben, scene.dan):
        assignments.take(pair=scene.pair, task=Assignment.Task.JUDGE, by=member)
    for member, relevance, note in ((scene.ada, 0, ADA), (scene.ben, 2, BEN)):
        judging.judge(
            narrative=scene.narrative,
            candidate=scene.first,
            relevance=relevance,
            note=note,
            by=member,
        )
    factories.judgment(
        scene.narrative, scene.first, factories.machine(scene.project), 1, note=MACHINE
    )
    adjudicate(
        narrative=scene.narrative,
        candidate=scene.first,
        relevance=1,
        reason=SETTLED,
        cause="edge",
        by=scene.carla,
    )
    for member, words in ((scene.ben, BENS_REVIEW), (scene.dan, DANS_DRAFT)):
        assignments.take(pair=scene.pair, task=Assignment.Task.REVIEW, by=member)
        answers = {**levels(), "query_dependency": ("poor", words)}
        save_ratings(narrative=scene.narrative, answers=answers, by=member)
    submit_review(narrative=scene.narrative, by=scene.ben)
    decide(narrative=scene.narrative, outcome="accepted", reason=DECIDED, by=scene.carla)
    report = AgreementReport.objects.create(project=scene.project, resamples=100)
    compute_agreement(report, Progress())
    AgreementReport.objects.update(state="done", finished_at=report.requested_at)
    about = [scene.narrative.pk]
    scene.start_urls = [
        reverse("annotate:home"),
        reverse("annotate:project", args=[scene.project.slug]),
        reverse("annotate:queries", args=[scene.project.slug]),
        reverse("annotate:query", args=[scene.project.slug, scene.query.pk]),
        reverse("annotate:members", args=[scene.project.slug]),
        reverse("annotate:judging", args=[scene.pair.pk]),
        reverse("annotate:judge", args=[scene.pair.pk, scene.first.pk]),
        reverse("annotate:judge", args=[scene.pair.pk, scene.second.pk]),
        reverse("annotate:document", args=[scene.pair.pk, scene.first.pk]),
        reverse("annotate:rewrite", args=[scene.pair.pk]),
        reverse("audit:reviews", args=[scene.project.slug]),
        reverse("audit:review", args=[scene.pair.pk]),
        reverse("audit:story", args=[scene.pair.pk]),
        reverse("audit:disagreements", args=[scene.project.slug]),
        reverse("audit:disagreements", args=[scene.project.slug]) + "?state=settled",
        reverse("audit:disagreement", args=[*about, scene.first.pk]),
        reverse("audit:review_disagreement", args=about),
        reverse("audit:agreement", args=[scene.project.slug]),
        reverse("audit:agreement_report", args=[scene.project.slug, report.pk]),
        reverse("exporters:exports", args=[scene.project.slug]),
    ]
    return scene


def crawl(client, start_urls, **headers):
    """Return every page that can be reached from `start_urls` by following links."""
    waiting, seen, read = list(start_urls), set(), {}
    while waiting:
        url = waiting.pop()
        if url in seen or url.startswith(("/static/", "/accounts/", "/admin/")):
            continue
        seen.add(url)
        response = client.get(url, headers=headers)
        if response.status_code in {301, 302}:
            waiting.append(response.url)
        elif response.status_code == 200:
            read[url] = response.getvalue().decode()
            waiting += [link.replace("&amp;", "&") for link in LINK.findall(read[url])]
    return read


@pytest.mark.parametrize(
    ("who", "may_read"),
    [
        ("ada", {ADA}),
        # Ben has submitted his review, so he may read the reviews of that version.
        ("ben", {BEN, BENS_REVIEW, DECIDED}),
        ("dan", {DANS_DRAFT}),
        ("eve", set()),
    ],
)
def test_nobody_reads_others_answers_before_answering(
    scene, client, asking_for_htmx, who, may_read
):
    client.force_login(getattr(scene, who).user)

    read = crawl(client, scene.start_urls)
    # Other pages answer htmx as they answer everybody.
    asking = [url for url in read if url in asking_for_htmx]
    parts = crawl(client, asking, **{"HX-Request": "true"})

    found = {
        (word, url)
        for url, page in (*read.items(), *parts.items())
        for word in SECRETS
        if word in page
    }
    assert parts
    assert {word for word, _ in found} <= may_read, sorted(found)


def test_visitors_read_nothing(scene, client):
    assert crawl(client, scene.start_urls) == {}


def test_a_lead_reads_every_answer_so_the_crawl_can_find_them(scene, client):
    client.force_login(scene.carla.user)

    read = crawl(client, scene.start_urls)

    found = {word for page in read.values() for word in SECRETS if word in page}
    # A draft is visible only to its auditor.
    assert found == SECRETS - {DANS_DRAFT}


def test_the_judge_page_shows_no_grades_before_judging(scene, client):
    client.force_login(scene.dan.user)

    page = client.get(reverse("annotate:judge", args=[scene.pair.pk, scene.first.pk]))

    grades = re.findall(r'id="grade-[^>]*', page.content.decode())
    assert len(grades) == 3
    assert not any('aria-pressed="true"' in grade for grade in grades)
    assert Judgment.objects.current().filter(candidate=scene.first).count() == 3
