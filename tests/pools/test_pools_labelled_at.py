"""labelled@k of a run is the share of its first k documents that have a label."""

from __future__ import annotations

import pytest

from annotate.collection.removal import QUERIES
from annotate.models import Candidate, Document, Pool, Project
from annotate.pools.actions import count_pool, recipe_of
from annotate.pools.labelled import labelled_at
from base.errors import Refused
from exporters.evaluations.system_measures import IrMeasures
from exporters.exports.actions import write
from measures import Scores
from tests import factories
from tests.pools.pooling import make, two_runs

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def project(db):
    return factories.project(judge_scope=Project.Scope.POOL)


def shares(project, *cutoffs):
    return {one.run: (one.topics, one.labelled) for one in labelled_at(project, cutoffs)}


def test_earlier_relevance_and_judgments_of_people_are_labels(project):
    make(project, runs=two_runs(project), depth=4)
    query = project.queries.get(query_id="301")
    pair = factories.pair(query)
    Candidate.objects.filter(query=query, document__doc_id="B").update(prior_relevance=0)
    candidate = Candidate.objects.get(query=query, document__doc_id="C")
    factories.judgment(factories.altered(pair), candidate, factories.member(project, "ada"), 1)

    # ance ranks A B C D, bm25 B E A F; nothing of 302 has a label, so it does not count.
    assert shares(project, 2, 4) == {
        "ance.run": (1, {2: 0.5, 4: 0.5}),
        "bm25.run": (1, {2: 0.5, 4: 0.25}),
    }


def test_a_run_shorter_than_the_cutoff_is_divided_by_its_length(project):
    make(project, runs=two_runs(project), depth=4)
    document = Document.objects.get(doc_id="X")
    Candidate.objects.filter(document=document).update(prior_relevance=1)

    # ance has two documents for 302.
    assert shares(project, 100)["ance.run"] == (1, {100: 0.5})


def test_a_disputed_document_has_a_label_but_no_line_in_the_qrels(project, tmp_path):
    make(project, runs=two_runs(project), depth=4)
    query = project.queries.get(query_id="301")
    Candidate.objects.filter(query=query).update(prior_relevance=1)
    narrative = factories.altered(factories.pair(query, pair_id="p"))
    for name, grades in (("ada", {"A": 1, "B": 1}), ("ben", {"A": 1, "B": 0})):
        judge = factories.member(project, name)
        for doc_id, grade in grades.items():
            candidate = Candidate.objects.get(query=query, document__doc_id=doc_id)
            factories.judgment(narrative, candidate, judge, grade)

    write(project, "trec", tmp_path)

    # ance ranks A before B, on which ada and ben differ.
    assert shares(project, 2)["ance.run"] == (1, {2: 1.0})
    assert (tmp_path / "qrels.changed.txt").read_text() == "p 0 A 1\n"
    ranking = Scores({"p": {"A": 2.0, "B": 1.0}}, "ance.run")
    of_qrels = IrMeasures(("Judged@2",), {"p": {"A": 1}}, relevant=1)
    assert of_qrels.values(ranking) == {"Judged@2": {"p": 0.5}}


def test_a_judgment_of_a_document_that_is_not_put_before_judges_is_a_label(project):
    make(project, runs=two_runs(project), depth=4)
    query = project.queries.get(query_id="301")
    narrative = factories.altered(factories.pair(query))
    ada = factories.member(project, "ada")
    for candidate in Candidate.objects.filter(query=query, document__doc_id__in=["A", "B"]):
        factories.judgment(narrative, candidate, ada, 1)
    before = shares(project, 2)

    # From now on only documents that were relevant before are judged; A and B have no earlier one.
    project.judge_scope = Project.Scope.RELEVANT
    project.save()

    # ance ranks A B, bm25 B E.
    assert before == {"ance.run": (1, {2: 1.0}), "bm25.run": (1, {2: 0.5})}
    assert shares(project, 2) == before
    recipe = recipe_of(project=project, method=Pool.Method.JUDGED, runs=[])
    assert count_pool(recipe)["judged"] == 2


def test_a_query_that_was_taken_out_is_no_topic(project):
    make(project, runs=two_runs(project), depth=4)
    Candidate.objects.update(prior_relevance=1)
    taken_out = project.queries.get(query_id="302")
    QUERIES.remove(project=project, keys=[taken_out.pk], reason="Too vague.", by=None)

    assert shares(project, 2)["ance.run"] == (1, {2: 1.0})


def test_labelled_at_k_is_undefined_without_a_label(project):
    two_runs(project)

    assert shares(project, 10)["ance.run"] == (0, {10: None})


@pytest.mark.parametrize("cutoffs", [(), (0,), (10_001,)])
def test_invalid_cutoffs_are_refused(project, cutoffs):
    with pytest.raises(Refused, match="cutoffs"):
        labelled_at(project, cutoffs)
