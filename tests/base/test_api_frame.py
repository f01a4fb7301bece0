"""Behaviour shared by all API resources: authentication, pages, problems, keys, rates."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from typing import Any

import pytest
from django.core.cache import caches
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from annotate.judgments import assignments
from annotate.models import Assignment, Judgment, KeptAnswer, Project, Token
from tests import factories
from tests.programs import Program

ONE = "00000000-0000-4000-8000-000000000001"
KEY = "a-key-of-one-request"


@pytest.fixture
def tides(db) -> Project:
    project = factories.project("tides")
    factories.lead(project, "carla")
    factories.member(project, "ada")
    return project


def test_me_returns_the_token_and_its_scopes(tides):
    program = Program("ada", "judge")

    answer = program.get("me/").json()

    assert (answer["username"], answer["token"]) == ("ada", "Notebook")
    assert answer["scopes"] == ["read", "judge"]
    assert Token.objects.get().last_used_at is not None


def test_a_session_has_every_scope(tides, client):
    client.force_login(factories.user("ada"))

    answer = client.get("/api/v1/me/").json()

    assert (answer["token"], answer["scopes"]) == (None, ["read", "judge", "lead"])


@pytest.mark.parametrize("header", ["Bearer rejudge_wrong", "Bearer", "bearer \x80"])
def test_an_invalid_token_is_refused(tides, client, header):
    response = client.get("/api/v1/me/", headers={"Authorization": header})

    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert response["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("how", ["ended", "run out", "person put away"])
def test_an_ended_or_expired_token_is_refused(tides, how):
    program = Program("ada")
    token = Token.objects.all()
    if how == "ended":
        token.update(ended_at=timezone.now())
    elif how == "run out":
        token.update(
            made_at=timezone.now() - timedelta(days=2), expires_at=timezone.now() - timedelta(1)
        )
    else:
        factories.user("ada").__class__.objects.filter(username="ada").update(is_active=False)

    assert program.get("me/").status_code == 401


def test_a_token_does_nothing_outside_its_scopes(tides):
    program = Program("carla", "judge")

    response = program.send("PATCH", "projects/tides/", {"overlap_judge": 3})

    assert response.status_code == 403
    assert "“lead”" in response.json()["detail"]
    assert Project.objects.get().overlap_judge == 2


def test_a_scope_never_exceeds_the_rights_of_its_owner(tides):
    program = Program("ada", "lead")

    response = program.send("PATCH", "projects/tides/", {"overlap_judge": 3})

    assert response.status_code == 403
    assert Project.objects.get().overlap_judge == 2


def test_with_a_session_a_write_needs_the_csrf_token(tides):
    client = Client(enforce_csrf_checks=True)
    client.force_login(factories.user("carla"))

    response = client.patch(
        "/api/v1/projects/tides/", {"overlap_judge": 3}, content_type="application/json"
    )

    assert (response.status_code, response.json()["code"]) == (403, "permission_denied")
    assert Project.objects.get().overlap_judge == 2


def test_a_list_comes_in_pages_with_every_entry_once(tides):
    for number in range(5):
        factories.member(tides, f"person{number}")
    program = Program("ada")

    names, path = [], "projects/tides/members/?page_size=3"
    while path:
        part = program.get(path).json()
        assert len(part["results"]) <= 3
        names += [entry["name"] for entry in part["results"]]
        path = (part["next"] or "").removeprefix("http://testserver/api/v1/")

    assert names == ["carla", "ada", *(f"person{number}" for number in range(5))]


@pytest.mark.parametrize("cursor", ["cD1ub25l", "cD0xZTEw", "***", "cD0tMQ==", "bz03"])
def test_an_invalid_cursor_is_refused(tides, cursor):
    response = Program("ada").get(f"projects/tides/members/?cursor={cursor}")

    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (400, "?cursor")


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        ({"overlap_judge": 51}, "/overlap_judge"),
        ({"slug": "mine"}, "/slug"),
        (
            {"grades": [{"value": 0, "name": "No"}, {"value": "x", "name": "Yes"}]},
            "/grades/1/value",
        ),
        ({"grades": [{"value": 0, "name": "No", "secret": 1}]}, "/grades/0/secret"),
    ],
)
def test_an_error_names_the_field(tides, content, pointer):
    response = Program("carla", "lead").send("PATCH", "projects/tides/", content)

    answer = response.json()
    assert response["Content-Type"] == "application/problem+json"
    assert (response.status_code, answer["status"], answer["code"]) == (400, 400, "invalid")
    assert [fault["pointer"] for fault in answer["errors"]] == [pointer]


def test_a_refusal_is_a_problem_with_its_sentence(tides):
    response = Program("carla", "lead").send("PATCH", "projects/tides/", {"relevant_from": 0})

    assert response.status_code == 422
    assert response.json() == {
        "title": HTTPStatus(422).phrase,
        "status": 422,
        "code": "refused",
        "detail": "“Relevant from” must be a grade above the lowest: 1, 2.",
    }


@pytest.mark.parametrize("body", ["{", "[" * 100_000, '"\\ud800"', "NaN", "\x00"])
def test_invalid_json_is_refused(tides, body):
    program = Program("carla", "lead")

    response = program.client.patch(
        "/api/v1/projects/tides/", body, content_type="application/json"
    )

    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("body", ["9" * 5_000, "NaN", b'"\xff"'])
def test_the_refusal_of_invalid_json_is_not_pythons_own_sentence(tides, body):
    program = Program("carla", "lead")

    response = program.client.patch(
        "/api/v1/projects/tides/", body, content_type="application/json"
    )

    assert response.json()["detail"] == (
        "This is not JSON in UTF-8, or a number in it is NaN or has thousands of digits."
    )


def test_a_body_over_the_limit_is_refused(tides):
    program = Program("carla", "lead")

    response = program.client.patch(
        "/api/v1/projects/tides/", " " * 2_621_441, content_type="application/json"
    )

    assert (response.status_code, response.json()["code"]) == (413, "too_large")


def test_a_form_body_is_refused(tides):
    response = Program("carla", "lead").client.patch("/api/v1/projects/tides/", b"a=b")

    assert response.status_code == 415


def test_a_missing_address_is_a_problem_for_programs_and_a_page_for_people(tides, client):
    client.force_login(factories.user("ada"))

    assert client.get("/api/v1/nowhere/")["Content-Type"] == "application/problem+json"
    assert client.get("/nowhere/")["Content-Type"].startswith("text/html")


def test_an_unexpected_error_is_a_problem_without_details(tides, monkeypatch):
    def broken(*args: Any) -> None:
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr("annotate.projects.access.memberships_of", broken)
    program = Program("ada")
    program.client.raise_request_exception = False

    response = program.get("projects/")

    assert (response.status_code, response.json()["code"]) == (500, "error")
    assert b"swordfish" not in response.content


def test_a_busy_database_asks_to_retry_later(tides, monkeypatch):
    def busy(*args: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr("annotate.projects.access.memberships_of", busy)

    response = Program("ada").get("projects/")

    assert (response.status_code, response["Retry-After"]) == (503, "1")


def test_a_write_sent_twice_with_one_key_is_done_once(tides):
    program = Program("carla", "lead")
    sent = {"slug": "reefs", "name": "Reefs", "grades": [0, 1]}

    first = program.send("POST", "projects/", sent, **{"Idempotency-Key": KEY})
    second = program.send("POST", "projects/", sent, **{"Idempotency-Key": KEY})

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert second["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first
    assert Project.objects.filter(slug="reefs").count() == 1


def test_a_key_belongs_to_one_request_of_one_person(tides):
    factories.lead(tides, "dana")
    sent = {"slug": "reefs", "name": "Reefs", "grades": [0, 1]}
    carla, dana = Program("carla", "lead"), Program("dana", "lead")
    carla.send("POST", "projects/", sent, **{"Idempotency-Key": KEY})

    other = carla.send("POST", "projects/", {**sent, "slug": "bays"}, **{"Idempotency-Key": KEY})
    hers = dana.send("POST", "projects/", {**sent, "slug": "deltas"}, **{"Idempotency-Key": KEY})

    assert (other.status_code, other.json()["code"]) == (422, "refused")
    assert hers.status_code == 201
    assert set(Project.objects.values_list("slug", flat=True)) == {"tides", "reefs", "deltas"}


def test_a_refused_write_does_not_use_up_its_key(tides):
    program = Program("carla", "lead")
    sent = {"slug": "tides", "name": "Tides", "grades": [0, 1]}

    first = program.send("POST", "projects/", sent, **{"Idempotency-Key": KEY})

    assert first.status_code == 422
    assert not KeptAnswer.objects.exists()


def test_a_key_expires_after_a_day(tides):
    program = Program("carla", "lead")
    sent = {"name": "Tides and bays"}
    program.send("PATCH", "projects/tides/", sent, **{"Idempotency-Key": KEY})
    KeptAnswer.objects.update(at=timezone.now() - timedelta(days=1, seconds=1))

    again = program.send("PATCH", "projects/tides/", sent, **{"Idempotency-Key": KEY})

    assert again.status_code == 200
    assert "Idempotent-Replayed" not in again
    assert KeptAnswer.objects.count() == 1


@pytest.mark.parametrize("key", ["", "x" * 256, "schlüssel"])
def test_an_invalid_key_is_refused(tides, key):
    program = Program("carla", "lead")

    response = program.send("PATCH", "projects/tides/", {}, **{"Idempotency-Key": key})

    assert response.status_code == 400


def test_a_response_to_too_many_requests_says_when_to_retry(tides, settings):
    settings.REST_FRAMEWORK = {
        **settings.REST_FRAMEWORK,
        "DEFAULT_THROTTLE_RATES": {"reads": "2/min", "writes": "1/min"},
    }
    caches["rates"].clear()
    program = Program("carla", "lead")

    reads = [program.get("me/") for _ in range(3)]
    writes = [program.send("PATCH", "projects/tides/", {"name": "Tides"}) for _ in range(2)]
    caches["rates"].clear()

    assert [response.status_code for response in reads] == [200, 200, 429]
    assert 1 <= int(reads[2]["Retry-After"]) <= 60
    assert reads[2].json()["code"] == "throttled"
    assert [response.status_code for response in writes] == [200, 429]


def test_a_program_judges_with_its_token(tides):
    query = factories.query(tides)
    candidate = factories.candidate(query)
    pair = factories.pair(query)
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=tides.memberships.get(name="ada"))
    program = Program("ada", "judge")
    sent = {
        "uuid": ONE,
        "narrative": factories.altered(pair).pk,
        "candidate": candidate.pk,
        "relevance": 2,
    }

    made = program.send("POST", f"pairs/{pair.pk}/judgments/", sent)
    gone = program.send("DELETE", f"pairs/{pair.pk}/judgments/{ONE}/")

    assert (made.status_code, gone.status_code) == (201, 204)
    assert Judgment.objects.get().withdrawn_at is not None


def test_options_requests_are_not_answered(tides):
    response = Program("ada").send("OPTIONS", "projects/tides/")

    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD, PATCH")


def test_requests_pass_if_rates_cannot_be_counted(tides, settings, monkeypatch):
    settings.REST_FRAMEWORK = {
        **settings.REST_FRAMEWORK,
        "DEFAULT_THROTTLE_RATES": {"reads": "1/min", "writes": "1/min"},
    }

    def raise_connection_error(*args: Any, **options: Any) -> None:
        raise ConnectionError("the cache is away")

    monkeypatch.setattr("base.api.limits.Throttle.cache.get", raise_connection_error)
    program = Program("ada")

    assert [program.get("me/").status_code for _ in range(3)] == [200, 200, 200]
