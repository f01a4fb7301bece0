from __future__ import annotations

import re
from pathlib import Path

import pytest

from formats.problems import FormatError
from formats.registry import FORMATS, UnknownFormat, lookup
from formats.source import Source

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "formats.md"

# The formats that `manage.py load` promises by name.
PROMISED = {
    "trec-topics",
    "trec-topics-xml",
    "trec-qrels",
    "trec-run",
    "trec-docs",
    "docs-jsonl",
    "beir",
    "followtable",
    "infosearch",
    "multiconir",
    "multi-infosearch",
    "pairs-jsonl",
    "judgments-csv",
    "judgments-jsonl",
}


def test_every_promised_format_is_registered():
    assert set(FORMATS) >= PROMISED


def test_a_format_is_registered_under_its_own_name():
    assert all(name == entry.name for name, entry in FORMATS.items())


def test_an_unknown_format_raises_with_the_known_names():
    with pytest.raises(UnknownFormat) as caught:
        lookup("trec-qrel")

    assert str(caught.value).startswith("unknown format 'trec-qrel'; the formats are: trec-topics,")
    assert all(name in str(caught.value) for name in FORMATS)


def test_a_format_opens_what_it_reads(tmp_path):
    (tmp_path / "q.txt").write_text("1 0 a 1\n")

    with lookup("trec-qrels").open(tmp_path / "q.txt") as source:
        assert isinstance(source, Source)
    with pytest.raises(FormatError, match="this is a folder; a file is needed"):
        lookup("trec-qrels").open(tmp_path)
    with pytest.raises(FormatError, match="a folder or a zip archive is needed"):
        lookup("beir").open(tmp_path / "q.txt")


def test_the_documentation_has_one_section_for_each_format():
    sections = re.findall(r"^### `([a-z-]+)`", DOCUMENTATION.read_text(), re.MULTILINE)

    assert sections == list(FORMATS)


def test_the_documentation_names_what_each_format_yields():
    text = DOCUMENTATION.read_text()
    for name, entry in FORMATS.items():
        section = text.partition(f"### `{name}`")[2].partition("\n##")[0]
        for record in entry.reads:
            assert f"`{record.__name__}`" in section, f"{record.__name__} in the section of {name}"
        assert ("Read only." in section) == (entry.write is None), name


def test_the_examples_of_the_documentation_are_read():
    text = DOCUMENTATION.read_text()
    for name, entry in FORMATS.items():
        if entry.kind == "folder":
            continue
        section = text.partition(f"### `{name}`")[2].partition("\n##")[0]
        example = section.partition("```\n")[2].partition("```")[0]

        assert list(entry.read(Source(example.encode(), name))), name


def test_the_documentation_names_the_formats_that_refuse_unknown_fields():
    table = DOCUMENTATION.read_text().partition("| an unknown field is |")[2]
    rows = {
        "refused": re.search(r"\| refused \|([^\n]*)\|", table),
        "reported": re.search(r"\| counted and reported \|([^\n]*)\|", table),
    }
    for what, row in rows.items():
        assert row is not None
        assert re.findall(r"`([a-z-]+)`", row[1]) == [
            name for name, entry in FORMATS.items() if entry.unknown == what
        ]
