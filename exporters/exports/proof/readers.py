"""Read layouts with the field's tools.

None of them is a dependency: if one is not installed, its result names the command to install it.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from exporters.exports.layouts.mteb import README
from exporters.exports.proof import plain
from exporters.exports.proof.plain import Content

# Rejudge's own readers, for papers' layouts that no published package reads.
OWN_READER = "rejudge"


class Reader(NamedTuple):
    """A tool: its pip package, the layouts that it reads, and the function that reads one."""

    package: str
    layouts: tuple[str, ...]
    read: Callable[[Path], Content]
    # Prefixes of the names of the parts that it reads; "" matches all.
    parts: tuple[str, ...] = ("",)

    @property
    def install(self) -> str:
        """Return the command that installs the tool."""
        return f"pip install {self.package}"

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
    """Load each config of the folder with `datasets`, without a network.

    Another release of the same name is loaded first, so that rows from the cache are noticed.
    """
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_DATASETS_DISABLE_PROGRESS_BARS"):
        os.environ[name] = "1"
    datasets: Any = import_module("datasets")
    splits, folder = {"default": "test"}, folder.resolve()
    with tempfile.TemporaryDirectory(prefix="proof-") as scratch:

        def load(config: str, of: Path = folder, check: str = "basic_checks") -> Any:
            return datasets.load_dataset(
                str(of),
                config,
                split=splits.get(config, config),
                cache_dir=f"{scratch}/cache",
                verification_mode=check,
            )

        other = _other_release(folder, Path(scratch))
        for config in plain.FILES:
            load(config, other, "no_checks")
        return plain.of_configs(load)


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

    def rows(config: str) -> Iterator[dict[str, Any]]:
        for row in dataset.records(config):
            yield {name.removeprefix(f"{config}/"): _text(value) for name, value in row.items()}

    return plain.of_configs(rows)


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
    content = Content()
    for side, path in plain.trec_files(folder).items():
        for line in ir_measures.read_trec_qrels(str(path)):
            content.add_grade(side, line.query_id, line.doc_id, line.relevance)
    if (run := plain.candidates_of(folder)).exists():
        for line in ir_measures.read_trec_run(str(run)):
            content.add("candidates", line.query_id, line.doc_id, line.score)
    return content


def _pytrec_eval(folder: Path) -> Content:
    """Read the qrels and the candidates with pytrec_eval."""
    pytrec_eval: Any = import_module("pytrec_eval")
    content = Content()
    for side, path in plain.trec_files(folder).items():
        with path.open(encoding="utf-8") as stream:
            for query_id, grades in pytrec_eval.parse_qrel(stream).items():
                for doc_id, relevance in grades.items():
                    content.add_grade(side, query_id, doc_id, relevance)
    if (run := plain.candidates_of(folder)).exists():
        with run.open(encoding="utf-8") as stream:
            for query_id, scores in pytrec_eval.parse_run(stream).items():
                for doc_id, score in scores.items():
                    content.add("candidates", query_id, doc_id, score)
    return content


def _pyterrier(folder: Path) -> Content:
    """Read the qrels with PyTerrier."""
    pyterrier: Any = import_module("pyterrier")
    content = Content()
    for side, path in plain.trec_files(folder).items():
        for line in pyterrier.io.read_qrels(str(path)).itertuples():
            content.add_grade(side, line.qid, line.docno, int(line.label))
    return content


def _own_reader(layout: str) -> Callable[[Path], Content]:
    """Return a function that reads a paper's layout with the reader of `manage.py load`."""
    return lambda folder: plain.load_with_own_reader(layout, folder)


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
        Reader(OWN_READER, (layout,), _own_reader(layout))
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
