"""The rules that an answer must satisfy: text, grade, spans, evidence, conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotate.judging.lookup import JudgingState
from annotate.judgments.consensus import derive_relevance
from annotate.judgments.evidence import merge_stored_spans, missing_evidence, needs_evidence
from annotate.judgments.models import Statement, Verdict
from annotate.projects.models import Grade, Membership, Project
from base.errors import Refused, refuse_invalid_characters

MAX_NOTE = 10_000


def clean_statement(statement: Statement) -> None:
    """Normalize the text of a grade or a flag; refuse what no project accepts."""
    is_grade = statement.relevance is not None
    statement.note = _clean_text(statement.note, "The note" if is_grade else "What you wrote")
    if is_grade:
        return
    statement.note = statement.note.strip()
    if statement.flag not in Statement.FlagKind.values:
        raise Refused(f"“{statement.flag[:40]}” is not a kind of flag.")
    if statement.is_final and not statement.note:
        raise Refused("Say in a few words why, so that the lead can act on it.")


def _clean_text(text: str, what: str) -> str:
    """Return typed text with normalized line ends; refuse text that cannot be stored."""
    if len(text) > MAX_NOTE:
        raise Refused(f"{what} has {len(text):,} characters; at most {MAX_NOTE:,} are allowed.")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    refuse_invalid_characters(text)
    return text


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
    grade: Statement, verdicts: Mapping[int, str], project: Project, state: JudgingState
) -> None:
    """Refuse a grade that breaks a rule of the project, and put its spans in order."""
    assert grade.relevance is not None
    _refuse_unknown_grade(grade.relevance, state.grades)
    if grade.evidence and state.document_length is None:
        raise Refused(
            "The text of this document is not available, so no passage of it can be marked."
        )
    try:
        grade.evidence = merge_stored_spans(grade.evidence, state.document_length or 0)
        grade.clauses = merge_stored_spans(grade.clauses, state.narrative_length)
    except ValueError as error:
        raise Refused(str(error)) from error
    _check_conditions(grade, verdicts, project, state)
    of_document = project.evidence_rule == Project.EvidenceRule.DOCUMENT
    message = missing_evidence(
        rule=project.evidence_rule,
        wanted=bool(grades_that_need_evidence(project, state.prior, [grade.relevance])),
        passages=len(grade.evidence),
        clauses=len(grade.clauses),
        markable=state.markable if of_document else bool(state.narrative_length),
        note=grade.note,
    )
    if message:
        raise Refused(message)


def _check_conditions(
    grade: Statement, verdicts: Mapping[int, str], project: Project, state: JudgingState
) -> None:
    if not verdicts.keys() <= state.conditions.keys():
        raise Refused(
            "A verdict is on a condition that this narrative does not have. Reload the page."
        )
    if not set(Verdict.Answer.values).issuperset(verdicts.values()):
        raise Refused("The answer to a condition must be met, not met, or can't tell.")
    if project.condition_rule == Project.ConditionRule.BY_HAND or not state.conditions:
        return
    if len(verdicts) < len(state.conditions):
        raise Refused("Answer all conditions first; they decide the grade.")
    follows = derive_relevance(project.condition_rule, list(verdicts.values()), state.grades)
    if follows not in {None, grade.relevance} and not grade.note.strip():
        raise Refused(
            f"By its conditions this document is a {follows}. Say in the note why it is a "
            f"{grade.relevance} nevertheless, then give the grade again."
        )


def _refuse_unknown_grade(relevance: int, grades: Sequence[int]) -> None:
    if relevance not in grades:
        all_grades = ", ".join(map(str, grades))
        shown = str(relevance) if abs(relevance) < 10**9 else "This number"
        raise Refused(f"{shown} is not a grade of this project. Its grades are {all_grades}.")
