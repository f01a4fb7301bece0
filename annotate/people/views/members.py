"""Pages of a project's members: adding people, their roles, inviting several at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotate.people import invitations
from annotate.people import members as member_actions
from annotate.people.forms import MemberForm, SeveralForm
from annotate.people.invitation_mail import deliver_links
from annotate.people.invitations import (
    InvitationResult,
    Link,
    RefusedLines,
    invite_several,
    read_lines,
    sentences_by_line,
)
from annotate.people.views.invitations import new_link_context
from annotate.projects import access
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from base.errors import Refused
from base.requests import PageRequest, refusal_as_message, refusal_in
from base.users import find_account


@require_http_methods(["GET", "POST"])
def members(request: PageRequest, slug: str) -> HttpResponse:
    """List the members of the project; leads add people."""
    member = (access.lead if request.method == "POST" else access.member)(request.user, slug)
    form = MemberForm(request.POST if request.method == "POST" else None)
    shown = None
    if request.method == "POST" and form.is_valid():
        with refusal_in(form, "username"):
            added = _add_or_invite(member, form.cleaned_data)
            if isinstance(added, Membership):
                messages.success(
                    request, f"{added.user} is now in the project and signs in as before."
                )
                return redirect("annotate:members", slug)
            shown, form = new_link_context(request, added), MemberForm()
    return members_page(request, member, form=form, invited=shown)


def members_page(
    request: PageRequest,
    member: Membership,
    *,
    form: MemberForm | None = None,
    several: SeveralForm | None = None,
    invited: Mapping[str, Any] | None = None,
    done: Sequence[Mapping[str, Any]] | None = None,
) -> HttpResponse:
    """Draw the page of the members, with the forms for leads and the links just made.

    The form for several people has a field for each project that the reader leads: the page asks
    for it with `?several=1` when it is opened.
    """
    people = member.project.memberships.select_related("user").order_by(
        F("left_at").asc(nulls_first=True), "is_machine", "name"
    )
    context: dict[str, Any] = {
        "members": people,
        "invited": invited,
        "done": done,
        "any_handed": any(person["handed"] for person in done or ()),
    }
    if member.leads:
        if several is None and "several" in request.GET:
            several = SeveralForm(leading=led_by(request, member), here=member)
        context |= {
            "open": member.project.invitations.open().select_related("created_by").order_by("pk"),
            "form": form or MemberForm(),
            "several": several,
        }
    refused = any(sent is not None and sent.errors for sent in (form, several))
    response = project_page(
        request,
        "people/members.html",
        member,
        section="members",
        status=422 if refused else 200,
        **context,
    )
    if invited or done:
        # Links are shown in this response only, so that they are not stored.
        response["Cache-Control"] = "no-store"
    return response


def led_by(request: PageRequest, member: Membership) -> list[Membership]:
    """Return the memberships of the projects that the reader leads, this project's first."""
    leading = (
        access.memberships_of(request.user)
        .filter(role=Membership.Role.LEAD)
        .select_related("user")
        .order_by("project__name", "pk")
    )
    return sorted(leading, key=lambda membership: membership.pk != member.pk)


def _add_or_invite(member: Membership, fields: Mapping[str, Any]) -> Link | Membership:
    """Add a person who has an account; otherwise make a link. Return either."""
    name, role = fields["username"].strip(), fields["role"]
    if name and find_account(name) is not None:
        return member_actions.add_member(username=name, role=role, by=member)
    return invitations.invite(
        role=role, name=name, email=fields["email"], days=fields["days"], by=member
    )


@require_POST
def change_member(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Change a member's role, remove them, add them again, or limit their tasks."""
    by = access.lead(request.user, slug)
    changing = access.member_of_project(by, pk)
    change = request.POST.get("change", "")
    with refusal_as_message(request):
        if change == "leave":
            member_actions.remove_member(member=changing, by=by)
            words = f"{changing.name} was removed. Their work is kept, and their tasks are free."
        elif change == "quota":
            most = _quota(request.POST.get("most_tasks", ""))
            member_actions.set_quota(member=changing, most_tasks=most, by=by)
            limit = "any number of" if most is None else f"at most {most}"
            words = f"{changing.name} can take {limit} {'task' if most == 1 else 'tasks'}."
        elif change == "return" and changing.user is not None:
            member_actions.add_member(username=changing.user.username, role=changing.role, by=by)
            words = f"{changing.name} is a member again."
        else:
            changed = member_actions.change_role(member=changing, role=change, by=by)
            words = f"{changed.name} is now {changed.get_role_display().lower()}."
        messages.success(request, words)
    return redirect("annotate:members", slug)


def _quota(typed: str) -> int | None:
    """Parse a number of tasks; an empty text is no limit (None)."""
    typed = typed.strip()
    if not typed:
        return None
    if not (typed.isascii() and typed.isdigit() and len(typed) < 10):
        raise Refused("Write a whole number of tasks, or nothing for no limit.")
    return int(typed)


@require_http_methods(["GET", "POST"])
def several(request: PageRequest, slug: str) -> HttpResponse:
    """Invite people, one per line, to any of the projects that the reader leads."""
    member = access.lead(request.user, slug)
    if request.method == "GET":
        return redirect(f"{reverse('annotate:members', args=[slug])}?several=1#several")
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
    handed = deliver_links(request, results)
    if any(delivery and delivery.mailed is False for _result, delivery in handed):
        messages.error(request, "Some mails could not be sent. Pass these links on yourself.")
    return [
        {
            "name": result.invitee.name or result.invitee.email,
            "email": result.invitee.email,
            "projects": [project.name for project in result.projects],
            "handed": delivery,
        }
        for result, delivery in handed
    ]
