"""What Rejudge answers, as far as this client reads it. Answers may have further fields."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

State = Literal["queued", "running", "done", "failed", "cancelled"]


class ProjectRecord(TypedDict):
    """A project as one of its members sees it."""

    slug: str
    name: str
    role: Literal["annotator", "lead"]


class MemberRecord(TypedDict):
    """Somebody who works, or worked, in a project: a person, a name from a file, or a machine."""

    id: int
    name: str
    role: Literal["annotator", "lead"]
    is_machine: bool
    left_at: str | None


class LinkRecord(TypedDict):
    """A link that was made to let one person in; it is told this once."""

    id: int
    url: str | None
    mailed: bool | None
    expires_at: str


class AccountRecord(TypedDict):
    """An account of an installation."""

    id: int
    username: str
    email: str
    is_active: bool
    projects: int


class AuditEventRecord(TypedDict):
    """One thing that somebody did who leads a project, or runs the installation."""

    uuid: str
    at: str
    who: str
    what: str
    about: str
    words: str
    changes: dict[str, list[Any]]


class Job(TypedDict):
    """A piece of work that a worker does."""

    id: int
    state: State
    step: str
    done: int
    total: int | None
    error: str


class LineProblem(TypedDict):
    """A line of a file that is wrong; `line` is None where the file is as a whole."""

    line: int | None
    text: str | None
    message: str


class Report(TypedDict):
    """What was read of a file, and what changed."""

    read: int
    new: int
    changed: int
    unchanged: int
    refused: int
    problems: list[LineProblem]
    notes: list[str]


class LoadRecord(Job):
    """A file on its way in."""

    file_name: str
    dry_run: bool
    report: Report | None


class Narrative(TypedDict):
    """A version of a narrative with its words."""

    id: int
    side: Literal["original", "altered", "reversed"]
    version: int
    text: str


class Assignment(TypedDict):
    """One person does one task on one pair."""

    id: int
    task: Literal["rewrite", "judge", "review"]
    pair: int
    pair_id: str


class DocumentView(TypedDict):
    """A document as it comes to its judge."""

    number: int
    # The title, or a neutral name: an id could give the answer away.
    name: str
    # None until you have answered.
    doc_id: str | None
    title: str
    text: str | None
    prior_relevance: int | None


class Judged(TypedDict):
    """A judgment of one's own that was kept."""

    uuid: str
    narrative: int
    candidate: int
    relevance: int


class Progress(TypedDict):
    """How far a project is, in judgments and final flags."""

    answered: int
    wanted: int


class FileFacts(TypedDict):
    """A file that can be fetched, and what it is checked by."""

    name: str
    holds: str
    lines: int
    bytes: int
    sha256: str


class ExportRecord(Job):
    """An export; its files are there once it is done."""

    format: str
    counts: dict[str, int] | None
    files: list[FileFacts]


class ReleaseRecord(Job):
    """A release; its files are there once it is made."""

    name: str
    sha256: str
    citation: str
    files: list[FileFacts]
