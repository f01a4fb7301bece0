"""The room `annotate`."""

from __future__ import annotations

from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    """First pass."""

    name = "annotate"
    verbose_name = "First pass"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let what people say be looked after."""
        from annotate.judgments import adjudication_chain, judgment_chain
        from annotate.projects import audit_log_chain, chain
        from annotate.projects.models import Deed, Link
        from base import append_only

        append_only.register(Deed, Link)
        chain.register(
            {
                judgment_chain.KIND: judgment_chain.JUDGMENTS,
                adjudication_chain.KIND: adjudication_chain.ADJUDICATIONS,
                adjudication_chain.CONDITION: adjudication_chain.CONDITIONS,
                audit_log_chain.KIND: audit_log_chain.DEEDS,
            }
        )
