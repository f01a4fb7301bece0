"""RAG 2025 (TREC): 10,284 documents that people and a language model graded, counted again by hand.

People's grades are loaded first, so it is certain that they had not seen the machine's here. The
figures are compared with plain counts of the two files.
"""

from __future__ import annotations

import csv
from collections import Counter

import pytest
from django.core.management import call_command

from annotate.models import Project
from audit.machines.blind_answers import Chosen
from audit.machines.trust import trust_of

pytestmark = pytest.mark.both_databases

GRADES = range(5)


def grades_in(path):
    """Return the grades of a file of qrels by query and document."""
    with path.open(encoding="utf-8") as stream:
        columns = [line.split() for line in stream]
    return {(query, document): int(grade) for query, _, document, grade in columns}


@pytest.fixture
def people(shared_data):
    return grades_in(shared_data / "trec" / "qrels.rag25.test.txt")


@pytest.fixture
def model(shared_data):
    return grades_in(shared_data / "trec" / "qrels.rag25.test-umbrela2.txt")


@pytest.fixture
def machine(db, tmp_path, people, model):
    """The machine of a project into which both files were loaded, people's first."""
    with (tmp_path / "people.csv").open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["query_id", "doc_id", "annotator", "relevance"])
        out.writerows((*unit, "NIST", grade) for unit, grade in people.items())
    labels = [f"{q} Q0 {d} {grade} 1 umbrela2\n" for (q, d), grade in model.items()]
    (tmp_path / "labels.txt").write_text("".join(labels), encoding="utf-8")
    for layout, name in (("judgments-csv", "people.csv"), ("trec-labels", "labels.txt")):
        call_command(
            "load",
            "rag25",
            layout,
            str(tmp_path / name),
            "--create",
            "--grades=0,1,2,3,4",
            verbosity=0,
        )
    return Project.objects.get(slug="rag25").memberships.get(is_machine=True)


def test_the_figures_are_those_counted_in_the_files(machine, people, model):
    trust = trust_of(machine, Chosen.OTHERWISE)

    assert (trust.documents, trust.agreed, trust.left_out) == (10_284, 10_284, [])
    # Cohen's kappa, counted by hand.
    units = len(people)
    same = sum(people[unit] == model[unit] for unit in people)
    of_people, of_model = Counter(people.values()), Counter(model.values())
    chance = sum(of_people[grade] * of_model[grade] for grade in GRADES) / units**2
    figures = {one.key: one.figure for one in trust.with_agreed}
    assert figures["percent"].value == pytest.approx(same / units)
    assert figures["cohen"].value == pytest.approx((same / units - chance) / (1 - chance))
    # The crossed grades.
    pairs = Counter((people[unit], model[unit]) for unit in people)
    assert [[*row.counts.values()] for row in trust.grades] == [
        [pairs[row, column] for column in GRADES] for row in GRADES
    ]
    # How much of what is relevant to people (1 or more) the machine finds, in one query.
    [query] = {query for query, _document in people if query == trust.queries[0].key}
    relevant = [unit for unit in people if unit[0] == query and people[unit] >= 1]
    found = sum(model[unit] >= 1 for unit in relevant)
    assert (trust.queries[0].found.count, trust.queries[0].found.of) == (found, len(relevant))
    assert len(trust.queries) == 22
