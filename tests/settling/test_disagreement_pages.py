"""Pages of disagreements: the list, a page for each, adopting by key, going to the next one."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.judgments import assignments
from annotate.models import (
    Adjudication,
    Assignment,
    Condition,
    Document,
    Flag,
    Judgment,
    Project,
    Verdict,
)
from annotate.rewriting.actions import remove
from audit.models import Decision
from audit.settling.adjudication import adjudicate
from tests import factories
from tests.pages import shows
from tests.second_pass import dispute, submit_levels

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)


@pytest.fixture(scope="module")
def scene_of_file(scene_of_file):
    """Add a second, nearer disagreement."""
    scene = dispute(scene_of_file)
    scene.third = factories.candidate(scene.query, "S3", text="A lagoon at Swansea.")
    factories.judgment(scene.narrative, scene.third, scene.ada, 0, at=MONDAY)
    factories.judgment(scene.narrative, scene.third, scene.ben, 1, at=MONDAY)
    scene.url = url(scene, scene.first)
    scene.list = reverse("audit:disagreements", args=[scene.project.slug])
    return scene


@pytest.fixture
def reviewed(led):
    """The scene, where dan rates a criterion poor and ben does not."""
    for auditor, others in ((led.dan, {"query_dependency": "poor"}), (led.ben, {})):
        assignments.take(pair=led.pair, task=Assignment.Task.REVIEW, by=auditor)
        submit_levels(led.narrative, auditor, **others)
    led.review = reverse("audit:review_disagreement", args=[led.narrative.pk])
    return led


def url(scene, candidate, name="disagreement"):
    return reverse(f"audit:{name}", args=[scene.narrative.pk, candidate.pk])


def text(response):
    return response.content.decode()


def test_list_shows_documents_people_and_grades_without_reading_texts(led, client):
    response = client.get(led.list)

    page = text(response)
    assert [row["item"].candidate for row in response.context["rows"]] == [led.first, led.third]
    assert page.index(">S1<") < page.index(">S3<")
    assert "Person A" in page
    assert "Person B" in page
    assert "Turbines in the Severn." not in page
    assert led.url in page


def test_a_document_that_was_taken_out_is_not_said_to_be_agreed_on(led, client):
    remove(pair=led.pair, by=led.carla)

    page = text(client.get(led.url))

    assert "This was taken out of the project" in page
    assert "Nobody disagrees" not in page


def test_a_document_that_most_people_agree_on_is_not_said_to_have_no_disagreement(led, client):
    Project.objects.update(consensus=Project.Consensus.MAJORITY)
    factories.judgment(led.narrative, led.third, led.dan, 1)

    page = text(client.get(url(led, led.third)))

    assert "More than half agree" in page
    assert "Nobody disagrees" not in page


def test_nobody_is_asked_to_look_again_under_a_narrative_that_is_not_judged(led, client):
    original = led.pair.current("original")
    for judge, relevance in ((led.ada, 0), (led.ben, 1)):
        factories.judgment(original, led.first, judge, relevance)

    page = client.get(reverse("audit:disagreement", args=[original.pk, led.first.pk]))

    assert page.context["differs"]
    assert page.context["askable"] == []
    assert client.get(led.url).context["askable"]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("order=age", ["S3", "S1"]),
        ("kind=review", []),
        ("kind=judgment", ["S1", "S3"]),
        ("query=301", ["S1", "S3"]),
        ("state=settled", []),
        ("document=S3", ["S3"]),
        ("grade_one=0&grade_other=2", ["S1"]),
        ("grade_one=0&grade_other=1", ["S3"]),
        ("grade_one=0", ["S1", "S3"]),
        ("after=nonsense", ["S1", "S3"]),
    ],
)
def test_list_can_be_filtered_and_ordered(led, client, asked, shown):
    response = client.get(f"{led.list}?{asked}")

    assert [row["item"].candidate.document.doc_id for row in response.context["rows"]] == shown


def test_list_can_be_filtered_by_two_people_if_names_are_shown(led, client):
    Project.objects.update(hide_names=False)
    address = f"{led.list}?one={led.ada.pk}&other={led.dan.pk}"

    assert client.get(address).context["rows"] == []
    assert "Nothing matches the filter" in text(client.get(address))


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("query=999", "There is no query 999 in this project."),
        ("one={ada}", "Choose two people, or leave both open."),
        ("one={ada}&other={ada}", "Choose two different people."),
        ("one={eve}&other={ada}", "not one of the available choices"),
        ("order=loudness", "not one of the available choices"),
        ("grade_one=9", "not one of the available choices"),
        ("settled_cause=edge", "Only settled disagreements have a cause."),
        ("only=judgment-1", "A ticked row is not a disagreement of this list."),
    ],
)
def test_invalid_filter_is_explained(led, client, query, sentence):
    Project.objects.update(hide_names=False)
    query = query.format(ada=led.ada.pk, eve=led.eve.pk)

    response = client.get(f"{led.list}?{query}")

    assert response.status_code == 200
    assert sentence in text(response)


def test_table_has_the_filtered_rows_and_no_names(led, client):
    response = client.get(
        reverse("audit:disagreements_table", args=[led.project.slug]) + "?document=S3"
    )

    header, *rows = csv.reader(b"".join(response.streaming_content).decode().splitlines())
    row = dict(zip(header, rows[0], strict=True))
    assert len(rows) == 1
    assert (row["query_id"], row["doc_id"], row["distance"]) == ("301", "S3", "1")
    assert sorted(row["answers"].split("; ")) in (
        ["Person A: 0", "Person B: 1"],
        ["Person A: 1", "Person B: 0"],
    )


def test_table_of_an_invalid_filter_leads_back_to_the_list(led, client):
    response = client.get(
        reverse("audit:disagreements_table", args=[led.project.slug]) + "?query=999"
    )

    assert response.url == f"{led.list}?query=999"


def test_pair_id_filters_by_its_query(led, client):
    pair = factories.pair(led.query, pair_id="301_1")
    elsewhere = factories.pair(factories.query(led.project, "302"), pair_id="302_1")

    shown = [
        [
            row["item"].candidate
            for row in client.get(led.list, {"query": one.pair_id}).context["rows"]
        ]
        for one in (pair, elsewhere)
    ]

    assert shown == [[led.first, led.third], []]


def test_long_list_is_paged(led, client, monkeypatch):
    monkeypatch.setattr("audit.settling.views.pages.PAGE_SIZE", 1)

    first = client.get(led.list)
    second = client.get(first.context["next_url"])

    assert [row["item"].candidate for row in first.context["rows"]] == [led.first]
    assert [row["item"].candidate for row in second.context["rows"]] == [led.third]
    assert (second.context["next_url"], second.context["first_url"]) == ("", led.list)


@pytest.mark.parametrize("more", [0, 20])
def test_the_list_costs_the_same_however_long(led, client, django_assert_num_queries, more):
    for number in range(more):
        candidate = factories.candidate(led.query, f"N{number}")
        factories.judgment(led.narrative, candidate, led.ada, 0)
        factories.judgment(led.narrative, candidate, led.ben, 1)

    with django_assert_num_queries(27) as queries:
        client.get(led.list)

    assert not any("documenttext" in query["sql"] for query in queries.captured_queries)


def test_page_shows_answers_narrative_and_document(led, client):
    Flag.objects.create(
        narrative=led.narrative,
        candidate=led.first,
        annotator=led.dan,
        flag="problem",
        note="Cut off.",
    )
    factories.judgment(led.narrative, led.first, factories.machine(led.project, "gauge"), 1)

    page = text(client.get(led.url))

    for words in (
        "Person A",
        "On a river.",
        "Person B",
        "Turbines in the Severn.",
        "at sea",
        "Cut off.",
        "gauge",
    ):
        assert words in page


def test_document_id_is_shown_only_below_a_title(led, client):
    untitled = text(client.get(led.url))
    Document.objects.filter(pk=led.first.document_id).update(title="Tides at sea")
    titled = text(client.get(led.url))

    below = f'<bdi class="id">{led.first.document.doc_id}</bdi>'
    assert (untitled.count(below), titled.count(below)) == (0, 1)


def test_evidence_is_quoted_from_the_text(led, client):
    Judgment.objects.filter(pk=led.bens.pk).update(evidence=[{"start": 0, "end": 8}])

    assert ">Turbines</blockquote>" in text(client.get(led.url))


def test_settling_opens_the_next_one(led, client):
    response = client.post(led.url, {"relevance": 1, "cause": "edge", "reason": "At the mouth."})

    assert (response.status_code, response.url) == (302, url(led, led.third))
    made = Adjudication.objects.get()
    assert (made.candidate, made.relevance, made.by) == (led.first, 1, led.carla)


def test_next_disagreement_follows_the_filter(led, client):
    query = "?order=age"

    response = client.post(
        url(led, led.third) + query, {"relevance": 1, "cause": "edge", "reason": "So."}
    )

    assert response.url == led.url + query


def test_settling_the_last_one_opens_the_list(led, client):
    for candidate in (led.first, led.third):
        response = client.post(
            url(led, candidate), {"relevance": 1, "cause": "edge", "reason": "So."}
        )

    assert response.url == led.list
    assert "Everything is settled" in text(client.get(led.list))


def test_one_key_adopts_an_answer(led, client):
    page = client.get(led.url)

    response = client.post(led.url, {"adopt": led.adas.pk, "cause": "error"})

    keys = {answer.adopt: answer.key for answer in page.context["answers"]}
    assert sorted(keys.values()) == ["a", "s"]
    adopting = f'name="adopt" value="{led.adas.pk}" data-value="0" data-key="{keys[led.adas.pk]}"'
    assert shows(page, adopting)
    assert response.url == url(led, led.third)
    assert Adjudication.objects.get().reason == "As one of them said: On a river."


def test_adopting_without_a_cause_is_refused_and_keeps_the_input(led, client):
    response = client.post(led.url, {"adopt": led.adas.pk, "reason": "It stands on a river."})

    page = text(response)
    assert response.status_code == 422
    assert shows(page, "Say why they differ: choose one of the causes.")
    assert shows(page, f'name="adopt" value="{led.adas.pk}" data-value="0" aria-pressed="true"')
    assert shows(page, "It stands on a river.</textarea>")


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"relevance": 1, "reason": "So."}, "choose one of the causes"),
        ({"relevance": 1, "cause": "edge"}, "Give a reason"),
        ({"cause": "edge", "reason": "So."}, "Choose an answer, or adopt one that was given."),
        ({"relevance": 7, "cause": "edge", "reason": "So."}, "7 is not a grade of this project"),
        ({"relevance": "x", "cause": "edge", "reason": "So."}, "Enter a whole number"),
    ],
)
def test_invalid_decision_is_explained_and_input_is_kept(led, client, sent, sentence):
    response = client.post(led.url, sent)

    assert response.status_code == 422
    assert sentence in text(response)
    assert sent.get("reason", "") in text(response)
    assert not Adjudication.objects.exists()


def test_an_answer_to_another_document_is_not_adopted(led, client):
    other = Judgment.objects.get(candidate=led.third, annotator=led.ada)

    assert client.post(led.url, {"adopt": other.pk, "cause": "error"}).status_code == 404
    assert not Adjudication.objects.exists()


def test_settling_twice_with_another_grade_is_refused(led, client):
    client.post(led.url, {"relevance": 1, "cause": "edge", "reason": "So."})

    response = client.post(led.url, {"relevance": 2, "cause": "edge", "reason": "So."})

    assert response.status_code == 422
    assert Adjudication.objects.get().relevance == 1


def test_settled_document_shows_its_decision_and_can_be_withdrawn(led, client):
    client.post(led.url, {"relevance": 1, "cause": "edge", "reason": "At the mouth."})
    page = text(client.get(led.url))

    response = client.post(url(led, led.first, "adjudication_withdrawal"))

    assert "At the mouth." in page
    assert shows(page, 'data-key-label="Relevant" aria-pressed="true"')
    assert response.url == led.url
    assert not Adjudication.objects.current().exists()
    page = text(client.get(led.url))
    assert "Earlier decisions" in page
    assert "withdrawn by carla" in page


def test_the_next_page_offers_to_undo_the_last_decision(led, client):
    page = text(
        client.post(led.url, {"relevance": 1, "cause": "edge", "reason": "So."}, follow=True)
    )

    assert url(led, led.first, "adjudication_withdrawal") in page


@pytest.mark.parametrize(("minutes", "offered"), [(59, True), (61, False)])
def test_only_a_decision_of_the_last_hour_is_offered_to_be_undone(led, client, minutes, offered):
    at = timezone.now() - timedelta(minutes=minutes)
    adjudicate(
        narrative=led.narrative,
        candidate=led.first,
        relevance=1,
        cause="edge",
        reason="So.",
        by=led.carla,
        now=at,
    )

    page = text(client.get(url(led, led.third)))

    assert (url(led, led.first, "adjudication_withdrawal") in page) is offered
    # With the date: around midnight the time alone could mean another day.
    assert (f"{at.day} {at:%b %Y, %H:%M} UTC" in page) is offered


def test_a_decision_of_another_lead_is_not_offered_to_be_undone(led, client):
    adjudicate(
        narrative=led.narrative,
        candidate=led.first,
        relevance=1,
        cause="edge",
        reason="So.",
        by=factories.lead(led.project, "clara"),
    )

    page = text(client.get(url(led, led.third)))
    assert url(led, led.first, "adjudication_withdrawal") not in page
    assert shows(page, 'data-key-label="Take the last answer back" disabled')


def test_withdrawing_nothing_is_not_found(led, client):
    assert client.post(url(led, led.first, "adjudication_withdrawal")).status_code == 404


def test_nothing_can_be_settled_under_a_superseded_narrative(led, client):
    factories.narrative(led.pair, text="Only fences count.", version=2)

    page = text(client.get(led.url))
    response = client.post(led.url, {"relevance": 1, "cause": "edge", "reason": "So."})

    assert "rewritten since" in page
    assert response.status_code == 422
    assert not Adjudication.objects.exists()


def test_a_lead_who_also_judged_sees_which_answer_is_theirs(led, client):
    factories.judgment(led.narrative, led.first, led.carla, 1)

    assert "(you)" in text(client.get(led.url))


def test_a_lead_who_has_yet_to_judge_it_does_not_see_the_answers(led, client):
    Project.objects.update(overlap_judge=3)
    led.carla.refresh_from_db()
    factories.assignment(led.pair, led.carla)

    response = client.get(led.url)

    assert response.status_code == 403
    assert "On a river." not in text(response)
    assert "Judge this document first" in text(response)
    assert client.get(led.list).context["rows"] == []


def test_notes_of_people_are_escaped(led, client):
    Judgment.objects.filter(pk=led.adas.pk).update(note="<script>alert(1)</script>")

    assert "<script>alert(1)" not in text(client.get(led.url))


def test_evidence_and_clauses_are_quoted_with_the_time_taken(led, client):
    Judgment.objects.filter(pk=led.adas.pk).update(
        evidence=[{"start": 16, "end": 22}], clauses=[{"start": 5, "end": 18}], active_ms=12_400
    )

    page = text(client.get(led.url))

    assert shows(page, 'data-start="16" data-end="22">Severn</blockquote>')
    assert shows(page, '<q dir="auto">plants at sea</q>')
    assert shows(page, "12 s with the document")


def test_the_time_taken_includes_that_before_a_note_was_added(led, client):
    Judgment.objects.filter(pk=led.adas.pk).update(active_ms=1_000)
    at = led.adas.at
    factories.judgment(
        *(led.narrative, led.first, led.adas.annotator),
        at=at - timedelta(minutes=1),
        ended_at=at,
        active_ms=40_000,
    )

    assert shows(text(client.get(led.url)), "41 s with the document")


def test_verdicts_are_side_by_side_differing_ones_first(led, client):
    answers = {"One.": ("met", "met"), "Two.": ("not_met", "met"), "Three.": ("cant_tell", None)}
    for number, (words, each) in enumerate(answers.items(), start=1):
        condition = Condition.objects.create(narrative=led.narrative, number=number, text=words)
        for judgment, answer in zip((led.adas, led.bens), each, strict=True):
            if answer:
                Verdict.objects.create(statement=judgment, condition=condition, answer=answer)

    rows = client.get(led.url).context["verdicts"]

    shown = [{verdict and verdict.answer for verdict in row["answers"]} for row in rows]
    assert [row["condition"].text for row in rows] == ["Two.", "One.", "Three."]
    assert shown == [{"not_met", "met"}, {"met"}, {"cant_tell", None}]
    assert [row["differs"] for row in rows] == [True, False, False]


def test_the_page_costs_a_fixed_number_of_queries(led, client, django_assert_num_queries):
    for name in ("fay", "gil", "hal"):
        factories.judgment(led.narrative, led.first, factories.member(led.project, name), 1)

    with django_assert_num_queries(37):
        client.get(led.url)


def test_condition_is_shown_with_its_name(led, client):
    condition = Condition.objects.create(
        narrative=led.narrative, number=1, name="length", text="At most two pages."
    )
    Verdict.objects.create(statement=led.adas, condition=condition, answer="met")

    assert shows(client.get(led.url), "1 <bdi><b>length</b> At most two pages.</bdi>")


def test_reviews_are_side_by_side_with_the_verdict(reviewed, client):
    page = text(client.get(reviewed.review))

    for words in ("Person A", "Person B", "Weak.", "they differ", "rejected"):
        assert words in page
    assert page.replace("ay why they differ", "").count("they differ") == 1


def test_deciding_on_reviews_opens_the_next_disagreement(reviewed, client):
    response = client.post(reviewed.review, {"outcome": "revise", "reason": "It repeats it."})

    assert response.url == url(reviewed, reviewed.third)
    assert Decision.objects.get().outcome == "revise"


def test_a_decision_without_a_reason_is_explained(reviewed, client):
    response = client.post(reviewed.review, {"outcome": "revise", "reason": ""})

    assert response.status_code == 422
    assert "Give a reason" in text(response)
    assert not Decision.objects.exists()


def test_a_decided_review_shows_its_decision(reviewed, client):
    client.post(reviewed.review, {"outcome": "removed", "reason": "Beyond repair."})

    page = text(client.get(reviewed.review))

    assert "Beyond repair." in page
    assert shows(page, 'data-key-label="Remove" aria-pressed="true"')


def test_a_program_reads_whether_a_disagreement_is_settled(led, client):
    client.post(led.url, {"relevance": "1", "reason": "So.", "cause": "edge"})
    listed = f"/api/v1/projects/{led.project.slug}/disagreements/"

    states = {
        state: [row["settled"] for row in client.get(listed, {"state": state}).json()["results"]]
        for state in ("pending", "settled")
    }

    assert states == {"pending": [False], "settled": [True]}


def test_settled_ones_are_listed_with_who_settled_them(reviewed, client):
    adjudicate(
        narrative=reviewed.narrative,
        candidate=reviewed.first,
        relevance=2,
        reason="So.",
        cause="edge",
        by=reviewed.carla,
    )

    page = client.get(f"{reviewed.list}?state=settled")

    assert [row["item"].candidate for row in page.context["rows"]] == [reviewed.first]
    assert "carla" in text(page)


def test_a_lead_who_has_yet_to_review_it_does_not_see_the_reviews(reviewed, client):
    Project.objects.update(overlap_review=3)
    reviewed.carla.refresh_from_db()
    factories.assignment(reviewed.pair, reviewed.carla, Assignment.Task.REVIEW)

    for response in (
        client.get(reviewed.review),
        client.post(reviewed.review, {"outcome": "accepted", "reason": "So."}),
    ):
        assert response.status_code == 403
        assert "Weak." not in text(response)
    assert not Decision.objects.exists()


def test_list_and_count_are_not_cached_by_browsers(led, client):
    for address in (led.list, reverse("audit:disagreement_count", args=[led.project.slug])):
        assert "no-store" in client.get(address)["Cache-Control"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "2 open"),
        ("?kind=review", "0 open"),
        ("?state=settled", "0 settled"),
        ("?state=waiting", "0 waiting for an annotator"),
    ],
)
def test_page_loads_the_number_of_disagreements_separately(led, client, query, words):
    page = client.get(led.url + query)

    count = page.context["count_url"]
    assert f'hx-get="{count.replace("&", "&amp;")}"' in text(page)
    assert text(client.get(count)) == words


@pytest.mark.parametrize("asked", ["document=S3", "only=judgment-1-2-0", "grade_one=0"])
def test_a_filter_that_leaves_out_the_kind_of_a_disagreement_still_shows_its_page(
    reviewed, client, asked
):
    # The session leads back to what was settled last, with the filter of the list.
    page = client.get(f"{reviewed.review}?{asked}")

    assert page.status_code == 200
    assert page.context["differs"]


def test_a_decision_on_a_replaced_text_is_neither_current_nor_withdrawn(led, client):
    settle = {"narrative": led.narrative, "candidate": led.first, "by": led.carla}
    adjudicate(**settle, relevance=1, reason="The river counts.", cause="edge")
    now = timezone.now()
    Adjudication.objects.update(text_replaced_at=now)
    Judgment.objects.filter(candidate=led.first).update(text_replaced_at=now)
    for by, relevance in ((led.ada, 2), (led.ben, 0)):
        factories.judgment(led.narrative, led.first, by, relevance)

    page = client.get(led.url)

    assert page.context["decision"] is None
    assert page.context["adoptable"]
    assert shows(page, "The river counts.")
    assert shows(page, "on an earlier text of the document")
    (decision,) = client.get(f"/api/v1{led.url}").json()["decisions"]
    assert decision["withdrawn_at"] is None
    assert decision["text_replaced_at"] is not None
