"""The documents shown beside an instruction under review, and the text versions a review had."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotate.collection.models import Candidate
from annotate.judgments.document_names import number_of
from annotate.judgments.models import Judgment
from annotate.pairs.models import InstructionPair, Narrative
from annotate.pairs.pool import in_pool_of
from audit.reviews.models import Review, ReviewedText
from base.errors import Stale

# At most this many documents claimed to be relevant, and as many others, are shown beside an
# instruction under review.
AT_HAND = 4


def documents_at_hand(pair: InstructionPair, narrative: Narrative) -> list[Candidate]:
    """Return a few documents of the pool to look at, without their texts: two queries.

    Up to AT_HAND are claimed relevant, by a machine under this narrative or by their earlier
    relevance, and up to AT_HAND are not. The order by neutral numbers does not reveal which.
    """
    threshold = pair.project.relevant_from
    pool = pair.query.candidates.filter(in_pool_of(pair.pk)).select_related("document")
    claims = Judgment.objects.current().filter(
        candidate=OuterRef("pk"), narrative=narrative, annotator__is_machine=True
    )
    claimed = Exists(claims.filter(relevance__gte=threshold))
    relevant = claimed | (~Exists(claims) & Q(prior_relevance__gte=threshold))

    def some(candidates: QuerySet[Candidate], most: int) -> list[Candidate]:
        return list(candidates.order_by("pk")[:most])

    first = some(pool.filter(relevant), AT_HAND)
    at_hand = [
        *first,
        *some(
            pool.exclude(pk__in=[candidate.pk for candidate in first]).exclude(relevant), AT_HAND
        ),
    ]
    return sorted(at_hand, key=lambda candidate: number_of(candidate.document_id, pair.project_id))


def texts_of(candidates: Iterable[Candidate]) -> str:
    """Return the text version of each candidate in the form that a page sends back.

    For example `93:2 94:1`. Documents without a text are left out.
    """
    return " ".join(
        f"{candidate.pk}:{candidate.document.text_version}"
        for candidate in candidates
        if candidate.document.text_version
    )


def check_texts(narrative: Narrative, shown: str | None) -> list[Candidate]:
    """Return the documents at hand. Stale: they are not those `shown`, or one has another text.

    `shown` is the result of `texts_of` when the page was rendered; None skips the comparison.
    """
    at_hand = documents_at_hand(narrative.pair, narrative)
    if shown is not None and shown != texts_of(at_hand):
        raise Stale(
            "The documents beside the instruction changed while you were reviewing, or one "
            "got a new text. Your answers are saved. Look at the documents, then submit."
        )
    return at_hand


def store_texts(review: Review, candidates: Iterable[Candidate]) -> None:
    """Store the texts at hand with a review that is being submitted."""
    ReviewedText.objects.bulk_create(
        ReviewedText(
            review=review,
            document_id=candidate.document_id,
            text_version=candidate.document.text_version,
        )
        for candidate in candidates
        if candidate.document.text_version
    )


class ReplacedTexts(NamedTuple):
    """Number of documents that were at hand, and how many of them have a newer text now."""

    documents: int
    replaced: int


def count_replaced_texts(of: Sequence[Iterable[Review]]) -> list[ReplacedTexts]:
    """Return for each list of reviews how many documents were at hand, and how many of them have a
    newer text now than a review had: one query.
    """
    review_keys = [{review.pk for review in reviews} for reviews in of]
    texts = ReviewedText.objects.filter(review__in=set().union(*review_keys)).annotate(
        is_older=Q(text_version__lt=F("document__text_version"))
    )
    rows = list(texts.values_list("review", "document", "is_older"))
    return [
        ReplacedTexts(
            len({document for review, document, _is_older in rows if review in reviews}),
            len(
                {document for review, document, is_older in rows if review in reviews and is_older}
            ),
        )
        for reviews in review_keys
    ]
