"""Advice on a rewritten narrative; without a database."""

from __future__ import annotations

import pytest

from annotate.rewriting.advice import (
    Advice,
    Check,
    Source,
    check_altered,
    check_copied,
    check_reversed,
    new_runs,
    split_sentences,
)

ORIGINAL = "Any plant counts. Plans for plants are also relevant. Dams are not relevant."


def check(found: list[Advice], which: Check) -> Advice:
    return next(one for one in found if one.check is which)


def test_a_narrower_narrative_has_nothing_to_look_at():
    altered = "Any plant counts, unless it stands in a river. Dams are not relevant. Only at sea."

    found = check_altered(ORIGINAL, altered)

    assert [one.check for one in found if not one.good] == []


@pytest.mark.parametrize(
    ("altered", "good"),
    [
        ("one two", False),
        ("one two three", True),
        ("one two three four", True),
    ],
)
def test_a_shorter_narrative_is_worth_a_look(altered, good):
    advice = check(check_altered("uno dos tres", altered), Check.LENGTH)

    assert (advice.good, advice.of) == (good, 3)


def test_a_removed_widening_sentence_is_named():
    advice = check(
        check_altered(ORIGINAL, "Any plant counts. Dams are not relevant."), Check.WIDENING
    )

    assert advice.good
    assert advice.found == ("Plans for plants are also relevant.",)


def test_a_sentence_that_still_widens_is_named():
    advice = check(check_altered(ORIGINAL, ORIGINAL), Check.WIDENING)

    assert not advice.good
    assert "Plans for plants are also relevant." in advice.found


def test_the_check_passes_without_widening_sentences():
    advice = check(check_altered("It must be at sea.", "It must be at sea now."), Check.WIDENING)

    assert (advice.good, advice.found) == (True, ())


def test_a_removed_limit_is_named():
    advice = check(check_altered(ORIGINAL, "Any plant counts at sea."), Check.NARROWING)

    assert not advice.good
    assert advice.found == ("Dams are not relevant.",)


def test_an_extended_limit_is_not_reported():
    altered = ORIGINAL.replace("Dams are not relevant.", "Dams are not relevant, nor are weirs.")

    assert check(check_altered(ORIGINAL, altered), Check.NARROWING).good


@pytest.mark.parametrize(
    ("added", "named"),
    [
        (" Not in rivers.", ("not",)),
        (" Only at sea, unless it doesn't work.", ("only", "unless", "doesn't")),
        (" Everything except tidal mills, excluding old ones.", ("except", "excluding")),
        (" At sea.", ()),
        (" Nothing knotted.", ()),
        ("只算海上的。", ("只",)),
    ],
)
def test_excluding_words_are_named(added, named):
    advice = check(check_altered("Any plant counts.", "Any plant counts." + added), Check.NEGATION)

    assert (advice.good, advice.found) == (bool(named), named)


def test_a_negation_of_the_original_does_not_count_as_added():
    text = "Dams are not relevant."

    advice = check(check_altered(text, text + " Weirs are."), Check.NEGATION)

    assert (advice.good, advice.found) == (False, ())


@pytest.mark.parametrize(
    ("altered", "conditions", "good"),
    [
        ("Any plant counts.", 0, False),
        ("Each plant counts.", 0, False),
        ("Any plant counts.", 1, True),
        ("Any plant at the sea counts.", 0, True),
        ("Any plant counts, not dams.", 0, True),
    ],
)
def test_the_narrative_has_to_ask_for_something_new(altered, conditions, good):
    found = check_altered("Any plant counts.", altered, conditions=conditions)

    assert check(found, Check.CONSTRAINT).good is good


@pytest.mark.parametrize(
    ("altered", "named"),
    [
        ("Any plant as in FT931-1.", ("FT931-1",)),
        ("Any plant (FT931-1) counts.", ("FT931-1",)),
        ("Any plant as in FT931-12.", ()),
        ("Any plant as in a file 7.", ("a file 7",)),
        ("Any plant of 12 MW.", ()),
    ],
)
def test_ids_of_documents_are_named(altered, named):
    found = check_altered("Any plant.", altered, ids=["FT931-1", "12", "a file 7"])

    assert check(found, Check.IDS).found == named


def test_an_id_that_the_original_names_is_not_reported():
    text = "Any plant as in FT931-1."

    assert check(check_altered(text, text + " At sea.", ids=["FT931-1"]), Check.IDS).good


EIGHT = "the barrage at sea was paid by towns"


def test_eight_words_of_a_document_in_a_row_are_named():
    documents = [Source("D1", "Long ago THE barrage, at sea, was paid by towns along the coast.")]

    advice = check_copied("Any plant.", f"Any plant where {EIGHT}.", documents, total=1)

    assert (advice.good, advice.found) == (False, (f"D1: {EIGHT}",))


def test_words_that_occur_in_several_documents_are_named_once():
    documents = [Source(f"D{number}", f"Ago {EIGHT}.") for number in range(7)]

    advice = check_copied("Any plant.", f"Any plant where {EIGHT}.", documents, total=7)

    assert advice.found == (f"D0, D1, D2, D3, D4, …: {EIGHT}",)


def test_seven_words_are_not_a_copy():
    documents = [Source("D1", "the barrage at sea was paid by cities")]

    assert check_copied("Any plant.", f"Any plant where {EIGHT}.", documents, total=1).good


def test_words_of_the_original_are_not_copied_from_a_document():
    assert check_copied(f"When {EIGHT}.", f"When {EIGHT}.", [Source("D1", EIGHT)], total=1).good


def test_signs_count_as_words_in_scripts_without_spaces():
    sixteen = "潮汐发电站建在海湾入口处并且已经投入"
    documents = [Source("D1", f"据报道，{sixteen}运行。")]

    assert not check_copied("任何电站。", f"任何电站。{sixteen}", documents, total=1).good
    assert check_copied("任何电站。", f"任何电站。{sixteen[:12]}", documents, total=1).good


def test_documents_are_not_read_if_there_is_nothing_to_look_for():
    documents = iter([Source("D1", "Any plant at sea.")])

    advice = check_copied("Any plant.", "Any plant at sea.", documents, total=9)

    assert (advice.good, advice.number, advice.of) == (True, 9, 9)
    assert next(documents).doc_id == "D1"


def test_the_search_stops_when_time_is_up_and_says_how_many_it_read():
    seconds = iter([0.0, 0.1, 0.2, 0.31])
    documents = (Source(f"D{number}", "nothing of it") for number in range(9))

    advice = check_copied("Any.", f"Any {EIGHT}.", documents, total=9, clock=lambda: next(seconds))

    assert (advice.number, advice.of) == (3, 9)


def test_the_search_stops_after_enough_text(monkeypatch):
    monkeypatch.setattr("annotate.rewriting.advice.MOST_TEXT", 20)
    documents = [Source("D1", "x" * 15), Source("D2", "x" * 15), Source("D3", EIGHT)]

    advice = check_copied("Any.", f"Any {EIGHT}.", documents, total=3)

    assert (advice.good, advice.number) == (True, 2)


@pytest.mark.parametrize(
    ("before", "after", "turned"),
    [
        ("Only plants at sea.", "Plants at sea or elsewhere.", ("Only",)),
        ("Plants at sea.", "Plants, but not at sea.", ("not",)),
        ("Plants at sea.", "Plants at the sea.", ()),
    ],
)
def test_words_that_reverse_the_meaning_are_found(before, after, turned):
    found = check_reversed(before, after)

    assert [one.check for one in found] == [Check.TURNED, Check.IDS]
    assert (found[0].good, found[0].found) == (bool(turned), turned)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two.", ["One.", "Two."]),
        ("It makes 2.5 MW. Two.", ["It makes 2.5 MW.", "Two."]),
        ("See e.g. Wales. Two.", ["See e.g. Wales.", "Two."]),
        ("In the U.S. only. Two.", ["In the U.S. only.", "Two."]),
        ("潮汐。风能。", ["潮汐。", "风能。"]),
        ("a line\nanother", ["a line", "another"]),
        (" \n", []),
    ],
)
def test_a_text_is_split_into_sentences(text, expected):
    assert split_sentences(text) == expected


@pytest.mark.parametrize(
    "text", ["a. " * 30_000, "relevant " * 11_000, "is" + " " * 90_000, "x" * 100_000]
)
def test_the_longest_narrative_is_checked_whatever_it_contains(text):
    found = check_altered("Any plant.", text, ids=["FT931-1"])

    assert check(found, Check.IDS).good
    assert new_runs(text, text) == (8, set())
