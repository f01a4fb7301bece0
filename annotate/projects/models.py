"""A project, its rules, and the people and machines in it."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from base.constraints import at_and_by
from base.users import User

MOST_PERCENT = 50
# SQLite would take a larger one, which no backup could move to PostgreSQL.
MOST_SEED = 2**31 - 1


class Project(models.Model):
    """One test collection under construction, with its rules."""

    class Scope(models.TextChoices):
        """Which documents of a pool are judged."""

        RELEVANT = "relevant", "Only documents that were relevant before"
        POOL = "pool", "Every document in the pool"
        EXISTING = "existing", "Every document in the pool but generated ones"

    class Consensus(models.TextChoices):
        """How several people's grades become one relevance."""

        UNANIMOUS = "unanimous", "All agree, else disputed"
        MAJORITY = "majority", "More than half agree, else disputed"

    class Order(models.TextChoices):
        """The order in which a judge sees the documents of a pool."""

        SHUFFLED = "shuffled", "Shuffled for each person"
        # Hidden ids are shuffled: see annotate.judging.judging_session.
        DOC_ID = "doc_id", "By document id, the same for all"

    class EvidenceRule(models.TextChoices):
        """What a judge must mark when a judgment changes whether a document is relevant."""

        NONE = "none", "Nothing"
        DOCUMENT = "document", "A passage of the document"
        NARRATIVE = "narrative", "A clause of the narrative"

    class ConditionRule(models.TextChoices):
        """How relevance follows from the verdicts on a narrative's conditions."""

        BY_HAND = "by_hand", "It does not: relevance is given by hand"
        ALL_MET = "all_met", "The highest grade when all are met, else the lowest"
        COUNT_MET = "count_met", "The number of conditions that are met"
        BANDS = "bands", "The highest grades for 1, 2 or 3, and 4 or more conditions met"

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(max_length=20_000, blank=True)
    # A key of annotate.projects.kinds.KINDS.
    kind = models.CharField(max_length=30, default="own", db_default="own")
    relevant_from = models.SmallIntegerField(
        default=1, help_text="The lowest grade that counts as relevant."
    )
    judge_scope = models.CharField(max_length=10, choices=Scope, default=Scope.RELEVANT)
    consensus = models.CharField(max_length=10, choices=Consensus, default=Consensus.UNANIMOUS)
    show_prior = models.BooleanField(
        default=False, help_text="Show judges the relevance a document came with."
    )
    show_rank = models.BooleanField(
        default=False, help_text="Show judges at which rank which run had a document."
    )
    # Documents of a licensed collection without loaded texts can only be found by their ids.
    show_ids = models.BooleanField(
        default=False, help_text="Show judges the ids of documents whose texts are not here."
    )
    # Whether a lead who settles a disagreement sees answers without names until they ask for them.
    hide_names = models.BooleanField(default=True)
    judge_order = models.CharField(max_length=10, choices=Order, default=Order.SHUFFLED)
    # The seed of the shuffle, so that a paper can report it.
    order_seed = models.PositiveIntegerField(default=0, validators=[MaxValueValidator(MOST_SEED)])
    # The share of a person's documents that are repeated later, unmarked, drawn with the same seed.
    repeat_percent = models.PositiveSmallIntegerField(
        default=0, validators=[MaxValueValidator(MOST_PERCENT)]
    )
    evidence_rule = models.CharField(max_length=10, choices=EvidenceRule, default=EvidenceRule.NONE)
    condition_rule = models.CharField(
        max_length=10, choices=ConditionRule, default=ConditionRule.BY_HAND
    )
    # How many people do each task on each pair; 0: the task is not assigned.
    overlap_rewrite = models.PositiveSmallIntegerField(
        default=1, validators=[MaxValueValidator(50)]
    )
    overlap_judge = models.PositiveSmallIntegerField(default=2, validators=[MaxValueValidator(50)])
    overlap_review = models.PositiveSmallIntegerField(default=2, validators=[MaxValueValidator(50)])
    created_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True, blank=True)
    archived_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # While the project is paused, no new tasks are assigned.
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # The day by which the project should be done, in the reader's time zone.
    due_on = models.DateField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                name="project_overlaps_from_0_to_50",
                condition=Q(overlap_rewrite__range=(0, 50))
                & Q(overlap_judge__range=(0, 50))
                & Q(overlap_review__range=(0, 50)),
            ),
            models.CheckConstraint(
                name="project_repeats_at_most_half",
                condition=Q(repeat_percent__lte=MOST_PERCENT),
            ),
            # Who archived the project and when: both or neither.
            at_and_by("project_archived_by_and_at", "archived"),
            at_and_by("project_paused_by_and_at", "paused"),
        ]

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        """Return the address of the project's overview."""
        return reverse("annotate:project", args=[self.slug])

    @property
    def gives_out_tasks(self) -> bool:
        """Whether tasks are assigned now: the project is neither paused nor archived."""
        return self.paused_at is None and self.archived_at is None

    def overlap(self, task: str) -> int:
        """Return how many people do `task` (an `Assignment.Task` value) on each pair."""
        return int(getattr(self, f"overlap_{task}"))


class Grade(models.Model):
    """One relevance that a judge may give, with a sentence that says when."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="grades")
    value = models.SmallIntegerField()
    name = models.CharField(max_length=60)
    sentence = models.CharField(max_length=300, blank=True)

    # Set by pages: the keyboard key that gives this grade.
    key = ""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="grade_once_per_project", fields=["project", "value"]),
        ]

    def __str__(self) -> str:
        return f"{self.value} {self.name}"


class Category(models.Model):
    """One type of instruction in a project's taxonomy, with a sentence that describes it.

    `InstructionPair.category` holds the key; a file may contain keys that no taxonomy has.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="categories")
    key = models.CharField(max_length=60)
    name = models.CharField(max_length=120)
    sentence = models.CharField(max_length=500, blank=True)
    # The position in lists; ties are ordered by key.
    place = models.PositiveSmallIntegerField(default=0)

    class Meta:
        verbose_name_plural = "categories"
        constraints: ClassVar = [
            models.UniqueConstraint(name="category_once_per_project", fields=["project", "key"]),
            models.CheckConstraint(name="category_has_a_key", condition=~Q(key="")),
        ]

    def __str__(self) -> str:
        return self.key


class GuidelineQuerySet(models.QuerySet["Guideline"]):
    """Versions of guidelines."""

    def latest_of(self, project: Project) -> Guideline | None:
        """Return the current version, or None."""
        return self.filter(project=project).order_by("-version").first()


class Guideline(models.Model):
    """One version of the project's guidelines. A change inserts a new version."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    text = models.TextField()
    author = models.ForeignKey("Membership", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    objects = GuidelineQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="guideline_version_once", fields=["project", "version"]),
        ]

    def __str__(self) -> str:
        return f"guideline {self.version}"


class MembershipQuerySet(models.QuerySet["Membership"]):
    """Memberships of people and machines."""

    def people(self) -> MembershipQuerySet:
        """Exclude machines."""
        return self.filter(is_machine=False)

    def active(self) -> MembershipQuerySet:
        """Exclude members who have left."""
        return self.filter(left_at__isnull=True)

    def who_can_sign_in(self) -> MembershipQuerySet:
        """Return those who have an open account and have not left."""
        return self.active().filter(user__is_active=True)

    def gone(self) -> MembershipQuerySet:
        """Return those who have left or whose account is closed."""
        return self.filter(Q(left_at__isnull=False) | Q(user__is_active=False))

    def who_led(self) -> MembershipQuerySet:
        """Return those who lead their project or may have led it.

        Whoever was never removed and whose role never changed has had their role since joining.
        """
        changed = AuditEvent.objects.filter(
            project=models.OuterRef("project"),
            what__in=("member.role", "member.removed"),
            about=models.OuterRef("name"),
        )
        return self.filter(Q(role=Membership.Role.LEAD) | Q(models.Exists(changed)))

    def named(self, name: str) -> MembershipQuerySet:
        """Return the members of a name, as at sign-in without regard to capital letters.

        One with exactly this name comes first: a file may bring both "A1" and "a1".
        """
        is_other = models.Case(models.When(name=name, then=0), default=1)
        return self.filter(name__iexact=name).order_by(is_other, "pk")


class Membership(models.Model):
    """A member of a project: a person who signs in, a rater known only by name, or a machine.

    Every answer in a project refers to a membership, so its author always belongs to that project,
    and two projects that both have an "annotator 1" never mix them up.
    """

    class Role(models.TextChoices):
        """What a member may do."""

        ANNOTATOR = "annotator", "Annotator"
        LEAD = "lead", "Lead"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="memberships"
    )
    name = models.CharField(max_length=150)
    role = models.CharField(max_length=10, choices=Role, default=Role.ANNOTATOR)
    is_machine = models.BooleanField(default=False)
    joined_at = models.DateTimeField(default=timezone.now)
    left_at = models.DateTimeField(null=True, blank=True)
    # When this person agreed to be named in what the project publishes; null: they have not.
    named_at = models.DateTimeField(null=True, blank=True)
    # The maximum number of tasks for this member; null: no limit.
    most_tasks = models.PositiveSmallIntegerField(null=True, blank=True)
    # When a lead chose that this machine's claims count where several machines claim a label; the
    # newest choice comes first. The audit log says who.
    claims_chosen_at = models.DateTimeField(null=True, blank=True)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="member_name_once_per_project", fields=["project", "name"]
            ),
            models.UniqueConstraint(
                name="member_user_once_per_project", fields=["project", "user"]
            ),
            # Leads need an account, and machines have none.
            models.CheckConstraint(
                name="member_lead_signs_in",
                condition=Q(role="annotator") | Q(user__isnull=False),
            ),
            models.CheckConstraint(
                name="member_machine_has_no_login",
                condition=Q(is_machine=False) | Q(user__isnull=True),
            ),
            models.CheckConstraint(name="member_has_a_name", condition=~Q(name="")),
            # Only a person with an account can agree to be named.
            models.CheckConstraint(
                name="member_named_signs_in",
                condition=Q(named_at__isnull=True) | Q(user__isnull=False),
            ),
            # Only machines claim labels.
            models.CheckConstraint(
                name="member_of_chosen_claims_is_a_machine",
                condition=Q(claims_chosen_at__isnull=True) | Q(is_machine=True),
            ),
            models.CheckConstraint(
                name="member_leaves_after_joining",
                condition=Q(left_at__isnull=True) | Q(left_at__gte=F("joined_at")),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def leads(self) -> bool:
        """Return whether this member is a lead of the project."""
        return self.role == self.Role.LEAD and self.left_at is None

    def is_alone(self) -> bool:
        """Return whether nobody else can sign in and work in the project."""
        others = Membership.objects.active().filter(project=self.project_id, user__isnull=False)
        return not others.exclude(pk=self.pk).exists()


class AuditEvent(models.Model):
    """One action of a lead or an administrator.

    It records what was done and to what, never anyone's judgment of a document.
    """

    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    # Null: an action on the installation, or on a project that was deleted.
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.PROTECT, related_name="audit_events"
    )
    # Null: a command.
    user = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # Their name at that time.
    name = models.CharField(max_length=150, blank=True)
    # A key of annotate.projects.audit_log.AUDIT_EVENTS.
    what = models.CharField(max_length=40)
    # The affected object: its name at that time, and its row ("annotate.membership", 7).
    about = models.TextField(blank=True)
    kind = models.CharField(max_length=80, blank=True)
    key = models.BigIntegerField(null=True, blank=True)
    # A reason or note in the actor's own words.
    words = models.TextField(blank=True)
    # Changed fields, before and after: {"overlap_judge": [2, 3]}.
    changes: models.JSONField[dict[str, list[Any]], dict[str, list[Any]]] = models.JSONField(
        default=dict, blank=True
    )
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(name="audit_event_says_what", condition=~Q(what="")),
            models.CheckConstraint(
                name="audit_event_names_its_actor", condition=Q(user__isnull=True) | ~Q(name="")
            ),
        ]
        indexes: ClassVar = [
            # For the audit log's pages, filtered by actor or by kind of event.
            models.Index(fields=["project", "-id"], name="audit_event_newest"),
            models.Index(fields=["project", "user", "-id"], name="audit_event_newest_of"),
            models.Index(fields=["project", "what", "-id"], name="audit_event_newest_what"),
        ]

    def __str__(self) -> str:
        return f"{self.what} {self.about}"


class Link(models.Model):
    """One link of a hash chain, see `annotate.projects.hash_chain`.

    It records the digest of a row's content or of its end, and a hash over that and the previous
    link's hash. It contains no primary keys, so it is valid in any installation.
    """

    class Event(models.IntegerChoices):
        """What the digest covers."""

        CONTENT = 1, "what was said"
        END = 2, "since when it no longer stands"

    # Null: a chain of the installation.
    project = models.ForeignKey(
        Project,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
    )
    chain = models.UUIDField()
    # The position in the chain, from 1.
    number = models.PositiveBigIntegerField()
    event = models.PositiveSmallIntegerField(choices=Event)
    # The row: its kind, a key of `hash_chain.KINDS` such as "judgment", and its UUID.
    kind = models.CharField(max_length=20)
    name = models.UUIDField()
    # SHA-256 of the content, and of the link's data with the hash of the link before.
    digest = models.BinaryField(max_length=32)
    sum = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar = [
            # Positions are unique; also finds the last link of a chain quickly.
            models.UniqueConstraint(name="link_number_once", fields=["project", "chain", "number"]),
            models.UniqueConstraint(
                name="link_number_once_of_all",
                fields=["chain", "number"],
                condition=Q(project__isnull=True),
            ),
            models.CheckConstraint(name="link_numbers_from_1", condition=Q(number__gte=1)),
        ]

    def __str__(self) -> str:
        return f"link {self.number} of {self.chain}"
