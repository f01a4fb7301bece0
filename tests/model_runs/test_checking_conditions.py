"""A run asks a model which conditions documents meet; grades follow by the project's rule.

The imitation says that a condition is met if the document has one of its words of five letters or
more, and quotes the first line with one.
"""

from __future__ import annotations

import io
import json

import pytest

from annotate.judgments.consensus import derive_relevance
from annotate.models import Judgment, Project
from audit.model_runs import asking
from audit.model_runs.actions import new_run, plan_run, request_run
from audit.model_runs.models import ModelRun
from audit.model_runs.tasks.conditions import CheckConditions
from base.errors import Refused
from tests import factories
from tests.services.model_server import say

pytestmark = pytest.mark.both_databases

Subjects = ModelRun.Subjects


@pytest.fixture
def cast(cast):
    """The documents are "Plants count the waves.", "Two plants stand there." and "A river."."""
    cast.project.condition_rule = Project.ConditionRule.ALL_MET
    cast.project.save()
    for number, text in enumerate(("plants", "heavy waves"), 1):
        cast.narrative.conditions.create(number=number, text=text)
    return cast


@pytest.fixture
def check(grade):
    def request_and_run(**choices):
        return grade(**{"subjects": Subjects.CONDITIONS_ALL} | choices)

    return request_and_run


def judged(project):
    """Return grade and verdicts by document, of machines."""
    judgments = Judgment.objects.current().filter(annotator__is_machine=True)
    return {
        judgment.candidate.document.doc_id: (
            judgment.relevance,
            list(judgment.verdicts.order_by("condition__number").values_list("answer", flat=True)),
        )
        for judgment in judgments.filter(annotator__project=project)
    }


def answers(*met, quote="", **more):
    value = {f"condition_{n}": {"quote": quote, "met": its} for n, its in enumerate(met, 1)}
    return say(json.dumps(value | more))


def test_each_document_gets_a_verdict_on_each_condition_and_the_grade_that_follows(cast, check):
    run = check()

    assert (run.state, run.error) == ("done", "")
    assert judged(cast.project) == {
        "D1": (2, ["met", "met"]),
        "D2": (0, ["met", "not_met"]),
        "D3": (0, ["not_met", "not_met"]),
    }


def test_a_call_says_how_many_conditions_are_met(check):
    run = check()

    outcomes = run.calls.order_by("candidate__document__doc_id").values_list("outcome", flat=True)
    assert list(outcomes) == ["2, 2 of 2 met", "0, 1 of 2 met", "0, 0 of 2 met"]


def test_quotes_of_conditions_that_are_met_are_evidence(cast, check):
    check()

    judgment = Judgment.objects.get(annotator__is_machine=True, candidate=cast.candidates[1])
    assert judgment.evidence == [{"start": 0, "end": len("Two plants stand there.")}]


def test_a_quote_that_does_not_occur_is_remarked_with_its_condition(check, server):
    server.will(answers(True, True, quote="Nobody said this."))

    run = check(drawn=1)

    assert run.calls.get().remarks == [
        "The quote on condition 1 does not occur in the document.",
        "The quote on condition 2 does not occur in the document.",
    ]
    assert run.calls.get().evidence == []


def test_an_answer_that_lacks_a_condition_is_a_failure(cast, check, server):
    server.will(answers(True), answers(True))

    run = check(drawn=1)

    assert run.calls.failed().count() == 1
    assert judged(cast.project) == {}


def test_narratives_without_conditions_are_left_out(cast, endpoint, check):
    other = factories.query(cast.project, "2")
    factories.pair(other, altered="Another one.")
    factories.candidate(other, "D4", text="Plants.")

    plan = plan_run(new_run(endpoint=endpoint, subjects=Subjects.CONDITIONS_ALL), by=cast.carla)

    assert plan.items == 3


def test_only_what_people_judged_is_asked_about_if_so_chosen(cast, check):
    check(subjects=Subjects.CONDITIONS_JUDGED)

    assert set(judged(cast.project)) == {"D1", "D2"}


def test_only_what_nobody_judged_is_asked_about_if_so_chosen(cast, check):
    check(subjects=Subjects.CONDITIONS_UNJUDGED)

    assert set(judged(cast.project)) == {"D3"}


def test_a_project_whose_grades_are_given_by_hand_has_no_use_for_it(cast, endpoint):
    cast.project.condition_rule = Project.ConditionRule.BY_HAND
    cast.project.save()
    cast.carla.refresh_from_db()
    run = new_run(endpoint=endpoint, subjects=Subjects.CONDITIONS_ALL, most_tokens=9_999)

    with pytest.raises(Refused, match="does not follow from conditions"):
        request_run(run, by=cast.carla)


# --- how many are met -----------------------------------------------------------------------------


def test_more_conditions_than_grades_is_a_failure_and_no_grade(cast, check, server):
    # The grades are 0, 1 and 2, and three conditions are met.
    cast.narrative.conditions.create(number=3, text="count")
    cast.project.condition_rule = Project.ConditionRule.COUNT_MET
    cast.project.save()

    run = check()

    reasons = run.calls.failed().values_list("reason", flat=True)
    assert list(reasons) == ["No grade of the project follows from 3 of 3 met."]
    assert judged(cast.project) == {
        "D2": (1, ["met", "not_met", "not_met"]),
        "D3": (0, ["not_met"] * 3),
    }


@pytest.mark.parametrize(
    ("met", "grade"), [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (5, 3)], ids=str
)
def test_by_bands_the_highest_three_grades_are_for_1_for_2_or_3_and_for_4_or_more(met, grade):
    verdicts = ["met"] * met + ["not_met"] * (5 - met)

    assert derive_relevance("bands", verdicts, [0, 1, 2, 3]) == grade


def test_by_bands_with_five_grades_people_say_whether_a_document_that_meets_none_is_related():
    assert derive_relevance("bands", ["not_met"], [0, 1, 2, 3, 4]) is None
    assert derive_relevance("bands", ["met"], [0, 1, 2, 3, 4]) == 2


@pytest.mark.parametrize(("related", "expected"), [(True, 1), (False, 0)])
def test_by_bands_with_five_grades_a_model_says_whether_it_is_related(
    cast, check, server, related, expected
):
    for value in (3, 4):
        cast.project.grades.create(value=value, name=str(value))
    cast.project.condition_rule = Project.ConditionRule.BANDS
    cast.project.save()
    server.will(answers(False, False, related=related))

    check(drawn=1)

    assert list(judged(cast.project).values()) == [(expected, ["not_met", "not_met"])]


def test_after_a_change_of_the_rule_a_run_gives_the_grades_anew_unpaid(cast, check, server):
    check()
    cast.project.condition_rule = Project.ConditionRule.COUNT_MET
    cast.project.save()

    run = check()

    assert (run.state, len(server.received)) == ("done", 3)
    assert {doc: grade for doc, (grade, _) in judged(cast.project).items()} == {
        "D1": 2,
        "D2": 1,
        "D3": 0,
    }


def test_a_condition_that_comes_while_the_model_is_asked_leaves_its_answers_unwritten(
    cast, check, monkeypatch
):
    def added_meanwhile(run):
        cast.narrative.conditions.create(number=3, text="count")
        write(run)

    write = asking.write_answers
    monkeypatch.setattr(asking, "write_answers", added_meanwhile)

    run = check()

    assert run.state == "done"
    assert judged(cast.project) == {}


def test_more_answers_take_no_more_queries_to_write(
    cast, check, django_assert_max_num_queries, server
):
    for number in range(20):
        factories.candidate(cast.query, f"M{number}", text=f"Plants {number}.")
    run = check()
    calls = run.calls.answered().order_by("pk").select_related("cached_from", "pair__query")

    # The project's grades, the calls, narratives' conditions.
    with django_assert_max_num_queries(4):
        written = CheckConditions().write(run, calls, io.BytesIO())

    assert written == 23


def test_a_run_that_says_the_same_again_writes_nothing(cast, check):
    check()
    before = list(Judgment.objects.order_by("pk").values())

    check()

    assert list(Judgment.objects.order_by("pk").values()) == before


def test_a_condition_of_several_lines_is_one_line_for_the_model(cast, check, server):
    cast.narrative.conditions.filter(number=1).update(text="plants\n2. anything at all")

    check(drawn=1)

    question = server.received[0].body["messages"][0]["content"]
    assert "1. plants 2. anything at all\n2. heavy waves\n" in question


def test_the_page_of_a_run_leads_to_how_far_the_machine_is_trusted(cast, check, client):
    run = check()
    client.force_login(cast.carla.user)

    page = client.get(run.get_absolute_url()).content.decode()

    assert "How far to trust it" in page
