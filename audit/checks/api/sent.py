"""Request bodies and query parameters of the check resources."""

from __future__ import annotations

from rest_framework import serializers

from annotate.collection.text_versions import MAX_TEXT_VERSION
from annotate.judgments.models import Verdict
from annotate.pairs.models import Narrative
from audit.checks.actions import MAX_WORDS
from audit.checks.figures import BOUND
from audit.checks.forms import SampleForm
from audit.checks.models import Reply, Sample
from audit.checks.queue import LABEL_FILTERS
from audit.checks.samples import MAX_NAME
from base.api.bodies import FormBody
from base.api.resource import KeyField, QueryParameters, RequestBody

SMALL = 32_767


class _SentClaims(RequestBody):
    """The choice of whose labels are checked."""

    source = serializers.ChoiceField(choices=Sample.Source.choices)  # type: ignore[assignment]
    rater = serializers.CharField(
        max_length=150, required=False, help_text="The machine's name, for `machine`."
    )
    side = serializers.ChoiceField(
        choices=Narrative.Side.choices,
        required=False,
        allow_blank=True,
        help_text="The mode whose labels are checked; all modes if left out.",
    )


class SentPlan(_SentClaims, FormBody):
    """The choices for a random sample, without a name."""

    class Meta:
        form = SampleForm
        fields: tuple[str, ...] = (
            *("relevant_only", "asks", "stratify", "per", "size", "seed", "fewer"),
        )


class SentSample(SentPlan):
    """The choices for a random sample, with its name."""

    class Meta:
        form = SampleForm
        fields = (*SentPlan.Meta.fields, "name", "shows_claim", "shows_reason")


class AskedSuspects(QueryParameters):
    """The rule for suspects: documents that are claimed relevant and missed by runs."""

    source = serializers.ChoiceField(  # type: ignore[assignment]
        choices=Sample.Source.choices, default=Sample.Source.PRIOR
    )
    rater = serializers.CharField(max_length=150, required=False)
    side = serializers.ChoiceField(choices=Narrative.Side.choices, required=False)
    runs = serializers.RegexField(
        r"^[1-9][0-9]{0,17}(,[1-9][0-9]{0,17})*$",
        required=False,
        help_text="Keys of runs, separated by commas; all runs if left out.",
    )
    depth = serializers.IntegerField(min_value=1, max_value=1_000_000, default=100)
    at_least = serializers.IntegerField(min_value=1, max_value=SMALL, default=1)
    below = serializers.FloatField(required=False)


class SentSuspects(_SentClaims):
    """The rule for suspects, and the name of the sample to make of them."""

    name = serializers.CharField(max_length=MAX_NAME)
    runs = serializers.ListField(child=KeyField(), min_length=1, max_length=1_000)
    depth = serializers.IntegerField(min_value=1, max_value=1_000_000, default=100)
    at_least = serializers.IntegerField(min_value=1, max_value=SMALL, default=1)
    below = serializers.FloatField(required=False, allow_null=True)
    stratify = serializers.ChoiceField(
        choices=Sample.Stratify.choices, default=Sample.Stratify.NONE
    )
    shows_claim = serializers.BooleanField(default=False)


class SentCheck(RequestBody):
    """An answer to a claimed label: a grade, or "cannot judge" with words; or, if the sample asks
    for conditions, an answer to each by its key.
    """

    text_version = serializers.IntegerField(
        source="text",
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_TEXT_VERSION,
        help_text="The version of the document's text that was read, 0 for none; the newest if "
        "left out.",
    )
    uuid = serializers.UUIDField(
        required=False, help_text="Created by the client: sent twice, it counts once."
    )
    relevance = serializers.IntegerField(
        min_value=-SMALL - 1, max_value=SMALL, required=False, allow_null=True
    )
    cannot_judge = serializers.BooleanField(default=False)
    verdicts = serializers.DictField(
        child=serializers.ChoiceField(choices=Verdict.Answer.choices), required=False
    )
    questions = serializers.DictField(
        child=serializers.ChoiceField(choices=Reply.choices),
        required=False,
        help_text="Answers to the two questions: `topic` and `constraint`.",
    )
    words = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=MAX_WORDS
    )

    def validate_verdicts(self, verdicts: dict[str, str]) -> dict[int, str]:
        """Convert the condition keys to integers, or refuse them."""
        if not all(key.isascii() and key.isdecimal() and len(key) < 19 for key in verdicts):
            raise serializers.ValidationError("The keys must be those of conditions.")
        return {int(key): answer for key, answer in verdicts.items()}


class AskedSample(QueryParameters):
    """The rate that the error bound should come below."""

    bound = serializers.FloatField(min_value=0.0001, max_value=0.5, default=BOUND)


class AskedLabels(QueryParameters):
    """The filter of labels; all by default."""

    show = serializers.ChoiceField(choices=LABEL_FILTERS, default=LABEL_FILTERS[0])


class AskedNext(QueryParameters):
    """The task, and the label after which to continue."""

    task = serializers.ChoiceField(choices=["check", "settle"], default="check")
    after = KeyField(required=False)
