"""Rejudge requests for all judgments and flags that are older than a version of the guidelines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.guidelines import rejudge_requests
from annotate.guidelines.actions import write_guideline
from annotate.guidelines.rejudge_requests import AnswerSelection
from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import Assignment, Guideline, Judgment, RejudgeRequest
from annotate.rewriting import actions as rewriting
from base.errors import Refused, Stale
from tests import factories
from tests.pages import shows

pytestmark = pytest.mark.both_databases

WORDS = "Rivers do not count any more."
JUDGE = Assignment.Task.JUDGE


class Scene:
    """On 301 ada judges A 0, B 1 and ben A 2, B 1; on 302 ada judges C 1; version 1 is written
    after that.
    """

    def __init__(self) -> None:
        self.project = factories.project()
        self.carla = factories.lead(self.project)
        self.ada, self.ben = (factories.member(self.project, name) for name in ("ada", "ben"))
        self.candidates = {}
        self.pairs = {}
        for query_id, documents in (("301", "AB"), ("302", "C")):
            query = factories.query(self.project, query_id)
            for doc_id in documents:
                self.candidates[doc_id] = factories.candidate(query, doc_id)
            self.pairs[query_id] = factories.pair(query)
        for by, grades in ((self.ada, {"A": 0, "B": 1}), (self.ben, {"A": 2, "B": 1})):
            self.judge(by, "301", grades)
        self.judge(self.ada, "302", {"C": 1})
        self.guideline = write_guideline(
            text="Rivers do not count.",
            by=self.carla,
            based_on=0,
            cases=[(factories.altered(self.pairs["301"]).pk, self.candidates["B"].pk)],
        )

    def judge(self, by, query_id, grades):
        assignments.take(pair=self.pairs[query_id], task=JUDGE, by=by)
        for doc_id, relevance in grades.items():
            judging.judge(
                narrative=factories.altered(self.pairs[query_id]),
                candidate=self.candidates[doc_id],
                relevance=relevance,
                by=by,
            )

    def flag(self, by, doc_id, kind):
        """Flag a further document of 302, a day before the version."""
        pair = self.pairs["302"]
        judging.flag(
            narrative=factories.altered(pair),
            candidate=factories.candidate(pair.query, doc_id),
            kind=kind,
            words="Half of it is missing.",
            by=by,
            now=self.guideline.created_at - timedelta(days=1),
        )

    def count(self, which=None) -> tuple[int, int]:
        return rejudge_requests.count_older(self.guideline, which or AnswerSelection())[:2]

    def ask(self, which=None, **more) -> int:
        which = which or AnswerSelection()
        token = rejudge_requests.count_older(self.guideline, which).token
        return rejudge_requests.ask_older(
            guideline=self.guideline,
            selection=which,
            words=WORDS,
            **{"token": token, "by": self.carla, **more},
        )

    def withdraw(self) -> int:
        return rejudge_requests.withdraw_older(guideline=self.guideline, by=self.carla)

    def asked(self) -> list[tuple[str, str]]:
        rows = RejudgeRequest.objects.open().values_list(
            "statement__annotator__name", "statement__candidate__document__doc_id"
        )
        return sorted(rows)

    def done(self) -> list[tuple[str, str]]:
        held = Assignment.objects.filter(task=JUDGE, done_at__isnull=False)
        return sorted(held.values_list("member__name", "pair__pair_id"))

    def query(self, query_id: str) -> int:
        return self.pairs[query_id].query_id

    def url(self) -> str:
        return reverse("annotate:guideline_rejudge_requests", args=["tides", 1])


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file) -> Scene:
    return Scene()


def test_all_older_judgments_are_asked_for_again(scene):
    assert scene.count() == (5, 2)
    assert scene.done() == [("ada", "301"), ("ada", "302"), ("ben", "301")]

    assert scene.ask() == 5

    assert scene.asked() == [
        ("ada", "A"),
        ("ada", "B"),
        ("ada", "C"),
        ("ben", "A"),
        ("ben", "B"),
    ]
    rejudge_request = RejudgeRequest.objects.earliest("pk")
    assert (rejudge_request.words, rejudge_request.by, rejudge_request.guideline) == (
        WORDS,
        scene.carla,
        scene.guideline,
    )
    assert scene.done() == []
    assert not Judgment.objects.exclude(ended_at=None).exists()


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ({"query": "302"}, [("ada", "C")]),
        ({"grade": 2}, [("ben", "A")]),
        ({"differing": True}, [("ada", "A"), ("ben", "A")]),
        ({"cases": True}, [("ada", "B"), ("ben", "B")]),
        ({"grade": 1, "query": "301"}, [("ada", "B"), ("ben", "B")]),
    ],
)
def test_only_the_selected_judgments_are_asked_for(scene, which, expected):
    if "query" in which:
        which["query"] = scene.query(which["query"])

    assert scene.ask(AnswerSelection(**which)) == len(expected)

    assert scene.asked() == expected


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ({}, 6),
        ({"flags": True}, 1),
        # A flag has no grade, so it differs from none.
        ({"differing": True}, 2),
        ({"grade": 1}, 3),
    ],
)
def test_final_flags_from_before_the_version_are_asked_for_again(scene, which, expected):
    scene.flag(scene.ada, "D", "cannot_judge")
    scene.flag(scene.ada, "E", "later")

    assert scene.ask(AnswerSelection(**which)) == expected

    assert (("ada", "D") in scene.asked()) == (which in ({}, {"flags": True}))
    assert ("ada", "E") not in scene.asked()


def test_requests_for_flags_are_withdrawn_with_the_others(scene):
    scene.flag(scene.ada, "D", "problem")
    scene.ask(AnswerSelection(flags=True))

    assert scene.withdraw() == 1

    assert scene.asked() == []


def test_only_the_assignments_concerned_are_reopened(scene):
    scene.ask(AnswerSelection(query=scene.query("302")))

    assert scene.done() == [("ada", "301"), ("ben", "301")]


def test_judgments_after_the_version_are_not_asked_for(scene):
    scene.judge(scene.ada, "302", {"C": 0})

    assert scene.ask() == 4
    assert ("ada", "C") not in scene.asked()


def test_a_judgment_is_not_asked_for_twice(scene):
    scene.ask(AnswerSelection(grade=2))

    assert scene.count() == (4, 2)
    scene.ask()
    with pytest.raises(Refused, match="no answer to ask for"):
        scene.ask()
    assert RejudgeRequest.objects.count() == 5


def test_machines_and_people_who_cannot_answer_are_not_asked(scene):
    narrative = factories.altered(scene.pairs["301"])
    before = scene.guideline.created_at - timedelta(days=1)
    machine = factories.machine(scene.project)
    factories.judgment(narrative, scene.candidates["A"], machine, 1, at=before)
    dan = factories.member(scene.project, "dan")
    factories.judgment(narrative, scene.candidates["A"], dan, 1, at=before)
    scene.ben.left_at = datetime(2126, 1, 1, tzinfo=UTC)
    scene.ben.save()

    found = rejudge_requests.count_older(scene.guideline, AnswerSelection())

    # Two by ben, who left; one by dan, who has no assignment. The machine's is not counted.
    assert (found.answers, found.people, found.unreachable) == (3, 1, 3)


def test_withdrawing_keeps_answered_requests_and_ends_assignments(scene):
    scene.ask()
    scene.judge(scene.ada, "302", {"C": 1})

    assert scene.withdraw() == 4

    assert scene.asked() == []
    assert scene.done() == [("ada", "301"), ("ada", "302"), ("ben", "301")]
    assert rejudge_requests.count_requests(scene.guideline) == (0, 1, 4)
    assert scene.withdraw() == 0


def test_nothing_is_asked_if_somebody_judged_in_the_meantime(scene):
    token = rejudge_requests.count_older(scene.guideline, AnswerSelection()).token
    scene.judge(scene.ada, "302", {"C": 0})

    with pytest.raises(Stale, match="judged in the meantime"):
        scene.ask(token=token)

    assert not RejudgeRequest.objects.exists()


def test_nothing_is_asked_under_an_older_version(scene):
    write_guideline(text="Rivers count.", by=scene.carla, based_on=1)

    with pytest.raises(Stale, match="newer version"):
        scene.ask()

    assert not RejudgeRequest.objects.exists()


def test_an_annotator_cannot_ask(scene):
    with pytest.raises(Refused, match="Only leads"):
        scene.ask(by=scene.ada)
    with pytest.raises(Refused, match="Only leads"):
        rejudge_requests.withdraw_older(guideline=scene.guideline, by=scene.ada)


@pytest.mark.parametrize(
    ("of", "sentence"),
    [
        ("", "5 are older, but their authors have left"),
        ("?query=302", "1 is older, but its author"),
    ],
)
def test_the_page_says_if_nobody_can_be_asked(scene, client, of, sentence):
    scene.project.memberships.exclude(pk=scene.carla.pk).update(left_at=timezone.now())
    client.force_login(scene.carla.user)

    page = client.get(scene.url() + of)

    assert shows(page, sentence)
    assert not shows(page, "No answer is older")


def test_the_page_counts_asks_and_withdraws(scene, client):
    client.force_login(scene.carla.user)
    page = client.get(scene.url() + "?among=differing").content.decode()
    token = rejudge_requests.count_older(scene.guideline, AnswerSelection(differing=True)).token

    answer = client.post(
        scene.url() + "?among=differing", {"words": WORDS, "token": token}, follow=True
    ).content.decode()

    assert shows(page, "2 answers of 2 people will be asked for again.")
    assert shows(page, f'name="token" value="{token}"')
    assert shows(answer, "2 answers are asked for again.")
    assert scene.asked() == [("ada", "A"), ("ben", "A")]
    back = reverse("annotate:guideline_rejudge_requests_withdrawal", args=["tides", 1])
    assert shows(client.post(back, follow=True), "2 answers are no longer asked for.")
    assert scene.asked() == []


def test_the_page_says_so_when_the_count_has_changed_and_counts_again(scene, client):
    client.force_login(scene.carla.user)
    token = rejudge_requests.count_older(scene.guideline, AnswerSelection()).token
    scene.judge(scene.ada, "302", {"C": 0})

    answer = client.post(scene.url(), {"words": WORDS, "token": token})

    assert answer.status_code == 422
    page = answer.content.decode()
    assert shows(page, "People have judged in the meantime")
    assert shows(page, "4 answers of 2 people will be asked for again.")
    assert WORDS in page
    assert not RejudgeRequest.objects.exists()


def test_the_page_reports_an_unknown_query(scene, client):
    client.force_login(scene.carla.user)

    page = client.get(scene.url() + "?query=999").content.decode()

    assert "There is no query 999 in this project." in page
    assert "will be asked for again" not in page


def test_an_older_version_says_where_to_ask(scene, client):
    write_guideline(text="Rivers count.", by=scene.carla, based_on=1)
    client.force_login(scene.carla.user)

    assert "There is a newer version" in client.get(scene.url()).content.decode()


def test_a_missing_version_is_not_found(scene, client):
    client.force_login(scene.carla.user)

    for version in (9, 10**30):
        assert (
            client.get(f"/projects/tides/guidelines/{version}/rejudge-requests/").status_code == 404
        )
    assert Guideline.objects.count() == 1


def test_the_judge_sees_which_version_is_new(scene, client):
    scene.ask()
    client.force_login(scene.ada.user)

    page = client.get(f"/pairs/{scene.pairs['302'].pk}/judging/", follow=True).content.decode()

    assert WORDS in page
    assert "The guidelines have changed: version 1 is new." in page


def test_a_new_narrative_ends_the_rejudge_requests_under_the_last_one(scene):
    requested = scene.ask()
    pair = scene.pairs["301"]
    rewriting.rewrite_narrative(pair=pair, text="Only at sea.", based_on=1, by=scene.carla)

    # Requests for judgments under the first narrative of 301 are no longer open.
    still_open = rejudge_requests.count_requests(scene.guideline)[0]
    assert 0 < still_open < requested
    assert scene.withdraw() == still_open
