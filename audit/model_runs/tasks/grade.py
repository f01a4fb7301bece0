"""A model grades documents under the narratives that people judge, as a machine's judgments."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from typing import IO, Any, ClassVar

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotate.collection.models import Candidate, DocumentText
from annotate.collection.shown_documents import shown_to_judges
from annotate.judgments.models import Judgment
from annotate.pairs.models import Narrative
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Project
from audit.model_runs.models import CallQuerySet, ModelRun, TaskName
from audit.model_runs.tasks.base import Item, ModelTask, Question, Reading, paid_call
from formats.jsonl import write_judgments
from formats.records import Evidence, JudgmentRecord
from llm.documents import find_order
from llm.prompts import Prompt
from llm.relevance import DEFAULT_PROMPT, GradeQuestion, grade_question

_NAMESPACE = uuid.UUID("4d1f8b55-4c0f-4d0c-9a53-0c6f2f0b9e11")

Subjects = ModelRun.Subjects


class Grade(ModelTask):
    """Grade documents."""

    name = TaskName.GRADE
    subjects: ClassVar = (Subjects.JUDGED, Subjects.UNJUDGED, Subjects.ALL)
    shown_with: ClassVar = (Subjects.ALL,)
    thing = "document"
    prompt_name = "prompt"
    shipped = DEFAULT_PROMPT
    may_repeat = True
    format_name = "judgments-jsonl"
    columns = ("pair", "narrative", "pk", "document", "document__text_version")
    ids = ("pair_id", "document__doc_id")

    def rows(self, run: ModelRun) -> QuerySet[Any, Any]:
        """Return the documents with a text under the narratives that people judge now."""
        return _wanted(run).filter(document__text_version__isnull=False)

    def count_without_text(self, run: ModelRun) -> int:
        """Return how many of these documents have no text."""
        return _wanted(run).filter(document__text_version=None).count()

    def ask_about(self, run: ModelRun, prompt: Prompt, items: Sequence[Item]) -> Iterator[Question]:
        """Yield the question for the grade of each document; its title stands before its text."""
        grades = {
            grade.value: f"{grade.name}. {grade.sentence}".strip()
            for grade in run.project.grades.order_by("value")
        }
        narratives = Narrative.objects.in_bulk({item.narrative for item in items})
        texts = {
            (text.document_id, text.version): text
            for text in DocumentText.objects.filter(
                document__in=[item.document for item in items]
            ).select_related("document")
        }
        for item in items:
            text = texts[item.document or 0, item.text_version or 0]
            title = f"{text.document.title}\n\n" if text.document.title else ""
            asked = grade_question(
                narrative=narratives[item.narrative or 0].text,
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


def _wanted(run: ModelRun) -> QuerySet[Any, Any]:
    """Return the documents of the pool that a run with these subjects is about."""
    judged = Judgment.objects.current().of_people()
    judged = judged.filter(narrative=OuterRef("narrative"), candidate=OuterRef("pk"))
    pool = _pool(run.project)
    if run.subjects == Subjects.ALL:
        return pool
    return pool.filter(Exists(judged) if run.subjects == Subjects.JUDGED else ~Exists(judged))


def _pool(project: Project) -> QuerySet[Any, Any]:
    """Return the documents in the pool of each narrative that people judge now, with the keys of
    `narrative` and `pair`, and with `pair_id`.
    """
    of_query = Candidate.objects.filter(
        shown_to_judges(project),
        Q(made_for=None) | Q(made_for=F("query__pairs")),
        query__pairs__narratives__in=judged_narratives(project),
    )
    return of_query.annotate(
        narrative=F("query__pairs__narratives"),
        pair=F("query__pairs"),
        pair_id=F("query__pairs__pair_id"),
    )


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
