"""release.json: the content of a release. Its sha256 covers all other files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar, cast

from django.conf import settings

from annotate.pairs.models import Narrative
from annotate.projects.models import Guideline
from base.texts import amount
from exporters.exports.files import FileFacts
from exporters.exports.layouts.citation import creators_of
from exporters.exports.manifest.manifest import (
    COUNTS,
    GROUPS,
    PUBLISHED,
    Manifest,
    Rule,
    SharedFacts,
    count_key,
)
from exporters.exports.models import Export, publication_of
from exporters.exports.selection.labellers import Labellers
from exporters.exports.selection.naming import published_names
from exporters.releases.models import Release

Entry = TypeVar("Entry")
NAME = "release.json"
VERSION = 1
# Files that belong to no format: the guidelines and the queries.
GUIDELINES = "guidelines.txt"
QUERIES = "queries.jsonl"
# What a release repeats of manifests that have it; manifests of one snapshot have the same values.
REPEATED = (
    *("oracles", "kind", "must_hold", "dropped_shares", "label_checks", "taken_out"),
    *("pools", "removed_candidates", "hard_negatives"),
)


class Contents(SharedFacts):
    """The whole content, as in the row and in release.json.

    `at`: the time of the snapshot (ISO 8601, UTC). `counts` and `notes` are by format, as in the
    manifest of each, which also has the facts of each pair; `warnings` are those of all formats.
    `files`: every file except this one, under the names by which a release is downloaded
    (`trec/qrels.changed.txt`).
    """

    release: int
    project: dict[str, str]
    name: str
    note: str
    by: str
    # Family and given name of each.
    creators: list[str]
    at: str
    code_version: str
    guidelines: int | None
    grades: list[dict[str, Any]]
    counts: dict[str, dict[str, int]]
    # Who gave the labels of the qrels, as in about.json.
    labels: Labellers
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
    labels: Labellers,
    files: list[FileFacts],
) -> Contents:
    """Return the content of a release whose files are all written; `written`: its manifests."""
    project = release.project
    held = Contents(
        release=VERSION,
        project={"slug": project.slug, "name": project.name},
        name=release.name,
        note=release.note,
        by=_author_name(release),
        creators=[
            ", ".join(filter(None, creator)) for creator in creators_of(publication_of(project))
        ],
        at=at.isoformat(),
        code_version=settings.VERSION,
        guidelines=guideline.version if guideline else None,
        grades=next(iter(written.values()))["grades"],
        counts={name: manifest["counts"] for name, manifest in written.items()},
        labels=labels,
        rules=_each_once(rule for manifest in written.values() for rule in manifest["rules"]),
        warnings=_warnings(written),
        notes={name: manifest["notes"] for name, manifest in written.items()},
        files=files,
    )
    for manifest in written.values():
        for key in REPEATED:
            if key in manifest:
                held[key] = manifest[key]  # type: ignore[literal-required]
    return held


def _warnings(written: Mapping[str, Manifest]) -> list[str]:
    """Return the warnings of all formats; those of layouts only have their names in front."""
    formats: dict[str, list[str]] = {}
    for name, manifest in written.items():
        for warning in manifest["warnings"]:
            formats.setdefault(warning, []).append(name)
    return [
        warning if Export.Format.TREC in names else f"{', '.join(names)}: {warning}"
        for warning, names in formats.items()
    ]


def _each_once(entries: Iterable[Entry]) -> list[Entry]:
    """Return what several formats say, each of it once."""
    distinct: list[Entry] = []
    for entry in entries:
        if entry not in distinct:
            distinct.append(entry)
    return distinct


def _author_name(release: Release) -> str:
    """Return the published name of the person who made the release."""
    if release.by is None:
        return ""
    return published_names(release.project).get(release.by.name, release.by.name)


def to_bytes(contents: Contents) -> bytes:
    """Return the bytes of release.json: keys are sorted, because a database may reorder them."""
    text = json.dumps(contents, ensure_ascii=False, indent=2, sort_keys=True)
    return text.encode() + b"\n"


def of(release: Release) -> Contents:
    """Return the content of a finished release."""
    if release.manifest is None:
        raise ValueError(f"release {release.name} holds nothing yet")
    return cast(Contents, release.manifest)


def own_facts(release: Release) -> FileFacts:
    """Return the facts of release.json itself."""
    content = to_bytes(of(release))
    return FileFacts(
        name=NAME,
        holds="The contents of this release, with the sha256 of every file.",
        lines=content.count(b"\n"),
        bytes=len(content),
        sha256=release.sha256,
    )


def files(release: Release) -> dict[str, FileFacts]:
    """Return every file of a release by its name, release.json first."""
    every = [own_facts(release), *of(release)["files"]]
    return {entry["name"]: entry for entry in every}


def all_counts(contents: Contents) -> dict[str, int]:
    """Return the counts of all formats together.

    What layouts hold is left out if they hold different pairs or documents.
    """
    formats = contents["counts"]
    together: dict[str, int] = {}
    of_layouts: list[dict[str, int]] = []
    for counts in formats.values():
        together |= counts
        if held := {key: n for key, n in counts.items() if key in GROUPS[PUBLISHED]}:
            of_layouts.append(held)
    # A layout counts only what it holds where these count the whole project.
    together |= formats["jsonl"] | formats["trec"]
    differ = any(held != of_layouts[0] for held in of_layouts)
    left_out = GROUPS[PUBLISHED] if differ else {}
    return {key: together[key] for key in COUNTS if key in together and key not in left_out}


def _describe_pairs(counts: Mapping[str, int]) -> str:
    """Return the number of instruction pairs, and how many are in the qrels if not all are."""
    total = amount(counts["pairs"], "instruction pair")
    kinds = {"pairs_written": "changed", "pairs_claimed": "claimed"}
    held = {kind: counts[key] for key, kind in kinds.items() if counts.get(key)}
    if held == {"changed": counts["pairs"]} or "pairs_written" not in counts:
        return total
    held = held or {"changed": 0}
    return f"{total} ({', '.join(f'{n:,} in the {kind} qrels' for kind, n in held.items())})"


def citation(release: Release) -> str:
    """Return a sentence that cites exactly this release, with what counts in its qrels."""
    contents = of(release)
    counts = all_counts(contents)
    claims, checked, corrected = (
        sum(counts.get(count_key(key, side), 0) for side in Narrative.Side.values)
        for key in ("claims", "claims_checked", "claims_corrected")
    )
    by_people = f" ({checked:,} checked by people, {corrected:,} corrected)" if checked else ""
    holds = (
        f"{amount(counts['queries'], 'query', 'queries')}, "
        f"{_describe_pairs(counts)}, "
        f"{amount(counts['judgments_counted'], 'judgment')} by people, "
        f"{amount(counts['adjudications_counted'], 'settling decision')} by leads, "
        f"{amount(claims, 'label')} claimed by machines{by_people}"
    )
    creators = "; ".join(contents["creators"])
    return (
        f"{creators}{'. ' if creators else ''}{contents['project']['name']}, "
        f"release {contents['name']} ({contents['at'][:10]}; "
        f"{holds}), made with Rejudge {contents['code_version']}, sha256 {release.sha256}."
    )
