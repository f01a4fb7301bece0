"""Intra-annotator agreement: repeats compared with the first judgments."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from annotate.models import Candidate, Project, Repeat
from annotate.pools.removal import DOCUMENTS
from annotate.rewriting import actions as rewriting
from audit.models import AgreementReport
from audit.reports.reliability import agreement_of
from audit.reports.scopes import Scope
from audit.reports.statements_since import count_changes_since
from audit.reports.tables import tables
from tests import factories
from tests.collection.arriving import jsonl, load

pytestmark = pytest.mark.both_databases

# Ada's grades of ten documents, first and again; ben's of two.
ADA = [(0, 0), (0, 0), (0, 0), (1, 1), (1, 1), (1, 1), (2, 2), (1, 2), (2, 1), (0, 1)]
BEN = [(0, 0), (2, 2)]


def twice(scene, by, doc_id, first, again, narrative=None, **fields):
    under = narrative or scene.narrative
    candidate = scene.query.candidates.filter(document__doc_id=doc_id).first()
    candidate = candidate or factories.candidate(scene.query, doc_id)
    judgment = factories.judgment(under, candidate, by, first) if first is not None else None
    return Repeat.objects.create(
        repeat=True,
        narrative=under,
        candidate=candidate,
        annotator=by,
        first=judgment,
        relevance=again,
        **fields,
    )


@pytest.fixture
def repeated(scene):
    for by, answers in ((scene.ada, ADA), (scene.ben, BEN)):
        for number, (first, again) in enumerate(answers):
            twice(scene, by, f"D{number}", first, again)
    return scene


def figures(scene, **more):
    return agreement_of(scene.project, seed=1, resamples=100, **more)


def test_repeats_of_an_older_text_are_left_out_and_counted(repeated):
    for doc_id in ("D0", "D1"):
        line = jsonl({"doc_id": doc_id, "text": "Another text."})
        load(repeated.project, "docs-jsonl", line)

    found = figures(repeated)

    # D0 and D1 were repeated to ada and to ben.
    assert [(one["raters"], one["units"]) for one in found["selves"]["people"]] == [(["ada"], 8)]
    left_out = {one["reason"]: one["count"] for one in found["left_out"]}
    assert left_out["repeats of an older text of the document"] == 4


def test_each_person_is_measured_with_themselves_over_all_pairs(repeated):
    found = figures(repeated)["selves"]

    assert [(one["raters"], one["units"]) for one in found["people"]] == [
        (["ada"], 10),
        (["ben"], 2),
    ]
    ada = found["people"][0]["coefficients"]
    # Ada agrees with herself on seven of ten. First she gives 0 four times, 1 four times, 2 twice;
    # then 0 three times, 1 five times, 2 twice: by chance 12 + 20 + 4 of 100.
    assert ada["percent"]["value"] == pytest.approx(7 / 10)
    assert ada["cohen"]["value"] == pytest.approx((0.70 - 0.36) / (1 - 0.36))
    low, high = ada["alpha_ordinal"]["interval"]
    assert low <= ada["alpha_ordinal"]["value"] <= high
    assert found["people"][0]["table"] == [[3, 1, 0], [0, 3, 1], [0, 1, 1]]
    assert found["all"]["raters"] == ["first", "again"]
    assert found["all"]["coefficients"]["percent"]["value"] == pytest.approx(9 / 12)


def test_repeats_do_not_affect_the_agreement_among_people(repeated):
    before = figures(repeated)["judgments"]

    Repeat.objects.all().delete()

    assert figures(repeated)["judgments"] == before


def test_repeat_is_compared_with_the_judgment_current_at_that_time(scene):
    answers = twice(scene, scene.ada, "D1", 1, 0)
    # She changes her first judgment afterwards, to her second answer.
    answers.first.ended_at = timezone.now()
    answers.first.save()
    factories.judgment(scene.narrative, answers.candidate, scene.ada, 0)

    (ada,) = figures(scene)["selves"]["people"]

    assert ada["coefficients"]["percent"]["value"] == 0


def test_withdrawn_first_judgment_is_replaced_by_the_current_one(scene):
    answers = twice(scene, scene.ada, "D1", 1, 0)
    answers.first.ended_at = answers.first.withdrawn_at = timezone.now()
    answers.first.save()
    assert figures(scene)["selves"]["people"] == []

    factories.judgment(scene.narrative, answers.candidate, scene.ada, 0)

    (ada,) = figures(scene)["selves"]["people"]
    assert ada["coefficients"]["percent"]["value"] == 1


def test_repeat_before_the_first_judgment_is_compared_with_the_later_one(scene):
    answers = twice(scene, scene.ada, "D1", None, 2)
    factories.judgment(scene.narrative, answers.candidate, scene.ada, 2)

    (ada,) = figures(scene)["selves"]["people"]

    assert (ada["units"], ada["coefficients"]["percent"]["value"]) == (1, 1)


def test_repeats_left_out_are_counted_by_reason(scene):
    twice(scene, scene.ada, "D1", 1, None, flag="problem", note="It is cut off.")
    twice(scene, scene.ada, "D2", None, 1)
    gone = twice(scene, scene.ada, "D3", 1, 1)
    gone.ended_at = timezone.now()
    gone.save()
    for doc_id in ("D4", "D5"):
        twice(
            scene,
            scene.ben,
            doc_id,
            1,
            1,
            narrative=factories.narrative(
                scene.pair, side="reversed", version=1 if doc_id == "D4" else 2
            ),
        )

    found = figures(scene)

    left_out = {one["reason"]: one["count"] for one in found["left_out"]}
    assert left_out["repeat flagged instead of judged"] == 1
    assert left_out["repeat of a document without a first judgment"] == 1
    assert left_out["repeat under an older version of the narrative"] == 1
    assert [(one["raters"], one["units"]) for one in found["selves"]["people"]] == [(["ben"], 1)]


def test_new_narrative_version_leaves_repeats_out(repeated):
    rewriting.rewrite_narrative(
        pair=repeated.pair, text="Only far out at sea.", based_on=1, by=repeated.carla
    )

    found = figures(repeated)

    assert found["selves"] == {"all": None, "people": []}
    assert {"reason": "repeats under an older version of the narrative", "count": 12} in (
        found["left_out"]
    )


def test_parts_of_a_project_have_their_own_repeats(repeated):
    def people(**scope):
        found = figures(repeated, scope=Scope(**scope))["selves"]["people"]
        return [(one["raters"], one["units"]) for one in found]

    assert people(query="301") == [(["ada"], 10), (["ben"], 2)]
    assert people(query="302") == []
    assert people(people=("ben", "dan")) == [(["ben"], 2)]
    assert people(blind=True) == []
    assert figures(repeated, by=["pair"])["selves"] == {"all": None, "people": []}


def test_new_repeats_count_as_changes_and_change_the_sum(repeated):
    before = figures(repeated)
    report = AgreementReport(project=repeated.project, figures=before)
    assert not any(count_changes_since(report))

    Repeat.objects.create(
        repeat=True,
        narrative=repeated.narrative,
        candidate=repeated.first,
        annotator=repeated.ada,
        relevance=1,
        first=factories.judgment(repeated.narrative, repeated.second, repeated.ada, 1),
    )

    assert count_changes_since(report).judgments == 2
    assert figures(repeated)["sha256"] != before["sha256"]


def test_flagged_and_superseded_repeats_are_no_changes(repeated):
    report = AgreementReport(project=repeated.project, figures=figures(repeated))
    about = {"repeat": True, "narrative": repeated.narrative, "annotator": repeated.ada}

    Repeat.objects.create(candidate=repeated.first, flag="problem", **about)
    old = Repeat.objects.create(
        candidate=repeated.second, relevance=1, ended_at=timezone.now(), **about
    )
    Repeat.objects.create(candidate=repeated.second, relevance=2, replaces=old, **about)

    assert count_changes_since(report).judgments == 1


def test_removed_grade_stays_on_the_scale(scene):
    twice(scene, scene.ada, "D1", 1, 7)

    (ada,) = figures(scene)["selves"]["people"]

    assert ada["coefficients"]["percent"]["value"] == 0


def test_the_table_and_the_command_have_each_person(repeated):
    (table,) = [one for one in tables(figures(repeated)) if one.key == "selves"]
    assert [line.label for line in table.lines] == ["All people", "ada", "ben"]
    printed = StringIO()

    call_command("agreement", "tides", stdout=printed)

    assert "Each person with themselves" in printed.getvalue()
    assert "  ada: 10 documents" in printed.getvalue()


def test_only_leads_see_intra_annotator_agreement(repeated, client):
    AgreementReport.objects.create(
        project=Project.objects.get(pk=repeated.project.pk),
        state="done",
        started_at=timezone.now(),
        finished_at=timezone.now(),
        figures=figures(repeated),
    )
    client.force_login(repeated.carla.user)
    page = client.get(reverse("audit:agreement", args=["tides"])).content.decode()
    client.force_login(repeated.ada.user)
    refused = client.get(reverse("audit:agreement", args=["tides"]))

    assert "Each person with themselves" in page
    assert refused.status_code == 403


def test_repeats_of_documents_that_were_taken_out_are_left_out_and_counted(repeated):
    keys = [Candidate.objects.get(document__doc_id="D0").pk]
    DOCUMENTS.remove(project=repeated.project, keys=keys, reason="Twin.", by=repeated.carla)

    found = figures(repeated)

    assert [one["units"] for one in found["selves"]["people"]] == [9, 1]
    reason = "repeats of a document that was taken out"
    assert {"reason": reason, "count": 2} in found["left_out"]
