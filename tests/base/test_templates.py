"""Every template compiles and obeys the security policy and the style rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.template import Context, Template, TemplateSyntaxError
from django.template.loader import get_template

FOLDER = Path(settings.BASE_DIR) / "templates"
STATIC = Path(settings.BASE_DIR) / "static"
TEMPLATES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.html"))

# What the Content-Security-Policy header would block, or what would let content run as code.
FORBIDDEN = {
    "an inline style": re.compile(r"\sstyle\s*="),
    "an inline handler": re.compile(r"\son[a-z]+\s*="),
    "an inline script": re.compile(r"<script(?![^>]*\ssrc=)"),
    "a style element": re.compile(r"<style"),
    "unescaped content": re.compile(r"\|\s*safe\b|\|\s*safeseq\b|autoescape\s+off"),
    "an expression for htmx": re.compile(r"hx-on|hx-vars|[\"']js:|[\"']javascript:"),
    "an address outside": re.compile(r"(?:src|href|action)\s*=\s*[\"'](?:https?:)?//"),
}


def test_every_template_compiles():
    unread = {}
    for name in TEMPLATES:
        try:
            get_template(name)
        except TemplateSyntaxError as error:
            unread[name] = str(error)

    assert unread == {}
    assert len(TEMPLATES) > 100


def test_no_line_of_a_template_is_longer_than_120_characters():
    """Django's tags stay on one line: long texts are blocks, many values a `with` of their own."""
    assert [
        f"{name}:{number}"
        for name in TEMPLATES
        for number, line in enumerate((FOLDER / name).read_text("utf-8").splitlines(), 1)
        if len(line) > 120
    ] == []


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_template_contains(what):
    found = [
        name for name in TEMPLATES if FORBIDDEN[what].search((FOLDER / name).read_text("utf-8"))
    ]

    assert found == []


def test_every_htmx_action_works_without_htmx():
    """Every hx-post has an action, and every hx-get of a link or form has its address."""
    tags = [
        tag
        for name in TEMPLATES
        for tag in re.findall(
            r"<(?:form|a|button)\b(?:\{%[^%]*%\}|[^<>])*>", (FOLDER / name).read_text("utf-8")
        )
    ]

    assert [tag for tag in tags if "hx-post" in tag and "action=" not in tag] == []
    address = {"<form": "action=", "<a": "href="}
    assert [
        tag for tag in tags if "hx-get" in tag and address.get(tag.split()[0], "href=") not in tag
    ] == []
    assert any("hx-get" in tag for tag in tags)


def imported_styles() -> list[str]:
    """Return the paths of the style sheets that every page has, in order."""
    names = re.findall(r'@import url\("([^"]+)"\);', (STATIC / "css/all.css").read_text("utf-8"))
    return [f"css/{name}" for name in names]


def test_every_style_sheet_is_on_the_page():
    linked = {"css/all.css", *imported_styles()}

    assert linked == {str(path.relative_to(STATIC)) for path in STATIC.rglob("*.css")}


def test_each_css_block_is_defined_in_one_style_sheet():
    """Two style sheets that use one name for different blocks would break each other."""
    described: dict[str, list[str]] = {}
    for path in sorted((STATIC / "css").glob("*/*.css")):
        source = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
        for block in set(re.findall(r"(?m)^  \.([a-z]+(?:-[a-z]+)*) \{", source)):
            described.setdefault(block, []).append(path.name)

    assert {block: names for block, names in described.items() if len(names) > 1} == {}
    assert described["badge"] == ["badge.css"]


def test_the_order_of_the_layers_comes_first():
    assert imported_styles()[0] == "css/tokens.css"
    assert "@layer reset, base, components, utilities;" in (STATIC / "css/tokens.css").read_text(
        "utf-8"
    )


def style_sheets() -> dict[str, str]:
    """Return every style sheet without its comments, by its path."""
    return {
        str(path.relative_to(STATIC)): re.sub(
            r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL
        )
        for path in sorted(STATIC.rglob("*.css"))
    }


def test_colours_are_defined_only_in_tokens():
    literal = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch|oklab)a?\(", re.IGNORECASE)
    sheets = style_sheets()

    found = {path: literal.findall(sheets[path]) for path in sheets.keys() - {"css/tokens.css"}}

    assert {path: colours for path, colours in found.items() if colours} == {}
    assert literal.search(sheets["css/tokens.css"])


def test_styles_use_classes_and_known_tokens():
    sheets = style_sheets()
    tokens = set(re.findall(r"(--[a-z0-9-]+)\s*:", sheets["css/tokens.css"]))
    on_ids, unknown = {}, {}
    for path, source in sheets.items():
        own = set(re.findall(r"(--[a-z0-9-]+)\s*:", source))
        used = set(re.findall(r"var\((--[a-z0-9-]+)\)", source))
        # A variant's property may be set by another sheet; then it is used with a fallback.
        if not used - tokens - own <= {"--tone"}:
            unknown[path] = used - tokens - own
        if found := re.findall(r"(?:^|[\s,>+~(])#[a-zA-Z][\w-]*", source):
            on_ids[path] = found

    assert unknown == {}
    assert on_ids == {}


def test_pages_link_each_style_sheet_or_the_joined_one(settings):
    each = Template("{% style_sheets %}").render(Context())
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "tests.base.test_templates.Joined"}
    }
    joined = Template("{% style_sheets %}").render(Context())

    assert re.findall(r'href="/static/([^"]+)"', each) == imported_styles()
    assert joined == '<link rel="stylesheet" href="/static/css/all.css">'


class Joined(StaticFilesStorage):
    """A storage that joins the style sheets in one file."""

    joins_files = True
