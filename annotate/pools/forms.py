"""Forms of pools. The actions validate the values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from annotate.collection.models import Run
from annotate.collection.removal import MAX_REASON
from annotate.pools.models import Pool
from annotate.pools.replacing import MAX_ID, MAX_TEXT, NewDocument
from base.requests import LinesField


class RunsForm(forms.Form):
    """A choice of runs of a project."""

    runs = forms.MultipleChoiceField(
        label="Runs", required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, runs: Iterable[Run], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["runs"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [
            (run.name, f"{run.name} ({run.tag})" if run.tag else run.name) for run in runs
        ]


class PoolForm(RunsForm):
    """The rule of a pool, and the runs it chooses from."""

    method = forms.ChoiceField(
        label="Method",
        choices=Pool.Method.choices,
        initial=Pool.Method.UNION,
        widget=forms.RadioSelect,
    )
    depth = forms.IntegerField(
        label="Depth",
        required=False,
        initial=20,
        help_text="Documents per run, or for a fusion, documents per query.",
    )
    strata = forms.CharField(
        label="Strata",
        required=False,
        max_length=200,
        help_text="For a sample: 10:100 50:20 takes all of ranks 1–10 and 20% of ranks 11–50.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    seed = forms.IntegerField(
        label="Seed",
        required=False,
        initial=1,
        help_text="The same seed draws the same sample.",
    )

    def rule(self) -> dict[str, Any]:
        """Return the arguments of `recipe_of`, without values that the method does not use."""
        cleaned = self.cleaned_data
        sample = cleaned["method"] == Pool.Method.SAMPLE
        return {
            "method": cleaned["method"],
            "runs": cleaned["runs"],
            "depth": None if sample else cleaned["depth"],
            "strata": cleaned["strata"] if sample else "",
            "seed": 1 if cleaned["seed"] is None else cleaned["seed"],
        }


class NegativesForm(RunsForm):
    """The systems whose non-relevant documents a release lists."""

    runs = forms.MultipleChoiceField(
        label="Systems", required=False, widget=forms.CheckboxSelectMultiple
    )
    depth = forms.IntegerField(label="Depth", help_text="How many of the first ranks count.")


class ReplacementForm(forms.Form):
    """The document that replaces another, and the reason."""

    doc_id = forms.CharField(
        label="Id of the new document",
        max_length=MAX_ID,
        help_text="The id of a document of this project, or a new id; then its text goes below.",
        error_messages={"required": "Give the id of the new document."},
    )
    title = forms.CharField(label="Title of a new document", required=False, max_length=1_000)
    text = LinesField(
        label="Text of a new document",
        required=False,
        max_length=MAX_TEXT,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8}),
    )
    reason = forms.CharField(
        label="Why it is replaced",
        max_length=MAX_REASON,
        error_messages={"required": "Say why the document is replaced."},
    )

    def document(self) -> NewDocument:
        """Return the new document of a valid form."""
        cleaned = self.cleaned_data
        return NewDocument(cleaned["doc_id"], cleaned["title"], cleaned["text"])
