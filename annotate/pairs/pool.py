"""What a judge is shown for a pair: which documents, in which order, under which narrative."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotate.collection.models import Candidate
from annotate.pairs.models import (
    SENT_BACK,
    Assignment,
    InstructionPair,
    InstructionPairQuerySet,
    Narrative,
)
from annotate.projects.models import Membership, Project

# Stands for `Project.judge_scope` where a query reads several projects whose rules differ: each row
# follows those of its own project.
OF_EACH = "of_each"
# Scopes in which documents are judged whatever relevance they came with.
WHOLE_POOL = (Project.Scope.POOL, Project.Scope.EXISTING)


class PoolRules(NamedTuple):
    """Which documents are judged in several projects: the scope and threshold that all share, or
    the scope OF_EACH.
    """

    scope: str
    relevant_from: int

    def stub(self, project: int) -> Project:
        """Return a project, or the mark of several (`base.prepared_queries`), with these rules."""
        return Project(pk=project, judge_scope=self.scope, relevant_from=self.relevant_from)


def common_rules(projects: Sequence[Project]) -> PoolRules:
    """Return the rules that projects share."""
    if len({one.judge_scope for one in projects}) > 1:
        return _DIFFERENT
    if projects[0].judge_scope in WHOLE_POOL:
        return PoolRules(projects[0].judge_scope, 0)
    thresholds = {one.relevant_from for one in projects}
    return PoolRules(Project.Scope.RELEVANT, *thresholds) if len(thresholds) == 1 else _DIFFERENT


_DIFFERENT = PoolRules(OF_EACH, 0)


def pool(pair: InstructionPair) -> QuerySet[Candidate]:
    """The candidates of a pair that are to be judged, by the project's rule."""
    return in_scope(pair.project, Candidate.objects.filter(query=pair.query_id), pair.pk)


def in_scope(
    project: Project, candidates: QuerySet[Candidate], pair: int | OuterRef
) -> QuerySet[Candidate]:
    """Keep the candidates of a query that the project puts before the judges of a pair (by key)."""
    return in_scope_of_some(project, candidates).filter(in_pool_of(pair))


def in_scope_of_some(project: Project, candidates: QuerySet[Candidate]) -> QuerySet[Candidate]:
    """Keep the candidates that the project puts before the judges of some pair of their query."""
    if project.judge_scope == Project.Scope.RELEVANT:
        return candidates.filter(prior_relevance__gte=project.relevant_from)
    if project.judge_scope == Project.Scope.EXISTING:
        return candidates.filter(made_for__isnull=True)
    if project.judge_scope == OF_EACH:
        return candidates.filter(put_before_judges("query__project"))
    return candidates


def in_pool_of(pair: int | OuterRef | F, candidate: str = "") -> Q:
    """Rows whose candidate is in the pool of a pair. `candidate`: the path to it."""
    made_for = f"{candidate}made_for"
    return Q(**{f"{made_for}__isnull": True}) | Q(**{made_for: pair})


def put_before_judges(project: str, candidate: str = "") -> Q:
    """Keep what the project of each row puts before its judges. `project` and `candidate`: the
    paths to the project and to the candidate.
    """
    scope, prior = f"{project}__judge_scope", f"{candidate}prior_relevance__gte"
    return (
        Q(**{scope: Project.Scope.POOL})
        | Q(**{scope: Project.Scope.EXISTING, f"{candidate}made_for__isnull": True})
        | Q(**{scope: Project.Scope.RELEVANT, prior: F(f"{project}__relevant_from")})
    )


def is_in_scope(project: Project, candidate: Candidate, pair: int) -> bool:
    """Say of one candidate what `in_scope` asks of many."""
    return candidate.removed_at is None and is_put_before_judges(
        project, prior=candidate.prior_relevance, made_for=candidate.made_for_id, pair=pair
    )


def is_put_before_judges(
    project: Project, *, prior: int | None, made_for: int | None, pair: int
) -> bool:
    """Say whether a candidate is put before the judges of a pair (by key), wherever it is read."""
    if made_for is not None and (made_for != pair or project.judge_scope == Project.Scope.EXISTING):
        return False
    return project.judge_scope in WHOLE_POOL or (
        prior is not None and prior >= project.relevant_from
    )


def pool_sql(project: Project, candidate: str, pair: str) -> str:
    """SQL that says the same of a candidate and a pair: the alias of the one, the key of the other.

    Parameter: relevant_from, where the project judges what was relevant before.
    """
    if project.judge_scope == Project.Scope.EXISTING:
        return f"{candidate}.made_for_id IS NULL"
    own = f"({candidate}.made_for_id IS NULL OR {candidate}.made_for_id = {pair})"
    if project.judge_scope == Project.Scope.RELEVANT:
        return f"{candidate}.prior_relevance >= %(relevant_from)s AND {own}"
    return own


def judged_narrative(pair: InstructionPair) -> Narrative | None:
    """The version that judges read now: the altered one, or where the whole pool is judged, the
    original.
    """
    altered = pair.current(Narrative.Side.ALTERED)
    if altered is None and pair.project.judge_scope in WHOLE_POOL:
        return pair.current(Narrative.Side.ORIGINAL)
    return altered


def pairs_with_pool(project: Project) -> QuerySet[InstructionPair]:
    """Pairs that have a narrative to judge under and at least one document to judge."""
    pairs = _pairs_of(project).alive().with_narratives()
    ready = Q(altered_id__isnull=False)
    if project.judge_scope in WHOLE_POOL:
        ready |= Q(original_id__isnull=False)
    elif project.judge_scope == OF_EACH:
        ready |= Q(original_id__isnull=False, project__judge_scope__in=WHOLE_POOL)
    candidates = Candidate.objects.filter(query=OuterRef("query"))
    documents = in_scope(project, candidates, OuterRef("pk"))
    return pairs.filter(ready, Exists(documents)).exclude(SENT_BACK)


def narratives_in_force(project: Project) -> QuerySet[Narrative]:
    """The versions that a project's judges read now, one for each pair that has one."""
    return _narratives_in_force(project.pk, project.judge_scope).all()


@lru_cache(maxsize=256)
def _narratives_in_force(project: int, scope: str) -> QuerySet[Narrative]:
    """The query alone, which nobody evaluates: to put it together takes longer than to ask it, and
    a page does so many times.
    """
    newest = Narrative.objects.current().filter(pair__project__in=[project], pair__removed_at=None)
    altered = Narrative.objects.filter(pair=OuterRef("pair"), side=Narrative.Side.ALTERED)
    wanted = Q(side=Narrative.Side.ALTERED)
    original = Q(~Exists(altered), side=Narrative.Side.ORIGINAL)
    if scope in WHOLE_POOL:
        wanted |= original
    elif scope == OF_EACH:
        wanted |= original & Q(pair__project__judge_scope__in=WHOLE_POOL)
    return newest.filter(wanted)


def repeat_words(pair: InstructionPair, side: str, version: int, by: Membership) -> str:
    """What decides, with their ids, which documents come again to `by` under a narrative
    version.
    """
    return f"{by.project.order_seed}:{by.name}:{pair.pair_id}:{side}:{version}"


Task = Assignment.Task


def workable_pairs(project: Project, task: str) -> QuerySet[InstructionPair]:
    """Pairs of a project on which there is something to do in `task`, whoever does it."""
    pairs = _pairs_of(project)
    if task == Task.REWRITE:
        return pairs.to_rewrite()
    if task == Task.REVIEW:
        # What people audit is what a language model wrote, or what was rewritten here.
        return pairs.to_review()
    return pairs_with_pool(project)


def _pairs_of(project: Project) -> InstructionPairQuerySet:
    """The pairs of a project, or of several whose mark a stub has (`PoolRules.stub`)."""
    if project.name:
        return project.pairs.all()
    return InstructionPair.objects.filter(project__in=[project.pk])
