"""RAG 2025 (TREC): 300 drawn labels say how far the model's 10,284 labels can be trusted."""

from __future__ import annotations

import random
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import pytest

from agreement.prediction_powered import PredictionPowered, prediction_powered
from agreement.proportion import proportion

DRAWN = 300
SEEDS = 400
# A label is relevant from this grade on.
RELEVANT = 1


class Labels(NamedTuple):
    """Grades of the same documents, by query and document."""

    people: dict[str, int]
    model: dict[str, int]

    def draw(self, seed: int) -> list[str]:
        return random.Random(seed).sample(list(self.people), DRAWN)

    def draw_by_stratum(self, seed: int) -> list[str]:
        """Draw as many labels of each grade of the model, although grades differ in number."""
        rng = random.Random(seed)
        strata = [[x for x in self.model if self.model[x] == grade] for grade in range(5)]
        return [label for stratum in strata for label in rng.sample(stratum, DRAWN // 5)]

    def errors(self, drawn: list[str]) -> int:
        """Return how often one of people and model says relevant, and the other does not."""
        return sum((self.people[x] >= RELEVANT) != (self.model[x] >= RELEVANT) for x in drawn)

    def share_of_relevant(self, drawn: list[str], *, stratified: bool = False) -> PredictionPowered:
        return prediction_powered(
            {label: float(grade >= RELEVANT) for label, grade in self.model.items()},
            {label: float(self.people[label] >= RELEVANT) for label in drawn},
            strata=self.model if stratified else None,
        )


@pytest.fixture(scope="module")
def labels(shared_data: Path) -> Labels:
    def read(name: str) -> dict[str, int]:
        with (shared_data / "trec" / name).open(encoding="utf-8") as lines:
            rows = [line.split() for line in lines]
        grades = {f"{query} {document}": int(grade) for query, _, document, grade in rows}
        return dict(sorted(grades.items()))

    return Labels(read("qrels.rag25.test.txt"), read("qrels.rag25.test-umbrela2.txt"))


def test_the_bound_from_300_drawn_labels_holds_for_all(labels: Labels):
    of_all = labels.errors(list(labels.people)) / len(labels.people)

    found = proportion(labels.errors(labels.draw(2025)), DRAWN)

    assert found.interval is not None
    assert found.at_most is not None
    assert found.interval.low <= of_all <= found.interval.high
    assert of_all <= found.at_most


def test_the_bound_holds_in_at_least_95_percent_of_draws(labels: Labels):
    of_all = labels.errors(list(labels.people)) / len(labels.people)

    bounds = [proportion(labels.errors(labels.draw(seed)), DRAWN).at_most for seed in range(SEEDS)]

    # Two standard errors of a share of 95% in 400 are 2.2 points.
    assert fmean(bound is not None and of_all <= bound for bound in bounds) >= 0.95 - 0.022


@pytest.mark.long
@pytest.mark.parametrize("stratified", [False, True])
def test_the_interval_of_the_share_of_relevant_labels_holds_in_95_percent_of_draws(
    labels: Labels, stratified: bool
):
    share = fmean(grade >= RELEVANT for grade in labels.people.values())
    draw = labels.draw_by_stratum if stratified else labels.draw

    results = [labels.share_of_relevant(draw(seed), stratified=stratified) for seed in range(SEEDS)]

    intervals = [result.combined.interval for result in results]
    assert 0.928 <= fmean(x is not None and x.low <= share <= x.high for x in intervals) <= 0.972
    assert fmean(result.combined.value or 0 for result in results) == pytest.approx(share, abs=5e-3)
    # The model calls far more labels relevant.
    assert results[0].machine is not None
    assert results[0].machine > share + 0.1
