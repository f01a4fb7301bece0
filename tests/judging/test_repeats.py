"""Repeats: unannounced, with answers that are kept apart and shown nowhere else."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from annotate.guidelines import rejudge_requests
from annotate.judging import actions as judging
from annotate.judging import judging_session
from annotate.judging.actions import Recorded, undo, withdraw
from annotate.judgments import assignments
from annotate.judgments.assignments import my_assignments
from annotate.judgments.repeats import Spot, unmask
from annotate.models import Assignment, Flag, Judgment, Project, Repeat
from annotate.projects import actions as projects
from annotate.projects.kinds import KindGrade
from annotate.rewriting import actions as rewriting
from base.errors import ObjectNotFound, Refused
from tests import factories

pytestmark = pytest.mark.both_databases

JUDGE = Assignment.Task.JUDGE
SESSION = re.compile(r'<script id="judging-session" type="application/json">(.*?)</script>')


class Scene:
    """ada judges six documents; three of them are repeated, with at least three in between."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.project = factories.project(repeat_percent=50)
        self.query = factories.query(self.project)
        for doc_id in "ABCDEF":
            factories.candidate(self.query, doc_id, text=f"Body of {doc_id}.")
        self.pair = factories.pair(self.query)
        self.narrative = factories.altered(self.pair)
        self.ada = factories.member(self.project, "ada")
        assignments.take(pair=self.pair, task=JUDGE, by=self.ada)
        client.force_login(self.ada.user)

    def judging_session(self) -> judging_session.JudgingSession:
        return judging_session.read_judging_session(narrative=self.narrative, by=self.ada)

    def spots(self) -> list[Spot]:
        return [unmask(number, self.ada.pk) for number in self.judging_session().order]

    def again(self) -> list[int]:
        """Return the numbers of the repeats, in order."""
        order = self.judging_session().order
        return [number for number in order if unmask(number, self.ada.pk).again]

    def first_of(self, number: int) -> int:
        return judging_session.spot_number(Spot(unmask(number, self.ada.pk).candidate), self.ada)

    def grade(self, number: int, relevance: int = 1, **more: Any) -> Recorded:
        return self.record(number, relevance=relevance, **more)

    def flag(self, number: int, kind: str, words: str = "", **more: Any) -> Recorded:
        return self.record(number, flag=kind, note=words, **more)

    def record(self, number: int, **sent: Any) -> Recorded:
        sent |= {"narrative": self.narrative.pk, "candidate": number}
        return judging.record_sent(sent, pair=self.pair, by=self.ada)

    def assignment_is_done(self) -> bool:
        return self.ada.assignments.get().done_at is not None

    def url(self, number: int, name: str = "judge") -> str:
        return reverse(f"annotate:{name}", args=[self.pair.pk, number])

    def page(self, number: int) -> str:
        response = self.client.get(self.url(number))
        assert response.status_code == 200
        return str(response.content.decode())


@pytest.fixture
def scene(db, client) -> Scene:
    return Scene(client)


def test_half_of_the_documents_are_repeated_and_count_in_the_total(scene):
    spots = scene.spots()

    assert len(spots) == 9
    assert scene.judging_session().total == 9
    for number in scene.again():
        spot = unmask(number, scene.ada.pk)
        assert spots.index(spot) - spots.index(Spot(spot.candidate)) > 3


def test_documents_have_their_keys_as_numbers_without_repeats(scene):
    scene.project.repeat_percent = 0
    scene.project.save()
    ada = scene.project.memberships.get(name="ada")

    at = judging_session.read_judging_session(narrative=scene.narrative, by=ada)

    assert sorted(at.order) == sorted(scene.query.candidates.values_list("pk", flat=True))


def test_an_answer_to_a_repeat_changes_no_judgment(scene):
    number = scene.again()[0]
    first = scene.grade(scene.first_of(number), 2).row

    repeat = scene.grade(number, 0, note="On reflection no.", active_ms=1_200, pressed="key").row

    assert repeat.repeat
    assert (repeat.relevance, repeat.note, repeat.active_ms) == (
        0,
        "On reflection no.",
        1_200,
    )
    assert repeat.first == first
    assert Judgment.objects.current().get() == first
    assert Judgment.objects.get().relevance == 2


def test_a_repeat_answered_before_its_document_names_no_judgment(scene):
    repeat = scene.grade(scene.again()[0], 1).row

    assert repeat.repeat
    assert repeat.first is None
    assert not Judgment.objects.exists()


def test_the_assignment_is_done_only_when_the_repeats_are(scene):
    for number in scene.judging_session().order[:-1]:
        scene.grade(number)
        assert not scene.assignment_is_done()

    scene.grade(scene.judging_session().order[-1])

    assert scene.assignment_is_done()
    assert scene.judging_session().done
    scene.flag(scene.again()[0], Flag.Kind.LATER)
    assert not scene.assignment_is_done()
    assert scene.judging_session().next() == scene.again()[0]
    undo(narrative=scene.narrative, by=scene.ada)
    assert scene.assignment_is_done()


def test_the_order_of_answers_does_not_matter_for_the_assignment(scene):
    for number in reversed(scene.judging_session().order):
        assert not scene.assignment_is_done()
        scene.grade(number)

    assert scene.assignment_is_done()


def test_a_flag_on_a_repeat_flags_nothing_else(scene):
    number = scene.again()[0]
    scene.grade(scene.first_of(number), 2)

    scene.flag(number, Flag.Kind.PROBLEM, "It is cut off.")

    assert not Flag.objects.exists()
    assert Judgment.objects.current().get().relevance == 2
    assert scene.judging_session().flagged == {number: "problem"}
    with pytest.raises(Refused, match="Say in a few words why"):
        scene.flag(number, Flag.Kind.PROBLEM)


def test_answering_a_repeat_again_supersedes_and_undo_restores(scene):
    number = scene.again()[0]
    scene.grade(scene.first_of(number), 2)
    scene.grade(number, 1)
    scene.grade(number, 0)
    assert scene.judging_session().judged[number] == 0

    back = undo(narrative=scene.narrative, by=scene.ada)
    assert back.repeat
    assert (back.relevance, scene.judging_session().judged[number]) == (0, 1)
    undo(narrative=scene.narrative, by=scene.ada)
    assert number not in scene.judging_session().judged
    undo(narrative=scene.narrative, by=scene.ada)

    assert scene.judging_session().judged == {}
    assert Repeat.objects.count() == 2
    with pytest.raises(Refused, match="nothing to take back"):
        undo(narrative=scene.narrative, by=scene.ada)


def test_withdrawing_the_judgment_keeps_the_repeat(scene):
    number = scene.again()[0]
    first = scene.grade(scene.first_of(number), 2).row
    repeat = scene.grade(number, 0).row

    withdraw(uuid=first.uuid, pair=scene.pair, by=scene.ada)

    assert not Judgment.objects.current().exists()
    assert Repeat.objects.current().get() == repeat


def test_withdrawing_a_repeat_twice_changes_nothing_and_keeps_newer_answers(scene):
    number = scene.again()[0]
    old = scene.grade(number, 1).row
    new = scene.grade(number, 2).row

    warning = withdraw(uuid=old.uuid, pair=scene.pair, by=scene.ada).warning
    assert "a newer answer" in warning
    assert withdraw(uuid=old.uuid, pair=scene.pair, by=scene.ada).warning == ""
    assert Repeat.objects.current().get() == new

    withdraw(uuid=new.uuid, pair=scene.pair, by=scene.ada)
    assert not Repeat.objects.current().exists()


def test_a_repeat_sent_twice_counts_once_and_a_uuid_has_one_use(scene):
    number, other, _ = scene.again()
    uuid = UUID(int=1, version=4)
    scene.grade(number, 1, uuid=uuid, note="So.")

    assert scene.grade(number, 1, uuid=uuid, note="So.").row == Repeat.objects.get()
    for again, relevance in ((number, 2), (other, 1), (scene.first_of(number), 1)):
        with pytest.raises(Refused, match="sent with other content"):
            scene.grade(again, relevance, uuid=uuid, note="So.")
    with pytest.raises(Refused, match="sent with other content"):
        scene.flag(number, Flag.Kind.LATER, uuid=uuid)


def test_a_repeat_must_satisfy_the_same_rules_as_a_judgment(scene):
    condition = scene.narrative.conditions.create(number=1, text="At sea.")
    scene.project.condition_rule = Project.ConditionRule.ALL_MET
    scene.project.save()
    scene = reread(scene)
    number = scene.again()[0]

    with pytest.raises(Refused, match="Answer all conditions"):
        scene.grade(number, 2)
    with pytest.raises(Refused, match="not a grade"):
        scene.grade(number, 7, verdicts={condition.pk: "met"})
    scene.grade(number, 2, verdicts={condition.pk: "met"})

    assert Repeat.objects.get().answers() == {condition.pk: "met"}


def reread(scene: Scene) -> Scene:
    scene.ada = scene.project.memberships.get(name="ada")
    scene.pair = type(scene.pair).objects.get(pk=scene.pair.pk)
    scene.narrative = factories.altered(scene.pair)
    return scene


def test_somebody_elses_number_is_not_found(scene):
    ben = factories.member(scene.project, "ben")
    theirs = judging_session.spot_number(Spot(scene.query.candidates.first().pk), ben)

    assert scene.client.get(scene.url(theirs)).status_code == 404
    with pytest.raises(ObjectNotFound):
        scene.grade(theirs)


def test_a_new_narrative_version_draws_new_repeats(scene):
    number = scene.again()[0]
    scene.grade(number, 1)

    carla = factories.lead(scene.project)
    rewriting.rewrite_narrative(
        pair=scene.pair, text="Only plants far out at sea.", based_on=1, by=carla
    )
    scene = reread(scene)

    assert scene.narrative.version == 2
    assert scene.judging_session().judged == {}
    assert Repeat.objects.current().get().narrative.version == 1


def test_the_database_allows_one_answer_with_either_a_grade_or_a_flag(scene):
    repeat = scene.grade(scene.again()[0], 1).row
    same = {
        "narrative": repeat.narrative,
        "candidate": repeat.candidate,
        "annotator": repeat.annotator,
    }

    with pytest.raises(IntegrityError), transaction.atomic():
        Repeat.objects.create(repeat=True, **same, relevance=2)
    for invalid in ({}, {"relevance": 1, "flag": "later"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Repeat.objects.create(
                repeat=True, **{**same, "annotator": factories.machine(scene.project), **invalid}
            )
        scene.project.memberships.filter(is_machine=True).delete()


# --- the pages ------------------------------------------------------------------------------------


def plain(page: str, document_view: str) -> str:
    """Return a page without the parts that differ between any two documents: numbers, ids, tokens,
    links.
    """
    page = SESSION.sub("", page)
    page = re.sub(r'(csrfmiddlewaretoken|name="uuid") ?"? value="[^"]+"', r"\1", page)
    page = re.sub(r'"[A-Za-z0-9]{64}"', '"TOKEN"', page)
    page = re.sub(r"\d{13}", "NUMBER", page)
    page = re.sub(r'(href="[^"]*NUMBER/"|aria-disabled="true")', "WAY", page)
    return page.replace(f"Body of {document_view}.", "TEXT").replace(f">{document_view}<", ">ID<")


def test_a_repeat_is_rendered_like_a_new_document(scene):
    numbers = scene.judging_session().order
    number = scene.again()[0]
    at = numbers.index(number)
    # Everything before it is judged, the same document included, with note and evidence.
    for before in numbers[:at]:
        scene.grade(before, 2, note="Seen.", evidence=[{"start": 0, "end": 4}])
    fresh = next(n for n in numbers[at:] if n not in scene.again())

    drawn = {}
    for which in (number, fresh):
        doc_id = scene.query.candidates.get(
            pk=unmask(which, scene.ada.pk).candidate
        ).document.doc_id
        page = plain(scene.page(which), doc_id)
        page = re.sub(r'data-position="\d+"', "", page)
        page = re.sub(r'data-label="Document [0-9-]+"', "", page)
        page = re.sub(r'(data-document|id|aria-labelledby)="(document-title-)?\d+"', "", page)
        drawn[which] = re.sub(r"<h2[^>]*>Document [0-9-]+</h2>", "", page)

    assert "Seen." not in drawn[number]
    assert 'data-answer="{}"' in drawn[number]
    assert drawn[number] == drawn[fresh]


def test_the_parts_of_a_big_table_are_at_the_number_of_the_repeat(scene):
    number = scene.again()[0]
    document = scene.query.candidates.get(pk=unmask(number, scene.ada.pk).candidate).document
    table = "|a|b|\n|---|---|\n" + "|x|y|\n" * 1_000
    document.texts.update(text=table, markup="markdown", length=len(table))
    scene.project.documents.update(markup="markdown", length=len(table))
    scene.grade(scene.first_of(number), 1)

    page = scene.page(number)
    window = scene.client.get(scene.url(number, "table"), {"row": 151}).content.decode()

    assert f'data-window="{scene.url(number, "table")}"' in page
    assert f"candidates/{unmask(number, scene.ada.pk).candidate}/" not in page + window
    assert f'href="{scene.url(number)}"' in window
    # The id, which the judge saw with the first answer, would reveal the repeat.
    assert f">{document.doc_id}<" not in window


def test_the_page_of_a_repeat_shows_its_answer(scene):
    number = scene.again()[0]
    scene.grade(scene.first_of(number), 2)
    scene.grade(number, 0, note="Not this time.")

    page = scene.page(number)

    assert "Not this time." in page
    assert re.search(r'id="grade-0"[^>]*aria-pressed="true"', page)
    assert not re.search(r'id="grade-2"[^>]*aria-pressed="true"', page)
    flagged = scene.again()[1]
    scene.flag(flagged, Flag.Kind.CANNOT_JUDGE, "Half of it is missing.")
    assert "Half of it is missing." in scene.page(flagged)


def test_a_url_from_before_the_repeats_redirects_to_the_document(scene):
    candidate = scene.query.candidates.first()

    response = scene.client.get(scene.url(candidate.pk))

    assert response.url == scene.url(judging_session.spot_number(Spot(candidate.pk), scene.ada))


def test_without_script_one_judges_through_the_repeats_to_the_end(scene):
    response = scene.client.get(reverse("annotate:judging", args=[scene.pair.pk]))
    for _ in range(9):
        response = scene.client.post(
            f"{response.url}judgment/", {"narrative": scene.narrative.pk, "relevance": 1}
        )
        response = scene.client.get(response.url)

    assert "Query finished" in response.content.decode()
    assert (Judgment.objects.current().count(), Repeat.objects.current().count()) == (6, 3)
    undone = scene.client.post(reverse("annotate:undo", args=[scene.pair.pk]))
    assert undone.url == scene.url(scene.judging_session().order[-1])


def test_the_journal_saves_a_repeat_by_its_number(scene):
    number = scene.again()[0]
    entry = {
        "uuid": str(UUID(int=5, version=4)),
        "kind": "judgment",
        "user": scene.ada.user_id,
        "pair": scene.pair.pk,
        "narrative": scene.narrative.pk,
        "candidate": number,
        "made_at": "2026-11-21T12:03:07+01:00",
        "relevance": 2,
        "pressed": "key",
        "instead_of": None,
    }
    undo = {**entry, "uuid": str(UUID(int=6, version=4)), "kind": "undo", "undoes": entry["uuid"]}

    def send(one: dict[str, Any]) -> str:
        body = {"entries": [one]}
        answer = scene.client.post("/api/v1/journal/", body, content_type="application/json")
        return str(answer.json()["answers"][0]["state"])

    assert send(entry) == "saved"
    assert Repeat.objects.current().get().relevance == 2
    assert send(entry) == "saved"
    assert Repeat.objects.count() == 1
    assert send(undo) == "saved"
    assert not Repeat.objects.current().exists()
    assert not Judgment.objects.exists()


def test_a_key_press_takes_as_many_queries_as_without_repeats(scene, django_assert_max_num_queries):
    number = scene.again()[0]
    url = scene.url(number, "judgment")
    # Beginning an assignment takes one more statement.
    Assignment.objects.update(touched_at=timezone.now())

    with django_assert_max_num_queries(9):
        scene.client.post(url, {"narrative": scene.narrative.pk, "relevance": 1})

    assert Repeat.objects.current().count() == 1


def test_the_list_has_each_document_once_and_its_rows_can_be_judged(scene):
    page = scene.client.get(reverse("annotate:listing", args=[scene.pair.pk])).content.decode()
    rows = [int(number) for number in re.findall(r'data-row="(\d+)"', page)]

    assert len(rows) == 6
    assert not {unmask(number, scene.ada.pk).again for number in rows} - {False}
    session = json.loads(SESSION.findall(page)[0])
    assert session["order"] == rows
    back = scene.client.post(
        scene.url(rows[0], "judgment"),
        {"narrative": scene.narrative.pk, "relevance": 2, "back": "list"},
    )
    assert back.url.endswith(f"#row-{rows[0]}")
    assert Judgment.objects.get().candidate_id == unmask(rows[0], scene.ada.pk).candidate


def test_home_counts_as_the_judge_page_does(scene):
    scene.grade(scene.judging_session().order[0])
    scene.grade(scene.again()[0])

    (mine,) = my_assignments(scene.ada)

    assert (mine.done, mine.total) == (2, scene.judging_session().total)


def test_a_rejudge_request_comes_first_and_is_not_shown_on_the_repeat(scene):
    for number in scene.judging_session().order:
        row = scene.grade(number, 1).row
        if number == scene.first_of(scene.again()[0]):
            judgment = row
    carla = factories.lead(scene.project)
    rejudge_requests.ask(statement=judgment, words="Read the last page.", by=carla)

    at = scene.judging_session()

    assert at.next() == scene.first_of(scene.again()[0])
    assert "Read the last page." in scene.page(at.next())
    assert "Read the last page." not in scene.page(scene.again()[0])


def test_withdrawing_a_rejudge_request_ends_no_assignment_with_repeats_left(scene):
    carla = factories.lead(scene.project)
    last = scene.again()[-1]
    for number in scene.judging_session().order:
        if number != last:
            scene.grade(number, 1)
    first = Judgment.objects.order_by("pk")[0]
    rejudge_request = rejudge_requests.ask(statement=first, words="Read the last page.", by=carla)

    rejudge_requests.withdraw(rejudge_request=rejudge_request, by=carla)
    assert not scene.assignment_is_done()

    scene.grade(last)
    assert scene.assignment_is_done()
    rejudge_request = rejudge_requests.ask(statement=first, words="Read the last page.", by=carla)
    assert not scene.assignment_is_done()
    rejudge_requests.withdraw(rejudge_request=rejudge_request, by=carla)
    assert scene.assignment_is_done()


def test_only_a_lead_sets_the_percentage_up_to_half(scene):
    grades = [KindGrade(value, f"Grade {value}") for value in (0, 1, 2)]
    carla = factories.lead(scene.project)

    projects.change_rules(changes={"repeat_percent": 25}, grades=grades, by=carla)
    with pytest.raises(Refused):
        projects.change_rules(changes={"repeat_percent": 25}, grades=grades, by=scene.ada)
    assert Project.objects.get(pk=scene.project.pk).repeat_percent == 25
    with pytest.raises(IntegrityError), transaction.atomic():
        Project.objects.update(repeat_percent=51)


@pytest.mark.parametrize("stray", [str(2**39), "9" * 18, "9" * 5000, "٣", "-1", "x"])
def test_an_invalid_number_in_the_url_is_ignored(scene, stray):
    url = reverse("annotate:judging", args=[scene.pair.pk])

    assert scene.client.get(url, {"after": stray}, follow=True).status_code == 200
