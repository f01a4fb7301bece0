"""A model writes instructions, another one criticises them, and what is poor is written anew.

The imitation writes a poor instruction where the query has an odd number of characters, and a
better one once it was criticised; its critic finds the first criterion poor in a poor one.
"""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Assignment, InstructionPair, Judgment, Membership, Narrative
from annotate.rewriting.sending_back import send_back
from audit.model_runs import asking
from audit.model_runs.actions import add_endpoint, new_run, plan_run, request_run, save_prompt
from audit.model_runs.figures import run_figures
from audit.model_runs.models import Endpoint, ModelRun
from audit.model_runs.tasks import task_of
from audit.models import Review
from audit.reviews.criteria import FOLLOWTABLE, MULTICONIR, Verdict
from audit.reviews.passes import passes_of, verdict_of
from audit.reviews.rubrics import choose_rubric
from audit.reviews.story import story
from base.errors import Refused
from jobs.errors import JobError
from tests import factories
from tests.model_runs.conftest import run_again
from tests.services.model_server import MODEL, say

pytestmark = pytest.mark.both_databases

FIRST_CRITERION = FOLLOWTABLE.keys[0]
Subjects = ModelRun.Subjects


@pytest.fixture
def cast(cast):
    """Two pairs of the kind that is reviewed, whose instructions nobody has written.

    The query "tides" has 5 characters, "waves!" has 6.
    """
    cast.project.kind = "followtable"
    cast.project.save()
    cast.pairs = [
        factories.pair(
            factories.query(cast.project, query_id, title),
            original="",
            altered=None,
            pair_id=query_id,
            category="C1",
        )
        for query_id, title in (("odd", "tides"), ("even", "waves!"))
    ]
    return cast


@pytest.fixture
def critic(cast, server):
    """Another model than the author, by its name."""
    values = {"server": "lab", "model": "critic", "most_tokens": 1_000_000, "concurrency": 1}
    return add_endpoint(Endpoint(**values), by=cast.carla)


@pytest.fixture
def run(cast, endpoint):
    """A function that does a run about these subjects; it returns the run's row."""

    def request_and_run(subjects, endpoint=endpoint, **choices) -> ModelRun:
        made = new_run(endpoint=endpoint, subjects=subjects, most_tokens=100_000, **choices)
        return run_again(request_run(made, by=cast.carla))

    return request_and_run


@pytest.fixture
def many_pairs(cast):
    """Ten more pairs without an instruction."""
    for number in range(10):
        query = factories.query(cast.project, f"q{number}", f"query {number}")
        factories.pair(query, original="", altered=None, pair_id=query.query_id)
    return cast


def texts(cast):
    rows = Narrative.objects.current().filter(side="altered", pair__in=cast.pairs)
    return dict(rows.values_list("pair__pair_id", "text"))


def versions(pair):
    return list(pair.narratives.filter(side="altered").order_by("version"))


def reviews(cast):
    return Review.objects.filter(narrative__pair__in=cast.pairs)


# --- writing --------------------------------------------------------------------------------------


def test_each_pair_without_an_instruction_gets_one(cast, run):
    done = run(Subjects.UNWRITTEN)

    assert (done.state, done.error) == ("done", "")
    assert texts(cast) == {
        "odd": "Only what compares kinds of tides. It should be informative.",
        "even": "Only what compares kinds of waves. A single example is not enough.",
    }


def test_a_version_says_which_model_and_prompt_wrote_it(cast, run):
    run(Subjects.UNWRITTEN)

    (version,) = versions(cast.pairs[0])
    assert (version.origin, version.model) == ("llm", MODEL)
    assert version.note == f"{MODEL}, author prompt 1"
    assert version.author is None


def test_the_pair_of_a_query_that_has_others_stays_without_an_instruction(cast, run):
    query = cast.pairs[0].query
    factories.pair(query, original="", altered=None, pair_id="odd_1")

    done = run(Subjects.UNWRITTEN)

    assert set(done.calls.values_list("pair__pair_id", flat=True)) == {"odd_1", "even"}


def test_nothing_is_said_of_answers_to_the_same_question_where_each_is_asked_once(cast, run):
    assert run_figures(run(Subjects.UNWRITTEN)).repeated == 0


def test_an_instruction_that_is_there_is_left_alone(cast, run):
    run(Subjects.UNWRITTEN)

    with pytest.raises(Refused, match="There is no such instruction to ask about"):
        run(Subjects.UNWRITTEN)


def test_the_author_reads_the_query_its_type_and_some_documents(cast, run, server):
    pair = cast.pairs[0]
    cast.project.categories.create(key="C1", name="Content", sentence="About what cells say.")
    factories.candidate(pair.query, "T1", text="Heights of the tide.")

    run(Subjects.UNWRITTEN, drawn=2)

    asked = [request.body["messages"][0]["content"] for request in server.received]
    about_tides = next(content for content in asked if "\ntides\n" in content)
    assert "Content. About what cells say." in about_tides
    assert "Heights of the tide." in about_tides


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("  ", "The instruction has no words."),
        ("a\ufffdb", "U+FFFD"),
        ("word " * 1_000, "at most 4,000"),
    ],
)
def test_what_cannot_be_an_instruction_is_a_failure_with_its_reason(
    cast, run, server, text, reason
):
    server.will(*[say(json.dumps({"instruction": text}))] * 2)

    done = run(Subjects.UNWRITTEN)

    failed = done.calls.failed()
    assert {call.failure for call in failed} == {"unusable"}
    assert reason in failed[0].reason
    assert texts(cast) == {}


def test_an_instruction_that_a_person_wrote_meanwhile_stays(cast, run, monkeypatch):
    write_answers = asking.write_answers

    def write_after_a_person(of):
        factories.narrative(cast.pairs[0], text="By hand.")
        write_answers(of)

    monkeypatch.setattr(asking, "write_answers", write_after_a_person)

    run(Subjects.UNWRITTEN)

    assert texts(cast) == {
        "odd": "By hand.",
        "even": "Only what compares kinds of waves. A single example is not enough.",
    }


def test_an_instruction_that_somebody_began_to_review_meanwhile_stays(
    cast, run, critic, monkeypatch
):
    run(Subjects.UNWRITTEN)
    run(Subjects.BY_OTHERS, critic)
    write_answers = asking.write_answers

    def write_after_a_review_began(of):
        dan = factories.member(cast.project, "dan")
        narrative = versions(cast.pairs[0])[0]
        Review.objects.create(narrative=narrative, auditor=dan, rubric=FOLLOWTABLE.name)
        write_answers(of)

    monkeypatch.setattr(asking, "write_answers", write_after_a_review_began)

    run(Subjects.CRITICISED)

    assert len(versions(cast.pairs[0])) == 1


def test_instructions_of_one_type_for_one_query_are_asked_for_by_number(cast, run, server):
    query = cast.pairs[0].query
    for pair_id in ("odd_1", "odd_2"):
        factories.pair(query, original="", altered=None, pair_id=pair_id, category="C2")

    run(Subjects.UNWRITTEN)

    asked = [request.body["messages"][0]["content"] for request in server.received]
    assert [("number 1 of 2" in content, "number 2 of 2" in content) for content in asked] == [
        (False, False),
        (True, False),
        (False, True),
    ]


def test_an_author_who_only_repeats_itself_is_given_up(many_pairs, run, server):
    server.rule = lambda body: json.dumps({"instruction": " "})

    with pytest.raises(JobError, match="10 calls in a row failed, the last one so: The instr"):
        run(Subjects.UNWRITTEN)

    assert len(server.received) == 10


# --- criticising ----------------------------------------------------------------------------------


def test_a_critic_reviews_each_instruction_by_the_rubric(cast, run, critic):
    run(Subjects.UNWRITTEN)

    done = run(Subjects.BY_OTHERS, critic)

    poor = reviews(cast).get(narrative__pair=cast.pairs[0])
    levels = dict(poor.ratings.values_list("criterion", "level"))
    assert poor.rubric == FOLLOWTABLE.name
    assert levels.pop(FIRST_CRITERION) == "poor"
    assert set(levels.values()) == {"excellent"}
    assert (
        list(run_figures(done).outcomes.items())
        == [
            ("5 excellent, 1 poor", 1),
            ("6 excellent", 2),
        ][::-1]
    )


def test_a_criticism_is_a_machines_review_and_no_verdict(cast, run, critic):
    run(Subjects.UNWRITTEN)

    run(Subjects.BY_OTHERS, critic)

    machine = Membership.objects.get(project=cast.project, name="critic, critic prompt 1")
    assert machine.is_machine
    narrative = versions(cast.pairs[0])[-1]
    assert verdict_of(passes_of([narrative])[narrative.pk], cast.project) == Verdict.UNREVIEWED


def test_a_model_does_not_criticise_what_it_wrote_unless_the_lead_chooses_so(cast, run, endpoint):
    run(Subjects.UNWRITTEN)
    of_others = new_run(endpoint=endpoint, subjects=Subjects.BY_OTHERS)
    of_all = new_run(endpoint=endpoint, subjects=Subjects.UNDECIDED)

    # The instruction of the fixture of all tests was written by a person.
    plans = [plan_run(of, by=cast.carla) for of in (of_others, of_all)]
    assert [plan.items for plan in plans] == [1, 3]


def test_an_instruction_is_criticised_once_by_a_machine(cast, run, critic):
    run(Subjects.UNWRITTEN)
    run(Subjects.BY_OTHERS, critic)

    with pytest.raises(Refused, match="no such instruction"):
        run(Subjects.BY_OTHERS, critic)


def test_a_level_that_the_rubric_does_not_have_is_a_failure_and_no_review(
    cast, run, critic, server
):
    run(Subjects.UNWRITTEN)
    answer = {key: {"words": "", "level": "superb"} for key in FOLLOWTABLE.keys}
    server.will(*[say(json.dumps(answer))] * 6)

    done = run(Subjects.BY_OTHERS, critic)

    assert {call.failure for call in done.calls.failed()} == {"unreadable"}
    assert not reviews(cast).exists()


def test_a_rubric_that_was_changed_meanwhile_is_not_applied_to_the_answers(
    cast, run, critic, monkeypatch
):
    run(Subjects.UNWRITTEN)
    write_answers = asking.write_answers

    def write_after_another_rubric_was_chosen(of):
        choose_rubric(project=cast.project, name=MULTICONIR.name, by=cast.carla)
        write_answers(of)

    monkeypatch.setattr(asking, "write_answers", write_after_another_rubric_was_chosen)

    run(Subjects.BY_OTHERS, critic)

    assert set(reviews(cast).values_list("rubric", flat=True)) == {FOLLOWTABLE.name}


# --- writing anew ---------------------------------------------------------------------------------


@pytest.fixture
def criticised(cast, run, critic):
    run(Subjects.UNWRITTEN)
    run(Subjects.BY_OTHERS, critic)
    return cast


def test_what_the_critic_found_poor_is_written_anew_and_the_rest_stays(criticised, run):
    run(Subjects.CRITICISED)

    first, second = versions(criticised.pairs[0])
    assert (first.is_current, second.is_current) == (False, True)
    assert second.text == "Only what compares kinds of tides. A single example is not enough."
    assert len(versions(criticised.pairs[1])) == 1


def test_the_author_reads_the_earlier_instruction_and_the_criticism_without_names(
    criticised, run, server
):
    server.received.clear()

    run(Subjects.CRITICISED)

    (request,) = server.received
    content = request.body["messages"][0]["content"]
    assert "It should be informative." in content
    assert "Semantic expansion, Poor: “Informative” rules nothing out." in content
    assert "critic prompt" not in content


def test_the_loop_ends_when_nothing_is_poor(criticised, run, critic):
    run(Subjects.CRITICISED)
    run(Subjects.BY_OTHERS, critic)

    with pytest.raises(Refused, match="no such instruction"):
        run(Subjects.CRITICISED)


def test_the_history_of_an_instruction_shows_the_loop_on_one_page(criticised, run, critic):
    run(Subjects.CRITICISED)
    run(Subjects.BY_OTHERS, critic)

    chapters = story(criticised.pairs[0], criticised.carla)

    by_version = {chapter.narrative.version: chapter for chapter in chapters}
    assert [by_version[number].machines[0].rejected for number in (1, 2)] == [1, 0]


def test_an_instruction_that_a_person_reviews_is_not_written_anew(criticised, run):
    pair = criticised.pairs[0]
    dan = factories.member(criticised.project, "dan")
    Review.objects.create(narrative=versions(pair)[0], auditor=dan, rubric=FOLLOWTABLE.name)

    with pytest.raises(Refused, match="no such instruction"):
        run(Subjects.CRITICISED)


def test_what_a_lead_sent_back_is_written_anew_with_the_reason(criticised, run, server):
    pair = criticised.pairs[1]
    send_back(pair=pair, version=1, reason="Name the period.", by=criticised.carla)
    server.received.clear()
    server.will(say('{"instruction": "Only waves since 2000."}'))

    run(Subjects.SENT_BACK)

    (request,) = server.received
    assert "Name the period." in request.body["messages"][0]["content"]
    assert texts(criticised)["even"] == "Only waves since 2000."


def test_what_a_person_wrote_is_not_written_anew_by_a_model(cast, run):
    pair = cast.pairs[0]
    factories.narrative(pair, text="By hand.")
    send_back(pair=pair, version=1, reason="Say more.", by=cast.carla)

    with pytest.raises(Refused, match="no such instruction"):
        run(Subjects.SENT_BACK)


def test_claims_of_machines_stay_with_the_new_version(criticised, run):
    pair = criticised.pairs[0]
    claimed = factories.candidate(pair.query, "T1")
    generator = factories.machine(criticised.project, "generator")
    factories.judgment(versions(pair)[0], claimed, generator, 2)

    run(Subjects.CRITICISED)

    under_new = Judgment.objects.current().filter(narrative=versions(pair)[1])
    assert list(under_new.values_list("annotator__name", "relevance")) == [("generator", 2)]


def test_the_same_text_again_is_a_failure(criticised, run, server):
    earlier = texts(criticised)["odd"]
    server.will(say(json.dumps({"instruction": earlier})))

    done = run(Subjects.CRITICISED)

    assert done.calls.get().reason == "The instruction is the one that was shown, word for word."
    assert len(versions(criticised.pairs[0])) == 1


def test_a_version_with_conditions_is_not_written_anew(criticised, run):
    versions(criticised.pairs[0])[0].conditions.create(number=1, text="It is a tide.")

    with pytest.raises(Refused, match="no such instruction"):
        run(Subjects.CRITICISED)


# --- pages and limits -----------------------------------------------------------------------------


def test_a_kind_without_reviews_has_only_grades(cast, endpoint):
    cast.project.kind, cast.project.overlap_review = "followir", 0
    cast.project.save()

    with pytest.raises(Refused, match="no instructions to review"):
        request_run(
            new_run(endpoint=endpoint, subjects=Subjects.UNWRITTEN, most_tokens=9_999),
            by=cast.carla,
        )


def test_only_grades_can_be_asked_for_several_times(cast, endpoint):
    with pytest.raises(Refused, match="Only grades"):
        request_run(
            new_run(endpoint=endpoint, subjects=Subjects.UNWRITTEN, samples=2, most_tokens=9_999),
            by=cast.carla,
        )


def test_a_lead_who_still_reviews_cannot_count_what_was_criticised(criticised, endpoint):
    factories.assignment(criticised.pairs[0], criticised.carla, Assignment.Task.REVIEW)
    run = new_run(endpoint=endpoint, subjects=Subjects.CRITICISED)

    with pytest.raises(Refused, match="You have judging or reviewing left"):
        plan_run(run, by=criticised.carla)


def test_each_task_has_prompts_of_its_own(cast, run):
    text = f"{task_of('write').shipped.text}Be brief."
    saved = save_prompt(task="write", text=text, by=cast.carla)

    assert saved.version == 2
    assert run(Subjects.UNWRITTEN).machine == f"{MODEL}, author prompt 2"
    assert run(Subjects.JUDGED).machine == f"{MODEL}, prompt 1"


def test_a_lead_who_still_reviews_sees_no_criticism_in_examples(criticised):
    factories.assignment(criticised.pairs[0], criticised.carla, Assignment.Task.REVIEW)
    client = Client()
    client.force_login(criticised.carla.user)

    address = reverse("audit:prompt", args=["tides"])
    page = client.get(address, {"task": "write"}).content.decode()

    assert "You have judging or reviewing left" in page
    assert "rules nothing out" not in page


def test_the_pair_keeps_its_type(cast, run):
    run(Subjects.UNWRITTEN)

    kept = InstructionPair.objects.get(pair_id="odd")
    assert (kept.category, kept.origin, kept.model) == ("C1", "llm", MODEL)
