"""Home, overview and queries show progress and open work, but not others' judgments."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.models import Assignment, Project
from annotate.projects.actions import change_rules
from annotate.rewriting.actions import send_back
from tests import factories

JUDGE = Assignment.Task.JUDGE


@pytest.fixture
def tides(db) -> Project:
    """Create a project of thirty queries with two documents each, one of which was relevant."""
    project = factories.project()
    for number in range(30):
        query = factories.query(project, str(301 + number), title=f"question {number}")
        factories.candidate(query, prior=1)
        factories.candidate(query, prior=0)
        factories.pair(query)
    return project


def test_home_shows_open_tasks_and_my_assignments(tides, client):
    ada = factories.member(tides, "ada")
    client.force_login(ada.user)
    offered = client.get(reverse("annotate:home")).content.decode()
    assignments.take_next(task=JUDGE, by=ada)

    held = client.get(reverse("annotate:home")).content.decode()

    assert "30 tasks open" in offered
    assert "question 0" in held
    assert "29 tasks open" in held


def test_home_without_projects_says_what_to_do(db, client):
    client.force_login(factories.user("ada"))

    page = client.get(reverse("annotate:home")).content.decode()
    assert "You are in no project yet" in page
    assert "Make a project of your own" in page


def test_taking_an_assignment_goes_to_its_work(tides, client):
    client.force_login(factories.member(tides, "ada").user)

    response = client.post(reverse("annotate:assignment", args=["tides"]), {"task": "judge"})

    assert response.url == reverse("annotate:judging", args=[Assignment.objects.get().pair_id])


@pytest.mark.parametrize("task", ["", "rule", "judge'--"])
def test_an_unknown_task_gives_no_assignment(tides, client, task):
    client.force_login(factories.member(tides, "ada").user)

    response = client.post(
        reverse("annotate:assignment", args=["tides"]), {"task": task}, follow=True
    )

    assert "There is no such task." in response.content.decode()
    assert not Assignment.objects.exists()


@pytest.mark.parametrize("who", ["ada", "carla"])
@pytest.mark.parametrize("name", ["project", "queries"])
def test_lists_have_a_constant_number_of_queries(
    tides, client, who, name, django_assert_max_num_queries
):
    person = (factories.lead if who == "carla" else factories.member)(tides, who)
    client.force_login(person.user)

    with django_assert_max_num_queries(53) as queries:
        page = client.get(reverse(f"annotate:{name}", args=["tides"])).content.decode()

    assert "question 29" in page
    assert not any("documenttext" in query["sql"].lower() for query in queries.captured_queries)


def test_queries_come_in_pages(tides, client):
    for number in range(30, 60):
        factories.query(tides, str(301 + number), title=f"question {number}")
    client.force_login(factories.member(tides, "ada").user)
    url = reverse("annotate:queries", args=["tides"])
    last = tides.queries.get(title="question 49")

    first = client.get(url).content.decode()
    second = client.get(url, {"after": last.pk}).content.decode()

    assert "question 49" in first
    assert "question 50" not in first
    assert f"?after={last.pk}" in first
    assert "question 50" in second
    assert "question 49" not in second


@pytest.mark.parametrize("key", ["-1", "x", "9" * 30, "1;drop"])
def test_an_invalid_position_in_the_list_is_ignored(tides, client, key):
    client.force_login(factories.member(tides, "ada").user)

    response = client.get(reverse("annotate:queries", args=["tides"]), {"after": key})

    assert response.status_code == 200


def test_queries_are_found_by_id_and_by_title(tides, client):
    client.force_login(factories.member(tides, "ada").user)
    url = reverse("annotate:queries", args=["tides"])

    by_id = client.get(url, {"search": "315"}).content.decode()
    by_word = client.get(url, {"search": "QUESTION 14"}).content.decode()

    for page in (by_id, by_word):
        assert "question 14" in page
        assert "question 13" not in page


def judged(tides, *grades: tuple[str, int]):
    """Let people judge the relevant document of the first query."""
    query = tides.queries.get(query_id="301")
    pair, candidate = query.pairs.get(), query.candidates.get(prior_relevance=1)
    for name, grade in grades:
        member = tides.memberships.filter(name=name).first() or factories.member(tides, name)
        assignments.take(pair=pair, task=JUDGE, by=member)
        judging.judge(
            narrative=factories.altered(pair), candidate=candidate, relevance=grade, by=member
        )
    return query


@pytest.mark.parametrize(
    ("grades", "word"),
    [([1, 1], "kept"), ([0, 0], "dropped out"), ([0, 1], "disputed"), ([], "unjudged")],
)
def test_a_lead_sees_the_result_of_judgments(tides, client, grades, word):
    query = judged(tides, *zip(["ada", "ben"], grades, strict=False))
    client.force_login(factories.lead(tides).user)

    page = client.get(reverse("annotate:query", args=["tides", query.pk])).content.decode()

    assert word in page


def test_a_query_without_an_altered_narrative_has_nothing_to_judge_yet(db, client):
    project = factories.project()
    query = factories.query(project, "301")
    factories.candidate(query, prior=1)
    factories.pair(query, altered=None)
    client.force_login(factories.lead(project).user)

    for name in ("project", "queries"):
        page = client.get(reverse(f"annotate:{name}", args=["tides"])).content.decode()
        assert page.count("not rewritten yet") == 1
        assert '<td class="number">–</td>' in page


def test_a_query_whose_narrative_was_sent_back_says_so_and_keeps_its_outcome(tides, client):
    query = judged(tides, ("ada", 0), ("ben", 0))
    carla = factories.lead(tides)
    send_back(pair=query.pairs.get(), by=carla)
    client.force_login(carla.user)

    for name in ("project", "queries"):
        response = client.get(reverse(f"annotate:{name}", args=["tides"]))
        page = response.content.decode()
        assert page.count("narrative sent back") == 1
        assert "nothing to judge yet" not in page
        (row,) = (row for row in response.context["rows"] if row.query == query)
        assert (row.kept, row.dropped) == (0, 1)


def test_an_annotator_sees_only_their_own_judgments(tides, client):
    query = judged(tides, ("ada", 1), ("ben", 0))
    client.force_login(factories.user("ada"))

    page = client.get(reverse("annotate:query", args=["tides", query.pk])).content.decode()

    assert "disputed" not in page
    assert "Not relevant" not in page
    assert "Relevant" in page


def test_a_lead_who_judges_is_blind_until_they_have_judged(tides, client):
    query = judged(tides, ("ada", 0))
    carla = factories.lead(tides)
    assignments.take(pair=query.pairs.get(), task=JUDGE, by=carla, become_blind=True)
    client.force_login(carla.user)
    url = reverse("annotate:query", args=["tides", query.pk])

    before = client.get(url).content.decode()
    judged(tides, ("carla", 1))
    after = client.get(url).content.decode()

    assert "Not relevant" not in before
    assert "Not relevant" in after
    assert "disputed" in after


def test_the_form_of_a_new_project_names_the_grades_of_each_kind(db, client):
    client.force_login(factories.user("carla"))

    kinds = dict(client.get(reverse("annotate:new_project")).context["form"]["kind"].field.choices)

    assert "Grades 0 to 2." in kinds["followir"]
    assert "Grades 0 to 1." in kinds["followtable"]


def test_a_new_project_is_led_by_its_creator(db, client):
    client.force_login(factories.user("carla"))

    response = client.post(
        reverse("annotate:new_project"), {"name": "Tides", "slug": "tides", "grades": "0, 1"}
    )

    assert response.url == reverse("annotate:loads", args=["tides"])
    assert Project.objects.get().memberships.get().leads


@pytest.mark.parametrize(
    ("name", "short_name"),
    [("Tidal Power, Énergie & Märkte!", "tidal-power-energie-markte"), ("Tides", "tides-2")],
)
def test_a_project_without_a_short_name_gets_a_free_one_from_its_name(
    client, tides, name, short_name
):
    client.force_login(factories.user("carla"))

    response = client.post(reverse("annotate:new_project"), {"name": name, "slug": ""})

    assert response.url == reverse("annotate:loads", args=[short_name])
    assert Project.objects.get(slug=short_name).name == name


def test_a_name_that_gives_no_short_name_asks_for_one(db, client):
    client.force_login(factories.user("carla"))

    response = client.post(reverse("annotate:new_project"), {"name": "Приливы", "slug": ""})

    assert response.status_code == 422
    assert "“Приливы” cannot be a project&#x27;s short name" in response.content.decode()


@pytest.mark.parametrize(
    ("grades", "sentence"),
    [
        ("1", "at least two"),
        (",".join(map(str, range(21))), "at most 20 grades"),
        ("0, x", "whole numbers"),
        ("0,99999", "must be between"),
    ],
)
def test_a_project_with_invalid_grades_is_not_created(db, client, grades, sentence):
    client.force_login(factories.user("carla"))

    response = client.post(
        reverse("annotate:new_project"), {"name": "Tides", "slug": "tides", "grades": grades}
    )

    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert not Project.objects.exists()


@pytest.mark.parametrize(
    ("grades", "relevant_from"), [("0, 1, 2", 1), ("1, 2", 2), ("0, 5, 9", 5), ("-1, 0", 0)]
)
def test_relevant_documents_of_a_new_project_are_above_its_lowest_grade(
    db, client, grades, relevant_from
):
    client.force_login(factories.user("carla"))

    client.post(reverse("annotate:new_project"), {"name": "Tides", "grades": grades})

    assert Project.objects.get().relevant_from == relevant_from


def test_grades_that_do_not_fit_the_kind_are_reported_at_the_grades(db, client):
    client.force_login(factories.user("carla"))
    sent = {"name": "Tides", "kind": "multiconir", "grades": "0, 1"}

    page = client.post(reverse("annotate:new_project"), sent)

    assert list(page.context["form"].errors) == ["grades"]


SETTINGS = {
    "name": "Tides",
    "description": "",
    "relevant_from": 1,
    "judge_scope": "pool",
    "consensus": "majority",
    "show_rank": "on",
    "show_ids": "on",
    "judge_order": "doc_id",
    "order_seed": 7,
    "repeat_percent": 10,
    "evidence_rule": "document",
    "condition_rule": "all_met",
    "overlap_rewrite": 1,
    "overlap_judge": 3,
    "overlap_review": 2,
    "grades-TOTAL_FORMS": 4,
    "grades-INITIAL_FORMS": 3,
    "grades-0-value": 0,
    "grades-0-name": "No",
    "grades-1-value": 1,
    "grades-1-name": "Yes",
    "grades-1-sentence": "Says so.",
    "grades-2-value": 2,
    "grades-2-name": "Very",
    "grades-2-DELETE": "on",
}


def test_settings_are_saved_all_or_nothing(tides, client):
    client.force_login(factories.lead(tides).user)
    url = reverse("annotate:settings", args=["tides"])
    form = SETTINGS

    response = client.post(url, form)
    refused = client.post(url, {**form, "overlap_judge": 51})
    too_large = client.post(url, {**form, "order_seed": 2**31})

    assert response.url == url
    assert (refused.status_code, too_large.status_code) == (422, 422)
    saved = Project.objects.get()
    assert (saved.overlap_judge, saved.judge_scope) == (3, "pool")
    assert (saved.show_prior, saved.show_rank, saved.show_ids) == (False, True, True)
    assert (saved.judge_order, saved.order_seed) == ("doc_id", 7)
    assert saved.repeat_percent == 10
    assert (saved.evidence_rule, saved.condition_rule) == ("document", "all_met")
    assert list(saved.grades.order_by("value").values_list("value", "name")) == [
        (0, "No"),
        (1, "Yes"),
    ]


def test_settings_opened_before_another_change_are_not_saved_over_it(tides, client):
    carla = factories.lead(tides)
    client.force_login(carla.user)
    url = reverse("annotate:settings", args=["tides"])
    opened = {**SETTINGS, "token": client.get(url).context["token"]}
    change_rules(changes={"description": "About tides."}, by=carla)

    invalid = client.post(url, {**opened, "overlap_judge": 51})
    refused = client.post(url, {**opened, "token": invalid.context["token"]})

    assert refused.status_code == 422
    assert "Somebody has changed this since you opened the page" in refused.content.decode()
    assert Project.objects.get().description == "About tides."
    again = client.post(url, {**opened, "token": refused.context["token"]})
    assert again.status_code == 302
    assert Project.objects.get().description == ""


def test_line_ends_of_a_browser_change_no_description(tides, client):
    carla = factories.lead(tides)
    client.force_login(carla.user)
    change_rules(changes={"description": "About tides.\nAnd bees."}, by=carla)

    sent = {"description": "About tides.\r\nAnd bees."}
    client.post(reverse("annotate:settings", args=["tides"]), {**SETTINGS, **sent})

    assert Project.objects.get().description == "About tides.\nAnd bees."


@pytest.mark.parametrize("judged", [True, False])
def test_a_new_order_explains_what_happens_to_judges_who_have_begun(tides, client, judged):
    query = factories.query(tides, "999")
    pair = factories.pair(query)
    if judged:
        ada = factories.member(tides, "ada")
        factories.judgment(factories.altered(pair), factories.candidate(query), ada)
    client.force_login(factories.lead(tides).user)

    page = client.post(
        reverse("annotate:settings", args=["tides"]), {**SETTINGS, "overlap_judge": 2}, follow=True
    )

    assert ("Judges get the remaining documents" in page.content.decode()) is judged


def test_a_rule_that_contradicts_the_grades_is_reported_on_the_page(tides, client):
    client.force_login(factories.lead(tides).user)
    grades = {"grades-1-value": 4, "relevant_from": 4, "condition_rule": "count_met"}

    page = client.post(reverse("annotate:settings", args=["tides"]), {**SETTINGS, **grades})

    assert page.status_code == 422
    assert "the grades must be 0, 1, 2 and so on, without a gap" in page.content.decode()


def test_page_and_program_refuse_the_same_long_description(tides, client):
    client.force_login(factories.lead(tides).user)
    sent = {"description": "x" * 20_001}

    page = client.post(reverse("annotate:settings", args=["tides"]), {**SETTINGS, **sent})
    answer = client.patch("/api/v1/projects/tides/", sent, content_type="application/json")

    assert (page.status_code, answer.status_code) == (422, 400)
    assert Project.objects.get().description == ""
