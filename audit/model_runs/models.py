"""Language models as raters: how they are reached, what they are asked, and each call."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project
from base.constraints import at_and_by
from jobs.models import Job


class Endpoint(models.Model):
    """A model of a server that the administrator allows, and how a project asks it.

    A row never changes, so that a run can be repeated: another temperature is another endpoint. Its
    address and key are the administrator's settings and in no row.
    """

    class LimitField(models.TextChoices):
        """How a server calls the limit of an answer."""

        MAX_TOKENS = "max_tokens", "max_tokens"
        MAX_COMPLETION_TOKENS = "max_completion_tokens", "max_completion_tokens"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="endpoints")
    # The name of the server in the settings.
    server = models.CharField(max_length=60)
    model = models.CharField(max_length=120)
    # Null: not sent, because some models refuse it.
    temperature = models.FloatField(null=True, blank=True, default=0.0)
    seed = models.PositiveIntegerField(null=True, blank=True)
    # The most tokens of one answer, and the field of a request that says so.
    max_tokens = models.PositiveIntegerField(default=1_024)
    limit_field = models.CharField(max_length=30, choices=LimitField, default=LimitField.MAX_TOKENS)
    # What a million tokens cost; null: unknown.
    prompt_price = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)
    completion_price = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)
    # What all runs together may use.
    most_tokens = models.PositiveBigIntegerField()
    most_cost = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    # How many requests are sent at once, and in a minute; null: as many as the server answers.
    concurrency = models.PositiveSmallIntegerField(default=4)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    tokens_per_minute = models.PositiveBigIntegerField(null=True, blank=True)
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField(default=timezone.now)
    removed_at = models.DateTimeField(null=True, blank=True)
    removed_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                name="endpoint_both_prices_or_none",
                condition=Q(prompt_price__isnull=True, completion_price__isnull=True)
                | Q(prompt_price__isnull=False, completion_price__isnull=False),
            ),
            # A cost that is unknown cannot be limited; one that is known is limited.
            models.CheckConstraint(
                name="endpoint_limits_a_known_cost",
                condition=Q(prompt_price__isnull=True, most_cost__isnull=True)
                | Q(prompt_price__isnull=False, most_cost__isnull=False),
            ),
            models.CheckConstraint(
                name="endpoint_sends_at_least_one_at_once", condition=Q(concurrency__gte=1)
            ),
            at_and_by("endpoint_removed_at_and_by", "removed"),
        ]

    def __str__(self) -> str:
        details = [self.server]
        if self.temperature is not None:
            details.append(f"temperature {self.temperature:g}")
        if self.seed is not None:
            details.append(f"seed {self.seed}")
        return f"{self.model} ({', '.join(details)})"


class Prompt(models.Model):
    """One version of what a project asks a model. It never changes: a new text is a new version."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="prompts")
    version = models.PositiveIntegerField()
    text = models.TextField()
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="prompt_version_once", fields=["project", "version"]),
        ]

    def __str__(self) -> str:
        return f"prompt {self.version}"

    @property
    def is_saved(self) -> bool:
        """Whether it is a row; the shipped text is one once it was used or replaced."""
        return not self._state.adding


class ModelRun(Job):
    """A model grades documents under the narratives that people judge.

    Its grades are judgments of a machine, one for each model and version of the prompt.
    """

    class Documents(models.TextChoices):
        """Which documents are graded."""

        JUDGED = "judged", "Documents that people have judged"
        UNJUDGED = "unjudged", "Documents that nobody has judged"
        ALL = "all", "All documents to judge"

    KIND: ClassVar[str] = "model_run"
    WORK: ClassVar[str] = "audit.model_runs.grading.grade_documents"
    TITLE: ClassVar[str] = "Asking the model"
    WHEN_CANCELLED: ClassVar[str] = (
        "No grade was written. What was answered is kept, and is not asked or paid again."
    )

    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="runs")
    prompt = models.ForeignKey(Prompt, on_delete=models.PROTECT, related_name="runs")
    # The name of the machine whose judgments its grades become.
    machine = models.CharField(max_length=150)
    documents = models.CharField(max_length=10, choices=Documents, default=Documents.JUDGED)
    # How many of them are drawn, by this seed; null: all.
    drawn = models.PositiveIntegerField(null=True, blank=True)
    draw_seed = models.PositiveIntegerField()
    # How often each document is asked about; the first answer counts.
    samples = models.PositiveSmallIntegerField(default=1)
    # What this run may use.
    most_tokens = models.PositiveBigIntegerField()
    most_cost = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    # Why it ended before every document was asked about; "" if it did not.
    stopped = models.TextField(blank=True, default="")
    code_version = models.CharField(max_length=40, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                name="model_run_asks_at_least_once", condition=Q(samples__gte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.machine}"

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("audit:model_run", args=[self.project.slug, self.pk])

    def why_not_retryable(self) -> str:
        """Return why the failed run cannot be retried, as a sentence; "" if it can."""
        if self.endpoint.removed_at is not None:
            return "This model is no longer in use."
        runs = ModelRun.objects.filter(project=self.project_id, state__in=self.UNDER_WAY)
        return "Another run is under way in this project." if runs.exists() else ""


# How a call ended: with a value, without one for a reason, or nobody recorded it: it may be paid.
IS_ANSWERED = Q(value__isnull=False)
IS_FAILED = Q(answered_at__isnull=False, value__isnull=True)
IS_IN_DOUBT = Q(answered_at__isnull=True)


class CallQuerySet(models.QuerySet["Call"]):
    """Calls of models."""

    def answered(self) -> CallQuerySet:
        """Return the calls that brought a value."""
        return self.filter(IS_ANSWERED)

    def failed(self) -> CallQuerySet:
        """Return the calls that ended without a value."""
        return self.filter(IS_FAILED)

    def in_doubt(self) -> CallQuerySet:
        """Return the calls that were sent and whose end nobody recorded."""
        return self.filter(IS_IN_DOUBT)


class Call(models.Model):
    """One question to a model: what was sent, what came back, and what it cost.

    The row is written before the question is sent and completed once, when its answer is there;
    triggers refuse every later change. One that was never completed is in doubt.
    """

    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    run = models.ForeignKey(ModelRun, on_delete=models.PROTECT, related_name="calls")
    narrative = models.ForeignKey(Narrative, on_delete=models.PROTECT, related_name="+")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="+")
    text_version = models.PositiveIntegerField()
    # 1 to the run's number of samples.
    sample = models.PositiveSmallIntegerField(default=1)
    # Of the canonical request and the sample: the same key has the same answer.
    key = models.CharField(max_length=64)
    # The body of the first request, without a key.
    request: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField()
    # What was reserved for it: an answer whose tokens nobody counted is counted with these.
    reserved_tokens = models.PositiveIntegerField()
    reserved_cost = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    sent_at = models.DateTimeField(default=timezone.now)
    answered_at = models.DateTimeField(null=True, blank=True)
    # The call whose answer was used again, unpaid.
    cached_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="used_again"
    )
    # All that the model said, in order: a second text answers the question what was wrong.
    replies: models.JSONField[list[str], list[str]] = models.JSONField(default=list, blank=True)
    # The answer that matches the schema; null if there is none.
    value: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True
    )
    # Where the quote stands in the text, as in judgments: [{"start": 10, "end": 42}].
    evidence: models.JSONField[list[dict[str, int]], list[dict[str, int]]] = models.JSONField(
        default=list, blank=True
    )
    # What a reader of the grade must know: a quote that does not occur, a document that was cut.
    remarks: models.JSONField[list[str], list[str]] = models.JSONField(default=list, blank=True)
    # Why there is no answer: a kind of `llm.answers.FailureKind`, and a sentence.
    failure = models.CharField(max_length=30, blank=True)
    reason = models.TextField(blank=True)
    # The model as the server names it.
    model = models.CharField(max_length=200, blank=True)
    # As the server counts them; null if it does not.
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    milliseconds = models.PositiveIntegerField(null=True, blank=True)

    objects = CallQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="call_answered_once_in_a_run",
                fields=["run", "narrative", "candidate", "sample"],
                condition=IS_ANSWERED,
            ),
            models.CheckConstraint(
                name="call_ends_with_a_value_or_a_reason",
                condition=Q(answered_at__isnull=True, value__isnull=True, failure="")
                | Q(answered_at__isnull=False, value__isnull=False, failure="")
                | Q(answered_at__isnull=False, value__isnull=True) & ~Q(failure="") & ~Q(reason=""),
            ),
            models.CheckConstraint(
                name="call_never_answers_itself",
                condition=Q(cached_from__isnull=True) | ~Q(cached_from=F("id")),
            ),
        ]
        indexes: ClassVar = [
            # The answer that was paid for a request.
            models.Index(fields=["key"], name="call_key", condition=IS_ANSWERED),
        ]

    def __str__(self) -> str:
        return f"call {self.pk}"

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("audit:model_call", args=[self.run.project.slug, self.pk])

    @property
    def counted_tokens(self) -> int:
        """The tokens that count against limits: as the server counts them, or as reserved."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return self.reserved_tokens
        return self.prompt_tokens + self.completion_tokens

    @property
    def counted_cost(self) -> Decimal:
        """The cost that counts against limits; 0 without prices."""
        return (self.reserved_cost if self.cost is None else self.cost) or Decimal(0)

    @property
    def grade(self) -> int | None:
        """The grade that the model gave; None without an answer."""
        return None if self.value is None else int(self.value["grade"])
