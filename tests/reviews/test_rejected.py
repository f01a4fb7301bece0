"""A rejected instruction goes back to its author, is rewritten, and is reviewed again."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotate.judgments import assignments
from annotate.models import Assignment
from annotate.rewriting import sending_back
from audit.models import Review
from audit.reviews.actions import save_ratings, submit_review, take_review
from audit.reviews.decisions import decide, withdraw_decision
from base.errors import Stale
from tests import factories
from tests.collection.arriving import load
from tests.second_pass import levels

WORDS = "It says nothing that the query does not."


def signed_in(member):
    client = Client()
    client.force_login(member.user)
    return client


def pair_of_a_model(scene, pair_id="301_1"):
    return factories.pair(
        scene.query, pair_id=pair_id, origin="llm", model="some-model", category="C1"
    )


def reject(scene, pair, *auditors):
    """Let each auditor reject the semantic expansion, with words on another criterion too."""
    narrative = factories.altered(pair)
    for auditor in auditors or (scene.dan, scene.ben):
        assignments.take(pair=pair, task=Assignment.Task.REVIEW, by=auditor)
        answers = {
            **levels(),
            "semantic_expansion": ("poor", f"{WORDS} ({auditor.name} hid a name here)"),
            "query_dependency": ("acceptable", "Fine, mostly."),
        }
        save_ratings(narrative=narrative, answers=answers, by=auditor)
        submit_review(narrative=narrative, by=auditor)
    return narrative


def send_back(scene, narrative):
    return decide(narrative=narrative, outcome="revise", reason="Say more.", by=scene.carla)


def print_rejected(*args: str) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("rejected", "tides", *args, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.fixture
def generated_scene(scene):
    scene.made = pair_of_a_model(scene)
    scene.version = reject(scene, scene.made)
    return scene


def test_the_file_has_what_a_generator_needs_and_no_names(generated_scene):
    send_back(generated_scene, generated_scene.version)

    [record] = print_rejected()

    assert record == {
        "type": "rejected",
        "pair_id": "301_1",
        "query_id": "301",
        "query": "tidal power",
        "description": "",
        "category": "C1",
        "model": "some-model",
        "version": 1,
        "narrative": "Only plants at sea count.",
        "decision": "revise",
        "reason": "Say more.",
        "reviews": 2,
        "criteria": [
            {
                "rubric": "followtable-1",
                "criterion": "semantic_expansion",
                "name": "Semantic expansion",
                "asks": "Does it add a non-trivial constraint that narrows what is retrieved?",
                "answers": [
                    {"level": "poor", "words": f"{WORDS} (dan hid a name here)"},
                    {"level": "poor", "words": f"{WORDS} (ben hid a name here)"},
                ],
            }
        ],
    }


def test_undecided_instructions_are_in_the_file_only_on_request(generated_scene):
    assert print_rejected() == []

    [record] = print_rejected("--undecided")

    assert (record["pair_id"], record["decision"], record["reason"]) == ("301_1", None, "")


def test_the_file_has_the_reason_of_a_lead_who_sent_it_back_without_a_decision(generated_scene):
    sending_back.send_back(
        pair=generated_scene.made, version=1, reason="Name a river.", by=generated_scene.carla
    )

    [record] = print_rejected()

    assert (record["decision"], record["reason"]) == ("revise", "Name a river.")


def test_instructions_by_people_are_in_the_file_only_on_request(scene):
    send_back(scene, reject(scene, scene.pair))

    assert print_rejected() == []
    assert [record["model"] for record in print_rejected("--everyone")] == [None]


def test_removed_instructions_and_withdrawn_decisions_are_not_in_the_file(generated_scene):
    decision = send_back(generated_scene, generated_scene.version)
    withdraw_decision(decision=decision, by=generated_scene.carla)
    assert print_rejected() == []

    decide(
        narrative=generated_scene.version, outcome="removed", reason="No.", by=generated_scene.carla
    )
    assert print_rejected("--undecided") == []


def test_the_command_writes_a_file_or_says_why_not(generated_scene, tmp_path, capsys):
    send_back(generated_scene, generated_scene.version)
    file = tmp_path / "rejected.jsonl"

    call_command("rejected", "tides", "--output", str(file))

    assert capsys.readouterr().err == f"{file}: 1 rejected\n"
    assert [json.loads(line)["pair_id"] for line in file.read_text().splitlines()] == ["301_1"]
    with pytest.raises(CommandError, match="or no folder for it"):
        call_command("rejected", "tides", "--output", str(tmp_path / "none" / "x"))
    with pytest.raises(CommandError, match="There is no project “nowhere”"):
        call_command("rejected", "nowhere")


def test_the_page_of_reviews_gives_the_same_file(generated_scene):
    client = signed_in(generated_scene.carla)
    before = client.get("/projects/tides/reviews/?state=sent-back").content.decode()
    send_back(generated_scene, generated_scene.version)

    page = client.get("/projects/tides/reviews/?state=sent-back").content.decode()
    response = client.get("/projects/tides/reviews/rejected.jsonl")

    assert "Nothing is sent back" in before
    assert "1 instruction of a language model" in page
    assert response["Content-Disposition"] == 'attachment; filename="rejected-tides.jsonl"'
    body = response.getvalue().decode()
    assert [json.loads(line) for line in body.splitlines()] == print_rejected()


def test_the_file_has_no_reviews_for_a_lead_who_owes_one(generated_scene):
    generated_scene.project.overlap_review = 3
    generated_scene.project.save()
    generated_scene.carla.refresh_from_db()
    other = factories.lead(generated_scene.project, "cora")
    task = Assignment.Task.REVIEW
    assignments.take(pair=generated_scene.made, task=task, by=other, become_blind=True)
    send_back(generated_scene, generated_scene.version)

    response = signed_in(other).get("/projects/tides/reviews/rejected.jsonl")

    assert response.getvalue() == b""


def test_many_rejected_instructions_take_as_many_queries_as_one(scene, django_assert_num_queries):
    for number in range(3):
        made = pair_of_a_model(scene, f"301_{number}")
        send_back(scene, reject(scene, made, scene.dan))

    # Two of them ask whether the database is newer than the code.
    with django_assert_num_queries(8):
        assert len(print_rejected()) == 3


def test_the_generators_answer_is_a_new_version_with_new_reviews(generated_scene):
    send_back(generated_scene, generated_scene.version)
    answer = {
        "pair_id": "301_1",
        "query_id": "301",
        "origin": "llm",
        "narratives": [
            {"side": "altered", "version": 2, "text": "Only plants at sea count, built since 2000."}
        ],
    }

    report = load(generated_scene.project, "pairs-jsonl", json.dumps(answer))

    assert report.counts_of("narratives").new == 1
    assert print_rejected() == []
    newest = factories.altered(generated_scene.made)
    assert newest.version == 2
    generated_scene.made.refresh_from_db()
    assert (generated_scene.made.origin, generated_scene.made.model) == ("llm", "some-model")
    taken = take_review(by=generated_scene.dan)
    assert taken is not None
    assert taken.pair == generated_scene.made
    with pytest.raises(Stale, match="The narrative changed while you were reading"):
        save_ratings(
            narrative=generated_scene.version,
            answers={"query_dependency": ("poor", "")},
            by=generated_scene.dan,
        )
    assert not Review.objects.filter(narrative=newest).exists()

    page = (
        signed_in(generated_scene.dan)
        .get(f"/pairs/{generated_scene.made.pk}/review/")
        .content.decode()
    )
    assert WORDS in page
    assert "<ins" in page
    story = (
        signed_in(generated_scene.carla)
        .get(f"/pairs/{generated_scene.made.pk}/story/")
        .content.decode()
    )
    assert "Version 2" in story
    assert "Version 1" in story
    assert "Say more." in story
    assert WORDS in story


def test_an_author_reads_on_the_rewrite_page_why_it_was_sent_back(scene):
    narrative = reject(scene, scene.pair)
    narrative.author = scene.ada
    narrative.save(update_fields=["author"])
    ada, address = signed_in(scene.ada), f"/pairs/{scene.pair.pk}/narrative/"
    send_back(scene, narrative)
    assignments.take(pair=scene.pair, task=Assignment.Task.REWRITE, by=scene.ada)

    page = ada.get(address).content.decode()

    assert "Say more." in page
    assert WORDS in page
    stale = ada.get(address).context["stale"]
    ada.post(address, {"text": "Other words.", "based_on": "1", "confirmed": stale})
    assert "Say more." not in ada.get(address).content.decode()


def test_a_rewriter_who_owes_a_review_reads_no_reviews(scene):
    scene.project.overlap_review = 3
    scene.project.save()
    narrative = reject(scene, scene.pair)
    assignments.take(pair=scene.pair, task=Assignment.Task.REVIEW, by=scene.ada)
    send_back(scene, narrative)
    assignments.take(pair=scene.pair, task=Assignment.Task.REWRITE, by=scene.ada)

    page = signed_in(scene.ada).get(f"/pairs/{scene.pair.pk}/narrative/").content.decode()

    assert WORDS not in page
    assert "Say more." not in page
