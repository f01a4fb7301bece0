"""Agree to be named in what a project publishes, or withdraw the agreement."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotate.people.naming import set_named
from annotate.projects.access import member
from base.page_request import PageRequest

ANSWERS = {"yes": True, "no": False}


@require_POST
def naming(request: PageRequest, slug: str) -> HttpResponse:
    """Record whether the reader agrees to be named: `named` is yes or no."""
    of = member(request.user, slug)
    named = ANSWERS.get(request.POST.get("named", ""))
    if named is None:
        messages.error(request, "Nothing was changed. Answer yes or no.")
    else:
        set_named(named=named, by=of)
        messages.success(request, "Saved.")
    return redirect("annotate:preferences")
