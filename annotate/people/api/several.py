"""Invite several people at once in the API, each to one or more projects."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.people.api.members import LinkSerializer, NewLinkSerializer, SentInvitee
from annotate.people.invitation_batches import MOST, InvitationResult, Invitee, invite_several
from annotate.people.invitation_mail import Delivery, deliver_links
from annotate.people.invitations import DAYS
from annotate.projects import access
from annotate.projects.models import Membership
from base.api.resource import RequestBody, Resource, Scope, writes


class SentRole(RequestBody):
    """A project that you lead, and the role in it."""

    project = serializers.SlugField(max_length=80)
    role = serializers.ChoiceField(
        choices=Membership.Role.choices, default=Membership.Role.ANNOTATOR.value
    )


class SentInvitations(RequestBody):
    """People to invite to this project and to others."""

    people = serializers.ListField(child=SentInvitee(), min_length=1, max_length=MOST)
    role = serializers.ChoiceField(
        choices=Membership.Role.choices, default=Membership.Role.ANNOTATOR.value
    )
    other_projects = serializers.ListField(
        child=SentRole(),
        max_length=MOST,
        default=list,
        help_text="Other projects that the same links lead to.",
    )
    days = serializers.IntegerField(min_value=DAYS.start, max_value=DAYS.stop - 1, default=7)


class InvitedSerializer(serializers.Serializer[Any]):
    """The result for one person: an account was added at once, or a link was made."""

    username = serializers.CharField()
    email = serializers.CharField()
    projects = serializers.ListField(
        child=serializers.CharField(), help_text="Short names of the projects they are added to."
    )
    link = NewLinkSerializer(allow_null=True, help_text="null: the account was added at once.")


class InvitedPeopleSerializer(serializers.Serializer[Any]):
    """The result for each person, in the order of the request."""

    people = InvitedSerializer(
        many=True,
        help_text="null if the request is sent again with the same key: links are not stored.",
    )


class SeveralInvitations(Resource, tag="Members"):
    """Inviting several people at once."""

    @writes(
        InvitedPeopleSerializer,
        body=SentInvitations,
        status=201,
        scope=Scope.LEAD,
        secret=("people",),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Invite people to this project and to others that you lead: all of them, or none. A person
        with an account of the name is added at once; anybody else gets one link for all projects.
        Line numbers in errors are positions in `people`, from 1.
        """
        by = access.lead(self.person, slug)
        sent = self.body()
        roles = {by: sent["role"]}
        for other in sent["other_projects"]:
            roles.setdefault(access.lead(self.person, other["project"]), other["role"])
        people = [Invitee(person["username"].strip(), person["email"]) for person in sent["people"]]
        if nameless := [n for n, person in enumerate(people, start=1) if not any(person)]:
            sentence = "Give a user name or a mail address."
            raise serializers.ValidationError({"people": {str(n): [sentence] for n in nameless}})
        results = invite_several(
            people=dict(enumerate(people, start=1)), roles=roles, days=sent["days"]
        )
        links = [result.link for result in results if result.link is not None]
        handed = iter(deliver_links(request, links))
        people_as_json = [
            _as_json(result, next(handed) if result.link else None) for result in results
        ]
        return Response(
            {"people": people_as_json}, status=201, headers={"Cache-Control": "no-store"}
        )


def _as_json(result: InvitationResult, handed: Delivery | None) -> dict[str, Any]:
    return {
        "username": result.invitee.name,
        "email": result.invitee.email,
        "projects": [project.slug for project in result.projects],
        "link": {**LinkSerializer(result.link.invitation).data, **handed._asdict()}
        if result.link and handed
        else None,
    }
