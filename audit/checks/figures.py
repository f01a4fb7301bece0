"""What the checks of a sample come to: how many labels are wrong, how sure that is, in a sentence.

A claim is checked once two people agree on it or a third has settled it. It may be wrong in two
ways, which are counted apart: in being relevant or not, and in its grade.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from django.utils.translation import gettext as _

from audit.checks.condition_counts import ErrorMatrix, error_matrix
from audit.checks.models import RESAMPLES, SEED, Check, Sample, SampleItem
from audit.checks.queue import with_checks

if TYPE_CHECKING:
    from agreement import Coefficient
    from agreement.proportion import Proportion
    from agreement.stratified import Stratified

# What a residual error rate is wanted below, unless somebody says otherwise.
BOUND = 0.02


class Line(NamedTuple):
    """One claim and what was said of it: `outcome` is None while it is not checked, and where it
    cannot be judged.
    """

    stratum: str
    claimed: int
    first: int | None
    second: int | None
    outcome: int | None
    # How many of the first two have spoken, and could not judge; whether the third could not.
    spoken: int
    unsure: int
    unjudgeable: bool

    @property
    def differs(self) -> bool:
        """Whether two have spoken and do not say the same: it is, or was, for a third."""
        return self.spoken == 2 and (self.unsure > 0 or self.first != self.second)

    @property
    def closed(self) -> bool:
        """Whether nothing more is to be said of it."""
        return self.outcome is not None or self.unjudgeable


@dataclass(frozen=True)
class Rates:
    """How many claims of one stratum, or of all, are wrong in either way."""

    label: str
    items: int
    checked: int
    # Of which a third said that they cannot be judged either: not among those checked.
    unjudgeable: int
    # Relevant instead of not, or the reverse.
    status: Proportion
    # Another grade, among them all that are wrong in status.
    grade: Proportion
    # How many more, all of them right, bring either bound down; None: more than anybody checks.
    more_status: int | None
    more_grade: int | None
    # How many claims there were to draw from.
    frame: int

    @property
    def left(self) -> int:
        """How many of them are not checked: more than that cannot be."""
        return self.frame - self.checked


class Weighted(NamedTuple):
    """The rates of all that there was to draw from, weighted by the sizes of the strata."""

    status: Stratified
    grade: Stratified


@dataclass(frozen=True)
class Figures:
    """Everything that the page of a sample counts."""

    sample: Sample
    bound: float
    overall: Rates
    strata: list[Rates]
    # Weighted by the sizes of the strata; None where that is what `overall` says.
    weighted: Weighted | None
    differed: int
    to_settle: int
    settled: int
    # Labels of which one of the two, or both, said that they cannot be judged.
    unsure: int
    # Labels that fewer than two have checked.
    unchecked: int
    percent: Coefficient
    kappa: Coefficient
    sentence: str
    # Of a sample that asks for conditions: numbers claimed against numbers counted.
    matrix: ErrorMatrix | None

    @property
    def coefficients(self) -> tuple[Coefficient, Coefficient]:
        """How much the two agree, as the page lists it."""
        return self.percent, self.kappa


def figures(sample: Sample, *, bound: float = BOUND) -> Figures:
    """Count a sample: two queries, whatever its size, and one more where it asks for conditions.

    Raises ValueError for a bound that is not between 0 and 1.
    """
    from agreement import Ratings, cohen_kappa, percent_agreement

    relevant_from = sample.project.relevant_from
    lines = [
        Line(*row)
        for row in with_checks(SampleItem.objects.filter(sample=sample))
        .order_by()
        .values_list(*Line._fields)
    ]
    # Who could not judge has said nothing that could agree with anything.
    said = (
        Check.objects.current()
        .filter(item__sample=sample, place__lt=Check.SETTLES, relevance__isnull=False)
        .order_by("item", "place")
        .values_list("item", "checker__name", "relevance")
    )
    of_stratum: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        of_stratum[line.stratum].append(line)
    overall = _rates("", lines, relevant_from, bound, sum(sample.frame.values()))
    rows: list[Any] = list(said)
    scale = sorted({relevance for _, _, relevance in rows}) or [0]
    ratings = Ratings.from_long(rows, categories=scale)
    kappa = cohen_kappa(ratings, interval="auto", seed=SEED, resamples=RESAMPLES)
    percent = percent_agreement(ratings, interval="auto", seed=SEED, resamples=RESAMPLES)
    differed = [line for line in lines if line.differs]
    settled = sum(1 for line in differed if line.closed)
    strata = [
        _rates(stratum, of_stratum[stratum], relevant_from, bound, sample.frame.get(stratum, 0))
        for stratum in sorted(of_stratum)
    ]
    weighted = _weighted(sample, strata)
    by_two = sum(1 for line in lines if line.spoken == 2)
    return Figures(
        sample=sample,
        bound=bound,
        overall=overall,
        strata=strata if sample.stratify != Sample.Stratify.NONE else [],
        weighted=weighted,
        differed=len(differed),
        to_settle=len(differed) - settled,
        settled=settled,
        unsure=sum(1 for line in lines if line.unsure),
        unchecked=len(lines) - by_two,
        percent=percent,
        kappa=kappa,
        sentence=_sentence(
            sample, overall, weighted, len(differed), settled, percent, kappa, by_two=by_two
        ),
        matrix=error_matrix(sample, ((line.claimed, line.outcome) for line in lines)),
    )


def up_to(share: float, digits: int = 1) -> str:
    """A bound in percent, rounded up: what is at most 1.977 % is at most 2.0 %, never 1.9."""
    steps = 10**digits
    # A hair below, so that what stands on a step by chance of the last bit is not moved up.
    return f"{math.ceil(share * 100 * steps - 1e-9) / steps:.{digits}f}"


def _rates(
    label: str, lines: Sequence[Line], relevant_from: int, bound: float, frame: int
) -> Rates:
    from agreement.proportion import more_needed, proportion

    checked = [(line.claimed, line.outcome) for line in lines if line.outcome is not None]
    status = sum(1 for was, now in checked if (was >= relevant_from) != (now >= relevant_from))
    grade = sum(1 for was, now in checked if was != now)
    return Rates(
        label=label,
        items=len(lines),
        checked=len(checked),
        unjudgeable=sum(1 for line in lines if line.unjudgeable),
        status=proportion(status, len(checked)),
        grade=proportion(grade, len(checked)),
        more_status=more_needed(status, len(checked), bound=bound),
        more_grade=more_needed(grade, len(checked), bound=bound),
        frame=frame,
    )


def _sentence(
    sample: Sample,
    overall: Rates,
    weighted: Weighted | None,
    differed: int,
    settled: int,
    percent: Coefficient,
    kappa: Coefficient,
    *,
    by_two: int,
) -> str:
    """What a paper may say of the sample; "" while nothing is checked.

    It counts the labels that two people have checked, `by_two`, however many were drawn.
    """
    if not overall.checked:
        return ""
    drawn = sample.kind == Sample.Kind.RANDOM
    parts = [
        _extent(sample, overall, by_two),
        _agreed(differed, settled, percent, kappa),
        *_wrong(sample, overall, weighted, drawn),
    ]
    if overall.unjudgeable:
        left = {"left": f"{overall.unjudgeable:,}", "items": f"{overall.items:,}"}
        parts.append(_("%(left)s of the %(items)s labels could not be judged.") % left)
    if overall.checked + overall.unjudgeable < overall.items:
        left = {
            "left": f"{overall.items - overall.checked - overall.unjudgeable:,}",
            "items": f"{overall.items:,}",
        }
        parts.append(_("So far without %(left)s of the %(items)s labels.") % left)
    return " ".join(parts).replace(" %", "\N{NO-BREAK SPACE}%")


def _extent(sample: Sample, overall: Rates, by_two: int) -> str:
    """How many labels two people have checked, of how many, and how these were chosen."""
    about = {
        "checked": f"{by_two:,}",
        "items": f"{overall.items:,}",
        "frame": f"{overall.frame:,}",
        "source": _source(sample),
        "how": _how(sample, overall.items),
    }
    drawn = sample.kind == Sample.Kind.RANDOM
    if by_two < overall.items and drawn:
        words = _(
            "Two people each checked %(checked)s of the %(items)s labels drawn from %(frame)s"
        )
    elif by_two < overall.items:
        words = _("Two people each checked %(checked)s of %(items)s labels")
    elif drawn:
        words = _("Two people each checked %(checked)s of %(frame)s labels")
    else:
        words = _("Two people each checked %(checked)s labels")
    return (words + " (%(source)s; %(how)s).") % about


def _wrong(sample: Sample, overall: Rates, weighted: Weighted | None, drawn: bool) -> list[str]:
    """How many are wrong in each way that the sample asks about; where the strata were drawn at
    different rates, also of all that there are.
    """
    if sample.asks == Sample.Asks.COUNT:
        sentences = {"grade": _("The number of conditions met was wrong in %(words)s.")}
    else:
        sentences = {
            "status": _("Relevant or not was wrong in %(words)s."),
            "grade": _("The grade was wrong in %(words)s."),
        }
    said = []
    for kind, sentence in sentences.items():
        rate: Proportion = getattr(overall, kind)
        said.append(sentence % {"words": _words(rate, drawn)})
        whole: Stratified | None = getattr(weighted, kind) if weighted else None
        if whole is not None and whole.share is not None:
            said.append(
                _("Weighted by the sizes of the strata, that is %(words)s of all labels.")
                % {"words": _of_all(whole)}
            )
    return said


def _of_all(rate: Stratified) -> str:
    """A rate over strata in a paper's words."""
    assert rate.share is not None
    assert rate.interval is not None
    assert rate.at_most is not None
    return _(
        "%(share)s %% (95 %% interval %(low)s to %(high)s %%; at most %(at_most)s %% at 95 %%)"
    ) % {
        "share": f"{100 * rate.share:.1f}",
        "low": f"{100 * rate.interval.low:.1f}",
        "high": f"{100 * rate.interval.high:.1f}",
        "at_most": up_to(rate.at_most),
    }


def _weighted(sample: Sample, strata: Sequence[Rates]) -> Weighted | None:
    """The rates over strata that were drawn at different rates, else None."""
    from agreement.stratified import Stratum, stratified

    if sample.kind != Sample.Kind.RANDOM or sample.stratify == Sample.Stratify.NONE:
        return None
    # Of each instruction so many: within a stratum, too, some labels are likelier than others.
    if sample.per == Sample.Per.INSTRUCTION:
        return None
    drawn = [(line.items, line.frame) for line in strata]
    if all(items * drawn[0][1] == drawn[0][0] * frame for items, frame in drawn):
        return None
    return Weighted(
        stratified([Stratum(one.status.count, one.status.of, one.frame) for one in strata]),
        stratified([Stratum(one.grade.count, one.grade.of, one.frame) for one in strata]),
    )


def _source(sample: Sample) -> str:
    if sample.rater is not None:
        return _("judgments of %(machine)s") % {"machine": sample.rater.name}
    if sample.source == Sample.Source.CONSENSUS:
        return _("what people's judgments come to")
    return _("earlier qrels")


def _how(sample: Sample, items: int) -> str:
    if sample.kind == Sample.Kind.SUSPECTS:
        words = _(
            "relevant ones that at least %(at_least)s of %(runs)s runs do not rank in the first "
            "%(depth)s, not a random sample"
        ) % {
            "at_least": sample.at_least,
            "runs": sample.runs.count(),
            "depth": sample.depth,
        }
        if sample.below is None:
            return words
        return words + _(", where a score below %(below)s is none") % {"below": sample.below}
    about: dict[str, object] = {"size": f"{sample.size:,}", "seed": sample.seed}
    if sample.per == Sample.Per.INSTRUCTION:
        words = _("%(size)s of each instruction, drawn at random with seed %(seed)s") % about
    elif sample.stratify != Sample.Stratify.NONE:
        by = {"by": sample.get_stratify_display().lower()}
        fewer = any(frame < (sample.size or 0) for frame in sample.frame.values())
        words = _("%(size)s of each stratum, drawn at random with seed %(seed)s") % about
        if fewer:
            words = _("up to %(size)s of each stratum, drawn at random with seed %(seed)s") % about
        words += _(", stratified by %(by)s") % by
    else:
        about["size"] = f"{items:,}"
        words = _("%(size)s drawn at random with seed %(seed)s") % about
    return words + (_(", relevant ones only") if sample.relevant_only else "")


def _agreed(differed: int, settled: int, percent: Coefficient, kappa: Coefficient) -> str:
    if percent.value is None:
        return _("How far the two agreed is %(reason)s.") % {"reason": percent.note}
    about: Mapping[str, str] = {"percent": f"{100 * percent.value:.1f}", "settled": f"{settled:,}"}
    said = _("The two agreed on %(percent)s %%") % about
    if kappa.value is None:
        said += _(" (%(name)s is %(reason)s)") % {"name": kappa.name, "reason": kappa.note}
    elif kappa.interval is None:
        said += f" ({kappa.name} {kappa.value:.2f})"
    else:
        low, high = kappa.interval
        said += _(" (%(name)s %(value)s, 95 %% interval %(low)s to %(high)s)") % {
            "name": kappa.name,
            "value": f"{kappa.value:.2f}",
            "low": f"{low:.2f}",
            "high": f"{high:.2f}",
        }
    if differed:
        said += _("; a third person settled %(settled)s") % about
    return said + "."


def _words(rate: Proportion, drawn: bool) -> str:
    """A rate in a paper's words; without an interval where it stands for nothing but itself."""
    if rate.share is None or rate.interval is None or rate.at_most is None:
        return rate.note
    if not drawn:
        return _("%(count)s of %(of)s (%(share)s %%)") % {
            "count": f"{rate.count:,}",
            "of": f"{rate.of:,}",
            "share": f"{100 * rate.share:.1f}",
        }
    return _(
        "%(count)s of %(of)s (%(share)s %%, exact 95 %% interval %(low)s to %(high)s %%; at most "
        "%(at_most)s %% at 95 %%)"
    ) % {
        "count": f"{rate.count:,}",
        "of": f"{rate.of:,}",
        "share": f"{100 * rate.share:.1f}",
        "low": f"{100 * rate.interval.low:.1f}",
        "high": f"{100 * rate.interval.high:.1f}",
        "at_most": up_to(rate.at_most),
    }
