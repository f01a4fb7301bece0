"""Forms of samples and checks: validate what people send before an action receives it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef, QuerySet

from annotate.collection.models import Run
from annotate.judging.forms import TextVersionField, verdicts_in
from annotate.judgments.machine_claims import current_claims, is_contradicted
from annotate.judgments.models import Judgment
from annotate.projects.kinds import PlannedCheck
from annotate.projects.models import Membership
from audit.checks.actions import MAX_WORDS
from audit.checks.claims import ClaimSelection, refuse_if_blind, why_unfit
from audit.checks.figures import BOUND
from audit.checks.models import Question, Reply, Sample
from audit.checks.queue import MODES, has_modes
from audit.checks.samples import MAX_ITEMS, MAX_NAME
from base.requests import LinesField, refusal_in

# The largest integer that every supported database stores exactly.
MAX_SEED = 2**53 - 1
_MACHINE = "machine-"
# In the field "Strata"; a changed label of the model would need a migration.
_STRATA = [
    (choice.value, "None: all labels together" if choice == Sample.Stratify.NONE else choice.label)
    for choice in Sample.Stratify
]


def _machines_with_judgments(member: Membership) -> QuerySet[Membership]:
    """Return the machines with judgments; a machine that only filtered has no claims."""
    judged = Judgment.objects.filter(annotator=OuterRef("pk"))
    machines = member.project.memberships.filter(Exists(judged), is_machine=True)
    return machines.order_by("name")


class _ClaimsForm(forms.Form):
    """The choice of whose labels are checked."""

    claims = forms.ChoiceField(label="Labels to check")
    modes = forms.MultipleChoiceField(
        label="Modes",
        choices=list(MODES.items()),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=(
            "Each mode becomes a separate sample, checked with the narrative of that mode. The "
            "same seed draws the same documents in each. If none is ticked: one sample of all "
            "modes."
        ),
    )

    def __init__(self, member: Membership, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._member, self._project = member, member.project
        if not has_modes(member.project):
            del self.fields["modes"]
        self._machines = {
            f"{_MACHINE}{machine.pk}": machine for machine in _machines_with_judgments(member)
        }
        claims = self.fields["claims"]
        assert isinstance(claims, forms.ChoiceField)
        claims.choices = [
            *((key, f"Judgments of {machine.name}") for key, machine in self._machines.items()),
            *(
                (source.value, source.words)
                for source in Sample.Source
                if source != Sample.Source.MACHINE
                and (source != Sample.Source.CLAIMS or len(self._machines) > 1)
            ),
        ]

    def clean(self) -> dict[str, Any]:
        """Add an empty list of modes if the project has only one mode, and refuse claims that the
        member may not know yet.
        """
        cleaned = super().clean() or self.cleaned_data
        cleaned.setdefault("modes", [])
        if not self.errors:
            with refusal_in(self, "claims"):
                refuse_if_blind(self.selection(), self._member)
        return cleaned

    def selection(self) -> ClaimSelection:
        """Return the claims that the valid form asks for."""
        chosen = self.cleaned_data["claims"]
        relevant_only = bool(self.cleaned_data.get("relevant_only"))
        machine = self._machines.get(chosen)
        asks = self.cleaned_data.get("asks") or Sample.Asks.GRADE
        source = chosen if machine is None else Sample.Source.MACHINE
        return ClaimSelection(source, machine, relevant_only, asks)


class MachineForm(forms.Form):
    """The choice of the machine whose claims count."""

    machine = forms.ModelChoiceField(
        Membership.objects.none(),
        label="Whose claims count",
        empty_label=None,
        widget=forms.RadioSelect,
        error_messages={
            "required": "Choose a machine.",
            "invalid_choice": "This is not a machine of this project. Choose again.",
        },
    )

    def __init__(self, member: Membership, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        machine = self.fields["machine"]
        assert isinstance(machine, forms.ModelChoiceField)
        machine.queryset = _machines_with_judgments(member).filter(
            Exists(
                current_claims(member.project).filter(is_contradicted(), annotator=OuterRef("pk"))
            )
        )


class _NamedForm(forms.Form):
    """The name and the strata of a new sample."""

    name = forms.CharField(
        max_length=MAX_NAME,
        help_text="Checkers see it, so it should not reveal what is claimed.",
        error_messages={"required": "Give the sample a name."},
    )
    stratify = forms.ChoiceField(label="Strata", choices=_STRATA, initial=Sample.Stratify.NONE)


class SampleForm(_NamedForm, _ClaimsForm):
    """The choices for a random sample."""

    asks = forms.ChoiceField(
        label="What is checked",
        choices=Sample.Asks.choices,
        initial=Sample.Asks.GRADE,
        required=False,
        help_text=(
            "Conditions: for narratives that have them. The label is taken as the number met, "
            "unless a machine gave a verdict on each. Two questions: the document is relevant "
            "if both answers are yes."
        ),
    )
    relevant_only = forms.BooleanField(
        label="Only documents claimed to be relevant",
        required=False,
    )
    size = forms.IntegerField(label="How many", min_value=1, max_value=MAX_ITEMS, initial=150)
    per = forms.ChoiceField(
        label="Of what",
        choices=Sample.Per.choices,
        initial=Sample.Per.STRATUM,
        help_text="Of each instruction: its documents, as in “five tables per instruction”.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MAX_SEED,
        initial=1,
        help_text="The same seed draws the same labels on any installation.",
    )
    fewer = forms.BooleanField(label="If there are fewer, take all of them", required=False)
    shows_claim = forms.BooleanField(
        label="Show checkers what is claimed",
        required=False,
        help_text="People who see a label tend to agree with it.",
    )

    shows_reason = forms.BooleanField(
        label="After the answer, let checkers read why a document violates",
        required=False,
        help_text="If the file gives a reason. Reading it makes the answer final.",
    )

    field_order = (
        *("name", "claims", "modes", "asks", "relevant_only", "stratify", "size", "per", "seed"),
        *("fewer", "shows_claim", "shows_reason"),
    )

    def clean(self) -> dict[str, Any]:
        """Refuse a question that these labels cannot answer."""
        cleaned = super().clean() or self.cleaned_data
        if not self.errors and (
            unfit := why_unfit(self._project, self.selection(), cleaned["stratify"])
        ):
            self.add_error("asks", unfit)
        return cleaned

    def choices(self) -> dict[str, Any]:
        """Return the keyword arguments of `sampled_claims.plan`; the form must be valid."""
        names = ("stratify", "per", "size", "seed", "fewer")
        return {name: self.cleaned_data[name] for name in names}


def choices_of_planned(check: PlannedCheck, member: Membership) -> dict[str, Any]:
    """Return the initial values of the sample form for a check that the project's kind plans."""
    claims = check.source
    if check.source == Sample.Source.MACHINE:
        machines = list(_machines_with_judgments(member))
        claims = f"{_MACHINE}{machines[0].pk}" if len(machines) == 1 else Sample.Source.CLAIMS
    names = ("name", "size", "per", "asks", "stratify", "shows_reason", "modes")
    return {"claims": claims, **{name: getattr(check, name) for name in names}}


class _Runs(forms.ModelMultipleChoiceField[Run]):
    """Choice of runs by name; the label marks runs over instructions."""

    def label_from_instance(self, obj: Run) -> str:
        """Return the label of a run in the list."""
        if obj.side == Run.Side.ALTERED:
            return f"{obj.name} (over instructions)"
        if obj.side == Run.Side.REVERSED:
            return f"{obj.name} (over reversed instructions)"
        return obj.name


class SuspectsForm(_ClaimsForm):
    """The rule for suspects: documents that are claimed relevant and missed by runs."""

    runs = _Runs(
        Run.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose at least one run.",
            "invalid_choice": "One of these is not a run of this project. Choose again.",
            "invalid_pk_value": "One of these is not a run of this project. Choose again.",
        },
    )
    at_least = forms.IntegerField(
        label="Missed by at least", min_value=1, max_value=32_767, initial=1
    )
    depth = forms.IntegerField(label="In the first", min_value=1, max_value=1_000_000, initial=100)
    below = forms.FloatField(
        label="Or scored lower than",
        required=False,
        help_text="Only for runs whose scores are on the same scale.",
    )

    def __init__(self, member: Membership, *args: Any, **kwargs: Any) -> None:
        super().__init__(member, *args, **kwargs)
        runs = self.fields["runs"]
        assert isinstance(runs, forms.ModelMultipleChoiceField)
        runs.queryset = Run.objects.filter(project=member.project_id).order_by("name")


class SendForm(_NamedForm):
    """The choices for a sample of suspects."""

    shows_claim = forms.BooleanField(label="Show checkers what is claimed", required=False)


_NO_REPLY = {"invalid_choice": "The answer to a question must be yes, no, or can't tell."}


class CheckForm(forms.Form):
    """One answer: a relevance, verdicts on conditions, or "cannot judge"; with an optional note.

    A verdict is the field `verdict-` and the condition's key. Samples that ask two questions have
    fields for these.
    """

    relevance = forms.IntegerField(
        required=False,
        min_value=-32_768,
        max_value=32_767,
        error_messages=dict.fromkeys(
            ("invalid", "min_value", "max_value"), "Choose one of the grades."
        ),
    )
    cannot_judge = forms.BooleanField(required=False)
    on_topic = forms.ChoiceField(choices=Reply.choices, required=False, error_messages=_NO_REPLY)
    meets_constraint = forms.ChoiceField(
        choices=Reply.choices, required=False, error_messages=_NO_REPLY
    )
    words = LinesField(
        required=False,
        max_length=MAX_WORDS,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "true"}),
    )
    uuid = forms.UUIDField(required=False)
    text_version = TextVersionField()

    def __init__(self, asks: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        if asks != Sample.Asks.QUESTIONS:
            for question in Question:
                del self.fields[question.column]

    def answer(self) -> dict[str, Any]:
        """Return the keyword arguments of the actions; the form must be valid."""
        cleaned = self.cleaned_data
        sent: uuid.UUID | None = cleaned["uuid"]
        return {
            "relevance": cleaned["relevance"],
            "cannot_judge": cleaned["cannot_judge"],
            "verdicts": cleaned["verdicts"],
            "questions": {
                question.value: reply
                for question in Question
                if (reply := cleaned.get(question.column))
            },
            "words": cleaned["words"],
            "uuid": sent,
            "text": cleaned["text_version"],
        }

    def clean(self) -> dict[str, Any]:
        """Add `verdicts`: the answers by condition key."""
        return {**self.cleaned_data, "verdicts": verdicts_in(self.data)}

    def sentence(self) -> str:
        """Return the form's errors as one text."""
        return " ".join(str(error) for errors in self.errors.values() for error in errors)


class BoundForm(forms.Form):
    """The rate, in percent, that the error bound should come below."""

    bound = forms.DecimalField(
        label="How many more, for at most (percent)",
        min_value=0,
        max_value=50,
        max_digits=6,
        decimal_places=3,
        required=False,
    )

    def __init__(self, data: Mapping[str, Any]) -> None:
        values = dict(data.items())
        values.setdefault("bound", f"{100 * BOUND:g}")
        super().__init__(values)

    def share(self) -> float:
        """Return the bound as a share; the default if the input is invalid."""
        percent = self.cleaned_data.get("bound") if self.is_valid() else None
        return float(percent) / 100 if percent else BOUND
