"""RAG 2025 (TREC): a model labelled 22 topics, and people's labels of 11 drawn ones are loaded.

nDCG@10 of a run is estimated over all 22 and computed again by hand from the two files of labels.
What people say of the other 11 shows how wrong the estimate is.
"""

from __future__ import annotations

import csv
import json
from hashlib import sha256
from math import log2, sqrt
from random import Random
from statistics import mean, stdev
from types import SimpleNamespace

import pytest
from django.core.management import call_command

from annotate.models import Project, Run
from exporters.evaluations.systems import System
from tests import factories
from tests.evaluations.evaluating import make_evaluation

# Student's t with 10 degrees of freedom, 97.5%.
T_10 = 2.228139


def labels_in(path):
    """Return the grades of a file of qrels by topic and document."""
    labels: dict[str, dict[str, int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        topic, _, document, grade = line.split()
        labels.setdefault(topic, {})[document] = int(grade)
    return labels


def ndcg_at_10(ranking, grades):
    def gain(of):
        return sum(grade / log2(place + 2) for place, grade in enumerate(of[:10]))

    ideal = gain(sorted(grades.values(), reverse=True))
    return gain([grades.get(document, 0) for document in ranking]) / ideal if ideal else 0.0


@pytest.fixture
def people(shared_data):
    return labels_in(shared_data / "trec" / "qrels.rag25.test.txt")


@pytest.fixture
def model(shared_data):
    return labels_in(shared_data / "trec" / "qrels.rag25.test-umbrela2.txt")


@pytest.fixture
def drawn(people):
    return Random(2025).sample(sorted(people), 11)


@pytest.fixture
def rankings(people):
    """Return an arbitrary order of each topic's documents."""
    return {
        topic: sorted(grades, key=lambda document: sha256(document.encode()).hexdigest())
        for topic, grades in people.items()
    }


@pytest.fixture
def made(db, tmp_path, people, model, drawn, rankings):
    def load(layout, name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        options = ("--create", "--grades=0,1,2,3,4")
        call_command("load", "rag25", layout, str(tmp_path / name), *options, verbosity=0)

    pairs = ({"query_id": topic, "altered": f"About {topic}."} for topic in people)
    load("pairs-jsonl", "pairs.jsonl", "".join(f"{json.dumps(pair)}\n" for pair in pairs))
    with (tmp_path / "people.csv").open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["query_id", "doc_id", "annotator", "relevance"])
        for topic in drawn:
            out.writerows((topic, doc, "NIST", grade) for doc, grade in people[topic].items())
    load("judgments-csv", "people.csv", (tmp_path / "people.csv").read_text())
    load(
        "trec-labels",
        "labels.txt",
        "".join(
            f"{topic} Q0 {document} {grade} 1 umbrela2\n"
            for topic, grades in model.items()
            for document, grade in grades.items()
        ),
    )
    load(
        "trec-run",
        "hashed.changed.run",
        "".join(
            f"{topic} Q0 {document} {rank} {1 / rank:.6f} hashed\n"
            for topic, ranking in rankings.items()
            for rank, document in enumerate(ranking, 1)
        ),
    )
    project = Project.objects.get(slug="rag25")
    return SimpleNamespace(project=project, carla=factories.lead(project))


@pytest.mark.both_databases
def test_the_estimate_is_the_one_computed_by_hand_and_its_interval_holds(
    made, people, model, drawn, rankings
):
    evaluation = make_evaluation(
        made,
        measured=[System("hashed", {"changed": Run.objects.get(project=made.project)})],
        baseline="",
        options={"machine.name": "umbrela2", "ir.measures": "nDCG@10"},
    )

    about = evaluation.results["estimates"]
    assert (about["pairs"], about["judged"], about["note"]) == (22, 11, "")
    estimate = about["measures"]["nDCG@10 after"]["hashed"]
    by_model = {topic: ndcg_at_10(rankings[topic], model[topic]) for topic in model}
    by_people = {topic: ndcg_at_10(rankings[topic], people[topic]) for topic in people}
    differences = [by_people[topic] - by_model[topic] for topic in drawn]
    combined = mean(by_model.values()) + mean(differences)
    # Half of the topics are judged: that half is certain.
    half_width = T_10 * stdev(differences) * sqrt((1 - 11 / 22) / 11)
    assert estimate["machine"] == pytest.approx(mean(by_model.values()))
    assert estimate["people"]["value"] == pytest.approx(mean(by_people[topic] for topic in drawn))
    assert estimate["combined"]["value"] == pytest.approx(combined)
    assert estimate["combined"]["low"] == pytest.approx(combined - half_width, abs=1e-6)
    assert estimate["combined"]["high"] == pytest.approx(combined + half_width, abs=1e-6)
    # What people say of all 22.
    truth = mean(by_people.values())
    assert estimate["combined"]["low"] <= truth <= estimate["combined"]["high"]
