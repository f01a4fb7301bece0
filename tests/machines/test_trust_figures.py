"""The figures of a machine beside people: each can be counted by hand in the fixtures."""

from __future__ import annotations

import pytest

from audit.machines.blind_answers import Chosen
from audit.machines.trust import trust_of
from tests import factories
from tests.checks.checking import check_label, draw
from tests.machines.conftest import judge

pytestmark = pytest.mark.both_databases


def value(measured, key):
    """Return one of several coefficients."""
    (figure,) = [one.figure for one in measured if one.key == key]
    return figure.value


def test_the_machine_is_compared_with_what_people_agree_on(judged):
    trust = trust_of(judged.model, Chosen.OTHERWISE)

    assert (trust.documents, trust.answers, trust.people, trust.agreed) == (6, 12, 2, 5)
    # People: 0 2 2 0 0; machine: 0 1 2 0 1. Chance: (3*2 + 0*2 + 2*1) / 25.
    assert value(trust.with_agreed, "percent") == pytest.approx(3 / 5)
    assert value(trust.with_agreed, "cohen") == pytest.approx((0.6 - 0.32) / (1 - 0.32))
    assert all(one.figure.interval or one.figure.interval_note for one in trust.with_agreed)


def test_people_are_compared_with_each_other_on_the_same_documents(judged):
    trust = trust_of(judged.model, Chosen.OTHERWISE)

    assert value(trust.among_people, "percent") == pytest.approx(5 / 6)
    assert {one.figure.units for one in trust.among_people} == {6}


def test_each_person_and_the_machine_are_measured_by_the_others(judged):
    ada, ben = trust_of(judged.model, Chosen.OTHERWISE).each

    assert (ada.name, ada.documents, ada.compared) == ("ada", 6, 6)
    assert value(ada.with_machine, "percent") == pytest.approx(4 / 6)
    assert value(ben.with_machine, "percent") == pytest.approx(3 / 6)
    assert value(ada.with_others, "percent") == pytest.approx(5 / 6)
    # Ben's grades are 0 2 2 0 0 0, the machine's 0 1 2 2 0 1.
    assert value(ada.machine_with_others, "percent") == pytest.approx(3 / 6)


def test_one_person_alone_has_nobody_to_agree_with(scene):
    judge(scene, "A", ada=0)

    trust = trust_of(scene.model, Chosen.OTHERWISE)

    (percent, *_rest) = trust.among_people
    assert percent.figure.value is None
    assert percent.figure.note.startswith("undefined:")
    assert value(trust.with_agreed, "percent") == 1


def test_grades_are_crossed_with_a_row_for_documents_on_which_people_differ(judged):
    trust = trust_of(judged.model, Chosen.OTHERWISE)

    assert trust.scale == [0, 1, 2]
    assert [(row.people, [*row.counts.values()]) for row in trust.grades] == [
        (0, [2, 1, 0]),
        (1, [0, 0, 0]),
        (2, [0, 1, 1]),
        (None, [0, 0, 1]),
    ]


def test_shares_by_category_and_query(judged):
    trust = trust_of(judged.model, Chosen.OTHERWISE)

    counts = {
        part.key: [(share.count, share.of) for share in (part.same, part.found, part.confirmed)]
        for part in [trust.whole, *trust.categories]
    }
    assert counts == {
        "": [(3, 5), (2, 2), (2, 3)],
        "C1": [(2, 3), (2, 2), (2, 2)],
        "S1": [(1, 2), (0, 0), (0, 1)],
    }
    assert [part.key for part in trust.queries] == ["301", "302"]
    none_relevant = trust.categories[1].found
    assert (none_relevant.share, none_relevant.note) == (None, "undefined: nothing was looked at")


def test_drawn_labels_are_counted_apart_with_their_chance_of_being_drawn(judged):
    sample = draw(judged, size=2)
    drawn = sorted(item.candidate.document.doc_id for item in sample.items.all())
    for doc_id in drawn:
        check_label(sample, doc_id, ada=0, dan=0)

    trust = trust_of(judged.model, Chosen.DRAWN)

    assert (trust.documents, trust.people) == (4, 2)
    assert [(one.name, one.stratum, one.drawn, one.frame) for one in trust.strata] == [
        ("Spot checks", "C1", 2, 4),
        ("Spot checks", "S1", 2, 4),
    ]
    assert trust_of(judged.model, Chosen.OTHERWISE).strata == []


def test_machines_are_compared_on_shared_documents(judged):
    newer = factories.machine(judged.project, "newer")
    for doc_id, grade in {"A": 0, "B": 2, "D": 2, "G": 2}.items():
        category = "C1" if doc_id < "E" else "S1"
        factories.judgment(judged.narratives[category], judged.candidates[doc_id], newer, grade)

    (beside,) = trust_of(judged.model, Chosen.OTHERWISE).beside

    # Nobody has judged G. People agree on A and B only; on B the older machine differs from them.
    assert (beside.name, beside.shared, beside.differing, beside.compared) == ("newer", 3, 1, 2)
    assert beside.kappa.figure.value == pytest.approx((0.5 - 0.25) / (1 - 0.25))
    assert beside.other_kappa.figure.value == 1


def test_machines_are_compared_on_drawn_documents(scene):
    newer = factories.machine(scene.project, "newer")
    factories.judgment(scene.narratives["C1"], scene.candidates["A"], newer, 0)
    check_label(draw(scene, size=4), "A", ada=0, ben=0)

    (beside,) = trust_of(scene.model, Chosen.DRAWN).beside

    assert (beside.shared, beside.differing, beside.compared) == (1, 0, 1)


@pytest.mark.parametrize("chosen", list(Chosen))
def test_a_machine_without_people_has_figures_with_reasons(scene, chosen):
    trust = trust_of(scene.model, chosen)

    assert (trust.documents, trust.left_out, trust.each) == (0, {}, [])
    assert all(one.figure.note.startswith("undefined:") for one in trust.with_agreed)


def test_the_number_of_queries_does_not_depend_on_what_is_there(
    judged, django_assert_max_num_queries
):
    for name in ("newer", "newest"):
        machine = factories.machine(judged.project, name)
        for doc_id in "ABCD":
            factories.judgment(judged.narratives["C1"], judged.candidates[doc_id], machine, 1)

    with django_assert_max_num_queries(9):
        trust_of(judged.model, Chosen.OTHERWISE)
