"""A run has a model write the reverse of each instruction, in projects that have reversed ones.

The imitation writes "Everything but this: " and the instruction.
"""

from __future__ import annotations

import json

import pytest
from django.utils import timezone

from annotate.models import Judgment, Narrative
from audit.model_runs import asking
from audit.model_runs.actions import new_run, plan_run, request_run
from audit.model_runs.figures import run_figures
from audit.model_runs.models import ModelRun
from base.errors import Refused
from tests import factories
from tests.model_runs.conftest import NARRATIVE
from tests.services.model_server import MODEL, say

pytestmark = pytest.mark.both_databases


@pytest.fixture
def reverse(grade):
    return lambda **choices: grade(subjects=ModelRun.Subjects.UNREVERSED, **choices)


@pytest.fixture
def cast(cast):
    cast.project.kind = "infosearch"
    cast.project.save()
    return cast


def reversed_narratives(cast):
    return Narrative.objects.filter(pair__project=cast.project, side="reversed")


def test_each_instruction_gets_its_reverse(cast, reverse):
    run = reverse()

    narrative = reversed_narratives(cast).get()
    assert (run.state, run.error) == ("done", "")
    assert (narrative.pair, narrative.version) == (cast.pair, 1)
    assert narrative.text == f"Everything but this: {NARRATIVE}"


def test_the_reverse_says_which_model_and_prompt_wrote_it(cast, reverse):
    reverse()

    narrative = reversed_narratives(cast).get()
    assert (narrative.origin, narrative.model) == ("llm", MODEL)
    assert narrative.note == f"{MODEL}, reversal prompt 1"


def planned(cast, endpoint):
    """Return how many instructions a run would be about."""
    run = new_run(endpoint=endpoint, subjects=ModelRun.Subjects.UNREVERSED)
    return plan_run(run, by=cast.carla).items


def test_an_instruction_with_a_reverse_is_not_asked_about(cast, endpoint, reverse):
    assert planned(cast, endpoint) == 1

    reverse()

    assert planned(cast, endpoint) == 0


def test_what_a_person_wrote_is_not_asked_about(cast, endpoint):
    factories.narrative(cast.pair, "reversed", text="By hand.")

    assert planned(cast, endpoint) == 0


def test_what_a_person_writes_while_the_model_is_asked_stays(cast, reverse, monkeypatch):
    def written_meanwhile(run):
        factories.narrative(cast.pair, "reversed", text="By hand.")
        write(run)

    write = asking.write_answers
    monkeypatch.setattr(asking, "write_answers", written_meanwhile)

    reverse()

    assert [narrative.text for narrative in reversed_narratives(cast)] == ["By hand."]


def test_what_was_sent_back_is_left_out(cast, endpoint):
    cast.pair.narratives.current().update(sent_back_at=timezone.now(), sent_back_by=cast.carla)

    assert planned(cast, endpoint) == 0


def test_a_reverse_that_is_the_instruction_is_a_failure(cast, reverse, server):
    server.will(say(json.dumps({"instruction": f" {NARRATIVE}"})))

    run = reverse()

    assert run.calls.get().reason == "The instruction is the one that was shown, word for word."
    assert not reversed_narratives(cast).exists()


def test_judgments_of_people_stay_as_they_are(cast, reverse):
    before = list(Judgment.objects.order_by("pk").values())

    reverse()

    assert list(Judgment.objects.order_by("pk").values()) == before


def test_texts_are_not_counted_as_answers(reverse):
    assert run_figures(reverse()).outcomes == {}


def test_a_project_without_reversed_instructions_has_no_use_for_it(cast, endpoint):
    cast.project.kind = "followir"
    cast.project.save()
    cast.carla.refresh_from_db()
    run = new_run(endpoint=endpoint, subjects=ModelRun.Subjects.UNREVERSED, most_tokens=9_999)

    with pytest.raises(Refused, match="no reversed instructions"):
        request_run(run, by=cast.carla)


def test_the_page_of_a_run_leads_to_the_queries_whose_instructions_it_wrote(cast, reverse, client):
    run = reverse()
    client.force_login(cast.carla.user)

    page = client.get(run.get_absolute_url()).content.decode()

    assert '<a class="button" href="/projects/tides/queries/">Queries</a>' in page
