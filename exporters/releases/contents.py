"""What a release says of itself: release.json, the one file whose sha256 stands for all others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict, cast

from django.conf import settings

from annotate.projects.models import Guideline
from exporters.exports.files import FileFacts
from exporters.exports.manifest import (
    COUNTS,
    FIGURES,
    GROUPS,
    Manifest,
    Pooled,
    Rule,
    with_derived,
)
from exporters.exports.naming import published_names
from exporters.exports.oracle_facts import Oracles
from exporters.exports.rule_facts import KindFacts
from exporters.releases.models import Release

NAME = "release.json"
VERSION = 1
# Files that belong to no format: what judges were told, and which queries there were.
GUIDELINES = "guidelines.txt"
QUERIES = "queries.jsonl"


class _Measured(TypedDict, total=False):
    """What three systems made from the qrels get by each measure, as the manifest of `trec` says
    it. Absent where nothing can be measured, and of releases made before there was such a thing.
    """

    oracles: Oracles


class Contents(_Measured, Pooled, KindFacts):
    """The whole of it, in the row and in release.json.

    `at`: the moment whose rows it holds (ISO 8601, UTC). `counts`, `warnings` and `notes` are by
    format, as the manifest of each says them; what each pair came to stands there. `files`: every
    file but this one, under the names by which a release is downloaded (`trec/qrels.changed.txt`).
    """

    release: int
    project: dict[str, str]
    name: str
    note: str
    by: str
    at: str
    code_version: str
    guidelines: int | None
    grades: list[dict[str, Any]]
    counts: dict[str, dict[str, int]]
    rules: list[Rule]
    warnings: list[str]
    notes: dict[str, list[str]]
    files: list[FileFacts]


def compose(
    release: Release,
    *,
    at: datetime,
    guideline: Guideline | None,
    written: Mapping[str, Manifest],
    files: list[FileFacts],
) -> Contents:
    """Return what a release holds whose files are all written; `written` by format."""
    project = release.project
    held = Contents(
        release=VERSION,
        project={"slug": project.slug, "name": project.name},
        name=release.name,
        note=release.note,
        by=_named(release),
        at=at.isoformat(),
        code_version=settings.VERSION,
        guidelines=guideline.version if guideline else None,
        grades=next(iter(written.values()))["grades"],
        counts={name: manifest["counts"] for name, manifest in written.items()},
        rules=[rule for manifest in written.values() for rule in manifest["rules"]],
        warnings=[words for manifest in written.values() for words in manifest["warnings"]],
        notes={name: manifest["notes"] for name, manifest in written.items()},
        files=files,
    )
    for manifest in written.values():
        if "oracles" in manifest:
            held["oracles"] = manifest["oracles"]
        if "must_hold" in manifest:
            held["kind"], held["must_hold"] = manifest["kind"], manifest["must_hold"]
        if "dropped_shares" in manifest:
            held["dropped_shares"] = manifest["dropped_shares"]
        if "label_checks" in manifest:
            held["label_checks"] = manifest["label_checks"]
        if "taken_out" in manifest:
            held["taken_out"] = manifest["taken_out"]
    of_any = next(iter(written.values()))
    # Every manifest of one moment says the same of these.
    if "pools" in of_any:
        held["pools"] = of_any["pools"]
    if "removed_candidates" in of_any:
        held["removed_candidates"] = of_any["removed_candidates"]
    if "hard_negatives" in of_any:
        held["hard_negatives"] = of_any["hard_negatives"]
    return held


def _named(release: Release) -> str:
    """Return what who made the release is called in what is published."""
    if release.by is None:
        return ""
    return published_names(release.project).get(release.by.name, release.by.name)


def to_bytes(contents: Contents) -> bytes:
    """What a release holds as it stands in its file: the same whatever order a database keeps."""
    text = json.dumps(contents, ensure_ascii=False, indent=2, sort_keys=True)
    return text.encode() + b"\n"


def of(release: Release) -> Contents:
    """What a release that was made holds."""
    if release.manifest is None:
        raise ValueError(f"release {release.name} holds nothing yet")
    return cast(Contents, release.manifest)


def own_facts(release: Release) -> FileFacts:
    """The facts of release.json itself."""
    content = to_bytes(of(release))
    return FileFacts(
        name=NAME,
        holds="What this release holds, with the sha256 of every file.",
        lines=content.count(b"\n"),
        bytes=len(content),
        sha256=release.sha256,
    )


def files(release: Release) -> dict[str, FileFacts]:
    """Every file of a release by its name, release.json first."""
    every = [own_facts(release), *of(release)["files"]]
    return {entry["name"]: entry for entry in every}


def figures(contents: Contents) -> list[tuple[str, int]]:
    """The few counts that say most, with their words."""
    counts = all_counts(contents)
    return [(words, counts[key]) for key, words in FIGURES.items() if key in counts]


def groups(contents: Contents) -> list[tuple[str, list[tuple[str, int]]]]:
    """All counts with their words, by heading."""
    counts = all_counts(contents)
    named = (
        (heading, [(shown, counts[key]) for key, shown in words.items() if key in counts])
        for heading, words in GROUPS.items()
    )
    return [(heading, rows) for heading, rows in named if rows]


def all_counts(contents: Contents) -> dict[str, int]:
    """The counts of all formats together: where two count the same thing, they count alike."""
    together: dict[str, int] = {}
    for counts in contents["counts"].values():
        together |= counts
    together = with_derived(together)
    return {key: together[key] for key in COUNTS if key in together}


def _counted(counts: Mapping[str, int], key: str, noun: str) -> str:
    n = counts[key]
    return f"{n:,} {noun if n == 1 else noun + 's'}"


def _pairs(counts: Mapping[str, int]) -> str:
    """The instruction pairs, and how many of them the qrels have, where these are not all."""
    told = _counted(counts, "pairs", "instruction pair")
    kinds = {"pairs_written": "changed", "pairs_claimed": "claimed"}
    held = {kind: counts[key] for key, kind in kinds.items() if counts.get(key)}
    if held == {"changed": counts["pairs"]} or "pairs_written" not in counts:
        return told
    held = held or {"changed": 0}
    return f"{told} ({', '.join(f'{n:,} in the {kind} qrels' for kind, n in held.items())})"


def citation(release: Release) -> str:
    """A sentence by which a paper names exactly this release."""
    contents = of(release)
    counts = all_counts(contents)
    holds = (
        f"{counts['queries']:,} {'query' if counts['queries'] == 1 else 'queries'}, "
        f"{_pairs(counts)}, "
        f"{_counted(counts, 'judgments_by_people', 'judgment')} by people, "
        f"{counts['adjudications_standing']:,} settled by leads, "
        f"{_counted(counts, 'judgments_by_machines', 'label')} claimed by machines"
    )
    return (
        f"{contents['project']['name']}, release {contents['name']} ({contents['at'][:10]}; "
        f"{holds}), made with Rejudge {contents['code_version']}, sha256 {release.sha256}."
    )
