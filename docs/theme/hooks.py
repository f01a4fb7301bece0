"""Adds to the documentation what lies elsewhere in the checkout: its own pages, and our tokens."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from properdocs.config.defaults import ProperDocsConfig
from properdocs.structure.files import File, Files
from properdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
EXAMPLES = ("tides", "followir", "followtable", "infosearch", "multiconir", "multi-infosearch")
# What lies outside docs/, and its place in the documentation.
PLACES = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "SECURITY.md": "security.md",
    "client/README.md": "client.md",
    **{f"examples/{name}/README.md": f"examples/{name}.md" for name in EXAMPLES},
    ".env.example": "env.example.txt",
    "LICENSE": "license.txt",
    "static/css/tokens.css": "css/tokens.css",
    "static/css/reset.css": "css/reset.css",
    "static/css/base.css": "css/base.css",
    "static/icons/favicon.svg": "favicon.svg",
}
TITLE_OF_A_LIST = re.compile(r"^(\*\*[^*\n]+\*\*\n)(?=- )", re.MULTILINE)
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")


def on_files(files: Files, config: ProperDocsConfig) -> Files:
    """Add the files of `PLACES`; docs/index.md is the start page, not README.md."""
    for source, place in PLACES.items():
        if source != "README.md":
            files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: ProperDocsConfig, files: Files) -> str:
    """Lead links between files of the checkout to their places in the documentation."""
    source = PurePosixPath(Path(str(page.file.abs_src_path)).relative_to(ROOT))
    here = PurePosixPath(page.file.src_uri).parent

    def place_of(match: re.Match[str]) -> str:
        target = os.path.normpath(source.parent / match[1])
        place = PLACES.get(target) or target.removeprefix("docs/")
        return f"]({os.path.relpath(place, here)}"

    # Markdown's first rules, which the generator follows, want an empty line before a list.
    return TITLE_OF_A_LIST.sub(r"\1\n", LINK.sub(place_of, markdown))
