"""What several kinds of disagreement have on their pages: forms, document, answers, causes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.db.models import QuerySet

from annotate.collection.document_rendering import read_pane
from annotate.collection.models import Candidate
from annotate.judgments.document_names import name_of
from annotate.judgments.models import Adjudication
from annotate.pairs.pool import words_to_mark
from annotate.projects.models import Project
from audit.settling.adjudication import MAX_REASON
from audit.settling.kinds.base import Disagreement, GivenAnswer
from base import keymap
from base.requests import LARGEST_KEY, LinesField


def cause_field() -> forms.ChoiceField:
    """Return the field of why people differ."""
    return forms.ChoiceField(
        label="Why they differ",
        choices=Adjudication.Cause.choices,
        widget=forms.RadioSelect,
        error_messages={"required": "Say why they differ: choose one of the causes."},
    )


class SettlingForm(forms.Form):
    """How a disagreement is settled: by a new answer or an adopted one, with a reason.

    `answer_field` names the field of the new answer.
    """

    answer_field = ""

    adopt = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST_KEY,
        widget=forms.HiddenInput,
        help_text="The key of the answer to adopt.",
    )
    reason = LinesField(
        label="Reason",
        required=False,
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "true"}),
        help_text="If an answer is adopted without a reason, its note is used.",
    )

    def clean(self) -> dict[str, Any]:
        """Require an answer, or one to adopt."""
        cleaned = super().clean() or self.cleaned_data
        if (
            cleaned.get("adopt") is None
            and cleaned.get(self.answer_field) in (None, "")
            and not self.errors
        ):
            self.add_error(self.answer_field, "Choose an answer, or adopt one that was given.")
        return cleaned


class GradeForm(SettlingForm):
    """How a disagreement is settled by a grade."""

    answer_field = "relevance"

    relevance = forms.IntegerField(required=False, min_value=-32_768, max_value=32_767)


class CauseForm(SettlingForm):
    """A settling form that also asks for the cause of the disagreement."""

    cause = cause_field()


@dataclass
class Answer:
    """One answer with everybody who gave it; `adopt` is the key of the row to adopt."""

    # None: they cannot judge it.
    value: int | str | None
    label: str
    adopt: int
    key: str = ""
    voices: list[GivenAnswer] = field(default_factory=list)

    @property
    def who(self) -> str:
        """The names of everybody who gave it."""
        return ", ".join(voice.who for voice in self.voices)


def document_context(disagreement: Disagreement, candidate: Candidate) -> dict[str, Any]:
    """Return what the document component needs."""
    narrative = disagreement.narrative
    words = words_to_mark(narrative.pair, narrative)
    shown = read_pane(candidate.document, words)
    return {
        "candidate": candidate,
        "document": shown.document,
        # No need to hide the name: nobody who still has to judge it sees this page.
        "name": name_of(shown.document, disagreement.member.project, hidden=False),
        "text": shown.text,
        "table": shown.table,
        "marks": shown.marks,
        "prior": candidate.prior_relevance,
    }


def group_answers(
    answers: Sequence[GivenAnswer],
    column: str,
    labels: Mapping[Any, str],
    keys: Mapping[str, str],
    taken: Iterable[str] = (),
) -> list[Answer]:
    """Group answers that are equal in a column of their rows, each with the key that adopts it.

    An answer to a condition has its own key on every page. The first three grades have the keys of
    the three answers to a condition, further ones keys that are free here.
    """
    groups: dict[Any, Answer] = {}
    free = [keys["met"], keys["not_met"], keys["cant_tell"]]
    free += keymap.free_keys([*keymap.keys_on_page("settle", keys), *taken])
    for answer in answers:
        value = getattr(answer.row, column)
        if value not in groups:
            key = keys.get(value) or (free[len(groups)] if len(groups) < len(free) else "")
            groups[value] = Answer(value, labels.get(value, ""), answer.row.pk, key)
        groups[value].voices.append(answer)
    return list(groups.values())


def grades_context(
    project: Project, answers: Sequence[GivenAnswer], keys: Mapping[str, str]
) -> dict[str, Any]:
    """Return the grades with their keys, and the answers grouped by grade."""
    grades = list(project.grades.order_by("value"))
    grade_keys = keymap.grade_keys(grades, keymap.keys_on_page("settle", keys))
    for grade in grades:
        grade.key = grade_keys[grade.value]
    names = {grade.value: grade.name for grade in grades}
    return {
        "grades": grades,
        "grade_keys": grade_keys,
        "answers": group_answers(answers, "relevance", names, keys, grade_keys.values()),
    }


def number_choices(choices: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Return the answers to choose from, each with its number as its key."""
    return [
        {"value": value, "name": name, "key": str(number)}
        for number, (value, name) in enumerate(choices, start=1)
    ]


def split_decisions(decisions: QuerySet[Any]) -> dict[str, Any]:
    """Return the current decision, and the earlier ones in the same order."""
    rows = list(decisions)
    current = next((row for row in rows if not (row.withdrawn_at or row.text_replaced_at)), None)
    return {"decision": current, "earlier": [row for row in rows if row is not current]}


def list_causes(keys: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the causes to choose from, each with its key."""
    actions = {
        cause: "problem" if cause == Adjudication.Cause.AMBIGUOUS else f"settle_{cause}"
        for cause in Adjudication.Cause
    }
    return [
        {"value": cause.value, "name": cause.label, "key": keys[action]}
        for cause, action in actions.items()
    ]
