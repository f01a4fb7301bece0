"""What an export says of itself: counts, the rules by which it came about, what to look at."""

from __future__ import annotations

import json
from typing import Any, TypedDict

from django.conf import settings

from annotate.models import Grade, Narrative, Project
from exporters.files import FileFacts
from exporters.selection import Pair

NAME = "manifest.json"
VERSION = 1

# What each count counts, in the order in which a person reads them.
GROUPS = {
    "Pools": {
        "queries": "queries",
        "candidates": "documents in their pools",
        "prior": "with an earlier relevance",
        "prior_relevant": "relevant before",
    },
    "Instruction pairs": {
        "pairs": "in all",
        "pairs_written": "in the changed qrels",
        "pairs_claimed": "in the claimed qrels",
    },
    "Documents under the altered narratives": {
        "judged": "judged",
        "settled": "settled by a lead",
        "disputed": "disputed, left out",
        "unjudged": "not judged, left out",
        "kept": "not asked about, earlier relevance kept",
        "without_relevance": "not asked about, without one, left out",
        "fewer_than_asked": "judged by fewer people than asked",
    },
    "Relevance that changed": {
        "changed": "documents in all",
        "dropped": "relevant before, not now",
        "grew": "relevant now, not before",
    },
    "Claimed labels": {
        "claims": "in the claimed qrels",
        "claims_unchecked": "not checked, the claim stands",
        "claims_checked": "checked",
        "claims_corrected": "of these corrected",
        "claims_open": "check not over, the claim stands",
        "claims_unjudgeable": "nobody could judge, the claim stands",
        "claims_judged": "judged by people, which stands",
        "claims_disputed": "disputed by people, the claim stands",
        "claims_set_aside": "in pairs that are left out",
    },
    "Records": {
        "judgments": "judgments",
        "verdicts": "documents with verdicts on conditions",
        "flags": "flags",
        "adjudications": "settling decisions",
        "rubrics": "rubrics",
        "reviews": "reviews",
        "decisions": "decisions on instructions",
        "repeats": "answers to documents that came again",
        "samples": "samples of labels",
        "checks": "checked labels",
        "checks_open": "labels not checked yet, left out",
        "drafts": "reviews not submitted, left out",
    },
    "Judgments": {
        "judgments_counted": "of people under the narrative in force",
        "judgments_stale": "under an older narrative, not counted",
        "judgments_set_aside": "in pairs that are left out, not counted",
        "judgments_by_machines": "of machines, not counted",
        "judgments_superseded": "no longer standing",
    },
}
COUNTS = [key for group in GROUPS.values() for key in group]
# The few that say most, with words that stand alone.
FIGURES = {
    "judged": "documents judged",
    "settled": "settled by a lead",
    "disputed": "disputed, left out",
    "unjudged": "not judged, left out",
    "changed": "with another relevance",
    "claims": "claimed labels",
    "claims_corrected": "claims corrected",
    "judgments": "judgments",
    "adjudications": "settling decisions",
    "reviews": "reviews",
}


class Rule(TypedDict):
    """What is decided in one respect, in a sentence or two."""

    about: str
    says: str


class PairFacts(TypedDict):
    """One pair: which words were judged, and what came of it.

    `left_out` says why a pair is not in the changed qrels, and is empty for one that is. `claimed`
    is "yes" for one in the claimed qrels, and says of any other why it is not. `counts` has the
    keys of COUNTS that are about one pair.
    """

    pair_id: str
    query_id: str
    category: str
    versions: dict[str, int]
    left_out: str
    claimed: str
    counts: dict[str, int]


def facts_of(pair: Pair, counts: dict[str, int]) -> PairFacts:
    """Return the facts of a pair; sides of its versions in the order of `Narrative.Side`."""
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
        counts=counts,
    )


class Manifest(TypedDict):
    """The whole of it, as it stands in manifest.json and on the export's page.

    No moment of writing: the same rows make the same bytes. `rules` says how each relevance came
    about, `warnings` what does not look right, `notes` what else a user of the files should know.
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
    pairs: list[PairFacts]
    files: list[FileFacts]


def compose(
    *,
    project: Project,
    format_name: str,
    counts: dict[str, int],
    rules: list[Rule],
    warnings: list[str],
    notes: list[str],
    pairs: list[PairFacts],
    files: list[FileFacts],
) -> Manifest:
    """Return the manifest of an export whose files are all written. Counts are keys of COUNTS."""
    return Manifest(
        manifest=VERSION,
        format=format_name,
        project={"slug": project.slug, "name": project.name},
        code_version=settings.VERSION,
        counts={key: counts[key] for key in COUNTS if key in counts},
        rules=rules,
        warnings=warnings,
        notes=notes,
        grades=[
            {"value": grade.value, "name": grade.name, "sentence": grade.sentence}
            for grade in Grade.objects.filter(project=project).order_by("value")
        ],
        pairs=pairs,
        files=files,
    )


def to_bytes(manifest: Manifest) -> bytes:
    """The manifest as it stands in its file."""
    return json.dumps(manifest, ensure_ascii=False, indent=2).encode() + b"\n"
