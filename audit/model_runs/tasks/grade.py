"""A model grades documents under the narratives that people judge, as a machine's judgments."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import IO, Any, ClassVar, NamedTuple

from annotate.collection.models import Candidate, DocumentText
from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments.in_force import judgments_in_force
from annotate.pairs.models import Narrative
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Project
from audit.model_runs.models import CallQuerySet, ModelRun
from audit.model_runs.tasks.base import (
    Item,
    Items,
    Question,
    Reading,
    Task,
    only_drawn,
    paid_call,
)
from formats.jsonl import write_judgments
from formats.records import Evidence, JudgmentRecord
from llm.documents import find_order
from llm.prompts import Prompt
from llm.relevance import DEFAULT_PROMPT, GradeQuestion, grade_question

# Texts that are in memory at once.
_AT_ONCE = 50
_NAMESPACE = uuid.UUID("4d1f8b55-4c0f-4d0c-9a53-0c6f2f0b9e11")

Subjects = ModelRun.Subjects


class Grade(Task):
    """Grade documents."""

    task = ModelRun.Task.GRADE
    subjects: ClassVar = (Subjects.JUDGED, Subjects.UNJUDGED, Subjects.ALL)
    thing = "document"
    prompt_name = "prompt"
    shipped = DEFAULT_PROMPT
    may_repeat = True
    format_name = "judgments-jsonl"

    def items(self, run: ModelRun) -> Items:
        """Return the documents under the narratives that people judge now."""
        ids: dict[Item, tuple[str, ...]] = {}
        without_text = 0
        judged = set(judgments_in_force(run.project).values_list("narrative_id", "candidate_id"))
        for pooled in _pools(run.project):
            is_judged = (pooled.item.narrative, pooled.item.candidate) in judged
            if run.subjects != Subjects.ALL and is_judged != (run.subjects == Subjects.JUDGED):
                continue
            if pooled.item.text_version is None:
                without_text += 1
            else:
                ids[pooled.item] = pooled.ids
        return Items(only_drawn(ids, run), without_text)

    def examples(self, project: Project, most: int) -> list[Item]:
        """Return the first documents with a text."""
        items = (pooled.item for pooled in _pools(project))
        return list(islice((item for item in items if item.text_version), most))

    def questions(self, run: ModelRun, prompt: Prompt, items: Sequence[Item]) -> Iterator[Question]:
        """Yield the question for the grade of each document; its title stands before its text."""
        grades = {
            grade.value: f"{grade.name}. {grade.sentence}".strip()
            for grade in run.project.grades.order_by("value")
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
                assert item.narrative is not None
                text = texts[item.document or 0, item.text_version or 0]
                title = f"{text.document.title}\n\n" if text.document.title else ""
                asked = grade_question(
                    narrative=narratives[item.narrative].text,
                    document=f"{title}{text.text}",
                    grades=grades,
                    prompt=prompt,
                )
                yield Question(item=item, asked=asked, read=partial(_read, asked, title))

    def write(self, run: ModelRun, calls: CallQuerySet, stream: IO[bytes]) -> int:
        """Write each grade as a judgment of the run's machine."""
        return write_judgments(_judgments(run, calls), stream)


def _read(asked: GradeQuestion, title: str, value: dict[str, Any]) -> Reading:
    """Return what an answer to the question for a grade says."""
    grading = asked.read(value)
    remarks = [asked.note] if asked.note else []
    if grading.quote and grading.place is None:
        remarks.append("The quote does not occur in the document.")
    if order := find_order(asked.document):
        remarks.append(f"The document gives orders, which the grade may follow: “{order}”.")
    evidence = []
    # A quote of the title is no evidence in the text.
    if grading.place is not None and grading.place[0] >= len(title):
        start, end = (position - len(title) for position in grading.place)
        evidence.append({"start": start, "end": end})
    return Reading(outcome=str(grading.grade), evidence=evidence, remarks=remarks)


class _Pooled(NamedTuple):
    """A document in the pool of a narrative, and the ids that it is ordered and drawn by."""

    item: Item
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
                item = Item(pair, narrative, candidate, document, version)
                yield _Pooled(item, (pair_id, doc_id))


def _judgments(run: ModelRun, calls: CallQuerySet) -> Iterator[JudgmentRecord]:
    calls = calls.select_related("narrative", "candidate__document")
    for call in calls.iterator(500):
        answered = paid_call(call)
        assert call.narrative is not None
        assert call.candidate is not None
        # The same answer of the same machine is the same judgment.
        about = f"{call.narrative_id} {call.candidate_id} {call.text_version}"
        same = f"{answered.uuid} {about} {run.machine}"
        yield JudgmentRecord(
            query_id=call.pair.query.query_id,
            doc_id=call.candidate.document.doc_id,
            annotator=run.machine,
            relevance=int((call.value or {})["grade"]),
            side=call.narrative.side,
            pair_id=call.pair.pair_id,
            version=call.narrative.version,
            note=" ".join(call.remarks),
            uuid=str(uuid.uuid5(_NAMESPACE, same)),
            machine=True,
            evidence=tuple(Evidence(**span) for span in call.evidence),
            text_version=call.text_version,
            at=answered.answered_at,
        )
