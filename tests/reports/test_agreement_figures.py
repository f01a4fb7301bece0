"""Which rows become units and raters, scope by scope; the statistics have tests of their own."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from django.utils import timezone

from annotate.collection.removal import INSTRUCTIONS
from annotate.judgments import assignments
from annotate.models import Adjudication, Assignment, Candidate, Flag, Project
from annotate.pools.removal import DOCUMENTS
from annotate.rewriting import actions as rewriting
from audit.models import AgreementReport
from audit.reports.reliability import agreement_of
from audit.reports.report_parts import COEFFICIENTS
from audit.reports.statements_since import Changes, count_changes_since
from audit.reviews.actions import save_ratings
from audit.reviews.decisions import decide
from jobs.runner import Cancelled, Progress
from tests import factories
from tests.second_pass import levels, submit_levels

pytestmark = pytest.mark.both_databases

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def figures(scene, **more):
    return agreement_of(scene.project, seed=1, resamples=100, **more)


def values(scope, *keys):
    return [scope["coefficients"][key]["value"] for key in keys]


def judge(scene, doc_id, query=None, narrative=None, **by):
    """Add one candidate with a judgment by each person: ada=1, ben=0."""
    candidate = factories.candidate(query or scene.query, doc_id)
    for name, relevance in by.items():
        factories.judgment(narrative or scene.narrative, candidate, getattr(scene, name), relevance)
    return candidate


@pytest.fixture
def judged(scene):
    """Ada and ben agree on four documents of five."""
    for doc_id, ada, ben in (("a", 0, 0), ("b", 1, 1), ("c", 1, 0), ("d", 0, 0), ("e", 1, 1)):
        judge(scene, doc_id, ada=ada, ben=ben)
    return scene


def test_judgments_of_people_are_measured(judged):
    # Agreement 4/5. Ada gives 1 to 3 documents and 0 to 2; ben 1 to 2 and 0 to 3: by chance 12/25.
    scope = figures(judged)["judgments"]["all"]

    assert (scope["units"], scope["raters"], scope["ratings"]) == (5, ["ada", "ben"], 10)
    assert values(scope, "percent", "cohen") == [pytest.approx(4 / 5), pytest.approx(8 / 13)]
    # Alpha: 1 - 9 * 2 / (2 * 5 * 5) of 10 values, five of each.
    assert values(scope, "alpha_nominal") == [pytest.approx(16 / 25)]


def test_after_settling_everybody_gives_the_settled_grade(judged):
    assert "after_settling" not in figures(judged)["judgments"]
    Adjudication.objects.create(
        narrative=judged.narrative,
        candidate=Candidate.objects.get(document__doc_id="c"),
        relevance=0,
        by=factories.lead(judged.project, "lea"),
        reason="It is about ports.",
    )

    found = figures(judged)["judgments"]

    # Without the decision they differ on c; with it both give 0.
    assert values(found["all"], "percent") == [pytest.approx(4 / 5)]
    assert values(found["after_settling"], "percent", "cohen") == [1.0, 1.0]
    assert found["after_settling"]["units"] == 5


def test_changed_documents_are_those_that_somebody_found_changed(judged):
    changed = figures(judged)["judgments"]["changed"]

    # All were relevant (1) before: a, c and d are 0 for somebody, and they differ on c.
    assert changed["units"] == 3
    assert values(changed, "percent") == [pytest.approx(2 / 3)]


def test_every_scope_carries_every_coefficient_with_its_interval(judged):
    scope = figures(judged)["judgments"]["all"]

    assert list(scope["coefficients"]) == list(COEFFICIENTS)
    for coefficient in scope["coefficients"].values():
        low, high = coefficient["interval"]
        assert low <= coefficient["value"] <= high


def test_figures_are_ready_for_json_and_the_same_every_time(judged):
    found = figures(judged, now=NOON)

    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert figures(judged, now=NOON) == found


def test_each_pair_of_people_is_measured_on_what_both_judged(scene):
    judge(scene, "a", ada=0, ben=0)
    judge(scene, "b", ada=1, ben=0)
    judge(scene, "c", ben=1, dan=1)

    pairs = figures(scene)["judgments"]["pairs"]

    assert [(pair["raters"], pair["units"]) for pair in pairs] == [
        (["ada", "ben"], 2),
        (["ben", "dan"], 1),
    ]
    assert values(pairs[0], "percent") == [0.5]
    assert pairs[0]["excluded"] == [{"reason": "judged by one rater only", "units": 1}]


def test_each_query_is_measured(judged):
    query = factories.query(judged.project, "302")
    narrative = factories.altered(factories.pair(query))
    judge(judged, "z", query=query, narrative=narrative, ada=2, ben=0)

    queries = figures(judged)["judgments"]["queries"]

    assert [(scope["query"], scope["units"]) for scope in queries] == [("301", 5), ("302", 1)]
    assert values(queries[1], "percent") == [0.0]


def test_undefined_value_has_a_reason(scene):
    judge(scene, "a", ada=1, ben=1)

    scope = figures(scene)["judgments"]["all"]

    assert values(scope, "percent", "cohen", "alpha_ordinal") == [1.0, None, None]
    assert scope["coefficients"]["cohen"]["note"] == "undefined: only one category was used"


def test_an_empty_project_has_figures_without_values(scene):
    found = figures(scene)

    assert (found["judgments"]["all"]["units"], found["judgments"]["all"]["raters"]) == (0, [])
    assert set(values(found["judgments"]["all"], *COEFFICIENTS)) == {None}
    assert (found["judgments"]["pairs"], found["judgments"]["queries"]) == ([], [])
    assert found["machines"] == []


def test_a_project_without_grades_has_figures_too(scene):
    scene.project.grades.all().delete()

    assert figures(scene)["scale"] == []


def test_machines_are_measured_against_people_and_never_among_them(judged):
    before = figures(judged, now=NOON)["judgments"]
    machine = factories.machine(judged.project, "gauge")
    for candidate in judged.query.candidates.exclude(document__doc_id__in=["S1", "S2"]):
        factories.judgment(judged.narrative, candidate, machine, 1)

    found = figures(judged, now=NOON)

    assert found["judgments"] == before
    (gauge,) = found["machines"]
    assert gauge["machine"] == "gauge"
    assert [(pair["raters"], pair["units"]) for pair in gauge["pairs"]] == [
        (["ada", "gauge"], 5),
        (["ben", "gauge"], 5),
    ]
    # Ada gives 1 to three of five documents.
    assert values(gauge["pairs"][0], "percent") == [pytest.approx(3 / 5)]


def test_machines_among_themselves_are_not_compared(scene):
    candidate = judge(scene, "a")
    for name in ("gauge", "meter"):
        factories.judgment(scene.narrative, candidate, factories.machine(scene.project, name), 1)

    assert [machine["pairs"] for machine in figures(scene)["machines"]] == [[], []]


def test_only_current_judgments_count(judged):
    candidate = judge(judged, "f", ada=0)
    factories.judgment(judged.narrative, candidate, judged.ben, 2, ended_at=NOON, withdrawn_at=NOON)

    assert figures(judged)["judgments"]["all"]["units"] == 5


def test_judgments_under_older_versions_are_left_out_and_counted(judged):
    rewriting.rewrite_narrative(
        pair=judged.pair, text="Only fences count.", based_on=1, by=judged.carla
    )

    found = figures(judged)

    assert found["judgments"]["all"]["units"] == 0
    assert found["left_out"] == [
        {"reason": "judgments under an older version of the narrative", "count": 10}
    ]


def test_removed_pairs_are_left_out_and_counted(judged):
    rewriting.remove(pair=judged.pair, by=judged.carla)

    found = figures(judged)

    assert found["judgments"]["all"]["units"] == 0
    assert found["left_out"] == [
        {"reason": "judgments under an instruction that was removed", "count": 10}
    ]


def test_flags_and_drafts_are_counted_as_left_out(judged):
    for kind in ("later", "cannot_judge"):
        Flag.objects.create(
            narrative=judged.narrative,
            candidate=judged.first if kind == "later" else judged.second,
            annotator=judged.ada,
            flag=kind,
        )
    assignments.take(pair=judged.pair, task=Assignment.Task.REVIEW, by=judged.dan)
    save_ratings(narrative=judged.narrative, answers=levels(), by=judged.dan)

    assert figures(judged)["left_out"] == [
        {"reason": "flag instead of a judgment", "count": 1},
        {"reason": "review not submitted yet", "count": 1},
    ]


def test_scale_includes_grades_that_only_files_have(scene):
    judge(scene, "a", ada=4, ben=0)

    assert figures(scene)["scale"] == [0, 1, 2, 4]


def test_a_grade_that_nobody_used_still_belongs_to_the_scale(scene):
    # Linear weights on 0, 1, 2, 3. Observed: (1 + 2 + 0) / 3. Expected over ada's {0: 2, 1: 1} and
    # ben's {0: 1, 1: 1, 3: 1}: (2 * (0 + 1 + 3) + 1 * (1 + 0 + 2)) / 9. Were 2 forgotten: 1/4.
    project = factories.project("unused", grades=(0, 1, 2, 3))
    query = factories.query(project)
    narrative = factories.altered(factories.pair(query))
    ada, ben = factories.member(project, "ada"), factories.member(project, "ben")
    for adas, bens in ((0, 1), (1, 3), (0, 0)):
        candidate = factories.candidate(query)
        factories.judgment(narrative, candidate, ada, adas)
        factories.judgment(narrative, candidate, ben, bens)

    scope = agreement_of(project, seed=1, resamples=100)["judgments"]["all"]

    assert values(scope, "cohen_linear") == [pytest.approx(2 / 11)]


def test_other_projects_do_not_count(judged):
    other = judged.eve.project
    query = factories.query(other)
    narrative = factories.altered(factories.pair(query))
    candidate = factories.candidate(query)
    factories.judgment(narrative, candidate, judged.eve, 2)
    factories.judgment(narrative, candidate, factories.member(other, "fay"), 0)

    assert figures(judged)["judgments"]["all"]["raters"] == ["ada", "ben"]


def review(scene, by, narrative=None, **others):
    narrative = narrative or scene.narrative
    assignments.take(pair=narrative.pair, task=Assignment.Task.REVIEW, by=by)
    submit_levels(narrative, by, **others)


def test_reviews_are_measured_by_criterion_and_over_all(scene):
    review(scene, scene.dan, query_dependency="poor")
    review(scene, scene.ben)
    other = factories.altered(factories.pair(factories.query(scene.project, "302")))
    review(scene, scene.dan, other, query_dependency="poor", semantic_expansion="acceptable")
    review(scene, scene.ben, other, query_dependency="poor", semantic_expansion="acceptable")

    found = figures(scene)["reviews"]

    # 12 ratings of two auditors, one of them apart.
    assert (found["all"]["units"], found["all"]["raters"]) == (12, ["ben", "dan"])
    assert values(found["all"], "percent") == [pytest.approx(11 / 12)]
    assert values(found["criteria"]["query_dependency"], "percent") == [0.5]
    assert values(found["criteria"]["semantic_expansion"], "percent", "cohen") == [1.0, 1.0]


def test_levels_are_an_ordered_scale(scene):
    # By hand, linear weights on 0, 1, 2: ben 2, 2, 1 and dan 0, 2, 1. Observed disagreement
    # (2 + 0 + 0) / 3; expected, over ben's {2: 2, 1: 1} and dan's {0: 1, 2: 1, 1: 1}:
    # (2*2 + 2*0 + 2*1 + 1*1 + 1*1 + 1*0) / 9 = 8/9. So 1 - (2/3) / (8/9) = 1/4.
    for query_id, ben, dan in (
        ("401", "excellent", "poor"),
        ("402", "excellent", "excellent"),
        ("403", "acceptable", "acceptable"),
    ):
        narrative = factories.altered(factories.pair(factories.query(scene.project, query_id)))
        review(scene, scene.ben, narrative, semantic_expansion=ben)
        review(scene, scene.dan, narrative, semantic_expansion=dan)

    scope = figures(scene)["reviews"]["criteria"]["semantic_expansion"]

    assert values(scope, "cohen_linear") == [pytest.approx(0.25)]


def test_reviews_of_every_version_count(scene):
    Project.objects.update(overlap_review=2)
    review(scene, scene.dan)
    review(scene, scene.ben)
    second = rewriting.rewrite_narrative(
        pair=scene.pair, text="Only fences count.", based_on=1, by=scene.carla
    )
    review(scene, scene.dan, second)
    review(scene, scene.ben, second)

    assert figures(scene)["reviews"]["all"]["units"] == 12


def test_reviews_of_an_instruction_taken_out_are_left_out_and_counted(scene):
    review(scene, scene.dan, query_dependency="poor")
    review(scene, scene.ben)
    INSTRUCTIONS.remove(
        project=scene.project, keys=[scene.pair.pk], reason="A double.", by=scene.carla
    )

    found = figures(scene)

    assert found["reviews"]["all"]["units"] == 0
    assert found["left_out"] == [
        {"reason": "reviews of an instruction that was taken out", "count": 2}
    ]


def test_reviews_of_an_instruction_that_a_decision_removed_count(scene):
    review(scene, scene.dan, query_dependency="poor")
    review(scene, scene.ben)
    decide(narrative=scene.narrative, outcome="removed", reason="Poor.", by=scene.carla)

    found = figures(scene)

    assert found["reviews"]["all"]["units"] == 6
    assert found["left_out"] == []


def test_reviews_taken_out_since_the_report_are_counted(scene):
    review(scene, scene.dan)
    made = report(scene)
    INSTRUCTIONS.remove(
        project=scene.project, keys=[scene.pair.pk], reason="A double.", by=scene.carla
    )

    assert count_changes_since(made) == Changes(reviews_taken_out=1)


def test_progress_counts_the_scopes(judged):
    progress = Progress()

    figures(judged, progress=progress)

    # All people, changed documents, a pair, a query, a week; all criteria and each of the six.
    assert (progress.step, progress.done, progress.total) == ("Measuring agreement", 12, 12)


def test_computing_stops_when_cancelled(judged):
    progress = Progress()
    progress.stop(Cancelled())

    with pytest.raises(Cancelled):
        figures(judged, progress=progress)


def test_the_rows_are_read_in_a_fixed_number_of_queries(judged, django_assert_num_queries):
    for number in range(5):
        query = factories.query(judged.project, f"4{number}")
        narrative = factories.altered(factories.pair(query))
        judge(judged, f"n{number}", query=query, narrative=narrative, ada=1, ben=0)

    with django_assert_num_queries(24):
        figures(judged)


def report(scene):
    return AgreementReport.objects.create(project=scene.project, figures=figures(scene))


def test_up_to_date_report_has_no_changes_since(judged):
    assert not any(count_changes_since(report(judged)))


def test_changes_after_a_report_are_counted(judged):
    made = report(judged)
    judge(judged, "f", ada=0, ben=1)
    first = judged.query.candidates.get(document__doc_id="a").statements.get(annotator=judged.ada)
    first.ended_at = first.withdrawn_at = datetime(2100, 1, 1, tzinfo=UTC)
    first.save()
    review(judged, judged.dan)
    rewriting.rewrite_narrative(
        pair=judged.pair, text="Only fences count.", based_on=1, by=judged.carla
    )

    assert count_changes_since(made) == Changes(judgments=2, taken_back=1, reviews=1, narratives=1)


def test_a_version_that_was_written_and_withdrawn_since_is_no_change(judged):
    made = report(judged)
    rewriting.rewrite_narrative(
        pair=judged.pair, text="Only fences count.", based_on=1, by=judged.carla
    )
    assert count_changes_since(made).words == "Since then: 1 new version of a narrative."

    rewriting.go_back(narrative=judged.narrative, by=judged.carla)

    assert not any(count_changes_since(made))


def test_judging_again_counts_once(judged):
    made = report(judged)
    first = judged.query.candidates.get(document__doc_id="a").statements.get(annotator=judged.ada)
    first.ended_at = datetime(2100, 1, 1, tzinfo=UTC)
    first.save()
    factories.judgment(judged.narrative, first.candidate, judged.ada, 1, replaces=first)

    assert count_changes_since(made) == Changes(judgments=1)


def test_judgments_of_another_project_are_no_changes(judged):
    made = report(judged)
    query = factories.query(judged.eve.project)
    narrative = factories.altered(factories.pair(query))
    factories.judgment(narrative, factories.candidate(query), judged.eve, 2)

    assert not any(count_changes_since(made))


def test_documents_that_were_taken_out_do_not_count(judged):
    removed = Candidate.objects.get(document__doc_id="c")
    DOCUMENTS.remove(project=judged.project, keys=[removed.pk], reason="Twin.", by=judged.carla)

    found = figures(judged)

    assert found["judgments"]["all"]["units"] == 4
    assert values(found["judgments"]["all"], "percent") == [1.0]
    reason = "judgments of a document that was taken out"
    assert found["left_out"] == [{"reason": reason, "count": 2}]


def test_what_a_lead_took_out_settled_or_withdrew_since_is_counted(judged):
    project, carla = judged.project, judged.carla
    narrative = factories.altered(factories.pair(factories.query(project, "302")))
    judge(judged, "x", narrative.pair.query, narrative, ada=1, ben=1)
    second = factories.altered(factories.pair(factories.query(project, "303")))
    made = report(judged)

    documents = {
        one.document.doc_id: one.pk for one in Candidate.objects.select_related("document")
    }
    DOCUMENTS.remove(project=project, keys=[documents["a"]], reason="Twin.", by=carla)
    INSTRUCTIONS.remove(project=project, keys=[narrative.pair_id], reason="Twin.", by=carla)
    Adjudication.objects.create(
        narrative=judged.narrative,
        candidate_id=documents["c"],
        relevance=1,
        reason="Fences.",
        by=carla,
    )
    second.withdrawn_at, second.withdrawn_by = timezone.now(), carla
    second.is_current = False
    second.save()

    assert count_changes_since(made) == Changes(taken_out=4, settled=1, withdrawn=1)


def test_documents_and_instructions_brought_back_since_are_counted(judged):
    project, carla = judged.project, judged.carla
    (candidate,) = Candidate.objects.filter(document__doc_id="a")
    pair = judged.narrative.pair
    DOCUMENTS.remove(project=project, keys=[candidate.pk], reason="Twin.", by=carla)
    INSTRUCTIONS.remove(project=project, keys=[pair.pk], reason="Twin.", by=carla)
    made = report(judged)
    assert not any(count_changes_since(made))

    DOCUMENTS.restore(project=project, keys=[candidate.pk], by=carla)
    INSTRUCTIONS.restore(project=project, keys=[pair.pk], by=carla)

    changes = count_changes_since(made)
    assert changes == Changes(brought_back=2)
    assert changes.words == "Since then: 2 returns of documents or instructions."


def test_reviews_from_a_file_that_are_older_than_the_report_are_new(judged):
    made = report(judged)
    judged.narrative.reviews.create(
        auditor=judged.dan, rubric="followtable-1", started_at=NOON, submitted_at=NOON
    )

    assert count_changes_since(made) == Changes(reviews=1)
