"""The second pass: reviews of instructions, decisions on them, checks of labels, and reports of
agreement.
"""

from __future__ import annotations

import uuid
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotate.models.collection import Candidate, Document, ReadsText, Run
from annotate.models.instruction import Narrative
from annotate.models.project import Membership, Project
from audit.reviews.criteria import Criterion, Level
from audit.reviews.criteria import Rubric as Content
from formats.records import RubricRecord
from formats.rubrics import data
from jobs.models import Job

# The same for every report, so that the same rows give the same figures.
SEED = 20_260_101
RESAMPLES = 2_000


class RubricQuerySet(models.QuerySet["Rubric"]):
    """Rubrics of projects."""

    def in_force(self, project: int) -> Rubric | None:
        """Return the one that a project chose last; None: it has chosen none."""
        chosen = self.filter(project=project, chosen_at__isnull=False)
        return chosen.order_by("-chosen_at", "-pk").first()


class Rubric(models.Model):
    """One version of what a project's instructions are rated on. A change inserts a version.

    The same as `audit.reviews.criteria.Rubric`, which the pages know; levels and criteria are kept
    as its
    fields are named. In force is the one that was chosen last, or the one that comes with Rejudge.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="rubrics")
    # With the version, "followtable-1": what a review says it was made under.
    name = models.CharField(max_length=60)
    title = models.CharField(max_length=120)
    # Best first: [{"value": "poor", "name": "Poor", "sentence": "…", "rejects": true}].
    levels: models.JSONField[list[dict[str, Any]], list[dict[str, Any]]] = models.JSONField()
    # [{"key": …, "name": …, "asks": …, "poor_when": …, "good_example": …, "poor_example": …}].
    criteria: models.JSONField[list[dict[str, Any]], list[dict[str, Any]]] = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)
    # Nobody where a command brought or chose it.
    created_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    chosen_at = models.DateTimeField(null=True, blank=True)
    chosen_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = RubricQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="rubric_name_once_per_project", fields=["project", "name"]
            ),
            models.CheckConstraint(name="rubric_has_a_name", condition=~Q(name="")),
            models.CheckConstraint(
                name="rubric_chosen_by_someone_at_some_time",
                condition=Q(chosen_by__isnull=True) | Q(chosen_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def content(self) -> Content:
        """What it says."""
        return Content(
            self.name,
            self.title,
            tuple(Level(**level) for level in self.levels),
            tuple(Criterion(**criterion) for criterion in self.criteria),
        )

    @classmethod
    def of(cls, content: RubricRecord, **fields: Any) -> Rubric:
        """Return a row, not yet saved, that says the same."""
        return cls(**data(content), **fields)


class ReviewQuerySet(models.QuerySet["Review"]):
    """Auditors' passes."""

    def submitted(self) -> ReviewQuerySet:
        """Reviews that count; the others are drafts."""
        return self.filter(submitted_at__isnull=False)

    def of_people(self) -> ReviewQuerySet:
        """Reviews of people; those of machines are never counted among them."""
        return self.filter(auditor__is_machine=False)

    def of_machines(self) -> ReviewQuerySet:
        """Reviews of machines."""
        return self.filter(auditor__is_machine=True)


class Review(models.Model):
    """One auditor's pass over one narrative version. A draft until it is submitted."""

    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="reviews")
    auditor = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="reviews")
    # The name of a rubric of the project, or of one that comes with Rejudge:
    # `audit.reviews.rubrics`.
    rubric = models.CharField(max_length=60)
    started_at = models.DateTimeField(default=timezone.now)
    submitted_at = models.DateTimeField(null=True, blank=True)

    objects = ReviewQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="review_once_per_auditor", fields=["narrative", "auditor"]
            ),
        ]

    def __str__(self) -> str:
        return f"review {self.pk}"


class ReviewedText(models.Model):
    """The text version of a document that the review page offered beside the instruction.

    Inserted when the review is submitted. A review rates the instruction, so a newer text of a
    document does not make it stale.
    """

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="texts")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    text_version = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="reviewed_text_once_per_document", fields=["review", "document"]
            ),
            models.CheckConstraint(
                name="reviewed_text_has_a_version", condition=Q(text_version__gte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"text {self.text_version} of document {self.document_id}"


class RatingQuerySet(models.QuerySet["Rating"]):
    """Answers of reviews."""

    def of_people(self) -> RatingQuerySet:
        """Answers of people; those of machines are never counted among them."""
        return self.filter(review__auditor__is_machine=False)


class Rating(models.Model):
    """The answer to one criterion. Without a level while only its words are written, in a draft."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="ratings")
    # Key and value, as the rubric of the review has them.
    criterion = models.CharField(max_length=40)
    level = models.CharField(max_length=20, blank=True)
    # What the rubric says of the level, so that queries need not know it: where on the scale it
    # stands, 0 for the best, and whether it rejects.
    place = models.PositiveSmallIntegerField(null=True, blank=True)
    rejects = models.BooleanField(null=True, blank=True)
    words = models.TextField(blank=True)

    objects = RatingQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="rating_once_per_criterion", fields=["review", "criterion"]
            ),
            models.CheckConstraint(name="rating_names_a_criterion", condition=~Q(criterion="")),
            models.CheckConstraint(
                name="rating_level_has_a_place",
                condition=Q(level="", place__isnull=True, rejects__isnull=True)
                | (~Q(level="") & Q(place__isnull=False, rejects__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.criterion}: {self.level}"


class DecisionQuerySet(models.QuerySet["Decision"]):
    """What was decided about instructions."""

    def current(self) -> DecisionQuerySet:
        """Decisions that stand."""
        return self.filter(withdrawn_at__isnull=True)


class Decision(models.Model):
    """What becomes of one narrative version: accepted, sent back, or removed."""

    class Outcome(models.TextChoices):
        """What was decided."""

        ACCEPTED = "accepted", _("Accepted")
        REVISE = "revise", _("Sent back for revision")
        REMOVED = "removed", _("Removed")

    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="decisions")
    outcome = models.CharField(max_length=10, choices=Outcome)
    reason = models.TextField(blank=True)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="decisions")
    at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = DecisionQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="decision_one_current",
                fields=["narrative"],
                condition=Q(withdrawn_at__isnull=True),
            ),
            # Who sends an instruction back, or removes it, says why.
            models.CheckConstraint(
                name="decision_against_has_a_reason",
                condition=Q(outcome="accepted") | ~Q(reason=""),
            ),
            models.CheckConstraint(
                name="decision_withdrawn_by_and_at",
                condition=Q(withdrawn_at__isnull=True, withdrawn_by__isnull=True)
                | Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.outcome


class Sample(models.Model):
    """Claimed labels that people check: drawn at random, or picked because runs fail on them."""

    class Kind(models.TextChoices):
        """How the labels were chosen."""

        RANDOM = "random", "Drawn at random"
        SUSPECTS = "suspects", "Suspects from runs"

    class Source(models.TextChoices):
        """Whose labels are checked."""

        MACHINE = "machine", "Judgments of a machine"
        CONSENSUS = "consensus", "What people's judgments come to"
        PRIOR = "prior", "Earlier qrels"

    class Stratify(models.TextChoices):
        """What the strata are, which the figures are also given for."""

        NONE = "none", "Nothing: one stratum"
        CATEGORY = "category", "Category of the instruction"
        QUERY = "query", "Query"
        MODEL = "model", "Who wrote the instruction"

    class Per(models.TextChoices):
        """What the number that is drawn is of."""

        STRATUM = "stratum", "of each stratum"
        INSTRUCTION = "instruction", "of each instruction"

    class Asks(models.TextChoices):
        """What is claimed, and asked of who checks."""

        GRADE = "grade", "Which grade it is"
        COUNT = "count", "How many conditions it meets"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="samples")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.RANDOM)
    source = models.CharField(max_length=10, choices=Source)
    # The machine whose judgments are checked.
    rater = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # Whether only what is claimed to be relevant was looked at.
    relevant_only = models.BooleanField(default=False)
    asks = models.CharField(max_length=10, choices=Asks, default=Asks.GRADE)
    stratify = models.CharField(max_length=10, choices=Stratify, default=Stratify.NONE)
    seed = models.PositiveBigIntegerField(null=True, blank=True)
    per = models.CharField(max_length=12, choices=Per, default=Per.STRATUM)
    size = models.PositiveIntegerField(null=True, blank=True)
    # Whether a stratum (or instruction) that has fewer gave what it has.
    fewer = models.BooleanField(default=False)
    # Of suspects: what at least so many of these runs do not rank so high, or score lower.
    at_least = models.PositiveSmallIntegerField(null=True, blank=True)
    depth = models.PositiveIntegerField(null=True, blank=True)
    below = models.FloatField(null=True, blank=True)
    runs: models.ManyToManyField[Run, Any] = models.ManyToManyField(
        Run, blank=True, related_name="+"
    )
    # How many claims there were to draw from, for each stratum: {"C1": 512}.
    frame: models.JSONField[dict[str, int], dict[str, int]] = models.JSONField(default=dict)
    shows_claim = models.BooleanField(default=False)
    created_by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="sample_name_once_per_project", fields=["project", "name"]
            ),
            models.CheckConstraint(name="sample_has_a_name", condition=~Q(name="")),
            models.CheckConstraint(
                name="sample_of_a_machine_names_it",
                condition=Q(source="machine", rater__isnull=False)
                | (~Q(source="machine") & Q(rater__isnull=True)),
            ),
            # What is drawn has a seed and a number, what is picked the rule by which it was.
            models.CheckConstraint(
                name="sample_says_how_it_was_made",
                condition=Q(
                    kind="random",
                    seed__isnull=False,
                    size__gte=1,
                    at_least__isnull=True,
                    depth__isnull=True,
                    below__isnull=True,
                )
                | Q(
                    kind="suspects",
                    seed__isnull=True,
                    size__isnull=True,
                    at_least__gte=1,
                    depth__gte=1,
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Where its figures are, or for who checks the way to the next document."""
        return reverse("audit:sample", args=[self.pk])


class SampleItem(models.Model):
    """One claimed label to check: a document under the narrative it was claimed under."""

    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="items")
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="+")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="+")
    # As it was when the sample was made, whatever is said since.
    claimed = models.IntegerField()
    stratum = models.CharField(max_length=255, blank=True)
    # Of a suspect: how many of the runs that have its query fail to rank it.
    missed = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="sample_item_once", fields=["sample", "narrative", "candidate"]
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.pk}"


class CheckQuerySet(models.QuerySet["Check"]):
    """What checkers said."""

    def current(self) -> CheckQuerySet:
        """What each says now of the newest text."""
        return self.filter(superseded_at__isnull=True, text_replaced_at__isnull=True)


class Check(ReadsText):
    """What one person says of a claimed label. The first two are blind; a third settles."""

    # The place of whoever settles what the first two differ on.
    SETTLES: ClassVar[int] = 3

    # Made by whoever sends it, so that sending twice changes nothing.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    item = models.ForeignKey(SampleItem, on_delete=models.PROTECT, related_name="checks")
    checker = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="checks")
    place = models.PositiveSmallIntegerField()
    # The grade; of a sample that asks for conditions, how many are met. Null: one cannot judge it.
    relevance = models.IntegerField(null=True, blank=True)
    cannot_judge = models.BooleanField(default=False)
    # Answers by the key of the condition: {"7": "met"}.
    verdicts: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(
        default=dict, blank=True
    )
    words = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now)
    # Current while null. Set when the checker said something else, or took it back.
    superseded_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = CheckQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            # The referees: one current check of a person on an item, so that who settles is a third
            # person, and one in each place, so that there are never more than two and a third.
            models.UniqueConstraint(
                name="check_one_current",
                fields=["item", "checker"],
                condition=Q(superseded_at__isnull=True, text_replaced_at__isnull=True),
            ),
            models.UniqueConstraint(
                name="check_place_taken_once",
                fields=["item", "place"],
                condition=Q(superseded_at__isnull=True, text_replaced_at__isnull=True),
            ),
            # Whoever cannot judge gives no grade, and everybody else does.
            models.CheckConstraint(
                name="check_grade_or_cannot_judge",
                condition=Q(cannot_judge=True, relevance__isnull=True)
                | Q(cannot_judge=False, relevance__isnull=False),
            ),
            models.CheckConstraint(name="check_places_1_to_3", condition=Q(place__range=(1, 3))),
            models.CheckConstraint(
                name="check_withdrawn_is_superseded",
                condition=Q(withdrawn_at__isnull=True) | Q(superseded_at__isnull=False),
            ),
        ]
        indexes: ClassVar = [
            # What a person said last, to take it back.
            models.Index(fields=["checker", "-at"], name="check_history"),
        ]

    def __str__(self) -> str:
        return f"check {self.pk}"

    def answers(self) -> dict[int, str]:
        """Answers by the key of the condition."""
        return {int(condition): answer for condition, answer in self.verdicts.items()}


class Reveal(models.Model):
    """Someone looked up who had said what of something that people differ on: a fact."""

    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="+")
    # Null: who reviewed the narrative; else who judged this document under it.
    candidate = models.ForeignKey(
        Candidate, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # Who checked this claimed label.
    item = models.ForeignKey(
        SampleItem, null=True, blank=True, on_delete=models.PROTECT, related_name="reveals"
    )
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="reveals")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            # Once a person: who looks again has seen it.
            models.UniqueConstraint(
                name="reveal_of_auditors_once",
                fields=["by", "narrative"],
                condition=Q(candidate__isnull=True),
            ),
            models.UniqueConstraint(
                name="reveal_of_judges_once",
                fields=["by", "narrative", "candidate"],
                condition=Q(candidate__isnull=False, item__isnull=True),
            ),
            models.UniqueConstraint(
                name="reveal_of_checkers_once",
                fields=["by", "item"],
                condition=Q(item__isnull=False),
            ),
            models.CheckConstraint(
                name="reveal_of_a_label_names_its_document",
                condition=Q(item__isnull=True) | Q(candidate__isnull=False),
            ),
        ]
        indexes: ClassVar = [
            # Those of one disagreement.
            models.Index(fields=["narrative", "candidate"], name="reveal_of"),
        ]

    def __str__(self) -> str:
        return f"reveal {self.pk}"


class AgreementReportQuerySet(models.QuerySet["AgreementReport"]):
    """Reports of agreement."""

    def of(self, scope: str) -> AgreementReportQuerySet:
        """Those of one part of a project, as `audit.reports.scopes` writes it; "" is the whole.
        Without those that compare it with another.
        """
        return self.filter(scope=scope, compares=False)

    def computed(self) -> AgreementReportQuerySet:
        """Those that have figures, the newest first."""
        return self.filter(state=Job.State.DONE, figures__isnull=False).order_by("-pk")


class AgreementReport(Job):
    """Agreement in a project or a part of it, computed at one moment, with what it was computed
    on.
    """

    task: ClassVar[str] = "audit.agreement"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="agreement_reports")
    # The part of the project it is of, as `audit.reports.scopes` writes it; "" is the whole.
    scope = models.TextField(blank=True, default="")
    # Whether it is compared with another part, and which; "" is the whole there too.
    compares = models.BooleanField(default=False)
    against = models.TextField(blank=True, default="")
    seed = models.PositiveIntegerField(default=SEED)
    resamples = models.PositiveIntegerField(default=RESAMPLES)
    code_version = models.CharField(max_length=40, blank=True)
    # Of everything that was counted: the same answers have the same sum.
    sha256 = models.CharField(max_length=64, blank=True, default="")
    # As `audit.reports.reliability.agreement_of` returns it; null until computed.
    figures: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )

    objects = AgreementReportQuerySet.as_manager()

    class Meta(Job.Meta):
        abstract = False
        indexes: ClassVar = [
            # The newest report of a project.
            models.Index(fields=["project", "-id"], name="report_newest"),
        ]

    def __str__(self) -> str:
        return f"agreement report {self.pk}"

    def get_absolute_url(self) -> str:
        """Where the newest report of the same part of its project is shown."""
        if self.compares:
            where = reverse("audit:agreement_comparison", args=[self.project.slug])
            return f"{where}?{urlencode({'of': self.scope, 'against': self.against})}"
        where = reverse("audit:agreement", args=[self.project.slug])
        return f"{where}?{self.scope}" if self.scope else where
