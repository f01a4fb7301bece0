"""Forms for filtering and settling disagreements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from django import forms
from django.db.models import Max
from django.http import QueryDict
from django.utils.functional import cached_property

from annotate.judgments.models import Adjudication
from annotate.pairs.forms import QueryFilterForm
from annotate.pairs.models import Condition
from annotate.projects.models import Grade, Membership
from audit.reviews import rubrics
from audit.settling.adjudication import MAX_REASON
from audit.settling.kinds.pages import cause_field
from audit.settling.queue_filters import DisagreementKey, Kind, Order, QueueFilter, State
from audit.settling.settle_many import NO_PERSON_WHILE_NAMES_ARE_HIDDEN, Rule, RuleChoice
from base.requests import LinesField

# How many names of conditions are offered; a longer list is of no use.
MOST_NAMES = 100
# How many rows can be ticked at once.
MOST_TICKED = 200
# The fields of the filter that a page folds.
RARER = ("document", "grade_one", "grade_other", "decides", "settled_cause", "criterion")


class RuleForm(forms.Form):
    """The rule for settling many documents.

    `idle`: rules that would settle nothing; they are not offered, unless one was asked for.
    """

    rule = forms.ChoiceField(label="Settle each as", choices=Rule.choices, widget=forms.RadioSelect)
    person = forms.ModelChoiceField(
        Membership.objects.none(),
        label="Person, for “One person says”",
        required=False,
        empty_label="Choose",
        error_messages={"invalid_choice": "There is no such person in this project."},
    )
    grade = forms.TypedChoiceField(
        label="Grade, for “One grade for all”",
        coerce=int,
        empty_value=None,
        required=False,
        error_messages={"invalid_choice": "There is no such grade in this project."},
    )

    def __init__(
        self, member: Membership, *args: Any, idle: Collection[Rule] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        rule, grade = self.fields["rule"], self.fields["grade"]
        assert isinstance(rule, forms.ChoiceField)
        assert isinstance(grade, forms.ChoiceField)
        hidden = [Rule.PERSON] if member.project.hide_names else []
        left_out = [rule for rule in idle if rule not in (*hidden, self.data.get("rule"))]
        if left_out:
            names = "; ".join(f"“{rule.label}”" for rule in left_out)
            rule.help_text = f"Not offered, because it would settle nothing here: {names}."
        rule.choices = [choice for choice in Rule.choices if choice[0] not in (*hidden, *left_out)]
        if hidden:
            del self.fields["person"]
        else:
            person = self.fields["person"]
            assert isinstance(person, forms.ModelChoiceField)
            people = Membership.objects.people().filter(project=member.project_id)
            person.queryset = people.order_by("name")
        grades = member.project.grades.order_by("value")
        grade.choices = [("", "Choose"), *((grade.value, str(grade)) for grade in grades)]

    def clean(self) -> dict[str, Any]:
        """Require the person, or the grade, that the rule needs."""
        cleaned = super().clean() or self.cleaned_data
        if "person" not in self.fields and self.data.get("rule") == Rule.PERSON:
            self.errors["rule"] = self.error_class([NO_PERSON_WHILE_NAMES_ARE_HIDDEN])
        if cleaned.get("rule") == Rule.PERSON and not cleaned.get("person") and not self.errors:
            self.add_error("person", "Choose whose answers to adopt.")
        if cleaned.get("rule") == Rule.GRADE and cleaned.get("grade") is None and not self.errors:
            self.add_error("grade", "Choose a grade.")
        return cleaned

    def choice(self) -> RuleChoice:
        """Return the rule that a valid form chose."""
        cleaned = self.cleaned_data
        rule = Rule(cleaned["rule"])
        return RuleChoice(
            rule,
            person=cleaned["person"].pk if rule is Rule.PERSON else None,
            grade=cleaned["grade"] if rule is Rule.GRADE else None,
        )


class SettleManyForm(forms.Form):
    """The reason for settling many documents, and the token of the preview."""

    cause = cause_field()
    reason = LinesField(
        label="Reason",
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "true"}),
        help_text="It is stored with each decision. The judges of the documents read it.",
        error_messages={"required": "Give a reason, so that the judges can learn from it."},
    )
    token = forms.CharField(max_length=100, widget=forms.HiddenInput)

    def __init__(self, *args: Any, of_checks: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if of_checks:
            # A check has words, and no cause.
            del self.fields["cause"]


NAMES_ARE_HIDDEN = (
    "Names are hidden in this project, so disagreements cannot be filtered by people. Leave "
    "both open, or show names in the settings."
)


CAUSES_ARE_OF_SETTLED = "Only settled disagreements have a cause. Show the settled ones."


class _KeysInput(forms.HiddenInput):
    """The keys of ticked rows: several values of one name, or one value joined by commas."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        """Return the values joined by commas."""
        return joined_values(data, name)


class QueueFilterForm(QueryFilterForm):
    """The filter and order of the list of disagreements; every field is optional."""

    state = forms.ChoiceField(label="Show", choices=State.choices, required=False)
    kind = forms.ChoiceField(label="Kind", choices=[("", "All"), *Kind.choices], required=False)
    criterion = forms.ChoiceField(label="Criterion", required=False)
    condition = forms.ChoiceField(label="Condition", required=False)
    document = forms.CharField(label="Document id", max_length=255, required=False)
    grade_one = forms.TypedChoiceField(
        label="Somebody says", coerce=int, empty_value=None, required=False
    )
    grade_other = forms.TypedChoiceField(
        label="and somebody", coerce=int, empty_value=None, required=False
    )
    decides = forms.BooleanField(label="Only what decides", required=False)
    settled_cause = forms.ChoiceField(
        label="Cause", choices=[("", "Any"), *Adjudication.Cause.choices], required=False
    )
    only = forms.CharField(
        label="The keys of rows, joined by commas",
        max_length=20_000,
        required=False,
        widget=_KeysInput,
    )
    order = forms.ChoiceField(label="Order", choices=Order.choices, required=False)

    def __init__(self, member: Membership, *args: Any, **kwargs: Any) -> None:
        super().__init__(member, *args, **kwargs)
        # Read only where they are needed: each disagreement's page has this filter too.
        for name in ("grade_one", "grade_other"):
            self._offer(name, lambda: [(str(grade.value), str(grade)) for grade in self.grades])
        self._offer("criterion", lambda: _criterion_choices(member))
        self._offer("condition", lambda: _condition_choices(member))
        # A list filtered by two people would reveal who gave which answer.
        if not member.project.hide_names:
            people = Membership.objects.people().filter(project=member.project_id).order_by("name")
            for name, label in (("one", "Between"), ("other", "and")):
                self.fields[name] = forms.ModelChoiceField(
                    people, label=label, required=False, empty_label="Anyone"
                )
        self.order_fields(
            ["state", "kind", "query", "criterion", "condition", "one", "other", "order"]
        )

    def remove_unused(self) -> None:
        """Remove the filters for which the project has nothing to choose; for the list's page."""
        for name in ("criterion", "condition"):
            field: Any = self.fields[name]
            field.choices = list(field.choices)
            # The first choice is any of them.
            if len(field.choices) == 1:
                del self.fields[name]

    @property
    def rarer(self) -> list[forms.BoundField]:
        """The fields that the page folds."""
        return [self[name] for name in RARER if name in self.fields]

    @cached_property
    def grades(self) -> list[Grade]:
        """The grades of the project, from low to high."""
        return list(self._member.project.grades.order_by("value"))

    def _offer(self, name: str, choices: Callable[[], list[tuple[str, str]]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = lambda: [("", "Any"), *choices()]

    def clean_only(self) -> tuple[DisagreementKey, ...]:
        """Return the keys of the ticked rows."""
        keys = self.cleaned_data["only"].split(",") if self.cleaned_data["only"] else []
        if len(keys) > MOST_TICKED:
            raise forms.ValidationError(f"Tick at most {MOST_TICKED} at once.")
        try:
            return tuple(DisagreementKey.parse(key) for key in keys)
        except ValueError as error:
            raise forms.ValidationError(
                "A ticked row is not a disagreement of this list. Tick again on the list."
            ) from error

    def clean(self) -> dict[str, Any]:
        """Require two different people or none, and none while names are hidden."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("settled_cause") and cleaned.get("state") != State.SETTLED:
            self.add_error("settled_cause", CAUSES_ARE_OF_SETTLED)
        if self._member.project.hide_names and (self.data.get("one") or self.data.get("other")):
            raise forms.ValidationError(NAMES_ARE_HIDDEN)
        person, other = cleaned.get("one"), cleaned.get("other")
        if (person is None) != (other is None):
            self.add_error(
                "other" if other is None else "one", "Choose two people, or leave both open."
            )
        elif person is not None and person == other:
            self.add_error("other", "Choose two different people.")
        return cleaned

    def queue_filter(self) -> QueueFilter:
        """Return the requested filter; the default one if the form has errors."""
        cleaned = self.cleaned_data if self.is_valid() else {}
        grades = {cleaned.get(name) for name in ("grade_one", "grade_other")}
        return QueueFilter(
            settled=cleaned.get("state") == State.SETTLED,
            waiting=cleaned.get("state") == State.WAITING,
            kind=Kind(cleaned["kind"]) if cleaned.get("kind") else None,
            query=cleaned.get("query"),
            criterion=cleaned.get("criterion") or "",
            condition=cleaned.get("condition") or "",
            people=(cleaned["one"].pk, cleaned["other"].pk) if cleaned.get("one") else None,
            document=cleaned.get("document") or "",
            grades=tuple(sorted(grade for grade in grades if grade is not None)),
            decides=bool(cleaned.get("decides")),
            cause=cleaned.get("settled_cause") or "",
            only=cleaned.get("only") or (),
            order=Order(cleaned.get("order") or Order.DISTANCE),
        )


def joined_values(data: Mapping[str, str], name: str) -> str:
    """Return all values of a name in an address, joined by commas."""
    return ",".join(data.getlist(name)) if isinstance(data, QueryDict) else data.get(name, "")


def _criterion_choices(member: Membership) -> list[tuple[str, str]]:
    """Return the choices of criteria; none in a project without reviews."""
    if not rubrics.has_reviews(member.project):
        return []
    return list(rubrics.criterion_names(rubrics.chosen_rubrics(member.project_id)).items())


def _condition_choices(member: Membership) -> list[tuple[str, str]]:
    """Return the choices of conditions: their names, or their numbers if none has a name."""
    conditions = Condition.objects.filter(
        narrative__pair__project=member.project_id, narrative__pair__removed_at=None
    )
    by_name = conditions.order_by("name").values_list("name").annotate(most=Max("number"))
    numbers = dict(by_name[: MOST_NAMES + 1])
    if names := [name for name in numbers if name][:MOST_NAMES]:
        return [(name, name) for name in names]
    return [(str(number), str(number)) for number in range(1, numbers.get("", 0) + 1)]
