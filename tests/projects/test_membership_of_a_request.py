"""One query reads the membership of a request, with the same values as the ORM."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db.models import Model
from django.http import Http404
from django.utils import timezone

from annotate.models import Membership, Project, User
from annotate.projects import access
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def values(row: Model) -> dict[str, str]:
    """Return every column of a row as its `repr`, so that 1 and True differ."""
    return {field.attname: repr(getattr(row, field.attname)) for field in row._meta.concrete_fields}


def test_one_query_reads_the_member_the_project_and_the_account(django_assert_num_queries):
    carla = factories.lead(factories.project("tides", show_prior=True))
    assert carla.user

    with django_assert_num_queries(1):
        found = access.member(carla.user, "tides")
        assert found.user
        read = [values(row) for row in (found, found.project, found.user)]

    assert read == [values(model.objects.get()) for model in (Membership, Project, User)]


@pytest.mark.parametrize("change", [lambda: {"left_at": timezone.now()}, lambda: {"user": None}])
def test_a_former_member_or_a_visitor_is_not_a_member(change):
    ada = factories.member(factories.project("tides"), "ada")
    user = ada.user
    assert user
    Membership.objects.update(**change())

    with pytest.raises(Http404):
        access.member(user, "tides")
    with pytest.raises(Http404):
        access.member(AnonymousUser(), "tides")


def test_a_membership_of_another_project_is_not_found():
    ada = factories.member(factories.project("tides"), "ada")
    factories.project("reefs")
    assert ada.user

    with pytest.raises(Http404):
        access.member(ada.user, "reefs")
