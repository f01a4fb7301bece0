"""The documents that judges are shown for a pair, and the narrative they judge under."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotate.collection.models import Candidate, Document
from annotate.pairs.models import (
    SENT_BACK,
    Assignment,
    InstructionPair,
    InstructionPairQuerySet,
    Narrative,
)
from annotate.projects.models import Membership, Project

# Used instead of a `Project.judge_scope` when a query reads several projects with different rules:
# each row follows the rules of its own project.
OF_EACH = "of_each"
# Scopes in which documents are judged regardless of their earlier relevance.
WHOLE_POOL = (Project.Scope.POOL, Project.Scope.EXISTING)


class PoolRules(NamedTuple):
    """The scope and threshold that several projects share, or the scope OF_EACH."""

    scope: str
    relevant_from: int

    def stub(self, project: int) -> Project:
        """Return an unsaved project with these rules.

        `project` is its key, or a placeholder for several projects (`base.prepared_queries`).
        """
        return Project(pk=project, judge_scope=self.scope, relevant_from=self.relevant_from)


def common_rules(projects: Sequence[Project]) -> PoolRules:
    """Return the rules that the projects share, or the scope OF_EACH if they differ."""
    if len({one.judge_scope for one in projects}) > 1:
        return _DIFFERENT
    if projects[0].judge_scope in WHOLE_POOL:
        return PoolRules(projects[0].judge_scope, 0)
    thresholds = {one.relevant_from for one in projects}
    return PoolRules(Project.Scope.RELEVANT, *thresholds) if len(thresholds) == 1 else _DIFFERENT


_DIFFERENT = PoolRules(OF_EACH, 0)


def candidates_to_judge(pair: InstructionPair) -> QuerySet[Candidate]:
    """Return the candidates of a pair that are to be judged by the project's rule."""
    return in_scope(pair.project, Candidate.objects.filter(query=pair.query_id), pair.pk)


def in_scope(
    project: Project, candidates: QuerySet[Candidate], pair: int | OuterRef
) -> QuerySet[Candidate]:
    """Filter candidates of a query to those that judges of the pair (a key) are shown."""
    return in_scope_of_any(project, candidates).filter(in_pool_of(pair))


def in_scope_of_any(project: Project, candidates: QuerySet[Candidate]) -> QuerySet[Candidate]:
    """Filter candidates to those that judges of at least one pair of their query are shown."""
    if project.judge_scope == Project.Scope.RELEVANT:
        return candidates.filter(prior_relevance__gte=project.relevant_from)
    if project.judge_scope == Project.Scope.EXISTING:
        return candidates.filter(made_for__isnull=True)
    if project.judge_scope == OF_EACH:
        return candidates.filter(shown_to_judges("query__project"))
    return candidates


def documents_without_text(project: Project, *, whole_pool: bool = False) -> QuerySet[Document]:
    """Return the documents of a project that judges are shown and that have no text.

    `whole_pool`: also those of the pools that only checks of labels may show.
    """
    candidates = Candidate.objects.filter(
        query__project=project, query__removed_at=None, document=OuterRef("pk")
    )
    shown = candidates if whole_pool else in_scope_of_any(project, candidates)
    return Document.objects.filter(Exists(shown), project=project, text_version=None)


def in_pool_of(pair: int | OuterRef | F, candidate: str = "") -> Q:
    """Return a filter for rows whose candidate (at that path) is in the pool of a pair."""
    made_for = f"{candidate}made_for"
    return Q(**{f"{made_for}__isnull": True}) | Q(**{made_for: pair})


def shown_to_judges(project: str, candidate: str = "") -> Q:
    """Return a filter for rows whose candidate is shown to judges by the rules of its project.

    `project` and `candidate` are the paths to both.
    """
    scope, prior = f"{project}__judge_scope", f"{candidate}prior_relevance__gte"
    return (
        Q(**{scope: Project.Scope.POOL})
        | Q(**{scope: Project.Scope.EXISTING, f"{candidate}made_for__isnull": True})
        | Q(**{scope: Project.Scope.RELEVANT, prior: F(f"{project}__relevant_from")})
    )


def is_in_scope(project: Project, candidate: Candidate, pair: int) -> bool:
    """Return whether `in_scope` would keep this one candidate."""
    return candidate.removed_at is None and is_shown_to_judges(
        project, prior=candidate.prior_relevance, made_for=candidate.made_for_id, pair=pair
    )


def is_shown_to_judges(
    project: Project, *, prior: int | None, made_for: int | None, pair: int
) -> bool:
    """Return whether judges of a pair (a key) are shown a candidate with these field values."""
    if made_for is not None and (made_for != pair or project.judge_scope == Project.Scope.EXISTING):
        return False
    return project.judge_scope in WHOLE_POOL or (
        prior is not None and prior >= project.relevant_from
    )


def pool_sql(project: Project, candidate: str, pair: str) -> str:
    """Return the rule of `in_scope` as SQL, for the alias of a candidate and the key of a pair.

    Parameter: relevant_from, if the project judges documents that were relevant before.
    """
    if project.judge_scope == Project.Scope.EXISTING:
        return f"{candidate}.made_for_id IS NULL"
    own = f"({candidate}.made_for_id IS NULL OR {candidate}.made_for_id = {pair})"
    if project.judge_scope == Project.Scope.RELEVANT:
        return f"{candidate}.prior_relevance >= %(relevant_from)s AND {own}"
    return own


def judged_narrative(pair: InstructionPair) -> Narrative | None:
    """Return the narrative that judges read now, if any.

    It is the altered one; without one it is the original, if the whole pool is judged.
    """
    altered = pair.current(Narrative.Side.ALTERED)
    if altered is None and pair.project.judge_scope in WHOLE_POOL:
        return pair.current(Narrative.Side.ORIGINAL)
    return altered


def pairs_with_pool(project: Project) -> QuerySet[InstructionPair]:
    """Return the pairs that have a narrative to judge under and at least one document to judge."""
    pairs = _pairs_of(project).alive().with_narratives()
    ready = Q(altered_id__isnull=False)
    if project.judge_scope in WHOLE_POOL:
        ready |= Q(original_id__isnull=False)
    elif project.judge_scope == OF_EACH:
        ready |= Q(original_id__isnull=False, project__judge_scope__in=WHOLE_POOL)
    candidates = Candidate.objects.filter(query=OuterRef("query"))
    documents = in_scope(project, candidates, OuterRef("pk"))
    return pairs.filter(ready, Exists(documents)).exclude(SENT_BACK)


def judged_narratives(project: Project) -> QuerySet[Narrative]:
    """Return the narratives that a project's judges read now, at most one per pair."""
    return _judged_narratives(project.pk, project.judge_scope).all()


@lru_cache(maxsize=256)
def _judged_narratives(project: int, scope: str) -> QuerySet[Narrative]:
    """Build the query without evaluating it.

    Cached: building it takes longer than running it, and a page uses it many times.
    """
    newest = Narrative.objects.in_force([project])
    altered = Narrative.objects.filter(pair=OuterRef("pair"), side=Narrative.Side.ALTERED)
    wanted = Q(side=Narrative.Side.ALTERED)
    original = Q(~Exists(altered), side=Narrative.Side.ORIGINAL)
    if scope in WHOLE_POOL:
        wanted |= original
    elif scope == OF_EACH:
        wanted |= original & Q(pair__project__judge_scope__in=WHOLE_POOL)
    return newest.filter(wanted)


def repeat_seed(pair: InstructionPair, side: str, version: int, by: Membership) -> str:
    """Return the seed that, with their ids, decides which documents are repeated to `by`.

    It depends on the narrative version.
    """
    return f"{by.project.order_seed}:{by.name}:{pair.pair_id}:{side}:{version}"


Task = Assignment.Task


def workable_pairs(project: Project, task: str) -> QuerySet[InstructionPair]:
    """Return the pairs of a project that have work for anybody in `task`."""
    pairs = _pairs_of(project)
    if task == Task.REWRITE:
        return pairs.to_rewrite()
    if task == Task.REVIEW:
        # Auditors review narratives written by a language model or rewritten in this project.
        return pairs.to_review()
    return pairs_with_pool(project)


def _pairs_of(project: Project) -> InstructionPairQuerySet:
    """Return the pairs of a project, or of all projects that a stub represents."""
    if project.name:
        return project.pairs.all()
    return InstructionPair.objects.filter(project__in=[project.pk])
