"""The fields of API responses that this client reads. Responses may have further fields."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

State = Literal["queued", "running", "done", "failed", "cancelled"]
# The formats and layouts of exports.
ExportFormat = Literal[
    "trec",
    "jsonl",
    "mteb",
    "hf",
    "beir",
    "ir-datasets",
    "followtable",
    "infosearch",
    "multiconir",
    "multi-infosearch",
    "citation",
]


class ProjectRecord(TypedDict):
    """A project as one of its members sees it."""

    slug: str
    name: str
    role: Literal["annotator", "lead"]


class MemberRecord(TypedDict):
    """A current or former member of a project: a person, a name from a file, or a machine."""

    id: int
    name: str
    role: Literal["annotator", "lead"]
    is_machine: bool
    left_at: str | None


class LinkRecord(TypedDict):
    """A new invitation link; its `url` is returned only this once."""

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
    """One action of a lead or an administrator."""

    uuid: str
    at: str
    who: str
    what: str
    about: str
    words: str
    changes: dict[str, list[Any]]


class Job(TypedDict):
    """A background job."""

    id: int
    state: State
    step: str
    done: int
    total: int | None
    error: str


class LineProblem(TypedDict):
    """A problem in a line of a file; `line` is None if it concerns the whole file."""

    line: int | None
    text: str | None
    message: str


class Report(TypedDict):
    """What was read from a file, and what changed."""

    read: int
    new: int
    changed: int
    unchanged: int
    refused: int
    problems: list[LineProblem]
    notes: list[str]


class LoadRecord(Job):
    """A load of a file."""

    file_name: str
    dry_run: bool
    report: Report | None


class Narrative(TypedDict):
    """A version of a narrative with its text."""

    id: int
    side: Literal["original", "altered", "reversed"]
    version: int
    text: str


class Assignment(TypedDict):
    """One person's task on one pair."""

    id: int
    task: Literal["rewrite", "judge", "review"]
    pair: int
    pair_id: str


class DocumentView(TypedDict):
    """A document as its judge sees it."""

    number: int
    # The title, or a neutral name, because an id could reveal the answer.
    name: str
    # None until you have answered.
    doc_id: str | None
    title: str
    text: str | None
    prior_relevance: int | None


class Judged(TypedDict):
    """A judgment of one's own that was saved."""

    uuid: str
    narrative: int
    candidate: int
    relevance: int


class Progress(TypedDict):
    """The progress of a project, in judgments and final flags."""

    answered: int
    wanted: int


class FileFacts(TypedDict):
    """A file that can be downloaded, with its size and digest."""

    name: str
    holds: str
    lines: int
    bytes: int
    sha256: str


class ExportRecord(Job):
    """An export; it has files once it is done."""

    format: str
    counts: dict[str, int] | None
    files: list[FileFacts]


class ReleaseRecord(Job):
    """A release; it has files once it is made."""

    name: str
    sha256: str
    citation: str
    files: list[FileFacts]
