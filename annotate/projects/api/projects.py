"""Projects and their rules in the API."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.projects import access, rules
from annotate.projects.actions import create_project
from annotate.projects.forms.project import GradeForm
from annotate.projects.kinds import KINDS
from annotate.projects.kinds.own import OWN
from annotate.projects.models import Membership, Project
from base.api.bodies import FormBody, Settings
from base.api.resource import QueryParameters, RequestBody, Resource, Scope, reads, writes

SMALL = 32_767
LARGE = 2_147_483_647


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
    order_seed = serializers.IntegerField(min_value=0, max_value=LARGE)

    class Meta:
        model = Project
        fields = tuple(name for name in rules.FIELDS if name not in {"name", "description"})
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

    grades = GradeSerializer(many=True)
    relevant_from = serializers.IntegerField(help_text="The lowest grade that counts as relevant.")
    evidence_rule = serializers.ChoiceField(choices=Project.EvidenceRule.choices)
    condition_rule = serializers.ChoiceField(choices=Project.ConditionRule.choices)
    rules = RulesSerializer(allow_null=True, help_text="For leads; else null.")


class SentProject(RequestBody):
    """A project to create."""

    slug = serializers.RegexField(r"^[a-z0-9][a-z0-9_-]{0,79}$", max_length=80)
    name = serializers.CharField(max_length=200)
    kind = serializers.ChoiceField(
        choices=list(KINDS),
        default=OWN.key,
        help_text="The way of working that it follows; it sets tasks, grades, rubric and rules.",
    )
    grades = serializers.ListField(
        child=serializers.IntegerField(min_value=-SMALL - 1, max_value=SMALL),
        min_length=2,
        max_length=20,
        required=False,
        help_text="If omitted: the grades of the kind.",
    )


class SentRules(RulesSerializer):
    """Changes of a project; omitted fields stay as they are. `grades` replaces all grades."""

    grades = serializers.ListField(child=GradeSerializer(), max_length=20)

    class Meta(RulesSerializer.Meta):
        fields = (*rules.FIELDS, "grades")


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
    def post(self, request: Request) -> Response:
        """Create a project and become its lead."""
        made = create_project(**self.body(), by=self.person)
        return Response(full_project(access.member(self.person, made.slug)), status=201)


class OneProject(Resource, tag="Projects"):
    """One project."""

    @reads(FullProjectSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return a project."""
        return Response(full_project(access.member(self.person, slug)))

    @writes(FullProjectSerializer, body=SentRules, scope=Scope.LEAD)
    def patch(self, request: Request, slug: str) -> Response:
        """Change the rules of a project that you lead, all or nothing."""
        by = access.lead(self.person, slug)
        sent = self.body()
        grades = sent.pop("grades", None)
        if grades is None:
            grades = by.project.grades.values("value", "name", "sentence")
        kept = [rules.GradeRule(**grade) for grade in grades]
        rules.change_rules(changes=sent, grades=kept, by=by)
        return Response(full_project(access.member(self.person, slug)))


class Archiving(Resource, tag="Projects"):
    """Whether a project is archived."""

    @writes(ProjectSerializer, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> Membership:
        """Archive a project: nothing in it can be changed."""
        rules.archive(by=access.lead(self.person, slug))
        return access.member(self.person, slug)

    @writes(ProjectSerializer, scope=Scope.LEAD)
    def delete(self, request: Request, slug: str) -> Membership:
        """Unarchive a project."""
        rules.unarchive(by=access.lead(self.person, slug))
        return access.member(self.person, slug)


def full_project(member: Membership) -> dict[str, Any]:
    """Return a project with the information that its members need for their work."""
    project = member.project
    grades = project.grades.order_by("value").values("value", "name", "sentence")
    return {
        **ProjectSerializer(member).data,
        "grades": list(grades),
        "relevant_from": project.relevant_from,
        "evidence_rule": project.evidence_rule,
        "condition_rule": project.condition_rule,
        "rules": RulesSerializer(project).data if member.leads else None,
    }
