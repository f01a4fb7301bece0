"""The rules that a judgment must satisfy: grade, spans, evidence, conditions, note."""

from __future__ import annotations

from collections.abc import Sequence

from annotate.judging.lookup import JudgingState
from annotate.judging.statement import GradeStatement
from annotate.judgments.conditions import derive_relevance
from annotate.judgments.evidence import missing_evidence, needs_evidence
from annotate.judgments.models import Verdict
from annotate.projects.models import Grade, Membership, Project
from base.errors import Refused


def check_grade(by: Membership, relevance: int) -> None:
    """Refuse a relevance that is not one of the grades of the project of `by`."""
    grades = Grade.objects.filter(project=by.project_id).values_list("value", flat=True)
    _refuse_unknown_grade(relevance, sorted(grades))


def grades_that_need_evidence(
    project: Project, prior: int | None, grades: Sequence[int]
) -> list[int]:
    """Return the grades that the project accepts only with a marked passage or clause, for a
    document that was loaded with the relevance `prior`.
    """
    if project.evidence_rule == Project.EvidenceRule.NONE:
        return []
    return [
        grade
        for grade in grades
        if needs_evidence(
            relevance=grade,
            prior=prior,
            relevant_from=project.relevant_from,
            prior_known=project.show_prior or project.judge_scope == Project.Scope.RELEVANT,
        )
    ]


def check_grade_statement(
    content: GradeStatement, project: Project, state: JudgingState
) -> GradeStatement:
    """Return a grade as it will be saved, with its spans in order, or refuse it."""
    _refuse_unknown_grade(content.relevance, state.grades)
    if content.evidence and state.document_length is None:
        raise Refused(
            "The text of this document is not available, so no passage of it can be marked."
        )
    try:
        content = content.with_merged_spans(
            document=state.document_length or 0, narrative=state.narrative_length
        )
    except ValueError as error:
        raise Refused(str(error)) from error
    _check_conditions(content, project, state)
    of_document = project.evidence_rule == Project.EvidenceRule.DOCUMENT
    message = missing_evidence(
        rule=project.evidence_rule,
        wanted=bool(grades_that_need_evidence(project, state.prior, [content.relevance])),
        passages=len(content.evidence),
        clauses=len(content.clauses),
        markable=state.markable if of_document else bool(state.narrative_length),
        note=content.note,
    )
    if message:
        raise Refused(message)
    return content


def _check_conditions(content: GradeStatement, project: Project, state: JudgingState) -> None:
    if not content.verdicts.keys() <= state.conditions.keys():
        raise Refused(
            "A verdict is on a condition that this narrative does not have. Reload the page."
        )
    if not set(Verdict.Answer.values).issuperset(content.verdicts.values()):
        raise Refused("The answer to a condition must be met, not met, or can't tell.")
    if project.condition_rule == Project.ConditionRule.BY_HAND or not state.conditions:
        return
    if len(content.verdicts) < len(state.conditions):
        raise Refused("Answer all conditions first; they decide the grade.")
    follows = derive_relevance(
        project.condition_rule, list(content.verdicts.values()), state.grades
    )
    if follows not in {None, content.relevance} and not content.note.strip():
        raise Refused(
            f"By its conditions this document is a {follows}. Say in the note why it is a "
            f"{content.relevance} nevertheless, then give the grade again."
        )


def _refuse_unknown_grade(relevance: int, grades: Sequence[int]) -> None:
    if relevance not in grades:
        all_grades = ", ".join(map(str, grades))
        shown = str(relevance) if abs(relevance) < 10**9 else "This number"
        raise Refused(f"{shown} is not a grade of this project. Its grades are {all_grades}.")
