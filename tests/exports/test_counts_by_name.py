"""People's judgments, leads' decisions and machines' claims are counted separately everywhere."""

from __future__ import annotations

import pytest

from annotate.collection.removal import QUERIES
from annotate.models import Judgment
from exporters.exports.manifest.manifest import figures
from exporters.releases import contents
from exporters.releases.preview import preview
from tests import factories
from tests.checks.checking import check_label, claimed_scene, draw
from tests.exports.conftest import AT, make_release


def test_a_citation_counts_judgments_decisions_and_claims_separately_without_removed_queries(tides):
    out = factories.query(tides.project, "9")
    factories.pair(out)
    QUERIES.remove(project=tides.project, keys=[out.pk], reason="Twice.", by=tides.carla)

    words = contents.citation(make_release(tides, "v1.0"))

    assert (
        "5 queries, 4 instruction pairs (2 in the changed qrels, 1 in the claimed qrels), "
        "9 judgments by people, 1 settling decision by leads, "
        "1 label claimed by machines" in words
    )


def test_the_citation_says_how_many_instruction_pairs_are_in_the_qrels():
    """With 20 of 50 topics rewritten, "50 instruction pairs" alone would overstate the release."""
    assert contents._describe_pairs({"pairs": 50, "pairs_written": 20}) == (
        "50 instruction pairs (20 in the changed qrels)"
    )
    assert contents._describe_pairs({"pairs": 50, "pairs_written": 50}) == "50 instruction pairs"
    assert contents._describe_pairs({"pairs": 1, "pairs_written": 0}) == (
        "1 instruction pair (0 in the changed qrels)"
    )
    assert contents._describe_pairs({"pairs": 45, "pairs_written": 0, "pairs_claimed": 20}) == (
        "45 instruction pairs (20 in the claimed qrels)"
    )


def test_the_citation_of_machine_claims_alone_says_that_no_person_judged(db):
    scene = claimed_scene({"C1": {"A": 1, "B": 0}, "C2": {"C": 1}})

    words = contents.citation(make_release(scene, "v1.0"))

    assert (
        "0 judgments by people, 0 settling decisions by leads, 3 labels claimed by machines"
        in words
    )


def test_the_citation_says_how_many_claims_people_checked_and_corrected(db):
    scene = claimed_scene({"C1": {"A": 1, "B": 0, "C": 0}})
    sample = draw(scene)
    check_label(sample, "A", ada=1, ben=1)
    check_label(sample, "B", ada=1, ben=1)
    check_label(sample, "C", ada=1)

    words = contents.citation(make_release(scene, "v1.0"))

    assert "3 labels claimed by machines (2 checked by people, 1 corrected)" in words


def test_the_page_and_the_api_of_a_release_have_the_same_counts(tides):
    held = contents.of(make_release(tides, "v1.0"))

    assert dict(figures(contents.all_counts(held))) | {
        "judgments by people under every version": 11,
        "settling decision under every version": 1,
        "claim by machines under every version": 1,
    } == dict(figures(contents.all_counts(held)))
    counts = contents.all_counts(held)
    by_people = Judgment.objects.current().of_people().count()
    assert (counts["judgments_by_people"], by_people) == (11, 11)
    assert counts["judgments_by_machines"] == 1


@pytest.mark.parametrize(("people", "rows"), [(2, 5), (0, 1)])
def test_zeros_are_left_out_of_the_figures_where_nobody_judged(people, rows):
    counts = {"judged": people, "settled": 0, "judgments_by_people": people, "claims": 3}

    shown = figures({**counts, "adjudications_standing": 0})

    assert len(shown) == rows
    assert shown[-1] == ("claimed labels in the claimed qrels", 3)


def test_the_page_of_a_new_release_counts_the_same(tides):
    counts = dict(preview(tides.carla).counts)

    assert (
        counts["judgments by people under every version"],
        counts["settling decision under every version"],
        counts["claim by machines under every version"],
    ) == (11, 1, 1)
    assert "judgments" not in counts


def test_superseded_judgments_are_in_none_of_the_counts(tides):
    Judgment.objects.filter(annotator=tides.model).update(ended_at=AT)
    Judgment.objects.filter(annotator=tides.ada).update(ended_at=AT)

    counts = contents.all_counts(contents.of(make_release(tides, "v1.0")))

    # Those of ben: é under version 1; B, FT-10 and FT-9 of 301; C of 302.
    assert counts["judgments_by_people"] == 5
    assert counts["judgments_by_machines"] == 0
