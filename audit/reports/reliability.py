"""Agreement of a project, scope by scope: `audit.reports.unit_counts` counts the answers, and
`agreement` computes the coefficients. This module has no statistics.

A unit is a candidate under a narrative version (for reviews: one criterion of a narrative version),
a rater is a member. People's judgments count while they and their narratives are current; reviews
of every version count once they are submitted. Machines are raters only in figures of their own.

The keys of the result of `agreement_of`: project, scope (the address's query string, "" for the
whole), sha256 (of everything that was counted: the same answers have the same sum), computed_at,
scale, levels, seed, resamples, through (the newest rows that were read), left_out, judgments,
machines, reviews, rubric, selves.

A measured scope has units, raters, ratings, excluded and coefficients (keys of COEFFICIENTS),
each of these with value (or None and the reason in note), interval and interval_note; with
FEWEST_QUERIES queries or more, those of `judgments.all` have interval_over_queries and
interval_over_queries_note as well. The scope of a pair has `table`, how often the first gave one
grade of the scale and the second another, and `prevalence` and `bias` (coefficients) of being
relevant, from the grade `relevant_from` on.

- judgments: `all` is a scope; `pairs`, `queries`, `categories`, `guidelines` and `weeks` are
  lists of scopes. One of `queries` has `query` (its id), of `categories` `category` ("" if
  an instruction has none; the list is empty if none has one), of `guidelines` `guideline`
  (the version; 0 is before the first; the list is empty if there are no guidelines), `start`
  and `end` (its period, ISO or None), of `weeks` `week` (the ISO date of its Monday, UTC, by the
  last judgment of a document). `after_settling` is the scope in which everybody gives the settled
  grade where a lead has settled, `changed` the scope of documents that somebody found changed; each
  is missing without such documents. The lists are in the order of their names, versions and dates;
  scopes without judgments are left out.
- machines: a list of `machine` (its name) and `pairs`, the scopes of each person with it.
- reviews: `all` is a scope, `criteria` a mapping from a criterion's key to its scope, which
  has its `name`, `categories` a list of scopes as in judgments, over all criteria. `rubric`
  is the name of the rubric of all these reviews, `levels` maps each of its levels to the number
  it counts as. `machines` is as in judgments, over all criteria.
- selves: each person with themselves (`audit.reports.intra_annotator`): `all` is a scope, or None
  if nobody answered anything twice, `people` a list of scopes, each with one rater and its `table`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from datetime import date, datetime
from itertools import combinations
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Flag, Judgment
from annotate.pairs.models import Narrative, is_taken_out
from annotate.projects.models import Project
from audit.reports.intra_annotator import (
    AGAIN,
    FIRST,
    NO_REPEATS,
    TIMES,
    IntraAnnotator,
    count_answers,
    intra_annotator,
)
from audit.reports.report_parts import SPLITS, Measure
from audit.reports.scopes import WHOLE, Scope, periods_of
from audit.reports.statements_since import scope_q, through
from audit.reports.unit_counts import (
    Counts,
    Patterns,
    VersionKey,
    counts_of,
    period_q,
)
from audit.reviews.criteria import Criterion, Rubric
from audit.reviews.models import Review
from jobs.runner import Progress

# The coefficient to show first: it allows any number of people, missing answers and a scale.
HEADLINE = "alpha_ordinal"


_SINGULAR = {
    "judgments": "judgment",
    "flags": "flag",
    "reviews": "review",
    "repeats": "repeat",
}
_PLURAL = {name: name for name in _SINGULAR}


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
    """Return the agreement in a part of a project, ready for JSON; the module lists the keys.

    `by` names the splits (SPLITS) to measure; the lists of the others are empty.
    """
    progress = progress or Progress()
    # Before the rows are read: rows that come in between count as later ones.
    frame: dict[str, Any] = {
        "project": project.slug,
        "scope": str(scope),
        "computed_at": (now or timezone.now()).isoformat(),
        "through": through(project),
    }
    counts = counts_of(project, scope)
    parts = _Parts.of(counts, scope, by)
    measure = Measure(
        counts.scale, counts.names, seed, resamples, progress, relevant_from=project.relevant_from
    )
    levels = Measure(sorted(counts.levels.values()), counts.names, seed, resamples, progress)
    repeats = intra_annotator(project, scope) if "self" in by else NO_REPEATS
    times = Measure(sorted({*counts.scale, *repeats.values}), TIMES, seed, resamples, progress)
    alone = len(repeats.people) + (len(repeats.people) > 1)
    progress.start(2 + parts.count + alone, "Measuring agreement")
    return {
        **frame,
        "sha256": repeats.sum_with(counts.sha256),
        "scale": counts.scale,
        "rubric": counts.rubric.name,
        "levels": counts.levels,
        "seed": seed,
        "resamples": resamples,
        "left_out": _left_out(project, scope, counts.rubric, repeats.left_out),
        "judgments": _judgment_figures(parts, periods_of(project), measure),
        "machines": _machine_figures(parts.machines, counts, measure),
        "reviews": _review_figures(parts, counts, levels),
        "selves": _intra_annotator_figures(repeats, times),
    }


@dataclass
class _Parts:
    """The answers of a report, split for measuring."""

    people: dict[VersionKey, Patterns]
    everything: Patterns
    pairs: list[tuple[tuple[int, int], Patterns]]
    queries: dict[str, Patterns]
    categories: dict[str, Patterns]
    guidelines: dict[int, Patterns]
    weeks: dict[date, Patterns]
    criteria: Sequence[Criterion]
    reviewed_categories: dict[str, Patterns]
    domains: dict[tuple[str, str], Patterns]
    machines: list[tuple[int, Any]]
    reviewing_machines: list[tuple[int, Any]]
    settling: dict[str, Patterns]

    @classmethod
    def of(cls, counts: Counts, scope: Scope, by: Collection[str]) -> _Parts:
        """Split the counts as `by` says; the other splits are empty."""
        people = {under: counts.people(patterns) for under, patterns in counts.judgments.items()}
        everything = _add_up(people.values())
        categories = _group_by(people, "category") if "category" in by else {}
        reviewed = counts.reviews_of_categories if "category" in by else {}
        return cls(
            people,
            everything,
            pairs=_pairs_sharing_units(everything, counts.names) if "pair" in by else [],
            queries=_group_by(people, "query") if "query" in by else {},
            categories={} if set(categories) == {""} else categories,
            guidelines=counts.guidelines if "guideline" in by else {},
            weeks=counts.weeks if "week" in by else {},
            criteria=_criteria(counts, scope) if "criterion" in by else (),
            reviewed_categories={} if set(reviewed) == {""} else dict(sorted(reviewed.items())),
            domains=counts.review_domains if "criterion" in by else {},
            machines=_machines(counts, counts.judgments) if "machine" in by else [],
            reviewing_machines=_machines(counts, counts.reviews_with_machines)
            if "machine" in by
            else [],
            settling=_settling(counts) if "settling" in by else {},
        )

    @property
    def count(self) -> int:
        """How many splits there are to measure."""
        splits: tuple[Sized, ...] = (
            *(self.pairs, self.queries, self.categories, self.guidelines, self.weeks),
            *(self.criteria, self.reviewed_categories, self.domains, self.settling),
            *(patterns for _machine, patterns in [*self.machines, *self.reviewing_machines]),
        )
        return sum(map(len, splits))


def _judgment_figures(
    parts: _Parts, periods: Mapping[int, Any], measure: Measure
) -> dict[str, Any]:
    """Measure the agreement of people on documents, and every split of it."""
    return {
        "all": measure(parts.everything, clusters=_group_by(parts.people, "query")),
        "pairs": [measure(patterns, raters=pair) for pair, patterns in parts.pairs],
        "queries": [
            {"query": query, **measure(patterns)} for query, patterns in parts.queries.items()
        ],
        "categories": _category_figures(parts.categories, measure),
        "guidelines": [
            {
                "guideline": version,
                "start": _iso(periods[version].start),
                "end": _iso(periods[version].end),
                **measure(patterns),
            }
            for version, patterns in parts.guidelines.items()
        ],
        "weeks": [
            {"week": day.isoformat(), **measure(patterns)} for day, patterns in parts.weeks.items()
        ],
        **{name: measure(patterns) for name, patterns in parts.settling.items()},
    }


def _settling(counts: Counts) -> dict[str, Patterns]:
    """Return the patterns after settling, and those of documents that somebody found changed."""
    groups = {"after_settling": counts.with_settled_grades, "changed": counts.found_changed}
    return {name: patterns for name, patterns in groups.items() if patterns}


def _category_figures(categories: Mapping[str, Patterns], measure: Measure) -> list[dict[str, Any]]:
    return [
        {"category": category, **measure(patterns)} for category, patterns in categories.items()
    ]


def _review_figures(parts: _Parts, counts: Counts, levels: Measure) -> dict[str, Any]:
    """Measure the agreement of people on instructions, criterion by criterion."""
    by_domain = [
        {"domain": domain, "criterion": key, **levels(patterns)}
        for (domain, key), patterns in parts.domains.items()
    ]
    by_category = _category_figures(parts.reviewed_categories, levels)
    return {
        "all": levels(_add_up(counts.reviews.values())),
        "criteria": {
            criterion.key: {
                "name": criterion.name,
                **levels(counts.reviews.get(criterion.key, Counter())),
            }
            for criterion in parts.criteria
        },
        "categories": by_category,
        "domains": by_domain,
        "machines": _machine_figures(parts.reviewing_machines, counts, levels),
    }


def _machine_figures(
    machines: list[tuple[int, Any]], counts: Counts, measure: Measure
) -> list[dict[str, Any]]:
    """Measure the agreement of each person with each machine."""
    return [
        {
            "machine": counts.names[machine],
            "pairs": [measure(patterns, raters=pair) for pair, patterns in by_pair],
        }
        for machine, by_pair in machines
    ]


def _intra_annotator_figures(repeats: IntraAnnotator, measure: Measure) -> dict[str, Any]:
    """Measure each person's agreement with themselves, and that of all together."""
    people = [
        {**measure(count_answers(answers), raters=(FIRST, AGAIN)), "raters": [name]}
        for name, answers in repeats.people.items()
    ]
    together = None
    if len(people) > 1:
        together = measure(count_answers(repeats.everybody), raters=(FIRST, AGAIN))
    return {"all": together or (people[0] if people else None), "people": people}


def _add_up(groups: Iterable[Patterns]) -> Patterns:
    total: Patterns = Counter()
    for patterns in groups:
        total.update(patterns)
    return total


def _group_by(people: Mapping[Any, Patterns], what: str) -> dict[str, Patterns]:
    """Group patterns of judgments by one field of Under, in the order of its values."""
    groups: dict[str, list[Patterns]] = defaultdict(list)
    for under, patterns in people.items():
        groups[getattr(under, what)].append(patterns)
    return {key: total for key in sorted(groups) if (total := _add_up(groups[key]))}


def _pairs_sharing_units(
    patterns: Patterns, names: Mapping[int, str], machine: int | None = None
) -> list[tuple[tuple[int, int], Patterns]]:
    """Return the pairs of raters who share a unit, by name, each with the answers of both.

    With a machine, these are pairs of a person and the machine; otherwise of two people.
    """
    holding: dict[int, list[Any]] = defaultdict(list)
    together: set[tuple[int, int]] = set()
    for pattern in patterns:
        members = [member for member, _value in pattern]
        for member in members:
            holding[member].append(pattern)
        together.update(combinations(sorted(members, key=names.__getitem__), 2))
    if machine is not None:
        together = {
            (first if other == machine else other, machine)
            for first, other in together
            if machine in (first, other)
        }
    pairs = []
    for pair in sorted(together, key=lambda pair: (names[pair[0]], names[pair[1]])):
        of_two: Patterns = Counter()
        for pattern in {*holding[pair[0]], *holding[pair[1]]}:
            answers = tuple((rater, answer) for rater, answer in pattern if rater in pair)
            of_two[answers] += patterns[pattern]
        pairs.append((pair, of_two))
    return pairs


def _machines(
    counts: Counts, answers: Mapping[Any, Patterns]
) -> list[tuple[int, list[tuple[tuple[int, int], Patterns]]]]:
    """Return each machine that judged, or reviewed, with its pairs of a person and it."""
    everything = _add_up(answers.values())
    judged = {member for pattern in everything for member, _value in pattern} & counts.machines
    return [
        (
            machine,
            _pairs_sharing_units(counts.with_machine(everything, machine), counts.names, machine),
        )
        for machine in sorted(judged, key=counts.names.__getitem__)
    ]


def _criteria(counts: Counts, scope: Scope) -> list[Criterion]:
    """Return the criteria to measure, in the rubric's order."""
    return [
        criterion for criterion in counts.rubric.criteria if scope.criterion in ("", criterion.key)
    ]


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _left_out(
    project: Project, scope: Scope, rubric: Rubric, besides: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Count answers that are not in the figures, by reason; `besides`: more such counts."""
    left_out = {
        **({} if scope.criterion else _judgments_left_out(project, scope)),
        **_reviews_left_out(project, scope, rubric),
        **besides,
    }
    return [
        {"reason": reason.format_map(_SINGULAR if count == 1 else _PLURAL), "count": count}
        for reason, count in left_out.items()
        if count
    ]


def _judgments_left_out(project: Project, scope: Scope) -> dict[str, int]:
    current = Narrative.objects.in_force([project.pk])
    of_scope = scope_q(scope, "annotator") & period_q(project, scope, "at")
    judgments = Judgment.objects.not_superseded().of_people()
    flags = Flag.objects.current().of_people().exclude(flag=Flag.Kind.LATER)
    flags = flags.filter(in_pools(), of_scope, annotator__project=project, narrative__in=current)
    of_newest_text, under_current = Q(text_replaced_at=None), Q(narrative__in=current)
    under_removed = of_newest_text & Q(narrative__pair__removed_at__isnull=False)
    reasons = {
        "{judgments} under an older version of the narrative": of_newest_text
        & ~under_removed
        & ~under_current,
        "{judgments} of an older text of the document": ~of_newest_text,
        "{judgments} under an instruction that was removed": under_removed,
        "{judgments} of a document that was taken out": of_newest_text
        & under_current
        & ~in_pools(),
    }
    counts = judgments.filter(of_scope, annotator__project=project).aggregate(
        **{f"reason_{n}": Count("pk", filter=reason) for n, reason in enumerate(reasons.values())}
    )
    return {
        **dict(zip(reasons, counts.values(), strict=True)),
        "{flags} instead of a judgment": flags.count(),
    }


def _reviews_left_out(project: Project, scope: Scope, rubric: Rubric) -> dict[str, int]:
    is_draft = Q(period_q(project, scope, "started_at"), submitted_at=None)
    is_submitted = Q(
        period_q(project, scope, "submitted_at"),
        submitted_at__isnull=False,
        auditor__is_machine=False,
    )
    taken_out, same_rubric = is_taken_out("narrative__pair__"), Q(rubric=rubric.name)
    counts = Review.objects.filter(scope_q(scope, "auditor"), auditor__project=project).aggregate(
        drafts=Count("pk", filter=is_draft),
        taken_out=Count("pk", filter=is_submitted & taken_out),
        other_rubric=Count("pk", filter=is_submitted & ~taken_out & ~same_rubric),
    )
    return {
        "{reviews} not submitted yet": counts["drafts"],
        "{reviews} of an instruction that was taken out": counts["taken_out"],
        f"{{reviews}} under another rubric than {rubric.name}": counts["other_rubric"],
    }
