"""Shared by the pages that take rows out and bring them back."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from annotate.collection.removal import ChangeCounts
from base.errors import Refused
from base.page_request import PageRequest


def redirect_after_change(
    request: PageRequest, action: Callable[[], ChangeCounts], words: Callable[[int], str], back: str
) -> HttpResponse:
    """Perform `action`, show what it changed or why it was refused, and redirect to `back`.

    `words` returns the message for a number of rows, with the placeholder `%(n)d`.
    """
    try:
        changed = action().changed
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, words(changed) % {"n": changed})
    return redirect(back)
