"""Requests wait until they are within the limits of a minute."""

from __future__ import annotations

import time
from datetime import timedelta

from django.utils import timezone

from audit.model_runs import asking
from audit.model_runs.actions import set_limits
from audit.model_runs.asking import Pace, _pace_of
from tests.services.model_server import say


class Clock:
    """A clock that a test turns."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def sent_at(pace, clock, *moments, tokens=10):
    for moment in moments:
        clock.now = moment
        pace.sent(tokens)


def test_without_limits_nothing_waits():
    pace = Pace(None, None, clock := Clock())
    sent_at(pace, clock, *range(50))

    assert pace.wait(1_000_000) == 0


def test_a_request_waits_until_the_first_of_a_full_minute_is_over():
    pace = Pace(2, None, clock := Clock())
    sent_at(pace, clock, 0, 10)

    assert pace.wait(10) == 50

    clock.now = 60
    assert pace.wait(10) == 0


def test_tokens_wait_until_enough_of_them_are_over():
    pace = Pace(None, 100, clock := Clock())
    sent_at(pace, clock, 0, 5, 20, tokens=30)

    # 90 of 100 are used. 40 more fit when the first 30 are over, 70 when the first 60 are.
    assert pace.wait(10) == 0
    assert pace.wait(40) == 40
    assert pace.wait(70) == 45


def test_a_request_larger_than_the_limit_waits_for_an_empty_minute():
    pace = Pace(None, 100, clock := Clock())
    assert pace.wait(500) == 0
    sent_at(pace, clock, 30, tokens=1)

    assert pace.wait(500) == 60


def test_what_was_asked_in_an_earlier_run_counts_for_a_minute(endpoint, grade, monkeypatch):
    endpoint.requests_per_minute = 3
    endpoint.save()
    run = grade()

    assert 0 < _pace_of(run).wait(1) <= 60

    later = timezone.now() + timedelta(seconds=61)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert _pace_of(run).wait(1) == 0


def test_a_limit_that_is_lowered_while_a_request_waits_holds_for_it(
    cast, endpoint, grade, server, monkeypatch
):
    pace = {"requests_per_minute": 1}
    set_limits(endpoint=endpoint, limits=pace, by=cast.carla)

    def sleep_until_the_limit_is_lower(seconds):
        set_limits(endpoint=endpoint, limits={"most_tokens": 1}, by=cast.carla)
        monkeypatch.setattr(asking, "MINUTE", 0.0)

    monkeypatch.setattr(time, "sleep", sleep_until_the_limit_is_lower)

    run = grade()

    assert run.stopped.startswith("All runs of this model may use 1 tokens")
    assert len(server.received) == 1


def test_a_call_that_is_asked_again_counts_two_requests(cast, endpoint, grade, server, monkeypatch):
    set_limits(endpoint=endpoint, limits={"requests_per_minute": 2}, by=cast.carla)
    server.will(say("unreadable"))
    waits = []

    def sleep_until_the_minute_is_over(seconds):
        waits.append(len(server.received))
        monkeypatch.setattr(asking, "MINUTE", 0.0)

    monkeypatch.setattr(time, "sleep", sleep_until_the_minute_is_over)

    run = grade(drawn=2)

    assert run.calls.answered().count() == 2
    # The first document took both requests of the minute, and so would it after a restart.
    assert (waits, len(server.received)) == ([2], 3)
    monkeypatch.setattr(asking, "MINUTE", 60.0)
    endpoint.requests_per_minute = 4
    run.endpoint = endpoint
    assert _pace_of(run).wait(1) == 0
    endpoint.requests_per_minute = 3
    assert _pace_of(run).wait(1) > 0


def test_answers_that_were_used_again_do_not_count(endpoint, grade):
    grade()
    endpoint.requests_per_minute = 4
    endpoint.save()

    assert _pace_of(grade()).wait(1) == 0
