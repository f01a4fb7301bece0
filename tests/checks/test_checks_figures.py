"""Figures of a sample, compared with counts by hand: rates, intervals, agreement, the sentence."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotate.collection.removal import QUERIES
from annotate.models import Candidate
from audit.checks.figures import figures, format_upper_bound
from exporters.exports.manifest.rule_facts import check_facts
from tests import factories
from tests.checks.checking import check_label, claimed_scene, draw
from tests.pages import shows

# Ten labels of two categories. The outcome is in brackets; grades from 1 are relevant.
#
#   C1   claimed   ada ben third                    S1   claimed   ada ben third
#   A    0         0   0          [0] right         F    0         1   1         [1] status, grade
#   B    1         1   1          [1] right         G    1         1   0   1     [1] right
#   C    2         1   1          [1] grade         H    2         2   2         [2] right
#   D    2         2   1   2      [2] right         I    1         0   2         to settle
#   E    1         0   0          [0] status, grade J    0         0             one has answered
CLAIMED = {
    "C1": {"A": 0, "B": 1, "C": 2, "D": 2, "E": 1},
    "S1": {"F": 0, "G": 1, "H": 2, "I": 1, "J": 0},
}
GRADES = {
    "A": (0, 0),
    "B": (1, 1),
    "C": (1, 1),
    "D": (2, 1, 2),
    "E": (0, 0),
    "F": (1, 1),
    "G": (1, 0, 1),
    "H": (2, 2),
    "I": (0, 2),
    "J": (0,),
}


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file):
    return claimed_scene(CLAIMED)


@pytest.fixture
def sample(scene):
    made = draw(scene, size=5)
    for doc_id, grades in GRADES.items():
        check_label(made, doc_id, **dict(zip(("ada", "ben", "dan"), grades, strict=False)))
    return made


def test_wrong_labels_are_counted_by_status_and_by_grade_in_each_stratum(sample):
    found = figures(sample)

    assert [
        (one.label, one.items, one.checked, one.status.count, one.grade.count)
        for one in [*found.strata, found.overall]
    ] == [("C1", 5, 5, 1, 2), ("S1", 5, 3, 1, 1), ("", 10, 8, 2, 3)]
    assert (found.differed, found.settled, found.to_settle, found.unchecked) == (3, 2, 1, 1)


def test_the_intervals_are_exact(sample):
    rate = figures(sample).overall.status

    # 2 of 8; the tails of the binomial at these limits are 2.5%, at the bound 5%.
    assert rate.share == 0.25
    assert rate.interval == pytest.approx((0.0318540, 0.6508558), abs=1e-7)
    assert rate.at_most == pytest.approx(0.5996894, abs=1e-7)


def test_how_many_more_is_counted_for_the_bound_that_was_chosen(sample):
    # Two wrong: at 2% at most two among 313 have 4.98% (among 312 5.03%), at 20% among 30.
    assert figures(sample).overall.more_status == 313 - 8
    assert figures(sample, bound=0.2).overall.more_status == 30 - 8


def test_the_two_agree_as_cohen_counts_it(sample):
    found = figures(sample)

    # Both checked nine labels; they agree on A B C E F H, and differ on D G I.
    #           ben 0  1  2
    #   ada 0       2  0  1      p_e = (3 x 3 + 4 x 4 + 2 x 2) / 81 = 29 / 81
    #       1       1  3  0      kappa = (6 / 9 - 29 / 81) / (1 - 29 / 81) = 25 / 52
    #       2       0  1  1
    assert found.percent.value == pytest.approx(6 / 9)
    assert (found.kappa.name, found.kappa.units) == ("Cohen's kappa", 9)
    assert found.kappa.value == pytest.approx(25 / 52)
    assert found.kappa.interval is not None


def test_the_sentence_reports_every_figure(sample):
    kappa = figures(sample).kappa
    assert kappa.interval is not None
    assert figures(sample).sentence == (
        "Two people each checked 9 of the 10 labels drawn from 10 (judgments of model; 5 of each "
        "stratum, drawn at random with seed 7, stratified by category of the instruction). The two "
        "agreed on 66.7% (Cohen's kappa 0.48, 95% interval {low} to {high}); a third person "
        "settled 2. Relevant or not was wrong in 2 of 8 (25.0%, exact 95% interval 3.2 to "
        "65.1%; at most 60.0% at 95%). The grade was wrong in 3 of 8 (37.5%, exact 95% "
        "interval 8.5 to 75.5%; at most 71.1% at 95%). 2 of the 10 labels are not included yet."
    ).format(
        low=f"{kappa.interval.low:.2f}",
        high=f"{kappa.interval.high:.2f}",
    )


def test_nothing_checked_has_no_rate_and_no_sentence(scene):
    found = figures(draw(scene, size=5))

    assert found.overall.status.note == "undefined: nothing was looked at"
    assert found.sentence == ""
    assert found.kappa.value is None
    assert found.overall.more_status == 149


def test_labels_of_replaced_and_removed_narratives_are_counted_and_named(sample, scene, client):
    assert figures(sample).outdated == 0

    factories.narrative(scene.narratives["C1"].pair, version=2)

    found = figures(sample)
    assert (found.outdated, found.overall.checked) == (5, 8)
    said = (
        "5 of the 10 labels belong to narratives that were replaced since, or to instructions or "
        "documents taken out."
    )
    assert found.sentence.endswith(said)
    client.force_login(scene.carla.user)
    assert shows(client.get(sample.get_absolute_url()), said[:-1])
    [facts] = check_facts(scene.project)
    assert facts["outdated"] == 5
    assert said in facts["says"]

    query = scene.narratives["S1"].pair.query
    QUERIES.remove(project=scene.project, keys=[query.pk], reason="Off topic.", by=scene.carla)

    # I and J of S1 were not checked yet: they count nowhere.
    found = figures(sample)
    assert (found.outdated, found.taken_out) == (8, 2)


def test_labels_of_documents_that_were_taken_out_are_named_as_outdated(sample):
    label = sample.items.order_by("pk").first()
    taken = {"removed_by": sample.created_by, "removed_reason": "Broken."}

    Candidate.objects.filter(pk=label.candidate_id).update(removed_at=timezone.now(), **taken)

    assert figures(sample).outdated == 1


def test_labels_taken_out_before_their_check_do_not_wait_for_it(sample, scene, client):
    taken = {"removed_by": sample.created_by, "removed_reason": "Broken."}
    for doc_id in "AIJ":
        candidate = scene.candidates[doc_id].pk
        Candidate.objects.filter(pk=candidate).update(removed_at=timezone.now(), **taken)

    found = figures(sample)

    # A is checked, I was to settle and J had one answer.
    assert (found.overall.checked, found.to_settle, found.unchecked, found.taken_out) == (
        8,
        0,
        0,
        2,
    )
    assert "not included yet" not in found.sentence
    assert "2 of the 10 labels were taken out before being checked." in found.sentence
    client.force_login(scene.carla.user)
    for show, labels in [("unchecked", []), ("to-settle", []), ("taken-out", ["I", "J"])]:
        rows = client.get(sample.get_absolute_url(), {"show": show}).context["rows"]
        assert sorted(row.candidate.document.doc_id for row in rows) == labels


def test_a_sample_costs_two_queries_however_large(sample, django_assert_num_queries):
    sample.project, sample.rater  # noqa: B018 (read before)

    with django_assert_num_queries(2):
        figures(sample)


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0197734, "2.0"), (0.02, "2.0"), (0.0200001, "2.1"), (0.07, "7.0"), (1.0, "100.0")],
)
def test_a_bound_is_never_rounded_down(share, words):
    assert format_upper_bound(share) == words
