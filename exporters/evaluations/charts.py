"""The charts of an evaluation's page, from its context: for the page, and to download as SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from django import template
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from base.plots import Axis, Mark, bar_chart, histogram, numbered, scatter
from base.tags.figures import true_minus

# Ranks that are named on the axes, as far as the rankings go.
RANKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000)


register = template.Library()


def draw(name: str, content: Mapping[str, Any]) -> SafeString:
    """Draw one of CHARTS from the context of the page."""
    return CHARTS[name](content)


def _by_query(content: Mapping[str, Any]) -> SafeString:
    """Draw a bar for each pair: its value, or its difference from the baseline."""
    bars, against = content["bars"], content["against"]
    values = [bar.value for bar in bars]
    measure, system = content["measure_name"], content["system"]
    title = f"{measure}: {system} minus {against}" if against else f"{measure} of {system}"
    marks = [
        Mark(
            place,
            bar.value,
            bar.label,
            true_minus(f"{bar.label}: {bar.value:+.3f}"),
            bar.url,
            "counting" if bar.value >= 0 else "falling",
        )
        for place, bar in enumerate(bars)
    ]
    axis = numbered(min([0.0, *values]), max([0.0, *values]), measure)
    return bar_chart(f"{title}, by pair", marks, axis)


def _p_mrr(content: Mapping[str, Any]) -> SafeString:
    """Draw how many pairs have a p-MRR in each bin from -1 to 1."""
    bins = content["histogram"]
    most = max((len(bar.topics) for bar in bins), default=0)
    marks = [
        Mark(
            bar.low,
            len(bar.topics),
            "",
            true_minus(f"{bar.low:+.1f} to {bar.high:+.1f}: {len(bar.topics):,}"),
            "",
            "counting" if bar.low >= 0 else "falling",
        )
        for bar in bins
    ]
    across = numbered(-1, 1, "p-MRR", about=4)
    up = numbered(0, max(most, 1), "pairs", about=min(5, max(most, 1)))
    return histogram(f"p-MRR of {content['system']}, number of pairs", marks, across, up)


def _ranks(content: Mapping[str, Any]) -> SafeString:
    """Draw both ranks of each document that lost relevance, on square roots of ranks."""
    moves = content["moves"]
    most = max((max(move.original, move.changed) for move in moves), default=1)
    last = next((rank for rank in RANKS if rank >= most), most)
    ticks = [(rank, f"{rank:,}") for rank in RANKS if rank <= last]
    # Numbers that would touch each other are left out.
    shown = [tick for tick in ticks if tick[0] in (1, last) or tick[0] * 20 >= last]
    kinds = {True: "counting", False: "falling"}
    marks = [
        Mark(
            move.original,
            move.changed,
            move.document,
            f"{move.document} ({move.topic}): {move.original} → {move.changed}",
            move.url,
            "other" if move.changed == move.original else kinds[move.changed > move.original],
        )
        for move in moves
    ]
    across, down = (
        Axis(title, shown, scale=lambda rank: rank**0.5) for title in ("original rank", "new rank")
    )
    title = f"Ranks of documents that lost relevance, {content['system']}"
    return scatter(title, marks, across, down)


def _share_dropped(content: Mapping[str, Any]) -> SafeString:
    """Draw the share that dropped of each pair, the largest first."""
    marks = [
        Mark(
            place,
            row["share_dropped"],
            row["topic"],
            f"{row['topic']}: {row['dropped']} of {row['dropped'] + row['kept']}",
            row["url"],
            "falling",
        )
        for place, row in enumerate(content["shares"])
    ]
    return bar_chart("Share that dropped, by pair", marks, numbered(0, 1, "share that dropped"))


def _over_releases(content: Mapping[str, Any]) -> SafeString:
    """Draw a system's value on each release, the oldest first."""
    measure = content["measure_name"]
    rows = [row for row in content["over_releases"] if row["value"] is not None]
    values = [row["value"] for row in rows]
    marks = [
        Mark(
            place,
            row["value"],
            row["release"],
            true_minus(f"{row['release']}: {row['value']:.3f}"),
            row["url"],
            "counting" if row["value"] >= 0 else "falling",
        )
        for place, row in enumerate(rows)
    ]
    axis = numbered(min([0.0, *values]), max([0.0, *values]), measure)
    return bar_chart(f"{measure} of {content['system']}, by release", marks, axis)


CHARTS: dict[str, Callable[[Mapping[str, Any]], SafeString]] = {
    "by-query": _by_query,
    "p-mrr": _p_mrr,
    "ranks": _ranks,
    "share-dropped": _share_dropped,
    "over-releases": _over_releases,
}


@register.simple_tag(takes_context=True)
def evaluation_chart(context: Context, name: str) -> SafeString:
    """Draw one of the charts of `exporters.evaluations.charts` from the context of the page."""
    return draw(name, cast(dict[str, Any], context.flatten()))


@register.simple_tag(takes_context=True)
def chart_address(context: Context, name: str) -> str:
    """Return the address of a chart as an SVG file."""
    return f"{context['charts_url']}{name}.svg?{context['charts_query']}"


@register.simple_tag
def id_link(name: str, url: str) -> SafeString:
    """Render an id, as a link if there is a page about it."""
    if url:
        return format_html('<a class="id" href="{}">{}</a>', url, name)
    return format_html('<span class="id">{}</span>', name)
