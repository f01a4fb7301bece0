"""Agreement in a part of a project: which judgments it covers."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from annotate.judgments import assignments
from annotate.models import (
    Adjudication,
    Assignment,
    Candidate,
    Guideline,
    InstructionPair,
    Membership,
    RejudgeRequest,
)
from annotate.rewriting import actions as rewriting
from audit.models import AgreementReport
from audit.reports.reliability import agreement_of
from audit.reports.scopes import Scope, describe_scope, scope_of, stored_scope
from audit.reports.statements_since import Changes, count_changes_since
from base.errors import Refused
from tests import factories
from tests.second_pass import submit_levels

pytestmark = pytest.mark.both_databases

# Monday.
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def everyone(scene, **scope):
    found = agreement_of(scene.project, seed=1, resamples=100, scope=Scope(**scope), by=())
    return found["judgments"]["all"]


def percent(scope):
    return scope["coefficients"]["percent"]["value"]


def judge(scene, doc_id, narrative=None, at=NOON, **by):
    """Add one candidate with a judgment by each person at one time: ada=1, ben=0."""
    narrative = narrative or scene.narrative
    candidate = factories.candidate(narrative.pair.query, doc_id)
    for name, relevance in by.items():
        factories.judgment(narrative, candidate, getattr(scene, name), relevance, at=at)
    return candidate


def again(judgment, relevance, at):
    """Replace a judgment by another one of the same person, later."""
    judgment.ended_at = at
    judgment.save()
    return factories.judgment(
        judgment.narrative,
        judgment.candidate,
        judgment.annotator,
        relevance,
        at=at,
        replaces=judgment,
    )


@pytest.fixture
def two(scene):
    """They agree on one document of query 301 (category C1), and differ on both of 302 (S1)."""
    InstructionPair.objects.update(category="C1")
    other = factories.pair(factories.query(scene.project, "302"), category="S1")
    scene.other = factories.altered(other)
    judge(scene, "a", ada=1, ben=1)
    judge(scene, "b", scene.other, ada=1, ben=0)
    judge(scene, "c", scene.other, ada=2, dan=0)
    return scene


@pytest.mark.parametrize(
    ("scope", "units", "value"),
    [
        ({}, 3, 1 / 3),
        ({"query": "301"}, 1, 1.0),
        ({"query": "302"}, 2, 0.0),
        ({"category": "C1"}, 1, 1.0),
        ({"category": "S1"}, 2, 0.0),
        ({"side": "altered"}, 3, 1 / 3),
        ({"side": "original"}, 0, None),
        ({"people": ("ada", "ben")}, 2, 0.5),
        ({"people": ("ada", "dan")}, 1, 0.0),
        ({"query": "301", "people": ("ada", "dan")}, 0, None),
        ({"week": date(2026, 11, 16)}, 3, 1 / 3),
        ({"week": date(2026, 11, 9)}, 0, None),
    ],
)
def test_part_counts_the_units_that_belong_to_it(two, scope, units, value):
    found = everyone(two, **scope)

    assert (found["units"], percent(found)) == (
        units,
        value if value is None else pytest.approx(value),
    )


def test_a_project_is_split_by_category(two):
    InstructionPair.objects.filter(pk=two.other.pair_id).update(category="")

    found = agreement_of(two.project, seed=1, resamples=100)["judgments"]["categories"]

    assert [(one["category"], one["units"]) for one in found] == [("", 2), ("C1", 1)]


def test_there_is_no_split_by_category_without_categories(scene):
    judge(scene, "a", ada=1, ben=1)

    assert agreement_of(scene.project, seed=1, resamples=100)["judgments"]["categories"] == []


def test_document_belongs_to_the_week_of_its_last_judgment(scene):
    # Ada on Sunday, ben on Monday: the unit belongs to Monday's week.
    candidate = judge(scene, "a", at=NOON - DAY, ada=1)
    factories.judgment(scene.narrative, candidate, scene.ben, 1, at=NOON)
    judge(scene, "b", at=NOON - DAY, ada=1, ben=0)

    weeks = agreement_of(scene.project, seed=1, resamples=100)["judgments"]["weeks"]

    assert [(week["week"], week["units"], percent(week)) for week in weeks] == [
        ("2026-11-09", 1, 0.0),
        ("2026-11-16", 1, 1.0),
    ]
    assert everyone(scene, week=date(2026, 11, 16))["units"] == 1


def test_week_reports_only_its_own_left_out_judgments(scene):
    judge(scene, "a", at=NOON - DAY, ada=1, ben=1)
    judge(scene, "b", at=NOON, ada=1)
    rewriting.rewrite_narrative(pair=scene.pair, text="Other words.", based_on=1, by=scene.carla)

    def left_out(**parts):
        found = agreement_of(scene.project, scope=Scope(**parts), seed=1, resamples=100)
        return [entry["count"] for entry in found["left_out"]]

    assert left_out() == [3]
    assert left_out(week=date(2026, 11, 9)) == [2]
    assert left_out(week=date(2026, 11, 16)) == [1]


def guideline(scene, version, at):
    return Guideline.objects.create(
        project=scene.project, version=version, text="Words.", author=scene.carla, created_at=at
    )


@pytest.fixture
def guided(scene):
    """Version 1 from noon, 2 a day later. Ben changes his mind under version 2."""
    judge(scene, "before", at=NOON - DAY, ada=2, ben=2)
    guideline(scene, 1, NOON)
    scene.candidate = judge(scene, "under one", at=NOON, ada=1, ben=0)
    guideline(scene, 2, NOON + DAY)
    bens = scene.candidate.statements.get(annotator=scene.ben)
    scene.changed = again(bens, 1, NOON + 2 * DAY)
    judge(scene, "under two", at=NOON + 2 * DAY, ada=0, ben=0)
    return scene


def test_guideline_version_counts_judgments_current_at_its_end(guided):
    found = agreement_of(guided.project, seed=1, resamples=100)["judgments"]

    # Ben's change counts now but not under version 1; ada judged only under version 1.
    assert [(one["guideline"], one["units"], percent(one)) for one in found["guidelines"]] == [
        (0, 1, 1.0),
        (1, 1, 0.0),
        (2, 1, 1.0),
    ]
    assert [one["end"] for one in found["guidelines"]] == [
        "2026-11-16T12:00:00+00:00",
        "2026-11-17T12:00:00+00:00",
        None,
    ]
    assert (found["all"]["units"], percent(found["all"])) == (3, 1.0)


@pytest.mark.parametrize(("version", "value"), [(0, 1.0), (1, 0.0), (2, 1.0)])
def test_guideline_version_is_a_part(guided, version, value):
    found = everyone(guided, guideline=version)

    assert (found["units"], percent(found)) == (1, value)


def test_withdrawn_judgments_count_under_no_version(guided):
    judge(guided, "slip", at=NOON, ada=1)
    slip = judge(guided, "taken back", at=NOON, ada=1, ben=0)
    slip.statements.update(ended_at=NOON + 3 * DAY, withdrawn_at=NOON + 3 * DAY)

    assert everyone(guided, guideline=1)["units"] == 1


def test_answers_under_other_guidelines_change_no_report_on_one_version(guided):
    figures = agreement_of(guided.project, seed=1, resamples=100, scope=Scope(guideline=1))
    made = AgreementReport.objects.create(
        project=guided.project, scope="guideline=1", figures=figures
    )
    judge(guided, "under two as well", at=NOON + 3 * DAY, ada=1, ben=1)
    assert not any(count_changes_since(made))

    # Loaded now, and given while version 1 was current.
    judge(guided, "late", at=NOON, ada=1)
    assert count_changes_since(made) == Changes(judgments=1)


def settle(scene, candidate, at):
    Adjudication.objects.create(
        narrative=scene.narrative,
        candidate=candidate,
        relevance=1,
        reason="So it is.",
        cause="edge",
        by=scene.carla,
        at=at,
    )


def test_judgment_after_settling_is_not_blind(scene):
    candidate = judge(scene, "a", at=NOON, ada=1, ben=0)
    settle(scene, candidate, NOON + DAY)
    again(candidate.statements.get(annotator=scene.ben), 1, NOON + 2 * DAY)

    assert percent(everyone(scene)) == 1.0
    # This counts ben's answer from before he could see the decision.
    assert percent(everyone(scene, blind=True)) == 0.0


def test_judgment_changed_before_settling_is_blind(scene):
    candidate = judge(scene, "a", at=NOON, ada=1, ben=0)
    again(candidate.statements.get(annotator=scene.ben), 1, NOON + DAY)
    settle(scene, candidate, NOON + 2 * DAY)

    assert percent(everyone(scene, blind=True)) == 1.0


def test_the_answer_to_a_rejudge_request_is_not_blind(scene):
    candidate = judge(scene, "a", at=NOON, ada=1, ben=0)
    bens = candidate.statements.get(annotator=scene.ben)
    RejudgeRequest.objects.create(statement=bens, by=scene.carla, words="Look.", at=NOON + DAY)
    again(bens, 1, NOON + 2 * DAY)

    assert percent(everyone(scene)) == 1.0
    assert percent(everyone(scene, blind=True)) == 0.0


def test_an_answer_under_new_guidelines_is_blind(scene):
    candidate = judge(scene, "a", at=NOON, ada=1, ben=0)
    bens = candidate.statements.get(annotator=scene.ben)
    version = guideline(scene, 1, NOON + DAY)
    RejudgeRequest.objects.create(
        statement=bens, by=scene.carla, words="Look.", guideline=version, at=NOON + DAY
    )
    again(bens, 1, NOON + 2 * DAY)

    assert percent(everyone(scene, blind=True)) == 1.0


def test_lead_who_judges_again_after_others_is_not_blind(scene):
    candidate = judge(scene, "a", at=NOON, carla=0)
    factories.judgment(scene.narrative, candidate, scene.ada, 1, at=NOON + DAY)
    again(candidate.statements.get(annotator=scene.carla), 1, NOON + 2 * DAY)

    assert percent(everyone(scene)) == 1.0
    assert percent(everyone(scene, blind=True)) == 0.0


def test_annotator_who_judges_again_is_still_blind(scene):
    candidate = judge(scene, "a", at=NOON, ben=0)
    factories.judgment(scene.narrative, candidate, scene.ada, 1, at=NOON + DAY)
    again(candidate.statements.get(annotator=scene.ben), 1, NOON + 2 * DAY)

    assert percent(everyone(scene, blind=True)) == 1.0


def test_blind_and_guideline_version_can_be_combined(guided):
    hour = timedelta(hours=1)
    candidate = judge(guided, "settled", at=NOON, ada=1, ben=0)
    settle(guided, candidate, NOON + hour)
    again(candidate.statements.get(annotator=guided.ben), 1, NOON + 2 * hour)

    # In addition to the document on which they differ under version 1.
    assert percent(everyone(guided, guideline=1)) == 0.5
    assert percent(everyone(guided, guideline=1, blind=True)) == 0.0


def review(scene, by, narrative, **others):
    assignments.take(pair=narrative.pair, task=Assignment.Task.REVIEW, by=by)
    submit_levels(narrative, by, **others)


def test_criterion_covers_only_reviews(two):
    for by in (two.ben, two.dan):
        review(two, by, two.narrative)
    review(two, two.ben, two.other, query_dependency="poor")
    review(two, two.dan, two.other)

    found = agreement_of(
        two.project, seed=1, resamples=100, scope=Scope(criterion="query_dependency")
    )

    assert (found["judgments"]["all"]["units"], found["judgments"]["weeks"]) == (0, [])
    assert list(found["reviews"]["criteria"]) == ["query_dependency"]
    assert (found["reviews"]["all"]["units"], percent(found["reviews"]["all"])) == (2, 0.5)


def test_reviews_belong_to_parts_too(two):
    for by in (two.ben, two.dan):
        review(two, by, two.narrative)
        review(two, by, two.other)

    found = agreement_of(two.project, seed=1, resamples=100, scope=Scope(query="302"))

    assert found["reviews"]["all"]["units"] == 6


def test_only_requested_splits_are_measured(two):
    found = agreement_of(two.project, seed=1, resamples=100, by=["query"])

    assert [len(found["judgments"][key]) for key in ("queries", "pairs", "weeks")] == [2, 0, 0]
    assert found["reviews"]["criteria"] == {}


def test_the_same_answers_have_the_same_sum_in_any_database(two):
    found = agreement_of(two.project, seed=1, resamples=100)

    assert found["sha256"] == SUM
    assert agreement_of(two.project, seed=2, resamples=200)["sha256"] == SUM


SUM = "bea9afad081cc980b30996fab21ae1ffa866a7da009e5815842f62b122cb6f12"


def test_another_earlier_relevance_changes_the_sum_like_the_figures(two):
    before = agreement_of(two.project, seed=1, resamples=100)
    # All documents had the relevance 1: somebody found b and c changed, and now a as well.
    Candidate.objects.filter(document__doc_id="a").update(prior_relevance=0)
    after = agreement_of(two.project, seed=1, resamples=100)

    assert [found["judgments"]["changed"]["units"] for found in (before, after)] == [2, 3]
    assert before["sha256"] != after["sha256"]


def test_other_answers_and_other_names_change_the_sum(two):
    before = agreement_of(two.project, seed=1, resamples=100)["sha256"]
    judge(two, "d", ada=0, ben=0)
    after = agreement_of(two.project, seed=1, resamples=100)["sha256"]
    Membership.objects.filter(pk=two.ben.pk).update(name="bert")
    renamed = agreement_of(two.project, seed=1, resamples=100)["sha256"]

    assert len({before, after, renamed}) == 3


def test_changes_outside_the_part_are_not_counted(two):
    figures = agreement_of(two.project, seed=1, resamples=100, scope=Scope(query="301"))
    made = AgreementReport.objects.create(project=two.project, scope="query=301", figures=figures)
    judge(two, "d", two.other, ada=0, ben=0)
    rewriting.rewrite_narrative(
        pair=two.other.pair, text="Only fences count.", based_on=1, by=two.carla
    )
    assert not any(count_changes_since(made))

    judge(two, "e", ada=0)
    assert count_changes_since(made) == Changes(judgments=1)


@pytest.mark.parametrize(
    "scope",
    [
        Scope(),
        Scope(query="a&b=ü 1", category="C1", side="altered", blind=True),
        Scope(people=("a,b", "ø"), guideline=0, week=date(2026, 11, 16), criterion="x"),
    ],
)
def test_scope_round_trips_through_text(scope):
    assert stored_scope(str(scope)) == scope


def test_scope_is_described_in_words():
    assert describe_scope(Scope()) == ""
    assert describe_scope(Scope(query="301", people=("ada", "ben"), guideline=0, blind=True)) == (
        "query 301, ada and ben, answers before there were guidelines, blind judgments only"
    )
    assert describe_scope(Scope(side="original", guideline=2, week=date(2026, 11, 16))) == (
        "original narratives, answers under version 2 of the guidelines, in the week of 2026-11-16"
    )


def test_order_of_two_people_makes_no_difference(scene):
    assert scope_of(scene.project, {"one": "ben", "other": "ada"}).people == ("ada", "ben")


def test_any_day_names_its_week(scene):
    assert scope_of(scene.project, {"week": "2026-11-22"}).week == date(2026, 11, 16)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"query": "999"}, "There is no query 999 in this project"),
        ({"category": "X9"}, "has category X9. The categories are: C1, S1."),
        (
            {"side": "left"},
            "left is not a side of a narrative. The sides are: original, altered",
        ),
        (
            {"criterion": "beauty"},
            "There is no criterion beauty. The criteria are: semantic_expansion",
        ),
        ({"one": "ada"}, "Choose both, or leave both open"),
        ({"one": "ada", "other": "ada"}, "Choose two different ones"),
        ({"one": "ada", "other": "zoe"}, "Nobody in this project is called zoe"),
        ({"one": "ada", "other": "eve"}, "Nobody in this project is called eve"),
        ({"one": "ada", "other": "gauge"}, "gauge is a machine. The page of machines"),
        ({"guideline": "1"}, "This project has no guidelines yet"),
        ({"week": "soon"}, "soon is not a date. Write any day of the week"),
        ({"week": "9999-12-31"}, "9999-12-31 is not a date"),
    ],
)
def test_unknown_values_are_refused_with_advice(two, parameters, sentence):
    factories.machine(two.project, "gauge")

    with pytest.raises(Refused, match=sentence):
        scope_of(two.project, parameters)


@pytest.mark.parametrize("version", ["3", "x", "-1", "²", "9" * 5000])
def test_unknown_guideline_version_is_refused(guided, version):
    with pytest.raises(Refused, match="The newest is 2"):
        scope_of(guided.project, {"guideline": version})
