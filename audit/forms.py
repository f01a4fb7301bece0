"""What people type in the second pass, checked before an action sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import Max
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from annotate.actions.settling import MAX_REASON
from annotate.models import Adjudication, Condition, Membership, Query, Verdict
from audit import rubrics
from audit.actions import MAX_WORDS
from audit.criteria import Criterion, Rubric
from audit.disagreements import Kind, Order, Wanted
from audit.models import Decision
from audit.reviews import Pass

# Names of conditions to choose from; a list of more is no help.
MOST_NAMES = 100


class ReviewForm(forms.Form):
    """Which version of the narrative was on the screen."""

    narrative = forms.IntegerField(
        widget=forms.HiddenInput,
        error_messages={
            "required": _lazy("Reload the page: it does not say which version you read.")
        },
    )


class RatingForm(forms.Form):
    """One criterion: its level, and words. Either may still be missing."""

    level = forms.ChoiceField(required=False)
    words = forms.CharField(required=False, max_length=MAX_WORDS, strip=False)

    def __init__(
        self,
        rubric: Rubric,
        criterion: Criterion,
        data: Mapping[str, Any] | None = None,
        initial: dict[str, Any] | None = None,
    ) -> None:
        self.criterion = criterion
        super().__init__(data, initial=initial)
        level = self.fields["level"]
        if isinstance(level, forms.ChoiceField):
            level.choices = [(one.value, one.name) for one in rubric.levels]

    def add_prefix(self, field_name: str) -> str:
        """Name the fields `level-KEY` and `words-KEY`, so that all criteria share one form."""
        return f"{field_name}-{self.criterion.key}"

    def answer(self) -> tuple[str | None, str | None]:
        """Return the level and the words that were sent; None for what was not."""
        level = self.cleaned_data["level"] or None
        sent = self.add_prefix("words") in self.data
        return level, self.cleaned_data["words"] if sent else None


def rating_forms(
    rubric: Rubric, said: Pass | None, data: Mapping[str, Any] | None = None
) -> list[RatingForm]:
    """Return a form for each criterion, filled with what was said before."""
    found = []
    for at, criterion in enumerate(rubric.criteria):
        before = said.answers[at] if said else None
        initial = {
            "level": before.level.value if before and before.level else "",
            "words": before.words if before else "",
        }
        found.append(RatingForm(rubric, criterion, data, initial=initial))
    return found


class DecisionForm(forms.Form):
    """What becomes of an instruction, and why."""

    outcome = forms.ChoiceField(choices=Decision.Outcome.choices, widget=forms.RadioSelect)
    reason = forms.CharField(
        required=False,
        max_length=MAX_WORDS,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "true"}),
        help_text=_lazy(
            "Its author reads this. Only accepting what every auditor passed needs none."
        ),
    )


class SettlingForm(forms.Form):
    """How a disagreement is settled: an answer of one's own, or the one that is adopted; and why.

    `given` names the field that holds one's own.
    """

    given = ""

    adopt = forms.IntegerField(required=False, widget=forms.HiddenInput)
    reason = forms.CharField(
        label=_lazy("Reason"),
        required=False,
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "true"}),
    )

    def clean(self) -> dict[str, Any]:
        """Ask for an answer, or one to adopt."""
        given = super().clean() or self.cleaned_data
        if given.get("adopt") is None and given.get(self.given) in (None, "") and not self.errors:
            self.add_error(self.given, _("Choose an answer, or adopt one that was given."))
        return given


class _CauseForm(SettlingForm):
    """Also why they differ."""

    cause = forms.ChoiceField(
        label=_lazy("Why they differ"),
        choices=Adjudication.Cause.choices,
        widget=forms.RadioSelect,
        error_messages={"required": _lazy("Say why they differ: choose one of the causes.")},
    )


class AdjudicationForm(_CauseForm):
    """How it is settled what judges of a document differ on."""

    given = "relevance"

    relevance = forms.IntegerField(required=False)


class VerdictForm(_CauseForm):
    """How it is settled whether a document meets a condition."""

    given = "answer"

    answer = forms.ChoiceField(choices=Verdict.Answer.choices, required=False)


class ThirdCheckForm(SettlingForm):
    """How a third person settles what two checkers of a label differ on."""

    given = "relevance"

    relevance = forms.IntegerField(required=False)


class WantedForm(forms.Form):
    """Which disagreements are listed; everything may be left out."""

    state = forms.ChoiceField(
        label=_lazy("Show"),
        choices=[
            ("pending", _lazy("Pending")),
            ("waiting", _lazy("Waiting for an annotator")),
            ("settled", _lazy("Settled")),
        ],
        required=False,
    )
    kind = forms.ChoiceField(
        label=_lazy("Kind"),
        choices=[
            ("", _lazy("All")),
            (Kind.JUDGMENT, _lazy("Judgments")),
            (Kind.VERDICT, _lazy("Conditions")),
            (Kind.REVIEW, _lazy("Reviews")),
            (Kind.CHECK, _lazy("Checks")),
        ],
        required=False,
    )
    query = forms.CharField(label=_lazy("Query"), max_length=255, required=False)
    criterion = forms.ChoiceField(label=_lazy("Criterion"), required=False)
    condition = forms.ChoiceField(label=_lazy("Condition"), required=False)
    order = forms.ChoiceField(
        label=_lazy("Order"),
        choices=[
            (Order.DISTANCE, _lazy("Farthest apart")),
            (Order.EFFECT, _lazy("Effect on the result")),
            (Order.AGE, _lazy("Oldest")),
        ],
        required=False,
    )

    def __init__(self, member: Membership, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._member = member
        people = Membership.objects.people().filter(project=member.project_id).order_by("name")
        for name, label in (("one", _("Between")), ("other", _("and"))):
            self.fields[name] = forms.ModelChoiceField(
                people, label=label, required=False, empty_label=_("Anyone")
            )
        criteria = rubrics.in_force(member.project_id).criteria
        self._choose("criterion", [(one.key, one.name) for one in criteria])
        if conditions := _conditions(member):
            self._choose("condition", conditions)
        else:
            del self.fields["condition"]
        self.order_fields(
            ["state", "kind", "query", "criterion", "condition", "one", "other", "order"]
        )

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("Any")), *choices]

    def clean_query(self) -> int | None:
        """Turn a query's id into its key."""
        query_id = self.cleaned_data["query"]
        if not query_id:
            return None
        found = Query.objects.filter(project=self._member.project_id, query_id=query_id)
        key = found.values_list("pk", flat=True).first()
        if key is None:
            raise forms.ValidationError(
                _("There is no query %(query_id)s in this project.") % {"query_id": query_id}
            )
        return int(key)

    def clean(self) -> dict[str, Any]:
        """Ask for two people or none."""
        given = super().clean() or self.cleaned_data
        one, other = given.get("one"), given.get("other")
        if (one is None) != (other is None):
            self.add_error(
                "other" if other is None else "one", _("Choose two people, or leave both open.")
            )
        elif one is not None and one == other:
            self.add_error("other", _("Choose two different people."))
        return given

    def wanted(self) -> Wanted:
        """Return what was asked for; nothing in particular while the form has errors."""
        given = self.cleaned_data if self.is_valid() else {}
        return Wanted(
            settled=given.get("state") == "settled",
            waiting=given.get("state") == "waiting",
            kind=Kind(given["kind"]) if given.get("kind") else None,
            query=given.get("query"),
            criterion=given.get("criterion") or "",
            condition=given.get("condition") or "",
            people=(given["one"].pk, given["other"].pk) if given.get("one") else None,
            order=Order(given.get("order") or Order.DISTANCE),
        )


def _conditions(member: Membership) -> list[tuple[str, str]]:
    """The conditions of a project to choose from: the names they have, or else their numbers."""
    found = Condition.objects.filter(narrative__pair__project=member.project_id).order_by()
    names = found.exclude(name="").order_by("name").values_list("name", flat=True).distinct()
    if listed := list(names[:MOST_NAMES]):
        return [(name, name) for name in listed]
    most = found.aggregate(most=Max("number"))["most"] or 0
    return [(str(number), str(number)) for number in range(1, most + 1)]
