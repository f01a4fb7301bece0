"""The story of a pair: the versions of its altered narrative with their reviews and decisions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from annotate.judgments.blindness import may_see_reviews
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Membership
from audit.reviews.criteria import Verdict
from audit.reviews.models import Decision
from audit.reviews.passes import (
    Contrast,
    Pass,
    SignedPass,
    contrasts,
    owes_review,
    passes_of,
    pseudonyms_of,
    sign_passes,
    sort_by_pseudonym,
    verdict_of,
)


@dataclass(frozen=True)
class Chapter:
    """One narrative version in the story of its pair, limited to what the reader may see."""

    reader: Membership
    narrative: Narrative
    is_current: bool
    passes: list[Pass]
    # Submitted reviews that the reader may not see yet.
    hidden: int
    decisions: list[Decision] = field(default_factory=list)
    # Reviews of machines, which count in no verdict; shown with those of other people.
    machines: list[Pass] = field(default_factory=list)

    @property
    def decision(self) -> Decision | None:
        """The current decision, or None."""
        return next((one for one in self.decisions if one.withdrawn_at is None), None)

    @property
    def reviews(self) -> list[SignedPass]:
        """People's reviews."""
        return sign_passes(self.passes, self.reader, self.pseudonyms())

    @property
    def contrasts(self) -> list[Contrast]:
        """People's answers side by side."""
        return contrasts(self.passes)

    @property
    def machine_reviews(self) -> list[SignedPass]:
        """Reviews of machines."""
        return sign_passes(self.machines, self.reader)

    @property
    def machine_contrasts(self) -> list[Contrast]:
        """The answers of machines side by side."""
        return contrasts(self.machines)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of people's reviews; None while some are hidden."""
        return None if self.hidden else verdict_of(self.passes, self.reader.project)

    def pseudonyms(self) -> dict[int, str] | None:
        """Return pseudonyms of its auditors while they differ and names are hidden; else None."""
        if not self.is_current or self.decision is not None:
            return None
        return pseudonyms_of(self.narrative, self.passes, self.reader)


def story(pair: InstructionPair, reader: Membership) -> list[Chapter]:
    """Return the altered versions of a pair, newest first, with what `reader` may see of each.

    Of the current version, an auditor sees the others' reviews after submitting their own; its
    author once it is sent back or removed; a lead always, unless they still owe a review. Reviews
    of older versions are open to everybody, because nobody can review those any more.
    """
    versions = list(
        pair.narratives.filter(side=Narrative.Side.ALTERED)
        .select_related("author", "sent_back_by")
        .order_by("-version")
    )
    passes = passes_of(versions)
    machines = passes_of(versions, machines=True)
    decisions: dict[int, list[Decision]] = defaultdict(list)
    for decision in (
        Decision.objects.filter(narrative__in=versions)
        .select_related("by", "withdrawn_by")
        .order_by("-at", "-pk")
    ):
        decisions[decision.narrative_id].append(decision)
    chapters = []
    current = next((one for one in versions if one.withdrawn_at is None), None)
    for narrative in versions:
        reviews = passes[narrative.pk]
        chapter = Chapter(
            reader,
            narrative,
            narrative == current,
            reviews,
            0,
            decisions[narrative.pk],
            machines[narrative.pk],
        )
        if chapter.is_current and not _may_see(chapter):
            own = [one for one in reviews if one.review.auditor_id == reader.pk]
            chapter = Chapter(reader, narrative, True, own, len(reviews) - len(own), [])
        if names := chapter.pseudonyms():
            sort_by_pseudonym(chapter.passes, names)
        chapters.append(chapter)
    return chapters


def _may_see(chapter: Chapter) -> bool:
    against = {Decision.Outcome.REVISE, Decision.Outcome.REMOVED}
    return may_see_reviews(
        chapter.reader,
        chapter.narrative,
        submitted=[one.review.auditor_id for one in chapter.passes],
        must_review=lambda: owes_review(chapter.reader, chapter.narrative),
        decided_against=chapter.decision is not None and chapter.decision.outcome in against,
    )
