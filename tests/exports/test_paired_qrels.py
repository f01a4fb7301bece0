"""qrels.original.txt and qrels.changed.txt have the same topics once one has changed."""

from __future__ import annotations

from ir_measures import read_trec_qrels

from annotate.models import Adjudication, Candidate, Judgment
from exporters.releases import comparison
from formats.source import open_source
from formats.trec_topics import read_topics
from tests import factories
from tests.exports.conftest import LATER, make_release

WHOLE = (
    "1000 0 X -1\n"
    "301 0 B 1\n"
    "301 0 FT-10 2\n"
    "301 0 FT-9 1\n"
    "301 0 a 0\n"
    "301 0 é 1\n"
    "302 0 C 1\n"
    "302 0 D 1\n"
    "303 0 R 1\n"
)


def topics_of_qrels(files, name: str) -> set[str]:
    return {qrel.query_id for qrel in read_trec_qrels(files[name])}


def narratives(files, name: str) -> dict[str, str | None]:
    with open_source(files.folder / name) as source:
        return {topic.query_id: topic.narrative for topic in read_topics(source)}


def test_both_qrels_and_both_topic_files_have_the_same_topics(tides, write):
    files = write(tides.project)

    for name in ("qrels.original.txt", "qrels.changed.txt"):
        assert topics_of_qrels(files, name) == {"301", "302"}
    for name in ("topics.original.txt", "topics.changed.txt"):
        assert set(narratives(files, name)) == {"301", "302"}


def test_the_whole_original_is_always_there(tides, write):
    files = write(tides.project)

    assert files["qrels.original.all.txt"] == WHOLE
    assert set(narratives(files, "topics.original.all.txt")) == {"1000", "301", "302", "303", "304"}


def test_an_untouched_project_has_the_whole_original_in_both(tides, write):
    Judgment.objects.all().update(ended_at=LATER)
    Adjudication.objects.all().update(withdrawn_at=LATER, withdrawn_by=tides.carla)

    files = write(tides.project)

    assert files["qrels.changed.txt"] == ""
    assert files["qrels.original.txt"] == files["qrels.original.all.txt"] == WHOLE
    assert files["topics.original.txt"] == files["topics.original.all.txt"]
    assert files.manifest["left_out"] == []


def test_the_manifest_names_every_topic_left_out_and_why(tides, write):
    other = factories.pair(tides.pair.query, pair_id="301_2")

    manifest = write(tides.project).manifest

    assert manifest["left_out"] == [
        {"query_id": "1000", "pair_id": "", "why": "no instruction pair"},
        {"query_id": "301", "pair_id": other.pair_id, "why": "not judged"},
        {"query_id": "303", "pair_id": "303", "why": "removed"},
        {"query_id": "304", "pair_id": "304", "why": "not written"},
    ]
    [note] = [note for note in manifest["notes"] if "in neither" in note]
    assert note.startswith(
        "4 topics are in neither qrels.original.txt nor qrels.changed.txt (1 no instruction pair, "
        "1 not judged, 1 not written, 1 removed): 1000, 301_2, 303, 304."
    )


def test_several_pairs_of_a_query_are_topics_of_their_own_on_both_sides(tides, write):
    other = factories.pair(
        tides.pair.query, pair_id="301_2", original="Any mill.", altered="Only tide mills."
    )
    tides.judge(factories.altered(other), tides.pool["B"], tides.ada, 0)

    files = write(tides.project)

    for name in ("qrels.original.txt", "qrels.changed.txt"):
        assert topics_of_qrels(files, name) == {"301", "301_2", "302"}
    assert [line for line in files["qrels.original.txt"].splitlines() if "301_2" in line] == [
        "301_2 0 B 1",
        "301_2 0 FT-10 2",
        "301_2 0 FT-9 1",
        "301_2 0 a 0",
        "301_2 0 é 1",
    ]
    assert narratives(files, "topics.original.txt")["301_2"] == "Any mill."
    assert narratives(files, "topics.changed.txt")["301_2"] == "Only tide mills."
    assert files["qrels.original.all.txt"] == WHOLE


def test_a_pair_with_only_disputed_documents_is_in_neither_qrels(tides, write):
    # C of 302 was settled, D is unjudged: without the decision 302 has no agreed grade.
    Adjudication.objects.all().update(withdrawn_at=LATER, withdrawn_by=tides.carla)

    files = write(tides.project)

    for name in ("qrels.original.txt", "qrels.changed.txt"):
        assert topics_of_qrels(files, name) == {"301"}
    assert list(narratives(files, "topics.changed.txt")) == ["301"]
    assert {
        "query_id": "302",
        "pair_id": "302",
        "why": "disputed or not judged",
    } in files.manifest["left_out"]


def test_a_changed_topic_without_earlier_relevance_gives_a_warning(tides, write):
    Candidate.objects.filter(query__query_id="302").update(
        prior_relevance=None, origin=Candidate.Origin.RUN
    )

    files = write(tides.project)

    assert topics_of_qrels(files, "qrels.changed.txt") == {"301", "302"}
    assert topics_of_qrels(files, "qrels.original.txt") == {"301"}
    assert files.manifest["warnings"][-1].endswith("leave them out when you compare means: 302.")


def test_releases_are_compared_by_the_whole_original(tides):
    first = make_release(tides, "v1.0")
    Judgment.objects.filter(narrative__pair__pair_id="302").update(ended_at=LATER)
    Adjudication.objects.all().update(withdrawn_at=LATER, withdrawn_by=tides.carla)
    second = make_release(tides, "v1.1")

    # 302 is no longer in qrels.original.txt, but its earlier relevance did not change.
    assert not [
        change
        for change in comparison.Comparison(first, second).grades()
        if change.narrative == comparison.BEFORE
    ]
