"""The sentence for a paper counts the labels that were checked, not those drawn or asked for."""

from __future__ import annotations

import pytest

from audit.checks.figures import figures
from tests.checks.checking import check_label, draw


def first_sentence(sample) -> str:
    return figures(sample).sentence.partition(").")[0]


def test_the_sentence_of_an_unfinished_sample_counts_the_labels_that_two_have_checked(scene):
    sample = draw(scene)
    check_label(sample, "A", ada=0, ben=0)
    check_label(sample, "B", ada=1, ben=2)
    check_label(sample, "C", ada=2)

    # Of six labels, two people have checked A and B, and one has checked C.
    assert first_sentence(sample).startswith(
        "Two people each checked 2 of the 6 labels drawn from 6 (judgments of model;"
    )


def test_the_sentence_of_a_finished_sample_names_the_size_of_the_frame(scene):
    sample = draw(scene, size=1, stratify="none")
    check_label(sample, sample.items.get().candidate.document.doc_id, ada=0, ben=0)

    assert first_sentence(sample) == (
        "Two people each checked 1 of 6 labels (judgments of model; 1 drawn at random with seed 7"
    )


def test_a_single_label_is_counted_in_the_singular(scene):
    sample = draw(scene)
    for doc_id in "ABCDE":
        check_label(sample, doc_id, ada=0, ben=0)

    assert "1 of the 6 labels is not included yet." in figures(sample).sentence


@pytest.mark.parametrize(
    ("stratify", "words"),
    [("none", "6 drawn at random"), ("category", "up to 50 of each stratum, drawn at random")],
)
def test_the_sentence_of_a_smaller_sample_does_not_overstate_its_size(scene, stratify, words):
    sample = draw(scene, size=50, fewer=True, stratify=stratify)
    check_label(sample, "A", ada=0, ben=0)

    assert f"(judgments of model; {words} with seed 7" in figures(sample).sentence
