"""A review stores the texts that were at hand, and a newer text does not make it stale."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.urls import reverse

from audit.models import Review, ReviewedText
from audit.reviews.actions import save_ratings, submit_review
from audit.reviews.passes import submitted_reviews
from audit.reviews.texts_at_hand import documents_at_hand, texts_of
from base.errors import Stale
from exporters.exports.selection import statements
from formats.jsonl import write_judgments
from keeping.verify import verify
from tests import factories
from tests.collection.arriving import jsonl, load
from tests.second_pass import levels, take_reviews

pytestmark = pytest.mark.both_databases

CHANGED = "The documents beside the instruction changed while you were reviewing"
REPLACED = "1 of the 2 documents that were at hand have a newer text now."


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    """Dan has rated the instruction. S1 and S2 are at hand, each with its first text."""
    scene = take_reviews(scene_of_file)
    save_ratings(narrative=scene.narrative, answers=levels(), by=scene.dan)
    scene.shown = texts_of(documents_at_hand(scene.pair, scene.narrative))
    return scene


def change(scene, doc_id: str = "S1", text: str = "Another text.") -> list[str]:
    line = jsonl({"doc_id": doc_id, "text": text})
    return load(scene.project, "docs-jsonl", line).notes


def reviewed_texts() -> list[tuple[str, int]]:
    return sorted(ReviewedText.objects.values_list("document__doc_id", "text_version"))


def written(project) -> list[dict[str, Any]]:
    """Return the lines of reviews.jsonl."""
    stream = io.BytesIO()
    write_judgments(statements.reviews(list(project.pairs.all())), stream)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_submitted_review_stores_the_text_version_of_each_document_at_hand(scene):
    change(scene)
    now = texts_of(documents_at_hand(scene.pair, scene.narrative))

    submit_review(narrative=scene.narrative, by=scene.dan, texts=now)

    assert reviewed_texts() == [("S1", 2), ("S2", 1)]


def test_a_draft_stores_no_texts(scene):
    assert reviewed_texts() == []


def test_a_document_without_a_text_is_not_stored(scene):
    factories.candidate(scene.query, "S3", text=None)

    submit_review(narrative=scene.narrative, by=scene.dan)

    assert reviewed_texts() == [("S1", 1), ("S2", 1)]


def test_a_review_is_not_submitted_if_the_texts_have_changed(scene):
    change(scene)

    with pytest.raises(Stale, match=CHANGED):
        submit_review(narrative=scene.narrative, by=scene.dan, texts=scene.shown)

    assert Review.objects.get().submitted_at is None
    assert reviewed_texts() == []


def test_the_page_says_that_a_text_changed_and_submits_nothing(scene, client):
    client.force_login(scene.dan.user)
    url = reverse("audit:review", args=[scene.pair.pk])
    assert f'name="texts" value="{scene.shown}"' in client.get(url).content.decode()
    change(scene)

    form = {"narrative": scene.narrative.pk, "submit": "yes", "texts": scene.shown}
    page = client.post(url, form, follow=True).content.decode()

    assert CHANGED in page
    assert Review.objects.get().submitted_at is None
    assert Review.objects.get().ratings.count() == len(levels())


def test_a_newer_text_does_not_make_the_review_stale(scene):
    submit_review(narrative=scene.narrative, by=scene.dan)

    change(scene)

    assert submitted_reviews([scene.project.pk]).count() == 1
    assert reviewed_texts() == [("S1", 1), ("S2", 1)]


def test_the_story_and_the_review_page_say_how_many_documents_have_another_text(scene, client):
    submit_review(narrative=scene.narrative, by=scene.dan)
    client.force_login(scene.dan.user)
    urls = [reverse(f"audit:{name}", args=[scene.pair.pk]) for name in ("story", "review")]
    assert all(REPLACED not in client.get(url).content.decode() for url in urls)

    change(scene)

    assert all(REPLACED in client.get(url).content.decode() for url in urls)


def test_the_story_does_not_count_texts_of_hidden_reviews(scene, client):
    submit_review(narrative=scene.narrative, by=scene.dan)
    change(scene)
    client.force_login(scene.ben.user)

    page = client.get(reverse("audit:story", args=[scene.pair.pk])).content.decode()

    assert "newer text now" not in page


def test_a_load_counts_the_reviews_that_had_the_older_text_at_hand(scene):
    submit_review(narrative=scene.narrative, by=scene.dan)

    notes = change(scene)

    assert "1 review had the earlier text at hand." in notes[1]
    assert len(change(scene, "S9")) == 0


def test_the_export_names_the_texts_and_a_load_keeps_them(scene):
    submit_review(narrative=scene.narrative, by=scene.dan)
    [line] = written(scene.project)
    assert line["documents"] == [
        {"doc_id": "S1", "text_version": 1},
        {"doc_id": "S2", "text_version": 1},
    ]
    Review.objects.all().delete()
    assert reviewed_texts() == []

    report = load(scene.project, "judgments-jsonl", jsonl(line))

    assert not report.refused
    assert reviewed_texts() == [("S1", 1), ("S2", 1)]
    assert written(scene.project) == [line]


def test_a_review_without_texts_is_exported_without_the_field(scene):
    submit_review(narrative=scene.narrative, by=scene.dan)
    ReviewedText.objects.all().delete()

    [line] = written(scene.project)

    assert "documents" not in line


@pytest.mark.parametrize(
    ("documents", "sentence"),
    [
        ([{"doc_id": "S9"}], "there is no document S9 in this project"),
        ([{"doc_id": "S1", "text_version": 2}], "the text of document S1 has no version 2;"),
        ([{"doc_id": "S1"}, {"doc_id": "S1"}], "document S1 is named twice under “documents”"),
        ([{"doc_id": "S1", "text": "x"}], "text"),
    ],
)
def test_a_file_that_names_unknown_texts_is_refused(scene, documents, sentence):
    submit_review(narrative=scene.narrative, by=scene.dan)
    [line] = written(scene.project)
    Review.objects.all().delete()

    report = load(scene.project, "judgments-jsonl", jsonl({**line, "documents": documents}))

    assert report.refused
    assert sentence in str(report.problems)
    assert not Review.objects.exists()


def test_a_file_with_other_texts_for_a_stored_review_is_refused(scene):
    submit_review(narrative=scene.narrative, by=scene.dan)
    change(scene)
    [line] = written(scene.project)
    line["documents"][0]["text_version"] = 2

    report = load(scene.project, "judgments-jsonl", jsonl(line))

    assert "with other content" in str(report.problems)


def test_the_chain_detects_a_changed_text_version_of_a_review(scene):
    submit_review(narrative=scene.narrative, by=scene.dan)
    assert verify(scene.project).faults == []

    ReviewedText.objects.filter(document__doc_id="S1").update(text_version=7)

    assert [fault.kind for fault in verify(scene.project).faults] == ["review"]
