"""Instruction pairs, their narratives and conditions, and the assignments to work on them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotate.collection.models import CanBeTakenOut, Query
from annotate.pairs.condition_lines import Line
from annotate.projects.models import Membership, Project
from base.constraints import at_and_by


def _current(side: str) -> models.FilteredRelation:
    """Return the relation of a pair to its current narrative of a side."""
    return models.FilteredRelation(
        "narratives", condition=Q(narratives__side=side, narratives__is_current=True)
    )


def is_taken_out(path: str = "") -> Q:
    """Return the filter for pairs that a lead took out with a reason, or whose query was taken out.

    No figure counts them. A pair that a decision on its reviews removed is not one of them: its
    reviews and its removal are results. `path`: how the filtered rows reach a pair.
    """
    reason, query = {f"{path}removed_reason": ""}, {f"{path}query__removed_at__isnull": True}
    return ~Q(**reason) | ~Q(**query)


# Pairs whose current altered narrative was sent back (`with_narratives`).
SENT_BACK = Q(sent_back_at__isnull=False)
# Pairs whose altered narrative is missing, or was sent back (`with_narratives`).
TO_REWRITE = Q(altered_id__isnull=True) | SENT_BACK


class InstructionPairQuerySet(models.QuerySet["InstructionPair"]):
    """Pairs of a project."""

    def alive(self) -> InstructionPairQuerySet:
        """Exclude removed pairs."""
        return self.filter(removed_at__isnull=True)

    def with_narratives(self) -> InstructionPairQuerySet:
        """Add `altered_id`, `altered_version`, `sent_back_at` and `original_id`.

        They describe the current versions, and are null where a side was never written.
        """
        return self.annotate(
            altered=_current(Narrative.Side.ALTERED), original=_current(Narrative.Side.ORIGINAL)
        ).annotate(
            altered_id=models.F("altered__pk"),
            altered_version=models.F("altered__version"),
            sent_back_at=models.F("altered__sent_back_at"),
            original_id=models.F("original__pk"),
        )

    def to_rewrite(self) -> InstructionPairQuerySet:
        """Keep pairs whose altered narrative is missing, or was sent back since."""
        return self.alive().with_narratives().filter(TO_REWRITE)

    def to_review(self) -> InstructionPairQuerySet:
        """Keep pairs whose altered narrative is to be reviewed.

        These are all reviewable pairs, or only the drawn ones if there is a current review draw.
        """
        return self.reviewable().filter(is_in_draw())

    def reviewable(self) -> InstructionPairQuerySet:
        """Keep pairs with an altered narrative that was not sent back."""
        return self.alive().with_narratives().filter(Q(altered_id__isnull=False)).exclude(SENT_BACK)


def is_in_draw(pair: str = "") -> Q:
    """Return a filter for rows whose pair, at that path ("pair__"), is in the current review draw
    or whose project has none.
    """
    draws = ReviewDraw.objects.current().filter(project=models.OuterRef(f"{pair}project"))
    drawn = DrawnPair.objects.filter(pair=models.OuterRef(f"{pair}pk"), draw__ended_at__isnull=True)
    return Q(~models.Exists(draws)) | Q(models.Exists(drawn))


def wanted_reviews(pair: str = "") -> models.Case:
    """Return how many reviews are wanted of the instruction of the pair at that path: none outside
    the current review draw.
    """
    wanted = models.F(f"{pair}project__overlap_review")
    return models.Case(models.When(is_in_draw(pair), then=wanted), default=0)


class InstructionPair(CanBeTakenOut):
    """Original and altered (and reversed) narrative of one query.

    It is taken out with a reason, or by a decision on its reviews, which has the reason.
    """

    class Origin(models.TextChoices):
        """Who wrote a narrative."""

        HUMAN = "human", "People"
        LLM = "llm", "A language model"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="pairs")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="pairs")
    # The id in its files: the query's id, or for several instructions of a query e.g. "110_2".
    pair_id = models.CharField(max_length=255)
    category = models.CharField(max_length=60, blank=True)
    # From the last file that had the pair; each version has its own origin and model.
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.HUMAN)
    model = models.CharField(max_length=120, blank=True)
    # Fields of its record in a paper's file, stored to be exported again: a JSON object with sorted
    # names, "" for none. See `fields`.
    source_fields = models.TextField(blank=True, default="", db_default="")
    # The pair with the same instruction as a list of conditions; this one has it in running words.
    restates = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="restatements"
    )

    objects = InstructionPairQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="pair_id_once_per_project", fields=["project", "pair_id"]),
            models.CheckConstraint(name="pair_has_an_id", condition=~Q(pair_id="")),
            models.CheckConstraint(
                name="pair_restates_another", condition=~Q(restates=models.F("pk"))
            ),
            models.CheckConstraint(
                name="pair_by_people_names_no_model", condition=Q(origin="llm") | Q(model="")
            ),
            models.CheckConstraint(
                name="pair_removed_by_someone_or_with_a_reason",
                condition=Q(removed_at__isnull=True, removed_by__isnull=True, removed_reason="")
                | Q(removed_at__isnull=False, removed_by__isnull=False)
                | Q(removed_at__isnull=False) & ~Q(removed_reason=""),
            ),
        ]

    def __str__(self) -> str:
        return self.pair_id

    @property
    def fields(self) -> dict[str, Any]:
        """The stored fields of its source record, by name."""
        return dict(json.loads(self.source_fields)) if self.source_fields else {}

    # The current narratives by side, once `read_current` has read them.
    _current: dict[str, Narrative] | None = None

    def current(self, side: str) -> Narrative | None:
        """Return the current version of a side (a `Narrative.Side` value), or None if unwritten."""
        if self._current is not None:
            return self._current.get(side)
        return self.narratives.current().filter(side=side).first()

    def read_current(self) -> None:
        """Read the current versions of all sides at once, for a page that shows several of them.

        From then on `current` returns these, also if somebody writes another version meanwhile.
        """
        self._current = {narrative.side: narrative for narrative in self.narratives.current()}

    def written_from(self, side: str) -> Narrative | None:
        """Return the narrative from which the first version of a side is written, if any.

        It is the original, or for the reversed narrative the altered one if there is one.
        """
        reversing = side == Narrative.Side.REVERSED
        altered = self.current(Narrative.Side.ALTERED) if reversing else None
        return altered or self.current(Narrative.Side.ORIGINAL)


class ReviewDrawQuerySet(models.QuerySet["ReviewDraw"]):
    """Draws of instructions to review."""

    def current(self) -> ReviewDrawQuerySet:
        """Keep current draws, which limit what is reviewed: at most one per project."""
        return self.filter(ended_at__isnull=True)


class ReviewDraw(models.Model):
    """A random sample of a project's instructions; until it ends, only these are reviewed."""

    class Stratify(models.TextChoices):
        """The attribute that defines the strata; the size of a draw is per stratum."""

        NONE = "none", "Nothing: one stratum"
        DOMAIN = "domain", "Domain of the query"
        CATEGORY = "category", "Category of the instruction"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="review_draws")
    stratify = models.CharField(max_length=10, choices=Stratify, default=Stratify.NONE)
    # How many instructions are drawn from each stratum.
    size = models.PositiveIntegerField()
    seed = models.PositiveBigIntegerField()
    # Whether a stratum with fewer instructions was drawn completely.
    fewer = models.BooleanField(default=False)
    # The number of instructions to draw from in each stratum: {"Books": 4820}.
    frame: models.JSONField[dict[str, int], dict[str, int]] = models.JSONField(default=dict)
    # `drawn_by` is null for a command.
    drawn_at = models.DateTimeField(default=timezone.now)
    drawn_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = ReviewDrawQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="review_draw_one_in_force",
                fields=["project"],
                condition=Q(ended_at__isnull=True),
            ),
            models.CheckConstraint(name="review_draw_of_one_or_more", condition=Q(size__gte=1)),
            models.CheckConstraint(
                name="review_draw_ended_by_names_when",
                condition=Q(ended_by__isnull=True) | Q(ended_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"review draw {self.pk}"


class DrawnPair(models.Model):
    """An instruction that is in a review draw."""

    draw = models.ForeignKey(ReviewDraw, on_delete=models.PROTECT, related_name="drawn")
    pair = models.ForeignKey(InstructionPair, on_delete=models.PROTECT, related_name="draws")
    # The name of the stratum at the time of the draw.
    stratum = models.CharField(max_length=255, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="pair_drawn_once", fields=["draw", "pair"]),
        ]

    def __str__(self) -> str:
        return f"pair {self.pair_id} of draw {self.draw_id}"


class NarrativeQuerySet(models.QuerySet["Narrative"]):
    """Versions of narratives."""

    def in_use(self) -> NarrativeQuerySet:
        """Leave out the versions that a lead withdrew by going back to an earlier one."""
        return self.filter(withdrawn_at__isnull=True)

    def written_by(self, *members: Membership | int) -> NarrativeQuerySet:
        """Keep the texts of these members: nobody reviews their own (`Narrative.is_by`)."""
        return self.filter(author__in=members)

    def current(self) -> NarrativeQuerySet:
        """Keep the current version of each side of each pair."""
        return self.filter(is_current=True)

    def choose_current(self) -> None:
        """Make the highest version of each side of each pair current that was not withdrawn.

        To be called in the transaction that inserted, withdrew or brought back versions; `save`
        does so itself.
        """
        higher = Narrative.objects.in_use().filter(
            pair=models.OuterRef("pair"),
            side=models.OuterRef("side"),
            version__gt=models.OuterRef("version"),
        )
        highest = Q(~models.Exists(higher), withdrawn_at__isnull=True)
        self.filter(~highest, is_current=True).update(is_current=False)
        self.filter(highest, is_current=False).update(is_current=True)

    def in_force(self, projects: Iterable[int]) -> NarrativeQuerySet:
        """Keep the current versions in these projects (keys) whose pairs are not removed."""
        return self.current().filter(pair__project__in=projects, pair__removed_at__isnull=True)

    def instructions_in_force(self, projects: Iterable[int]) -> NarrativeQuerySet:
        """Keep the current altered versions in these projects (keys) that nobody has sent back:
        what was sent back will be another text.
        """
        return self.in_force(projects).filter(side=Narrative.Side.ALTERED, sent_back_at=None)

    def longest_conditions(self, project: Project) -> tuple[int, str] | None:
        """Return the largest number of conditions of a narrative in force, and its pair's id."""
        counted = self.in_force([project.pk]).annotate(conditions_set=models.Count("conditions"))
        return (
            counted.order_by("-conditions_set")
            .values_list("conditions_set", "pair__pair_id")
            .first()
        )


class Narrative(models.Model):
    """One version of the text that says what is relevant.

    Rewriting inserts a version; nothing is overwritten. A lead who goes back to an earlier version
    withdraws the later ones; their answers are kept with them.
    """

    class Side(models.TextChoices):
        """Which of the pair's narratives this is."""

        ORIGINAL = "original", "Original"
        ALTERED = "altered", "Altered"
        REVERSED = "reversed", "Reversed"

    pair = models.ForeignKey(InstructionPair, on_delete=models.PROTECT, related_name="narratives")
    side = models.CharField(max_length=10, choices=Side)
    version = models.PositiveIntegerField(default=1)
    # Empty if a collection has topics without narratives.
    text = models.TextField(blank=True)
    note = models.CharField(max_length=500, blank=True)
    # Null: it was loaded from a file.
    author = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="narratives"
    )
    # Who wrote this version: people, or the language model named below ("" if it is not known).
    origin = models.CharField(
        max_length=10,
        choices=InstructionPair.Origin,
        default=InstructionPair.Origin.HUMAN,
        db_default=InstructionPair.Origin.HUMAN,
    )
    model = models.CharField(max_length=120, blank=True, default="", db_default="")
    created_at = models.DateTimeField(default=timezone.now)
    # Whether it counts now: see `NarrativeQuerySet.choose_current`.
    is_current = models.BooleanField(default=False, db_default=False)
    # A lead went back to an earlier version.
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # Sent back to its writer: the narrative has to be rewritten, and this version does not count.
    sent_back_at = models.DateTimeField(null=True, blank=True)
    sent_back_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # Why a lead sent it back; "" if a decision on its reviews did.
    sent_back_reason = models.TextField(blank=True, default="", db_default="")

    objects = NarrativeQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="narrative_version_once", fields=["pair", "side", "version"]
            ),
            models.UniqueConstraint(
                name="narrative_one_current_per_side",
                fields=["pair", "side"],
                condition=Q(is_current=True),
            ),
            models.CheckConstraint(
                name="narrative_current_is_not_withdrawn",
                condition=Q(is_current=False) | Q(withdrawn_at__isnull=True),
            ),
            models.CheckConstraint(name="narrative_versions_from_1", condition=Q(version__gte=1)),
            models.CheckConstraint(
                name="narrative_by_people_names_no_model", condition=Q(origin="llm") | Q(model="")
            ),
            models.CheckConstraint(
                name="narrative_rewritten_has_words",
                condition=Q(side="original") | ~Q(text=""),
            ),
            at_and_by("narrative_withdrawn_by_and_at", "withdrawn"),
            at_and_by("narrative_sent_back_by_and_at", "sent_back"),
            models.CheckConstraint(
                name="narrative_sent_back_reason_only_if_sent_back",
                condition=Q(sent_back_at__isnull=False) | Q(sent_back_reason=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.side} {self.version}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save a version; a new one becomes current if it is the highest."""
        is_new = self._state.adding
        super().save(*args, **kwargs)
        if is_new:
            Narrative.objects.filter(pair=self.pair_id, side=self.side).choose_current()
            self.refresh_from_db(fields=["is_current"])

    def is_by(self, member: Membership) -> bool:
        """Return whether a member wrote it. Nobody reviews their own text."""
        return self.author_id == member.pk

    def ordered_conditions(self) -> models.QuerySet[Condition]:
        """Return the conditions in their order."""
        return self.conditions.order_by("number")

    def condition_lines(self) -> list[Line]:
        """Return the conditions as their writer types them."""
        rows = self.ordered_conditions().values_list("name", "text")
        # Normalised as when they are read, so untouched conditions do not count as a change.
        return [Line(" ".join(name.split()), " ".join(text.split())) for name, text in rows]


class Condition(models.Model):
    """One condition (attribute) of a narrative version; a document meets it or does not."""

    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="conditions")
    # Its position in the narrative, from 1.
    number = models.PositiveSmallIntegerField()
    # The attribute it is about, if the collection names it (audience, length, source).
    name = models.CharField(max_length=120, blank=True)
    text = models.TextField()
    # Whether the reversed narrative asks for its opposite; null if not answered yet.
    negated = models.BooleanField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="condition_number_once", fields=["narrative", "number"]),
            models.CheckConstraint(name="condition_numbers_from_1", condition=Q(number__gte=1)),
            models.CheckConstraint(name="condition_has_words", condition=~Q(text="")),
        ]

    def __str__(self) -> str:
        return f"condition {self.number}"


# An assignment that nobody began is free again after this long.
LEASE = timedelta(hours=4)


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    """Assignments of people."""

    def keeping_their_places(self, now: datetime | None = None) -> AssignmentQuerySet:
        """Exclude those whose place another person may take.

        Nobody began them for a lease, or their holder has left or has a closed account.
        """
        lapsed = Q(touched_at__isnull=True, taken_at__lt=(now or timezone.now()) - LEASE)
        # Those who are gone are read once, not looked up for each assignment.
        return self.filter(~lapsed, ~Q(member__in=Membership.objects.gone()))


class Assignment(models.Model):
    """One person's place on one pair's task; the project's overlap sets the number of places."""

    class Task(models.TextChoices):
        """The kind of work in an assignment."""

        REWRITE = "rewrite", "Rewrite"
        JUDGE = "judge", "Judge"
        REVIEW = "review", "Review"

    pair = models.ForeignKey(InstructionPair, on_delete=models.PROTECT, related_name="assignments")
    task = models.CharField(max_length=10, choices=Task)
    seat = models.PositiveSmallIntegerField()
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="assignments")
    taken_at = models.DateTimeField(default=timezone.now)
    # When work on it began. An untouched assignment becomes free again after a lease.
    touched_at = models.DateTimeField(null=True, blank=True)
    # When the work was done; `annotate.judgments.completion` decides whether work is left.
    done_at = models.DateTimeField(null=True, blank=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            # Two people who ask at the same time never get the same assignment ...
            models.UniqueConstraint(name="seat_taken_once", fields=["pair", "task", "seat"]),
            # ... and a person takes at most one assignment of a task.
            models.UniqueConstraint(name="seat_one_per_person", fields=["pair", "task", "member"]),
            models.CheckConstraint(name="seats_from_1_to_50", condition=Q(seat__range=(1, 50))),
            models.CheckConstraint(
                name="seat_done_was_touched",
                condition=Q(done_at__isnull=True) | Q(touched_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task} {self.seat}"


class NamedPerson(models.Model):
    """A member whom a lead named to take a task of a query.

    If nobody is named, everybody may take it.
    """

    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="named_people")
    task = models.CharField(max_length=10, choices=Assignment.Task)
    member = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="person_named_once_per_task", fields=["query", "task", "member"]
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task} {self.member_id}"
