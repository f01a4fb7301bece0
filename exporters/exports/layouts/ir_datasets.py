"""The layout `ir-datasets`: a package that registers the set with ir_datasets.

Shape: ir_datasets 0.6, registry.register(id, Dataset(docs, queries, qrels, scoreddocs)). Queries
are JSONL, because TrecQueries strips texts and fails on topics without a description.
"""

from __future__ import annotations

import re

from annotate.projects.models import Project
from exporters.exports.files import Report, Writer
from exporters.exports.layouts import rows
from exporters.exports.layouts.facts import finish
from exporters.exports.layouts.published import ALTERED, ORIGINAL, REVERSED, Published, gather
from exporters.exports.manifest.manifest import Manifest

_INIT = '''"""{title}, for ir_datasets. After `pip install .`:

    import ir_datasets, {module}
    {module}.register()
    ir_datasets.load("{name}/changed").qrels_iter()
"""

from pathlib import Path
from typing import NamedTuple

import ir_datasets
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import JsonlDocs, JsonlQueries, TrecQrels, TrecQuery, TrecScoredDocs
from ir_datasets.util import LocalDownload

DATA = Path(__file__).resolve().parent / "data"
NAME = {name!r}
SIDES = {sides!r}
GRADES = {grades!r}


class Doc(NamedTuple):
    """A document: its id, its title and its text."""

    doc_id: str
    title: str
    text: str

    def default_text(self):
        return f"{{self.title}} {{self.text}}".strip()


def _file(name):
    return LocalDownload(DATA / name, mkdir=False)


def datasets():
    """Return the set of each side by its id."""
    docs = JsonlDocs(
        _file("corpus.jsonl"),
        doc_cls=Doc,
        mapping={{"doc_id": "_id", "title": "title", "text": "text"}},
        namespace=NAME,
        docstore_path=ir_datasets.util.home_path() / NAME / "{sum}.pklz4",
    )
    return {{
        f"{{NAME}}/{{side}}": Dataset(
            docs,
            JsonlQueries(_file(f"queries.{{side}}.jsonl"), query_cls=TrecQuery),
            TrecQrels(_file(f"qrels.{{side}}.txt"), GRADES),
            TrecScoredDocs(_file(f"candidates.{{side}}.run")),
        )
        for side in SIDES
    }}


def register():
    """Make the sets known to ir_datasets; a second time changes nothing."""
    for name, dataset in datasets().items():
        if name not in ir_datasets.registry:
            ir_datasets.registry.register(name, dataset)
'''
_PROJECT = """[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "{distribution}"
version = "1.0.0"
description = {description}
dependencies = ["ir_datasets>=0.5"]

[tool.setuptools]
packages = ["{module}"]

[tool.setuptools.package-data]
"{module}" = ["data/*"]
"""
SIDES = {"original": ORIGINAL, "changed": ALTERED, "reversed": REVERSED}


def module_of(slug: str) -> str:
    """Return the name of a project's package."""
    return "irds_" + re.sub(r"[^a-z0-9]+", "_", slug.lower())


def write(project: Project, into: Writer, report: Report) -> Manifest:
    """Write the package: its data, then the code that registers them."""
    published = gather(project, report)
    module = module_of(project.slug)
    data = f"{module}/data/"
    sides = []
    rows.write_corpus(published, into, data + rows.CORPUS, passages=True)
    for side, of in SIDES.items():
        # The pairs of the original side are those of the altered one, which are reported once.
        pairs_of, reported = (of, report) if of != ORIGINAL else (ALTERED, lambda _: None)
        if published.pairs[pairs_of]:
            sides.append(side)
            _write_side(published, into, data, side, pairs_of, reported)
    corpus = next(file for file in into.files if file["name"] == data + rows.CORPUS)
    title = "".join(c for c in " ".join(project.name.split()) if c.isprintable() and c not in '"\\')
    with into.file(
        f"{module}/__init__.py", "The code that registers the sets with ir_datasets."
    ) as stream:
        source = _INIT.format(
            title=title,
            module=module,
            name=project.slug,
            sides=sides,
            sum=corpus["sha256"][:16],
            grades={
                grade.value: f"{grade.name}: {grade.sentence}" if grade.sentence else grade.name
                for grade in project.grades.order_by("value")
            },
        )
        stream.write(source.encode())
    with into.file("pyproject.toml", "The package for pip: pip install .") as stream:
        stream.write(_pyproject(project, module).encode())
    not_held = ("Categories and conditions are in pairs.jsonl, which ir_datasets does not read.",)
    pairs = data + rows.PAIRS
    return finish("ir-datasets", published, into, not_held=not_held, pairs=pairs)


def _pyproject(project: Project, module: str) -> str:
    return _PROJECT.format(
        distribution=module.replace("_", "-").strip("-"),
        description=rows.quoted(f"{project.name}, for ir_datasets"),
        module=module,
    )


def _write_side(
    published: Published, into: Writer, data: str, side: str, pairs_of: str, report: Report
) -> None:
    """Write queries, qrels and candidates of a side; `pairs_of`: the side that has its pairs."""
    holds = f"The queries with their {side} narratives, under the ids of the pairs."
    with into.file(f"{data}queries.{side}.jsonl", holds) as stream:
        for pair, narrative in published.narratives(SIDES[side], published.pairs[pairs_of]):
            rows.write_json_line(
                stream,
                {
                    "query_id": pair.pair_id,
                    "title": pair.query.title,
                    "description": pair.query.description,
                    "narrative": narrative,
                },
            )
    with (
        into.file(f"{data}qrels.{side}.txt", f"The relevance of the {side} side.") as qrels,
        into.file(f"{data}candidates.{side}.run", "The documents that a system reranks.") as run,
    ):
        for pair, pool in published.pools(pairs_of, report):
            for doc_id, relevance in rows.graded(pool, SIDES[side]):
                qrels.write(f"{pair.pair_id} 0 {doc_id} {relevance}\n".encode())
            for place, row in enumerate(pool):
                score = len(pool) - place
                run.write(
                    f"{pair.pair_id} Q0 {row.doc_id} {place + 1} {score} candidates\n".encode()
                )
