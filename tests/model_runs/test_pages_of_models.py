"""A lead adds a model, looks at the prompt, plans and starts a run, and reads its calls."""

from __future__ import annotations

from decimal import Decimal
from urllib.parse import urlencode

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from rest_framework.test import APIClient

from annotate.judgments.document_names import neutral_name
from annotate.models import Document
from annotate.projects.project_jobs import cancel_job
from audit.model_runs.actions import (
    add_endpoint,
    current_prompt,
    new_run,
    plan_run,
    request_run,
    save_prompt,
)
from audit.model_runs.models import Endpoint, ModelRun, ProjectBudget
from tests import factories
from tests.model_runs.conftest import KEY, run_again
from tests.services.model_server import MODEL, say

# Of the form of a model.
CHOICES = {
    "server": "lab",
    "max_tokens": 100,
    "limit_field": "max_tokens",
    "most_tokens": 1_000,
}


@pytest.fixture
def carla(cast):
    client = Client()
    client.force_login(cast.carla.user)
    return client


def text(response) -> str:
    return " ".join(response.content.decode().split())


def address(name: str, *keys) -> str:
    return reverse(f"audit:{name}", args=["tides", *keys])


def test_without_a_server_the_page_says_who_can_allow_one(carla, settings):
    settings.MODEL_SERVERS = {}

    page = text(carla.get(address("models")))

    assert "No server of models is allowed yet" in page
    assert "REJUDGE_MODEL_SERVERS" in page


def test_a_model_is_added_by_its_form(carla, server):
    sent = {**CHOICES, "model": MODEL}

    response = carla.post(
        address("new_model"),
        {**sent, "concurrency": 2, "temperature": 0},
    )

    assert response.status_code == 302
    added = Endpoint.objects.get()
    assert (added.model, added.max_tokens, added.prompt_price) == (MODEL, 100, None)


def test_prices_without_a_limit_are_refused_with_a_sentence(carla, server):
    sent = {**CHOICES, "model": MODEL}

    response = carla.post(
        address("new_model"),
        {
            **sent,
            "concurrency": 2,
            "limit_field": "max_tokens",
            "prompt_price": 1,
            "completion_price": 2,
        },
    )

    assert response.status_code == 422
    assert "With prices, say what all runs together may cost" in text(response)


def test_the_prompt_is_shown_filled_without_saving_it(carla, cast):
    changed = "Grade {document} by {narrative}: {grades}. Be brief."

    page = text(carla.post(address("prompt"), {"text": changed, "preview": "yes"}))

    assert "Be brief." in page
    assert "Plants count the waves." in page
    assert not cast.project.prompts.exists()


def test_a_prompt_that_somebody_else_saved_meanwhile_is_not_replaced_unseen(carla, cast):
    shipped = carla.get(address("prompt")).context["form"]["based_on"].value()
    theirs, mine = (
        "Theirs: {document} {narrative} {grades}",
        "Mine: {document} {narrative} {grades}",
    )
    save_prompt(task="grade", text=theirs, by=cast.carla)

    refused = carla.post(address("prompt"), {"task": "grade", "text": mine, "based_on": shipped})
    again = refused.context["form"]["based_on"].value()
    carla.post(address("prompt"), {"task": "grade", "text": mine, "based_on": again})

    assert refused.status_code == 422
    assert "Version 2 was saved while you were writing." in text(refused)
    assert "Mine:" in text(refused)
    assert current_prompt(cast.project, "grade").version == 3


def test_a_plan_counts_before_anything_is_asked(carla, endpoint, server):
    asked = {"endpoint": endpoint.pk, "subjects": "judged", "draw_seed": 1, "samples": 2}

    response = carla.get(address("new_model_run"), asked)

    plan = response.context["plan"]
    assert (plan.items, plan.calls, plan.estimated_from) == (2, 4, 2)
    assert plan.tokens > 0
    # A fifth more than it is likely to need, and what is reserved for the call under way.
    assert response.context["form"]["most_tokens"].value() > plan.tokens * 1.2
    assert "Start the run" in text(response)
    assert server.received == []


def test_a_plan_of_nothing_says_no_cost_of_a_model_without_prices(carla, cast, endpoint):
    run = new_run(endpoint=endpoint, subjects=ModelRun.Subjects.UNREVERSED)
    cast.project.kind = "infosearch"
    cast.project.save()
    factories.narrative(cast.pair, "reversed", text="Everything else.")

    plan = plan_run(run, by=cast.carla)

    assert (plan.items, plan.cost, plan.proposed_limits) == (0, None, {"most_tokens": 0})
    page = text(
        carla.get(
            address("new_model_run"),
            {"endpoint": endpoint.pk, "subjects": "unreversed", "draw_seed": 1, "samples": 1},
        )
    )
    assert "There is no such instruction to ask about." in page
    assert "Cost of this run" not in page


def test_choices_that_are_to_be_shown_are_an_address_without_anything_else(carla, endpoint):
    asked = {
        "endpoint": endpoint.pk,
        "subjects": "judged",
        "drawn": 2,
        "draw_seed": 1,
        "samples": 2,
    }
    sent = {**asked, "most_tokens": "none", "plan": "yes", "csrfmiddlewaretoken": "a"}

    response = carla.post(address("new_model_run"), sent)

    assert response.url == f"{address('new_model_run')}?{urlencode(asked)}"
    assert carla.get(response.url).context["plan"].calls == 4


@pytest.mark.parametrize("change", ["choices", "prompt"])
def test_a_run_that_would_do_something_else_than_was_shown_is_not_started(
    carla, cast, endpoint, change
):
    sent = {"endpoint": endpoint.pk, "subjects": "all", "drawn": 1, "draw_seed": 1, "samples": 1}
    shown = carla.get(address("new_model_run"), sent).context["shown"]
    if change == "choices":
        sent["drawn"] = 2
    else:
        prompt = current_prompt(cast.project, "grade")
        save_prompt(task="grade", text=f"{prompt.text}Be brief.", by=cast.carla)

    response = carla.post(
        address("new_model_run"), {**sent, "most_tokens": 50_000, "shown": shown}, follow=True
    )

    assert "Nothing was started: the choices or the prompt were changed since" in text(response)
    assert response.context["plan"].items == sent["drawn"]
    assert not ModelRun.objects.exists()


@pytest.mark.parametrize("wrong", [{"most_tokens": -1}, {"most_cost": "much"}, {"answers": b""}])
def test_a_wrong_limit_or_file_is_told_beside_the_plan(carla, endpoint, wrong):
    sent = {"endpoint": endpoint.pk, "subjects": "all", "draw_seed": 1, "samples": 1}
    if "answers" in wrong:
        wrong = {"answers": ContentFile(b"", name="answers.jsonl")}

    response = carla.post(address("new_model_run"), {**sent, "most_tokens": 50_000, **wrong})

    assert response.status_code == 422
    (error,) = response.context["form"].errors[next(iter(wrong))]
    assert error in text(response)
    assert not ModelRun.objects.exists()


def test_documents_without_a_text_are_counted_and_left_out(carla, cast, endpoint):
    factories.candidate(cast.query, "no text", text=None)
    asked = {"endpoint": endpoint.pk, "subjects": "all", "draw_seed": 1, "samples": 1}

    response = carla.get(address("new_model_run"), asked)

    assert (response.context["plan"].items, response.context["plan"].without_text) == (3, 1)
    assert "1 document without a text" in text(response)


def test_a_plan_of_a_large_pool_reads_few_of_its_documents(cast, endpoint):
    for number in range(60):
        factories.candidate(cast.query, f"more{number}", text=f"Text {number}.")
    run = new_run(endpoint=endpoint, subjects="unjudged")

    with CaptureQueriesContext(connection) as queries:
        plan = plan_run(run, by=cast.carla)

    # 40 are drawn, and 20 are the longest; 17 are both.
    assert (plan.items, plan.estimated_from) == (61, 43)
    listing = [query["sql"] for query in queries if "annotate_candidate" in query["sql"]]
    assert all("COUNT(" in sql or "LIMIT 40" in sql or "LIMIT 20" in sql for sql in listing)


def test_models_are_listed_with_their_use_in_as_many_queries_as_one(carla, cast, endpoint, grade):
    grade()
    carla.get(address("models"))
    with CaptureQueriesContext(connection) as with_one:
        carla.get(address("models"))
    values = {"server": "lab", "most_tokens": 1_000}
    for number in range(5):
        add_endpoint(Endpoint(**values, model=f"other-{number}"), by=cast.carla)

    with CaptureQueriesContext(connection) as with_six:
        page = text(carla.get(address("models")))

    assert len(with_six) == len(with_one)
    assert "75 of 1,000,000" in page


def test_a_run_that_reached_a_limit_says_so_in_the_list(carla, grade):
    grade(most_tokens=1)

    assert "stopped early" in text(carla.get(address("models")))


def test_costs_below_a_cent_are_shown(carla, cast, server):
    prices = {"prompt_price": Decimal("0.1"), "completion_price": Decimal("0.1")}
    values = {"server": "lab", "model": MODEL, "most_tokens": 10**6, "max_tokens": 100, **prices}
    priced = add_endpoint(Endpoint(**values, most_cost=Decimal("0.0049")), by=cast.carla)
    choices = {"endpoint": priced.pk, "subjects": "all", "draw_seed": 1, "samples": 1}

    plan = carla.get(address("new_model_run"), choices)

    assert Decimal(0) < plan.context["plan"].cost < Decimal("0.001")
    assert f"<dd>{plan.context['plan'].cost:.4f}</dd>" in text(plan)
    assert "0.0000 of 0.0049" in text(carla.get(address("models")))


def test_the_budget_is_set_on_its_page_and_shown_with_what_is_used(carla, cast, grade):
    grade()

    response = carla.post(address("model_budget"), {"most_tokens": 5_000, "most_cost": ""})

    assert response.url == address("models")
    assert "75 of 5,000" in text(carla.get(address("models")))
    assert "75 of 5,000" in text(carla.get(address("model_budget")))


def test_the_cost_of_models_without_prices_is_not_shown_as_zero(carla, cast, server, grade):
    grade()
    for page in (address("models"), address("model_budget")):
        assert "not known (no limit)" in text(carla.get(page))

    prices = dict.fromkeys(("prompt_price", "completion_price", "most_cost"), Decimal(1))
    priced = {**prices, "most_tokens": 10**6}
    model = add_endpoint(Endpoint(server="lab", model="b", **priced), by=cast.carla)
    grade(endpoint=model, most_cost=1)

    page = text(carla.get(address("model_budget")))
    assert "0.0001 (no limit)" in page
    assert "Not counted: 3 calls of models without prices." in page


def test_the_limits_of_a_model_are_changed_on_their_page(carla, endpoint, grade):
    grade()
    page = address("model_limits", endpoint.pk)
    assert "75 of 1,000,000" in text(carla.get(page))

    refused = carla.post(page, {"most_tokens": 5_000, "most_cost": 1, "concurrency": 2})
    response = carla.post(page, {"most_tokens": 5_000, "most_cost": "", "concurrency": 2})

    assert (refused.status_code, response.url) == (422, address("models"))
    assert "no cost can be limited" in text(refused)
    assert "75 of 5,000" in text(carla.get(address("models")))


def test_a_run_above_the_budget_is_refused_beside_its_limit(carla, cast, endpoint):
    carla.post(address("model_budget"), {"most_tokens": 5_000})
    sent = {"endpoint": endpoint.pk, "subjects": "all", "draw_seed": 1, "samples": 1}

    response = carla.post(address("new_model_run"), {**sent, "most_tokens": 50_000})

    assert response.status_code == 422
    assert "The budget of this project has 5,000 tokens left." in text(response)


def test_a_run_is_started_and_its_page_says_what_came_of_it(carla, endpoint, server):
    server.will(say('{"quote": "whales", "grade": 1}'))
    sent = {"endpoint": endpoint.pk, "subjects": "all", "draw_seed": 1, "samples": 1}

    response = carla.post(address("new_model_run"), {**sent, "most_tokens": 50_000})
    run = run_again(ModelRun.objects.get())

    assert response.url == run.get_absolute_url()
    page = text(carla.get(run.get_absolute_url()))
    assert "3 of 3" in page
    assert "<dt>With remarks</dt><dd>1</dd>" in page


def test_a_call_without_an_answer_is_in_doubt_once_the_run_is_over(carla, cast, endpoint):
    waiting = request_run(new_run(endpoint=endpoint, most_tokens=9_999), by=cast.carla)
    about = {"pair": cast.pair, "narrative": cast.narrative, "candidate": cast.candidates[0]}
    call = waiting.calls.create(**about, text_version=1, key="a", request={}, reserved_tokens=1)
    pages = (
        waiting.get_absolute_url(),
        address("model_calls", waiting.pk),
        call.get_absolute_url(),
    )

    under_way = [text(carla.get(page)).lower() for page in pages]
    cancel_job(job=waiting, by=cast.carla)
    over = [text(carla.get(page)).lower() for page in pages]

    assert ["under way or in doubt" in page for page in under_way] == [True, True, True]
    assert ["under way or in doubt" in page for page in over] == [False, False, False]


def test_calls_are_listed_and_each_shows_all_that_was_said(carla, grade, server):
    server.will(say("no JSON"), say("none again"))
    run = grade()

    listed = text(carla.get(address("model_calls", run.pk), {"show": "failed"}))
    failed = run.calls.failed().get()
    page = text(carla.get(failed.get_absolute_url()))

    assert "The model&#x27;s answer cannot be read" in listed
    assert "no JSON" in page
    assert "none again" in page
    assert "Plants count where waves are heavy." in page
    assert KEY not in page


def test_a_cancelled_run_says_that_its_answers_are_kept(carla, cast, endpoint):
    run = request_run(new_run(endpoint=endpoint, most_tokens=9_999), by=cast.carla)

    cancel_job(job=run, by=cast.carla)

    page = text(carla.get(run.get_absolute_url()))
    assert "What was answered is kept, and is not asked or paid again." in page


def test_a_lead_who_still_judges_sees_no_grades(carla, cast, grade):
    run = grade()
    factories.assignment(cast.pair, cast.carla)

    page = carla.get(run.get_absolute_url())

    figures = page.context["figures"]
    assert figures.outcomes == {}
    # Answers asked for again would say how clear a case is, remarks what a document is like.
    assert (figures.remarks, figures.repeated, figures.steady) == (None, None, None)
    assert "With remarks" not in text(page)
    assert carla.get(address("model_calls", run.pk)).status_code == 403
    assert carla.get(run.calls.first().get_absolute_url()).status_code == 403


def test_a_lead_who_still_judges_sees_no_questions_in_a_plan(carla, cast, endpoint):
    asked = {"endpoint": endpoint.pk, "subjects": "judged", "draw_seed": 1, "samples": 1}
    before = text(carla.get(address("new_model_run"), asked))
    factories.assignment(cast.pair, cast.carla)

    after = text(carla.get(address("new_model_run"), asked))

    for words in ("What the model would read", "Plants count the waves.", "Download the questions"):
        assert (words in before, words in after) == (True, False)


def test_the_budget_is_read_and_set_by_the_api(cast, grade):
    grade()
    client = APIClient()
    client.force_authenticate(cast.carla.user)

    limits = {"most_tokens": 5_000, "most_cost": "1.5"}
    put = client.put(address("api_model_budget"), limits, format="json")
    read = client.get(address("api_model_budget")).json()

    assert put.json() == read
    assert read["limits"] == {"most_tokens": 5_000, "most_cost": "1.5000"}
    assert (read["use"]["used_tokens"], read["use"]["uncounted_tokens"]) == (75, 0)


@pytest.mark.parametrize(
    "limits", [{"most_tokens": 10**12 + 1}, {"most_tokens": -1}, {"most_cost": "-1"}]
)
def test_a_budget_that_its_page_refuses_is_refused_by_the_api(carla, cast, limits):
    client = APIClient()
    client.force_authenticate(cast.carla.user)

    put = client.put(address("api_model_budget"), limits, format="json")

    assert put.status_code == 400
    assert put.json()["errors"][0]["pointer"] == f"/{next(iter(limits))}"
    assert carla.post(address("model_budget"), limits).status_code == 422
    assert not ProjectBudget.objects.exists()


def test_an_example_hides_a_title_made_of_a_hidden_id_and_the_model_reads_it(carla, cast, grade):
    document = cast.candidates[0].document
    Document.objects.filter(pk=document.pk).update(doc_id="q_positive", title="Q positive")
    before = text(carla.get(address("prompt")))
    factories.assignment(cast.pair, cast.carla)

    after = text(carla.get(address("prompt")))
    run = grade()

    assert "Q positive Plants count the waves." in before
    neutral = neutral_name(document.pk, cast.project.pk)
    assert f"{neutral} Plants count the waves." in after
    assert "Q positive" not in after
    question = run.calls.get(candidate=cast.candidates[0]).request["messages"][0]["content"]
    assert "Q positive\n\nPlants count the waves." in question
