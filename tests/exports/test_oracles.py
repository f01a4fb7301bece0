"""Three systems made from the qrels alone show in the manifest what a set can measure."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.exports.proof.oracles import measure, ranking_measures
from exporters.exports.selection.labels import ir_evaluator
from formats.records import Qrel
from tests import factories
from tests.checks.checking import claimed_scene
from tests.exports.conftest import make_release


def lines(qrels):
    return [
        Qrel(topic, document, grade)
        for topic, grades in sorted(qrels.items())
        for document, grade in sorted(grades.items())
    ]


def measure_qrels(*, relevant=1, claims=False, **qrels):
    found = measure(
        {side: lines(its) for side, its in qrels.items()}, relevant, "file", claims=claims
    )
    return {facts["measure"]: facts for facts in found.measures}, found.warnings


def values(facts):
    return facts["oracle"], facts["ignorant"], facts["shuffled"]


def test_the_oracle_gets_the_best_p_mrr_and_the_ignorant_system_0():
    facts, warnings = measure_qrels(
        original={"q": {"a": 1, "b": 1, "c": 0, "d": 0}},
        changed={"q": {"a": 0, "b": 1, "c": 0, "d": 0}},
    )

    # a falls from rank 1 of a, b, c, d to the last rank: 1 - 1/4.
    assert values(facts["p-MRR"])[:2] == (0.75, 0.0)
    assert values(facts["nDCG@10 after"])[0] == 1.0
    # b is second: 1 / log2(3).
    assert values(facts["nDCG@10 after"])[1] == pytest.approx(0.63093, abs=1e-5)
    assert values(facts["nDCG@10 before"])[:2] == (1.0, 1.0)
    assert warnings == []


@given(
    graded=st.dictionaries(st.sampled_from("abcdefghijklmn"), st.integers(-2, 4), min_size=1),
    order=st.lists(st.sampled_from("abcdefghijklmnop"), min_size=1, unique=True),
    relevant=st.integers(1, 2),
)
def test_the_measures_of_a_ranking_are_those_of_trec_eval(graded, order, relevant):
    scores = {document: float(-rank) for rank, document in enumerate(order)}
    names = ("nDCG@10", "AP", "RR")
    expected = ir_evaluator(names, {"q": graded}, relevant)({"q": scores})

    measured = ranking_measures(order, graded, relevant)

    assert measured == pytest.approx({name: expected[name]["q"] for name in names})


def test_the_shuffle_is_the_same_every_time():
    qrels = {
        "original": {"q": {str(n): 1 for n in range(30)}},
        "changed": {"q": {str(n): n % 2 for n in range(30)}},
    }

    first, second = (values(measure_qrels(**qrels)[0]["p-MRR"]) for _ in range(2))

    assert first == second
    assert -1 < first[2] < first[0]


def test_topics_without_a_relevant_document_after_the_change_are_named():
    facts, warnings = measure_qrels(
        original={"q": {"a": 1, "b": 0}, "r": {"a": 1, "b": 1, "c": 0}},
        changed={"q": {"a": 0, "b": 0}, "r": {"a": 0, "b": 1, "c": 0}},
    )

    assert facts["nDCG@10 after"]["short_of_best"] == ["q"]
    assert warnings == [
        "No document is relevant after the change, so nDCG@10 after it is 0 for every run, in: q."
    ]


def test_topics_in_which_nothing_can_fall_are_named():
    facts, warnings = measure_qrels(original={"q": {"a": 1}}, changed={"q": {"a": 0}})

    assert values(facts["p-MRR"])[0] == 0.0
    assert facts["p-MRR"]["short_of_best"] == ["q"]
    assert any("because no other document could rank above them, in: q." in w for w in warnings)


def test_topics_in_which_a_dropped_document_keeps_a_higher_grade_are_named():
    # Relevant from 2: a drops to 1, and still ranks above b.
    facts, _warnings = measure_qrels(
        relevant=2,
        original={"q": {"a": 2, "b": 0, "c": 2}},
        changed={"q": {"a": 1, "b": 0, "c": 2}},
    )

    assert facts["p-MRR"]["short_of_best"] == ["q"]


def test_topics_that_changed_without_a_p_mrr_are_named():
    _facts, warnings = measure_qrels(
        original={"q": {"a": 2, "b": 1}, "r": {"a": 1, "b": 1, "c": 0}},
        changed={"q": {"a": 1, "b": 1}, "r": {"a": 0, "b": 1, "c": 0}},
    )

    assert warnings == [
        "p-MRR is undefined, because no document is relevant before and not after, in: q."
    ]


def test_a_document_without_a_line_does_not_count_as_dropped():
    # b is disputed: it has no line after the change.
    facts, _warnings = measure_qrels(
        original={"q": {"a": 1, "b": 1, "c": 0}}, changed={"q": {"a": 0, "c": 1}}
    )

    # a is first of a, b, c and falls to the last rank.
    assert values(facts["p-MRR"])[0] == pytest.approx(2 / 3, abs=1e-6)
    assert facts["p-MRR"]["short_of_best"] == []


def test_reversed_narratives_are_measured_by_wise_and_sicr():
    facts, warnings = measure_qrels(
        original={"q": {"a": 1, "b": 1, "c": 0}},
        changed={"q": {"a": 0, "b": 1, "c": 0}},
        reversed={"q": {"a": 1, "b": 0, "c": 0}},
    )

    # b is second, first with the instruction, last reversed: 1 - 1/20.
    assert values(facts["WISE"])[:2] == (0.95, 0.0)
    assert values(facts["SICR"])[:2] == (1.0, 0.0)
    assert warnings == []


def test_claimed_labels_are_measured_by_irs_and_nfr():
    facts, warnings = measure_qrels(
        claims=True,
        original={"q": {"a": 1, "b": 1, "c": 0}, "r": {"a": 1, "c": 0}},
        changed={"q": {"a": 0, "b": 1, "c": 0}, "r": {"a": 1, "c": 0}},
    )

    # In r nothing violates: ignoring the instruction is ideal, and IRS is 1.
    assert values(facts["IRS"])[:2] == (1.0, 0.5)
    assert facts["IRS"]["ignorant_not_zero"] == ["r"]
    assert values(facts["NFR"])[:2] == (0.0, 0.0)
    assert warnings[-1] == (
        "A run that ignores the change gets a value other than 0 for IRS, because the order of the "
        "original qrels is ideal already, in: r."
    )


def test_the_manifest_says_what_the_three_systems_get(tides, write):
    files = write(tides.project)

    oracles = files.manifest["oracles"]
    by_measure = {
        facts["measure"]: facts
        for facts in oracles["measures"]
        if facts["qrels"] == "qrels.changed.txt"
    }
    # 301: B falls from 2 to 4 of 5, é from 3 to 5: (2/4 + 2/5) / 2. Nothing dropped in 302.
    assert by_measure["p-MRR"]["oracle"] == 0.45
    assert by_measure["p-MRR"]["topics"] == 1
    assert {facts["ignorant"] for facts in oracles["measures"] if facts["measure"] == "p-MRR"} == {
        0
    }
    assert by_measure["nDCG@10 after"]["topics"] == 2
    assert json.loads(files["manifest.json"])["oracles"] == oracles


def test_the_manifest_warns_of_queries_that_measure_nothing(tides, write):
    project = tides.project
    query = factories.query(project, "305", "weirs")
    only = factories.candidate(query, "W")
    tides.judge(factories.altered(factories.pair(query)), only, tides.ada, 0)

    warnings = write(project).manifest["warnings"]

    assert any(
        sentence.startswith("No document is relevant after the change") and "305" in sentence
        for sentence in warnings
    )


def test_a_release_has_the_oracle_values_too(tides):
    held = make_release(tides, "v1").manifest

    assert held is not None
    assert held["oracles"]["measures"][0]["measure"] == "p-MRR"


def test_claims_of_machines_are_measured_by_the_file_that_has_them(db, write):
    scene = claimed_scene({"C1": {"é": 0, "A": 1, "B": 1}})

    facts = write(scene.project).manifest["oracles"]["measures"]

    assert {one["qrels"] for one in facts} == {"qrels.claimed.txt"}
    assert {"p-MRR", "IRS", "NFR"} <= {one["measure"] for one in facts}


def test_an_export_without_changes_has_no_oracle_values(db, write):
    project = factories.project("plain")
    factories.candidate(factories.query(project), "A")

    assert "oracles" not in write(project).manifest
