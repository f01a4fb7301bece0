"""Tally people's judgments of each document, and check the project's rules against them.

Answers are counted in the database and read through a cursor, a few rows per document, so memory
does not grow with the number of answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate.collection.models import Candidate
from annotate.judgments import cached_counts
from annotate.judgments.answer_counts import (
    AnswerPattern,
    DocumentClass,
    counts_of,
    uncached_counts,
)
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.completion import pool_sizes
from annotate.judgments.consensus import Outcome, consensus
from annotate.judgments.in_force import in_pools
from annotate.judgments.label_rules import LabelRuleResult, label_rule_results
from annotate.judgments.machine_claims import counting_claims
from annotate.judgments.models import Adjudication, Judgment
from annotate.judgments.pair_rules import LIMITS, Change, Counts, Rule, RuleStatus
from annotate.pairs.models import InstructionPair, Narrative
from annotate.pairs.pool import pairs_with_pool
from annotate.projects.kinds import ProjectKind, kind_of
from annotate.projects.models import Membership, Project
from base.providers import Provider

CHUNK = 5_000
# The grades that checks of claimed labels found, by narrative and candidate; `audit` provides them.
checked_labels: Provider[[QuerySet[Narrative]], dict[tuple[int, int], int]] = Provider(
    "Which grades did checks of claimed labels come to?"
)
# The most documents named for each pair that breaks a rule.
MAX_NAMED = 5


@dataclass(frozen=True)
class Tally:
    """The number of people for each grade of one candidate under one narrative version."""

    narrative: int
    candidate: int
    prior: int | None
    grades: Counter[int]
    settled: int | None

    def outcome(self, rule: str) -> Outcome:
        """Return the outcome under a project's rule of consensus."""
        return consensus(sorted(self.grades.elements()), rule, self.settled)


def tallies(narratives: QuerySet[Narrative], reader: Membership) -> Iterator[Tally]:
    """Yield the tallies of these narratives, in order: three queries.

    Candidates that the reader still has to judge are left out, to keep the reader blind.
    """
    return tallies_in(reader.project, narratives, reader)


def tallies_in(
    project: Project, narratives: QuerySet[Narrative], reader: Membership | None
) -> Iterator[Tally]:
    """Yield the tallies; without a reader, as for an export, nothing is left out."""
    machines = list(project.memberships.filter(is_machine=True).values_list("pk", flat=True))
    judgments = Judgment.objects.current().filter(in_pools(), narrative__in=narratives.values("pk"))
    if machines:
        judgments = judgments.exclude(annotator__in=machines)
    blind = set() if reader is None else blind_pairs(reader)
    if blind:
        own = Judgment.objects.current().filter(
            narrative=OuterRef("narrative"), candidate=OuterRef("candidate"), annotator=reader
        )
        judgments = judgments.filter(~Q(narrative__pair__in=blind) | Exists(own))
    settled = {
        (narrative, candidate): (pair, prior, relevance)
        for narrative, candidate, pair, prior, relevance in Adjudication.objects.current()
        .filter(in_pools(), narrative__in=narratives.values("pk"))
        .values_list(
            "narrative_id",
            "candidate_id",
            "narrative__pair__pk",
            "candidate__prior_relevance",
            "relevance",
        )
    }
    grouped = (
        judgments.order_by("narrative_id", "candidate_id")
        .values_list("narrative_id", "candidate_id", "candidate__prior_relevance", "relevance")
        .annotate(n=Count("pk"))
    )
    for (narrative, candidate, prior), rows in groupby(
        grouped.iterator(CHUNK), itemgetter(0, 1, 2)
    ):
        counted: Counter[int] = Counter({relevance: count for *_, relevance, count in rows})
        *_, decided = settled.pop((narrative, candidate), (None,))
        yield Tally(narrative, candidate, prior, counted, decided)
    # A document stays settled when its judges withdraw their answers.
    for (narrative, candidate), (pair, prior, decided) in sorted(settled.items()):
        if pair not in blind:
            yield Tally(narrative, candidate, prior, Counter(), decided)


@dataclass
class PairStatus:
    """A pair with counts of its documents by their change under the current altered narrative."""

    pair: InstructionPair
    narrative: int
    counts: Counts = field(default_factory=Counts)
    # The candidates (by key) that became relevant.
    grown: list[int] = field(default_factory=list)
    # The results of the rules on labels.
    of_labels: dict[Rule, LabelRuleResult] = field(default_factory=dict)

    def breaking_candidates(self, rule: Rule) -> list[int]:
        """Return the candidates (by key) that break a rule, if single candidates can."""
        if rule is Rule.SHRINKING:
            return self.grown
        return self.of_labels[rule].candidates if rule in self.of_labels else []


@dataclass(frozen=True)
class RuleReport:
    """The status of the rules for every pair with at least one answer."""

    pairs: list[PairStatus]
    # The number of pairs without an answer, and of pairs that the reader still judges.
    silent: int
    hidden: int
    # The titles of candidates that break a rule, by key.
    documents: dict[int, str]
    # The rules of the project's kind, with their limits.
    rules: dict[Rule, Mapping[str, int]]

    def pairs_by_status(self, rule: Rule) -> dict[RuleStatus, list[PairStatus]]:
        """Return the pairs by the status of a rule."""
        pairs: dict[RuleStatus, list[PairStatus]] = {status: [] for status in RuleStatus}
        for pair in self.pairs:
            of_labels = pair.of_labels.get(rule)
            if rule.is_of_labels:
                status = RuleStatus.NOT_YET if of_labels is None else of_labels.status
            else:
                status = pair.counts.status(rule, self.rules.get(rule))
            pairs[status].append(pair)
        return pairs


def rules_of(kind: ProjectKind) -> dict[Rule, Mapping[str, int]]:
    """Return the rules of a kind with their limits, in order."""
    return {
        Rule(rule.rule): {**LIMITS.get(Rule(rule.rule), {}), **rule.limits}
        for rule in kind.must_hold
    }


def rule_report(reader: Membership) -> RuleReport:
    """Return the status of the rules in the reader's project.

    Eight queries, and a few more for rules on labels. Every judged document of the pool counts,
    also one that the project does not put before its judges: it may have become relevant too.
    """
    return rule_report_in(reader.project, reader)


def rule_report_in(project: Project, reader: Membership | None) -> RuleReport:
    """Return the status of the rules; without a reader, as for an export, nothing is left out."""
    kind = kind_of(project.kind)
    rules = rules_of(kind)
    blind = set() if reader is None else blind_pairs(reader)
    in_force = (
        Narrative.objects.current()
        .filter(side=Narrative.Side.ALTERED, pair__in=pairs_with_pool(project).values("pk"))
        .select_related("pair__query", "pair__project")
        .defer("text", "pair__query__description")
        .order_by("pair")
    )
    every = {narrative.pk: PairStatus(narrative.pair, narrative.pk) for narrative in in_force}
    pairs = {key: pair for key, pair in every.items() if pair.pair.pk not in blind}
    narratives = in_force.exclude(pair__in=blind)
    _count_changes(project, kind, narratives, reader, pairs)
    if any(rule.is_of_labels for rule in rules):
        _decide_label_rules(project, set(rules), reader, pairs)
    answered = [pair for pair in pairs.values() if pair.counts.has_answers]
    return RuleReport(
        answered,
        len(pairs) - len(answered),
        len(every) - len(pairs),
        _titles_of(answered, rules),
        rules,
    )


def _count_changes(
    project: Project,
    kind: ProjectKind,
    narratives: QuerySet[Narrative],
    reader: Membership | None,
    pairs: Mapping[int, PairStatus],
) -> None:
    """Count the documents of each pair by their change."""
    judged: Counter[int] = Counter()
    judged_documents: set[tuple[int, int]] = set()
    for narrative, patterns in _read_patterns(project, reader, pairs).items():
        for pattern in patterns:
            relevance = pattern.outcome(project.consensus).relevance
            prior = pattern.documents.prior
            _add_documents(project, pairs[narrative], prior, relevance, pattern.candidates)
            if pattern.documents.is_shown(project):
                judged[narrative] += len(pattern.candidates)
            if kind.counts_claims:
                judged_documents.update((narrative, candidate) for candidate in pattern.candidates)
    if kind.counts_claims:
        of_narratives = Judgment.objects.filter(narrative__in=narratives.values("pk"))
        columns = ("candidate__prior_relevance", "candidate__made_for")
        # As in the claimed qrels: the result of a check overrides the claim.
        checked = checked_labels(narratives)
        for claim in counting_claims(project, of_narratives, *columns):
            label = (claim.narrative, claim.candidate)
            if label not in judged_documents:
                prior, made_for = claim.columns
                relevance = checked.get(label, claim.relevance)
                _add_documents(project, pairs[claim.narrative], prior, relevance, [claim.candidate])
                document = DocumentClass(prior, made_for is not None)
                judged[claim.narrative] += document.is_shown(project)
    sizes = pool_sizes(
        [project], {status.pair.pk: status.pair.query_id for status in pairs.values()}
    )
    for key, status in pairs.items():
        status.counts.unjudged = sizes[status.pair.pk] - judged[key]
        status.grown.sort()


def _read_patterns(
    project: Project, reader: Membership | None, narratives: Collection[int]
) -> dict[int, list[AnswerPattern]]:
    """Return the patterns of judged documents under these narratives (by key).

    An export reads the rows, not the cache: its transaction may see an older state of the database.
    """
    if reader is None:
        counts = uncached_counts(list(narratives))
    else:
        states = cached_counts.states_of_newest([project])
        counts = counts_of(state for state in states if state.narrative in narratives)
    return {
        narrative: [pattern for pattern in counted.patterns if pattern.is_judged]
        for narrative, counted in counts.items()
    }


def _add_documents(
    project: Project,
    to: PairStatus,
    prior: int | None,
    relevance: int | None,
    candidates: Sequence[int],
) -> None:
    """Count documents with the same loaded relevance and the same relevance now."""
    if relevance is None:
        to.counts.disputed += len(candidates)
    elif to.counts.add(prior, relevance, project.relevant_from, len(candidates)) is Change.GREW:
        to.grown += candidates


def _decide_label_rules(
    project: Project,
    rules: set[Rule],
    reader: Membership | None,
    pairs: Mapping[int, PairStatus],
) -> None:
    """Decide the rules on labels for each pair."""
    by_pair = {status.pair.pk: status for status in pairs.values()}
    narratives = Narrative.objects.current().filter(pair__in=by_pair)
    of_narratives = Judgment.objects.filter(narrative__in=narratives.values("pk"))
    labels: dict[tuple[int, int], int | None] = {
        (claim.narrative, claim.candidate): claim.relevance
        for claim in counting_claims(project, of_narratives)
    }
    claimed = dict(labels)
    # Results of checks override claims, and judges' consensus overrides both.
    labels |= checked_labels(narratives)
    for tally in tallies_in(project, narratives, reader):
        key = (tally.narrative, tally.candidate)
        labels[key] = tally.outcome(project.consensus).relevance
    for rule in rules:
        if rule.is_of_labels:
            for pair, result in label_rule_results(
                rule, project, narratives, labels, claimed
            ).items():
                by_pair[pair].of_labels[rule] = result


def _titles_of(pairs: list[PairStatus], rules: Mapping[Rule, object]) -> dict[int, str]:
    """Return the titles of the first documents that break a rule, by key of the candidate."""
    named = {
        candidate
        for pair in pairs
        for rule in rules
        for candidate in pair.breaking_candidates(rule)[:MAX_NAMED]
    }
    labels = Candidate.with_removed.filter(pk__in=named).values_list(
        "pk", "document__title", "document__doc_id"
    )
    return {pk: title or doc_id for pk, title, doc_id in labels}
