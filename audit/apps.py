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
        from annotate.collection import intake as files
        from annotate.collection.intake import stale_answers
        from annotate.judging.api import journal
        from annotate.judgments import completion, narrative_answers, tally
        from annotate.judgments.narrative_answers import Answers
        from annotate.overview import contributions, notices, progress
        from annotate.pools import replacing
        from annotate.projects import audit_events, hash_chain, kind_settings
        from annotate.rewriting import sent_back
        from audit.audit_events import AUDIT_EVENTS
        from audit.checks import check_chain, outcomes
        from audit.checks import journal_entry as check_entry
        from audit.checks import notices as check_notices
        from audit.checks import overview as checks
        from audit.reports import overview
        from audit.reviews import journal_entry, passes, project_rubric, review_chain
        from audit.reviews.intake import stale_checks
        from audit.reviews.intake.decisions import Decisions
        from audit.reviews.intake.reviews import Reviews
        from audit.reviews.intake.rubrics import Rubrics
        from audit.settling import journal_entry as decision_entry
        from audit.settling import notices as disagreement_notices

        audit_events.register(AUDIT_EVENTS)
        kind_settings.adopt_rubric.register(project_rubric.use_shipped_rubric)
        hash_chain.register(review_chain.KINDS | check_chain.KINDS)
        completion.register_reviews(passes.submitted_reviews)
        tally.checked_labels.register(outcomes.checked_labels)
        replacing.checks_of.register(outcomes.count_checks)
        sent_back.register(passes.why_sent_back)
        narrative_answers.register(
            Answers("review", "reviews", passes.count_reviews_under),
            Answers("decision", "decisions", passes.count_decisions_under),
            Answers("check of a label", "checks of labels", outcomes.count_checks_under),
        )
        journal.register(journal_entry.ENTRIES | check_entry.ENTRIES | decision_entry.ENTRIES)
        contributions.register(overview.contribution)
        progress.reviews_by_member.register(overview.reviews_by_member)
        contributions.register(checks.contribution)
        notices.register(disagreement_notices.notices)
        notices.register(check_notices.notices)
        files.register(Rubrics, Reviews, Decisions)
        stale_answers.register(stale_checks.CHECKS)
        stale_answers.register_unaffected(stale_checks.REVIEWS)
