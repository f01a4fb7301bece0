"""A prepared query is compiled once for each shape and executed with the values of each call."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from annotate.models import Membership
from base.prepared_queries import Prepared, count_of, prepared
from tests import factories

pytestmark = pytest.mark.both_databases


@pytest.fixture
def people(db):
    """Two projects: ada and carla in one, ben in the other."""
    tides, dunes = factories.project("tides"), factories.project("dunes")
    return {
        "tides": tides.pk,
        "dunes": dunes.pk,
        "ada": factories.member(tides, "ada").pk,
        "carla": factories.lead(tides, "carla").pk,
        "ben": factories.member(dunes, "ben").pk,
    }


@prepared("project")
def names(order: str, project: int):
    return Membership.objects.filter(project=project).order_by(order).values_list("name")


def test_each_call_gets_the_rows_of_its_own_values(people):
    assert names.rows("name", project=people["tides"]) == [("ada",), ("carla",)]
    assert names.rows("name", project=people["dunes"]) == [("ben",)]
    assert names.value("-name", project=people["tides"]) == "carla"
    assert names.value("name", project=0) is None


def test_a_datetime_can_be_a_value(people):
    joined = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    Membership.objects.filter(name="carla").update(joined_at=joined)
    since = Prepared(
        lambda project, since: Membership.objects.filter(
            project=project, joined_at__lte=since
        ).values_list("name"),
        "project",
        moments=["since"],
    )

    def joined_by(moment: datetime) -> list[tuple[str]]:
        return since.rows(project=people["tides"], since=moment)

    assert joined_by(joined) == [("carla",)]
    assert joined_by(joined - timedelta(microseconds=1)) == []


def test_a_query_is_compiled_once_for_each_shape(people):
    built = []

    def build(order: str, project: int):
        built.append(order)
        return names.build(order, project)

    query = Prepared(build, "project")
    for order in ("name", "-name", "name", "-name"):
        for project in ("tides", "dunes"):
            query.rows(order, project=people[project])

    assert built == ["name", "-name"]


def test_a_list_of_values_may_have_any_length(people):
    query = Prepared(
        lambda project, keys: (
            Membership.objects.filter(project=project, pk__in=[keys])
            .order_by("name")
            .values_list("name")
        ),
        "project",
        "keys",
    )

    def found(*people_: str) -> list[str]:
        keys = [people[name] for name in people_]
        return [name for (name,) in query.rows(project=people["tides"], keys=keys)]

    assert found("carla", "ada", "ben") == ["ada", "carla"]
    assert found("ada") == ["ada"]
    assert found() == []


def test_rows_are_counted(people):
    rows = Prepared(lambda project: count_of(Membership.objects.filter(project=project)), "project")

    assert rows.value(project=people["tides"]) == 2
