"""Look-alike user names are refused for new accounts and kept for existing ones."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from annotate.models import User
from annotate.people import invitations
from base.errors import InvalidField, Refused
from base.users import LONGEST_SKELETON, skeleton
from tests import factories

PASSWORD = "seven long words of a tide"
CYRILLIC = "\N{CYRILLIC SMALL LETTER A}da"


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("ada", CYRILLIC),
        ("ada", "Ada"),
        ("ada", "\N{CYRILLIC CAPITAL LETTER A}DA"),
        ("ada", "\N{FULLWIDTH LATIN SMALL LETTER A}da"),
        ("lan", "Ian"),
        ("carla1", "carlal"),
        ("b0b", "bob"),
        ("marc", "rnarc"),
        ("zoé", "zoe\N{COMBINING ACUTE ACCENT}"),
        ("\N{GREEK SMALL LETTER OMICRON}lga", "olga"),
    ],
)
def test_names_that_look_alike_have_one_skeleton(name, other):
    assert skeleton(name) == skeleton(other)


@pytest.mark.parametrize(
    ("name", "other"), [("ada", "ade"), ("ada", "adda"), ("zoe", "zoé"), ("王芳", "王方")]
)
def test_names_that_do_not_look_alike_have_different_skeletons(name, other):
    assert skeleton(name) != skeleton(other)


def test_a_skeleton_has_a_maximum_length():
    assert len(skeleton("m" * 150)) == LONGEST_SKELETON


@pytest.fixture
def carla(db):
    return factories.lead(factories.project())


@pytest.mark.parametrize("name", [CYRILLIC, "ada", "ADA"])
def test_a_new_account_cannot_have_a_lookalike_name(carla, name):
    factories.user("ada")
    token = invitations.invite(role="annotator", by=carla).token

    with pytest.raises(InvalidField, match="taken"):
        invitations.accept_with_new_account(token=token, username=name, password=PASSWORD)

    assert not User.objects.filter(username=CYRILLIC).exists()


def test_nobody_is_invited_under_a_lookalike_name(carla):
    factories.user("ada")

    with pytest.raises(Refused, match="looks like"):
        invitations.invite(role="annotator", name=CYRILLIC, by=carla)


def test_no_command_creates_an_account_with_a_lookalike_name(db, monkeypatch):
    factories.user("ada")
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)

    with pytest.raises(CommandError, match="looks like"):
        call_command("createsuperuser", "--noinput", username=CYRILLIC, email="a@example.org")


def test_an_account_cannot_be_renamed_to_a_lookalike_name(db):
    factories.user("ada")
    ben = factories.user("ben")
    ben.username = CYRILLIC

    with pytest.raises(ValidationError, match="looks like"):
        ben.full_clean()


def test_the_database_refuses_a_lookalike_name(db):
    factories.user("ada")

    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.bulk_create([User(username=CYRILLIC, skeleton=skeleton(CYRILLIC))])
