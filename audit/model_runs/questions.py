"""What a run asks: the documents, and the question about each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from annotate.collection.models import Candidate, DocumentText
from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments.in_force import judgments_in_force
from annotate.pairs.models import Narrative
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Project
from audit.model_runs.models import ModelRun
from base.sampling import place
from llm.endpoint import Endpoint as Model
from llm.prompts import Prompt
from llm.relevance import DEFAULT_PROMPT, VARIABLES, GradeQuestion, Grading, grade_question
from llm.request import request_key

# Texts that are in memory at once.
_AT_ONCE = 50


class Item(NamedTuple):
    """A document under a narrative, by their keys, and the text version it has now."""

    narrative: int
    candidate: int
    document: int
    text_version: int


class Items(NamedTuple):
    """The documents of a run, in the order of their ids; those without text cannot be asked."""

    items: list[Item]
    without_text: int


class Question(NamedTuple):
    """The question about one document. The title, if it has one, stands before its text."""

    item: Item
    asked: GradeQuestion
    title: str

    def key(self, model: Model, sample: int) -> str:
        """Return the key of a call: the first sample of a request has the request's own."""
        request = request_key(model, self.asked.messages, self.asked.schema)
        return request if sample == 1 else sha256(f"{request}:{sample}".encode()).hexdigest()

    def evidence(self, grading: Grading) -> list[dict[str, int]]:
        """Return where the quote stands in the text, if it does; not if it is in the title."""
        if grading.place is None or grading.place[0] < len(self.title):
            return []
        start, end = (position - len(self.title) for position in grading.place)
        return [{"start": start, "end": end}]

    def remarks(self, grading: Grading) -> list[str]:
        """Return what a reader of the grade must know."""
        remarks = [self.asked.note] if self.asked.note else []
        if grading.quote and grading.place is None:
            remarks.append("The quote does not occur in the document.")
        return remarks


def read_prompt(text: str) -> Prompt:
    """Return a prompt for grades. Raise PromptError if it cannot be used."""
    return Prompt(text, VARIABLES)


def shipped_prompt() -> str:
    """Return the text that a project begins with."""
    return DEFAULT_PROMPT.text


def documents_to_ask(project: Project, documents: str, drawn: int | None, seed: int) -> Items:
    """Return the documents that a run is about, under the narratives that people judge now.

    `documents` is one of `ModelRun.Documents`. With `drawn`, so many are drawn from those with a
    text; the seed draws the same ones wherever the ids are the same.
    """
    ids: dict[Item, tuple[str, str]] = {}
    without_text = 0
    judged = set(judgments_in_force(project).values_list("narrative_id", "candidate_id"))
    for pooled in _pools(project):
        is_judged = (pooled.narrative, pooled.candidate) in judged
        if documents != ModelRun.Documents.ALL and is_judged != (
            documents == ModelRun.Documents.JUDGED
        ):
            continue
        if pooled.text_version is None:
            without_text += 1
        else:
            ids[_item(pooled, pooled.text_version)] = pooled.ids
    items = list(ids)
    if drawn is not None:
        items = sorted(items, key=lambda item: place(seed, " ".join(ids[item])))[:drawn]
    return Items(sorted(items, key=ids.__getitem__), without_text)


def example_questions(project: Project, text: str, most: int) -> list[Question]:
    """Return questions about some documents. Raise PromptError for a prompt that is of no use."""
    with_text = (
        _item(pooled, pooled.text_version)
        for pooled in _pools(project)
        if pooled.text_version is not None
    )
    return list(questions(project, read_prompt(text), list(islice(with_text, most))))


def _item(pooled: _Pooled, text_version: int) -> Item:
    return Item(pooled.narrative, pooled.candidate, pooled.document, text_version)


class _Pooled(NamedTuple):
    """A document in the pool of a narrative that is judged."""

    narrative: int
    candidate: int
    document: int
    # None: it has no text.
    text_version: int | None
    # What it is ordered and drawn by: the ids of the instruction and the document.
    ids: tuple[str, str]


def _pools(project: Project) -> Iterator[_Pooled]:
    """Yield the pool of each narrative that people judge now."""
    narratives = defaultdict(list)
    rows = judged_narratives(project).values_list("pk", "pair_id", "pair__query", "pair__pair_id")
    for narrative, pair, query, pair_id in rows:
        narratives[query].append((narrative, pair, pair_id))
    candidates = Candidate.objects.filter(shown_to_judges(project), query__in=list(narratives))
    columns = ("pk", "document", "document__text_version", "document__doc_id", "query", "made_for")
    for candidate, document, version, doc_id, query, made_for in candidates.values_list(
        *columns
    ).iterator(5_000):
        for narrative, pair, pair_id in narratives[query]:
            if made_for in (None, pair):
                yield _Pooled(narrative, candidate, document, version, (pair_id, doc_id))


def questions(project: Project, prompt: Prompt, items: Sequence[Item]) -> Iterator[Question]:
    """Yield the question about each document, in the order of the items."""
    grades = {
        grade.value: f"{grade.name}. {grade.sentence}".strip()
        for grade in project.grades.order_by("value")
    }
    for start in range(0, len(items), _AT_ONCE):
        some = items[start : start + _AT_ONCE]
        narratives = Narrative.objects.in_bulk({item.narrative for item in some})
        texts = {
            (text.document_id, text.version): text
            for text in DocumentText.objects.filter(
                document__in=[item.document for item in some]
            ).select_related("document")
        }
        for item in some:
            text = texts[item.document, item.text_version]
            title = f"{text.document.title}\n\n" if text.document.title else ""
            asked = grade_question(
                narrative=narratives[item.narrative].text,
                document=f"{title}{text.text}",
                grades=grades,
                prompt=prompt,
            )
            yield Question(item, asked, title)
