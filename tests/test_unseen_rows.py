"""What a load has not shown yet changes no byte of any page, for anybody.

A large load on SQLite writes a little at a time, and until its end nobody sees any of it.
Everything is read, and done in the background, with such rows and without, at every address and
every link that is offered.
"""

from __future__ import annotations

import pytest

from annotate.models import Candidate, Document, Query, Unseen
from tests import factories
from tests.test_blindness import Way, addresses, differ, speak, stage, told_apart, undone, walk

__all__ = ["stage"]

pytestmark = pytest.mark.sqlite


@pytest.mark.parametrize("name", ["carla", "ada", "dan"])
def test_rows_of_a_load_that_is_not_done_change_no_byte(stage, name):
    read = []
    for there in (False, True):
        with undone():
            if there:
                factories.unseen_rows(stage.project)
            speak(stage, Way(1))
            differ(stage, Way(1))
            read.append(walk(stage.members[name], addresses(stage)))

    # A release has the sum of files in which there are UUIDs made by chance; what exports hold is
    # held in tests/exporters/test_same_bytes.py.
    assert {url for url in told_apart(*read) if "/releases/" not in url} == set()
    assert len(read[0]) > 250


@pytest.mark.parametrize("model", [Query, Document, Candidate])
def test_the_same_rows_are_there_for_everybody_once_they_are_shown(db, model):
    project = factories.project()
    factories.candidate(factories.query(project), "A")
    before = model.objects.count()
    factories.unseen_rows(project)
    hidden = model.objects.count()

    Unseen.objects.all().delete()

    assert before == hidden == 1
    assert model.objects.count() == {Query: 2, Document: 2, Candidate: 4}[model]
