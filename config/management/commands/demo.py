"""`manage.py demo`: the whole of Rejudge with the example project, on this machine."""

from __future__ import annotations

from annotate.projects.models import Membership
from config.example import LEAD, NAME, ensure_example
from config.management.commands import serve


class Command(serve.Command):
    """Serves as `serve` does, with the example project loaded and its logins shown."""

    help = "Serve Rejudge with the example project and print its logins, until Ctrl-C."
    again = "bin/demo"

    def prepare(self) -> None:
        """Load the example project where it is not there yet."""
        super().prepare()
        self.write("Looking after the example project")
        self.logins = ensure_example()

    def greeting(self, url: str) -> list[str]:
        """Say where the pages are and who may sign in."""
        lines = super().greeting(url)
        for login in self.logins:
            words = f"password {login.password}" if login.password else "with its own password"
            leads = f", {NAME}" if login.username == LEAD else ""
            role = Membership.Role.LEAD if leads else Membership.Role.ANNOTATOR
            lines.append(
                f"  sign in as {login.username:8} {words:26} ({role.label.lower()}{leads})"
            )
        return lines
