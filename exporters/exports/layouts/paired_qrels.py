"""The export for evaluators: qrels before and after, topics, changed documents, runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from pathlib import PurePosixPath
from shutil import copyfileobj

from annotate.collection.models import Candidate, Document, Query
from annotate.judgments.consensus import State
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project
from exporters.exports import before_publishing
from exporters.exports.files import BUFFER, Report, Writer, distinct_names, report_rows, write_row
from exporters.exports.manifest import notes
from exporters.exports.manifest.manifest import (
    NO_LINE,
    NO_PAIR,
    LeftOut,
    Manifest,
    compose,
    count_key,
    pair_facts,
)
from exporters.exports.manifest.rule_facts import kind_facts
from exporters.exports.proof import oracles
from exporters.exports.selection import claimed, collection, conditions, selection
from exporters.exports.selection.pools import write_negatives
from exporters.exports.selection.selection import CLAIMED, Pair, PooledDocument, tally
from formats.fields import to_json
from formats.jsonl import write_docs
from formats.records import Qrel, RunLine, Topic
from formats.trec_qrels import write_qrels
from formats.trec_run import write_run
from formats.trec_topics import write_topics

CANDIDATES, TAG = "candidates.run", "candidates"
FOLDER, RUNS = "pyserini", "runs/"


ALTERED = Narrative.Side.ALTERED
ORIGINAL = Narrative.Side.ORIGINAL
REVERSED = Narrative.Side.REVERSED
ORIGINAL_QRELS, WHOLE_QRELS = "qrels.original.txt", "qrels.original.all.txt"
_PAIR_COUNTS = (
    "relevant_before",
    "relevant_after",
    "judged",
    "settled",
    "disputed",
    "unjudged",
    "kept",
    "without_relevance",
    "fewer_than_asked",
    "changed",
    "dropped",
    "grew",
)


def write_reranking(sides: Mapping[str, tuple[str, Sequence[Pair]]], into: Writer) -> None:
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
                # One line without tabs.
                words = f"{topic.title or topic.description} {topic.narrative or ''}".split()
                stream.write(f"{topic.query_id}\t{' '.join(words)}\n".encode())
        holds = f"The topics of the {name} side for Pyserini: title, description, narrative."
        with into.file(f"{FOLDER}/topics.{name}.json", holds) as stream:
            stream.write(b"{")
            for place, topic in enumerate(collection.pair_topics(pairs, side)):
                fields = {
                    "title": topic.title,
                    "description": topic.description,
                    "narrative": topic.narrative or "",
                }
                stream.write((",\n" if place else "\n").encode())
                stream.write(f"{to_json(topic.query_id)}: {to_json(fields)}".encode())
            stream.write(b"\n}\n")


def _candidates(of: Sequence[Pair]) -> Iterator[RunLine]:
    """Yield every candidate of each pair by pair_id and doc_id, with a score by its rank."""
    for pair_id, pool in groupby(selection.candidates_of_pairs(of), itemgetter(0)):
        names = [doc_id for _, doc_id, _prior in pool]
        for rank, doc_id in enumerate(names, 1):
            yield RunLine(pair_id, doc_id, rank, float(len(names) - rank + 1), TAG)


def size(project: Project) -> int:
    """Return how many documents `write` reads, for a progress bar."""
    sizes = selection.pool_sizes(project)
    pairs = selection.pairs(project)
    pools = selection.written_pairs(pairs, ALTERED)
    claims = sum(
        pair.claims_on[side] for side in claimed.SIDES for pair in selection.claimed(pairs, side)
    )
    prior = Candidate.objects.filter(query__project=project, prior_relevance__isnull=False)
    return prior.count() + claims + sum(sizes.get(pair.query.pk, 0) for pair in pools)


def write(project: Project, into: Writer, report: Report) -> Manifest:
    """Write every file of this export and return its manifest; `report` receives progress.

    Raises CannotHold if a TREC file cannot hold a text or an id.
    """
    return _Export(project, into, report).write()


def try_labels(project: Project, into: Writer) -> Manifest:
    """Write the labels and the topics, and return the manifest with all its counts and warnings.

    Raises CannotHold as `write` does. No text of a document, no run and no candidate is written.
    """
    return _Export(project, into, lambda _: None, labels_only=True).write()


class _Export:
    """An export in progress."""

    def __init__(
        self, project: Project, into: Writer, report: Report, *, labels_only: bool = False
    ) -> None:
        self.labels_only = labels_only
        self.project = project
        self.into = into
        self.report = report
        self.queries: list[Query] = selection.queries(project)
        self.pairs: list[Pair] = selection.pairs(project)
        self.tally = tally(project, self.pairs)
        self.facts = {
            pair.pk: pair_facts(pair, {} if pair.left_out else dict.fromkeys(_PAIR_COUNTS, 0))
            for pair in self.pairs
        }
        # Candidates under narratives of the other sides, by side and state.
        self.elsewhere: dict[str, dict[str, int]] = {}
        # Ids of pairs that have a line in the changed qrels.
        self.paired: set[str] = set()
        # Those of them that have a line in the original qrels, too.
        self.with_prior: set[str] = set()
        self.changed_documents: set[int] = set()
        # Machines with claims, by side; and counts of claimed labels, by side and key.
        self.raters: dict[str, list[Membership]] = {
            side: raters for side in claimed.SIDES if (raters := claimed.raters(project, side))
        }
        self.claims: dict[str, dict[str, int]] = {
            side: dict.fromkeys((*claimed.COUNTS, claimed.CORRECTED, claimed.UNDECIDED), 0)
            for side in self.raters
        }

    def write(self) -> Manifest:
        into = self.into
        files = {
            ORIGINAL_QRELS: "The earlier relevance, for the topics of qrels.changed.txt.",
            WHOLE_QRELS: "The earlier relevance, for all queries.",
            "qrels.changed.txt": "The relevance under the altered narratives.",
            "documents.changed.tsv": "Documents whose relevance changed.",
            "disputed.tsv": "Documents on which people differ; not in the qrels.",
            "unjudged.tsv": "Documents that nobody has judged; not in the qrels.",
        }
        with into.open_together(files) as (original, whole, changed, *listed):
            self.changes, self.disputed, self.unjudged = listed
            earlier = report_rows(selection.prior_qrels(self.queries), self.report)
            prior = write_qrels(earlier, whole)
            write_row(self.changes, "query_id", "pair_id", "doc_id", "before", "after", "change")
            write_row(self.disputed, "query_id", "pair_id", "narrative", "doc_id", "grades")
            write_row(self.unjudged, "query_id", "pair_id", "narrative", "doc_id", "before")
            write_qrels(self._altered_qrels(), changed)
            write_qrels(self._original_qrels(), original)
            for side, name, holds in (
                (REVERSED, "qrels.reversed.txt", "The relevance under the reversed narratives."),
                (
                    ORIGINAL,
                    "qrels.original.judged.txt",
                    "People's relevance under the original narratives.",
                ),
            ):
                answered = selection.judged_pairs(self.project, side)
                if any(pair.pk in answered for pair in selection.written_pairs(self.pairs, side)):
                    with into.file(name, holds) as stream:
                        write_qrels(self._qrels_of_side(side), stream)
        self._write_topics()
        for claimed_on in self.raters:
            self._write_claimed(claimed_on)
        self._write_pairs()
        texts = 0 if self.labels_only else self._write_beside_labels()
        return self._manifest(prior=prior, texts=texts)

    def _write_beside_labels(self) -> int:
        """Write what measures and readers need besides labels; return how many texts."""
        into = self.into
        write_core_queries(self.pairs, self.into)
        write_verdicts(self.project, self.pairs, self.into)
        holds = "The documents of documents.changed.tsv, with their texts."
        with into.file("documents.changed.jsonl", holds) as stream:
            texts = write_docs(collection.documents(self.project, self.changed_documents), stream)
        write_runs(self.project, into)
        write_negatives(self.project, into, self.pairs)
        return texts

    def _altered_qrels(self) -> Iterator[Qrel]:
        """Yield the documents with a relevance under the altered narratives, and count all of them.

        Judges see only documents that may have changed, so the others keep their earlier relevance:
        these are the explicit zeros.
        """
        relevant_from = self.project.relevant_from
        asked = self.project.overlap_judge
        judged, disputed = State.JUDGED, State.DISPUTED
        of = selection.written_pairs(self.pairs, ALTERED)
        for pair, pool in selection.pooled_documents(self.project, of, ALTERED):
            counts = self.facts[pair.pk]["counts"]
            before = after = 0
            for pooled in report_rows(pool, self.report):
                prior, (relevance, state) = pooled.prior, pooled.outcome
                was_relevant = prior is not None and prior >= relevant_from
                before += was_relevant
                if relevance is not None:
                    counts[state] += 1
                    if state is judged and len(pooled.grades) < asked:
                        counts["fewer_than_asked"] += 1
                elif state is disputed:
                    counts["disputed"] += 1
                    self._write_disputed(pair, ALTERED, pooled)
                    continue
                elif pooled.in_scope:
                    counts["unjudged"] += 1
                    self._write_unjudged(pair, ALTERED, pooled)
                    continue
                elif prior is None:
                    counts["without_relevance"] += 1
                    continue
                else:
                    counts["kept"] += 1
                    relevance = prior
                is_relevant = relevance >= relevant_from
                after += is_relevant
                if relevance != prior and prior is not None:
                    change = "regraded"
                    if is_relevant != was_relevant:
                        change = "grew" if is_relevant else "dropped"
                        counts[change] += 1
                    counts["changed"] += 1
                    self.changed_documents.add(pooled.document)
                    ids = (pair.query.query_id, pair.pair_id, pooled.doc_id)
                    write_row(self.changes, *ids, prior, relevance, change)
                self.paired.add(pair.pair_id)
                yield Qrel(pair.pair_id, pooled.doc_id, relevance)
            counts["relevant_before"], counts["relevant_after"] = before, after

    def _original_qrels(self) -> Iterator[Qrel]:
        """Yield the earlier relevance under the topics of the changed qrels.

        So means over these qrels and over the changed qrels are of the same topics. While the
        changed qrels are empty, every query is written under its own id.
        """
        if not self.paired:
            yield from selection.prior_qrels(self.queries)
        for line in selection.prior_qrels_of_pairs(self._changed_pairs()):
            self.with_prior.add(line.query_id)
            yield line

    def _changed_pairs(self) -> list[Pair]:
        """Return the pairs that have a line in the changed qrels."""
        return [pair for pair in self.pairs if pair.pair_id in self.paired]

    def _qrels_of_side(self, side: str) -> Iterator[Qrel]:
        """Like `_altered_qrels` for the other sides, but only with people's judgments."""
        counts = self.elsewhere[side] = dict.fromkeys(map(str, State), 0)
        of = selection.written_pairs(self.pairs, side)
        for pair, pool in selection.pooled_documents(self.project, of, side):
            for pooled in pool:
                relevance, state = pooled.outcome
                if state is State.UNJUDGED and not pooled.in_scope:
                    continue
                counts[state] += 1
                if state is State.DISPUTED:
                    self._write_disputed(pair, side, pooled)
                elif state is State.UNJUDGED:
                    self._write_unjudged(pair, side, pooled)
                if relevance is not None:
                    yield Qrel(pair.pair_id, pooled.doc_id, relevance)

    def _write_disputed(self, pair: Pair, side: str, pooled: PooledDocument) -> None:
        grades = ",".join(map(str, pooled.grades))
        write_row(self.disputed, pair.query.query_id, pair.pair_id, side, pooled.doc_id, grades)

    def _write_unjudged(self, pair: Pair, side: str, pooled: PooledDocument) -> None:
        query_id, before = pair.query.query_id, pooled.prior
        write_row(self.unjudged, query_id, pair.pair_id, side, pooled.doc_id, before)

    def _write_topics(self) -> None:
        changed = self._changed_pairs()
        every = partial(collection.original_topics, self.queries, self.pairs)
        self._write_topics_file(
            "topics.original.txt",
            "The topics of qrels.original.txt.",
            collection.pair_topics(changed, ORIGINAL) if changed else every(),
        )
        holds = "All queries, each with the original narrative of its first pair."
        self._write_topics_file("topics.original.all.txt", holds, every())
        sides = {"original": (ORIGINAL, changed), "changed": (ALTERED, changed)}
        if of := selection.written_pairs(self.pairs, REVERSED):
            sides["reversed"] = (REVERSED, of)
        for name, (side, of) in sides.items():
            if side != ORIGINAL:
                holds = f"The {side} narratives, one for each pair."
                topics = collection.pair_topics(of, side)
                self._write_topics_file(f"topics.{name}.txt", holds, topics)
        if changed and not self.labels_only:
            write_reranking(sides, self.into)

    def _write_topics_file(self, name: str, holds: str, topics: Iterable[Topic]) -> None:
        with self.into.file(name, holds) as stream:
            write_topics(topics, stream)

    def _write_claimed(self, side: str) -> None:
        """Write the claimed labels of a side, those of each machine if there are several, and their
        narratives.
        """
        of = selection.claimed(self.pairs, side)
        under = "accepted instructions" if side == ALTERED else f"{side} narratives"
        holds = f"Labels that machines claim under {under}, corrected by people."
        with self.into.file(claimed.file_name(side), holds) as stream:
            write_qrels(self._claimed_qrels(of, side), stream)
        for name, rater in claimed.file_names(self.raters[side], side):
            holds = f"Labels of {rater.name} alone under {under}, corrected by people."
            labels = claimed.labels(self.project, of, side, rater=rater)
            with self.into.file(name, holds) as stream:
                write_qrels(_qrels_of(labels), stream)
        holds = f"The {side} narratives of claimed labels, one for each pair."
        name = f"topics.claimed.{claimed.SIDES[Narrative.Side(side)]}txt"
        self._write_topics_file(name, holds, collection.pair_topics(of, side))

    def _claimed_qrels(self, of: list[Pair], side: str) -> Iterator[Qrel]:
        counts = self.claims[side]
        for label in report_rows(claimed.labels(self.project, of, side), self.report):
            counts[label.counts_as] += 1
            counts[claimed.CORRECTED] += label.corrected
            yield from _qrels_of([label])

    def _write_pairs(self) -> None:
        with self.into.file("pairs.tsv", "The query of each pair.") as stream:
            write_row(stream, "pair_id", "query_id", "category", "origin", "left_out", "claimed")
            for pair in self.pairs:
                ids = (pair.pair_id, pair.query.query_id)
                category = " ".join(pair.category.split())
                write_row(stream, *ids, category, pair.origin, pair.left_out, pair.claimed)

    def _manifest(self, *, prior: int, texts: int) -> Manifest:
        pairs = list(self.facts.values())
        left_out = self._topics_left_out()
        counts = {
            "queries": len(self.queries),
            "candidates": sum(selection.pool_sizes(self.project).values()),
            "prior": prior,
            "prior_relevant": selection.prior_relevant(self.project),
            "pairs": selection.count_pairs(self.pairs),
            "pairs_written": len(selection.written_pairs(self.pairs, ALTERED)),
            **{key: sum(facts["counts"].get(key, 0) for facts in pairs) for key in _PAIR_COUNTS},
            **self.tally,
        }
        for side in self.raters:
            counts |= self._claim_counts(side)
        without_prior = [
            pair.pair_id for pair in self._changed_pairs() if pair.pair_id not in self.with_prior
        ]
        measured = oracles.measure_export(self.into.folder, self.pairs, self.project)
        made = compose(
            project=self.project,
            format_name="trec",
            counts=counts,
            rules=notes.trec_rules(self.project, self.raters),
            warnings=notes.trec_warnings(counts, pairs, without_prior, measured.warnings),
            notes=notes.about_trec(
                counts=counts,
                pairs=pairs,
                left_out=left_out,
                asked=self.project.overlap_judge,
                elsewhere=self.elsewhere,
                differing=collection.differing_originals(self.pairs),
                texts=texts,
                not_in_runs=self._topics_not_in_runs(),
            ),
            pairs=pairs,
            left_out=left_out,
            texts=collection.documents_with_newer_texts(self.project),
            measured=oracles.oracles_block(measured.measures),
            before_publishing=before_publishing.facts(self.project),
            of_kind=kind_facts(self.project),
            files=self.into.files,
        )
        made["documents"] = Document.objects.filter(project=self.project).count()
        return made

    def _topics_left_out(self) -> list[LeftOut]:
        """Return the topics missing from the paired qrels; none while these are not paired."""
        if not self.paired:
            return []
        of_query: dict[str, list[Pair]] = {query.query_id: [] for query in self.queries}
        for pair in self.pairs:
            # Pairs of a query that is taken out are listed in `taken_out`.
            if pair.query.query_id in of_query:
                of_query[pair.query.query_id].append(pair)
        omissions = []
        for query_id, pairs in of_query.items():
            if not pairs:
                omissions.append(LeftOut(query_id=query_id, pair_id="", why=NO_PAIR))
            omissions += [
                LeftOut(query_id=query_id, pair_id=pair.pair_id, why=pair.left_out or NO_LINE)
                for pair in pairs
                if pair.pair_id not in self.paired
            ]
        return omissions

    def _topics_not_in_runs(self) -> list[str]:
        """Return the topics whose id is not that of their query, if the export has runs."""
        if not any(entry["name"].startswith(RUNS) for entry in self.into.files):
            return []
        pairs = self._changed_pairs()
        return [pair.pair_id for pair in pairs if pair.pair_id != pair.query.query_id]

    def _claim_counts(self, side: str) -> dict[str, int]:
        """Return the counts of claims on a side, under the manifest's keys."""
        written = selection.claimed(self.pairs, side)
        of_all = sum(pair.claims_on.get(side, 0) for pair in self.pairs)
        counts = {
            "pairs_claimed": len(written),
            "claims": sum(self.claims[side][key] for key in claimed.COUNTS),
            **self.claims[side],
            "claims_set_aside": of_all - sum(pair.claims_on[side] for pair in written),
        }
        return {count_key(key, side): n for key, n in counts.items()}


def _qrels_of(labels: Iterable[claimed.ClaimedLabel]) -> Iterator[Qrel]:
    """Yield the qrels of claimed labels; one without a relevance has no line."""
    for label in labels:
        if label.relevance is not None:
            yield Qrel(label.pair.pair_id, label.doc_id, label.relevance)


def write_core_queries(pairs: Sequence[Pair], into: Writer) -> None:
    """Write the core query of each pair, if several queries share one."""
    cores = {pair.query.query_id: pair.query.core or pair.query.query_id for pair in pairs}
    if len(set(cores.values())) == len(cores):
        return
    with into.file("core_queries.tsv", "The core query of each pair.") as stream:
        write_row(stream, "pair_id", "query_id", "core")
        for pair in pairs:
            core = cores[pair.query.query_id]
            write_row(stream, pair.pair_id, pair.query.query_id, " ".join(core.split()))


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
                answer = conditions.counted_answer(asked, chosen)
                by = "people" if asked.agreed else "claim" if answer else ""
                write_row(stream, document.pair_id, document.doc_id, asked.condition, answer, by)


def write_runs(project: Project, into: Writer) -> None:
    """Copy every run of the project to `runs/`, byte for byte.

    Each is named as it was uploaded, without folders and with a number if the name is taken.
    """
    runs = collection.runs(project)
    plain = (PurePosixPath(run.name.replace("\\", "/")).name or "run" for run in runs)
    for name, run in zip(distinct_names(plain), runs, strict=True):
        with (
            run.file.open("rb") as source,
            into.file(f"{RUNS}{name}", "A run, as it was uploaded.") as stream,
        ):
            copyfileobj(source, stream, BUFFER)
