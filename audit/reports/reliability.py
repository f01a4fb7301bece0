"""Agreement of a project, scope by scope: what `audit.reports.counting` counted, and what
`agreement` makes of it. No statistics here.

A unit is a candidate under a narrative version (for reviews: one criterion of a narrative version),
a rater is a member. People's judgments count while they are current and their narrative is in
force; reviews once they are submitted, of every version. Machines are raters of their own figures
only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial, reduce
from itertools import combinations
from operator import or_
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Max, Q
from django.utils import timezone

from annotate.judgments.models import Flag, Judgment
from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from audit.reports.counting import Counts, Patterns, counts_of, in_force, in_times, said_by
from audit.reports.intra_annotator import (
    AGAIN,
    FIRST,
    NOBODY,
    TIMES,
    IntraAnnotator,
    counted,
    intra_annotator,
    repeats_in,
)
from audit.reports.intra_annotator import through as last_repeat
from audit.reports.models import AgreementReport
from audit.reports.scopes import WHOLE, Scope, about, periods_of, stored_scope
from audit.reviews.criteria import Criterion, Rubric
from audit.reviews.models import Review
from jobs.runner import Progress

if TYPE_CHECKING:
    from agreement import Coefficient, Ratings

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
    "scott": "Scott's pi",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2, quadratic weights",
}
# The one that stands first: it takes any number of people, missing answers and the scale.
HEADLINE = "alpha_ordinal"

# The mean over all pairs of raters, where there are more than two.
_OVER_PAIRS = {"cohen", "cohen_linear", "cohen_quadratic", "scott"}
# Resampling fewer queries than this says more about which they are than about the coefficient.
FEWEST_QUERIES = 10

# What a report is split by beside the whole; `agreement_of` takes any of them.
SPLITS = ("pair", "query", "category", "guideline", "week", "criterion", "machine", "self")


class Since(NamedTuple):
    """What has happened in a project after a report was computed."""

    judgments: int
    taken_back: int
    # Judgments of a document's text that was replaced meanwhile.
    of_older_texts: int
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
    scope: Scope = WHOLE,
    by: Collection[str] = SPLITS,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Return the agreement in a part of a project, ready for JSON: figures, and what they are of.

    Keys: project, scope (the address's query string, "" for the whole), sha256 (of everything that
    was counted: the same answers have the same sum), computed_at, scale, levels, seed, resamples,
    through (the newest rows that were seen), left_out, judgments, machines, reviews, rubric,
    selves.

    A measured scope has units, raters, ratings, excluded and coefficients (keys of COEFFICIENTS),
    each of these with value (or None and the reason in note), interval and interval_note; where
    there are FEWEST_QUERIES or more, those of `judgments.all` have interval_over_queries and
    interval_over_queries_note as well. That of a pair has `table`, how often the first gave one
    grade of the scale and the second another, `prevalence` and `bias` (coefficients) of being
    relevant, from the grade `relevant_from` on.

    - judgments: `all` is a scope; `pairs`, `queries`, `categories`, `guidelines` and `weeks` are
      lists of scopes. One of `queries` has `query` (its id), of `categories` `category` ("" where
      an instruction has none; the list is empty where none has any), of `guidelines` `guideline`
      (the version; 0 is before the first; the list is empty where there are no guidelines), `start`
      and `end` (when it was in force, ISO or None), of `weeks` `week` (the ISO date of its Monday,
      UTC, by the last judgment of a document). In order of their names, versions and dates; what
      nobody judged in is left out.
    - machines: a list of `machine` (its name) and `pairs`, the scopes of each person with it.
    - reviews: `all` is a scope, `criteria` a mapping from a criterion's key to its scope, which
      has its `name`. `rubric` is the name of the rubric that all of these reviews are under,
      `levels` each of its levels with the number it counts as. `machines` is as that of judgments,
      over all criteria.
    - selves: each person with themselves (`audit.reports.intra_annotator`): `all` is a scope, or
    None where nobody
      said anything twice, `people` a list of scopes, each with one rater and its `table`.

    `by` names the splits (SPLITS) to measure; the lists of the others are empty.
    """
    progress = progress or Progress()
    # Before the rows are read: what comes in between counts as come since.
    frame: dict[str, Any] = {
        "project": project.slug,
        "scope": str(scope),
        "computed_at": (now or timezone.now()).isoformat(),
        "through": through(project),
    }
    counts = counts_of(project, scope)
    people = {under: counts.people(patterns) for under, patterns in counts.judgments.items()}
    everything = _sum(people.values())
    names = counts.names
    pairs = _shared(everything, names) if "pair" in by else []
    queries = _by(people, "query") if "query" in by else {}
    categories = _by(people, "category") if "category" in by else {}
    if set(categories) == {""}:
        categories = {}
    guidelines = counts.guidelines if "guideline" in by else {}
    weeks = counts.weeks if "week" in by else {}
    machines = _machines(counts, counts.judgments) if "machine" in by else []
    critics = _machines(counts, counts.reviews_with_machines) if "machine" in by else []
    criteria = _criteria(counts, scope) if "criterion" in by else ()
    measure = Measure(
        counts.scale, names, seed, resamples, progress, relevant_from=project.relevant_from
    )
    levels = Measure(sorted(counts.levels.values()), names, seed, resamples, progress)
    twice = intra_annotator(project, scope) if "self" in by else NOBODY
    times = Measure(sorted({*counts.scale, *twice.values}), TIMES, seed, resamples, progress)
    alone = twice.people if len(twice.people) < 2 else {"": None, **twice.people}
    splits = (pairs, queries, categories, guidelines, weeks, criteria, alone)
    progress.start(
        2 + sum(map(len, splits)) + sum(len(found) for _machine, found in [*machines, *critics]),
        "Measuring agreement",
    )
    periods = periods_of(project)
    return {
        **frame,
        "sha256": twice.sum_with(counts.sha256),
        "scale": counts.scale,
        "rubric": counts.rubric.name,
        "levels": counts.levels,
        "seed": seed,
        "resamples": resamples,
        "left_out": _left_out(project, scope, counts.rubric, twice.left_out),
        "judgments": {
            "all": measure(everything, clusters=_by(people, "query")),
            "pairs": [measure(patterns, raters=pair) for pair, patterns in pairs],
            "queries": [{"query": query, **measure(found)} for query, found in queries.items()],
            "categories": [
                {"category": category, **measure(found)} for category, found in categories.items()
            ],
            "guidelines": [
                {
                    "guideline": version,
                    "start": _iso(periods[version].start),
                    "end": _iso(periods[version].end),
                    **measure(found),
                }
                for version, found in guidelines.items()
            ],
            "weeks": [{"week": day.isoformat(), **measure(found)} for day, found in weeks.items()],
        },
        "machines": [
            {
                "machine": names[machine],
                "pairs": [measure(patterns, raters=pair) for pair, patterns in found],
            }
            for machine, found in machines
        ],
        "reviews": {
            "all": levels(_sum(counts.reviews.values())),
            "criteria": {
                criterion.key: {
                    "name": criterion.name,
                    **levels(counts.reviews.get(criterion.key, Counter())),
                }
                for criterion in criteria
            },
            "machines": [
                {
                    "machine": names[machine],
                    "pairs": [levels(patterns, raters=pair) for pair, patterns in found],
                }
                for machine, found in critics
            ],
        },
        "selves": _of_intra_annotator(twice, times),
    }


def _of_intra_annotator(twice: IntraAnnotator, measure: Measure) -> dict[str, Any]:
    """Each person with themselves, and everybody so together."""
    people = [
        {**measure(counted(answers), raters=(FIRST, AGAIN)), "raters": [name]}
        for name, answers in twice.people.items()
    ]
    together = None
    if len(people) > 1:
        together = measure(counted(twice.everybody), raters=(FIRST, AGAIN))
    return {"all": together or (people[0] if people else None), "people": people}


def since(report: AgreementReport) -> Since:
    """Return what has come after a computed report: its figures do not know of it."""
    figures = report.figures or {}
    seen, moment = figures["through"], datetime.fromisoformat(figures["computed_at"])
    scopes = [
        stored_scope(report.scope),
        *([stored_scope(report.against)] if report.compares else []),
    ]
    judgments = Judgment.objects.filter(
        reduce(or_, (said_by(scope) for scope in scopes)), annotator__project=report.project_id
    )
    reviews = Review.objects.filter(
        reduce(or_, (_of_people(scope, "auditor") for scope in scopes)),
        auditor__project=report.project_id,
        auditor__is_machine=False,
    )
    # A comparison is of people's judgments.
    if report.compares:
        judgments, reviews = judgments.of_people(), reviews.none()
    if scopes[0].criterion:
        judgments = judgments.none()
    come = judgments.filter(pk__gt=seen["judgment"])
    # What was judged again has come; what was taken back has gone.
    before = judgments.filter(pk__lte=seen["judgment"])
    taken_back = before.filter(superseded_at__gt=moment, replaced_by__isnull=True)
    of_older_texts = before.filter(superseded_at=None, text_replaced_at__gt=moment)
    narratives = Narrative.objects.filter(
        reduce(or_, (about(scope, "") for scope in scopes)),
        pair__project=report.project_id,
        pk__gt=seen["narrative"],
    )
    # An older report knows of no repeats, and a comparison is not of them.
    again = repeats_in(report.project_id, scopes[0]).filter(pk__gt=seen.get("repeat", 0))
    if report.compares:
        again = again.none()
    return Since(
        come.count() + again.count(),
        taken_back.count(),
        of_older_texts.count(),
        reviews.filter(submitted_at__gt=moment).count(),
        narratives.count(),
    )


def _of_people(scope: Scope, who: str) -> Q:
    """What a scope is of, for rows with a narrative and a member in the column `who`."""
    of_scope = about(scope, "narrative__")
    return of_scope & Q(**{f"{who}__name__in": scope.people}) if scope.people else of_scope


class Measure:
    """Computes one scope after the other on one scale, and counts them."""

    def __init__(
        self,
        scale: Sequence[int],
        names: Mapping[int, str],
        seed: int,
        resamples: int,
        progress: Progress,
        *,
        relevant_from: int | None = None,
    ) -> None:
        self._scale = scale
        self._names = names
        self._how: dict[str, Any] = {
            "interval": "auto",
            "seed": seed,
            "resamples": resamples,
        }
        self._progress = progress
        self._relevant_from = relevant_from

    def __call__(
        self,
        patterns: Patterns,
        raters: Sequence[int] = (),
        clusters: Mapping[str, Patterns] | None = None,
    ) -> dict[str, Any]:
        """Measure patterns; `raters` is their order where it is not that of their names, and
        `clusters` the same patterns by what their units belong to, for intervals over these too.
        """
        who = list(raters) or sorted(
            {member for said in patterns for member, _value in said}, key=self._names.__getitem__
        )
        ratings = ratings_of(patterns, who, self._scale)
        found = {
            key: ready_for_json(of(ratings, **self._how_for(key, who, clusters)))
            for key, of in coefficients().items()
        }
        if clusters is not None and len(clusters) >= FEWEST_QUERIES:
            clustered = ratings_of(patterns, who, self._scale, clusters)
            for key, of in coefficients().items():
                over = of(clustered, **self._how)
                found[key] |= {
                    "interval_over_queries": ready_for_json(over)["interval"],
                    "interval_over_queries_note": over.interval_note.replace("clusters", "queries"),
                }
        self._progress.advance()
        return {
            "raters": [self._names[member] for member in who],
            "units": ratings.units,
            "ratings": sum(len(said) * times for said, times in patterns.items()),
            "excluded": [entry._asdict() for entry in ratings.excluded],
            "coefficients": found,
            **(self._of_two(patterns, who) if len(raters) == 2 else {}),
        }

    def _how_for(
        self, key: str, who: Sequence[int], clusters: Mapping[str, Patterns] | None
    ) -> dict[str, Any]:
        """How a coefficient gets its interval. Resampling the kappas of all pairs of many raters
        takes longer than everything else; in splits, of which there may be hundreds, their
        variance is linearised instead, and the interval's note says so.
        """
        if key in _OVER_PAIRS and len(who) > 2 and clusters is None:
            return {**self._how, "interval": "analytic"}
        return self._how

    def _of_two(self, patterns: Patterns, raters: Sequence[int]) -> dict[str, Any]:
        """What only two raters have: how their values meet, and how unequally they call documents
        relevant.
        """
        from agreement import bias_index, prevalence_index

        found: dict[str, Any] = {"table": _table(patterns, raters, self._scale)}
        if self._relevant_from is not None:
            relevant: Patterns = Counter()
            for said, times in patterns.items():
                answers = tuple(
                    (member, int(value >= self._relevant_from)) for member, value in said
                )
                relevant[answers] += times
            ratings = ratings_of(relevant, raters, [0, 1])
            found["relevant_from"] = self._relevant_from
            found["prevalence"] = ready_for_json(prevalence_index(ratings, **self._how))
            found["bias"] = ready_for_json(bias_index(ratings, **self._how))
        return found


def coefficients() -> dict[str, Callable[..., Coefficient]]:
    """What computes each of COEFFICIENTS."""
    # Only who computes waits for numpy.
    from agreement import (
        cohen_kappa,
        fleiss_kappa,
        gwet_ac,
        krippendorff_alpha,
        percent_agreement,
        scott_pi,
    )

    return {
        "percent": percent_agreement,
        "cohen": cohen_kappa,
        "cohen_linear": partial(cohen_kappa, weights="linear"),
        "cohen_quadratic": partial(cohen_kappa, weights="quadratic"),
        "fleiss": fleiss_kappa,
        "alpha_nominal": partial(krippendorff_alpha, level="nominal"),
        "alpha_ordinal": partial(krippendorff_alpha, level="ordinal"),
        "alpha_interval": partial(krippendorff_alpha, level="interval"),
        "scott": scott_pi,
        "gwet_ac1": gwet_ac,
        "gwet_ac2": partial(gwet_ac, weights="quadratic"),
    }


def ratings_of(
    patterns: Patterns,
    raters: Sequence[int],
    scale: Sequence[int],
    clusters: Mapping[str, Patterns] | None = None,
) -> Ratings:
    """Patterns as the package takes them, one row each: nan where someone did not answer. With
    `clusters` one row for each pattern of each of them.
    """
    import numpy as np

    from agreement import Ratings

    groups = {"": patterns} if clusters is None else clusters
    said = [one for group in groups.values() for one in group]
    times = [number for group in groups.values() for number in group.values()]
    belongs = [name for name, group in groups.items() for _one in group]
    place = {member: at for at, member in enumerate(raters)}
    rows = np.full((len(said), len(raters)), np.nan)
    for row, answers in zip(rows, said, strict=True):
        for member, value in answers:
            row[place[member]] = value
    return Ratings.from_patterns(
        rows,
        np.array(times, dtype=np.int64),
        categories=list(scale) or "seen",
        clusters=None if clusters is None else belongs,
    )


def _table(patterns: Patterns, raters: Sequence[int], scale: Sequence[int]) -> list[list[int]]:
    """How often the first of two raters gave one value (rows) and the second another (columns)."""
    place = {value: at for at, value in enumerate(scale)}
    table = [[0] * len(scale) for _row in scale]
    for said, times in patterns.items():
        values = dict(said)
        if len(values) == 2:
            table[place[values[raters[0]]]][place[values[raters[1]]]] += times
    return table


def ready_for_json(coefficient: Coefficient) -> dict[str, Any]:
    """A coefficient as figures keep it."""
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


def _sum(groups: Iterable[Patterns]) -> Patterns:
    found: Patterns = Counter()
    for patterns in groups:
        found.update(patterns)
    return found


def _by(people: Mapping[Any, Patterns], what: str) -> dict[str, Patterns]:
    """Patterns of judgments by one field of what they are under, in the order of its values."""
    groups: dict[str, list[Patterns]] = defaultdict(list)
    for under, patterns in people.items():
        groups[getattr(under, what)].append(patterns)
    return {key: found for key in sorted(groups) if (found := _sum(groups[key]))}


def _shared(
    patterns: Patterns, names: Mapping[int, str], machine: int | None = None
) -> list[tuple[tuple[int, int], Patterns]]:
    """The pairs who share a unit, by their names, each with what either of the two said.

    With a machine, the pairs of a person and it; else of two people.
    """
    holding: dict[int, list[Any]] = defaultdict(list)
    together: set[tuple[int, int]] = set()
    for said in patterns:
        members = [member for member, _value in said]
        for member in members:
            holding[member].append(said)
        together.update(combinations(sorted(members, key=names.__getitem__), 2))
    if machine is not None:
        together = {
            (one if other == machine else other, machine)
            for one, other in together
            if machine in (one, other)
        }
    found = []
    for pair in sorted(together, key=lambda pair: (names[pair[0]], names[pair[1]])):
        of_two: Patterns = Counter()
        for said in {*holding[pair[0]], *holding[pair[1]]}:
            of_two[tuple(one for one in said if one[0] in pair)] += patterns[said]
        found.append((pair, of_two))
    return found


def _machines(
    counts: Counts, answers: Mapping[Any, Patterns]
) -> list[tuple[int, list[tuple[tuple[int, int], Patterns]]]]:
    """Each machine that judged, or reviewed, with the pairs of a person and it."""
    everything = _sum(answers.values())
    judged = {member for said in everything for member, _value in said} & counts.machines
    return [
        (
            machine,
            _shared(counts.with_machine(everything, machine), counts.names, machine),
        )
        for machine in sorted(judged, key=counts.names.__getitem__)
    ]


def _criteria(counts: Counts, scope: Scope) -> list[Criterion]:
    """The criteria to measure, in the rubric's order."""
    return [one for one in counts.rubric.criteria if scope.criterion in ("", one.key)]


def through(project: Project) -> dict[str, int]:
    """The newest rows of a project: what is newer has come since."""
    judgments = Judgment.objects.filter(annotator__project=project)
    narratives = Narrative.objects.filter(pair__project=project)
    return {
        "judgment": judgments.aggregate(last=Max("pk"))["last"] or 0,
        "narrative": narratives.aggregate(last=Max("pk"))["last"] or 0,
        "repeat": last_repeat(project),
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


ONE = {
    "judgments": "judgment",
    "documents": "document",
    "reviews": "review",
    "repeats": "repeat",
}
MANY = {name: name for name in ONE}


def _left_out(
    project: Project, scope: Scope, rubric: Rubric, besides: Mapping[str, int]
) -> list[dict[str, Any]]:
    """What people said that does not enter the figures, and why; `besides`: counted already."""
    standing = (
        Judgment.objects.standing()
        .of_people()
        .filter(_of_people(scope, "annotator"), annotator__project=project)
    )
    flags = (
        Flag.objects.current()
        .filter(
            _of_people(scope, "annotator"),
            annotator__project=project,
            annotator__is_machine=False,
            narrative__in=in_force(project),
        )
        .exclude(kind=Flag.Kind.LATER)
    )
    reviews = Review.objects.filter(_of_people(scope, "auditor"), auditor__project=project)
    standing = standing.filter(in_times(project, scope, "at"))
    flags = flags.filter(in_times(project, scope, "at"))
    reviews = reviews.filter(in_times(project, scope, "started_at"))
    if scope.criterion:
        standing, flags = standing.none(), flags.none()
    removed = Q(narrative__pair__removed_at__isnull=False)
    said = standing.filter(text_replaced_at__isnull=True)
    of_older_texts = standing.filter(text_replaced_at__isnull=False)
    found = {
        "{judgments} under an older version of the narrative": said.exclude(removed)
        .exclude(narrative__in=in_force(project))
        .count(),
        "{judgments} of an older text of the document": of_older_texts.count(),
        "{judgments} under an instruction that was removed": said.filter(removed).count(),
        "{documents} flagged instead of judged": flags.count(),
        "{reviews} not submitted yet": reviews.filter(submitted_at__isnull=True).count(),
        f"{{reviews}} under another rubric than {rubric.name}": reviews.submitted()
        .filter(auditor__is_machine=False)
        .exclude(rubric=rubric.name)
        .count(),
        **besides,
    }
    return [
        {"reason": reason.format_map(ONE if count == 1 else MANY), "count": count}
        for reason, count in found.items()
        if count
    ]
