"""No name holds a control character or turns the direction of text, whoever brings it."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotate.models import Category, Grade, Membership, Project
from annotate.people import members
from annotate.people.invitations import invite
from annotate.people.tokens import make_token
from annotate.projects.actions import change_rules, create_project
from annotate.projects.kinds import KindGrade
from annotate.projects.taxonomy import Kind, set_categories
from base.errors import Refused
from base.texts import code_not_in_names
from exporters.exports.publishing import set_publication
from tests import factories

CODES = {
    "Tides\x1b[31m": "U+001B",
    "Ti\x7fdes": "U+007F",
    "Tides\u202esedit": "U+202E",
    "Tides\ufffe": "U+FFFE",
    "Tides\nMoon": "U+000A",
}
every_name = pytest.mark.parametrize(("name", "code"), CODES.items(), ids=CODES.values())


@pytest.fixture
def carla(db):
    return factories.lead(factories.project())


@every_name
def test_the_code_of_the_character_is_found(name, code):
    assert code_not_in_names(name) == code


@pytest.mark.parametrize(
    "name",
    [
        "Tides",
        "Marées d’été",
        "潮汐",
        "مد و جزر",
        "نمی\u200cدانم",
        "\U0001f469\u200d\U0001f52c",
        "",
    ],
)
def test_names_in_every_script_are_allowed(name):
    assert code_not_in_names(name) == ""


@every_name
def test_a_project_is_not_created_or_renamed_so(carla, name, code):
    for refused in (
        lambda: create_project(slug="moon", name=name, by=carla.user),
        lambda: change_rules(changes={"name": name}, grades=USUAL, by=carla),
    ):
        with pytest.raises(Refused, match=code.replace("+", r"\+")):
            refused()

    assert list(Project.objects.values_list("slug", "name")) == [("tides", carla.project.name)]


USUAL = [KindGrade(0, "No"), KindGrade(1, "Yes")]


@every_name
def test_no_grade_type_token_or_publisher_is_named_so(carla, name, code):
    odd_grades = [KindGrade(0, "No"), KindGrade(1, name)]
    project = carla.project
    for refused in (
        lambda: change_rules(changes={}, grades=odd_grades, by=carla),
        lambda: set_categories(kinds=[Kind("C1", name)], by=carla),
        lambda: make_token(name=f"a{name}b", scopes=[], days=1, by=carla.user),
        lambda: set_publication(project=project, changes={"publisher": f"a{name}b"}, by=carla),
    ):
        with pytest.raises(Refused, match=code.replace("+", r"\+")):
            refused()

    assert not Grade.objects.filter(name=name).exists()
    assert not Category.objects.exists()


@every_name
def test_nobody_is_invited_or_added_under_such_a_name(carla, name, code):
    for refused in (
        lambda: invite(role="annotator", name=name, by=carla),
        lambda: members.add_rater(name=name, by=carla),
        lambda: members.add_member(username=name, role="annotator", by=carla),
    ):
        with pytest.raises(Refused, match="valid username"):
            refused()


@every_name
def test_a_file_brings_no_person_of_such_a_name(carla, tmp_path, capsys, name, code):
    query = factories.query(carla.project)
    factories.pair(query)
    document = factories.candidate(query).document
    file = tmp_path / "judgments.jsonl"
    line = {
        "query_id": query.query_id,
        "doc_id": document.doc_id,
        "annotator": name,
        "relevance": 1,
    }
    file.write_text(json.dumps(line) + "\n")

    with pytest.raises(SystemExit):
        call_command("load", "tides", "judgments-jsonl", str(file))

    assert code in capsys.readouterr().err
    assert list(Membership.objects.values_list("name", flat=True)) == ["carla"]


def test_the_page_and_the_api_say_which_character_it_is(carla, client):
    client.force_login(carla.user)
    sent = {"name": "Moon\u202e", "slug": "moon"}

    page = client.post(reverse("annotate:new_project"), sent)
    answer = client.post("/api/v1/projects/", json.dumps(sent), content_type="application/json")

    assert page.status_code == 422
    assert "A name cannot contain the character U+202E." in page.content.decode()
    assert answer.status_code == 422
    assert "U+202E" in answer.json()["detail"]
    assert Project.objects.count() == 1


def test_the_command_refuses_a_creator(carla):
    with pytest.raises(CommandError, match=r"U\+202E"):
        call_command("publication", "tides", "--creator", "Curie\u202e, Marie")
