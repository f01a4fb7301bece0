"""Two simultaneous requests with one key: done once, and both get the same response."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection

from annotate.models import KeptAnswer, Project
from tests import factories
from tests.programs import Program

pytestmark = pytest.mark.both_databases


@pytest.mark.django_db(transaction=True)
def test_one_of_two_simultaneous_requests_is_done_and_both_get_its_response():
    factories.lead(factories.project("tides"))
    programs = [Program("carla", "lead"), Program("carla", "lead")]
    start = threading.Barrier(2)
    answers: list[Any] = [None, None]

    def run(place: int) -> None:
        start.wait()
        try:
            answers[place] = programs[place].send(
                "POST",
                "projects/",
                {"slug": "reefs", "name": "Reefs", "grades": [0, 1]},
                **{"Idempotency-Key": "one"},
            )
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[place]) for place in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert sorted("Idempotent-Replayed" in answer for answer in answers) == [False, True]
    assert Project.objects.filter(slug="reefs").count() == KeptAnswer.objects.count() == 1
