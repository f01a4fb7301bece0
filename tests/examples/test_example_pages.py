"""“Try an example” for any signed-in user, on a page and over the API."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.models import Project
from tests import factories

pytestmark = pytest.mark.django_db


def test_home_links_to_the_examples_for_a_user_without_projects(client):
    client.force_login(factories.user("ines"))

    home = client.get(reverse("annotate:home")).content.decode()

    assert f'href="{reverse("examples")}">Try an example</a>' in home


def test_the_page_makes_the_example_that_was_chosen_and_opens_it(client, tiny):
    client.force_login(factories.user("ines"))

    page = client.get(reverse("examples")).content.decode()
    answer = client.post(reverse("examples"), {"kind": "followir"})

    assert "<strong>FollowIR</strong>: Harbours. One topic." in page
    assert answer["Location"] == reverse("annotate:project", args=["example-followir"])
    assert Project.objects.get().memberships.get(user__username="ines").leads


def test_nothing_is_made_without_a_choice(client, tiny):
    client.force_login(factories.user("ines"))

    answer = client.post(reverse("examples"), {"kind": "own"})

    assert answer.status_code == 422
    assert not Project.objects.exists()


def test_programs_list_the_examples_and_make_one(client, tiny):
    client.force_login(factories.user("ines"))
    address = reverse("api_examples")

    listed = client.get(address).json()
    made = client.post(address, {"kind": "followir"}, content_type="application/json")

    assert listed == [{"kind": "followir", "name": "Harbours", "description": "One topic."}]
    assert made.status_code == 201
    assert (made.json()["slug"], made.json()["role"]) == ("example-followir", "lead")
