"""Audit events of the second pass: the actions of leads that the audit log lists."""

from __future__ import annotations

from annotate.projects.audit_events import Kind

AUDIT_EVENTS = {
    "rubric.chosen": Kind("Chose a rubric"),
    "review_draw.made": Kind("Drew the instructions to review"),
    "review_draw.ended": Kind("Ended a draw: all instructions are reviewed"),
    "instruction.decided": Kind("Decided on an instruction", reveals_judgments=True),
    "instruction.undecided": Kind("Withdrew a decision on an instruction", reveals_judgments=True),
    "names.revealed": Kind("Looked up the names behind answers", reveals_judgments=True),
    "label.settled": Kind("Settled a label", reveals_judgments=True),
    "label.unsettled": Kind("Withdrew the settlement of a label", reveals_judgments=True),
    "claims.chosen": Kind("Chose whose claims count"),
    "sample.made": Kind("Made a sample of labels"),
    "model.added": Kind("Added a language model"),
    "model.removed": Kind("Removed a language model"),
    "model_budget.set": Kind("Set the budget of language models"),
    "prompt.saved": Kind("Changed the prompt of language models"),
}
