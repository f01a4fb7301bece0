"""Guidelines have versions; leads write them, and every member reads them."""

from __future__ import annotations

import pytest
from django.urls import reverse

from annotate.guidelines.actions import write_guideline
from annotate.models import Guideline
from base.errors import Refused, Stale
from tests import factories


@pytest.fixture
def carla(db):
    return factories.lead(factories.project())


def url(of) -> str:
    return reverse("annotate:guidelines", args=[of.project.slug])


def test_each_change_inserts_a_version(carla):
    write_guideline(text="Read it all.", by=carla, based_on=0)
    write_guideline(text="Read it all, twice.", by=carla, based_on=1)

    assert list(Guideline.objects.order_by("version").values_list("version", "text")) == [
        (1, "Read it all."),
        (2, "Read it all, twice."),
    ]


def test_a_version_based_on_an_outdated_one_is_refused(carla):
    write_guideline(text="Read it all.", by=carla, based_on=0)

    with pytest.raises(Stale, match="Version 1 was saved"):
        write_guideline(text="Skim it.", by=carla, based_on=0)


def test_guidelines_contain_no_control_character(carla):
    with pytest.raises(Refused, match=r"control character \(U\+0001\)"):
        write_guideline(text="Read it\x01 all.", by=carla, based_on=0)


def test_an_annotator_cannot_write_guidelines(carla):
    ada = factories.member(carla.project, "ada")

    with pytest.raises(Refused, match="Only leads"):
        write_guideline(text="Skim it.", by=ada, based_on=0)


def test_only_a_lead_is_told_how_to_write_the_first_version(carla, client):
    advice = "give two or three examples"
    client.force_login(carla.user)
    assert advice in client.get(url(carla)).content.decode()
    client.force_login(factories.member(carla.project, "ada").user)

    page = client.get(url(carla)).content.decode()

    assert "There are no guidelines yet" in page
    assert advice not in page


def test_an_annotator_reads_guidelines(carla, client):
    write_guideline(text="Read it all.", by=carla, based_on=0)
    client.force_login(factories.member(carla.project, "ada").user)

    page = client.get(url(carla)).content.decode()

    assert "Read it all." in page
    assert "<textarea" not in page


def test_an_older_version_stays_readable(carla, client):
    write_guideline(text="Read it all.", by=carla, based_on=0)
    write_guideline(text="Read it twice.", by=carla, based_on=1)
    client.force_login(carla.user)

    page = client.get(url(carla) + "?version=1").content.decode()

    assert "Read it all." in page
    assert "There is a newer one." in page


def test_a_stale_form_keeps_the_typed_text(carla, client):
    write_guideline(text="Read it all.", by=carla, based_on=0)
    client.force_login(carla.user)

    first = client.post(url(carla), {"text": "Skim it.", "based_on": 0})
    page = first.content.decode()

    assert first.status_code == 422
    assert "Version 1 was saved while you were writing" in page
    assert "Skim it." in page
    assert 'name="based_on" value="1"' in page
    assert Guideline.objects.count() == 1


def test_a_lead_goes_back_to_an_older_version_by_saving_its_text_again(carla, client):
    write_guideline(text="Count plants at sea.", by=carla, based_on=0)
    write_guideline(text="Count every plant.", by=carla, based_on=1)
    client.force_login(carla.user)

    older = client.get(url(carla), {"version": "1"}).content.decode()
    editor = client.get(url(carla), {"edit": "1", "version": "1"}).content.decode()

    assert "?edit=1&amp;version=1" in older
    assert "Count plants at sea.</textarea>" in editor


def test_a_refused_text_does_not_hide_a_version_that_another_lead_saved(carla, client):
    write_guideline(text="Read it all.", by=carla, based_on=0)
    write_guideline(text="Read it all, twice.", by=carla, based_on=1)
    client.force_login(carla.user)

    # Written from version 1, with a character that is refused; then sent again without it.
    refused = client.post(url(carla), {"text": "Skim it.\x01", "based_on": 1}).content.decode()
    sent_again = client.post(url(carla), {"text": "Skim it.", "based_on": 1})

    assert "control character (U+0001)" in refused
    assert 'name="based_on" value="1"' in refused
    assert "Version 2 was saved while you were writing" in sent_again.content.decode()
    assert Guideline.objects.count() == 2
