"""Labels that machines claim differently: the page, the choice, and what counts after it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.judgments import assignments
from annotate.judgments.machine_claims import contradicted_labels, count_undecided
from annotate.models import AuditEvent, Membership
from audit.checks.claims import ClaimSelection, build_frame
from audit.checks.machines import Effect, choose_machine, describe_labels, effect_of_choosing
from audit.models import Sample
from base.errors import Refused
from exporters.exports import publishing
from exporters.releases.preview import preview
from exporters.releases.project_since_release import changes_since
from tests import factories
from tests.checks.checking import check_label, claimed_scene, draw, original

pytestmark = pytest.mark.both_databases

ALL_MACHINES = ClaimSelection(Sample.Source.CLAIMS)
WARNING = (
    "Machines claim 2 labels differently: what nobody judged or checked would be left out. Choose "
    "whose claims count under Checks."
)


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file) -> SimpleNamespace:
    """Two machines that claim A (0 and 0), B (1 and 0), C (2 and 0); only one claims D, E and F."""
    made = claimed_scene()
    made.second = factories.machine(made.project, "gen-2")
    for doc_id in ("A", "B", "C"):
        factories.judgment(made.narratives["C1"], made.candidates[doc_id], made.second, 0)
    return made


def claimed_by_all(scene: SimpleNamespace) -> dict[str, int]:
    """Return the claims that a sample of all machines can draw."""
    frame = build_frame(scene.project, ALL_MACHINES)
    return {claim.doc_id: claim.relevance for claim in frame.claims}


def chosen(scene: SimpleNamespace) -> list[str]:
    machines = Membership.objects.filter(claims_chosen_at__isnull=False)
    return list(machines.order_by("-claims_chosen_at").values_list("name", flat=True))


def test_a_sample_of_all_machines_takes_what_they_do_not_claim_differently(scene):
    factories.judgment(scene.narratives["C1"], scene.candidates["B"], scene.ada, 2)

    assert claimed_by_all(scene) == {"A": 0, "D": 0, "E": 1, "F": 2}

    choose_machine(machine=scene.second, by=scene.carla)
    assert claimed_by_all(scene) == {"A": 0, "B": 0, "C": 0, "D": 0, "E": 1, "F": 2}

    choose_machine(machine=scene.model, by=scene.carla)
    assert claimed_by_all(scene) == {"A": 0, "B": 1, "C": 2, "D": 0, "E": 1, "F": 2}


def test_a_sample_of_one_machine_takes_all_its_claims(scene):
    frame = build_frame(scene.project, ClaimSelection(Sample.Source.MACHINE, scene.second))

    assert {claim.doc_id for claim in frame.claims} == {"A", "B", "C"}


def test_a_claim_of_a_sample_has_the_reason_of_the_machine_that_counts(scene):
    query, under = scene.narratives["C1"].pair.query, scene.narratives["C1"]
    violating = factories.candidate(query, "G", 2)
    factories.judgment(under, violating, scene.model, 0, note="It is a river.")
    factories.judgment(under, violating, scene.second, 1, note="It fits.")
    choose_machine(machine=scene.model, by=scene.carla)

    sample = draw(scene, selection=ALL_MACHINES, stratify="none", size=7)

    assert sample.items.get(candidate=violating).reason == "It is a river."
    assert set(sample.items.values_list("candidate__document__doc_id", flat=True)) == set("ABCDEFG")


def test_a_sample_of_all_machines_cannot_name_one(scene):
    with pytest.raises(Refused, match="Choose the machine whose judgments are checked"):
        draw(scene, selection=ALL_MACHINES._replace(rater=scene.model))


def test_the_kinds_planned_sample_takes_the_claims_of_all_machines(scene, client):
    scene.project.kind = "followtable"
    scene.project.save()
    client.force_login(scene.carla.user)
    url = reverse("audit:new_sample", args=[scene.project.slug]) + "?planned=0"

    of_two = client.get(url).context["form"]["claims"].value()
    Membership.objects.filter(pk=scene.second.pk).update(is_machine=False)
    of_one = client.get(url).context["form"]["claims"].value()

    assert (of_two, of_one) == ("claims", f"machine-{scene.model.pk}")


def test_undecided_labels_are_counted_until_a_lead_chooses(scene):
    effect = effect_of_choosing(scene.second)
    before = count_undecided(scene.project)
    choose_machine(machine=scene.second, by=scene.carla)

    assert (before, effect) == (2, Effect(labels=2, decided=2, changed=0))
    assert count_undecided(scene.project) == 0
    assert effect_of_choosing(scene.model) == Effect(labels=2, decided=0, changed=2)


def test_an_earlier_choice_counts_where_the_newest_claims_nothing(scene):
    third = factories.machine(scene.project, "gen-3")
    factories.judgment(scene.narratives["S1"], scene.candidates["D"], third, 2)
    choose_machine(machine=scene.second, by=scene.carla)
    only_c1 = count_undecided(scene.project)
    choose_machine(machine=third, by=scene.carla)

    assert only_c1 == 1
    assert count_undecided(scene.project) == 0
    assert claimed_by_all(scene) == {"A": 0, "B": 0, "C": 0, "D": 2, "E": 1, "F": 2}


def test_claims_under_an_older_version_contradict_nothing(scene):
    factories.narrative(scene.narratives["C1"].pair, text="Anew.", version=2)

    assert not contradicted_labels(scene.project).exists()
    assert count_undecided(scene.project) == 0


def test_choosing_is_logged_once_and_twice_changes_nothing(scene):
    choose_machine(machine=scene.second, by=scene.carla)
    choose_machine(machine=scene.second, by=scene.carla)
    choose_machine(machine=scene.model, by=scene.carla)

    logged = AuditEvent.objects.filter(what="claims.chosen").order_by("pk")
    assert [event.changes for event in logged] == [
        {"machine": [None, "gen-2"]},
        {"machine": ["gen-2", "model"]},
    ]
    assert chosen(scene) == ["model", "gen-2"]


def test_only_leads_choose_and_only_machines_of_the_project(scene):
    foreign = factories.machine(scene.eve.project, "foreign")
    for machine, by in (
        (scene.second, scene.ada),
        (scene.second, scene.eve),
        (foreign, scene.carla),
        (scene.ada, scene.carla),
    ):
        with pytest.raises(Refused):
            choose_machine(machine=machine, by=by)

    assert chosen(scene) == []


def test_the_page_shows_both_claims_confirms_and_chooses(scene, client):
    client.force_login(scene.carla.user)
    url = reverse("audit:machines", args=[scene.project.slug])

    listed = client.get(url)
    confirming = client.get(url, {"machine": scene.second.pk})
    before = chosen(scene)
    client.post(url, {"machine": scene.second.pk})

    assert [(one.document, one.claims) for one in listed.context["labels"]] == [
        ("B", [("gen-2", 0), ("model", 1)]),
        ("C", [("gen-2", 0), ("model", 2)]),
    ]
    assert "2 labels claimed differently, 2 undecided" in " ".join(listed.text.split())
    assert "Another machine differs on 2 of its labels" in " ".join(confirming.text.split())
    assert before == []
    assert chosen(scene) == ["gen-2"]
    assert [one.counts for one in client.get(url).context["labels"]] == ["gen-2"] * 2


def test_the_page_says_where_there_is_nothing_to_choose(scene, client):
    client.force_login(scene.carla.user)
    scene.second.statements.all().update(relevance=2)
    scene.model.statements.all().update(relevance=2)
    alike = client.get(reverse("audit:machines", args=[scene.project.slug]))
    factories.lead(factories.project("empty"))
    without = client.get(reverse("audit:machines", args=["empty"]))

    assert "No label is claimed differently" in alike.text
    assert "No machine claims labels" in without.text


@pytest.mark.parametrize("machine", ["", "0", "people", "ada"])
def test_the_page_refuses_whoever_is_not_a_machine_of_the_project(scene, client, machine):
    client.force_login(scene.carla.user)
    given = scene.ada.pk if machine == "ada" else machine

    answer = client.post(reverse("audit:machines", args=[scene.project.slug]), {"machine": given})

    assert answer.status_code == 422
    assert chosen(scene) == []


def test_claims_are_hidden_while_the_lead_judges_the_pair_or_people_check_the_label(scene):
    sample = draw(scene, stratify="none", size=6)
    check_label(sample, "B", ada=1, ben=1)
    [b, c] = describe_labels(scene.carla, list(contradicted_labels(scene.project)))
    scene.project.overlap_judge = 1
    scene.project.save()
    scene.carla.project.refresh_from_db()
    pair = scene.narratives["C1"].pair
    assignments.take(pair=pair, task="judge", by=scene.carla, become_blind=True)
    judged_by_reader = describe_labels(scene.carla, list(contradicted_labels(scene.project)))

    assert (b.claims is None, c.claims) == (False, None)
    assert [one.claims for one in judged_by_reader] == [None, None]


def test_release_and_publication_say_before_that_labels_are_undecided(scene):
    assert WARNING in preview(scene.carla).warnings
    assert WARNING in publishing.preview(scene.project).checks

    choose_machine(machine=scene.second, by=scene.carla)

    assert WARNING not in preview(scene.carla).warnings
    assert WARNING not in publishing.preview(scene.project).checks


def test_the_overview_names_undecided_labels_until_a_lead_chooses(scene, client):
    client.force_login(scene.carla.user)
    overview = reverse("annotate:project", args=[scene.project.slug])
    where = reverse("audit:machines", args=[scene.project.slug])

    before = client.get(overview).context["todo"]
    choose_machine(machine=scene.second, by=scene.carla)
    after = client.get(overview).context["todo"]

    assert [(todo.count, todo.url) for todo in before if todo.url == where] == [(2, where)]
    assert [todo for todo in after if todo.url == where] == []


def test_claims_choices_and_checks_since_a_release_are_counted(scene):
    at = timezone.now()
    assert changes_since(scene.project, at) == []

    factories.judgment(scene.narratives["S1"], scene.candidates["D"], scene.second, 1)
    choose_machine(machine=scene.second, by=scene.carla)
    check_label(draw(scene), "E", ada=1, ben=1)

    assert changes_since(scene.project, at) == [
        "1 claimed label",
        "1 choice of whose claims count",
        "1 checked label",
    ]


def test_the_checks_page_leads_to_the_choice(scene, client):
    client.force_login(scene.carla.user)
    url = reverse("audit:checks", args=[scene.project.slug])
    before = client.get(url).text
    choose_machine(machine=scene.second, by=scene.carla)

    assert "Look at them and choose" in before
    assert "Look at them and choose" not in client.get(url).text


def test_a_program_lists_the_claims_and_chooses(scene, client):
    list_url = reverse("audit:api_machine_claims", args=[scene.project.slug])
    choice_url = reverse("audit:api_machine_choice", args=[scene.project.slug])
    client.force_login(scene.carla.user)
    json = {"content_type": "application/json"}

    [first, second] = client.get(list_url).json()["results"]
    unknown = client.put(choice_url, {"machine": "ada"}, **json)
    answer = client.put(choice_url, {"machine": "gen-2"}, **json)

    assert (first["doc_id"], second["doc_id"], first["counts"]) == ("B", "C", None)
    assert first["claims"] == [
        {"machine": "gen-2", "relevance": 0},
        {"machine": "model", "relevance": 1},
    ]
    assert unknown.status_code == 400
    assert answer.json() == {"labels": 2, "decided": 2, "changed": 0}
    assert [one["counts"] for one in client.get(list_url).json()["results"]] == ["gen-2"] * 2


def test_the_claims_of_modes_other_than_the_instructed_one_are_listed_too(scene):
    under = original(scene.narratives["S1"])
    factories.judgment(under, scene.candidates["D"], scene.model, 2)
    factories.judgment(under, scene.candidates["D"], scene.second, 1)

    listed = describe_labels(scene.carla, list(contradicted_labels(scene.project).order_by("pk")))

    assert [one.side for one in listed] == ["altered", "altered", "original"]


def test_an_audit_that_cannot_be_drawn_names_each_instruction_and_why(scene, client):
    """302 has a newer version without claims, 303 never had one, 301 has one undisputed label."""
    factories.narrative(scene.narratives["S1"].pair, text="Anew.", version=2)
    factories.pair(factories.query(scene.project, "303"))
    client.force_login(scene.carla.user)
    url = reverse("audit:new_sample", args=[scene.project.slug])
    sent = {"name": "Two each", "claims": "claims", "asks": "grade", "stratify": "none"}
    sent |= {"size": "2", "per": "instruction", "seed": "1"}

    refused = client.post(url, {**sent, "preview": "yes"})
    assert not Sample.objects.exists()
    taken = client.post(url, {**sent, "fewer": "on"})

    [(_mode, plan)] = refused.context["plans"]
    assert plan.refused == (
        "Fewer than the 2 asked for: “302” has none (labels were claimed under an earlier version "
        "only), “303” has none (no label is claimed), “301” has 1. Ask for fewer, or take what "
        "there is."
    )
    assert "Take what there is" in refused.text
    sample = Sample.objects.get()
    assert taken.url == reverse("audit:checks", args=[scene.project.slug])
    assert sample.fewer
    assert sample.items.count() == 1
