"""Labels are checked in modes: original, instructed and reversed, each in its own sample."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse

from annotate.judgments.pair_rules import Rule
from annotate.judgments.rule_report import rule_report
from annotate.models import Narrative, Run, RunLine
from audit.checks import actions, samples
from audit.checks.claims import ClaimSelection
from audit.checks.suspects import find_suspects
from audit.models import Sample
from audit.reports.rule_standings import rule_standings
from base.errors import Refused
from tests import factories
from tests.checks.checking import check_label
from tests.programs import Program

pytestmark = pytest.mark.django_db

MODES = ("original", "altered", "reversed")


class Scene:
    """Query 301 with two relevant documents: by instruction only G is, reversed only N."""

    def __init__(self) -> None:
        self.project = factories.project(
            kind="infosearch", judge_scope="pool", grades=(0, 1), overlap_judge=0
        )
        self.carla = factories.lead(self.project)
        for name in ("ada", "ben", "dan"):
            factories.member(self.project, name)
        self.machine = factories.machine(self.project)
        query = factories.query(self.project, "301")
        self.pair = factories.pair(query, original="")
        self.altered = factories.altered(self.pair)
        self.turned = factories.narrative(self.pair, Narrative.Side.REVERSED, "Not at sea.")
        self.gold = factories.candidate(query, "G", prior=1, text="Of the sea.")
        self.other = factories.candidate(query, "N", prior=1, text="Of land.")
        for candidate, instructed, turned in ((self.gold, 1, 0), (self.other, 0, 1)):
            factories.judgment(self.altered, candidate, self.machine, instructed)
            factories.judgment(self.turned, candidate, self.machine, turned)

    def passes(self, modes=MODES) -> list[Sample]:
        choices: dict[str, Any] = {
            "stratify": "none",
            "per": "stratum",
            "size": 2,
            "seed": 1,
            "by": self.carla,
        }
        selection = ClaimSelection(Sample.Source.MACHINE, self.machine)
        return samples.make_in_modes(
            partial(samples.draw_sample, **choices),
            name="Gold",
            project=self.project,
            selections=samples.selections_in_modes(self.project, selection, modes),
        )

    def rule_state(self) -> str:
        [one] = rule_standings(rule_report(self.carla))
        return one.state.value


@pytest.fixture
def tides():
    return Scene()


def drawn(sample):
    return sorted(
        sample.items.values_list("candidate__document__doc_id", "narrative__side", "claimed")
    )


def test_each_mode_is_a_sample_with_the_narrative_and_the_claims_of_that_mode(tides):
    original, instructed, turned = tides.passes()

    assert [one.name for one in (original, instructed, turned)] == [
        "Gold (original)",
        "Gold (instructed)",
        "Gold (reversed)",
    ]
    assert drawn(original) == [("G", "original", 1), ("N", "original", 1)]
    assert drawn(instructed) == [("G", "altered", 1), ("N", "altered", 0)]
    assert drawn(turned) == [("G", "reversed", 0), ("N", "reversed", 1)]


def test_the_original_mode_takes_claims_from_earlier_qrels(tides):
    [original] = tides.passes(["original"])

    assert (original.source, original.rater, original.side) == ("prior", None, "original")


def test_the_same_seed_draws_the_same_documents_in_each_mode(tides):
    for number in range(20):
        extra = factories.candidate(tides.pair.query, f"E{number}", prior=0)
        factories.judgment(tides.altered, extra, tides.machine, 0)
        factories.judgment(tides.turned, extra, tides.machine, 0)

    of_mode = [{doc_id for doc_id, _side, _claimed in drawn(sample)} for sample in tides.passes()]

    assert of_mode[0] == of_mode[1] == of_mode[2]
    assert len(of_mode[0]) == 2


def test_modes_without_claims_are_refused(tides):
    tides.machine.statements.filter(narrative=tides.turned).update(ended_at=tides.machine.joined_at)

    with pytest.raises(Refused, match=r"Nothing is claimed in these modes\."):
        tides.passes(["reversed"])


@pytest.mark.parametrize(
    ("mode", "found"),
    # The mode in which two people check G, and the grade they find; the claims are 1, 1 and 0.
    [("original", 0), ("altered", 0), ("reversed", 1)],
)
def test_checks_in_any_mode_decide_the_rule_on_gold_documents(tides, mode, found):
    assert tides.rule_state() == "holds"
    [sample] = tides.passes([mode])

    check_label(sample, "G", ada=found)
    assert tides.rule_state() == "holds"

    check_second(sample, found)

    assert tides.rule_state() == "broken"
    [broken] = rule_report(tides.carla).pairs
    assert broken.breaking_candidates(Rule.GOLD) == [tides.gold.pk]


def check_second(sample, found):
    item = sample.items.get(candidate__document__doc_id="G")
    by = sample.project.memberships.get(name="ben")
    actions.check(item=item, relevance=found, by=by)


def add_run(scene, name, side, *ranking):
    run = Run.objects.create(project=scene.project, name=name, sha256="0" * 64, side=side)
    pair = None if side == "original" else scene.pair
    for rank, candidate in enumerate(ranking, 1):
        RunLine.objects.create(
            run=run,
            query=scene.pair.query,
            pair=pair,
            document=candidate.document,
            rank=rank,
            score=-rank,
        )
    return run


def test_suspects_of_a_mode_are_missed_by_the_runs_of_that_mode(tides):
    runs = [
        add_run(tides, "a", "original", tides.gold, tides.other),
        add_run(tides, "b", "altered", tides.other, tides.gold),
        add_run(tides, "c", "reversed", tides.gold, tides.other),
    ]
    selection = ClaimSelection(Sample.Source.MACHINE, tides.machine)

    def missed(side, source=Sample.Source.MACHINE):
        of_mode = selection._replace(
            side=side, source=source, rater=tides.machine if source == "machine" else None
        )
        found = find_suspects(tides.project, of_mode, runs=runs, depth=1, at_least=1)
        return [(one.claim.doc_id, one.missed, one.of) for one in found.suspects]

    assert missed("original", Sample.Source.PRIOR) == [("N", 1, 1)]
    assert missed("altered") == [("G", 1, 1)]
    assert missed("reversed") == [("N", 1, 1)]


def test_the_page_draws_a_sample_for_each_ticked_mode(tides, client):
    client.force_login(tides.carla.user)
    form_data = {
        "name": "Gold",
        "claims": f"machine-{tides.machine.pk}",
        "modes": ["original", "altered", "reversed"],
        "asks": "grade",
        "stratify": "none",
        "size": 1,
        "per": "stratum",
        "seed": 1,
    }
    url = reverse("audit:new_sample", args=[tides.project.slug])

    shown = client.post(url, {**form_data, "preview": "yes"}).content.decode()
    made = client.post(url, form_data)

    assert [shown.count(f"<h3>{mode}</h3>") for mode in ("Original", "Instructed", "Reversed")] == [
        1,
        1,
        1,
    ]
    assert made.status_code == 302
    assert list(Sample.objects.order_by("pk").values_list("side", flat=True)) == list(MODES)


def test_checkers_see_the_mode_and_its_narrative(tides, client):
    [sample] = tides.passes(["reversed"])
    client.force_login(factories.user("ada"))

    page = client.get(reverse("audit:check", args=[sample.items.first().pk])).content.decode()

    assert "Judge in reversed mode." in page
    assert "Not at sea." in page


def test_programs_draw_the_labels_of_one_mode(tides):
    program = Program("carla", "read", "lead")

    made = program.send(
        "POST",
        f"projects/{tides.project.slug}/samples/",
        {
            "name": "Reversed",
            "source": "machine",
            "rater": tides.machine.name,
            "side": "reversed",
            "size": 2,
            "seed": 1,
        },
    )

    assert made.status_code == 201
    assert made.json()["drawn"]["side"] == "reversed"
    assert {side for _doc, side, _claim in drawn(Sample.objects.get())} == {"reversed"}


def test_each_mode_is_a_step_with_a_count_of_its_own(tides, client):
    first, *_others = tides.passes()
    ada, ben = (tides.project.memberships.get(name=name) for name in ("ada", "ben"))
    for item in first.items.all():
        for checker in (ada, ben):
            actions.check(item=item, by=checker, relevance=1)
    client.force_login(tides.carla.user)

    steps = Program("carla", "lead").get("projects/tides/steps/").json()["steps"]
    page = client.get(reverse("annotate:project", args=["tides"])).content.decode()

    assert [(one["key"], one["state"], one["count"]) for one in steps[2:5]] == [
        ("check_original", "done", "2 of 2"),
        ("check_instructed", "now", "0 of 2"),
        ("check_reversed", "now", "0 of 2"),
    ]
    assert reverse("audit:checks", args=["tides"]) + "#mode-reversed" in page


def test_the_passes_lead_to_the_next_label_of_each_mode(tides, client):
    original, instructed, turned = tides.passes()
    ada = tides.project.memberships.get(name="ada")
    for item in original.items.all():
        actions.check(item=item, by=ada, relevance=1)
    client.force_login(ada.user)

    passes = client.get(reverse("audit:checks", args=["tides"])).context["passes"]

    assert [(one.mode, one.labels, one.mine, one.to_check, one.next) for one in passes] == [
        ("original", 2, 2, 0, None),
        ("altered", 2, 0, 2, instructed.items.earliest("pk").pk),
        ("reversed", 2, 0, 2, turned.items.earliest("pk").pk),
    ]


def test_a_label_shows_its_mode_with_its_progress_and_the_other_modes(tides, client):
    _original, _instructed, turned = tides.passes()
    ada = tides.project.memberships.get(name="ada")
    first, second = turned.items.order_by("pk")
    actions.check(item=first, by=ada, relevance=1)
    client.force_login(ada.user)

    page = client.get(reverse("audit:check", args=[second.pk]))

    assert [(one["mode"], one["left"], one["is_here"]) for one in page.context["modes"]] == [
        ("original", 2, False),
        ("altered", 2, False),
        ("reversed", 1, True),
    ]
    session = page.context["session"]
    assert (len(session.answers), len(session.order)) == (1, 2)
    assert "Judge in reversed mode." in page.content.decode()
    assert "Not at sea." in page.content.decode()


def test_the_end_of_a_pass_leads_to_the_others(tides, client):
    *_, turned = tides.passes()
    ada = tides.project.memberships.get(name="ada")
    for item in turned.items.all():
        actions.check(item=item, by=ada, relevance=1)
    client.force_login(ada.user)

    response = client.get(reverse("audit:checking", args=[turned.pk]))

    assert response.url == reverse("audit:checks", args=["tides"])


def test_pages_of_samples_have_only_those_that_a_checker_can_settle(tides, client, monkeypatch):
    monkeypatch.setattr("audit.checks.views.samples.PAGE_SIZE", 1)
    *_, turned = tides.passes()
    item = turned.items.earliest("pk")
    for name, relevance in [("ada", 1), ("ben", 0)]:
        by = tides.project.memberships.get(name=name)
        actions.check(item=item, by=by, relevance=relevance)
    client.force_login(tides.project.memberships.get(name="dan").user)

    page = client.get(reverse("audit:checks", args=["tides"])).context

    assert [row.sample for row in page["rows"]] == [turned]
    assert page["next_url"] == ""


def test_the_plan_of_the_kind_ticks_the_three_modes(tides, client):
    client.force_login(tides.carla.user)

    form = client.get(reverse("audit:new_sample", args=["tides"]), {"planned": 1}).context["form"]

    assert form.initial["modes"] == MODES
    assert (form.initial["size"], form.initial["per"]) == (10, "instruction")


@pytest.mark.parametrize("planned", ["", "-1", "99", "x", "9" * 5_000])
def test_a_number_without_a_planned_check_fills_in_nothing(tides, client, planned):
    client.force_login(tides.carla.user)

    page = client.get(reverse("audit:new_sample", args=["tides"]), {"planned": planned})

    assert "modes" not in page.context["form"].initial


def test_other_kinds_have_no_passes(client):
    project = factories.project("lakes", kind="followtable")
    client.force_login(factories.lead(project).user)

    assert client.get(reverse("audit:checks", args=["lakes"])).context["passes"] == []


def test_a_pass_continues_in_its_mode_across_samples(tides, client):
    # Both documents under both narratives, in one sample.
    together = samples.draw_sample(
        name="All",
        selection=ClaimSelection(Sample.Source.MACHINE, tides.machine),
        stratify="none",
        per="stratum",
        size=4,
        seed=1,
        by=tides.carla,
    )
    first, second = together.items.filter(narrative__side="reversed").order_by("pk")
    client.force_login(tides.project.memberships.get(name="ada").user)
    assert client.get(reverse("audit:checks", args=["tides"])).context["passes"][2].next == first.pk

    onward = [
        client.post(
            reverse("audit:check", args=[item.pk]),
            {"relevance": 0, "uuid": str(uuid4()), "text_version": 1},
        ).url
        for item in (first, second)
    ]

    assert onward == [
        reverse("audit:check", args=[second.pk]),
        reverse("audit:checks", args=["tides"]),
    ]


def test_the_id_of_a_document_is_hidden_until_it_is_checked_in_every_mode(tides, client):
    ada = tides.project.memberships.get(name="ada")
    client.force_login(ada.user)
    of_modes = [
        sample.items.get(candidate=tides.gold) for sample in tides.passes(["altered", "reversed"])
    ]

    shown = []
    for item in of_modes:
        actions.check(item=item, relevance=1, by=ada)
        page = client.get(reverse("audit:check", args=[item.pk]))
        label = client.get(reverse("audit:api_label", args=[item.pk])).json()
        shown.append((page.context["view"].name.doc_id, label["doc_id"]))

    assert shown == [(None, None), ("G", "G")]


def test_a_blind_checker_reads_a_neutral_name_of_the_sample_everywhere(tides, client):
    original, *_others = tides.passes()
    ada = tides.project.memberships.get(name="ada")
    label = original.items.earliest("pk")
    client.force_login(ada.user)

    pages = [
        client.get(address, follow=True).content.decode()
        for address in (
            reverse("annotate:home"),
            reverse("annotate:notices"),
            reverse("annotate:project", args=["tides"]),
            reverse("audit:checks", args=["tides"]),
            reverse("audit:sample", args=[original.pk]),
            reverse("audit:check", args=[label.pk]),
        )
    ]
    sample = Program("ada", "read").get(f"samples/{original.pk}/").json()

    assert [page for page in pages if "gold" in page.lower()] == []
    assert f"Sample {original.pk}" in pages[-1]
    assert (sample["name"], sample["kind"]) == (f"Sample {original.pk}", None)


def test_a_lead_and_a_checker_who_sees_claims_read_the_name_of_the_sample(tides, client):
    original, *_others = tides.passes()
    client.force_login(tides.carla.user)
    of_lead = client.get(reverse("audit:checks", args=["tides"])).content.decode()
    Sample.objects.update(shows_claim=True)
    sample = Program("ada", "read").get(f"samples/{original.pk}/").json()

    assert "Gold (original)" in of_lead
    assert (sample["name"], sample["kind"]) == ("Gold (original)", "random")


def test_a_checker_finds_the_labels_of_a_mode_in_one_list(tides, client):
    original, *_others = tides.passes()
    client.force_login(tides.project.memberships.get(name="dan").user)
    address = reverse("audit:checks", args=["tides"])

    assert client.get(address).context["rows"] == []
    check_label(original, "G", ada=1, ben=0)
    assert [row.name for row in client.get(address).context["rows"]] == [f"Sample {original.pk}"]
