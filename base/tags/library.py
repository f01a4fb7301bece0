"""The template library `rejudge`, to which the modules of this package add."""

from __future__ import annotations

from django import template

register = template.Library()
