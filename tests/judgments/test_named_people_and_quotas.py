"""A lead names the people who may take a query's tasks, and sets quotas of tasks."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotate.judging.actions import judge
from annotate.judgments import assignments, open_pairs
from annotate.models import Assignment, AuditEvent, Judgment, Membership, NamedPerson, User
from annotate.overview.forms import QueryPeopleForm
from annotate.pairs.named_people import name_people, named_people
from annotate.people.members import set_quota
from base.errors import Refused
from tests import factories
from tests.pages import shows

pytestmark = pytest.mark.both_databases

JUDGE, REWRITE, REVIEW = Assignment.Task.JUDGE, Assignment.Task.REWRITE, Assignment.Task.REVIEW


@pytest.fixture
def carla(db):
    """The lead of a project with two queries, 301 and 302, each with a document to judge."""
    project = factories.project(overlap_rewrite=0)
    for query_id in ("301", "302"):
        query = factories.query(project, query_id)
        factories.candidate(query)
        factories.pair(query)
    return factories.lead(project)


@pytest.fixture
def first(carla):
    return carla.project.queries.get(query_id="301")


@pytest.fixture
def ada(carla):
    return factories.member(carla.project, "ada")


@pytest.fixture
def ben(carla):
    return factories.member(carla.project, "ben")


def offered(by, task=JUDGE):
    """Return the ids of the queries on which `by` is offered a task."""
    by = Membership.objects.select_related("project").get(pk=by.pk)
    work = open_pairs.open_work_of(task=task, members=[by])[by.pk]
    found = by.project.queries.filter(pk__in=[one.query for one in work])
    assert open_pairs.is_any_open(task=task, by=by) is bool(work)
    return sorted(found.values_list("query_id", flat=True))


def take_assignment(by, query_id="302"):
    pair = by.project.pairs.get(query__query_id=query_id)
    return assignments.take(pair=pair, task=JUDGE, by=by)


def test_a_query_without_named_people_is_open_to_everybody(ada, ben):
    assert offered(ada) == offered(ben) == ["301", "302"]


def test_only_named_people_are_offered_a_task(carla, first, ada, ben):
    name_people(query=first, people={JUDGE: [ada.pk]}, by=carla)

    assert (offered(ada), offered(ben)) == (["301", "302"], ["302"])
    assert offered(ben, REVIEW) == ["301", "302"]
    with pytest.raises(Refused, match="Every task on this one is taken"):
        take_assignment(ben, "301")
    assert take_assignment(ada, "301").member == ada


def test_a_task_opens_to_everybody_again_when_all_who_were_named_have_left(carla, first, ada, ben):
    name_people(query=first, people={JUDGE: [ada.pk]}, by=carla)

    Membership.objects.filter(pk=ada.pk).update(left_at=ada.joined_at)

    assert offered(ben) == ["301", "302"]


def test_a_task_opens_to_everybody_again_when_the_accounts_of_all_named_are_closed(
    carla, first, ada, ben
):
    name_people(query=first, people={JUDGE: [ada.pk]}, by=carla)

    User.objects.filter(pk=ada.user_id).update(is_active=False)

    assert offered(ben) == ["301", "302"]


def test_a_task_that_somebody_holds_stays_theirs_when_others_are_named(carla, first, ada, ben):
    held = take_assignment(ben, "301")
    name_people(query=first, people={JUDGE: [ada.pk]}, by=carla)

    assert assignments.take_next(task=JUDGE, by=ben) == held


def test_a_judgment_made_offline_before_others_were_named_is_accepted(carla, first, ada, ben):
    name_people(query=first, people={JUDGE: [ada.pk]}, by=carla)
    set_quota(member=ben, most_tasks=0, by=carla)
    ben.refresh_from_db()
    pair = first.pairs.get()

    judge(
        narrative=factories.altered(pair),
        candidate=first.candidates.get(),
        relevance=1,
        uuid=uuid4(),
        by=ben,
        late=True,
    )

    assert Judgment.objects.current().get().annotator == ben


def test_a_quota_limits_offers_and_assignments(carla, ada):
    set_quota(member=ada, most_tasks=1, by=carla)
    ada.refresh_from_db()
    held = take_assignment(ada, "301")
    assignments.touch(held, done=True, now=held.taken_at)

    assert offered(ada) == []
    with pytest.raises(Refused, match="at most 1 task in this project"):
        assignments.take_next(task=JUDGE, by=ada)
    with pytest.raises(Refused, match="at most 1 task"):
        take_assignment(ada, "302")


def test_a_task_that_is_held_is_given_again_at_the_quota(carla, ada):
    held = assignments.take_next(task=JUDGE, by=ada)
    set_quota(member=ada, most_tasks=1, by=carla)
    ada.refresh_from_db()

    assert assignments.take_next(task=JUDGE, by=ada) == held


def test_a_quota_applies_to_one_person_only(carla, ada, ben):
    set_quota(member=ada, most_tasks=0, by=carla)

    assert (offered(ada), offered(ben)) == ([], ["301", "302"])


def test_somebody_is_named_once_for_a_task(first, ada):
    NamedPerson.objects.create(query=first, task=JUDGE, member=ada)

    with pytest.raises(IntegrityError), transaction.atomic():
        NamedPerson.objects.create(query=first, task=JUDGE, member=ada)


def test_only_people_of_the_project_who_sign_in_are_named(carla, first):
    outside = factories.member(factories.project("moon"), "eve")
    machine = factories.machine(carla.project)

    for one in (outside, machine):
        with pytest.raises(Refused, match=f"no such member in this project: {one.pk}"):
            name_people(query=first, people={JUDGE: [one.pk]}, by=carla)


def test_the_audit_log_says_who_was_named_and_what_the_quota_was(carla, first, ada):
    name_people(query=first, people={JUDGE: [ada.pk]}, by=carla)
    name_people(query=first, people={JUDGE: [ada.pk]}, by=carla)
    set_quota(member=ada, most_tasks=5, by=carla)

    named = AuditEvent.objects.get(what="query.people")
    assert (named.about, named.changes) == ("301", {"judge": [[], ["ada"]]})
    assert AuditEvent.objects.get(what="member.quota").changes == {"most_tasks": [None, 5]}


def test_only_leads_name_people_and_set_quotas(first, ada):
    with pytest.raises(Refused, match="Only leads"):
        name_people(query=first, people={JUDGE: [ada.pk]}, by=ada)
    with pytest.raises(Refused, match="Only leads"):
        set_quota(member=ada, most_tasks=1, by=ada)


def test_the_page_of_a_query_names_people(client, carla, first, ada):
    client.force_login(carla.user)
    page = reverse("annotate:query_people", args=["tides", first.pk])

    shown = client.get(page).content.decode()
    assert "2 people do this for each instruction" in shown
    assert 'name="rewrite"' not in shown
    client.post(page, {"judge": [ada.pk]})

    assert named_people(first) == {"rewrite": set(), "judge": {ada.pk}, "review": set()}
    assert client.post(page, {"judge": ["0"]}).status_code == 422


def test_people_are_not_named_over_what_another_lead_chose_meanwhile(client, carla, first, ada):
    client.force_login(carla.user)
    page = reverse("annotate:query_people", args=["tides", first.pk])
    opened = {"token": client.get(page).context["token"]}
    name_people(query=first, people={JUDGE: [ada.pk]}, by=carla)

    refused = client.post(page, {**opened, "judge": [carla.pk]})
    assert refused.status_code == 422
    assert shows(refused, "Somebody has changed this since you opened the page")
    assert named_people(first)[JUDGE] == {ada.pk}

    client.post(page, {"token": refused.context["token"], "judge": [carla.pk]})
    assert named_people(first)[JUDGE] == {carla.pk}


def test_the_form_states_how_many_people_do_a_task_where_nobody_can_be_named(carla, first):
    form = QueryPeopleForm(
        project=carla.project, people=[], named=named_people(first), is_urgent=False
    )

    assert list(form.fields) == ["judge", "review", "urgent"]
    assert form.fields["judge"].help_text.startswith("2 people do this for each instruction.")


def test_the_page_of_members_sets_a_quota_and_takes_it_away(client, carla, ada):
    client.force_login(carla.user)
    change = reverse("annotate:member", args=["tides", ada.pk])

    for typed, most in (("3", 3), ("three", 3), ("99999", 3), ("", None)):
        client.post(change, {"change": "quota", "most_tasks": typed})
        ada.refresh_from_db()
        assert ada.most_tasks == most


def test_programs_name_people_and_set_quotas(client, carla, first, ada):
    client.force_login(carla.user)
    people = reverse("annotate:api_query_people", args=["tides", first.pk])
    member = reverse("annotate:api_member", args=["tides", ada.pk])

    named = client.put(people, {"judge": [ada.pk]}, content_type="application/json").json()
    assert named == client.get(people).json() == {"rewrite": [], "judge": [ada.pk], "review": []}
    changed = client.patch(member, {"most_tasks": 3}, content_type="application/json").json()
    assert changed["most_tasks"] == 3
    assert "most_tasks" not in client.get(member).json()
