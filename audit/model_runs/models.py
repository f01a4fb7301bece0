"""Language models as raters: how they are reached, what they are asked, and each call."""

from __future__ import annotations

import uuid
from decimal import Decimal
from hashlib import sha256
from typing import Any, ClassVar, cast

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Count, F, Q, Window
from django.db.models.functions import RowNumber
from django.urls import reverse
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Membership, Project
from audit.checks.models import SEED
from base.constraints import at_and_by
from jobs.models import Job
from llm.endpoint import Endpoint as Model
from llm.endpoint import Prices

MAX_SEED = 2**31 - 1
MAX_TOKENS = 10**12
MAX_OUTCOME = 200
# The cost of one call at most has to fit its column.
MAX_PRICE = 10_000


class TaskName(models.TextChoices):
    """What models do; the `ModelTask` of this name says how."""

    GRADE = "grade", "Grade documents"
    CONDITIONS = "conditions", "Check conditions"
    WRITE = "write", "Write instructions"
    CRITICISE = "criticise", "Criticise instructions"
    REVERSE = "reverse", "Write reversed instructions"
    TRAP = "trap", "Write trap documents"


def _price(of: str, help_text: str = "") -> models.DecimalField[Any, Any]:
    return models.DecimalField(
        f"price of a million tokens {of}",
        max_digits=10,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(MAX_PRICE)],
        help_text=help_text,
    )


def _cost_limit(name: str, help_text: str = "") -> models.DecimalField[Any, Any]:
    return models.DecimalField(
        name,
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text=help_text,
    )


class EndpointQuerySet(models.QuerySet["Endpoint"]):
    """Models that projects ask."""

    def in_use(self, project: int) -> EndpointQuerySet:
        """Return those of a project (by its key) that may be asked, in the order of adding."""
        return self.filter(project=project, removed_at=None).order_by("pk")


class Endpoint(models.Model):
    """A model of a server that the administrator allows, and how a project asks it.

    What changes its answers never changes, so that a run can be repeated: another temperature is
    another endpoint. Its address and key are the administrator's settings and in no row.
    """

    # What it may use and how fast it is asked, which a lead may change.
    LIMITS: ClassVar = (
        *("most_tokens", "most_cost", "concurrency"),
        *("requests_per_minute", "tokens_per_minute"),
    )
    # All that a lead chooses, in the order of the form.
    CHOICES: ClassVar = (
        *("server", "model", "temperature", "seed", "max_tokens", "limit_field"),
        *("most_tokens", "prompt_price", "completion_price", "most_cost"),
        *("concurrency", "requests_per_minute", "tokens_per_minute"),
    )

    class LimitField(models.TextChoices):
        """How a server calls the limit of an answer."""

        MAX_TOKENS = "max_tokens", "max_tokens"
        MAX_COMPLETION_TOKENS = "max_completion_tokens", "max_completion_tokens"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="endpoints")
    # The name of the server in the settings.
    server = models.CharField(
        max_length=60, help_text="One of those that the administrator allows."
    )
    model = models.CharField(
        max_length=120, help_text="As the server names it, for example gpt-4.1-mini."
    )
    # Which of the project's endpoints with this name of a model it is, from 1.
    number = models.PositiveIntegerField(default=1, editable=False)
    temperature = models.FloatField(
        null=True,
        blank=True,
        default=0.0,
        validators=[MinValueValidator(0), MaxValueValidator(2)],
        help_text="From 0 to 2; empty for a model that refuses it.",
    )
    seed = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MaxValueValidator(MAX_SEED)],
        help_text="Sent with each request, for servers that know seeds.",
    )
    max_tokens = models.PositiveIntegerField(
        "tokens of an answer, at most",
        default=1_024,
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000)],
    )
    limit_field = models.CharField(
        "how the server calls that limit",
        max_length=30,
        choices=LimitField,
        default=LimitField.MAX_TOKENS,
        help_text="Newer models of some providers know only the longer name.",
    )
    most_tokens = models.PositiveBigIntegerField(
        "tokens of all runs, at most",
        default=10_000_000,
        validators=[MaxValueValidator(MAX_TOKENS)],
        help_text="No call is made that could exceed it.",
    )
    prompt_price = _price("sent", "In your currency; without prices only tokens are counted.")
    completion_price = _price("answered")
    most_cost = _cost_limit("cost of all runs, at most")
    concurrency = models.PositiveSmallIntegerField(
        "requests at once", default=4, validators=[MinValueValidator(1), MaxValueValidator(32)]
    )
    requests_per_minute = models.PositiveIntegerField(
        "requests in a minute, at most",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000)],
    )
    tokens_per_minute = models.PositiveBigIntegerField(
        "tokens in a minute, at most",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_TOKENS)],
    )
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField(default=timezone.now)
    removed_at = models.DateTimeField(null=True, blank=True)
    removed_by = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = EndpointQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                name="endpoint_both_prices_or_none",
                condition=Q(prompt_price__isnull=True, completion_price__isnull=True)
                | Q(prompt_price__isnull=False, completion_price__isnull=False),
                violation_error_message="Give both prices, or none.",
            ),
            # A cost that is unknown cannot be limited; one that is known is limited.
            models.CheckConstraint(
                name="endpoint_limits_a_known_cost",
                condition=Q(prompt_price__isnull=True, most_cost__isnull=True)
                | Q(prompt_price__isnull=False, most_cost__isnull=False),
                violation_error_message="With prices, say what all runs together may cost; "
                "without them, no cost can be limited.",
            ),
            models.CheckConstraint(
                name="endpoint_sends_at_least_one_at_once", condition=Q(concurrency__gte=1)
            ),
            # Two machines of a project never have one name.
            models.UniqueConstraint(
                name="endpoint_number_once", fields=["project", "model", "number"]
            ),
            at_and_by("endpoint_removed_at_and_by", "removed"),
        ]

    def __str__(self) -> str:
        details = [self.server]
        if self.temperature is not None:
            details.append(f"temperature {self.temperature:g}")
        if self.seed is not None:
            details.append(f"seed {self.seed}")
        return f"{self.name} ({', '.join(details)})"

    @property
    def name(self) -> str:
        """The name of the model, with a number from the second endpoint with this name on."""
        return self.model if self.number == 1 else f"{self.model} ({self.number})"

    def reach(self) -> Model:
        """Return how the model is asked at its server, with the key.

        Raise ValueError if the server is no longer in the settings, or a value cannot be sent.
        """
        if self.server not in settings.MODEL_SERVERS:
            raise ValueError(
                f"The server “{self.server}” is not among those that the administrator allows."
            )
        prices = None
        if self.prompt_price is not None and self.completion_price is not None:
            prices = Prices(prompt=self.prompt_price, completion=self.completion_price)
        return Model(
            base_url=settings.MODEL_SERVERS[self.server],
            model=self.model,
            key=settings.MODEL_KEYS.get(self.server, ""),
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            max_tokens_field=cast(Any, self.limit_field),
            prices=prices,
            timeout=60,
            retries=3,
        )


class ProjectBudget(models.Model):
    """What all runs of a project together may use; without a row, or a limit, as much as they want.

    Calls of models without prices count in tokens only.
    """

    project = models.OneToOneField(Project, on_delete=models.PROTECT, related_name="model_budget")
    most_tokens = models.PositiveBigIntegerField(
        "tokens, at most",
        null=True,
        blank=True,
        validators=[MaxValueValidator(MAX_TOKENS)],
        help_text="Empty: only the limits of each model and run hold.",
    )
    most_cost = _cost_limit(
        "cost, at most",
        "In the currency of the prices of your models; models without prices are not counted.",
    )
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return "models of this project"


class Prompt(models.Model):
    """One version of what a project asks models for a task; it never changes.

    The shipped text is a row once it was used or replaced.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="prompts")
    task = models.CharField(max_length=20, choices=TaskName, default=TaskName.GRADE)
    version = models.PositiveIntegerField()
    text = models.TextField()
    by = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="prompt_version_once", fields=["project", "task", "version"]
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_task_display()}, prompt {self.version}"

    def get_absolute_url(self) -> str:
        """Return the address of the page of its task's prompts."""
        return f"{reverse('audit:prompt', args=[self.project.slug])}?task={self.task}"

    @property
    def sha256(self) -> str:
        """The sum of its text in UTF-8; the text itself stays private."""
        return sha256(self.text.encode()).hexdigest()


def answers_path(run: ModelRun, name: str) -> str:
    """Return where the file of a run's answers is stored: in a folder of its project."""
    return f"uploads/{run.project_id}/answers/{name}"


class ModelRun(Job):
    """A model does a task: it grades documents, or writes or criticises instructions.

    What it says is a machine's, one for each model, task and version of the prompt.
    """

    class Subjects(models.TextChoices):
        """What a run is about; each task has some of them."""

        JUDGED = "judged", "Grade documents that people have judged"
        UNJUDGED = "unjudged", "Grade documents that nobody has judged"
        ALL = "all", "Grade all documents to judge"
        CONDITIONS_JUDGED = "conditions_judged", "Check conditions where people have judged"
        CONDITIONS_UNJUDGED = "conditions_unjudged", "Check conditions where nobody has judged"
        CONDITIONS_ALL = "conditions_all", "Check conditions of all documents to judge"
        UNWRITTEN = "unwritten", "Write instructions that are not there yet"
        CRITICISED = "criticised", "Write anew what a machine criticised and no person reviewed"
        SENT_BACK = "sent_back", "Write anew what was sent back to a model"
        BY_OTHERS = "by_others", "Criticise undecided instructions that this model did not write"
        UNDECIDED = "undecided", "Criticise all undecided instructions"
        UNTRAPPED = "untrapped", "Write documents that violate instructions"
        UNREVERSED = "unreversed", "Write reversed instructions that are not there yet"

    KIND: ClassVar[str] = "model_run"
    WORK: ClassVar[str] = "audit.model_runs.asking.ask_model"
    TITLE: ClassVar[str] = "Asking the model"
    WHEN_CANCELLED: ClassVar[str] = (
        "Nothing was written. What was answered is kept, and is not asked or paid again."
    )

    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="runs")
    prompt = models.ForeignKey(Prompt, on_delete=models.PROTECT, related_name="runs")
    # The name of the machine that says what the model answers.
    machine = models.CharField(max_length=150)
    subjects = models.CharField(max_length=20, choices=Subjects, default=Subjects.JUDGED)
    # How many of them are drawn, by this seed; null: all.
    drawn = models.PositiveIntegerField(null=True, blank=True)
    draw_seed = models.PositiveIntegerField(default=SEED)
    # How often each of them is asked about; the first answer counts.
    samples = models.PositiveSmallIntegerField(default=1)
    # Whether long documents are asked about in passages, of which the best one counts.
    best_passage = models.BooleanField(default=False)
    # What this run may use; a request without a limit of tokens is refused.
    most_tokens = models.PositiveBigIntegerField(default=0)
    most_cost = _cost_limit("cost, at most")
    # The rubric that instructions are criticised by; "" in other tasks.
    rubric = models.CharField(max_length=60, blank=True, default="")
    # Answers of a batch file; then no server is asked.
    answers = models.FileField(upload_to=answers_path, max_length=300, blank=True)
    # Why it ended before everything was asked; "" if it did not.
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

    def with_cancelled(self) -> models.QuerySet[ModelRun]:
        """Return this run, if it is saved, and those with the same choices that were cancelled."""
        names = ("project", "machine", "subjects", "drawn", "draw_seed")
        same = {name: getattr(self, name) for name in names}
        cancelled = Q(state=self.State.CANCELLED, **same)
        return ModelRun.objects.filter(cancelled | Q(pk=self.pk))

    def why_not_retryable(self) -> str:
        """Return why the failed run cannot be retried, as a sentence; "" if it can."""
        if self.endpoint.removed_at is not None:
            return "This model is no longer in use."
        if self.answers.name and not self.answers.storage.exists(self.answers.name):
            return "The file of answers is gone. Start a run with it again."
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

    def whole_answers(self) -> CallQuerySet:
        """Return the answered calls that say what counts of an item.

        Of a document in passages, it is the call with the best grade, of several such the first;
        none if a passage has no answer.
        """
        document = ["run", "narrative", "candidate", "text_version", "sample", "passages"]
        divided: models.QuerySet[Any, Any] = self.answered().filter(passages__gt=1)
        ranked = divided.annotate(
            place=Window(RowNumber(), document, ["-value__grade", "passage"]),
            together=Window(Count("pk"), document),
        )
        best = ranked.filter(place=1, together=F("passages"))
        return self.answered().filter(Q(passages=1) | Q(pk__in=best.values("pk")))

    def failed(self) -> CallQuerySet:
        """Return the calls that ended without a value."""
        return self.filter(IS_FAILED)

    def paid_in(self, project: int) -> CallQuerySet:
        """Return the calls of a project (by its key) whose answers are used again."""
        return self.answered().filter(run__project=project, cached_from=None)


class Call(models.Model):
    """One question to a model: what was sent, what came back, and what it cost.

    The row is written before the question is sent and completed once, when its answer is there;
    triggers refuse every later change. One that was never completed is in doubt.
    """

    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    run = models.ForeignKey(
        ModelRun, on_delete=models.PROTECT, related_name="calls", db_index=False
    )
    # What it was about: a document under a narrative, a narrative, or a pair without one.
    pair = models.ForeignKey(InstructionPair, on_delete=models.PROTECT, related_name="+")
    narrative = models.ForeignKey(
        Narrative, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    candidate = models.ForeignKey(
        Candidate, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    text_version = models.PositiveIntegerField(null=True, blank=True)
    # 1 to the run's number of samples.
    sample = models.PositiveSmallIntegerField(default=1)
    # Which part of the document was shown; 1 of 1 is all of it, or its beginning.
    passage = models.PositiveSmallIntegerField(default=1)
    passages = models.PositiveSmallIntegerField(default=1)
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
    # The same in a few words, for lists and counts.
    outcome = models.CharField(max_length=MAX_OUTCOME, blank=True)
    # Where the quote stands in the text, as in judgments: [{"start": 10, "end": 42}].
    evidence: models.JSONField[list[dict[str, int]], list[dict[str, int]]] = models.JSONField(
        default=list, blank=True
    )
    # What a reader of the answer must know: a quote that does not occur, a document that was cut.
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
                name="call_about_a_document_answered_once_in_a_run",
                fields=["run", "narrative", "candidate", "sample", "passage"],
                condition=IS_ANSWERED & Q(candidate__isnull=False),
            ),
            models.UniqueConstraint(
                name="call_about_an_instruction_answered_once_in_a_run",
                fields=["run", "narrative", "sample"],
                condition=IS_ANSWERED & Q(candidate__isnull=True, narrative__isnull=False),
            ),
            models.UniqueConstraint(
                name="call_for_a_first_instruction_answered_once_in_a_run",
                fields=["run", "pair", "sample"],
                condition=IS_ANSWERED & Q(narrative__isnull=True),
            ),
            models.CheckConstraint(
                name="call_about_a_text_of_a_document_under_a_narrative",
                condition=Q(candidate__isnull=True, text_version__isnull=True)
                | Q(candidate__isnull=False, text_version__isnull=False, narrative__isnull=False),
            ),
            models.CheckConstraint(
                name="call_about_one_of_its_passages",
                condition=Q(passage__gte=1, passage__lte=F("passages")),
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
            # What runs have used, without reading what was said.
            models.Index(
                fields=[
                    *("run", "prompt_tokens", "completion_tokens", "reserved_tokens"),
                    *("cost", "reserved_cost"),
                ],
                name="call_use",
            ),
        ]

    def __str__(self) -> str:
        return f"call {self.pk}"

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("audit:model_call", args=[self.run.project.slug, self.pk])

    @property
    def paid(self) -> Call:
        """The call whose answer this one has."""
        return self.cached_from or self

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
    def about(self) -> str:
        """What it was about, for people."""
        return self.pair.pair_id if self.candidate is None else self.candidate.document.label
