"""The app `audit`."""

from __future__ import annotations

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """The second pass: reviews, checks, disagreements and agreement reports."""

    name = "audit"
    verbose_name = "Second pass"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register this app's audit events, chain kinds, notices, figures and file formats."""
        from annotate.collection import answers
        from annotate.collection import intake as files
        from annotate.judging.api import journal
        from annotate.judgments import completion, rule_report
        from annotate.overview import contributions, notices, progress
        from annotate.projects import actions as projects
        from annotate.projects import hash_chain
        from annotate.rewriting import sending_back
        from audit.checks import check_chain, queue
        from audit.checks.api import checking
        from audit.model_runs.models import Call
        from audit.reports import overview
        from audit.reviews import api, passes, review_chain, rubrics
        from audit.reviews.intake import Decisions, Reviews, Rubrics
        from audit.settling import queue as disagreements
        from audit.settling.api import settling
        from base import constraints

        constraints.make_append_only(Call)
        self._register_audit_events()
        projects.adopt_rubric.register(rubrics.use_shipped_rubric)
        hash_chain.register(review_chain.KINDS | check_chain.KINDS)
        completion.register_reviews(passes.submitted_reviews)
        rule_report.checked_labels.register(queue.checked_labels)
        sending_back.register(passes.why_sent_back)
        answers.register(*passes.ANSWERS, queue.CHECKS)
        journal.register(api.ENTRIES | checking.ENTRIES | settling.ENTRIES)
        contributions.register(overview.contribution)
        progress.audits_by_member.register(overview.audits_by_member)
        contributions.register(queue.contribution)
        notices.register(disagreements.notices)
        notices.register(queue.notices)
        files.register(Rubrics, Reviews, Decisions)

    def _register_audit_events(self) -> None:
        """Register the actions of leads that the audit log lists."""
        from annotate.projects.audit_log import EventKind, register

        register(
            {
                "rubric.chosen": EventKind("Chose a rubric"),
                "review_draw.made": EventKind("Drew the instructions to review"),
                "review_draw.ended": EventKind("Ended a draw: all instructions are reviewed"),
                "instruction.decided": EventKind(
                    "Decided on an instruction", reveals_judgments=True
                ),
                "instruction.undecided": EventKind(
                    "Withdrew a decision on an instruction", reveals_judgments=True
                ),
                "names.revealed": EventKind(
                    "Looked up the names behind answers", reveals_judgments=True
                ),
                "label.settled": EventKind("Settled a label", reveals_judgments=True),
                "label.unsettled": EventKind(
                    "Withdrew the settlement of a label", reveals_judgments=True
                ),
                "claims.chosen": EventKind("Chose whose claims count"),
                "sample.made": EventKind("Made a sample of labels"),
                "model.added": EventKind("Added a language model"),
                "model.limited": EventKind("Changed the limits of a language model"),
                "model.removed": EventKind("Removed a language model"),
                "model_budget.set": EventKind("Set the budget of language models"),
                "prompt.saved": EventKind("Changed the prompt of language models"),
            }
        )
