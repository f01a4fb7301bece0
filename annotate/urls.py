"""Where the pages of this room are found."""

from __future__ import annotations

from django.urls import URLPattern

app_name = "annotate"
urlpatterns: list[URLPattern] = []
