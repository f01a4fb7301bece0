"""The rewrite page: the original beside the altered narrative, and the affected documents."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.judgments import assignments
from annotate.judgments.document_names import neutral_name
from annotate.models import (
    Assignment,
    Candidate,
    Document,
    DocumentText,
    Draft,
    Narrative,
)
from annotate.pools.removal import DOCUMENTS
from annotate.rewriting import actions
from tests import factories
from tests.pages import shows, tight


@pytest.fixture
def pair(db):
    project = factories.project()
    query = factories.query(project)
    factories.candidate(query, "kept", prior=2, title="A barrage")
    factories.candidate(query, "lost", prior=0, title="A dam")
    factories.candidate(query, "bare", prior=1, text=None)
    return factories.pair(query, altered=None)


@pytest.fixture
def ada(pair, client):
    person = factories.member(pair.project, "ada")
    assignments.take(pair=pair, task=Assignment.Task.REWRITE, by=person)
    client.force_login(person.user)
    return person


def url(pair) -> str:
    return reverse("annotate:rewrite", args=[pair.pk])


def texts(pair) -> list[str]:
    altered = pair.narratives.filter(side=Narrative.Side.ALTERED).order_by("version")
    return list(altered.values_list("text", flat=True))


def test_writing_begins_with_the_original(pair, ada, client):
    page = client.get(url(pair)).content.decode()

    assert ">Any plant counts.</textarea>" in page


def test_the_page_lists_the_documents_that_were_relevant(pair, ada, client):
    page = client.get(url(pair)).content.decode()

    bare = pair.query.candidates.get(document__doc_id="bare").document
    assert "A barrage" in page
    # Its id could give the answer away.
    assert "bare" not in page
    assert neutral_name(bare.pk, bare.project_id) in page
    assert "A dam" not in page


def test_only_followir_projects_have_the_goal_of_half(pair, ada, client):
    assert "goal: about half" not in client.get(url(pair)).content.decode()

    pair.project.kind = "followir"
    pair.project.save()

    assert "goal: about half" in client.get(url(pair)).content.decode()


def test_no_document_text_is_read_for_the_list(pair, ada, client, django_assert_max_num_queries):
    with django_assert_max_num_queries(25) as queries:
        client.get(url(pair))

    assert not any("documenttext" in query["sql"].lower() for query in queries.captured_queries)


def test_a_document_opens_in_place_and_on_a_page_of_its_own(pair, ada, client):
    candidate = pair.query.candidates.get(document__doc_id="kept")
    address = reverse("annotate:document", args=[pair.pk, candidate.pk])

    whole = client.get(address).content.decode()
    part = client.get(address, headers={"HX-Request": "true"}).content.decode()

    assert "Some text." in whole
    assert "<html" in whole
    assert "Some text." in part
    assert "<html" not in part


def test_all_pages_of_a_pair_name_the_query_first_and_then_the_task(pair, ada, client):
    candidate = pair.query.candidates.first()
    original = pair.narratives.get()
    query = reverse("annotate:query", args=[pair.project.slug, pair.query_id])
    rewrite = url(pair)
    named = f'<a href="{query}" class="id">{pair.query.query_id}</a> /'

    for page, task in (
        (rewrite, "Rewrite"),
        (reverse("annotate:narrative", args=[pair.pk, original.pk]), "Rewrite"),
        (reverse("annotate:document", args=[pair.pk, candidate.pk]), "Rewrite"),
    ):
        assert re.search(f"{re.escape(named)} (<a [^>]*>)?{task}", tight(client.get(page).text))


def test_saving_makes_a_version_and_stays_on_the_page(pair, ada, client):
    response = client.post(url(pair), {"text": "At sea only.", "based_on": 0, "note": "narrower"})

    assert response.url == url(pair)
    assert texts(pair) == ["At sea only."]
    page = client.get(url(pair)).content.decode()
    assert "narrower" in page


@pytest.mark.parametrize("text", ["", "Any plant counts.", "At\x00sea"])
def test_a_refusal_is_shown_at_the_field(pair, ada, client, text):
    response = client.post(url(pair), {"text": text, "based_on": 0})

    assert response.status_code == 422
    assert texts(pair) == []


def test_a_stale_save_is_refused_and_the_typed_text_stays(pair, ada, client):
    client.post(url(pair), {"text": "At sea only.", "based_on": 0})

    response = client.post(url(pair), {"text": "In rivers only.", "based_on": 0})
    page = response.content.decode()

    assert response.status_code == 422
    assert "Version 1 was saved while you were writing" in page
    assert "In rivers only." in page
    assert texts(pair) == ["At sea only."]


def test_saving_once_more_after_reading_the_other_version_is_possible(pair, ada, client):
    client.post(url(pair), {"text": "At sea only.", "based_on": 0})
    client.post(url(pair), {"text": "In rivers only.", "based_on": 0})

    client.post(url(pair), {"text": "In rivers only.", "based_on": 1})

    assert texts(pair) == ["At sea only.", "In rivers only."]


def test_a_saved_version_offers_judging(pair, ada, client):
    before = client.get(url(pair)).content.decode()
    client.post(url(pair), {"text": "At sea only.", "based_on": 0})

    after = client.get(url(pair)).content.decode()

    assert "Judge the documents" not in before
    assert "Judge the documents" in after


def test_a_version_that_was_sent_back_offers_no_judging(pair, ada, client):
    client.post(url(pair), {"text": "At sea only.", "based_on": 0})
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
    before = client.get(url(pair)).content.decode()

    actions.send_back(pair=pair, by=factories.lead(pair.project))
    sent_back = client.get(url(pair)).content.decode()
    client.post(url(pair), {"text": "In rivers only.", "based_on": 1})
    after = client.get(url(pair)).content.decode()

    offer = "Judge the documents"
    assert [offer in page for page in (before, sent_back, after)] == [True, False, True]


def test_nobody_can_write_without_an_assignment(pair, ada, client):
    client.force_login(factories.member(pair.project, "ben").user)

    shown = client.get(url(pair), follow=True).content.decode()
    client.post(url(pair), {"text": "At sea only.", "based_on": 0})

    assert "not your task" in shown
    assert texts(pair) == []


@pytest.mark.parametrize("name", ["rewrite", "draft"])
def test_words_for_a_task_that_another_person_has_stay_on_the_page(pair, ada, client, name):
    client.force_login(factories.member(pair.project, "ben").user)
    words = {"text": "At sea only.", "conditions": "at sea", "note": "Narrower.", "based_on": 0}

    answer = client.post(reverse(f"annotate:{name}", args=[pair.pk]), words)

    assert answer.status_code == 422
    for text in ("This is not your task.", "At sea only.", "at sea", "Narrower."):
        assert shows(answer, text)
    assert not shows(answer, "A barrage")


def test_no_other_page_is_put_into_the_page_of_a_task_that_ended(pair, ada, client):
    ada.assignments.all().delete()
    in_place = {"HX-Request": "true"}

    found = client.get(url(pair), {"find": "barrage"}, headers=in_place)
    advice = client.post(advice_url(pair), {"text": "At sea."}, headers=in_place)

    assert (found.status_code, advice.status_code) == (204, 204)


def test_the_page_of_a_removed_instruction_says_so_before_anybody_writes(pair, ada, client):
    pair.removed_at, pair.removed_reason = timezone.now(), "A double."
    pair.save()
    carla = factories.lead(pair.project)
    first, second = (factories.narrative(pair, version=version) for version in (1, 2))
    client.force_login(carla.user)

    written = client.get(url(pair)).text
    older = client.get(reverse("annotate:narrative", args=[pair.pk, first.pk])).text

    assert second.is_current
    assert "This instruction was removed, so its narrative stays as it is." in written
    assert 'id="send-back"' not in written
    assert "Go back to version" not in older
    assert "Go back to this version" not in written


def test_a_lead_writes_without_an_assignment(pair, ada, client):
    client.force_login(factories.lead(pair.project).user)

    client.post(url(pair), {"text": "At sea only.", "based_on": 0})

    assert texts(pair) == ["At sea only."]


def test_a_query_that_came_without_a_narrative_says_so(pair, ada, client):
    pair.narratives.update(text="")

    assert "This query came without a narrative." in client.get(url(pair)).content.decode()


# --- the affected documents -----------------------------------------------------------------------


def rows(client, pair, **parameters) -> list[str]:
    """Return the ids that the list shows for these parameters."""
    page = client.get(url(pair), parameters, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in page
    ids = dict(pair.query.candidates.values_list("pk", "document__doc_id"))
    return [ids[int(key)] for key in re.findall(r'name="drop" value="(\d+)"', page)]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, ["kept", "bare"]),
        ({"find": "BARR"}, ["kept"]),
        ({"find": "bare"}, []),
        ({"find": "a barrage"}, ["kept"]),
        ({"find": "some text"}, []),
        ({"find": "some text", "in": "texts"}, ["kept"]),
        ({"find": "barrage text", "in": "texts"}, ["kept"]),
        ({"find": "%"}, []),
        ({"find": "dam", "in": "texts"}, []),
    ],
)
def test_documents_are_found_by_title_id_and_on_request_by_text(
    pair, ada, client, parameters, expected
):
    assert rows(client, pair, **parameters) == expected


@pytest.mark.parametrize(
    ("role", "words"), [("annotator", "Words of the title"), ("lead", "Title or id")]
)
def test_the_search_offers_ids_only_to_readers_who_see_them(pair, ada, client, role, words):
    if role == "lead":
        client.force_login(factories.lead(pair.project).user)

    page = client.get(url(pair)).content.decode()

    assert f'placeholder="{words}"' in page


def test_a_lead_finds_documents_by_their_ids_as_well(pair, client):
    client.force_login(factories.lead(pair.project).user)

    assert rows(client, pair, find="bare") == ["bare"]


def test_only_a_search_in_the_texts_reads_them(pair, ada, client, django_assert_max_num_queries):
    for parameters, touched in ({"find": "text"}, False), ({"find": "text", "in": "texts"}, True):
        with django_assert_max_num_queries(25) as queries:
            client.get(url(pair), parameters)

        read = [one["sql"].lower() for one in queries.captured_queries]
        assert any("documenttext" in sql for sql in read) is touched
        # The texts are only searched: none is fetched.
        assert not any('"text"' in sql.split(" from ")[0] for sql in read if "documenttext" in sql)


def test_a_text_of_another_pool_is_not_found(pair, ada, client):
    factories.candidate(factories.query(pair.project, "302"), "other", prior=1)

    assert rows(client, pair, find="text", **{"in": "texts"}) == ["kept"]


def test_a_document_that_was_made_for_another_instruction_is_not_listed(pair, ada, client):
    made = factories.candidate(pair.query, "made", prior=1)
    made.made_for = factories.pair(pair.query, pair_id="301_2")
    made.save()

    assert rows(client, pair) == ["kept", "bare"]


def test_a_long_list_comes_in_parts(pair, ada, client, django_assert_max_num_queries):
    documents = Document.objects.bulk_create(
        Document(project=pair.project, doc_id=f"M{number:04}") for number in range(9_000)
    )
    Candidate.objects.bulk_create(
        Candidate(query=pair.query, document=one, prior_relevance=1, origin="prior")
        for one in documents
    )

    with django_assert_max_num_queries(25):
        page = client.get(url(pair))
    words = page.content.decode()

    assert "of 9002 would drop out" in words
    assert words.count('name="drop"') == 50
    assert len(words) < 150_000
    following = page.context["rewrite_impact"].page.next
    assert rows(client, pair, after=following.partition("after=")[2])[0] == "M0048"


def test_ticks_of_a_long_list_are_counted_whole(pair, ada, client):
    keys = list(pair.query.candidates.filter(prior_relevance__gte=1).values_list("pk", flat=True))
    Draft.objects.create(pair=pair, side="altered", member=ada, text="At sea.", drops=keys[:1])

    page = client.get(url(pair), {"find": "nothing of it"}).content.decode()

    assert "<output data-tally-count>1</output> of 2 would drop out" in page
    assert "50%" in page


def test_a_tick_that_was_taken_away_stays_away_if_saving_is_refused(pair, ada, client):
    kept, bare = pair.query.candidates.filter(prior_relevance__gte=1)
    drops = [kept.pk, bare.pk]
    Draft.objects.create(pair=pair, side="altered", member=ada, text="At sea.", drops=drops)

    page = client.post(url(pair), {"text": "", "based_on": 0, "shown": drops, "drop": [kept.pk]})

    assert page.status_code == 422
    assert page.context["drops"] == [kept.pk]


def test_ticks_of_a_document_taken_out_since_are_not_counted(pair, ada, client):
    kept, bare = pair.query.candidates.filter(prior_relevance__gte=1)
    drops = [kept.pk, bare.pk]
    Draft.objects.create(pair=pair, side="altered", member=ada, text="At sea.", drops=drops)
    DOCUMENTS.remove(project=pair.project, keys=[bare.pk], reason="No text.", by=None)

    page = client.get(url(pair))

    assert page.context["drops"] == [kept.pk]
    assert "<output data-tally-count>1</output> of 1 would drop out" in page.content.decode()


# --- advice ---------------------------------------------------------------------------------------


def advice_url(pair, side="") -> str:
    return reverse("annotate:advice", args=[pair.pk]) + (f"?side={side}" if side else "")


def test_advice_comes_for_what_is_typed(pair, ada, client):
    sent = {"text": "Any plant counts, but not in rivers, see kept.", "based_on": 0}

    part = client.post(advice_url(pair), sent, headers={"HX-Request": "true"}).content.decode()

    assert "<html" not in part
    assert "<q>not</q>" in part
    assert "Named by their id:" in part
    assert texts(pair) == []


def test_advice_comes_with_the_page_and_the_typed_text_without_a_script(pair, ada, client):
    words = "Some text that was copied from one of them, all of it, word by word."
    document = pair.query.candidates.get(document__doc_id="kept").document
    DocumentText.objects.filter(document=document).update(text=f"It says: {words}")

    whole = client.post(advice_url(pair), {"text": words, "based_on": 0}).content.decode()

    assert "<html" in whole
    assert f">{words}</textarea>" in whole
    name = neutral_name(document.pk, document.project_id)
    assert f"{name}: some text that was copied from one of them all of it word by word" in whole


def test_the_check_of_the_texts_waits_until_it_is_requested(pair, ada, client):
    Draft.objects.create(
        pair=pair,
        side="altered",
        member=ada,
        text="Nine words that were never in the original text.",
    )

    page = client.get(url(pair)).content.decode()

    assert shows(page, "not yet")
    assert shows(page, 'hx-trigger="load, input')


def test_advice_says_how_many_documents_it_read(pair, ada, client, monkeypatch):
    factories.candidate(pair.query, "another", prior=1)
    monkeypatch.setattr("annotate.rewriting.advice.MOST_TEXT", 1)

    part = client.post(
        advice_url(pair),
        {"text": "Nine words that were never in the original text."},
        headers={"HX-Request": "true"},
    ).content.decode()

    assert "Looked at 1 of 2 documents." in part


def test_advice_does_not_block_saving(pair, ada, client):
    client.post(url(pair), {"text": "Any.", "based_on": 0})

    assert texts(pair) == ["Any."]


def test_the_reversed_narrative_has_advice_of_its_own(pair, ada, client):
    part = client.post(
        advice_url(pair, "reversed"),
        {"text": "No plant counts."},
        headers={"HX-Request": "true"},
    )

    assert [one.check for one in part.context["checks"]] == ["turned", "ids", "copied"]


@pytest.mark.parametrize("text", ["", " \n ", "x" * 100_001])
def test_there_is_no_advice_on_what_cannot_be_saved(pair, ada, client, text):
    part = client.post(advice_url(pair), {"text": text}, headers={"HX-Request": "true"})

    assert "nothing to look at" in part.content.decode()


# --- the reversed narrative -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "has_tab"), [("followir", False), ("infosearch", True), ("own", True)]
)
def test_a_kind_without_reversed_narratives_has_no_tab_for_them(pair, ada, client, kind, has_tab):
    pair.project.kind = kind
    pair.project.save()

    assert ("?side=reversed" in client.get(url(pair)).content.decode()) is has_tab


def test_a_reversed_narrative_that_exists_has_its_tab_in_every_kind(pair, ada, client):
    pair.project.kind = "followir"
    pair.project.save()
    factories.narrative(pair, "reversed", "At sea only.")

    assert "?side=reversed" in client.get(url(pair)).content.decode()


def test_a_reversed_narrative_has_versions_of_its_own(pair, ada, client):
    client.post(url(pair), {"text": "At sea only.", "based_on": 0})
    address = url(pair) + "?side=reversed"

    begun = client.get(address).content.decode()
    response = client.post(address, {"text": "Not at sea.", "based_on": 0, "note": "turned"})
    page = client.get(response.url).content.decode()

    # It is written from the altered one, which is shown beside it.
    assert ">At sea only.</textarea>" in begun
    assert response.url == address
    assert "Version 1 is saved." in page
    assert "turned" in page
    assert texts(pair) == ["At sea only."]
    turned = pair.narratives.get(side=Narrative.Side.REVERSED)
    assert (turned.version, turned.text) == (1, "Not at sea.")


def test_a_reversed_narrative_without_an_altered_one_begins_with_the_original(pair, ada, client):
    page = client.get(url(pair) + "?side=reversed").content.decode()

    assert ">Any plant counts.</textarea>" in page


def test_a_reversed_version_does_not_reopen_judging(pair, ada, client):
    client.post(url(pair), {"text": "At sea only.", "based_on": 0})
    ben = factories.member(pair.project, "ben")
    assignment = assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ben)
    Assignment.objects.filter(pk=assignment.pk).update(
        touched_at=assignment.taken_at, done_at=assignment.taken_at
    )

    client.post(url(pair) + "?side=reversed", {"text": "Not at sea.", "based_on": 0})

    assignment.refresh_from_db()
    assert assignment.done_at is not None


# --- characters that no narrative can hold --------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (b"At+sea%00only", "Null characters are not allowed."),
        (b"At+sea%1Bonly", "control character (U+001B)"),
        (b"At+sea%C2%85only", "control character (U+0085)"),
        # Half of a surrogate pair, as a broken program could send it: not a character.
        (b"At+sea%ED%A0%80only", "broken character (U+FFFD)"),
        (b"word+" * 200_000, "This has 1000000 characters; at most 100000 are allowed."),
    ],
)
def test_invalid_characters_are_refused_and_the_form_stays_filled(
    pair, ada, client, typed, sentence
):
    body = b"based_on=0&note=why&conditions=in+use&text=" + typed

    response = client.post(url(pair), body, "application/x-www-form-urlencoded")
    form = response.context["form"]

    assert response.status_code == 422
    assert list(form.errors) == ["text"]
    assert sentence in form.errors["text"][0]
    assert texts(pair) == []
    assert (form["note"].value(), form["conditions"].value()) == ("why", "in use")
    assert form["text"].value().startswith(("At sea", "word word "))


def test_odd_characters_from_a_file_may_stay(pair, ada, client):
    pair.narratives.update(text="Any plant\x85 counts.")

    client.post(url(pair), {"text": "Any plant\x85 at sea counts.", "based_on": 0})

    assert texts(pair) == ["Any plant\x85 at sea counts."]


def test_the_share_that_drops_out_is_shown_by_the_title(pair, ada, client):
    page = client.get(url(pair)).content.decode()

    header = page[page.index('<header class="page-header">') :].split("</header>")[0]
    assert '<p class="goal" data-tally-line>' in header


def test_a_saved_narrative_without_ticks_shows_no_share(pair, ada, client):
    client.post(url(pair), {"text": "At sea only.", "based_on": 0})
    saved = client.get(url(pair)).content.decode()
    key = pair.query.candidates.get(document__doc_id="kept").pk
    Draft.objects.create(pair=pair, side="altered", member=ada, text="At sea.", drops=[key])
    ticked = client.get(url(pair)).content.decode()

    hidden = '<p class="goal" data-tally-line hidden>'
    assert [hidden in page for page in (saved, ticked)] == [True, False]


def test_the_documents_at_stake_are_shown_beside_the_form(pair, ada, client):
    page = client.get(url(pair)).content.decode()

    assert page.index('<div class="rewrite">') < page.index('id="rewriting"')
    assert page.index('id="rewriting"') < page.index("rewrite__impact")


def test_checks_that_passed_are_folded_to_one_line(pair, ada, client):
    page = client.get(url(pair)).content.decode()

    fold = page[page.index('id="passed-checks"') :]
    fold = fold[: fold.index("</details>")]
    assert fold.count("is-good") == page.count("is-good") > 0
    assert re.search(r"\d checks? passed", fold)
    assert "is-look" not in fold


def test_the_next_narrative_is_offered_once_this_one_is_written(pair, ada, client):
    """Another narrative waits: the page offers it as soon as this one is written."""
    other = factories.pair(factories.query(pair.project, "302"), altered=None)
    offer = f'action="{reverse("annotate:assignment", args=[pair.project.slug])}"'
    before = client.get(url(pair)).content.decode()
    factories.narrative(pair)
    written = client.get(url(pair)).content.decode()
    assignments.take(pair=other, task=Assignment.Task.REWRITE, by=ada)
    taken = client.get(url(pair)).content.decode()

    assert [offer in page for page in (before, written, taken)] == [False, True, False]
