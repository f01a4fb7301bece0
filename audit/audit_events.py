"""Audit events of the second pass: the actions of leads that the audit log lists."""

from __future__ import annotations

from annotate.projects.audit_log import EventKind

AUDIT_EVENTS = {
    "rubric.chosen": EventKind("Chose a rubric"),
    "review_draw.made": EventKind("Drew the instructions to review"),
    "review_draw.ended": EventKind("Ended a draw: all instructions are reviewed"),
    "instruction.decided": EventKind("Decided on an instruction", reveals_judgments=True),
    "instruction.undecided": EventKind(
        "Withdrew a decision on an instruction", reveals_judgments=True
    ),
    "names.revealed": EventKind("Looked up the names behind answers", reveals_judgments=True),
    "label.settled": EventKind("Settled a label", reveals_judgments=True),
    "label.unsettled": EventKind("Withdrew the settlement of a label", reveals_judgments=True),
    "claims.chosen": EventKind("Chose whose claims count"),
    "sample.made": EventKind("Made a sample of labels"),
    "model.added": EventKind("Added a language model"),
    "model.limited": EventKind("Changed the limits of a language model"),
    "model.removed": EventKind("Removed a language model"),
    "model_budget.set": EventKind("Set the budget of language models"),
    "prompt.saved": EventKind("Changed the prompt of language models"),
}
