"""A project's own rubrics are saved, chosen, and used by reviews."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import Assignment
from annotate.projects import actions as projects
from audit.models import Rating, Review, Rubric
from audit.reviews import actions, rubrics
from audit.reviews.criteria import FOLLOWTABLE, MULTICONIR
from audit.reviews.passes import pass_of, passes_of, verdict_of
from base.errors import Refused
from formats.rubrics import format_rubric, parse_rubric
from tests import factories
from tests.collection.arriving import load
from tests.pages import shows, tight

OURS = {
    "name": "ours-1",
    "title": "Ours",
    "levels": [
        {"value": "fine", "name": "Fine"},
        {"value": "so_so", "name": "So so"},
        {"value": "bad", "name": "Bad", "rejects": True},
        {"value": "awful", "name": "Awful", "rejects": True},
    ],
    "criteria": [
        {"key": "clear", "name": "Clear", "asks": "Is it clear?"},
        {"key": "short", "name": "Short", "asks": "Is it short?"},
    ],
}


def rubric_json(**changes: Any) -> str:
    return json.dumps({**OURS, **changes})


def signed_in(member):
    client = Client()
    client.force_login(member.user)
    return client


def save(scene, **changes: Any) -> Rubric:
    return rubrics.save_rubric(
        project=scene.project, content=parse_rubric(rubric_json(**changes)), by=scene.carla
    )


def rate(scene, by, **levels: str) -> Review:
    answers = {key: (level, "Because.") for key, level in levels.items()}
    actions.save_ratings(narrative=scene.narrative, answers=answers, by=by)
    return actions.submit_review(narrative=scene.narrative, by=by)


def test_the_six_criteria_are_the_default_rubric(scene):
    assert rubrics.current_rubric(scene.project.pk) == FOLLOWTABLE

    save(scene)

    assert rubrics.current_rubric(scene.project.pk).keys == ("clear", "short")


def test_a_rubric_stores_its_author_and_time_and_saving_it_again_changes_nothing(scene):
    first = save(scene)

    again = save(scene)

    assert again.pk == first.pk
    assert (again.created_by, again.chosen_by) == (scene.carla, scene.carla)
    assert again.chosen_at == first.chosen_at
    assert Rubric.objects.count() == 1


def test_a_name_cannot_be_used_for_two_rubrics(scene):
    save(scene)

    with pytest.raises(Refused, match="another name, for example “ours-2”"):
        save(scene, title="Ours, changed")
    with pytest.raises(Refused, match="another name, for example “followtable-2”"):
        save(scene, name="followtable-1")

    assert [one.title for one in Rubric.objects.all()] == ["Ours"]


def test_the_next_name_is_never_too_long(scene):
    assert rubrics.next_name(scene.project.pk, "a" * 60) == "a" * 58 + "-2"


def test_the_rubric_chosen_last_is_current(scene):
    save(scene)
    save(scene, name="ours-2")

    rubrics.choose_rubric(project=scene.project, name="ours-1", by=scene.carla)
    assert rubrics.current_rubric(scene.project.pk).name == "ours-1"

    rubrics.choose_rubric(project=scene.project, name="multiconir-1", by=scene.carla)
    assert rubrics.current_rubric(scene.project.pk) == MULTICONIR

    rubrics.choose_rubric(project=scene.project, name="followtable-1", by=scene.carla)
    assert rubrics.current_rubric(scene.project.pk) == FOLLOWTABLE


def test_only_leads_choose_the_rubric_and_not_in_an_archived_project(scene):
    for stranger in (scene.ada, scene.eve):
        with pytest.raises(Refused, match="Only leads of this project"):
            rubrics.save_rubric(
                project=scene.project, content=parse_rubric(rubric_json()), by=stranger
            )
    with pytest.raises(Refused, match="There is no rubric “theirs-1” in this project"):
        rubrics.choose_rubric(project=scene.project, name="theirs-1", by=scene.carla)
    projects.archive(by=scene.carla)
    with pytest.raises(Refused, match="archived"):
        save(scene)

    assert not Rubric.objects.exists()


def test_a_review_uses_the_projects_rubric_and_ratings_store_their_place(assigned):
    save(assigned)

    review = rate(assigned, assigned.dan, clear="so_so", short="awful")

    assert review.rubric == "ours-1"
    assert list(
        review.ratings.order_by("criterion").values_list("criterion", "level", "place", "rejects")
    ) == [("clear", "so_so", 1, False), ("short", "awful", 3, True)]


def test_a_level_or_criterion_of_another_rubric_is_refused(assigned):
    save(assigned)

    with pytest.raises(Refused, match="Choose one of: fine, so so, bad, awful"):
        actions.save_rating(
            narrative=assigned.narrative, criterion="clear", level="poor", by=assigned.dan
        )
    with pytest.raises(Refused, match="is not one of the criteria"):
        actions.save_rating(
            narrative=assigned.narrative,
            criterion="query_dependency",
            level="fine",
            by=assigned.dan,
        )

    assert not Rating.objects.exists()


@pytest.mark.parametrize(
    ("dan", "ben", "expected", "straddles"),
    [
        ("fine", "so_so", "passed", False),
        ("fine", "bad", "rejected", True),
        ("bad", "awful", "rejected", False),
    ],
)
def test_the_verdict_follows_the_levels_that_reject(assigned, dan, ben, expected, straddles):
    save(assigned)
    rate(assigned, assigned.dan, clear=dan, short="fine")
    rate(assigned, assigned.ben, clear=ben, short="fine")

    passes = passes_of([assigned.narrative])[assigned.narrative.pk]

    assert verdict_of(passes, assigned.project) == expected
    page = signed_in(assigned.carla).get(f"/projects/{assigned.project.slug}/disagreements/")
    assert (f"/narratives/{assigned.narrative.pk}/disagreement/" in page.content.decode()) is (
        straddles
    )


def test_all_auditors_of_a_version_use_the_rubric_of_the_first_review(assigned):
    save(assigned)
    actions.save_ratings(narrative=assigned.narrative, answers={}, by=assigned.dan)
    rubrics.choose_rubric(project=assigned.project, name="followtable-1", by=assigned.carla)

    second = actions.save_ratings(narrative=assigned.narrative, answers={}, by=assigned.ben)
    newer = factories.narrative(assigned.pair, text="Other words.", version=2)

    assert second.rubric == "ours-1"
    assert rubrics.rubric_for(newer, assigned.project.pk) == FOLLOWTABLE


def test_a_rejecting_level_without_words_is_saved_only_as_a_draft(assigned):
    save(assigned)
    answers = {"clear": ("bad", ""), "short": ("fine", "")}
    actions.save_ratings(narrative=assigned.narrative, answers=answers, by=assigned.dan)

    with pytest.raises(Refused, match="clear"):
        actions.submit_review(narrative=assigned.narrative, by=assigned.dan)

    judgment = pass_of(assigned.narrative, assigned.dan)
    assert judgment is not None
    assert [level.value for level in judgment.levels] == ["bad", "fine"]
    assert judgment.review.submitted_at is None


@pytest.mark.parametrize(
    ("level", "place", "rejects"),
    [("fine", None, False), ("fine", 0, None), ("", 0, False), ("", None, True)],
)
def test_the_database_refuses_a_level_without_a_place_and_the_reverse(
    assigned, level, place, rejects
):
    review = actions.save_ratings(narrative=assigned.narrative, answers={}, by=assigned.dan)

    with pytest.raises(IntegrityError), transaction.atomic():
        Rating.objects.create(
            review=review, criterion="clear", level=level, place=place, rejects=rejects
        )


def test_a_loaded_rubric_becomes_current_the_first_time(scene):
    first = load(scene.project, "rubric-json", rubric_json())
    rubrics.choose_rubric(project=scene.project, name="followtable-1", by=scene.carla)
    second = load(scene.project, "rubric-json", rubric_json())

    assert (first.counts_of("rubrics").new, first.refused) == (1, 0)
    assert (second.counts_of("rubrics").new, second.counts_of("rubrics").unchanged) == (0, 1)
    assert rubrics.current_rubric(scene.project.pk) == FOLLOWTABLE


def test_a_file_cannot_change_a_stored_rubric(scene):
    load(scene.project, "rubric-json", rubric_json())

    report = load(scene.project, "rubric-json", rubric_json(title="Changed"))

    assert report.refused == 1
    assert "a different rubric ours-1 already exists" in str(report.problems[0])
    assert Rubric.objects.get().title == "Ours"


def test_reviews_from_a_file_use_the_rubric_they_name(scene):
    line = {
        "type": "review",
        "pair_id": scene.pair.pair_id,
        "query_id": scene.query.query_id,
        "auditor": "rater 1",
        "rubric": "ours-1",
        "ratings": [
            {"criterion": "clear", "level": "awful", "words": "No."},
            {"criterion": "short", "level": "fine"},
        ],
    }
    unknown = load(scene.project, "judgments-jsonl", json.dumps(line))
    load(scene.project, "rubric-json", rubric_json())
    known = load(scene.project, "judgments-jsonl", json.dumps(line))

    assert "there is no rubric “ours-1” in this project: load it first" in str(unknown.problems[0])
    assert known.counts_of("reviews").new == 1
    assert set(Rating.objects.values_list("level", "place", "rejects")) == {
        ("awful", 3, True),
        ("fine", 0, False),
    }


def test_the_command_prints_the_current_rubric_and_chooses_another(scene, capsys):
    call_command("rubric", "tides")
    assert parse_rubric(capsys.readouterr().out) == FOLLOWTABLE

    call_command("rubric", "tides", "multiconir-1")
    assert capsys.readouterr().out == "multiconir-1 is now the rubric of tides.\n"
    assert rubrics.current_rubric(scene.project.pk) == MULTICONIR
    with pytest.raises(CommandError, match="There is no rubric “none”"):
        call_command("rubric", "tides", "none")
    with pytest.raises(CommandError, match="There is no project “nowhere”"):
        call_command("rubric", "nowhere")


@pytest.fixture
def page(scene):
    return signed_in(scene.carla), reverse("audit:rubric", args=[scene.project.slug])


def test_the_page_shows_the_current_and_the_available_rubrics(page):
    client, address = page

    shown = client.get(address).content.decode()

    assert "Current; it comes with Rejudge" in shown
    assert "Does it rely on the query" in shown
    assert "multiconir-1" in shown


def test_the_page_previews_a_rubric_before_it_is_saved(page):
    client, address = page

    looked = client.post(address, {"text": rubric_json(), "preview": "yes"})

    assert looked.status_code == 200
    assert "Is it clear?" in looked.content.decode()
    assert not Rubric.objects.exists()

    saved = client.post(address, {"text": rubric_json(), "save": "yes"}, follow=True)
    assert "“ours-1” is now the rubric" in saved.content.decode()
    assert rubrics.current_rubric(Rubric.objects.get().project_id).name == "ours-1"


def test_the_page_says_where_a_rubric_is_wrong_and_keeps_the_text(page):
    client, address = page

    one = client.post(address, {"text": rubric_json(levels=OURS["levels"][:1]), "save": "yes"})
    broken = client.post(address, {"text": '{"name": }', "save": "yes"})

    assert one.status_code == broken.status_code == 422
    assert "levels: there is one; with one level every answer is the same." in (
        one.content.decode()
    )
    assert "Is it clear?" in one.content.decode()
    assert "Line 1, column 10: not JSON" in broken.content.decode()
    assert not Rubric.objects.exists()


def test_the_page_takes_a_file_in_place_of_the_text(page, tmp_path):
    client, address = page
    file = tmp_path / "ours.json"
    file.write_text(format_rubric(parse_rubric(rubric_json())), "utf-8")
    invalid = tmp_path / "wrong.json"
    invalid.write_bytes(b"\xff\xfe\x00")

    with file.open("rb") as upload:
        client.post(address, {"text": "", "file": upload, "save": "yes"})
    with invalid.open("rb") as upload:
        refused = client.post(address, {"text": "", "file": upload, "save": "yes"})

    assert Rubric.objects.get().content == parse_rubric(rubric_json())
    assert "The file is not text in UTF-8." in refused.content.decode()


def test_another_rubric_is_chosen_on_the_page(page, scene):
    client, _ = page
    address = reverse("audit:rubric_choice", args=[scene.project.slug])

    chosen = client.post(address, {"name": "multiconir-1"}, follow=True).content.decode()
    refused = client.post(address, {"name": "nothing"}, follow=True).content.decode()

    assert "“multiconir-1” is now the rubric" in chosen
    assert "There is no rubric “nothing”" in refused
    assert rubrics.current_rubric(scene.project.pk) == MULTICONIR


def test_the_review_page_asks_what_the_rubric_asks(assigned):
    rubrics.choose_rubric(project=assigned.project, name="multiconir-1", by=assigned.carla)

    shown = signed_in(assigned.dan).get(f"/pairs/{assigned.pair.pk}/review/").content.decode()

    assert shown.count("data-criterion=") == 3
    assert tight(shown).count('name="level" value="not_valid"') == 1
    assert shows(shown, "Could one document meet all of its conditions together?")
    assert not shows(shown, "Semantic expansion")


def test_ten_raters_of_a_version_have_ten_assignments(scene):
    type(scene.project).objects.filter(pk=scene.project.pk).update(overlap_review=10)
    scene.project.refresh_from_db()
    raters = [factories.member(scene.project, f"rater{n}") for n in range(11)]

    taken = [assignments.take_next(task=Assignment.Task.REVIEW, by=rater) for rater in raters]

    assert [assignment is not None for assignment in taken] == [True] * 10 + [False]
