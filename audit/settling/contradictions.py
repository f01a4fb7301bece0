"""Warnings, before a lead decides, about decisions that would contradict a project rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from annotate.judgments.attributes import attributes_of
from annotate.judgments.consensus import consensus, derive_relevance
from annotate.judgments.label_rules import breaks_attributes, breaks_conditions
from annotate.judgments.models import Adjudication, Verdict
from annotate.judgments.pair_rules import Change, Rule, change
from annotate.judgments.rule_report import rules_of
from annotate.pairs.models import Condition, Narrative
from annotate.projects.kinds import kind_of
from annotate.projects.models import Grade

if TYPE_CHECKING:
    from audit.settling.kinds.judgments import DocumentDisagreement
    from audit.settling.kinds.verdicts import VerdictDisagreement


def warnings_on_grades(
    disagreement: DocumentDisagreement, grades: Iterable[Grade], decided: int | None
) -> list[str]:
    """Return a warning for each rule that some grade contradicts, given the current answers to the
    conditions. At most three queries. `decided`: the settled grade; then only this one is checked.
    """
    verified = _verified_conditions(disagreement)
    answers = [answer for _condition, answer in verified]
    every = list(grades)
    values = [grade.value for grade in every]
    return _build_warnings(
        (
            f"{grade.value} {grade.name}".strip(),
            broken_rules(disagreement, grade.value, answers, values),
        )
        for grade in every
        if decided in {None, grade.value}
    )


def warnings_on_answers(disagreement: VerdictDisagreement, decided: str) -> list[str]:
    """Return a warning for each rule that some answer to a condition contradicts, given the current
    relevance of the document. Six queries. `decided`: the settled answer, or "".
    """
    narrative, candidate = disagreement.narrative, disagreement.candidate
    settled = (
        Adjudication.objects.current()
        .filter(narrative=narrative, candidate=candidate)
        .values_list("relevance", flat=True)
        .first()
    )
    project = disagreement.member.project
    grades = sorted(judgment.relevance for judgment in disagreement.judgments)
    relevance = consensus(grades, project.consensus, settled).relevance
    if relevance is None:
        return []
    verified = _verified_conditions(disagreement)
    values = list(project.grades.order_by("value").values_list("value", flat=True))

    def broken_by(answer: str) -> list[str]:
        answers = [
            answer if condition == disagreement.condition else current
            for condition, current in verified
        ]
        return broken_rules(disagreement, relevance, answers, values)

    return _build_warnings(
        (str(answer.label), broken_by(answer))
        for answer in Verdict.Answer
        if decided in {"", answer.value}
    )


def broken_rules(
    disagreement: DocumentDisagreement,
    relevance: int,
    answers: Sequence[str | None],
    grades: Sequence[int],
) -> list[str]:
    """Describe each rule that a document with this relevance and these answers to its conditions
    (None: open) breaks.
    """
    project, narrative = disagreement.member.project, disagreement.narrative
    rules = rules_of(kind_of(project.kind)) if narrative.side == Narrative.Side.ALTERED else {}
    prior, relevant = disagreement.candidate.prior_relevance, relevance >= project.relevant_from
    broken = []
    follows = derive_relevance(project.condition_rule, answers, grades)
    if follows not in {None, relevance}:
        broken.append(f"its conditions give this document the grade {follows}")
    elif (
        Rule.ATTRIBUTES in rules
        and answers
        and breaks_attributes(
            relevant=relevant,
            met=answers.count(Verdict.Answer.MET),
            violated=answers.count(Verdict.Answer.NOT_MET),
            of=len(answers),
        )
    ):
        broken.append(
            "a relevant document meets every condition, but this one does not"
            if relevant
            else "a document that is not relevant violates a condition, but this one meets all"
        )
    if Rule.SHRINKING in rules and change(prior, relevance, project.relevant_from) is Change.GREW:
        broken.append("this document was not relevant before, and no document may become relevant")
    if Rule.CONDITIONS in rules and answers and breaks_conditions(relevance, of=len(answers)):
        broken.append(f"the narrative has only {len(answers)} conditions")
    return broken


def _verified_conditions(disagreement: DocumentDisagreement) -> list[tuple[Condition, str | None]]:
    """Return the narrative's conditions, each with people's consensus (None: open)."""
    conditions = list(disagreement.narrative.conditions.order_by("number"))
    if not conditions:
        return []
    project, candidate = disagreement.member.project, disagreement.candidate
    (document,) = attributes_of(project, conditions, [candidate])
    return [(attribute.condition, attribute.verified) for attribute in document.attributes]


def _build_warnings(broken: Iterable[tuple[str, list[str]]]) -> list[str]:
    """Return one sentence for each broken rule, naming the choices that break it."""
    choices: dict[str, list[str]] = {}
    for choice, rules in broken:
        for rule in rules:
            choices.setdefault(rule, []).append(f"“{choice}”")
    return [
        f"{' or '.join(named)} contradicts a rule of the project: {rule}."
        for rule, named in choices.items()
    ]
