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
        from annotate import chain, deed_sums, judgment_sums, settled_sums

        chain.register(
            {
                judgment_sums.KIND: judgment_sums.JUDGMENTS,
                settled_sums.KIND: settled_sums.ADJUDICATIONS,
                settled_sums.CONDITION: settled_sums.CONDITIONS,
                deed_sums.KIND: deed_sums.DEEDS,
            }
        )
