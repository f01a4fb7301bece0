"""What people type in the second pass, checked before an action sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from annotate.actions.settling import MAX_REASON
from annotate.models import Adjudication, Membership, Query
from audit.actions import MAX_WORDS
from audit.criteria import Criterion, Rubric
from audit.disagreements import Kind, Order, Wanted
from audit.models import Decision
from audit.reviews import Pass


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


class AdjudicationForm(forms.Form):
    """How a disagreement is settled: a grade, or the answer that is adopted; why, and the cause."""

    relevance = forms.IntegerField(required=False)
    adopt = forms.IntegerField(required=False, widget=forms.HiddenInput)
    cause = forms.ChoiceField(
        label=_lazy("Why they differ"),
        choices=Adjudication.Cause.choices,
        widget=forms.RadioSelect,
        error_messages={"required": _lazy("Say why they differ: choose one of the causes.")},
    )
    reason = forms.CharField(
        label=_lazy("Reason"),
        required=False,
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "true"}),
        help_text=_lazy("Its judges read this. An answer you adopt may speak for itself."),
    )

    def clean(self) -> dict[str, Any]:
        """Ask for a grade or an answer to adopt."""
        given = super().clean() or self.cleaned_data
        if given.get("adopt") is None and given.get("relevance") is None and not self.errors:
            self.add_error("relevance", "Choose a grade, or adopt one of the answers.")
        return given


class WantedForm(forms.Form):
    """Which disagreements are listed; everything may be left out."""

    state = forms.ChoiceField(
        label=_lazy("Show"),
        choices=[("pending", "Pending"), ("settled", "Settled")],
        required=False,
    )
    kind = forms.ChoiceField(
        label=_lazy("Kind"),
        choices=[("", "All"), (Kind.JUDGMENT, "Judgments"), (Kind.REVIEW, "Reviews")],
        required=False,
    )
    query = forms.CharField(label=_lazy("Query"), max_length=255, required=False)
    order = forms.ChoiceField(
        label=_lazy("Order"),
        choices=[(Order.DISTANCE, "Farthest apart"), (Order.AGE, "Oldest")],
        required=False,
    )

    def __init__(self, member: Membership, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._member = member
        people = Membership.objects.people().filter(project=member.project_id).order_by("name")
        for name, label in (("one", "Between"), ("other", "and")):
            self.fields[name] = forms.ModelChoiceField(
                people, label=label, required=False, empty_label="Anyone"
            )
        self.order_fields(["state", "kind", "query", "one", "other", "order"])

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
                "other" if other is None else "one", "Choose two people, or leave both open."
            )
        elif one is not None and one == other:
            self.add_error("other", "Choose two different people.")
        return given

    def wanted(self) -> Wanted:
        """Return what was asked for; nothing in particular while the form has errors."""
        given = self.cleaned_data if self.is_valid() else {}
        return Wanted(
            settled=given.get("state") == "settled",
            kind=Kind(given["kind"]) if given.get("kind") else None,
            query=given.get("query"),
            people=(given["one"].pk, given["other"].pk) if given.get("one") else None,
            order=Order(given.get("order") or Order.DISTANCE),
        )
