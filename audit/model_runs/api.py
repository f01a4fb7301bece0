"""API of language models: which are used, prompts, runs and their calls."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.judgments.blindness import must_answer_first
from annotate.projects.access import lead
from annotate.projects.api import JobSerializer
from annotate.projects.models import Project
from audit.model_runs import access
from audit.model_runs.actions import (
    RunPlan,
    add_endpoint,
    batch_file,
    new_run,
    plan_run,
    remove_endpoint,
    request_run,
    save_prompt,
    set_budget,
    set_limits,
)
from audit.model_runs.figures import CALL_FILTERS, RunFigures, Use, budget_of, run_figures, use_of
from audit.model_runs.forms import (
    BudgetForm,
    EndpointForm,
    LimitsForm,
    PlanForm,
    PromptForm,
    RunForm,
)
from audit.model_runs.models import Call, Endpoint, ModelRun, Prompt, TaskName
from audit.reports.access import unblinded_lead
from base.api.bodies import body_of
from base.api.limits import LimitedJsonParser
from base.api.records import serializer_of
from base.api.resource import QueryParameters, Resource, Scope, reads, writes


class ModelSerializer(serializers.ModelSerializer[Endpoint]):
    """A model, how it is asked, and what all its runs may use."""

    name = serializers.CharField(help_text="With this the names of its machines begin.")

    class Meta:
        model = Endpoint
        fields = ("id", "name", *Endpoint.CHOICES, "added_at", "removed_at")
        read_only_fields = fields


class ModelBudgetSerializer(serializers.Serializer[Any]):
    """What all runs of the project together may use, and what they have used."""

    limits = body_of(BudgetForm)()
    use = serializer_of(Use)()


class PromptSerializer(serializers.ModelSerializer[Prompt]):
    """A version of what models are asked."""

    by = serializers.CharField(source="by.name")

    class Meta:
        model = Prompt
        fields = ("task", "version", "text", "by", "at")
        read_only_fields = fields


class ModelRunSerializer(JobSerializer, serializers.ModelSerializer[ModelRun]):
    """A run of a model: what it does, about what, and what it may use."""

    model = serializers.IntegerField(source="endpoint_id")
    prompt = serializers.IntegerField(source="prompt.version")
    task = serializers.ChoiceField(TaskName.choices, source="prompt.task")
    by = serializers.CharField(source="by.name")

    class Meta:
        model = ModelRun
        fields = (
            *JobSerializer().fields,
            *("machine", "model", "prompt", "task", "subjects", "drawn", "draw_seed", "samples"),
            *("best_passage", "most_tokens", "most_cost", "stopped", "by"),
        )
        read_only_fields = fields
        extra_kwargs: ClassVar = {
            "best_passage": {"help_text": "Of a long document in passages, the best one counts."},
            "stopped": {"help_text": "Why it ended early; empty if it did not."},
        }


class FullModelRunSerializer(serializers.Serializer[Any]):
    """A run with what came of it so far."""

    run = ModelRunSerializer()
    figures = serializer_of(RunFigures)()


class CallSerializer(serializers.ModelSerializer[Call]):
    """A call: what it was about and what came of it, without texts."""

    query_id = serializers.CharField(source="pair.query.query_id")
    pair_id = serializers.CharField(source="pair.pair_id")
    side = serializers.CharField(
        source="narrative.side", allow_null=True, help_text="null: for a first instruction."
    )
    version = serializers.IntegerField(source="narrative.version", allow_null=True)
    doc_id = serializers.CharField(
        source="candidate.document.doc_id", allow_null=True, help_text="null: no document."
    )
    used_again = serializers.IntegerField(
        source="cached_from_id", allow_null=True, help_text="The call whose answer it used."
    )

    class Meta:
        model = Call
        fields = (
            *("id", "uuid", "query_id", "pair_id", "side", "version", "doc_id", "text_version"),
            *("passage", "passages", "sample", "key", "sent_at", "answered_at", "used_again"),
            *("outcome", "evidence"),
            *("remarks", "failure", "reason", "model", "prompt_tokens", "completion_tokens"),
            *("cost", "milliseconds"),
        )
        read_only_fields = fields


class FullCallSerializer(CallSerializer):
    """A call with all that was said."""

    request = serializers.JSONField()
    replies = serializers.ListField(child=serializers.CharField())

    class Meta(CallSerializer.Meta):
        fields: Any = (*CallSerializer.Meta.fields, "request", "replies")


class AskedCalls(QueryParameters):
    """Which calls are listed."""

    show = serializers.ChoiceField(choices=[key for key in CALL_FILTERS if key], required=False)


class Models(Resource, tag="Language models"):
    """The models that a project asks."""

    @reads(ModelSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the models, also those that were removed."""
        return self.page(Endpoint.objects.filter(project=lead(self.person, slug).project_id))

    @writes(ModelSerializer, body=EndpointForm, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Endpoint:
        """Add a model. Only its limits can be changed afterwards."""
        member = lead(self.person, slug)
        return add_endpoint(Endpoint(**self.body()), by=member)


class OneModel(Resource, tag="Language models"):
    """One model."""

    @writes(ModelSerializer, body=LimitsForm, scope=Scope.LEAD)
    def patch(self, request: Request, slug: str, model: int) -> Endpoint:
        """Change what all runs of a model may use, and how fast it is asked: all that are sent, or
        none. A run under way obeys limits of tokens and cost at once.
        """
        member, endpoint = access.endpoint(self.person, slug, model)
        return set_limits(endpoint=endpoint, limits=self.body(), by=member)

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(self, request: Request, slug: str, model: int) -> None:
        """Take a model out of use. Its runs and calls are kept."""
        member, endpoint = access.endpoint(self.person, slug, model)
        remove_endpoint(endpoint=endpoint, by=member)


class ModelBudget(Resource, tag="Language models"):
    """The budget of a project's runs."""

    @reads(ModelBudgetSerializer)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Read what all runs together may use, and what they have used."""
        project = lead(self.person, slug).project
        return {"limits": budget_of(project), "use": use_of(project)}

    @writes(ModelBudgetSerializer, body=BudgetForm, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> dict[str, Any]:
        """Set what all runs together may use. A run under way obeys it at once."""
        member = lead(self.person, slug)
        budget = set_budget(**self.body(), by=member)
        return {"limits": budget, "use": use_of(member.project)}


class Prompts(Resource, tag="Language models"):
    """The versions of a project's prompts."""

    @reads(PromptSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the versions, the newest first; none of a task whose shipped text is used."""
        member = lead(self.person, slug)
        prompts = Prompt.objects.filter(project=member.project_id).select_related("by")
        return self.page(prompts, newest_first=True)

    @writes(PromptSerializer, body=PromptForm, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Prompt:
        """Save a new version of the prompt for a task."""
        member = lead(self.person, slug)
        return save_prompt(**self.body(), by=member)


class ModelRuns(Resource, tag="Language models"):
    """The runs of models."""

    parser_classes = (MultiPartParser, LimitedJsonParser)

    @reads(ModelRunSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the runs, the newest first."""
        return self.page(access.model_runs(lead(self.person, slug)), newest_first=True)

    @writes(ModelRunSerializer, body=RunForm, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> ModelRun:
        """Have a model grade documents, or write or criticise instructions.

        `answers` is sent as multipart/form-data.
        """
        member = lead(self.person, slug)
        return request_run(_run(member.project, self.body()), by=member)


class ModelRunPlan(Resource, tag="Language models"):
    """What a run would do."""

    @reads(RunPlan, parameters=PlanForm)
    def get(self, request: Request, slug: str) -> RunPlan:
        """Count calls, and estimate tokens and cost. Nothing is asked."""
        member = lead(self.person, slug)
        return plan_run(_run(member.project, self.parameters()), by=member)


class ModelBatch(Resource, tag="Language models"):
    """The questions of a run, for a server that answers files."""

    @reads(OpenApiTypes.STR, parameters=PlanForm, media="application/jsonl")
    def get(self, request: Request, slug: str) -> FileResponse:
        """Return a line for each question that was not answered before. Nothing is asked."""
        member = unblinded_lead(self.person, slug)
        return batch_file(_run(member.project, self.parameters()), by=member)


class OneModelRun(Resource, tag="Language models"):
    """One run."""

    @reads(FullModelRunSerializer)
    def get(self, request: Request, slug: str, run: int) -> dict[str, Any]:
        """Read the progress of a run, and what came of it."""
        member, row = access.model_run(self.person, slug, run)
        return {"run": row, "figures": run_figures(row, blind=must_answer_first(member))}


class ModelCalls(Resource, tag="Language models"):
    """The calls of a run."""

    @reads(CallSerializer, parameters=AskedCalls, paged=True)
    def get(self, request: Request, slug: str, run: int) -> Response:
        """List the calls in their order. 403 for a lead who is still blind."""
        _, _, calls = access.calls(self.person, slug, run)
        show = self.parameters().get("show", "")
        return self.page(calls.filter(CALL_FILTERS[show][1]))


class OneModelCall(Resource, tag="Language models"):
    """One call."""

    @reads(FullCallSerializer)
    def get(self, request: Request, slug: str, call: int) -> Call:
        """Read all that was said in a call. 403 for a lead who is still blind."""
        return access.call(self.person, slug, call)[1]


def _run(project: Project, choices: dict[str, Any]) -> ModelRun:
    endpoint = Endpoint.objects.in_use(project.pk).filter(pk=choices["endpoint"]).first()
    if endpoint is None:
        raise ValidationError({"endpoint": ["This model is no longer in use here."]})
    return new_run(**{**choices, "endpoint": endpoint})
