"""Who judges what, and what they said."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotate.collection.models import Candidate, ReadsText
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Guideline, Membership


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    """Judgments of people and machines."""

    def current(self) -> JudgmentQuerySet:
        """What each annotator says now of the newest text."""
        return self.standing().filter(text_replaced_at__isnull=True)

    def standing(self) -> JudgmentQuerySet:
        """What each annotator said last of each text version they read."""
        return self.filter(superseded_at__isnull=True)

    def of_people(self) -> JudgmentQuerySet:
        """Leave machines out: they never count among people."""
        return self.filter(annotator__is_machine=False)


class Judgment(ReadsText):
    """One annotator's relevance for one candidate under one narrative version and text version.
    Unjudged is no row.
    """

    class Source(models.TextChoices):
        """How the judgment came in."""

        PAGE = "page", _("Entered here")
        FILE = "file", _("Loaded from a file")

    class Pressed(models.TextChoices):
        """What the grade was given with."""

        KEY = "key", _("A key")
        CLICK = "click", _("A click")

    # Made by whoever sends it, so that sending twice changes nothing.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="judgments")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="judgments")
    annotator = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="judgments")
    relevance = models.IntegerField()
    note = models.TextField(blank=True)
    # Spans that decided: [{"start": 10, "end": 42}], offsets in characters of the stored text.
    evidence = models.JSONField(default=list, blank=True)
    # Spans of the narrative that decided, in the same shape: offsets in characters of its text.
    clauses = models.JSONField(default=list, blank=True)
    # Time with the document before the eyes; time away does not count.
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    pressed = models.CharField(max_length=10, choices=Pressed, blank=True)
    source = models.CharField(max_length=10, choices=Source, default=Source.PAGE)
    at = models.DateTimeField(default=timezone.now)
    # When it was pressed, by the browser's clock: earlier than `at` where the network was away.
    made_at = models.DateTimeField(null=True, blank=True)
    # Null while it stands under its text version. Set when the annotator judged again, or took the
    # judgment back.
    superseded_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    # The judgment this one took the place of: undoing this one brings that one back.
    replaces = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="replaced_by"
    )

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            # The referee: one current judgment of an annotator for a candidate and narrative ...
            models.UniqueConstraint(
                name="judgment_one_current",
                fields=["narrative", "candidate", "annotator"],
                condition=Q(superseded_at__isnull=True, text_replaced_at__isnull=True),
            ),
            # ... and one that stands under each older text version.
            models.UniqueConstraint(
                name="judgment_one_of_older_text",
                fields=["narrative", "candidate", "annotator", "text_version"],
                condition=Q(superseded_at__isnull=True, text_replaced_at__isnull=False),
            ),
            # A judgment taken back is no longer current.
            models.CheckConstraint(
                name="judgment_withdrawn_is_superseded",
                condition=Q(withdrawn_at__isnull=True) | Q(superseded_at__isnull=False),
            ),
            models.CheckConstraint(
                name="judgment_never_replaces_itself",
                condition=Q(replaces__isnull=True) | ~Q(replaces=F("id")),
            ),
        ]
        indexes: ClassVar = [
            # The history of one annotator on one narrative, newest last: previous and undo.
            models.Index(fields=["narrative", "annotator", "at"], name="judgment_history"),
            # What people differ on: all that the queue of disagreements groups stands in it, and
            # what SQLite looks up for its condition.
            models.Index(
                fields=[
                    *("narrative", "candidate", "annotator", "relevance", "at"),
                    *("superseded_at", "text_replaced_at"),
                ],
                name="judgment_differing",
                condition=Q(superseded_at__isnull=True, text_replaced_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"judgment {self.pk}"

    @property
    def is_current(self) -> bool:
        """Whether it is what its annotator says now of the newest text."""
        return self.superseded_at is None and self.text_replaced_at is None

    def answers(self) -> dict[int, str]:
        """Answers by the key of the condition; verdicts fetched ahead are not asked for anew."""
        return {verdict.condition_id: verdict.answer for verdict in self.verdicts.all()}


class Verdict(models.Model):
    """What a judgment says of one condition of its narrative."""

    class Answer(models.TextChoices):
        """Whether the document meets the condition."""

        MET = "met", _("Met")
        NOT_MET = "not_met", _("Not met")
        CANT_TELL = "cant_tell", _("Can't tell")

    judgment = models.ForeignKey(Judgment, on_delete=models.PROTECT, related_name="verdicts")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="verdicts")
    answer = models.CharField(max_length=10, choices=Answer)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="verdict_once_per_condition", fields=["judgment", "condition"]
            ),
        ]

    def __str__(self) -> str:
        return self.answer


class FlagQuerySet(models.QuerySet["Flag"]):
    """Flags of documents."""

    def current(self) -> FlagQuerySet:
        """Flags that still stand, of the newest text."""
        return self.filter(cleared_at__isnull=True, text_replaced_at__isnull=True)


class Flag(ReadsText):
    """What an annotator says instead of a grade. Not a grade."""

    class Kind(models.TextChoices):
        """Why there is no grade."""

        LATER = "later", _("Later")
        CANNOT_JUDGE = "cannot_judge", _("Cannot judge")
        PROBLEM = "problem", _("Problem with this document")

    # Made by whoever sends it, so that sending twice changes nothing.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="flags")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="flags")
    annotator = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="flags")
    kind = models.CharField(max_length=20, choices=Kind)
    words = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now)
    # When it was pressed, by the browser's clock.
    made_at = models.DateTimeField(null=True, blank=True)
    # Set when the annotator judged after all, or took the flag back.
    cleared_at = models.DateTimeField(null=True, blank=True)

    objects = FlagQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="flag_one_current",
                fields=["narrative", "candidate", "annotator"],
                condition=Q(cleared_at__isnull=True, text_replaced_at__isnull=True),
            ),
            models.UniqueConstraint(
                name="flag_one_of_older_text",
                fields=["narrative", "candidate", "annotator", "text_version"],
                condition=Q(cleared_at__isnull=True, text_replaced_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.kind


class AdjudicationQuerySet(models.QuerySet["Adjudication"]):
    """Settling decisions."""

    def current(self) -> AdjudicationQuerySet:
        """Decisions that stand, of the newest text."""
        return self.filter(withdrawn_at__isnull=True, text_replaced_at__isnull=True)


class Adjudication(ReadsText):
    """The settling decision on one candidate. Judges' rows are never edited."""

    class Cause(models.TextChoices):
        """Why the judges differed."""

        AMBIGUOUS = "ambiguous", _("Ambiguous text")
        GUIDELINE = "guideline", _("Gap in the guidelines")
        ERROR = "error", _("Annotator's error")
        EDGE = "edge", _("Edge case")

    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="adjudications")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="adjudications")
    relevance = models.IntegerField()
    reason = models.TextField()
    cause = models.CharField(max_length=20, choices=Cause)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="adjudications")
    at = models.DateTimeField(default=timezone.now)
    # What was settled together with many others has their batch: it can be taken back with them.
    batch = models.UUIDField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = AdjudicationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="adjudication_one_current",
                fields=["narrative", "candidate"],
                condition=Q(withdrawn_at__isnull=True, text_replaced_at__isnull=True),
            ),
            models.CheckConstraint(name="adjudication_has_a_reason", condition=~Q(reason="")),
            models.CheckConstraint(
                name="adjudication_withdrawn_by_and_at",
                condition=Q(withdrawn_at__isnull=True, withdrawn_by__isnull=True)
                | Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False),
            ),
        ]
        indexes: ClassVar = [
            # All of a batch, to take them back; most decisions are of none.
            models.Index(
                fields=["batch"],
                name="adjudication_of_batch",
                condition=Q(batch__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"adjudication {self.pk}"


class ConditionAdjudicationQuerySet(models.QuerySet["ConditionAdjudication"]):
    """Settling decisions on conditions."""

    def current(self) -> ConditionAdjudicationQuerySet:
        """Decisions that stand, of the newest text."""
        return self.filter(withdrawn_at__isnull=True, text_replaced_at__isnull=True)


class ConditionAdjudication(ReadsText):
    """The settling decision on whether a candidate meets one condition. Verdicts are never
    edited.
    """

    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="adjudications")
    candidate = models.ForeignKey(
        Candidate, on_delete=models.PROTECT, related_name="condition_adjudications"
    )
    answer = models.CharField(max_length=10, choices=Verdict.Answer)
    reason = models.TextField()
    cause = models.CharField(max_length=20, choices=Adjudication.Cause)
    by = models.ForeignKey(
        Membership, on_delete=models.PROTECT, related_name="condition_adjudications"
    )
    at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = ConditionAdjudicationQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="condition_adjudication_one_current",
                fields=["condition", "candidate"],
                condition=Q(withdrawn_at__isnull=True, text_replaced_at__isnull=True),
            ),
            models.CheckConstraint(
                name="condition_adjudication_has_a_reason", condition=~Q(reason="")
            ),
            models.CheckConstraint(
                name="condition_adjudication_withdrawn_by_and_at",
                condition=Q(withdrawn_at__isnull=True, withdrawn_by__isnull=True)
                | Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"condition adjudication {self.pk}"


class RejudgeRequestQuerySet(models.QuerySet["RejudgeRequest"]):
    """What was asked for again."""

    def standing(self) -> RejudgeRequestQuerySet:
        """Leave out what the lead took back; answered or not."""
        return self.filter(withdrawn_at__isnull=True)

    def open(self) -> RejudgeRequestQuerySet:
        """What still waits for an answer: the judgment stands as it was, of the newest text."""
        return self.standing().filter(
            judgment__superseded_at__isnull=True, judgment__text_replaced_at__isnull=True
        )


class RejudgeRequest(models.Model):
    """A lead asks whoever made a judgment to look again. The judgment stays as it is; any later
    word of its author is the answer, also the same grade.
    """

    judgment = models.ForeignKey(Judgment, on_delete=models.PROTECT, related_name="asks")
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    words = models.TextField()
    # The version of the guidelines for which it is asked, if it is.
    guideline = models.ForeignKey(
        Guideline, null=True, blank=True, on_delete=models.PROTECT, related_name="asks"
    )
    at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = RejudgeRequestQuerySet.as_manager()

    class Meta:
        # As in backups made before.
        db_table = "annotate_lookagain"
        constraints: ClassVar = [
            # Asked twice is asked once; it also finds what stands of a judgment at every key press.
            models.UniqueConstraint(
                name="look_again_once_per_judgment",
                fields=["judgment"],
                condition=Q(withdrawn_at__isnull=True),
            ),
            models.CheckConstraint(name="look_again_has_words", condition=~Q(words="")),
            models.CheckConstraint(
                name="look_again_withdrawn_by_and_at",
                condition=Q(withdrawn_at__isnull=True, withdrawn_by__isnull=True)
                | Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"rejudge request {self.pk}"


class RepeatQuerySet(models.QuerySet["Repeat"]):
    """Answers to documents that came again."""

    def current(self) -> RepeatQuerySet:
        """What each person says now of what came again, of the newest text."""
        return self.filter(superseded_at__isnull=True, text_replaced_at__isnull=True)


class Repeat(ReadsText):
    """What one person said of a document that came again: a relevance, or a flag instead.

    It never changes the first judgment, and counts nowhere but in the agreement of this person with
    themselves.
    """

    # Made by whoever sends it, so that sending twice changes nothing.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="repeats")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="repeats")
    annotator = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="repeats")
    # What they said the first time, as it stood when this was said. Null where nothing stood: then
    # it is what they say of the document now.
    first = models.ForeignKey(
        Judgment, null=True, blank=True, on_delete=models.PROTECT, related_name="repeats"
    )
    relevance = models.IntegerField(null=True, blank=True)
    flag = models.CharField(max_length=20, choices=Flag.Kind, blank=True)
    # With a relevance a note, with a flag its words.
    note = models.TextField(blank=True)
    evidence = models.JSONField(default=list, blank=True)
    clauses = models.JSONField(default=list, blank=True)
    # Answers by the key of the condition: {"7": "met"}.
    verdicts: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(
        default=dict, blank=True
    )
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    pressed = models.CharField(max_length=10, choices=Judgment.Pressed, blank=True)
    at = models.DateTimeField(default=timezone.now)
    # When it was pressed, by the browser's clock.
    made_at = models.DateTimeField(null=True, blank=True)
    # Current while null. Set when they said something else of the repeat, or took it back.
    superseded_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = RepeatQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            # The referee: one current answer of a person to a document that came again.
            models.UniqueConstraint(
                name="repeat_one_current",
                fields=["narrative", "candidate", "annotator"],
                condition=Q(superseded_at__isnull=True, text_replaced_at__isnull=True),
            ),
            models.UniqueConstraint(
                name="repeat_one_of_older_text",
                fields=["narrative", "candidate", "annotator", "text_version"],
                condition=Q(superseded_at__isnull=True, text_replaced_at__isnull=False),
            ),
            models.CheckConstraint(
                name="repeat_is_a_grade_or_a_flag",
                condition=Q(relevance__isnull=False, flag="")
                | (Q(relevance__isnull=True) & ~Q(flag="")),
            ),
            models.CheckConstraint(
                name="repeat_withdrawn_is_superseded",
                condition=Q(withdrawn_at__isnull=True) | Q(superseded_at__isnull=False),
            ),
        ]
        indexes: ClassVar = [
            # What one person said again of one narrative, newest last.
            models.Index(fields=["narrative", "annotator", "at"], name="repeat_history"),
        ]

    def __str__(self) -> str:
        return f"repeat {self.pk}"

    def answers(self) -> dict[int, str]:
        """Answers by the key of the condition."""
        return {int(condition): answer for condition, answer in self.verdicts.items()}

    def as_flag(self) -> Flag | None:
        """The flag it is, as pages draw one; it is no row. None for a relevance."""
        if not self.flag:
            return None
        return Flag(uuid=self.uuid, kind=self.flag, words=self.note, at=self.at)
