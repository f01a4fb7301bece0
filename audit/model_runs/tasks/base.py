"""What each task of models has: what it is about, what is asked, what becomes of the answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import IO, Any, ClassVar, NamedTuple

from django.db.models import QuerySet, TextField, Value
from django.db.models.functions import MD5, Concat

from annotate.projects.models import Membership
from annotate.projects.navigation import uses
from audit.model_runs.models import Call, CallQuerySet, ModelRun, TaskName
from base.errors import Refused
from formats.registry import FORMATS
from llm.endpoint import Endpoint as Model
from llm.prompts import Prompt
from llm.request import Message, Schema, request_key

# Items whose texts are in memory at once.
_AT_ONCE = 50


class Item(NamedTuple):
    """What a question is about, by keys: a document under a narrative, with the text version it has
    now; a narrative; or a pair without one.

    `title`: in an example, in place of the document's title if its reader may not see that.
    """

    pair: int
    narrative: int | None
    candidate: int | None = None
    document: int | None = None
    text_version: int | None = None
    title: str | None = None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What an answer says, as its `Call` keeps it."""

    outcome: str
    evidence: list[dict[str, int]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question about an item, or about one of several passages of its document."""

    item: Item
    content: str
    schema: Schema
    # Says what an answer that matches the schema means. Refused: one that cannot be used.
    read: Callable[[dict[str, Any]], Reading]
    # How much of a text the model reads; "" if it is all of it.
    note: str = ""
    passage: int = 1
    passages: int = 1

    @property
    def messages(self) -> list[Message]:
        """The conversation that the model gets."""
        return [{"role": "user", "content": self.content}]

    def key(self, model: Model, sample: int) -> str:
        """Return the key of a call: the first sample of a request has the request's own."""
        request = request_key(model, self.messages, self.schema)
        return request if sample == 1 else sha256(f"{request}:{sample}".encode()).hexdigest()

    def earlier_answer(self, run: ModelRun, key: str) -> tuple[Call, Reading] | None:
        """Return a call of the run's project that was paid for the same request, if possible about
        the same item, and what its answer says now; None if there is none that can be used.
        """
        paid = Call.objects.paid_in(run.project_id).filter(key=key).order_by("pk")
        for call in sorted(paid, key=lambda call: not self._is_about(call)):
            try:
                return call, self.read(call.value or {})
            except Refused:
                continue
        return None

    def _is_about(self, call: Call) -> bool:
        return (call.pair_id, call.candidate_id) == (self.item.pair, self.item.candidate)


class ModelTask(ABC):
    """A task of models.

    Attributes:
        name: Its name in rows, addresses and files.
        subjects: What a run can be about; the first is proposed, examples are of the last ones.
        thing: What one question is about, for sentences.
        prompt_name: What its prompts are called in the names of machines.
        shipped: The prompt that a project begins with; others need the same variables.
        needs: The part of a project without which it has nothing to do (`navigation.uses`).
        without_use: What a lead is told whose project has no use for it.
        shows_answers: Whether its questions have what people answered.
        shows_relevant: Whether they have documents because these were relevant before.
        keeps_rubric: Whether a run keeps the rubric that it began with.
        may_repeat: Whether several answers to a question, of which the first one counts, or answers
            about each passage, of which the best one counts, may be asked for.
        format_name: The format in which the answers are loaded.
        carries_claims: Whether claims of machines stay with a new version of an instruction.
        columns: Of `rows`: the values of an Item.
        ids: Of `rows`: the texts by which they are ordered and drawn, different for each.
    """

    name: ClassVar[TaskName]
    subjects: ClassVar[tuple[ModelRun.Subjects, ...]]
    thing: ClassVar[str]
    prompt_name: ClassVar[str]
    shipped: ClassVar[Prompt]
    needs: ClassVar[str] = ""
    without_use: ClassVar[str] = ""
    shows_answers: ClassVar[bool] = False
    shows_relevant: ClassVar[bool] = False
    keeps_rubric: ClassVar[bool] = False
    may_repeat: ClassVar[bool] = False
    format_name: ClassVar[str]
    carries_claims: ClassVar[bool] = False
    columns: ClassVar[tuple[str, ...]]
    ids: ClassVar[tuple[str, ...]]

    @property
    def writes_texts(self) -> bool:
        """Whether each answer is a text of its own, so that none is counted twice."""
        return self.format_name == "pairs-jsonl"

    def has_use(self, lead: Membership) -> bool:
        """Return whether a lead's project has a use for it."""
        return uses(lead, self.needs)

    def read_prompt(self, text: str) -> Prompt:
        """Return a prompt of this task. Raise PromptError if it cannot be used."""
        return Prompt(text, self.shipped.variables)

    @abstractmethod
    def rows(self, run: ModelRun) -> QuerySet[Any, Any]:
        """Return the rows that a run draws from, with `columns` and `ids`; it may be unsaved."""

    def count_without_text(self, run: ModelRun) -> int:
        """Return how many documents a run leaves out because they have no text."""
        return 0

    def count(self, run: ModelRun) -> int:
        """Return how many items a run asks about."""
        rows = self.rows(run).count()
        return rows if run.drawn is None else min(rows, run.drawn)

    def items(self, run: ModelRun) -> list[Item]:
        """Return what a run asks about, in the order of its ids; of a draw, first what this run or
        a cancelled one with the same choices has asked about.
        """
        if run.drawn is None:
            return self._in_order(self.rows(run))
        calls = Call.objects.filter(run__in=run.with_cancelled())
        about = ("pair_id", "narrative_id", "candidate_id")
        own, asked = (
            set(calls.filter(run=run.pk).values_list(*about)),
            set(calls.values_list(*about)),
        )
        of_pairs = self.rows(run).filter(**{f"{self.columns[0]}__in": calls.values("pair")})
        again = [item for item in self._in_order(of_pairs) if item[:3] in asked]
        others = [item for item in self.draw(run, run.drawn) if item[:3] not in asked]
        gone = own.difference(item[:3] for item in again)
        return (again + others)[: max(0, run.drawn - len(gone))]

    def draw(self, run: ModelRun, most: int) -> list[Item]:
        """Return at most so many items of a run at random, in the order of their ids.

        The seed draws the same ones wherever the ids are the same.
        """
        parts = [part for name in self.ids for part in (Value(" "), name)]
        text = Concat(Value(f"{run.draw_seed}:"), *parts, output_field=TextField())
        return self._in_order(self.rows(run).order_by(MD5(text))[:most])

    def _in_order(self, rows: QuerySet[Any, Any]) -> list[Item]:
        listed = sorted(rows.values_list(*self.ids, *self.columns))
        return [Item(*row[len(self.ids) :]) for row in listed]

    def longest(self, run: ModelRun, most: int) -> list[Item]:
        """Return at most so many items of a run with the longest texts; none where texts are about
        as long as each other.
        """
        return []

    def examples(self, lead: Membership, most: int) -> list[Item]:
        """Return some items to show a prompt with to a lead."""
        items: dict[Item, None] = {}
        for subjects in reversed(self.subjects):
            if len(items) < most:
                run = ModelRun(project=lead.project, subjects=subjects)
                items |= dict.fromkeys(self.draw(run, most))
        return list(items)[:most]

    def questions(self, run: ModelRun, prompt: Prompt, items: Sequence[Item]) -> Iterator[Question]:
        """Yield the questions about each item of a run, in their order; it may be unsaved."""
        for start in range(0, len(items), _AT_ONCE):
            yield from self.ask_about(run, prompt, items[start : start + _AT_ONCE])

    @abstractmethod
    def ask_about(self, run: ModelRun, prompt: Prompt, items: Sequence[Item]) -> Iterator[Question]:
        """Yield the questions about each of a few items, in their order."""

    @abstractmethod
    def records(self, run: ModelRun, calls: CallQuerySet) -> Iterator[Any]:
        """Yield the answers of calls as records of `format_name`."""

    def still_wanted(self, run: ModelRun, calls: CallQuerySet) -> Iterator[Call]:
        """Yield the calls about what a run would ask about now.

        What people or machines wrote, reviewed or took back meanwhile stays as it is.
        """
        wanted = set(self.rows(run).values_list(*self.columns))
        for call in calls.iterator(500):
            if (call.pair_id, call.narrative_id) in wanted:
                yield call

    def write(self, run: ModelRun, calls: CallQuerySet, stream: IO[bytes]) -> int:
        """Write the answers of calls as a file; return how many records it has."""
        write = FORMATS[self.format_name].write
        assert write is not None
        return write(self.records(run, calls), stream)
