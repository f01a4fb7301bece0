"""What is at stake when a narrative is rewritten: the documents of its query that were relevant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Substr
from django.http import QueryDict

from annotate.collection.models import Candidate, DocumentText
from annotate.judgments.document_names import name_of, neutral_name, open_to
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Membership
from annotate.rewriting import advice
from annotate.rewriting.advice import Advice, Check, Source
from base.pagination import Page, page_by_key

SIZE = 50
# A longer narrative is not looked at: it will be refused.
MOST_OF_NARRATIVE = 100_000
# Words that are looked for at once, and their length.
MOST_WORDS = 10
MOST_FIND = 200
# Ids that are looked for in a narrative.
MOST_IDS = 20_000
# Of one text, and texts fetched at once, when a narrative is compared with them.
MOST_OF_ONE = 200_000
TEXTS = 20


@dataclass(frozen=True)
class RewriteImpact:
    """A part of the documents at stake: those that match what is looked for, a page of them."""

    total: int
    # How many match; `total` where nothing is looked for.
    found: int
    find: str
    in_texts: bool
    page: Page[Candidate]


def candidates_at_stake(pair: InstructionPair) -> QuerySet[Candidate]:
    """The candidates of a pair that were relevant before."""
    return Candidate.objects.filter(
        query=pair.query_id, prior_relevance__gte=pair.project.relevant_from
    )


def look(pair: InstructionPair, asked: QueryDict, reader: Membership) -> RewriteImpact:
    """Return what the address asks for: `?find=` words of title or id, with `in=texts` also of the
    text, and `?after=`, `?before=` for the part of the list. Two queries, and three more to
    look for the words; only those that look in the texts touch them, and they bring none along.
    """
    rows = candidates_at_stake(pair)
    find = asked.get("find", "").replace("\0", "").strip()[:MOST_FIND]
    in_texts = bool(find) and asked.get("in") == "texts"
    match = matching(pair, find, reader, in_texts=in_texts)
    counts = rows.aggregate(total=Count("pk"), found=Count("pk", filter=match))
    if find:
        rows = rows.filter(match)
    else:
        counts["found"] = counts["total"]
    page = page_by_key(rows.select_related("document"), asked, SIZE)
    return RewriteImpact(counts["total"], counts["found"], find, in_texts, page)


def matching(pair: InstructionPair, find: str, reader: Membership, *, in_texts: bool) -> Q:
    """Candidates at stake in whose title, id or (`in_texts`) text every word of `find` stands.

    Of documents whose id the reader may not know yet, neither the id nor a title that is made of it
    is looked at.
    """
    match = Q()
    wanted = find.split()[:MOST_WORDS]
    hidden, unnamed = _hidden(pair, reader) if wanted else (set(), set())
    for word in wanted:
        here = Q(document__title__icontains=word) & ~Q(pk__in=unnamed)
        here |= Q(document__doc_id__icontains=word) & ~Q(pk__in=hidden)
        if in_texts:
            texts = DocumentText.objects.current().filter(document=OuterRef("document"))
            here |= Q(Exists(texts.filter(text__icontains=word)))
        match &= here
    return match


def _hidden(pair: InstructionPair, reader: Membership) -> tuple[set[int], set[int]]:
    """The candidates at stake whose ids are hidden, and those of them without a title besides."""
    rows = list(candidates_at_stake(pair).select_related("document"))
    still_open = open_to(reader, rows)
    names = {
        row.pk: name_of(row.document, pair.project, hidden=row.pk in still_open) for row in rows
    }
    hidden = {pk for pk, name in names.items() if name.doc_id is None}
    return hidden, {pk for pk in hidden if not names[pk].title}


def pool_ids(pair: InstructionPair) -> list[str]:
    """The document ids of the query's pool, as far as anyone compares them with a narrative."""
    rows = Candidate.objects.filter(query=pair.query_id).order_by("pk")
    return list(rows.values_list("document__doc_id", flat=True)[:MOST_IDS])


def texts_at_stake(pair: InstructionPair, reader: Membership) -> Iterator[Source]:
    """The texts at stake, a few at a time, as they are asked for; of a long one only the start.

    Where the reader may not know a document's id, its neutral name stands there.
    """
    candidates = list(candidates_at_stake(pair))
    keys = open_to(reader, candidates)
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
    """Look at what is typed, as `pure.advice` does; nothing where it is too long to be saved.

    `before` is what the narrative is written from, `conditions` as they are typed. Without
    `in_texts` no text is read, and whether something was copied stays open where it would have to
    be. Two queries; where texts are looked at, three more and one for each few of them.
    """
    if len(after) > MOST_OF_NARRATIVE or not after.strip():
        return []
    ids = pool_ids(pair)
    if side == Narrative.Side.REVERSED:
        found = advice.turning(before, after, ids=ids)
    else:
        lines = sum(1 for line in conditions.splitlines() if line.strip())
        found = advice.narrowing(before, after, conditions=lines, ids=ids)
    if in_texts or not advice.new_runs(before, after)[1]:
        total = candidates_at_stake(pair).filter(document__length__isnull=False).count()
        return [
            *found,
            advice.copied(before, after, texts_at_stake(pair, reader), total=total),
        ]
    return [*found, Advice(Check.COPIED, None)]
