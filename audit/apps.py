"""The room `audit`."""

from __future__ import annotations

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """Second pass."""

    name = "audit"
    verbose_name = "Second pass"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Add to the home and project pages, and to what files may bring."""
        from annotate import chain, deeds
        from annotate import entries as journal
        from annotate import intake as files
        from annotate.actions import completion
        from annotate.intake import stale
        from annotate.screens import overview as pages
        from annotate.screens import sent_back
        from audit.audit_events import DEEDS
        from audit.checks import chain_content as of_checks
        from audit.checks import overview as checks
        from audit.reports import overview
        from audit.reviews import chain_content as of_reviews
        from audit.reviews import intake, journal_entry, passes

        deeds.register(DEEDS)
        chain.register(of_reviews.KINDS | of_checks.KINDS)
        completion.register_reviews(passes.in_force)
        sent_back.register(passes.why_sent_back)
        journal.register("rating", journal_entry.rating)
        pages.register(overview.contribution)
        pages.register(checks.contribution)
        files.register(intake.Rubrics, intake.Reviews, intake.Decisions)
        stale.register(intake.CHECKS)
        stale.register_beside(intake.REVIEWS)
