"""A report has BCa intervals if nearly all answers are the same, and says so."""

from __future__ import annotations

from io import StringIO

from django.core.management import call_command

from audit.reports.reliability import agreement_of
from tests import factories


def test_a_skewed_table_of_judgments_is_reported_with_bca_intervals(db):
    project = factories.project()
    ada, ben = factories.member(project, "ada"), factories.member(project, "ben")
    pair = factories.pair(factories.query(project))
    under = factories.altered(pair)
    # Both give 0 to 36 documents and 1 to two documents, and differ on two: 74 of 80 answers are 0.
    for first, second in [(0, 0)] * 36 + [(1, 1)] * 2 + [(0, 1)] * 2:
        candidate = factories.candidate(pair.query, text=None)
        factories.judgment(under, candidate, ada, first)
        factories.judgment(under, candidate, ben, second)

    figures = agreement_of(project, seed=1, resamples=100)["judgments"]["all"]["coefficients"]
    out = StringIO()
    call_command("agreement", "tides", stdout=out)

    assert figures["cohen"]["interval_note"] == (
        "95% BCa bootstrap over units, 100 resamples, seed 1"
    )
    assert "BCa if a table is skewed" in out.getvalue()
    assert "]  BCa" in out.getvalue()
