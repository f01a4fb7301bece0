"""A load with new versions of narratives: what becomes stale is counted, claims carry over."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from annotate.judgments.machine_claims import count_undecided
from annotate.loading import load_jobs
from annotate.models import Adjudication, InstructionPair, Judgment, Load, Verdict
from annotate.rewriting.actions import go_back
from audit.checks.claims import ClaimSelection, build_frame
from audit.models import Review, Sample
from audit.reviews.criteria import FOLLOWTABLE
from keeping.verify import verify
from tests import factories
from tests.checks.checking import check_label, claimed_scene, draw
from tests.collection.arriving import jsonl, load
from tests.loading.test_load_jobs import work

pytestmark = pytest.mark.both_databases


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file) -> SimpleNamespace:
    """The machine `model` claims A (0), B (1) and C (2) under 301, D, E and F under 302."""
    return claimed_scene()


def answer(*claims: dict[str, Any], version: int = 2, **fields: Any) -> str:
    """Return a generator's answer: the next version of 301, and claims about it."""
    narrative = {"side": "altered", "version": version, "text": f"Version {version}."}
    pair = {"pair_id": "301", "query_id": "301", "category": "C1", "narratives": [narrative]}
    return jsonl(
        {**pair, **fields},
        *({"type": "claim", "pair_id": "301", "rater": "gen-2", **claim} for claim in claims),
    )


def previewed(scene: SimpleNamespace) -> Load:
    """Upload a generator's answer without claims, and return its preview."""
    file = SimpleUploadedFile("answer.jsonl", answer().encode())
    return work(load_jobs.request_load(format_name="pairs-jsonl", file=file, by=scene.carla))


def claims_of(pair_id: str) -> dict[str, int]:
    """Return the claims of all machines under the current version of an instruction."""
    narrative = factories.altered(InstructionPair.objects.get(pair_id=pair_id))
    rows = Judgment.objects.current().filter(annotator__is_machine=True, narrative=narrative)
    return dict(rows.values_list("candidate__document__doc_id", "relevance"))


def test_the_preview_counts_what_a_new_version_makes_stale(scene):
    under, candidate = scene.narratives["C1"], scene.candidates["B"]
    check_label(draw(scene), "B", ada=1, ben=1)
    factories.judgment(under, candidate, scene.dan, 1)
    Adjudication.objects.create(
        narrative=under, candidate=candidate, relevance=2, reason="Read it.", by=scene.carla
    )
    Review.objects.create(
        narrative=under, auditor=scene.ada, rubric=FOLLOWTABLE.name, submitted_at=timezone.now()
    )

    report = load(scene.project, "pairs-jsonl", answer(), dry_run=True)

    assert report.notes == [
        (
            "1 narrative gets another version. Answers under the present one: 1 judgment, "
            "3 claimed labels, 1 settling decision, 1 review, 2 checks of labels. They are kept "
            "with it and become stale: they no longer count, and people are asked again. A lead "
            "can go back to the earlier version"
        ),
        (
            "1 new version has no claimed labels in this file: 3 claimed labels of the version "
            "before can be carried over"
        ),
    ]
    assert report.claims_to_carry == 3
    assert claims_of("301") == {"A": 0, "B": 1, "C": 2}


def test_claims_are_carried_over_only_if_the_lead_chooses(scene):
    load(scene.project, "pairs-jsonl", answer())
    without = claims_of("301")
    report = load(scene.project, "pairs-jsonl", answer(version=3), carry_claims=True)

    # Version 2 has no claims, so version 3 gets none either.
    assert without == claims_of("301") == {}
    assert report.claims_to_carry == 0


def test_carried_claims_are_new_judgments_of_the_same_machine_and_in_the_chain(scene):
    old = scene.narratives["C1"].statements.get(candidate=scene.candidates["B"])
    Judgment.objects.filter(pk=old.pk).update(note="It is at sea.")

    report = load(scene.project, "pairs-jsonl", answer(), carry_claims=True)
    again = load(scene.project, "pairs-jsonl", answer(), carry_claims=True)

    assert "3 claimed labels of the version before carried over to the new one" in report.notes
    assert claims_of("301") == {"A": 0, "B": 1, "C": 2}
    new = Judgment.objects.exclude(pk=old.pk).get(candidate=old.candidate)
    assert (new.annotator, new.note, new.source) == (scene.model, "It is at sea.", "file")
    old.refresh_from_db()
    assert old.ended_at is None
    assert again.notes == []
    assert Judgment.objects.filter(annotator=scene.model).count() == 9


def test_verdicts_are_carried_over_with_conditions_that_did_not_change(scene):
    under = scene.narratives["C1"]
    kept, changed = (
        under.conditions.create(number=number, text=text)
        for number, text in ((1, "At sea."), (2, "Old."))
    )
    claim = under.statements.get(candidate=scene.candidates["B"])
    for condition in (kept, changed):
        Verdict.objects.create(statement=claim, condition=condition, answer="met")
    narrative = {
        "side": "altered",
        "version": 2,
        "text": "Anew.",
        "conditions": ["At sea.", "New."],
    }

    load(scene.project, "pairs-jsonl", answer(narratives=[narrative]), carry_claims=True)

    carried = Verdict.objects.filter(condition__narrative__version=2)
    assert [(one.condition.text, one.answer) for one in carried] == [("At sea.", "met")]


def test_an_answer_with_claims_by_another_machine_needs_no_carrying(scene):
    file = answer({"doc_id": "A", "relevance": 1}, {"doc_id": "B", "relevance": 0})

    report = load(scene.project, "pairs-jsonl", file, carry_claims=True)

    assert report.claims_to_carry == 0
    assert claims_of("301") == {"A": 1, "B": 0}
    frame = build_frame(scene.project, ClaimSelection(Sample.Source.CLAIMS))
    assert {claim.doc_id: claim.relevance for claim in frame.claims} == {
        "A": 1,
        "B": 0,
        "D": 0,
        "E": 1,
        "F": 2,
    }


def test_an_answer_with_two_raters_that_differ_is_announced_before_it_is_loaded(scene):
    file = answer(
        {"doc_id": "A", "relevance": 1},
        {"doc_id": "A", "relevance": 0, "rater": "gen-3"},
        {"doc_id": "B", "relevance": 1},
        {"doc_id": "B", "relevance": 1, "rater": "gen-3"},
    )

    report = load(scene.project, "pairs-jsonl", file, dry_run=True)
    load(scene.project, "pairs-jsonl", file)

    assert (
        "1 label is claimed differently by several machines: once this is loaded, choose whose "
        "claims count, under Checks"
    ) in report.notes
    assert count_undecided(scene.project) == 1


def test_claims_about_a_version_that_a_lead_went_back_to_are_not_about_an_older_one(scene):
    load(scene.project, "pairs-jsonl", answer({"doc_id": "A", "relevance": 1}))
    go_back(narrative=scene.narratives["C1"], by=scene.carla)
    text = scene.narratives["C1"].text
    file = answer(
        {"doc_id": "B", "relevance": 1},
        narratives=[{"side": "altered", "version": 1, "text": text}],
    )

    report = load(scene.project, "pairs-jsonl", file)

    assert not [note for note in report.notes if "an earlier version" in note]


def test_versions_of_another_pair_or_project_make_no_claim_an_older_one(scene):
    elsewhere = factories.pair(factories.query(factories.project("elsewhere"), "9"))
    factories.narrative(elsewhere, text="Any.", version=7)
    second = load(scene.project, "pairs-jsonl", answer({"doc_id": "A", "relevance": 1}))
    file = jsonl(
        {"type": "claim", "pair_id": "302", "rater": "gen-2", "doc_id": "D", "relevance": 1}
    )

    third = load(scene.project, "pairs-jsonl", file)

    notes = second.notes + third.notes
    assert not [note for note in notes if "an earlier version of the narrative" in note]
    assert claims_of("302")["D"] == 1


def test_claims_about_an_older_version_are_kept_there_and_announced(scene):
    load(scene.project, "pairs-jsonl", answer({"doc_id": "A", "relevance": 1}))
    first = scene.narratives["C1"].text
    file = answer(
        {"doc_id": "B", "relevance": 1},
        narratives=[{"side": "altered", "version": 1, "text": first}],
    )

    report = load(scene.project, "pairs-jsonl", file)

    assert (
        "1 claimed label of this file belongs to an earlier version of the narrative (301): it is "
        "kept there and does not count. Claims about the current version are loaded in one "
        "pairs-jsonl file with that version"
    ) in report.notes
    assert claims_of("301") == {"A": 1}


def test_an_answer_for_an_instruction_that_is_taken_out_is_announced(scene):
    InstructionPair.objects.filter(pair_id="301").update(
        removed_at=timezone.now(), removed_by=scene.carla, removed_reason="Off topic."
    )

    report = load(scene.project, "pairs-jsonl", answer({"doc_id": "A", "relevance": 1}))

    assert (
        "1 instruction of this file is taken out (301): the new versions are kept, and count only "
        "once the instruction is brought back"
    ) in report.notes
    assert build_frame(scene.project, ClaimSelection(Sample.Source.CLAIMS)).claims[0].doc_id == "D"


def test_an_answer_that_is_loaded_twice_changes_nothing_and_says_nothing(scene):
    file = answer({"doc_id": "A", "relevance": 1})
    load(scene.project, "pairs-jsonl", file)
    before = Judgment.objects.count()

    report = load(scene.project, "pairs-jsonl", file)

    assert (report.new, report.changed, report.notes) == (0, 0, [])
    assert Judgment.objects.count() == before


def test_a_first_version_makes_nothing_stale(scene):
    file = answer({"pair_id": "309", "doc_id": "A", "relevance": 1}, pair_id="309", version=1)

    assert load(scene.project, "pairs-jsonl", file).notes == []


def test_a_topic_with_another_narrative_counts_what_becomes_stale(scene):
    original = scene.narratives["C1"].pair.narratives.get(side="original")
    factories.judgment(original, scene.candidates["A"], scene.ada, 1)
    topic = (
        "<top>\n<num> Number: 301\n<title> question 301\n<narr> Narrative:\nAnother one.\n</top>\n"
    )

    report = load(scene.project, "trec-topics", topic, dry_run=True)

    assert report.notes == [
        (
            "1 narrative gets another version. Answers under the present one: 1 judgment. They "
            "are kept with it and become stale: they no longer count, and people are asked again. "
            "A lead can go back to the earlier version"
        )
    ]


def test_the_page_offers_to_carry_claims_over_and_does_it(scene, client, storage):
    preview = previewed(scene)
    client.force_login(scene.carla.user)

    shown = client.get(preview.get_absolute_url()).text
    client.post(
        reverse("annotate:load_confirmation", args=[scene.project.slug, preview.pk]),
        {"carry_claims": "yes"},
    )
    work(Load.objects.get(preview=preview))

    assert 'name="carry_claims"' in shown
    assert "Carry 3 claimed" in shown
    assert claims_of("301") == {"A": 0, "B": 1, "C": 2}


def test_a_program_carries_claims_over(scene, client, storage):
    preview = previewed(scene)
    client.force_login(scene.carla.user)

    answered = client.put(
        reverse("annotate:api_confirmation", args=[scene.project.slug, preview.pk]),
        {"carry_claims": True},
        content_type="application/json",
    ).json()
    work(Load.objects.get(preview=preview))

    assert answered["carry_claims"] is True
    assert claims_of("301") == {"A": 0, "B": 1, "C": 2}


def test_carried_claims_are_in_the_hash_chain(scene):
    project = factories.project("chain")
    claim = {"pair_id": "401", "doc_id": "A", "relevance": 1}
    load(project, "pairs-jsonl", answer(claim, version=1, pair_id="401"))

    load(project, "pairs-jsonl", answer(pair_id="401"), carry_claims=True)

    assert claims_of("401") == {"A": 1}
    assert verify(project).faults == []
