"""Before a version is replaced people see what becomes stale, and a lead can go back to it."""

from __future__ import annotations

from io import BytesIO

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import (
    Adjudication,
    Assignment,
    AuditEvent,
    Candidate,
    InstructionPair,
    Judgment,
    Narrative,
    Project,
)
from annotate.rewriting import actions as rewriting
from annotate.rewriting import sending_back
from base.errors import Refused, Stale, Unconfirmed
from exporters.exports.selection.collection import pair_records
from formats.jsonl_pairs import write_pairs
from tests import factories
from tests.collection.arriving import load
from tests.pages import shows

pytestmark = pytest.mark.both_databases


@pytest.fixture
def pair(db):
    project = factories.project()
    query = factories.query(project)
    factories.candidate(query, "A")
    return factories.pair(query)


@pytest.fixture
def carla(pair):
    return factories.lead(pair.project)


@pytest.fixture
def judged(pair, carla):
    """Two judgments and a settlement under version 1 of the altered narrative."""
    candidate = pair.query.candidates.get()
    for name, relevance in (("ada", 0), ("ben", 1)):
        judge = factories.member(pair.project, name)
        assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=judge)
        judging.judge(
            narrative=factories.altered(pair), candidate=candidate, relevance=relevance, by=judge
        )
    altered = factories.altered(pair)
    Adjudication.objects.create(
        narrative=altered, candidate=candidate, relevance=1, reason="At sea.", by=carla
    )
    return altered


def rewrite(pair, by, text="At sea.", **fields):
    return rewriting.rewrite_narrative(pair=pair, text=text, by=by, **{"based_on": 1, **fields})


def current(pair):
    return pair.current(Narrative.Side.ALTERED).version


def test_a_new_version_is_refused_until_what_becomes_stale_is_confirmed(pair, judged, carla):
    with pytest.raises(
        Unconfirmed, match="2 judgments, 1 settling decision were given under version 1"
    ):
        rewrite(pair, carla, confirmed="")
    assert current(pair) == 1

    rewrite(pair, carla, confirmed="2 judgments, 1 settling decision")

    assert current(pair) == 2


def test_a_confirmation_of_other_answers_is_refused(pair, judged, carla):
    with pytest.raises(Unconfirmed):
        rewrite(pair, carla, confirmed="1 judgment")

    assert current(pair) == 1


def test_answers_on_a_document_that_was_taken_out_do_not_become_stale(pair, judged, carla):
    out = factories.candidate(pair.query, "B")
    factories.judgment(judged, out, factories.member(pair.project, "dan"), 1)
    Candidate.objects.filter(pk=out.pk).update(
        removed_at=timezone.now(), removed_reason="Twice in the pool."
    )

    rewrite(pair, carla, confirmed="2 judgments, 1 settling decision")

    assert current(pair) == 2


def test_a_version_without_answers_is_replaced_without_a_confirmation(pair, carla):
    rewrite(pair, carla, confirmed="")

    assert current(pair) == 2


def test_going_back_makes_the_answers_of_that_version_count_again(pair, judged, carla):
    rewrite(pair, carla)
    in_force = Judgment.objects.current().filter(narrative__in=Narrative.objects.current())
    assert in_force.count() == 0

    rewriting.go_back(narrative=judged, confirmed="", by=carla)

    assert current(pair) == 1
    assert in_force.count() == 2
    assert pair.assignments.filter(done_at=None).count() == 0


def test_going_back_is_undone_by_going_to_the_later_version(pair, judged, carla):
    second = rewrite(pair, carla)
    rewriting.go_back(narrative=judged, by=carla)

    rewriting.go_back(narrative=second, confirmed="2 judgments, 1 settling decision", by=carla)

    assert current(pair) == 2


def test_going_back_also_tells_what_becomes_stale(pair, judged, carla):
    second = rewrite(pair, carla)
    rewriting.go_back(narrative=judged, by=carla)

    with pytest.raises(Unconfirmed):
        rewriting.go_back(narrative=second, confirmed="", by=carla)


def test_the_number_of_a_withdrawn_version_is_not_used_again(pair, judged, carla):
    rewrite(pair, carla)
    rewriting.go_back(narrative=judged, by=carla)

    third = rewrite(pair, carla, text="On land.")

    assert (third.version, current(pair)) == (3, 3)


def test_a_text_begun_under_a_withdrawn_version_is_not_saved(pair, judged, carla):
    rewrite(pair, carla)
    rewriting.go_back(narrative=judged, by=carla)

    with pytest.raises(Stale, match="A lead went back to version 1"):
        rewrite(pair, carla, text="On land.", based_on=2)


def test_a_document_is_not_judged_under_a_withdrawn_version(pair, judged, carla):
    second = rewrite(pair, carla)
    rewriting.go_back(narrative=judged, by=carla)

    with pytest.raises(Refused):
        judging.judge(
            narrative=second,
            candidate=pair.query.candidates.get(),
            relevance=1,
            by=pair.project.memberships.get(name="ada"),
        )


def test_only_a_lead_goes_back(pair, judged, carla):
    rewrite(pair, carla)

    with pytest.raises(Refused, match="Only leads"):
        rewriting.go_back(narrative=judged, by=pair.project.memberships.get(name="ada"))

    assert current(pair) == 2


def test_going_back_to_the_current_version_is_refused(pair, judged, carla):
    with pytest.raises(Refused, match="Version 1 is the current version already"):
        rewriting.go_back(narrative=judged, by=carla)


def test_both_are_in_the_activity_log_with_what_became_stale(pair, judged, carla):
    rewrite(pair, carla)
    rewriting.go_back(narrative=judged, by=carla)

    events = AuditEvent.objects.order_by("pk").values_list("what", "about", "words", "changes")
    assert list(events) == [
        (
            "narrative.replaced",
            "301 · altered",
            "answers that became stale: 2 judgments, 1 settling decision",
            {"version": [1, 2]},
        ),
        ("narrative.returned", "301 · altered", "", {"version": [2, 1]}),
    ]


def test_the_activity_log_counts_what_a_writer_who_may_not_know_it_made_stale(pair, judged):
    dan = factories.member(pair.project, "dan")
    pair.assignments.create(member=dan, task="rewrite", seat=1)
    # One more answer is wanted, so the writer may not know of the others.
    Project.objects.update(overlap_judge=3)
    pair = InstructionPair.objects.get(pk=pair.pk)

    rewrite(pair, dan, confirmed="")

    event = AuditEvent.objects.get(what="narrative.replaced")
    assert event.words == "answers that became stale: 2 judgments, 1 settling decision"


def test_a_writer_who_may_not_see_answers_does_not_learn_that_there_are_any(pair, judged):
    dan = factories.member(pair.project, "dan")

    assert rewriting.stale_answers(judged, dan) == ""


def test_the_rewrite_page_asks_with_the_numbers(pair, judged, carla, client):
    client.force_login(carla.user)
    address = reverse("annotate:rewrite", args=[pair.pk])
    written = {"text": "At sea.", "based_on": 1}

    assert "Make 2 judgments, 1 settling decision stale" in client.get(address).content.decode()
    assert client.post(address, written).status_code == 422
    assert current(pair) == 1
    client.post(address, {**written, "confirmed": "2 judgments, 1 settling decision"})
    assert current(pair) == 2


def test_the_page_says_if_there_are_no_answers_to_confirm_any_more(pair, carla, client):
    client.force_login(carla.user)
    written = {"text": "At sea.", "based_on": 1, "confirmed": "2 judgments"}

    refused = client.post(reverse("annotate:rewrite", args=[pair.pk]), written)

    assert refused.status_code == 422
    assert shows(refused, "The answers under this version have changed meanwhile. Look again.")


def test_the_page_of_a_version_goes_back_to_it(pair, judged, carla, client):
    rewrite(pair, carla)
    client.force_login(carla.user)

    page = client.get(reverse("annotate:narrative", args=[pair.pk, judged.pk])).content.decode()
    client.post(reverse("annotate:narrative_current", args=[pair.pk, judged.pk]))

    assert "Counts again: 2 judgments, 1 settling decision, given under this version." in page
    assert current(pair) == 1


def test_the_page_of_a_version_that_was_sent_back_does_not_say_that_its_answers_count(
    pair, judged, carla, client
):
    sending_back.send_back(pair=pair, version=1, reason="Too short.", by=carla)
    rewrite(pair, carla)
    client.force_login(carla.user)

    page = client.get(reverse("annotate:narrative", args=[pair.pk, judged.pk])).content.decode()

    assert "Counts again" not in page
    assert shows(page, "It was sent back: until that is taken back, nobody judges it")


def test_a_lead_who_judges_is_not_told_that_there_are_no_answers(pair, judged, carla, client):
    rewrite(pair, carla)
    pair.assignments.create(member=carla, task="judge", seat=3)
    client.force_login(carla.user)

    page = client.get(reverse("annotate:narrative", args=[pair.pk, judged.pk])).content.decode()

    assert "No answer was given" not in page
    assert "2 judgments" not in page
    assert "You judge this instruction" in page


def test_the_api_describes_confirms_and_goes_back(pair, judged, carla, client):
    client.force_login(carla.user)
    base = f"/api/v1/pairs/{pair.pk}"
    sent = {"text": "At sea.", "based_on": 1}
    json = {"content_type": "application/json"}

    answers = client.get(f"{base}/stale-answers/").json()
    assert answers == {"version": 1, "answers": "2 judgments, 1 settling decision"}
    assert client.post(f"{base}/narratives/", sent, **json).status_code == 422
    confirmed = {**sent, "confirmed": answers["answers"]}
    assert client.post(f"{base}/narratives/", confirmed, **json).status_code == 201
    back = client.put(f"{base}/narratives/{judged.pk}/current/", {}, **json)
    assert (back.status_code, current(pair)) == (200, 1)


NEXT = '{"query_id": "301", "narratives": [{"side": "altered", "version": 2, "text": "At sea."}]}'
WITHDRAWN = NEXT.replace(
    '"text"', '"withdrawn_by": "carla", "withdrawn_at": "2026-11-20T10:00:00Z", "text"'
)


def test_a_load_says_what_its_narratives_make_stale(pair, judged):
    report = load(pair.project, "pairs-jsonl", NEXT, dry_run=True)

    assert "Answers under the present one: 2 judgments, 1 settling decision" in " ".join(
        report.notes
    )


def test_topics_with_other_narratives_say_what_becomes_stale(pair, judged, carla):
    candidate, ada = pair.query.candidates.get(), pair.project.memberships.get(name="ada")
    factories.judgment(pair.current(Narrative.Side.ORIGINAL), candidate, ada)

    report = load(pair.project, "topics-json", '{"query_id": "301", "narrative": "Any dam."}')

    assert "Answers under the present one: 1 judgment." in " ".join(report.notes)
    assert "answers under earlier narratives: 1 judgment" in AuditEvent.objects.get().words


def test_a_file_carries_who_withdrew_a_version(pair, judged):
    load(pair.project, "pairs-jsonl", WITHDRAWN)

    again = load(pair.project, "pairs-jsonl", WITHDRAWN)

    assert current(pair) == 1
    assert (again.new, again.changed) == (0, 0)


def test_a_version_in_use_is_withdrawn_by_a_file(pair, judged):
    load(pair.project, "pairs-jsonl", NEXT)
    assert current(pair) == 2

    report = load(pair.project, "pairs-jsonl", WITHDRAWN)

    assert (current(pair), report.changed) == (1, 1)


def test_an_export_of_the_record_reads_back_with_the_withdrawn_version(pair, judged, carla):
    rewrite(pair, carla)
    rewriting.go_back(narrative=judged, by=carla)
    stream = BytesIO()

    write_pairs(pair_records(pair.project), stream)
    moved = factories.project("moved")
    load(moved, "pairs-jsonl", stream.getvalue())

    assert current(moved.pairs.get()) == 1
    again = BytesIO()
    write_pairs(pair_records(moved), again)
    assert again.getvalue() == stream.getvalue()
