"""Models of label checks: samples, their items, and the checks of these."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from annotate.collection.models import Candidate, ReadsText, Run
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project

# Fixed for every report, so that the same rows give the same figures.
SEED = 20_260_101
RESAMPLES = 2_000


class Sample(models.Model):
    """Claimed labels that people check: drawn at random, or picked because runs fail on them, or
    people and a machine differ, or a machine is unsure.
    """

    class Kind(models.TextChoices):
        """How the labels were chosen."""

        RANDOM = "random", "Drawn at random"
        SUSPECTS = "suspects", "Suspects from runs"
        DIFFERING = "differing", "Where people and the machine differ most"
        UNSURE = "unsure", "Where the machine is least sure"

    # The labels of these are checked only by people who are still blind to them.
    SECOND_LOOKS: ClassVar = (Kind.DIFFERING, Kind.UNSURE)

    class Source(models.TextChoices):
        """Whose labels are checked."""

        MACHINE = "machine", "Judgments of a machine"
        CLAIMS = "claims", "Claims that count, of all machines"
        CONSENSUS = "consensus", "What people's judgments come to"
        PRIOR = "prior", "Earlier qrels"
        # The claim is that they stay non-relevant: a narrower narrative adds nothing.
        NEVER = "never", "Earlier non-relevant documents, under the altered narrative"

        @property
        def words(self) -> str:
            """Whose labels they are, on pages: a changed label would need a migration."""
            return "Judgments of people" if self == Sample.Source.CONSENSUS else str(self.label)

    class Stratify(models.TextChoices):
        """How labels are divided into strata; figures are also given per stratum."""

        NONE = "none", "Nothing: one stratum"
        CATEGORY = "category", "Category of the instruction"
        QUERY = "query", "Query"
        DOMAIN = "domain", "Domain of the query"
        MODEL = "model", "Who wrote the instruction"
        LABEL = "label", "What is claimed: complies, violates, off topic"

    class Per(models.TextChoices):
        """Whether the size is per stratum or per instruction."""

        STRATUM = "stratum", "of each stratum"
        INSTRUCTION = "instruction", "of each instruction"

    class Asks(models.TextChoices):
        """What the labels claim and checkers are asked."""

        GRADE = "grade", "Which grade it is"
        COUNT = "count", "How many conditions it meets"
        QUESTIONS = "questions", "Two questions: on topic, and meets the constraint"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="samples")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.RANDOM)
    source = models.CharField(max_length=10, choices=Source)
    # The machine whose judgments are checked.
    rater = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # Whether the sample has only labels claimed to be relevant.
    relevant_only = models.BooleanField(default=False)
    asks = models.CharField(max_length=10, choices=Asks, default=Asks.GRADE)
    # The mode (a side of the narratives) whose labels are checked; "" for all modes.
    side = models.CharField(
        max_length=10, choices=Narrative.Side, blank=True, default="", db_default=""
    )
    stratify = models.CharField(max_length=10, choices=Stratify, default=Stratify.NONE)
    seed = models.PositiveBigIntegerField(null=True, blank=True)
    per = models.CharField(max_length=12, choices=Per, default=Per.STRATUM)
    size = models.PositiveIntegerField(null=True, blank=True)
    # Whether a stratum (or instruction) with fewer labels gave all of them.
    fewer = models.BooleanField(default=False)
    # Suspects only: at least `at_least` of the runs rank the document below `depth`, or score it
    # below `below`, or do not rank it.
    at_least = models.PositiveSmallIntegerField(null=True, blank=True)
    depth = models.PositiveIntegerField(null=True, blank=True)
    below = models.FloatField(null=True, blank=True)
    runs: models.ManyToManyField[Run, Any] = models.ManyToManyField(
        Run, blank=True, related_name="+"
    )
    # How many claims of each grade the frame had, by stratum: {"C1": {"0": 400, "1": 112}}.
    frame_grades: models.JSONField[dict[str, dict[str, int]], dict[str, dict[str, int]]] = (
        models.JSONField(default=dict)
    )
    shows_claim = models.BooleanField(default=False)
    # Whether checkers may read why a document violates its instruction after they answer.
    shows_reason = models.BooleanField(default=False, db_default=False)
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
            # A random sample has a seed and a size, a sample of suspects its rule, a second look
            # the machine and a size.
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
                )
                | Q(
                    kind__in=("differing", "unsure"),
                    source="machine",
                    shows_claim=False,
                    seed__isnull=True,
                    size__isnull=False,
                    size__gte=1,
                    at_least__isnull=True,
                    depth__isnull=True,
                    below__isnull=True,
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the page of the sample: figures for leads, the next label for checkers."""
        return reverse("audit:sample", args=[self.pk])

    def name_for(self, member: Membership) -> str:
        """Return the name that `member` sees: a neutral one if it could reveal a hidden claim."""
        if member.leads or self.shows_claim:
            return self.name
        return f"Sample {self.pk}"

    @property
    def is_second_look(self) -> bool:
        """Whether only people who are still blind to its labels check them."""
        return self.kind in self.SECOND_LOOKS

    @property
    def frame(self) -> dict[str, int]:
        """How many claims the frame had in each stratum: {"C1": 512}."""
        return {stratum: sum(grades.values()) for stratum, grades in self.frame_grades.items()}

    @property
    def source_words(self) -> str:
        """Whose labels are checked, except those of a machine, which has a name."""
        return self.Source(self.source).words


class SampleItem(models.Model):
    """One claimed label to check: a document under the narrative it was claimed under."""

    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="items")
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="+")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="+")
    # The claim when the sample was made; later judgments do not change it.
    claimed = models.IntegerField()
    # What the label claims on the two questions; null if it makes no claim on one.
    claimed_topic = models.BooleanField(null=True, blank=True)
    claimed_constraint = models.BooleanField(null=True, blank=True)
    # Why the document violates the instruction, in the words of the claim's source.
    reason = models.TextField(blank=True, default="", db_default="")
    stratum = models.CharField(max_length=255, blank=True)
    # Suspects only: how many of the runs that have its query miss it.
    missed = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="sample_item_once", fields=["sample", "narrative", "candidate"]
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.pk}"


class Question(models.TextChoices):
    """One of two questions that a sample may ask; the grade follows from both answers."""

    TOPIC = "topic", "On topic"
    CONSTRAINT = "constraint", "Meets the constraint"

    @property
    def column(self) -> str:
        """The field of `Check` that holds its answer."""
        return {"topic": "on_topic", "constraint": "meets_constraint"}[self.value]

    @property
    def sentence(self) -> str:
        """The question as the page asks it."""
        if self is Question.TOPIC:
            return "Is it on the topic of the query?"
        return "Does it meet the constraint of the instruction?"

    @property
    def number(self) -> int:
        """Its number on the page, from 1."""
        return list(type(self)).index(self) + 1


class Reply(models.TextChoices):
    """An answer to a question."""

    YES = "yes", "Yes"
    NO = "no", "No"
    CANT_TELL = "cant_tell", "Can't tell"


# Each answer in words, by question and reply.
IN_WORDS: Mapping[Question, Mapping[str, str]] = {
    Question.TOPIC: {
        Reply.YES: "on topic",
        Reply.NO: "off topic",
        Reply.CANT_TELL: "topic unclear",
    },
    Question.CONSTRAINT: {
        Reply.YES: "meets the constraint",
        Reply.NO: "violates the constraint",
        Reply.CANT_TELL: "constraint unclear",
    },
}


def describe_replies(*replies: str) -> str:
    """Return somebody's answers to the questions in words; "" if they are not asked."""
    answered = zip(Question, replies, strict=False)
    return ", ".join(IN_WORDS[question][reply] for question, reply in answered if reply)


class CheckQuerySet(models.QuerySet["Check"]):
    """Checks of claimed labels."""

    def current(self) -> CheckQuerySet:
        """Return the current checks of the newest texts."""
        return self.filter(ended_at__isnull=True, text_replaced_at__isnull=True)


class Check(ReadsText):
    """One person's answer to a claimed label. The first two are blind; a third settles."""

    # The place of the third person, who settles where the first two differ.
    SETTLES: ClassVar[int] = 3

    # Created by the client, so that sending twice changes nothing.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    item = models.ForeignKey(SampleItem, on_delete=models.PROTECT, related_name="checks")
    checker = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="checks")
    place = models.PositiveSmallIntegerField()
    # The grade; for a sample that asks for conditions, how many are met. Null: cannot judge.
    relevance = models.IntegerField(null=True, blank=True)
    cannot_judge = models.BooleanField(default=False)
    # Answers by the key of the condition: {"7": "met"}.
    verdicts: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(
        default=dict, blank=True
    )
    # Answers to the two questions (`Question`); "" if the sample does not ask them.
    on_topic = models.CharField(max_length=9, choices=Reply, blank=True, default="", db_default="")
    meets_constraint = models.CharField(
        max_length=9, choices=Reply, blank=True, default="", db_default=""
    )
    words = models.TextField(blank=True)
    # When the checker read why the document violates; after that the answer cannot change.
    reason_read_at = models.DateTimeField(null=True, blank=True)
    at = models.DateTimeField(default=timezone.now)
    # Current while null. Set when the checker answers differently or withdraws the answer.
    ended_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = CheckQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            # One current check per person and item, so that the settler is a third person; and one
            # per place, so that an item never has more than two checks and a settlement.
            models.UniqueConstraint(
                name="check_one_current",
                fields=["item", "checker"],
                condition=Q(ended_at__isnull=True, text_replaced_at__isnull=True),
            ),
            models.UniqueConstraint(
                name="check_place_taken_once",
                fields=["item", "place"],
                condition=Q(ended_at__isnull=True, text_replaced_at__isnull=True),
            ),
            # A check has either a grade or "cannot judge".
            models.CheckConstraint(
                name="check_grade_or_cannot_judge",
                condition=Q(cannot_judge=True, relevance__isnull=True)
                | Q(cannot_judge=False, relevance__isnull=False),
            ),
            # Both questions are answered, or neither.
            models.CheckConstraint(
                name="check_answers_both_questions",
                condition=Q(on_topic="", meets_constraint="")
                | (~Q(on_topic="") & ~Q(meets_constraint="")),
            ),
            models.CheckConstraint(name="check_places_1_to_3", condition=Q(place__range=(1, 3))),
            models.CheckConstraint(
                name="check_withdrawn_is_ended",
                condition=Q(withdrawn_at__isnull=True) | Q(ended_at__isnull=False),
            ),
        ]
        indexes: ClassVar = [
            # Finds a person's latest check, for undo.
            models.Index(fields=["checker", "-at"], name="check_history"),
        ]

    def __str__(self) -> str:
        return f"check {self.pk}"

    @property
    def by(self) -> Membership:
        """Who gave it, under the name that other decisions have for who settled."""
        return self.checker

    @property
    def by_id(self) -> int:
        """The key of who gave it."""
        return self.checker_id

    @property
    def replies(self) -> str:
        """The answers to the two questions in words; "" if the sample does not ask them."""
        return describe_replies(self.on_topic, self.meets_constraint)

    def answers(self) -> dict[int, str]:
        """Return the answers by condition key."""
        return {int(condition): answer for condition, answer in self.verdicts.items()}

    def questions(self) -> dict[str, str]:
        """Return the answers to the two questions; empty if the sample does not ask them."""
        if not self.on_topic:
            return {}
        return {question.value: getattr(self, question.column) for question in Question}
