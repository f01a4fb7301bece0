"""Agreement on instructions for each domain of the queries, and for one domain alone."""

from __future__ import annotations

import pytest

from annotate.models import Query
from audit.models import Rating, Review
from audit.reports.reliability import agreement_of
from audit.reports.scopes import scope_of
from audit.reports.tables import tables
from base.errors import Refused
from tests import factories

pytestmark = pytest.mark.both_databases

# Whether each of three raters finds a query natural, for three queries of each domain.
ANSWERS = {"Books": ["111", "110", "000"], "Films": ["111", "000", "111"]}


@pytest.fixture
def project(db):
    made = factories.project()
    raters = [factories.member(made, f"rater{number}") for number in range(3)]
    for domain, queries in ANSWERS.items():
        for number, answers in enumerate(queries):
            query = factories.query(made, f"{domain}-{number}")
            Query.objects.filter(pk=query.pk).update(domain=domain)
            narrative = factories.altered(factories.pair(query))
            for rater, valid in zip(raters, answers, strict=True):
                review = Review.objects.create(
                    narrative=narrative,
                    auditor=rater,
                    rubric="multiconir-1",
                    submitted_at="2026-01-02T00:00Z",
                )
                Rating.objects.create(
                    review=review,
                    criterion="natural",
                    level="valid" if valid == "1" else "not_valid",
                    rejects=valid == "0",
                    place=0 if valid == "1" else 1,
                )
    return made


def fleiss(of):
    """Compute Fleiss' kappa of three raters and two categories by hand."""
    yes = [answers.count("1") for answers in of]
    observed = sum((n * (n - 1) + (3 - n) * (2 - n)) / 6 for n in yes) / len(yes)
    share = sum(yes) / (3 * len(yes))
    expected = share**2 + (1 - share) ** 2
    return (observed - expected) / (1 - expected)


def test_each_domain_has_the_fleiss_kappa_of_its_instructions(project):
    domains = agreement_of(project, seed=1, resamples=100)["reviews"]["domains"]

    found = {one["domain"]: one["coefficients"]["fleiss"] for one in domains}
    assert [one["criterion"] for one in domains] == ["natural", "natural"]
    # Books: 7/9 of the pairs agree, 5/9 are yes: (7/9 - 41/81) / (1 - 41/81) = 22/40.
    assert found["Books"]["value"] == pytest.approx(fleiss(ANSWERS["Books"])) == pytest.approx(0.55)
    assert found["Films"]["value"] == 1
    low, high = found["Books"]["interval"]
    assert low <= 0.55 <= high


def test_a_report_of_one_domain_counts_its_instructions_alone(project):
    scope = scope_of(project, {"domain": "Books"})
    figures = agreement_of(project, seed=1, resamples=100, scope=scope)

    assert figures["reviews"]["all"]["units"] == 3
    assert figures["reviews"]["domains"] == []
    assert str(scope) == "domain=Books"


def test_lines_of_the_domain_table_link_to_their_parts(project):
    found = {one.key: one for one in tables(agreement_of(project, seed=1, resamples=100))}

    lines = found["review-domains"].lines
    assert [line.label for line in lines] == ["Books · Natural", "Films · Natural"]
    assert lines[0].address == "domain=Books&criterion=natural"


def test_unknown_domain_is_refused_with_the_known_ones(project):
    sentence = r"No query in this project has domain Law\. The domains are: Books, Films"
    with pytest.raises(Refused, match=sentence):
        scope_of(project, {"domain": "Law"})


def test_a_project_without_domains_has_no_such_table(project):
    Query.objects.update(domain="")

    assert agreement_of(project, seed=1, resamples=100)["reviews"]["domains"] == []
