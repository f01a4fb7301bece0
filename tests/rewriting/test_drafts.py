"""Drafts are stored on the server; if two pages write at the same time, nothing is lost."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import Assignment, Draft, Narrative
from annotate.rewriting import actions as rewriting
from annotate.rewriting import drafts
from annotate.rewriting.drafts import Writing
from base.errors import Refused
from tests import factories
from tests.pages import shows

pytestmark = pytest.mark.both_databases

NOON = datetime(2026, 3, 1, 12, 3, 7, tzinfo=UTC)


@pytest.fixture
def pair(db):
    project = factories.project()
    query = factories.query(project)
    factories.candidate(query, "A")
    factories.candidate(query, "B")
    return factories.pair(query, altered=None)


@pytest.fixture
def ada(pair, client):
    person = factories.member(pair.project, "ada")
    assignments.take(pair=pair, task=Assignment.Task.REWRITE, by=person)
    client.force_login(person.user)
    return person


@pytest.fixture
def keep(pair, ada):
    """A function that saves a draft as ada does from one of her pages."""

    def keep(text, place, turn, seen=None, **more):
        side = more.pop("side", Narrative.Side.ALTERED)
        return drafts.save_draft(
            pair=pair,
            side=side,
            writing=Writing(place, turn, text, seen=seen or {}, **more),
            by=ada,
            now=NOON,
        )

    return keep


def draft_of(pair, side=Narrative.Side.ALTERED) -> Draft:
    return Draft.objects.get(pair=pair, side=side)


def address(name, pair, side="") -> str:
    return reverse(f"annotate:{name}", args=[pair.pk]) + (f"?side={side}" if side else "")


def put(client, pair, side="", **sent):
    body = {"text": "", "note": "", "conditions": "", "based_on": 0, "place": "laptop", "turn": 1}
    return client.put(address("draft", pair, side), json.dumps(body | sent), "application/json")


# --- keeping --------------------------------------------------------------------------------------


def test_everything_on_the_page_is_stored(pair, ada, client):
    drops = [pair.query.candidates.get(document__doc_id="B").pk]

    answer = put(client, pair, text="At sea.", note="why", conditions="in use", drops=drops, turn=5)

    assert answer.status_code == 200
    draft = draft_of(pair)
    assert (draft.text, draft.note, draft.conditions) == ("At sea.", "why", "in use")
    assert (draft.drops, draft.based_on, draft.member) == (drops, 0, ada)
    assert answer.json()["counts"]
    assert answer.json()["seen"] == {"laptop": 5}


def test_the_page_opens_with_the_draft(pair, ada, client):
    drops = [pair.query.candidates.get(document__doc_id="B").pk]
    put(client, pair, text="At sea.", note="why", conditions="in use", drops=drops)

    page = client.get(address("rewrite", pair)).content.decode()

    assert shows(page, ">At sea.</textarea>")
    assert shows(page, 'value="why"')
    assert shows(page, "in use</textarea>")
    assert shows(page, f'value="{drops[0]}" form="rewriting" id="drop-{drops[0]}" checked')
    assert shows(page, "Draft saved")


def test_only_its_writer_sees_a_draft(pair, ada, client):
    put(client, pair, text="At sea.")
    client.force_login(factories.lead(pair.project).user)

    assert "At sea." not in client.get(address("rewrite", pair)).content.decode()


def test_no_draft_is_stored_without_an_assignment(pair, ada, client):
    client.force_login(factories.member(pair.project, "ben").user)

    answer = put(client, pair, text="At sea.")

    assert answer.status_code == 422
    assert "not your task" in answer.json()["sentence"]
    assert not Draft.objects.exists()


def test_writing_keeps_the_assignment(keep, ada):
    assignment = ada.assignments.get()

    keep("At sea.", "laptop", 1)

    assignment.refresh_from_db()
    assert (assignment.touched_at, assignment.done_at) == (NOON, None)


@pytest.mark.parametrize("words", [{"conditions": "At sea"}, {"note": "Only the sea."}])
def test_conditions_and_notes_keep_the_assignment_as_well(keep, ada, words):
    keep("Any plant counts.", "laptop", 1, **words)

    assert ada.assignments.get().touched_at == NOON


def test_ticking_alone_does_not_begin_the_assignment(pair, keep, ada):
    keep("Any plant counts.", "laptop", 1, drops=(pair.query.candidates.first().pk,))

    assert ada.assignments.get().touched_at is None


def test_unchanged_text_is_not_stored_as_a_draft(pair, keep):
    assert keep("Any plant counts.", "laptop", 1) is None
    assert not Draft.objects.exists()


def test_going_back_to_the_current_words_ends_the_draft(pair, keep):
    keep("At sea.", "laptop", 1)

    assert keep("Any plant counts.", "laptop", 2) is None
    assert not Draft.objects.exists()


def test_ticks_of_other_pools_are_left_out(pair, keep):
    other = factories.candidate(factories.query(pair.project, "302"))

    keep("At sea.", "laptop", 1, drops=(other.pk, 2**62))

    assert draft_of(pair).drops == []


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"text": "x" * 100_001}, "100,001 characters; at most 100,000"),
        ({"note": "x" * 501}, "501 characters; at most 500"),
        ({"conditions": "x" * 1_000_000}, "1,000,000 characters; at most 40,000"),
        ({"text": "At \ud800 sea"}, "broken character (U+D800)"),
        ({"text": "At \x00 sea"}, "ull characters are not allowed"),
        ({"based_on": -1}, "greater than or equal to 0"),
        ({"drops": ["1"]}, "list of keys"),
        ({"drops": {"a": 1}}, "list of keys"),
        ({"seen": [1]}, "turn for each place"),
        ({"place": ""}, "required"),
        ({"turn": 10**30}, "less than or equal"),
    ],
)
def test_an_invalid_draft_is_refused_and_changes_nothing(pair, ada, client, sent, sentence):
    put(client, pair, text="At sea.", turn=1)

    answer = put(client, pair, **({"text": "New.", "turn": 2} | sent))

    assert answer.status_code == 422
    assert sentence in answer.json()["sentence"]
    assert draft_of(pair).text == "At sea."


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b'"words"', b"null", b"[" * 100_000])
def test_content_that_is_not_a_draft_is_refused(pair, ada, client, body):
    answer = client.put(address("draft", pair), body, "application/json")

    assert answer.status_code == 422
    assert "not a draft" in answer.json()["sentence"]


def test_a_draft_of_too_many_bytes_is_refused_in_json(pair, ada, client):
    put(client, pair, text="At sea.", turn=1)

    answer = put(client, pair, text="x" * 2_621_440, turn=2)

    assert answer.status_code == 413
    assert answer.json()["sentence"] == (
        "This draft is too long: at most 2,621,440 bytes are allowed."
    )
    assert draft_of(pair).text == "At sea."


def test_each_side_has_its_own_draft(pair, ada, client):
    put(client, pair, text="At sea.")
    put(client, pair, "reversed", text="On land.")

    altered = client.get(address("rewrite", pair)).content.decode()
    turned = client.get(address("rewrite", pair, "reversed")).content.decode()

    assert ">At sea.</textarea>" in altered
    assert ">On land.</textarea>" in turned


# --- several pages --------------------------------------------------------------------------------


def test_later_words_of_one_page_replace_its_draft(pair, keep):
    keep("At", "laptop", 1)
    keep("At sea", "laptop", 2)

    assert (draft_of(pair).text, draft_of(pair).overtaken) == ("At sea", [])


def test_words_that_arrive_late_change_nothing(pair, keep):
    keep("At sea", "laptop", 2)
    keep("At", "laptop", 1)

    assert (draft_of(pair).text, draft_of(pair).overtaken) == ("At sea", [])


def test_a_page_that_has_seen_the_draft_replaces_it(pair, keep):
    keep("At sea.", "laptop", 9)
    keep("At sea, in use.", "tablet", 1, seen={"laptop": 9})

    assert (draft_of(pair).text, draft_of(pair).overtaken) == ("At sea, in use.", [])


def test_the_newer_words_of_two_pages_at_once_count_and_the_other_is_kept(pair, keep):
    keep("At sea.", "laptop", 1)
    stored = keep("In rivers.", "tablet", 2)

    assert stored.text == "In rivers."
    assert [one["text"] for one in draft_of(pair).overtaken] == ["At sea."]


def test_older_words_that_arrive_later_are_kept_as_overtaken(pair, keep):
    keep("In rivers.", "tablet", 2)
    stored = keep("At sea.", "laptop", 1)

    assert stored.text == "In rivers."
    assert [one["text"] for one in draft_of(pair).overtaken] == ["At sea."]


def test_a_page_that_saw_an_older_draft_does_not_erase_the_newer_one(pair, keep):
    keep("At", "laptop", 1)
    keep("At sea", "laptop", 2)
    keep("At lakes", "tablet", 3, seen={"laptop": 1})

    assert draft_of(pair).text == "At lakes"
    assert [one["text"] for one in draft_of(pair).overtaken] == ["At sea"]


def test_only_the_last_words_of_the_other_alternating_page_are_kept(pair, keep):
    keep("laptop 1", "laptop", 1)
    keep("tablet 2", "tablet", 2)
    keep("laptop 3", "laptop", 3)
    keep("tablet 4", "tablet", 4)

    assert draft_of(pair).text == "tablet 4"
    assert [one["text"] for one in draft_of(pair).overtaken] == ["laptop 3"]


def test_the_same_words_from_two_pages_do_not_conflict(pair, keep):
    keep("At sea.", "laptop", 1)
    keep("At sea.", "tablet", 2)

    assert draft_of(pair).overtaken == []


def test_the_page_shows_overtaken_words(pair, ada, keep, client):
    keep("At sea.", "laptop", 1)
    keep("In rivers.", "tablet", 2)

    page = client.get(address("rewrite", pair)).content.decode()

    assert ">In rivers.</textarea>" in page
    assert "in another tab or on another device" in page
    assert "At sea." in page


def test_overtaken_words_can_be_restored_and_nothing_is_lost(pair, ada, keep, client):
    keep("At sea.", "laptop", 1)
    keep("In rivers.", "tablet", 2)

    client.post(
        address("draft", pair),
        {"text": "In rivers, too.", "based_on": 0, "place": "tablet", "take": "laptop:1"},
    )

    assert draft_of(pair).text == "At sea."
    assert [one["text"] for one in draft_of(pair).overtaken] == ["In rivers, too."]


def test_overtaken_words_can_be_discarded(pair, ada, keep, client):
    keep("At sea.", "laptop", 1)
    keep("In rivers.", "tablet", 2)

    sent = {"text": "In rivers.", "based_on": 0, "place": "tablet", "forget": "laptop:1"}
    client.post(address("draft", pair), sent)
    again = client.post(address("draft", pair), sent)

    assert (draft_of(pair).text, draft_of(pair).overtaken) == ("In rivers.", [])
    assert again.status_code == 422
    assert "no longer here" in again.content.decode()
    assert "In rivers." in again.content.decode()


# --- ending ---------------------------------------------------------------------------------------


def test_a_saved_version_ends_the_draft(pair, ada, keep):
    keep("At sea.", "laptop", 1)

    rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ada, based_on=0)

    assert not Draft.objects.exists()


def test_a_draft_that_arrives_after_its_version_is_not_stored(pair, ada, keep):
    rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ada, based_on=0, note="why")

    assert keep("At sea.", "laptop", 1, note="why") is None
    assert not Draft.objects.exists()


def test_overtaken_words_outlive_the_version(pair, ada, keep, client):
    keep("At sea.", "laptop", 1)
    keep("In rivers.", "tablet", 2)

    rewriting.rewrite_narrative(pair=pair, text="In rivers.", by=ada, based_on=0)
    page = client.get(address("rewrite", pair)).content.decode()

    assert ">In rivers.</textarea>" in page
    assert "At sea." in page


def test_another_side_and_another_person_keep_their_drafts(pair, ada, keep):
    keep("On land.", "laptop", 1, side=Narrative.Side.REVERSED)
    carla = factories.lead(pair.project)
    drafts.save_draft(
        pair=pair,
        side=Narrative.Side.ALTERED,
        writing=Writing("desk", 1, "At sea, says carla."),
        by=carla,
    )

    rewriting.rewrite_narrative(pair=pair, text="At sea.", by=ada, based_on=0)

    assert sorted(Draft.objects.values_list("text", flat=True)) == [
        "At sea, says carla.",
        "On land.",
    ]


def test_the_page_warns_of_a_version_saved_meanwhile(pair, ada, keep, client):
    keep("At sea.", "laptop", 1)
    carla = factories.lead(pair.project)
    rewriting.rewrite_narrative(pair=pair, text="In rivers.", by=carla, based_on=0)

    page = client.get(address("rewrite", pair)).content.decode()
    refused = client.post(address("rewrite", pair), {"text": "At sea.", "based_on": 0})

    assert "Version 1 was saved since you began this draft" in page
    # The error at the field says the same; once is enough.
    assert "Version 1 was saved since" not in refused.content.decode()
    assert ">At sea.</textarea>" in page
    assert refused.status_code == 422
    assert draft_of(pair).text == "At sea."


def test_a_draft_is_discarded_on_request(pair, ada, client):
    put(client, pair, text="At sea.")

    for _ in range(2):
        client.post(address("draft", pair), {"discard": "1"})

    assert not Draft.objects.exists()


def test_discarding_a_draft_keeps_overtaken_words(pair, ada, keep, client):
    keep("At sea.", "laptop", 1)
    keep("In rivers.", "tablet", 2)

    client.post(address("draft", pair), {"discard": "1"})

    assert draft_of(pair).text == "Any plant counts."
    assert [one["text"] for one in draft_of(pair).overtaken] == ["At sea."]


def test_no_draft_is_stored_in_an_archived_project(pair, ada, client):
    pair.project.archived_at, pair.project.archived_by = NOON, factories.user("carla")
    pair.project.save()

    answer = put(client, pair, text="At sea.")

    assert (answer.status_code, Draft.objects.count()) == (422, 0)
    assert "archived" in answer.json()["sentence"]


def test_the_original_has_no_draft(pair, ada, keep):
    with pytest.raises(Refused, match="altered and the reversed"):
        keep("New.", "laptop", 1, side=Narrative.Side.ORIGINAL)


# --- without a script -----------------------------------------------------------------------------


def test_a_button_stores_the_draft_and_the_ticks_of_other_list_pages(pair, ada, keep, client):
    first, second = pair.query.candidates.order_by("pk")
    keep("At sea.", "laptop", 1, drops=(first.pk,))

    answer = client.post(
        address("draft", pair),
        {
            "text": "At sea, in use.",
            "based_on": 0,
            "place": "page",
            "seen": '{"laptop": 1}',
            "drops": "",
            "shown": [second.pk],
            "drop": [second.pk],
            "keep": "1",
        },
    )

    assert answer.url == address("rewrite", pair)
    assert draft_of(pair).text == "At sea, in use."
    assert draft_of(pair).drops == [first.pk, second.pk]


def test_a_draft_with_an_invalid_character_stays_on_the_page(pair, ada, client):
    answer = client.post(address("draft", pair), {"text": "At\x00sea.", "based_on": 0, "keep": "1"})

    assert answer.status_code == 422
    assert shows(answer, "Null characters are not allowed.")
    assert "At\x00sea.</textarea>" in answer.content.decode()


def test_a_draft_that_is_refused_stays_on_the_page(pair, ada, client):
    answer = client.post(
        address("draft", pair),
        {"text": "x" * 100_001, "based_on": 0, "place": "page", "keep": "1"},
    )

    assert answer.status_code == 422
    assert "100,001 characters" in answer.content.decode()
    assert "x" * 100_001 in answer.content.decode()
