"""A lead invites several people at once to several projects, with one link each."""

from __future__ import annotations

import re
from smtplib import SMTPRecipientsRefused

import pytest
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotate.models import AuditEvent, Invitation, Membership, User
from annotate.people import invitations
from annotate.people.invitations import (
    Invitee,
    RefusedLines,
    invite_several,
    read_lines,
)
from base.errors import Refused, Stale
from tests import factories

ANNOTATOR, LEAD = Membership.Role.ANNOTATOR, Membership.Role.LEAD
PASSWORD = "seven long words of a tide"
LINK = re.compile(r"http://testserver/invitations/([\w-]+)/")


@pytest.fixture
def carla(db):
    """The lead of the project tides."""
    return factories.lead(factories.project())


@pytest.fixture
def second_project(carla):
    """Carla's membership in a second project that she leads."""
    return factories.lead(factories.project("moon"), "carla")


@pytest.fixture
def link(carla, second_project):
    """A link to both projects, with the role of lead in the second."""
    return invitations.invite_to_projects(roles={carla: ANNOTATOR, second_project: LEAD})


def roles_of(user):
    return dict(user.memberships.values_list("project__slug", "role"))


def new(token, name="ada"):
    return invitations.accept_with_new_account(token=token, username=name, password=PASSWORD)


def test_one_link_adds_one_person_to_all_its_projects_with_their_roles(link):
    ada = new(link.token)

    assert roles_of(ada) == {"tides": "annotator", "moon": "lead"}
    with pytest.raises(Stale, match="link has already been used"):
        new(link.token, "ben")


def test_a_link_withdrawn_for_one_project_still_works_for_the_other(link, second_project):
    [row] = [one for one in link.invitations if one.project == second_project.project]
    invitations.withdraw(invitation=row, by=second_project.user)

    assert roles_of(new(link.token)) == {"tides": "annotator"}


def test_a_link_works_only_for_projects_that_its_creator_still_leads(link, second_project):
    factories.lead(second_project.project, "gina")
    Membership.objects.filter(pk=second_project.pk).update(role=ANNOTATOR)

    assert roles_of(new(link.token)) == {"tides": "annotator"}


def test_a_member_of_one_project_joins_the_others_and_keeps_their_role(link, second_project):
    factories.member(second_project.project, "ben")
    ben = factories.user("ben")

    invitations.accept(token=link.token, by=ben)

    assert roles_of(ben) == {"tides": "annotator", "moon": "annotator"}
    assert not Invitation.objects.open().exists()


def test_a_member_of_all_projects_is_refused(link, second_project):
    with pytest.raises(Refused, match="You are already in these projects"):
        invitations.accept(token=link.token, by=second_project.user)


def test_a_link_has_one_row_per_project(link):
    first = link.invitations[0]
    first.pk = None
    with pytest.raises(IntegrityError, match="digest"), transaction.atomic():
        first.save(force_insert=True)


def test_each_line_is_a_user_name_a_mail_address_or_both():
    text = "ada\n\n ben@example.org \nfay, fay@example.org"

    assert read_lines(text) == {
        1: Invitee("ada"),
        3: Invitee("", "ben@example.org"),
        4: Invitee("fay", "fay@example.org"),
    }


def test_nobody_is_invited_if_a_line_is_wrong_and_all_wrong_lines_are_named(carla, second_project):
    people = read_lines("ada\nno body\nx@y\nada\ncarla")

    with pytest.raises(RefusedLines) as refused:
        invite_several(people=people, roles={carla: ANNOTATOR, second_project: ANNOTATOR})

    assert {number: why.partition(".")[0] for number, why in refused.value.lines.items()} == {
        2: "Enter a valid username",
        3: "This is not a mail address",
        4: "This repeats line 1",
        5: "carla is already in all these projects",
    }
    assert not Invitation.objects.exists()


def test_an_account_is_added_at_once_to_the_projects_it_is_not_in(carla, second_project):
    factories.member(second_project.project, "ben")
    ben = factories.user("ben")

    [done] = invite_several(people={1: Invitee("ben")}, roles={carla: LEAD, second_project: LEAD})

    assert done.link is None
    assert roles_of(ben) == {"tides": "lead", "moon": "annotator"}


def test_capital_letters_of_an_accounts_name_do_not_count(carla):
    ben = factories.user("ben")

    [done] = invite_several(people={1: Invitee("BEN")}, roles={carla: ANNOTATOR})

    assert (done.link, done.members[0].user) == (None, ben)


def test_the_audit_log_of_each_project_says_who_was_invited(carla, second_project):
    invite_several(people={1: Invitee("ada")}, roles={carla: ANNOTATOR, second_project: LEAD})

    found = AuditEvent.objects.filter(what="invitation.made").order_by("project__slug")
    assert list(found.values_list("project__slug", "about", "words", "name")) == [
        ("moon", "ada", "lead", "carla"),
        ("tides", "ada", "annotator", "carla"),
    ]


def test_the_page_shows_a_link_for_each_person_and_mails_it_to_an_address(
    client, carla, second_project
):
    client.force_login(carla.user)
    page = reverse("annotate:several_invitations", args=["tides"])
    sent = {"people": "ada\nben@example.org", "role-tides": "annotator", "role-moon": "lead"}

    response = client.post(page, {**sent, "days": "7"})

    tokens = set(LINK.findall(response.content.decode()))
    assert (response.status_code, len(tokens)) == (200, 2)
    assert response["Cache-Control"] == "no-store"
    [message] = mail.outbox
    assert (message.to, message.subject) == (
        ["ben@example.org"],
        "[Rejudge] You are invited to 2 projects",
    )
    assert "in the projects “Tides”, “Moon”" in message.body
    client.logout()
    [mailed] = LINK.findall(str(message.body))
    shown = client.get(reverse("annotate:invitation", args=[mailed])).content.decode()
    assert "Moon: Lead" in shown


def test_the_address_of_the_former_page_leads_to_the_form_among_the_members(client, carla):
    client.force_login(carla.user)

    moved = client.get(reverse("annotate:several_invitations", args=["tides"]))

    assert moved.url == reverse("annotate:members", args=["tides"]) + "?several=1#several"
    assert 'name="people"' in client.get(moved.url).text


def test_the_form_is_read_when_it_is_opened(client, carla):
    client.force_login(carla.user)

    page = client.get(reverse("annotate:members", args=["tides"]))

    assert 'name="people"' not in page.text
    # The script asks for it when the fold is opened; without one a link does.
    assert 'hx-get="?several=1" hx-trigger="toggle once"' in page.text
    assert '<a href="?several=1#several">' in page.text


def test_the_page_names_the_wrong_line_and_keeps_the_input(client, carla):
    client.force_login(carla.user)
    page = reverse("annotate:several_invitations", args=["tides"])

    response = client.post(
        page, {"people": "ada\nnot a name", "role-tides": "annotator", "days": "7"}
    )

    assert response.status_code == 422
    assert "Line 2: Enter a valid username." in response.content.decode()
    assert "ada\nnot a name" in response.content.decode()


@pytest.mark.parametrize(("names", "any_link"), [("ben", False), ("ben\nnobody-yet", True)])
def test_links_are_spoken_of_only_if_somebody_got_one(client, carla, names, any_link):
    factories.user("ben")
    client.force_login(carla.user)
    page = reverse("annotate:several_invitations", args=["tides"])

    response = client.post(page, {"people": names, "role-tides": "annotator", "days": "7"})

    assert "has an account and was added at once" in response.text
    assert ("Pass the links on now" in response.text) is any_link


def test_the_page_offers_only_projects_that_the_person_leads(client, carla):
    factories.member(factories.project("moon"), "carla")
    client.force_login(carla.user)
    page = reverse("annotate:several_invitations", args=["tides"])

    assert "role-moon" not in client.get(page, follow=True).content.decode()
    response = client.post(page, {"people": "ada", "role-moon": "annotator", "days": "7"})

    assert response.status_code == 422
    assert not Invitation.objects.exists()


def test_the_link_of_a_refused_address_is_shown_and_other_people_get_theirs(
    client, carla, monkeypatch
):
    deliver = EmailMultiAlternatives.send

    def refuse_ada(message, **options):
        if message.to == ["ada@example.org"]:
            raise SMTPRecipientsRefused({"ada@example.org": (550, b"no such mailbox")})
        return deliver(message, **options)

    monkeypatch.setattr(EmailMultiAlternatives, "send", refuse_ada)
    client.force_login(carla.user)

    results = client.post(
        reverse("annotate:api_several_invitations", args=["tides"]),
        {"people": [{"email": "ada@example.org"}, {"email": "ben@example.org"}]},
        content_type="application/json",
    ).json()["people"]

    assert [one["link"]["mailed"] for one in results] == [False, True]


def test_no_other_mail_is_tried_after_one_that_fails(client, carla, monkeypatch):
    tried = []

    def fail(*args, **kwargs):
        tried.append(args)
        raise ConnectionRefusedError

    monkeypatch.setattr("allauth.account.adapter.EmailMultiAlternatives.send", fail)
    client.force_login(carla.user)
    page = reverse("annotate:several_invitations", args=["tides"])

    shown = client.post(
        page,
        {"people": "a@example.org\nb@example.org", "role-tides": "annotator", "days": "7"},
    ).content.decode()

    assert len(tried) == 1
    assert "Some mails could not be sent." in shown
    assert len(set(LINK.findall(shown))) == 2


def test_the_api_invites_several_people_to_several_projects(client, carla, second_project):
    client.force_login(carla.user)
    url = reverse("annotate:api_several_invitations", args=["tides"])
    body = {
        "people": [{"username": "ada"}, {"email": "ben@example.org"}],
        "other_projects": [{"project": "moon", "role": "lead"}],
    }

    response = client.post(url, body, content_type="application/json")

    assert response.status_code == 201
    results = response.json()["people"]
    assert [one["projects"] for one in results] == [["tides", "moon"]] * 2
    assert [one["link"]["mailed"] for one in results] == [None, True]
    assert User.objects.filter(username="ada").count() == 0
    ada = new(LINK.findall(results[0]["link"]["url"])[0])
    assert roles_of(ada) == {"tides": "annotator", "moon": "lead"}


def test_the_api_refuses_projects_that_the_person_does_not_lead(client, carla):
    factories.member(factories.project("moon"), "carla")
    client.force_login(carla.user)
    url = reverse("annotate:api_several_invitations", args=["tides"])
    body = {"people": [{"username": "ada"}], "other_projects": [{"project": "moon"}]}

    response = client.post(url, body, content_type="application/json")

    assert response.status_code == 403
    assert not Invitation.objects.exists()


def test_the_api_points_to_a_person_without_name_and_address(client, carla):
    client.force_login(carla.user)

    response = client.post(
        reverse("annotate:api_several_invitations", args=[carla.project.slug]),
        {"people": [{"username": "zoe"}, {"username": " "}, {"email": "no"}]},
        content_type="application/json",
    )

    assert [fault["pointer"] for fault in response.json()["errors"]] == [
        "/people/1",
        "/people/2/email",
    ]
