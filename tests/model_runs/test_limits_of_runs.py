"""No call is made that could exceed what a run or its model may use."""

from __future__ import annotations

from decimal import Decimal

import pytest

from annotate.models import AuditEvent, Judgment
from audit.model_runs.actions import (
    add_endpoint,
    new_run,
    plan_run,
    request_run,
    set_budget,
    set_limits,
)
from audit.model_runs.figures import Limits, run_figures, use_by_endpoint
from audit.model_runs.models import Endpoint
from base.errors import Refused
from tests.model_runs.conftest import run_again
from tests.services.model_server import MODEL, say

pytestmark = pytest.mark.both_databases

PRICES = {"prompt_price": Decimal(1), "completion_price": Decimal(2), "most_cost": Decimal(1)}


def tokens_of_one_call(endpoint):
    """Return what is reserved for a call: two questions, each with the longest answer."""
    return 2 * plan_run(new_run(endpoint=endpoint, subjects="all", drawn=1), by=endpoint.by).tokens


def test_the_run_ends_before_the_call_that_could_exceed_it(endpoint, grade, server):
    # The server counts 25 tokens for a call, so after one call a second one could exceed this by 5.
    most = tokens_of_one_call(endpoint) + 20

    run = grade(most_tokens=most)

    assert run.state == "done"
    assert run.stopped == (f"This run may use {most:,} tokens, and the next call could exceed it.")
    assert len(server.received) == 1
    assert run_figures(run).tokens == 25


def test_the_run_goes_on_while_calls_use_less_than_was_reserved(cast, endpoint, grade, server):
    values = {"server": "lab", "model": f"{MODEL}-b", "most_tokens": 10**6, "concurrency": 3}
    wide = add_endpoint(Endpoint(**values), by=cast.carla)

    # Room for one reservation at a time, and for what three calls use.
    run = grade(endpoint=wide, most_tokens=tokens_of_one_call(wide) + 75)

    assert run.stopped == ""
    assert run.calls.answered().count() == 3


def test_the_grades_that_were_paid_before_the_limit_are_written(endpoint, grade):
    grade(most_tokens=tokens_of_one_call(endpoint) + 20)

    assert Judgment.objects.filter(annotator__is_machine=True).count() == 1


def test_all_runs_of_a_model_share_its_limit(cast, endpoint, server, grade):
    most = tokens_of_one_call(endpoint) + 20
    values = {"server": "lab", "model": f"{MODEL}-b", "most_tokens": most, "concurrency": 1}
    small = add_endpoint(Endpoint(**values), by=cast.carla)
    grade(endpoint=small, drawn=1)

    run = grade(endpoint=small)

    assert run.stopped.startswith(f"All runs of this model may use {most:,} tokens")
    assert len(server.received) == 1


def test_after_its_limit_is_raised_a_model_goes_on_as_the_same_machine(cast, server, grade):
    values = {"server": "lab", "model": f"{MODEL}-b", "most_tokens": 1, "concurrency": 1}
    small = add_endpoint(Endpoint(**values), by=cast.carla)
    stopped = grade(endpoint=small)
    assert stopped.stopped.startswith("All runs of this model may use 1 tokens")

    set_limits(endpoint=small, limits={"most_tokens": 1_000_000}, by=cast.carla)
    small.refresh_from_db()
    run = grade(endpoint=small)

    assert (run.stopped, run.machine) == ("", stopped.machine)
    [event] = AuditEvent.objects.filter(what="model.limited")
    assert event.changes == {"most_tokens": [1, 1_000_000]}


def test_a_run_under_way_obeys_a_changed_limit_of_its_model(
    cast, endpoint, grade, server, monkeypatch
):
    reserve = Limits.reserve

    def reserve_and_lower(limits, call):
        reserve(limits, call)
        set_limits(endpoint=endpoint, limits={"most_tokens": 1}, by=cast.carla)

    monkeypatch.setattr(Limits, "reserve", reserve_and_lower)

    run = grade()

    assert run.stopped.startswith("All runs of this model may use 1 tokens")
    assert len(server.received) == 1


def test_a_limit_of_cost_belongs_to_prices(cast, endpoint):
    with pytest.raises(Refused, match="without them, no cost can be limited"):
        set_limits(endpoint=endpoint, limits={"most_cost": Decimal(5)}, by=cast.carla)
    with pytest.raises(Refused, match="Only leads"):
        set_limits(endpoint=endpoint, limits={"concurrency": 2}, by=cast.ada)


def test_cost_is_counted_from_the_tokens_that_the_server_counts(cast, server, grade):
    values = {"server": "lab", "model": MODEL, "most_tokens": 10**6, **PRICES}
    priced = add_endpoint(Endpoint(**values), by=cast.carla)
    server.will(say('{"quote": "", "grade": 0}', tokens=(1_000, 500)))

    run = grade(endpoint=priced, drawn=1, most_cost=Decimal("0.5"))

    # A million tokens cost 1 sent and 2 answered: 0.001 + 0.001.
    assert run_figures(run).cost == 0.002
    assert use_by_endpoint(cast.project)[priced.pk].used_cost == Decimal("0.002")


def test_the_run_ends_before_the_call_that_could_cost_too_much(cast, server, grade):
    values = {"server": "lab", "model": MODEL, "most_tokens": 10**6, **PRICES}
    priced = add_endpoint(Endpoint(**values), by=cast.carla)

    run = grade(endpoint=priced, most_cost=Decimal("0.0001"))

    assert run.stopped == "This run may cost 0.0001, and the next call could exceed it."
    assert server.received == []


def test_an_answer_without_a_count_uses_what_was_reserved(endpoint, grade, server):
    server.will(say('{"quote": "", "grade": 0}', tokens=None))
    reserved = tokens_of_one_call(endpoint)

    run = grade(drawn=1)

    assert run_figures(run).tokens == reserved


def test_a_cost_cannot_be_limited_without_prices(endpoint, grade):
    with pytest.raises(Refused, match="only with prices"):
        grade(most_cost=Decimal(1))


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"most_tokens": 0}, "how many tokens the run may use"),
        ({"most_tokens": 1, "most_cost": None}, "what the run may cost"),
    ],
)
def test_a_run_without_a_limit_is_refused(cast, server, grade, limits, reason):
    values = {"server": "lab", "model": MODEL, "most_tokens": 10**6, **PRICES}
    priced = add_endpoint(Endpoint(**values), by=cast.carla)

    with pytest.raises(Refused, match=reason):
        grade(endpoint=priced, **limits)


def test_all_runs_of_a_project_stop_at_its_budget(cast, endpoint, server, grade):
    most = 2 * tokens_of_one_call(endpoint)
    run = request_run(new_run(endpoint=endpoint, subjects="all", most_tokens=most), by=cast.carla)
    # Less than the run asked for, while it waits: it obeys the budget of the time of each call.
    budget = tokens_of_one_call(endpoint) + 20
    set_budget(most_tokens=budget, most_cost=None, by=cast.carla)

    run = run_again(run)

    assert run.stopped == (
        f"All runs of this project may use {budget:,} tokens, and the next call could exceed it."
    )
    assert len(server.received) == 1
    assert Judgment.objects.filter(annotator__is_machine=True).count() == 1


def test_a_budget_of_cost_counts_all_models_of_the_project(cast, server, grade):
    values = {"server": "lab", "most_tokens": 10**6, **PRICES}
    first = add_endpoint(Endpoint(**values, model=MODEL), by=cast.carla)
    second = add_endpoint(Endpoint(**values, model=f"{MODEL}-b"), by=cast.carla)
    # A million tokens cost 1 sent and 2 answered: 0.002.
    server.will(say('{"quote": "", "grade": 0}', tokens=(1_000, 500)))
    grade(endpoint=first, drawn=1, most_cost=Decimal("0.5"))
    set_budget(most_tokens=None, most_cost=Decimal("0.5"), by=cast.carla)

    with pytest.raises(Refused, match=r"The budget of this project has 0\.4980 left"):
        grade(endpoint=second, most_cost=Decimal("0.4981"))

    assert grade(endpoint=second, most_cost=Decimal("0.498")).stopped == ""


def test_a_budget_of_nothing_refuses_every_run(cast, endpoint, server, grade):
    set_budget(most_tokens=0, most_cost=None, by=cast.carla)

    with pytest.raises(Refused, match="has 0 tokens left"):
        grade(most_tokens=1)

    assert server.received == []


def test_a_model_without_prices_is_asked_although_a_budget_of_cost_is_used_up(
    cast, endpoint, server, grade
):
    priced = {"server": "lab", "model": f"{MODEL}-b", "most_tokens": 10**6, **PRICES}
    server.will(say('{"quote": "", "grade": 0}', tokens=(1_000, 500)))
    first = add_endpoint(Endpoint(**priced), by=cast.carla)
    grade(endpoint=first, drawn=1, most_cost=Decimal("0.5"))
    set_budget(most_cost=Decimal("0.0001"), by=cast.carla)

    run = grade(endpoint=endpoint)

    assert (run.stopped, run.calls.answered().count()) == ("", 3)


def test_only_leads_set_the_budget(cast):
    with pytest.raises(Refused, match="Only leads"):
        set_budget(most_tokens=1, most_cost=None, by=cast.ada)


def test_a_changed_budget_is_in_the_audit_log_once(cast):
    set_budget(most_tokens=9_000, most_cost=None, by=cast.carla)
    for _ in range(2):
        set_budget(most_tokens=9_000, most_cost=Decimal("2.5"), by=cast.carla)

    events = AuditEvent.objects.filter(what="model_budget.set").order_by("pk")
    assert [event.changes for event in events] == [
        {"tokens": [None, 9_000]},
        {"cost": [None, "2.5000"]},
    ]
