"""Cached counts of a narrative are recomputed after every kind of change: the cache never differs
from the rows.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.collection.removal import QUERIES
from annotate.guidelines import rejudge_requests
from annotate.judging import actions as judging
from annotate.judgments import cached_counts, completion
from annotate.judgments.rule_report import rule_report
from annotate.models import (
    Adjudication,
    Candidate,
    Condition,
    ConditionAdjudication,
    Flag,
    Judgment,
    Membership,
    RejudgeRequest,
    Revision,
)
from annotate.overview.pace import Calendar, people_pace
from annotate.overview.progress import query_progress
from annotate.pools.removal import DOCUMENTS
from annotate.projects.models import Project
from audit.reports.differences import differences
from audit.settling import adjudication, queue
from audit.settling.queue_filters import Kind, QueueFilter
from base.errors import Refused, Stale
from tests import factories
from tests.collection.arriving import jsonl, load

pytestmark = pytest.mark.both_databases

DOC_IDS = ("A", "B", "C")
TABLES = {
    "statement": ("insert", "update", "delete"),
    "adjudication": ("insert", "update", "delete"),
    "conditionadjudication": ("insert", "update", "delete"),
    "candidate": ("insert", "update", "delete"),
}


class Scene:
    """ada, ben and dan judge two queries with three documents each; carla leads.

    The altered narrative of the first query has a condition.
    """

    def __init__(self) -> None:
        self.project = factories.project(overlap_judge=3, judge_scope="pool")
        self.carla = factories.lead(self.project)
        self.people = [factories.member(self.project, name) for name in ("ada", "ben", "dan")]
        self.model = factories.machine(self.project)
        texts = [{"doc_id": name, "text": f"Text of {name}."} for name in DOC_IDS]
        load(self.project, "docs-jsonl", jsonl(*texts))
        for query_id in ("301", "302"):
            query = factories.query(self.project, query_id)
            for name in DOC_IDS:
                Candidate.objects.create(
                    query=query,
                    document=self.project.documents.get(doc_id=name),
                    prior_relevance=1,
                    origin="prior",
                )
            factories.pair(query)
        first = factories.altered(self.pairs()[0])
        Condition.objects.create(narrative=first, number=1, text="At sea.")
        self.versions = 1

    def pairs(self) -> list[Any]:
        return list(self.project.pairs.order_by("pk").select_related("project", "query"))

    # --- possible actions; each is refused where it does not apply ---

    def judge(self, who: int, where: int, what: int) -> None:
        pair, candidate = self._place(where)
        narrative = factories.altered(pair)
        by = self.people[who]
        answers = ("met", "not_met", "cant_tell")
        verdicts = {one.pk: answers[(what + who) % 3] for one in narrative.conditions.all()}
        judging.judge(
            narrative=narrative,
            candidate=candidate,
            relevance=what,
            note="Because of this.",
            verdicts=verdicts,
            by=by,
            late=True,
        )

    def flag(self, who: int, where: int, what: int) -> None:
        pair, candidate = self._place(where)
        judging.flag(
            narrative=factories.altered(pair),
            candidate=candidate,
            kind=(Flag.Kind.LATER, Flag.Kind.CANNOT_JUDGE, Flag.Kind.PROBLEM)[what],
            words="The text ends.",
            by=self.people[who],
            late=True,
        )

    def withdraw(self, who: int, where: int, what: int) -> None:
        pair, candidate = self._place(where)
        rows = [*Judgment.objects.current(), *Flag.objects.current()]
        mine = [one for one in rows if one.annotator_id == self.people[who].pk]
        for one in mine:
            if one.candidate_id == candidate.pk:
                judging.withdraw(uuid=one.uuid, pair=pair, by=self.people[who])

    def settle(self, who: int, where: int, what: int) -> None:
        pair, candidate = self._place(where)
        adjudication.adjudicate(
            narrative=factories.altered(pair), candidate=candidate, relevance=what, **self._how()
        )

    def settle_condition(self, who: int, where: int, what: int) -> None:
        pair, candidate = self._place(where)
        for one in factories.altered(pair).conditions.all():
            adjudication.settle_condition(
                condition=one, candidate=candidate, answer="met", **self._how()
            )

    def unsettle(self, who: int, where: int, what: int) -> None:
        for one in Adjudication.objects.current():
            adjudication.withdraw_adjudication(adjudication=one, by=self.carla)

    def unsettle_condition(self, who: int, where: int, what: int) -> None:
        for one in ConditionAdjudication.objects.current():
            adjudication.withdraw_adjudication(adjudication=one, by=self.carla)

    def send_back(self, who: int, where: int, what: int) -> None:
        for one in Judgment.objects.current().of_people().filter(annotator=self.people[who])[:1]:
            rejudge_requests.ask(statement=one, words="Look again.", by=self.carla)

    def withdraw_requests(self, who: int, where: int, what: int) -> None:
        for one in RejudgeRequest.objects.open():
            rejudge_requests.withdraw(rejudge_request=one, by=self.carla)

    def take_out(self, who: int, where: int, what: int) -> None:
        _pair, candidate = self._place(where)
        DOCUMENTS.remove(project=self.project, keys=[candidate.pk], reason="Twice.", by=self.carla)

    def bring_back(self, who: int, where: int, what: int) -> None:
        _pair, candidate = self._place(where)
        DOCUMENTS.restore(project=self.project, keys=[candidate.pk], by=self.carla)

    def take_query_out(self, who: int, where: int, what: int) -> None:
        pair, _candidate = self._place(where)
        QUERIES.remove(project=self.project, keys=[pair.query_id], reason="Odd.", by=self.carla)

    def bring_query_back(self, who: int, where: int, what: int) -> None:
        pair, _candidate = self._place(where)
        QUERIES.restore(project=self.project, keys=[pair.query_id], by=self.carla)

    def new_text(self, who: int, where: int, what: int) -> None:
        self.versions += 1
        record = {"doc_id": DOC_IDS[where % 3], "text": f"Text {self.versions}."}
        load(self.project, "docs-jsonl", jsonl(record))

    def new_narrative(self, who: int, where: int, what: int) -> None:
        pair, _candidate = self._place(where)
        version = factories.altered(pair).version + 1
        factories.narrative(pair, version=version, text=f"Version {version}.")

    def load_judgments(self, who: int, where: int, what: int) -> None:
        pair, candidate = self._place(where)
        name = "model" if what == 2 else self.people[who].name
        load(
            self.project,
            "judgments-jsonl",
            jsonl(
                {
                    "query_id": pair.pair_id,
                    "doc_id": candidate.document.doc_id,
                    "annotator": name,
                    "relevance": what,
                }
            ),
        )

    def change_rules(self, who: int, where: int, what: int) -> None:
        Project.objects.filter(pk=self.project.pk).update(
            judge_scope=("pool", "relevant", "pool")[what],
            consensus=("unanimous", "majority", "majority")[what],
            relevant_from=1 + who % 2,
        )

    def add_to_pool(self, who: int, where: int, what: int) -> None:
        pair, _candidate = self._place(where)
        query_id, doc_id = pair.query.query_id, ("D", "E", "F")[what]
        texts = [{"doc_id": doc_id, "text": f"Text of {doc_id}."}]
        load(self.project, "docs-jsonl", jsonl(*texts))
        load(self.project, "trec-qrels", f"{query_id} 0 {doc_id} {1 + who % 2}\n".encode())

    def delete_from_pool(self, who: int, where: int, what: int) -> None:
        """As a purge would; here of a document that nobody has judged."""
        pair, _candidate = self._place(where)
        Candidate.objects.filter(query=pair.query_id, document__doc_id__in=("D", "E", "F")).delete()

    def delete(self, who: int, where: int, what: int) -> None:
        """Delete rows as a purge does, here only flags."""
        Flag.objects.filter(annotator=self.people[who]).delete()

    def _how(self) -> dict[str, Any]:
        return {"reason": "Read.", "cause": "error", "by": self.carla}

    def _place(self, where: int) -> tuple[Any, Candidate]:
        pair = self.pairs()[where // 3]
        candidates = Candidate.with_removed.filter(query=pair.query_id).order_by("pk")
        return pair, candidates.select_related("document")[where % 3]


ACTIONS = sorted(name for name in vars(Scene) if not name.startswith("_") and name != "pairs")


@pytest.fixture
def scene(db) -> Scene:
    return Scene()


def figures(scene: Scene) -> dict[str, Any]:
    """Return every figure that is counted by narrative, as pages show it."""
    carla = Membership.objects.select_related("project").get(pk=scene.carla.pk)
    project = carla.project
    by_query = query_progress(carla, list(project.queries.order_by("pk")))
    return {
        "judging": completion.judging(project),
        "answers": +Counter(completion.answers_by_pair(project)),
        "queries": [
            (one.answered, one.kept, one.dropped, one.others, one.disputed) for one in by_query
        ],
        "disagreements": queue.count_disagreements(carla, QueueFilter()),
        "differences": differences(carla),
        "promises": [(one.counts, one.grown) for one in rule_report(carla).pairs],
        "paces": [
            (one.answered, one.effort, one.days[-1]) for one in people_pace(carla, Calendar.of(UTC))
        ],
    }


def disagreements_row_by_row(scene: Scene) -> int:
    """Return the number of disagreements from the uncached queries of the queue."""
    carla = Membership.objects.select_related("project").get(pk=scene.carla.pk)
    return sum(queue.count_by_kind(carla, QueueFilter()).values())


# ada and ben answer, and then everything that can happen to an answer happens.
STORY = [
    ("judge", 0, 0, 0),
    ("judge", 1, 0, 1),
    ("send_back", 1, 0, 0),
    ("withdraw_requests", 1, 0, 0),
    ("settle_condition", 0, 0, 0),
    ("unsettle_condition", 0, 0, 0),
    ("settle", 0, 0, 1),
    ("unsettle", 0, 0, 0),
    ("take_out", 0, 0, 0),
    ("bring_back", 0, 0, 0),
    ("withdraw", 1, 0, 0),
    ("flag", 1, 0, 1),
    ("withdraw", 1, 0, 0),
    ("flag", 1, 1, 2),
    ("delete", 1, 0, 0),
    ("load_judgments", 1, 0, 1),
    ("take_query_out", 0, 0, 0),
    ("bring_query_back", 0, 0, 0),
    ("new_text", 0, 0, 0),
    ("judge", 0, 0, 2),
    ("add_to_pool", 0, 0, 0),
    ("delete_from_pool", 0, 0, 0),
    ("new_narrative", 0, 0, 0),
]


def assert_cache_is_valid(scene: Scene, after: str) -> dict[str, Any]:
    cached = figures(scene)
    cached_counts.clear_caches()
    assert cached == figures(scene), after
    assert cached["disagreements"] == disagreements_row_by_row(scene), after
    return cached


def test_each_kind_of_change_updates_the_counts(scene):
    before = figures(scene)
    for name, who, where, what in STORY:
        getattr(scene, name)(who, where, what)
        found = assert_cache_is_valid(scene, name)
        # Every step changes a figure.
        assert found != before, name
        before = found


@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(ACTIONS), st.integers(0, 2), st.integers(0, 5), st.integers(0, 2)
        ),
        min_size=6,
        max_size=12,
    )
)
def test_cached_counts_equal_the_rows_after_any_actions(scene, actions):
    with transaction.atomic():
        figures(scene)
        for name, who, where, what in actions:
            try:
                with transaction.atomic():
                    getattr(scene, name)(who, where, what)
            except (Refused, Stale):
                pass
            assert_cache_is_valid(scene, name)
        transaction.set_rollback(True)


def test_counts_are_cached_while_nothing_changes(scene, django_assert_num_queries):
    scene.judge(0, 0, 1)
    scene.judge(1, 0, 2)
    scene.carla.refresh_from_db()
    completion.judging(scene.project)
    again = completion.judging(scene.project)

    # The pairs, the sizes of their pools, their narratives, and the revisions.
    with django_assert_num_queries(4):
        assert completion.judging(scene.project) == again
    assert again.answered == 2


def test_a_change_that_was_rolled_back_is_not_cached(scene):
    with transaction.atomic():
        scene.judge(0, 0, 1)
        within = completion.judging(scene.project).answered
        transaction.set_rollback(True)

    assert (within, completion.judging(scene.project).answered) == (1, 0)


def test_two_annotators_of_one_narrative_change_different_rows(scene):
    """Otherwise one would wait for the other."""
    scene.judge(0, 0, 1)
    scene.judge(1, 0, 1)
    scene.judge(1, 1, 1)

    narrative = factories.altered(scene.pairs()[0])
    sources = Revision.objects.filter(narrative=narrative).values_list("source", flat=True)
    assert sorted(sources) == sorted(one.pk for one in scene.people[:2])


def test_a_migrated_database_has_every_trigger(db):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            if connection.vendor == "sqlite"
            else "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
        )
        found = {name for (name,) in cursor.fetchall() if "_revises_" in name}
    assert found == {
        f"annotate_{table}_revises_{event}" for table, events in TABLES.items() for event in events
    }


def test_each_kind_of_disagreement_is_counted_once(scene):
    for who, what in enumerate((0, 1)):
        scene.judge(who, 0, what)

    counts = queue.count_by_kind(scene.carla, QueueFilter())
    assert (counts[Kind.JUDGMENT], counts[Kind.VERDICT]) == (1, 1)
    assert queue.count_disagreements(scene.carla, QueueFilter()) == 2


def test_a_project_with_more_narratives_than_the_cache_keeps_is_not_counted_anew(
    scene, monkeypatch
):
    monkeypatch.setattr(cached_counts, "MAX_CACHED", 1)
    counted: list[list[int]] = []

    def count(_rules, narratives):
        counted.append(narratives)
        return dict.fromkeys(narratives, 1)

    counts = cached_counts.CachedCounts(count)
    states = cached_counts.states_of_every([scene.project])
    counts.of(states, None)
    first, *others = states
    changed = [first._replace(revision=first.revision + 1), *others]

    assert counts.of(changed, None) == dict.fromkeys([state.narrative for state in states], 1)

    assert [len(narratives) for narratives in counted] == [len(states), 1]
    assert len(states) > 2
