"""The manifest of an export: counts, rules, warnings, notes and files; and its README."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from django.conf import settings

from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from base.texts import agree, amount
from exporters.exports.files import FileFacts, Writer
from exporters.exports.manifest.rule_facts import KindFacts
from exporters.exports.proof.oracles import Oracles
from exporters.exports.selection.collection import note_on_texts
from exporters.exports.selection.pools import (
    NEGATIVES,
    negative_facts,
    pool_facts,
    removed_facts,
)
from exporters.exports.selection.selection import Pair

NAME, README = "manifest.json", "README.md"
VERSION = 1

# Counts of the claims on each side: the keys of the altered side, with their descriptions.
CLAIMS = {
    "claims": "in the claimed qrels",
    "claims_unchecked": "not checked, the claim counts",
    "claims_checked": "checked",
    "claims_corrected": "of these corrected",
    "claims_open": "check not over, the claim counts",
    "claims_unjudgeable": "nobody could judge, the claim counts",
    "claims_judged": "judged by people, whose judgment counts",
    "claims_disputed": "disputed by people, the claim counts",
    "claims_undecided": "claimed differently by several machines, without a line",
    "claims_set_aside": "in pairs that are left out",
}


def count_key(key: str, side: str) -> str:
    """Return the key of a count of claims on a side, as in `claims_reversed_checked`.

    Keys of the altered side do not name the side.
    """
    if side == Narrative.Side.ALTERED:
        return key
    if key.startswith("claims"):
        return f"claims_{side}{key.removeprefix('claims')}"
    return f"{key}_{side}"


# The heading of what a layout holds.
PUBLISHED = "Published"
# The description of each count (`base.texts.agree`), grouped and in the order on the page.
GROUPS = {
    "Pools": {
        "queries": "quer[y|ies]",
        "candidates": "document[s] in their pools",
        "prior": "with an earlier relevance",
        "prior_relevant": "relevant before",
        "documents_with_newer_texts": "document[s] with several text versions",
    },
    "Instruction pairs": {
        "pairs": "in total",
        "pairs_written": "in the changed qrels",
        "pairs_claimed": "in the claimed qrels",
        "pairs_claimed_reversed": "in the claimed qrels of the reversed side",
        "pairs_claimed_original": "in the claimed qrels of the original side",
    },
    "Documents under the altered narratives": {
        "judged": "judged",
        "settled": "settled by a lead",
        "disputed": "disputed, left out",
        "unjudged": "not judged, left out",
        "kept": "not put before judges, earlier relevance kept",
        "without_relevance": "not put before judges, no earlier relevance, left out",
        "fewer_than_asked": "judged by fewer people than asked for",
    },
    "Relevance that changed": {
        "changed": "document[s] in total",
        "dropped": "relevant before, not now",
        "grew": "relevant now, not before",
    },
    PUBLISHED: {
        "layout_pairs": "instruction pair[s]",
        "layout_pairs_reversed": "with a reversed narrative that people judged",
        "layout_documents": "document[s]",
        "layout_without_text": "of these without a text in this project",
        "layout_candidates": "candidate[s] to rerank, over all pairs",
        "layout_original": "line[s] in the original qrels",
        "layout_changed": "line[s] in the changed qrels",
        "layout_claims": "of these claimed by a machine only",
        "layout_undecided": "claimed differently by several machines, without a relevance",
        "layout_differing": "with another relevance after the change",
        "layout_without_line": "with a line in the original qrels only",
    },
    "Claimed labels": CLAIMS,
    **{
        f"Claimed labels under {side} narratives": {
            count_key(key, side): words for key, words in CLAIMS.items()
        }
        for side in ("reversed", "original")
    },
    "Records": {
        "judgments": "judgment[s] of people and machines, including superseded ones",
        "verdicts": "document[s] with verdicts on conditions",
        "flags": "flag[s]",
        "adjudications": "settling decision[s], including withdrawn ones",
        "rubrics": "rubric[s]",
        "reviews": "review[s]",
        "reviews_by_machines": "review[s] by machines, among these",
        "decisions": "decision[s] on instructions",
        "repeats": "answer[s] to repeated documents",
        "samples": "sample[s] of labels",
        "checks": "checked label[s]",
        "checks_open": "label[s] not checked yet, left out",
        "drafts": "review[s] not submitted, left out",
    },
    "Judgments": {
        "judgments_by_people": "of people",
        "judgments_counted": "of these under the current narrative, counted",
        "judgments_stale": "of these under an older narrative or text, not counted",
        "judgments_set_aside": "of these in pairs or of documents that are left out, not counted",
        "adjudications_standing": "settling decision[s] by leads",
        "adjudications_counted": "of these under the current narrative, counted",
        "judgments_by_machines": "claimed by machines under every version, not counted",
        **{
            f"judgments_by_machines_{side}": f"of these under {side} narratives"
            for side in Narrative.Side.values
        },
        "judgments_superseded": "superseded or withdrawn",
    },
}
COUNTS = [key for group in GROUPS.values() for key in group]
# The most important counts, with descriptions that need no heading.
FIGURES = {
    "judged": "document[s] judged, not settled",
    "settled": "document[s] settled by a lead",
    "disputed": "disputed, left out",
    "unjudged": "not judged, left out",
    "changed": "with another relevance",
    "judgments_by_people": "judgment[s] by people under every version",
    "adjudications_standing": "settling decision[s] under every version",
    "judgments_by_machines": "claim[s] by machines under every version",
    "claims": "claimed label[s] in the claimed qrels",
    "claims_corrected": "claim[s] corrected",
    "reviews": "review[s]",
}


def figures(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the most important counts, with their descriptions.

    If nobody judged, those that are 0 are left out: most of them are about judging.
    """
    described = _described(counts, FIGURES)
    if counts.get("judgments_by_people"):
        return described
    return [(words, count) for words, count in described if count]


def groups(counts: Mapping[str, int]) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return all counts with their descriptions, by heading."""
    named = [(heading, _described(counts, words)) for heading, words in GROUPS.items()]
    return [(heading, rows) for heading, rows in named if rows]


def _described(counts: Mapping[str, int], words: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return the counts that there are, each with its description in the form for its number."""
    return [(agree(words[key], counts[key]), counts[key]) for key in words if key in counts]


class Rule(TypedDict):
    """A rule by which the export was made, in a sentence or two."""

    about: str
    says: str


class PairFacts(TypedDict):
    """One pair: the narrative versions that were judged, and the counts.

    `left_out` is the reason why a pair is not in the changed qrels, and empty for one that is.
    `claimed` is "yes" for a pair in the claimed qrels, and else the reason why it is not;
    `claimed_on` is the same for each side on which a machine has claims. `counts` has the keys of
    COUNTS that are about one pair.
    """

    pair_id: str
    query_id: str
    category: str
    versions: dict[str, int]
    left_out: str
    claimed: str
    claimed_on: dict[str, str]
    counts: dict[str, int]


# Why a topic is left out of the paired qrels, besides the reasons in `PairFacts.left_out`.
NO_PAIR = "no instruction pair"
NO_LINE = "disputed or not judged"


class LeftOut(TypedDict):
    """A topic that is in neither qrels.original.txt nor qrels.changed.txt, and why.

    `pair_id` is "" for a query without an instruction pair.
    """

    query_id: str
    pair_id: str
    why: str


def pair_facts(pair: Pair, counts: dict[str, int]) -> PairFacts:
    """Return the facts of a pair, with sides in the order of `Narrative.Side`."""
    return PairFacts(
        pair_id=pair.pair_id,
        query_id=pair.query.query_id,
        category=pair.category,
        versions={
            side: pair.versions[side].version
            for side in Narrative.Side.values
            if side in pair.versions
        },
        left_out=pair.left_out,
        claimed=pair.claimed,
        claimed_on={side: why for side, why in pair.claimed_on.items() if side in pair.claims_on},
        counts=counts,
    )


class SharedFacts(KindFacts, total=False):
    """Facts that manifests share with release.json. Absent: there are none."""

    # The values of three systems made from the qrels.
    oracles: Oracles
    # Where the candidates come from: the pools, the candidates taken out of them with the reasons,
    # and the systems of the hard negatives.
    pools: list[dict[str, Any]]
    removed_candidates: list[dict[str, Any]]
    hard_negatives: dict[str, Any]


class Manifest(SharedFacts):
    """The whole manifest, as in manifest.json and on the export's page.

    It has no timestamp: the same rows make the same bytes. `relevant_from` is the lowest relevant
    grade, `rules` says how each relevance was determined, `warnings` what looks wrong, `notes` what
    else a user of the files should know. `left_out` names the topics that are missing from the
    paired qrels.
    """

    manifest: int
    format: str
    project: dict[str, str]
    code_version: str
    counts: dict[str, int]
    rules: list[Rule]
    warnings: list[str]
    notes: list[str]
    grades: list[dict[str, Any]]
    relevant_from: int
    pairs: list[PairFacts]
    left_out: list[LeftOut]
    files: list[FileFacts]
    # How many documents the project has, in pools or not; in the manifest of `trec`.
    documents: NotRequired[int]
    # The newest text version of each document that has several, by its id.
    text_versions: NotRequired[dict[str, int]]
    # What to look at before publishing, by kind: `count`, and the `first` of them.
    before_publishing: NotRequired[dict[str, dict[str, Any]]]


def compose(
    *,
    project: Project,
    format_name: str,
    counts: dict[str, int],
    rules: list[Rule],
    warnings: list[str],
    notes: list[str],
    pairs: list[PairFacts],
    left_out: list[LeftOut],
    files: list[FileFacts],
    texts: dict[str, int] | None = None,
    measured: Oracles | None = None,
    before_publishing: dict[str, dict[str, Any]] | None = None,
    of_kind: KindFacts | None = None,
) -> Manifest:
    """Return the manifest of an export whose files are all written.

    `counts` has keys of COUNTS; `texts` are documents with newer texts, and are counted here.
    """
    if texts:
        counts = {**counts, "documents_with_newer_texts": len(texts)}
    made = Manifest(
        manifest=VERSION,
        format=format_name,
        project={"slug": project.slug, "name": project.name},
        code_version=settings.VERSION,
        counts={key: counts[key] for key in COUNTS if key in counts},
        rules=rules,
        warnings=warnings,
        notes=notes,
        grades=grades_of(project),
        relevant_from=project.relevant_from,
        pairs=pairs,
        left_out=left_out,
        files=files,
    )
    if texts:
        made["text_versions"] = texts
    if measured:
        made["oracles"] = measured
    if before_publishing:
        made["before_publishing"] = before_publishing
    _add_pools(made, project)
    if of_kind:
        made.update(of_kind)  # type: ignore[typeddict-item]
    return made


def grades_of(project: Project) -> list[dict[str, Any]]:
    """Return the project's grades with their names and sentences, the lowest first."""
    return [
        {"value": grade.value, "name": grade.name, "sentence": grade.sentence}
        for grade in project.grades.order_by("value")
    ]


def _add_pools(made: Manifest, project: Project) -> None:
    if facts := pool_facts(project):
        made["pools"] = facts
    if removed := removed_facts(project):
        made["removed_candidates"] = removed
        documents = amount(len(removed), "document was", "documents were")
        words = (
            f"{documents} taken out of the pools: in removed_candidates with the reason, and in no "
            "qrels."
        )
        made["notes"] = [*made["notes"], words]
    has_negatives = any(entry["name"] == NEGATIVES for entry in made["files"])
    if has_negatives and (systems := negative_facts(project)):
        made["hard_negatives"] = systems
    if words := note_on_texts(project, made["format"]):
        made["notes"] = [*made["notes"], words]


def to_bytes(manifest: Manifest) -> bytes:
    """Return the content of the manifest file."""
    return json.dumps(manifest, ensure_ascii=False, indent=2).encode() + b"\n"


def write_readme(format_name: str, into: Writer) -> None:
    """Write the README of an export whose other files are written, except its manifest.

    It has a line for each of them, for a person who unpacks the archive.
    """
    about_manifest = (
        f"`{NAME}` says how each relevance was determined, warns of what is missing, and has "
        "counts for each pair and the sha256 of each file."
    )
    lines = [
        f"# Files of the export `{format_name}`",
        "",
        about_manifest,
        "",
        *(f"- `{entry['name']}`: {entry['holds']}" for entry in into.files),
    ]
    with into.file(README, "What each file holds.") as stream:
        stream.write(("\n".join(lines) + "\n").encode())
