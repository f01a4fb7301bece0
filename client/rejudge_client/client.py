"""The client: sign in by token, load files, judge, follow progress, export and download.

with Rejudge("https://rejudge.example.org", token) as rejudge:
    tides = rejudge.project("tides")
    tides.load("trec-qrels", "qrels.txt")
    tides.export("trec", "tides-qrels")
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeVar, cast
from urllib.parse import quote

from rejudge_client.connection import Connection
from rejudge_client.errors import Damaged, Failed, Refused
from rejudge_client.judging import Case, JudgingSession
from rejudge_client.records import (
    AccountRecord,
    Assignment,
    AuditEventRecord,
    ExportFormat,
    ExportRecord,
    FileFacts,
    Job,
    LinkRecord,
    LoadRecord,
    MemberRecord,
    Progress,
    ProjectRecord,
    ReleaseRecord,
    Report,
)

# In seconds: how often a job's state is requested, and the default time after which to give up.
POLL_SECONDS = 0.5
PATIENCE = 24 * 60 * 60.0

J = TypeVar("J", bound=Job)


class Rejudge(Connection):
    """An installation as the owner of the token sees it. See `Connection` for arguments."""

    def me(self) -> dict[str, Any]:
        """Return the account and the scope of the token."""
        return cast(dict[str, Any], self.get("me/"))

    def projects(self) -> Iterator[ProjectRecord]:
        """Yield your projects."""
        return cast(Iterator[ProjectRecord], self.pages("projects/"))

    def project(self, slug: str) -> Project:
        """Return one of your projects. Raise NotFound if you are not a member."""
        return Project(self, cast(ProjectRecord, self.get(f"projects/{_quote(slug)}/")))

    def create(self, slug: str, name: str, grades: list[int]) -> Project:
        """Create a project that you lead."""
        created = self.post("projects/", {"slug": slug, "name": name, "grades": grades})
        return Project(self, cast(ProjectRecord, created))

    def accounts(self, search: str = "", *, closed: bool = False) -> Iterator[AccountRecord]:
        """Yield the accounts of the installation. Raise Forbidden unless you administer it."""
        asked = {"closed": str(closed).lower(), **({"search": search} if search else {})}
        return cast(Iterator[AccountRecord], self.pages("accounts/", asked))

    def invite(self, username: str = "", email: str = "", *, days: int = 7) -> LinkRecord:
        """Create an invitation link for one person to get an account.

        Without `username` the person chooses one; with `email` the link is mailed as well. Raises
        Forbidden unless you administer the installation.
        """
        body = {"username": username, "email": email, "days": days}
        return cast(LinkRecord, self.post("accounts/invitations/", body))


@dataclass(frozen=True)
class Project:
    """One project."""

    rejudge: Connection
    record: ProjectRecord

    @property
    def slug(self) -> str:
        """Return the project's short name, which is part of its URLs."""
        return self.record["slug"]

    def load(
        self,
        format_name: str,
        file: str | Path,
        *,
        no_grade: int | None = None,
        side: str | None = None,
        despite_rules: bool = False,
        carry_claims: bool = False,
        dry_run: bool = False,
        patience: float = PATIENCE,
    ) -> Report:
        """Load a file completely or not at all, wait for the job, and return what changed.

        Send a folder as one zip archive. Loading the same file again changes nothing. With
        `dry_run` nothing is written. `side` is the side that a run ranks documents for: original,
        altered or reversed. `despite_rules` also loads rows that break a rule of the project's
        kind; `carry_claims` copies machines' claims to new versions of narratives for which the
        file has none. Raises Refused with the first bad lines, and Failed if the job failed.
        """
        path = Path(file)
        fields = {"format": format_name, "no_grade": no_grade, "side": side}
        asked = self.rejudge.upload(f"{self._path}loads/", path, fields)
        preview = self._wait(cast(LoadRecord, asked), "loads", f"Reading {path.name}", patience)
        report = _report(preview)
        if report["refused"] or dry_run:
            # A refused file is kept too if it looks like another format.
            self.rejudge.put(f"{self._path}loads/{preview['id']}/leaving/", {})
        if report["refused"]:
            raise Refused(422, {"detail": _bad_lines(path.name, report)})
        if dry_run:
            return report
        confirmed = self.rejudge.put(
            f"{self._path}loads/{preview['id']}/confirmation/",
            {"despite_rules": despite_rules, "carry_claims": carry_claims},
        )
        load = self._wait(cast(LoadRecord, confirmed), "loads", f"Loading {path.name}", patience)
        return _report(load)

    def assignments(self, task: str = "judge") -> Iterator[Assignment]:
        """Yield your assignments of a task that have work left."""
        rows = self.rejudge.pages(f"{self._path}assignments/", {"task": task})
        return cast(Iterator[Assignment], rows)

    def take_assignment(
        self, task: str = "judge", *, become_blind: bool = False
    ) -> Assignment | None:
        """Take the next open assignment of a task, or return None if there is none.

        Leads pass `become_blind=True` to judge or review themselves: until they have answered
        everything in the assignment, they cannot see agreement, exports or releases.
        """
        sent = {"task": task, "become_blind": become_blind}
        taken = self.rejudge.post(f"{self._path}assignments/", sent)
        return cast(Assignment | None, taken["assignment"])

    def judge(
        self,
        choose_grade: Callable[[Case], int | None],
        *,
        write_note: Callable[[Case], str] | None = None,
        become_blind: bool = False,
    ) -> int:
        """Judge all your open documents with a progress bar; return how many were judged.

        `choose_grade` gets each document with its narrative, in your order, and returns the grade,
        or None to skip it; `write_note` returns a note. A program that was stopped continues where
        it was when run again. `become_blind`: see `take_assignment`.
        """
        judged = 0
        left: set[int] = set()
        while (assignment := self._next_assignment(left, become_blind)) is not None:
            found = self.judging_session(assignment["pair"]).judge(
                choose_grade, write_note=write_note
            )
            judged += found.judged
            if found.open:
                # Otherwise the skipped documents would come up again and again.
                left.add(assignment["pair"])
        return judged

    def judging_session(self, pair: int) -> JudgingSession:
        """Return a session for judging a pair on which you have a judging assignment."""
        found = self.rejudge.get(f"pairs/{pair}/")
        query = self.rejudge.get(f"{self._path}queries/{found['query']}/")
        return JudgingSession(self.rejudge, pair, query["title"], found["narratives"])

    def members(self) -> Iterator[MemberRecord]:
        """Yield the current and former members of the project."""
        return cast(Iterator[MemberRecord], self.rejudge.pages(f"{self._path}members/"))

    def invite(
        self,
        username: str = "",
        email: str = "",
        *,
        role: Literal["annotator", "lead"] = "annotator",
        days: int = 7,
    ) -> LinkRecord:
        """Create an invitation link for one person to join the project.

        The person uses an existing account or a new one. Without `username` they choose a name;
        with `email` the link is mailed as well.
        """
        body = {"username": username, "email": email, "role": role, "days": days}
        return cast(LinkRecord, self.rejudge.post(f"{self._path}invitations/", body))

    def audit_log(self) -> Iterator[AuditEventRecord]:
        """Yield what leads and administrators did in the project, newest first."""
        return cast(Iterator[AuditEventRecord], self.rejudge.pages(f"{self._path}audit-log/"))

    def fetch_audit_log(self, target: str | Path) -> Path:
        """Download the audit log as a table (CSV), oldest first."""
        return self.rejudge.download(f"{self._path}audit-log/table/", Path(target))

    def progress(self) -> Progress:
        """Return the number of judgments and final flags so far, and the number wanted."""
        return cast(Progress, self.rejudge.get(f"{self._path}progress/"))

    def watch(self, *, every: float = 5.0, patience: float = PATIENCE) -> Progress:
        """Show a progress bar until all wanted judgments are made, and return the progress."""
        found = self.progress()
        waited = 0.0
        with self.rejudge.bar(found["wanted"], f"Judging {self.slug}", "judgments") as bar:
            while True:
                bar.total = found["wanted"]
                bar.update(found["answered"] - bar.n)
                if found["answered"] >= found["wanted"]:
                    return found
                if waited >= patience:
                    raise Failed(
                        f"Only {found['answered']:,} of {found['wanted']:,} answers so far."
                    )
                self.rejudge.sleep(every)
                waited += every
                found = self.progress()

    def agreement(self, *, patience: float = PATIENCE, **part: Any) -> dict[str, Any]:
        """Request an agreement report on a part of the project, and return it with its figures.

        `part` selects the part: query, category, side, blind ...
        """
        reports = "agreement/reports"
        asked = self.rejudge.post(f"{self._path}{reports}/", part)
        return cast(
            dict[str, Any], self._wait(cast(Job, asked), reports, "Computing agreement", patience)
        )

    def export(
        self,
        format_name: ExportFormat,
        folder: str | Path,
        *,
        patience: float = PATIENCE,
    ) -> ExportRecord:
        """Request an export, wait for it, and download its files into `folder`.

        Each file is checked against its digest. The folder is created; files of the same name are
        replaced.
        """
        asked = self.rejudge.post(f"{self._path}exports/", {"format": format_name})
        export = self._wait(cast(ExportRecord, asked), "exports", "Exporting", patience)
        here = f"{self._path}exports/{export['id']}/files/"
        self._fetch(here, export["files"], Path(folder))
        # The manifest describes the other files but does not list itself.
        self.rejudge.download(f"{here}manifest.json", Path(folder) / "manifest.json")
        return export

    def release(self, name: str, note: str = "", *, patience: float = PATIENCE) -> ReleaseRecord:
        """Create a release, which never changes, and wait until it is made."""
        self.rejudge.post(f"{self._path}releases/", {"name": name, "note": note})
        where = f"{self._path}releases/{_quote(name)}/"
        return cast(ReleaseRecord, self._wait_until_done(where, f"Releasing {name}", patience))

    def fetch_release(self, name: str, folder: str | Path) -> ReleaseRecord:
        """Download all files of a release into `folder`, each checked against its digest."""
        where = f"{self._path}releases/{_quote(name)}/"
        found = cast(ReleaseRecord, self.rejudge.get(where))
        if found["state"] != "done":
            raise Failed(f"The release {name} is not available: it is {found['state']}.")
        self._fetch(f"{where}files/", found["files"], Path(folder))
        return found

    @property
    def _path(self) -> str:
        return f"projects/{_quote(self.slug)}/"

    def _next_assignment(self, left: set[int], become_blind: bool) -> Assignment | None:
        held = next(
            (assignment for assignment in self.assignments() if assignment["pair"] not in left),
            None,
        )
        if held is not None:
            return held
        taken = self.take_assignment(become_blind=become_blind)
        return taken if taken is not None and taken["pair"] not in left else None

    def _wait(self, job: J, kind: str, title: str, patience: float) -> J:
        where = f"{self._path}{kind}/{job['id']}/"
        return cast(J, self._wait_until_done(where, title, patience))

    def _wait_until_done(self, where: str, title: str, patience: float) -> Mapping[str, Any]:
        """Request a job's state, with a progress bar, until it is done."""
        began = time.monotonic()
        with self.rejudge.bar(None, title, "") as bar:
            while True:
                job = cast(Job, self.rejudge.get(where))
                bar.total = job["total"]
                if job["step"]:
                    bar.set_postfix_str(job["step"], refresh=False)
                bar.update(job["done"] - bar.n)
                if job["state"] == "done":
                    return job
                if job["state"] in {"failed", "cancelled"}:
                    raise Failed(job["error"] or f"{title}: it was cancelled.")
                if time.monotonic() - began > patience:
                    raise Failed(f"{title}: not done after {patience:,.0f} seconds.")
                self.rejudge.sleep(POLL_SECONDS)

    def _fetch(self, where: str, files: list[FileFacts], folder: Path) -> None:
        """Download the listed files; raise Damaged for a name outside of `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        for entry in files:
            name = PurePosixPath(entry["name"])
            if name.is_absolute() or not name.parts or ".." in name.parts or "\\" in entry["name"]:
                raise Damaged(f"{entry['name']} is not a valid file name.")
            address = where + "/".join(map(_quote, name.parts))
            target = folder.joinpath(*name.parts)
            self.rejudge.download(address, target, size=entry["bytes"], sha256=entry["sha256"])


def _report(load: LoadRecord) -> Report:
    report = load["report"]
    if report is None:
        raise Failed(f"{load['file_name']} was read, but there is no report.")
    return report


def _bad_lines(name: str, report: Report) -> str:
    first = [
        f"line {one['line']}: {one['message']}" if one["line"] else one["message"]
        for one in report["problems"][:5]
    ]
    more = report["refused"] - len(first)
    problems = "; ".join(first) + (f"; and {more:,} more" if more > 0 else "")
    return f"Nothing was loaded from {name}. {problems}"


def _quote(name: str) -> str:
    """Return a name quoted as one part of a URL path."""
    return quote(name, safe="")
