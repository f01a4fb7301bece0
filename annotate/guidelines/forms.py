"""Forms to write guidelines, and to ask for older answers again under a new version."""

from __future__ import annotations

from typing import Any

from django import forms

from annotate.guidelines.actions import MAX_LENGTH
from annotate.guidelines.rejudge_requests import MAX_WORDS, AnswerSelection
from annotate.judgments.blindness import blind_pairs, must_answer_first
from annotate.pairs.forms import QueryFilterForm
from annotate.projects.models import Membership
from base.requests import LinesField

BLIND = (
    "You have judging or reviewing left in this project, and this would reveal others' answers. "
    "Leave it empty, or finish first."
)


class SelectionForm(QueryFilterForm):
    """A selection of older answers; every field is optional."""

    grade = forms.TypedChoiceField(label="Judged as", coerce=int, empty_value=None, required=False)
    among = forms.ChoiceField(
        label="Documents",
        choices=[
            ("", "All"),
            ("differing", "Those that people judged differently"),
            ("cases", "Those of the cases"),
            ("flags", "Those that the person flagged"),
        ],
        required=False,
    )

    def __init__(self, member: Membership, *args: Any, **kwargs: Any) -> None:
        super().__init__(member, *args, **kwargs)
        self.fields["grade"].choices = [  # type: ignore[attr-defined]
            ("", "Any grade"),
            *((grade.value, str(grade)) for grade in member.project.grades.order_by("value")),
        ]

    def clean(self) -> dict[str, Any]:
        """Refuse filters by answer to a lead who is still blind: counts would reveal answers."""
        data = super().clean() or self.cleaned_data
        is_among = data.get("among") in {"differing", "flags"}
        if (is_among or data.get("grade") is not None) and must_answer_first(self._member):
            self.add_error("among" if is_among else "grade", BLIND)
        return data

    def selection(self) -> AnswerSelection:
        """Return the selection of a valid form."""
        data = self.cleaned_data
        return AnswerSelection(
            query=data["query"],
            grade=data["grade"],
            differing=data["among"] == "differing",
            cases=data["among"] == "cases",
            flags=data["among"] == "flags",
            without=frozenset(blind_pairs(self._member)),
        )


class RejudgeForm(forms.Form):
    """The words of the rejudge requests, and the token of the count that the lead saw."""

    words = LinesField(
        label="What you tell them",
        max_length=MAX_WORDS,
        # Kept while other answers are chosen.
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "true", "hx-preserve": "true"}),
        help_text="Shown above each document. Do not mention what others answered.",
        error_messages={"required": "Say in a few words what to look at."},
    )
    token = forms.CharField(
        max_length=100,
        widget=forms.HiddenInput,
        help_text="The token of the count; 409 if it is outdated.",
    )


class GuidelineForm(forms.Form):
    """The next version of the guidelines, and the version it is based on."""

    text = LinesField(
        label="Guidelines",
        max_length=MAX_LENGTH,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 20, "spellcheck": "true"}),
        help_text="Plain text. A short line of its own becomes the heading of what follows.",
        error_messages={"required": "The guidelines are empty. Write what judges should know."},
    )
    based_on = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        widget=forms.HiddenInput,
        help_text="The version that you edited; 0: none.",
    )
