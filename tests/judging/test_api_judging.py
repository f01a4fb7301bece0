"""A program works as a judge: takes an assignment, reads documents, judges, undoes."""

from __future__ import annotations

from uuid import uuid4

import pytest

from annotate.judgments import assignments
from annotate.models import Assignment, Flag, Judgment, Project, RejudgeRequest
from tests import factories
from tests.programs import Program


class Scene:
    """Three documents of one pair, ben's answers, and ada's program."""

    def __init__(self):
        self.project = factories.project(judge_order="doc_id", order_seed=3)
        self.query = factories.query(self.project)
        self.documents = [
            factories.candidate(self.query, doc_id, text=f"Text of {doc_id}.")
            for doc_id in ("A", "B", "C")
        ]
        self.pair = factories.pair(self.query)
        self.narrative = factories.altered(self.pair)
        self.ada = factories.member(self.project, "ada")
        self.ben = factories.member(self.project, "ben")
        self.program = Program("ada", "judge")

    def at(self, what: str) -> str:
        return f"pairs/{self.pair.pk}/{what}"

    def assignment(self):
        return assignments.take(pair=self.pair, task=Assignment.Task.JUDGE, by=self.ada)

    def judge(self, number: int, relevance: int, **more):
        sent = {
            "uuid": str(uuid4()),
            "narrative": self.narrative.pk,
            "candidate": number,
            "relevance": relevance,
        }
        return self.program.send("POST", self.at("judgments/"), {**sent, **more})


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file):
    return Scene()


def test_a_whole_pair_is_judged_from_assignment_to_end(scene):
    taken = scene.program.send("POST", "projects/tides/assignments/", {"task": "judge"}).json()

    assert taken["assignment"]["pair"] == scene.pair.pk
    numbers = []
    while (number := scene.program.get(scene.at("judging-session/")).json()["next"]) is not None:
        (document_view,) = scene.program.get(
            scene.at(f"document-views/?candidates={number}")
        ).json()
        text = document_view["text"]
        assert scene.judge(number, 2 if text == "Text of B." else 0).status_code == 201
        (answered,) = scene.program.get(scene.at(f"document-views/?candidates={number}")).json()
        numbers.append((document_view["doc_id"], text, answered["doc_id"]))
    assert numbers == [(None, f"Text of {name}.", name) for name in "ABC"]
    judgments = Judgment.objects.order_by("candidate__document__doc_id").values_list("relevance")
    assert [grade for (grade,) in judgments] == [0, 2, 0]
    assert scene.program.get("projects/tides/assignments/").json()["results"] == []
    (assignment,) = scene.program.get("projects/tides/assignments/?open=false").json()["results"]
    assert assignment["done_at"] is not None
    none_left = scene.program.send("POST", "projects/tides/assignments/", {"task": "judge"})
    assert none_left.json() == {"assignment": None}


def test_others_answers_are_not_revealed(scene):
    scene.assignment()
    factories.judgment(scene.narrative, scene.documents[0], scene.ben, 2, note="a telling note")
    Flag.objects.create(
        narrative=scene.narrative,
        candidate=scene.documents[1],
        annotator=scene.ben,
        flag="problem",
        note="a telling note",
    )
    paths = [
        *(scene.at(what) for what in ("judging-session/", "judgments/", "flags/", "")),
        scene.at("document-views/?candidates=" + ",".join(str(one.pk) for one in scene.documents)),
        f"projects/tides/queries/{scene.query.pk}/candidates/",
        f"projects/tides/queries/{scene.query.pk}/",
    ]

    for path in paths:
        response = scene.program.get(path)

        assert response.status_code == 200, path
        assert "telling" not in response.content.decode(), path
        assert '"relevance":2' not in response.content.decode(), path


def test_undo_goes_back_one_at_a_time(scene):
    scene.assignment()
    first, second = scene.documents[0].pk, scene.documents[1].pk
    scene.judge(first, 1)
    scene.judge(second, 2)

    back = [scene.program.send("POST", scene.at("undo/")) for _ in range(3)]

    assert [response.status_code for response in back] == [200, 200, 422]
    assert [response.json()["candidate"] for response in back[:2]] == [second, first]
    assert not Judgment.objects.current().exists()


def test_a_flag_is_put_and_withdrawn(scene):
    scene.assignment()
    number = scene.documents[0].pk
    one = str(uuid4())
    sent = {"uuid": one, "narrative": scene.narrative.pk, "candidate": number, "kind": "problem"}

    wordless = scene.program.send("POST", scene.at("flags/"), sent)
    put = scene.program.send("POST", scene.at("flags/"), {**sent, "words": "Garbled."})
    again = scene.program.send("POST", scene.at("flags/"), {**sent, "words": "Garbled."})
    (listed,) = scene.program.get(scene.at("flags/")).json()["results"]
    gone = scene.program.send("DELETE", scene.at(f"flags/{one}/"))

    assert wordless.status_code == 422
    assert put.json() == again.json() == listed
    assert (listed["candidate"], listed["kind"], listed["words"]) == (number, "problem", "Garbled.")
    assert gone.status_code == 204
    assert not Flag.objects.current().exists()


def test_reading_and_judging_are_refused_without_an_assignment(scene):
    for path in ("judging-session/", f"document-views/?candidates={scene.documents[0].pk}"):
        assert scene.program.get(scene.at(path)).status_code == 422
    assert scene.judge(scene.documents[0].pk, 1).status_code == 422
    assert not Judgment.objects.exists()


def test_an_assignment_is_given_back_while_nothing_was_done_in_it(scene):
    taken = scene.program.send("POST", scene.at("assignments/"), {"task": "judge"}).json()

    back = scene.program.send("DELETE", f"projects/tides/assignments/{taken['id']}/")

    assert back.status_code == 204
    assert not Assignment.objects.exists()


def test_an_assignment_with_work_in_it_stays(scene):
    assignment = scene.assignment()
    scene.judge(scene.documents[0].pk, 1)

    back = scene.program.send("DELETE", f"projects/tides/assignments/{assignment.pk}/")

    assert (back.status_code, Assignment.objects.count()) == (422, 1)


def test_a_document_with_a_rejudge_request_comes_first_with_its_words(scene):
    scene.assignment()
    carla = factories.lead(scene.project)
    for candidate in scene.documents[:2]:
        scene.judge(candidate.pk, 1)
    judgment = Judgment.objects.get(candidate=scene.documents[1])
    RejudgeRequest.objects.create(statement=judgment, by=carla, words="Read the second line.")

    at = scene.program.get(scene.at("judging-session/")).json()
    (document_view,) = scene.program.get(
        scene.at(f"document-views/?candidates={at['next']}")
    ).json()

    assert (at["next"], at["again"]) == (judgment.candidate_id, [judgment.candidate_id])
    assert document_view["again"] == [{"words": "Read the second line.", "open": True}]


def test_a_repeat_has_a_number_like_any_other_document(scene):
    Project.objects.update(repeat_percent=50)
    for number in range(7):
        factories.candidate(scene.query, f"D{number}")
    scene.assignment()

    at = scene.program.get(scene.at("judging-session/")).json()
    for number in at["order"]:
        assert scene.judge(number, 1).status_code == 201

    listed = scene.program.get(scene.at("judging-session/")).json()
    assert len(at["order"]) > 10
    assert {len(str(number)) for number in at["order"]} == {13}
    assert (listed["next"], listed["settled"]) == (None, len(at["order"]))
    assert Judgment.objects.count() == 10


def test_too_many_documents_are_not_sent_at_once(scene):
    scene.assignment()

    wanted = ",".join(["7"] * 21)

    assert scene.program.get(scene.at(f"document-views/?candidates={wanted}")).status_code == 400
    assert scene.program.get(scene.at("document-views/?candidates=x")).status_code == 400
    assert scene.program.get(scene.at("document-views/")).status_code == 400


def test_listing_judgments_takes_a_constant_number_of_queries(scene, django_assert_num_queries):
    scene.assignment()
    program = scene.program
    for candidate in scene.documents:
        factories.judgment(scene.narrative, candidate, scene.ada, 1)
    program.get(scene.at("judgments/"))

    # The token with its person, the pair, the membership, the judgments, their verdicts.
    with django_assert_num_queries(5):
        assert len(program.get(scene.at("judgments/")).json()["results"]) == 3
