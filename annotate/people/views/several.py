"""The page on which a lead invites several people at once, to one or more projects."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
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
from annotate.projects import access
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from base.errors import Refused
from base.page_request import PageRequest


@require_http_methods(["GET", "POST"])
def several(request: PageRequest, slug: str) -> HttpResponse:
    """Invite people, one per line, to any of the projects that the reader leads."""
    member = access.lead(request.user, slug)
    leading = list(
        access.memberships_of(request.user)
        .filter(role=Membership.Role.LEAD)
        .select_related("user")
        .order_by("project__name", "pk")
    )
    # This project first.
    leading.sort(key=lambda membership: membership.pk != member.pk)
    form = SeveralForm(
        request.POST if request.method == "POST" else None, leading=leading, here=member
    )
    done = None
    if request.method == "POST" and form.is_valid():
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
            # Links are shown in this response, so that they are not stored.
            done = _results(request, results)
            form = SeveralForm(leading=leading, here=member)
    response = project_page(
        request,
        "people/several.html",
        member,
        section="members",
        form=form,
        done=done,
        status=422 if form.errors else 200,
    )
    if done:
        response["Cache-Control"] = "no-store"
    return response


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
