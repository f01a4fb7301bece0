"""Take back a loaded file of qrels."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotate.collection import access
from annotate.pools.taking_back import take_back
from base.page_request import PageRequest, refusal_as_message


@require_POST
def taking_back(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Undo what a load of qrels wrote."""
    member, load = access.load(request.user, slug, pk)
    with refusal_as_message(request):
        take_back(load=load, by=member)
        messages.success(request, f"{load.file_name} was taken back.")
    return redirect(load)
