"""A real collection, TREC Common Core 2017, is exported unchanged."""

from __future__ import annotations

from io import StringIO

from django.core.management import call_command

from annotate.models import Project
from formats.source import open_source
from formats.trec_qrels import read_qrels
from formats.trec_topics import read_topics


def test_an_untouched_collection_is_exported_as_it_was_loaded(db, shared_data, write):
    topics_file = shared_data / "trec" / "topics.core17.txt"
    qrels_file = shared_data / "trec" / "qrels.core17.txt"
    out = StringIO()
    call_command("load", "core17", "trec-topics", str(topics_file), "--create", stdout=out)
    call_command("load", "core17", "trec-qrels", str(qrels_file), stdout=out)

    files = write(Project.objects.get(slug="core17"))

    assert qrels(files.folder / "qrels.original.txt") == qrels(qrels_file)
    assert topics(files.folder / "topics.original.txt") == topics(topics_file)
    assert files["qrels.original.txt"].count("\n") == 30_030
    assert files.manifest["counts"]["prior_relevant"] == 9_002
    assert files["qrels.changed.txt"] == ""


def qrels(path):
    with open_source(path) as source:
        return {(qrel.query_id, qrel.doc_id, qrel.relevance) for qrel in read_qrels(source)}


def topics(path):
    with open_source(path) as source:
        return set(read_topics(source))
