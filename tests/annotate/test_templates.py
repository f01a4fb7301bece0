"""Every template can be read, keeps to the pages' security policy, and is the house's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.backends.django import Template
from django.template.loader import get_template

FOLDER = Path(settings.BASE_DIR) / "templates"
STATIC = Path(settings.BASE_DIR) / "static"
TEMPLATES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.html"))

# What the Content-Security-Policy header would block, or what would let content run.
FORBIDDEN = {
    "an inline style": re.compile(r"\sstyle\s*="),
    "an inline handler": re.compile(r"\son[a-z]+\s*="),
    "an inline script": re.compile(r"<script(?![^>]*\ssrc=)"),
    "a style element": re.compile(r"<style"),
    "unescaped content": re.compile(r"\|\s*safe\b|\|\s*safeseq\b|autoescape\s+off"),
    "an expression for htmx": re.compile(r"hx-on|hx-vars|[\"']js:|[\"']javascript:"),
    "an address outside": re.compile(r"(?:src|href|action)\s*=\s*[\"'](?:https?:)?//"),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_can_be_read(name):
    assert isinstance(get_template(name), Template)


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_template_holds(what):
    holders = [
        name for name in TEMPLATES if FORBIDDEN[what].search((FOLDER / name).read_text("utf-8"))
    ]

    assert holders == []


def test_what_people_do_with_htmx_works_without_it():
    """Beside every hx-post stands an action, beside every hx-get of a link or form its address."""
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


def test_every_style_sheet_is_on_the_page():
    linked = set(
        re.findall(r"'(css/[^']+)'", (FOLDER / "components/_styles.html").read_text("utf-8"))
    )

    assert linked == {str(path.relative_to(STATIC)) for path in STATIC.rglob("*.css")}


def test_a_block_is_described_in_one_style_sheet():
    """Two that call different things by one name would each spoil the other's looks."""
    described: dict[str, list[str]] = {}
    for path in sorted((STATIC / "css/components").glob("*.css")):
        source = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
        for block in set(re.findall(r"(?m)^  \.([a-z]+(?:-[a-z]+)*) \{", source)):
            described.setdefault(block, []).append(path.name)

    assert {block: names for block, names in described.items() if len(names) > 1} == {}
    assert described["badge"] == ["badge.css"]


def test_the_order_of_the_layers_comes_first():
    styles = (FOLDER / "components/_styles.html").read_text("utf-8")

    assert re.findall(r"'(css/[^']+)'", styles)[0] == "css/tokens.css"
    assert "@layer reset, base, components, utilities;" in (STATIC / "css/tokens.css").read_text(
        "utf-8"
    )


@pytest.mark.parametrize(
    "path", sorted(STATIC.rglob("*.css")), ids=lambda path: str(path.relative_to(STATIC))
)
def test_colours_are_said_in_tokens_alone(path):
    literal = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch|oklab)a?\(", re.IGNORECASE)
    without_comments = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)

    if path.name != "tokens.css":
        assert literal.findall(without_comments) == []


@pytest.mark.parametrize(
    "path", sorted(STATIC.rglob("*.css")), ids=lambda path: str(path.relative_to(STATIC))
)
def test_looks_hang_on_classes_and_every_token_is_known(path):
    tokens = set(re.findall(r"(--[a-z0-9-]+)\s*:", (STATIC / "css/tokens.css").read_text("utf-8")))
    source = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
    own = set(re.findall(r"(--[a-z0-9-]+)\s*:", source))
    # A variant's property may be set by its neighbour, then a fallback stands beside it.
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", source))

    assert re.findall(r"(?:^|[\s,>+~(])#[a-zA-Z][\w-]*", source) == []
    assert used - tokens - own <= {"--tone"}
