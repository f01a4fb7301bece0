"""Prove a folder: check its files, read it with every installed tool, and compare."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from base.errors import Refused
from exporters.exports.files import BUFFER, PROOF
from exporters.exports.manifest.manifest import NAME
from exporters.exports.models import Export
from exporters.exports.proof.oracles import Topics, measure, rankings
from exporters.exports.proof.plain import Content, Qrels
from exporters.exports.proof.readers import PLAIN, READERS, Reader
from formats.records import Qrel

MEASURES = ("p-MRR", "nDCG@10 before", "nDCG@10 after")
OF_MTEB = "p-MRR of mteb"


OracleValues = dict[str, float | None]
SAME, DIFFERS, NOT_INSTALLED, FAILED = "same", "differs", "not installed", "failed"


def measure_oracle(
    qrels: Qrels, relevant: int, *, as_mteb: bool = False
) -> dict[str, float | None]:
    """Return the values of the system that ranks by the changed qrels, as a release has them.

    `relevant`: the lowest relevant grade; `as_mteb`: also the p-MRR that mteb computes.
    """
    if not qrels.get("original") or not qrels.get("changed"):
        return {}
    found = measure({side: _lines(grades) for side, grades in qrels.items()}, relevant, "")
    by_measure = {facts["measure"]: facts["oracle"] for facts in found.measures}
    values = {measure: by_measure.get(measure) for measure in MEASURES}
    return values | {OF_MTEB: _p_mrr_of_mteb(qrels)} if as_mteb else values


def _lines(grades: Mapping[str, Mapping[str, int]]) -> Iterator[Qrel]:
    for pair in sorted(grades):
        for doc_id, relevance in grades[pair].items():
            yield Qrel(pair, doc_id, relevance)


def _p_mrr_of_mteb(qrels: Qrels) -> float | None:
    from measures import p_mrr

    sides = {side: {pair: dict(its) for pair, its in qrels[side].items()} for side in qrels}
    oracle = rankings(Topics(sides))["oracle"]
    return p_mrr(
        original=oracle["original"],
        changed=oracle["changed"],
        qrels_original=sides["original"],
        qrels_changed=sides["changed"],
        documents="changed",
        unjudged="left_out",
        interval=None,
    ).value


class Result(TypedDict):
    """The result of one tool: its version, the outcome, and its counts."""

    tool: str
    version: str | None
    result: str
    says: list[str]
    counts: dict[str, int]
    oracle: OracleValues


class Proof(TypedDict):
    """The content of proof.json. `expected` is what json and csv alone read in the folder."""

    proof: int
    layout: str
    manifest_sha256: str
    expected: dict[str, dict[str, Any]]
    oracle: OracleValues
    results: list[Result]


def prove(folder: Path) -> Proof:
    """Read a written layout with every tool for it, write proof.json, and return its content.

    Refused: a folder without a manifest, a layout that no tool reads, a file that differs from the
    manifest.
    """
    try:
        content = (folder / NAME).read_bytes()
        manifest = json.loads(content)
        layout, files = manifest["format"], manifest["files"]
        relevant_from = manifest["relevant_from"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refused(
            f"{folder} has no {NAME} that an export wrote. Name the folder of an export."
        ) from error
    check_tools(layout)
    _check_files(folder, files)
    expected = PLAIN[layout](folder)
    measured = partial(measure_oracle, relevant=relevant_from, as_mteb=layout == Export.Format.MTEB)
    best = measured(expected.qrels)
    made = Proof(
        proof=1,
        layout=layout,
        manifest_sha256=hashlib.sha256(content).hexdigest(),
        expected={
            part: {"count": part_content.count, "sum": part_content.digest}
            for part, part_content in sorted(expected.parts.items())
        },
        oracle=best,
        results=[
            _result(reader, folder, expected, best, measured)
            for reader in READERS
            if layout in reader.layouts
        ],
    )
    text = json.dumps(made, ensure_ascii=False, indent=2)
    (folder / PROOF).write_text(text + "\n", encoding="utf-8")
    return made


def check_tools(layout: str) -> None:
    """Refuse a layout that no tool reads; the message lists those that are read."""
    if layout not in PLAIN:
        raise Refused(f"No tool reads the layout {layout}. Choose one of: {', '.join(PLAIN)}.")


def _check_files(folder: Path, files: list[dict[str, Any]]) -> None:
    """Refuse a folder in which a file is missing or differs from the manifest."""
    for entry in files:
        digest = hashlib.sha256()
        try:
            with (folder / entry["name"]).open("rb") as stream:
                while part := stream.read(BUFFER):
                    digest.update(part)
        except OSError as error:
            raise Refused(f"{folder / entry['name']}: {error.strerror}.") from error
        if digest.hexdigest() != entry["sha256"]:
            raise Refused(
                f"{folder / entry['name']} is not the file that the manifest names: its "
                "sha256 differs. Export the folder again."
            )


def _result(
    reader: Reader,
    folder: Path,
    expected: Content,
    best: OracleValues,
    measured: Callable[[Qrels], OracleValues],
) -> Result:
    """Read the folder with one tool and compare. An exception of the tool becomes its result."""
    result = Result(
        tool=reader.package, version=reader.version(), result=SAME, says=[], counts={}, oracle={}
    )
    if result["version"] is None:
        result["result"], result["says"] = NOT_INSTALLED, [reader.install]
        return result
    try:
        content = reader.read(folder)
    except Exception as error:  # noqa: BLE001 (whatever a tool raises is what is reported of it)
        result["result"], result["says"] = FAILED, [f"{type(error).__name__}: {error}"]
        return result
    result["counts"] = {
        part: part_content.count for part, part_content in sorted(content.parts.items())
    }
    result["oracle"] = measured(content.qrels)
    result["says"] = _differences(reader, expected, content)
    if result["oracle"] != best:
        result["says"].append("The oracle gets other values on the grades that were read.")
    if result["says"]:
        result["result"] = DIFFERS
    return result


def _differences(reader: Reader, expected: Content, content: Content) -> list[str]:
    """Return sentences about the parts that a tool read differently from the files."""
    differences = []
    for part in sorted({*filter(reader.reads, expected.parts), *content.parts}):
        wanted, got = expected.parts.get(part), content.parts.get(part)
        if wanted is None or got is None:
            differences.append(f"{part}: {'not expected' if wanted is None else 'not read'}.")
        elif wanted.count != got.count:
            differences.append(f"{part}: {got.count:,} read, {wanted.count:,} expected.")
        elif wanted.total != got.total:
            differences.append(
                f"{part}: as many as expected, but an id, a text or a grade differs."
            )
    return differences
