"""Which models and prompts a project can use."""

from __future__ import annotations

import pytest
from django.urls import reverse

from audit.model_runs.actions import add_endpoint, current_prompt, remove_endpoint, save_prompt
from audit.model_runs.models import Endpoint, Prompt
from audit.model_runs.tasks import task_of
from base.errors import Refused
from tests.services.model_server import MODEL

SHIPPED = task_of("grade").shipped.text
VALUES = {"server": "lab", "model": MODEL, "most_tokens": 1_000}


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"server": "elsewhere"}, "does not allow this server"),
        ({"model": " "}, "has no name"),
        ({"model": "a\u202eb"}, "U\\+202E"),
        ({"temperature": 3.0}, "between 0 and 2"),
        ({"prompt_price": 1}, "both prices"),
        ({"prompt_price": 1, "completion_price": 1}, "what all runs together may cost"),
        ({"most_cost": 1}, "no cost can be limited"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused(cast, server, values, reason):
    with pytest.raises(Refused, match=reason):
        add_endpoint(Endpoint(**{**VALUES, **values}), by=cast.carla)

    assert not Endpoint.objects.exists()


def test_only_leads_add_models(cast, server):
    with pytest.raises(Refused, match="Only leads"):
        add_endpoint(Endpoint(**VALUES), by=cast.ada)


def test_a_model_that_is_added_twice_with_the_same_choices_is_refused(cast, server):
    first = add_endpoint(Endpoint(**VALUES), by=cast.carla)

    with pytest.raises(Refused, match="here already, with the same choices"):
        add_endpoint(Endpoint(**VALUES), by=cast.carla)

    assert list(Endpoint.objects.all()) == [first]


def test_a_removed_model_that_is_added_again_is_the_same_machine(cast, grade, endpoint):
    before = grade(drawn=1).machine
    remove_endpoint(endpoint=endpoint, by=cast.carla)

    again = add_endpoint(Endpoint(**VALUES, concurrency=2), by=cast.carla)

    assert (again, again.removed_at, again.most_tokens) == (endpoint, None, 1_000)
    assert grade(endpoint=again, drawn=1, most_tokens=1_000).machine == before


def test_a_removed_model_with_other_choices_stays_removed(cast, server):
    first = add_endpoint(Endpoint(**VALUES), by=cast.carla)
    remove_endpoint(endpoint=first, by=cast.carla)

    assert add_endpoint(Endpoint(**VALUES, seed=1), by=cast.carla).number == 2
    assert list(Endpoint.objects.in_use(cast.project.pk).values_list("number", flat=True)) == [2]


def test_models_with_one_name_are_told_apart_by_the_number_of_their_machines(cast, server, client):
    add_endpoint(Endpoint(**VALUES), by=cast.carla)
    add_endpoint(Endpoint(**VALUES, max_tokens=4_096), by=cast.carla)
    client.force_login(cast.carla.user)

    listed = client.get(reverse("audit:models", args=["tides"])).content.decode()
    offered = client.get(reverse("audit:new_model_run", args=["tides"])).content.decode()

    assert f"<bdi>{MODEL}</bdi>" in listed
    assert f"<bdi>{MODEL} (2)</bdi>" in listed
    assert f"{MODEL} (lab, temperature 0)" in offered
    assert f"{MODEL} (2) (lab, temperature 0)" in offered
    models = client.get("/api/v1/projects/tides/models/").json()["results"]
    assert [model["name"] for model in models] == [MODEL, f"{MODEL} (2)"]


def test_a_removed_model_keeps_its_runs_and_is_not_asked(cast, grade, endpoint):
    run = grade(drawn=1)

    remove_endpoint(endpoint=endpoint, by=cast.carla)

    endpoint.refresh_from_db()
    assert run.calls.count() == 1
    with pytest.raises(Refused, match="no longer in use"):
        grade()


def test_the_first_run_keeps_the_shipped_text_as_version_1(cast, grade):
    grade(drawn=1)

    prompt = Prompt.objects.get()
    assert (prompt.version, prompt.text) == (1, SHIPPED)


def test_a_changed_text_is_the_next_version_and_the_shipped_one_stays_the_first(cast):
    save_prompt(task="grade", text=f"{SHIPPED}Be brief.", by=cast.carla)

    versions = Prompt.objects.filter(project=cast.project).order_by("version")
    assert [prompt.version for prompt in versions] == [1, 2]
    assert current_prompt(cast.project, "grade").text.endswith("Be brief.\n")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Grade {document} by {narrative}.", r"without \{grades\}"),
        ("{document} {narrative} {grades} {answer}", r"Line 1, column \d+: \{answer\}"),
        (SHIPPED, "This is the current text"),
        ("{document} {narrative} {grades} \x07", "U\\+0007"),
    ],
)
def test_a_text_that_cannot_be_used_is_refused(cast, text, reason):
    with pytest.raises(Refused, match=reason):
        save_prompt(task="grade", text=text, by=cast.carla)

    assert not Prompt.objects.exists()


def test_another_prompt_grades_as_another_machine(cast, grade):
    grade(drawn=1)
    save_prompt(task="grade", text=f"{SHIPPED}Be brief.", by=cast.carla)

    run = grade(drawn=1)

    assert run.machine == f"{MODEL}, prompt 2"
    machines = cast.project.memberships.filter(is_machine=True).order_by("name")
    assert [machine.name for machine in machines] == [f"{MODEL}, prompt 1", f"{MODEL}, prompt 2"]


def test_another_temperature_grades_as_another_machine(cast, server, grade):
    hot = add_endpoint(Endpoint(**{**VALUES, "most_tokens": 10**6}, temperature=2.0), by=cast.carla)

    run = grade(endpoint=hot, drawn=1)

    assert run.machine == f"{MODEL} (2), prompt 1"
