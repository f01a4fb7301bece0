"""The second pass counts no judgment or check of an older text of a document."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.urls import reverse

from annotate.collection import text_versions
from annotate.models import Adjudication, Candidate, Condition, Document, Judgment, Verdict
from audit.checks import actions
from audit.checks.queue import to_check, with_checks
from audit.models import Check, SampleItem
from audit.reports.reliability import agreement_of
from audit.settling.adjudication import adjudicate, settle_condition
from audit.settling.queue import count_by_kind
from audit.settling.queue_filters import Kind, QueueFilter
from audit.settling.settle_many import Rule, RuleChoice, preview, settle_many
from base.errors import Refused, Stale
from keeping.verify import verify
from tests import factories
from tests.checks.checking import check_label, claimed_scene, draw
from tests.collection.arriving import jsonl, load
from tests.second_pass import make_scene

pytestmark = pytest.mark.both_databases


@pytest.fixture
def scene(db):
    return make_scene()


def change(candidate: Candidate, text: str = "Another text.") -> list[str]:
    """Load a new text for a candidate's document, and return the notes of the load."""
    found = Document.objects.get(pk=candidate.document_id)
    line = jsonl({"doc_id": found.doc_id, "text": text})
    return load(found.project, "docs-jsonl", line).notes


def settle(scene, relevance: int = 1) -> Adjudication:
    return adjudicate(
        narrative=scene.narrative,
        candidate=scene.first,
        relevance=relevance,
        reason="It stands at the mouth.",
        cause="edge",
        by=scene.carla,
    )


def open_judgments(scene) -> int:
    return count_by_kind(scene.carla, QueueFilter())[Kind.JUDGMENT]


def test_judgments_of_an_older_text_are_not_a_disagreement(disputed):
    assert open_judgments(disputed) == 1

    change(disputed.first)

    assert open_judgments(disputed) == 0
    with pytest.raises(Refused, match="Nobody disagrees"):
        settle(disputed)


def test_an_adjudication_belongs_to_the_text_it_was_made_on(disputed):
    first = settle(disputed)
    change(disputed.first)
    for by, relevance in ((disputed.ada, 2), (disputed.ben, 0)):
        factories.judgment(
            disputed.narrative, disputed.first, by, relevance, text_version=2, note="Anew."
        )

    assert open_judgments(disputed) == 1
    second = settle(disputed, 2)

    assert (first.text_version, second.text_version) == (1, 2)
    assert list(Adjudication.objects.current()) == [second]
    assert "adjudication" not in {fault.kind for fault in verify(disputed.project).faults}


def test_a_settled_condition_belongs_to_the_text_it_was_made_on(disputed):
    condition = Condition.objects.create(narrative=disputed.narrative, number=1, text="At sea.")
    for judgment, answer in ((disputed.adas, "met"), (disputed.bens, "not_met")):
        Verdict.objects.create(statement=judgment, condition=condition, answer=answer)
    how = {"reason": "It does.", "cause": "edge", "by": disputed.carla, "answer": "met"}
    settle_condition(condition=condition, candidate=disputed.first, **how)

    notes = change(disputed.first)

    assert "1 settled condition" in notes[0]
    with pytest.raises(Refused, match="Nobody disagrees about this condition"):
        settle_condition(condition=condition, candidate=disputed.first, **how)


def test_agreement_leaves_out_judgments_of_an_older_text_and_counts_them(disputed):
    change(disputed.first)

    after = agreement_of(disputed.project, seed=1, resamples=100)

    left_out = {one["reason"]: one["count"] for one in after["left_out"]}
    assert left_out["judgments of an older text of the document"] == 2


def test_settling_many_is_refused_if_a_new_text_arrives_before_the_locks(disputed, monkeypatch):
    how = RuleChoice(Rule.GRADE, grade=1)
    token = preview(disputed.carla, QueueFilter(), how).token

    def load_then_lock(candidates) -> bool:
        assert list(candidates) == [disputed.first.pk]
        change(disputed.first)
        return True

    monkeypatch.setattr(text_versions, "lock_texts", load_then_lock)

    with pytest.raises(Stale, match="a document got another text"):
        settle_many(
            filters=QueueFilter(),
            choice=how,
            cause="edge",
            reason="It stands at the mouth.",
            token=token,
            by=disputed.carla,
        )
    assert not Adjudication.objects.exists()


def test_texts_are_locked_until_the_end_of_the_transaction_on_postgresql(
    disputed, django_assert_num_queries
):
    with django_assert_num_queries(2 if connection.vendor == "postgresql" else 0) as queries:
        held = text_versions.lock_texts([disputed.first.pk])

    assert held == (connection.vendor == "postgresql")
    assert all("FOR NO KEY UPDATE" in one["sql"] for one in queries.captured_queries[1:])


@pytest.fixture
def checked(db):
    """Ada and ben have checked a machine's claim on A."""
    scene = claimed_scene()
    scene.sample = draw(scene)
    check_label(scene.sample, "A", ada=1, ben=1)
    scene.item = scene.sample.items.get(candidate__document__doc_id="A")
    return scene


def outcome(scene) -> int | None:
    item: Any = with_checks(SampleItem.objects.all()).get(pk=scene.item.pk)
    found: int | None = item.outcome
    return found


def test_a_new_text_reopens_a_checked_label(checked):
    assert outcome(checked) == 1

    notes = change(checked.candidates["A"])

    assert "2 checks" in notes[0]
    assert outcome(checked) is None
    assert to_check(checked.ada, checked.sample).filter(pk=checked.item.pk).exists()
    actions.check(item=checked.item, relevance=0, by=checked.ada)
    actions.check(item=checked.item, relevance=0, by=checked.ben)
    assert outcome(checked) == 0
    assert sorted(Check.objects.values_list("relevance", "text_version")) == [
        *((0, 2), (0, 2), (1, 1), (1, 1)),
    ]
    faults = verify(checked.project).faults
    assert [fault for fault in faults if fault.kind == "check"] == []


def test_a_check_of_a_replaced_text_is_refused(checked, client):
    change(checked.candidates["B"])
    item = checked.sample.items.get(candidate__document__doc_id="B")
    client.force_login(checked.ada.user)
    url = reverse("audit:check", args=[item.pk])
    assert b'name="text_version" value="2"' in client.get(url).content

    response = client.post(url, {"relevance": 1, "text_version": 1})

    assert response.status_code == 422
    assert b"The document got another text while you were reading." in response.content
    with pytest.raises(Stale):
        actions.check(item=item, relevance=1, by=checked.ada, text=1)
    assert not Check.objects.filter(item=item).exists()


def test_stale_claims_of_a_machine_are_not_drawn(checked):
    change(checked.candidates["A"])

    assert Judgment.objects.current().filter(annotator=checked.model).count() == 5
    assert sum(draw(checked, name="Again", size=1).frame.values()) == 5
