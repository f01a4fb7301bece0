"""Data that several parts of a page need is read once per request and not kept afterwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from base.requests import read_once, remember


@pytest.fixture
def answers() -> Callable[[HttpRequest], str]:
    """Read one number twice in each request, and return both numbers of every request."""
    numbers = iter(range(100))

    def page(_request):
        pair = [read_once("number", lambda: next(numbers)) for _ in range(2)]
        return HttpResponse(" ".join(map(str, pair)))

    def answer(request: HttpRequest) -> str:
        response = remember(page)(request)
        assert isinstance(response, HttpResponse)
        return response.content.decode()

    return answer


def test_a_get_reads_once_and_the_next_one_reads_again(answers):
    requests = RequestFactory()

    assert [answers(requests.get("/")), answers(requests.get("/"))] == ["0 0", "1 1"]


def test_a_post_reads_each_time(answers):
    assert answers(RequestFactory().post("/")) == "0 1"


def test_outside_a_request_nothing_is_cached():
    numbers = iter(range(100))

    assert [read_once("number", lambda: next(numbers)) for _ in range(2)] == [0, 1]
