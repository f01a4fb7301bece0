"""What leads do in the second pass, for the audit log."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from annotate.projects.audit_events import Kind

AUDIT_EVENTS = {
    "rubric.chosen": Kind(_("Put a rubric in force")),
    "review_draw.made": Kind(_("Drew the instructions to review")),
    "review_draw.ended": Kind(_("Ended a draw: all instructions are reviewed")),
    "instruction.decided": Kind(_("Decided on an instruction"), reveals_judgments=True),
    "instruction.undecided": Kind(
        _("Withdrew a decision on an instruction"), reveals_judgments=True
    ),
    "names.revealed": Kind(_("Looked up who said what"), reveals_judgments=True),
    "label.settled": Kind(_("Settled a label"), reveals_judgments=True),
    "label.unsettled": Kind(_("Withdrew what settled a label"), reveals_judgments=True),
    "sample.made": Kind(_("Made a sample of labels")),
    "agreement.asked": Kind(_("Had the agreement computed")),
}
