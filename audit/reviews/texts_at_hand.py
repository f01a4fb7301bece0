"""The documents beside an instruction under review, and which text of each a review had."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from annotate.collection.models import Candidate
from annotate.judgments.models import Judgment
from annotate.judgments.neutral_names import number_of
from annotate.pairs.models import InstructionPair, Narrative
from annotate.pairs.pool import in_pool_of
from audit.reviews.models import Review, ReviewedText
from base.errors import Stale

# Documents of a pool that lie beside an instruction under review: so many that are claimed to be
# relevant, and so many others.
AT_HAND = 4


def at_hand(pair: InstructionPair, narrative: Narrative) -> list[Candidate]:
    """Return a few documents of the pool to look at, without their texts: two queries.

    Half of them came as relevant, by a machine under this narrative or from the start, as far as
    there are any. They stand in the order of their neutral numbers, which does not tell which those
    are.
    """
    threshold = pair.project.relevant_from
    pool = pair.query.candidates.filter(in_pool_of(pair.pk)).select_related("document")
    claims = Judgment.objects.current().filter(
        candidate=OuterRef("pk"), narrative=narrative, annotator__is_machine=True
    )
    claimed = Exists(claims.filter(relevance__gte=threshold))
    relevant = claimed | (~Exists(claims) & Q(prior_relevance__gte=threshold))

    def some(found: QuerySet[Candidate], most: int) -> list[Candidate]:
        return list(found.order_by("pk")[:most])

    first = some(pool.filter(relevant), AT_HAND)
    found = [
        *first,
        *some(pool.exclude(pk__in=[one.pk for one in first]).exclude(relevant), AT_HAND),
    ]
    return sorted(found, key=lambda one: number_of(one.document_id, pair.project_id))


def texts_of(candidates: Iterable[Candidate]) -> str:
    """Return which text version of each candidate a page offers, as its form sends it back.

    For example `93:2 94:1`. Documents without a text are left out: nothing of them can be read.
    """
    return " ".join(
        f"{one.pk}:{one.document.text_version}" for one in candidates if one.document.text_version
    )


def check_texts(narrative: Narrative, shown: str | None) -> list[Candidate]:
    """Return the documents at hand. Stale: they are not those that were `shown`, or one has another
    text. `shown` is what `texts_of` said when the page was drawn; None does not say.
    """
    found = at_hand(narrative.pair, narrative)
    if shown is not None and shown != texts_of(found):
        raise Stale(
            _(
                "The documents beside the instruction changed while you were reviewing, or one got "
                "another text. Your answers are kept. Look at the documents, then submit."
            )
        )
    return found


def keep_texts(review: Review, candidates: Iterable[Candidate]) -> None:
    """Insert the texts that are at hand in a review that is being submitted."""
    ReviewedText.objects.bulk_create(
        ReviewedText(
            review=review, document_id=one.document_id, text_version=one.document.text_version
        )
        for one in candidates
        if one.document.text_version
    )


class Replaced(NamedTuple):
    """How many documents were at hand, and how many of them have a newer text now."""

    documents: int
    replaced: int


def replaced_texts(of: Sequence[Iterable[Review]]) -> list[Replaced]:
    """Return how many documents were at hand in each of some lists of reviews, and of how many a
    review had an older text than they have now: one query.
    """
    wanted = [{one.pk for one in reviews} for reviews in of]
    kept = ReviewedText.objects.filter(review__in=set().union(*wanted)).annotate(
        is_older=Q(text_version__lt=F("document__text_version"))
    )
    rows = list(kept.values_list("review", "document", "is_older"))
    return [
        Replaced(
            len({document for review, document, _is_older in rows if review in reviews}),
            len(
                {document for review, document, is_older in rows if review in reviews and is_older}
            ),
        )
        for reviews in wanted
    ]
