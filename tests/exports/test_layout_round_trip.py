"""A layout can be loaded into an empty project, which then writes the same layout."""

from __future__ import annotations

import pytest

from annotate.collection import intake
from annotate.loading.load import load_rows
from annotate.models import Candidate, InstructionPair, Judgment, Query
from exporters.exports.models import Publication
from formats.registry import lookup
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

# These files name the project, or count people's judgments.
OF_THE_PROJECT = {"README.md", "about.json", "croissant.json", "manifest.json", "task.py"}


def load(project, layout, folder):
    """Load a layout into a project."""
    report = load_rows(project=project, kind=lookup(layout), file=intake.file_on_disk(str(folder)))
    assert report.refused == 0, report.problems
    return report


@pytest.fixture
def published(tides):
    """The project of tides with a reversed narrative, whose texts may be published."""
    Publication.objects.create(project=tides.project, texts=True, licence="CC-BY-4.0")
    reverse = factories.narrative(tides.pair, side="reversed", text="Plants on land.")
    tides.judge(reverse, tides.pool["B"], tides.ada, 2)
    tides.judge(reverse, tides.pool["B"], tides.ben, 2)
    InstructionPair.objects.filter(pair_id="302").update(pair_id="302_1")
    return tides


@pytest.mark.parametrize("layout", ["mteb", "hf", "beir"])
def test_a_loaded_layout_is_written_with_the_same_bytes(layout, published, write):
    first = write(published.project, layout)
    other = factories.project("other")
    Publication.objects.create(project=other, texts=True, claims=True, licence="CC-BY-4.0")

    load(other, layout, first.folder)

    again = write(other, layout)
    assert set(first.bytes()) == set(again.bytes())
    for name, content in first.bytes().items():
        if name.rpartition("/")[2] not in OF_THE_PROJECT:
            assert again.bytes()[name] == content, name
    queries = Query.objects.filter(project=other).values_list("query_id", flat=True)
    assert set(queries) == {"301", "302"}
    assert Candidate.objects.filter(query__project=other).count() == 8


def test_loading_a_layout_again_changes_nothing(published, write):
    folder = write(published.project, "mteb").folder
    other = factories.project("other")
    load(other, "mteb", folder)

    report = load(other, "mteb", folder)

    assert (report.new, report.changed) == (0, 0)


def test_published_grades_are_loaded_as_claims_not_as_judgments(published, write):
    other = factories.project("other")
    load(other, "beir", write(published.project, "beir").folder)

    raters = Judgment.objects.filter(narrative__pair__project=other).values_list(
        "annotator__name", "annotator__is_machine"
    )
    assert set(raters) == {("published", True)}
    assert write(other, "trec").manifest["counts"]["judgments_by_people"] == 0


def test_a_persons_judgment_takes_precedence_over_the_published_grade(published, write):
    other = factories.project("other")
    load(other, "beir", write(published.project, "beir").folder)
    Publication.objects.create(project=other, claims=True)
    claim = Judgment.objects.get(
        narrative__pair__project=other,
        narrative__side="altered",
        candidate__document__doc_id="FT-10",
    )
    assert claim.relevance == 2
    factories.judgment(claim.narrative, claim.candidate, factories.member(other, "ada"), 1)

    assert "301-changed\tFT-10\t1" in write(other, "beir")["qrels/changed.tsv"].splitlines()


def test_claims_stay_out_of_a_layout_until_the_lead_publishes_them(published, write):
    other = factories.project("other")
    load(other, "beir", write(published.project, "beir").folder)

    with pytest.raises(ValueError, match="or publish claimed labels in the publication settings"):
        write(other, "beir")
