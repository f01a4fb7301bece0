"""Measuring systems by their runs: values, differences, and refused options."""

from __future__ import annotations

import ir_measures
import pytest

from annotate.models import Run
from exporters.evaluations.options import read_options
from exporters.evaluations.system_measures import (
    Collection,
    PreparedCollection,
    RankedSystem,
    evaluate,
    measure_system,
)
from exporters.evaluations.systems import propose_systems, side_of

ORIGINAL = {"q_1": {"a": 1, "b": 1, "c": 0, "d": 0}, "r_1": {"a": 1, "b": 1, "c": 0}}
CHANGED = {"q_1": {"a": 0, "b": 1, "c": 0, "d": 0}, "r_1": {"a": 0, "b": 2, "c": 0}}
REVERSED = {"q_1": {"a": 1, "b": 0}, "r_1": {"a": 1, "b": 0}}
GOOD = {"original": ("abcd", "abc"), "changed": ("bcda", "bca"), "reversed": ("adcb", "acb")}
STILL = {"original": ("abcd", "abc"), "changed": ("abcd", "abc"), "reversed": ("abcd", "abc")}


def ranked(name, orders):
    return RankedSystem(
        name,
        {
            side: {
                topic: {document: float(9 - place) for place, document in enumerate(order)}
                for topic, order in zip(("q_1", "r_1"), its, strict=True)
            }
            for side, its in orders.items()
        },
    )


def evaluate_systems(*systems, reverse=None, claimed=None, baseline="", **options):
    texts = {f"{key.replace('_', '-', 1)}": value for key, value in options.items()}
    collection = Collection(ORIGINAL, CHANGED, reverse or {}, claimed or {}, 1, 4)
    return evaluate(PreparedCollection(collection, read_options(texts)), systems, baseline)


def values(found, system=0):
    return {key: one["value"] for key, one in found["systems"][system]["values"].items()}


def test_a_system_that_follows_has_a_p_mrr_above_0_and_one_that_does_not_0():
    found = evaluate_systems(ranked("good", GOOD), ranked("still", STILL))

    # a falls from rank 1 to 4 and from 1 to 3: (3/4 + 2/3) / 2.
    assert values(found)["p-mrr"] == pytest.approx((3 / 4 + 2 / 3) / 2)
    assert values(found, 1)["p-mrr"] == 0


def evaluate_one_core_query(*systems):
    cores = {"q_1": "c", "r_1": "c"}
    collection = Collection(ORIGINAL, CHANGED, REVERSED, {}, 1, 4, cores)
    return evaluate(PreparedCollection(collection, read_options({})), systems, "")


def test_robustness_is_the_least_ndcg_of_the_topics_of_a_core_query():
    [values_of_good, values_of_still] = [
        values(evaluate_one_core_query(ranked("good", GOOD), ranked("still", STILL)), place)
        for place in (0, 1)
    ]

    # b is first in both topics, or second in both: 1 / log2(3).
    assert values_of_good["robustness"] == 1
    assert values_of_still["robustness"] == pytest.approx(0.6309, abs=1e-4)


def test_topics_that_share_no_core_query_have_no_robustness():
    assert "robustness" not in values(evaluate_systems(ranked("good", GOOD)))


def test_wise_counts_the_documents_that_are_relevant_to_the_core_query():
    alone = values(evaluate_systems(ranked("good", GOOD), reverse=REVERSED))
    grouped = values(evaluate_one_core_query(ranked("good", GOOD)))

    # b rises from rank 2 to 1: the full reward among the N = 2 (a and b), else 1 - 1/20.
    assert (alone["wise"], grouped["wise"]) == (pytest.approx(0.95), 1)


def test_measures_by_conditions_follow_the_gold_document_and_the_first_documents():
    verdicts = {
        "q_1": {"b": {"1": True, "2": True}, "a": {"1": True, "2": False}},
        "r_1": {"b": {"1": True, "2": False}, "c": {"1": False, "2": False}},
    }
    dimensions = dict.fromkeys(("q_1", "r_1"), ("1", "2"))
    collection = Collection(ORIGINAL, CHANGED, REVERSED, {}, 1, 4, {}, verdicts, dimensions)

    found = values(
        evaluate(PreparedCollection(collection, read_options({})), [ranked("good", GOOD)], "")
    )

    # b rises from rank 2 to 1, and to the reward s/m (1 - sqrt(1/10)): it meets 2 of 2, and 1 of 2.
    reward = 1 - (1 / 10) ** 0.5
    assert found["m-wise"] == pytest.approx((reward + reward / 2) / 2)
    assert found["m-sicr"] == found["sicr"]
    # b meets all conditions in q_1; in r_1 no document does.
    assert found["mdcr"] == 0.5


def test_ndcg_before_and_after_is_that_of_ir_measures():
    system = ranked("good", GOOD)
    measure = ir_measures.parse_measure("nDCG@10")

    found = values(evaluate_systems(system))

    for when, side, qrels in (("before", "original", ORIGINAL), ("after", "changed", CHANGED)):
        run = dict(system.runs[side])
        alone = ir_measures.calc_aggregate([measure], qrels, run)[measure]
        assert found[f"nDCG@10 {when}"] == pytest.approx(alone, abs=1e-12)
    assert found["nDCG@10 change"] == pytest.approx(
        found["nDCG@10 after"] - found["nDCG@10 before"]
    )


def test_reversed_runs_are_measured_by_wise_and_sicr():
    found = values(evaluate_systems(ranked("good", GOOD), reverse=REVERSED))

    # b rises from 2 to 1 and is last when reversed: 1 - 1/20.
    assert found["wise"] == pytest.approx(0.95)
    assert found["sicr"] == 1


def test_claimed_labels_are_measured_by_irs_and_nfr():
    found = values(evaluate_systems(ranked("good", GOOD), claimed=CHANGED))

    assert found["nfr"] == 0
    assert 0.9 < found["irs"] <= 1


def test_a_topic_without_complying_or_violating_documents_has_an_irs_of_0():
    # In r_1 nothing was relevant, and nothing is claimed to be.
    collection = Collection(
        {**ORIGINAL, "r_1": {"c": 0}}, CHANGED, {}, {**CHANGED, "r_1": {"c": 0}}, 1, 4
    )
    prepared = PreparedCollection(collection, read_options({}))

    found = measure_system(prepared, ranked("good", GOOD).scores)

    assert found["irs"].by_query["r_1"] == 0
    assert found["irs"].n == 2
    assert found["nfr"].n == 1


def test_a_system_without_a_changed_run_has_only_values_before():
    found = values(
        evaluate_systems(RankedSystem("half", {"original": ranked("half", GOOD).runs["original"]}))
    )

    assert "nDCG@10 before" in found
    assert not {"p-mrr", "nDCG@10 after", "nDCG@10 change"} & found.keys()


def test_a_topic_that_a_run_lacks_counts_as_0_with_a_warning():
    system = ranked("good", GOOD)
    changed = {"q_1": system.runs["changed"]["q_1"]}

    found = evaluate_systems(RankedSystem("good", {**system.runs, "changed": changed}))

    one = found["systems"][0]["values"]["nDCG@10 after"]
    assert one["value"] == 0.5
    assert one["warnings"] == ["the changed run lacks 1 query (r_1), which count as 0"]


def test_differences_are_those_from_the_baseline_with_holm():
    other = ranked("other", GOOD)

    found = evaluate_systems(ranked("good", GOOD), ranked("still", STILL), other, baseline="still")

    good, same = found["differences"]["p-mrr"]["good"], found["differences"]["p-mrr"]["other"]
    assert good["difference"] == pytest.approx((3 / 4 + 2 / 3) / 2)
    # Two queries: two of four assignments of signs are as far from 0; Holm doubles p.
    assert (good["p"], good["p_holm"], same["p_holm"]) == (0.5, 1.0, 1.0)
    assert "still" not in found["differences"]["p-mrr"]


def test_the_paired_t_test_is_used_if_requested():
    found = evaluate_systems(
        ranked("good", GOOD),
        ranked("still", STILL),
        baseline="still",
        **{"differences.test": "t"},
    )

    # Differences 3/4 and 2/3: m = 17/24, s = sqrt(2)/24, t = 17 with one degree of freedom.
    assert found["differences"]["p-mrr"]["good"]["p"] == pytest.approx(0.0374, abs=1e-4)


def test_options_reach_their_measure():
    found = evaluate_systems(
        ranked("good", GOOD),
        **{"p_mrr.documents": "changed", "ir.measures": "nDCG@3 AP"},
    )

    # b is graded 2 in r_1 and rises from 2 to 1, which counts as a loss of 1/2 there.
    assert values(found)["p-mrr"] == pytest.approx((3 / 4 + (2 / 3 - 1 / 2) / 2) / 2)
    assert found["systems"][0]["values"]["p-mrr"]["options"]["documents"] == "changed"
    assert {"nDCG@3 before", "AP after"} <= values(found).keys()
    assert "nDCG@10 before" not in values(found)


def test_a_measure_of_ir_measures_has_a_value_under_each_of_its_names():
    measured = values(evaluate_systems(ranked("good", GOOD), **{"ir.measures": "MAP AP"}))

    assert measured["AP after"] is not None
    assert measured["MAP after"] == measured["AP after"]


def test_rbp_is_measured_before_and_after_with_equal_scores_as_in_trec_eval():
    tied = RankedSystem("tied", {"original": {"q_1": dict.fromkeys("abcd", 1.0)}})

    found = values(evaluate_systems(ranked("good", GOOD), tied))

    # In each topic a and b are relevant before, at ranks 1 and 2: 0.2 (1 + 0.8).
    assert found["RBP before"] == pytest.approx(0.36)
    # Only b, at rank 1 in both topics.
    assert found["RBP after"] == pytest.approx(0.2)
    # d, c, b, a: b and a at ranks 3 and 4, and nothing in r_1.
    both = 0.2 * (0.8**2 + 0.8**3)
    assert values(evaluate_systems(tied))["RBP before"] == pytest.approx(both / 2)


def test_every_measure_orders_equal_scores_by_descending_id_as_trec_eval_does():
    tied = RankedSystem("tied", {"original": {"q_1": {"a": 1.0, "z": 1.0, "y": 1.0}}})

    found = values(
        evaluate_systems(tied, **{"ir.measures": "Judged@1 Judged@3 P@1 RR RR@10 Compat(p=0.5)"})
    )

    # The ranking is z, y, a; only a is judged, and relevant. r_1 is not in the run: P and RR are 0.
    assert (found["Judged@1 before"], found["Judged@3 before"]) == (0, pytest.approx(1 / 3 / 2))
    assert found["P@1 before"] == 0
    assert found["RR before"] == found["RR@10 before"] == pytest.approx(1 / 3 / 2)
    # Nothing relevant at rank 1: its share of the overlap is missing.
    assert found["Compat(p=0.5) before"] < 0.2


def test_intervals_are_over_queries_if_requested():
    collection = Collection(ORIGINAL, CHANGED, {}, {}, 1, 4)
    prepared = PreparedCollection(
        collection, read_options({"intervals.clusters": "query"}), {"q_1": "q", "r_1": "q"}
    )

    found = evaluate(prepared, [ranked("good", GOOD), ranked("still", STILL)], "still")

    one = found["systems"][0]["values"]["p-mrr"]
    assert one["note"] == "no interval: resampling needs at least two clusters"
    # One query: both of its two assignments of a sign are as far from 0.
    assert found["differences"]["p-mrr"]["good"]["p"] == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"differences.test": "sign"}, "differences.test must be randomization or t, not sign"),
        (
            {"differences.test": "t", "intervals.clusters": "query"},
            "differences.test=t treats pairs as independent",
        ),
        ({"intervals.clusters": "topic"}, "intervals.clusters must be pair, query or core, not"),
        ({"settling.resamples": "5"}, "settling.resamples must be a number from 100 to 100,000"),
        ({"settling.seed": "one"}, "settling.seed must be a whole number of at least 0, not one"),
        (
            {"settling.measure": "foo"},
            "irs, nfr, nDCG@10 before, nDCG@10 after, nDCG@10 change, AP before, AP after, AP",
        ),
        (
            {"settling.measure": "AP after", "ir.measures": "RR P@5"},
            "P@5 before, P@5 after, P@5 change, Judged@10 before, Judged@10 after, not AP after",
        ),
        ({"ir.measures": "RBP(p=2)"}, "'RBP(p=2)' is not a measure"),
        ({"documents": "changed"}, "documents is not an option: write MEASURE.OPTION=VALUE"),
        ({"mmr.k": "1"}, "where MEASURE is one of p-mrr"),
        ({"p-mrr.k": "1"}, "p-mrr has no option 'k'; it has documents, missing, ties"),
        ({"p-mrr.ties": "random"}, "ties is 'id_descending' or 'file', not 'random'"),
        ({"p-mrr.original": "x"}, "p-mrr has no option 'original'"),
        ({"wise.K": "many"}, "wise does not accept K=many"),
        ({"irs.resamples": "999999999"}, "irs.resamples is at most 100,000"),
        ({"ir.measures": "nDCG@999999"}, "'nDCG@999999' is not a measure"),
        ({"ir.measures": "nDCG@ten"}, "'nDCG@ten' is not a measure that ir_measures can compute"),
        ({"ir.measures": "nDCG@0"}, "'nDCG@0' is not a measure that ir_measures can compute"),
        ({"ir.measures": "Judged@0"}, "'Judged@0' is not a measure that ir_measures can compute"),
        ({"ir.measures": "Accuracy"}, "'Accuracy' is not a measure that ir_measures can compute"),
        ({"robustness.k": "0"}, "robustness.k must be a number from 1 to 10,000, not 0"),
        ({"robustness.k": "none"}, "robustness.k must be a number from 1 to 10,000, not None"),
        ({"p-mrr.seed": "-1"}, "p-mrr.seed must be a number from 0 to 999,999,999, not -1"),
        ({"wise.N": "many"}, "wise.N must be a number from 1 to 999,999,999, not many"),
        ({"irs.tables": "0"}, "irs.tables must be a number from 1 to 999,999,999, not 0"),
        ({"ir.measures": "SDCG"}, "'SDCG' is not a measure that ir_measures can compute"),
    ],
)
def test_invalid_options_are_refused(options, sentence):
    with pytest.raises(ValueError, match=r".") as refused:
        read_options(options)

    assert sentence in str(refused.value)


def test_a_run_that_was_loaded_as_reversed_is_the_reversed_one_whatever_its_name_says():
    assert side_of(make_run("bm25.changed.run", Run.Side.REVERSED)) == "reversed"


def make_run(name, side=Run.Side.ORIGINAL, tag="t"):
    return Run(name=name, side=side, tag=tag)


def runs_by_system(runs):
    return {
        system.name: {side: run.name for side, run in system.runs.items()}
        for system in propose_systems(runs)
    }


def test_runs_belong_together_by_their_names_without_words_for_a_side():
    altered = Run.Side.ALTERED

    assert runs_by_system(
        [
            make_run("bm25.original.run"),
            make_run("bm25.changed.run", altered),
            make_run("e5_ori.run", tag="u"),
            make_run("e5_rev.run", altered, tag="u"),
        ]
    ) == {
        "bm25": {"original": "bm25.original.run", "changed": "bm25.changed.run"},
        "e5": {"original": "e5_ori.run", "reversed": "e5_rev.run"},
    }


def test_the_size_of_a_model_is_no_side():
    altered = Run.Side.ALTERED
    original, changed = make_run("bge-base.original.run"), make_run("bge-base.run", altered)

    assert side_of(changed) == "changed"
    assert side_of(make_run("bm25.base.run")) == "original"
    assert runs_by_system([original, changed]) == {
        "bge-base": {"original": "bge-base.original.run", "changed": "bge-base.run"}
    }
    assert list(runs_by_system([make_run("bm25.base.run"), make_run("bm25.ins.run")])) == ["bm25"]


def test_runs_whose_names_say_nothing_belong_together_by_their_tags():
    runs = [make_run("one.run", tag="e5"), make_run("two.run", Run.Side.ALTERED, tag="e5")]

    assert runs_by_system(runs) == {"e5": {"original": "one.run", "changed": "two.run"}}


def test_runs_named_by_their_side_alone_belong_together_by_their_tags_without_it():
    runs = [make_run("ori.run", tag="bm25-ori"), make_run("ins.run", tag="bm25-ins")]

    assert runs_by_system(runs) == {"bm25": {"original": "ori.run", "changed": "ins.run"}}


def test_runs_of_the_same_side_are_separate_systems():
    runs = [make_run("a.run"), make_run("b.run")]

    assert list(runs_by_system(runs)) == ["a", "b"]


def test_a_run_over_instructions_is_a_changed_one_unless_its_name_says_otherwise():
    altered = Run.Side.ALTERED

    assert side_of(make_run("x.run", altered)) == "changed"
    assert side_of(make_run("x.original.run", altered)) == "original"
    assert side_of(make_run("x.reversed.run", altered)) == "reversed"
    assert side_of(make_run("x.run")) == "original"
    assert side_of(make_run("ins.run")) == "changed"
