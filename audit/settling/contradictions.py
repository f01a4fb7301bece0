"""Which decisions on a document would contradict a rule of its project: told before they fall."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _

from annotate.judgments.attributes import attributes_of
from annotate.judgments.conditions import derive_relevance
from annotate.judgments.consensus import consensus
from annotate.judgments.label_rules import breaks_attributes, breaks_conditions
from annotate.judgments.models import Adjudication, Judgment, Verdict
from annotate.judgments.pair_rules import Change, Rule, change
from annotate.judgments.tally import rules_of
from annotate.pairs.models import Condition, Narrative
from annotate.projects.kinds import kind_of
from annotate.projects.models import Grade
from audit.settling.access import Disagreement


def warnings_on_grades(
    disagreement: Disagreement, grades: Iterable[Grade], decided: int | None
) -> list[str]:
    """Say which grades contradict a rule, by the answers to the conditions as they stand: three
    queries at most. `decided`: the grade that it is settled as, which is the only one meant then.
    """
    verified = _verified(disagreement)
    answers = [answer for _condition, answer in verified]
    every = list(grades)
    values = [one.value for one in every]
    return _in_words(
        (f"{one.value} {one.name}".strip(), broken_rules(disagreement, one.value, answers, values))
        for one in every
        if decided in {None, one.value}
    )


def warnings_on_answers(
    disagreement: Disagreement, condition: Condition, people: Iterable[Judgment], decided: str
) -> list[str]:
    """Say which answers to a condition contradict a rule, by the relevance of the document as it
    stands: six queries. `decided`: the answer that it is settled as, or "".
    """
    narrative, candidate = disagreement.narrative, disagreement.candidate
    settled = (
        Adjudication.objects.current()
        .filter(narrative=narrative, candidate=candidate)
        .values_list("relevance", flat=True)
        .first()
    )
    project = disagreement.member.project
    grades = sorted(one.relevance for one in people)
    relevance = consensus(grades, project.consensus, settled).relevance
    if relevance is None:
        return []
    verified = _verified(disagreement)
    values = list(project.grades.order_by("value").values_list("value", flat=True))

    def broken_by(answer: str) -> list[str]:
        answers = [answer if one == condition else said for one, said in verified]
        return broken_rules(disagreement, relevance, answers, values)

    return _in_words(
        (str(one.label), broken_by(one)) for one in Verdict.Answer if decided in {"", one.value}
    )


def broken_rules(
    disagreement: Disagreement,
    relevance: int,
    answers: Sequence[str | None],
    grades: Sequence[int],
) -> list[str]:
    """Say which rules a document breaks that has this relevance and these answers to its
    conditions (None: open).
    """
    project, narrative = disagreement.member.project, disagreement.narrative
    rules = rules_of(kind_of(project.kind)) if narrative.side == Narrative.Side.ALTERED else {}
    prior, relevant = disagreement.candidate.prior_relevance, relevance >= project.relevant_from
    found = []
    follows = derive_relevance(project.condition_rule, answers, grades)
    if follows not in {None, relevance}:
        found.append(_("by its conditions this document is a %(grade)s") % {"grade": follows})
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
        found.append(
            _("a relevant document meets every condition, and one is not met here")
            if relevant
            else _("a document that is not relevant breaks a condition, and all are met here")
        )
    if Rule.SHRINKING in rules and change(prior, relevance, project.relevant_from) is Change.GREW:
        found.append(_("this document was not relevant before, and nothing becomes relevant"))
    if Rule.CONDITIONS in rules and answers and breaks_conditions(relevance, of=len(answers)):
        found.append(_("the narrative has only %(n)s conditions") % {"n": len(answers)})
    return found


def _verified(disagreement: Disagreement) -> list[tuple[Condition, str | None]]:
    """Return the conditions of the narrative with what people's answers come to."""
    conditions = list(disagreement.narrative.conditions.order_by("number"))
    if not conditions:
        return []
    project, candidate = disagreement.member.project, disagreement.candidate
    (found,) = attributes_of(project, conditions, [candidate])
    return [(one.condition, one.verified) for one in found.attributes]


def _in_words(broken: Iterable[tuple[str, list[str]]]) -> list[str]:
    """One sentence for each rule that is broken, naming the choices that break it."""
    choices: dict[str, list[str]] = {}
    for choice, rules in broken:
        for rule in rules:
            choices.setdefault(rule, []).append(f"“{choice}”")
    return [
        _("%(choices)s contradicts a rule of the project: %(rule)s.")
        % {"choices": _(" or ").join(named), "rule": rule}
        for rule, named in choices.items()
    ]
