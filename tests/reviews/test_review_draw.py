"""A draw limits the reviews to a sample of the instructions, stratified by domain."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotate.collection.removal import INSTRUCTIONS
from annotate.judgments import completion, open_pairs
from annotate.models import AuditEvent, DrawnPair, Narrative, Project, ReviewDraw
from audit.models import Review
from audit.reviews.actions import take_review
from audit.reviews.criteria import Verdict
from audit.reviews.decisions import decide
from audit.reviews.draws import current_draw, draw_for_review, end_draw, plan_draw
from audit.reviews.passes import narratives_to_decide
from base.errors import InvalidField, Refused
from exporters.exports.manifest.rule_facts import kind_facts
from exporters.exports.selection import selection
from tests import factories
from tests.programs import Program
from tests.second_pass import submit_levels

pytestmark = pytest.mark.both_databases


class Scene:
    """Six queries in two domains, an instruction each: four books, two films. Two reviews each."""

    def __init__(self) -> None:
        self.project = factories.project(kind="multiconir", overlap_review=2)
        self.carla = factories.lead(self.project)
        self.dan = factories.member(self.project, "dan")
        for number, domain in enumerate(["Books"] * 4 + ["Films"] * 2):
            query = factories.query(self.project, f"{domain}-{number}")
            query.domain = domain
            query.save()
            factories.pair(query, origin="llm")

    def draw(self, size: int = 1, stratify: str = "domain", seed: int = 7) -> ReviewDraw:
        return draw_for_review(
            project=self.project, stratify=stratify, size=size, seed=seed, by=self.carla
        )

    def drawn(self) -> set[str]:
        return set(
            DrawnPair.objects.filter(draw__ended_at=None).values_list("pair__pair_id", flat=True)
        )


@pytest.fixture
def scene(db) -> Scene:
    return Scene()


def test_each_stratum_gives_as_many_instructions_as_were_asked_for(scene):
    plan = plan_draw(scene.project, stratify="domain", size=2, seed=7)

    assert plan.sizes == {"Books": 4, "Films": 2}
    assert plan.taken == {"Books": 2, "Films": 2}
    assert (plan.total, len(plan.units)) == (6, 4)


def test_the_same_seed_draws_the_same_and_a_larger_draw_contains_the_smaller(scene):
    scene.draw(size=1)
    one = scene.drawn()
    scene.draw(size=1)
    again = scene.drawn()
    scene.draw(size=2)

    assert again == one
    assert one < scene.drawn()


def test_only_drawn_instructions_have_review_tasks_and_count_as_unfinished(scene):
    assert completion.review_progress(scene.project).wanted == 12

    scene.draw(size=1)

    assert completion.review_progress(scene.project).wanted == 2 * 2
    assert open_pairs.count_open(task="review", by=scene.dan) == 2
    reviewed = set()
    for number in range(2):
        reviewer = factories.member(scene.project, f"rater{number}")
        while (assignment := take_review(by=reviewer)) is not None:
            reviewed.add(assignment.pair.pair_id)
            narrative = factories.altered(assignment.pair)
            submit_levels(narrative, reviewer)
    assert reviewed == scene.drawn()
    assert completion.review_progress(scene.project).left == 0


def test_reviews_of_instructions_outside_the_draw_stay(scene):
    outside = scene.project.pairs.exclude(pair_id__in=_drawn_by(scene)).first()
    narrative = factories.altered(outside)
    Review.objects.create(
        narrative=narrative,
        auditor=scene.dan,
        rubric="followtable-1",
        submitted_at="2026-01-02T00Z",
    )

    scene.draw()

    assert Review.objects.submitted().count() == 1
    assert completion.review_progress(scene.project).done == 0


@pytest.mark.parametrize("kind", ["multiconir", "followtable"])
def test_an_instruction_outside_the_draw_is_decided_by_the_reviews_that_it_has(scene, client, kind):
    Project.objects.update(kind=kind)
    passed, rejected, *_ = scene.project.pairs.exclude(pair_id__in=_drawn_by(scene))
    for pair, poor in ((passed, {}), (rejected, {"query_dependency": "poor"})):
        narrative = factories.altered(pair)
        factories.assignment(pair, scene.dan, task="review")
        submit_levels(narrative, scene.dan, **poor)
    lead = scene.project.memberships.get(pk=scene.carla.pk)
    # One review of two: the second is still wanted, and half of the auditors are no majority.
    waiting = [] if kind == "multiconir" else [rejected.pk]
    assert list(narratives_to_decide(lead).values_list("pair", flat=True)) == waiting
    with pytest.raises(Refused, match="1 of 2 reviews are in"):
        decide(narrative=factories.altered(passed), outcome="accepted", by=lead)

    scene.draw()

    # Outside a draw, what passes needs no decision.
    assert list(narratives_to_decide(lead).values_list("pair", flat=True)) == [rejected.pk]
    client.force_login(lead.user)
    page = client.get(reverse("audit:reviews", args=[scene.project.slug]))
    verdicts = {row.pair: (row.submitted, row.wanted, row.verdict) for row in page.context["rows"]}
    assert verdicts[passed] == (1, 0, Verdict.PASSED)
    assert verdicts[rejected] == (1, 0, Verdict.REJECTED)
    story = client.get(reverse("audit:story", args=[passed.pk])).content.decode()
    assert "1 review, made under" in story
    decide(narrative=factories.altered(passed), outcome="accepted", by=lead)
    with pytest.raises(InvalidField, match="reject"):
        decide(narrative=factories.altered(rejected), outcome="accepted", by=lead)


def _drawn_by(scene):
    plan = plan_draw(scene.project, stratify="domain", size=1, seed=7)
    return set(
        scene.project.pairs.filter(pk__in=[pair for pair, _ in plan.units]).values_list(
            "pair_id", flat=True
        )
    )


def test_ending_the_draw_asks_for_every_instruction_again(scene):
    scene.draw()

    assert end_draw(project=scene.project, by=scene.carla)
    assert not end_draw(project=scene.project, by=scene.carla)

    assert completion.review_progress(scene.project).wanted == 12
    ended = ReviewDraw.objects.get()
    assert ended.ended_by == scene.carla
    events = AuditEvent.objects.order_by("pk").values_list("what", "about")
    assert list(events) == [
        ("review_draw.made", "2 of 6 instructions · seed 7"),
        ("review_draw.ended", "2 of 6 instructions · seed 7"),
    ]


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"size": 3}, "Fewer than the 3 asked for: “Films” has 2"),
        ({"stratify": "query"}, "Choose what the strata are"),
        ({"size": 0}, "Draw 1 to"),
    ],
)
def test_a_draw_that_cannot_be_made_changes_nothing(scene, choices, sentence):
    scene.draw()
    before = scene.drawn()

    with pytest.raises(Refused, match=sentence):
        scene.draw(**choices)

    assert scene.drawn() == before
    assert ReviewDraw.objects.count() == 1


def test_annotators_cannot_draw(scene):
    with pytest.raises(Refused, match="Only leads"):
        draw_for_review(project=scene.project, stratify="none", size=1, seed=1, by=scene.dan)


def test_the_database_allows_one_current_draw_per_project(scene):
    scene.draw()

    with pytest.raises(IntegrityError), transaction.atomic():
        ReviewDraw.objects.create(project=scene.project, size=1, seed=1)


def test_an_instruction_that_was_not_drawn_needs_no_decision_in_the_claimed_qrels(scene):
    model = factories.machine(scene.project)
    for pair in scene.project.pairs.all():
        candidate = factories.candidate(pair.query)
        factories.judgment(factories.altered(pair), candidate, model, 1)
    scene.draw()
    drawn = scene.drawn()
    narrative = Narrative.objects.get(pair__pair_id=min(drawn), side="altered")
    Review.objects.create(
        narrative=narrative,
        auditor=scene.dan,
        rubric="followtable-1",
        submitted_at="2026-01-02T00Z",
    )

    claimed = {pair.pair_id: pair.claimed for pair in selection.pairs(scene.project)}

    assert {pair for pair, state in claimed.items() if state == "not accepted"} == drawn
    assert list(claimed.values()).count("yes") == 4


def test_the_manifest_says_what_was_drawn(scene):
    assert "review_draw" not in kind_facts(scene.project)

    scene.draw()

    assert kind_facts(scene.project)["review_draw"] == {
        "stratify": "domain",
        "size": 1,
        "seed": 7,
        "drawn": 2,
        "of": 6,
    }


def test_a_lead_previews_makes_and_ends_a_draw_on_the_page(scene, client):
    client.force_login(scene.carla.user)
    address = reverse("audit:review_draw", args=["tides"])

    looked = client.get(address, {"stratify": "domain", "size": 1, "seed": 7})
    assert b"Review these 2 only" in looked.content
    assert current_draw(scene.project) is None

    client.post(address, {"stratify": "domain", "size": 1, "seed": 7})
    assert scene.drawn() == _drawn_by(scene)
    listed = client.get(reverse("audit:reviews", args=["tides"]))
    assert b"2 of 6 instructions" in listed.content
    assert listed.content.count(b"not drawn") == 4
    only = client.get(reverse("audit:reviews", args=["tides"]), {"state": "drawn"})
    assert {row.pair.pair_id for row in only.context["rows"]} == scene.drawn()

    client.post(address, {"end": "yes"})
    assert current_draw(scene.project) is None


def test_the_page_shows_why_a_draw_is_refused(scene, client):
    client.force_login(scene.carla.user)

    page = client.post(
        reverse("audit:review_draw", args=["tides"]), {"stratify": "domain", "size": 3, "seed": 7}
    )

    assert page.status_code == 422
    assert "“Films” has 2" in page.content.decode()


def test_a_draw_that_has_changed_since_it_was_shown_is_not_made(scene, client):
    client.force_login(scene.carla.user)
    address = reverse("audit:review_draw", args=["tides"])
    choices = {"stratify": "domain", "size": 1, "seed": 7}
    seen = client.get(address, choices).context["token"]
    pair = scene.project.pairs.first()
    INSTRUCTIONS.remove(project=scene.project, keys=[pair.pk], reason="A double.", by=scene.carla)

    refused = client.post(address, {**choices, "token": seen})

    assert "The instructions have changed since you looked at the draw." in refused.content.decode()
    assert current_draw(scene.project) is None
    client.post(address, {**choices, "token": refused.context["token"]})
    assert current_draw(scene.project) is not None


def test_a_program_draws_reads_and_ends(scene):
    program = Program("carla", "lead")
    address = "projects/tides/review-draw/"
    assert program.get(address).json() == {"draw": None}

    sent = {"stratify": "domain", "size": 2, "seed": 7}
    assert program.send("PUT", address, sent).status_code == 200

    assert program.get(address).json()["draw"]["strata"] == [
        {"stratum": "Books", "instructions": 4, "drawn": 2},
        {"stratum": "Films", "instructions": 2, "drawn": 2},
    ]
    rows = program.get("projects/tides/reviews/?state=drawn").json()["results"]
    assert {row["pair_id"] for row in rows} == scene.drawn()
    assert program.send("DELETE", address).status_code == 204
    assert program.get(address).json() == {"draw": None}


def test_the_command_draws_shows_and_ends(scene):
    assert command("draw", "--strata", "domain", "--size", "1", "--seed", "7") == [
        "Books\t1 of 4",
        "Films\t1 of 2",
        "seed 7\t2 of 6",
    ]
    assert command("show")[-1] == "seed 7\t2 of 6"
    assert command("end") == ["There is no draw: every instruction is reviewed."]
    with pytest.raises(CommandError, match="--size"):
        command("draw")


def command(*arguments):
    out = io.StringIO()
    call_command("review_draw", "tides", *arguments, stdout=out)
    return out.getvalue().splitlines()
