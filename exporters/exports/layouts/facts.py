"""The manifest of a layout: what was written, and what the layout cannot hold."""

from __future__ import annotations

from exporters.exports import collection
from exporters.exports.files import FileFacts
from exporters.exports.layouts.published import ALTERED, REVERSED, Published
from exporters.exports.manifest import Manifest, Rule, compose, pair_facts
from exporters.exports.tally import tally

# What each layout cannot hold, besides what no layout holds (EVERYWHERE).
_ONE_TEXT = (
    "A query's text is its description, or its title where it has none; pairs.jsonl has both."
)
_HYPHENS = "A pair id with an underscore is written with a hyphen; pair_ids.tsv has both."
_TABLES = (
    "A table is positive, or it is not: grades, titles, and original and reversed narratives have "
    "no place."
)
_NUMBERED = "Queries are numbered, and instructions by their places; ids.tsv has both ids."
_COLUMNS = (
    "Documents have no ids here: the column of a text says which conditions it meets. Titles, "
    "grades and other sides than the altered one have no place."
)
_ROWS = "Queries are rows, counted from 0; ids.tsv has both ids."
_RECORD = (
    "A record has one positive and one hard negative, the first of several by id. Ids of "
    "documents, titles and grades have no place."
)
NOT_HELD = {
    "mteb": (_ONE_TEXT, _HYPHENS),
    "hf": (_ONE_TEXT, _HYPHENS),
    "beir": (
        _ONE_TEXT,
        "BEIR's loader reads neither top_ranked.jsonl nor pairs.jsonl.",
    ),
    "ir-datasets": (
        "Categories and conditions are in pairs.jsonl, which ir_datasets does not read.",
    ),
    "followtable": (_ONE_TEXT, _TABLES, _NUMBERED),
    "infosearch": (_ONE_TEXT, "Each instruction pair is a query of its own, under the pair's id."),
    "multiconir": (_COLUMNS, _ROWS),
    "multi-infosearch": (_RECORD,),
    "citation": ("This layout names the collection and holds none of its data.",),
}
EVERYWHERE = (
    "No layout holds who judged what, notes, evidence, flags, or older versions of narratives and "
    "texts: the format jsonl does, with the names of annotators."
)


def manifest_of(layout: str, published: Published, files: list[FileFacts]) -> Manifest:
    """Return the manifest of a layout whose files are all written."""
    pairs = published.every_pair
    counts = published.counts | tally(published.project, published.all_pairs).counts()
    counts["layout_pairs"] = len(published.pairs[ALTERED])
    if published.pairs[REVERSED]:
        counts["layout_pairs_reversed"] = len(published.pairs[REVERSED])
    newer_texts = collection.documents_with_newer_texts(published.project, published.documents)
    if newer_texts:
        counts["documents_with_newer_texts"] = len(newer_texts)
    marked = counts.pop("layout_with_markup", 0)
    notes = [*NOT_HELD[layout], *published.notes, EVERYWHERE]
    if marked:
        notes.append(
            f"{marked:,} documents are HTML or Markdown tables. Their texts are written as they "
            "stand; that they are tables is not said."
        )
    if published.left_out:
        notes.append(
            f"{len(published.left_out):,} queries and pairs are left out; the manifest names each "
            "with the reason."
        )
    return compose(
        project=published.project,
        format_name=layout,
        counts=counts,
        rules=_rules(published),
        warnings=[] if layout == "citation" else warnings_of(published),
        notes=notes,
        pairs=[pair_facts(pair, {}) for pair in pairs],
        left_out=published.left_out,
        texts=newer_texts,
        files=files,
    )


def _rules(published: Published) -> list[Rule]:
    publication = published.publication
    texts = (
        f"Titles and newest texts are published under the licence {publication.licence}."
        if publication.texts
        else "Ids alone are published: the project's publication settings keep texts back."
    )
    return [
        Rule(about="Texts", says=texts),
        Rule(
            about="Relevance",
            says="Before the change: what documents came with. After it: the relevance of "
            "qrels.changed.txt in the format trec"
            + (
                f"; where nobody has judged, what a check found, or what {published.rater.name} "
                "claims, as in qrels.claimed.txt."
                if published.rater
                else "."
            ),
        ),
        Rule(
            about="Changed documents",
            says="Those with a relevance before and after the change that differ.",
        ),
        Rule(
            about="People",
            says="about.json counts the judgments of each person by a number. It names those who "
            "agreed to be named.",
        ),
    ]


def warnings_of(published: Published) -> list[str]:
    """Return warnings for users of the files."""
    counts = published.counts
    found = []
    if not published.publication.texts:
        found.append(
            "The corpus holds ids alone: a system needs the collection itself to rank it. Publish "
            "texts if the licence allows it."
        )
    elif without := counts.get("layout_without_text"):
        found.append(f"{without:,} documents have no text here and are written with an empty one.")
    if claims := counts.get("layout_claims"):
        found.append(
            f"{claims:,} grades are claims of a machine that nobody has judged or checked."
        )
    if without := counts.get("layout_without_line"):
        found.append(
            f"{without:,} documents have a relevance before the change and none after it: they "
            "are disputed or not judged. Evaluators take them for not relevant."
        )
    if published.project.relevant_from != 1:
        found.append(
            f"Documents are relevant from grade {published.project.relevant_from}; the readers of "
            "these files take grade 1 for relevant."
        )
    return found
