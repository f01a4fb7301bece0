"""Template tag that draws a chart of an evaluation as SVG.

The marks of a chart are links for the mouse; a table below it has the same values and links.
"""

from __future__ import annotations

from typing import Any, cast

from django import template
from django.template import Context
from django.utils.safestring import SafeString

from exporters.evaluations import charts

register = template.Library()


@register.simple_tag(takes_context=True)
def evaluation_chart(context: Context, name: str) -> SafeString:
    """Draw one of the charts of `exporters.evaluations.charts` from the context of the page."""
    return charts.draw(name, cast(dict[str, Any], context.flatten()))


@register.simple_tag(takes_context=True)
def chart_address(context: Context, name: str) -> str:
    """Return the address of a chart as an SVG file."""
    return f"{context['charts_url']}{name}.svg?{context['charts_query']}"
