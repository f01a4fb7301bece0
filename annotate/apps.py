"""Configuration of the app `annotate`."""

from __future__ import annotations

from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    """First pass."""

    name = "annotate"
    verbose_name = "First pass"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register events of jobs, append-only tables, loaders and the records of hash chains."""
        from annotate.collection import answers
        from annotate.collection.intake.arrivals import register
        from annotate.collection.intake.collection import Collection, Filters
        from annotate.collection.intake.documents import Documents
        from annotate.collection.intake.qrels import Pools, Qrels
        from annotate.collection.intake.runs import Runs
        from annotate.judgments import adjudication_chain, in_force, judgment_chain
        from annotate.judgments.intake.statements import Statements
        from annotate.pairs.intake.generated import GeneratedDocuments
        from annotate.pairs.intake.pairs import Pairs
        from annotate.pairs.intake.topics import Topics
        from annotate.projects import audit_log, hash_chain
        from annotate.projects.models import AuditEvent, Link
        from base import constraints

        audit_log.register_jobs()
        constraints.make_append_only(AuditEvent, Link)
        answers.register(*in_force.ANSWERS)
        register(
            *(Documents, Topics, Pairs, Qrels, Pools, Runs, GeneratedDocuments, Statements),
            *(Filters, Collection),
        )
        hash_chain.register(judgment_chain.KINDS | adjudication_chain.KINDS | audit_log.KINDS)
