"""The actions that a script can contain; each calls the action that the pages use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from config.kind_examples import auditing, leading, writing
from config.kind_examples.files import Line
from config.kind_examples.stage import Stage


def perform(stage: Stage, line: Line, made_at: datetime) -> None:
    """Perform the action of a line. Raise RuntimeError that names the line if it fails."""
    stage.by, stage.now = stage.people[line.by], line.at(made_at)
    try:
        ACTIONS[line.did](stage, **line.fields)
    except Exception as error:
        where = f"{stage.folder.name}/script.jsonl, line {line.number} ({line.did})"
        raise RuntimeError(f"{where}: {type(error).__name__}: {error}") from error


ACTIONS: Mapping[str, Callable[..., None]] = {
    "load": leading.load,
    "write_guideline": leading.write_guideline,
    "draw_topics": leading.draw_topics,
    "remove_queries": leading.remove_queries,
    "remove_pairs": leading.remove_pairs,
    "remove_documents": leading.remove_documents,
    "rewrite": writing.rewrite,
    "draft": writing.draft,
    "judge": writing.judge,
    "adjudicate": writing.adjudicate,
    "settle_condition": writing.settle_condition,
    "review": auditing.review,
    "draw_for_review": auditing.draw_for_review,
    "decide": auditing.decide,
    "draw_sample": auditing.draw_sample,
    "pick_suspects": auditing.pick_suspects,
    "check": auditing.check,
    "settle_check": auditing.settle_check,
    "make_pool": leading.make_pool,
    "hard_negatives": leading.hard_negatives,
    "measure": leading.measure,
    "report_agreement": leading.report_agreement,
    "publish": leading.publish,
    "export": leading.export,
    "release": leading.release,
}
