"""The two halves of prove_mteb.sh: write the oracle's run, and let MTEB evaluate it.

`run` needs Rejudge and writes the rankings and the p-MRR of `measures`. `evaluate` runs in MTEB's
environment and does not import Rejudge.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

# MTEB rounds its scores.
DIGITS = 5


def write_run(folder: Path, target: Path) -> None:
    """Write the oracle's ranking of each query, and its p-MRR by `measures`."""
    import django

    django.setup()

    from exporters.exports.proof import plain
    from exporters.exports.proof.oracles import Topics, rankings
    from exporters.exports.proof.proving import OF_MTEB, measure_oracle

    qrels = plain.mteb(folder).qrels
    sides = {side: {pair: dict(grades) for pair, grades in qrels[side].items()} for side in qrels}
    runs = rankings(Topics(sides))["oracle"]
    ranked = {
        pair + suffix: scores
        for side, suffix in (("original", "-og"), ("changed", "-changed"))
        for pair, scores in runs[side].items()
    }
    oracle = measure_oracle(qrels, relevant=1, as_mteb=True)
    target.write_text(json.dumps({"run": ranked, "p-MRR": oracle[OF_MTEB]}))


class Oracle:
    """A system whose rankings are known."""

    def __init__(self, run: dict[str, dict[str, float]], meta: Any) -> None:
        self._run = run
        self.mteb_model_meta = meta

    def index(self, *_: Any, **__: Any) -> None:
        """Do nothing: the rankings are known."""

    def search(self, queries: Any, **_: Any) -> dict[str, dict[str, float]]:
        """Return the known scores of each query."""
        return {query: self._run[query] for query in queries["id"]}


def evaluate(folder: Path, source: Path) -> None:
    """Evaluate the oracle with the task of the folder, and compare the p-MRR."""
    known = json.loads(source.read_text())
    spec = importlib.util.spec_from_file_location("task", folder / "task.py")
    assert spec is not None
    assert spec.loader is not None
    task: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    meta_module: Any = importlib.import_module("mteb.models.model_meta")
    fields = meta_module.ModelMeta.model_fields
    given: dict[str, Any] = {name: None for name, field in fields.items() if field.is_required()}
    given |= {"name": "rejudge/oracle", "revision": "1", "languages": [], "framework": []}
    (result,) = task.evaluate(Oracle(known["run"], meta_module.ModelMeta(**given)))
    scores = result.scores["test"][0]
    print(f"mteb {version('mteb')}, datasets {version('datasets')}: {result.task_name}")
    print(
        f"nDCG@10 of MTEB: og {scores['og']['ndcg_at_10']}, "
        f"changed {scores['changed']['ndcg_at_10']}"
    )
    print(f"p-MRR of MTEB: {scores['p-MRR']}")
    print(f"p-MRR of measures: {known['p-MRR']}")
    if round(scores["p-MRR"], DIGITS) != round(known["p-MRR"], DIGITS):
        sys.exit("They differ.")
    print("They are the same.")


if __name__ == "__main__":
    steps = {"run": write_run, "evaluate": evaluate}
    steps[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
