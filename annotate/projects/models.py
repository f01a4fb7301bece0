"""A project, its rules, and the people and machines in it."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from base.users import User

MOST_PERCENT = 50


class Project(models.Model):
    """One test collection in the making, with the rules its people agreed on."""

    class Scope(models.TextChoices):
        """Which documents of a pool are put before a judge."""

        RELEVANT = "relevant", _("Only documents that were relevant before")
        POOL = "pool", _("Every document in the pool")
        EXISTING = "existing", _("Every document in the pool but generated ones")

    class Consensus(models.TextChoices):
        """How several people's grades become one relevance."""

        UNANIMOUS = "unanimous", _("All agree, else disputed")
        MAJORITY = "majority", _("More than half agree, else disputed")

    class Order(models.TextChoices):
        """The order in which a judge meets the documents of a pool."""

        SHUFFLED = "shuffled", _("Shuffled for each person")
        # By id as far as judges see ids: see annotate.judging.judging_session.judging_order.
        DOC_ID = "doc_id", _("By document id, the same for all")

    class EvidenceRule(models.TextChoices):
        """What a judge must mark when a judgment changes whether a document is relevant."""

        NONE = "none", _("Nothing")
        DOCUMENT = "document", _("A passage of the document")
        NARRATIVE = "narrative", _("A clause of the narrative")

    class ConditionRule(models.TextChoices):
        """How relevance follows from the verdicts on a narrative's conditions."""

        BY_HAND = "by_hand", _("It does not: relevance is given by hand")
        ALL_MET = "all_met", _("The highest grade when all are met, else the lowest")
        COUNT_MET = "count_met", _("The number of conditions that are met")

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    # A key of annotate.projects.kinds.KINDS.
    kind = models.CharField(max_length=30, default="own", db_default="own")
    relevant_from = models.SmallIntegerField(
        default=1, help_text=_("The lowest grade that counts as relevant.")
    )
    judge_scope = models.CharField(max_length=10, choices=Scope, default=Scope.RELEVANT)
    consensus = models.CharField(max_length=10, choices=Consensus, default=Consensus.UNANIMOUS)
    show_prior = models.BooleanField(
        default=False, help_text=_("Show judges the relevance a document came with.")
    )
    show_rank = models.BooleanField(
        default=False, help_text=_("Show judges at which rank which run had a document.")
    )
    # A licensed collection whose texts are not here can only be read by its ids.
    show_ids = models.BooleanField(
        default=False, help_text=_("Show judges the ids of documents whose texts are not here.")
    )
    # Whether who settles a disagreement sees answers without names until they ask for them.
    hide_names = models.BooleanField(default=True)
    judge_order = models.CharField(max_length=10, choices=Order, default=Order.SHUFFLED)
    # Of the shuffle, so that a paper can say how it was made.
    order_seed = models.PositiveIntegerField(default=0)
    # So many of a person's documents come again later, unmarked, drawn with the same seed.
    repeat_percent = models.PositiveSmallIntegerField(
        default=0, validators=[MaxValueValidator(MOST_PERCENT)]
    )
    evidence_rule = models.CharField(max_length=10, choices=EvidenceRule, default=EvidenceRule.NONE)
    condition_rule = models.CharField(
        max_length=10, choices=ConditionRule, default=ConditionRule.BY_HAND
    )
    # How many people do each task on each pair; with 0 nobody is asked to.
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
    # While a lead pauses the project nobody is given a new task.
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # The day by which it is to be done, in the reader's time zone.
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
            # Archived is a fact with who and when: both or neither.
            models.CheckConstraint(
                name="project_archived_by_and_at",
                condition=Q(archived_at__isnull=True, archived_by__isnull=True)
                | Q(archived_at__isnull=False, archived_by__isnull=False),
            ),
            models.CheckConstraint(
                name="project_paused_by_and_at",
                condition=Q(paused_at__isnull=True, paused_by__isnull=True)
                | Q(paused_at__isnull=False, paused_by__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        """Where the project's overview is."""
        return reverse("annotate:project", args=[self.slug])

    def overlap(self, task: str) -> int:
        """How many people do `task` (an `Assignment.Task` value) on each pair."""
        return int(getattr(self, f"overlap_{task}"))


class Grade(models.Model):
    """One relevance a judge may give, with the sentence that says when."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="grades")
    value = models.SmallIntegerField()
    name = models.CharField(max_length=60)
    sentence = models.CharField(max_length=300, blank=True)

    # Set by pages: the key that gives this grade.
    key = ""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(name="grade_once_per_project", fields=["project", "value"]),
        ]

    def __str__(self) -> str:
        return f"{self.value} {self.name}"


class Category(models.Model):
    """One type of instruction in a project's taxonomy, with the sentence that says what it is.

    `InstructionPair.category` holds the key; a file may bring keys that no taxonomy has.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="categories")
    key = models.CharField(max_length=60)
    name = models.CharField(max_length=120)
    sentence = models.CharField(max_length=500, blank=True)
    # Where it stands in lists; those of one place by key.
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
        """Return the version in force, if there is one."""
        return self.filter(project=project).order_by("-version").first()


class Guideline(models.Model):
    """One version of what judges are told. A change inserts a version."""

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
    """People and machines of projects."""

    def people(self) -> MembershipQuerySet:
        """Leave machines out."""
        return self.filter(is_machine=False)

    def active(self) -> MembershipQuerySet:
        """Leave out who has left."""
        return self.filter(left_at__isnull=True)


class Membership(models.Model):
    """Someone who judges in a project: a person who signs in, a rater known only by name, or a
    machine.

    Everything anyone said in a project points here, so the one who said it is always of that
    project, and two projects that both know an "annotator 1" never mix them up.
    """

    class Role(models.TextChoices):
        """What a member may do."""

        ANNOTATOR = "annotator", _("Annotator")
        LEAD = "lead", _("Lead")

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="memberships"
    )
    name = models.CharField(max_length=150)
    role = models.CharField(max_length=10, choices=Role, default=Role.ANNOTATOR)
    is_machine = models.BooleanField(default=False)
    joined_at = models.DateTimeField(default=timezone.now)
    left_at = models.DateTimeField(null=True, blank=True)
    # Since when this person agrees to be named in what the project publishes; null: not.
    named_at = models.DateTimeField(null=True, blank=True)
    # A lead gives them at most so many tasks; null: as many as there are.
    most_tasks = models.PositiveSmallIntegerField(null=True, blank=True)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                name="member_name_once_per_project", fields=["project", "name"]
            ),
            models.UniqueConstraint(
                name="member_user_once_per_project", fields=["project", "user"]
            ),
            # Only who can sign in can lead, and no machine signs in.
            models.CheckConstraint(
                name="member_lead_signs_in",
                condition=Q(role="annotator") | Q(user__isnull=False),
            ),
            models.CheckConstraint(
                name="member_machine_has_no_login",
                condition=Q(is_machine=False) | Q(user__isnull=True),
            ),
            models.CheckConstraint(name="member_has_a_name", condition=~Q(name="")),
            # Only who signs in can agree, and nobody for them.
            models.CheckConstraint(
                name="member_named_signs_in",
                condition=Q(named_at__isnull=True) | Q(user__isnull=False),
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
        """Whether this member runs the project."""
        return self.role == self.Role.LEAD and self.left_at is None


class AuditEvent(models.Model):
    """One thing that somebody did who leads a project or runs the installation.

    It says that something was done and to what, never what people said of a document.
    """

    uuid = models.UUIDField(unique=True, default=uuid.uuid4)
    # Null: it is of the installation, or of a project that is there no longer.
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.PROTECT, related_name="audit_events"
    )
    # Null: a command, which knows nobody.
    user = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # As they were called at that moment.
    name = models.CharField(max_length=150, blank=True)
    # A key of annotate.projects.audit_events.AUDIT_EVENTS.
    what = models.CharField(max_length=40)
    # What it was done to: its name then, and which row that is ("annotate.membership", 7).
    about = models.TextField(blank=True)
    kind = models.CharField(max_length=80, blank=True)
    key = models.BigIntegerField(null=True, blank=True)
    # In the words of who did it: a reason, a note.
    words = models.TextField(blank=True)
    # What was otherwise before: {"overlap_judge": [2, 3]}.
    changes: models.JSONField[dict[str, list[Any]], dict[str, list[Any]]] = models.JSONField(
        default=dict, blank=True
    )
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        # Triggers that keep it as it is have this name; so do backups made before.
        db_table = "annotate_deed"
        constraints: ClassVar = [
            models.CheckConstraint(name="deed_says_what", condition=~Q(what="")),
            models.CheckConstraint(
                name="deed_of_someone_names_them", condition=Q(user__isnull=True) | ~Q(name="")
            ),
        ]
        indexes: ClassVar = [
            # A page of the audit log, by who and by what.
            models.Index(fields=["project", "-id"], name="deed_newest"),
            models.Index(fields=["project", "user", "-id"], name="deed_newest_of"),
            models.Index(fields=["project", "what", "-id"], name="deed_newest_what"),
        ]

    def __str__(self) -> str:
        return f"{self.what} {self.about}"


class Link(models.Model):
    """One link of a chain: what was said, or whether it stands, as a sum with that of the link
    before. `annotate.projects.chain` says of what.

    Nothing in it is a key of a row, so that it holds in whatever installation the rows are.
    """

    class Event(models.IntegerChoices):
        """What the digest is of."""

        SAID = 1, "what was said"
        STANDS = 2, "since when it no longer stands"

    # Null: of the installation.
    project = models.ForeignKey(
        Project,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
    )
    chain = models.UUIDField()
    # Its place in the chain, from 1.
    number = models.PositiveBigIntegerField()
    event = models.PositiveSmallIntegerField(choices=Event)
    # What it is of: a key of `annotate.projects.chain`, as "judgment", and that row's own UUID.
    kind = models.CharField(max_length=20)
    name = models.UUIDField()
    # SHA-256 of what it is of, and of that with the sum of the link before.
    digest = models.BinaryField(max_length=32)
    sum = models.BinaryField(max_length=32)

    class Meta:
        constraints: ClassVar = [
            # No two links have one place, and the last one of a chain is quickly found.
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
