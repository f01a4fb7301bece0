"""The documentation: every link leads somewhere, and `/help/` serves it under the strict policy."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from django.conf import settings as django_settings

from base.keymap import DEFAULTS

ROOT = Path(django_settings.BASE_DIR)
# The actions in the table of keys of the guide for annotators.
NAMED_KEYS = (
    *("undo", "evidence", "sentence", "clause", "note", "find", "next_mark", "previous_mark"),
    *("original", "mode", "later", "cannot_judge", "problem"),
)


class Markup(HTMLParser):
    """The addresses, ids and anything inline of one page."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.ids, self.inline = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.addresses += [values[name] for name in ("href", "src", "action") if name in values]
        self.ids.add(values.get("id"))
        if tag == "style" or (tag == "script" and "src" not in values):
            self.inline.append(tag)
        self.inline += [name for name in values if name == "style" or name.startswith("on")]


@pytest.fixture
def served(documentation, settings, client):
    settings.HELP = documentation
    return client


def test_every_list_is_drawn_as_a_list(documentation):
    # A paragraph or a code block at the edge of a list ends it; its next item is then plain text.
    lost = [
        f"{page.relative_to(documentation)}: {line[:60]}"
        for page in documentation.rglob("*.html")
        for line in page.read_text("utf-8").splitlines()
        if re.match(r"(<p>)?(- |[0-9]{1,2}\. )", line)
    ]

    assert lost == []


def test_every_address_of_the_documentation_leads_to_a_file_and_a_place_in_it(documentation):
    pages = {path: Markup(path.read_text("utf-8")) for path in documentation.rglob("*.html")}

    lost = []
    for path, page in pages.items():
        for address in page.addresses:
            parts = urlsplit(address)
            if parts.scheme in {"https", "http", "mailto"} or address == "/":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            is_lost = parts.fragment and unquote(parts.fragment) not in pages[target].ids
            if not target.exists() or is_lost:
                lost.append((path.relative_to(documentation).as_posix(), address))

    assert len(pages) > 60
    assert lost == []


def test_no_page_of_the_documentation_has_anything_inline_or_fetches_from_elsewhere(documentation):
    for path in documentation.rglob("*.html"):
        text = path.read_text("utf-8")
        fetched = re.findall(r'<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="([^"]+)"', text)

        assert Markup(text).inline == [], path
        assert [address for address in fetched if urlsplit(address).netloc] == [], path


def test_the_search_index_has_the_text_of_every_page(documentation):
    index = json.loads((documentation / "search" / "search_index.json").read_text("utf-8"))
    pages = {entry["location"].partition("#")[0] for entry in index["docs"]}

    assert {"", "start/", "annotators/", "leads/", "ways/followir/", "measures/"} <= pages


def test_anybody_reads_the_documentation_under_the_strict_security_policy(served):
    response = served.get("/help/")

    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/html")
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert b"Ten minutes from nothing to qrels" in response.getvalue()


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("/help/start/", "text/html"),
        ("/help/css/help.css", "text/css"),
        ("/help/search/search_index.json", "application/json"),
        ("/help/favicon.svg", "image/svg+xml"),
    ],
)
def test_a_file_of_the_documentation_is_sent_with_its_type(served, address, kind):
    response = served.get(address)

    assert (response.status_code, response["Content-Type"].partition(";")[0]) == (200, kind)
    assert response.getvalue()


def test_a_page_of_the_documentation_without_its_slash_leads_to_it(served):
    response = served.get("/help/start")

    assert (response.status_code, response["Location"]) == (302, "/help/start/")


@pytest.mark.parametrize(
    "address", ["/help/nothing/", "/help/../manage.py", "/help/%2e%2e/LICENSE"]
)
def test_nothing_outside_the_documentation_is_sent(served, address):
    assert served.get(address).status_code == 404


def test_a_checkout_without_the_pages_says_what_to_run(client, settings, tmp_path):
    settings.HELP = tmp_path

    response = client.get("/help/")

    assert response.status_code == 404
    assert "Run bin/docs in the checkout" in response.content.decode()


def test_the_guide_for_annotators_names_keys_of_the_work_page():
    guide = (ROOT / "docs" / "annotators.md").read_text("utf-8")
    (table,) = re.findall(r"\| key \| does \|\n.*?\n\n", guide, re.DOTALL)
    named = set(re.findall(r"`([^`0-9])`", table)) - {"→", "←"}

    assert named == {DEFAULTS[name] for name in NAMED_KEYS}
