"""Static files in tests: without collectstatic, each found and read once.

A page links about fifty of them; on a "not found" page they take half of the time.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponse

from config.static_bundles import STYLES
from config.storage import joined_files

_LINKED = re.compile(r"\{% static '(js/[\w/]+\.js)' %\}")


class RememberedAddresses(StaticFilesStorage):
    """Static files in their source folders, whose URLs are computed once."""

    @cached_property
    def _addresses(self) -> dict[str, str]:
        return {}

    def url(self, name: str | None) -> Any:
        """Return the URL of a file."""
        key = name or ""
        if key not in self._addresses:
            self._addresses[key] = super().url(name)
        return self._addresses[key]


@cache
def joined() -> dict[str, str]:
    """Return the content of the files that pages link, bundled as when they are collected.

    Other modules stay unbundled, for tests that import them alone.
    """
    pages = Path(settings.TEMPLATES[0]["DIRS"][0]).rglob("*.html")
    linked = {name for page in pages for name in _LINKED.findall(page.read_text("utf-8"))}
    every = joined_files(
        {
            name: (storage, name)
            for finder in get_finders()
            for name, storage in finder.list([])
            if name.startswith(("css/", "js/"))
        }
    )
    return {name: content for name, content in every.items() if name in {*linked, STYLES}}


class RememberedFiles(StaticFilesHandler):
    """Serves static files from memory, bundled and cacheable like the collected ones."""

    _files: ClassVar[dict[str, tuple[bytes, str]]] = {}

    def serve(self, request: HttpRequest) -> HttpResponse:
        """Return the file. Raise `Http404` if there is none."""
        path = request.path
        if path not in self._files:
            found = super().serve(request)
            name = path.removeprefix(settings.STATIC_URL)
            content = joined().get(name, "").encode() or b"".join(found)
            self._files[path] = content, found["Content-Type"]
            found.close()
        content, content_type = self._files[path]
        return HttpResponse(
            content,
            content_type=content_type,
            headers={"Cache-Control": "max-age=86400, immutable"},
        )
