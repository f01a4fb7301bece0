"""The documents that judges are shown for a pair, the narrative they judge under, words to mark."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, When
from django.db.models.functions import Coalesce

from annotate.collection import marking
from annotate.collection.models import Candidate, Document
from annotate.collection.shown_documents import (
    is_shown_to_judges,
    shown_to_judges,
    shown_to_judges_sql,
)
from annotate.pairs.models import (
    SENT_BACK,
    Assignment,
    InstructionPair,
    InstructionPairQuerySet,
    Narrative,
)
from annotate.projects.models import Membership, Project

# Scopes in which documents are judged regardless of their earlier relevance.
WHOLE_POOL = (Project.Scope.POOL, Project.Scope.EXISTING)


def candidates_to_judge(pair: InstructionPair) -> QuerySet[Candidate]:
    """Return the candidates of a pair that are to be judged by the project's rule."""
    return in_scope(pair.project, Candidate.objects.filter(query=pair.query_id), pair.pk)


def in_scope(
    project: Project, candidates: QuerySet[Candidate], pair: int | OuterRef
) -> QuerySet[Candidate]:
    """Filter candidates of a query to those that judges of the pair (a key) are shown."""
    return candidates.filter(shown_to_judges(project), in_pool_of(pair))


def documents_without_text(project: Project, *, whole_pool: bool = False) -> QuerySet[Document]:
    """Return the documents of a project that judges are shown and that have no text.

    `whole_pool`: also those of the pools that only checks of labels may show.
    """
    candidates = Candidate.objects.filter(
        query__project=project, query__removed_at=None, document=OuterRef("pk")
    )
    shown = candidates if whole_pool else candidates.filter(shown_to_judges(project))
    return Document.objects.filter(Exists(shown), project=project, text_version=None)


def in_pool_of(pair: int | OuterRef | F, candidate: str = "") -> Q:
    """Return a filter for rows whose candidate (at that path) is in the pool of a pair."""
    made_for = f"{candidate}made_for"
    return Q(**{f"{made_for}__isnull": True}) | Q(**{made_for: pair})


def is_in_scope(project: Project, candidate: Candidate, pair: int) -> bool:
    """Return whether `in_scope` would keep this one candidate."""
    return (
        candidate.removed_at is None
        and candidate.made_for_id in (None, pair)
        and is_shown_to_judges(
            project,
            prior=candidate.prior_relevance,
            generated=candidate.made_for_id is not None,
        )
    )


def pool_sql(project: Project, candidate: str, pair: str) -> str:
    """Return the rule of `in_scope` as SQL, for the alias of a candidate and the key of a pair."""
    own = f"({candidate}.made_for_id IS NULL OR {candidate}.made_for_id = {pair})"
    return f"{shown_to_judges_sql(project, candidate)} AND {own}"


def judged_narrative(pair: InstructionPair) -> Narrative | None:
    """Return the narrative that judges of a pair read now, if any (see `judged_narratives`)."""
    altered = pair.current(Narrative.Side.ALTERED)
    if altered is None and pair.project.judge_scope in WHOLE_POOL:
        return pair.current(Narrative.Side.ORIGINAL)
    return altered


def judged_narratives(*projects: Project) -> QuerySet[Narrative]:
    """Return the narratives that the judges of these projects read now, at most one per pair.

    It is the altered one; without one it is the original, if the whole pool is judged.
    """
    altered = Narrative.objects.in_use().filter(pair=OuterRef("pair"), side=Narrative.Side.ALTERED)
    original = Q(
        ~Exists(altered),
        side=Narrative.Side.ORIGINAL,
        pair__project__judge_scope__in=WHOLE_POOL,
    )
    in_force = Narrative.objects.in_force([project.pk for project in projects])
    return in_force.filter(Q(side=Narrative.Side.ALTERED) | original)


def pairs_with_narrative(*projects: Project) -> QuerySet[InstructionPair]:
    """Return the pairs that have a narrative to judge under; `under` is its key."""
    pairs = _pairs_of(projects).alive().with_narratives().exclude(SENT_BACK)
    original = Case(When(project__judge_scope__in=WHOLE_POOL, then=F("original_id")))
    return pairs.annotate(under=Coalesce("altered_id", original)).filter(under__isnull=False)


def pairs_with_pool(*projects: Project) -> QuerySet[InstructionPair]:
    """Return the pairs of `pairs_with_narrative` that have at least one document to judge."""
    candidates = Candidate.objects.filter(
        shown_to_judges(*projects), in_pool_of(OuterRef("pk")), query=OuterRef("query")
    )
    return pairs_with_narrative(*projects).filter(Exists(candidates))


def repeat_seed(pair: InstructionPair, side: str, version: int, by: Membership) -> str:
    """Return the seed that, with their ids, decides which documents are repeated to `by`.

    It depends on the narrative version.
    """
    return f"{by.project.order_seed}:{by.name}:{pair.pair_id}:{side}:{version}"


Task = Assignment.Task


def workable_pairs(task: str, *projects: Project) -> QuerySet[InstructionPair]:
    """Return the pairs of these projects that have work for anybody in `task`."""
    if task == Task.REWRITE:
        return _pairs_of(projects).to_rewrite()
    if task == Task.REVIEW:
        # Auditors review narratives written by a language model or rewritten in this project.
        return _pairs_of(projects).to_review()
    return pairs_with_pool(*projects)


def _pairs_of(projects: Sequence[Project]) -> InstructionPairQuerySet:
    return InstructionPair.objects.filter(project__in=[project.pk for project in projects])


def words_to_mark(pair: InstructionPair, narrative: Narrative) -> marking.WordsToMark:
    """Return the words to mark in a pair's documents when read under `narrative`.

    Takes one query.
    """
    original = pair.current(Narrative.Side.ORIGINAL)
    changed = original is not None and original.pk != narrative.pk
    return marking.select_words(
        query=pair.query.title or pair.query.description,
        original=original.text if original and changed else "",
        altered=narrative.text if changed else "",
    )
