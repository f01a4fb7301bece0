"""Rows -> units x raters, scope by scope, and what `agreement` makes of them. No statistics here.

A unit is a candidate under a narrative version (for reviews: a narrative version, or one criterion
of it), a rater is a member. People's judgments count while they are current and their narrative is
in force; reviews once they are submitted, of every version. Machines are raters of their own
figures only.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Max, Q
from django.utils import timezone

from annotate.models import Flag, Grade, Judgment, Narrative, Project
from audit import rubrics
from audit.criteria import Rubric
from audit.models import AgreementReport, Rating, Review
from jobs.runner import Progress

if TYPE_CHECKING:
    import pandas as pd

    from agreement import Coefficient

# What every scope is measured by, in the order in which they are shown.
COEFFICIENTS: dict[str, str] = {
    "percent": "Percent agreement",
    "cohen": "Cohen's kappa",
    "cohen_linear": "Cohen's kappa, linear weights",
    "cohen_quadratic": "Cohen's kappa, quadratic weights",
    "fleiss": "Fleiss' kappa",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "alpha_interval": "Krippendorff's alpha, interval",
}
# The one that stands first: it takes any number of people, missing answers and the scale.
HEADLINE = "alpha_ordinal"


class Since(NamedTuple):
    """What has happened in a project after a report was computed."""

    judgments: int
    taken_back: int
    reviews: int
    narratives: int

    @property
    def anything(self) -> bool:
        """Whether the report would come out otherwise now."""
        return any(self)


def agreement_of(
    project: Project,
    *,
    seed: int,
    resamples: int,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Return a project's agreement, ready for JSON: figures, and what they were computed on.

    Keys: project, computed_at, scale, rubric, levels (value -> number), seed, resamples, through
    (the newest rows that were seen), left_out, judgments {all, pairs, queries}, machines, reviews
    {all, criteria}. A scope has units, raters, ratings, excluded and coefficients (keys of
    COEFFICIENTS), each of these with value (or None and the reason in note), interval and
    interval_note; that of a criterion has its name as well.
    """
    progress = progress or Progress()
    # Before the rows are read: what comes in between counts as come since.
    frame: dict[str, Any] = {
        "project": project.slug,
        "computed_at": (now or timezone.now()).isoformat(),
        "through": _through(project),
    }
    rows = _judgments(project)
    people, machines = rows[~rows["is_machine"]], rows[rows["is_machine"]]
    grades = Grade.objects.filter(project=project).values_list("value", flat=True)
    scale = sorted({*grades, *rows["relevance"].unique().tolist()})
    measure = _Measure(scale, seed, resamples, progress)
    by_people = _units_by_raters(people, ["query", "narrative", "candidate"], "relevance")
    by_anyone = _units_by_raters(rows, ["query", "narrative", "candidate"], "relevance")
    machine_names = sorted(machines["rater"].unique())
    people_names = sorted(by_people.columns)
    pairs = _sharing(by_people, list(combinations(people_names, 2)))
    with_machines = _sharing(
        by_anyone, [(person, machine) for machine in machine_names for person in people_names]
    )
    rubric = _rubric(project)
    values = _level_values(rubric)
    reviews = _ratings(project, rubric)
    levels = _Measure(sorted(values.values()), seed, resamples, progress)
    queries = [(query, table) for query, table in by_people.groupby(level="query", sort=True)]
    progress.start(
        2 + len(pairs) + len(queries) + len(with_machines) + len(rubric.criteria),
        "Measuring agreement",
    )
    return {
        **frame,
        "scale": scale,
        "rubric": rubric.name,
        "levels": values,
        "seed": seed,
        "resamples": resamples,
        "left_out": _left_out(project, rubric),
        "judgments": {
            "all": measure(by_people),
            "pairs": [measure(by_people[list(pair)], raters=pair) for pair in pairs],
            "queries": [{"query": query, **measure(table)} for query, table in queries],
        },
        "machines": [
            {
                "machine": machine,
                "pairs": [
                    measure(by_anyone[list(pair)], raters=pair)
                    for pair in with_machines
                    if pair[1] == machine
                ],
            }
            for machine in machine_names
        ],
        "reviews": {
            "all": levels(_units_by_raters(reviews, ["narrative", "criterion"], "level")),
            "criteria": {
                criterion.key: {
                    "name": criterion.name,
                    **levels(
                        _units_by_raters(
                            reviews[reviews["criterion"] == criterion.key], ["narrative"], "level"
                        )
                    ),
                }
                for criterion in rubric.criteria
            },
        },
    }


def since(report: AgreementReport) -> Since:
    """Return what has come after a computed report: its figures do not know of it."""
    figures = report.figures or {}
    through, moment = figures["through"], datetime.fromisoformat(figures["computed_at"])
    judgments = Judgment.objects.filter(annotator__project=report.project_id)
    come = judgments.filter(pk__gt=through["judgment"])
    # What was judged again has come; what was taken back has gone.
    gone = judgments.filter(
        pk__lte=through["judgment"], superseded_at__gt=moment, replaced_by__isnull=True
    )
    reviews = Review.objects.filter(auditor__project=report.project_id, submitted_at__gt=moment)
    narratives = Narrative.objects.filter(
        pair__project=report.project_id, pk__gt=through["narrative"]
    )
    return Since(come.count(), gone.count(), reviews.count(), narratives.count())


class _Measure:
    """Computes one scope after the other on one scale, and counts them."""

    def __init__(self, scale: Sequence[int], seed: int, resamples: int, progress: Progress) -> None:
        self._scale = scale
        self._how: dict[str, Any] = {
            "interval": "bootstrap",
            "seed": seed,
            "resamples": resamples,
        }
        self._progress = progress

    def __call__(self, table: pd.DataFrame, raters: Sequence[str] = ()) -> dict[str, Any]:
        """Measure units x raters. What none of these raters judged is no unit of theirs."""
        from agreement import (
            Ratings,
            cohen_kappa,
            fleiss_kappa,
            krippendorff_alpha,
            percent_agreement,
        )

        table = table.dropna(axis="index", how="all").dropna(axis="columns", how="all")
        ratings = Ratings.from_matrix(
            table.to_numpy(dtype=float), categories=list(self._scale) or "seen"
        )
        found = {
            "percent": percent_agreement(ratings, **self._how),
            "cohen": cohen_kappa(ratings, **self._how),
            "cohen_linear": cohen_kappa(ratings, weights="linear", **self._how),
            "cohen_quadratic": cohen_kappa(ratings, weights="quadratic", **self._how),
            "fleiss": fleiss_kappa(ratings, **self._how),
            "alpha_nominal": krippendorff_alpha(ratings, level="nominal", **self._how),
            "alpha_ordinal": krippendorff_alpha(ratings, level="ordinal", **self._how),
            "alpha_interval": krippendorff_alpha(ratings, level="interval", **self._how),
        }
        self._progress.advance()
        return {
            "raters": list(raters) or sorted(table.columns),
            "units": ratings.units,
            "ratings": int(table.count().sum()),
            "excluded": [entry._asdict() for entry in ratings.excluded],
            "coefficients": {key: _ready_for_json(one) for key, one in found.items()},
        }


def _ready_for_json(coefficient: Coefficient) -> dict[str, Any]:
    interval = coefficient.interval
    return {
        "name": coefficient.name,
        "method": coefficient.method,
        "value": coefficient.value,
        "note": coefficient.note,
        "interval": None if interval is None else [interval.low, interval.high],
        "interval_note": coefficient.interval_note,
        "units": coefficient.units,
        "raters": coefficient.raters,
        "pairs": coefficient.pairs,
    }


def _in_force(project: Project) -> Any:
    """The keys of the narratives in force, of every side."""
    return (
        Narrative.objects.current()
        .filter(pair__project=project, pair__removed_at__isnull=True)
        .values("pk")
    )


def _judgments(project: Project) -> pd.DataFrame:
    """One row per judgment that counts: one query, so all of them as of one moment."""
    import pandas as pd

    rows = (
        Judgment.objects.current()
        .filter(narrative__in=_in_force(project))
        .values_list(
            "narrative__pair__query__query_id",
            "narrative",
            "candidate",
            "annotator__name",
            "annotator__is_machine",
            "relevance",
        )
    )
    frame = pd.DataFrame.from_records(
        list(rows),
        columns=["query", "narrative", "candidate", "rater", "is_machine", "relevance"],
    )
    return frame.astype({"is_machine": bool, "relevance": int})


def _submitted(project: Project) -> Any:
    return Review.objects.submitted().filter(auditor__project=project, auditor__is_machine=False)


def _rubric(project: Project) -> Rubric:
    """The rubric of the newest review: levels of two rubrics are not one scale."""
    newest = _submitted(project).order_by("-submitted_at", "-pk").values_list("rubric", flat=True)
    name = newest.first()
    return rubrics.in_force(project.pk) if name is None else rubrics.named(project.pk, name)


def _level_values(rubric: Rubric) -> dict[str, int]:
    """Levels as an ordered scale, the worst 0: what weighted kappa and ordinal alpha see."""
    best = len(rubric.levels) - 1
    return {level.value: best - place for place, level in enumerate(rubric.levels)}


def _ratings(project: Project, rubric: Rubric) -> pd.DataFrame:
    """One row per rating of a submitted review by a person, under that rubric."""
    import pandas as pd

    rows = Rating.objects.filter(
        review__in=_submitted(project).filter(rubric=rubric.name)
    ).values_list("review__narrative", "criterion", "review__auditor__name", "level")
    frame = pd.DataFrame.from_records(
        list(rows), columns=["narrative", "criterion", "rater", "level"]
    )
    frame["level"] = frame["level"].map(_level_values(rubric))
    return frame


def _units_by_raters(rows: pd.DataFrame, unit: list[str], value: str) -> pd.DataFrame:
    """Pivot rows to units x raters; missing where a rater did not judge."""
    table = rows.pivot(index=unit, columns="rater", values=value)
    return table.sort_index(axis="columns")


def _sharing(table: pd.DataFrame, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Keep the pairs of raters who have a unit in common."""
    present = table.notna()
    return [(a, b) for a, b in pairs if bool((present[a] & present[b]).any())]


def _through(project: Project) -> dict[str, int]:
    judgments = Judgment.objects.filter(annotator__project=project)
    narratives = Narrative.objects.filter(pair__project=project)
    return {
        "judgment": judgments.aggregate(last=Max("pk"))["last"] or 0,
        "narrative": narratives.aggregate(last=Max("pk"))["last"] or 0,
    }


ONE = {"judgments": "judgment", "documents": "document", "reviews": "review"}
MANY = {name: name for name in ONE}


def _left_out(project: Project, rubric: Rubric) -> list[dict[str, Any]]:
    """What people said that does not enter the figures, and why."""
    said = Judgment.objects.current().of_people().filter(annotator__project=project)
    removed = Q(narrative__pair__removed_at__isnull=False)
    flags = (
        Flag.objects.current()
        .filter(annotator__project=project, narrative__in=_in_force(project))
        .exclude(kind=Flag.Kind.LATER)
    )
    drafts = Review.objects.filter(auditor__project=project, submitted_at__isnull=True)
    found = {
        "{judgments} under an older version of the narrative": said.exclude(removed)
        .exclude(narrative__in=_in_force(project))
        .count(),
        "{judgments} under an instruction that was removed": said.filter(removed).count(),
        "{documents} flagged instead of judged": flags.count(),
        "{reviews} not submitted yet": drafts.count(),
        f"{{reviews}} under another rubric than {rubric.name}": _submitted(project)
        .exclude(rubric=rubric.name)
        .count(),
    }
    return [
        {"reason": reason.format_map(ONE if count == 1 else MANY), "count": count}
        for reason, count in found.items()
        if count
    ]
