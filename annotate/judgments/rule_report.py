"""Check the rules of a project's kind against the answers on each pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

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
from annotate.judgments.label_rules import LabelRuleResult, label_rule_results
from annotate.judgments.machine_claims import counting_claims
from annotate.judgments.models import Judgment
from annotate.judgments.pair_rules import LIMITS, Change, Counts, Rule, RuleStatus
from annotate.pairs.models import InstructionPair, Narrative
from annotate.pairs.pool import pairs_with_pool
from annotate.projects.kinds import ProjectKind, kind_of
from annotate.projects.models import Membership, Project
from base.providers import Provider

# The grades that checks of claimed labels found, by narrative and candidate; `audit` provides them.
checked_labels: Provider[[QuerySet[Narrative]], dict[tuple[int, int], int]] = Provider(
    "Which grades did checks of claimed labels come to?"
)
# The most documents named for each pair that breaks a rule.
MAX_NAMED = 5


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
                status = RuleStatus.NOT_KNOWN if of_labels is None else of_labels.status
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
    ready: Any = pairs_with_pool(project)
    written = ready.filter(altered_id__isnull=False).select_related("query")
    every = {}
    # What the page and the manifest say of a pair: there may be many.
    for pair in written.only("project", "pair_id", "query__query_id", "query__title").order_by(
        "pk"
    ):
        pair.project = project
        every[pair.altered_id] = PairStatus(pair, pair.altered_id)
    pairs = {key: status for key, status in every.items() if status.pair.pk not in blind}
    narratives = (
        Narrative.objects.current()
        .filter(side=Narrative.Side.ALTERED, pair__in=ready.values("pk"))
        .exclude(pair__in=blind)
    )
    label_rules = [rule for rule in rules if rule.is_of_labels]
    every_side = Narrative.objects.current().filter(
        pair__in=[status.pair.pk for status in pairs.values()]
    )
    counted = set(every_side.values_list("pk", flat=True)) if label_rules else set(pairs)
    patterns = _read_patterns(project, reader, counted)
    _count_changes(project, kind, narratives, patterns, pairs)
    if label_rules:
        _decide_label_rules(project, label_rules, every_side, patterns, pairs)
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
    patterns: Mapping[int, Sequence[AnswerPattern]],
    pairs: Mapping[int, PairStatus],
) -> None:
    """Count the documents of each pair by their change."""
    judged: Counter[int] = Counter()
    judged_documents: set[tuple[int, int]] = set()
    for narrative in pairs.keys() & patterns.keys():
        for pattern in patterns[narrative]:
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
    rules: Iterable[Rule],
    narratives: QuerySet[Narrative],
    patterns: Mapping[int, Sequence[AnswerPattern]],
    pairs: Mapping[int, PairStatus],
) -> None:
    """Decide the rules on labels for each pair; `narratives`: those of every side."""
    by_pair = {status.pair.pk: status for status in pairs.values()}
    of_narratives = Judgment.objects.filter(narrative__in=narratives.values("pk"))
    labels: dict[tuple[int, int], int | None] = {
        (claim.narrative, claim.candidate): claim.relevance
        for claim in counting_claims(project, of_narratives)
    }
    claimed = dict(labels)
    # Results of checks override claims, and judges' consensus overrides both.
    labels |= checked_labels(narratives)
    for narrative, of_narrative in patterns.items():
        for pattern in of_narrative:
            relevance = pattern.outcome(project.consensus).relevance
            labels |= dict.fromkeys(((narrative, key) for key in pattern.candidates), relevance)
    for rule in rules:
        results = label_rule_results(rule, project, narratives, labels, claimed)
        for pair, result in results.items():
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
