"""The same rows make the same bytes: twice, in another order of creation, on either database."""

from __future__ import annotations

import hashlib
import re
from io import BytesIO

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from exporters.exports.files import pack
from tests.exports.conftest import Tides

pytestmark = pytest.mark.both_databases

# Digests of all data files of the hand-made project, the same on both databases.
GOLDEN = {
    "trec": "f56fba8841a27ffbecfa06e3436f4212e46e3f75f779386ded6f252713b54cb1",
    "jsonl": "e4922cf753e7cc3c5624aa13948cab07a95658eb04fdb8c60b72e893e75a279b",
}


def digest(files) -> str:
    """Return a digest of all names and contents, except the manifest, which has the version."""
    whole = hashlib.sha256()
    for name, content in sorted(files.bytes().items()):
        if name != "manifest.json":
            whole.update(name.encode() + b"\0" + content)
    return whole.hexdigest()


@pytest.mark.parametrize("format_name", ["trec", "jsonl"])
def test_the_same_rows_make_the_same_bytes(tides, write, format_name):
    first, second = write(tides.project, format_name), write(tides.project, format_name)

    assert first.bytes() == second.bytes()


@pytest.mark.parametrize("format_name", ["trec", "jsonl"])
def test_both_databases_make_the_same_bytes(tides, write, format_name):
    assert digest(write(tides.project, format_name)) == GOLDEN[format_name]


class Backwards(Tides):
    """The same project with its queries created in reverse order, so that all keys differ."""

    def _query_1000(self) -> None:
        super()._query_304()

    def _query_301(self) -> None:
        super()._query_301()

    def _query_302(self) -> None:
        super()._query_302()

    def _query_304(self) -> None:
        super()._query_1000()


def test_the_order_in_which_rows_were_made_does_not_matter(db, write):
    files = write(Backwards().project)

    assert digest(files) == GOLDEN["trec"]


@pytest.mark.parametrize("format_name", ["trec", "jsonl"])
def test_texts_are_not_sorted_by_the_collation_of_the_database(tides, write, format_name):
    with CaptureQueriesContext(connection) as queries:
        write(tides.project, format_name)

    sorted_by = [term for query in queries for term in order_terms(query["sql"])]
    texts = [
        term
        for term in sorted_by
        if not re.search(
            r'"(version|number|at|created_at|claims_chosen_at|uuid|value|rel\w+)"', term
        )
        and not re.search(KEYS, term)
    ]
    assert len(texts) >= 8
    assert [term for term in texts if " COLLATE " not in term] == []


# Columns that hold the key of a row, which is not sorted as text.
KEYS = (
    r'annotator_id|"(id|job_ptr_id|candidate_id|narrative_id|pool_id)"'
    r'|"annotate_narrative"\."pair_id"'
)


def order_terms(sql: str) -> list[str]:
    """Return the terms of ORDER BY, with the number of a column replaced by the column."""
    if " ORDER BY " not in sql:
        return []
    columns = sql[: sql.index(" FROM ")].split(", ")
    terms = sql.rpartition(" ORDER BY ")[2].split(", ")
    return [columns[int(n[1]) - 1] if (n := re.match(r"(\d+) ", t)) else t for t in terms]


def test_an_archive_of_the_same_files_is_the_same_archive(tides, write):
    archives = []
    for files in (write(tides.project), write(tides.project)):
        stream = BytesIO()
        pack(files.folder, reversed(list(files.bytes())), stream, top="tides-trec")
        archives.append(stream.getvalue())

    assert archives[0] == archives[1]
