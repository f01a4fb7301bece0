"""Disagreements between auditors about an instruction.

They differ when one auditor rejects a current narrative on a criterion and another does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from audit.reviews import access as reviews_access
from audit.reviews import criteria, decisions
from audit.reviews.forms import OUTCOMES, DecisionForm
from audit.reviews.models import Decision, Rating, Review
from audit.reviews.passes import Pass, SignedPass, contrasts, passes_of, sign_passes, verdict_of
from audit.settling.kinds.base import Disagreement, Item, Source, Voice, Voices
from audit.settling.kinds.pages import number_choices
from audit.settling.queue_filters import DisagreementKey, Kind, Order, QueueFilter, Reader


class ReviewDisagreement(Disagreement):
    """A disagreement between auditors about an instruction."""

    kind = Kind.REVIEW
    model, value = Decision, "outcome"
    columns: ClassVar = {"narrative": "narrative"}
    form, template = DecisionForm, "settling/review.html"
    routes = ("review_disagreement", "review_withdrawal", "reveal_auditors")

    @classmethod
    def source(cls, reader: Reader, filters: QueueFilter, in_any_state: bool) -> Source:
        """Return the source of review disagreements, open or decided."""
        decided = Decision.objects.current().filter(narrative=OuterRef("pk"))
        # One possible decision is to remove the pair; it can be withdrawn like any other.
        narratives = reader.narratives(filters, removed=filters.settled or in_any_state)
        if not in_any_state:
            if reader.to_review:
                mine = Review.objects.submitted().filter(
                    narrative=OuterRef("pk"), auditor__in=reader.members
                )
                narratives = narratives.filter(
                    ~Q(pair__in=reader.to_review) | Exists(mine) | Q(author__in=reader.members)
                )
            undecided = Q(~Exists(decided), sent_back_at=None)
            narratives = narratives.filter(Exists(decided) if filters.settled else undecided)
        ratings = Rating.objects.of_people().filter(review__submitted_at__isnull=False)
        if filters.criterion:
            ratings = ratings.filter(criterion=filters.criterion)
        of_people = ratings
        if filters.people is not None and not in_any_state:
            of_people = ratings.filter(review__auditor__in=filters.people)
        # Few instructions are rejected: it is quicker to begin with these.
        rejected = of_people.filter(rejects=True).values("review__narrative")
        narratives = narratives.filter(Exists(_contradicted_rejections(of_people)), pk__in=rejected)
        # The largest distance, in levels, between a rejecting and a non-rejecting rating.
        best = _on_same_criterion(ratings).filter(rejects=False).order_by("place").values("place")
        apart = (
            ratings.filter(review__narrative=OuterRef("pk"), rejects=True)
            .annotate(apart=F("place") - Subquery(best[:1]))
            .filter(apart__isnull=False)
            .order_by("-apart")
            .values("apart")
        )
        last = (
            Review.objects.submitted()
            .of_people()
            .filter(narrative=OuterRef("pk"))
            .order_by("-submitted_at")
        )
        since = decided.values("at") if filters.settled else last.values("submitted_at")
        rows = narratives.annotate(
            distance=Coalesce(Subquery(apart[:1]), Value(0)),
            # The decision keeps or drops the instruction with every document relevant under it.
            effect=Value(0 if filters.order is Order.MEASURE else 2),
            since=Subquery(since[:1]),
        )
        return Source(cls.kind, rows, ("pk",), "pair__project")

    @classmethod
    def read_voices(cls, keys: Sequence[DisagreementKey]) -> dict[DisagreementKey, Voices]:
        """Return on how many criteria each auditor rejects."""
        of = {key.narrative: key for key in keys}
        rows = (
            Review.objects.submitted()
            .of_people()
            .filter(narrative__in=of)
            .annotate(n_rejects=Count("ratings", filter=Q(ratings__rejects=True)))
            .values_list("narrative", "auditor", "auditor__name", "n_rejects")
        )
        voices: dict[DisagreementKey, Voices] = defaultdict(dict)
        for narrative, member, name, rejects in rows:
            voices[of[narrative]][member] = Voice(name, rejects=rejects)
        return voices

    @staticmethod
    def compare_voices(item: Item, relevant_from: int) -> None:
        """Settling decides whether the instruction counts."""
        item.decides = True

    @staticmethod
    def key_of(decision: Decision) -> DisagreementKey:
        """Return the disagreement that a decision settles."""
        return DisagreementKey(Kind.REVIEW, decision.narrative_id, 0, 0)

    @cached_property
    def names(self) -> dict[int, str]:
        """The displayed names of the auditors, by the key of the membership, in display order."""
        return self.naming.displayed(
            {
                review_pass.review.auditor_id: review_pass.review.auditor.name
                for review_pass in self._passes
            }
        )

    @cached_property
    def _passes(self) -> list[Pass]:
        return passes_of([self.narrative])[self.narrative.pk]

    @property
    def passes(self) -> list[Pass]:
        """People's reviews, in display order."""
        by_auditor = {review_pass.review.auditor_id: review_pass for review_pass in self._passes}
        return [by_auditor[member] for member in self.names]

    @cached_property
    def machines(self) -> list[Pass]:
        """The reviews by machines."""
        return passes_of([self.narrative], machines=True)[self.narrative.pk]

    def reviews(self) -> list[SignedPass]:
        """Return people's reviews as the reader sees them: without times while names are hidden."""
        return sign_passes(self.passes, self.member, self.names if self.naming.hidden else None)

    def machine_reviews(self) -> list[SignedPass]:
        """Return the reviews by machines, which never count in the verdict."""
        return sign_passes(self.machines, self.member)

    def verdict(self) -> criteria.Verdict:
        """Return the verdict that follows from people's reviews."""
        return verdict_of(self._passes, self.member.project)

    def settle(self, fields: Mapping[str, Any]) -> Decision:
        """Decide what becomes of the instruction."""
        return decisions.decide(
            narrative=self.narrative,
            outcome=fields["outcome"],
            reason=fields["reason"],
            uuid=fields.get("uuid"),
            by=self.member,
        )

    def withdraw(self) -> None:
        """Withdraw the current decision, or raise Http404."""
        current = reviews_access.decision(self.narrative)
        decisions.withdraw_decision(decision=current, by=self.member)

    def message(self, made: Decision) -> str:
        """Return a message for the lead about a decision just made."""
        return decisions.describe(made)

    def page_context(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reviews of people and machines, and the decision."""
        return {
            "reviews": self.reviews(),
            "contrasts": contrasts(self.passes),
            "machine_reviews": self.machine_reviews(),
            "machine_contrasts": contrasts(self.machines),
            "verdict": self.verdict(),
            "decision": self.decision(),
            "choices": number_choices(OUTCOMES),
            "choice_name": "outcome",
        }


def _on_same_criterion(ratings: QuerySet[Rating]) -> QuerySet[Rating]:
    """Return the ratings of the same narrative on the same criterion."""
    return ratings.filter(
        review__narrative=OuterRef("review__narrative"), criterion=OuterRef("criterion")
    )


def _contradicted_rejections(ratings: QuerySet[Rating]) -> QuerySet[Rating]:
    """Return the rejecting ratings of a narrative that another rating contradicts."""
    other = _on_same_criterion(ratings).filter(rejects=False)
    return ratings.filter(Exists(other), review__narrative=OuterRef("pk"), rejects=True)
