"""Temporary errors are retried when the server says; what may have to be paid is counted."""

from __future__ import annotations

import httpx2
import pytest

from llm.answers import FailureKind
from tests.services.model_server import cut_connection, never_answer, refuse, say


def test_a_busy_server_is_asked_again_after_the_time_it_names(server, ask, waits):
    server.will(refuse(429, retry_after="7"), say('{"grade": 2}'))

    answer = ask()

    assert answer.value == {"grade": 2}
    assert waits == [7.0]


def test_a_server_that_stays_busy_is_a_failure_after_all_retries(server, ask, waits):
    server.will(*[refuse(429, "too many requests", retry_after="3")] * 4)

    answer = ask(retries=3)

    assert answer.failure.kind == FailureKind.BUSY
    assert answer.failure.reason == "The server asks to wait (429): too many requests"
    assert waits == [3.0, 3.0, 3.0]


def test_a_server_that_names_hours_is_not_waited_for(server, ask, waits):
    server.will(refuse(429, "tomorrow", retry_after="7200"))

    answer = ask()

    assert answer.failure.kind == FailureKind.BUSY
    assert (waits, len(server.received)) == ([], 1)


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_server_error_is_tried_again(server, ask, waits, status):
    server.will(refuse(status), say('{"grade": 2}'))

    answer = ask()

    assert answer.value == {"grade": 2}
    assert (len(waits), answer.in_doubt) == (1, 0)


def test_a_server_that_keeps_failing_is_a_failure(server, ask, waits):
    server.will(refuse(500, "out of memory"), refuse(500, "out of memory"))

    answer = ask()

    assert answer.failure.kind == FailureKind.SERVER_ERROR
    assert answer.failure.reason == "The server failed (500): out of memory"


def test_a_cut_connection_is_tried_again_and_the_first_request_is_in_doubt(server, ask, waits):
    server.will(cut_connection(), say('{"grade": 2}'))

    answer = ask()

    assert answer.value == {"grade": 2}
    assert answer.in_doubt == 1


def test_a_connection_that_is_always_cut_is_a_failure(server, ask, waits):
    server.will(cut_connection(), cut_connection())

    answer = ask()

    assert answer.failure.kind == FailureKind.UNREACHABLE
    assert answer.failure.reason.startswith("The connection to the server failed: peer closed")
    assert answer.in_doubt == 2


def test_a_server_that_does_not_answer_in_time_is_a_failure_in_doubt(server, ask):
    server.will(never_answer())

    answer = ask(timeout=0.05, retries=0)

    assert answer.failure.kind == FailureKind.TIMEOUT
    assert answer.failure.reason == "The server did not answer within 0.05 seconds."
    assert answer.in_doubt == 1


def test_where_no_server_is_nothing_was_paid(ask, waits):
    answer = ask(base_url="http://127.0.0.1:1/v1")

    assert answer.failure.kind == FailureKind.UNREACHABLE
    assert "Connection refused" in answer.failure.reason
    assert answer.in_doubt == 0
    assert (answer.model, answer.replies) == ("", ())


def test_a_request_that_gets_no_connection_is_not_in_doubt(ask):
    class FullPool(httpx2.BaseTransport):
        def handle_request(self, request):
            raise httpx2.PoolTimeout("all connections are in use")

    answer = ask(pool=FullPool(), retries=0)

    assert answer.failure.kind == FailureKind.TIMEOUT
    assert answer.in_doubt == 0
