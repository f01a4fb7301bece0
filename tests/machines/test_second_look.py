"""Labels in doubt are given to people who are still blind to them, and count as chosen."""

from __future__ import annotations

import re

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from annotate.models import AuditEvent, Flag, Membership
from annotate.people.members import change_role
from annotate.projects.actions import archive
from audit.checks import actions
from audit.checks.figures import figures
from audit.checks.queue import to_check, to_settle
from audit.machines.blind_answers import Chosen, drawn_samples
from audit.machines.second_look import second_looks, take_second_look
from audit.machines.trust import trust_of
from audit.model_runs.models import Call, Endpoint, ModelRun, Prompt
from audit.models import Sample
from base.errors import Refused
from exporters.exports.manifest.rule_facts import check_facts
from exporters.exports.selection.statements import samples as exported_samples
from tests import factories
from tests.checks.checking import check_label, draw
from tests.machines.conftest import judge

pytestmark = pytest.mark.both_databases

DIFFERING, UNSURE = Sample.Kind.DIFFERING, Sample.Kind.UNSURE


@pytest.fixture
def staffed(judged):
    """Ada and ben differ from the machine by 2 on G, by 1 on B and F and, in the mean, on D, and by
    a half on H. Dan and fay have not judged.
    """
    judge(judged, "G", ada=0, ben=0)
    judge(judged, "H", ada=0, ben=1)
    judged.fay = factories.member(judged.project, "fay")
    return judged


def take(scene, kind=DIFFERING, **choices):
    usual = {"machine": scene.model, "size": 3, "name": "Again", "by": scene.carla}
    return take_second_look(kind=kind, **(usual | choices))


def look_of(scene, kind=DIFFERING):
    return next(look for look in second_looks(scene.model) if look.kind == kind)


def documents(items):
    return [item.candidate.document.doc_id for item in items.order_by("pk")]


def ask_several_times(scene, answers, text_version=1):
    """Write a run of the machine with several answers to documents: `{"A": [0, 1, 0]}`."""
    project, by = scene.project, scene.carla
    endpoint, _made = Endpoint.objects.get_or_create(
        project=project, server="lab", model="small", most_tokens=1_000, by=by
    )
    prompt, _made = Prompt.objects.get_or_create(project=project, version=1, text="?", by=by)
    run = ModelRun.objects.create(
        project=project,
        by=by,
        endpoint=endpoint,
        prompt=prompt,
        machine=scene.model.name,
        draw_seed=1,
        samples=max(map(len, answers.values())),
        most_tokens=1_000,
        state="done",
        finished_at=timezone.now(),
    )
    for doc_id, grades in answers.items():
        for number, grade in enumerate(grades, start=1):
            narrative = scene.narratives["C1" if doc_id in "ABCD" else "S1"]
            Call.objects.create(
                run=run,
                pair=narrative.pair,
                narrative=narrative,
                candidate=scene.candidates[doc_id],
                text_version=text_version,
                sample=number,
                key="0" * 64,
                request={},
                reserved_tokens=1,
                answered_at=timezone.now(),
                value={"grade": grade},
            )


def test_the_documents_on_which_people_and_the_machine_differ_most_come_first(staffed):
    look = look_of(staffed)

    assert [claim.doc_id for claim in look.claims] == ["G", "B", "D", "F", "H"]
    assert look.extent == "5 documents"

    sample = take(staffed)
    assert documents(sample.items) == ["G", "B", "D"]
    assert list(sample.items.order_by("pk").values_list("claimed", "stratum")) == [
        *((2, ""), (1, ""), (2, "")),
    ]
    assert (sample.kind, sample.source, sample.rater, sample.size, sample.frame) == (
        *("differing", "machine", staffed.model, 3, {"": 5}),
    )
    assert (sample.seed, sample.shows_claim) == (None, False)


def test_the_number_is_the_most_that_are_taken(staffed):
    assert documents(take(staffed, size=100).items) == ["G", "B", "D", "F", "H"]


def test_it_is_in_the_audit_log_once(staffed):
    sample = take(staffed)

    (event,) = AuditEvent.objects.filter(what="sample.made")
    assert (event.about, event.name) == (str(sample), "carla")


def test_only_people_who_have_neither_answered_nor_led_get_the_labels(staffed):
    gil = factories.member(staffed.project, "gil")
    change_role(member=gil, role=Membership.Role.LEAD, by=staffed.carla)
    change_role(member=gil, role=Membership.Role.ANNOTATOR, by=staffed.carla)
    sample = take(staffed, size=1)

    for name, expected in (("dan", ["G"]), ("fay", ["G"]), ("ada", []), ("gil", [])):
        assert documents(to_check(staffed.project.memberships.get(name=name))) == expected
    assert documents(to_check(staffed.carla, sample)) == []
    item = sample.items.get()
    for by in (staffed.ada, staffed.carla, gil):
        with pytest.raises(Refused, match="for people who have not answered the document before"):
            actions.check(item=item, relevance=1, by=by)
    actions.check(item=item, relevance=1, by=staffed.dan)


def test_a_flag_and_a_check_in_another_sample_are_answers_too(staffed):
    sample = take(staffed, size=1)
    Flag.objects.create(
        narrative=staffed.narratives["S1"],
        candidate=staffed.candidates["G"],
        annotator=staffed.dan,
        flag=Flag.FlagKind.LATER,
    )
    check_label(draw(staffed, size=4), "G", fay=1)

    assert documents(to_check(staffed.dan, sample)) == []
    assert documents(to_check(staffed.fay, sample)) == []


def test_who_answered_the_document_before_settles_it_only_as_a_lead(staffed):
    sample = take(staffed, size=1)
    check_label(sample, "G", dan=0, fay=2)
    gil = factories.member(staffed.project, "gil")

    assert documents(to_settle(staffed.ada)) == []
    assert documents(to_settle(gil)) == documents(to_settle(staffed.carla)) == ["G"]
    with pytest.raises(Refused, match="have not answered the document before"):
        actions.settle(item=sample.items.get(), relevance=0, by=staffed.ada)
    actions.settle(item=sample.items.get(), relevance=0, by=staffed.carla)
    assert figures(sample).overall.grade.count == 1


def test_other_samples_are_given_to_everybody_as_before(staffed):
    sample = draw(staffed, size=4)

    assert len(documents(to_check(staffed.ada, sample))) == 8
    assert len(documents(to_check(staffed.carla, sample))) == 8


def test_documents_in_a_sample_are_left_out(staffed):
    take(staffed, size=2)

    look = look_of(staffed)
    assert [claim.doc_id for claim in look.claims] == ["D", "F", "H"]
    assert (look.in_samples, look.without_people) == (2, 0)


def test_documents_for_which_fewer_than_two_people_are_left_are_left_out(staffed):
    judge(staffed, "B", dan=2)

    look = look_of(staffed)
    assert [claim.doc_id for claim in look.claims] == ["G", "D", "F", "H"]
    assert (look.in_samples, look.without_people) == (0, 1)


def test_nothing_is_taken_where_nobody_is_left(judged):
    assert look_of(judged).without_people == 3
    with pytest.raises(Refused, match="too few people are left"):
        take(judged)
    assert not Sample.objects.exists()


def test_answers_of_leads_do_not_put_a_document_in_doubt(scene):
    judge(scene, "A", carla=2)

    assert look_of(scene).why_none == "no person who was blind to it differs from it"


def test_a_second_look_counts_as_chosen_in_every_figure(staffed):
    before = trust_of(staffed.model, Chosen.OTHERWISE)
    sample = take(staffed, size=2)

    assert not drawn_samples(staffed.model).exists()
    assert trust_of(staffed.model, Chosen.OTHERWISE) == before
    check_label(sample, "G", dan=0, fay=0)
    check_label(sample, "B", dan=1, fay=1)

    assert trust_of(staffed.model, Chosen.DRAWN).documents == 0
    counted = figures(sample)
    assert (counted.overall.grade.count, counted.overall.grade.of) == (1, 2)
    assert counted.weighted is None
    assert counted.sentence.startswith(
        "Two people each checked 2 labels (judgments of model; those on which people and the "
        "machine differ most, not a random sample)."
    )
    assert "interval" not in counted.sentence.partition("The grade was wrong")[2]
    (facts,) = check_facts(staffed.project)
    assert facts["kind"] == "differing"
    assert facts["rates"]["grade"] | {"interval": None, "at_most": None} == facts["rates"]["grade"]
    assert [sample["kind"] for sample in exported_samples(staffed.project)] == ["differing"]


def test_the_least_sure_labels_come_first_and_each_grade_has_its_turn(staffed):
    ask_several_times(
        staffed,
        {
            # Grade 0: a third of the answers differ from the first, with a spread of 1 and of 2.
            "A": [0, 1, 0],
            "E": [0, 2, 0],
            "H": [0, 0, 0],
            # Grade 1: two thirds, spread 2, and a third, spread 1.
            "B": [1, 2, 0],
            "F": [1, 1, 0],
            # Grade 2: two thirds, spread 2 and 1, and a third, spread 1.
            "C": [2, 0, 0],
            "D": [2, 1, 1],
            "G": [2, 2, 1],
        },
    )

    look = look_of(staffed, UNSURE)

    assert [claim.doc_id for claim in look.claims] == ["B", "C", "D", "E", "A", "F", "G"]
    # The first turn takes B of grade 1, C of 2 and E of 0, the second D of 2, A of 0 and F of 1.
    for size, expected in ((3, "BCE"), (4, "BCDE"), (6, "BCDEAF"), (9, "BCDEAFG")):
        assert "".join(claim.doc_id for claim in look.pick(size)) == expected
    sample = take(staffed, UNSURE)
    assert documents(sample.items) == ["B", "C", "E"]
    assert "on which its own answers differ most, not a random" in sentence_of(sample, "BCE")


def sentence_of(sample, checked):
    for doc_id in checked:
        check_label(sample, doc_id, dan=0, fay=0)
    return figures(sample).sentence


def test_the_newest_run_with_several_answers_to_the_same_text_counts(staffed):
    ask_several_times(staffed, {"A": [0, 1], "B": [1, 0], "C": [2, 2]})
    ask_several_times(staffed, {"A": [0, 0], "C": [2]})
    ask_several_times(staffed, {"D": [2, 0]}, text_version=2)

    assert [claim.doc_id for claim in look_of(staffed, UNSURE).claims] == ["B"]


def test_a_machine_with_one_answer_to_each_document_is_never_unsure(staffed):
    ask_several_times(staffed, {"A": [0], "B": [1]})

    look = look_of(staffed, UNSURE)
    assert look.extent == "it answered each document once"
    with pytest.raises(Refused, match="nothing to look at: it answered each document once"):
        take(staffed, UNSURE)


def test_a_machine_that_always_answers_the_same_is_not_unsure(staffed):
    ask_several_times(staffed, {"A": [0, 0]})

    assert look_of(staffed, UNSURE).extent == "its answers are always the same"


def test_it_is_refused_without_a_name_to_others_and_in_an_archived_project(staffed):
    with pytest.raises(Refused, match="Choose which documents"):
        take(staffed, "random")
    with pytest.raises(Refused, match="Give the sample a name"):
        take(staffed, name=" ")
    with pytest.raises(Refused, match="Only leads"):
        take(staffed, by=staffed.ada)
    take(staffed, size=1)
    with pytest.raises(Refused, match="already exists"):
        take(staffed)
    archive(by=staffed.carla)
    with pytest.raises(Refused, match="archived"):
        take(staffed, name="Other", by=Membership.objects.get(pk=staffed.carla.pk))
    assert Sample.objects.count() == 1


def test_the_database_refuses_a_second_look_without_a_size_or_that_shows_claims(staffed):
    sample = take(staffed)

    for wrong in ({"size": None}, {"seed": 1}, {"shows_claim": True}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Sample.objects.filter(pk=sample.pk).update(**wrong)


@pytest.fixture
def page(staffed, client):
    """The address of the page of the machine; carla, the lead, is signed in."""
    client.force_login(staffed.carla.user)
    return reverse("audit:second_look", args=[staffed.project.slug, staffed.model.pk])


def text(response):
    return " ".join(response.getvalue().decode().split())


def test_the_page_counts_the_documents_and_gives_them_to_people(staffed, client, page):
    shown = text(client.get(page))

    assert "Where people and the machine differ most: 5 documents" in shown
    assert "Where the machine is least sure: it answered each document once" in shown
    (button,) = re.findall(r'<input type="radio" name="kind" value="unsure"[^>]*>', shown)
    assert "disabled" in button

    sent = {"kind": "differing", "size": 2, "name": "Again"}
    response = client.post(page, sent, follow=True)
    assert "People who have not answered these documents check them." in text(response)
    assert "where people and the machine differ most, 2 of 5 documents." in text(response)
    assert "chosen, not drawn" in text(response)
    assert "2 documents in a sample already" in text(client.get(page))


def test_the_page_says_why_there_is_nothing_to_look_at(scene, client):
    client.force_login(scene.carla.user)
    page = reverse("audit:second_look", args=[scene.project.slug, scene.model.pk])

    shown = text(client.get(page))
    assert "There is nothing to look at" in shown
    assert "<form" not in shown.partition("<main")[2].partition("</main")[0]
    response = client.post(page, {"kind": "differing", "size": 2, "name": "Again"})
    assert response.status_code == 422


def test_what_is_sent_wrongly_is_refused_with_a_sentence(staffed, client, page):
    response = client.post(page, {"kind": "unsure", "size": 2, "name": "Again"})

    assert response.status_code == 422
    assert "it answered each document once" in text(response)
    assert client.post(page, {"kind": "random", "size": 0, "name": ""}).status_code == 422
    assert not Sample.objects.exists()


def test_a_program_takes_a_second_look_as_the_page_does(staffed, client, page):
    api = reverse("audit:api_second_look", args=[staffed.project.slug, staffed.model.pk])
    sent = {"kind": "differing", "size": 2, "name": "Again"}

    differing, unsure = client.get(api).json()
    assert differing == {
        "kind": "differing",
        "documents": 5,
        "in_samples": 0,
        "without_people": 0,
        "why_none": "",
    }
    assert (unsure["documents"], unsure["why_none"]) == (0, "it answered each document once")
    made = client.post(api, sent, content_type="application/json")
    assert made.status_code == 201
    assert [look["in_samples"] for look in client.get(api).json()] == [2, 0]
    assert (made.json()["kind"], made.json()["items"]) == ("differing", 2)
    assert (made.json()["to_check"], made.json()["drawn"]["size"]) == (0, 2)
    assert client.post(api, sent, content_type="application/json").status_code == 422
    wrong = client.post(api, {**sent, "kind": "random"}, content_type="application/json")
    assert wrong.status_code == 400


def test_a_lead_who_still_judges_and_others_are_refused(staffed, client, page):
    api = reverse("audit:api_second_look", args=[staffed.project.slug, staffed.model.pk])
    sent = {"kind": "differing", "size": 2, "name": "Again"}
    factories.assignment(staffed.narratives["C1"].pair, staffed.carla)

    for who, status in ((staffed.carla, 403), (staffed.ada, 403), (staffed.eve, 404)):
        client.force_login(who.user)
        assert client.get(page).status_code == status
        assert client.post(page, sent).status_code == status
        assert client.get(api).status_code == status
        assert client.post(api, sent, content_type="application/json").status_code == status
    assert not Sample.objects.exists()


@pytest.mark.parametrize("kind", [DIFFERING, UNSURE])
def test_a_checker_learns_neither_the_kind_nor_the_claim(staffed, client, kind):
    ask_several_times(staffed, {"G": [2, 0]})
    sample = take(staffed, kind, size=1)
    client.force_login(staffed.dan.user)

    shown = text(client.get(reverse("audit:check", args=[sample.items.get().pk])))
    assert "Again" not in shown
    assert f"Sample {sample.pk}" in shown
    assert "second look" not in shown.lower()
    listed = client.get(reverse("audit:api_sample", args=[sample.pk])).json()
    assert (listed["kind"], listed["drawn"], listed["to_check"]) == (None, None, 1)


def test_who_answered_before_is_led_past_the_label(staffed, client):
    item = take(staffed, size=1).items.get()
    client.force_login(staffed.ada.user)

    address = reverse("audit:check", args=[item.pk])
    assert client.get(address).status_code == 302
    assert client.post(address, {"relevance": "1"}).status_code == 302
    assert not item.checks.exists()
    api = reverse("audit:api_label", args=[item.pk])
    assert client.get(api).json()["can_check"] is False
