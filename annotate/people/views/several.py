"""Inviting several people at once, to one or more projects, on the page of the members."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotate.people.forms.people import SeveralForm
from annotate.people.invitation_batches import (
    InvitationResult,
    RefusedLines,
    invite_several,
    read_lines,
    sentences_by_line,
)
from annotate.people.invitation_mail import deliver_links
from annotate.people.views.members import led_by, members_page
from annotate.projects import access
from base.errors import Refused
from base.page_request import PageRequest


@require_http_methods(["GET", "POST"])
def several(request: PageRequest, slug: str) -> HttpResponse:
    """Invite people, one per line, to any of the projects that the reader leads."""
    member = access.lead(request.user, slug)
    if request.method == "GET":
        return redirect(f"{reverse('annotate:members', args=[slug])}#several")
    form = SeveralForm(request.POST, leading=led_by(request, member), here=member)
    if not form.is_valid():
        return members_page(request, member, several=form)
    try:
        results = invite_several(
            people=read_lines(form.cleaned_data["people"]),
            roles=form.roles(),
            days=form.cleaned_data["days"],
        )
    except RefusedLines as refused:
        form.add_error("people", sentences_by_line(refused.lines))
    except Refused as refused:
        form.add_error(None, str(refused))
    else:
        return members_page(request, member, done=_results(request, results))
    return members_page(request, member, several=form)


def _results(request: HttpRequest, results: list[InvitationResult]) -> list[dict[str, Any]]:
    """Return each person's result: the link and whether it was mailed, or their projects."""
    links = [result.link for result in results if result.link is not None]
    handed = dict(zip([link.token for link in links], deliver_links(request, links), strict=True))
    if any(delivery.mailed is False for delivery in handed.values()):
        messages.error(request, "Some mails could not be sent. Pass these links on yourself.")
    return [
        {
            "name": result.invitee.name or result.invitee.email,
            "email": result.invitee.email,
            "projects": [project.name for project in result.projects],
            "handed": handed[result.link.token] if result.link else None,
        }
        for result in results
    ]
