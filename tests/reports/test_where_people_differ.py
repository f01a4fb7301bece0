"""The page of where disagreements concentrate, with charts of agreement."""

from __future__ import annotations

import re
from html import unescape
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.judgments import assignments
from annotate.models import (
    Adjudication,
    Assignment,
    Condition,
    ConditionAdjudication,
    Judgment,
    Narrative,
    Project,
    Verdict,
)
from annotate.pools.removal import DOCUMENTS
from annotate.rewriting.sending_back import send_back
from audit.models import AgreementReport, Review
from audit.reports.actions import compute_agreement
from audit.reports.differences import differences
from audit.reviews.actions import save_ratings, submit_review
from audit.settling.queue import count_by_kind
from audit.settling.queue_filters import Kind, QueueFilter
from jobs.runner import Progress
from tests import factories
from tests.second_pass import levels, submit_levels

pytestmark = pytest.mark.both_databases

REVIEW = Assignment.Task.REVIEW


@pytest.fixture(scope="module")
def tides_of_file(rows_of_file):
    """Two queries of three documents, judged by ada and ben; carla leads, dan may judge too."""
    project = factories.project()
    made = SimpleNamespace(
        project=project,
        carla=factories.lead(project),
        ada=factories.member(project, "ada"),
        ben=factories.member(project, "ben"),
        dan=factories.member(project, "dan"),
        url=reverse("audit:differences", args=["tides"]),
        docs={},
        under={},
    )
    answers = {
        "301": ("C1", [(0, 0), (0, 1), (0, 2)]),
        "302": ("C2", [(1, 1), (1, 1), (2, 1)]),
    }
    for query_id, (category, grades) in answers.items():
        query = factories.query(project, query_id, f"question {query_id}")
        under = factories.altered(factories.pair(query, category=category))
        made.under[query_id] = under
        made.docs[query_id] = [factories.candidate(query) for _ in grades]
        for candidate, (one, other) in zip(made.docs[query_id], grades, strict=True):
            factories.judgment(under, candidate, made.ada, one)
            factories.judgment(under, candidate, made.ben, other)
    return made


@pytest.fixture
def tides(tides_of_file, copy_rows):
    return copy_rows(tides_of_file)


def spots(found) -> dict[str, tuple[int, int, int]]:
    return {one.label: (one.open, one.settled, one.compared) for one in found}


def settle(tides, query_id: str, place: int, cause: str = "edge") -> None:
    Adjudication.objects.create(
        narrative=tides.under[query_id],
        candidate=tides.docs[query_id][place],
        relevance=1,
        reason="It is.",
        cause=cause,
        by=tides.carla,
    )


def compute_report(tides) -> None:
    """Compute a report of agreement as its job does."""
    report = AgreementReport.objects.create(project=tides.project, resamples=100)
    compute_agreement(report, Progress())
    AgreementReport.objects.update(state="done", finished_at=report.requested_at)


def test_queries_and_categories_with_most_to_settle_come_first(tides):
    settle(tides, "301", 2)

    found = differences(tides.carla)

    assert spots([found.everything]) == {"": (2, 1, 6)}
    assert spots(found.queries) == {"301": (1, 1, 3), "302": (1, 0, 3)}
    assert list(spots(found.categories)) == ["C1", "C2"]
    assert found.queries[0].share == pytest.approx(2 / 3)
    assert found.queries[0].agreed == 1


def test_grades_that_meet_are_counted_by_pairs_of_answers(tides):
    # A third person on the first document: 0 and 0 and 2 are three pairs of answers.
    factories.judgment(tides.under["301"], tides.docs["301"][0], tides.dan, 2)

    found = differences(tides.carla)

    assert {one[:2]: one.times for one in found.meetings} == {
        (0, 0): 1,
        (0, 1): 1,
        (0, 2): 3,
        (1, 1): 2,
        (1, 2): 1,
        (2, 2): 0,
    }
    assert found.answers == 8
    assert [one[:2] for one in found.apart] == [(0, 2), (0, 1), (1, 2)]


def test_documents_with_one_judge_are_not_compared(tides):
    Judgment.objects.filter(annotator=tides.ben).delete()
    factories.judgment(
        tides.under["301"], tides.docs["301"][0], factories.machine(tides.project), 2
    )

    found = differences(tides.carla)

    assert spots([found.everything]) == {"": (0, 0, 0)}
    assert (found.queries, found.answers) == ([], 0)


def test_majority_rule_leaves_fewer_to_settle(tides):
    Project.objects.update(consensus="majority")
    tides.carla.project.refresh_from_db()
    factories.judgment(tides.under["301"], tides.docs["301"][1], tides.dan, 1)

    found = differences(tides.carla)

    assert spots(found.queries) == {"301": (1, 0, 3), "302": (1, 0, 3)}


def test_differing_conditions_are_counted_by_name(tides):
    under = tides.under["301"]
    named = Condition.objects.create(narrative=under, number=1, name="length", text="Long.")
    plain = Condition.objects.create(narrative=under, number=2, text="New.")
    for by, met in ((tides.ada, "met"), (tides.ben, "not_met")):
        for judgment in Judgment.objects.filter(narrative=under, annotator=by):
            Verdict.objects.create(statement=judgment, condition=named, answer=met)
            Verdict.objects.create(statement=judgment, condition=plain, answer="met")

    found = differences(tides.carla)

    assert spots(found.conditions) == {"length": (3, 0, 3)}


def test_differing_criteria_are_counted_by_name(tides):
    pair = tides.under["301"].pair
    for by, answers in (
        (tides.ada, levels(query_dependency="poor", category_focus="acceptable")),
        (tides.ben, levels()),
    ):
        assignments.take(pair=pair, task=REVIEW, by=by)
        save_ratings(narrative=tides.under["301"], answers=answers, by=by)
        submit_review(narrative=tides.under["301"], by=by)

    found = differences(tides.carla)

    assert spots(found.criteria) == {"Query dependency": (1, 0, 1)}
    # The queue lists no instruction that waits for its writer.
    send_back(pair=pair, version=1, reason="Name a river.", by=tides.carla)
    assert differences(tides.carla).criteria == []
    assert count_by_kind(tides.carla, QueueFilter())[Kind.REVIEW] == 0


def test_causes_of_decisions_are_counted(tides):
    for place, cause in ((1, "guideline"), (2, "error"), (0, "guideline")):
        settle(tides, "301", place, cause)

    assert differences(tides.carla).causes == [
        ("guideline", "Gap in the guidelines", 2),
        ("error", "Annotator's error", 1),
    ]


def test_every_cause_links_to_its_decisions(tides, client):
    for place, cause in ((1, "guideline"), (2, "error"), (0, "guideline")):
        settle(tides, "301", place, cause)
    DOCUMENTS.remove(
        project=tides.project, keys=[tides.docs["301"][0].pk], reason="Twin.", by=tides.carla
    )
    client.force_login(tides.carla.user)

    page = client.get(tides.url)
    links = re.findall(r'href="([^"]+settled_cause=[^"]+)"', page.content.decode())

    assert [one.decisions for one in page.context["compared"].causes] == [1, 1]
    assert [client.get(unescape(link)).context["total"] for link in links] == [1, 1]


def test_older_versions_and_removed_pairs_do_not_count(tides):
    factories.narrative(tides.under["301"].pair, version=2)
    pair = tides.under["302"].pair
    pair.removed_at, pair.removed_by = "2026-01-01T00:00Z", tides.carla
    pair.save()

    assert differences(tides.carla).everything.compared == 0


def test_a_lead_who_judges_counts_only_what_they_have_judged(tides, client):
    factories.assignment(tides.under["301"].pair, tides.carla)
    settle(tides, "301", 0)
    before = differences(tides.carla)
    factories.judgment(tides.under["301"], tides.docs["301"][2], tides.carla, 0)
    client.force_login(tides.carla.user)

    after = differences(tides.carla)

    assert spots(before.queries) == {"302": (1, 0, 3)}
    assert before.causes == after.causes == []
    assert spots(after.queries) == {"301": (1, 0, 1), "302": (1, 0, 3)}
    assert "In your own tasks" in client.get(tides.url).content.decode()


def test_a_lead_who_reviews_counts_no_reviews_before_their_own(tides):
    pair = tides.under["301"].pair
    Project.objects.update(overlap_review=3)
    for by in (tides.ada, tides.ben, tides.carla):
        by.project.refresh_from_db()
    for by, answers in ((tides.ada, levels(query_dependency="poor")), (tides.ben, levels())):
        assignments.take(pair=pair, task=REVIEW, by=by)
        save_ratings(narrative=tides.under["301"], answers=answers, by=by)
        submit_review(narrative=tides.under["301"], by=by)
    factories.assignment(pair, tides.carla, REVIEW)

    assert differences(tides.carla).criteria == []


def test_every_count_links_to_what_it_counts(tides, client):
    settle(tides, "301", 2)
    client.force_login(tides.carla.user)

    page = client.get(tides.url)

    rows = {one["key"]: one["rows"] for one in page.context["lists"]}
    by_query = client.get(rows["queries"][0]["open_url"])
    settled = client.get(rows["queries"][0]["settled_url"])
    by_category = client.get(rows["categories"][0]["open_url"])
    met = client.get(reverse("annotate:matrix", args=["tides"]), {"grades": "0~1"})
    assert [row["item"].narrative.pair.pair_id for row in by_query.context["rows"]] == ["301"]
    assert [row["item"].narrative.pair.pair_id for row in settled.context["rows"]] == ["301"]
    assert [row["pair"].pair_id for row in by_category.context["rows"]] == ["301"]
    assert len(met.context["rows"]) == 1
    parameters = parse_qs(urlsplit(rows["queries"][0]["open_url"]).query)
    assert parameters == {"kind": ["judgment"], "query": ["301"]}


def test_every_count_equals_the_total_of_its_list(tides, client):
    condition = Condition.objects.create(
        narrative=tides.under["301"], number=1, name="length", text="Long."
    )
    for by, met in ((tides.ada, "met"), (tides.ben, "not_met")):
        for judgment in Judgment.objects.filter(narrative=tides.under["301"], annotator=by):
            Verdict.objects.create(statement=judgment, condition=condition, answer=met)
        assignments.take(pair=tides.under["301"].pair, task=REVIEW, by=by)
        answers = levels(query_dependency="poor") if by == tides.ada else levels()
        save_ratings(narrative=tides.under["301"], answers=answers, by=by)
        submit_review(narrative=tides.under["301"], by=by)
    settle(tides, "301", 2)
    ConditionAdjudication.objects.create(
        narrative=condition.narrative,
        condition=condition,
        candidate=tides.docs["301"][0],
        answer="met",
        reason="It is.",
        cause="edge",
        by=tides.carla,
    )
    client.force_login(tides.carla.user)

    lists = {one["key"]: one["rows"] for one in client.get(tides.url).context["lists"]}

    found = {
        key: [
            (row["spot"].open, row["spot"].settled, client.get(row["open_url"]).context["total"])
            for row in lists[key]
        ]
        for key in ("queries", "conditions", "criteria")
    }
    assert found == {
        "queries": [(1, 1, 1), (1, 0, 1)],
        "conditions": [(2, 1, 2)],
        "criteria": [(1, 0, 1)],
    }
    settled = [
        client.get(rows[0]["settled_url"]).context["total"]
        for rows in (lists["queries"], lists["conditions"])
    ]
    assert settled == [1, 1]


def test_agreement_is_drawn_from_the_newest_report_least_first(tides, client):
    compute_report(tides)
    client.force_login(tides.carla.user)

    page = client.get(tides.url)

    charts = {one["table"].key: one for one in page.context["charts"]}
    values = [line.headline["value"] for line in charts["queries"]["lines"]]
    assert [line.label for line in charts["judgments"]["lines"]] == ["ada and ben"]
    assert sorted(line.label for line in charts["queries"]["lines"]) == ["301", "302"]
    assert values == sorted(values)
    assert page.content.decode().count("The same as a table") == len(charts)
    assert not page.context["come_since"]


def test_a_report_without_two_answers_says_why_it_has_no_figures(tides, client):
    Judgment.objects.exclude(annotator__name="ada").update(ended_at=timezone.now())
    Review.objects.all().delete()
    compute_report(tides)
    client.force_login(tides.carla.user)

    page = client.get(tides.url).content.decode()

    assert "Only ada has answered here" in page
    assert "How much people agree will appear here" not in page


def test_a_lead_who_has_yet_to_answer_sees_no_figures_of_agreement(tides, client):
    compute_report(tides)
    Project.objects.update(overlap_judge=3)
    tides.carla.project.refresh_from_db()
    factories.assignment(tides.under["301"].pair, tides.carla)
    client.force_login(tides.carla.user)

    page = client.get(tides.url)

    assert (page.context["charts"], page.context["report"]) == ([], None)
    assert "agreement would reveal what others answered" in page.content.decode()


def test_chart_draws_the_first_lines_and_counts_the_rest(tides, client, monkeypatch):
    monkeypatch.setattr("audit.reports.views.DRAWN", 1)
    compute_report(tides)
    client.force_login(tides.carla.user)

    page = client.get(tides.url)

    charts = {one["table"].key: one for one in page.context["charts"]}
    assert (len(charts["queries"]["lines"]), charts["queries"]["left_out"]) == (1, 1)
    assert "Least agreement first; 1 more is not drawn." in page.content.decode()


def test_chart_of_criteria_draws_the_first_and_calls_none_of_the_others_earlier(
    tides, client, monkeypatch
):
    monkeypatch.setattr("audit.reports.views.DRAWN", 2)
    tides.project.overlap_review = 2
    tides.project.save()
    for by in (tides.ada, tides.ben):
        assignments.take(pair=tides.under["301"].pair, task=REVIEW, by=by)
        submit_levels(tides.under["301"], by)
    compute_report(tides)
    client.force_login(tides.carla.user)

    page = client.get(tides.url).content.decode()

    # All criteria and each of the six.
    assert "5 more are not drawn." in page
    assert "earlier" not in page


def test_the_page_of_an_empty_project_says_what_will_be_there(tides, client):
    client.force_login(factories.lead(factories.project("empty"), "dora").user)

    page = client.get(reverse("audit:differences", args=["empty"])).content.decode()

    assert "Where people differ will appear here" in page
    assert "How much people agree will appear here" in page


def test_the_page_costs_the_same_however_much_differs(tides, client, django_assert_max_num_queries):
    client.force_login(tides.carla.user)

    with django_assert_max_num_queries(25) as queries:
        client.get(tides.url)

    assert Narrative.objects.count() == 4
    assert not any("documenttext" in query["sql"].lower() for query in queries.captured_queries)
