"""The documentation's pages, which `bin/docs` makes and the wheel brings, at `/help/`."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import SuspiciousFileOperation
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils._os import safe_join
from django.views.decorators.http import require_safe
from django.views.static import serve


@login_not_required
@require_safe
def help_page(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """Send a page or a file of the documentation, to anybody: it has nothing of any project."""
    if not (settings.HELP / "index.html").exists():
        return render(request, "help_missing.html", status=404)
    try:
        is_folder = Path(safe_join(settings.HELP, path)).is_dir()
    except SuspiciousFileOperation as outside:
        raise Http404("There is no such page of the documentation.") from outside
    if is_folder and path and not path.endswith("/"):
        return HttpResponseRedirect(f"{request.path}/")
    path += "index.html" if is_folder else ""
    return serve(request, path, document_root=str(settings.HELP))
