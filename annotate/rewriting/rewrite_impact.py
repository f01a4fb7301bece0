"""The documents that a rewrite affects: those of the query that were relevant before."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Substr
from django.http import QueryDict

from annotate.collection.models import Candidate, DocumentText
from annotate.judgments.document_names import hidden_from, name_of, neutral_name
from annotate.pairs.models import InstructionPair, Narrative
from annotate.pairs.pool import in_pool_of
from annotate.projects.models import Membership
from annotate.rewriting import advice
from annotate.rewriting.advice import Advice, Check, Source
from annotate.rewriting.models import MAX_NARRATIVE
from base.pagination import Page, page_by_key

SIZE = 50
# Limits of a search: its words, and its characters.
MOST_WORDS = 10
MOST_FIND = 200
# How many ids are looked for in a narrative.
MOST_IDS = 20_000
# When a narrative is compared with texts: characters of one text, and texts fetched at once.
MOST_OF_ONE = 200_000
TEXTS = 20


@dataclass(frozen=True)
class RewriteImpact:
    """A page of the affected documents that match the search."""

    total: int
    # How many match; `total` if nothing is searched for.
    found: int
    find: str
    in_texts: bool
    page: Page[Candidate]


def candidates_at_stake(pair: InstructionPair) -> QuerySet[Candidate]:
    """Return the candidates of a pair's pool that were relevant before."""
    return Candidate.objects.filter(
        in_pool_of(pair.pk),
        query=pair.query_id,
        prior_relevance__gte=pair.project.relevant_from,
    )


def ticked_at_stake(pair: InstructionPair, ticked: Collection[int]) -> list[int]:
    """Return those of the ticked candidates (keys) that are still among the affected ones.

    A document may have been taken out since it was ticked. One query, or none without ticks.
    """
    if not ticked:
        return []
    rows = candidates_at_stake(pair).filter(pk__in=ticked)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def find_impact(pair: InstructionPair, asked: QueryDict, reader: Membership) -> RewriteImpact:
    """Return the page of affected documents that the address asks for.

    `?find=` searches titles and ids, with `in=texts` also the texts; `?after=` and `?before=`
    choose the page. Two queries, and three more for a search. Only a search with `in=texts` touches
    the texts, and it fetches none.
    """
    rows = candidates_at_stake(pair)
    find = asked.get("find", "").replace("\0", "").strip()[:MOST_FIND]
    in_texts = bool(find) and asked.get("in") == "texts"
    match = search_filter(pair, find, reader, in_texts=in_texts)
    counts = rows.aggregate(total=Count("pk"), found=Count("pk", filter=match))
    if find:
        rows = rows.filter(match)
    else:
        counts["found"] = counts["total"]
    page = page_by_key(rows.select_related("document"), asked, SIZE)
    return RewriteImpact(counts["total"], counts["found"], find, in_texts, page)


def search_filter(pair: InstructionPair, find: str, reader: Membership, *, in_texts: bool) -> Q:
    """Return the filter for candidates whose title, id or (`in_texts`) text has every word.

    If the reader may not know a document's id yet, neither the id nor a title that is made of it is
    searched.
    """
    match = Q()
    wanted = find.split()[:MOST_WORDS]
    hidden, unnamed = _hidden_candidates(pair, reader) if wanted else (set(), set())
    for word in wanted:
        here = Q(document__title__icontains=word) & ~Q(pk__in=unnamed)
        here |= Q(document__doc_id__icontains=word) & ~Q(pk__in=hidden)
        if in_texts:
            texts = DocumentText.objects.current().filter(document=OuterRef("document"))
            here |= Q(Exists(texts.filter(text__icontains=word)))
        match &= here
    return match


def _hidden_candidates(pair: InstructionPair, reader: Membership) -> tuple[set[int], set[int]]:
    """Return the affected candidates whose ids are hidden, and those of them without a title."""
    rows = list(candidates_at_stake(pair).select_related("document"))
    still_open = hidden_from(reader, rows)
    names = {
        row.pk: name_of(row.document, pair.project, hidden=row.pk in still_open) for row in rows
    }
    hidden = {pk for pk, name in names.items() if name.doc_id is None}
    return hidden, {pk for pk in hidden if not names[pk].title}


def pool_ids(pair: InstructionPair) -> list[str]:
    """Return the document ids of the pair's pool, at most MOST_IDS."""
    rows = Candidate.objects.filter(in_pool_of(pair.pk), query=pair.query_id).order_by("pk")
    return list(rows.values_list("document__doc_id", flat=True)[:MOST_IDS])


def texts_at_stake(pair: InstructionPair, reader: Membership) -> Iterator[Source]:
    """Yield the affected texts, fetched a few at a time; of a long one only the start.

    If the reader may not know a document's id, its neutral name replaces it.
    """
    candidates = list(candidates_at_stake(pair))
    keys = hidden_from(reader, candidates)
    hidden = {
        row.document_id: neutral_name(row.document_id, pair.project_id)
        for row in candidates
        if row.pk in keys
    }
    last = 0
    while True:
        rows = (
            DocumentText.objects.current()
            .filter(document__in=candidates_at_stake(pair).values("document"), document__gt=last)
            .annotate(start=Substr("text", 1, MOST_OF_ONE))
            .order_by("document")
            .values_list("document", "document__doc_id", "start")[:TEXTS]
        )
        part = list(rows)
        for document, doc_id, start in part:
            yield Source(hidden.get(document, doc_id), start)
        if len(part) < TEXTS:
            return
        last = part[-1][0]


def advise(
    pair: InstructionPair,
    *,
    side: str,
    before: str,
    after: str,
    conditions: str,
    in_texts: bool,
    reader: Membership,
) -> list[Advice]:
    """Return the advice on what is typed; none if it is empty or too long to be saved.

    `before` is the text that the narrative is written from; `conditions` are as typed. Without
    `in_texts` no text is read, and the check for copied passages stays open if it needs them. Two
    queries; if texts are read, three more, and one for every TEXTS of them.
    """
    if len(after) > MAX_NARRATIVE or not after.strip():
        return []
    ids = pool_ids(pair)
    if side == Narrative.Side.REVERSED:
        checks = advice.check_reversed(before, after, ids=ids)
    else:
        lines = sum(1 for line in conditions.splitlines() if line.strip())
        checks = advice.check_altered(before, after, conditions=lines, ids=ids)
    if in_texts or not advice.new_runs(before, after)[1]:
        total = candidates_at_stake(pair).filter(document__length__isnull=False).count()
        return [
            *checks,
            advice.check_copied(before, after, texts_at_stake(pair, reader), total=total),
        ]
    return [*checks, Advice(Check.COPIED, None)]
