"""The manifest has the error rates and agreement of label checks."""

from __future__ import annotations

import pytest

from annotate.models import Judgment
from audit.checks import actions
from audit.checks.claims import ClaimSelection
from audit.models import Sample
from tests.checks.checking import check_label, claimed_scene, draw

pytestmark = pytest.mark.both_databases


@pytest.fixture
def scene(db):
    made = claimed_scene({"C1": {"A": 1, "B": 0, "C": 0}})
    made.project.grades.filter(value=2).delete()
    for candidate in made.candidates.values():
        candidate.prior_relevance = 1
        candidate.save()
    return made


def test_a_manifest_without_samples_says_nothing_of_checks(scene, write):
    assert "label_checks" not in write(scene.project).manifest


def test_the_rates_of_both_questions_and_of_the_grade_are_in_the_manifest(scene, write):
    selection = ClaimSelection(Sample.Source.MACHINE, scene.model, asks=Sample.Asks.QUESTIONS)
    sample = draw(scene, selection=selection, name="Audit")
    for doc_id, topic, constraint in (("A", "yes", "yes"), ("B", "yes", "yes"), ("C", "no", "no")):
        for by in (scene.ada, scene.ben):
            item = sample.items.get(candidate__document__doc_id=doc_id)
            questions = {"topic": topic, "constraint": constraint}
            actions.check(item=item, questions=questions, by=by)

    (found,) = write(scene.project).manifest["label_checks"]

    wrong_counts = {key: (rate["wrong"], rate["checked"]) for key, rate in found["rates"].items()}
    assert wrong_counts == {"topic": (1, 3), "constraint": (1, 3), "status": (1, 3)}
    # Clopper-Pearson interval of 1 in 3; the share is rounded to six digits.
    topic = found["rates"]["topic"]
    assert topic["share"] == 0.333333
    assert [round(bound, 4) for bound in topic["interval"]] == [0.0084, 0.9057]
    assert found["agreement"]["topic"] == {"percent": 1.0, "kappa": 1.0, "labels": 3}
    assert found["wrong"] == [
        {"pair_id": "301", "side": "altered", "doc_id": "B", "claimed": 0, "found": 1}
    ]
    assert "On topic or not was wrong in 1 of 3" in found["says"].replace("\N{NO-BREAK SPACE}", " ")


def test_the_grade_derived_from_the_answers_is_in_the_claimed_qrels(scene, write):
    selection = ClaimSelection(Sample.Source.MACHINE, scene.model, asks=Sample.Asks.QUESTIONS)
    sample = draw(scene, selection=selection, name="Audit")
    for by in (scene.ada, scene.ben):
        item = sample.items.get(candidate__document__doc_id="B")
        actions.check(item=item, questions={"topic": "yes", "constraint": "yes"}, by=by)

    lines = write(scene.project)["qrels.claimed.txt"].splitlines()

    assert lines == ["301 0 A 1", "301 0 B 1", "301 0 C 0"]


def test_documents_never_relevant_before_have_their_rate_in_the_manifest(scene, write):
    for doc_id in "BC":
        scene.candidates[doc_id].prior_relevance = 0
        scene.candidates[doc_id].save()
    sample = draw(
        scene,
        selection=ClaimSelection(Sample.Source.NEVER),
        name="Spot check",
        stratify="none",
        size=2,
    )
    check_label(sample, "B", ada=1, ben=1)
    check_label(sample, "C", ada=0, ben=0)

    (found,) = write(scene.project).manifest["label_checks"]

    assert (found["source"], found["rater"], found["labels"]) == ("never", "", 2)
    assert found["rates"]["status"]["wrong"] == 1
    assert found["rates"]["status"]["interval"] == [0.012579, 0.987421]
    assert found["wrong"] == [
        {"pair_id": "301", "side": "altered", "doc_id": "B", "claimed": 0, "found": 1}
    ]
    says = found["says"].replace("\N{NO-BREAK SPACE}", " ")
    assert "documents that were not relevant before, under the altered narratives" in says


def test_the_record_has_the_claims_the_answers_and_the_reason(scene, write):
    Judgment.objects.filter(candidate=scene.candidates["B"]).update(note="It is about lakes.")
    selection = ClaimSelection(Sample.Source.MACHINE, scene.model, asks=Sample.Asks.QUESTIONS)
    sample = draw(scene, selection=selection, name="Audit", shows_reason=True)
    item = sample.items.get(candidate__document__doc_id="B")
    for by in (scene.ada, scene.ben):
        actions.check(item=item, questions={"topic": "yes", "constraint": "no"}, by=by)
    actions.read_reason(item=item, by=scene.ada)

    files = write(scene.project, "jsonl")

    (line,) = files.records("checks.jsonl")
    assert (line["claimed_topic"], line["claimed_constraint"]) == (True, False)
    assert line["reason"] == "It is about lakes."
    assert [one["questions"] for one in line["checks"]] == [
        {"topic": "yes", "constraint": "no"},
        {"topic": "yes", "constraint": "no"},
    ]
    assert ["reason_read_at" in one for one in line["checks"]] == [True, False]
    assert files.records("samples.jsonl")[0]["shows_reason"] is True
