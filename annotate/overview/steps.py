"""The steps of a project, in the order of its kind: the state of each, and which is next.

States follow from counts; those that the project page has computed already are reused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from django.db.models import Count, Exists, OuterRef, Q
from django.urls import reverse

from annotate.collection.models import Candidate
from annotate.collection.topics import FilterCount, filter_counts
from annotate.judgments import completion
from annotate.judgments.completion import JudgingProgress
from annotate.overview.contributions import overview
from annotate.overview.progress import TaskProgress, task_progress
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.projects.kinds import kind_of
from annotate.projects.models import Membership, Project

Task = Assignment.Task


class State(StrEnum):
    """How far a step is."""

    DONE = "done"
    NOW = "now"
    LATER = "later"
    # A release does not wait for it, and nobody has begun.
    OPTIONAL = "optional"


class Key(StrEnum):
    """The steps that a kind can have."""

    LOAD = "load"
    CHOOSE = "choose"
    FILTER = "filter"
    REWRITE = "rewrite"
    JUDGE = "judge"
    REVIEW = "review"
    CHECK = "check"
    # Checks of labels in one mode: under the narratives of one side.
    CHECK_ORIGINAL = "check_original"
    CHECK_INSTRUCTED = "check_instructed"
    CHECK_REVERSED = "check_reversed"
    SETTLE = "settle"
    RELEASE = "release"


NAMES: Mapping[Key, str] = {
    Key.LOAD: "Load topics and qrels",
    Key.CHOOSE: "Choose topics",
    Key.FILTER: "Load a machine's filter",
    Key.REWRITE: "Rewrite",
    Key.JUDGE: "Judge",
    Key.REVIEW: "Review instructions",
    Key.CHECK: "Check labels",
    Key.CHECK_ORIGINAL: "Check labels in original mode",
    Key.CHECK_INSTRUCTED: "Check labels in instructed mode",
    Key.CHECK_REVERSED: "Check labels in reversed mode",
    Key.SETTLE: "Settle",
    Key.RELEASE: "Release",
}
URLS: Mapping[Key, str] = {
    Key.LOAD: "annotate:loads",
    Key.CHOOSE: "annotate:topics",
    Key.FILTER: "annotate:removed_queries",
    Key.REWRITE: "annotate:queries",
    Key.JUDGE: "annotate:progress",
    Key.REVIEW: "audit:reviews",
    Key.CHECK: "audit:checks",
    Key.CHECK_ORIGINAL: "audit:checks",
    Key.CHECK_INSTRUCTED: "audit:checks",
    Key.CHECK_REVERSED: "audit:checks",
    Key.SETTLE: "audit:disagreements",
    Key.RELEASE: "exporters:releases",
}
# The side of the narratives under which a step checks labels; it also names the part of the page.
MODES = {
    Key.CHECK_ORIGINAL: Narrative.Side.ORIGINAL,
    Key.CHECK_INSTRUCTED: Narrative.Side.ALTERED,
    Key.CHECK_REVERSED: Narrative.Side.REVERSED,
}
# Steps that leads do themselves.
_OF_LEADS = {Key.LOAD, Key.CHOOSE, Key.FILTER, Key.SETTLE, Key.RELEASE}
# A step of these is left out if nobody is asked to do its task.
_TASKS = {Key.REWRITE: Task.REWRITE, Key.JUDGE: Task.JUDGE, Key.REVIEW: Task.REVIEW}


@dataclass(frozen=True)
class Step:
    """One step of a project, with its count in words."""

    key: Key
    name: str
    state: State
    count: str
    url: Annotated[str, "The page where it is done."]

    @property
    def needs_lead(self) -> bool:
        """Whether a lead does this step, not the people who take tasks."""
        return self.key in _OF_LEADS


@dataclass(frozen=True)
class Facts:
    """The figures that states follow from.

    `context` comes from other apps (`disputed`, `to_decide`, `sampled`, `checked`, `checked_in`,
    `release`, `since_release`).
    """

    judging: JudgingProgress
    tasks: Mapping[str, TaskProgress]
    context: Mapping[str, Any]
    queries: int
    taken_out: int
    without_topic: int
    to_work_on: Annotated[int, "Queries with a topic and documents."]
    filters: Sequence[FilterCount] = ()


@dataclass(frozen=True)
class Far:
    """Progress of one step: whether it is done or begun, and its count in words."""

    done: bool
    begun: bool
    count: str


def steps(
    member: Membership,
    judging: JudgingProgress,
    tasks: Sequence[TaskProgress],
    context: Mapping[str, Any],
) -> list[Step]:
    """Return the steps of the member's project: one query, or two where a filter is a step."""
    project = member.project
    facts = _facts(project, judging, tasks, context)
    kind = kind_of(project.kind)
    wanted = [Key(key) for key in kind.steps]
    keys = [key for key in wanted if key not in _TASKS or project.overlap(_TASKS[key])]
    listed, next_is_open = [], True
    for key in keys:
        far = _FAR[key](facts)
        if far.done:
            state = State.DONE
        elif far.begun or (next_is_open and key not in kind.optional_steps):
            state, next_is_open = State.NOW, False
        else:
            state = State.OPTIONAL if key in kind.optional_steps else State.LATER
        begins = key == Key.RELEASE and state == State.NOW
        url = reverse("exporters:new_release" if begins else URLS[key], args=[project.slug])
        if key in MODES:
            url += f"#mode-{MODES[key].value}"
        name = kind.step_names.get(key) or str(NAMES[key])
        listed.append(Step(key, name, state, far.count, url))
    return listed


def steps_of(member: Membership) -> list[Step]:
    """Return the steps of the member's project, for callers that have computed nothing yet."""
    judging = completion.judging(member.project)
    context = overview(member, details=True).context
    return steps(member, judging, task_progress(member, judging), context)


def next_step(found: Sequence[Step]) -> Step | None:
    """Return the first step to do now; None if all are done, but for optional ones."""
    return next((step for step in found if step.state is State.NOW), None)


def _facts(
    project: Project,
    judging: JudgingProgress,
    tasks: Sequence[TaskProgress],
    context: Mapping[str, Any],
) -> Facts:
    pool = Exists(Candidate.objects.filter(query=OuterRef("pk")))
    # Qrels and runs make queries with nothing but an id; topics have a title or a narrative.
    pair = Exists(InstructionPair.objects.filter(query=OuterRef("pk")))
    topic = ~Q(title="") | Q(pair)
    counted = project.queries.aggregate(
        queries=Count("pk"),
        taken_out=Count("pk", filter=Q(removed_at__isnull=False)),
        without_topic=Count("pk", filter=Q(~topic, removed_at__isnull=True)),
        to_work_on=Count("pk", filter=Q(pool, topic, removed_at__isnull=True)),
    )
    filters = filter_counts(project) if Key.FILTER in kind_of(project.kind).steps else ()
    return Facts(judging, {task.task: task for task in tasks}, context, **counted, filters=filters)


def _loaded(facts: Facts) -> Far:
    words = "query" if facts.queries == 1 else "queries"
    count = f"{facts.queries:,} {words}" if facts.queries else ""
    if facts.without_topic:
        count += f", {facts.without_topic:,} without a topic"
    return Far(facts.to_work_on > 0, facts.queries > 0, count)


def _chosen(facts: Facts) -> Far:
    chosen = facts.queries - facts.taken_out
    # If work has begun, the choice was to keep all of them.
    begun = any(task.done for task in facts.tasks.values())
    return Far(
        facts.queries > 0 and (facts.taken_out > 0 or begun),
        False,
        _count_in_words(chosen, facts.queries),
    )


def _filtered(facts: Facts) -> Far:
    kept = sum(count.kept for count in facts.filters)
    discarded = sum(count.discarded for count in facts.filters)
    count = f"{kept:,} kept, {discarded:,} discarded"
    return Far(kept + discarded > 0, False, count)


def _done_in(task: Task) -> Callable[[Facts], Far]:
    def far(facts: Facts) -> Far:
        progress = facts.tasks.get(task)
        if progress is None:
            return Far(False, False, "")
        return Far(
            progress.done >= progress.total > 0,
            progress.done > 0,
            _count_in_words(progress.done, progress.total),
        )

    return far


def _judged(facts: Facts) -> Far:
    judging, rewriting = facts.judging, facts.tasks.get(Task.REWRITE)
    # Each narrative that is still to be written adds documents to judge.
    all_written = rewriting is None or rewriting.done >= rewriting.total
    done = all_written and judging.answered >= judging.wanted > 0
    return Far(done, judging.answered > 0, _count_in_words(judging.answered, judging.wanted))


def _checked(facts: Facts) -> Far:
    checked, sampled = facts.context.get("checked", 0), facts.context.get("sampled", 0)
    return Far(checked >= sampled > 0, sampled > 0, _count_in_words(checked, sampled))


def _checked_in(side: Narrative.Side) -> Callable[[Facts], Far]:
    def far(facts: Facts) -> Far:
        checked, sampled = facts.context.get("checked_in", {}).get(side.value, (0, 0))
        return Far(checked >= sampled > 0, sampled > 0, _count_in_words(checked, sampled))

    return far


def _settled(facts: Facts) -> Far:
    waiting = facts.context.get("disputed", 0)
    # Nothing counts as settled before there are answers.
    answered = facts.judging.answered or facts.context.get("checked")
    review = facts.tasks.get(Task.REVIEW)
    answered = answered or (review is not None and review.done)
    count = f"{waiting:,} to settle" if waiting else ""
    all_judged = facts.judging.answered >= facts.judging.wanted
    return Far(bool(answered) and all_judged and not waiting, waiting > 0, count)


def _reviewed(facts: Facts) -> Far:
    far = _done_in(Task.REVIEW)(facts)
    waiting = [
        f"{number:,} {what}"
        for key, what in (("to_decide", "to decide"), ("sent_back", "sent back"))
        if (number := facts.context.get(key, 0))
    ]
    return Far(False, True, ", ".join(filter(None, [far.count, *waiting]))) if waiting else far


def _released(facts: Facts) -> Far:
    release = facts.context.get("release")
    if release is None:
        return Far(False, False, "")
    if facts.context.get("since_release"):
        return Far(False, True, f"changed since {release.name}")
    return Far(True, False, release.name)


def _count_in_words(done: int, total: int) -> str:
    """Return how many of all are done, in words; "" if there are none."""
    if not total:
        return ""
    return f"{done:,} of {total:,}"


_FAR: Mapping[Key, Callable[[Facts], Far]] = {
    Key.LOAD: _loaded,
    Key.CHOOSE: _chosen,
    Key.FILTER: _filtered,
    Key.REWRITE: _done_in(Task.REWRITE),
    Key.JUDGE: _judged,
    Key.REVIEW: _reviewed,
    Key.CHECK: _checked,
    **{key: _checked_in(side) for key, side in MODES.items()},
    Key.SETTLE: _settled,
    Key.RELEASE: _released,
}
