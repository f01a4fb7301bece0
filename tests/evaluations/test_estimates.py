"""Scores over all pairs that a machine labelled are estimated from the pairs that people judged.

Query q has documents a and b that were relevant, and c and d that were not. The machine calls only
b relevant under each of four pairs; people judged two of them.

    pair   changed run   p-MRR by the machine   by people
    p1     b c d a       a falls 1 to 4: 0.75   the same labels: 0.75
    p2     a c b d       a stays 1: 0           b is not relevant, falls 2 to 3: 1/3
    p3     b c d a       0.75
    p4     b a c d       a falls 1 to 2: 0.5
"""

from __future__ import annotations

import csv
import io
from types import SimpleNamespace

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from annotate.models import Judgment, Run
from base.errors import Refused
from exporters.evaluations.actions import request_evaluation
from exporters.evaluations.systems import System
from exporters.models import Evaluation
from jobs.errors import JobError
from tests import factories
from tests.evaluations.evaluating import make_evaluation, store_run
from tests.exports.conftest import make_release
from tests.pages import shows

CHANGED = {"p1": "bcda", "p2": "acbd", "p3": "bcda", "p4": "bacd"}
BY_PEOPLE = {
    "p1": {"a": 0, "b": 1, "c": 0, "d": 0},
    "p2": {"a": 1, "b": 0, "c": 0, "d": 0},
}


@pytest.fixture
def made(db):
    project = factories.project("tides", overlap_judge=1)
    carla, ada = factories.lead(project), factories.member(project, "ada")
    robot = factories.machine(project, "robot")
    query = factories.query(project, "q")
    pool = {
        doc: factories.candidate(query, doc, prior)
        for doc, prior in {"a": 1, "b": 1, "c": 0, "d": 0}.items()
    }
    pairs = {name: factories.pair(query, pair_id=name) for name in CHANGED}
    for name, pair in pairs.items():
        for doc in pool:
            factories.judgment(factories.altered(pair), pool[doc], robot, int(doc == "b"))
        for doc, grade in BY_PEOPLE.get(name, {}).items():
            factories.judgment(factories.altered(pair), pool[doc], ada, grade)
    original = store_run(project, "good.original.run", "q", "abcd")
    lines = "".join(
        f"{pair} Q0 {doc} {rank} {9 - rank} good\n"
        for pair, order in CHANGED.items()
        for rank, doc in enumerate(order, 1)
    )
    changed = Run(project=project, name="good.changed.run", tag="good", sha256="1" * 64)
    changed.side = Run.Side.ALTERED
    changed.file.save(f"{project.pk}/changed", ContentFile(lines.encode()), save=False)
    changed.save()
    return SimpleNamespace(
        project=project,
        carla=carla,
        ada=ada,
        robot=robot,
        pool=pool,
        pairs=pairs,
        good=System("good", {"original": original, "changed": changed}),
    )


def evaluate(made, **fields):
    options = {"machine.name": "robot"} | fields.pop("options", {})
    arguments = {"measured": [made.good], "baseline": "", "options": options} | fields
    return make_evaluation(made, **arguments).results


def p_mrr(results):
    return results["estimates"]["measures"]["p-mrr"]["good"]


def judge(made, pair, grades, by=None):
    for doc, grade in grades.items():
        narrative = factories.altered(made.pairs[pair])
        factories.judgment(narrative, made.pool[doc], by or made.ada, grade)


@pytest.mark.both_databases
def test_the_machines_mean_is_corrected_by_its_difference_to_people(made):
    estimate = p_mrr(evaluate(made))

    assert estimate["machine"] == pytest.approx((0.75 + 0 + 0.75 + 0.5) / 4)
    assert estimate["people"]["value"] == pytest.approx((0.75 + 1 / 3) / 2)
    # People are higher by 0 and by 1/3.
    assert estimate["combined"]["value"] == pytest.approx(0.5 + 1 / 6)


def test_it_says_how_many_pairs_were_labelled_and_judged(made):
    about = evaluate(made)["estimates"]

    assert (about["machine"], about["pairs"], about["judged"]) == ("robot", 4, 2)
    assert about["note"] == ""


def test_the_machines_labels_are_its_own_also_where_people_judged_otherwise(made):
    judge(made, "p3", {"a": 1, "b": 0, "c": 0, "d": 0})

    assert p_mrr(evaluate(made))["machine"] == pytest.approx(0.5)


def test_scores_on_peoples_labels_are_the_same_with_and_without_a_machine(made):
    with_machine = evaluate(made)
    alone = make_evaluation(made, measured=[made.good], baseline="").results

    assert alone["estimates"] is None
    assert with_machine["systems"] == alone["systems"]
    assert with_machine["by_query"] == alone["by_query"]
    assert with_machine["collection"]["topics"] == alone["collection"]["topics"]


def test_if_people_judged_all_pairs_nothing_is_left_uncertain(made):
    judge(made, "p3", {"a": 0, "b": 1, "c": 0, "d": 0})
    judge(made, "p4", {"a": 0, "b": 1, "c": 0, "d": 0})

    combined = p_mrr(evaluate(made))["combined"]

    assert combined["value"] == pytest.approx((0.75 + 1 / 3 + 0.75 + 0.5) / 4)


def test_the_pairs_may_stand_for_pairs_like_them(made):
    judge(made, "p3", {"a": 0, "b": 0, "c": 0, "d": 0})
    of_these = p_mrr(evaluate(made))["people"]

    of_like_these = p_mrr(evaluate(made, options={"machine.population": "like"}))["people"]

    assert of_these["value"] == of_like_these["value"]
    assert of_like_these["low"] < of_these["low"] < of_these["high"] < of_like_these["high"]


def test_there_is_no_estimate_before_every_document_of_the_judged_pairs_is_judged(made):
    judge(made, "p3", {"a": 0})

    about = evaluate(made)["estimates"]

    assert about["note"] == "1 document of these pairs is not judged or settled yet"
    assert about["measures"] == {}


def test_there_is_no_estimate_where_people_differ(made):
    judge(made, "p1", {"a": 1}, by=factories.member(made.project, "ben"))

    assert "1 document of these pairs is not" in evaluate(made)["estimates"]["note"]


def test_there_is_no_estimate_from_claims_alone(made):
    Judgment.objects.filter(annotator=made.ada).update(ended_at=made.project.created_at)

    about = evaluate(made)["estimates"]

    assert about["note"] == "people have judged none of the pairs that it labelled"


def test_pairs_that_came_after_the_release_are_left_out(made):
    v1 = make_release(made, "v1")
    later = factories.pair(factories.query(made.project, "r"), pair_id="p5")
    candidate = factories.candidate(later.query, "e", 1)
    factories.judgment(factories.altered(later), candidate, made.robot, 0)

    assert evaluate(made, release=v1)["estimates"]["pairs"] == 4


def test_there_is_no_estimate_before_the_machine_has_labelled_every_document(made):
    label = factories.altered(made.pairs["p3"]).statements.get(
        annotator=made.robot, candidate=made.pool["a"]
    )
    label.delete()

    about = evaluate(made)["estimates"]

    assert about["note"] == "it has not labelled 1 document of its pairs"


def test_there_is_no_estimate_on_a_release_whose_instructions_were_rewritten_since(made):
    v1 = make_release(made, "v1")
    factories.narrative(made.pairs["p3"], "altered", text="Another text.", version=2)

    about = evaluate(made, release=v1)["estimates"]

    assert about["note"].startswith("1 instruction was rewritten after the release")


def test_documents_that_nobody_is_asked_about_keep_their_earlier_relevance(made):
    # Only a and b were relevant: c and d have grade 0 whatever the machine says of them.
    made.project.judge_scope = "relevant"
    made.project.save()
    Judgment.objects.filter(annotator=made.robot, candidate=made.pool["c"]).update(relevance=1)

    by_machine = evaluate(made)["estimates"]["measures"]["nDCG@10 after"]["good"]["machine"]

    # b is at rank 1, 3, 1 and 1.
    assert by_machine == pytest.approx((1 + 0.5 + 1 + 1) / 4)


def test_a_run_that_ranks_no_judged_pair_is_refused(made):
    lines = "".join(f"p4 Q0 {doc} {rank} {9 - rank} other\n" for rank, doc in enumerate("abcd", 1))
    other = Run(project=made.project, name="other", tag="other", sha256="2" * 64, side="altered")
    other.file.save(f"{made.project.pk}/other", ContentFile(lines.encode()), save=False)
    other.save()

    with pytest.raises(JobError, match="The changed run of other names no pair that is judged"):
        evaluate(made, measured=[System("other", {"changed": other})])


def test_a_series_over_releases_does_not_depend_on_the_machine(made, client):
    names = ("v1", "v2")
    evaluations = [
        make_evaluation(
            made,
            measured=[made.good],
            baseline="",
            release=make_release(made, name),
            options={"machine.name": "robot"} if name == "v1" else {},
        )
        for name in names
    ]

    page = page_of(made, client, evaluations[1])

    assert [row["release"] for row in page.context["over_releases"]] == list(names)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"machine.name": "nobody"}, "This project has no machine called nobody."),
        ({"machine.name": "ada"}, "This project has no machine called ada."),
        (
            {"machine.name": "robot", "intervals.clusters": "query"},
            "machine.name takes each judged pair as drawn for itself",
        ),
        (
            {"machine.name": "robot", "machine.population": "all"},
            "machine.population must be these or like, not all",
        ),
        ({"machine.population": "like"}, "machine.name names the machine"),
        ({"machine.name": ""}, "machine.name names the machine"),
    ],
)
def test_what_cannot_be_estimated_is_refused(made, options, sentence):
    with pytest.raises(Refused, match=sentence):
        request_evaluation(
            project=made.project, measured=[made.good], options=options, by=made.carla
        )


# --- the page -------------------------------------------------------------------------------------


def page_of(made, client, results):
    client.force_login(made.carla.user)
    return client.get(reverse("exporters:evaluation", args=[made.project.slug, results.pk]))


def test_the_page_shows_the_scores_of_machine_people_and_both(made, client):
    evaluation = make_evaluation(
        made, measured=[made.good], baseline="", options={"machine.name": "robot"}
    )

    page = page_of(made, client, evaluation)

    assert shows(page, "robot labelled 4 pairs, of which people judged 2.")
    assert all(shows(page, score) for score in ("0.500", "0.542", "0.667"))


def test_the_page_says_why_there_is_no_estimate(made, client):
    judge(made, "p3", {"a": 0})
    evaluation = make_evaluation(
        made, measured=[made.good], baseline="", options={"machine.name": "robot"}
    )

    page = page_of(made, client, evaluation)

    assert shows(page, "No estimate: 1 document of these pairs is not judged or settled yet.")


def test_a_machine_is_chosen_in_the_form(made, client):
    client.force_login(made.carla.user)
    url = reverse("exporters:evaluations", args=[made.project.slug])
    runs = [made.good.runs[side].pk for side in ("original", "changed")]

    client.post(url, {"systems": "-".join(map(str, runs)), "machine": "robot", "options": ""})

    assert Evaluation.objects.get().options == {"machine.name": "robot"}


def test_a_project_without_machines_offers_none(client, db):
    project = factories.project("rivers")
    carla = factories.lead(project)
    store_run(project, "good.original.run", "q", "abcd")
    client.force_login(carla.user)

    page = client.get(reverse("exporters:evaluations", args=["rivers"]))

    assert "Estimate with the labels of" not in page.content.decode()


def test_the_estimates_are_a_table_to_download(made, client):
    evaluation = make_evaluation(
        made, measured=[made.good], baseline="", options={"machine.name": "robot"}
    )
    client.force_login(made.carla.user)
    url = reverse("exporters:evaluation_table", args=["tides", evaluation.pk, "estimates", "csv"])

    [row, *_others] = csv.DictReader(io.StringIO(client.get(url).content.decode()))

    assert (row["measure"], row["system"], row["pairs"], row["judged"]) == (
        *("p-MRR", "good"),
        *("4", "2"),
    )
    assert float(row["combined"]) == pytest.approx(2 / 3)
