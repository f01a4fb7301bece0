"""README.md of an export: a line for each of its files, for a person who unpacks the archive."""

from __future__ import annotations

from exporters.exports.files import Writer
from exporters.exports.manifest.manifest import NAME

README = "README.md"


def write(format_name: str, into: Writer) -> None:
    """Write the README of an export whose other files are written, except its manifest."""
    about_manifest = (
        f"`{NAME}` says how each relevance was determined, warns of what is missing, and has "
        "counts for each pair and the sha256 of each file."
    )
    lines = [
        f"# Files of the export `{format_name}`",
        "",
        about_manifest,
        "",
        *(f"- `{entry['name']}`: {entry['holds']}" for entry in into.files),
    ]
    with into.file(README, "What each file holds.") as stream:
        stream.write(("\n".join(lines) + "\n").encode())
