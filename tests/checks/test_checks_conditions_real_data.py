"""MultiConIR's check: does each document meet exactly as many conditions as it claims?"""

from __future__ import annotations

import csv
import io
from collections import Counter

import pytest
from django.core.management import call_command

from annotate.models import Project
from audit.checks import actions, samples
from audit.checks.claims import ClaimSelection, build_frame
from audit.checks.figures import figures
from audit.models import Sample
from tests import factories

pytestmark = pytest.mark.django_db
GRADES = ",".join(map(str, range(11)))


@pytest.fixture
def rows(shared_data, settings, tmp_path):
    """Load the file, and return its rows."""
    default = {**settings.STORAGES["default"], "OPTIONS": {"location": str(tmp_path / "storage")}}
    settings.STORAGES = {**settings.STORAGES, "default": default}
    file = shared_data / "multiconir" / "Sample_Task1.csv"
    call_command(
        *("load", "tides", "multiconir", str(file), "--create", "--grades", GRADES),
        stdout=io.StringIO(),
    )
    with file.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_claims_are_those_of_the_table_and_the_rate_is_counted_by_hand(rows):
    project = Project.objects.get(slug="tides")
    carla = factories.lead(project)
    ada, ben, dan = (factories.member(project, name) for name in ("ada", "ben", "dan"))
    selection = ClaimSelection(
        Sample.Source.MACHINE, project.memberships.get(is_machine=True), asks=Sample.Asks.COUNT
    )

    claimed = Counter(claim.relevance for claim in build_frame(project, selection).claims)

    # Query k of a row has its first k conditions. The positive meets all of them; HNj breaks
    # condition j alone, which query k has when j is at most k.
    expected: Counter[int] = Counter()
    for row in rows:
        width = sum(1 for name in row if name.startswith("Query") and row[name])
        for k in range(1, width + 1):
            expected[k] += 1
            for j in range(1, width + 1):
                expected[k - 1 if j <= k else k] += bool(row[f"HN{j}"])
    assert claimed == expected

    sample = samples.draw_sample(
        name="Exactly k",
        selection=selection,
        stratify=Sample.Stratify.NONE,
        per=Sample.Per.STRATUM,
        size=20,
        seed=7,
        by=carla,
    )
    for place, item in enumerate(sample.items.order_by("pk")):
        conditions = list(item.narrative.conditions.order_by("number"))

        def verdicts(met, conditions=conditions):
            return {one.pk: "met" if at < met else "not_met" for at, one in enumerate(conditions)}

        other = item.claimed - 1 if item.claimed else 1
        second = other if place < 4 else item.claimed
        actions.check(item=item, verdicts=verdicts(item.claimed), by=ada)
        actions.check(item=item, verdicts=verdicts(second), by=ben)
        if place < 4:
            # The third finds one of the four wrong.
            right = other if place < 1 else item.claimed
            actions.settle(item=item, verdicts=verdicts(right), by=dan)
    found = figures(sample)
    assert (found.overall.checked, found.overall.grade.count, found.settled) == (20, 1, 4)
    assert found.percent.value == pytest.approx(16 / 20)
    # One in 20: the upper limit is where one or none have 2.5%.
    interval = found.overall.grade.interval
    assert interval is not None
    p = interval.high
    assert (1 - p) ** 20 + 20 * p * (1 - p) ** 19 == pytest.approx(0.025, abs=1e-9)
    assert "The number of conditions met was wrong in 1 of 20" in found.sentence
