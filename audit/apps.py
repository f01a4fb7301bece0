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
        from audit import entries, intake, overview, reviews, sums
        from audit.checks import overview as checks
        from audit.deeds import DEEDS

        deeds.register(DEEDS)
        chain.register(sums.KINDS)
        completion.register_reviews(reviews.in_force)
        sent_back.register(reviews.why_sent_back)
        journal.register("rating", entries.rating)
        pages.register(overview.contribution)
        pages.register(checks.contribution)
        files.register(intake.Rubrics, intake.Reviews, intake.Decisions)
        stale.register(intake.CHECKS)
        stale.register_beside(intake.REVIEWS)
