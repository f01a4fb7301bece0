"""The form that requests an evaluation."""

from __future__ import annotations

from typing import Any

from django import forms

from annotate.collection.models import Run
from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from exporters.evaluations.systems import SIDES, System, propose_systems
from exporters.exports.selection import claimed
from exporters.releases.models import Release

# How many releases and runs the lists offer, the newest first.
OFFERED = 500
# The baseline that stands for the system combined by hand. No run has this name.
BY_HAND = "/"


class EvaluationForm(forms.Form):
    """Systems proposed from loaded runs, one more assembled by hand, and how to measure them."""

    release = forms.ChoiceField(label="Measure on", required=False)
    systems = forms.MultipleChoiceField(
        label="Systems",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=(
            "Runs form one system if their names differ only in a word for the mode, as in "
            "bm25.original.run and bm25.changed.run, or if their tags are the same. Otherwise "
            "combine them under “Another system”."
        ),
    )
    name = forms.CharField(label="Name", max_length=255, required=False)
    original = forms.ChoiceField(label="Original run", required=False)
    changed = forms.ChoiceField(label="Changed run", required=False)
    reversed = forms.ChoiceField(label="Reversed run", required=False)
    baseline = forms.ChoiceField(label="Compare with", required=False)
    machine = forms.ChoiceField(
        label="Estimate with the labels of",
        required=False,
        help_text="If the pairs that people judged were drawn at random: what each score would be "
        "if people had judged all pairs that this machine labelled.",
    )
    options = forms.CharField(
        label="Options",
        required=False,
        max_length=2_000,
        help_text="One per line, as in p-mrr.documents=changed.",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )

    def __init__(self, project: Project, data: Any = None, *, release: str = "") -> None:
        """Offer the project's releases and runs; `release`: the one chosen, else the newest."""
        runs = list(Run.objects.filter(project=project).order_by("-pk")[:OFFERED])[::-1]
        self.runs = {str(run.pk): run for run in runs}
        self.offered = {
            "-".join(str(run.pk) for run in system.runs.values()): system
            for system in propose_systems(runs)
        }
        made = Release.objects.made().filter(project=project).order_by("-pk")
        self.releases = {release.name: release for release in made.defer("manifest")[:OFFERED]}
        initial = {
            "systems": list(self.offered)[:2],
            "release": release or next(iter(self.releases), ""),
        }
        super().__init__(data, initial=initial)
        self._offer("release", [("", "the judgments as they are now"), *_choices(self.releases)])
        self._offer("systems", [(key, _describe(system)) for key, system in self.offered.items()])
        names = [system.name for system in self.offered.values()]
        self._offer(
            "baseline",
            [
                ("", "nothing"),
                *_choices(dict.fromkeys(names)),
                (BY_HAND, "the system combined below"),
            ],
        )
        self.machines = [its.name for its in claimed.raters(project, Narrative.Side.ALTERED)]
        self._offer("machine", [("", "no machine"), *_choices(self.machines)])
        for side in SIDES:
            every = [(key, run.name) for key, run in self.runs.items()]
            self._offer(side, [("", "none"), *every])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, (forms.ChoiceField, forms.MultipleChoiceField))
        field.choices = choices

    def clean(self) -> dict[str, Any]:
        """Add the machine to the options, and name the baseline if it is combined by hand."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("baseline") == BY_HAND:
            by_hand = self._system_by_hand(cleaned)
            cleaned["baseline"] = by_hand.name if by_hand else ""
            if by_hand is None:
                self.add_error(
                    "baseline", "Combine its runs under “Another system”, or choose another."
                )
        if cleaned.get("machine") and "options" in cleaned:
            cleaned["options"] = {**cleaned["options"], "machine.name": cleaned["machine"]}
        return cleaned

    def clean_options(self) -> dict[str, str]:
        """Read one option a line."""
        options = {}
        for line in self.cleaned_data["options"].splitlines():
            name, equals, value = (part.strip() for part in line.partition("="))
            if line.strip() and not (name and equals and value):
                raise forms.ValidationError(
                    f"{line[:100]}: write MEASURE.OPTION=VALUE, one per line."
                )
            if name:
                options[name] = value
        return options

    @property
    def chosen_systems(self) -> list[System]:
        """Return the chosen systems."""
        cleaned = self.cleaned_data
        systems = [self.offered[key] for key in cleaned["systems"]]
        by_hand = self._system_by_hand(cleaned)
        return [*systems, by_hand] if by_hand else systems

    def _system_by_hand(self, cleaned: dict[str, Any]) -> System | None:
        """Return the system that is combined by hand, or None."""
        runs = {side: self.runs[cleaned[side]] for side in SIDES if cleaned.get(side)}
        if not runs and not cleaned.get("name"):
            return None
        name = cleaned.get("name") or next(run.tag or run.name for run in runs.values())
        return System(name, runs)

    @property
    def chosen_release(self) -> Release | None:
        """Return the chosen release; None for the current rows."""
        return self.releases.get(self.cleaned_data["release"])


def _choices(names: Any) -> list[tuple[str, str]]:
    return [(name, name) for name in names]


def _describe(system: System) -> str:
    runs = ", ".join(f"{side} {system.runs[side].name}" for side in SIDES if side in system.runs)
    return f"{system.name}: {runs}"
