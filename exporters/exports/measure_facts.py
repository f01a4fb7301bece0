"""Write the data that measures need besides qrels: core queries, and verdicts on conditions.

A file is written only if it would not be trivial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from exporters.exports import collection, conditions
from exporters.exports.files import Writer, write_row
from exporters.exports.selection import CLAIMED, Pair


def write_core_queries(project: Project, pairs: Sequence[Pair], into: Writer) -> None:
    """Write the core query of each pair, if several queries share one."""
    cores = collection.cores_of_pairs(project)
    queries_of_core = Counter(dict(cores.values()).values())
    if not any(number > 1 for number in queries_of_core.values()):
        return
    with into.file("core_queries.tsv", "The core query of each pair.") as stream:
        write_row(stream, "pair_id", "query_id", "core")
        for pair in pairs:
            query, core = cores[pair.pk]
            write_row(stream, pair.pair_id, query, " ".join(core.split()))


def write_verdicts(project: Project, pairs: Sequence[Pair], into: Writer) -> None:
    """Write which conditions of the altered narratives each document meets, if known.

    People's answers come first, else the claim of machines. Only of pairs whose labels are in the
    changed or in the claimed qrels.
    """
    labelled = [pair for pair in pairs if not pair.left_out or pair.claimed == CLAIMED]
    documents = conditions.documents(project, labelled)
    chosen = conditions.chosen_names(project)
    of_altered = (answered for answered in documents if answered.side == Narrative.Side.ALTERED)
    first = next(of_altered, None)
    if first is None:
        return
    holds = "The conditions of the altered narratives that documents meet."
    with into.file("verdicts.tsv", holds) as stream:
        write_row(stream, "pair_id", "doc_id", "condition", "answer", "by")
        for document in chain([first], of_altered):
            for asked in document.conditions:
                claim = conditions.claimed_answer(asked, chosen)
                answer = asked.agreed or (None if asked.state == "disputed" else claim)
                by = "people" if asked.agreed else "claim" if answer else ""
                write_row(stream, document.pair_id, document.doc_id, asked.condition, answer, by)
