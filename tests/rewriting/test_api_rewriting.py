"""A program works as a writer: drafts, advice, affected documents, the next version."""

from __future__ import annotations

import pytest

from annotate.judgments import assignments
from annotate.models import Assignment, Draft, Narrative
from tests import factories
from tests.programs import Program


class Scene:
    """A pair whose altered narrative is to be written, and the program of ada, who writes it."""

    def __init__(self):
        self.project = factories.project()
        self.query = factories.query(self.project)
        self.plant = factories.candidate(self.query, "A", title="A tidal plant")
        factories.candidate(self.query, "B", prior=0)
        self.pair = factories.pair(self.query, altered=None)
        self.ada = factories.member(self.project, "ada")
        assignments.take(pair=self.pair, task=Assignment.Task.REWRITE, by=self.ada)
        self.program = Program("ada", "judge")

    def ask(self, what):
        return self.program.get(f"pairs/{self.pair.pk}/{what}")

    def send(self, verb, what, content=None):
        return self.program.send(verb, f"pairs/{self.pair.pk}/{what}", content)


@pytest.fixture
def scene(db):
    return Scene()


def test_a_narrative_is_written_and_a_stale_version_is_refused(scene):
    sent = {"text": "Only plants at sea count.", "conditions": "place: at sea", "based_on": 0}

    made = scene.send("POST", "narratives/", sent)
    slower = scene.send("POST", "narratives/", {**sent, "text": "Something else."})
    listed = scene.ask("narratives/?side=altered").json()["results"]
    read = scene.ask(f"narratives/{made.json()['id']}/").json()

    assert (made.status_code, slower.status_code) == (201, 409)
    assert [(one["version"], one["author"]) for one in listed] == [(1, "ada")]
    assert read["text"] == "Only plants at sea count."
    assert [(one["name"], one["text"]) for one in read["conditions"]] == [("place", "at sea")]


def test_a_draft_is_stored_read_and_discarded(scene):
    sent = {"text": "Only plants", "based_on": 0, "place": "here", "turn": 1, "drops": []}

    stored = scene.send("PUT", "draft/", sent).json()["draft"]
    read = scene.ask("draft/").json()["draft"]
    gone = scene.send("DELETE", "draft/")

    assert stored == read
    assert (stored["text"], stored["place"], stored["turn"]) == ("Only plants", "here", 1)
    assert gone.status_code == 204
    assert scene.ask("draft/").json() == {"draft": None}


def test_overtaken_words_are_kept_and_restored_or_discarded(scene):
    first = {"text": "Only plants", "based_on": 0, "place": "one", "turn": 1}
    scene.send("PUT", "draft/", first)
    scene.send("PUT", "draft/", {**first, "text": "Only ships", "place": "two", "turn": 2})
    (put_by,) = scene.ask("draft/").json()["draft"]["overtaken"]

    taken = scene.send("PUT", f"draft/overtaken/{put_by['id']}/").json()["draft"]
    (other,) = taken["overtaken"]
    thrown = scene.send("DELETE", f"draft/overtaken/{other['id']}/")

    assert (taken["text"], other["text"]) == ("Only plants", "Only ships")
    assert thrown.status_code == 204
    assert Draft.objects.get().overtaken == []


def test_advice_looks_at_what_is_written_and_saves_nothing(scene):
    sent = {"text": "Any plant counts, but not one on land.", "in_texts": True}

    advice = {one["check"]: one["good"] for one in scene.send("POST", "advice/", sent).json()}

    assert advice["negation"] is True
    assert not Draft.objects.exists()
    assert not Narrative.objects.filter(side="altered").exists()


def test_documents_at_stake_were_relevant_and_their_relevance_is_hidden(scene):
    (listed,) = scene.ask("rewrite-impact/?find=tidal").json()["results"]

    assert (listed["candidate"], listed["doc_id"]) == (scene.plant.pk, None)
    assert listed["prior_relevance"] is None
    assert scene.ask("rewrite-impact/?find=wind").json()["results"] == []


@pytest.mark.parametrize(
    ("verb", "what", "content"),
    [
        ("GET", "draft/", None),
        ("GET", "rewrite-impact/", None),
        ("POST", "advice/", {"text": "Only ships."}),
        ("PUT", "draft/", {"text": "Only ships.", "based_on": 0}),
        ("POST", "narratives/", {"text": "Only ships.", "based_on": 0}),
    ],
)
def test_nobody_writes_without_an_assignment(scene, verb, what, content):
    factories.member(scene.project, "ben")

    response = Program("ben", "judge").send(verb, f"pairs/{scene.pair.pk}/{what}", content)

    assert (response.status_code, response.json()["code"]) == (422, "refused")
    assert not Draft.objects.exists()
