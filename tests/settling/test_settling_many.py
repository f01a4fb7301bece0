"""Settling many documents at once by a rule, as previewed, and withdrawing them at once."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.urls import reverse

from annotate.guidelines import rejudge_requests
from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import Adjudication, Assignment
from audit.settling import adjudication
from audit.settling import queue as disagreements
from audit.settling import settle_many as batches
from audit.settling.queue_filters import Kind, QueueFilter
from audit.settling.settle_many import Rule, RuleChoice, preview, settle_many
from base.errors import Refused, Stale
from tests import factories
from tests.pages import shows

pytestmark = pytest.mark.both_databases

MAJORITY = RuleChoice(Rule.MAJORITY)
WHY: dict[str, Any] = {"cause": Adjudication.Cause.EDGE, "reason": "Agreed in the meeting."}
# The grades of ada, ben and dan for each document of 301; all were relevant before.
GRADES = {
    "A": (0, 0, 2),  # most give 0
    "B": (1, 2, 1),  # most give 1, and all find it relevant
    "C": (0, 1, 2),  # no majority
    "D": (2, 2, 0),  # most give 2
    "E": (1, 1, 1),  # nobody differs
}


class Scene:
    def __init__(self) -> None:
        self.project = factories.project(overlap_judge=3)
        self.carla = factories.lead(self.project)
        self.people = [factories.member(self.project, name) for name in ("ada", "ben", "dan")]
        self.ada, self.ben, self.dan = self.people
        self.query = factories.query(self.project)
        self.pair = factories.pair(self.query)
        self.narrative = factories.altered(self.pair)
        self.candidates = {doc_id: factories.candidate(self.query, doc_id) for doc_id in GRADES}
        for doc_id, grades in GRADES.items():
            for by, relevance in zip(self.people, grades, strict=True):
                factories.judgment(self.narrative, self.candidates[doc_id], by, relevance)

    def preview(self, choice=MAJORITY, filters=None, by=None):
        return preview(by or self.carla, filters or QueueFilter(), choice)

    def settle(self, choice=MAJORITY, filters=None, **more):
        filters = filters or QueueFilter()
        arguments = {"token": self.preview(choice, filters).token, "by": self.carla, **WHY, **more}
        return settle_many(filters=filters, choice=choice, **arguments)

    def settled(self) -> dict[str, int]:
        rows = Adjudication.objects.current()
        return dict(rows.values_list("candidate__document__doc_id", "relevance"))

    def url(self, name="settling_many", *args) -> str:
        return reverse(f"audit:{name}", args=["tides", *args])


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file) -> Scene:
    return Scene()


@pytest.mark.parametrize(
    ("rule", "settled"),
    [
        (Rule.MAJORITY, {"A": 0, "B": 1, "D": 2}),
        (Rule.ALONE, {"A": 0, "B": 1, "D": 2}),
        (Rule.HIGHER, {"A": 2, "B": 2, "C": 2, "D": 2}),
        (Rule.LOWER, {"A": 0, "B": 1, "C": 0, "D": 0}),
        # All were 1 before; nobody gave that to A and D.
        (Rule.EARLIER, {"B": 1, "C": 1}),
    ],
)
def test_each_rule_settles_what_it_says_and_leaves_the_rest(scene, rule, settled):
    scene.settle(RuleChoice(rule))

    assert scene.settled() == settled


@pytest.mark.parametrize(
    ("rule", "settled"),
    [(Rule.MAJORITY, {}), (Rule.ALONE, {}), (Rule.HIGHER, {"F": 2}), (Rule.LOWER, {"F": 1})],
)
def test_two_people_have_no_majority_and_nobody_alone(scene, rule, settled):
    pair = factories.pair(factories.query(scene.project, "302"))
    candidate = factories.candidate(pair.query, "F")
    for by, relevance in ((scene.ada, 1), (scene.ben, 2)):
        factories.judgment(factories.altered(pair), candidate, by, relevance)

    found = scene.preview(RuleChoice(rule), QueueFilter(query=pair.query.pk))

    assert found.settled == dict.fromkeys(settled.values(), 1)


def test_preview_counts_outcomes_and_settles_nothing(scene):
    found = scene.preview()

    assert found.settled == {0: 1, 1: 1, 2: 1}
    assert (found.total, found.left) == (3, 1)
    # A would not count as relevant, D would; everybody finds B relevant.
    assert (found.counts_then, found.drops_then, found.decided) == (1, 1, 2)
    assert scene.settled() == {}


def test_page_opens_with_the_preview_of_the_majority_and_htmx_replaces_it(scene, client):
    client.force_login(scene.carla.user)

    opened = client.get(scene.url())
    replaced = client.get(scene.url() + "?rule=lower", headers={"HX-Request": "true"})

    assert opened.context["preview"].settled == scene.preview().settled
    assert replaced.text.strip().startswith('<div id="preview"')
    total = scene.preview(RuleChoice(Rule.LOWER)).total
    assert shows(replaced, f'id="preview-title">{total} documents would be settled')
    assert scene.settled() == {}


def test_page_between_two_people_offers_no_rule_that_settles_nothing(scene, client):
    pair = factories.pair(factories.query(scene.project, "302"))
    candidate = factories.candidate(pair.query, "F", prior=0)
    for by, relevance in ((scene.ada, 1), (scene.ben, 2)):
        factories.judgment(factories.altered(pair), candidate, by, relevance)
    client.force_login(scene.carla.user)

    opened = client.get(scene.url(), {"query": "302"})
    asked = client.get(scene.url(), {"query": "302", "rule": "majority"})

    offered = [value for value, _label in opened.context["how"].fields["rule"].choices]
    assert offered == ["higher", "lower", "grade"]
    assert opened.context["preview"].settled == {2: 1}
    assert shows(
        opened,
        "Not offered, because it would settle nothing here: “More than half say”; “Two or more "
        "say against only one”; “The earlier grade, if somebody gave it”.",
    )
    assert asked.context["preview"].left == 1
    assert "majority" in dict(asked.context["how"].fields["rule"].choices)


def test_preview_shows_a_few_of_each_outcome_open_ones_last(scene):
    shown = scene.preview().shown

    assert [(one.candidate.document.doc_id, one.relevance, one.grades) for one in shown] == [
        ("A", 0, [0, 0, 2]),
        ("B", 1, [1, 1, 2]),
        ("D", 2, [0, 2, 2]),
        ("C", None, [0, 1, 2]),
    ]


def test_settling_by_majority_leaves_the_rest_open(scene):
    batch = scene.settle()

    assert scene.settled() == {"A": 0, "B": 1, "D": 2}
    made = Adjudication.objects.earliest("pk")
    assert (made.batch, made.by, made.cause, made.reason) == (
        batch,
        scene.carla,
        "edge",
        "Agreed in the meeting.",
    )
    assert disagreements.count_disagreements(scene.carla, QueueFilter()) == 1


def show_names(scene):
    scene.project.hide_names = False
    scene.project.save()


def test_rule_can_follow_one_person_if_names_are_shown(scene):
    show_names(scene)
    choice = RuleChoice(Rule.PERSON, person=scene.ben.pk)
    scene.narrative.statements.filter(annotator=scene.ben, relevance=0).delete()

    found = scene.preview(choice)
    scene.settle(choice)

    # Ben has no judgment of A, so it stays open; ada's 0 and dan's 2 still differ.
    assert (found.settled, found.left) == ({1: 1, 2: 2}, 1)
    assert scene.settled() == {"B": 2, "C": 1, "D": 2}


def test_rule_cannot_follow_a_person_while_names_are_hidden(scene, client):
    # The decisions would reveal this person's judgment of each document.
    with pytest.raises(Refused, match="Names are hidden in this project"):
        scene.settle(RuleChoice(Rule.PERSON, person=scene.ben.pk))
    client.force_login(scene.carla.user)

    offered = client.get(scene.url()).content.decode()
    response = client.get(scene.url() + f"?rule=person&person={scene.ben.pk}")

    assert "One person says" not in offered
    assert "Names are hidden in this project" in response.content.decode()
    assert response.context["preview"] is None
    assert scene.settled() == {}


def test_one_grade_can_be_given_to_all(scene):
    found = scene.preview(RuleChoice(Rule.GRADE, grade=0))
    scene.settle(RuleChoice(Rule.GRADE, grade=0))

    assert (found.settled, found.left) == ({0: 4}, 0)
    # B as well, which everybody finds relevant.
    assert (found.counts_then, found.drops_then) == (0, 4)
    assert scene.settled() == dict.fromkeys("ABCD", 0)


def test_only_documents_matching_the_filter_are_settled(scene):
    other = factories.query(scene.project, "302")
    pair = factories.pair(other)
    candidate = factories.candidate(other, "Z")
    for by, relevance in zip(scene.people, (0, 0, 1), strict=True):
        factories.judgment(factories.altered(pair), candidate, by, relevance)

    scene.settle(filters=QueueFilter(query=other.pk))

    assert scene.settled() == {"Z": 0}


def test_preview_can_be_filtered_by_two_people(scene):
    found = scene.preview(filters=QueueFilter(people=(scene.ada.pk, scene.ben.pk)))

    # They differ on B and on C.
    assert (found.settled, found.left) == ({1: 1}, 1)


def test_documents_that_were_sent_back_are_not_settled(scene):
    judgment = scene.narrative.statements.get(annotator=scene.dan, candidate=scene.candidates["A"])
    rejudge_requests.ask(statement=judgment, words="Look again.", by=scene.carla)

    scene.settle()

    assert scene.settled() == {"B": 1, "D": 2}


def test_settled_documents_are_not_changed(scene):
    adjudication.adjudicate(
        narrative=scene.narrative,
        candidate=scene.candidates["A"],
        relevance=2,
        by=scene.carla,
        **WHY,
    )

    scene.settle()

    assert scene.settled() == {"A": 2, "B": 1, "D": 2}


@pytest.mark.parametrize("what", ["judged", "settled", "sent back", "new"])
def test_change_since_the_preview_prevents_settling(scene, what):
    token = scene.preview().token
    first = scene.candidates["A"]
    if what == "judged":
        assignments.take(pair=scene.pair, task=Assignment.Task.JUDGE, by=scene.dan)
        # The same grade, but a new judgment.
        judging.judge(narrative=scene.narrative, candidate=first, relevance=2, by=scene.dan)
    elif what == "settled":
        adjudication.adjudicate(
            narrative=scene.narrative, candidate=first, relevance=0, by=scene.carla, **WHY
        )
    elif what == "sent back":
        judgment = scene.narrative.statements.get(annotator=scene.dan, candidate=first)
        rejudge_requests.ask(statement=judgment, words="Look again.", by=scene.carla)
    else:
        factories.judgment(
            scene.narrative, scene.candidates["E"], factories.member(scene.project, "fay"), 0
        )
    before = scene.settled()

    with pytest.raises(Stale, match="Something has changed"):
        scene.settle(token=token)

    assert scene.settled() == before


def test_a_token_of_another_rule_settles_nothing(scene):
    with pytest.raises(Stale):
        scene.settle(RuleChoice(Rule.GRADE, grade=0), token=scene.preview(MAJORITY).token)


def test_one_undo_withdraws_the_batch(scene):
    batch = scene.settle()
    adjudication.withdraw_adjudication(
        adjudication=Adjudication.objects.earliest("pk"), by=scene.carla
    )

    assert batches.withdraw_batch(batch=batch, by=scene.carla) == 2

    assert scene.settled() == {}
    assert disagreements.count_disagreements(scene.carla, QueueFilter()) == 4
    assert batches.withdraw_batch(batch=batch, by=scene.carla) == 0
    # They can be settled again.
    scene.settle()


def test_withdrawing_a_batch_leaves_other_decisions(scene):
    first = scene.settle(filters=QueueFilter(people=(scene.ada.pk, scene.ben.pk)))
    scene.settle()

    batches.withdraw_batch(batch=first, by=scene.carla)

    assert scene.settled() == {"A": 0, "D": 2}


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"reason": " "}, "Give a reason"),
        ({"cause": "boredom"}, "choose one of the causes"),
    ],
)
def test_reason_and_cause_are_required(scene, more, sentence):
    with pytest.raises(Refused, match=sentence):
        scene.settle(**more)

    assert scene.settled() == {}


def test_unknown_grade_is_refused(scene):
    with pytest.raises(Refused, match="one of the grades"):
        scene.preview(RuleChoice(Rule.GRADE, grade=7))


def test_settling_nothing_is_refused(scene):
    scene.settle()

    with pytest.raises(Refused, match="nothing to settle"):
        scene.settle()


@pytest.mark.parametrize("who", ["ada", "eve"])
def test_only_leads_of_the_project_settle_and_withdraw(scene, who):
    by = scene.ada if who == "ada" else factories.lead(factories.project("other"), "eve")
    batch = scene.settle()
    # eve's own project has nothing to settle, and ada does not lead a project.
    with pytest.raises(Refused):
        settle_many(
            filters=QueueFilter(), choice=MAJORITY, by=by, token=scene.preview(by=by).token, **WHY
        )
    if who == "ada":
        with pytest.raises(Refused, match="Only leads"):
            batches.withdraw_batch(batch=batch, by=by)
    else:
        assert batches.withdraw_batch(batch=batch, by=by) == 0

    assert scene.settled() == {"A": 0, "B": 1, "D": 2}


def test_a_lead_who_judges_settles_what_they_have_answered(scene):
    factories.assignment(scene.pair, scene.carla)

    assert (scene.preview().total, scene.preview().left) == (0, 0)


# --- the pages ------------------------------------------------------------------------------------


def test_from_the_list_through_the_preview_to_the_batch_and_back(scene, client):
    client.force_login(scene.carla.user)
    listed = client.get(reverse("audit:disagreements", args=["tides"]) + "?query=301")
    address = scene.url() + "?query=301"
    assert shows(listed, f'href="{address}"')
    page = client.get(address + "&rule=majority")
    assert shows(page, "3 documents would be settled")
    assert shows(page, "2 of them decide what is relevant: 1 would count, 1 would not.")

    sent = {**WHY, "token": page.context["preview"].token}
    done = client.post(address + "&rule=majority", sent, follow=True)

    assert shows(done, "3 documents settled together")
    assert scene.settled() == {"A": 0, "B": 1, "D": 2}
    batch = Adjudication.objects.earliest("pk").batch
    back = client.post(scene.url("batch_withdrawal", batch), follow=True).content.decode()
    assert shows(back, "3 decisions are withdrawn")
    assert shows(back, "All of them are withdrawn.")
    assert scene.settled() == {}


def test_ticked_documents_alone_are_settled_from_the_list(scene, client):
    client.force_login(scene.carla.user)
    listed = client.get(reverse("audit:disagreements", args=["tides"]))
    keys = {
        row["item"].candidate.document.doc_id: str(row["item"].key)
        for row in listed.context["rows"]
    }
    assert f'name="only" value="{keys["A"]}"' in listed.content.decode()

    ticked = f"{scene.url()}?kind=judgment&only={keys['A']}&only={keys['B']}"
    page = client.get(ticked)
    assert "the 2 that you ticked" in page.content.decode()
    address = f"{scene.url()}?{urlencode(page.context['asked'])}&rule=majority"
    token = client.get(address).context["preview"].token
    client.post(address, {**WHY, "token": token})

    assert scene.settled() == {"A": 0, "B": 1}


def test_more_ticks_than_a_list_offers_settle_nothing(scene, client):
    client.force_login(scene.carla.user)
    ticks = "&".join(f"only=judgment-1-{number}-0" for number in range(201))

    page = client.get(f"{scene.url()}?rule=majority&{ticks}")

    assert "Tick at most 200 at once." in page.content.decode()
    assert page.context["preview"] is None


def test_page_reports_a_change_and_shows_a_new_preview(scene, client):
    client.force_login(scene.carla.user)
    sent = {**WHY, "token": scene.preview().token}
    scene.settle(filters=QueueFilter(people=(scene.ada.pk, scene.ben.pk)))

    answer = client.post(scene.url() + "?rule=majority", sent)

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Something has changed since this was counted" in page
    assert shows(page, "2 documents would be settled")
    assert "Agreed in the meeting." in page
    assert scene.settled() == {"B": 1}


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?rule=person", "Choose whose answers to adopt."),
        ("?rule=grade", "Choose a grade."),
        ("?rule=nonsense", "not one of the available choices"),
    ],
)
def test_incomplete_rule_is_explained_and_nothing_is_counted(scene, client, query, sentence):
    show_names(scene)
    client.force_login(scene.carla.user)

    page = client.get(scene.url() + query)

    assert sentence in page.content.decode()
    assert page.context["preview"] is None


def test_invalid_filter_settles_nothing(scene, client):
    client.force_login(scene.carla.user)
    address = scene.url() + "?query=999&rule=majority"

    page = client.get(address)
    client.post(address, {**WHY, "token": scene.preview().token})

    assert "There is no query 999 in this project." in page.content.decode()
    assert page.context["preview"] is None
    assert scene.settled() == {}


def test_preview_shows_no_names(scene, client):
    client.force_login(scene.carla.user)

    page = client.get(scene.url() + "?rule=majority").content.decode()

    table = page.split("<tbody>")[1].split("</tbody>")[0]
    assert not [name for name in ("ada", "ben", "dan") if name in table]


def test_undo_after_a_batch_withdraws_the_whole_batch(scene, client):
    batch = scene.settle()
    client.force_login(scene.carla.user)
    open_one = reverse("audit:disagreement", args=[scene.narrative.pk, scene.candidates["C"].pk])

    page = client.get(open_one).content.decode()

    assert "many documents together" in page
    assert f'action="{scene.url("batch_withdrawal", batch)}"' in page


def test_page_of_a_settled_document_links_to_its_batch(scene, client):
    batch = scene.settle()
    client.force_login(scene.carla.user)
    one = reverse("audit:disagreement", args=[scene.narrative.pk, scene.candidates["A"].pk])

    page = client.get(one).content.decode()

    assert f'href="{scene.url("batch", batch)}"' in page
    assert "Send back to the annotator" not in page


def test_a_batch_of_another_project_is_not_found(scene, client):
    batch = scene.settle()
    eve = factories.lead(factories.project("other"), "eve")
    client.force_login(eve.user)

    for name in ("batch", "batch_withdrawal"):
        for which in (batch, uuid4()):
            url = reverse(f"audit:{name}", args=["other", which])
            answer = client.post(url) if name == "batch_withdrawal" else client.get(url)
            assert answer.status_code == 404
    assert len(scene.settled()) == 3


def test_batch_is_paged(scene, client):
    for number in range(60):
        candidate = factories.candidate(scene.query, f"N{number}")
        for by, relevance in zip(scene.people, (0, 0, 1), strict=True):
            factories.judgment(scene.narrative, candidate, by, relevance)
    batch = scene.settle()
    client.force_login(scene.carla.user)

    first = client.get(scene.url("batch", batch))
    second = client.get(scene.url("batch", batch) + first.context["next_url"])

    assert [len(page.context["rows"]) for page in (first, second)] == [50, 13]
    assert second.context["next_url"] == ""


def test_the_preview_costs_the_same_however_many_there_are(
    scene, client, django_assert_max_num_queries
):
    client.force_login(scene.carla.user)
    client.get(scene.url() + "?rule=majority")
    with django_assert_max_num_queries(22) as first:
        client.get(scene.url() + "?rule=majority")
    for number in range(60):
        candidate = factories.candidate(scene.query, f"N{number}")
        for by, relevance in zip(scene.people, (0, 0, 1), strict=True):
            factories.judgment(scene.narrative, candidate, by, relevance)

    with django_assert_max_num_queries(len(first)):
        client.get(scene.url() + "?rule=majority")


def test_batch_leads_to_the_next_step(scene, client):
    scene.project.kind = "followir"
    scene.project.save()
    batch = scene.settle()
    client.force_login(scene.carla.user)

    page = client.get(scene.url("batch", batch))

    assert re.search(r'<a class="button button--primary" href="[^"]+">Next: \w+', page.text)


def test_batch_hides_decisions_on_documents_the_lead_must_still_judge(scene, client):
    batch = scene.settle()
    factories.assignment(scene.pair, scene.carla)
    judging.judge(
        narrative=scene.narrative, candidate=scene.candidates["A"], relevance=2, by=scene.carla
    )
    client.force_login(scene.carla.user)

    page = client.get(scene.url("batch", batch))

    # The lead has judged A, but not B and D.
    assert [row["decision"].candidate.document.doc_id for row in page.context["rows"]] == ["A"]
    assert page.context["settled"] == [(0, 1)]


@pytest.mark.parametrize("kind", [Kind.VERDICT, Kind.REVIEW])
def test_kinds_that_are_settled_one_by_one_are_not_taken_for_documents(scene, kind):
    assert scene.preview(filters=QueueFilter(kind=kind)).total == 0


@pytest.mark.parametrize("asked", [{"waiting": True}, {"settled": True, "cause": "edge"}])
def test_a_list_of_what_is_not_open_settles_nothing(scene, asked):
    assert scene.preview(filters=QueueFilter(**asked)).total == 0


def test_a_batch_offers_to_withdraw_only_what_still_counts(scene, client):
    batch = scene.settle()
    replaced = Adjudication.objects.filter(candidate=scene.candidates["A"])
    replaced.update(text_replaced_at=scene.carla.joined_at)
    client.force_login(scene.carla.user)

    page = client.get(scene.url("batch", batch))

    assert page.context["totals"] == {"all": 3, "standing": 2, "replaced": 1}
    assert shows(page, "2 of them are still current")
    assert shows(page, "or the document got another text")
