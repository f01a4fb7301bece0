"""task.py of the layout `mteb`: the folder's task, and a main program that evaluates a model."""

from __future__ import annotations

import re

from exporters.exports.layouts.published import Published

_SOURCE = '''"""Evaluate a model on this folder, without a network:

    HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 python task.py MODEL

MODEL is the name of a model that MTEB knows and that is on this machine. Tried with mteb 2.26.24.
"""

import sys
from pathlib import Path

import mteb
from mteb.tasks.instruction_reranking import Core17InstructionRetrieval


class {name}(Core17InstructionRetrieval):
    """{about}"""

    metadata = Core17InstructionRetrieval.metadata.model_copy(
        update={{
            "name": {name!r},
            "description": {about!r},
            "reference": None,
            "dataset": {{"path": str(Path(__file__).resolve().parent), "revision": "local"}},
            "eval_langs": {languages!r},
            "license": {licence!r},
            "bibtex_citation": {citation!r},
        }}
    )


def evaluate(model):
    """Return MTEB's results of a model, or of an object with `index`, `search` and
    `mteb_model_meta`."""
    return mteb.evaluate(model, {name}(), cache=None, co2_tracker=False)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for result in evaluate(mteb.get_model(sys.argv[1])):
        print(result.task_name, result.scores)
'''


def source(published: Published, *, reverse: bool) -> str:
    """Return the source code of one set's task."""
    publication = published.publication
    words = re.findall(r"[A-Za-z0-9]+", published.project.slug)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    name = ("" if name[:1].isalpha() else "Set") + name + ("Reversed" if reverse else "")
    about = "Instruction reranking on narratives that people rewrote and judged."
    return _SOURCE.format(
        name=name + "InstructionReranking",
        about=about,
        languages=publication.languages.split() or ["eng-Latn"],
        licence=publication.licence.lower() or None,
        citation=publication.citation,
    )
