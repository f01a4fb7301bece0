"""Signing in by name or address, with limited attempts and an optional second factor."""

from __future__ import annotations

import re
import smtplib
import time
from urllib.parse import urlencode

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from allauth.usersessions.models import UserSession
from django.contrib.auth.hashers import MD5PasswordHasher, make_password
from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.models import User
from annotate.people.invitation_mail import PRINTING
from config.celery import BrokerUnavailable, app
from tests import factories
from tests.pages import shows

LOGIN = "/accounts/login/"


@pytest.fixture
def ada(db):
    cache.clear()
    return factories.user("ada")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "is_said"),
    [(f"{LOGIN}?kept", True), (f"{LOGIN}?next=/pairs/1/judging/", True), (LOGIN, False)],
)
def test_whoever_was_signed_out_at_work_reads_that_nothing_is_lost(client, address, is_said):
    page = client.get(address).content.decode()

    assert ("is kept in this browser" in page) is is_said


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("came_from", "leads_back_to"),
    [
        (
            "http://testserver/projects/tides/queries/?state=open",
            "/projects/tides/queries/?state=open",
        ),
        ("http://elsewhere.example/projects/tides/", "/"),
        ("", "/"),
    ],
)
def test_a_button_pressed_while_signed_out_leads_back_to_its_page(client, came_from, leads_back_to):
    # A GET of this address is no page.
    response = client.post("/projects/tides/assignments/", headers={"referer": came_from})

    assert response.url == f"{LOGIN}?{urlencode({'next': leads_back_to}, safe='/')}"
    page = client.get(response.url)
    assert shows(page, "You were signed out, so the button did nothing.")
    assert page.context["redirect_field_value"] == leads_back_to


def sign_in(client, name="ada", password=factories.PASSWORD, **more):
    return client.post(LOGIN, {"username": name, "password": password, **more})


def is_in(client):
    return client.get("/").status_code == 200


def test_a_name_and_its_password_sign_in(ada, client):
    response = sign_in(client)

    assert response.url == "/"
    assert is_in(client)


def test_the_sign_in_page_asks_the_database_nothing(db, client, django_assert_num_queries):
    with django_assert_num_queries(0):
        page = client.get(LOGIN).content.decode()

    assert 'name="password"' in page


def test_an_address_signs_in_as_well(ada, client):
    EmailAddress.objects.create(user=ada, email="ada@example.org", primary=True)

    sign_in(client, "Ada@Example.org")

    assert is_in(client)


def test_names_that_differ_only_by_case_are_two_people(ada, client):
    # An account from before look-alike names were refused.
    User.objects.bulk_create(
        [User(username="ADA", password=make_password("another long password"))]
    )

    sign_in(client, "ADA", "another long password")
    assert client.get("/").wsgi_request.user.username == "ADA"
    other = Client()
    sign_in(other, "ada")
    assert other.get("/").wsgi_request.user.username == "ada"


@pytest.mark.parametrize("name", ["ada", "nobody", "nobody@example.org", ""])
def test_wrong_credentials_do_not_reveal_which_accounts_exist(ada, client, name):
    response = sign_in(client, name, "not hers")

    assert response.status_code == 200
    assert not is_in(client)
    if name:
        assert "The user name or the password is wrong." in response.content.decode()


def test_signing_in_redirects_only_within_the_site(ada, client):
    assert sign_in(client, next="/settings/").url == "/settings/"
    for elsewhere in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:1"):
        assert sign_in(Client(), next=elsewhere).url == "/"


def test_a_signed_in_person_is_redirected_from_the_login_page(ada, client):
    sign_in(client)

    assert client.get(LOGIN).url == "/"


def test_a_closed_account_gets_a_message_and_is_not_signed_in(ada, client):
    User.objects.filter(pk=ada.pk).update(is_active=False)

    response = sign_in(client)

    assert response.url == reverse("account_inactive")
    assert not is_in(client)
    assert "This account is closed" in client.get(response.url).content.decode()


def test_nobody_can_register(ada, client):
    page = client.get(reverse("account_signup"))
    client.post(
        reverse("account_signup"),
        {"username": "eve", "password1": factories.PASSWORD, "password2": factories.PASSWORD},
    )

    assert "Accounts are by invitation" in page.content.decode()
    assert User.objects.count() == 1


def test_the_administration_uses_the_same_login_page(ada, client):
    response = client.get("/admin/login/")

    assert response.url == "/accounts/login/?next=%2Fadmin%2Flogin%2F"
    sign_in(client)
    assert client.get("/admin/login/").status_code == 403


# --- limited attempts -----------------------------------------------------------------------------


def test_the_right_password_is_also_refused_after_five_wrong_attempts(ada, client):
    for _ in range(5):
        sign_in(Client(), "ada", "not hers")

    response = sign_in(client)

    assert "Too many attempts." in response.content.decode()
    assert not is_in(client)


def test_wrong_attempts_from_another_address_do_not_block_the_person(ada):
    for _ in range(6):
        refused = sign_in(Client(REMOTE_ADDR="192.0.2.66"), "ada", "not hers")
    assert "Too many attempts." in refused.content.decode()

    here = Client(REMOTE_ADDR="198.51.100.7")
    sign_in(here)

    assert is_in(here)


def test_addresses_of_one_ipv6_network_are_counted_as_one(ada):
    for number in range(6):
        refused = sign_in(Client(REMOTE_ADDR=f"2001:db8::{number}"), "ada", "not hers")

    assert "Too many attempts." in refused.content.decode()


def test_a_known_browser_may_try_when_its_address_is_blocked(ada):
    known = Client()
    sign_in(known)
    known.post("/accounts/logout/")
    for _ in range(6):
        refused = sign_in(Client(), "ada", "not hers")
    assert "Too many attempts." in refused.content.decode()

    sign_in(known)

    assert is_in(known)


def test_attempts_of_a_known_browser_are_limited_too(ada):
    known = Client()
    sign_in(known)
    known.post("/accounts/logout/")

    for _ in range(6):
        refused = sign_in(known, "ada", "not hers")

    assert "Too many attempts." in refused.content.decode()


def test_a_browser_is_known_only_for_its_own_accounts(ada):
    factories.user("ben")
    known = Client()
    sign_in(known, "ben")
    known.post("/accounts/logout/")
    for _ in range(5):
        sign_in(Client(), "ada", "not hers")

    assert "Too many attempts." in sign_in(known, "ada").content.decode()


def test_a_forged_cookie_does_not_make_a_browser_known(ada):
    known = Client()
    sign_in(known)
    forged = Client()
    forged.cookies["known_browser"] = known.cookies["known_browser"].value[:-1] + "x"
    for _ in range(5):
        sign_in(Client(), "ada", "not hers")

    assert "Too many attempts." in sign_in(forged).content.decode()


@pytest.mark.parametrize("typed", ["ada", "ADA", "ada@example.org", "Ada@Example.org"])
def test_attempts_by_name_and_by_address_are_counted_together(ada, typed):
    EmailAddress.objects.create(user=ada, email="ada@example.org", primary=True)
    for login in ("ada", "ADA", "ada@example.org", "Ada@Example.org", "ada"):
        sign_in(Client(), login, "not hers")

    assert "Too many attempts." in sign_in(Client(), typed).content.decode()


@pytest.mark.parametrize("typed", ["ada", "ada@example.org", "nobody", "nobody@example.org"])
def test_a_wrong_password_is_hashed_twice_for_any_name_or_address(ada, client, typed, monkeypatch):
    EmailAddress.objects.create(user=ada, email="ada@example.org", primary=True)
    hashed = []
    encode = MD5PasswordHasher.encode

    def count(*given):
        hashed.append(typed)
        return encode(*given)

    monkeypatch.setattr(MD5PasswordHasher, "encode", count)

    sign_in(client, typed, "not hers")

    assert hashed == [typed, typed]


def test_attempts_on_one_account_do_not_block_another(ada, client):
    factories.user("ben")
    for _ in range(5):
        sign_in(Client(), "ada", "not hers")

    sign_in(client, "ben")

    assert is_in(client)


def test_successful_sign_ins_are_not_counted(ada):
    for _ in range(8):
        client = Client()
        sign_in(client)
        assert is_in(client)


def test_the_counts_are_shared_by_all_processes(ada, settings):
    assert settings.CACHES["default"]["BACKEND"].endswith(("DatabaseCache", "RedisCache"))

    cache.set("seen-by-all", 1)

    assert cache.get("seen-by-all") == 1


def test_behind_a_proxy_people_are_counted_by_their_own_address(ada, settings):
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    client = Client(headers={"x-forwarded-for": "192.0.2.66, 198.51.100.7"})

    sign_in(client)

    # The address that the nearest proxy saw; anybody can forge the entries before it.
    assert UserSession.objects.get().ip == "198.51.100.7"


# --- sessions -------------------------------------------------------------------------------------


def test_a_person_sees_their_sessions_and_ends_one(ada, client):
    other = Client(headers={"user-agent": "An old phone"})
    sign_in(other)
    sign_in(client)
    page = client.get("/accounts/sessions/")
    assert "An old phone" in page.content.decode()
    there = UserSession.objects.get(user_agent="An old phone")

    client.post("/accounts/sessions/", {"session": there.pk})

    assert not is_in(other)
    assert is_in(client)


def test_all_other_sessions_are_ended_at_once(ada, client):
    others = [Client(), Client()]
    for other in others:
        sign_in(other)
    sign_in(client)

    client.post("/accounts/sessions/", {"others": "1"})

    assert [is_in(other) for other in others] == [False, False]
    assert is_in(client)


def test_ending_the_current_session_signs_out(ada, client):
    sign_in(client)

    response = client.post("/accounts/sessions/", {"session": UserSession.objects.get().pk})

    assert response.url == LOGIN
    assert not is_in(client)


@pytest.mark.parametrize("session", ["", "x", "9" * 30, "-1"])
def test_an_unknown_session_ends_none(ada, client, session):
    sign_in(client)

    assert client.post("/accounts/sessions/", {"session": session}).status_code == 404
    assert is_in(client)


def test_nobody_can_end_another_persons_session(ada, client):
    eve = Client()
    factories.user("eve")
    sign_in(eve, "eve")
    sign_in(client)

    hers = UserSession.objects.get(user=ada)

    assert eve.post("/accounts/sessions/", {"session": hers.pk}).status_code == 404
    assert is_in(client)


def test_an_unlisted_session_is_listed_when_the_page_is_opened(ada, client):
    client.force_login(ada)

    assert client.get("/accounts/sessions/").status_code == 200

    assert UserSession.objects.get().user == ada


def test_changing_the_password_ends_all_other_sessions(ada, client):
    other = Client()
    sign_in(other)
    sign_in(client)

    response = client.post(
        "/accounts/password/",
        {
            "oldpassword": factories.PASSWORD,
            "password1": "eight tidal mills",
            "password2": "eight tidal mills",
        },
    )

    assert response.url == "/accounts/password/done/"
    assert is_in(client)
    assert not is_in(other)
    assert User.objects.get().check_password("eight tidal mills")


# --- mail -----------------------------------------------------------------------------------------

LINK = re.compile(r"http://testserver(/accounts/\S+)")


@pytest.fixture
def mailed(ada, monkeypatch):
    """Ada, who has a mail address; jobs run at once."""
    app.autodiscover_tasks(force=True)
    monkeypatch.setattr("config.celery.deliver", lambda task, *args: app.tasks[task](*args))
    EmailAddress.objects.create(user=ada, email="ada@example.org", primary=True, verified=True)
    return ada


def test_a_lost_password_is_reset_by_mail(mailed, client):
    other = Client()
    sign_in(other)
    client.post("/accounts/password/reset/", {"email": "ada@example.org"})
    [sent] = mail.outbox
    assert sent.to == ["ada@example.org"]

    [link] = LINK.findall(str(sent.body))
    form = client.get(link)
    assert "set-password" in form.url
    client.post(form.url, {"password1": "eight tidal mills", "password2": "eight tidal mills"})

    assert User.objects.get().check_password("eight tidal mills")
    assert not is_in(other)
    assert "This link is not valid" in Client().get(link).content.decode()


def test_without_a_mail_server_the_page_of_a_lost_password_says_whom_to_ask(client, settings):
    address = "/accounts/password/reset/"
    assert "a link for a new password is sent there" in client.get(address).content.decode()

    settings.EMAIL_BACKEND = PRINTING

    page = client.get(address).content.decode()
    assert "No mail server is set up here. Ask whoever runs this installation" in page
    assert "is sent there" not in page


def test_a_password_reset_does_not_reveal_whether_the_account_exists(mailed, client):
    known = client.post("/accounts/password/reset/", {"email": "ada@example.org"})
    unknown = client.post("/accounts/password/reset/", {"email": "nobody@example.org"})

    assert known.url == unknown.url
    assert len(mail.outbox) == 1


@pytest.mark.parametrize("email", ["ada@example.org", "nobody@example.org"])
def test_a_page_for_a_lost_password_neither_looks_for_the_account_nor_sends_mail(
    mailed, client, monkeypatch, email
):
    sent = []
    monkeypatch.setattr("config.celery.deliver", lambda *message: sent.append(message))

    with CaptureQueriesContext(connection) as asked:
        answer = client.post("/accounts/password/reset/", {"email": email})

    assert answer.url == "/accounts/password/reset/sent/"
    assert sent == [("config.password_reset", email, "http://testserver/")]
    assert mail.outbox == []
    assert not any("annotate_user" in query["sql"] for query in asked)
    assert not any("emailaddress" in query["sql"] for query in asked)


@pytest.mark.parametrize("email", ["ada@example.org", "nobody@example.org"])
def test_a_lost_password_is_told_to_wait_while_the_broker_is_away(
    mailed, client, monkeypatch, email
):
    def fail(*message):
        raise BrokerUnavailable

    monkeypatch.setattr("config.celery.deliver", fail)

    answer = client.post("/accounts/password/reset/", {"email": email})

    assert answer.status_code == 200
    assert "No mail can be sent right now." in answer.content.decode()


def test_a_closed_account_gets_no_link(mailed, client):
    User.objects.filter(pk=mailed.pk).update(is_active=False)

    client.post("/accounts/password/reset/", {"email": "ada@example.org"})

    assert mail.outbox == []


def test_an_address_counts_once_its_link_was_opened(ada, client):
    sign_in(client)
    confirm_again(client, "/accounts/email/")
    client.post("/accounts/email/", {"email": "new@example.org", "action_add": ""})
    [sent] = mail.outbox
    assert User.objects.get().email == ""

    [link] = LINK.findall(str(sent.body))
    assert "Is new@example.org the address of ada?" in client.get(link).content.decode()
    client.post(link)

    address = EmailAddress.objects.get()
    assert (address.email, address.verified) == ("new@example.org", True)
    assert User.objects.get().email == "new@example.org"


@pytest.mark.parametrize(
    "failure", [ConnectionRefusedError(), smtplib.SMTPRecipientsRefused({}), TimeoutError()]
)
def test_a_mail_address_is_kept_and_said_to_wait_while_no_mail_can_be_sent(
    ada, client, monkeypatch, failure
):
    def fail(self):
        raise failure

    sign_in(client)
    confirm_again(client, "/accounts/email/")
    monkeypatch.setattr(mail.EmailMultiAlternatives, "send", fail)
    monkeypatch.setattr(mail.EmailMessage, "send", fail)

    added = client.post(
        "/accounts/email/", {"email": "new@example.org", "action_add": ""}, follow=True
    )
    again = client.post(
        "/accounts/email/", {"email": "new@example.org", "action_send": ""}, follow=True
    )

    assert (added.status_code, again.status_code) == (200, 200)
    assert "No mail can be sent right now." in added.content.decode()
    assert "To be confirmed" in again.content.decode()
    address = EmailAddress.objects.get()
    assert (address.email, address.verified) == ("new@example.org", False)


def confirm_again(client, wanted):
    """Enter the password again, which is required before sensitive changes."""
    client.post(reverse("account_reauthenticate"), {"password": factories.PASSWORD, "next": wanted})


# --- the second factor ----------------------------------------------------------------------------


def code(secret, later=0):
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + later))


@pytest.fixture
def secret(ada, client):
    """The secret of the app that ada has just set up."""
    sign_in(client)
    confirm_again(client, "/accounts/second-factor/app/")
    page = client.get("/accounts/second-factor/app/")
    found = page.context["form"].secret
    picture = client.get("/accounts/second-factor/app/picture/")
    assert picture["Content-Type"] == "image/svg+xml"
    assert "no-store" in picture["Cache-Control"]
    client.post("/accounts/second-factor/app/", {"code": code(found)})
    return found


@pytest.mark.parametrize(
    ("route", "words", "field", "other"),
    [
        ("account_reauthenticate", "Enter your password again", "password", "code"),
        ("mfa_reauthenticate", "Enter a code of your app or a recovery", "code", "password"),
    ],
)
def test_reauthentication_asks_for_one_thing(secret, client, route, words, field, other):
    page = client.get(reverse(route)).content.decode()

    assert page.count("Confirm it is you") == 2
    assert page.count(words) == 1
    assert f'name="{field}"' in page
    assert f'name="{other}"' not in page


def test_the_password_alone_is_not_enough_with_an_app(secret, client):
    client = Client()

    response = sign_in(client, next="/settings/")

    assert response.url == reverse("mfa_authenticate")
    assert not is_in(client)
    refused = client.post(response.url, {"code": "000000"})
    assert "This code is not valid." in refused.content.decode()
    # The code of this half minute has not been used to sign in yet.
    assert client.post(response.url, {"code": code(secret)}).url == "/settings/"
    assert is_in(client)


def test_a_code_works_once(secret):
    one, two = Client(), Client()
    now = code(secret)
    sign_in(one)
    sign_in(two)

    one.post(reverse("mfa_authenticate"), {"code": now})
    two.post(reverse("mfa_authenticate"), {"code": now})

    assert (is_in(one), is_in(two)) == (True, False)


def test_a_code_can_be_guessed_only_five_times(secret):
    client = Client()
    sign_in(client)
    for _ in range(5):
        client.post(reverse("mfa_authenticate"), {"code": "000000"})

    response = client.post(reverse("mfa_authenticate"), {"code": code(secret)})

    assert "Too many attempts." in response.content.decode()
    assert not is_in(client)


def test_a_recovery_code_signs_in_once(secret, client):
    codes = client.get("/accounts/second-factor/codes/").context["unused_codes"]
    assert len(codes) == 10
    one, two = Client(), Client()
    sign_in(one)
    sign_in(two)

    one.post(reverse("mfa_authenticate"), {"code": codes[0]})
    two.post(reverse("mfa_authenticate"), {"code": codes[0]})

    assert (is_in(one), is_in(two)) == (True, False)


def test_a_person_can_remove_the_app(secret, client):
    client.post("/accounts/second-factor/app/leaving/")

    assert not Authenticator.objects.exists()
    other = Client()
    sign_in(other)
    assert is_in(other)


def test_setting_up_asks_for_the_password_again(ada, client):
    client.force_login(ada)

    response = client.get("/accounts/second-factor/app/")

    assert response.url.startswith("/accounts/again/?next=")


def test_there_is_no_picture_before_setting_up(ada, client):
    client.force_login(ada)

    assert client.get("/accounts/second-factor/app/picture/").status_code == 404


def test_the_account_page_shows_how_the_person_signs_in(secret, client):
    shown = client.get("/accounts/").content.decode()

    assert "an app" in shown
    assert "in 1 place" in shown


def test_an_administrator_removes_a_lost_second_factor(secret, ada):
    root = User.objects.create_superuser("root")
    helper, lost = Client(), Client()
    helper.force_login(root)
    assert "Remove second factor" in helper.get("/people/").content.decode()

    helper.post(reverse("annotate:account_change", args=[ada.pk]), {"change": "factor"})
    sign_in(lost)

    assert is_in(lost)
    assert "Remove second factor" not in helper.get("/people/").content.decode()


def test_the_administration_shows_no_secrets(secret, client):
    root = User.objects.create_superuser("root")
    client.force_login(root)

    shown = client.get("/admin/").content.decode()

    assert "Authenticator" not in shown
    assert "User session" not in shown
    assert client.get("/admin/mfa/authenticator/").status_code == 404
