"""Write the input of rerankers: the candidates of each topic as a run, and topics for Pyserini.

Pyserini chooses a reader by the extension of a file: `.tsv` holds an id and a text, `.json` an
object of fields by id, from which a searcher takes the one named by `--topic-field`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from django.db.models import F

from annotate.collection.models import Candidate
from annotate.pairs.pool import in_pool_of
from annotate.projects.models import Project
from exporters.exports.files import Writer
from exporters.exports.selection import collection
from exporters.exports.selection.ordered_rows import BATCH, batches, bytewise, stream_rows
from exporters.exports.selection.selection import Pair
from formats.fields import to_json
from formats.records import RunLine, Topic
from formats.trec_run import write_run

CANDIDATES, TAG = "candidates.run", "candidates"
FOLDER = "pyserini"


def write(project: Project, sides: Mapping[str, tuple[str, Sequence[Pair]]], into: Writer) -> None:
    """Write the candidates of these pairs, and the topics of each side.

    `sides`: the side of the narratives and the pairs, by the side's name in files.
    """
    chosen = {pair.pk: pair for _, pairs in sides.values() for pair in pairs}
    with into.file(CANDIDATES, "Every candidate of each topic, to rerank; in order of ids.") as run:
        write_run(_candidates(sorted(chosen.values(), key=lambda one: one.pair_id.encode())), run)
    for name, (side, pairs) in sides.items():
        holds = f"The topics of the {name} side for Pyserini: query and narrative as one text."
        with into.file(f"{FOLDER}/topics.{name}.tsv", holds) as stream:
            for topic in collection.pair_topics(pairs, side):
                stream.write(f"{topic.query_id}\t{_one_line(topic)}\n".encode())
        holds = f"The topics of the {name} side for Pyserini: title, description, narrative."
        with into.file(f"{FOLDER}/topics.{name}.json", holds) as stream:
            stream.write(b"{")
            for place, topic in enumerate(collection.pair_topics(pairs, side)):
                stream.write((",\n" if place else "\n").encode())
                stream.write(f"{to_json(topic.query_id)}: {to_json(_fields(topic))}".encode())
            stream.write(b"\n}\n")


def _candidates(of: Iterable[Pair]) -> Iterator[RunLine]:
    """Yield every candidate of each pair by pair_id and doc_id, with a score by its rank."""
    for batch in batches(of, BATCH):
        rows = Candidate.objects.filter(
            in_pool_of(F("query__pairs")), query__pairs__in=[pair.pk for pair in batch]
        ).order_by(bytewise("query__pairs__pair_id"), bytewise("document__doc_id"))
        walked = stream_rows(rows, "query__pairs__pair_id", "document__doc_id")
        for pair_id, pool in groupby(walked, itemgetter(0)):
            names = [doc_id for _, doc_id in pool]
            for rank, doc_id in enumerate(names, 1):
                yield RunLine(pair_id, doc_id, rank, float(len(names) - rank + 1), TAG)


def _one_line(topic: Topic) -> str:
    """Return query and narrative on one line, without tabs or line ends."""
    words = (topic.title or topic.description, topic.narrative or "")
    return " ".join(" ".join(words).split())


def _fields(topic: Topic) -> dict[str, str]:
    return {
        "title": topic.title,
        "description": topic.description,
        "narrative": topic.narrative or "",
    }
