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
        from annotate import chain, deed_sums, judgment_sums

        chain.register(judgment=judgment_sums.JUDGMENTS, deed=deed_sums.DEEDS)
