"""Forms of reviews, rubrics and decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef

from annotate.pairs.models import Narrative, ReviewDraw
from annotate.projects.models import Membership
from audit.reviews.actions import MAX_WORDS
from audit.reviews.criteria import Rubric
from audit.reviews.draws import MAX_SEED, MAX_SIZE
from audit.reviews.models import Decision, Review
from audit.reviews.review_list import NO_CATEGORY, ReviewFilter
from audit.reviews.rubrics import criterion_names
from base.requests import LinesField
from base.texts import natural
from formats.json_text import NotJson
from formats.records import RubricRecord
from formats.rubrics import MAX_LENGTH, RubricFaults, parse_rubric


class ReviewForm(forms.Form):
    """The version of the narrative that was on the screen."""

    narrative = forms.IntegerField(
        widget=forms.HiddenInput,
        error_messages={"required": "Reload the page: it does not say which version you read."},
    )


class RatingForm(ReviewForm):
    """The level and words for one criterion; either may be missing."""

    criterion = forms.CharField(max_length=40)
    level = forms.CharField(required=False, max_length=20, empty_value=None)
    words = forms.CharField(required=False, max_length=MAX_WORDS, strip=False)


class ReviewFilterForm(forms.Form):
    """Filters of the list of instructions, all optional; some are for leads only."""

    search = forms.CharField(label="Words", max_length=200, required=False)
    category = forms.ChoiceField(label="Category", required=False)
    author = forms.TypedChoiceField(label="Author", required=False, coerce=int, empty_value=None)
    auditor = forms.TypedChoiceField(label="Auditor", required=False, coerce=int, empty_value=None)
    criterion = forms.ChoiceField(label="Rejected on", required=False)

    def __init__(
        self, member: Membership, rubrics: Sequence[Rubric], *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        instructions = Narrative.objects.current().filter(side=Narrative.Side.ALTERED)
        pairs = member.project.pairs.filter(pk__in=instructions.values("pair"))
        categories = pairs.order_by().values_list("category", flat=True)
        self._offer(
            "category",
            [
                (category or NO_CATEGORY, category or "None named")
                for category in sorted(categories.distinct(), key=natural)
            ],
        )
        if not member.leads:
            for name in ("author", "auditor", "criterion"):
                del self.fields[name]
            return
        written = Narrative.objects.filter(author=OuterRef("pk"), side=Narrative.Side.ALTERED)
        reviewed = Review.objects.submitted().filter(auditor=OuterRef("pk"))
        people = member.project.memberships.order_by("name").annotate(
            wrote=Exists(written), reviewed=Exists(reviewed)
        )
        members = list(people.values_list("pk", "name", "wrote", "reviewed"))
        self._offer("author", [(pk, name) for pk, name, wrote, _audits in members if wrote])
        self._offer("auditor", [(pk, name) for pk, name, _wrote, audits in members if audits])
        # Earlier reviews may have rejected on criteria that the current rubric does not have.
        self._offer("criterion", list(criterion_names(rubrics).items()))

    def _offer(self, name: str, choices: list[tuple[Any, str]]) -> None:
        """Set the choices of a field, after "Any"; remove a field that has no choices."""
        if not any(key != NO_CATEGORY for key, _name in choices):
            del self.fields[name]
            return
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", "Any"), *choices]

    def filters(self, state: str) -> ReviewFilter:
        """Return the filters; only `state` if the form has errors."""
        cleaned = self.cleaned_data if self.is_valid() else {}
        return ReviewFilter(
            state=state,
            **{name: value for name, value in cleaned.items() if value not in {None, ""}},
        )


class RubricForm(forms.Form):
    """A rubric as JSON, typed or uploaded; a file replaces the typed text."""

    text = LinesField(
        label="The rubric as JSON",
        required=False,
        max_length=MAX_LENGTH,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "class": "rubric__text"}),
    )
    file = forms.FileField(label="Or a file", required=False, max_length=255, allow_empty_file=True)

    def __init__(self, *args: Any, content: RubricRecord | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._content = content

    @property
    def content(self) -> RubricRecord:
        """The rubric of a valid form; raise ValueError if there is none."""
        if self._content is None:
            raise ValueError("this form holds no rubric")
        return self._content

    def clean(self) -> dict[str, Any]:
        """Parse the rubric; each fault becomes an error that begins with its location."""
        cleaned = super().clean() or self.cleaned_data
        if self.errors or self._content is not None:
            return cleaned
        upload = cleaned.get("file")
        text = cleaned.get("text", "")
        try:
            if upload is not None:
                if upload.size > 4 * MAX_LENGTH:
                    raise ValueError("The file is too long for a rubric.")
                text = upload.read().decode("utf-8-sig")
                # The page shows the text of the file, so that it can be corrected there.
                self.data = {**self.data, "text": text}
            self._content = parse_rubric(text)
        except UnicodeDecodeError:
            self.add_error("file", "The file is not text in UTF-8.")
        except NotJson as error:
            where = {"line": error.line, "column": error.column, "error": str(error)}
            self.add_error("text", "Line {line}, column {column}: {error}.".format(**where))
        except RubricFaults as error:
            for fault in error.faults:
                self.add_error("text", fault + ".")
        except ValueError as error:
            self.add_error("file", str(error))
        return cleaned


# What a lead can decide on an instruction, the worst first: as with levels, the highest key is the
# best.
OUTCOMES = [
    (Decision.Outcome.REMOVED.value, "Remove"),
    (Decision.Outcome.REVISE.value, "Send back for revision"),
    (Decision.Outcome.ACCEPTED.value, "Accept"),
]


class DecisionForm(forms.Form):
    """The decision on an instruction, and its reason."""

    outcome = forms.ChoiceField(
        choices=OUTCOMES,
        widget=forms.RadioSelect,
    )
    reason = LinesField(
        required=False,
        max_length=MAX_WORDS,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "true"}),
        help_text="Its author reads this. Needed except to accept an instruction that passed.",
    )


class ReviewDrawForm(forms.Form):
    """The choices for a draw of instructions to review: strata, size and seed."""

    stratify = forms.ChoiceField(
        label="Strata",
        # A changed label of the model would need a migration.
        choices=[
            (
                choice.value,
                "None: all instructions together"
                if choice == ReviewDraw.Stratify.NONE
                else choice.label,
            )
            for choice in ReviewDraw.Stratify
        ],
        initial=ReviewDraw.Stratify.NONE,
        help_text="Domains come with the files of queries, if these name them.",
    )
    size = forms.IntegerField(label="Instructions per stratum", min_value=1, max_value=MAX_SIZE)
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=MAX_SEED,
        initial=1,
        help_text="The same seed draws the same instructions, so a paper can name it.",
    )
    fewer = forms.BooleanField(label="If there are fewer, take all of them", required=False)
