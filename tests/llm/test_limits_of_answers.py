"""A server cannot lead elsewhere, nor send without an end."""

from __future__ import annotations

import pytest

from llm.answers import FailureKind
from tests.services.model_server import dribble, model_server, never_end, redirect, refuse, say


def test_a_redirect_is_not_followed(server, ask):
    with model_server() as other:
        server.will(redirect(f"{other.base_url}/chat/completions"))

        answer = ask()

        assert answer.failure.kind == FailureKind.REDIRECT
        assert answer.failure.reason == (
            "The server redirects (307), which is not followed: give its own address."
        )
        assert other.received == []


@pytest.mark.parametrize("status", [200, 400, 500])
def test_endless_words_are_refused_at_the_limit(server, ask, status):
    server.will(never_end(status))

    answer = ask(max_answer_bytes=50_000)

    assert answer.failure.kind == FailureKind.TOO_LARGE
    assert answer.failure.reason == "The server's answer has more than 50,000 bytes."
    assert (answer.in_doubt, len(server.received)) == (1, 1)


def test_an_answer_as_large_as_the_limit_is_read(server, ask):
    server.will(say('{"grade": 2}'))
    whole = ask()
    server.will(say('{"grade": 2}'))

    size = server.sent[0]
    exact = ask(max_answer_bytes=size)

    assert whole.value == exact.value == {"grade": 2}


def test_an_answer_in_drops_ends_at_the_time_limit(server, ask):
    server.will(dribble(seconds=2))

    answer = ask(timeout=0.3, retries=0)

    assert answer.failure.kind == FailureKind.TIMEOUT


def test_a_long_error_page_is_shortened(server, ask):
    server.will(refuse(403, "no " * 10_000))

    answer = ask()

    assert len(answer.failure.reason) < 400
