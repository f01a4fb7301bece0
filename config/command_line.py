"""The command line of `rejudge` and `manage.py`: Django's, with a list of Rejudge's commands."""

from __future__ import annotations

import shutil
from pathlib import Path
from textwrap import fill

from django.core.management import BaseCommand, ManagementUtility

GROUPS = {
    "Run": ("demo", "prepare", "serve", "status", "health"),
    "People": ("createsuperuser", "changepassword", "lead", "notices"),
    "Collection": ("example", "load", "missing_texts", "queries", "passages"),
    "Pools": ("pool", "candidates", "labelled"),
    "Review": ("rubric", "review_draw", "rejected"),
    "Results": ("agreement", "export", "publication", "release", "prove", "measure", "maxp"),
    "Keep": ("backup", "restore", "verify", "purge"),
}

# Options that Django gives every command. They work, but help shows what is Rejudge's own.
OF_EVERY_COMMAND = {
    "--version",
    "--verbosity",
    "--settings",
    "--pythonpath",
    "--traceback",
    "--no-color",
    "--force-color",
    "--skip-checks",
}


class CommandLine(ManagementUtility):
    """Runs one command; the help lists Rejudge's commands, and Django's can be called as well."""

    def __init__(self, argv: list[str]) -> None:
        super().__init__(argv)
        if Path(argv[0]).name == "__main__.py":
            self.prog_name = "python -m rejudge"

    def main_help_text(self, commands_only: bool = False) -> str:
        """Return Rejudge's commands by subject, each with the first sentence of its help."""
        if commands_only:
            return super().main_help_text(commands_only)
        width = min(shutil.get_terminal_size().columns, 100)
        lines = [f"Usage: {self.prog_name} COMMAND [options]"]
        for group, names in GROUPS.items():
            lines += ["", group]
            for name in names:
                sentence = self.fetch_command(name).help.partition(". ")[0].removesuffix(".")
                indent = f"  {name:15} "
                lines.append(
                    fill(sentence, width, initial_indent=indent, subsequent_indent=" " * 18)
                )
        lines += [
            "",
            f"`{self.prog_name} help COMMAND` describes a command, and",
            f"`{self.prog_name} help --commands` lists Django's own, which can be called as well.",
        ]
        return "\n".join(lines)

    def fetch_command(self, subcommand: str) -> BaseCommand:
        """Return the command; the help of Rejudge's own has their own options only."""
        command = super().fetch_command(subcommand)
        if any(subcommand in names for names in GROUPS.values()):
            command.suppressed_base_arguments = OF_EVERY_COMMAND
        return command
