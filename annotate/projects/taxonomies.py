"""Ready-made taxonomies of instructions that a project can add. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Kind(NamedTuple):
    """One type of instruction: the key that files use, its name, and its description."""

    key: str
    name: str
    sentence: str = ""


# FollowTable's types and InfoSearch's dimensions, in our own words.
TAXONOMIES: Mapping[str, tuple[Kind, ...]] = {
    "FollowTable": (
        Kind(
            "C1",
            "Content: about",
            "It asks what a table must be about, and excludes tables about related subjects.",
        ),
        Kind(
            "C2",
            "Content: only about",
            "It asks for tables about one subject only, with nothing else mixed in.",
        ),
        Kind("S1", "Schema: columns", "It asks what the columns are about."),
        Kind("S2", "Schema: rows", "It asks what each row represents."),
        Kind(
            "S3",
            "Schema: layout",
            "It asks how finely rows and columns divide the subject: by cases, ranges or steps.",
        ),
    ),
    "InfoSearch": (
        Kind("audience", "Audience", "It asks for whom a document is written."),
        Kind("keyword", "Keyword", "It asks for a word that a document contains."),
        Kind("format", "Format", "It asks in which form a document is written."),
        Kind("language", "Language", "It asks for the language of a document."),
        Kind("length", "Length", "It asks how long a document is."),
        Kind("source", "Source", "It asks where a document comes from."),
    ),
}
