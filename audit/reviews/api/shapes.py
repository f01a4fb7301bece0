"""API representations of reviews and decisions, shared by several resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rest_framework import serializers

from annotate.projects.models import Membership
from audit.reviews.models import Decision
from audit.reviews.passes import Pass
from audit.reviews.review_verdict import Verdict


class DecisionSerializer(serializers.Serializer[Any]):
    """A decision on a narrative version; `withdrawn_at` is null while it is current."""

    outcome = serializers.ChoiceField(choices=Decision.Outcome.choices)
    reason = serializers.CharField()
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)


class RatedSerializer(serializers.Serializer[Any]):
    """The answer to one criterion; `level` is null while not rated."""

    criterion = serializers.CharField(source="criterion.key")
    level = serializers.CharField(source="level.value", allow_null=True, default=None)
    words = serializers.CharField()


class PassSerializer(serializers.Serializer[Any]):
    """One auditor's review: an answer for each criterion of the rubric it was made under."""

    auditor = serializers.CharField(help_text="A number or a pseudonym if names are hidden.")
    rubric = serializers.CharField(source="review_pass.rubric.name")
    submitted_at = serializers.DateTimeField(allow_null=True)
    answers = RatedSerializer(source="review_pass.answers", many=True)


def passes_as_json(
    passes: Iterable[Pass], reader: Membership, names: Mapping[int, str] | None = None
) -> list[dict[str, Any]]:
    """Return reviews as input for `PassSerializer`.

    With `names` (by member key), auditors have these names and times are left out. Otherwise leads
    see auditors' names; others see numbers, except for their own name.
    """
    rows = []
    for number, review_pass in enumerate(passes, 1):
        auditor = review_pass.review.auditor
        if names is not None:
            who = names[auditor.pk]
        elif reader.leads or auditor.pk == reader.pk:
            who = auditor.name
        else:
            who = f"Auditor {number}"
        at = review_pass.review.submitted_at if names is None else None
        rows.append({"auditor": who, "review_pass": review_pass, "submitted_at": at})
    return rows


def machine_passes_as_json(passes: Iterable[Pass]) -> list[dict[str, Any]]:
    """Return reviews by machines as input for `PassSerializer`; their names are never hidden."""
    return [
        {
            "auditor": review_pass.review.auditor.name,
            "review_pass": review_pass,
            "submitted_at": review_pass.review.submitted_at,
        }
        for review_pass in passes
    ]


# The verdicts on a narrative version.
VERDICT_CHOICES = [(choice.value, choice.value) for choice in Verdict]
