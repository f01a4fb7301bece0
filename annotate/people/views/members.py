"""The page of a project's members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.db.models import F
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from annotate.people import invitations
from annotate.people import members as member_actions
from annotate.people.forms.people import MemberForm, SeveralForm
from annotate.people.invitations import Link
from annotate.people.views.accounts import new_link_context
from annotate.projects import access
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from base.errors import InvalidField, Refused
from base.page_request import PageRequest, refusal_as_message
from base.users import find_account


@require_http_methods(["GET", "POST"])
def members(request: PageRequest, slug: str) -> HttpResponse:
    """List the members of the project; leads add people."""
    member = (access.lead if request.method == "POST" else access.member)(request.user, slug)
    form = MemberForm(request.POST if request.method == "POST" else None)
    shown = None
    if request.method == "POST" and form.is_valid():
        try:
            added = _add_or_invite(member, form.cleaned_data)
        except InvalidField as refused:
            form.add_error(refused.field, str(refused))
        except Refused as refused:
            form.add_error("username", str(refused))
        else:
            if isinstance(added, Membership):
                messages.success(
                    request,
                    f"{added.user} is now in the project and signs in as before.",
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
    """Draw the page of the members, with both forms for leads and the links just made."""
    people = member.project.memberships.select_related("user").order_by(
        F("left_at").asc(nulls_first=True), "is_machine", "name"
    )
    context: dict[str, Any] = {"members": people, "invited": invited, "done": done}
    if member.leads:
        context |= {
            "open": member.project.invitations.open().select_related("created_by").order_by("pk"),
            "form": form or MemberForm(),
            "several": several or SeveralForm(leading=led_by(request, member), here=member),
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
            words = f"{changing.name} was removed from the project. Their work is kept."
        elif change == "quota":
            most = _quota(request.POST.get("most_tasks", ""))
            member_actions.set_quota(member=changing, most_tasks=most, by=by)
            words = (
                f"{changing.name} can take any number of tasks."
                if most is None
                else (
                    f"{changing.name} can take at most {most} task."
                    if most == 1
                    else f"{changing.name} can take at most {most} tasks."
                )
            )
        elif change == "return" and changing.user is not None:
            member_actions.add_member(username=changing.user.username, role=changing.role, by=by)
            words = f"{changing.name} is a member again."
        else:
            changed = member_actions.change_role(member=changing, role=change, by=by)
            about = {"name": changed.name, "role": changed.get_role_display().lower()}
            words = "{name} is now {role}.".format(**about)
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
