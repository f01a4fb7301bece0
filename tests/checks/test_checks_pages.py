"""The pages of checks: visibility, number of queries, refusals."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.projects.schedule import pause
from annotate.rewriting.actions import remove
from audit.checks import actions
from audit.checks.queue import to_check
from audit.models import Check, Sample, SampleItem
from tests import factories
from tests.checks.checking import check_label, draw
from tests.pages import shows, without_random
from tests.test_permissions import ROUTES, world


def url(name, *args):
    return reverse(f"audit:{name}", args=args)


def sign_in(client, who):
    client.force_login(who.user)
    return client


def form(**others):
    usual = {
        "name": "Spot checks",
        "claims": "",
        "stratify": "category",
        "size": "2",
        "per": "stratum",
        "seed": "7",
    }
    return {**usual, **others}


def item(sample, doc_id):
    return sample.items.get(candidate__document__doc_id=doc_id)


# --- on the home page -------------------------------------------------------------------------


def test_the_home_page_leads_to_the_next_label_to_check(scene, sample, client):
    sign_in(client, scene.ada)

    page = client.get(reverse("annotate:home"))

    home = page.content.decode()
    waiting = re.findall(r"<h3>([^<]*)</h3></div>\s*<p[^>]*>([^<]*) waiting</p>", home)
    assert waiting == [("Labels to check", "6")]
    assert f'href="{url("check", sample.items.earliest("pk").pk)}"' in home


def test_the_home_page_leads_past_the_labels_that_were_answered(scene, sample, client):
    first, second = sample.items.order_by("pk")[:2]
    check_as_relevant(first, scene.ada)
    sign_in(client, scene.ada)

    home = client.get(reverse("annotate:home")).content.decode()

    assert f'href="{url("check", second.pk)}"' in home


def test_the_list_of_samples_leads_to_the_next_label(scene, sample, client):
    """Five of the six labels are left, and no two people differ."""
    check_label(sample, "A", ada=1)
    sign_in(client, scene.ada)

    page = client.get(url("checks", "tides")).content.decode()

    assert shows(page, f'href="{url("checking", sample.pk)}">Check 5<')
    assert url("settling", sample.pk) not in page


def test_the_list_of_samples_leads_a_third_person_to_labels_to_settle(scene, sample, client):
    check_label(sample, "A", ada=1, ben=0)
    sign_in(client, scene.dan)

    page = client.get(url("checks", "tides")).content.decode()

    assert shows(page, f'href="{url("settling", sample.pk)}">Settle 1<')


# --- drawing ----------------------------------------------------------------------------------


def test_the_form_names_labels_and_strata_in_plain_words(scene, client):
    sign_in(client, scene.carla)

    page = client.get(url("new_sample", "tides")).content.decode()

    assert '<option value="consensus">Judgments of people</option>' in page
    assert '<option value="none" selected>None: all labels together</option>' in page


def test_the_strata_are_shown_before_anything_is_drawn(scene, client):
    sign_in(client, scene.carla)
    form_data = form(claims=f"machine-{scene.model.pk}")

    page = client.post(url("new_sample", "tides"), {**form_data, "preview": "yes"})

    assert page.status_code == 200
    [(_mode, plan)] = page.context["plans"]
    assert plan.strata == [("C1", 3, 2), ("S1", 3, 2)]
    assert not Sample.objects.exists()


def test_a_preview_says_why_nothing_can_be_drawn(scene, client):
    sign_in(client, scene.carla)
    form_data = form(claims="consensus", preview="yes")

    page = client.post(url("new_sample", "tides"), form_data).content.decode()

    assert "There is nothing to draw from." in page


def test_a_planned_check_names_its_sample_and_takes_a_machine_with_judgments(scene, client):
    """The machine that comes first by name is a loaded filter without judgments."""
    factories.machine(scene.project, "a-filter")
    scene.project.kind = "multiconir"
    scene.project.save()
    sign_in(client, scene.carla)

    page = client.get(url("new_sample", "tides"), {"planned": "0"})

    shown = page.context["form"]
    assert shown["name"].value() == "Condition counts"
    assert shown["claims"].value() == f"machine-{scene.model.pk}"
    assert "a-filter" not in page.content.decode()


def test_drawing_leads_to_the_list_of_samples(scene, client):
    sign_in(client, scene.carla)

    response = client.post(url("new_sample", "tides"), form(claims=f"machine-{scene.model.pk}"))

    sample = Sample.objects.get()
    assert response.url == url("checks", "tides")
    assert (sample.items.count(), sample.seed, sample.shows_claim) == (4, 7, False)


@pytest.mark.parametrize(
    ("invalid", "sentence"),
    [
        ({"claims": "machine-0"}, "Select a valid choice"),
        ({"size": "0"}, "greater than or equal to 1"),
        ({"size": "many"}, "Enter a whole number"),
        ({"size": "9"}, "Fewer than the 9 asked for: “C1” has 3, “S1” has 3."),
        ({"seed": "-1"}, "greater than or equal to 0"),
        ({"seed": "9" * 30}, "less than or equal to"),
        ({"name": ""}, "Give the sample a name."),
        ({"name": "x" * 121}, "at most 120 characters"),
        ({"stratify": "moon"}, "Select a valid choice"),
    ],
)
def test_an_invalid_form_is_refused_with_a_sentence(scene, client, invalid, sentence):
    sign_in(client, scene.carla)
    form_data = form(claims=f"machine-{scene.model.pk}") | invalid

    response = client.post(url("new_sample", "tides"), form_data)

    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert not Sample.objects.exists()


# --- checking -----------------------------------------------------------------------------------


def test_an_answer_is_saved_and_the_next_label_opens(scene, sample, client):
    sign_in(client, scene.ada)
    first, second = to_check(scene.ada, sample).order_by("pk")[:2]

    opened = client.get(url("checking", sample.pk))
    answered = client.post(url("check", first.pk), {"relevance": "1", "words": "On page 2."})

    assert opened.url == url("check", first.pk)
    assert answered.url == url("check", second.pk)
    check = Check.objects.get()
    assert (check.item, check.checker, check.relevance) == (first, scene.ada, 1)
    assert check.words == "On page 2."


def test_the_sample_is_shown_after_the_last_label(scene, sample, client):
    sign_in(client, scene.ada)
    for doc_id in "ABCDE":
        check_label(sample, doc_id, ada=1)

    response = client.post(url("check", item(sample, "F").pk), {"relevance": "1"}, follow=True)

    assert response.redirect_chain[-1][0] == url("sample", sample.pk)
    assert "There is nothing more for you to check" in response.content.decode()


@pytest.mark.parametrize("relevance", ["", "9", "x", "1" * 40])
def test_an_invalid_grade_is_refused_and_keeps_the_words(scene, sample, client, relevance):
    sign_in(client, scene.ada)

    response = client.post(
        url("check", item(sample, "A").pk), {"relevance": relevance, "words": "Kept words."}
    )

    assert response.status_code == 422
    assert "Kept words." in response.content.decode()
    assert not Check.objects.exists()


def test_a_third_checker_is_informed_and_goes_on(scene, sample, client):
    sign_in(client, scene.dan)
    check_label(sample, "A", ada=1, ben=0)

    response = client.post(url("check", item(sample, "A").pk), {"relevance": "1"}, follow=True)

    assert "Two people have checked this one already" in response.content.decode()
    assert Check.objects.count() == 2


@pytest.mark.parametrize(
    ("paused", "words"),
    [(True, "The project is paused"), (False, "its document was taken out")],
)
def test_a_label_that_nobody_checked_says_why_it_is_not_open(scene, sample, client, paused, words):
    sign_in(client, scene.ada)
    label = item(sample, "A")
    if paused:
        pause(by=scene.carla)
    else:
        remove(pair=label.narrative.pair, by=scene.carla)

    page = client.get(url("check", label.pk), follow=True).content.decode()

    assert words in page
    assert "Two people have checked" not in page


def test_a_label_that_one_has_checked_says_when(scene, sample, client):
    """With its date, which `static/js/time.js` leaves out only if it is today."""
    sign_in(client, scene.ada)
    check_label(sample, "A", ada=1)

    page = client.get(url("check", item(sample, "A").pk)).content.decode()

    assert re.search(r'Saved <time datetime="[^"]+" data-local="datetime">', page)


def test_the_page_offers_to_undo_the_last_answer(scene, sample, client):
    sign_in(client, scene.ada)
    check_label(sample, "A", ada=1)
    page = client.get(url("check", item(sample, "B").pk)).content.decode()
    assert url("check_withdrawal", item(sample, "A").pk) in page

    response = client.post(url("check_withdrawal", item(sample, "A").pk))

    assert response.url == url("check", item(sample, "A").pk)
    assert not Check.objects.current().exists()


def test_settling_shows_both_answers_without_names_and_opens_the_next(scene, sample, client):
    sign_in(client, scene.dan)
    for doc_id in "AB":
        check_label(sample, doc_id, ada=0, ben=2)
    first, second = item(sample, "A"), item(sample, "B")
    first, second = sorted((first, second), key=lambda one: one.pk)

    page = client.get(url("settlement", first.pk)).content.decode()
    response = client.post(url("settlement", first.pk), {"relevance": "2"})

    assert "One said" in page
    assert "The other said" in page
    assert "ben" not in without_random(page)
    assert response.url == url("settlement", second.pk)
    assert Check.objects.get(place=3).relevance == 2


def test_labels_of_a_paused_project_are_still_settled(scene, sample, client):
    sign_in(client, scene.dan)
    for doc_id in "AB":
        check_label(sample, doc_id, ada=0, ben=2)
    pause(by=scene.carla)

    page = client.get(url("settlement", item(sample, "A").pk))
    client.post(url("settlement", item(sample, "A").pk), {"relevance": "2"})

    assert page.status_code == 200
    assert Check.objects.get(place=3).relevance == 2


@pytest.mark.parametrize("name", ["ada", "ben"])
def test_neither_of_the_two_settles(scene, sample, client, name):
    sign_in(client, getattr(scene, name))
    check_label(sample, "A", ada=0, ben=2)

    shown = client.get(url("settlement", item(sample, "A").pk))
    sent = client.post(url("settlement", item(sample, "A").pk), {"relevance": "2"}, follow=True)

    assert shown.status_code == 302
    assert "You are one of the two who checked this." in sent.content.decode()
    assert not Check.objects.filter(place=3).exists()


# --- blindness ----------------------------------------------------------------------------------


def pages_of(client, sample, doc_id):
    """Return the text of every page that a checker may open for one label."""
    addresses = [
        reverse("annotate:home"),
        sample.project.get_absolute_url(),
        url("checks", "tides"),
        url("sample", sample.pk),
        url("sample", sample.pk) + "?show=wrong",
        url("check", item(sample, doc_id).pk),
        url("settlement", item(sample, doc_id).pk),
    ]
    return "\n".join(client.get(address, follow=True).content.decode() for address in addresses)


@pytest.mark.parametrize("who", ["ben", "carla"])
def test_nobody_sees_the_claim_or_the_other_answer_before_answering(scene, client, who):
    labels = {"C1": {"A": 7}}
    other = claimed_scene_with_odd_grades(scene, labels)
    sample = draw(other, size=1)
    check_label(sample, "Odd", ada=8)
    Check.objects.update(words="Because of the weir.")
    sign_in(client, getattr(other, who))

    seen = pages_of(client, sample, "Odd")

    assert "Because of the weir." not in seen
    assert '<span class="grade-value">7' not in seen
    assert '<span class="grade-value">8' not in seen


def claimed_scene_with_odd_grades(scene, labels):
    """One label, claimed 7; the grades 7 and 8 appear nowhere else on the pages."""
    scene.project.grades.filter(value__gt=0).delete()
    for value in (7, 8):
        scene.project.grades.create(value=value, name=f"Grade {value}")
    narrative = scene.narratives["C1"]
    scene.model.statements.all().delete()
    candidate = factories.candidate(narrative.pair.query, "Odd", text="A weir.")
    factories.judgment(narrative, candidate, scene.model, labels["C1"]["A"])
    scene.selection = scene.selection._replace()
    narrative_of_s1 = scene.narratives["S1"].pair
    narrative_of_s1.removed_at = scene.project.created_at
    narrative_of_s1.removed_by = scene.carla
    narrative_of_s1.save()
    return scene


def test_no_page_or_api_response_reveals_another_checkers_answer(scene, client):
    """Request every route as ada, who has not checked the label that carla has."""
    tides = world("reefs", "ada", "carla")
    label = SampleItem.objects.get(sample__project=tides.project)
    SampleItem.objects.update(claimed=-7654)
    actions.check(
        item=label,
        relevance=2,
        words="Because of the weir.",
        by=tides.project.memberships.get(name="carla"),
    )
    sign_in(client, tides.project.memberships.get(name="ada"))

    pages = {name: b"".join(client.get(tides.url(name), follow=True)) for name in sorted(ROUTES)}
    revealing = [
        name
        for name, page in pages.items()
        if b"Because of the weir." in page or b'value">-7654' in page
    ]

    assert revealing == []
    # The page of the label is among the routes; it shows the claim if the lead chooses so.
    Sample.objects.update(shows_claim=True)
    assert b'value">-7654' in client.get(url("check", label.pk)).content


def test_the_page_shows_the_claim_only_if_the_sample_does(scene, client):
    shown, hidden = (
        draw(scene, name=f"Sample {number}", shows_claim=bool(number)) for number in (1, 0)
    )
    sign_in(client, scene.ada)
    claim = '<span class="grade-value">2</span>'

    assert claim in client.get(url("check", item(shown, "C").pk)).content.decode()
    assert claim not in client.get(url("check", item(hidden, "C").pk)).content.decode()


def test_a_lead_sees_both_answers_once_given_and_the_claim_once_checked(scene, sample, client):
    check_label(sample, "C", ada=0, ben=1)
    sign_in(client, scene.carla)
    address = url("sample", sample.pk) + "?show=to-settle"
    claim, one = '<span class="grade-value">2</span>', '<span class="grade-value">1</span>'

    differing = client.get(address).content.decode()
    settle_as_relevant(sample, "C", scene.dan)
    settled = client.get(url("sample", sample.pk) + "?show=wrong").content.decode()

    assert one in differing
    assert claim not in differing
    assert claim in settled


def settle_as_relevant(sample, doc_id, who):
    """Settle a label as relevant."""
    actions.settle(item=item(sample, doc_id), relevance=1, by=who)


def test_an_annotator_sees_their_own_progress_and_no_figures(scene, sample, client):
    check_label(sample, "A", ada=0, ben=1, dan=1)
    sign_in(client, scene.ada)

    page = client.get(url("sample", sample.pk))

    assert "figures" not in page.context
    assert "You have answered 1 of 6 labels." in page.content.decode()


def test_the_page_of_a_finished_checker_reveals_nothing_of_the_other_checker(scene, sample, client):
    for one in sample.items.all():
        check_as_relevant(one, scene.ada)
    sign_in(client, scene.ada)

    page = client.get(url("sample", sample.pk)).content.decode()

    assert "You have answered every label that you can check or settle." in page
    assert "Two people have checked" not in page


def check_as_relevant(label, who):
    """Check a label as relevant."""
    actions.check(item=label, relevance=1, by=who)


def test_the_project_page_lists_labels_to_check_and_to_settle(scene, sample, client):
    check_label(sample, "A", ada=0, ben=1)
    sign_in(client, scene.dan)

    page = client.get(scene.project.get_absolute_url()).content.decode()

    assert "Labels to check" in page
    assert "Checked labels to settle" in page


def test_the_notice_leads_to_the_next_label(scene, sample, client):
    first, second = sample.items.order_by("pk")[:2]
    check_as_relevant(first, scene.ada)
    sign_in(client, scene.ada)

    page = client.get(reverse("annotate:notices")).text

    assert f'<a href="{url("check", second.pk)}">Labels to check</a>' in page


# --- strangers, and costs -----------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 2**63, 10**30])
def test_an_unknown_id_is_not_found(scene, client, number):
    assert sign_in(client, scene.carla).get(f"/samples/{number}/").status_code == 404
    assert sign_in(client, scene.carla).get(f"/labels/{number}/check/").status_code == 404


@pytest.fixture
def many(scene):
    """A sample of 120 labels, and 60 samples."""
    labels = {"C9": {f"N{number:03}": number % 3 for number in range(120)}}
    other = scene
    narrative = other.narratives["C1"]
    for doc_id, relevance in labels["C9"].items():
        candidate = factories.candidate(narrative.pair.query, doc_id)
        factories.judgment(narrative, candidate, other.model, relevance)
    large = draw(other, name="Large", size=100, fewer=True)
    for number in range(60):
        draw(other, name=f"Small {number}", size=1)
    return large


@pytest.mark.parametrize("who", ["ada", "carla"])
def test_lists_cost_the_same_however_long_they_are(
    scene, many, client, who, django_assert_max_num_queries
):
    sign_in(client, getattr(scene, who))
    for address, most in (
        (url("checks", "tides"), 12),
        (url("sample", many.pk), 20),
        (url("sample", many.pk) + "?show=unchecked", 20),
    ):
        with django_assert_max_num_queries(most) as queries:
            assert client.get(address).status_code == 200
        assert not any("documenttext" in one["sql"].lower() for one in queries.captured_queries)


def test_a_check_takes_few_queries(scene, many, client, django_assert_max_num_queries):
    sign_in(client, scene.ada)
    first = to_check(scene.ada, many).earliest("pk")

    with django_assert_max_num_queries(17):
        client.get(url("check", first.pk))
    with django_assert_max_num_queries(17):
        client.post(url("check", first.pk), {"relevance": "1"})


def test_long_lists_are_paged(scene, many, client):
    sign_in(client, scene.carla)

    samples = client.get(url("checks", "tides"))
    labels = client.get(url("sample", many.pk))
    rest = client.get(url("sample", many.pk) + labels.context["next_url"])

    assert len(samples.context["rows"]) == 50
    assert len(labels.context["rows"]) == 50
    assert len(rest.context["rows"]) == 50
    assert rest.context["rows"][0].pk > labels.context["rows"][-1].pk


@pytest.mark.parametrize("bound", ["", "x", "-1", "0", "99", "1e400", "nan"])
def test_an_invalid_bound_falls_back_to_the_default(scene, sample, client, bound):
    sign_in(client, scene.carla)

    page = client.get(url("sample", sample.pk), {"bound": bound})

    assert page.status_code == 200
    assert page.context["figures"].bound == 0.02


def test_the_figures_use_the_chosen_bound(scene, sample, client):
    sign_in(client, scene.carla)

    page = client.get(url("sample", sample.pk), {"bound": "1.0"})

    # log 0.05 / log 0.99 = 298.1
    assert page.context["figures"].overall.more_status == 299
    assert shows(page, "More for 1%")
    # 299 more cannot be checked: there are six.
    assert shows(page, '299 <span class="below small muted">6 left</span>')
    assert shows(client.get(url("sample", sample.pk), {"bound": "0.25"}), "More for 0.25%")


def test_empty_pages_say_what_will_appear(scene, client):
    for who, words in (
        (scene.carla, "Draw a sample of the labels that a machine"),
        (scene.ada, "When a lead draws a sample"),
    ):
        page = sign_in(client, who).get(url("checks", "tides")).content.decode()

        assert words in page


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"stratify": "none"}, "3 drawn at random with seed 7."),
        ({"stratify": "category"}, "3 of each stratum drawn at random with seed 7."),
        (
            {"stratify": "none", "per": "instruction", "size": 2},
            "2 of each instruction drawn at random with seed 7.",
        ),
    ],
)
def test_the_page_of_a_sample_says_what_was_drawn(scene, client, choices, words):
    page = sign_in(client, scene.carla).get(draw(scene, **choices).get_absolute_url())

    assert words in " ".join(page.text.split())


def test_programs_read_how_many_labels_each_person_checked(scene, sample, client):
    check_label(sample, "A", ada=0, ben=1)
    check_label(sample, "B", ada=1)
    client = sign_in(client, scene.carla)

    people = client.get("/api/v1/projects/tides/pace/").json()["people"]
    own = client.get(f"/api/v1/projects/tides/members/{scene.ada.pk}/pace/").json()

    checked = {person["name"]: person["checked"] for person in people}
    assert checked == {"ada": 2, "ben": 1, "carla": 0, "dan": 0}
    assert (own["checked"], own["reviewed"]) == (2, 0)
    assert own["last_on"] == timezone.now().date().isoformat()


def test_who_is_where_counts_the_labels_that_each_person_checked(scene, sample, client):
    client = sign_in(client, scene.carla)
    pages = [reverse(f"annotate:{name}", args=["tides"]) for name in ("project", "progress")]
    for page in pages:
        assert not shows(client.get(page), '<th class="number" scope="col">Checks</th>')
    check_label(sample, "A", ada=0, ben=1)
    check_label(sample, "B", ada=1)

    overview, progress = (client.get(page) for page in pages)

    people = {row.member.name: row for row in overview.context["people"]}
    assert [people[name].checked for name in ("ada", "ben", "carla", "dan")] == [2, 1, 0, 0]
    assert people["ada"].last_at == Check.objects.filter(checker=scene.ada).latest("at").at
    assert people["carla"].last_at is None
    assert shows(overview, '<th class="number" scope="col">Checks</th>')
    assert shows(progress, '<th class="number" scope="col">Checks</th>')
    checked = {person.member.name: person.checked for person in progress.context["people"]}
    assert checked == {"ada": 2, "ben": 1, "carla": 0, "dan": 0}
