"""Queries and instructions that are taken out are not worked on and not in qrels."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from annotate.collection import views
from annotate.collection.removal import INSTRUCTIONS, QUERIES
from annotate.judgments import completion
from annotate.models import AuditEvent, InstructionPair, Judgment, Query
from annotate.rewriting import actions as rewriting
from audit.checks.queue import waiting_to_check
from audit.models import Sample, SampleItem
from base.errors import Refused
from exporters.exports.selection import selection
from tests import factories
from tests.programs import Program

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


class Two:
    """Query 301 with two instructions, 302 with one; each has one document, judged by ada."""

    def __init__(self) -> None:
        self.project = factories.project(overlap_judge=1)
        self.carla = factories.lead(self.project)
        self.ada = factories.member(self.project, "ada")
        self.q1, self.q2 = (factories.query(self.project, one) for one in ("301", "302"))
        self.pairs = [
            factories.pair(self.q1, pair_id="301_1"),
            factories.pair(self.q1, pair_id="301_2"),
            factories.pair(self.q2, pair_id="302"),
        ]
        candidates = {
            query.pk: factories.candidate(query, f"D{query.query_id}", prior=1)
            for query in (self.q1, self.q2)
        }
        for pair in self.pairs:
            factories.judgment(factories.altered(pair), candidates[pair.query_id], self.ada, 1)

    def take_out(self, *queries: Query, reason: str = "No narrative.") -> None:
        keys = [one.pk for one in queries]
        QUERIES.remove(project=self.project, keys=keys, reason=reason, by=self.carla)

    def bring_back(self, *queries: Query) -> None:
        QUERIES.restore(project=self.project, keys=[one.pk for one in queries], by=self.carla)

    def take_pair_out(self, *pairs: InstructionPair, reason: str = "Too vague.") -> None:
        keys = [one.pk for one in pairs]
        INSTRUCTIONS.remove(project=self.project, keys=keys, reason=reason, by=self.carla)

    def alive(self) -> list[str]:
        return sorted(pair.pair_id for pair in self.project.pairs.alive())


@pytest.fixture
def two(db) -> Two:
    return Two()


def test_a_query_is_taken_out_with_its_instructions_and_not_worked_on(two):
    assert completion.judging(two.project).wanted == 3

    two.take_out(two.q1)

    assert two.alive() == ["302"]
    assert completion.judging(two.project).wanted == 1
    assert completion.rewriting_progress(two.project).wanted == 1
    assert Judgment.objects.current().count() == 3


def test_a_query_taken_out_is_not_in_qrels_or_topics(two):
    two.take_out(two.q1)

    queries, pairs = selection.queries(two.project), selection.pairs(two.project)
    assert [query.query_id for query in queries] == ["302"]
    assert [line.query_id for line in selection.prior_qrels(queries)] == ["302"]
    assert [pair.pair_id for pair in selection.written_pairs(pairs, "altered")] == ["302"]
    assert selection.prior_relevant(two.project) == 1


def test_a_query_brings_back_only_the_instructions_taken_out_with_it(two):
    two.take_pair_out(two.pairs[0])
    two.take_out(two.q1)
    assert two.alive() == ["302"]

    two.bring_back(two.q1)

    assert two.alive() == ["301_2", "302"]
    assert not Query.objects.filter(removed_at__isnull=False).exists()


def test_an_instruction_is_taken_out_alone_and_brought_back(two):
    two.take_pair_out(two.pairs[0])
    assert two.alive() == ["301_2", "302"]

    INSTRUCTIONS.restore(project=two.project, keys=[two.pairs[0].pk], by=two.carla)

    assert two.alive() == ["301_1", "301_2", "302"]


def test_an_instruction_cannot_be_brought_back_without_its_query(two):
    two.take_out(two.q1)

    with pytest.raises(Refused, match="301_1 is taken out with its query"):
        INSTRUCTIONS.restore(project=two.project, keys=[two.pairs[0].pk], by=two.carla)


def test_an_instruction_removed_by_a_decision_cannot_be_brought_back(two):
    rewriting.remove(pair=two.pairs[2], by=two.carla)

    with pytest.raises(Refused, match="302 was removed by a decision"):
        INSTRUCTIONS.restore(project=two.project, keys=[two.pairs[2].pk], by=two.carla)


def test_withdrawing_a_decision_does_not_bring_back_what_was_taken_out(two):
    two.take_pair_out(two.pairs[2])
    rewriting.remove(pair=two.pairs[2], by=two.carla)

    rewriting.undo_decision(pair=two.pairs[2], by=two.carla)

    assert two.alive() == ["301_1", "301_2"]


def test_labels_of_a_query_taken_out_are_not_checked(two):
    narrative = two.pairs[2].current("altered")
    sample = Sample.objects.create(
        project=two.project, name="s", source="consensus", seed=1, size=1, created_by=two.carla
    )
    candidate = two.q2.candidates.get()
    SampleItem.objects.create(sample=sample, narrative=narrative, candidate=candidate, claimed=1)
    assert waiting_to_check([two.ada])[two.ada.pk].number == 1

    two.take_out(two.q2)

    assert waiting_to_check([two.ada])[two.ada.pk].number == 0


def test_the_rows_and_the_audit_log_record_who_and_why(two):
    two.take_out(two.q1, two.q2)

    rows = [*Query.objects.all(), *InstructionPair.objects.all()]
    assert {(row.removed_by, row.removed_reason) for row in rows} == {(two.carla, "No narrative.")}
    event = AuditEvent.objects.get(what="queries.removed")
    assert (event.about, event.words) == ("2 queries · 301, 302", "No narrative.")


def test_a_query_taken_out_twice_keeps_its_first_reason(two):
    two.take_out(two.q1)
    two.take_out(two.q1, two.q2, reason="Too many.")

    reasons = dict(Query.objects.values_list("query_id", "removed_reason"))
    assert reasons == {"301": "No narrative.", "302": "Too many."}


def test_new_instructions_of_a_query_taken_out_are_taken_out(two, tmp_path):
    two.take_out(two.q2)
    file = tmp_path / "pairs.jsonl"
    file.write_text(
        '{"pair_id": "302_2", "query_id": "302", "narratives": '
        '[{"side": "altered", "version": 1, "text": "Only spring tides."}]}\n',
        encoding="utf-8",
    )

    call_command("load", "tides", "pairs-jsonl", str(file))

    brought = InstructionPair.objects.get(pair_id="302_2")
    assert brought.removed_reason == "No narrative."
    two.bring_back(two.q2)
    assert two.alive() == ["301_1", "301_2", "302", "302_2"]


@pytest.mark.parametrize(("reason", "sentence"), [("  ", "Say why"), ("x" * 501, "at most 500")])
def test_nothing_is_taken_out_without_a_valid_reason(two, reason, sentence):
    with pytest.raises(Refused, match=sentence):
        two.take_out(two.q1, reason=reason)

    assert len(two.alive()) == 3


def test_queries_of_another_project_are_refused(two):
    other = factories.query(factories.project("other"))

    with pytest.raises(Refused, match="does not belong to this project"):
        two.take_out(two.q1, other)

    assert len(two.alive()) == 3


def test_unknown_ids_are_named(two):
    assert QUERIES.keys_of(two.project, ["302", "301"]) == [two.q2.pk, two.q1.pk]
    assert INSTRUCTIONS.keys_of(two.project, ["302"]) == [two.pairs[2].pk]
    with pytest.raises(Refused, match="There is no query 303 in this project"):
        QUERIES.keys_of(two.project, ["301", "303"])


def test_the_database_refuses_a_removal_without_its_reason_or_time(two):
    for rows, fields in (
        (Query.objects.filter(pk=two.q1.pk), {"removed_at": timezone.now()}),
        (Query.objects.filter(pk=two.q1.pk), {"removed_reason": "Why"}),
        (InstructionPair.objects.filter(query=two.q1), {"removed_reason": "Why"}),
        (InstructionPair.objects.filter(query=two.q1), {"removed_at": timezone.now()}),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(**fields)


def test_a_command_takes_out_lists_and_brings_back(two, capsys):
    call_command("queries", "tides", "remove", "--query", "301", "--reason", "No narrative.")
    call_command("queries", "tides", "list")
    call_command("queries", "tides", "restore", "--query", "301")

    assert capsys.readouterr().out.splitlines() == [
        "1 taken out, 0 unchanged",
        "query\t301\tNo narrative.",
        "1 brought back, 0 unchanged",
    ]
    assert len(two.alive()) == 3


def test_a_lead_takes_out_and_brings_back_several_queries_on_the_pages(two, client):
    client.force_login(two.carla.user)
    sent = {"queries": [two.q1.pk, two.q2.pk], "reason": "Not needed."}

    taken = client.post(reverse("annotate:removal", args=["tides", "queries"]), sent, follow=True)
    page = client.get(reverse("annotate:removed_queries", args=["tides"])).content.decode()
    client.post(
        reverse("annotate:restoration", args=["tides", "queries"]), {"queries": [two.q1.pk]}
    )

    assert "2 queries were taken out." in taken.content.decode()
    assert "Not needed." in page
    assert two.alive() == ["301_1", "301_2"]


def test_an_instruction_taken_out_is_listed_with_the_id_of_a_query_without_a_title(two, client):
    type(two.q1).objects.update(title="")
    two.take_pair_out(two.pairs[0])
    client.force_login(two.carla.user)

    page = client.get(reverse("annotate:removed_queries", args=["tides"])).content.decode()

    assert "<bdi>301</bdi>" in page


def test_many_instructions_taken_out_come_in_pages(two, client, monkeypatch):
    monkeypatch.setattr(views, "FIRST", 1)
    two.take_pair_out(*two.pairs)
    client.force_login(two.carla.user)
    address = reverse("annotate:removed_queries", args=["tides"])

    first = client.get(address)
    every = client.get(address, {"show": "instructions"})
    later = client.get(address, {"show": "instructions", "after": two.pairs[0].pk})

    assert first.context["pairs"] == two.pairs[:1]
    assert "All 3 instructions taken out" in first.content.decode()
    assert every.context["pairs"] == two.pairs
    assert later.context["pairs"] == two.pairs[1:]
    assert "instructions taken out</a>" not in later.content.decode()


def test_the_api_takes_out_and_brings_back_instructions(two):
    program = Program("carla", "lead")
    sent = {"pairs": ["301_1"], "reason": "Too vague."}

    done = program.send("POST", "projects/tides/removed-pairs/", sent)
    listed = program.get("projects/tides/removed-pairs/").json()["results"]
    program.send("POST", "projects/tides/removed-pairs/restoration/", {"pairs": ["301_1"]})

    assert done.json() == {"changed": 1, "unchanged": 0}
    assert [(one["id"], one["reason"]) for one in listed] == [("301_1", "Too vague.")]
    assert len(two.alive()) == 3


def test_a_kind_that_does_not_exist_is_not_found(two, client):
    client.force_login(two.carla.user)

    for route in ("removal", "restoration"):
        address = reverse(f"annotate:{route}", args=["tides", "people"])
        assert client.post(address, {"people": [1]}).status_code == 404
