"""Charts have numbers on their axes and names on their marks, and are files of their own."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from base.plots import Axis, Mark, as_file, bar_chart, histogram, numbered, scatter

SVG = "{http://www.w3.org/2000/svg}"
UP = numbered(0, 1, "share")


def texts(chart) -> list[str]:
    return [one.text or "" for one in ET.fromstring(chart).iter(f"{SVG}text")]


def bar(name: str, value: float, url: str = "") -> Mark:
    return Mark(0, value, name, f"{name}: {value}", url)


def test_a_bar_chart_has_numbers_on_its_axis_and_the_name_of_each_bar():
    chart = bar_chart("Shares", [bar("301", 0.5), bar("302", 0.25)], UP)

    assert texts(chart) == ["0", "0.2", "0.4", "0.6", "0.8", "1", "share", "301", "302"]


def test_a_bar_is_as_high_as_its_value():
    chart = ET.fromstring(bar_chart("Shares", [bar("a", 0.5), bar("b", 0.25)], UP))

    heights = [float(one.attrib["height"]) for one in chart.iter(f"{SVG}rect")]
    assert heights[0] == 2 * heights[1]


def test_a_bar_below_0_begins_at_the_line():
    chart = ET.fromstring(bar_chart("Changes", [bar("a", -1)], numbered(-1, 1, "p-MRR")))

    [rect] = chart.iter(f"{SVG}rect")
    [line] = [one for one in chart.iter(f"{SVG}line") if one.attrib["class"] == "axis"]
    assert rect.attrib["y"] == line.attrib["y1"]


def test_of_many_bars_some_have_their_names():
    chart = bar_chart("Many", [bar(f"q{number}", 1) for number in range(400)], UP)

    assert sum(text.startswith("q") for text in texts(chart)) == 40


def test_a_chart_says_what_it_shows_and_each_mark_what_it_is():
    chart = ET.fromstring(bar_chart("Shares", [bar("a<b", 0.5, "/q/1/")], UP))

    assert chart.attrib["aria-label"] == "Shares"
    assert chart.find(f"{SVG}desc") is not None
    [link] = chart.iter(f"{SVG}a")
    title = link.find(f"{SVG}title")
    assert (link.attrib["href"], title is not None and title.text) == ("/q/1/", "a<b: 0.5")


def test_no_chart_has_an_inline_style():
    ranks = Axis("rank", [(1, "1"), (100, "100")], scale=lambda rank: rank**0.5)
    charts = [
        bar_chart("Bars", [], UP),
        histogram("Bins", [Mark(-1, 2, "", "2"), Mark(0, 1, "", "1")], numbered(-1, 1, "x"), UP),
        scatter("Points", [Mark(1, 100, "d", "d: 1 → 100")], ranks, ranks),
    ]

    for chart in charts:
        assert "style" not in chart
        ET.fromstring(as_file(chart).encode())


def test_ranks_are_spread_by_their_square_roots():
    ranks = Axis("rank", [(1, "1"), (100, "100")], scale=lambda rank: rank**0.5)
    marks = [Mark(rank, 1, "", "") for rank in (1, 25, 100)]

    points = ET.fromstring(scatter("Points", marks, ranks, ranks)).iter(f"{SVG}circle")

    first, middle, last = (float(one.attrib["cx"]) for one in points)
    # The roots are 1, 5 and 10.
    assert abs((middle - first) / (last - first) - 4 / 9) < 0.01
