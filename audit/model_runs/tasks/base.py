"""What each task of models has: what it is about, what is asked, what becomes of the answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import IO, Any, ClassVar, NamedTuple

from annotate.projects.models import Project
from audit.model_runs.models import Call, CallQuerySet, ModelRun
from audit.model_runs.models import Task as TaskKey
from base.sampling import place
from llm.endpoint import Endpoint as Model
from llm.prompts import Prompt
from llm.request import Question as Asked
from llm.request import request_key


class Item(NamedTuple):
    """What a question is about, by keys: a document under a narrative, with the text version it has
    now; a narrative; or a pair without one.
    """

    pair: int
    narrative: int | None
    candidate: int | None = None
    document: int | None = None
    text_version: int | None = None


class Items(NamedTuple):
    """What a run asks about, in the order of their ids; documents without text cannot be asked."""

    items: list[Item]
    without_text: int = 0


class Unusable(ValueError):
    """An answer that matches its schema and still cannot be used; the sentence says why."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What an answer says.

    Attributes:
        outcome: In a few words, for lists and counts.
        evidence: Where its quote stands in the document.
        remarks: What a reader of the answer must know.
    """

    outcome: str
    evidence: list[dict[str, int]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Question:
    """The question about one item. `read` says what an answer means, or raises Unusable."""

    item: Item
    asked: Asked
    read: Callable[[dict[str, Any]], Reading]

    def key(self, model: Model, sample: int) -> str:
        """Return the key of a call: the first sample of a request has the request's own."""
        request = request_key(model, self.asked.messages, self.asked.schema)
        return request if sample == 1 else sha256(f"{request}:{sample}".encode()).hexdigest()


class Task(ABC):
    """A task of models.

    Attributes:
        task: Its name in rows, addresses and files.
        subjects: What a run can be about; the first is proposed.
        thing: What one question is about, for sentences.
        prompt_name: What its prompts are called in the names of machines.
        shipped: The prompt that a project begins with; others need the same variables.
        needs: The part of a project without which it has nothing to do (`navigation.uses`).
        shows_answers: Whether its questions have what people answered.
        keeps_rubric: Whether a run keeps the rubric that it began with.
        may_repeat: Whether several answers may be asked for; the first one counts.
        format_name: The format in which the answers are loaded.
        carries_claims: Whether claims of machines stay with a new version of an instruction.
    """

    task: ClassVar[TaskKey]
    subjects: ClassVar[tuple[ModelRun.Subjects, ...]]
    thing: ClassVar[str]
    prompt_name: ClassVar[str]
    shipped: ClassVar[Prompt]
    needs: ClassVar[str] = ""
    shows_answers: ClassVar[bool] = False
    keeps_rubric: ClassVar[bool] = False
    may_repeat: ClassVar[bool] = False
    format_name: ClassVar[str]
    carries_claims: ClassVar[bool] = False

    def read_prompt(self, text: str) -> Prompt:
        """Return a prompt of this task. Raise PromptError if it cannot be used."""
        return Prompt(text, self.shipped.required)

    @abstractmethod
    def items(self, run: ModelRun) -> Items:
        """Return what a run asks about; it may be unsaved."""

    @abstractmethod
    def examples(self, project: Project, most: int) -> list[Item]:
        """Return some items to show a prompt with."""

    @abstractmethod
    def questions(self, run: ModelRun, prompt: Prompt, items: Sequence[Item]) -> Iterator[Question]:
        """Yield the question about each item of a run, in their order; it may be unsaved."""

    @abstractmethod
    def write(self, run: ModelRun, calls: CallQuerySet, stream: IO[bytes]) -> int:
        """Write the answers of calls as a file of `format_name`; return how many records it has."""


def only_drawn(ids: Mapping[Item, tuple[str, ...]], run: ModelRun) -> list[Item]:
    """Return the items of a run that are drawn, in the order of their ids.

    The seed draws the same ones wherever the ids are the same.
    """
    drawn = list(ids)
    if run.drawn is not None:
        drawn.sort(key=lambda item: place(run.draw_seed, " ".join(ids[item])))
    return sorted(drawn[: run.drawn], key=ids.__getitem__)


def paid_call(call: Call) -> Call:
    """Return the call whose answer this one has."""
    return call.cached_from or call
