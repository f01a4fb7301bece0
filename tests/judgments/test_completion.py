"""Progress has one definition: how much is wanted and how much is done, whatever its source.

Every page and endpoint that shows the progress of a project agrees: the home page, the project
page, the queries, the dashboard, the API, the offered assignments, and whether a lead may see
figures.
"""

from __future__ import annotations

import re
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.judging import actions as judging
from annotate.judgments import assignments, completion, open_pairs
from annotate.judgments.assignments import my_assignments
from annotate.judgments.blindness import must_answer_first
from annotate.models import Assignment, Candidate, Flag, InstructionPair, Membership, Project
from annotate.overview.progress import query_progress, task_progress
from annotate.projects.actions import change_rules
from annotate.projects.kinds import KindGrade
from annotate.rewriting import actions as rewriting
from base.errors import Refused
from tests import factories
from tests.collection.arriving import load

JUDGE, REWRITE, REVIEW = Assignment.Task.JUDGE, Assignment.Task.REWRITE, Assignment.Task.REVIEW
DOCUMENTS = ("A", "B", "C")


@pytest.fixture
def tides(db):
    """Two queries with three documents each, to be judged by two people; carla leads."""
    project = factories.project(overlap_judge=2, overlap_review=0)
    made = SimpleNamespace(project=project, pairs={}, candidates={})
    for query_id in ("301", "302"):
        query = factories.query(project, query_id)
        for doc_id in DOCUMENTS:
            document = project.documents.filter(doc_id=doc_id).first()
            document = document or factories.document(project, doc_id)
            made.candidates[query_id, doc_id] = Candidate.objects.create(
                query=query, document=document, prior_relevance=1, origin="prior"
            )
        made.pairs[query_id] = factories.pair(query)
    made.ada, made.ben = factories.member(project, "ada"), factories.member(project, "ben")
    made.dan, made.carla = factories.member(project, "dan"), factories.lead(project)
    return made


def load_judgments(project: Project, *lines: str) -> None:
    """Load judgments, each line as "query doc annotator relevance"."""
    rows = [line.replace(" ", ",") for line in lines]
    content = "\n".join(["query_id,doc_id,annotator,relevance", *rows]) + "\n"
    report = load(project, "judgments-csv", content, "judgments.csv")
    assert not report.refused, report.problems


def whole_query(by: str, query_id: str) -> list[str]:
    """Return the lines of a file in which one person judges a whole query."""
    return [f"{query_id} {doc_id} {by} 1" for doc_id in DOCUMENTS]


def counted(reader: Membership) -> dict[str, Any]:
    """Return the progress: (answered, wanted), (done, total) of each task, and answers left."""
    found = completion.judging(reader.project)
    return {
        "answers": (found.answered, found.wanted),
        "left": found.left,
        "assignments": {one.task: (one.done, one.total) for one in task_progress(reader, found)},
    }


def counts_on_pages(reader: Membership) -> dict[str, Any]:
    """Return what `counted` does, from every page and endpoint that shows progress."""
    client = Client()
    assert reader.user is not None
    client.force_login(reader.user)
    slug = reader.project.slug

    def context(name: str) -> Any:
        return client.get(reverse(f"annotate:{name}", args=[slug])).context

    def summed(rows: Any) -> tuple[int, int]:
        listed = list(rows)
        return sum(one["answered"] for one in listed), sum(one["wanted"] for one in listed)

    project, progress = context("project"), context("progress")
    api = client.get(f"/api/v1/projects/{slug}/progress/").json()
    pace = client.get(f"/api/v1/projects/{slug}/pace/").json()
    home = client.get(reverse("annotate:home")).content.decode()
    led = re.search(r"([0-9]+) of ([0-9]+)", home[home.index("home-project") :])
    assert led is not None
    return {
        "answers": {
            "home": (int(led[1]), int(led[2])),
            "project": (project["judging"].answered, project["judging"].wanted),
            "its queries": summed(map(vars, project["rows"])),
            "queries": summed(map(vars, context("queries")["rows"])),
            "dashboard": (progress["judging"].answered, progress["judging"].wanted),
            "API progress": (api["answered"], api["wanted"]),
            "API pace": (pace["answered"], pace["wanted"]),
            "API queries": summed(
                client.get(f"/api/v1/projects/{slug}/queries/").json()["results"]
            ),
        },
        "assignments": {
            "project": {one.task: (one.done, one.total) for one in project["tasks"]},
            "dashboard": {one.task: (one.done, one.total) for one in progress["tasks"]},
            "API progress": {one["task"]: (one["done"], one["total"]) for one in api["tasks"]},
            "API pace": {one["task"]: (one["done"], one["total"]) for one in pace["tasks"]},
        },
        "left": {"dashboard": progress["judging"].left, "API pace": pace["left"]},
        "outlooks": [progress["outlook"], *(one.outlook for one in progress["tasks"])],
    }


# --- judgments from files -------------------------------------------------------------------------


def test_judgments_from_a_file_fill_assignments(tides):
    """A regression: 20 "open" assignments led to pages that showed "229 of 229"."""
    for query_id in ("301", "302"):
        load_judgments(tides.project, *whole_query("ada", query_id), *whole_query("ben", query_id))

    found = counted(tides.carla)

    assert (found["answers"], found["left"]) == ((12, 12), 0)
    assert found["assignments"]["judge"] == (4, 4)
    for anybody in (tides.ada, tides.ben, tides.dan):
        assert assignments.take_next(task=JUDGE, by=anybody) is None
        assert open_pairs.count_free_assignments(tides.pairs["301"], JUDGE, anybody) == 0
    assert Assignment.objects.count() == 0


def test_an_author_of_loaded_judgments_is_not_offered_the_assignment_but_others_are(tides):
    load_judgments(tides.project, *whole_query("ada", "301"))
    pair = tides.pairs["301"]

    assert [
        open_pairs.count_free_assignments(pair, JUDGE, by) for by in (tides.ada, tides.ben)
    ] == [0, 1]
    assert list(open_pairs.open_pairs(task=JUDGE, by=tides.ada)) == [tides.pairs["302"]]
    assignments.take(pair=pair, task=JUDGE, by=tides.ben)
    assert open_pairs.count_free_assignments(pair, JUDGE, tides.dan) == 0


def test_a_document_that_a_file_left_out_keeps_an_assignment_open(tides):
    lines = [*whole_query("ada", "301"), *whole_query("ben", "301")]
    load_judgments(tides.project, *lines[:-1])
    pair = tides.pairs["301"]

    assert [
        open_pairs.count_free_assignments(pair, JUDGE, by)
        for by in (tides.ada, tides.ben, tides.dan)
    ] == [
        0,  # she judged all of them
        1,
        1,
    ]
    assert counted(tides.carla)["assignments"]["judge"] == (1, 4)


def test_judgments_from_a_file_end_an_assignment_that_was_taken_before(tides):
    for by in (tides.ada, tides.carla):
        assignments.take(pair=tides.pairs["301"], task=JUDGE, by=by, become_blind=True)
    assert must_answer_first(tides.carla)

    load_judgments(tides.project, *whole_query("ada", "301"), *whole_query("carla", "301"))

    assert [assignment.done_at for assignment in Assignment.objects.all()] == [None, None]
    assert my_assignments(tides.ada) == my_assignments(tides.carla) == []
    assert not must_answer_first(tides.carla)
    assert counted(tides.carla)["assignments"]["judge"] == (2, 4)


def test_an_author_of_loaded_judgments_can_still_take_an_assignment(tides):
    load_judgments(tides.project, *whole_query("ada", "301"))

    assignment = assignments.take(pair=tides.pairs["301"], task=JUDGE, by=tides.ada)

    assert (assignment.seat, my_assignments(tides.ada)) == (1, [])
    assert open_pairs.count_free_assignments(tides.pairs["301"], JUDGE, tides.ben) == 1


def test_a_machine_fills_no_assignment(tides):
    machine = factories.machine(tides.project)
    under = factories.altered(tides.pairs["301"])
    for doc_id in DOCUMENTS:
        factories.judgment(under, tides.candidates["301", doc_id], machine)

    found = counted(tides.carla)

    assert (found["answers"], found["assignments"]["judge"]) == ((0, 12), (0, 4))
    assert open_pairs.count_free_assignments(tides.pairs["301"], JUDGE, tides.ada) == 2


# --- every page and endpoint ----------------------------------------------------------------------


@pytest.mark.parametrize("complete", [True, False])
def test_every_page_and_endpoint_agrees(tides, complete):
    load_judgments(
        tides.project,
        *(line for query in ("301", "302") for line in whole_query("ada", query)),
        *whole_query("ben", "301"),
    )
    assignments.take(pair=tides.pairs["302"], task=JUDGE, by=tides.ben)
    for doc_id in DOCUMENTS if complete else "AB":
        answer(tides, "flag" if doc_id == "A" else "page", "ben", "302", doc_id)

    found = counts_on_pages(tides.carla)

    counts = counted(tides.carla)
    assert counts["answers"] == ((12, 12) if complete else (11, 12))
    assert counts["assignments"] == {"rewrite": (2, 2), "judge": (4, 4) if complete else (3, 4)}
    for name in ("answers", "assignments", "left"):
        assert dict.fromkeys(found[name], counts[name]) == found[name]
    assert (set(found["outlooks"]) == {"nothing_left"}) is complete


# --- any mixture ----------------------------------------------------------------------------------

PEOPLE = ("ada", "ben", "dan")
ANSWERS = st.lists(
    st.tuples(
        st.sampled_from(["page", "file", "flag", "later", "machine", "older"]),
        st.sampled_from(PEOPLE),
        st.sampled_from(["301", "302"]),
        st.sampled_from(DOCUMENTS),
    ),
    max_size=24,
)


def answer(tides: SimpleNamespace, kind: str, name: str, query_id: str, doc_id: str) -> bool:
    """Answer a document in some way, and return whether the answer counts."""
    pair, candidate = tides.pairs[query_id], tides.candidates[query_id, doc_id]
    under, by = factories.altered(pair), getattr(tides, name)
    if kind == "machine":
        machine = Membership.objects.filter(project=tides.project, is_machine=True).first()
        machine = machine or factories.machine(tides.project)
        if not machine.statements.filter(narrative=under, candidate=candidate).exists():
            factories.judgment(under, candidate, machine)
        return False
    if kind == "older":
        older = pair.narratives.get(side="original")
        if not by.statements.filter(narrative=older, candidate=candidate).exists():
            factories.judgment(older, candidate, by)
        return False
    if kind == "file":
        load_judgments(tides.project, f"{query_id} {doc_id} {name} 1")
        return True
    if not assignments.holds(pair=pair, task=JUDGE, by=by):
        try:
            assignments.take(pair=pair, task=JUDGE, by=by)
        except Refused:
            return False
    fields = {"narrative": under, "candidate": candidate, "by": by}
    if kind == "page":
        judging.judge(relevance=0, **fields)
        return True
    judging.flag(kind="later" if kind == "later" else "problem", words="Torn.", **fields)
    return kind == "flag"


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(answers=ANSWERS)
def test_any_mixture_of_answers_is_counted_once_each(tides, answers):
    with transaction.atomic():
        final: dict[tuple[str, str], set[str]] = {
            (query_id, doc_id): set() for query_id in tides.pairs for doc_id in DOCUMENTS
        }
        for kind, name, query_id, doc_id in answers:
            counts = answer(tides, kind, name, query_id, doc_id)
            if counts:
                final[query_id, doc_id].add(name)
            elif kind == "later" and assignments.holds(
                pair=tides.pairs[query_id], task=JUDGE, by=getattr(tides, name)
            ):
                # A "later" flag replaces the person's answer.
                final[query_id, doc_id].discard(name)

        found = counted(tides.carla)

        assert found["answers"] == (sum(min(len(by), 2) for by in final.values()), 12)
        assert found["left"] == 12 - found["answers"][0]
        fewest = [
            min(min(len(final[query_id, doc_id]), 2) for doc_id in DOCUMENTS)
            for query_id in tides.pairs
        ]
        assert found["assignments"]["judge"] == (sum(fewest), 4)
        by_query = query_progress(tides.carla, list(tides.project.queries.order_by("query_id")))
        assert [one.answered for one in by_query] == [
            sum(min(len(final[query_id, doc_id]), 2) for doc_id in DOCUMENTS)
            for query_id in tides.pairs
        ]
        for name in PEOPLE:
            held = {
                assignment.pair_id
                for assignment in Assignment.objects.filter(member__name=name, task=JUDGE)
            }
            still = {
                pair.pk
                for query_id, pair in tides.pairs.items()
                if pair.pk in held
                and any(name not in final[query_id, doc_id] for doc_id in DOCUMENTS)
            }
            assert {
                assignment.pair_id
                for assignment in completion.open_assignments(getattr(tides, name))
            } == still
        assigned = {
            query_id: set(pair.assignments.values_list("member__name", flat=True))
            for query_id, pair in tides.pairs.items()
        }
        free = {
            query_id: max(
                0,
                *(2 - len(final[query_id, doc_id] | assigned[query_id]) for doc_id in DOCUMENTS),
            )
            for query_id in tides.pairs
        }
        eva = factories.member(tides.project, "eva")
        assert free == {
            query_id: open_pairs.count_free_assignments(pair, JUDGE, eva)
            for query_id, pair in tides.pairs.items()
        }
        people: Counter[int] = Counter()
        for (_pair, person), answers in completion.answers_by_pair(tides.project).items():
            people[person] += answers
        by_name = Counter(name for names in final.values() for name in names)
        assert {name: people[getattr(tides, name).pk] for name in PEOPLE} == {
            name: by_name[name] for name in PEOPLE
        }
        transaction.set_rollback(True)


# --- rules and rewriting --------------------------------------------------------------------------


@pytest.mark.parametrize("holder", ["nobody", "the lead", "an annotator"])
def test_a_rewriting_by_a_lead_ends_the_assignment(tides, client, holder):
    """A regression: "12 of 12 assignments done" and "0 of 1" described the same assignments."""
    pair = InstructionPair.objects.create(
        project=tides.project, query=tides.pairs["301"].query, pair_id="301-b"
    )
    factories.narrative(pair, "original", "Any plant counts.")
    if holder != "nobody":
        by = tides.carla if holder == "the lead" else tides.ada
        assignments.take(pair=pair, task=REWRITE, by=by)
        pair.assignments.update(touched_at=Membership.objects.get(pk=by.pk).joined_at)

    rewriting.rewrite_narrative(pair=pair, text="At sea only.", by=tides.carla, based_on=0)

    assert counted(tides.carla)["assignments"]["rewrite"] == (3, 3)
    assert my_assignments(tides.carla) == my_assignments(tides.ada) == []
    assert all(assignment.done_at for assignment in pair.assignments.all())


def test_rewrite_assignments_that_older_versions_left_open_are_done_as_well(tides):
    pair = tides.pairs["301"]
    Assignment.objects.create(pair=pair, task=REWRITE, seat=1, member=tides.carla)

    assert my_assignments(tides.carla) == []
    assert counted(tides.carla)["assignments"]["rewrite"] == (2, 2)
    client = Client()
    client.force_login(tides.carla.user)
    (listed,) = client.get("/api/v1/projects/tides/assignments/?open=false").json()["results"]
    assert listed["open"] is False
    assert client.get("/api/v1/projects/tides/assignments/").json()["results"] == []


def test_documents_that_new_rules_put_before_judges_open_an_assignment_again(tides):
    tides.candidates["302", "C"].prior_relevance = 0
    tides.candidates["302", "C"].save()
    assignments.take(pair=tides.pairs["302"], task=JUDGE, by=tides.ada)
    for doc_id in ("A", "B"):
        answer(tides, "page", "ada", "302", doc_id)
    assert my_assignments(tides.ada) == []

    grades = [KindGrade(0, "No"), KindGrade(1, "Yes"), KindGrade(2, "Very")]
    change_rules(changes={"judge_scope": Project.Scope.POOL}, grades=grades, by=tides.carla)
    tides.ada.project.refresh_from_db()

    ((done, total),) = [(mine.done, mine.total) for mine in my_assignments(tides.ada)]
    assert (done, total) == (2, 3)


def test_a_flag_counts_in_ones_own_assignment_as_everywhere(tides):
    assignments.take(pair=tides.pairs["301"], task=JUDGE, by=tides.ada)
    answer(tides, "flag", "ada", "301", "A")
    answer(tides, "page", "ada", "301", "B")

    (mine,) = my_assignments(tides.ada)

    assert (mine.done, mine.total) == (2, 3)
    assert counted(tides.carla)["answers"] == (2, 12)


def test_the_database_refuses_a_flag_beside_a_judgment_of_the_same_person(tides):
    under, candidate = factories.altered(tides.pairs["301"]), tides.candidates["301", "A"]
    factories.judgment(under, candidate, tides.ada)

    with pytest.raises(IntegrityError), transaction.atomic():
        Flag.objects.create(
            narrative=under, candidate=candidate, annotator=tides.ada, flag="problem"
        )

    assert counted(tides.carla)["answers"] == (1, 12)


def test_imported_judgments_set_no_last_time(tides, client):
    load_judgments(tides.project, *whole_query("ada", "301"))
    client.force_login(tides.carla.user)

    page = client.get(reverse("annotate:project", args=["tides"]))

    (ada,) = [one for one in page.context["people"] if one.member == tides.ada]
    assert (ada.answered, ada.last_at) == (3, None)
    assert "imported judgments were given elsewhere." in page.content.decode()
