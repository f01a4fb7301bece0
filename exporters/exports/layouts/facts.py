"""The manifest of a layout: what was written, and what the layout cannot hold."""

from __future__ import annotations

from collections.abc import Sequence

from base.texts import amount
from exporters.exports import before_publishing
from exporters.exports.files import Writer
from exporters.exports.layouts import about, rows
from exporters.exports.layouts.published import Published
from exporters.exports.manifest.manifest import Manifest, Rule, compose, pair_facts
from exporters.exports.selection import collection
from exporters.exports.selection.selection import tally

# What several layouts cannot hold, and what none can.
ONE_TEXT = (
    "A query's text is its description, or its title where it has none; pairs.jsonl has both."
)
EVERYWHERE = (
    "No layout contains who judged what, notes, evidence, flags, or older versions of narratives "
    "and texts; the format jsonl has them, with the names of annotators."
)


def finish(
    layout: str,
    published: Published,
    into: Writer,
    *,
    not_held: Sequence[str],
    pairs: str = rows.PAIRS,
) -> Manifest:
    """Write the files that every layout has, the pairs and how they were judged, and return the
    manifest of all its files.

    `not_held`: what the layout cannot hold of any project, in sentences.
    """
    rows.write_pairs_file(published, into, pairs)
    about.write(published.project, into)
    counts = {**published.counts, **tally(published.project, published.all_pairs)}
    notes = [*not_held, *published.notes, EVERYWHERE]
    if marked := len(published.with_markup & published.documents):
        notes.append(
            "Texts that are HTML or Markdown tables are written unchanged, without a mark that "
            f"they are tables: {amount(marked, 'document')}."
        )
    if left_out := len(published.left_out):
        topics = amount(left_out, "query or pair is", "queries and pairs are")
        notes.append(f"{topics} left out; the manifest lists each with the reason.")
    return compose(
        project=published.project,
        format_name=layout,
        counts=counts,
        rules=_rules(published),
        warnings=warnings_of(published),
        notes=notes,
        pairs=[pair_facts(pair, {}) for pair in published.every_pair],
        left_out=published.left_out,
        texts=collection.documents_with_newer_texts(published.project, published.documents),
        before_publishing=before_publishing.facts(
            published.project, claims=bool(published.machines)
        ),
        files=into.files,
    )


def _rules(published: Published) -> list[Rule]:
    publication = published.publication
    texts = (
        f"Titles and newest texts are published. {publication.texts_rights}"
        if publication.texts
        else "Only ids are published: the project's publication settings withhold texts."
    )
    return [
        Rule(about="Texts", says=texts),
        *([Rule(about="Licence", says=publication.rights)] if publication.rights else []),
        Rule(
            about="Relevance",
            says="Before the change: the relevance that documents were loaded with. After it: the "
            "relevance of qrels.changed.txt in the format trec"
            + (
                "; for documents that nobody has judged, the outcome of a check or the claim of "
                f"{' or '.join(machine.name for machine in published.machines)}, as in "
                "qrels.claimed.txt."
                if published.machines
                else "."
            ),
        ),
        Rule(
            about="Changed documents",
            says="Those with a relevance before and after the change that differ.",
        ),
        Rule(
            about="People",
            says="about.json has the number of judgments of each person. People appear by number, "
            "and by name if they agreed to be named.",
        ),
    ]


def warnings_of(published: Published) -> list[str]:
    """Return warnings for users of the files."""
    counts = published.counts
    warnings = []
    if not published.publication.texts:
        warnings.append(
            "The corpus contains only ids: a system needs the collection itself to rank it. "
            "Publish texts if the licence allows it."
        )
    elif without := counts.get("layout_without_text"):
        documents = amount(without, "document has no text and is", "documents have no text and are")
        warnings.append(f"{documents} written with an empty one.")
    if claims := counts.get("layout_claims"):
        grades = amount(claims, "grade is a claim", "grades are claims")
        warnings.append(f"{grades} of a machine that nobody has judged or checked.")
    if undecided := counts.get("layout_undecided"):
        labels = amount(
            undecided,
            "label is claimed differently by several machines and has",
            "labels are claimed differently by several machines and have",
        )
        warnings.append(f"{labels} no relevance: nobody has chosen whose claims count.")
    if without := counts.get("layout_without_line"):
        warnings.append(
            f"{amount(without, 'document has', 'documents have')} a relevance before the change "
            "and none after it: disputed or not judged. Evaluators treat that as not relevant."
        )
    if published.project.relevant_from != 1:
        warnings.append(
            f"Documents are relevant from grade {published.project.relevant_from}; the readers of "
            "these files treat grade 1 as relevant."
        )
    return warnings
