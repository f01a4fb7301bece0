"""`manage.py demo`: all of Rejudge on this machine, with the example projects."""

from __future__ import annotations

import os
import socket
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from annotate.projects.models import Membership
from base.extras import missing_extra
from base.users import User
from config.examples.making import ensure_example_of, kinds_with_examples
from config.examples.tides import LEAD, NAME, ensure_example
from config.management.commands import serve
from config.supervisor import Program

ALL = "all"


class Command(serve.Command):
    """Serves Rejudge like `serve`, but loads the example project and shows its logins."""

    help = "Serve Rejudge with the example project and print its logins, until Ctrl-C."
    command_name = "bin/demo" if settings.COMMAND == "manage.py" else f"{settings.COMMAND} demo"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the option for the kind of example."""
        super().add_arguments(parser)
        parser.add_argument(
            "--kind",
            choices=[*kinds_with_examples(), ALL],
            help="also load the example of this kind, or of all kinds",
        )

        parser.add_argument(
            "--with-model",
            action="store_true",
            help="also start an imitation of a language model",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Store what was requested, then serve."""
        self.model_port = 0
        if options.pop("with_model", False):
            if sentence := missing_extra("llm", "--with-model"):
                raise CommandError(sentence)
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.model_port = free.getsockname()[1]
            address = f"http://127.0.0.1:{self.model_port}/v1"
            # The programs that are started read it.
            for name in ("REJUDGE_MODEL_SERVERS", "REJUDGE_MODEL_KEYS"):
                os.environ.pop(name, None)
                os.environ.pop(f"{name}_FILE", None)
            os.environ["REJUDGE_MODEL_SERVERS"] = f"imitation={address}"
        kind = options.pop("kind", None)
        self.kinds = kinds_with_examples() if kind == ALL else [kind] if kind else []
        super().handle(*args, **options)

    def prepare(self) -> None:
        """Load the example projects that do not exist yet."""
        super().prepare()
        self.write("Preparing the example project")
        if sentence := missing_extra("evaluation", "The evaluation of an example"):
            self.write(sentence)
        self.logins = ensure_example()
        self.slugs = []
        for kind in self.kinds:
            self.write(f"Preparing the example of {kind}")
            self.slugs.append(ensure_example_of(kind, by=_lead()).slug)

    def more_programs(self) -> list[Program]:
        """Return the imitation of a model, if it was requested."""
        if not self.model_port:
            return []
        argv = [sys.executable, "-m", "llm.imitation", str(self.model_port)]
        return [Program("imitation of a model", argv)]

    def greeting(self, url: str) -> list[str]:
        """Return lines with the URLs and the logins."""
        lines = super().greeting(url)
        for login in self.logins:
            words = f"password {login.password}" if login.password else "with its own password"
            leads = f", {NAME}" if login.username == LEAD else ""
            role = Membership.Role.LEAD if leads else Membership.Role.ANNOTATOR
            lines.append(
                f"  sign in as {login.username:8} {words:26} ({role.label.lower()}{leads})"
            )
        lines += [f"  example  {url}projects/{slug}/" for slug in self.slugs]
        return lines


def _lead() -> User:
    """Return the account that leads the examples of the kinds."""
    lead = User.objects.filter(username=LEAD, is_active=True).first()
    if lead is None:
        raise CommandError(
            f"{LEAD} leads the examples of the kinds, but there is no active account of this name. "
            "Start without --kind, and make the example on the page “Try an example”."
        )
    return lead
