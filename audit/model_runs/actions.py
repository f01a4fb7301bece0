"""Choose models, write prompts and request runs; used by pages and the API.

Every change is refused to a member who is not a lead, and in an archived project.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_UP, Decimal
from tempfile import TemporaryFile
from typing import Annotated, Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import FileResponse
from django.utils import timezone

from annotate.judgments.blindness import must_answer_first
from annotate.projects.access import lock_project
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from annotate.projects.project_jobs import request_job
from audit.model_runs.access import BLIND
from audit.model_runs.figures import budget_of, use_of
from audit.model_runs.models import Call, Endpoint, ModelRun, ProjectBudget, Prompt
from audit.model_runs.tasks import TASKS, task_of
from audit.model_runs.tasks.base import ModelTask, Question
from audit.reviews.rubrics import current_rubric
from base.errors import (
    InvalidField,
    Refused,
    Stale,
    refuse_invalid_characters,
    refuse_invalid_names,
)
from base.extras import missing_extra
from base.texts import tidy
from jobs.models import Job
from llm.batch import request_lines
from llm.endpoint import Endpoint as Model
from llm.prompts import Prompt as PromptText
from llm.prompts import PromptError
from llm.request import estimate_call, request_body, total_estimate

ONLY_LEADS = "Only leads of this project can have models asked."
# A plan estimates from so many documents by chance and so many of the longest, and shows so many as
# examples.
ESTIMATED_FROM = 40
LONGEST = 20
EXAMPLES = 3
MAX_PROMPT = 20_000
MAX_SAMPLES = 9
# How much more than its estimate a run may use, if the lead does not say otherwise.
ROOM = Decimal("1.2")
CENT = Decimal("0.01")


def add_endpoint(endpoint: Endpoint, *, by: Membership, now: datetime | None = None) -> Endpoint:
    """Save a new endpoint of the member's project, and return it; a removed one with the same
    choices but for its limits is taken into use again, so that its machines are the same.

    Refused: a server that the administrator does not allow, prices without a limit of cost, a value
    that no server can be asked with, the same choices as those of one in use.
    """
    if endpoint.server not in settings.MODEL_SERVERS:
        raise InvalidField("The administrator does not allow this server.", "server")
    refuse_invalid_names(endpoint.model)
    _check_limits(endpoint)
    try:
        endpoint.reach()
    except ValueError as error:
        raise Refused(str(error)) from error
    with transaction.atomic():
        lock_project(by.project_id, by, ONLY_LEADS)
        choices = {name: getattr(endpoint, name) for name in Endpoint.CHOICES}
        if Endpoint.objects.in_use(by.project_id).filter(**choices).exists():
            raise Refused("This model is here already, with the same choices.")
        limits = {name: choices.pop(name) for name in Endpoint.LIMITS}
        of_name = Endpoint.objects.filter(project=by.project, model=endpoint.model)
        removed = of_name.filter(**choices, removed_at__isnull=False).order_by("pk").last()
        if removed is None:
            endpoint.project, endpoint.by, endpoint.added_at = by.project, by, now or timezone.now()
            endpoint.number = of_name.count() + 1
        else:
            endpoint = removed
            endpoint.removed_at = endpoint.removed_by = None
            for name, limit in limits.items():
                setattr(endpoint, name, limit)
        endpoint.save()
        record(project=by.project, what="model.added", about=endpoint, by=by, now=now)
    return endpoint


def _check_limits(endpoint: Endpoint) -> None:
    try:
        endpoint.validate_constraints(exclude=("project", "by", "removed_by"))
    except ValidationError as error:
        raise Refused(error.messages[0]) from error


def set_limits(
    *, endpoint: Endpoint, limits: Mapping[str, Any], by: Membership, now: datetime | None = None
) -> Endpoint:
    """Change some of `Endpoint.LIMITS`, and return the endpoint.

    A run under way obeys the new limits of tokens and cost from its next call on, and the others
    when it is started again. Refused: an endpoint that was removed, a limit of cost without prices,
    or prices without one.
    """
    with transaction.atomic():
        lock_project(by.project_id, by, ONLY_LEADS)
        endpoint = Endpoint.objects.get(pk=endpoint.pk)
        if endpoint.removed_at is not None:
            raise Refused("This model is no longer in use here.")
        if changes := _change_limits(endpoint, limits):
            _check_limits(endpoint)
            endpoint.save(update_fields=list(changes))
            record(
                project=by.project,
                what="model.limited",
                about=endpoint,
                by=by,
                changes=changes,
                now=now,
            )
    return endpoint


def remove_endpoint(*, endpoint: Endpoint, by: Membership, now: datetime | None = None) -> None:
    """Take an endpoint out of use; its runs and calls are kept. Twice changes nothing.

    Refused: an endpoint with a run under way.
    """
    with transaction.atomic():
        lock_project(by.project_id, by, ONLY_LEADS)
        if endpoint.runs.filter(state__in=Job.UNDER_WAY).exists():
            raise Refused("A run of this model is under way. Cancel it first.")
        removed = Endpoint.objects.filter(pk=endpoint.pk, removed_at=None).update(
            removed_at=now or timezone.now(), removed_by=by
        )
        if removed:
            record(project=by.project, what="model.removed", about=endpoint, by=by, now=now)


def set_budget(
    *,
    most_tokens: int | None = None,
    most_cost: Decimal | None = None,
    by: Membership,
    now: datetime | None = None,
) -> ProjectBudget:
    """Set what all runs of the member's project together may use, and return it; None: no limit.

    A run under way obeys it from its next call on.
    """
    with transaction.atomic():
        lock_project(by.project_id, by, ONLY_LEADS)
        budget = budget_of(by.project)
        limits = {"most_tokens": most_tokens, "most_cost": most_cost}
        if changes := _change_limits(budget, limits):
            budget.by, budget.at = by, now or timezone.now()
            budget.save()
            record(
                project=by.project,
                what="model_budget.set",
                about=budget,
                by=by,
                changes={name.removeprefix("most_"): change for name, change in changes.items()},
                now=now,
            )
    return budget


def _change_limits(
    row: Endpoint | ProjectBudget, limits: Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Set limits of a row, and return those that changed, for the audit log."""
    changes = {}
    for name, limit in limits.items():
        if (before := getattr(row, name)) != limit:
            setattr(row, name, limit)
            changes[name] = (_words(before), _words(limit))
    return changes


def _words(limit: Decimal | int | None) -> str | int | None:
    """Return a limit as the audit log stores it: a cost as text, with its four places."""
    return f"{limit:.4f}" if isinstance(limit, Decimal) else limit


def _refuse_over_budget(run: ModelRun) -> None:
    """Refuse a run that may use more than the project's budget has left."""
    budget, use = budget_of(run.project), use_of(run.project)
    way_on = "Lower the limit of this run, or raise the budget on “Models”."
    if budget.most_tokens is not None:
        tokens = max(0, budget.most_tokens - use.used_tokens)
        if run.most_tokens > tokens:
            sentence = f"The budget of this project has {tokens:,} tokens left. {way_on}"
            raise InvalidField(sentence, "most_tokens")
    if budget.most_cost is not None:
        cost = max(Decimal(0), budget.most_cost - use.used_cost)
        if (run.most_cost or 0) > cost:
            sentence = f"The budget of this project has {cost:.4f} left. {way_on}"
            raise InvalidField(sentence, "most_cost")


def current_prompt(project: Project, task: str) -> Prompt:
    """Return the newest version of a task's prompt; unsaved, the shipped text as version 1."""
    newest = Prompt.objects.filter(project=project, task=task).order_by("-version").first()
    shipped = task_of(task).shipped.text
    return newest or Prompt(project=project, task=task, version=1, text=shipped)


def save_prompt(
    *,
    task: str,
    text: str,
    by: Membership,
    based_on: int | None = None,
    now: datetime | None = None,
) -> Prompt:
    """Save a new version of the project's prompt for a task, and return it.

    `based_on` is the version that the author edited; Stale if somebody saved a newer one. Refused:
    a text that lacks a variable, has an unknown one or is the current one.
    """
    text = tidy(text) + "\n"
    if len(text) > MAX_PROMPT:
        raise InvalidField(f"A prompt has at most {MAX_PROMPT:,} characters.", "text")
    refuse_invalid_characters(text)
    try:
        task_of(task).read_prompt(text)
    except PromptError as error:
        raise InvalidField(str(error), "text") from error
    with transaction.atomic():
        lock_project(by.project_id, by, ONLY_LEADS)
        current = current_prompt(by.project, task)
        if based_on not in (None, current.version):
            raise Stale(
                f"Version {current.version} was saved while you were writing. Your text is still "
                "here: compare it with that version, then save again."
            )
        if current.text == text:
            raise InvalidField("This is the current text. Change it, or leave the page.", "text")
        _save_shipped(current, by, now)
        prompt = Prompt(
            project=by.project, task=task, version=current.version + 1, text=text, by=by
        )
        prompt.at = now or timezone.now()
        prompt.save()
        record(project=by.project, what="prompt.saved", about=prompt, by=by, now=now)
    return prompt


def _save_shipped(prompt: Prompt, by: Membership, now: datetime | None) -> None:
    """Save the current prompt of a task if it is the shipped text, which is no row yet."""
    if not prompt.pk:
        prompt.by, prompt.at = by, now or timezone.now()
        prompt.save()


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """What a run would do: calls, tokens and cost, at most about.

    `answered_before`, `tokens`, `cost` and, with passages, `calls` are estimated from
    `estimated_from` items.
    """

    api_fields = (
        *("items", "without_text", "calls", "answered_before", "estimated_from"),
        *("tokens", "cost"),
    )

    run: ModelRun
    # What one question is about.
    thing: str
    items: int
    without_text: int
    calls: int
    answered_before: int
    tokens: Annotated[int, "Of calls that are not answered yet, with answers as long as may be."]
    cost: Annotated[Decimal | None, "null: the model has no prices."]
    estimated_from: int
    # Of the run, with some room, as the form has them.
    proposed_limits: dict[str, Any]
    examples: list[Question]


def plan_run(run: ModelRun, *, by: Membership) -> RunPlan:
    """Return what an unsaved run would do: counted, and estimated from a few items drawn at random
    and the longest ones, which stand for themselves.

    Refused: its server or its prompt cannot be used, and what `check_choices` refuses.
    """
    task = check_choices(run, by=by)
    model, prompt = model_and_prompt(run)
    items = task.count(run)
    drawn = task.items(run) if items <= ESTIMATED_FROM else task.draw(run, ESTIMATED_FROM)
    longest = task.longest(run, LONGEST) if len(drawn) < items else []
    others = [item for item in drawn if item not in longest]
    calls = answered = 0
    questions: list[Question] = []
    estimates, largest = [], total_estimate([])
    for some, stand_for in ((others, items - len(longest)), (longest, len(longest))):
        asked = list(task.questions(run, prompt, some))
        # A long document may have several questions.
        part = round(stand_for * len(asked) / max(1, len(some))) * run.samples
        part_answered = round(part * _share_answered(run, model, asked))
        each = [estimate_call(model, one.messages, one.schema) for one in asked]
        estimates.append(total_estimate(each).for_calls(part - part_answered))
        largest = max([largest, *each], key=lambda one: one.tokens)
        calls, answered, questions = calls + part, answered + part_answered, questions + asked
    estimate = total_estimate(estimates)
    # Twice the largest call is reserved for each that is under way.
    under_way = largest.for_calls(2 * run.endpoint.concurrency)
    limits: dict[str, Any] = {"most_tokens": round(estimate.tokens * ROOM) + under_way.tokens}
    cost = None if model.prices is None else estimate.cost
    if cost is not None and under_way.cost is not None:
        limits["most_cost"] = (cost * ROOM + under_way.cost).quantize(CENT, ROUND_UP)
    return RunPlan(
        run=run,
        thing=task.thing,
        items=items,
        without_text=task.count_without_text(run),
        calls=calls,
        answered_before=answered,
        tokens=estimate.tokens,
        cost=cost,
        estimated_from=len(others) + len(longest),
        proposed_limits=limits,
        examples=questions[:EXAMPLES],
    )


def model_and_prompt(run: ModelRun) -> tuple[Model, PromptText]:
    """Return how a run's model is reached, and its prompt. Refused: one of them cannot be used."""
    try:
        return run.endpoint.reach(), task_of(run.prompt.task).read_prompt(run.prompt.text)
    except ValueError as error:
        raise Refused(str(error)) from error


def _share_answered(run: ModelRun, model: Model, asked: Sequence[Question]) -> float:
    """Return which share of these questions was answered, and paid, before."""
    keys = {one.key(model, sample) for one in asked for sample in range(1, run.samples + 1)}
    paid = Call.objects.paid_in(run.project_id).filter(key__in=keys)
    return paid.values("key").distinct().count() / len(keys) if keys else 0.0


def new_run(
    *, endpoint: Endpoint, subjects: str = ModelRun.Subjects.JUDGED, **choices: Any
) -> ModelRun:
    """Return an unsaved run with the current prompt of the task that has these subjects.

    `choices` are fields of a run as `RunForm` has them, without which it has their defaults.
    """
    task = next(task for task in TASKS.values() if subjects in task.subjects)
    prompt = current_prompt(endpoint.project, task.name)
    run = ModelRun(
        project=endpoint.project,
        endpoint=endpoint,
        prompt=prompt,
        subjects=subjects,
        rubric=current_rubric(endpoint.project_id).name if task.keeps_rubric else "",
        **{name: value for name, value in choices.items() if value is not None},
    )
    run.machine = machine_name(endpoint, prompt, best_passage=run.best_passage)
    return run


def check_choices(run: ModelRun, *, by: Membership) -> ModelTask:
    """Return the task of an unsaved run.

    Refused: a task that the project has no use for, several answers in a task that takes one,
    passages in a task that takes none, a task whose questions show what others answered, if the
    member has to answer first.
    """
    task = task_of(run.prompt.task)
    if not task.has_use(by):
        raise InvalidField(task.without_use, "subjects")
    if run.samples > 1 and not task.may_repeat:
        raise InvalidField("Only grades can be asked for several times.", "samples")
    if run.best_passage and not task.may_repeat:
        raise InvalidField("Only grades can be those of the best passage.", "best_passage")
    if task.shows_answers and must_answer_first(by):
        raise Refused(BLIND)
    return task


def batch_file(run: ModelRun, *, by: Membership) -> FileResponse:
    """Return the questions of an unsaved run that were not answered before as a download with its
    length, so that one that breaks off is noticed.

    Refused: its server or its prompt cannot be used, and what `check_choices` refuses.
    """
    task = check_choices(run, by=by)
    model, prompt = model_and_prompt(run)

    def requests() -> Iterator[tuple[str, dict[str, Any]]]:
        paid = set(Call.objects.paid_in(run.project_id).values_list("key", flat=True))
        # Two items with the same texts have one question.
        written: set[str] = set()
        for question in task.questions(run, prompt, task.items(run)):
            for sample in range(1, run.samples + 1):
                key = question.key(model, sample)
                is_answered = key in paid and question.earlier_answer(run, key) is not None
                if key not in written and not is_answered:
                    written.add(key)
                    yield key, request_body(model, question.messages, question.schema)

    file = TemporaryFile()  # noqa: SIM115 - the response closes it
    file.writelines(line.encode() for line in request_lines(requests()))
    file.seek(0)
    return FileResponse(
        file,
        as_attachment=True,
        filename=f"questions-{run.project.slug}.jsonl",
        content_type="application/jsonl; charset=utf-8",
    )


def machine_name(endpoint: Endpoint, prompt: Prompt, *, best_passage: bool = False) -> str:
    """Return the name of the machine of an endpoint and a prompt: other answers, another name."""
    rule = ", best passage" if best_passage else ""
    return f"{endpoint.name}, {task_of(prompt.task).prompt_name} {prompt.version}{rule}"


def request_run(run: ModelRun, *, by: Membership, now: datetime | None = None) -> ModelRun:
    """Save and enqueue a run (see `new_run`), and return it.

    Refused: a model that was removed or whose server is no longer allowed, what `check_choices`
    refuses, limits that are missing or above what the project's budget has left (unless a file
    answers it), a person with the machine's name, another run that is under way, a prompt that was
    changed meanwhile, nothing to ask about; any run where the extra `llm` is not installed.
    """
    if sentence := missing_extra("llm", "Asking a model"):
        raise Refused(sentence)
    if run.endpoint.project_id != by.project_id or run.endpoint.removed_at is not None:
        raise Refused("This model is no longer in use here. Choose another one.")
    if run.endpoint.server not in settings.MODEL_SERVERS:
        raise Refused("The administrator no longer allows the server of this model.")
    task = check_choices(run, by=by)
    if run.most_tokens < 1:
        raise InvalidField("Enter how many tokens the run may use.", "most_tokens")
    if run.endpoint.prompt_price is not None and run.most_cost is None:
        raise InvalidField("Enter what the run may cost.", "most_cost")
    if run.endpoint.prompt_price is None and run.most_cost is not None:
        raise InvalidField("A cost can be limited only with prices.", "most_cost")
    if Membership.objects.people().named(run.machine).filter(project=by.project).exists():
        raise Refused(f"A person here is called “{run.machine}”. A machine needs another name.")
    if not task.count(run):
        raise Refused(f"There is no such {task.thing} to ask about.")
    with transaction.atomic():
        lock_project(by.project_id, by, ONLY_LEADS)
        if ModelRun.objects.filter(project=by.project, state__in=Job.UNDER_WAY).exists():
            raise Refused("A run is under way here. Wait until it is done, or cancel it.")
        if not run.answers:
            _refuse_over_budget(run)
        prompt = current_prompt(by.project, run.prompt.task)
        if prompt.version != run.prompt.version:
            raise Refused("The prompt was changed meanwhile. Look at what the run would do again.")
        _save_shipped(prompt, by, now)
        run.prompt = prompt
        return request_job(run, same=("endpoint_id",), by=by, named=run.machine, now=now)
