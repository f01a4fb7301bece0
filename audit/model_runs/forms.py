"""Forms of models, prompts and runs."""

from __future__ import annotations

from typing import Any

from django import forms

from annotate.projects.models import Project
from audit.checks.models import SEED
from audit.model_runs.actions import MAX_PROMPT, MAX_SAMPLES, MAX_TOKENS
from audit.model_runs.models import Endpoint, ModelRun
from audit.model_runs.servers import server_names

MAX_SEED = 2**31 - 1
# The cost of one call at most has to fit its column.
MAX_PRICE = 10_000


class EndpointForm(forms.Form):
    """A model, how it is asked, and what it may use."""

    server = forms.CharField(
        label="Server",
        max_length=60,
        widget=forms.Select,
        help_text="One of those that the administrator allows.",
    )
    model = forms.CharField(
        label="Model",
        max_length=120,
        help_text="As the server names it, for example gpt-4.1-mini.",
    )
    temperature = forms.FloatField(
        label="Temperature",
        required=False,
        initial=0.0,
        min_value=0,
        max_value=2,
        help_text="From 0 to 2; empty for a model that refuses it.",
    )
    seed = forms.IntegerField(
        label="Seed",
        required=False,
        min_value=0,
        max_value=MAX_SEED,
        help_text="Sent with each request, for servers that know seeds.",
    )
    max_tokens = forms.IntegerField(
        label="Tokens of an answer, at most", initial=1_024, min_value=1, max_value=1_000_000
    )
    limit_field = forms.ChoiceField(
        label="How the server calls that limit",
        choices=Endpoint.LimitField.choices,
        initial=Endpoint.LimitField.MAX_TOKENS,
        help_text="Newer models of some providers know only the longer name.",
    )
    most_tokens = forms.IntegerField(
        label="Tokens of all runs, at most",
        initial=10_000_000,
        min_value=0,
        max_value=MAX_TOKENS,
        help_text="No call is made that could exceed it.",
    )
    prompt_price = forms.DecimalField(
        label="Price of a million tokens sent",
        required=False,
        min_value=0,
        max_value=MAX_PRICE,
        max_digits=10,
        decimal_places=4,
        help_text="In your currency; without prices only tokens are counted.",
    )
    completion_price = forms.DecimalField(
        label="Price of a million tokens answered",
        required=False,
        min_value=0,
        max_value=MAX_PRICE,
        max_digits=10,
        decimal_places=4,
    )
    most_cost = forms.DecimalField(
        label="Cost of all runs, at most",
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
    )
    concurrency = forms.IntegerField(label="Requests at once", initial=4, min_value=1, max_value=32)
    requests_per_minute = forms.IntegerField(
        label="Requests in a minute, at most", required=False, min_value=1, max_value=1_000_000
    )
    tokens_per_minute = forms.IntegerField(
        label="Tokens in a minute, at most", required=False, min_value=1, max_value=MAX_TOKENS
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        server = self.fields["server"].widget
        assert isinstance(server, forms.Select)
        server.choices = [(name, name) for name in server_names()]


class PromptForm(forms.Form):
    """The text that a model is asked with."""

    text = forms.CharField(
        label="Prompt",
        max_length=MAX_PROMPT,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24}),
        help_text="It contains {narrative}, {grades} and {document}; other braces are text.",
    )


class RunForm(forms.Form):
    """Which documents a model grades, how often, and what it may use."""

    endpoint = forms.IntegerField(label="Model", min_value=1, widget=forms.Select)
    documents = forms.ChoiceField(
        label="Documents",
        choices=ModelRun.Documents.choices,
        initial=ModelRun.Documents.JUDGED,
    )
    drawn = forms.IntegerField(
        label="How many of them",
        required=False,
        min_value=1,
        max_value=10_000_000,
        help_text="Drawn at random; empty for all.",
    )
    draw_seed = forms.IntegerField(
        label="Seed of the draw",
        initial=SEED,
        min_value=0,
        max_value=MAX_SEED,
        help_text="The same seed draws the same documents.",
    )
    samples = forms.IntegerField(
        label="Answers for each document",
        initial=1,
        min_value=1,
        max_value=MAX_SAMPLES,
        help_text="With several, the first counts, and the others show how steady the model is.",
    )
    # 0: the plan proposes a limit, and the action refuses a run without one.
    most_tokens = forms.IntegerField(
        label="Tokens of this run, at most",
        required=False,
        initial=0,
        min_value=0,
        max_value=MAX_TOKENS,
    )
    most_cost = forms.DecimalField(
        label="Cost of this run, at most",
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        endpoints = Endpoint.objects.filter(project=project, removed_at=None).order_by("pk")
        self.endpoints = {endpoint.pk: endpoint for endpoint in endpoints}
        choice = self.fields["endpoint"].widget
        assert isinstance(choice, forms.Select)
        choice.choices = [(pk, str(endpoint)) for pk, endpoint in self.endpoints.items()]

    def clean_endpoint(self) -> Endpoint:
        """Return the model that is asked."""
        endpoint = self.endpoints.get(self.cleaned_data["endpoint"])
        if endpoint is None:
            raise forms.ValidationError("This model is no longer in use here.")
        return endpoint

    def clean(self) -> dict[str, Any]:
        """Take no limit of tokens as none at all: the action asks for one."""
        cleaned = super().clean() or self.cleaned_data
        cleaned["most_tokens"] = cleaned.get("most_tokens") or 0
        return cleaned
