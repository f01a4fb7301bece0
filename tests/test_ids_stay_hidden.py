"""Document ids give answers away ("99_1_positive"), so people see them only once they answered.

People who have yet to judge, check, review or write open everything that members may open, as in
`tests.test_blindness`.
"""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from django.urls import resolve

from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.judgments.document_names import neutral_name, number_of, reveals_id
from annotate.models import Assignment, Document, Project
from audit.checks import actions as checks
from audit.models import SampleItem
from tests import factories
from tests.programs import Program
from tests.test_blindness import crawl, signed_in
from tests.test_permissions import LEADS, RIGHTS, ROUTES, Right, world

# Ids, with the titles that collections make of them.
IDS = {
    "q_positive": "Q positive",
    "99_1_positive": "Document 99_1_positive",
    "0_hn2": "0-HN2",
    "2654_document1": "",
}
FOR_MEMBERS = {Right.MEMBER, Right.READ, Right.API, Right.API_READ}
# Where a lead who judges sees ids all the same: in lists of ids whose texts are to be loaded.
NAMED_FOR_LEADS = {
    *("annotate:missing_texts", "annotate:missing_texts_file", "annotate:api_missing_texts"),
}
# A text that a narrative can copy words from.
TEXT = "The tide at the old mill turns the wheel twice a day, as it always did."


@pytest.fixture
def stage(db):
    """A project whose document ids reveal their labels, with people who have assignments."""
    made = world("tides", "ada", "carla")
    Project.objects.update(judge_scope="pool", overlap_judge=4, overlap_review=2)
    project, query = Project.objects.get(), made.pair.query
    (first, first_title), *others = IDS.items()
    named = Document.objects.filter(pk=made.candidate.document_id)
    named.update(doc_id=first, title=first_title)
    for doc_id, title in others:
        text = {"0_hn2": "| mill |\n|---|\n| old |", "2654_document1": None}.get(doc_id, TEXT)
        markup = "markdown" if doc_id == "0_hn2" else "plain"
        factories.candidate(query, doc_id, title=title, text=text, markup=markup)
    candidates = list(query.candidates.select_related("document").order_by("pk"))
    people = {name: factories.member(project, name) for name in ("dan", "nina", "wim")}
    assignments.take(pair=made.pair, task=Assignment.Task.REVIEW, by=people["dan"])
    # The narrative is written already, so no assignment to write it is open.
    Assignment.objects.create(pair=made.pair, task="rewrite", seat=1, member=people["wim"])
    ada = project.memberships.select_related("project", "user").get(name="ada")
    narrative = factories.altered(made.pair)
    # A document that was put off is still open.
    judging.flag(narrative=narrative, candidate=candidates[1], kind="later", words="", by=ada)
    return SimpleNamespace(
        world=made,
        project=project,
        pair=made.pair,
        narrative=narrative,
        candidates=candidates,
        label=SampleItem.objects.get(),
        carla=project.memberships.get(name="carla"),
        ada=ada,
        **people,
    )


def addresses_for(stage: SimpleNamespace, rights: set[Right]) -> list[str]:
    """Return every address for people with one of these rights, for each document."""
    found: dict[str, None] = {}
    for candidate in stage.candidates:
        keys = {"candidate": candidate.pk, "candidate_pk": candidate.pk}
        stage.world.keys.update(keys)
        found |= {stage.world.url(name): None for name in ROUTES if RIGHTS[name] in rights}
    numbers = ",".join(str(one.pk) for one in stage.candidates)
    pair = stage.pair.pk
    return [
        *found,
        f"/api/v1/pairs/{pair}/document-views/?candidates={numbers}",
        f"/pairs/{pair}/documents/?candidate={numbers.replace(',', '&candidate=')}",
    ]


def named_documents(read: Any) -> list[tuple[str, str]]:
    """Return each id, or title made of one, that was shown, with its address."""
    words = {word.encode() for pair in IDS.items() for word in pair if word}
    return [
        (url, word.decode())
        for url, (_status, headers, body) in read.items()
        for word in words
        if word in body or word in unquote(url).encode() or word in "".join(headers).encode()
    ]


@pytest.mark.parametrize("name", ["ada", "dan", "nina", "wim"])
def test_no_response_shows_a_document_id_before_the_answer(stage, name):
    read = crawl(getattr(stage, name), addresses_for(stage, FOR_MEMBERS), follow=name == "ada")

    assert {status for status, _, _ in read.values()} <= {*(200, 302, 400, 403, 404, 405, 409, 422)}
    assert named_documents(read) == []


def test_no_response_shows_a_document_id_to_a_lead_who_judges(stage):
    gina = factories.lead(stage.project, "gina")
    assignments.take(pair=stage.pair, task=Assignment.Task.JUDGE, by=gina, become_blind=True)

    read = crawl(gina, addresses_for(stage, {*FOR_MEMBERS, *LEADS}), follow=False)

    shown = {resolve(urlsplit(url).path).view_name for url, _word in named_documents(read)}
    assert shown == NAMED_FOR_LEADS


def test_ids_are_found_where_they_may_be_shown(stage):
    documents = [url for url in addresses_for(stage, FOR_MEMBERS) if "/documents/" in url]
    read = crawl(stage.carla, documents, follow=False)

    assert {word for _, word in named_documents(read)} >= set(IDS)


def test_answered_documents_show_their_id_and_open_ones_a_neutral_name(stage):
    first, second, *_ = stage.candidates
    judging.judge(narrative=stage.narrative, candidate=first, relevance=1, by=stage.ada)
    client = signed_in(stage.ada)
    neutral = neutral_name(second.document_id, stage.project.pk)

    for url in (
        f"/pairs/{stage.pair.pk}/candidates/{first.pk}/",
        f"/pairs/{stage.pair.pk}/documents/{first.pk}/",
    ):
        assert "q_positive" in client.get(url).content.decode(), url
    for url in (
        f"/pairs/{stage.pair.pk}/list/",
        f"/projects/tides/queries/{stage.pair.query_id}/",
        f"/api/v1/projects/tides/queries/{stage.pair.query_id}/candidates/",
    ):
        page = client.get(url).content.decode()
        assert "q_positive" in page, url
        assert neutral in page, url
        assert "99_1_positive" not in page, url


def test_an_id_stays_hidden_while_another_pair_of_the_query_is_open(stage):
    first = stage.candidates[0]
    judging.judge(narrative=stage.narrative, candidate=first, relevance=1, by=stage.ada)
    other = factories.pair(stage.pair.query, pair_id="301_2")
    url = f"/pairs/{stage.pair.pk}/candidates/{first.pk}/"
    client = signed_in(stage.ada)

    before = client.get(url).content.decode()
    assignments.take(pair=other, task=Assignment.Task.JUDGE, by=stage.ada)
    after = client.get(url).content.decode()

    assert "q_positive" in before
    assert "q_positive" not in after


def test_a_lead_who_judges_sees_no_id_on_the_judge_page(stage):
    assignments.take(pair=stage.pair, task=Assignment.Task.JUDGE, by=stage.carla, become_blind=True)
    first = stage.candidates[0]
    urls = [f"/pairs/{stage.pair.pk}/candidates/{first.pk}/", f"/pairs/{stage.pair.pk}/list/"]

    assert named_documents(crawl(stage.carla, urls, follow=False)) == []


def test_a_flag_names_no_document_that_its_reader_has_to_judge_under_another_pair(stage):
    other = factories.pair(stage.pair.query, pair_id="301_2")
    first = stage.candidates[0]
    judging.flag(
        narrative=stage.narrative, candidate=first, kind="problem", words="Torn.", by=stage.ada
    )
    client, flags = signed_in(stage.carla), "projects/tides/flags/"
    before = client.get(f"/api/v1/{flags}").json()["results"]
    assignments.take(pair=other, task=Assignment.Task.JUDGE, by=stage.carla, become_blind=True)

    page, after = client.get(f"/{flags}"), client.get(f"/api/v1/{flags}").json()["results"]

    assert [one["doc_id"] for one in before if one["words"]] == ["q_positive"]
    assert "Torn." in page.content.decode()
    assert "q_positive" not in page.content.decode()
    assert [one["doc_id"] for one in after if one["words"]] == [None]


def test_a_checker_sees_the_id_once_the_label_is_checked(stage):
    url, api_path = f"/labels/{stage.label.pk}/check/", f"labels/{stage.label.pk}/"
    client, program = signed_in(stage.nina), Program("nina")
    before = client.get(url).content.decode(), program.get(api_path).json()

    checks.check(item=stage.label, relevance=1, by=stage.nina)
    after = client.get(url).content.decode(), program.get(api_path).json()

    assert ("q_positive" in before[0], before[1]["doc_id"]) == (False, None)
    assert ("q_positive" in after[0], after[1]["doc_id"]) == (True, "q_positive")
    assert before[1]["name"] == neutral_name(stage.candidates[0].document_id, stage.project.pk)


def test_settling_a_label_shows_the_id_only_afterwards(stage):
    checks.check(item=stage.label, relevance=1, by=stage.nina)
    checks.check(item=stage.label, relevance=0, by=stage.dan)
    url = f"/labels/{stage.label.pk}/settlement/"
    client = signed_in(stage.wim)

    before = client.get(url).content.decode()
    checks.settle(item=stage.label, relevance=0, by=stage.wim)
    after = client.get(url).content.decode()

    assert neutral_name(stage.candidates[0].document_id, stage.project.pk) in before
    assert "q_positive" not in before
    assert "q_positive" in after


def test_a_writer_finds_no_document_by_an_id_that_is_hidden(stage):
    Document.objects.filter(doc_id="99_1_positive").update(title="A positive report")
    url = f"/pairs/{stage.pair.pk}/narrative/?find=positive"

    for_writer = signed_in(stage.wim).get(url).context["rewrite_impact"]
    for_lead = signed_in(stage.carla).get(url).context["rewrite_impact"]

    assert [one.document.doc_id for one in for_writer.page.rows] == ["99_1_positive"]
    assert {one.document.doc_id for one in for_lead.page.rows} == {"q_positive", "99_1_positive"}


def test_advice_on_copied_words_names_documents_neutrally(stage):
    url = f"/pairs/{stage.pair.pk}/advice/"
    document = stage.candidates[1].document

    page = signed_in(stage.wim).post(url, {"text": TEXT, "based_on": 1}).content.decode()

    assert neutral_name(document.pk, stage.project.pk) in page
    assert "99_1_positive" not in page


def test_a_setting_shows_the_ids_of_documents_without_a_text(stage):
    Project.objects.update(show_ids=True)
    urls = [f"/pairs/{stage.pair.pk}/candidates/{candidate.pk}/" for candidate in stage.candidates]
    without_text = stage.candidates[3]

    assert without_text.document.length is None
    assert named_documents(crawl(stage.ada, urls, follow=False)) == [(urls[3], "2654_document1")]


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "made"),
    [
        ("q_positive", True),
        ("Q positive", True),
        ("q-positive.", True),
        ("Document q_positive", True),
        ("q_positive.txt", True),
        ("corpus/Q-Positive (2)", True),
        ("The positive side of tides", False),
        ("Questions on positively charged ions", False),
        ("q", False),
    ],
)
def test_a_title_that_contains_the_id_does_not_count(title, made):
    assert reveals_id(title, "q_positive") is made


@pytest.mark.parametrize(
    ("title", "doc_id", "made"),
    [
        ("Table hn2", "hn2", True),
        ("Report 1042035", "1042035", True),
        ("Table 1037", "1037", True),
        ("tides.txt", "tides", True),
        # Words and numbers that a title may hold for reasons of its own.
        ("The tides of Fundy", "tides", False),
        ("Harbours in 1995", "1995", False),
        ("A note on hn21", "hn2", False),
    ],
)
def test_a_one_word_id_in_a_title_counts_only_if_it_looks_like_an_id(title, doc_id, made):
    assert reveals_id(title, doc_id) is made


def test_ids_without_letters_or_digits_are_titles_only_of_themselves():
    assert reveals_id("--", "--")
    assert not reveals_id("++", "--")


def test_neutral_numbers_are_stable_unique_and_unrelated_to_the_loading_order():
    numbers = [number_of(document, 7) for document in range(1, 2_001)]

    assert numbers == [number_of(document, 7) for document in range(1, 2_001)]
    assert len(set(numbers)) == 2_000
    assert all(len(number) == 9 for number in numbers)
    # Of two neighbours in the order of loading, the later has the larger number half of the time.
    rising = sum(one < other for one, other in pairwise(numbers))
    assert 900 < rising < 1_100
    assert number_of(1, 7) != number_of(1, 8)
    assert len(number_of(10**8, 7)) == 19
