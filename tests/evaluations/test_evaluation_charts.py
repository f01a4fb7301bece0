"""The charts of an evaluation, their files, and one system on several releases."""

from __future__ import annotations

import csv
from xml.etree import ElementTree as ET

import pytest
from django.urls import reverse

from annotate.models import Judgment
from exporters.evaluations.charts import CHARTS
from tests.evaluations.evaluating import both_systems, make_evaluation, scene
from tests.exports.conftest import make_release


@pytest.fixture
def leading(db, client, empty_storage):
    made = scene()
    client.force_login(made.carla.user)
    return made


def file_url(found, name: str) -> str:
    table, _, kind = name.partition(".")
    return reverse("exporters:evaluation_table", args=[found.project.slug, found.pk, table, kind])


@pytest.mark.parametrize("name", [name for name in CHARTS if name != "over-releases"])
def test_each_chart_is_a_file_and_on_the_page(leading, client, name):
    found = make_evaluation(leading)

    drawn = client.get(file_url(found, f"{name}.svg"), {"system": "good", "measure": "p-mrr"})

    svg = ET.fromstring(drawn.content)
    assert drawn["Content-Type"] == "image/svg+xml"
    assert f"{name}.svg" in drawn["Content-Disposition"]
    page = client.get(found.get_absolute_url()).content.decode()
    assert f'aria-label="{svg.attrib["aria-label"]}"' in page


def test_the_share_that_dropped_is_drawn_for_each_pair(leading, client):
    found = make_evaluation(leading)

    page = client.get(found.get_absolute_url()).content.decode()

    # a and b were relevant, and only b is now.
    assert "<title>q_1: 1 of 2</title>" in page


@pytest.mark.both_databases
def test_a_system_is_compared_over_releases(leading, client):
    measured = [make_evaluation(leading, release=make_release(leading, "v1"))]
    Judgment.objects.filter(candidate=leading.pool["b"]).update(relevance=0)
    measured.append(make_evaluation(leading, release=make_release(leading, "v2")))
    make_evaluation(leading, release=measured[0].release, options={"p-mrr.ties": "file"})

    page = client.get(measured[1].get_absolute_url(), {"system": "good", "measure": "p-mrr"})
    table = client.get(
        file_url(measured[1], "over-releases.csv"), {"system": "good", "measure": "p-mrr"}
    )

    # v1: a falls from 1 to 4. v2: also b, which rises from 2 to 1: (3/4 - 1/2) / 2.
    rows = [(row["release"], row["value"]) for row in page.context["over_releases"]]
    assert rows == [("v1", 0.75), ("v2", 0.125)]
    lines = list(csv.reader(table.content.decode().splitlines()))
    assert lines[0][:2] == ["release", "value"]
    assert [line[:2] for line in lines[1:]] == [["v1", "0.75"], ["v2", "0.125"]]
    assert "good on each release" in page.content.decode()


def test_a_measure_that_the_baseline_lacks_is_not_compared_with_it(leading, client):
    good, still = both_systems(leading)
    without_changed = still._replace(runs={"original": still.runs["original"]})
    found = make_evaluation(leading, measured=[good, without_changed])

    page = client.get(found.get_absolute_url(), {"system": "good", "measure": "p-mrr"})

    # a falls from 1 to 4.
    assert [bar.value for bar in page.context["bars"]] == [0.75]
    assert page.context["bars_caption"].startswith("p-MRR of good, a bar for each pair")
    assert "minus still" not in page.text


def test_one_release_alone_is_not_compared(leading, client):
    found = make_evaluation(leading, release=make_release(leading, "v1"))

    assert "on each release" not in client.get(found.get_absolute_url()).content.decode()


def test_an_unknown_chart_is_not_found(leading, client):
    found = make_evaluation(leading)

    assert client.get(file_url(found, "pie.svg")).status_code == 404


def test_a_system_without_a_p_mrr_has_a_sentence_in_place_of_an_empty_chart(leading, client):
    found = make_evaluation(leading)
    values = found.results["by_query"]["p-mrr"]["good"]
    assert client.get(found.get_absolute_url()).context["has_p_mrr"]
    found.results["by_query"]["p-mrr"]["good"] = dict.fromkeys(values)
    found.save()

    page = client.get(found.get_absolute_url(), {"system": "good"})

    assert not page.context["has_p_mrr"]
    assert "This needs an original and a changed run" in page.content.decode()


def test_the_charts_begin_with_a_system_that_has_a_p_mrr(leading, client):
    found = make_evaluation(leading, baseline="")
    values = found.results["by_query"]["p-mrr"]
    values["still"] = dict.fromkeys(values["still"])
    found.save()

    assert client.get(found.get_absolute_url()).context["system"] == "good"
