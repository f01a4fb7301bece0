"""Models of people's answers on documents: judgments, flags, repeats, and decisions on them."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar, Self, TypeVar

from django.db import models
from django.db.models import Case, Count, F, OuterRef, Q, Subquery, Sum, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotate.collection.models import Candidate, Query, ReadsText
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Guideline, Membership
from base.constraints import at_and_by

Answer = TypeVar("Answer", bound="Statement")
Decision = TypeVar("Decision", bound="SettlingDecision")

# What tells the three kinds of statements apart. Every index that serves one kind has the same
# condition as the queries of its manager, or the databases would not use it.
IS_JUDGMENT = Q(repeat=False, relevance__isnull=False)
IS_FLAG = Q(repeat=False, relevance__isnull=True)
IS_REPEAT = Q(repeat=True)
IS_CURRENT = Q(ended_at__isnull=True, text_replaced_at__isnull=True)
IS_EARLIER_WITH_TIME = Q(
    ended_at__isnull=False, text_replaced_at__isnull=True, active_ms__isnull=False
)


class StatementQuerySet(models.QuerySet[Answer]):
    """Statements of any kind, or of one."""

    def current(self) -> Self:
        """Return each person's current statements on the newest text."""
        return self.filter(ended_at__isnull=True, text_replaced_at__isnull=True)

    def not_superseded(self) -> Self:
        """Return each annotator's last statement on each text version they read."""
        return self.filter(ended_at__isnull=True)

    def final(self) -> Self:
        """Return the answers to documents: grades, and flags other than "later"; no repeats."""
        return self.filter(repeat=False).exclude(flag=Statement.FlagKind.LATER)

    def with_time(self) -> Self:
        """Annotate current grades with `time_ms`, the active time with the document: of the grade
        and of all that its author answered before on the same text, withdrawn answers too.

        So a note that is added later adds its time to the document's, and is no second judgment.
        Null if no time is known, and for flags.
        """
        earlier = (
            Statement.objects.filter(
                IS_EARLIER_WITH_TIME,
                narrative=OuterRef("narrative"),
                candidate=OuterRef("candidate"),
                annotator=OuterRef("annotator"),
                repeat=OuterRef("repeat"),
            )
            .order_by()
            .values("narrative")
            .annotate(total=Sum("active_ms"))
            .values("total")
        )
        total = Coalesce(F("active_ms") + Subquery(earlier), Subquery(earlier), F("active_ms"))
        return self.annotate(time_ms=Case(When(relevance__isnull=False, then=total)))

    def of_people(self) -> Self:
        """Leave out machines, which never count as people."""
        return self.filter(annotator__is_machine=False)


class Statement(ReadsText):
    """What one person said about one candidate under one narrative version and text version.

    It is a grade (`relevance`) or a flag instead. A repeat is the answer to a document that was
    shown to the same person a second time: it never changes the first answer and counts only for
    intra-annotator agreement. An unjudged candidate has no row.

    `Judgment`, `Flag` and `Repeat` are the rows of one kind: whoever counts reads one of them.
    """

    class FlagKind(models.TextChoices):
        """Why there is no grade."""

        LATER = "later", "Later"
        CANNOT_JUDGE = "cannot_judge", "Cannot judge"
        PROBLEM = "problem", "Problem with this document"

    class Pressed(models.TextChoices):
        """How the grade was given on the page."""

        KEY = "key", "A key"
        CLICK = "click", "A click"

    class Source(models.TextChoices):
        """How the statement was entered."""

        PAGE = "page", "Entered here"
        FILE = "file", "Loaded from a file"

    # How a grade was given: this decides nothing, and flags have none of it.
    HOW: ClassVar = ("active_ms", "pressed")
    # The fields that a statement consists of, in the order in which they are hashed.
    CONTENT: ClassVar = ("relevance", "note", "evidence", "clauses", "verdicts", *HOW)
    # The active time of some answers, and how many of them have any, to annotate.
    ACTIVE: ClassVar = {"active": Sum("active_ms"), "number_with_active": Count("active_ms")}
    # The same with whole documents, to annotate `with_time()`.
    EFFORT: ClassVar = {"milliseconds": Sum("time_ms"), "timed": Count("time_ms")}

    # Made by the sender, so that sending it twice changes nothing.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="statements")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="statements")
    annotator = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="statements")
    at = models.DateTimeField(default=timezone.now)
    # When it was given, by the browser's clock: earlier than `at` if the network was down.
    made_at = models.DateTimeField(null=True, blank=True)
    # Null while it is the person's last statement of its text version. Set when they answered
    # again, or withdrew it.
    ended_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    source = models.CharField(max_length=10, choices=Source, default=Source.PAGE)
    # The statement that this one superseded: undoing this one restores it.
    replaces = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="replaced_by"
    )
    # Whether the document was shown a second time, unannounced.
    repeat = models.BooleanField(default=False)
    # Of a repeat: the person's judgment of the document that was current when they answered the
    # repeat. Null if there was none: then it is their current judgment of the document.
    first = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="repeats"
    )

    relevance = models.IntegerField(null=True, blank=True)
    flag = models.CharField(max_length=20, choices=FlagKind, blank=True)
    # With a grade, or the words with a flag.
    note = models.TextField(blank=True)
    # Spans that decided: [{"start": 10, "end": 42}], offsets in characters of the stored text.
    evidence = models.JSONField(default=list, blank=True)
    # Spans of the narrative that decided, in the same shape: offsets in characters of its text.
    clauses = models.JSONField(default=list, blank=True)
    # Active time with the document on the screen, in milliseconds; time away does not count.
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    pressed = models.CharField(max_length=10, choices=Pressed, blank=True)

    # Annotated by `with_time`.
    time_ms: int | None

    objects = StatementQuerySet["Statement"].as_manager()

    class Meta:
        constraints: ClassVar = [
            # One is current, and one is the last under each older text version: a grade or a flag.
            models.UniqueConstraint(
                name="statement_one_current",
                fields=["narrative", "candidate", "annotator", "repeat"],
                condition=IS_CURRENT,
            ),
            models.UniqueConstraint(
                name="statement_one_of_older_text",
                fields=["narrative", "candidate", "annotator", "repeat", "text_version"],
                condition=Q(ended_at__isnull=True, text_replaced_at__isnull=False),
            ),
            models.CheckConstraint(
                name="statement_withdrawn_is_ended",
                condition=Q(withdrawn_at__isnull=True) | Q(ended_at__isnull=False),
            ),
            models.CheckConstraint(
                name="statement_is_a_grade_or_a_flag",
                condition=Q(relevance__isnull=False, flag="")
                | (Q(relevance__isnull=True) & ~Q(flag="")),
            ),
            models.CheckConstraint(
                name="statement_never_replaces_itself",
                condition=Q(replaces__isnull=True) | ~Q(replaces=F("id")),
            ),
            models.CheckConstraint(
                name="statement_only_repeats_have_a_first",
                condition=Q(first__isnull=True) | Q(repeat=True),
            ),
        ]
        indexes: ClassVar = [
            # One annotator's statements under one narrative, newest last: for "previous" and undo.
            models.Index(fields=["narrative", "annotator", "at"], name="statement_history"),
            # When a member last judged on a page, and whether they have judgments from a file.
            models.Index(
                fields=["annotator", "source", "at"],
                name="judgment_last_of_person",
                condition=IS_JUDGMENT,
            ),
            # Counts of answers and the queue of disagreements: covers every column that they group
            # or add up, and the columns that SQLite reads for the condition.
            models.Index(
                fields=[
                    *("narrative", "candidate", "annotator", "relevance", "at"),
                    *("active_ms", "ended_at", "text_replaced_at", "repeat"),
                ],
                name="judgment_differing",
                condition=IS_JUDGMENT & IS_CURRENT,
            ),
            # The time of answers that others replaced, which is added to that of the document.
            # Without it PostgreSQL takes 8 seconds for the pace of 200,000 judgments.
            models.Index(
                fields=["narrative", "candidate", "annotator", "repeat", "active_ms"],
                name="statement_earlier_time",
                condition=IS_EARLIER_WITH_TIME,
            ),
            # Flags and repeats are few: found without reading the judgments between them.
            models.Index(fields=["narrative", "flag"], name="flag_under", condition=IS_FLAG),
            models.Index(fields=["annotator", "flag"], name="flag_of_person", condition=IS_FLAG),
            models.Index(
                fields=["narrative", "annotator"], name="repeat_under", condition=IS_REPEAT
            ),
            models.Index(fields=["annotator"], name="repeat_of_person", condition=IS_REPEAT),
        ]

    def __str__(self) -> str:
        return f"statement {self.pk}"

    @property
    def answer(self) -> int | str:
        """The grade, or the kind of flag."""
        return self.flag if self.relevance is None else self.relevance

    @property
    def is_final(self) -> bool:
        """Whether the document needs no further answer: it is a grade, or no flag "later"."""
        return self.flag != self.FlagKind.LATER

    @property
    def is_judgment(self) -> bool:
        """Whether it is a grade that counts."""
        return self.relevance is not None and not self.repeat

    @property
    def is_current(self) -> bool:
        """Whether it is its annotator's current statement on the newest text."""
        return self.ended_at is None and self.text_replaced_at is None

    @property
    def seconds(self) -> float | None:
        """The active time with the document, of a row of `with_time`; None if it is not known."""
        return None if self.time_ms is None else self.time_ms / 1_000

    def answers(self) -> dict[int, str]:
        """Return the answers by condition key; prefetched verdicts are not queried again."""
        return {verdict.condition_id: verdict.answer for verdict in self.verdicts.all()}


_StatementManager = models.Manager.from_queryset(StatementQuerySet)


class KindManager(_StatementManager[Answer]):
    """Manager of the statements of one kind."""

    kind: ClassVar[Q]

    def get_queryset(self) -> models.QuerySet[Answer]:
        """Return the statements of this kind."""
        return super().get_queryset().filter(self.kind)


class JudgmentManager(KindManager["Judgment"]):
    """Manager of the judgments: no flags, and no answers to repeats."""

    kind = IS_JUDGMENT


class Judgment(Statement):
    """A grade that counts."""

    # Never null in these rows.
    relevance: models.IntegerField[int, int]

    objects: ClassVar[JudgmentManager] = JudgmentManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return f"judgment {self.pk}"


class FlagManager(KindManager["Flag"]):
    """Manager of the flags, without those on repeats."""

    kind = IS_FLAG


class Flag(Statement):
    """A statement instead of a grade. It is not a grade."""

    Kind = Statement.FlagKind

    objects: ClassVar[FlagManager] = FlagManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return self.flag


class RepeatManager(KindManager["Repeat"]):
    """Manager of the answers to repeats, grades and flags alike."""

    kind = IS_REPEAT


class Repeat(Statement):
    """The answer to a repeat: a grade, or a flag instead."""

    objects: ClassVar[RepeatManager] = RepeatManager()

    class Meta:
        proxy = True

    def __str__(self) -> str:
        return f"repeat {self.pk}"


class VerdictQuerySet(models.QuerySet["Verdict"]):
    """Answers to conditions."""

    def of_judgments(self) -> VerdictQuerySet:
        """Leave out the answers in repeats, which never count as judgments."""
        return self.filter(statement__repeat=False)

    def current(self) -> VerdictQuerySet:
        """Return the answers in current judgments of the newest texts."""
        return self.of_judgments().filter(
            statement__ended_at__isnull=True, statement__text_replaced_at__isnull=True
        )

    def of_people(self) -> VerdictQuerySet:
        """Return the answers of people, without those of machines."""
        return self.filter(statement__annotator__is_machine=False)


class Verdict(models.Model):
    """A grade's answer to one condition of its narrative."""

    class Answer(models.TextChoices):
        """Whether the document meets the condition."""

        MET = "met", "Met"
        NOT_MET = "not_met", "Not met"
        CANT_TELL = "cant_tell", "Can't tell"

    statement = models.ForeignKey(Statement, on_delete=models.PROTECT, related_name="verdicts")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="verdicts")
    answer = models.CharField(max_length=10, choices=Answer)

    objects = VerdictQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="verdict_once_per_condition", fields=["statement", "condition"]
            ),
        ]

    def __str__(self) -> str:
        return self.answer


class DecisionQuerySet(models.QuerySet[Decision]):
    """Settling decisions of one kind."""

    def current(self) -> Self:
        """Return the decisions that are not withdrawn, on the newest text."""
        return self.filter(withdrawn_at__isnull=True, text_replaced_at__isnull=True)

    def values_by_question(self) -> dict[tuple[int, int], Any]:
        """Return what was decided, by the keys of the narrative or condition and the candidate."""
        rows = self.values_list(*self.model.QUESTION, self.model.VALUE)
        return {(question, candidate): value for question, candidate, value in rows}


class SettlingDecision(ReadsText):
    """A lead's decision on what judges differ about. It never edits the judges' rows.

    Decisions on documents and on conditions are two tables: so none has a value that may be null,
    and no count of settled documents has to leave out conditions.
    """

    class Cause(models.TextChoices):
        """Why the judges differed."""

        AMBIGUOUS = "ambiguous", "Ambiguous text"
        GUIDELINE = "guideline", "Gap in the guidelines"
        ERROR = "error", "Annotator's error"
        EDGE = "edge", "Edge case"

    # The columns of what judges differ about, of which one decision is current; that of its value.
    QUESTION: ClassVar[tuple[str, str]]
    VALUE: ClassVar[str]

    # Made by the page that decides: a decision that is sent twice counts once.
    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="%(class)ss")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="%(class)ss")
    reason = models.TextField()
    cause = models.CharField(max_length=20, choices=Cause)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="%(class)ss")
    at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        abstract = True
        constraints: ClassVar = [
            models.CheckConstraint(name="%(class)s_has_a_reason", condition=~Q(reason="")),
            at_and_by("%(class)s_withdrawn_by_and_at", "withdrawn"),
        ]


class Adjudication(SettlingDecision):
    """The settling decision on one candidate."""

    QUESTION = ("narrative_id", "candidate_id")
    VALUE = "relevance"

    relevance = models.IntegerField()
    # Set if it was settled together with others; a batch can be withdrawn as a whole.
    batch = models.UUIDField(null=True, blank=True)

    objects = DecisionQuerySet["Adjudication"].as_manager()

    class Meta(SettlingDecision.Meta):
        constraints: ClassVar = [
            *SettlingDecision.Meta.constraints,
            models.UniqueConstraint(
                name="adjudication_one_current",
                fields=["narrative", "candidate"],
                condition=Q(withdrawn_at__isnull=True, text_replaced_at__isnull=True),
            ),
        ]
        indexes: ClassVar = [
            # Finds all decisions of a batch, to withdraw them; most decisions have no batch.
            models.Index(
                fields=["batch"],
                name="adjudication_of_batch",
                condition=Q(batch__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"adjudication {self.pk}"


class ConditionAdjudication(SettlingDecision):
    """The settling decision on whether a candidate meets a condition of its narrative."""

    QUESTION = ("condition_id", "candidate_id")
    VALUE = "answer"

    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="adjudications")
    answer = models.CharField(max_length=10, choices=Verdict.Answer)

    objects = DecisionQuerySet["ConditionAdjudication"].as_manager()

    class Meta(SettlingDecision.Meta):
        constraints: ClassVar = [
            *SettlingDecision.Meta.constraints,
            models.UniqueConstraint(
                name="condition_adjudication_one_current",
                fields=["condition", "candidate"],
                condition=Q(withdrawn_at__isnull=True, text_replaced_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"condition adjudication {self.pk}"


class RejudgeRequestQuerySet(models.QuerySet["RejudgeRequest"]):
    """Rejudge requests."""

    def not_withdrawn(self) -> RejudgeRequestQuerySet:
        """Return the requests that are not withdrawn, answered or not."""
        return self.filter(withdrawn_at__isnull=True)

    def open(self) -> RejudgeRequestQuerySet:
        """Return the unanswered requests: their answer is still current, on the newest text."""
        return self.not_withdrawn().filter(
            statement__ended_at__isnull=True, statement__text_replaced_at__isnull=True
        )


class RejudgeRequest(models.Model):
    """A lead's request to the author of a judgment or a flag to judge again.

    The answer stays as it is. Any later one by its author, even the same, answers the request.
    """

    statement = models.ForeignKey(Statement, on_delete=models.PROTECT, related_name="asks")
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    words = models.TextField()
    # The version of the guidelines that is the reason for the request, if any.
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
        constraints: ClassVar = [
            # An answer has one request that is not withdrawn; every key press looks for it.
            models.UniqueConstraint(
                name="rejudge_request_once",
                fields=["statement"],
                condition=Q(withdrawn_at__isnull=True),
            ),
            models.CheckConstraint(name="rejudge_request_has_words", condition=~Q(words="")),
            at_and_by("rejudge_request_withdrawn_by_at", "withdrawn"),
        ]

    def __str__(self) -> str:
        return f"rejudge request {self.pk}"


class Revision(models.Model):
    """A random number that changes with every answer or decision under a narrative, and with every
    change to a candidate of a query.

    Database triggers write it in the transaction of the change, whether a page, a file or a command
    makes it. `annotate.judgments.cached_counts` reads it.
    """

    narrative = models.ForeignKey(
        Narrative, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    query = models.ForeignKey(
        Query, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    # The member who answered or settled (0 for a query), so that two members who do so at the same
    # time do not wait for each other.
    source = models.BigIntegerField()
    # 40 bits, because the values of all sources are added up.
    value = models.BigIntegerField()

    class Meta:
        constraints: ClassVar = [
            # The triggers' ON CONFLICT clauses name these.
            models.UniqueConstraint(
                name="revision_once_per_narrative", fields=["narrative", "source"]
            ),
            models.UniqueConstraint(name="revision_once_per_query", fields=["query", "source"]),
            models.CheckConstraint(
                name="revision_is_of_narrative_or_query",
                condition=Q(narrative__isnull=True, query__isnull=False)
                | Q(narrative__isnull=False, query__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"revision {self.pk}"
