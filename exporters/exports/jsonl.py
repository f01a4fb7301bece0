"""The export for the record: everything that was ever said, with who, when and of which words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from annotate.judgments.models import Judgment
from annotate.projects.models import Project
from audit.reviews.models import Review
from exporters.exports import checks, collection, conditions, notes, repeats, selection, statements
from exporters.exports.files import Writer
from exporters.exports.manifest import Manifest, compose, facts_of
from exporters.exports.progress import Report, reported
from formats.jsonl import Statement, write_docs, write_judgments
from formats.jsonl_pairs import write_pairs
from formats.judgments_csv import JudgmentTable
from formats.records import JudgmentRecord
from formats.rubrics import write_rubrics

FORMAT = "jsonl"


def size(project: Project) -> int:
    """Return how many judgments `write` walks, for a progress bar."""
    return Judgment.objects.filter(narrative__pair__project=project).count()


def write(project: Project, into: Writer, report: Report) -> Manifest:
    """Write every file of this export and return its manifest; `report` is told of progress."""
    queries = selection.queries(project)
    pairs = selection.pairs(project)
    tally = selection.tally(project, pairs)
    counts = {"queries": len(queries)}

    newer = collection.documents_with_newer_texts(project)
    if newer:
        holds = "Documents that have had several texts, every version."
        with into.file("documents.jsonl", holds) as f:
            write_docs(collection.documents(project, collection.with_newer_texts(project)), f)
        counts["documents_with_newer_texts"] = len(newer)

    with into.file("pairs.jsonl", "Instruction pairs with every version of their narratives.") as f:
        counts["pairs"] = write_pairs(collection.pair_records(project), f)

    everything = "Every judgment of people and machines, also those that no longer stand."
    standing_ones = "Judgments that stand, as a table, with active time."
    with (
        into.file("judgments.jsonl", everything) as f,
        into.file("judgments.csv", standing_ones) as beside,
    ):
        table = JudgmentTable(beside, text_versions=bool(newer))
        walked = reported(statements.judgments(queries), report)
        counts["judgments"] = write_judgments(_beside(table, walked), f)
        table.close()

    said: list[tuple[str, str, Iterable[Statement]]] = [
        ("flags", "What judges said instead of a grade.", statements.flags(queries)),
        ("adjudications", "Settling decisions.", statements.adjudications(queries)),
        ("reviews", "Reviews of instructions, with their ratings.", statements.reviews(pairs)),
        ("decisions", "What became of instructions, and why.", statements.decisions(pairs)),
    ]
    for name, holds, records in said:
        with into.file(f"{name}.jsonl", holds) as f:
            counts[name] = write_judgments(records, f)

    with into.file("rubrics.jsonl", "The project's rubrics; the last is in force.") as f:
        counts["rubrics"] = write_rubrics(statements.rubrics_of(project), f)

    with into.file("verdicts.jsonl", "Documents and which conditions they meet, by rater.") as f:
        counts["verdicts"] = conditions.write(conditions.documents(project, pairs), f)

    with into.file("repeats.jsonl", "What was said of documents that came again, unmarked.") as f:
        counts["repeats"] = repeats.write(repeats.repeats(project), f)
    with into.file("samples.jsonl", "Samples of labels that are checked, and how each came.") as f:
        counts["samples"] = checks.write(checks.samples(project), f)
    with into.file("checks.jsonl", "Labels that were checked: the claim, and who said what.") as f:
        counts["checks"] = checks.write(checks.labels(project), f)
    counts["checks_open"] = checks.waiting(project)

    counts |= tally.counts()
    standing = counts["judgments_by_people"] + counts["judgments_by_machines"]
    counts["judgments_superseded"] = counts["judgments"] - standing
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
        format_name=FORMAT,
        counts=counts,
        rules=notes.jsonl_rules(),
        warnings=[],
        notes=notes.about_jsonl(counts),
        pairs=[facts_of(pair, {}) for pair in pairs],
        left_out=[],
        texts=newer,
        files=into.files,
    )


def _beside(table: JudgmentTable, records: Iterable[JudgmentRecord]) -> Iterator[JudgmentRecord]:
    """Pass judgments on, and put those that stand into a table on the way. Their notes stay out:
    a spreadsheet takes some words for formulas.
    """
    for record in records:
        if record.superseded_at is None:
            table.add(record._replace(note=""))
        yield record
