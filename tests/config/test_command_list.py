"""`rejudge` without a command lists Rejudge's commands by subject."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command, get_commands

from config.command_line import GROUPS, CommandLine
from tests.config.test_command_line import run

OURS = {"annotate", "audit", "config", "exporters", "keeping"}


def test_every_command_of_ours_is_in_one_group():
    listed = [name for names in GROUPS.values() for name in names]
    ours = {name for name, app in get_commands().items() if app in OURS}

    assert len(listed) == len(set(listed))
    assert set(listed) == ours


def test_the_list_has_a_sentence_for_each_command_and_none_of_djangos():
    text = CommandLine(["rejudge"]).main_help_text()

    assert "Usage: rejudge COMMAND [options]" in text
    assert "  load            Load files into a project, each all or nothing\n" in text
    assert "  changepassword  Set another password for an account\n" in text
    assert "makemigrations" not in text
    assert max(map(len, text.splitlines())) <= 100


def test_commands_of_django_can_be_called(tmp_path):
    assert "makemigrations" in run(["help", "--commands"], tmp_path).stdout
    assert run(["diffsettings", "--help"], tmp_path).stdout.startswith("usage: ")


def test_an_unknown_option_is_answered_with_the_options_of_the_command_alone(tmp_path):
    ended = run(["serve", "--prot", "8001"], tmp_path)

    assert ended.returncode == 2
    assert "[--port PORT]" in ended.stderr
    assert "--pythonpath" not in ended.stderr
    assert ended.stderr.endswith("serve: error: unrecognized arguments: --prot 8001\n")


def test_an_account_cannot_be_asked_for_without_a_terminal(db):
    with pytest.raises(CommandError, match=r"^This is no terminal, so it cannot ask for "):
        call_command("createsuperuser", "--username", "carla", stdin=StringIO())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["serve", "--port", "80000"], "--port: “80000” is no whole number from 1 to 65,535"),
        (["serve", "--only", "web", "--port", "0"], "--port: “0” is no whole number from 1 to"),
        (["serve", "--job-workers", "-1"], "--job-workers: “-1” is no whole number from 1 to 32"),
        (["serve", "--web-processes", "33"], "--web-processes: “33” is no whole number from 1 to"),
        (["status", "--failed", "-3"], "--failed: “-3” is no whole number from 1 to 1,000"),
        (["health", "web", "--port", "x"], "--port: “x” is no whole number from 1 to 65,535"),
    ],
)
def test_a_number_that_an_option_cannot_be_is_refused_with_its_bounds(arguments, sentence):
    with pytest.raises(CommandError, match=sentence):
        call_command(*arguments)


def test_an_account_that_nobody_finishes_typing_is_not_made(db, monkeypatch):
    class Terminal(StringIO):
        def isatty(self):
            return True

    def end_of_input(*_):
        raise EOFError

    monkeypatch.setattr("builtins.input", end_of_input)

    with pytest.raises(CommandError, match=r"^Stopped\. No account was made\.$"):
        call_command("createsuperuser", stdin=Terminal())


def test_an_account_in_an_empty_database_says_what_to_run(tmp_path):
    ended = run(["createsuperuser", "--username", "carla"], tmp_path)

    assert (ended.returncode, ended.stderr) == (
        1,
        "CommandError: The database is new, or older than the code. Run: manage.py prepare\n",
    )
