"""Documents claimed relevant that runs miss are listed, and become a sample."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.models import Candidate, Document, Run, RunLine
from audit.checks import actions, samples
from audit.checks.claims import ClaimSelection
from audit.checks.figures import figures
from audit.checks.suspects import find_suspects
from audit.models import Sample
from base.errors import Refused
from tests import factories
from tests.pages import shows
from tests.programs import Program

pytestmark = pytest.mark.both_databases

PRIOR = ClaimSelection(Sample.Source.PRIOR)
# Ranks by run, query and document. Earlier relevant: A and B of 301, D of 302; C is not.
#
#   first   301: A C - - B (rank 5)      302: D
#   second  301: C A                     302: -, no line
#   third   301: C                       302: X
RUNS = {
    "first": {"301": {"A": 1, "C": 2, "B": 5}, "302": {"D": 1}},
    "second": {"301": {"C": 1, "A": 2}},
    "third": {"301": {"C": 1}, "302": {"X": 1}},
}


@pytest.fixture
def tides(db):
    project = factories.project()
    factories.lead(project)
    for query_id, labels in (("301", {"A": 1, "B": 2, "C": 0}), ("302", {"D": 1})):
        query = factories.query(project, query_id)
        factories.pair(query)
        for doc_id, relevance in labels.items():
            factories.candidate(query, doc_id, prior=relevance)
    factories.document(project, "X")
    for name, queries in RUNS.items():
        add_run(project, name, queries)
    return project


def add_run(project, name, queries):
    run = Run.objects.create(project=project, name=name, sha256="0" * 64)
    for query_id, ranks in queries.items():
        for doc_id, rank in ranks.items():
            RunLine.objects.create(
                run=run,
                query=project.queries.get(query_id=query_id),
                document=Document.objects.get(project=project, doc_id=doc_id),
                rank=rank,
                score=-rank,
            )
    return run


def found_suspects(project, *, depth, at_least, names=("first", "second", "third")):
    runs = list(Run.objects.filter(project=project, name__in=names))
    shown = find_suspects(project, PRIOR, runs=runs, depth=depth, at_least=at_least)
    return [(one.claim.doc_id, one.missed, one.of) for one in shown.suspects]


@pytest.mark.parametrize(
    ("depth", "at_least", "expected"),
    [
        # B: the first run has it at 5. D: the second run has no line of 302 and does not count.
        (5, 1, [("B", 2, 3), ("A", 1, 3), ("D", 1, 2)]),
        (5, 2, [("B", 2, 3)]),
        (4, 2, [("B", 3, 3)]),
        (1, 2, [("B", 3, 3), ("A", 2, 3)]),
        (4, 3, [("B", 3, 3)]),
        (5, 3, []),
    ],
)
def test_suspects_are_documents_that_at_least_so_many_runs_miss(tides, depth, at_least, expected):
    assert found_suspects(tides, depth=depth, at_least=at_least) == expected


def test_a_run_that_scores_a_document_lower_than_asked_misses_it(tides):
    # Scores are the negative ranks: the first run has B at -5, the second A at -2.
    runs = list(Run.objects.all())

    shown = find_suspects(tides, PRIOR, runs=runs, depth=100, at_least=2, below=-1.5)

    assert [(one.claim.doc_id, one.missed) for one in shown.suspects] == [("B", 3), ("A", 2)]


def test_only_the_runs_that_were_chosen_count(tides):
    assert found_suspects(tides, depth=5, at_least=1, names=("first",)) == []
    assert found_suspects(tides, depth=5, at_least=1, names=("third",)) == [
        ("A", 1, 1),
        ("B", 1, 1),
        ("D", 1, 1),
    ]


def test_documents_of_queries_in_too_few_runs_are_left_out_and_counted(tides):
    shown = find_suspects(
        tides, PRIOR, runs=list(Run.objects.order_by("name")), depth=5, at_least=3
    )

    assert (shown.gold, shown.left_out, shown.left_out_queries) == (2, 1, 1)


def test_suspects_can_be_found_among_the_consensus_of_people(tides):
    pair = tides.pairs.get(pair_id="301")
    ada = factories.member(tides, "ada")
    for doc_id, relevance in (("A", 0), ("B", 1)):
        candidate = Candidate.objects.get(query=pair.query, document__doc_id=doc_id)
        factories.judgment(factories.altered(pair), candidate, ada, relevance)

    shown = find_suspects(
        tides,
        ClaimSelection(Sample.Source.CONSENSUS),
        runs=list(Run.objects.all()),
        depth=1,
        at_least=1,
    )

    assert [one.claim.doc_id for one in shown.suspects] == ["B"]
    assert shown.suspects[0].claim.narrative.side == "altered"


def pick(project, **choices):
    usual = {
        "name": "Look again",
        "selection": PRIOR,
        "runs": list(Run.objects.filter(project=project)),
        "depth": 5,
        "at_least": 1,
        "by": project.memberships.get(role="lead"),
    }
    return samples.pick_suspects(**(usual | choices))


def test_suspects_become_a_sample_that_says_how_they_were_picked(tides):
    sample = pick(tides, stratify="query")

    assert (sample.kind, sample.seed, sample.size) == ("suspects", None, None)
    assert (sample.depth, sample.at_least, sample.frame) == (5, 1, {"301": 2, "302": 1})
    assert sorted(sample.runs.values_list("name", flat=True)) == ["first", "second", "third"]
    items = sample.items.order_by("pk").values_list(
        "candidate__document__doc_id", "claimed", "missed", "stratum", "narrative__side"
    )
    assert list(items) == [
        ("B", 2, 2, "301", "original"),
        ("A", 1, 1, "301", "original"),
        ("D", 1, 1, "302", "original"),
    ]


def test_the_sentence_of_suspects_claims_nothing_about_the_rest(tides):
    sample = pick(tides)
    for name in ("ada", "ben"):
        by = factories.member(tides, name)
        for item in sample.items.all():
            actions.check(item=item, relevance=min(item.claimed, 1), by=by)

    words = figures(sample).sentence

    assert words == (
        "Two people each checked 3 labels (earlier qrels; relevant ones that at least 1 of 3 runs "
        "do not rank in the first 5, not a random sample). The two agreed on 100.0% (Cohen's "
        "kappa is undefined: only one category was used). Relevant or not was wrong in 0 of 3 "
        "(0.0%). The grade was wrong in 1 of 3 (33.3%)."
    )


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"runs": []}, "Choose at least one run."),
        ({"depth": 0}, "The rank and the number of runs must be at least 1."),
        ({"at_least": 0}, "The rank and the number of runs must be at least 1."),
        ({"at_least": 4}, "4 runs cannot miss a document if only 3 are chosen."),
        ({"below": float("nan")}, "The score is a number, such as 0.5."),
        ({"at_least": 3}, "The runs find all of them, so there are no suspects."),
    ],
)
def test_an_invalid_rule_is_refused(tides, choices, sentence):
    with pytest.raises(Refused, match=sentence):
        pick(tides, **choices)

    assert not Sample.objects.exists()


def test_runs_for_other_queries_are_refused(tides):
    factories.query(tides, "303")
    strange = add_run(tides, "strange", {"303": {"X": 1}})

    with pytest.raises(Refused, match="Choose runs for the queries of this project"):
        pick(tides, runs=[strange])


def test_runs_of_another_project_are_refused(tides):
    other = factories.project("other")
    factories.query(other, "301")
    factories.document(other, "A")
    strange = add_run(other, "strange", {"301": {"A": 1}})

    with pytest.raises(Refused, match="Choose runs of this project"):
        pick(tides, runs=[strange])


# --- the page -----------------------------------------------------------------------------------


@pytest.fixture
def carla(tides, client):
    client.force_login(tides.memberships.get(name="carla").user)
    return client


URL = "/projects/tides/suspects/"


def form_data(**others):
    runs = [str(run.pk) for run in Run.objects.order_by("name")]
    return {"claims": "prior", "runs": runs, "at_least": "1", "depth": "5", **others}


def test_the_page_starts_with_documents_that_every_run_misses(tides, carla):
    page = carla.get(URL)

    assert page.context["result"].gold == 2
    assert page.context["rows"] == []
    assert shows(page, "Left out: 1 relevant document of 1 query that too")


def test_the_page_starts_without_runs_over_instructions_which_say_nothing_of_earlier_qrels(
    tides, carla
):
    Run.objects.create(project=tides, name="fourth", sha256="0" * 64, side=Run.Side.ALTERED)

    page = carla.get(URL)

    chosen = [run.name for run in page.context["form"].cleaned_data["runs"]]
    assert chosen == ["first", "second", "third"]
    assert page.context["form"].cleaned_data["at_least"] == 3


def test_the_page_lists_suspects_and_makes_a_sample_of_them(tides, carla):
    listed = carla.get(URL, form_data())
    sent = carla.post(URL, form_data(name="Look again", stratify="none"))

    assert [row.claim.doc_id for row in listed.context["rows"]] == ["B", "A", "D"]
    assert shows(listed, "2 of 3")
    sample = Sample.objects.get()
    assert sent.url == reverse("audit:checks", args=["tides"])
    assert sample.items.count() == 3
    assert sample.below is None
    page = carla.get(sample.get_absolute_url()).content.decode()
    assert shows(page, "says nothing about the rest")
    assert shows(page, "at least 1 of 3 runs do not rank in the first 5")


@pytest.mark.parametrize(
    ("invalid", "sentence"),
    [
        ({"runs": []}, "Choose at least one run."),
        ({"runs": ["0"]}, "One of these is not a run of this project."),
        ({"runs": ["x"]}, "One of these is not a run of this project."),
        ({"at_least": "4"}, "4 runs cannot miss a document if only 3 are chosen."),
        ({"depth": "0"}, "greater than or equal to 1"),
        ({"below": "nan"}, "Enter a number"),
        ({"below": "1e999"}, "Enter a number"),
        ({"claims": "moon"}, "Select a valid choice"),
    ],
)
def test_the_page_explains_an_invalid_rule(tides, carla, invalid, sentence):
    shown = carla.get(URL, form_data(**invalid))
    sent = carla.post(URL, form_data(name="Look again", stratify="none", **invalid))

    assert sentence in shown.content.decode()
    assert sent.status_code == 422
    assert not Sample.objects.exists()


def test_a_sample_without_a_name_is_refused(tides, carla):
    response = carla.post(URL, form_data(name="", stratify="none"))

    assert response.status_code == 422
    assert "Give the sample a name." in response.content.decode()


def test_the_page_says_what_to_do_without_runs(tides, carla):
    RunLine.objects.all().delete()
    Run.objects.all().delete()

    page = carla.get(URL)
    sent = carla.post(URL, form_data(name="Look again", stratify="none"))

    assert page.status_code == 200
    assert "There are no runs yet" in page.content.decode()
    assert sent.status_code == 422


def test_a_long_list_is_paged_and_costs_the_same(tides, carla, django_assert_max_num_queries):
    query = tides.queries.get(query_id="301")
    for number in range(120):
        factories.candidate(query, f"M{number:03}", prior=1)

    seen = []
    address = (
        URL
        + "?"
        + "&".join(
            f"{name}={value}"
            for name, values in form_data().items()
            for value in (values if isinstance(values, list) else [values])
        )
    )
    while address:
        with django_assert_max_num_queries(20) as queries:
            page = carla.get(address)
        assert not any("documenttext" in one["sql"].lower() for one in queries.captured_queries)
        seen += [row.claim.doc_id for row in page.context["rows"]]
        address = URL + page.context["next_url"] if page.context["next_url"] else ""

    assert len(seen) == len(set(seen)) == 123
    assert reverse("audit:suspects", args=["tides"]) == URL


# --- runs over instructions -----------------------------------------------------------------------


@pytest.fixture
def instructed(db):
    """A query with two instructions; a machine claims A under both. The run over instructions finds
    A only under the first; the run over queries finds it.
    """
    project = factories.project()
    query = factories.query(project, "110")
    candidate = factories.candidate(query, "A", prior=1)
    other = factories.document(project, "B")
    model = factories.machine(project)
    pairs = [factories.pair(query, pair_id=pair_id) for pair_id in ("110_0", "110_1")]
    over_instructions = Run.objects.create(
        project=project, name="instructed", sha256="0" * 64, side=Run.Side.ALTERED
    )
    for pair, document in zip(pairs, (candidate.document, other), strict=True):
        factories.judgment(factories.altered(pair), candidate, model, 1)
        RunLine.objects.create(
            run=over_instructions, query=query, pair=pair, document=document, rank=1, score=1.0
        )
    over_queries = Run.objects.create(project=project, name="queries", sha256="1" * 64)
    RunLine.objects.create(
        run=over_queries, query=query, document=candidate.document, rank=1, score=1.0
    )
    return project, model


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["instructed"], [("110_1", 1, 1)]),
        (["queries"], []),
        (["instructed", "queries"], [("110_1", 1, 2)]),
    ],
)
def test_a_run_over_instructions_counts_for_claims_under_the_same_instruction(
    instructed, names, expected
):
    project, model = instructed
    runs = list(Run.objects.filter(name__in=names))

    shown = find_suspects(
        project, ClaimSelection(Sample.Source.MACHINE, model), runs=runs, depth=10, at_least=1
    )

    assert [
        (one.claim.narrative.pair.pair_id, one.missed, one.of) for one in shown.suspects
    ] == expected


def test_a_run_over_instructions_does_not_count_for_claims_under_the_original(instructed):
    project, _model = instructed
    runs = list(Run.objects.filter(name="instructed"))

    shown = find_suspects(project, PRIOR, runs=runs, depth=10, at_least=1)

    assert (shown.suspects, shown.gold, shown.left_out) == ([], 0, 1)


def test_a_run_over_reversed_instructions_does_not_count_for_claims_under_the_altered_one(
    instructed,
):
    project, model = instructed
    Run.objects.filter(name="instructed").update(side=Run.Side.REVERSED)
    runs = list(Run.objects.filter(name="instructed"))

    shown = find_suspects(
        project, ClaimSelection(Sample.Source.MACHINE, model), runs=runs, depth=10, at_least=1
    )

    assert shown.suspects == []


def test_the_api_refuses_more_runs_than_there_are_as_the_page_does(tides, carla):
    answer = carla.get("/api/v1/projects/tides/suspects/", {"at_least": 4})

    assert answer.status_code == 422
    assert "4 runs cannot miss a document if only 3 are chosen." in answer.content.decode()


def test_labels_that_were_chosen_have_a_share_without_an_interval(tides):
    carla = tides.memberships.get(name="carla")
    runs = list(Run.objects.all())
    sample = samples.pick_suspects(
        name="Missed", selection=PRIOR, runs=runs, depth=4, at_least=3, by=carla
    )
    for name in ("ada", "ben"):
        actions.check(item=sample.items.get(), relevance=2, by=factories.member(tides, name))

    shown = Program("carla", "lead").send("GET", f"samples/{sample.pk}/figures/").json()

    rate = shown["overall"]["grade"]
    assert (rate["share"], rate["interval"], rate["at_most"]) == (0.0, None, None)
    assert shown["overall"]["more_grade"] is None
