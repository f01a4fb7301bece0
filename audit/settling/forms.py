"""What people type in the second pass, checked before an action sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import Max
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from annotate.errors import Refused
from annotate.models.collection import Query
from annotate.models.instruction import Condition, InstructionPair, Narrative
from annotate.models.judgment import Adjudication, Verdict
from annotate.models.project import Guideline, Membership, Project
from audit.models import Decision
from audit.reports.scopes import WHOLE, categories_of, rubric_of, scope_of
from audit.reviews import rubrics
from audit.reviews.actions import MAX_WORDS
from audit.reviews.criteria import Criterion, Rubric
from audit.reviews.passes import Pass
from audit.settling.adjudication import MAX_REASON
from audit.settling.many import NO_PERSON_WHILE_NAMES_ARE_HIDDEN, How, Rule
from audit.settling.queue import Kind, Order, Wanted
from formats.fields import NotJson
from formats.records import RubricRecord
from formats.rubrics import MAX_LENGTH, RubricFaults, parse

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


class RubricForm(forms.Form):
    """A rubric as JSON: typed, or in a file, which then takes the place of what was typed."""

    text = forms.CharField(
        label=_lazy("The rubric as JSON"),
        required=False,
        max_length=MAX_LENGTH,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "class": "rubric__text"}),
    )
    file = forms.FileField(
        label=_lazy("Or a file"), required=False, max_length=255, allow_empty_file=True
    )

    def __init__(self, *args: Any, content: RubricRecord | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._content = content

    @property
    def content(self) -> RubricRecord:
        """What it says, once it is valid."""
        if self._content is None:
            raise ValueError("this form holds no rubric")
        return self._content

    def clean(self) -> dict[str, Any]:
        """Read the rubric; every fault becomes a sentence that begins with its place."""
        given = super().clean() or self.cleaned_data
        if self.errors or self._content is not None:
            return given
        upload = given.get("file")
        text = given.get("text", "")
        try:
            if upload is not None:
                if upload.size > 4 * MAX_LENGTH:
                    raise ValueError(_("The file is too long for a rubric."))
                text = upload.read().decode("utf-8-sig")
                # Shown and sent again with the page, so that it can be put right there.
                self.data = {**self.data, "text": text}
            self._content = parse(text)
        except UnicodeDecodeError:
            self.add_error("file", _("The file is no text in UTF-8."))
        except NotJson as error:
            where = {"line": error.line, "column": error.column, "error": str(error)}
            self.add_error("text", _("Line %(line)s, column %(column)s: %(error)s.") % where)
        except RubricFaults as error:
            for fault in error.faults:
                self.add_error("text", fault + ".")
        except ValueError as error:
            self.add_error("file", str(error))
        return given


class DecisionForm(forms.Form):
    """What becomes of an instruction, and why."""

    outcome = forms.ChoiceField(
        choices=[
            (Decision.Outcome.ACCEPTED, _lazy("Accept")),
            (Decision.Outcome.REVISE, _lazy("Send back for revision")),
            (Decision.Outcome.REMOVED, _lazy("Remove")),
        ],
        widget=forms.RadioSelect,
    )
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


RULES = [
    (Rule.MAJORITY, _lazy("More than half say")),
    (Rule.PERSON, _lazy("One person says")),
    (Rule.GRADE, _lazy("One grade, whatever they say")),
]


class HowForm(forms.Form):
    """By which rule many documents are settled."""

    rule = forms.ChoiceField(
        label=_lazy("Settle each as"),
        choices=RULES,
        widget=forms.RadioSelect,
    )
    person = forms.ModelChoiceField(
        Membership.objects.none(),
        label=_lazy("Who, where one person says"),
        required=False,
        empty_label=_lazy("Choose"),
    )
    grade = forms.TypedChoiceField(
        label=_lazy("Grade, where it is one grade"), coerce=int, empty_value=None, required=False
    )

    def __init__(self, member: Membership, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rule, grade = self.fields["rule"], self.fields["grade"]
        assert isinstance(rule, forms.ChoiceField)
        assert isinstance(grade, forms.ChoiceField)
        if member.project.hide_names:
            rule.choices = [one for one in RULES if one[0] != Rule.PERSON]
            del self.fields["person"]
        else:
            person = self.fields["person"]
            assert isinstance(person, forms.ModelChoiceField)
            people = Membership.objects.people().filter(project=member.project_id)
            person.queryset = people.order_by("name")
        grades = member.project.grades.order_by("value")
        grade.choices = [("", _("Choose")), *((one.value, str(one)) for one in grades)]

    def clean(self) -> dict[str, Any]:
        """Ask for the person, or the grade, that the rule needs."""
        given = super().clean() or self.cleaned_data
        if "person" not in self.fields and self.data.get("rule") == Rule.PERSON:
            self.errors["rule"] = self.error_class([str(NO_PERSON_WHILE_NAMES_ARE_HIDDEN)])
        if given.get("rule") == Rule.PERSON and not given.get("person") and not self.errors:
            self.add_error("person", _("Choose whose answers are adopted."))
        if given.get("rule") == Rule.GRADE and given.get("grade") is None and not self.errors:
            self.add_error("grade", _("Choose a grade."))
        return given

    def how(self) -> How:
        """Return the rule; the form is valid."""
        given = self.cleaned_data
        rule = Rule(given["rule"])
        return How(
            rule,
            person=given["person"].pk if rule is Rule.PERSON else None,
            grade=given["grade"] if rule is Rule.GRADE else None,
        )


class ManyForm(forms.Form):
    """Why many documents are settled so, and which preview was seen."""

    cause = forms.ChoiceField(
        label=_lazy("Why they differ"),
        choices=Adjudication.Cause.choices,
        widget=forms.RadioSelect,
        error_messages={"required": _lazy("Say why they differ: choose one of the causes.")},
    )
    reason = forms.CharField(
        label=_lazy("Reason"),
        max_length=MAX_REASON,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "true"}),
        help_text=_lazy("Stands with each of them. Their judges read it."),
        error_messages={"required": _lazy("Give a reason, so that the judges can learn from it.")},
    )
    token = forms.CharField(max_length=100, widget=forms.HiddenInput)


class VerdictForm(_CauseForm):
    """How it is settled whether a document meets a condition."""

    given = "answer"

    answer = forms.ChoiceField(choices=Verdict.Answer.choices, required=False)


class ThirdCheckForm(SettlingForm):
    """How a third person settles what two checkers of a label differ on."""

    given = "relevance"

    relevance = forms.IntegerField(required=False)


class ScopeForm(forms.Form):
    """Which part of a project a report of agreement is of; everything may be left out."""

    # What is not on offer is told in a sentence of `audit.reports.scopes`, so none of them is a
    # choice.
    query = forms.CharField(label=_lazy("Query"), max_length=255, required=False)
    category = forms.CharField(label=_lazy("Category"), required=False)
    side = forms.CharField(label=_lazy("Narrative"), required=False)
    criterion = forms.CharField(label=_lazy("Criterion"), required=False)
    one = forms.CharField(label=_lazy("Between"), required=False)
    other = forms.CharField(label=_lazy("and"), required=False)
    guideline = forms.CharField(label=_lazy("Guidelines"), required=False)
    week = forms.CharField(
        label=_lazy("In the week of"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
    )
    blind = forms.BooleanField(
        label=_lazy("Blind judgments only"),
        required=False,
        widget=forms.CheckboxInput(attrs={"value": "1"}),
    )

    def __init__(self, project: Project, asked: Mapping[str, Any]) -> None:
        super().__init__(asked)
        self._project = project
        self.scope = WHOLE
        people = Membership.objects.people().filter(project=project).order_by("name")
        names = [(name, name) for name in people.values_list("name", flat=True)]
        versions = Guideline.objects.filter(project=project).order_by("version")
        known = [
            (str(version), _("version %(version)s") % {"version": version})
            for version in versions.values_list("version", flat=True)
        ]
        offered: dict[str, list[tuple[str, Any]]] = {
            "category": [(key, key) for key in categories_of(project)],
            "side": list(Narrative.Side.choices),
            "criterion": [(one.key, one.name) for one in rubric_of(project).criteria],
            "one": names,
            "other": names,
            "guideline": [("0", _("before the first")), *known] if known else [],
        }
        for name, choices in offered.items():
            self.fields[name].widget = (
                forms.Select(choices=[("", _("any")), *choices]) if choices else forms.HiddenInput()
            )

    def clean(self) -> dict[str, Any]:
        """Read the scope; what there is not in the project is an error of the whole form."""
        given = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                self.scope = scope_of(self._project, given)
            except Refused as refused:
                raise forms.ValidationError(str(refused)) from refused
        return given


class ComparedForm(forms.Form):
    """Which two parts of a project are compared."""

    of = forms.ChoiceField(label=_lazy("Agreement in"), required=False)
    against = forms.ChoiceField(label=_lazy("against"), required=False)

    def __init__(self, offered: list[tuple[str, str]], asked: Mapping[str, Any] | None) -> None:
        super().__init__(asked)
        for name in ("of", "against"):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = offered
            field.error_messages["invalid_choice"] = _(
                "There is no such part of this project. Choose one of the list."
            )

    def clean(self) -> dict[str, Any]:
        """Ask for two different parts of the judgments."""
        given = super().clean() or self.cleaned_data
        if not self.errors and given["of"] == given["against"]:
            self.add_error("against", _("Choose two different parts to compare."))
        return given


NAMES_ARE_HIDDEN = _lazy(
    "Names are hidden in this project, so disagreements cannot be filtered by people. Leave both "
    "open, or show names in the settings."
)


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
        # A part of the list that names two people tells who said what in it.
        if not member.project.hide_names:
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
        """Turn a query's id into its key; the list also names pairs, which stand for theirs."""
        query_id = self.cleaned_data["query"]
        if not query_id:
            return None
        found = Query.objects.filter(project=self._member.project_id, query_id=query_id)
        key: int | None = found.values_list("pk", flat=True).first()
        if key is None:
            pairs = InstructionPair.objects.filter(project=self._member.project_id)
            key = pairs.filter(pair_id=query_id).values_list("query__pk", flat=True).first()
        if key is None:
            raise forms.ValidationError(
                _("There is no query %(query_id)s in this project.") % {"query_id": query_id}
            )
        return int(key)

    def clean(self) -> dict[str, Any]:
        """Ask for two people or none; for none while names are hidden."""
        given = super().clean() or self.cleaned_data
        if self._member.project.hide_names and (self.data.get("one") or self.data.get("other")):
            raise forms.ValidationError(NAMES_ARE_HIDDEN)
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
