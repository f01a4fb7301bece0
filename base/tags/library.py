"""The template library `rejudge`; the modules of this package register their tags with it."""

from __future__ import annotations

from django import template

register = template.Library()
