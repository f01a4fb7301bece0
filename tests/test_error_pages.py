"""Responses to requests with a wrong method."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests import factories


@pytest.mark.django_db
def test_opening_an_address_that_only_takes_forms_explains_it(client):
    lead = factories.lead(factories.project())
    client.force_login(lead.user)

    answer = client.get(reverse("annotate:archiving", args=[lead.project.slug]))

    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert int(answer["Content-Length"]) == len(answer.content)
    assert "This address is not a page" in answer.content.decode()
    assert 'href="/"' in answer.content.decode()


@pytest.mark.django_db
def test_a_program_that_uses_a_wrong_verb_gets_a_problem_response(client):
    client.force_login(factories.user("ada"))

    answer = client.put("/api/v1/me/")

    assert (answer.status_code, answer["Content-Type"]) == (405, "application/problem+json")
