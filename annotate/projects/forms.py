"""Forms of a project: creation, rules, grades, due date, taxonomy, and the audit log's filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet
from django.forms import BaseFormSet, formset_factory
from django.utils.html import format_html

from annotate.projects.actions import FIELDS, MOST_GRADES
from annotate.projects.audit_log import AUDIT_EVENTS, SUBJECTS, WORK, subject_of
from annotate.projects.audit_log_page import kinds, people
from annotate.projects.kinds import KINDS
from annotate.projects.kinds.own import OWN
from annotate.projects.models import AuditEvent, Membership, Project
from annotate.projects.taxonomy import MOST
from base import reader_preferences as personal
from base.requests import LinesField


class SentenceField(forms.CharField):
    """A one-line sentence in a text area that grows with it, so that all of it stays visible."""

    def __init__(self, **options: Any) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": 1}), **options)

    def to_python(self, value: Any) -> str:
        """Return the sentence without line breaks."""
        return " ".join((super().to_python(value) or "").split())


class NewProjectForm(forms.Form):
    """A new project."""

    name = forms.CharField(max_length=200)
    slug = forms.SlugField(
        label="Short name",
        max_length=80,
        required=False,
        help_text=(
            "For addresses and commands: lower-case letters, digits and hyphens. "
            "Leave empty to make it from the name."
        ),
        error_messages={
            "invalid": "Only lower-case letters, digits and hyphens, such as tidal-power."
        },
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    kind = forms.ChoiceField(
        label="Kind",
        initial=OWN.key,
        required=False,
        choices=[
            (
                kind.key,
                format_html(
                    '<strong>{}</strong>: {} <span class="muted">{}</span>',
                    kind.name,
                    kind.sentence,
                    f"Grades {kind.grades[0].value} to {kind.grades[-1].value}.",
                ),
            )
            for kind in KINDS.values()
        ],
        widget=forms.RadioSelect,
        help_text=(
            "The way of working that is followed. It sets tasks, grades, rubric and rules; "
            "everything can be changed afterwards."
        ),
    )
    grades = forms.CharField(
        max_length=100,
        required=False,
        help_text=(
            "The relevance values judges may give, such as 0, 1, 2. Leave empty to use those of "
            "the kind. Names and sentences are added later."
        ),
    )

    def clean_slug(self) -> str:
        """Refuse a short name that is taken."""
        slug = str(self.cleaned_data["slug"]).lower()
        if Project.objects.filter(slug=slug).exists():
            raise forms.ValidationError("A project with this name already exists. Choose another.")
        return slug

    def clean_kind(self) -> str:
        """Return the kind; "own" if the form names none."""
        return self.cleaned_data["kind"] or OWN.key

    def clean_grades(self) -> list[int] | None:
        """Return the sorted values, or None for the grades of the kind."""
        if not self.cleaned_data["grades"].strip():
            return None
        words = [word.strip() for word in self.cleaned_data["grades"].split(",")]
        try:
            values = sorted({int(word) for word in words if word})
        except ValueError as error:
            raise forms.ValidationError("Grades are whole numbers, such as 0, 1, 2.") from error
        if len(values) < 2:
            raise forms.ValidationError("A project needs at least two grades, such as 0 and 1.")
        if values[0] < -32_768 or values[-1] > 32_767:
            raise forms.ValidationError("Grades must be between -32,768 and 32,767.")
        return values


class RulesForm(forms.ModelForm[Project]):
    """A project's rules."""

    class Meta:
        model = Project
        fields = FIELDS
        field_classes: ClassVar = {"description": LinesField}
        labels = {
            "relevant_from": "Relevant from grade",
            "judge_scope": "What is judged",
            "consensus": "When several people judged",
            "show_prior": "Show judges the relevance a document came with",
            "show_rank": "Show judges at which rank which run had a document",
            "show_ids": "Show judges the ids of documents whose texts are not loaded",
            "hide_names": "Hide names while a disagreement is settled",
            "judge_order": "Order of the documents",
            "order_seed": "Seed of the shuffle",
            "repeat_percent": "Documents repeated for each person, in percent",
            "evidence_rule": "What judges must mark where relevance changes",
            "condition_rule": "Does relevance follow from a narrative's conditions?",
            "overlap_rewrite": "People who rewrite each narrative",
            "overlap_judge": "People who judge each document",
            "overlap_review": "Auditors who review each instruction",
        }
        help_texts = {
            "judge_scope": (
                "Generated documents were written for one instruction. They are judged under "
                "that one alone, or not at all."
            ),
            "show_prior": "Off: judges do not see earlier relevance.",
            "show_rank": "Off: judges do not see how systems ranked it.",
            "show_ids": (
                "For a licensed collection that people read elsewhere. An id can give an answer "
                "away, so other ids are hidden until somebody has answered."
            ),
            "hide_names": (
                "A lead may reveal them for one disagreement at a time; this is recorded."
            ),
            "judge_order": (
                "If people are already judging, their judgments are kept, and they get the "
                "remaining documents in the new order."
            ),
            "order_seed": ("The same seed always gives the same orders, so a paper can report it."),
            "repeat_percent": (
                "They are shown again later and unmarked, so that each person's agreement "
                "with themselves can be reported. The second judgment changes no grade. "
                "Tell people in the guidelines that some documents may be repeated."
            ),
            "evidence_rule": (
                "Judges who do not see the earlier relevance must mark it for every grade."
            ),
            "condition_rule": "A judge may still give another grade, with a reason.",
            "relevant_from": "The lowest grade that counts as relevant.",
            "overlap_rewrite": "0: nobody has to rewrite.",
            "overlap_judge": "0: nobody has to judge.",
            "overlap_review": "0: nobody has to review.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        order = self.fields["judge_order"]
        assert isinstance(order, forms.ChoiceField)
        order.choices = [
            (Project.Order.SHUFFLED, Project.Order.SHUFFLED.label),
            # The model's label mentions only ids; documents with hidden ids are shuffled.
            (Project.Order.DOC_ID, "The same for all: by id where ids are shown, else shuffled"),
        ]


class DueDateForm(forms.Form):
    """The day by which a project is to be done."""

    due_on = forms.DateField(
        label="To be done by",
        required=False,
        help_text="Everybody in the project sees how many days are left. Empty: no due date.",
        error_messages={"invalid": "Write the date as year-month-day, such as 2027-03-31."},
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
        input_formats=["%Y-%m-%d"],
    )


class GradeForm(forms.Form):
    """One grade with the sentence that says when to give it."""

    value = forms.IntegerField(min_value=-32_768, max_value=32_767)
    name = forms.CharField(max_length=60)
    sentence = SentenceField(max_length=300, required=False)


GradeFormSet = formset_factory(GradeForm, extra=1, can_delete=True, max_num=MOST_GRADES)


class CategoryForm(forms.Form):
    """One type of instruction."""

    key = forms.CharField(label="The key that files use", max_length=60)
    name = forms.CharField(max_length=120)
    sentence = SentenceField(max_length=500, required=False)


CategoryFormSet = formset_factory(CategoryForm, extra=2, can_delete=True, max_num=MOST)


def filled_in(formset: BaseFormSet[Any]) -> list[dict[str, Any]]:
    """Return the rows that were filled in and not deleted."""
    rows = [form.cleaned_data for form in formset.forms if form.cleaned_data]
    return [
        {name: value for name, value in row.items() if name != "DELETE"}
        for row in rows
        if not row.get("DELETE")
    ]


# The value of `who` in the address for actions of commands.
COMMAND = "command"


class AuditLogForm(forms.Form):
    """A filter of audit events; every field may be empty."""

    who = forms.ChoiceField(label="Who", required=False)
    what = forms.ChoiceField(label="What", required=False)
    since = forms.DateField(label="From", required=False, widget=forms.DateInput({"type": "date"}))
    until = forms.DateField(label="To", required=False, widget=forms.DateInput({"type": "date"}))

    def __init__(self, reader: Membership | None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.reader = reader
        #: The kinds that the reader may see; queried once.
        self.kinds = kinds(reader)
        self._choose(
            "who",
            [
                ("", "Anyone"),
                *((str(user), name) for user, name in people(reader)),
                (COMMAND, "A command"),
            ],
        )
        self._choose("what", [("", "Everything"), *_grouped(self.kinds)])

    @property
    def is_filtering(self) -> bool:
        """Return whether the form leaves out events."""
        return self.is_valid() and any(self.cleaned_data.values())

    def events(self) -> QuerySet[AuditEvent]:
        """Return the events that the reader may see and that match; all of them if it has errors.

        From the reader's project; without a reader: from the installation.
        """
        cleaned = self.cleaned_data if self.is_valid() else {}
        events = AuditEvent.objects.filter(project=self.reader.project_id if self.reader else None)
        hidden = [key for key in AUDIT_EVENTS if key not in self.kinds]
        if what := cleaned.get("what"):
            events = events.filter(what=what)
        elif hidden:
            events = events.exclude(what__in=hidden)
        if who := cleaned.get("who"):
            events = events.filter(user=None if who == COMMAND else int(who))
        if since := _start(cleaned.get("since")):
            events = events.filter(at__gte=since)
        until = cleaned.get("until")
        # The last day is included.
        if until and until < date.max and (end := _start(until + timedelta(days=1))):
            events = events.filter(at__lt=end)
        return events

    def _choose(self, name: str, choices: Sequence[tuple[str, Any]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices


def _grouped(kinds: Mapping[str, str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the kinds of events by subject, each list by name."""
    by_subject: dict[str, list[tuple[str, str]]] = {subject: [] for subject in (*SUBJECTS, WORK)}
    for key, name in sorted(kinds.items(), key=lambda kind: kind[1].casefold()):
        by_subject[subject_of(key)].append((key, name))
    return [(subject, listed) for subject, listed in by_subject.items() if listed]


def _start(day: date | None) -> datetime | None:
    """Return the start of a day in the reader's time zone, in UTC."""
    if day is None:
        return None
    zone = personal.zone_of_reader() or UTC
    try:
        return datetime.combine(day, time.min, zone).astimezone(UTC)
    except OverflowError:
        # The first or last representable day: no limit is needed.
        return None
