"""The export as JSON lines: every judgment, review and decision, with person, time and version.

It is a record, not labels: answers about what was taken out are in each of its files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import IO, Any

from annotate.collection.models import Document, FilterDecision, Query
from annotate.judgments.models import ConditionAdjudication, Judgment
from annotate.projects.models import Project
from audit.reviews.models import Review
from exporters.exports.files import Report, Writer, report_rows
from exporters.exports.manifest import notes
from exporters.exports.manifest.manifest import Manifest, compose, pair_facts
from exporters.exports.selection import collection, conditions, naming, selection, statements
from exporters.exports.selection.pools import write_pool_documents
from exporters.exports.selection.selection import Pair, tally
from formats.collection import write_collection
from formats.fields import to_json
from formats.jsonl import write_docs, write_judgments
from formats.jsonl_pairs import write_pairs
from formats.judgments_csv import JudgmentTable
from formats.machine_filter import write_filter
from formats.reading import write_lines
from formats.records import JudgmentRecord
from formats.rubrics import write_rubrics

# Replaces the names of people in records, or returns the records as they are.
Renamed = Callable[[Iterable[Any]], Iterator[Any]]


def size(project: Project) -> int:
    """Return how many judgments `write` reads, for a progress bar."""
    return Judgment.objects.filter(narrative__pair__project=project).count()


def write(project: Project, into: Writer, report: Report) -> Manifest:
    """Write every file of this export and return its manifest; `report` receives progress.

    In a release, people have their published names.
    """
    names = naming.published_names(project) if into.edition else {}
    renamed = partial(naming.with_published_names, names=names)
    queries = selection.queries(project)
    pairs = selection.pairs(project)
    counts = {"queries": len(queries), "pairs": selection.count_pairs(pairs)}

    newer = collection.documents_with_newer_texts(project)
    if newer:
        holds = "Every version of the documents that have had several texts."
        with into.file("documents.jsonl", holds) as f:
            several = Document.objects.filter(project=project, text_version__gt=1)
            keys = set(several.values_list("pk", flat=True))
            write_docs(collection.documents(project, keys), f)
    counts |= _write_pairs(project, into, renamed)
    _write_collection(project, into, renamed)
    answered = selection.queries_with_removed(project)
    counts["judgments"] = _write_judgments(
        answered, into, report, renamed, text_versions=bool(newer)
    )
    counts |= _write_records(project, answered, pairs, into, renamed)
    counts["checks_open"] = statements.count_open(project)
    write_pool_documents(project, into)
    if FilterDecision.objects.filter(project=project).exists():
        with into.file("filter.jsonl", "Decisions of machines' filters to keep or discard.") as f:
            write_filter(renamed(collection.filter_records(project)), f)

    counts |= tally(project, pairs)
    counts["judgments_superseded"] = Judgment.objects.filter(
        candidate__query__project=project, ended_at__isnull=False
    ).count()
    counts["reviews_by_machines"] = (
        Review.objects.submitted()
        .of_machines()
        .filter(narrative__pair__in=[pair.pk for pair in pairs])
        .count()
    )
    counts["drafts"] = Review.objects.filter(
        narrative__pair__project=project, submitted_at__isnull=True
    ).count()
    return compose(
        project=project,
        format_name="jsonl",
        counts=counts,
        rules=notes.jsonl_rules(published=into.edition is not None),
        warnings=[],
        notes=notes.about_jsonl(
            {
                **counts,
                "conditions_settled": ConditionAdjudication.objects.filter(
                    by__project=project
                ).count(),
                "review_draws": project.review_draws.count(),
            }
        ),
        pairs=[pair_facts(pair, {}) for pair in pairs],
        left_out=[],
        texts=newer,
        files=into.files,
    )


def _write_pairs(project: Project, into: Writer, renamed: Renamed) -> dict[str, int]:
    with into.file("pairs.jsonl", "Instruction pairs with every version of their narratives.") as f:
        write_pairs(renamed(collection.pair_records(project)), f)
        generated = write_pairs(collection.generated_documents(project), f)
    return {"generated_documents": generated} if generated else {}


def _write_collection(project: Project, into: Writer, renamed: Renamed) -> None:
    """Write what pairs.jsonl and the qrels do not have; no file if there is nothing."""
    further = renamed(collection.further_records(project))
    first = next(further, None)
    if first is not None:
        holds = "Further queries and candidates, and what is taken out, with the reason."
        with into.file("collection.jsonl", holds) as f:
            write_collection(chain([first], further), f)


def _write_judgments(
    queries: list[Query],
    into: Writer,
    report: Report,
    renamed: Renamed,
    *,
    text_versions: bool,
) -> int:
    all_judgments = "Every judgment of people and machines, including superseded ones."
    current_judgments = (
        "Current judgments as a table, with active time. For programs: no cell is escaped."
    )
    with (
        into.file("judgments.jsonl", all_judgments) as f,
        into.file("judgments.csv", current_judgments) as beside,
    ):
        table = JudgmentTable(beside, text_versions=text_versions)
        walked = renamed(report_rows(statements.judgments(queries), report))
        written = write_judgments(_copy_to_table(table, walked), f)
        table.close()
    return written


def _write_records(
    project: Project,
    queries: list[Query],
    pairs: list[Pair],
    into: Writer,
    renamed: Renamed,
) -> dict[str, int]:
    """Write a file for each further kind of record, and return how many records each has."""
    counts: dict[str, int] = {}

    def lines(
        name: str,
        holds: str,
        records: Iterable[Any],
        write: Callable[[Iterable[Any], IO[bytes]], int] = write_judgments,
    ) -> None:
        with into.file(f"{name}.jsonl", holds) as stream:
            counts[name] = write(renamed(records), stream)

    lines("flags", "Answers that judges gave instead of a grade.", statements.flags(queries))
    lines("adjudications", "Settling decisions.", statements.adjudications(queries))
    lines("reviews", "Reviews of instructions, with their ratings.", statements.reviews(pairs))
    lines("decisions", "Decisions on instructions, with reasons.", statements.decisions(pairs))
    rubrics = statements.rubrics_of(project)
    lines("rubrics", "The project's rubrics; the last is the current one.", rubrics, write_rubrics)
    answered = conditions.documents(project, pairs, with_removed=True)
    lines("verdicts", "The conditions that documents meet, by rater.", answered, _write_json)
    repeats = statements.repeats(project)
    lines("repeats", "Answers to documents that were repeated, unmarked.", repeats, _write_json)
    samples, checks = statements.samples(project), statements.labels(project)
    holds = "Samples of labels to check, and how each was made."
    lines("samples", holds, samples, statements.write_checks)
    holds = "Checked labels: the claim, and each person's answer."
    lines("checks", holds, checks, statements.write_checks)
    return counts


def _write_json(records: Iterable[Any], stream: IO[bytes]) -> int:
    return write_lines(map(to_json, records), stream)


def _copy_to_table(
    table: JudgmentTable, records: Iterable[JudgmentRecord]
) -> Iterator[JudgmentRecord]:
    """Yield the judgments, and add the current ones to a table on the way.

    Notes are left out of the table: judgments.jsonl has them.
    """
    for record in records:
        if record.superseded_at is None:
            table.add(record._replace(note=""))
        yield record
