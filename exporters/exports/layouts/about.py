"""about.json: how a published set was judged. The same in all layouts.

It holds guidelines, grades, agreement of people, results of label checks, whose the labels are,
and annotators: as numbers, and by name only those who agreed to be named.
"""

from __future__ import annotations

import json
from typing import Any

from django.db.models import Count

from annotate.judgments.models import Judgment
from annotate.projects.models import Guideline, Project
from audit.checks.figures import figures
from audit.checks.models import Sample
from audit.reports.reliability import agreement_of
from exporters.exports.files import Writer
from exporters.exports.manifest.manifest import grades_of
from exporters.exports.selection import naming
from exporters.exports.selection.labellers import labellers

NAME = "about.json"
# For the intervals of people's agreement. Fixed, so that the same rows give the same bytes.
SEED, RESAMPLES = 17, 1_000
COEFFICIENTS = ("alpha_ordinal", "percent")


def about(project: Project) -> dict[str, Any]:
    """Return how a project was judged."""
    guideline = Guideline.objects.latest_of(project)
    return {
        "guidelines": {"version": guideline.version, "text": guideline.text} if guideline else None,
        "grades": grades_of(project),
        "agreement": agreement(project),
        "checks": checks(project),
        "labels": labellers(project),
        "annotators": annotators(project),
    }


def checks(project: Project) -> list[str]:
    """Return what each sample of labels found, in a sentence."""
    samples = Sample.objects.filter(project=project).order_by("pk")
    return [figures(sample).sentence for sample in samples]


def annotators(project: Project) -> list[dict[str, Any]]:
    """Return the people with current judgments, ordered by their numbers."""
    judgments = Judgment.objects.current().of_people().filter(annotator__project=project)
    rows = (
        judgments.order_by()
        .values_list("annotator", "annotator__name", "annotator__named_at")
        .annotate(n=Count("pk"))
    )
    number_of = naming.number_people(project)
    return sorted(
        (
            {"annotator": number_of[pk], "name": name if named_at else None, "judgments": n}
            for pk, name, named_at, n in rows
        ),
        key=lambda entry: entry["annotator"],
    )


def agreement(project: Project) -> dict[str, Any] | None:
    """Return people's agreement on grades, or None if no document was judged by two."""
    everyone: dict[str, Any] = agreement_of(project, seed=SEED, resamples=RESAMPLES, by=())[
        "judgments"
    ]["all"]
    if not everyone["units"]:
        return None
    return {
        "units": everyone["units"],
        "ratings": everyone["ratings"],
        "raters": len(everyone["raters"]),
        "coefficients": [
            {
                "name": coefficient["name"],
                "value": coefficient["value"],
                "note": coefficient["note"] or "",
                "interval": list(coefficient["interval"]) if coefficient["interval"] else None,
                "interval_note": coefficient["interval_note"] or "",
            }
            for coefficient in (everyone["coefficients"][key] for key in COEFFICIENTS)
        ],
    }


def write(project: Project, into: Writer) -> None:
    """Write about.json."""
    with into.file(
        NAME, "How it was judged: guidelines, agreement, checks, whose labels."
    ) as stream:
        text = json.dumps(about(project), ensure_ascii=False, indent=2)
        stream.write((text + "\n").encode())
