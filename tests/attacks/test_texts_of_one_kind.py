"""Texts of 100,000 characters of one kind make no page much slower than prose of that length.

Every page of a project is opened with such narratives, notes, guidelines and documents. Times are
of the processor, and only compared with those of the same page with prose.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.models import Assignment, Guideline, Narrative
from tests import factories
from tests.services.database import rolled_back
from tests.test_permissions import RIGHTS, ROUTES, Right, World, world
from tests.test_routes_without_pages import NO_PAGE

LENGTH = 100_000
PROSE = "The tide turns twice a day; boats (of two harbours) wait for it, and so do we. "
KINDS = {
    "dots": ".",
    "blanks": " ",
    "line breaks": "\n",
    "brackets": "[",
    "signs of tags": "<",
    "columns": "|",
    "combining marks": "\N{COMBINING ACUTE ACCENT}",
    "one word": "tide ",
    "right to left": "\N{HEBREW LETTER ALEF}",
}
# How often the time of the page with prose. A page that takes quadratic time exceeds it by far.
MOST = 12
PAGES = sorted(
    name
    for name, right in RIGHTS.items()
    if right in (Right.MEMBER, Right.LEAD) and name not in NO_PAGE
)
# Here these lead to another page, or there is nothing to show: nobody differs in a check, no report
# is computed, and there is one release.
WITHOUT_TEXTS = {
    *("annotate:judging", "audit:settlement", "audit:check_disagreement"),
    *("audit:agreement_table", "exporters:comparison"),
}
# Narratives, guidelines and documents have a text; judgments have a note.
LONG_COLUMN = re.compile(r"\b(?:text|note)\b")
# The places of a document's key in addresses.
OF_DOCUMENTS = {"candidate", "candidate_pk"}


class Opened(NamedTuple):
    """A page and, if it is one of a document, its markup."""

    name: str
    markup: str = ""


def text_of(piece: str) -> str:
    return (piece * LENGTH)[:LENGTH]


def filled(slug: str, piece: str) -> tuple[World, dict[str, Any]]:
    """Return a project whose texts repeat a piece, and the candidate of each kind of markup."""
    made = world(slug, f"annotator-{slug}", f"lead-{slug}")
    text = text_of(piece)
    Narrative.objects.filter(pair=made.pair, side="original").update(text=text)
    # The end differs, so that there is a change to show.
    Narrative.objects.filter(pair=made.pair, side="altered").update(text=text[:-9] + "Not boats.")
    Guideline.objects.filter(project=made.project).update(text=text)
    query, narrative = made.pair.query, factories.altered(made.pair)
    annotator = made.project.memberships.get(name=f"annotator-{slug}")
    for task in (Assignment.Task.REWRITE, Assignment.Task.REVIEW):
        factories.assignment(made.pair, annotator, task)
    texts = {"plain": text, "html": _html(text), "markdown": _markdown(text)}
    candidates = {
        markup: factories.candidate(query, f"{markup} document", text=content, markup=markup)
        for markup, content in texts.items()
    }
    for grade, name in ((0, "ben"), (2, "cleo")):
        member = factories.member(made.project, f"{name}-{slug}")
        for candidate in candidates.values():
            factories.judgment(narrative, candidate, member, grade, note=text)
    return made, candidates


def _html(text: str) -> str:
    return f"<table><tr><th>Port</th><th>Tide</th></tr><tr><td>{text}</td><td>2</td></tr></table>"


def _markdown(text: str) -> str:
    return f"| Port | Tide |\n| --- | --- |\n| {text} | 2 |\n"


def addresses(made: World, candidates: dict[str, Any]) -> Iterator[tuple[Opened, str, str]]:
    """Yield every page, its address, and who opens it."""
    for name in PAGES:
        by = "annotator" if RIGHTS[name] == Right.MEMBER else "lead"
        converters = ROUTES[name].pattern.converters
        if OF_DOCUMENTS.isdisjoint(converters):
            yield Opened(name), made.url(name), by
            continue
        for markup, candidate in candidates.items():
            keys = {
                key: candidate.pk if key in OF_DOCUMENTS else made._key(name, key)
                for key in converters
            }
            yield Opened(name, markup), reverse(name, kwargs=keys), by


class Reader:
    """Opens the pages of one project and measures them."""

    def __init__(self, slug: str, piece: str) -> None:
        made, candidates = filled(slug, piece)
        self.clients = {by: Client() for by in ("annotator", "lead")}
        for by, client in self.clients.items():
            client.force_login(factories.user(f"{by}-{slug}"))
        self.pages = {opened: (address, by) for opened, address, by in addresses(made, candidates)}

    def open(self, opened: Opened) -> tuple[int, float]:
        """Return the status of a page, and its processor time."""
        address, by = self.pages[opened]
        began = time.process_time()
        status = self.clients[by].get(address).status_code
        return status, time.process_time() - began

    def reads_long_texts(self, opened: Opened) -> bool:
        """Return whether a page reads a column with one of the long texts."""
        with CaptureQueriesContext(connection) as queries:
            status, _ = self.open(opened)
        assert status == 200 or opened.name in WITHOUT_TEXTS, opened
        return any(LONG_COLUMN.search(query["sql"]) for query in queries)


# One test for all kinds: it measures the pages with prose once.
@pytest.mark.long
def test_no_page_is_much_slower_than_with_prose(db):
    reader = Reader("prose", PROSE)
    names = {one.name for one in reader.pages}
    assert {"annotate:project", "annotate:judge", "annotate:rewrite", "audit:review"} <= names
    assert names >= WITHOUT_TEXTS
    pages = [opened for opened in reader.pages if reader.reads_long_texts(opened)]
    usual = {opened: max(reader.open(opened)[1] for _ in range(2)) for opened in pages}
    slower, unanswered = {}, set()

    for kind, piece in KINDS.items():
        with rolled_back():
            reader = Reader("unusual", piece)
            for opened, prose in usual.items():
                status, took = reader.open(opened)
                if status != 200 and opened.name not in WITHOUT_TEXTS:
                    unanswered.add((kind, opened, status))
                # Other work on the machine may slow a page down once, but not each time.
                for _ in range(3):
                    if took > MOST * prose:
                        took = min(took, reader.open(opened)[1])
                if took > MOST * prose:
                    slower[kind, opened] = f"{took / prose:.0f} times"

    assert slower == {}
    assert unanswered == set()
    assert {"annotate:judge", "annotate:rewrite", "audit:story"} <= {one.name for one in pages}
