"""Ask a model everything that a run is about, and write its answers: the work of the job.

Import it only where this work is done: openai's client takes a second to import.

Each call is a row before it is sent and is completed when its answer is there, so whatever stops
the work, what was paid is kept and used by the next attempt, and what is in doubt is known. Threads
only ask; every row is written here.
"""

from __future__ import annotations

import io
import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotate.collection.intake import InputFile
from annotate.loading.load import load_file
from annotate.projects.access import refuse_if_archived
from audit.model_runs.actions import model_and_prompt
from audit.model_runs.figures import Limits
from audit.model_runs.models import MAX_OUTCOME, Call, ModelRun
from audit.model_runs.tasks import task_of
from audit.model_runs.tasks.base import Item, Question, Reading
from base.errors import Refused
from base.texts import amount
from formats.source import Source
from jobs.errors import JobError
from jobs.runner import Progress, save_result
from llm.answers import Failure, FailureKind, Reply, read_value
from llm.batch import BatchError, read_answers
from llm.completion import Answer, complete, open_pool
from llm.endpoint import Prices
from llm.request import Schema, estimate_call, request_body

logger = logging.getLogger(__name__)

MINUTE = 60.0
# After so many failures in a row the server, the key or the model is the cause, not the question.
GIVE_UP_AFTER = 10
# An answer that cannot be read is asked for once more, so a call has at most two questions.
MOST_QUESTIONS = 2
# With these, asking anything else is useless: a wrong key, an unknown model or address.
_HOPELESS = {FailureKind.REDIRECT, FailureKind.UNREACHABLE}
_HOPELESS_STATUS = {401, 403, 404}
# The server answered, so it is paid, but it is not known for how many tokens.
_PAID_UNREAD = {FailureKind.NOT_A_COMPLETION, FailureKind.TOO_LARGE}


def ask_model(run: ModelRun, progress: Progress) -> None:
    """Ask about everything that a run is about, then write the answers as a machine's.

    May be repeated: what was answered is not asked again. At a limit of tokens or cost the run ends
    and says so, with the answers that it has.
    """
    refuse_if_archived(run.project)
    items = task_of(run.prompt.task).items(run)
    save_result(run, code_version=settings.VERSION)
    stopped = _Asking(run, progress).ask_about(items)
    progress.start(None, "Writing the answers")
    write_answers(run)
    save_result(run, stopped=stopped)


class _Asking:
    """The calls of one run."""

    def __init__(self, run: ModelRun, progress: Progress) -> None:
        self._run = run
        self._progress = progress
        self._task = task_of(run.prompt.task)
        self._model, self._prompt = model_and_prompt(run)
        self._limits = Limits(run)
        self._pace = _pace_of(run)
        self._under_way: dict[Future[Answer], tuple[Call, Question]] = {}
        self._failures = 0
        self._has_answers = False
        # Those of a batch file, by the key of the question; None: the server is asked.
        self._batch = _read_batch(run) if run.answers else None
        self._not_in_batch = 0

    def ask_about(self, items: list[Item]) -> str:
        """Ask about each item that has no answer; return why it stopped before the end, or ""."""
        run, samples = self._run, range(1, self._run.samples + 1)
        columns = ("pair_id", "narrative_id", "candidate_id", "sample")
        whole = set(run.calls.whole_answers().values_list(*columns))
        answered = set(run.calls.answered().values_list(*columns, "passage"))
        self._has_answers = bool(answered)
        open_items = [
            item for item in items if any((*item[:3], sample) not in whole for sample in samples)
        ]
        self._progress.start(len(items) * run.samples, "Asking the model")
        self._progress.advance((len(items) - len(open_items)) * run.samples)
        with (
            closing(open_pool()) as pool,
            ThreadPoolExecutor(run.endpoint.concurrency) as threads,
        ):
            try:
                for question in self._task.questions(run, self._prompt, open_items):
                    if question.passage > 1:
                        self._progress.total = (self._progress.total or 0) + run.samples
                    for sample in samples:
                        if (*question.item[:3], sample, question.passage) in answered:
                            self._progress.advance()
                        elif stopped := self._ask(question, sample, pool, threads):
                            return stopped
                while self._under_way:
                    self._take_answers()
                return self._why_incomplete()
            finally:
                # What is under way will be paid, so its answers are recorded.
                while self._under_way:
                    self._record_answers(timeout=None)

    def _ask(self, question: Question, sample: int, pool: Any, threads: ThreadPoolExecutor) -> str:
        """Send one question, or use the answer that was paid before; return why not, or ""."""
        self._progress.check()
        key = question.key(self._model, sample)
        # The same question is under way for another item: its answer will do.
        while any(call.key == key for call, _ in self._under_way.values()):
            self._take_answers()
        if (earlier := question.earlier_answer(self._run, key)) is not None:
            self._use_again(*earlier, question, sample)
            return ""
        if self._batch is not None:
            self._use_batch(self._batch.get(key), question, sample, key)
            return ""
        needed = estimate_call(self._model, question.messages, question.schema)
        reserved = needed.for_calls(MOST_QUESTIONS)
        self._wait_for_turn(needed.tokens)
        # What is under way may use less than was reserved for it.
        while stopped := self._limits.why_not(reserved.tokens, reserved.cost):
            if not self._under_way:
                return stopped
            self._take_answers()
        call = Call.objects.create(
            **self._about(question, sample, key),
            request=request_body(self._model, question.messages, question.schema),
            reserved_tokens=reserved.tokens,
            reserved_cost=reserved.cost,
        )
        self._limits.reserve(call)
        self._pace.sent(needed.tokens)
        future = threads.submit(
            complete, self._model, question.messages, question.schema, pool=pool
        )
        self._under_way[future] = (call, question)
        return ""

    def _wait_for_turn(self, tokens: int) -> None:
        """Record answers until the next request may be sent."""
        while True:
            seconds = self._pace.wait(tokens)
            if not seconds and len(self._under_way) < self._run.endpoint.concurrency:
                return
            if self._under_way:
                self._take_answers(timeout=min(seconds or 1.0, 1.0))
            else:
                time.sleep(min(seconds, 1.0))
                self._progress.check()

    def _about(self, question: Question, sample: int, key: str) -> dict[str, Any]:
        item = question.item
        return {
            "run": self._run,
            "pair_id": item.pair,
            "narrative_id": item.narrative,
            "candidate_id": item.candidate,
            "text_version": item.text_version,
            "passage": question.passage,
            "passages": question.passages,
            "sample": sample,
            "key": key,
        }

    def _use_again(self, earlier: Call, reading: Reading, question: Question, sample: int) -> None:
        """Record an answer that was paid before, as it is read now."""
        Call.objects.create(
            **self._about(question, sample, earlier.key),
            request=earlier.request,
            reserved_tokens=0,
            answered_at=timezone.now(),
            cached_from=earlier,
            replies=earlier.replies,
            value=earlier.value,
            outcome=reading.outcome[:MAX_OUTCOME],
            evidence=reading.evidence,
            remarks=reading.remarks,
            model=earlier.model,
            prompt_tokens=0,
            completion_tokens=0,
            cost=Decimal(0),
        )
        self._failures, self._has_answers = 0, True
        self._progress.advance()

    def _use_batch(
        self, answer: Reply | Failure | None, question: Question, sample: int, key: str
    ) -> None:
        """Record what the batch file answers, if it does and this run has not recorded it."""
        if answer is None:
            self._not_in_batch += 1
            return
        self._has_answers = True
        self._progress.advance()
        # Counted if the file does not say how many tokens the answer has.
        reserved = estimate_call(self._model, question.messages, question.schema)
        with transaction.atomic():
            call, is_new = Call.objects.get_or_create(
                **self._about(question, sample, key),
                defaults={
                    "request": request_body(self._model, question.messages, question.schema),
                    "reserved_tokens": reserved.tokens,
                    "reserved_cost": reserved.cost,
                },
            )
            if is_new:
                record_answer(
                    call, question, _answer_of(answer, question.schema), self._model.prices
                )

    def _why_incomplete(self) -> str:
        """Return what a batch file lacks, as a sentence; "" if nothing.

        Raise JobError if it has no answer to any question.
        """
        if self._not_in_batch and not self._has_answers:
            raise JobError(
                "No line of the file answers a question of this run. Its batch file has to be "
                "written with the same choices, model and prompt."
            )
        if not self._not_in_batch or self._batch is None:
            return ""
        missing = f"The file has no answer to {amount(self._not_in_batch, 'question')}."
        unused = len(self._batch.keys() - set(self._run.calls.values_list("key", flat=True)))
        if not unused:
            return missing
        lines = amount(unused, "of its lines answers", "of its lines answer")
        why = "their choices, model or prompt were others"
        return f"{missing} {lines} no question of this run: {why}."

    def _record_answers(self, timeout: float | None) -> list[Failure | None]:
        """Wait for an answer, write all that have come, and return how each of them failed."""
        done, _ = wait(self._under_way, timeout, return_when=FIRST_COMPLETED)
        failures = []
        for future in done:
            call, question = self._under_way.pop(future)
            answer = future.result()
            for _again in range(1, answer.requests):
                self._pace.sent(call.reserved_tokens // MOST_QUESTIONS)
            reserved, failure = (call.counted_tokens, call.counted_cost), answer.failure
            try:
                with transaction.atomic():
                    failure = record_answer(call, question, answer, self._model.prices)
            except IntegrityError:
                # Another worker that took the run over has an answer already.
                logger.warning("%s stays in doubt: it was answered twice", call, exc_info=True)
            self._limits.settle(call, *reserved)
            if answer.failure is None and answer.response_format != self._model.response_format:
                self._model = replace(self._model, response_format=answer.response_format)
            self._progress.done += 1
            failures.append(failure)
        return failures

    def _take_answers(self, timeout: float = 1.0) -> None:
        """Wait for an answer and record it. Raise JobError if no other call will be answered."""
        for failure in self._record_answers(timeout):
            if failure is None:
                self._failures, self._has_answers = 0, True
                continue
            self._failures += 1
            is_hopeless = failure.kind in _HOPELESS or failure.status in _HOPELESS_STATUS
            if not self._has_answers and is_hopeless:
                # 401: the key is missing or wrong.
                advice = "An administrator sets its key. " if failure.status == 401 else ""
                raise JobError(f"{_sentence(failure.reason)} {advice}Nothing was answered.")
            if self._failures >= GIVE_UP_AFTER:
                raise JobError(
                    f"{GIVE_UP_AFTER} calls in a row failed, the last one so: "
                    f"{_sentence(failure.reason)} What was answered before is kept, and is not "
                    "asked again."
                )
        self._progress.check()


class Pace:
    """Requests and tokens of the last minute; a limit that is None holds nothing back."""

    def __init__(
        self,
        requests: int | None,
        tokens: int | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._requests = requests
        self._tokens = tokens
        self._clock = clock
        # When each request was sent, and its tokens.
        self._sent: deque[tuple[float, int]] = deque()

    def wait(self, tokens: int) -> float:
        """Return for how many seconds a request of so many tokens has to wait.

        A request with more tokens than a minute allows waits until no other is in that minute.
        """
        now = self._clock()
        while self._sent and self._sent[0][0] <= now - MINUTE:
            self._sent.popleft()
        seconds, left = 0.0, self._sent.copy()
        while left and not self._allow(len(left) + 1, tokens + sum(sent for _, sent in left)):
            seconds = left.popleft()[0] + MINUTE - now
        return seconds

    def _allow(self, requests: int, tokens: int) -> bool:
        within_requests = self._requests is None or requests <= self._requests
        return within_requests and (self._tokens is None or tokens <= self._tokens)

    def sent(self, tokens: int, seconds_ago: float = 0.0) -> None:
        """Count a request that is sent now, or was so many seconds ago, after those before it."""
        self._sent.append((self._clock() - seconds_ago, tokens))


def _pace_of(run: ModelRun) -> Pace:
    """Return the pace of a run's model, with what its runs sent in the last minute: an earlier one,
    or this one before its worker was killed.
    """
    pace = Pace(run.endpoint.requests_per_minute, run.endpoint.tokens_per_minute)
    now = timezone.now()
    sent = Call.objects.filter(
        run__endpoint=run.endpoint,
        run__answers="",
        cached_from=None,
        sent_at__gt=now - timedelta(seconds=MINUTE),
    )
    for call in sent.order_by("sent_at").defer("request", "value"):
        requests = max(1, len(call.replies))
        for _request in range(requests):
            tokens, age = call.counted_tokens // requests, now - call.sent_at
            pace.sent(tokens, age.total_seconds())
    return pace


def _read_batch(run: ModelRun) -> dict[str, Reply | Failure]:
    """Return the answers of the run's batch file by their ids. Raise JobError for a bad line."""
    try:
        with run.answers.open("rb") as stream:
            return dict(read_answers(stream))
    except FileNotFoundError as error:
        raise JobError("The file of answers is gone. Start a run with it again.") from error
    except BatchError as error:
        raise JobError(
            f"The file of answers cannot be read: {error}. Nothing was written."
        ) from error


def _answer_of(answer: Reply | Failure, schema: Schema) -> Answer:
    """Return a line of a batch file as the server's answer to the question."""
    if isinstance(answer, Failure):
        return Answer(failure=answer)
    try:
        return Answer(value=read_value(answer, schema), replies=(answer,))
    except Failure as failure:
        return Answer(failure=failure, replies=(answer,))


def _sentence(text: str) -> str:
    return text if text.endswith((".", "…")) else f"{text}."


def record_answer(
    call: Call, question: Question, answer: Answer, prices: Prices | None
) -> Failure | None:
    """Complete a call with what came of it; return why it has no value, or None."""
    call.answered_at = timezone.now()
    call.replies = [reply.text for reply in answer.replies]
    call.model = answer.model[:200]
    call.milliseconds = round(answer.seconds * 1_000)
    # What may have to be paid in addition is not known: then the reserved tokens count.
    is_unread = answer.failure is not None and answer.failure.kind in _PAID_UNREAD
    if not answer.in_doubt and not is_unread:
        call.prompt_tokens, call.completion_tokens = answer.prompt_tokens, answer.completion_tokens
    call.reserved_tokens *= max(1, answer.in_doubt)
    if call.reserved_cost is not None:
        call.reserved_cost *= max(1, answer.in_doubt)
    if prices is not None and None not in (call.prompt_tokens, call.completion_tokens):
        call.cost = prices.cost(call.prompt_tokens or 0, call.completion_tokens or 0)
    failure = answer.failure
    if failure is None:
        try:
            reading = question.read(answer.value)
        except Refused as refused:
            failure = Failure(FailureKind.UNUSABLE, str(refused))
        else:
            call.value, call.outcome = answer.value, reading.outcome[:MAX_OUTCOME]
            call.evidence, call.remarks = reading.evidence, reading.remarks
    if failure is not None:
        call.failure, call.reason = failure.kind, failure.reason
    call.save()
    return failure


def write_answers(run: ModelRun) -> None:
    """Load the first whole answer about each item of a run into its project, as a file would be.

    What is there already changes nothing. Refused: a project that was archived meanwhile, answers
    that cannot be loaded.
    """
    run.project.refresh_from_db()
    task = task_of(run.prompt.task)
    calls = run.calls.whole_answers().filter(sample=1).order_by("pk")
    calls = calls.select_related("cached_from", "pair__query").defer(
        *("request", "cached_from__request", "replies", "cached_from__replies")
    )
    content = io.BytesIO()
    if not task.write(run, calls, content):
        return
    raw = content.getvalue()
    name = str(run)
    file = InputFile(
        name,
        len(raw),
        lambda kind: Source(io.BytesIO(raw), name, collect=True),
        lambda: io.BytesIO(raw),
    )
    report = load_file(
        project=run.project,
        format_name=task.format_name,
        file=file,
        despite_rules=True,
        carry_claims=task.carries_claims,
        by=run.by,
    )
    if report.refused:
        raise Refused(f"The answers cannot be written: {report.problems[0].message}.")
