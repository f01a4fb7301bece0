"""Rules on labels: gold documents in three modes, counts of conditions, verdicts per attribute.

A label is the consensus of people's judgments, else the claim of a machine or a file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate.collection.models import Candidate
from annotate.judgments.consensus import consensus
from annotate.judgments.in_force import in_pools
from annotate.judgments.machine_claims import counting_machines
from annotate.judgments.models import Adjudication, ConditionAdjudication, Judgment, Verdict
from annotate.judgments.pair_rules import Rule, RuleStatus
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Project

# Labels by narrative and candidate; None if disputed.
Labels = Mapping[tuple[int, int], int | None]


@dataclass
class LabelRuleResult:
    """The status of a rule for a pair, and the candidates (by key) that break it."""

    status: RuleStatus
    candidates: list[int] = field(default_factory=list)


def label_rule_results(
    rule: Rule,
    project: Project,
    narratives: QuerySet[Narrative],
    known: Labels,
    claimed: Labels | None = None,
) -> dict[int, LabelRuleResult]:
    """Return the status of a rule on labels by pair key, without pairs that have no label.

    `claimed`: the claims of machines and files, also where people found something else.
    """
    if rule is Rule.GOLD:
        return _check_gold(project, narratives, known, claimed or {})
    if rule is Rule.CONDITIONS:
        return _check_conditions(narratives, known)
    return _check_attributes(project, narratives, known)


def _by_narrative(labels: Labels) -> dict[int, dict[int, int | None]]:
    by_narrative: dict[int, dict[int, int | None]] = defaultdict(dict)
    for (narrative, candidate), relevance in labels.items():
        by_narrative[narrative][candidate] = relevance
    return by_narrative


def _check_gold(
    project: Project, narratives: QuerySet[Narrative], all_labels: Labels, claimed: Labels
) -> dict[int, LabelRuleResult]:
    """Check that gold documents are relevant to the original and the instructed query, but not to
    the reversed query.

    Gold documents are those that are relevant to the instructed query, or claimed to be.
    """
    claims_of = _by_narrative(claimed)
    sides: dict[int, dict[str, int]] = defaultdict(dict)
    for pair, side, pk in narratives.values_list("pair_id", "side", "pk"):
        sides[pair][side] = pk
    labels = _by_narrative(all_labels)
    gold = {candidate for (_, candidate), relevance in all_labels.items() if relevance is not None}
    prior = dict(
        Candidate.objects.filter(query__project=project, prior_relevance__isnull=False)
        .filter(query__pairs__in=sides)
        .values_list("pk", "prior_relevance")
    )
    prior = {pk: relevance for pk, relevance in prior.items() if pk in gold}
    # Relevance to the core query does not depend on the instruction it was judged with.
    for narrative, side in _sides_of(sides):
        if side == Narrative.Side.ORIGINAL:
            prior |= {
                pk: relevance
                for pk, relevance in labels.get(narrative, {}).items()
                if relevance is not None
            }
    results = {}
    for pair, of in sides.items():
        instructed = labels.get(of.get(Narrative.Side.ALTERED, 0), {})
        if not instructed:
            continue
        original = labels.get(of.get(Narrative.Side.ORIGINAL, 0), {})
        reversed_labels = labels.get(of.get(Narrative.Side.REVERSED, 0), {})
        results[pair] = gold_result(
            instructed,
            {**prior, **original},
            reversed_labels,
            project.relevant_from,
            claims_of.get(of.get(Narrative.Side.ALTERED, 0), {}),
        )
    return results


def _sides_of(pairs: Mapping[int, Mapping[str, int]]) -> Iterator[tuple[int, str]]:
    """Yield each narrative with its side."""
    for of in pairs.values():
        for side, narrative in of.items():
            yield narrative, side


def gold_result(
    instructed: Mapping[int, int | None],
    original: Mapping[int, int | None],
    reversed_labels: Mapping[int, int | None],
    relevant_from: int,
    claimed: Mapping[int, int | None] | None = None,
) -> LabelRuleResult:
    """Return the status of the rule on gold documents from a pair's labels in the three modes.

    `claimed`: the claims in the instructed mode; gold documents that people found not relevant
    there break the rule.
    """
    gold = sorted(
        candidate
        for candidate, label in instructed.items()
        if label is not None and label >= relevant_from
    )
    wrong = sorted(
        candidate
        for candidate, label in (claimed or {}).items()
        if label is not None
        and label >= relevant_from
        and (judged := instructed.get(candidate)) is not None
        and judged < relevant_from
    )
    open_ones = any(label is None for label in instructed.values())
    for candidate in gold:
        before, after = original.get(candidate), reversed_labels.get(candidate)
        if (before is not None and before < relevant_from) or (
            after is not None and after >= relevant_from
        ):
            wrong.append(candidate)
        open_ones |= before is None or after is None
    if wrong or not (gold or open_ones):
        return LabelRuleResult(RuleStatus.BROKEN, sorted(wrong))
    return LabelRuleResult(RuleStatus.NOT_KNOWN if open_ones else RuleStatus.HOLDS)


def breaks_conditions(count: int, *, of: int) -> bool:
    """Return whether a count of met conditions is impossible: `of` is how many there are."""
    return not 0 <= count <= of


def breaks_attributes(*, relevant: bool, met: int, violated: int, of: int) -> bool:
    """Return whether a relevant document violates an attribute, or another one satisfies all.

    `of`: the number of attributes, at least one.
    """
    return violated > 0 if relevant else met == of


def _check_conditions(
    narratives: QuerySet[Narrative], all_labels: Labels
) -> dict[int, LabelRuleResult]:
    """Check that no document meets more conditions than its narrative has."""
    altered = narratives.filter(side=Narrative.Side.ALTERED)
    sizes = dict(
        Condition.objects.filter(narrative__in=altered.values("pk"))
        .order_by()
        .values_list("narrative")
        .annotate(n=Count("pk"))
    )
    labels = _by_narrative(all_labels)
    results = {}
    for pair, narrative in altered.values_list("pair_id", "pk"):
        counts = labels.get(narrative, {})
        if narrative not in sizes or not counts:
            continue
        wrong = sorted(
            candidate
            for candidate, count in counts.items()
            if count is not None and breaks_conditions(count, of=sizes[narrative])
        )
        open_ones = None in counts.values()
        results[pair] = _result(wrong, open_ones=open_ones)
    return results


def _check_attributes(
    project: Project, narratives: QuerySet[Narrative], all_labels: Labels
) -> dict[int, LabelRuleResult]:
    """Check that relevant documents satisfy every attribute and others violate at least one.

    If a lead settled the relevance or an attribute of a document, the outcome counts; otherwise
    each person's judgment counts, with its own verdicts. A machine's judgment counts where no
    person has judged the document and its claim is the one that counts.
    """
    altered = dict(narratives.filter(side=Narrative.Side.ALTERED).values_list("pk", "pair_id"))
    judgments: list[Any] = list(
        Verdict.objects.filter(
            statement__in=Judgment.objects.current()
            .filter(in_pools(), narrative__in=altered)
            .values("pk")
        )
        .order_by("statement_id")
        .values_list(
            "statement__narrative_id",
            "statement__candidate_id",
            "statement__relevance",
            "statement__annotator_id",
            "statement__annotator__is_machine",
            "statement_id",
        )
        .annotate(
            met=Count("pk", filter=Q(answer=Verdict.Answer.MET)),
            violated=Count("pk", filter=Q(answer=Verdict.Answer.NOT_MET)),
            of=Count("pk"),
        )
    )
    by_people = {row[:2] for row in judgments if not row[4]}
    claims: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)
    for narrative, candidate, relevance, rater, is_machine, *_ in judgments:
        if is_machine and (narrative, candidate) not in by_people:
            claims[narrative, candidate][rater] = relevance
    machines = counting_machines(project, claims)
    settled = _settled_attributes(project, altered, all_labels)
    rows = [
        (*row[:3], *row[6:])
        for row in judgments
        if row[:2] not in settled and (not row[4] or machines.get(row[:2]) == row[3])
    ]
    wrong: dict[int, set[int]] = defaultdict(set)
    pairs_open = {altered[label[0]] for label, machine in machines.items() if machine is None}
    with_attributes = set(pairs_open)
    for narrative, candidate, relevance, met, violated, of in [*rows, *settled.values()]:
        pair = altered[narrative]
        with_attributes.add(pair)
        relevant = relevance >= project.relevant_from
        if breaks_attributes(relevant=relevant, met=met, violated=violated, of=of):
            wrong[pair].add(candidate)
        elif met + violated < of and not violated:
            pairs_open.add(pair)
    return {
        pair: _result(sorted(wrong[pair]), open_ones=pair in pairs_open) for pair in with_attributes
    }


def _settled_attributes(
    project: Project, altered: Mapping[int, int], all_labels: Labels
) -> dict[tuple[int, int], tuple[int, int, int, int, int, int]]:
    """Return the settled outcomes by narrative and candidate, without those still open.

    Each has the narrative, the candidate, its relevance, and the numbers of attributes that it
    meets, that it violates and that there are.
    """
    conditions = ConditionAdjudication.objects.current()
    decided = conditions.filter(narrative__in=altered).values_by_question()
    narrative, candidate = OuterRef("statement__narrative"), OuterRef("statement__candidate")
    grade = Adjudication.objects.current().filter(narrative=narrative, candidate=candidate)
    attribute = conditions.filter(narrative=narrative, candidate=candidate)
    collected: dict[tuple[int, int], dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    rows: Iterable[tuple[int, int, int, str]] = Verdict.objects.filter(
        Exists(grade) | Exists(attribute),
        statement__in=Judgment.objects.current()
        .filter(in_pools(), annotator__is_machine=False, narrative__in=altered)
        .values("pk"),
    ).values_list("statement__narrative", "statement__candidate", "condition", "answer")
    for under, document, condition, answer in rows:
        collected[under, document][condition].append(answer)
    settled = {}
    for (under, document), answers in collected.items():
        relevance = all_labels.get((under, document))
        agreed = [
            consensus(several, project.consensus, decided.get((condition, document))).relevance
            for condition, several in answers.items()
        ]
        if relevance is None or None in agreed:
            continue
        met = agreed.count(Verdict.Answer.MET)
        violated = agreed.count(Verdict.Answer.NOT_MET)
        settled[under, document] = (under, document, relevance, met, violated, len(agreed))
    return settled


def _result(wrong: list[int], *, open_ones: bool) -> LabelRuleResult:
    if wrong:
        return LabelRuleResult(RuleStatus.BROKEN, wrong)
    return LabelRuleResult(RuleStatus.NOT_KNOWN if open_ones else RuleStatus.HOLDS)
