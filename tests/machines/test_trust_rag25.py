"""RAG 2025 (TREC): 10,284 documents that people and a language model graded, counted again by hand.

People's grades are loaded first, so it is certain that they had not seen the machine's here. The
figures are compared with plain counts of the two files.
"""

from __future__ import annotations

import csv
from collections import Counter
from functools import partial

import pytest
from django.core.management import call_command

from annotate.models import Project
from audit.checks.claims import ClaimSelection
from audit.checks.samples import draw_sample
from audit.machines.blind_answers import Chosen
from audit.machines.certificates import certificates_of
from audit.machines.trust import trust_of
from audit.models import Check, Sample
from tests import factories

pytestmark = pytest.mark.both_databases

GRADES = range(5)


def grades_in(path):
    """Return the grades of a file of qrels by query and document."""
    with path.open(encoding="utf-8") as stream:
        columns = [line.split() for line in stream]
    return {(query, document): int(grade) for query, _, document, grade in columns}


@pytest.fixture(scope="module")
def people(shared_data):
    return grades_in(shared_data / "trec" / "qrels.rag25.test.txt")


@pytest.fixture(scope="module")
def model(shared_data):
    return grades_in(shared_data / "trec" / "qrels.rag25.test-umbrela2.txt")


@pytest.fixture(scope="module")
def machine_of_file(rows_of_file, tmp_path_factory, people, model):
    """The machine of a project into which both files were loaded, people's first."""
    load(tmp_path_factory.mktemp("loaded"), people, model)
    return Project.objects.get(slug="rag25").memberships.get(is_machine=True)


@pytest.fixture
def machine(machine_of_file, copy_rows):
    return copy_rows(machine_of_file)


def load(folder, people, model):
    """Load the grades of people and of the model as files."""
    with (folder / "people.csv").open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["query_id", "doc_id", "annotator", "relevance"])
        out.writerows((*unit, "NIST", grade) for unit, grade in people.items())
    labels = [f"{q} Q0 {d} {grade} 1 umbrela2\n" for (q, d), grade in model.items()]
    (folder / "labels.txt").write_text("".join(labels), encoding="utf-8")
    for layout, name in (("judgments-csv", "people.csv"), ("trec-labels", "labels.txt")):
        call_command(
            "load",
            "rag25",
            layout,
            str(folder / name),
            "--create",
            "--grades=0,1,2,3,4",
            verbosity=0,
        )


def test_the_figures_are_those_counted_in_the_files(machine, people, model):
    trust = trust_of(machine, Chosen.OTHERWISE)

    assert (trust.documents, trust.agreed, trust.left_out) == (10_284, 10_284, {})
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
    first = trust.queries[0]
    relevant = [unit for unit in people if unit[0] == first.key and people[unit] >= 1]
    found = sum(model[unit] >= 1 for unit in relevant)
    assert found > 0
    assert (first.found.count, first.found.of) == (found, len(relevant))
    assert len(trust.queries) == 22


def test_the_certificate_of_300_drawn_labels_holds_for_all(machine, people, model):
    """Two people answer as the file of people does, on 300 labels; the rest is the real error."""
    project = machine.project
    project.show_ids = True
    project.save()
    lead, ada, ben = factories.lead(project), *map(partial(factories.member, project), ("a", "b"))
    sample = draw_sample(
        name="Drawn",
        selection=ClaimSelection(Sample.Source.MACHINE, machine),
        stratify=Sample.Stratify.NONE,
        per=Sample.Per.STRATUM,
        size=300,
        seed=2025,
        by=lead,
    )
    columns = ("pk", "narrative__pair__query__query_id", "candidate__document__doc_id")
    Check.objects.bulk_create(
        Check(item_id=item, checker=checker, place=place, relevance=people[query, document])
        for item, query, document in sample.items.values_list(*columns)
        for place, checker in enumerate((ada, ben), start=1)
    )

    [certificate] = certificates_of(machine)

    assert (certificate.labels, certificate.checked) == (10_284, 300)
    assert certificate.certified is not None
    wrong, by_machine, by_people, combined = certificate.certified
    # Of all 10,284, counted in the files, 26.9% differ about relevance: 34.0% is a bound.
    real_error = sum((people[unit] >= 1) != (model[unit] >= 1) for unit in people) / len(people)
    real_share = sum(grade >= 1 for grade in people.values()) / len(people)
    assert by_machine == pytest.approx(sum(grade >= 1 for grade in model.values()) / len(model))
    assert wrong.at_most == pytest.approx(0.340, abs=5e-4)
    assert real_error == pytest.approx(0.269, abs=5e-4)
    for share in (by_people, combined):
        assert share.interval is not None
        assert share.interval.low <= real_share <= share.interval.high
