"""Administrators close and reopen accounts; judgments are kept."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.judgments import assignments
from annotate.models import Assignment, Membership, User
from annotate.people import accounts, members
from base.errors import Refused
from tests import factories


@pytest.fixture
def root(db):
    return User.objects.create_superuser("root", password=factories.PASSWORD)


@pytest.fixture
def ada(root):
    return factories.member(factories.project(), "ada")


def test_a_closed_account_is_signed_out_at_once_and_its_work_is_kept(root, ada, client):
    query = factories.query(ada.project)
    judgment = factories.judgment(
        factories.altered(factories.pair(query)), factories.candidate(query), ada
    )
    client.post("/accounts/login/", {"username": "ada", "password": factories.PASSWORD})
    assert client.get("/").status_code == 200

    closed = accounts.deactivate(user=factories.user("ada"), by=root)

    assert (closed.is_active, closed.deactivated_by) == (False, root)
    assert client.get("/").status_code == 302
    judgment.refresh_from_db()
    assert judgment.annotator == ada
    assert Membership.objects.active().get(name="ada") == ada


def test_assignments_that_were_never_begun_are_freed(root, ada):
    for query_id in ("301", "302"):
        query = factories.query(ada.project, query_id)
        factories.candidate(query)
        factories.pair(query)
    begun = assignments.take_next(task=Assignment.Task.JUDGE, by=ada)
    assert begun is not None
    assignments.touch(begun, done=False, now=timezone.now())
    assignments.take_next(task=Assignment.Task.JUDGE, by=ada)

    accounts.deactivate(user=factories.user("ada"), by=root)

    assert list(ada.assignments.all()) == [begun]


def test_a_reopened_account_signs_in_as_before_but_not_with_old_sessions(root, ada):
    old, new = Client(), Client()
    typed = {"username": "ada", "password": factories.PASSWORD}
    old.post("/accounts/login/", typed)
    accounts.deactivate(user=factories.user("ada"), by=root)

    accounts.reactivate(user=factories.user("ada"), by=root)
    new.post("/accounts/login/", typed)

    assert old.get("/").status_code == 302
    assert new.get("/").status_code == 200
    again = User.objects.get(username="ada")
    assert (again.deactivated_at, again.deactivated_by) == (None, None)


def test_closing_twice_keeps_who_closed_first_and_when(root, ada):
    first = accounts.deactivate(user=factories.user("ada"), by=root)
    other = User.objects.create_superuser("other", password=factories.PASSWORD)

    second = accounts.deactivate(user=factories.user("ada"), by=other)

    assert second.deactivated_by == root
    assert second.deactivated_at == first.deactivated_at


def test_nobody_can_close_their_own_account(root):
    with pytest.raises(Refused, match="your own account"):
        accounts.deactivate(user=root, by=root)


def test_the_account_of_an_only_lead_cannot_be_closed(root, ada):
    carla = factories.lead(ada.project)

    with pytest.raises(Refused, match="only lead of Tides"):
        accounts.deactivate(user=factories.user("carla"), by=root)

    members.change_role(member=ada, role="lead", by=carla)
    assert not accounts.deactivate(user=factories.user("carla"), by=root).is_active


def test_a_lead_with_a_closed_account_does_not_count(root, ada):
    carla = factories.lead(ada.project)
    factories.lead(ada.project, "frank")
    accounts.deactivate(user=factories.user("frank"), by=root)

    with pytest.raises(Refused, match="only lead"):
        members.remove_member(member=carla, by=carla)


def test_the_account_of_the_lead_of_an_archived_project_can_be_closed(root, ada):
    carla = factories.lead(ada.project)
    ada.project.archived_at, ada.project.archived_by = timezone.now(), carla.user
    ada.project.save()

    assert not accounts.deactivate(user=factories.user("carla"), by=root).is_active


@pytest.mark.parametrize("action", [accounts.deactivate, accounts.reactivate, accounts.sign_out])
def test_only_administrators_change_accounts(ada, action):
    factories.lead(ada.project)

    with pytest.raises(Refused, match="Only administrators"):
        action(user=factories.user("ada"), by=factories.user("carla"))


def test_an_administrator_with_a_closed_account_cannot_change_accounts(root, ada):
    other = User.objects.create_superuser("other", password=factories.PASSWORD)
    accounts.deactivate(user=other, by=root)

    # `other` is still the object from before the account was closed.
    with pytest.raises(Refused, match="Only administrators"):
        accounts.deactivate(user=root, by=other)


def test_the_database_refuses_a_closed_account_that_is_active(root):
    with pytest.raises(IntegrityError):
        User.objects.filter(pk=root.pk).update(
            deactivated_at=timezone.now(), deactivated_by=root.pk
        )


# --- the page -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence", "active"),
    [
        ("close", "The account of ada is closed. Their work is kept, ", False),
        ("open", "ada can sign in again.", True),
        ("sign-out", "ada is signed out everywhere.", True),
        ("delete", "There is no such change.", True),
    ],
)
def test_the_page_changes_an_account_and_confirms_it(root, ada, client, change, sentence, active):
    client.force_login(root)

    page = client.post(
        reverse("annotate:account_change", args=[ada.user_id]), {"change": change}, follow=True
    )

    assert sentence in page.content.decode()
    assert User.objects.get(username="ada").is_active is active


def test_accounts_are_found_by_name_address_and_state(root, ada, client):
    client.force_login(root)
    User.objects.create_user("ben", "ben@example.org")
    accounts.deactivate(user=factories.user("ada"), by=root)

    def usernames(query):
        return [one.username for one in client.get(f"/people/{query}").context["accounts"]]

    assert usernames("") == ["root", "ada", "ben"]
    assert usernames("?search=EXAMPLE") == ["ben"]
    assert usernames("?state=closed") == ["ada"]
    assert usernames("?search=nobody") == []
    assert "Nobody found" in client.get("/people/?search=nobody").content.decode()


def test_the_list_stays_as_it_was_searched_after_a_change(root, ada, client):
    client.force_login(root)
    page = client.get("/people/?search=ad&state=").content.decode()
    [action] = re.findall(r'action="(/people/\d+/[^"]*)"', page)

    answer = client.post(html.unescape(action), {"change": "sign-out"})

    assert parse_qs(urlsplit(answer["Location"]).query) == {"search": ["ad"]}


def test_the_list_has_a_constant_number_of_queries(root, client, django_assert_max_num_queries):
    User.objects.bulk_create(User(username=f"judge{number}") for number in range(60))
    client.force_login(root)

    with django_assert_max_num_queries(6):
        page = client.get("/people/")

    assert len(page.context["accounts"]) == 50
    assert page.context["next_url"]


def test_the_page_with_a_link_for_a_new_password_leads_to_the_other_accounts(root, ada, client):
    User.objects.bulk_create(User(username=f"judge{number}") for number in range(60))
    client.force_login(root)

    page = client.post(f"/people/{ada.user_id}/", {"change": "password"})

    assert page.context["next_url"].startswith("/people/?after=")


def test_an_administrator_invites_to_the_installation(root, client):
    client.force_login(root)

    page = client.post("/people/", {"username": "zoe", "email": "", "days": "1"})

    assert "http://testserver/invitations/" in page.content.decode()
    assert page["Cache-Control"] == "no-store"
    assert "zoe" in client.get("/people/").content.decode()


def test_a_link_for_a_new_password_is_shown_once_and_works_once(root, ada, client):
    client.force_login(root)
    change = reverse("annotate:account_change", args=[ada.user_id])

    page = client.post(change, {"change": "password"})

    shown = page.content.decode()
    [link] = set(re.findall(r"http://testserver(/accounts/password/reset/[\w-]+/)", shown))
    assert page["Cache-Control"] == "no-store"
    assert link not in client.get("/people/").content.decode()
    new = {"password1": "eight tidal mills", "password2": "eight tidal mills"}
    person = Client()
    person.post(person.get(link)["Location"], new)
    assert User.objects.get(username="ada").check_password("eight tidal mills")
    assert "This link is not valid" in Client().get(link).content.decode()


def test_a_closed_account_gets_no_link_for_a_new_password(root, ada, client):
    accounts.deactivate(user=factories.user("ada"), by=root)

    with pytest.raises(Refused, match="closed"):
        accounts.password_key(user=factories.user("ada"), by=root)


def test_a_lead_cannot_make_a_link_for_a_new_password(ada):
    factories.lead(ada.project)

    with pytest.raises(Refused, match="Only administrators"):
        accounts.password_key(user=factories.user("ada"), by=factories.user("carla"))


def test_the_page_of_a_link_that_has_been_used_since_says_so(root, ada):
    link = f"/accounts/password/reset/{accounts.password_key(user=ada.user, by=root)}/"
    first, second = Client(), Client()
    pages = [(one, one.get(link)["Location"]) for one in (first, second)]

    for (one, page), password in zip(pages, ("eight tidal mills", "nine tidal mills"), strict=True):
        answer = one.post(page, {"password1": password, "password2": password})

    assert "This link is not valid" in answer.content.decode()
    assert User.objects.get(username="ada").check_password("eight tidal mills")
