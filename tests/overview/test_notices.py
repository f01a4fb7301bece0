"""Notices show a person what waits for them and what is new, by mail if they ask for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from smtplib import SMTPRecipientsRefused

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.core.management import call_command
from django.urls import reverse

from annotate.collection.removal import QUERIES
from annotate.judgments import assignments
from annotate.models import Assignment, Preferences, RejudgeRequest
from annotate.overview import notices
from annotate.overview.notices import mark_read, new_among, notices_of, seen_until, send_digests
from annotate.people.preferences import change_preferences
from annotate.pools.removal import DOCUMENTS
from annotate.projects.models import Membership
from base.users import User
from tests import factories

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def pair(db):
    """An instruction with a document to judge, created long ago."""
    project = factories.project(overlap_rewrite=0, overlap_review=0)
    query = factories.query(project)
    factories.candidate(query)
    made = factories.pair(query)
    made.narratives.update(created_at=LONG_AGO)
    return made


@pytest.fixture
def ada(pair):
    made = factories.member(pair.project, "ada")
    Membership.objects.update(joined_at=LONG_AGO)
    return made


def counts_of_notices(member):
    user = User.objects.get(pk=member.user_id)
    return {one.kind: one.count for one in notices_of(user)}


def new_kinds(member, since):
    user = User.objects.get(pk=member.user_id)
    return {one.kind for one in new_among(notices_of(user), since)}


def test_tasks_to_take_are_a_notice_and_are_new_again_with_a_new_narrative(pair, ada):
    assert counts_of_notices(ada) == {"open": 1}
    assert new_kinds(ada, NOON) == set()

    pair.narratives.filter(side="altered").update(created_at=NOON + HOUR)

    assert new_kinds(ada, NOON) == {"open"}


def test_an_instruction_that_was_taken_out_makes_tasks_to_take_no_newer(pair, ada):
    other = factories.pair(factories.query(pair.project, "302"))
    other.narratives.update(created_at=NOON + HOUR)
    assert new_kinds(ada, NOON) == {"open"}

    QUERIES.remove(project=pair.project, keys=[other.query_id], reason="Twice here.", by=None)

    assert counts_of_notices(ada) == {"open": 1}
    assert new_kinds(ada, NOON) == set()


def test_a_task_that_is_held_is_a_notice_until_its_work_is_done(pair, ada):
    assignments.take_next(task=Assignment.Task.JUDGE, by=ada)
    assert counts_of_notices(ada) == {"held": 1}

    candidate = pair.query.candidates.get()
    factories.judgment(factories.altered(pair), candidate, ada)

    assert counts_of_notices(ada) == {}


def test_a_rewriting_that_was_sent_back_is_a_notice_to_its_author_alone(pair, ada):
    ben, carla = factories.member(pair.project, "ben"), factories.lead(pair.project)
    written = pair.narratives.filter(side="altered")
    written.update(author=ada, sent_back_at=NOON, sent_back_by=carla)

    assert counts_of_notices(ada)["sent-back"] == 1
    assert "sent-back" not in counts_of_notices(ben) | counts_of_notices(carla)
    assert new_kinds(ada, NOON - HOUR) >= {"sent-back"}

    factories.narrative(pair, version=2, author=ada, created_at=NOON + HOUR)
    assert "sent-back" not in counts_of_notices(ada)


def test_a_request_to_look_again_is_a_notice_to_the_author_of_the_judgment(pair, ada):
    ben, carla = factories.member(pair.project, "ben"), factories.lead(pair.project)
    candidate = pair.query.candidates.get()
    judgment = factories.judgment(factories.altered(pair), candidate, ada)
    factories.assignment(pair, ada)
    RejudgeRequest.objects.create(statement=judgment, by=carla, words="Why?", at=NOON)

    assert counts_of_notices(ada) == {"held": 1, "look-again": 1}
    assert new_kinds(ada, NOON - HOUR) >= {"look-again"}
    assert "look-again" not in counts_of_notices(ben)


def write_a_new_version(pair):
    factories.narrative(pair, version=2)


def take_the_query_out(pair):
    carla = Membership.objects.get(role=Membership.Role.LEAD)
    QUERIES.remove(project=pair.project, keys=[pair.query_id], reason="Too broad.", by=carla)


def take_the_document_out(pair):
    carla = Membership.objects.get(role=Membership.Role.LEAD)
    keys = pair.query.candidates.values_list("pk", flat=True)
    DOCUMENTS.remove(project=pair.project, keys=list(keys), reason="Empty.", by=carla)


@pytest.mark.parametrize("change", [write_a_new_version, take_the_query_out, take_the_document_out])
def test_a_request_whose_document_is_not_judged_any_more_is_no_notice(pair, ada, change):
    carla = factories.lead(pair.project)
    judgment = factories.judgment(factories.altered(pair), pair.query.candidates.get(), ada)
    factories.assignment(pair, ada)
    RejudgeRequest.objects.create(statement=judgment, by=carla, words="Why?", at=NOON)

    change(pair)

    assert "look-again" not in counts_of_notices(ada)


def test_only_leads_get_notices_of_disagreements(pair, ada):
    carla, ben = factories.lead(pair.project), factories.member(pair.project, "ben")
    candidate, narrative = pair.query.candidates.get(), factories.altered(pair)
    factories.judgment(narrative, candidate, ada, 0, at=NOON)
    factories.judgment(narrative, candidate, ben, 1, at=NOON + HOUR)

    assert counts_of_notices(carla)["disputes"] == 1
    assert "disputes" not in counts_of_notices(ada) | counts_of_notices(ben)
    assert new_kinds(carla, NOON) >= {"disputes"}
    assert "disputes" not in new_kinds(carla, NOON + 2 * HOUR)


def test_a_lead_who_still_judges_gets_no_notice_of_disagreements(pair, ada):
    carla, ben = factories.lead(pair.project), factories.member(pair.project, "ben")
    candidate, narrative = pair.query.candidates.get(), factories.altered(pair)
    factories.assignment(pair, carla)
    factories.judgment(narrative, candidate, ada, 0)
    factories.judgment(narrative, candidate, ben, 1)

    assert "disputes" not in counts_of_notices(carla)


def test_marking_as_read_never_goes_back_or_into_the_future(ada):
    mark_read(until=NOON, by=ada.user, now=NOON)
    mark_read(until=NOON - HOUR, by=ada.user, now=NOON)
    assert seen_until(User.objects.get(username="ada")) == NOON

    mark_read(until=NOON + HOUR, by=ada.user, now=NOON + HOUR / 2)
    assert seen_until(User.objects.get(username="ada")) == NOON + HOUR / 2


def test_the_page_shows_what_is_new_until_it_is_marked_as_read(client, ada):
    client.force_login(ada.user)
    page, home = reverse("annotate:notices"), reverse("annotate:home")

    shown = client.get(page)
    assert "Tasks that you can take" in shown.content.decode()
    assert "1 new" in client.get(home).content.decode()
    client.post(page, {"until": shown.context["until"]})

    again = client.get(page).content.decode()
    assert "Tasks that you can take" in again
    assert "Mark all as read" not in again
    assert "1 new" not in client.get(home).content.decode()
    assert client.post(page, {"until": "soon"}).status_code == 302


def test_a_page_has_the_notices_of_fifty_projects_the_new_ones_first(client, ada, pair):
    for number in range(51):
        other = factories.project(f"other{number}", overlap_rewrite=0, overlap_review=0)
        other.memberships.create(user=ada.user, name="ada", role="annotator")
        query = factories.query(other)
        factories.candidate(query)
        factories.pair(query)
    mark_read(until=NOON, by=ada.user, now=NOON)
    client.force_login(ada.user)

    first, second = (client.get(reverse("annotate:notices"), {"page": page}) for page in (1, 2))

    assert (len(first.context["new"]), len(first.context["seen"])) == (50, 0)
    assert [one.project.slug for one in second.context["seen"]] == ["tides"]
    assert "51 to 52 of 52" in second.content.decode()
    assert "Mark all as read" in second.content.decode()


def test_programs_read_the_notices_of_the_page_and_mails_have_those_of_all(
    client, ada, pair, monkeypatch
):
    monkeypatch.setattr(notices, "PROJECTS_AT_ONCE", 1)
    other = factories.project("other", overlap_rewrite=0, overlap_review=0)
    other.memberships.create(user=ada.user, name="ada", role="annotator")
    query = factories.query(other)
    factories.candidate(query)
    factories.pair(query)
    User.objects.update(email="ada@example.org")
    change_preferences(mail_digest=True, by=ada.user)
    client.force_login(ada.user)

    in_api = [client.get(reverse("annotate:api_notices"), {"page": n}).json() for n in (1, 2, 3)]
    on_pages = [client.get(reverse("annotate:notices"), {"page": n}) for n in (1, 2)]
    send_digests()

    projects = [[notice["project"] for notice in part["notices"]] for part in in_api]
    assert projects == [["other"], ["tides"], []]
    assert [part["pages"] for part in in_api] == [2, 2, 2]
    assert [[one.project.slug for one in page.context["new"]] for page in on_pages] == projects[:2]
    [message] = mail.outbox
    assert "- Other: " in message.body
    assert "- Tides: " in message.body


def test_programs_read_notices_and_mark_them(client, ada):
    client.force_login(ada.user)
    url = reverse("annotate:api_notices")

    [notice] = client.get(url).json()["notices"]
    assert (notice["project"], notice["kind"], notice["new"]) == ("tides", "open", True)
    response = client.put(
        url, {"seen_until": "2020-01-01T00:00:00Z"}, content_type="application/json"
    )

    assert [one["new"] for one in response.json()["notices"]] == [False]


@pytest.fixture
def wants_mail(ada):
    User.objects.update(email="ada@example.org")
    change_preferences(mail_digest=True, by=ada.user)
    return ada


def test_nobody_gets_mail_without_asking_for_it(ada):
    User.objects.update(email="ada@example.org")

    assert send_digests(now=NOON) == 0


def test_new_notices_are_mailed_at_most_once_a_day(pair, wants_mail, settings):
    settings.CSRF_TRUSTED_ORIGINS = ["https://*.example.org", "https://rejudge.example.org"]
    assert send_digests(now=NOON) == 1
    [message] = mail.outbox
    assert (message.to, message.subject) == (["ada@example.org"], "[Rejudge] 1 notice")
    assert "- Tides: Tasks that you can take (1)" in message.body
    assert "https://rejudge.example.org/notices/" in message.body

    # Something new an hour later waits for the next day.
    pair.narratives.update(created_at=NOON + HOUR)
    assert send_digests(now=NOON + 2 * HOUR) == 0
    assert send_digests(now=NOON + 25 * HOUR) == 1
    # Nothing new, no mail.
    assert send_digests(now=NOON + 50 * HOUR) == 0


def test_notices_read_on_the_page_are_not_mailed(wants_mail):
    mark_read(until=NOON, by=wants_mail.user, now=NOON)

    assert send_digests(now=NOON + HOUR) == 0


def test_a_closed_account_gets_no_mail(wants_mail):
    User.objects.update(is_active=False)

    assert send_digests(now=NOON) == 0


def test_a_mail_that_could_not_be_sent_is_tried_again(wants_mail, monkeypatch):
    def fail(*args, **kwargs):
        raise ConnectionRefusedError

    with monkeypatch.context() as broken:
        broken.setattr("django.core.mail.EmailMessage.send", fail)
        assert send_digests(now=NOON) == 0
    assert Preferences.objects.get().digest_sent_at is None

    assert send_digests(now=NOON + HOUR) == 1


def test_a_refused_address_does_not_keep_mail_from_others(pair, wants_mail, monkeypatch):
    factories.member(pair.project, "ben")
    ben = User.objects.get(username="ben")
    User.objects.filter(pk=ben.pk).update(email="ben@example.org")
    change_preferences(mail_digest=True, by=ben)
    deliver = EmailMessage.send

    def refuse_ada(message, **options):
        if message.to == ["ada@example.org"]:
            raise SMTPRecipientsRefused({"ada@example.org": (550, b"no such mailbox")})
        return deliver(message, **options)

    monkeypatch.setattr(EmailMessage, "send", refuse_ada)

    assert send_digests(now=NOON) == 1
    assert [message.to for message in mail.outbox] == [["ben@example.org"]]
    assert Preferences.objects.get(user=wants_mail.user).digest_sent_at is None


def test_the_command_mails_what_is_due(wants_mail, capsys):
    call_command("notices")

    assert capsys.readouterr().out == "1 mail sent\n"


def test_the_settings_turn_mail_on_and_off(client, ada):
    client.force_login(ada.user)
    page = reverse("annotate:preferences")
    for choice, stored in (("yes", True), ("", True), ("no", False)):
        client.post(page, {"mail_digest": choice})
        assert Preferences.objects.get().mail_digest is stored

    response = client.patch(
        reverse("annotate:api_preferences"), {"mail_digest": True}, content_type="application/json"
    )
    assert response.json()["mail_digest"] is True
