"""What answers of several resources have in common: who decided what, and what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from annotate.projects.models import Membership
from audit.reviews.criteria import Verdict as Amount
from audit.reviews.models import Decision
from audit.reviews.passes import Pass


class DecisionSerializer(serializers.Serializer[Any]):
    """What was decided on a narrative version, and whether that stands."""

    outcome = serializers.ChoiceField(choices=Decision.Outcome.choices)
    reason = serializers.CharField()
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)


class RatedSerializer(serializers.Serializer[Any]):
    """The answer to one criterion; `level` is null while there is none."""

    criterion = serializers.CharField(source="criterion.key")
    level = serializers.CharField(source="level.value", allow_null=True, default=None)
    words = serializers.CharField()


class PassSerializer(serializers.Serializer[Any]):
    """One auditor's review: an answer for each criterion of the rubric it was made under."""

    auditor = serializers.CharField(help_text="A number or a pseudonym where names are hidden.")
    rubric = serializers.CharField(source="said.rubric.name")
    submitted_at = serializers.DateTimeField(allow_null=True)
    answers = RatedSerializer(source="said.answers", many=True)


def told_passes(
    passes: Iterable[Pass], reader: Membership, names: Mapping[int, str] | None = None
) -> list[dict[str, Any]]:
    """Return reviews as `PassSerializer` tells them: by `names` (keys of members), without their
    moments; else to leads by name, and to others by number, but for their own.
    """
    told = []
    for number, said in enumerate(passes, 1):
        auditor = said.review.auditor
        if names is not None:
            who = names[auditor.pk]
        elif reader.leads or auditor.pk == reader.pk:
            who = auditor.name
        else:
            who = _("Auditor %(number)s") % {"number": number}
        at = said.review.submitted_at if names is None else None
        told.append({"auditor": who, "said": said, "submitted_at": at})
    return told


def told_machines(passes: Iterable[Pass]) -> list[dict[str, Any]]:
    """Return reviews of machines as `PassSerializer` tells them: a machine has no name to hide."""
    return [
        {
            "auditor": said.review.auditor.name,
            "said": said,
            "submitted_at": said.review.submitted_at,
        }
        for said in passes
    ]


# What the reviews of a narrative version amount to.
AMOUNTS = [(one.value, one.value) for one in Amount]
