"""Static files in tests: without collectstatic, each found and read once.

A page links about fifty of them; on a "not found" page they take half of the time.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.staticfiles.finders import find
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponse

from config.static import STYLES, join_styles


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
def bundled_styles() -> bytes:
    """Return the style sheet that pages link, bundled as when it is collected."""
    return join_styles(str(find(STYLES))).encode()


class RememberedFiles(StaticFilesHandler):
    """Serves static files from memory, cacheable like the collected ones."""

    _files: ClassVar[dict[str, tuple[bytes, str]]] = {}

    def serve(self, request: HttpRequest) -> HttpResponse:
        """Return the file. Raise `Http404` if there is none."""
        path = request.path
        if path not in self._files:
            found = super().serve(request)
            is_bundled = path.removeprefix(settings.STATIC_URL) == STYLES
            content = bundled_styles() if is_bundled else b"".join(found)
            self._files[path] = content, found["Content-Type"]
            found.close()
        content, content_type = self._files[path]
        return HttpResponse(
            content,
            content_type=content_type,
            headers={"Cache-Control": "max-age=86400, immutable"},
        )
