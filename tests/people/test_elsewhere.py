"""Signing in with OpenID Connect, against a fake provider."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount

from annotate.models import Invitation, Membership, User
from annotate.people import accounts, invitations
from tests import factories

ISSUER = "https://login.example.org/realms/team"
START = "/accounts/elsewhere/team/"
BACK = "/accounts/elsewhere/team/back/"


class Provider:
    """A fake provider that answers allauth's requests; `person` is signed in with it."""

    def __init__(self) -> None:
        self.person = {
            "sub": "17",
            "preferred_username": "ada",
            "email": "ada@example.org",
            "email_verified": True,
        }
        self.requests: list[str] = []

    def request(self, session, method, url, **more):
        self.requests.append(f"{method.upper()} {url}")
        found = {
            f"{ISSUER}/.well-known/openid-configuration": {
                "issuer": ISSUER,
                "authorization_endpoint": f"{ISSUER}/auth",
                "token_endpoint": f"{ISSUER}/token",
                "userinfo_endpoint": f"{ISSUER}/me",
                "jwks_uri": f"{ISSUER}/keys",
            },
            f"{ISSUER}/token": {"access_token": "opaque", "token_type": "Bearer"},
            f"{ISSUER}/me": self.person,
        }[url]
        answer = requests.Response()
        answer.status_code = 200
        answer.headers["Content-Type"] = "application/json"
        answer._content = json.dumps(found).encode()
        return answer


@pytest.fixture
def provider(db, settings, monkeypatch):
    app = {
        "provider_id": "team",
        "name": "Our login",
        "client_id": "rejudge",
        "secret": "hush",
        "settings": {"server_url": ISSUER},
    }
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [app],
        }
    }
    provider = Provider()
    monkeypatch.setattr(
        requests.Session,
        "request",
        lambda session, method, url, **more: provider.request(session, method, url, **more),
    )
    return provider


def sign_in_elsewhere(client, next_url=""):
    """Go to the provider and come back; return the response after coming back."""
    there = client.post(f"{START}?next={next_url}" if next_url else START)
    parameters = parse_qs(urlsplit(there.url).query)
    assert there.url.startswith(f"{ISSUER}/auth?")
    assert parameters["code_challenge_method"] == ["S256"]
    assert parameters["redirect_uri"] == [f"http://testserver{BACK}"]
    return client.get(BACK, {"state": parameters["state"][0], "code": "once"})


def who(client):
    return client.get("/accounts/").wsgi_request.user.username


def test_the_sign_in_page_offers_the_provider(provider, client):
    assert "Sign in with Our login" in client.get("/accounts/login/").content.decode()


def test_there_is_no_provider_without_the_settings(db, client):
    assert "Sign in with" not in client.get("/accounts/login/").content.decode()
    assert client.post(START).status_code == 404


def test_a_confirmed_address_signs_in_and_connects_the_account(provider, client):
    ada = factories.user("ada")
    EmailAddress.objects.create(user=ada, email="ada@example.org", verified=True, primary=True)

    sign_in_elsewhere(client)
    assert who(client) == "ada"
    provider.person["email"] = "another@example.org"
    client.logout()
    sign_in_elsewhere(client)

    assert who(client) == "ada"
    assert SocialAccount.objects.get().user == ada
    assert User.objects.get().has_usable_password()


def test_an_unconfirmed_address_signs_nobody_in(provider, client):
    EmailAddress.objects.create(
        user=factories.user("ada"), email="ada@example.org", verified=True, primary=True
    )
    provider.person["email_verified"] = False

    response = sign_in_elsewhere(client)

    assert "Accounts are by invitation" in response.content.decode()
    assert who(client) == ""


def test_people_without_an_account_do_not_get_one(provider, client):
    response = sign_in_elsewhere(client)

    assert "Accounts are by invitation" in response.content.decode()
    assert not User.objects.exists()


def test_everybody_gets_an_account_with_oidc_open(provider, client, settings):
    settings.OIDC_OPEN = True

    sign_in_elsewhere(client)

    assert who(client) == "ada"
    assert not User.objects.get().has_usable_password()
    assert not User.objects.get().memberships.exists()


def test_an_invited_person_joins_through_the_provider_and_uses_the_link(provider, client):
    carla = factories.lead(factories.project())
    token = invitations.invite(role="annotator", by=carla).token
    page = f"/invitations/{token}/"
    assert "Join with Our login" in client.get(page).content.decode()

    response = sign_in_elsewhere(client, page)

    assert who(client) == "ada"
    assert Membership.objects.get(name="ada").user == User.objects.get(username="ada")
    assert Invitation.objects.get().accepted_by == User.objects.get(username="ada")
    assert client.get(response.url).url == "/projects/tides/"


def test_a_link_for_a_name_gives_that_name_through_the_provider(provider, client):
    carla = factories.lead(factories.project())
    page = f"/invitations/{invitations.invite(role='annotator', name='zoe', by=carla).token}/"
    client.get(page)

    sign_in_elsewhere(client, page)

    assert who(client) == "zoe"


def test_a_person_whose_name_is_another_raters_chooses_a_different_one(provider, client):
    carla = factories.lead(factories.project())
    rater = Membership.objects.create(project=carla.project, name="ada")
    page = f"/invitations/{invitations.invite(role='annotator', by=carla).token}/"
    client.get(page)

    response = sign_in_elsewhere(client, page)
    assert response.url == "/accounts/elsewhere/name/"
    assert "Choose a user name" in client.get(response.url).content.decode()
    refused = client.post(response.url, {"username": "ada", "email": ""})
    assert "This name is taken. Choose another." in refused.content.decode()
    client.post(response.url, {"username": "ada2", "email": ""})

    assert who(client) == "ada2"
    rater.refresh_from_db()
    assert rater.user is None


def test_a_link_withdrawn_meanwhile_creates_no_account(provider, client):
    carla = factories.lead(factories.project())
    link = invitations.invite(role="annotator", by=carla)
    client.get(f"/invitations/{link.token}/")
    invitations.withdraw(invitation=link.invitation, by=factories.user("carla"))

    response = sign_in_elsewhere(client)

    assert "Accounts are by invitation" in response.content.decode()
    assert not User.objects.filter(username="ada").exists()


def test_a_closed_account_cannot_sign_in_through_the_provider(provider, client):
    root = User.objects.create_superuser("root")
    ada = factories.user("ada")
    EmailAddress.objects.create(user=ada, email="ada@example.org", verified=True, primary=True)
    accounts.deactivate(user=ada, by=root)

    response = sign_in_elsewhere(client)

    assert response.url == "/accounts/inactive/"
    assert who(client) == ""


def test_an_unrequested_response_signs_nobody_in(provider, client):
    response = client.get(BACK, {"state": "made-up", "code": "once"})

    assert response.status_code in {200, 302, 401}
    assert who(client) == ""
    assert provider.requests == []


def test_a_person_connects_and_disconnects_the_provider(provider, client):
    client.force_login(factories.user("ada"))
    client.post("/accounts/again/", {"password": factories.PASSWORD})
    there = client.post(f"{START}?process=connect")
    state = parse_qs(urlsplit(there.url).query)["state"][0]
    client.get(BACK, {"state": state, "code": "once"})
    account = SocialAccount.objects.get(user__username="ada")
    assert "Our login" in client.get("/accounts/elsewhere/").content.decode()

    client.post("/accounts/elsewhere/", {"account": account.pk})

    assert not SocialAccount.objects.exists()
