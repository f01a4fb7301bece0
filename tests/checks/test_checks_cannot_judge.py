"""“Cannot judge” on a check counts as neither agreement nor error, and a third person settles."""

from __future__ import annotations

import pytest
from django.urls import reverse

from audit.checks import actions
from audit.checks.figures import figures
from audit.checks.queue import sample_rows, to_settle, with_checks
from audit.models import Check, SampleItem
from base.errors import Refused
from tests.checks.checking import check_label


def item(sample, doc_id):
    return sample.items.get(candidate__document__doc_id=doc_id)


def annotated(sample, doc_id):
    return with_checks(SampleItem.objects.filter(pk=item(sample, doc_id).pk)).get()


def test_cannot_judge_is_stored_with_words_and_without_a_grade(scene, sample):
    check = actions.check(
        item=item(sample, "A"), cannot_judge=True, words="It is cut off.", by=scene.ada
    )

    assert (check.relevance, check.cannot_judge, check.words) == (None, True, "It is cut off.")
    assert annotated(sample, "A").answered == 1


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"cannot_judge": True}, "Say in a few words why you cannot judge"),
        ({"cannot_judge": True, "words": "Cut off.", "relevance": 1}, "not both"),
        ({}, "Choose one of the grades"),
        ({"verdicts": {1: "met"}}, "asks for a grade, not for conditions"),
    ],
)
def test_an_empty_or_contradictory_answer_is_refused(scene, sample, answer, sentence):
    with pytest.raises(Refused, match=sentence):
        actions.check(item=item(sample, "A"), by=scene.ada, **answer)

    assert not Check.objects.exists()


@pytest.mark.parametrize("other", [0, None])
def test_a_third_settles_if_one_or_both_cannot_judge(scene, sample, other):
    check_label(sample, "A", ada=None, ben=other)

    assert [one.pk for one in to_settle(scene.dan, sample)] == [item(sample, "A").pk]
    assert not to_settle(scene.ada, sample).exists()
    assert annotated(sample, "A").outcome is None
    actions.settle(item=item(sample, "A"), relevance=0, by=scene.dan)
    assert annotated(sample, "A").outcome == 0
    assert not to_settle(scene.carla, sample).exists()


def test_a_label_that_the_third_cannot_judge_is_closed_and_counted_separately(scene, sample):
    check_label(sample, "A", ada=None, ben=1, dan=None)
    check_label(sample, "B", ada=1, ben=1)

    counted = figures(sample)

    assert (annotated(sample, "A").outcome, annotated(sample, "A").unjudgeable) == (None, True)
    assert not to_settle(scene.carla, sample).exists()
    # Of six labels one is checked, and right; one could not be judged; four wait.
    assert (counted.overall.checked, counted.overall.grade.count) == (1, 0)
    assert (counted.overall.unjudgeable, counted.unsure, counted.unchecked) == (1, 1, 4)
    assert (counted.differed, counted.settled, counted.to_settle) == (1, 1, 0)
    assert sample_rows(scene.carla, [sample])[0].checked == 2
    assert "1 of the 6 labels could not be judged." in counted.sentence
    assert "4 of the 6 labels are not included yet." in counted.sentence


def test_the_figure_counts_the_labels_that_its_link_lists(scene, sample, client):
    check_label(sample, "A", ada=0, ben=1, dan=None)
    check_label(sample, "B", ada=None, ben=1)
    check_label(sample, "C", ada=None)
    client.force_login(scene.carla.user)

    page = client.get(reverse("audit:sample", args=[sample.pk]), {"show": "unsure"})

    listed = {row.candidate.document.doc_id for row in page.context["rows"]}
    assert listed == {"A", "B"}
    assert page.context["figures"].unsure == len(listed)


def test_cannot_judge_is_never_agreement(scene, sample):
    check_label(sample, "A", ada=None, ben=None)
    check_label(sample, "B", ada=1, ben=1)
    check_label(sample, "C", ada=2, ben=1)
    check_label(sample, "D", ada=0, ben=None)

    counted = figures(sample)

    # B and C are the two labels with two grades: they agree on one.
    assert (counted.percent.units, counted.percent.value) == (2, 0.5)
    assert (counted.unsure, counted.to_settle) == (2, 3)


def test_cannot_judge_is_superseded_by_a_grade_and_can_be_withdrawn(scene, sample):
    check_label(sample, "A", ada=None)
    check_label(sample, "A", ada=1)
    assert Check.objects.current().get().relevance == 1

    check_label(sample, "A", ada=None)
    taken = actions.withdraw_check(item=item(sample, "A"), by=scene.ada)

    assert taken is not None
    assert taken.cannot_judge
    assert not Check.objects.current().exists()


def test_cannot_judge_on_the_page_needs_words_and_keeps_them(scene, sample, client):
    client.force_login(scene.ada.user)
    url = reverse("audit:check", args=[item(sample, "A").pk])

    refused = client.post(url, {"cannot_judge": "yes", "words": " "})
    page = client.post(url, {"cannot_judge": "yes", "words": "It is cut off."}, follow=True)

    assert refused.status_code == 422
    assert "Say in a few words why you cannot judge it." in refused.content.decode()
    assert page.status_code == 200
    assert Check.objects.get().cannot_judge
    again = client.get(url).content.decode()
    assert "It is cut off.</textarea>" in again


def test_a_lead_does_not_learn_that_the_first_cannot_judge_before_the_second_answered(
    scene, sample, client
):
    check_label(sample, "A", ada=None)
    client.force_login(scene.carla.user)

    page = client.get(reverse("audit:sample", args=[sample.pk]), {"show": "unsure"})

    assert list(page.context["rows"]) == []
    assert page.context["figures"].unsure == 0


def test_leads_can_list_the_labels_that_somebody_cannot_judge(scene, sample, client):
    check_label(sample, "A", ada=None, ben=1)
    check_label(sample, "B", ada=None, ben=None, dan=None)
    check_label(sample, "C", ada=2, ben=2)
    client.force_login(scene.carla.user)

    page = client.get(reverse("audit:sample", args=[sample.pk]), {"show": "unsure"})

    rows = [row.candidate.document.doc_id for row in page.context["rows"]]
    assert sorted(rows) == ["A", "B"]
    assert "cannot judge" in page.content.decode()
