"""Which documents are repeated, where, and under which number. No database."""

from __future__ import annotations

import random

import pytest

from annotate.judgments.repeats import Spot, chance, count_repeats, gap, mask, plan_repeats, unmask


def pool(size: int) -> list[tuple[int, str]]:
    return [(10 + at, f"D{at:03}") for at in range(size)]


def repeated_candidates(spots: list[Spot]) -> list[int]:
    return [spot.candidate for spot in spots if spot.again]


@pytest.mark.parametrize(
    ("size", "others"), [(1, 2), (3, 2), (5, 2), (10, 5), (39, 19), (40, 20), (500, 20)]
)
def test_a_repeat_is_half_a_small_pool_away_and_twenty_documents_in_a_large_one(size, others):
    assert gap(size) == others


@pytest.mark.parametrize(
    ("size", "percent", "draw", "repeats"),
    [
        (500, 10, 0, 50),
        (500, 10, 99, 50),
        (505, 10, 49, 50),  # 50.5: the chance decides
        (505, 10, 50, 51),
        (5, 10, 49, 0),  # half a document: one in every second pool
        (5, 10, 50, 1),
        (5, 50, 99, 3),
        (4, 50, 99, 2),
        (3, 50, 99, 1),  # after the second there are not two others
        (2, 50, 99, 0),
        (1, 50, 99, 0),
        (0, 50, 99, 0),
        (500, 0, 99, 0),
    ],
)
def test_the_number_of_repeats(size, percent, draw, repeats):
    assert count_repeats(size, percent, draw) == repeats


def test_over_many_small_pools_the_percentage_holds():
    draws = [
        len(repeated_candidates(plan_repeats(pool(5), percent=10, words=f"7:ada:{one}:altered:1")))
        for one in range(2_000)
    ]

    # Half a document each: about a thousand in all (22 is one standard deviation).
    assert set(draws) == {0, 1}
    assert 900 < sum(draws) < 1_100


@pytest.mark.parametrize("size", [3, 4, 5, 8, 39, 40, 41, 500])
@pytest.mark.parametrize("percent", [1, 10, 50])
def test_each_repeat_comes_once_with_enough_documents_in_between(size, percent):
    for one in range(20):
        spots = plan_repeats(pool(size), percent=percent, words=f"7:ada:{one}:altered:1")

        firsts = [spot.candidate for spot in spots if not spot.again]
        assert firsts == [candidate for candidate, _ in pool(size)]
        repeats = repeated_candidates(spots)
        assert len(set(repeats)) == len(repeats)
        for candidate in repeats:
            first, second = spots.index(Spot(candidate)), spots.index(Spot(candidate, again=True))
            between = {spot.candidate for spot in spots[first + 1 : second]}
            assert len(between) >= gap(size)


def test_the_draw_depends_only_on_the_words():
    ada = plan_repeats(pool(100), percent=20, words="7:ada:301:altered:1")

    assert plan_repeats(pool(100), percent=20, words="7:ada:301:altered:1") == ada
    assert repeated_candidates(
        plan_repeats(pool(100), percent=20, words="7:ben:301:altered:1")
    ) != repeated_candidates(ada)
    assert repeated_candidates(
        plan_repeats(pool(100), percent=20, words="7:ada:301:altered:2")
    ) != repeated_candidates(ada)


def test_answered_repeats_stay_whatever_was_loaded_since():
    words = "7:ada:301:altered:1"
    before = repeated_candidates(plan_repeats(pool(40), percent=10, words=words))

    after = repeated_candidates(plan_repeats(pool(60), percent=10, words=words, answered=before))
    lowered = repeated_candidates(plan_repeats(pool(40), percent=1, words=words, answered=before))

    assert set(before) <= set(after)
    assert len(after) == count_repeats(60, 10, chance(words)) == 6
    assert sorted(lowered) == sorted(before)


def test_numbers_do_not_reveal_repeats():
    draw = random.Random(1)
    spots = [Spot(draw.randrange(1, 2**39), bool(draw.randrange(2))) for _ in range(2_000)]
    spots += [Spot(one, again) for one in range(1, 100) for again in (False, True)]

    numbers = {spot: mask(spot, 3) for spot in spots}

    assert all(unmask(found, 3) == spot for spot, found in numbers.items())
    assert len(set(numbers.values())) == len(set(spots))
    assert {len(str(found)) for found in numbers.values()} == {13}
    # Neither the last digit nor the size tells the two kinds apart.
    for kind in (False, True):
        some = [found for spot, found in numbers.items() if spot.again is kind]
        assert 0.4 < sum(found % 2 for found in some) / len(some) < 0.6
        assert 0.4 < sum(found > 3 * 2**39 for found in some) / len(some) < 0.6


def test_each_person_has_their_own_numbers():
    assert mask(Spot(93), 3) != mask(Spot(93), 4)


def test_a_number_out_of_range_is_a_candidates_key():
    assert unmask(93, 3) == Spot(93)
    assert unmask(2**41, 3) == Spot(2**41)
    with pytest.raises(ValueError, match="no key"):
        mask(Spot(2**39), 3)
