"""The documents that decide a measure when settled, and how sure the ranking of systems is."""

from __future__ import annotations

import pytest

from base.errors import Refused
from exporters.evaluations.options import read_options
from exporters.evaluations.sensitivity import largest_error, measure_disputes
from exporters.evaluations.settlements import Dispute, joint_settlements, read_disputes
from exporters.evaluations.system_measures import (
    Collection,
    PreparedCollection,
    RankedSystem,
    evaluate,
)
from jobs.runner import Cancelled

# In q, a is relevant before and not after; x is disputed. In r nothing is disputed.
ORIGINAL = {"q": {"a": 1, "b": 1, "x": 1}, "r": {"a": 1, "b": 1}}
CHANGED = {"q": {"a": 0, "b": 1}, "r": {"a": 0, "b": 1}}
X = Dispute("changed", "q", "x", (0, 0, 0, 1))


def ranked(name, before, after):
    def scores(order):
        return {document: float(9 - place) for place, document in enumerate(order)}

    return RankedSystem(
        name,
        {
            side: {topic: scores(order) for topic, order in orders.items()}
            for side, orders in (("original", before), ("changed", after))
        },
    )


# In q, a falls from 1 to 3 in both. x falls from 3 to 4 in fall, and rises to 1 in rise.
FALL = ranked("fall", {"q": "abxc", "r": "ab"}, {"q": "bcax", "r": "ab"})
RISE = ranked("rise", {"q": "abxc", "r": "ab"}, {"q": "xbac", "r": "ba"})


def measure_with_disputes(*systems, disputes=(X,), reverse=None, **options):
    collection = Collection(ORIGINAL, CHANGED, reverse or {}, {}, 1, 4)
    prepared = PreparedCollection(
        collection, read_options({name.replace("_", ".", 1): its for name, its in options.items()})
    )
    results = evaluate(prepared, systems, "")
    return results, measure_disputes(prepared, systems, disputes, results)


def p_mrr(results, name):
    return next(one for one in results["systems"] if one["name"] == name)["values"]["p-mrr"][
        "value"
    ]


def test_the_figure_is_the_largest_change_of_a_system_that_a_grade_makes():
    results, outcome = measure_with_disputes(FALL, RISE)

    # q: a 1 - 1/3; r: nothing moves in fall, a 1 - 1/2 in rise.
    assert p_mrr(results, "fall") == pytest.approx(2 / 3 / 2)
    assert p_mrr(results, "rise") == pytest.approx((2 / 3 + 1 / 2) / 2)
    [row] = outcome["deciding"]["by_measure"]["p-mrr"]
    # Settled as 0, x counts: 1/3 - 1 in rise. q is then (2/3 - 2/3) / 2 = 0, which was 2/3.
    assert (row["document"], row["system"]) == ("x", "rise")
    assert row["changes"] == {"0": pytest.approx(-1 / 3), "1": 0}
    assert row["figure"] == pytest.approx(1 / 3)


def test_settling_moves_measures_of_trec_eval_too_and_none_before_the_change():
    _results, outcome = measure_with_disputes(FALL, RISE)
    moved = outcome["deciding"]["by_measure"]

    # RR of q in rise: b is second; x, if relevant, is first: 1/2 in the mean of two topics.
    [row] = moved["RR after"]
    assert (row["system"], row["changes"]) == ("rise", {"0": 0, "1": pytest.approx(1 / 4)})
    assert moved["RR change"][0]["changes"]["1"] == pytest.approx(1 / 4)
    assert not [key for key in moved if key.endswith("before")]


def test_documents_that_move_a_measure_most_come_first():
    c = Dispute("changed", "q", "c", (0, 1))

    _results, outcome = measure_with_disputes(FALL, disputes=(c, X))

    # c was not relevant before, so p-MRR never counts it.
    rows = outcome["deciding"]["by_measure"]["p-mrr"]
    assert [(row["document"], row["figure"] > 0) for row in rows] == [("x", True), ("c", False)]


def test_a_topic_gets_a_value_when_its_document_is_settled():
    collection_of_one = Dispute("changed", "q", "a", (0, 1))
    nothing = Collection({"q": {"a": 1, "b": 1}}, {"q": {"b": 1}}, {}, {}, 1, 4)
    prepared = PreparedCollection(nothing, read_options({}))
    systems = [FALL]
    results = evaluate(prepared, systems, "")

    outcome = measure_disputes(prepared, systems, [collection_of_one], results)

    assert p_mrr(results, "fall") is None
    # There is no value to move.
    assert outcome["deciding"]["by_measure"]["p-mrr"][0]["figure"] == 0


def test_reversed_disputes_decide_which_documents_wise_follows():
    three = {"q": {"a": 5.0, "x": 4.0, "b": 3.0}}
    system = RankedSystem("one", {"original": three, "changed": three, "reversed": three})
    b = Dispute("reversed", "q", "b", (0, 1))
    collection = Collection(
        {"q": {"b": 1, "x": 1}}, {"q": {"b": 1, "x": 1}}, {"q": {"x": 0}}, {}, 1, 4
    )
    prepared = PreparedCollection(collection, read_options({}))
    results = evaluate(prepared, [system], "")

    outcome = measure_disputes(prepared, [system], [b], results)

    assert "wise" in outcome["deciding"]["by_measure"]
    assert outcome["deciding"]["by_measure"]["wise"][0]["side"] == "reversed"


def test_the_probability_that_a_system_stays_before_another_follows_the_answers():
    # Three of four people judge 0: then rise gets (0 + 1/2) / 2 = 0.25, and in fall x falls from
    # 3 to 4, so q is (2/3 + 1/4) / 2, which gives (11/24) / 2 = 0.229.
    _results, outcome = measure_with_disputes(FALL, RISE, settling_resamples="4000")

    [place] = [outcome["places"]["by_measure"]["p-mrr"]]
    assert place["order"] == ["rise", "fall"]
    # As 0: 0.25 before 0.229. As 1: 0.583 before 0.333. Either way, rise stays first.
    assert place["before"] == {"rise": {"fall": 1.0}, "fall": {}}
    assert place["judgments"] == 0


def test_an_order_that_depends_on_one_document_needs_one_settlement():
    # RR after: in q, fall has b first; rise has b second, or x first if x is relevant.
    half = Dispute("changed", "q", "x", (0, 1))

    _results, outcome = measure_with_disputes(
        FALL, RISE, disputes=(half,), settling_resamples="4000"
    )

    place = outcome["places"]["by_measure"]["RR after"]
    # q: 1 in fall; 1/2 or 1 in rise. r: 1/2 in fall, 1 in rise. In total: fall always has 0.75,
    # rise 0.75 as 0 (a tie, counted half) and 1 as 1: rise is first with 1/2 + 1/4.
    assert place["order"] == ["fall", "rise"]
    assert place["before"]["fall"]["rise"] == pytest.approx(0.25, abs=0.03)
    assert (place["judgments"], place["documents"]) == (1, 1)


def test_an_order_that_depends_on_one_of_many_documents_needs_one_settlement():
    # No system ranks the nine other documents: there are too many combinations of grades.
    others = [Dispute("changed", "q", f"z{number}", (0, 1)) for number in range(9)]
    half = Dispute("changed", "q", "x", (0, 1))

    _results, outcome = measure_with_disputes(
        FALL, RISE, disputes=(half, *others), settling_measure="RR after"
    )

    place = outcome["places"]["by_measure"]["RR after"]
    assert place["before"]["fall"]["rise"] == pytest.approx(0.25, abs=0.03)
    assert (place["judgments"], place["documents"]) == (1, 10)
    assert outcome["places"]["by_measure"]["AP after"]["judgments"] is None


def test_the_same_seed_gives_the_same_probabilities():
    half = Dispute("changed", "q", "x", (0, 1))

    first, again, other = (
        measure_with_disputes(FALL, RISE, disputes=(half,), settling_seed=seed)[1]["places"]
        for seed in "001"
    )

    assert first == again != other


def test_every_combination_of_grades_is_tried_with_its_probability():
    c = Dispute("changed", "q", "c", (0, 1))

    combined = joint_settlements([X, c], systems=2, seed=0, resamples=1_000)

    weights = {
        tuple(grade for _, grade in settlement): weight
        for settlement, weight in combined["q"].every
    }
    assert weights == {(0, 0): 3 / 8, (0, 1): 1 / 8, (1, 0): 3 / 8, (1, 1): 1 / 8}


def test_many_combinations_of_grades_are_sampled():
    many = [Dispute("changed", "q", f"d{number:02}", (0, 1)) for number in range(20)]

    drawn = joint_settlements(many, systems=2, seed=0, resamples=1_000)["q"]

    assert len(drawn.every) == 1_000
    assert sum(weight for _, weight in drawn.every) == pytest.approx(1)
    assert not drawn.complete
    assert drawn == joint_settlements(many, systems=2, seed=0, resamples=1_000)["q"]


def test_probabilities_of_many_combinations_differ_by_seed_as_little_as_the_draws_allow():
    # There are 2^13 combinations of grades; only x matters, so fall is first in a quarter of them.
    others = [Dispute("changed", "q", f"z{number}", (0, 1)) for number in range(12)]
    half = Dispute("changed", "q", "x", (0, 1))

    outcomes = [
        measure_with_disputes(FALL, RISE, disputes=(half, *others), settling_seed=str(seed))[1]
        for seed in range(6)
    ]

    found = [its["places"]["by_measure"]["RR after"]["before"]["fall"]["rise"] for its in outcomes]
    assert found == [pytest.approx(0.25, abs=0.03)] * 6
    assert outcomes[0]["places"]["error"] == pytest.approx(0.0158, abs=1e-4)


def test_the_error_of_probabilities_includes_that_of_few_settlements():
    many = [Dispute("changed", "q", f"d{number:02}", (0, 1)) for number in range(20)]

    few = joint_settlements(many, systems=625, seed=0, resamples=1_000)

    assert len(few["q"].every) == 64
    # 1/2 sqrt(1/1,000 + 1/64)
    assert largest_error(few, 1_000) == pytest.approx(0.0645, abs=1e-4)
    assert largest_error({}, 1_000) == pytest.approx(0.0158, abs=1e-4)


def test_there_are_no_deciding_documents_or_probabilities_without_disputes():
    _results, outcome = measure_with_disputes(FALL, RISE, disputes=())

    assert outcome["deciding"] == {"disputed": 0, "tried": 0, "measure": "", "by_measure": {}}
    assert outcome["places"]["by_measure"] == {}


def test_a_dispute_of_a_topic_that_is_not_measured_is_counted_and_not_tried():
    _results, outcome = measure_with_disputes(FALL, disputes=(X, X._replace(topic="gone")))

    assert (outcome["deciding"]["disputed"], outcome["deciding"]["tried"]) == (2, 1)


def test_the_measure_of_the_queue_is_an_option():
    assert measure_with_disputes(FALL)[1]["deciding"]["measure"] == "p-mrr"
    _results, outcome = measure_with_disputes(FALL, settling_measure="RR after")

    assert outcome["deciding"]["measure"] == "RR after"
    with pytest.raises(Refused, match=r"settling\.measure is wise, which is not measured;"):
        measure_with_disputes(FALL, settling_measure="wise")


def test_disputes_are_read_from_the_export(tmp_path):
    path = tmp_path / "disputed.tsv"
    path.write_text(
        "query_id\tpair_id\tnarrative\tdoc_id\tgrades\n"
        "q\tq_1\taltered\tx\t0,1\n"
        "q\tq_1\treversed\ty\t1,2\n"
        "q\tq_1\toriginal\tz\t0,1\n"
    )

    assert read_disputes(path) == [
        Dispute("changed", "q_1", "x", (0, 1)),
        Dispute("reversed", "q_1", "y", (1, 2)),
    ]


def test_cancelled_work_stops_while_settlements_are_measured():
    collection = Collection(ORIGINAL, CHANGED, {}, {}, 1, 4)
    prepared = PreparedCollection(collection, read_options({}))
    results = evaluate(prepared, [FALL], "")

    def check():
        raise Cancelled

    with pytest.raises(Cancelled):
        measure_disputes(prepared, [FALL], [X], results, check)
