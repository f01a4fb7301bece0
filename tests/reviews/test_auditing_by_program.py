"""The API of the second pass follows the same rules and blindness as its pages."""

from __future__ import annotations

import pytest

from annotate.judgments import assignments
from annotate.models import Adjudication, Assignment, RejudgeRequest
from audit.models import AgreementReport, Decision, Reveal, Review
from audit.reviews.criteria import FOLLOWTABLE
from tests import factories
from tests.checks.checking import claimed_scene
from tests.programs import Program
from tests.second_pass import make_scene


@pytest.fixture
def scene(db):
    return make_scene()


def answers(level: str = "excellent", words: str = "") -> list[dict[str, str]]:
    return [{"criterion": key, "level": level, "words": words} for key in FOLLOWTABLE.keys]


# --- reviews --------------------------------------------------------------------------------------


def test_a_review_is_taken_rated_and_handed_in(scene):
    dan = Program("dan", "judge")

    taken = dan.send("POST", "projects/tides/reviews/assignment/").json()
    here = f"pairs/{taken['pair']}/review/"
    read = dan.get(here).json()
    rated = {"narrative": read["narrative"]["id"], "answers": answers()}
    draft = dan.send("PUT", here, rated)
    handed_in = dan.send("POST", f"{here}submission/", {"narrative": read["narrative"]["id"]})

    assert taken["pair_id"] == "301"
    assert [one["key"] for one in read["rubric"]["criteria"]] == list(FOLLOWTABLE.keys)
    assert (read["mine"], read["others"]) == (None, [])
    assert (draft.status_code, handed_in.status_code) == (200, 200)
    assert draft.json()["mine"]["submitted_at"] is None
    assert handed_in.json()["mine"]["submitted_at"] is not None
    assert Review.objects.submitted().get().auditor == scene.dan


def test_a_review_with_something_missing_is_not_taken(assigned):
    dan = Program("dan", "judge")
    narrative = {"narrative": assigned.narrative.pk}
    here = f"pairs/{assigned.pair.pk}/review/"

    nothing = dan.send("POST", f"{here}submission/", narrative)
    dan.send("PUT", here, {**narrative, "answers": answers()[:5]})
    five = dan.send("POST", f"{here}submission/", narrative)

    assert (nothing.status_code, nothing.json()["detail"]) == (
        422,
        "Nothing is rated yet. Rate each criterion, then submit.",
    )
    assert (five.status_code, five.json()["detail"]) == (
        422,
        "Not rated yet: internal consistency.",
    )
    assert not Review.objects.submitted().exists()


def test_other_reviews_appear_without_names_after_ones_own_review(assigned):
    dan, ben = Program("dan", "judge"), Program("ben", "judge")
    narrative = {"narrative": assigned.narrative.pk}
    here = f"pairs/{assigned.pair.pk}/review/"
    for program, level in ((ben, "acceptable"), (dan, "excellent")):
        program.send("PUT", here, {**narrative, "answers": answers(level)})
    ben.send("POST", f"{here}submission/", narrative)

    before, story = dan.get(here).json(), dan.get(f"pairs/{assigned.pair.pk}/story/").json()
    after = dan.send("POST", f"{here}submission/", narrative).json()

    assert before["others"] == []
    assert (story["chapters"][0]["reviews"], story["chapters"][0]["hidden"]) == ([], 1)
    assert [one["auditor"] for one in after["others"]] == ["Auditor 1"]
    assert after["others"][0]["answers"][0]["level"] == "acceptable"


def test_a_lead_decides_and_withdraws_the_decision(assigned):
    for name in ("ben", "dan"):
        program = Program(name, "judge")
        narrative = {"narrative": assigned.narrative.pk}
        here = f"pairs/{assigned.pair.pk}/review/"
        program.send("PUT", here, {**narrative, "answers": answers()})
        program.send("POST", f"{here}submission/", narrative)
    carla = Program("carla", "lead")
    where = f"narratives/{assigned.narrative.pk}/decision/"

    waiting = carla.get("projects/tides/reviews/?state=to-decide").json()["results"]
    made = carla.send("POST", where, {"outcome": "accepted"})
    taken_back = carla.send("DELETE", where)

    assert [one["pair_id"] for one in waiting] == ["301"]
    assert (made.status_code, made.json()["outcome"]) == (201, "accepted")
    assert taken_back.status_code == 204
    assert Decision.objects.get().withdrawn_by == assigned.carla


def test_a_new_rubric_becomes_current_and_an_invalid_one_is_refused(scene):
    carla = Program("carla", "lead")
    rubric = {
        "name": "ours-1",
        "title": "Ours",
        "levels": [
            {"value": "good", "name": "Good"},
            {"value": "bad", "name": "Bad", "rejects": True},
        ],
        "criteria": [{"key": "clear", "name": "Clear", "asks": "Is it clear?"}],
    }

    saved = carla.send("POST", "projects/tides/rubrics/", rubric)
    invalid = carla.send("POST", "projects/tides/rubrics/", {**rubric, "name": "b", "levels": []})
    in_force = carla.get("projects/tides/rubric/").json()
    back = carla.send("PUT", "projects/tides/rubric/", {"name": FOLLOWTABLE.name})

    assert (saved.status_code, invalid.status_code, back.status_code) == (201, 400, 200)
    assert in_force["name"] == "ours-1"
    assert back.json()["name"] == FOLLOWTABLE.name


# --- disagreements --------------------------------------------------------------------------------


def test_a_disagreement_is_found_read_by_pseudonyms_and_settled(disputed):
    carla = Program("carla", "lead")
    (found,) = carla.get("projects/tides/disagreements/").json()["results"]
    where = f"narratives/{found['narrative']}/candidates/{found['candidate']}/"

    read = carla.get(f"{where}disagreement/").json()
    settled = carla.send(
        "POST", f"{where}adjudication/", {"relevance": 0, "cause": "edge", "reason": "A river."}
    )

    assert (found["kind"], found["doc_id"], found["distance"]) == ("judgment", "S1", 2)
    assert read["hidden"]
    assert {one["who"] for one in read["answers"]} == {"Person A", "Person B"}
    assert {one["relevance"]: one["note"] for one in read["answers"]} == {0: "On a river.", 2: ""}
    assert (settled.status_code, settled.json()["by"]) == (201, "carla")
    assert Adjudication.objects.current().get().relevance == 0
    assert carla.get("projects/tides/disagreements/counts/").json()["judgment"] == 0


def test_an_answer_is_adopted_with_its_words(disputed):
    where = f"narratives/{disputed.narrative.pk}/candidates/{disputed.first.pk}/adjudication/"
    carla = Program("carla", "lead")

    made = carla.send("POST", where, {"adopt": disputed.adas.pk, "cause": "edge"})
    both = carla.send("POST", where, {"adopt": 1, "relevance": 1, "cause": "edge"})
    neither = carla.send("POST", where, {"cause": "edge"})

    assert made.json()["relevance"] == 0
    assert made.json()["reason"] == "As one of them said: On a river."
    assert (both.status_code, neither.status_code) == (400, 400)


def test_looking_up_names_is_recorded(disputed):
    carla = Program("carla", "lead")
    where = f"narratives/{disputed.narrative.pk}/candidates/{disputed.first.pk}/"

    looked = carla.send("POST", f"{where}names/")
    read = carla.get(f"{where}disagreement/").json()

    assert looked.status_code == 201
    assert [one["who"] for one in read["answers"] if one["relevance"] == 0] == ["ada"]
    assert [one["by"] for one in read["reveals"]] == ["carla"]
    assert Reveal.objects.get().by == disputed.carla


def test_a_lead_who_owes_a_judgment_cannot_read_the_disagreement(disputed):
    factories.assignment(disputed.pair, disputed.carla)
    carla = Program("carla", "lead")
    where = f"narratives/{disputed.narrative.pk}/candidates/{disputed.first.pk}/disagreement/"

    assert carla.get(where).status_code == 403
    assert carla.get("projects/tides/disagreements/").json()["results"] == []


def test_a_judge_is_asked_to_look_again_once(disputed):
    assignments.take(pair=disputed.pair, task=Assignment.Task.JUDGE, by=disputed.ada)
    carla = Program("carla", "lead")
    where = f"narratives/{disputed.narrative.pk}/candidates/{disputed.first.pk}/rejudge-requests/"
    body = {"answer": disputed.adas.pk, "words": "See the last paragraph."}

    made = carla.send("POST", where, body, **{"Idempotency-Key": "once"})
    again = carla.send("POST", where, body, **{"Idempotency-Key": "once"})
    back = carla.send("DELETE", f"{where}{made.json()['id']}/")

    assert (made.status_code, made.json()["waits"]) == (201, True)
    assert again.json() == made.json()
    assert back.status_code == 204
    assert RejudgeRequest.objects.get().withdrawn_by == disputed.carla


def test_many_are_settled_as_the_preview_counted_or_not_at_all(disputed):
    carla = Program("carla", "lead")
    here = "projects/tides/disagreements/settling/"
    why = {"rule": "grade", "grade": 2, "cause": "edge", "reason": "All count."}

    preview = carla.get(f"{here}?rule=grade&grade=2").json()
    stale = carla.send("POST", here, {**why, "token": "another"})
    made = carla.send("POST", here, {**why, "token": preview["token"]})
    batch = f"projects/tides/settled/{made.json()['batch']}/"
    listed = carla.get(batch).json()["results"]

    assert preview["settled"] == [{"relevance": 2, "count": 1}]
    assert (stale.status_code, stale.json()["code"]) == (409, "stale")
    assert [(one["doc_id"], one["relevance"]) for one in listed] == [("S1", 2)]
    assert carla.send("DELETE", batch).status_code == 204
    assert not Adjudication.objects.current().exists()


def test_programs_cannot_settle_by_person_while_names_are_hidden(disputed):
    carla = Program("carla", "lead")
    ada = disputed.carla.project.memberships.get(name="ada")

    response = carla.get(f"projects/tides/disagreements/settling/?rule=person&person={ada.pk}")

    assert response.status_code == 400
    assert "Names are hidden in this project" in str(response.json()["errors"])


# --- checks ---------------------------------------------------------------------------------------


def test_a_sample_is_drawn_checked_blind_and_settled_by_a_third(db):
    scene = claimed_scene({"C1": {"A": 0}})
    carla = Program("carla", "lead", "judge")
    drawn = {"name": "Spot", "source": "machine", "rater": "model", "size": 1, "seed": 7}

    made = carla.send("POST", "projects/tides/samples/", drawn).json()
    label = Program("ada", "judge").get(f"samples/{made['id']}/next/").json()["label"]
    for name, grade in (("ada", 1), ("ben", 2)):
        answer = Program(name, "judge").send("PUT", f"labels/{label}/check/", {"relevance": grade})
        assert (answer.status_code, answer.json()["claimed"], answer.json()["answers"]) == (
            200,
            None,
            [],
        )
    dan = Program("dan", "judge")
    to_settle = dan.get(f"labels/{label}/").json()
    settled = dan.send("PUT", f"labels/{label}/settling/", {"relevance": 1})
    figures = carla.get(f"samples/{made['id']}/figures/").json()
    rows = carla.get(f"samples/{made['id']}/labels/?show=wrong").json()["results"]

    assert made["items"] == 1
    assert made["drawn"]["rater"] == "model"
    assert [one["relevance"] for one in to_settle["answers"]] == [1, 2]
    assert settled.json()["mine"]["relevance"] == 1
    assert (figures["overall"]["checked"], figures["overall"]["grade"]["count"]) == (1, 1)
    assert [(one["doc_id"], one["claimed"], one["outcome"]) for one in rows] == [("A", 0, 1)]
    assert scene.project.samples.count() == 1


def test_a_lead_does_not_read_one_check_before_both_are_given(db):
    claimed_scene({"C1": {"A": 0}})
    carla = Program("carla", "lead", "judge")
    drawn = {"name": "Spot", "source": "machine", "rater": "model", "size": 1, "seed": 7}
    sample = carla.send("POST", "projects/tides/samples/", drawn).json()["id"]
    (before,) = carla.get(f"samples/{sample}/labels/").json()["results"]
    Program("ada", "judge").send("PUT", f"labels/{before['id']}/check/", {"relevance": 2})

    (one,) = carla.get(f"samples/{sample}/labels/").json()["results"]
    disagreement = carla.get(f"labels/{before['id']}/disagreement/")

    assert (one["answered"], one["first"], one["second"], one["claimed"]) == (1, None, None, None)
    assert disagreement.status_code == 404


@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        ({"source": "machine"}, "/rater"),
        ({"source": "machine", "rater": "ada"}, "/rater"),
        ({"source": "prior", "rater": "model"}, "/rater"),
        ({"source": "prior", "size": 0}, "/size"),
        ({"source": "prior", "created_by": 1}, "/created_by"),
    ],
)
def test_an_invalid_sample_is_refused_with_a_pointer(db, sent, pointer):
    scene = claimed_scene({"C1": {"A": 0}})
    body = {"name": "Spot", "size": 1, "seed": 7, **sent}

    response = Program("carla", "lead").send("POST", "projects/tides/samples/", body)

    assert response.status_code == 400
    assert [one["pointer"] for one in response.json()["errors"]] == [pointer]
    assert not scene.project.samples.exists()


# --- agreement ------------------------------------------------------------------------------------


def test_agreement_is_asked_for_computed_and_read(disputed, published, finish_jobs):
    carla = Program("carla", "lead")

    response = carla.send("POST", "projects/tides/agreement/reports/", {"blind": True})
    finish_jobs()
    where = f"projects/tides/agreement/reports/{response.json()['id']}/"
    report = carla.get(where).json()

    assert (response.status_code, response.json()["state"]) == (201, "queued")
    assert (report["state"], report["part"]) == ("done", "blind judgments only")
    assert report["figures"]["judgments"]["all"]["units"] == 2
    assert AgreementReport.objects.get().scope == "blind=1"


def test_a_lead_who_owes_answers_reads_no_figures(disputed, published, finish_jobs):
    carla = Program("carla", "lead")
    report = carla.send("POST", "projects/tides/agreement/reports/").json()["id"]
    finish_jobs()
    factories.assignment(disputed.pair, disputed.carla)

    listed = carla.get("projects/tides/agreement/reports/").json()["results"]

    assert [one["sha256"] for one in listed] == [""]
    assert carla.get(f"projects/tides/agreement/reports/{report}/").status_code == 403
    assert carla.get("projects/tides/agreement/units/").status_code == 403


@pytest.mark.parametrize(
    ("where", "sent", "pointer"),
    [
        ("reports", {"query": "999"}, "/query"),
        # The field that is wrong is named, not the first one that was sent.
        ("reports", {"side": "altered", "guideline": 9}, "/guideline"),
        ("reports", {"guideline": 0}, "/guideline"),
        ("reports", {"side": "altered", "one": "ada"}, "/other"),
        ("comparisons", {"against": {"side": "altered", "category": "X9"}}, "/against/category"),
    ],
)
def test_an_unknown_part_is_refused_with_a_pointer(disputed, where, sent, pointer):
    response = Program("carla", "lead").send("POST", f"projects/tides/agreement/{where}/", sent)

    assert response.status_code == 400
    assert [fault["pointer"] for fault in response.json()["errors"]] == [pointer]
    assert not AgreementReport.objects.exists()


def test_a_wrong_part_of_a_unit_table_is_refused_with_a_pointer(disputed):
    where = "projects/tides/agreement/units/?side=altered&query=999"
    response = Program("carla", "lead").get(where)

    assert response.status_code == 400
    assert [fault["pointer"] for fault in response.json()["errors"]] == ["?query"]
