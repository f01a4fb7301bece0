"""Projects in the API: their rules, kind, schedule, taxonomy, jobs and audit log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.projects import access, actions, project_jobs, schedule, taxonomy
from annotate.projects.audit_log_page import table
from annotate.projects.forms import AuditLogForm, CategoryForm, GradeForm
from annotate.projects.kinds import KINDS, KindGrade, ProjectKind, kind_of
from annotate.projects.kinds.own import OWN
from annotate.projects.models import Membership, Project
from annotate.projects.taxonomy import TAXONOMIES, Kind
from base.api.bodies import FormBody, Settings
from base.api.records import serializer_of
from base.api.resource import (
    QueryParameters,
    RequestBody,
    Resource,
    Scope,
    form_errors,
    reads,
    writes,
)
from base.csv_output import csv_response
from jobs.models import Job

SMALL = 32_767


class GradeSerializer(FormBody):
    """One relevance that judges may give."""

    class Meta:
        form = GradeForm


class RulesSerializer(Settings, serializers.ModelSerializer[Project]):
    """The rules of a project; for its leads."""

    # The model's field would have a range that depends on the database.
    relevant_from = serializers.IntegerField(
        min_value=-SMALL - 1, max_value=SMALL, help_text="The lowest grade that counts as relevant."
    )

    class Meta:
        model = Project
        fields = tuple(name for name in actions.FIELDS if name not in {"name", "description"})
        extra_kwargs: ClassVar = {
            "judge_order": {
                "help_text": "doc_id: by document id where judges see ids; the other documents are "
                "shuffled, the same for all."
            }
        }


class ProjectSerializer(serializers.Serializer[Any]):
    """A project as one of its members sees it."""

    slug = serializers.CharField(
        source="project.slug", help_text="The short name, used in addresses."
    )
    name = serializers.CharField(source="project.name")
    description = serializers.CharField(source="project.description")
    kind = serializers.CharField(
        source="project.kind", help_text="The way of working that it follows."
    )
    role = serializers.ChoiceField(choices=Membership.Role.choices, help_text="Your role.")
    member = serializers.IntegerField(source="pk", help_text="The key of your membership.")
    archived_at = serializers.DateTimeField(source="project.archived_at", allow_null=True)
    paused_at = serializers.DateTimeField(
        source="project.paused_at",
        allow_null=True,
        help_text="Since when no new tasks are given out; null: it is not paused.",
    )
    due_on = serializers.DateField(
        source="project.due_on", allow_null=True, help_text="The day by which it should be done."
    )
    created_at = serializers.DateTimeField(source="project.created_at")


class FullProjectSerializer(ProjectSerializer):
    """A project with the information that its members need for their work."""

    grades = serializers.SerializerMethodField()
    relevant_from = serializers.IntegerField(
        source="project.relevant_from", help_text="The lowest grade that counts as relevant."
    )
    evidence_rule = serializers.ChoiceField(
        choices=Project.EvidenceRule.choices, source="project.evidence_rule"
    )
    condition_rule = serializers.ChoiceField(
        choices=Project.ConditionRule.choices, source="project.condition_rule"
    )
    rules = serializers.SerializerMethodField(help_text="For leads; else null.")

    @extend_schema_field(GradeSerializer(many=True))
    def get_grades(self, member: Membership) -> Any:
        """Return the grades, the lowest first."""
        return GradeSerializer(member.project.grades.order_by("value"), many=True).data

    @extend_schema_field(RulesSerializer(allow_null=True))
    def get_rules(self, member: Membership) -> Any:
        """Return the rules to leads."""
        return RulesSerializer(member.project).data if member.leads else None


class SentProject(RequestBody):
    """A project to create."""

    slug = serializers.RegexField(
        r"^[a-z0-9][a-z0-9_-]{0,79}$",
        max_length=80,
        required=False,
        help_text="The short name. If omitted: made from the name.",
    )
    name = serializers.CharField(max_length=200)
    kind = serializers.ChoiceField(
        choices=list(KINDS),
        default=OWN.key,
        help_text="The way of working that it follows; it sets tasks, grades, rubric and rules.",
    )
    grades = serializers.ListField(
        child=serializers.IntegerField(min_value=-SMALL - 1, max_value=SMALL),
        min_length=2,
        max_length=actions.MOST_GRADES,
        required=False,
        help_text="If omitted: the grades of the kind.",
    )


class SentRules(RulesSerializer):
    """Changes of a project; omitted fields stay as they are. `grades` replaces all grades."""

    grades = serializers.ListField(child=GradeSerializer(), max_length=actions.MOST_GRADES)

    class Meta(RulesSerializer.Meta):
        fields = (*actions.FIELDS, "grades")


class AskedProjects(QueryParameters):
    """A filter of projects."""

    archived = serializers.BooleanField(
        default=False, help_text="Return the archived projects that you lead instead."
    )


class Projects(Resource, tag="Projects"):
    """Your projects."""

    @reads(ProjectSerializer, parameters=AskedProjects, paged=True)
    def get(self, request: Request) -> Response:
        """List your projects."""
        archived = self.parameters()["archived"]
        mine = (access.archived_projects if archived else access.memberships_of)(self.person)
        return self.page(mine)

    @writes(FullProjectSerializer, body=SentProject, status=201, scope=Scope.LEAD)
    def post(self, request: Request) -> Membership:
        """Create a project and become its lead."""
        made = actions.create_project(**self.body(), by=self.person)
        return access.member(self.person, made.slug)


class OneProject(Resource, tag="Projects"):
    """One project."""

    @reads(FullProjectSerializer)
    def get(self, request: Request, slug: str) -> Membership:
        """Return a project."""
        return access.member(self.person, slug)

    @writes(FullProjectSerializer, body=SentRules, scope=Scope.LEAD)
    def patch(self, request: Request, slug: str) -> Membership:
        """Change the rules of a project that you lead, all or nothing."""
        by = access.lead(self.person, slug)
        sent = self.body()
        grades = sent.pop("grades", None)
        replaced = None if grades is None else [KindGrade(**grade) for grade in grades]
        actions.change_rules(changes=sent, grades=replaced, by=by)
        return access.member(self.person, slug)


class Archiving(Resource, tag="Projects"):
    """Whether a project is archived."""

    @writes(ProjectSerializer, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> Membership:
        """Archive a project: nothing in it can be changed."""
        actions.archive(by=access.lead(self.person, slug))
        return access.member(self.person, slug)

    @writes(ProjectSerializer, scope=Scope.LEAD)
    def delete(self, request: Request, slug: str) -> Membership:
        """Unarchive a project."""
        actions.unarchive(by=access.lead(self.person, slug))
        return access.member(self.person, slug)


class KindOfProjectSerializer(serializers.Serializer[Any]):
    """The kind of a project, and the rules that differ from it."""

    kind = serializers.CharField()
    differences = serializer_of(actions.Difference)(
        many=True, help_text="Rules that the project has changed."
    )


class SentKind(RequestBody):
    """The new kind of a project."""

    kind = serializers.ChoiceField(choices=list(KINDS))


class Kinds(Resource, tag="Projects"):
    """The kinds of projects."""

    @reads(ProjectKind, many=True)
    def get(self, request: Request) -> Iterable[ProjectKind]:
        """List the kinds and what each sets."""
        return KINDS.values()


class KindOfProject(Resource, tag="Projects"):
    """The kind of a project."""

    @reads(KindOfProjectSerializer)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Return the kind, and what the project has changed."""
        return _kind_of(access.lead(self.person, slug).project)

    @writes(KindOfProjectSerializer, body=SentKind, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> dict[str, Any]:
        """Give the project another kind and its settings; refused if that would lose data."""
        by = access.lead(self.person, slug)
        return _kind_of(actions.change_kind(key=self.body()["kind"], by=by))


def _kind_of(project: Project) -> dict[str, Any]:
    kind = kind_of(project.kind)
    return {"kind": kind.key, "differences": actions.differences(project, kind)}


class SentDueDate(RequestBody):
    """The due date of a project."""

    due_on = serializers.DateField(allow_null=True, help_text="null: no due date.")


class Pause(Resource, tag="Projects"):
    """Whether a project is paused."""

    @writes(ProjectSerializer, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> Membership:
        """Pause a project: no new tasks are given out. What people still save counts."""
        schedule.pause(by=access.lead(self.person, slug))
        return access.member(self.person, slug)

    @writes(ProjectSerializer, scope=Scope.LEAD)
    def delete(self, request: Request, slug: str) -> Membership:
        """Resume a project: tasks are given out again."""
        schedule.resume(by=access.lead(self.person, slug))
        return access.member(self.person, slug)


class DueDate(Resource, tag="Projects"):
    """The due date of a project."""

    @writes(ProjectSerializer, body=SentDueDate, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> Membership:
        """Set or remove the due date."""
        by = access.lead(self.person, slug)
        schedule.set_due_date(due_on=self.body()["due_on"], by=by)
        return access.member(self.person, slug)


class CategorySerializer(FormBody):
    """One type of instruction."""

    class Meta:
        form = CategoryForm


class TaxonomySerializer(RequestBody):
    """All types of a project's instructions, in their order."""

    categories = serializers.ListField(child=CategorySerializer(), max_length=taxonomy.MOST)


class SentTaxonomy(RequestBody):
    """The name of a ready-made taxonomy."""

    name = serializers.ChoiceField(choices=list(TAXONOMIES))


class Categories(Resource, tag="Projects"):
    """The types of a project's instructions."""

    @reads(TaxonomySerializer)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Return the types."""
        return _taxonomy(access.lead(self.person, slug).project)

    @writes(TaxonomySerializer, body=TaxonomySerializer, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> dict[str, Any]:
        """Make these the types; instructions keep the keys they have."""
        by = access.lead(self.person, slug)
        taxonomy.set_categories(
            kinds=[Kind(**category) for category in self.body()["categories"]], by=by
        )
        return _taxonomy(by.project)


class Taxonomy(Resource, tag="Projects"):
    """Adding the types of a ready-made taxonomy."""

    @writes(TaxonomySerializer, body=SentTaxonomy, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Add the types of a taxonomy; types whose key exists are not changed."""
        by = access.lead(self.person, slug)
        taxonomy.add_taxonomy(name=self.body()["name"], by=by)
        return _taxonomy(by.project)


def _taxonomy(project: Project) -> dict[str, Any]:
    rows = project.categories.order_by("place", "key").values("key", "name", "sentence")
    return {"categories": list(rows)}


class JobSerializer(serializers.Serializer[Any]):
    """A background job. Poll it until `state` is done, failed or cancelled."""

    id = serializers.IntegerField()
    kind = serializers.CharField(help_text="As in load, pool, agreement, export, release.")
    state = serializers.ChoiceField(choices=Job.State.choices)
    done = serializers.IntegerField(help_text="Units done.")
    total = serializers.IntegerField(allow_null=True, help_text="Units in all; null: unknown.")
    step = serializers.CharField(help_text="The current step.")
    error = serializers.CharField(help_text="Why it failed.")
    requested_at = serializers.DateTimeField()
    cancel_requested_at = serializers.DateTimeField(allow_null=True)
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class JobCancellation(Resource, tag="Projects"):
    """The cancellation of a job."""

    @writes(JobSerializer, scope=Scope.LEAD)
    def post(self, request: Request, slug: str, job: int) -> Job:
        """Cancel a job, whatever its kind; one that has ended is left unchanged."""
        member = access.lead(self.person, slug)
        running = project_jobs.job_of(member, job)
        return project_jobs.cancel_job(job=running, by=member)


class AuditEventSerializer(serializers.Serializer[Any]):
    """One action of a lead or an administrator."""

    uuid = serializers.UUIDField()
    at = serializers.DateTimeField()
    who = serializers.CharField(
        source="name", help_text="Their name at that time; empty: a command."
    )
    what = serializers.CharField()
    about = serializers.CharField(help_text="The affected object, by its name at that time.")
    kind = serializers.CharField(help_text="The kind of the affected row ...")
    key = serializers.IntegerField(allow_null=True, help_text="... and its key.")
    words = serializers.CharField()
    changes = serializers.DictField(help_text="By field: the values before and after.")


class AuditLog(Resource, tag="Audit log"):
    """The audit log of a project."""

    @reads(AuditEventSerializer, parameters=AuditLogForm, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the audit events that you may see now, newest first."""
        form = audit_log_form(self, access.lead(self.person, slug))
        return self.page(form.events(), newest_first=True)


class AuditLogTable(Resource, tag="Audit log"):
    """The audit log of a project as a table."""

    @reads(OpenApiTypes.STR, parameters=AuditLogForm, media="text/csv")
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Download the audit events that you may see now as CSV, oldest first."""
        form = audit_log_form(self, access.lead(self.person, slug))
        return csv_response(table(form.events()))


def audit_log_form(resource: Resource, reader: Membership | None) -> AuditLogForm:
    """Return the filter that a request sends, or raise what is wrong with it.

    `reader`: a lead, or None for administrators.
    """
    resource.parameters()
    form = AuditLogForm(reader, resource.request.query_params)
    if not form.is_valid():
        raise form_errors(form, "?")
    return form
