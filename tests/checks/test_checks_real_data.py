"""FollowTable's five tables per instruction, and relevant documents that CODEC's runs miss."""

from __future__ import annotations

import io
from collections import Counter, defaultdict

import pytest
from django.core.management import call_command

from annotate.models import Judgment, Project, Run
from audit.checks import actions, samples
from audit.checks.claims import ClaimSelection
from audit.checks.figures import figures
from audit.checks.suspects import find_suspects
from audit.models import Sample
from tests import factories

pytestmark = pytest.mark.django_db

RUNS = (
    "document_ance-maxp+t5-maxp.top100.run",
    "document_bm25+rm3-tuned.top100.run",
    "document_bm25-tuned+t5-maxp.top100.run",
    "document_bm25-tuned.top100.run",
)


@pytest.fixture(autouse=True)
def storage(settings, tmp_path):
    """Store loaded files in a temporary folder."""
    default = {**settings.STORAGES["default"], "OPTIONS": {"location": str(tmp_path / "storage")}}
    settings.STORAGES = {**settings.STORAGES, "default": default}


def load(kind, *files):
    call_command("load", "tides", kind, *map(str, files), "--create", stdout=io.StringIO())


def test_five_tables_of_each_instruction_of_industr_are_drawn(shared_data):
    load("followtable", shared_data / "followtable" / "IndusTR")
    project = Project.objects.get(slug="tides")
    carla = factories.lead(project)
    selection = ClaimSelection(Sample.Source.MACHINE, project.memberships.get(is_machine=True))

    def five(name, seed):
        return samples.draw_sample(
            name=name,
            selection=selection,
            stratify="category",
            per="instruction",
            size=5,
            seed=seed,
            by=carla,
        )

    sample, again, other = five("One", 7), five("Two", 7), five("Three", 8)

    of_pair = Counter(sample.items.values_list("narrative__pair", flat=True))
    assert set(of_pair.values()) == {5}
    assert len(of_pair) == project.pairs.count()
    assert set(sample.items.values_list("stratum", flat=True)) == set(
        project.pairs.values_list("category", flat=True)
    )
    assert sum(sample.frame.values()) == Judgment.objects.filter(annotator=selection.rater).count()
    assert drawn(sample) == drawn(again) != drawn(other)


def drawn(sample):
    return list(sample.items.order_by("pk").values_list("narrative", "candidate__document__doc_id"))


def test_the_conditions_that_multiconir_claims_are_counted_again(shared_data, client):
    """The protocol of MultiConIR: two count the conditions a document meets, a third settles."""
    grades = ("--grades", ",".join(map(str, range(11))))
    load("multiconir", shared_data / "multiconir" / "Sample_Task2_&_3.csv", *grades)
    project = Project.objects.get(slug="tides")
    people = [factories.lead(project), *(factories.member(project, n) for n in ("ada", "ben"))]
    selection = ClaimSelection(Sample.Source.MACHINE, project.memberships.get(is_machine=True))
    sample = samples.draw_sample(
        name="Labels",
        selection=selection,
        stratify="none",
        per="stratum",
        size=150,
        seed=7,
        by=people[0],
    )

    # Both count as claimed, except that ben counts one more or less on the first three; the third
    # person finds the first and the second wrong, and the third right.
    for place, item in enumerate(sample.items.order_by("pk")):
        other = item.claimed + (1 if item.claimed == 0 else -1)
        actions.check(item=item, relevance=item.claimed, by=people[1])
        actions.check(item=item, relevance=other if place < 3 else item.claimed, by=people[2])
        if place < 3:
            actions.settle(item=item, relevance=other if place < 2 else item.claimed, by=people[0])

    found = figures(sample)
    rate = found.overall.grade
    # 2 of 150: the tails at these limits are 2.5%; 313 labels with two wrong suffice for 2%.
    assert (rate.count, rate.of, found.differed) == (2, 150, 3)
    assert rate.interval == pytest.approx((0.0016188, 0.0473330), abs=1e-6)
    assert found.overall.more_grade == 313 - 150
    assert found.percent.value == pytest.approx(147 / 150)
    # Checkers see the numbered conditions, and a key for each grade.
    client.force_login(people[1].user)
    item = sample.items.latest("pk")
    page = client.get(f"/labels/{item.pk}/check/")
    assert len(page.context["view"].conditions) == item.narrative.conditions.count() > 0
    keys = [grade.key for grade in page.context["grades"]]
    assert len(set(keys)) == 11
    assert "" not in keys


QUERIES = ("economics-1", "history-6", "politics-1")


# The expected counts were computed with awk, from the same files.
@pytest.mark.parametrize(
    ("depth", "at_least", "below", "counts"),
    [
        (100, 4, None, (3, 10, 2)),
        (100, 2, None, (10, 16, 16)),
        (10, 3, None, (18, 15, 34)),
        (100, 3, -2.05, (7, 15, 7)),
    ],
)
def test_suspects_of_codec_match_a_count_from_the_files(
    shared_data, depth, at_least, below, counts
):
    """For three queries the suspects are computed from the files alone, without the database."""
    folder = shared_data / "runs" / "codec"
    load_codec(folder)
    project = Project.objects.get(slug="tides")

    found = find_suspects(
        project,
        ClaimSelection(Sample.Source.PRIOR),
        runs=list(Run.objects.filter(project=project)),
        depth=depth,
        at_least=at_least,
        below=below,
    )

    listed = defaultdict(set)
    for one in found.suspects:
        listed[one.claim.narrative.pair.query.query_id].add((one.claim.doc_id, one.missed))
    for query in QUERIES:
        assert listed[query] == count_from_files(folder, query, depth, at_least, below)
    assert tuple(len(listed[query]) for query in QUERIES) == counts


def test_the_page_of_suspects_of_codec_makes_a_sample(shared_data, client):
    folder = shared_data / "runs" / "codec"
    load_codec(folder)
    project = Project.objects.get(slug="tides")
    client.force_login(factories.lead(project).user)
    form_data = {
        "claims": "prior",
        "runs": list(Run.objects.filter(project=project).values_list("pk", flat=True)),
        "depth": 100,
        "at_least": 4,
        "below": "",
    }

    page = client.get("/projects/tides/suspects/", form_data)
    sent = client.post(
        "/projects/tides/suspects/",
        {**form_data, "name": "Missed by all four", "stratify": "query"},
    )

    assert page.status_code == 200
    assert (sent.status_code, sent["Location"]) == (302, "/projects/tides/checks/")
    sample = Sample.objects.get()
    for query_id in QUERIES:
        items = sample.items.filter(stratum=query_id)
        assert set(items.values_list("candidate__document__doc_id", "missed")) == count_from_files(
            folder, query_id, 100, 4
        )


def load_codec(folder):
    """Load topics, qrels and runs; the texts are not there, so people check by the ids."""
    load("topics-json", folder / "topics.json")
    load("trec-qrels", folder / "document_ndcg.qrels")
    for name in RUNS:
        load("trec-run", folder / name)
    Project.objects.update(show_ids=True)


def count_from_files(folder, query, depth, at_least, below=None):
    """Return, from the files, relevant documents missed by `at_least` runs, with the number."""
    gold = set()
    for line in (folder / "document_ndcg.qrels").read_text().splitlines():
        query_id, _, doc_id, relevance = line.split()
        if query_id == query and int(relevance) >= 1:
            gold.add(doc_id)
    found = set()
    tops = [first_documents(folder / name, query, depth, below) for name in RUNS]
    for doc_id in gold:
        missed = sum(doc_id not in ranked for ranked in tops)
        if missed >= at_least:
            found.add((doc_id, missed))
    return found


def first_documents(path, query, depth, below):
    """Return the first documents of a run ordered as by trec_eval: by score, id, descending."""
    scored = [
        (float(line.split()[4]), line.split()[2])
        for line in path.read_text().splitlines()
        if line.startswith(f"{query} ")
    ]
    first = sorted(scored, reverse=True)[:depth]
    return {doc_id for score, doc_id in first if below is None or score >= below}
