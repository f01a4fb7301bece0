"""Audit events of the second pass: the actions of leads that the audit log lists."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from annotate.projects.audit_events import Kind

AUDIT_EVENTS = {
    "rubric.chosen": Kind(_("Chose a rubric")),
    "review_draw.made": Kind(_("Drew the instructions to review")),
    "review_draw.ended": Kind(_("Ended a draw: all instructions are reviewed")),
    "instruction.decided": Kind(_("Decided on an instruction"), reveals_judgments=True),
    "instruction.undecided": Kind(
        _("Withdrew a decision on an instruction"), reveals_judgments=True
    ),
    "names.revealed": Kind(_("Looked up the names behind answers"), reveals_judgments=True),
    "label.settled": Kind(_("Settled a label"), reveals_judgments=True),
    "label.unsettled": Kind(_("Withdrew the settlement of a label"), reveals_judgments=True),
    "sample.made": Kind(_("Made a sample of labels")),
    "agreement.asked": Kind(_("Requested an agreement report")),
    "agreement.cancelled": Kind(_("Cancelled an agreement report")),
}
