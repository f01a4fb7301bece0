"""Rows of hand-written SQL become the instances that the ORM makes."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import models

from annotate.collection.models import Query
from annotate.pairs.models import Assignment, InstructionPair
from annotate.projects.models import Project
from base.raw_sql import all_rows, columns
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def read(model: type[models.Model], pk: int) -> Any:
    table = model._meta.db_table
    sql = f'SELECT {columns(model, "t")} FROM "{table}" t WHERE t.id = %s'  # noqa: S608
    ((made,),) = all_rows(sql, [pk], model)
    return made


def values(instance: models.Model) -> dict[str, object]:
    return {name: value for name, value in vars(instance).items() if name != "_state"}


@pytest.mark.parametrize("model", [Assignment, InstructionPair, Query, Project])
def test_an_instance_has_the_values_and_the_state_of_one_of_the_orm(model):
    tides = factories.project()
    pair = factories.pair(factories.query(tides))
    factories.assignment(pair, factories.member(tides, "ada"))
    theirs = model.objects.get()

    made = read(model, theirs.pk)

    assert values(made) == values(theirs)
    assert (made._state.adding, made._state.db) == (False, theirs._state.db)
    assert made._state.fields_cache == {}


def test_an_instance_can_be_changed_and_saved():
    query = factories.query(factories.project())

    made = read(Query, query.pk)
    made.title = "energy of waves"
    made.save()

    query.refresh_from_db()
    assert query.title == "energy of waves"
