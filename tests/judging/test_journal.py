"""Journal entries from the browser: saved once, in order, each entry on its own."""

from __future__ import annotations

import json
import sqlite3
import threading
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from annotate.collection.removal import INSTRUCTIONS
from annotate.guidelines.actions import write_guideline
from annotate.judging import actions as judging
from annotate.judging.api.journal import FAILED, NOT_IN_YOUR_PROJECTS
from annotate.judgments import assignments
from annotate.models import Assignment, Flag, Judgment, Project, Statement, Verdict
from annotate.projects import hash_chain
from tests import factories

pytestmark = pytest.mark.both_databases

JUDGE = Assignment.Task.JUDGE
URL = "/api/v1/journal/"
PRESSED = "2026-11-21T12:03:07.250+01:00"


def uuid(number: int) -> str:
    return str(UUID(int=number, version=4))


class Scene:
    """ada judges, in the browser, two documents that were relevant."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.project = factories.project()
        self.query = factories.query(self.project)
        self.first = factories.candidate(self.query, "A", text="Turbines \U0001f30a in the Severn.")
        self.second = factories.candidate(self.query, "B")
        self.never = factories.candidate(self.query, "C", prior=0)
        self.pair = factories.pair(self.query)
        self.narrative = factories.altered(self.pair)
        self.ada = factories.member(self.project, "ada")
        self.person = factories.user("ada")
        assignments.take(pair=self.pair, task=JUDGE, by=self.ada)
        client.force_login(self.person)

    def entry(self, number: int = 1, **fields: Any) -> dict[str, Any]:
        return {
            "uuid": uuid(number),
            "kind": "judgment",
            "user": self.person.pk,
            "pair": self.pair.pk,
            "narrative": self.narrative.pk,
            "candidate": self.first.pk,
            "made_at": PRESSED,
            "relevance": 1,
            "note": "",
            "evidence": [],
            "clauses": [],
            "verdicts": {},
            "active_ms": 1_500,
            "pressed": "key",
            "instead_of": None,
            **fields,
        }

    def flag(self, number: int = 1, **fields: Any) -> dict[str, Any]:
        return self.entry(number, **{"kind": "flag", "flag": "later", "words": "", **fields})

    def undo(self, number: int, undoes: int, **fields: Any) -> dict[str, Any]:
        return self.entry(number, kind="undo", undoes=uuid(undoes), **fields)

    def post(self, body: Any) -> Any:
        return self.client.post(URL, body, content_type="application/json")

    def send(self, *entries: Any) -> list[dict[str, Any]]:
        response = self.post({"entries": entries})
        assert response.status_code == 200, response.content
        answers: list[dict[str, Any]] = response.json()["answers"]
        return answers

    def state(self, *entries: Any) -> list[tuple[str, str]]:
        return [(answer["state"], answer["sentence"]) for answer in self.send(*entries)]


@pytest.fixture
def scene(db, client) -> Scene:
    return Scene(client)


def nothing_saved() -> bool:
    return not Judgment.objects.exists() and not Flag.objects.exists()


def test_the_route_is_where_the_browser_looks_for_it():
    assert reverse("annotate:api_journal") == URL


def test_a_judgment_is_saved_with_all_that_came_with_it(scene):
    condition = scene.narrative.conditions.create(number=1, text="At sea.")

    (answer,) = scene.send(
        scene.entry(
            relevance=2,
            note="See line 3.\r\nAnd 4.",
            evidence=[{"start": 9, "end": 10}, {"start": 0, "end": 8}],
            clauses=[{"start": 0, "end": 4}],
            verdicts={str(condition.pk): "met"},
        )
    )

    judgment = Judgment.objects.get()
    assert answer == {
        "uuid": uuid(1),
        "state": "saved",
        "at": judgment.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "sentence": "",
        "reopened": False,
    }
    assert (judgment.relevance, judgment.note) == (2, "See line 3.\nAnd 4.")
    assert judgment.evidence == [{"start": 0, "end": 8}, {"start": 9, "end": 10}]
    assert judgment.clauses == [{"start": 0, "end": 4}]
    assert (judgment.pressed, judgment.active_ms) == ("key", 1_500)
    assert judgment.made_at == datetime(2026, 11, 21, 11, 3, 7, 250_000, tzinfo=UTC)
    assert list(Verdict.objects.values_list("condition", "answer")) == [(condition.pk, "met")]


@pytest.mark.parametrize("made_at", ["1969-12-31T23:59:59Z", "9998-01-01T00:00:00Z"])
def test_a_computer_with_a_wrong_clock_loses_nothing(scene, made_at):
    before = timezone.now()

    [answer] = scene.send(scene.entry(made_at=made_at))

    assert answer["state"] == "saved"
    made_at = Judgment.objects.get().made_at
    assert made_at is not None
    assert before <= made_at <= timezone.now()


def test_the_answer_to_an_undo_says_when_the_answer_was_taken_back(scene):
    [saved] = scene.send(scene.entry(1))
    yesterday = timezone.now() - timedelta(days=1)
    Statement.objects.update(at=yesterday)

    [undone] = scene.send(scene.undo(2, 1))
    [again] = scene.send(scene.undo(2, 1))

    assert datetime.fromisoformat(undone["at"]) > datetime.fromisoformat(saved["at"])
    assert again["at"] == undone["at"]


def test_entries_are_saved_in_their_order(scene):
    states = scene.state(
        scene.entry(1, relevance=2),
        scene.flag(2, instead_of=uuid(1)),
        scene.undo(3, 2),
        scene.entry(4, candidate=scene.second.pk, relevance=0),
    )

    assert states == [("saved", "")] * 4
    current = Judgment.objects.current().order_by("candidate")
    assert [judgment.relevance for judgment in current] == [2, 0]
    assert not Flag.objects.current().exists()
    assert scene.ada.assignments.get().done_at is not None


def test_entries_sent_again_are_saved_only_once(scene):
    entries = [
        scene.entry(1, evidence=[{"start": 3, "end": 5}, {"start": 0, "end": 4}]),
        scene.flag(2, candidate=scene.second.pk, flag="problem", words=" Cut off. "),
        scene.undo(3, 1),
    ]
    first = scene.send(*entries)

    again = scene.send(*entries)

    assert again == first
    assert [answer["state"] for answer in again] == ["saved"] * 3
    assert (Judgment.objects.count(), Flag.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    "other",
    [
        {"relevance": 0},
        {"note": "Or so."},
        {"evidence": [{"start": 0, "end": 2}]},
        {"clauses": [{"start": 0, "end": 2}]},
        {"kind": "flag", "flag": "later", "words": ""},
    ],
)
def test_a_uuid_used_for_something_else_is_refused(scene, other):
    scene.send(scene.entry(1))

    ((state, sentence),) = scene.state(scene.entry(1, **other))

    assert state == "refused"
    assert "already sent with other content" in sentence
    assert Judgment.objects.get().relevance == 1
    assert not Flag.objects.exists()


def test_a_uuid_used_by_someone_else_is_refused(scene):
    ben = factories.member(scene.project, "ben")
    factories.judgment(scene.narrative, scene.first, ben, 1, uuid=uuid(1))

    ((state, sentence),) = scene.state(scene.entry(1))

    assert (state, Judgment.objects.count()) == ("refused", 1)
    assert "ben" not in sentence


def test_a_bad_entry_does_not_affect_the_others(scene):
    states = scene.state(
        scene.entry(1, relevance=7),
        "nothing",
        scene.entry(3),
        scene.entry(4, user=scene.person.pk + 1),
    )

    assert [state for state, _ in states] == ["refused", "refused", "saved", "foreign"]
    assert Judgment.objects.get().uuid == UUID(uuid(3))


def test_another_persons_entry_is_not_saved(scene):
    factories.member(scene.project, "ben")

    assert scene.state(scene.entry(user=factories.user("ben").pk)) == [("foreign", "")]
    assert nothing_saved()


def test_an_entry_whose_user_is_a_text_is_another_persons_too(scene):
    factories.member(scene.project, "ben")

    assert scene.state(scene.entry(user=str(factories.user("ben").pk))) == [("foreign", "")]
    assert nothing_saved()


def test_a_field_that_only_an_older_page_sends_is_ignored(scene):
    assert scene.state(scene.entry(1, mood="good")) == [("saved", "")]


def test_a_judgment_of_an_older_narrative_is_saved_under_the_version_that_was_read(scene):
    factories.narrative(scene.pair, text="Only plants in estuaries count.", version=2)

    ((state, sentence),) = scene.state(scene.entry(1))

    assert state == "saved"
    assert "saved under version 1" in sentence
    assert Judgment.objects.get().narrative == scene.narrative
    assert scene.state(scene.entry(1)) == [(state, sentence)]


def test_judgments_of_an_older_version_do_not_end_the_assignment(scene):
    factories.narrative(scene.pair, text="Only plants in estuaries count.", version=2)

    scene.send(scene.entry(1), scene.entry(2, candidate=scene.second.pk))

    assert scene.ada.assignments.get().done_at is None


def test_if_two_tabs_disagree_both_answers_are_kept_and_the_person_is_warned(scene):
    scene.send(scene.entry(1, relevance=0))

    ((state, sentence),) = scene.state(scene.entry(2, relevance=2))

    assert state == "saved"
    assert "in another tab" in sentence
    assert list(Judgment.objects.order_by("pk").values_list("relevance", flat=True)) == [0, 2]
    assert Judgment.objects.current().get().relevance == 2
    assert scene.state(scene.entry(2, relevance=2)) == [(state, sentence)]


def test_if_two_tabs_agree_there_is_no_warning(scene):
    states = scene.state(scene.entry(1, relevance=2), scene.entry(2, relevance=2))

    assert states == [("saved", ""), ("saved", "")]


def test_replacing_an_answer_that_was_seen_gives_no_warning(scene):
    states = scene.state(
        scene.entry(1), scene.flag(2, instead_of=uuid(1)), scene.entry(3, instead_of=uuid(2))
    )

    assert states == [("saved", "")] * 3


def test_an_assignment_given_back_in_the_meantime_is_taken_again(scene):
    assignments.give_back(assignment=scene.ada.assignments.get(), by=scene.ada)

    assert scene.state(scene.entry()) == [("saved", "")]
    assert scene.ada.assignments.get().touched_at is not None


def test_an_entry_is_refused_if_every_assignment_was_taken_in_the_meantime(scene):
    assignments.give_back(assignment=scene.ada.assignments.get(), by=scene.ada)
    for name in ("ben", "dan"):
        assignments.take(pair=scene.pair, task=JUDGE, by=factories.member(scene.project, name))

    ((state, sentence),) = scene.state(scene.entry())

    assert (state, nothing_saved()) == ("refused", True)
    assert "Ask a lead to let one more person do it" in sentence


def test_an_answer_to_a_pair_that_was_taken_out_is_kept_and_the_person_is_told(scene):
    carla = factories.lead(scene.project)
    INSTRUCTIONS.remove(project=scene.project, keys=[scene.pair.pk], reason="Twice.", by=carla)

    assert scene.state(scene.entry()) == [("saved", judging.TAKEN_OUT)]
    page = scene.client.get(reverse("annotate:judging", args=[scene.pair.pk]), follow=True)
    assert page.redirect_chain[-1][0] == reverse("annotate:home")
    assert judging.TAKEN_OUT in page.content.decode()


def test_whoever_answers_beside_older_guidelines_is_told(scene):
    carla = factories.lead(scene.project)
    assert scene.state(scene.entry(1, guidelines=0)) == [("saved", "")]
    write_guideline(text="Read to the end.", based_on=0, by=carla)

    ((state, sentence),) = scene.state(scene.entry(2, guidelines=0, instead_of=uuid(1)))

    assert (state, "The guidelines have a new version" in sentence) == ("saved", True)
    assert scene.state(scene.entry(3, guidelines=1, instead_of=uuid(2))) == [("saved", "")]
    # A page from before an update does not say which version it shows.
    assert scene.state(scene.entry(4, instead_of=uuid(3))) == [("saved", "")]


def test_a_stranger_gets_the_same_answer_as_for_a_missing_pair(scene):
    factories.member(factories.project("other"), "eve")
    eve = factories.user("eve")
    scene.client.force_login(eve)

    theirs = scene.state(scene.entry(user=eve.pk))
    none = scene.state(scene.entry(user=eve.pk, pair=999_999))

    assert theirs == none == [("refused", NOT_IN_YOUR_PROJECTS)]
    assert nothing_saved()


def test_a_member_who_has_left_is_refused(scene):
    scene.ada.left_at = datetime.now(UTC)
    scene.ada.save()

    assert scene.state(scene.entry())[0][0] == "refused"
    assert nothing_saved()


def test_the_response_without_a_session_is_json_and_not_a_redirect(scene):
    scene.client.logout()

    response = scene.post({"entries": [scene.entry()]})

    assert response.status_code in {401, 403}
    assert response.json()["detail"]
    assert nothing_saved()


def test_nothing_is_saved_without_the_token(scene):
    client = Client(enforce_csrf_checks=True)
    client.force_login(scene.person)

    response = client.post(URL, {"entries": [scene.entry()]}, content_type="application/json")

    assert response.status_code == 403
    assert nothing_saved()


MISSING = object()


@pytest.mark.parametrize(
    ("invalid", "sentence"),
    [
        ({"kind": "love"}, "“kind”"),
        ({"kind": MISSING}, "“kind”"),
        ({"kind": ["judgment"]}, "“kind”"),
        ({"uuid": "one"}, "“uuid”"),
        ({"uuid": 1}, "“uuid”"),
        ({"uuid": "00000000-0000-0000-0000-000000000000"}, "“uuid”"),
        ({"user": "ada"}, "“user”"),
        ({"user": True}, "“user”"),
        ({"pair": "one"}, "“pair”"),
        ({"pair": 10**40}, "“pair”"),
        ({"pair": 0}, "“pair”"),
        ({"narrative": None}, "“narrative”"),
        ({"narrative": 2**62}, "not among those"),
        ({"candidate": 1.5}, "“candidate”"),
        ({"candidate": 2**62}, "not among those"),
        ({"made_at": "yesterday"}, "“made_at”"),
        ({"made_at": "2026-11-21T12:03:07"}, "“made_at”"),
        ({"made_at": "0001-01-01T00:00:00+14:00"}, "“made_at”"),
        ({"made_at": "9999-12-31T23:59:59-14:00"}, "“made_at”"),
        ({"relevance": 7}, "7 is not a grade of this project. Its grades are 0, 1, 2."),
        ({"relevance": 10**300}, "not a grade"),
        ({"relevance": "two"}, "“relevance”"),
        ({"relevance": True}, "“relevance”"),
        ({"relevance": MISSING}, "“relevance”"),
        ({"note": "x" * 1_000_000}, "1,000,000 characters"),
        ({"note": "a\0b"}, "control character (U+0000)"),
        ({"note": "a\x07b"}, "control character (U+0007)"),
        ({"note": "half \ud83c"}, "broken character (U+D83C)"),
        ({"note": None}, "“note”"),
        ({"evidence": [{"start": 0, "end": 26}]}, "not within the text, which has 25 characters"),
        ({"evidence": [{"start": 5, "end": 5}]}, "not within the text"),
        ({"evidence": [{"start": -1, "end": 5}]}, "not within the text"),
        ({"evidence": [{"start": 0, "end": 10**30}]}, "not within the text"),
        ({"evidence": [{"start": 0}]}, "“end”"),
        ({"evidence": [[0, 1]]}, "“evidence”"),
        ({"evidence": "0-1"}, "“evidence”"),
        ({"evidence": [{"start": 0, "end": 1}] * 501}, "“evidence”"),
        ({"clauses": [{"start": 0, "end": 26}]}, "not within the text, which has 25 characters"),
        ({"verdicts": {"1": "met"}}, "a condition that this narrative does not have"),
        ({"verdicts": {"one": "met"}}, "“verdicts”"),
        ({"verdicts": {"1": 1}}, "“verdicts”"),
        ({"verdicts": ["met"]}, "“verdicts”"),
        ({"active_ms": -1}, "at most a day"),
        ({"active_ms": 10**30}, "at most a day"),
        ({"active_ms": "five"}, "“active_ms”"),
        ({"pressed": "foot"}, "a key or a click"),
        ({"pressed": "\ud800"}, "a key or a click"),
        ({"instead_of": "that"}, "“instead_of”"),
        ({"kind": "flag"}, "“flag”"),
        ({"kind": "flag", "flag": "maybe"}, "not a kind of flag"),
        ({"kind": "flag", "flag": "problem", "words": "  "}, "Say in a few words why"),
        ({"kind": "flag", "flag": "problem", "words": "\x1b"}, "control character"),
        ({"kind": "flag", "flag": "later", "words": "x" * 10_001}, "10,001 characters"),
        ({"kind": "undo"}, "“undoes”"),
        ({"kind": "undo", "undoes": uuid(9)}, "it was not saved"),
    ],
)
def test_an_invalid_entry_is_refused_with_a_sentence_and_changes_nothing(scene, invalid, sentence):
    entry = {**scene.entry(), **invalid}
    sent = {name: value for name, value in entry.items() if value is not MISSING}

    ((state, message),) = scene.state(sent)

    assert state == "refused"
    assert sentence in message
    assert nothing_saved()


def test_a_document_that_was_not_relevant_is_not_judged_again(scene):
    ((state, sentence),) = scene.state(scene.entry(candidate=scene.never.pk))

    assert (state, nothing_saved()) == ("refused", True)
    assert "not among those to be judged" in sentence


def test_a_passage_of_a_document_without_text_is_refused(scene):
    absent = factories.candidate(scene.query, "D", text=None)

    ((_, sentence),) = scene.state(
        scene.entry(candidate=absent.pk, evidence=[{"start": 0, "end": 1}])
    )

    assert "The text of this document is not available" in sentence


def test_missing_evidence_is_refused(scene):
    scene.project.evidence_rule = Project.EvidenceRule.DOCUMENT
    scene.project.save()

    states = scene.state(
        scene.entry(1, relevance=0),
        scene.entry(2, relevance=0, evidence=[{"start": 0, "end": 8}]),
        scene.entry(3, candidate=scene.second.pk, relevance=2),
    )

    assert states[0][0] == "refused"
    assert "Mark the passage that decided" in states[0][1]
    assert states[1:] == [("saved", ""), ("saved", "")]


class TestConditions:
    """Projects in which relevance follows from verdicts."""

    @pytest.fixture
    def keys(self, scene) -> list[str]:
        scene.project.condition_rule = Project.ConditionRule.ALL_MET
        scene.project.save()
        made = [scene.narrative.conditions.create(number=n, text="So.") for n in (1, 2)]
        return [str(condition.pk) for condition in made]

    def test_every_condition_must_be_answered(self, scene, keys):
        ((state, sentence),) = scene.state(scene.entry(verdicts={keys[0]: "met"}))

        assert (state, nothing_saved()) == ("refused", True)
        assert "Answer all conditions" in sentence

    def test_relevance_follows_from_the_answers(self, scene, keys):
        verdicts = {keys[0]: "met", keys[1]: "not_met"}

        states = scene.state(
            scene.entry(1, verdicts=verdicts, relevance=2),
            scene.entry(2, verdicts=verdicts, relevance=0),
        )

        assert states[0][0] == "refused"
        assert "By its conditions this document is a 0" in states[0][1]
        assert states[1] == ("saved", "")

    def test_a_note_overrides_the_conditions(self, scene, keys):
        verdicts = {keys[0]: "met", keys[1]: "not_met"}

        states = scene.state(scene.entry(verdicts=verdicts, relevance=2, note="Near enough."))

        assert states == [("saved", "")]
        assert Verdict.objects.count() == 2

    def test_the_answer_cant_tell_leaves_the_grade_open(self, scene, keys):
        verdicts = {keys[0]: "met", keys[1]: "cant_tell"}

        assert scene.state(scene.entry(verdicts=verdicts, relevance=1)) == [("saved", "")]

    def test_verdicts_are_part_of_the_content(self, scene, keys):
        both = dict.fromkeys(keys, "met")
        scene.send(scene.entry(verdicts=both, relevance=2))

        again = scene.state(scene.entry(verdicts=both, relevance=2))
        other = scene.state(
            scene.entry(verdicts={**both, keys[0]: "cant_tell"}, relevance=2, note="")
        )

        assert again == [("saved", "")]
        assert other[0][0] == "refused"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("", 400),
        ("entries", 400),
        ("[]", 400),
        ("{}", 400),
        ('{"entries": {}}', 400),
        ('{"entries": [NaN]}', 400),
        ('{"entries": ' + "[" * 100_000, 400),
        ('{"entries": [' + "9" * 5_000 + "]}", 400),
        (b'{"entries": ["\xff"]}', 400),
        ('{"entries": [' + ",".join(["0"] * 101) + "]}", 400),
        (" " * 2_621_441, 413),
    ],
)
def test_a_body_that_is_not_a_list_of_entries_is_refused(scene, body, status):
    response = scene.post(body)

    assert response.status_code == status
    assert response.json()["detail"]


def test_an_empty_list_of_entries_is_accepted(scene):
    assert scene.send() == []


def test_an_entry_at_which_the_server_fails_does_not_hold_back_the_later_ones(
    scene, monkeypatch, caplog
):
    add_link = hash_chain.append

    def fail_for_the_first_document(*args: Any, **fields: Any) -> Any:
        if Judgment.objects.filter(candidate=scene.first).exists():
            raise RuntimeError("a fault of ours")
        return add_link(*args, **fields)

    monkeypatch.setattr("annotate.projects.hash_chain.append", fail_for_the_first_document)

    states = scene.state(scene.entry(1), scene.entry(2, candidate=scene.second.pk))

    assert states == [("refused", FAILED), ("saved", "")]
    assert Judgment.objects.get().uuid == UUID(uuid(2))
    assert "a fault of ours" in caplog.text


def test_a_busy_database_asks_to_send_it_again(scene, monkeypatch):
    def busy(*_: object, **__: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr("annotate.judging.api.journal.record_sent", busy)

    response = scene.post({"entries": [scene.entry()]})

    assert response.status_code == 503
    assert "Nothing is lost" in response.json()["detail"]


def test_a_full_disk_is_distinguished_from_a_busy_database(scene, monkeypatch):
    def full(*_: object, **__: object) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise OperationalError(str(error)) from error

    monkeypatch.setattr("annotate.judging.api.journal.record_sent", full)

    response = scene.post({"entries": [scene.entry()]})

    assert response.status_code == 503
    assert response.json() == {
        "code": "disk_full",
        "detail": "The disk is full. Nothing is lost: send it again later.",
    }


def statements(queries) -> list[str]:
    """Return the SQL statements, except savepoints of the test's own transaction."""
    executed = [query["sql"] for query in queries.captured_queries]
    return [sql for sql in executed if "SAVEPOINT" not in sql]


def test_a_judgment_takes_at_most_eight_statements(scene, django_assert_max_num_queries):
    """Session, account, pair with member, lookup, judgment, link; on PostgreSQL also the lock on
    the assignment.
    """
    # Beginning or ending an assignment takes one more statement.
    Assignment.objects.update(touched_at=timezone.now())

    with django_assert_max_num_queries(10) as queries:
        scene.send(scene.entry(1))

    assert len(statements(queries)) <= 8


def test_replacing_a_judgment_takes_one_more_statement(scene, django_assert_max_num_queries):
    scene.send(scene.entry(1))

    with django_assert_max_num_queries(11) as queries:
        scene.send(scene.entry(2, instead_of=uuid(1)))

    assert len(statements(queries)) <= 9


def test_the_last_judgment_over_a_flag_takes_at_most_ten_statements(
    scene, django_assert_max_num_queries
):
    scene.send(scene.entry(1), scene.flag(2, candidate=scene.second.pk))
    over = scene.entry(3, candidate=scene.second.pk, instead_of=uuid(2))

    with django_assert_max_num_queries(12) as queries:
        scene.send(over)

    assert len(statements(queries)) <= 10
    assert scene.ada.assignments.get().done_at is not None


@pytest.mark.django_db(transaction=True)
def test_two_tabs_at_once_leave_exactly_one_current_judgment(client):
    scene = Scene(client)
    tabs = 8
    start = threading.Barrier(tabs)
    states: list[str] = []
    errors: list[Exception] = []

    def judge(tab: int) -> None:
        try:
            browser = Client()
            browser.force_login(scene.person)
            entries = [
                scene.entry(100 * tab + number, relevance=number % 3)
                if number % 4
                else scene.flag(100 * tab + number)
                for number in range(1, 6)
            ]
            start.wait()
            for _ in range(2):
                response = browser.post(URL, {"entries": entries}, content_type="application/json")
                states.extend(answer["state"] for answer in response.json()["answers"])
        except Exception as error:  # noqa: BLE001 (shown below, in the test's own thread)
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=judge, args=(tab,)) for tab in range(tabs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert states == ["saved"] * (tabs * 10)
    assert Judgment.objects.count() + Flag.objects.count() == tabs * 5
    assert Judgment.objects.current().count() + Flag.objects.current().count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_same_entry_sent_from_many_tabs_at_once_is_saved_once(client):
    scene = Scene(client)
    start = threading.Barrier(8)
    states: list[str] = []

    def judge() -> None:
        try:
            browser = Client()
            browser.force_login(scene.person)
            start.wait()
            body = {"entries": [scene.entry(1)]}
            response = browser.post(URL, body, content_type="application/json")
            states.append(response.json()["answers"][0]["state"])
        finally:
            connection.close()

    threads = [threading.Thread(target=judge) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert states == ["saved"] * 8
    assert Judgment.objects.count() == 1


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(["judgment", "flag", "undo", "later", "met", PRESSED, uuid(1), uuid(2)])
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8) | st.sampled_from(["start", "end", "1"]), inner)
    ),
    max_leaves=8,
)


class AnyJson(TestCase):
    """Any JSON gets an answer, never an error, and entries that are not saved change nothing."""

    def setUp(self) -> None:
        self.scene = Scene(Client())

    @settings(max_examples=200)
    @given(st.data())
    def test_anything_is_answered_and_only_what_is_saved_changes_something(
        self, data: st.DataObject
    ) -> None:
        valid = data.draw(
            st.sampled_from(
                [self.scene.entry(1), self.scene.flag(2), self.scene.undo(3, 1), {"kind": "flag"}]
            )
        )
        broken = data.draw(st.dictionaries(st.sampled_from([*valid]), ANYTHING, max_size=2))
        body = data.draw(
            st.just({"entries": [{**valid, **broken}]}) | st.just({"entries": [valid]}) | ANYTHING
        )

        response = self.scene.post(json.dumps(body))

        assert response.status_code in {200, 400, 413}
        if response.status_code == 200:
            states = [answer["state"] for answer in response.json()["answers"]]
            assert set(states) <= {"saved", "refused", "foreign"}
            assert nothing_saved() == ("saved" not in states)
            refused = [one for one in response.json()["answers"] if one["state"] == "refused"]
            assert all(one["sentence"] for one in refused)
        else:
            assert nothing_saved()


def test_the_page_and_the_journal_share_one_action(scene):
    scene.send(scene.entry(1, relevance=2))

    judging.judge(narrative=scene.narrative, candidate=scene.first, relevance=0, by=scene.ada)

    replaced = Judgment.objects.current().get().replaces
    assert replaced is not None
    assert replaced.uuid == UUID(uuid(1))
