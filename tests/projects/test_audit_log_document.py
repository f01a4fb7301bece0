"""docs/audit-log.md agrees with the code."""

from __future__ import annotations

import hashlib
from pathlib import Path
from uuid import UUID

import pytest
from django.conf import settings

from annotate.projects.hash_chain import KINDS, NOTHING, digest, link_hash


@pytest.fixture(scope="module")
def page() -> str:
    return (Path(settings.BASE_DIR) / "docs/audit-log.md").read_text()


def first_cells(page: str, head: str) -> list[str]:
    table = page[page.index(head) :].split("\n\n")[0].splitlines()[2:]
    return [line.strip("|").split("|")[0].strip() for line in table]


def test_every_kind_with_a_chain_is_in_the_table(page):
    assert sorted(first_cells(page, "| kind |")) == sorted(KINDS)


def test_every_fault_is_in_the_table(page):
    source = (Path(settings.BASE_DIR) / "keeping/verify.py").read_text()
    named = set(first_cells(page, "| fault |"))

    assert named == {"changed", "stands", "gone", "unlinked", "link", "shorter"}
    assert all(f'Fault("{one}"' in source for one in named)


def test_hashes_are_computed_as_documented():
    content_digest = digest("judgment", ("301", "altered", 1, "Œ", None))
    name = UUID("00000000-0000-4000-8000-000000000001")
    by_hand = hashlib.sha256('["judgment",["301","altered",1,"Œ",null]]'.encode()).digest()

    assert content_digest == by_hand
    assert link_hash(NOTHING, 1, 1, "judgment", name.bytes, content_digest) == (
        hashlib.sha256(b"\0" * 32 + b"1 1 judgment " + name.bytes + content_digest).digest()
    )
