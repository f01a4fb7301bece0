"""Rows of a load are visible to everybody once it shows them."""

from __future__ import annotations

import pytest

from annotate.models import Candidate, Document, Query, Unseen
from tests import factories

pytestmark = pytest.mark.sqlite


@pytest.mark.parametrize("model", [Query, Document, Candidate])
def test_unseen_rows_become_visible_once_they_are_shown(db, model):
    project = factories.project()
    factories.candidate(factories.query(project), "A")
    before = model.objects.count()
    factories.unseen_rows(project)
    hidden = model.objects.count()

    Unseen.objects.all().delete()

    assert before == hidden == 1
    assert model.objects.count() == {Query: 2, Document: 2, Candidate: 4}[model]
