"""RAG 2025 (TREC): the same documents judged by people and by a language model, grades 0 to 4."""

from __future__ import annotations

from pathlib import Path

import pytest

from agreement import Ratings, cohen_kappa, krippendorff_alpha


@pytest.fixture(scope="module")
def ratings(shared_data: Path) -> Ratings:
    rows: list[tuple[tuple[str, str], str, int]] = []
    for rater, name in [
        ("people", "qrels.rag25.test.txt"),
        ("model", "qrels.rag25.test-umbrela2.txt"),
    ]:
        with (shared_data / "trec" / name).open(encoding="utf-8") as lines:
            for line in lines:
                query, _, document, grade = line.split()
                rows.append(((query, document), rater, int(grade)))
    return Ratings.from_long(rows, categories=[0, 1, 2, 3, 4])


def test_people_and_model_share_all_their_documents(ratings: Ratings):
    assert ratings.units == 10_284
    assert ratings.excluded == ()


def test_kappa_of_people_and_model(ratings: Ratings):
    assert cohen_kappa(ratings).value == pytest.approx(0.233, abs=5e-4)


def test_ordinal_alpha_of_people_and_model(ratings: Ratings):
    value = krippendorff_alpha(ratings, level="ordinal").value

    assert value == pytest.approx(0.493, abs=5e-4)
