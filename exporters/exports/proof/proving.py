"""Prove a folder: check its files, read it with every installed tool of the field, and compare.

None of the tools is a dependency: if one is not installed, its result names the command to install
it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any, NamedTuple, TypedDict

from django.conf import settings

from base.errors import Refused
from exporters.exports.files import PROOF
from exporters.exports.layouts.mteb import README
from exporters.exports.manifest.manifest import NAME
from exporters.exports.models import Export
from exporters.exports.proof import plain
from exporters.exports.proof.oracles import measure, rankings
from exporters.exports.proof.plain import Content, Qrels
from formats.records import Qrel

# Rejudge's own readers, for papers' layouts that no published package reads.
OWN_READER = "rejudge"


class Reader(NamedTuple):
    """A tool: its pip package, the layouts that it reads, and the function that reads one."""

    package: str
    layouts: tuple[str, ...]
    read: Callable[[Path], Content]
    # Prefixes of the names of the parts that it reads; "" matches all.
    parts: tuple[str, ...] = ("",)

    def reads(self, part: str) -> bool:
        """Return whether the tool reads a part of the folder."""
        return part.startswith(self.parts)

    def version(self) -> str | None:
        """Return the installed version, or None."""
        if self.package == OWN_READER:
            return str(settings.VERSION)
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def _datasets(folder: Path) -> Content:
    """Load each config of each set of the folder with `datasets`, without a network.

    Another release of the same name is loaded first, so that rows from the cache are noticed.
    """
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_DATASETS_DISABLE_PROGRESS_BARS"):
        os.environ[name] = "1"
    datasets: Any = import_module("datasets")
    splits, folder = {"default": "test"}, folder.resolve()
    with tempfile.TemporaryDirectory(prefix="proof-") as scratch:

        def load(of: Path, config: str, check: str = "basic_checks") -> Any:
            return datasets.load_dataset(
                str(of),
                config,
                split=splits.get(config, config),
                cache_dir=f"{scratch}/cache",
                verification_mode=check,
            )

        for prefix in plain.prefixes(folder):
            other = _other_release(folder / prefix, Path(scratch))
            for config in plain.FILES:
                load(other, config, "no_checks")
        return plain.of_sets(folder, lambda prefix, config: load(folder / prefix, config))


def _other_release(folder: Path, into: Path) -> Path:
    """Write a release under the same name, with the first row of each file twice; return it."""
    other = into / "other" / folder.name
    other.mkdir(parents=True)
    readme = (folder / README).read_text(encoding="utf-8")
    for name in plain.FILES.values():
        with (folder / name).open("rb") as stream:
            rows = stream.readline() * 2
            stream.seek(0)
            checksum = hashlib.file_digest(stream, "sha256").hexdigest()
        (other / name).write_bytes(rows)
        readme = readme.replace(checksum, hashlib.sha256(rows).hexdigest())
    (other / README).write_text(readme, encoding="utf-8")
    return other


def _mlcroissant(folder: Path) -> Content:
    """Read each record set that croissant.json describes."""
    mlcroissant: Any = import_module("mlcroissant")
    dataset = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))

    def rows(prefix: str, config: str) -> Iterator[dict[str, Any]]:
        record_set = prefix + config
        for row in dataset.records(record_set):
            yield {name.removeprefix(f"{record_set}/"): _text(value) for name, value in row.items()}

    return plain.of_sets(folder, rows)


def _text(value: Any) -> Any:
    """Return a value of mlcroissant with bytes decoded to text."""
    if isinstance(value, bytes):
        return value.decode()
    return [_text(item) for item in value] if isinstance(value, list) else value


def _beir(folder: Path) -> Content:
    """Load each split with BEIR's GenericDataLoader."""
    os.environ["TQDM_DISABLE"] = "1"
    loader: Any = import_module("beir.datasets.data_loader")
    content = Content()
    for place, split in enumerate(plain.splits(folder)):
        corpus, queries, qrels = loader.GenericDataLoader(data_folder=str(folder)).load(split=split)
        if not place:
            for doc_id, document in corpus.items():
                content.add("documents", doc_id, document["title"], document["text"])
        plain.add_split(content, queries, qrels)
    return content


def _ir_datasets(folder: Path) -> Content:
    """Import the package, and read each of its sets with ir_datasets."""
    package = plain.data_of(folder).parent
    with tempfile.TemporaryDirectory(prefix="proof-") as home:
        os.environ["IR_DATASETS_HOME"] = home
        sys.path.insert(0, str(folder))
        try:
            sys.modules.pop(package.name, None)
            module: Any = import_module(package.name)
        finally:
            sys.path.remove(str(folder))
        content = Content()
        for place, (name, dataset) in enumerate(module.datasets().items()):
            side = name.rpartition("/")[2]
            if not place:
                for doc in dataset.docs_iter():
                    content.add("documents", *doc[:3])
            for query in dataset.queries_iter():
                content.add(f"queries {side}", *query)
            for line in dataset.qrels_iter():
                content.add_grade(side, line.query_id, line.doc_id, line.relevance)
            for line in dataset.scoreddocs_iter():
                content.add(f"candidates {side}", line.query_id, line.doc_id, line.score)
        return content


def _ir_measures(folder: Path) -> Content:
    """Read the qrels and the candidates with ir_measures."""
    ir_measures: Any = import_module("ir_measures")

    def grades(path: Path) -> Iterator[plain.Grade]:
        for line in ir_measures.read_trec_qrels(str(path)):
            yield line.query_id, line.doc_id, line.relevance

    def scores(path: Path) -> Iterator[plain.Score]:
        for line in ir_measures.read_trec_run(str(path)):
            yield line.query_id, line.doc_id, line.score

    return plain.of_trec(folder, grades, scores)


def _pytrec_eval(folder: Path) -> Content:
    """Read the qrels and the candidates with pytrec_eval."""
    pytrec_eval: Any = import_module("pytrec_eval")

    def read(parse: Callable[[IO[str]], Any], path: Path) -> Iterator[tuple[str, str, Any]]:
        with path.open(encoding="utf-8") as stream:
            for query_id, values in parse(stream).items():
                for doc_id, value in values.items():
                    yield query_id, doc_id, value

    return plain.of_trec(
        folder, partial(read, pytrec_eval.parse_qrel), partial(read, pytrec_eval.parse_run)
    )


def _pyterrier(folder: Path) -> Content:
    """Read the qrels with PyTerrier."""
    pyterrier: Any = import_module("pyterrier")

    def grades(path: Path) -> Iterator[plain.Grade]:
        for line in pyterrier.io.read_qrels(str(path)).itertuples():
            yield line.qid, line.docno, int(line.label)

    return plain.of_trec(folder, grades)


PLAIN: dict[str, Callable[[Path], Content]] = {
    "mteb": plain.mteb,
    "hf": plain.mteb,
    "beir": plain.beir,
    "ir-datasets": plain.ir_datasets,
    "trec": plain.trec,
    "followtable": plain.followtable,
    "infosearch": plain.infosearch,
    "multiconir": plain.multiconir,
    "multi-infosearch": plain.multi_infosearch,
}
QRELS, RUNS = "qrels", "candidates"
READERS = (
    Reader("datasets", ("mteb", "hf"), _datasets),
    Reader("mlcroissant", ("hf",), _mlcroissant),
    Reader("beir", ("beir",), _beir),
    Reader("ir_datasets", ("ir-datasets",), _ir_datasets),
    Reader("ir_measures", ("trec",), _ir_measures, (QRELS, RUNS)),
    Reader("pytrec_eval-terrier", ("trec",), _pytrec_eval, (QRELS, RUNS)),
    Reader("python-terrier", ("trec",), _pyterrier, (QRELS,)),
    *(
        Reader(OWN_READER, (layout,), partial(plain.load_with_own_reader, layout))
        for layout in ("followtable", "infosearch", "multiconir", "multi-infosearch")
    ),
)


class Tools(NamedTuple):
    """The tools that read a layout: those installed on this server, and those that are not."""

    installed: list[str]
    missing: list[str]


def tools_for(layout: str) -> Tools:
    """Return the tools that a proof of a layout asks, as this server has them."""
    tools = Tools([], [])
    for reader in READERS:
        if layout in reader.layouts:
            version = reader.version()
            if version is None:
                tools.missing.append(reader.package)
            elif reader.package == OWN_READER:
                tools.installed.append("Rejudge’s own reader")
            else:
                tools.installed.append(f"{reader.package} {version}")
    return tools


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
    oracle = rankings(sides)["oracle"]
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
        what_to_do = "Name the folder of an export."
        if folder.is_file():
            what_to_do = "It is a file: if it is an archive, unpack it and name the folder in it."
        raise Refused(f"{folder} has no {NAME} that an export wrote. {what_to_do}") from error
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
        try:
            with (folder / entry["name"]).open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256")
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
        result["result"], result["says"] = NOT_INSTALLED, [f"pip install {reader.package}"]
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
