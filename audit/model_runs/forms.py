"""Forms of models, prompts and runs."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.conf import settings

from annotate.projects.models import Membership
from audit.checks.models import SEED
from audit.model_runs.actions import MAX_PROMPT, MAX_SAMPLES
from audit.model_runs.models import (
    MAX_SEED,
    MAX_TOKENS,
    Endpoint,
    ModelRun,
    ProjectBudget,
    TaskName,
)
from audit.model_runs.tasks import tasks_for
from audit.model_runs.tasks.grade import MAX_CHARACTERS


class EndpointForm(forms.ModelForm[Endpoint]):
    """A model, how it is asked, and what it may use."""

    class Meta:
        model = Endpoint
        fields = Endpoint.CHOICES
        widgets: ClassVar = {"server": forms.Select}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        server = self.fields["server"].widget
        assert isinstance(server, forms.Select)
        server.choices = [(name, name) for name in settings.MODEL_SERVERS]


class LimitsForm(forms.ModelForm[Endpoint]):
    """What all runs of a model may use, and how fast it is asked."""

    class Meta:
        model = Endpoint
        fields = Endpoint.LIMITS


class BudgetForm(forms.ModelForm[ProjectBudget]):
    """What all runs of the project together may use; empty: no limit."""

    class Meta:
        model = ProjectBudget
        fields = ("most_tokens", "most_cost")


class PromptForm(forms.Form):
    """The text that a model is asked with."""

    task = forms.ChoiceField(label="Task", choices=TaskName.choices, widget=forms.HiddenInput)
    text = forms.CharField(
        label="Prompt",
        max_length=MAX_PROMPT,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24}),
        help_text="Its variables must all occur; other braces are text.",
    )
    based_on = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        widget=forms.HiddenInput,
        help_text="The version that you edited; 409 if somebody has saved a newer one.",
    )


class PlanForm(forms.Form):
    """What a model does, about what and how often."""

    endpoint = forms.ModelChoiceField(
        Endpoint.objects.none(),
        label="Model",
        empty_label=None,
        error_messages={"invalid_choice": "This model is no longer in use here."},
    )
    subjects = forms.ChoiceField(
        label="Task", choices=ModelRun.Subjects.choices, initial=ModelRun.Subjects.JUDGED
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
        help_text="The same seed draws the same ones.",
    )
    samples = forms.IntegerField(
        label="Answers to each question",
        initial=1,
        min_value=1,
        max_value=MAX_SAMPLES,
        help_text="Several only for grades: the first counts, the others show how steady it is.",
    )
    best_passage = forms.BooleanField(
        label="Best passage of long documents",
        required=False,
        help_text=f"Only for grades. Above {MAX_CHARACTERS:,} characters, each passage is a call, "
        "and the best one gives the grade. Otherwise the beginning is graded.",
    )

    def __init__(self, lead: Membership, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        endpoint, subjects = self.fields["endpoint"], self.fields["subjects"]
        assert isinstance(endpoint, forms.ModelChoiceField)
        assert isinstance(subjects, forms.ChoiceField)
        endpoint.queryset = Endpoint.objects.in_use(lead.project_id)
        subjects.choices = [
            (choice.value, choice.label) for task in tasks_for(lead) for choice in task.subjects
        ]


class RunForm(PlanForm):
    """What a model does, about what and how often, and what it may use."""

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
    answers = forms.FileField(
        label="Answers of a batch file",
        required=False,
        max_length=200,
        help_text="Then no server is asked. The batch file is that of the same choices.",
    )
