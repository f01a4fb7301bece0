"""The queue of disagreements lists labels that somebody could not judge, and condition counts."""

from __future__ import annotations

import pytest
from django.urls import reverse

from audit.checks import actions
from audit.checks.queue import TO_SETTLE, to_settle, with_checks
from audit.models import Check, Sample, SampleItem
from audit.settling.queue import read_page
from audit.settling.queue_filters import Kind, QueueFilter
from tests.checks.checking import check_label, draw

pytestmark = pytest.mark.both_databases


def item(sample, doc_id):
    return sample.items.get(candidate__document__doc_id=doc_id)


def listed(scene, **wanted):
    found = read_page(scene.carla, QueueFilter(kind=Kind.CHECK, **wanted), after=None, size=20)
    rows = [(one.candidate.document.doc_id, one.distance) for one in found.items if one.candidate]
    return sorted(rows)


def test_labels_that_one_or_both_cannot_judge_have_distance_one(scene, sample):
    check_label(sample, "A", ada=None, ben=0)
    check_label(sample, "B", ada=None, ben=None)
    check_label(sample, "C", ada=2, ben=0)
    check_label(sample, "D", ada=1, ben=1)
    check_label(sample, "E", ada=None)
    check_label(sample, "F", ada=None, ben=2, dan=None)

    assert listed(scene) == [("A", 1), ("B", 1), ("C", 2)]
    assert [doc_id for doc_id, _ in listed(scene, settled=True)] == ["F"]


def test_both_queues_contain_the_same_labels(scene, sample):
    for doc_id, (ada, ben) in {"A": (None, 0), "B": (None, None), "C": (2, 0), "D": (1, 1)}.items():
        check_label(sample, doc_id, ada=ada, ben=ben)

    waiting = set(
        with_checks(SampleItem.objects.all()).filter(TO_SETTLE).values_list("pk", flat=True)
    )

    assert waiting == set(to_settle(scene.carla).values_list("pk", flat=True))
    assert len(waiting) == len(listed(scene)) == 3


def test_a_lead_adopts_a_cannot_judge_with_its_words(scene, sample, client):
    check_label(sample, "A", ada=None, ben=0)
    client.force_login(scene.carla.user)
    url = reverse("audit:check_disagreement", args=[item(sample, "A").pk])
    unsure = Check.objects.get(cannot_judge=True)

    shown = client.get(url).content.decode()
    client.post(url, {"adopt": unsure.pk})
    after = client.get(url).content.decode()

    assert "cannot judge" in shown
    # The claim is hidden while the label is open.
    assert "Claimed" not in shown
    settled = Check.objects.get(place=3)
    assert (settled.cannot_judge, settled.words) == (True, "It is cut off.")
    assert "Settled as" in after
    assert listed(scene) == []


def test_two_who_cannot_judge_it_are_settled_by_a_grade(scene, sample, client):
    check_label(sample, "B", ada=None, ben=None)
    client.force_login(scene.carla.user)
    url = reverse("audit:check_disagreement", args=[item(sample, "B").pk])

    shown = client.get(url).content.decode()
    client.post(url, {"relevance": 1, "reason": "The title says it."})

    assert "Claimed" not in shown
    assert Check.objects.get(place=3).relevance == 1


def test_the_list_and_the_page_write_numbers_of_conditions(scene, client):
    conditions = [
        scene.narratives["C1"].conditions.create(number=number, text=f"Condition {number}.")
        for number in (1, 2)
    ]
    scene.selection = scene.selection._replace(asks=Sample.Asks.COUNT)
    sample = draw(scene, stratify=Sample.Stratify.NONE)
    for by, answer in ((scene.ada, "met"), (scene.ben, "not_met")):
        verdicts = {one.pk: answer for one in conditions}
        actions.check(item=item(sample, "A"), verdicts=verdicts, by=by)
    client.force_login(scene.carla.user)

    page_of_all = client.get(reverse("audit:disagreements", args=["tides"])).content.decode()
    response = client.get(reverse("audit:check_disagreement", args=[item(sample, "A").pk]))

    assert "2 met" in page_of_all
    assert "0 met" in page_of_all
    # Conditions are answered on the page of the check.
    assert response.url == reverse("audit:settlement", args=[item(sample, "A").pk])
    actions.settle(
        item=item(sample, "A"),
        verdicts={conditions[0].pk: "met", conditions[1].pk: "not_met"},
        by=scene.carla,
    )
    settled = client.get(reverse("audit:check_disagreement", args=[item(sample, "A").pk]))
    assert "1 of 2 met" in settled.content.decode()


@pytest.mark.parametrize("filters", ["?state=settled", "?kind=review", "?query=303"])
def test_no_filter_of_the_list_reveals_the_claim_of_an_open_label(scene, sample, client, filters):
    check_label(sample, "A", ada=0, ben=1)
    client.force_login(scene.carla.user)
    url = reverse("audit:check_disagreement", args=[item(sample, "A").pk])

    shown = client.get(url + filters).content.decode()

    assert "Claimed" not in shown
    assert 'name="adopt"' in shown
