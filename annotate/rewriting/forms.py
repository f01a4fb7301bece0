"""The rewrite page's forms: the next version, the draft of it, and why a version is sent back."""

from __future__ import annotations

from django import forms

from annotate.pairs.condition_lines import MAX_LINES
from annotate.rewriting.drafts import MAX_CONDITIONS, MAX_NOTE, Writing
from annotate.rewriting.models import MAX_NARRATIVE
from annotate.rewriting.sending_back import MAX_REASON
from base.requests import LinesField

TOO_LONG = "This has %(show_value)d characters; at most %(limit_value)d are allowed."
LARGEST = 2**63 - 1
# The length of a description of answers that become stale.
MAX_CONFIRMED = 500


class NarrativeForm(forms.Form):
    """The next version of a narrative with its conditions, and the version it was made from."""

    text = LinesField(
        label="Narrative",
        max_length=MAX_NARRATIVE,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "true"}),
        error_messages={
            "required": "The narrative is empty. Write what is relevant now.",
            "max_length": TOO_LONG,
        },
    )
    conditions = LinesField(
        label="Conditions, one per line",
        required=False,
        max_length=MAX_CONDITIONS,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "true"}),
        help_text=(
            f"Judges answer each of them for every document; at most {MAX_LINES}. To name one, put "
            "its name before a colon: “length: at most two pages”."
        ),
        error_messages={"max_length": TOO_LONG},
    )
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=MAX_NOTE,
        help_text="For whoever reads the versions later: what did you change, and why?",
        error_messages={"max_length": TOO_LONG},
    )
    based_on = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        widget=forms.HiddenInput,
        help_text="The version you started from; 0: none.",
    )
    # See annotate.rewriting.actions.stale_answers.
    confirmed = forms.CharField(
        required=False,
        max_length=MAX_CONFIRMED,
        help_text="The answers that become stale, as `GET .../stale-answers/` describes them.",
    )


class DraftForm(forms.Form):
    """What is typed on a page, and which page it is: see annotate.rewriting.drafts."""

    text = forms.CharField(required=False, strip=False)
    note = forms.CharField(required=False)
    conditions = forms.CharField(required=False, strip=False)
    based_on = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    drops = forms.JSONField(required=False)
    place = forms.CharField(max_length=36)
    turn = forms.IntegerField(min_value=0, max_value=LARGEST)
    seen = forms.JSONField(required=False)

    def clean_drops(self) -> tuple[int, ...]:
        """Return the keys of the ticked candidates."""
        drops = self.cleaned_data["drops"] or []
        if not isinstance(drops, list) or not all(_is_number(key) for key in drops):
            raise forms.ValidationError("The ticks must be a list of keys.")
        return tuple(drops)

    def clean_seen(self) -> dict[str, int]:
        """Return the writings that the page continues from."""
        seen = self.cleaned_data["seen"] or {}
        if not isinstance(seen, dict) or not all(_is_number(turn) for turn in seen.values()):
            raise forms.ValidationError("“seen” must have a turn for each place.")
        return seen

    def writing(self) -> Writing:
        """Return what is to be stored, once the form is valid."""
        return Writing(**self.cleaned_data)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


class SendBackForm(forms.Form):
    """Why a narrative is sent back; `version` is the version that was read."""

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, widget=forms.HiddenInput)
    reason = LinesField(
        label="What to change",
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "true"}),
        help_text="Its writer reads this, with your name. Do not mention what judges answered.",
        error_messages={"required": "Give a reason; its writer will read it."},
    )
