"""MultiConIR's protocol: ten raters rate each query as natural, precise and plausible; two people
count the conditions that a document meets, and a third settles.

The expected figures are computed from the counts in plain arithmetic.
"""

from __future__ import annotations

import io
import json
import random
from fractions import Fraction
from math import comb

import pytest
from django.core.management import call_command
from django.test import Client

from annotate.models import Judgment, Narrative, Project
from audit.checks import actions as checks
from audit.checks.claims import ClaimSelection
from audit.checks.figures import figures
from audit.checks.samples import draw_sample
from audit.models import Rating, Review, Sample
from audit.reports.reliability import agreement_of
from audit.reviews.actions import save_ratings, submit_review, take_review
from audit.reviews.passes import contrasts, passes_of, verdict_of
from tests import factories

pytestmark = pytest.mark.django_db

RATERS = 10
QUERIES = 30
# How many of the ten rate a query "not valid", for the 30 queries in order.
NOT_VALID = {
    "natural": [0] * 20 + [1] * 5 + [9, 10, 10, 10, 10],
    "precise": [10, 9, 10, 2] + [0] * 26,
    "plausible": [0] * 14 + [10, 10] + [0] * 14,
}


def load(kind, file, *more):
    call_command("load", "tides", kind, str(file), "--create", *more, stdout=io.StringIO())


@pytest.fixture
def loaded(shared_data, settings, tmp_path):
    """Load the thirty queries of the file as instructions, with the rubric of the protocol."""
    default = {**settings.STORAGES["default"], "OPTIONS": {"location": str(tmp_path / "storage")}}
    settings.STORAGES = {**settings.STORAGES, "default": default}
    grades = ",".join(map(str, range(11)))
    load("multiconir", shared_data / "multiconir" / "Sample_Task1.csv", "--grades", grades)
    call_command("rubric", "tides", "multiconir-1", stdout=io.StringIO())
    Project.objects.update(overlap_review=RATERS)
    return Project.objects.get(slug="tides")


@pytest.fixture
def rated(loaded, tmp_path):
    """Add the reviews of ten raters: two through assignments, eight from a file."""
    narratives = list(Narrative.objects.filter(side="altered").order_by("pair__pk"))
    place = {narrative.pair_id: number for number, narrative in enumerate(narratives)}
    for number in range(2):
        rater = factories.member(loaded, f"rater{number}")
        while (assignment := take_review(by=rater)) is not None:
            query = place[assignment.pair_id]
            answers = {
                key: (level, "It is not." if level == "not_valid" else "")
                for key, level in rating_of(number, query).items()
            }
            save_ratings(narrative=narratives[query], answers=answers, by=rater)
            submit_review(narrative=narratives[query], by=rater)
    lines = [
        {
            "type": "review",
            "pair_id": narrative.pair.pair_id,
            "query_id": narrative.pair.query.query_id,
            "auditor": f"rater{number}",
            "rubric": "multiconir-1",
            "ratings": [
                {"criterion": key, "level": level, "words": "No." if level == "not_valid" else ""}
                for key, level in rating_of(number, query).items()
            ],
        }
        for number in range(2, RATERS)
        for query, narrative in enumerate(narratives)
    ]
    file = tmp_path / "reviews.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    load("judgments-jsonl", file)
    return loaded


def rating_of(rater, query):
    """Return a rater's levels for a query; raters take turns rating "not valid"."""
    turn = (rater + query) % RATERS
    return {
        key: "not_valid" if turn < counts[query] else "valid" for key, counts in NOT_VALID.items()
    }


def fleiss(not_valid):
    """Return the exact Fleiss' kappa of units rated by ten people in two categories."""
    units = len(not_valid)
    # The share of the 90 ordered pairs of raters that agree, summed over the units.
    agreeing = sum(
        Fraction(n * (n - 1) + (RATERS - n) * (RATERS - n - 1), RATERS * (RATERS - 1))
        for n in not_valid
    )
    observed = agreeing / units
    no = Fraction(sum(not_valid), units * RATERS)
    expected = no**2 + (1 - no) ** 2
    return (observed - expected) / (1 - expected)


def test_ten_raters_and_their_fleiss_kappa_by_hand(rated):
    assert Review.objects.submitted().count() == RATERS * QUERIES
    assert Rating.objects.count() == RATERS * QUERIES * 3

    reviews = agreement_of(rated, seed=1, resamples=1_000)["reviews"]

    by_hand = {key: fleiss(counts) for key, counts in NOT_VALID.items()}
    # natural: raters agree fully on 24 of 30 queries (90 of 90 pairs), and nine to one on 6 (72 of
    # 90): 28.8 / 30 = 0.96. 54 of 300 answers are no: 0.18² + 0.82² = 0.7048 by chance.
    assert by_hand == {
        "natural": (Fraction(96, 100) - Fraction(7048, 10_000)) / (1 - Fraction(7048, 10_000)),
        "precise": Fraction(22_517, 25_017),
        "plausible": 1,
    }
    assert float(by_hand["natural"]) == pytest.approx(0.864499, abs=1e-6)
    for key, expected in by_hand.items():
        scope = reviews["criteria"][key]
        found = scope["coefficients"]["fleiss"]
        assert (scope["units"], len(scope["raters"]), scope["ratings"]) == (30, 10, 300)
        assert found["name"] == "Fleiss' kappa"
        assert found["value"] == pytest.approx(float(expected), abs=1e-12)
        low, high = found["interval"] or (1.0, 1.0)
        assert low <= found["value"] <= high
    everything = [n for counts in NOT_VALID.values() for n in counts]
    found = reviews["all"]["coefficients"]["fleiss"]
    assert reviews["all"]["units"] == 90
    assert found["value"] == pytest.approx(float(fleiss(everything)), abs=1e-12)
    assert found["interval"] == pytest.approx(resampled(everything), abs=0.03)
    check_verdicts(rated)
    check_story(rated)


def check_verdicts(project):
    """Assert that one "not valid" of ten rejects a query; they straddle unless all agree."""
    narratives = list(Narrative.objects.filter(side="altered").order_by("pair__pk"))
    passes = passes_of(narratives)

    verdicts = [verdict_of(passes[one.pk], project).value for one in narratives]
    straddling = [any(row.straddles for row in contrasts(passes[one.pk])) for one in narratives]

    # Queries 1-4, 15, 16 and 21-30 have a "no"; on 2, 4 and 21-26 the ten differ.
    rejected = {0, 1, 2, 3, 14, 15, *range(20, 30)}
    assert {at for at, one in enumerate(verdicts) if one == "rejected"} == rejected
    assert {at for at, one in enumerate(verdicts) if one == "passed"} == set(range(30)) - rejected
    assert {at for at, differ in enumerate(straddling) if differ} == {1, 3, *range(20, 26)}
    # By the rule of the kind more than half must reject: the two on query 4 and the one on each of
    # 21-25 are too few.
    project.kind = "multiconir"
    by_most = {
        at for at, one in enumerate(narratives) if verdict_of(passes[one.pk], project) == "rejected"
    }
    assert by_most == rejected - {3, *range(20, 25)}


def check_story(project):
    """Assert that the story of the first query, which nobody finds precise, shows all ten."""
    client = Client()
    factories.lead(project, "carla")
    client.force_login(factories.user("carla"))
    pair = project.pairs.order_by("pk").first()

    story = client.get(f"/pairs/{pair.pk}/story/").content.decode()

    assert all(f"rater{number}" in story for number in range(RATERS))
    assert "10 of 10 reviews, made under multiconir-1" in story
    assert story.count("Not valid</span>") == 10


def resampled(counts):
    """Return the middle 95% of kappas of units resampled with replacement, without a library."""
    draw = random.Random(5)
    kappas = sorted(float(fleiss(draw.choices(counts, k=len(counts)))) for _ in range(400))
    return [kappas[10], kappas[389]]


def test_the_label_sample_with_a_third_person_and_its_exact_interval_by_hand(loaded):
    machine = loaded.memberships.get(is_machine=True)
    claims = Judgment.objects.filter(annotator=machine).count()
    lead = factories.lead(loaded, "carla")
    two = [factories.member(loaded, name) for name in ("ada", "ben")]
    sample = draw_sample(
        name="Labels",
        selection=ClaimSelection(Sample.Source.MACHINE, machine),
        stratify="none",
        per="stratum",
        size=100,
        seed=7,
        by=lead,
    )
    assert (sample.frame, sample.items.count()) == ({"": claims}, 100)

    for place, item in enumerate(sample.items.order_by("pk")):
        other = item.claimed + (1 if item.claimed == 0 else -1)
        checks.check(item=item, relevance=item.claimed, by=two[0])
        checks.check(item=item, relevance=other if place < 5 else item.claimed, by=two[1])
        if place < 5:
            # The third person finds three of the five labels wrong.
            checks.settle(item=item, relevance=other if place < 3 else item.claimed, by=lead)

    rate = figures(sample).overall.grade
    assert (rate.count, rate.of) == (3, 100)
    assert rate.interval is not None
    low, high = rate.interval
    # At the exact limits, three or more, and three or fewer, of 100 have probability 2.5%.
    assert 1 - binomial(2, 100, low) == pytest.approx(0.025, abs=1e-6)
    assert binomial(3, 100, high) == pytest.approx(0.025, abs=1e-6)


def binomial(most, of, share):
    """Return the binomial probability of at most `most` successes."""
    return sum(comb(of, k) * share**k * (1 - share) ** (of - k) for k in range(most + 1))
