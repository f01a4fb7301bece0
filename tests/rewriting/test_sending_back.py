"""A lead sends a narrative back to its writer with a reason, and can take that back."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import Assignment, AuditEvent, Narrative, Project
from annotate.rewriting import actions as rewriting
from annotate.rewriting import sending_back
from annotate.rewriting.sending_back import why_sent_back
from base.errors import Refused, Stale
from tests import factories
from tests.programs import Program

pytestmark = pytest.mark.both_databases
REASON = "Name the river, not the country."


@pytest.fixture
def pair(db):
    query = factories.query(factories.project())
    factories.candidate(query, "A")
    return factories.pair(query, altered=None)


@pytest.fixture
def carla(pair):
    return factories.lead(pair.project)


@pytest.fixture
def ada(pair):
    """The writer of version 1 of the altered narrative, whose task is done."""
    ada = factories.member(pair.project, "ada")
    assignments.take(pair=pair, task=Assignment.Task.REWRITE, by=ada)
    rewriting.rewrite_narrative(pair=pair, text="Only plants in Wales.", based_on=0, by=ada)
    return ada


def send_back(pair, by, **changes):
    return sending_back.send_back(pair=pair, **{"version": 1, "reason": REASON, **changes}, by=by)


def page(pair):
    return reverse("annotate:rewrite", args=[pair.pk])


def test_its_writer_finds_it_among_their_tasks_with_the_reason(pair, ada, carla, client):
    client.force_login(ada.user)
    assert "sent back" not in client.get(reverse("annotate:home")).content.decode()

    send_back(pair, carla)

    assert "sent back" in client.get(reverse("annotate:home")).content.decode()
    shown = client.get(page(pair)).content.decode()
    assert REASON in shown
    assert "Take that back" not in shown
    assert 'id="send-back"' not in shown


def test_nobody_judges_it_until_there_is_a_new_version(pair, ada, carla):
    ben = factories.member(pair.project, "ben")
    send_back(pair, carla)
    assert assignments.take_next(task=Assignment.Task.JUDGE, by=ben) is None

    rewriting.rewrite_narrative(pair=pair, text="Only on the Severn.", based_on=1, by=ada)

    taken = assignments.take_next(task=Assignment.Task.JUDGE, by=ben)
    assert taken
    assert taken.pair == pair
    pair.refresh_from_db()
    assert why_sent_back(pair, ada) is None


def test_taking_it_back_makes_everything_as_before(pair, ada, carla):
    send_back(pair, carla)

    sending_back.take_back(pair=pair, by=carla)

    kept = pair.current("altered")
    assert (kept.sent_back_at, kept.sent_back_by, kept.sent_back_reason) == (None, None, "")
    ben = factories.member(pair.project, "ben")
    taken = assignments.take_next(task=Assignment.Task.JUDGE, by=ben)
    assert taken
    assert taken.pair == pair


def test_both_are_in_the_audit_log(pair, ada, carla):
    send_back(pair, carla)
    sending_back.take_back(pair=pair, by=carla)

    events = AuditEvent.objects.filter(what__startswith="narrative").order_by("pk")
    assert [(one.what, one.name, one.words) for one in events] == [
        ("narrative.sent_back", "carla", REASON),
        ("narrative.kept", "carla", REASON),
    ]


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"reason": " "}, Refused, "Give a reason"),
        ({"reason": "x" * 2001}, Refused, "The reason has 2,001 characters; at most 2,000."),
        ({"version": 7}, Stale, "Version 1 was saved meanwhile. Read it first."),
    ],
)
def test_bad_input_is_refused_and_nothing_is_sent_back(pair, ada, carla, changes, error, sentence):
    with pytest.raises(error, match=sentence):
        send_back(pair, carla, **changes)

    assert pair.current("altered").sent_back_at is None


def test_it_is_sent_back_once(pair, ada, carla):
    send_back(pair, carla)

    with pytest.raises(Refused, match="It is sent back already"):
        send_back(pair, carla)


def test_a_narrative_that_is_not_written_is_not_sent_back(pair, carla):
    with pytest.raises(Refused, match="no altered narrative yet"):
        send_back(pair, carla)


def test_only_leads_send_back(pair, ada, carla):
    with pytest.raises(Refused, match="Only leads"):
        send_back(pair, ada)
    send_back(pair, carla)
    with pytest.raises(Refused, match="Only leads"):
        sending_back.take_back(pair=pair, by=ada)


def test_an_archived_project_stays_as_it_is(pair, ada, carla):
    Project.objects.update(archived_at="2026-11-16T00:00Z", archived_by=carla.user)
    carla.project.refresh_from_db()

    with pytest.raises(Refused, match="archived"):
        send_back(pair, carla)


def test_what_is_not_sent_back_cannot_be_taken_back(pair, ada, carla):
    with pytest.raises(Refused, match="It is not sent back"):
        sending_back.take_back(pair=pair, by=carla)
    send_back(pair, carla)
    rewriting.rewrite_narrative(pair=pair, text="Only on the Severn.", based_on=1, by=ada)
    with pytest.raises(Refused, match="It is not sent back, or has a new version already"):
        sending_back.take_back(pair=pair, by=carla)


def test_what_a_decision_sent_back_is_not_taken_back_here(pair, ada, carla):
    rewriting.send_back(pair=pair, by=carla)

    with pytest.raises(Refused, match="Withdraw that decision"):
        sending_back.take_back(pair=pair, by=carla)


def test_a_lead_sends_it_back_on_the_page_and_takes_it_back(pair, ada, carla, client):
    client.force_login(carla.user)
    assert 'id="send-back"' in client.get(page(pair)).content.decode()

    where = reverse("annotate:send_back", args=[pair.pk])
    refused = client.post(where, {"version": 1, "reason": ""})
    assert refused.status_code == 422
    assert "Give a reason; its writer will read it." in refused.content.decode()
    sent = client.post(where, {"version": 1, "reason": REASON}, follow=True).content.decode()
    assert REASON in sent
    assert 'id="send-back"' not in sent

    back = client.post(reverse("annotate:take_back", args=[pair.pk]), follow=True)
    assert "Taken back" in back.content.decode()


def test_a_reason_of_several_lines_is_shown_in_its_lines(pair, ada, carla, client):
    client.force_login(carla.user)
    where = reverse("annotate:send_back", args=[pair.pk])

    sent = client.post(
        where, {"version": 1, "reason": "Name the river.\r\nKeep the year."}, follow=True
    )

    assert (
        pair.current(Narrative.Side.ALTERED).sent_back_reason == "Name the river.\nKeep the year."
    )
    assert "Name the river.<br>Keep the year." in sent.content.decode()


def test_a_line_end_counts_once_in_the_length_of_a_reason(pair, ada, carla, client):
    client.force_login(carla.user)
    where = reverse("annotate:send_back", args=[pair.pk])

    client.post(where, {"version": 1, "reason": "r\r\n" * 999 + "ab"})

    assert len(pair.current(Narrative.Side.ALTERED).sent_back_reason) == 2_000


def test_a_version_saved_meanwhile_is_sent_back_by_sending_once_more(pair, ada, carla, client):
    rewriting.rewrite_narrative(pair=pair, text="At the coast of Wales.", based_on=1, by=ada)
    client.force_login(carla.user)
    where = reverse("annotate:send_back", args=[pair.pk])

    stale = client.post(where, {"version": 1, "reason": REASON})
    sending = stale.context["sending"]
    client.post(where, {"version": sending["version"].value(), "reason": sending["reason"].value()})

    assert "Version 2 was saved meanwhile. Read it first." in stale.content.decode()
    assert pair.current(Narrative.Side.ALTERED).sent_back_reason == REASON


def test_a_reason_stays_on_the_page_if_another_lead_was_faster(pair, ada, carla, client):
    send_back(pair, carla, reason="Too short.")
    client.force_login(carla.user)
    where = reverse("annotate:send_back", args=[pair.pk])

    refused = client.post(where, {"version": 1, "reason": REASON}).content.decode()

    assert "It is sent back already." in refused
    assert REASON in refused


def test_the_page_says_which_answers_do_not_count_meanwhile(pair, ada, carla, client):
    ben = factories.member(pair.project, "ben")
    factories.judgment(pair.current(Narrative.Side.ALTERED), pair.query.candidates.get(), ben, 1)
    client.force_login(carla.user)

    shown = client.get(page(pair)).content.decode()

    assert "Kept, and not counted meanwhile: 1 judgment." in shown


def test_a_program_sends_back_reads_why_and_takes_back(pair, ada, carla):
    lead, writer = Program("carla", "lead"), Program("ada", "judge")
    where = f"pairs/{pair.pk}/sent-back/"
    assert writer.send("GET", where).status_code == 404

    stale = lead.send("PUT", where, {"version": 2, "reason": REASON})
    sent = lead.send("PUT", where, {"version": 1, "reason": REASON})

    assert stale.status_code == 409
    assert (sent.json()["by"], sent.json()["reason"]) == ("carla", REASON)
    assert writer.send("GET", where).json()["reason"] == REASON
    assert writer.send("DELETE", where).status_code == 403
    assert lead.send("DELETE", where).status_code == 204
    assert writer.send("GET", where).status_code == 404
