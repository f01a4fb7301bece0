"""A person changes their own keys, appearance and time zone, all or nothing."""

from __future__ import annotations

import datetime
import html

import pytest
from django.urls import reverse

from annotate.models import Guideline, Preferences
from annotate.people.preferences import InvalidPreferences, change_preferences
from base import keymap
from tests import factories
from tests.pages import shows


@pytest.fixture
def ada(db):
    return factories.user("ada")


@pytest.fixture
def signed_in(client, ada):
    client.force_login(ada)
    return client


def send(client, **fields):
    return client.post(reverse("annotate:preferences"), fields)


def page(response):
    return html.unescape(response.content.decode())


# --- the action -----------------------------------------------------------------------------------


def test_preferences_that_are_not_sent_are_kept(ada):
    change_preferences(keys={"undo": "u"}, theme="dark", time_zone="Asia/Kolkata", by=ada)
    change_preferences(keys={"later": "y"}, by=ada)
    change_preferences(theme="", by=ada)

    row = Preferences.objects.get()
    assert (row.keys, row.theme, row.time_zone) == ({"undo": "u", "later": "y"}, "", "Asia/Kolkata")
    assert keymap.keys_for(ada)["undo"] == "u"


def test_two_keys_can_be_swapped(ada):
    change_preferences(keys={"undo": "n", "note": "z"}, by=ada)

    assert Preferences.objects.get().keys == {"undo": "n", "note": "z"}


def test_a_key_reset_to_the_default_is_not_stored(ada):
    change_preferences(keys={"undo": "u"}, by=ada)
    change_preferences(keys={"undo": "z"}, by=ada)

    assert Preferences.objects.get().keys == {}


def test_a_key_that_another_action_has_is_refused(ada):
    change_preferences(keys={"undo": "u"}, by=ada)

    with pytest.raises(InvalidPreferences) as refused:
        change_preferences(keys={"later": "u"}, by=ada)

    assert set(refused.value.sentences) == {"undo", "later"}
    assert Preferences.objects.get().keys == {"undo": "u"}


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"keys": ["z"]}, ""),
        ({"keys": "z" * 1_000_000}, ""),
        ({"keys": {"nosuch": "u"}}, ""),
        ({"keys": {"\ud800": "u"}}, ""),
        ({"keys": {"undo": "\ud800"}}, "undo"),
        ({"keys": {"undo": "\x07"}}, "undo"),
        ({"keys": {"undo": ["u"]}}, "undo"),
        ({"keys": {"undo": "u" * 1_000_000}}, "undo"),
        ({"theme": "sepia"}, "theme"),
        ({"theme": ["dark"]}, "theme"),
        ({"time_zone": "Middle/Earth"}, "time_zone"),
        ({"time_zone": "../../etc/passwd"}, "time_zone"),
        ({"time_zone": "\ud800"}, "time_zone"),
        ({"time_zone": 7}, "time_zone"),
    ],
    ids=lambda sent: str(sent)[:30].encode("ascii", "replace").decode(),
)
def test_an_invalid_value_is_refused_at_its_field_and_nothing_changes(ada, sent, field):
    rest = {"keys": {"next": "u"}, "theme": "dark", "time_zone": "Europe/Berlin"}

    with pytest.raises(InvalidPreferences) as refused:
        change_preferences(**{**rest, **sent}, by=ada)

    assert list(refused.value.sentences) == [field]
    assert len(str(refused.value)) < 150
    assert not Preferences.objects.exists()


# --- the page -------------------------------------------------------------------------------------


def test_the_page_shows_every_action_with_its_key_by_pages(signed_in):
    shown = page(signed_in.get(reverse("annotate:preferences")))

    for action in keymap.ACTIONS:
        assert shows(shown, f'name="key-{action.name}" value="{keymap.key_cap(action.key)}"')
        assert shows(shown, f">{action.label}</th>")
    assert shown.count('class="keys"') == len(keymap.PAGES)


def test_a_key_typed_into_the_form_is_saved(signed_in, ada):
    response = send(signed_in, **{"key-undo": "U", "key-next": "→", "key-later": "space"})

    assert (response.status_code, response.url) == (302, "/settings/")
    assert Preferences.objects.get(user=ada).keys == {"undo": "u", "later": "Space"}


def test_a_collision_is_shown_at_both_fields_and_the_input_is_kept(signed_in):
    response = send(signed_in, **{"key-undo": "l", "key-later": "l", "key-note": "y"})

    shown = page(response)
    sentence = (
        "l is the key of two actions: “Take the last answer back” and "
        "“Later: comes back at the end”."
    )
    assert response.status_code == 422
    assert shown.count(sentence) == 2
    assert shows(shown, 'name="key-undo" value="l"')
    assert shows(shown, 'name="key-note" value="y"')
    assert not Preferences.objects.exists()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"key-nosuch": "u"}, "There is no action called “nosuch”."),
        ({"key-undo": ["u", "y"]}, "Press or name one key."),
        ({"key-undo": ""}, "Press or name one key."),
        ({"key-undo": "x" * 1_000_000}, "is not a key that an action can have."),
        ({"key-undo": "\x00"}, "This key has no character of its own."),
        ({"key-undo": "7"}, "Digits give grades."),
        ({"reset": "nosuch"}, "There is no action called “nosuch”."),
        ({"theme": "sepia"}, "Choose light, dark, or the same as the system."),
        ({"time_zone": "Middle/Earth"}, "There is no such time zone."),
    ],
    ids=str,
)
def test_a_forged_form_is_refused_with_a_sentence(signed_in, fields, sentence):
    response = send(signed_in, **fields)

    assert response.status_code == 422
    assert sentence in page(response)
    assert len(response.content) < 120_000
    assert not Preferences.objects.exists()


def test_one_key_is_reset_without_script(signed_in, ada):
    change_preferences(keys={"undo": "u", "later": "y"}, by=ada)

    send(signed_in, **{"key-undo": "u", "key-later": "y", "reset": "undo"})

    assert Preferences.objects.get().keys == {"later": "y"}


def test_all_keys_are_reset_and_other_preferences_are_kept(signed_in, ada):
    change_preferences(keys={"undo": "u", "later": "y"}, theme="dark", by=ada)

    send(signed_in, reset_all="yes")

    row = Preferences.objects.get()
    assert (row.keys, row.theme) == ({}, "dark")


def test_a_theme_is_stored_for_the_person_and_in_a_cookie(signed_in, ada):
    response = send(signed_in, theme="dark")

    assert Preferences.objects.get(user=ada).theme == "dark"
    assert response.cookies["theme"].value == "dark"


def test_a_script_that_sends_the_theme_gets_no_page(signed_in, ada):
    response = signed_in.post(
        reverse("annotate:preferences"), {"theme": "light"}, headers={"accept": "application/json"}
    )

    assert response.status_code == 204
    assert Preferences.objects.get(user=ada).theme == "light"


def test_a_time_zone_is_found_ignoring_case(signed_in, ada):
    send(signed_in, time_zone=" america/new york ")

    assert Preferences.objects.get(user=ada).time_zone == "America/New_York"


def test_nobody_can_change_another_persons_preferences(signed_in, ada):
    ben = factories.user("ben")
    change_preferences(theme="light", by=ben)

    send(signed_in, theme="dark", user=ben.pk)

    assert Preferences.objects.get(user=ben).theme == "light"


# --- how the pages use them -----------------------------------------------------------------------


@pytest.fixture
def guidelines_url(ada):
    """Create guidelines with two versions, on the evening of 1 March UTC; return their address."""
    project = factories.project()
    author = factories.member(project, "ada")
    for version in (1, 2):
        Guideline.objects.create(
            project=project,
            version=version,
            text="Read it whole.",
            author=author,
            created_at=datetime.datetime(2026, 3, 1, 20, 30, tzinfo=datetime.UTC),
        )
    return reverse("annotate:guidelines", args=[project.slug])


def test_times_are_shown_in_the_chosen_zone_with_its_name(signed_in, ada, guidelines_url):
    change_preferences(time_zone="Asia/Kolkata", by=ada)

    shown = page(signed_in.get(guidelines_url))

    assert 'data-time-zone="Asia/Kolkata"' in shown
    assert "2 Mar 2026, 02:00 Asia/Kolkata</time>" in shown
    assert 'datetime="2026-03-01T20:30:00Z"' in shown


def test_times_are_in_utc_without_a_chosen_zone(signed_in, guidelines_url):
    shown = page(signed_in.get(guidelines_url))

    assert "data-time-zone" not in shown
    assert "1 Mar 2026, 20:30 UTC</time>" in shown


def test_a_zone_unknown_to_this_machine_is_ignored(signed_in, ada, guidelines_url):
    Preferences.objects.create(user=ada, time_zone="Middle/Earth")

    shown = page(signed_in.get(guidelines_url))

    assert "1 Mar 2026, 20:30 UTC</time>" in shown


@pytest.mark.parametrize("chosen", [True, False])
def test_a_page_reads_the_preferences_once(
    signed_in, ada, guidelines_url, chosen, django_assert_max_num_queries
):
    if chosen:
        change_preferences(theme="dark", time_zone="Asia/Kolkata", keys={"undo": "u"}, by=ada)

    with django_assert_max_num_queries(60) as queries:
        page = signed_in.get(guidelines_url)

    assert sum("annotate_preferences" in query["sql"] for query in queries) == 1
    assert (b'data-theme="dark"' in page.content) == chosen
    if chosen:
        assert page.wsgi_request.user.preferences.keys == {"undo": "u"}


def test_an_api_request_does_not_read_preferences(signed_in, ada, django_assert_max_num_queries):
    query = factories.query(factories.project())
    factories.member(query.project, "ada")
    pair = factories.pair(query)

    with django_assert_max_num_queries(60) as queries:
        response = signed_in.post(
            reverse("annotate:api_judgments", args=[pair.pk]), {}, content_type="application/json"
        )

    assert response.status_code == 400
    assert sum('FROM "annotate_preferences"' in query["sql"] for query in queries) == 0


def test_the_city_is_enough_to_name_a_time_zone(signed_in, ada):
    assert send(signed_in, time_zone="berlin").status_code == 302
    assert Preferences.objects.get(user=ada).time_zone == "Europe/Berlin"
