"""Count what a release would hold if it were made now, and what is still open."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple, NoReturn

from django.conf import settings
from django.db.models import Q

from annotate.collection.removal import QUERIES
from annotate.judgments import cached_counts
from annotate.judgments.answer_counts import counts_of
from annotate.judgments.completion import pool_sizes
from annotate.judgments.models import Flag, Judgment
from annotate.judgments.pair_rules import Rule
from annotate.judgments.rule_report import PairStatus, rule_report, rules_of
from annotate.pairs.models import Narrative
from annotate.projects.kinds import kind_of
from annotate.projects.models import Guideline, Membership, Project
from audit.checks.machines import undecided_sentence
from audit.checks.models import Sample, SampleItem
from audit.reports.rule_standings import BROKEN_AT_ONCE, outside_share
from audit.reviews.models import Decision, Review
from audit.reviews.passes import narratives_to_decide
from audit.settling import queue as disagreements
from audit.settling.queue_filters import Kind, QueueFilter
from base.snapshot import snapshot
from base.texts import agree
from exporters.exports import publishing
from exporters.exports.actions import WRITERS
from exporters.exports.before_publishing import KINDS
from exporters.exports.files import Writer
from exporters.exports.layouts import paired_qrels
from exporters.exports.manifest.manifest import Manifest
from exporters.exports.models import Export
from exporters.exports.selection import selection, statements
from exporters.exports.selection.selection import Pair, standing_decisions
from exporters.releases.actions import format_names
from exporters.releases.models import Release
from exporters.releases.project_since_release import changes_since
from formats.texts import CannotHold


class Counted(NamedTuple):
    """A count with its description."""

    words: str
    count: int  # type: ignore[assignment]  # not the method of tuples


class Preview(NamedTuple):
    """What a release would hold, and warnings about what is still open."""

    counts: list[Counted]
    guidelines: int | None
    warnings: list[str]
    share_range: Annotated[
        tuple[int, int] | None,
        "Lowest and highest percentage that may drop out; null without such a rule.",
    ]
    outside_share: list[PairStatus]

    @property
    def listed_outside_share(self) -> list[PairStatus]:
        """The first of these pairs: the page of the rules has all of them."""
        return self.outside_share[:BROKEN_AT_ONCE]


def preview(by: Membership) -> Preview:
    """Return what a release of the project that `by` leads would contain now."""
    project = by.project
    pairs = selection.pairs(project)
    written = selection.written_pairs(pairs, Narrative.Side.ALTERED)
    guideline = Guideline.objects.latest_of(project)
    of_project = {
        "narrative__pair__project": project,
        "narrative__pair__query__removed_at": None,
    }
    taken_out_with_query = Narrative.objects.filter(pair__query__in=QUERIES.removed(project))
    # Without a join for each judgment to its query.
    judgments = Judgment.objects.current().filter(
        ~Q(narrative__in=taken_out_with_query.values("pk")), annotator__project=project
    )
    queries = selection.queries(project)
    counts = [
        ("quer[y|ies]", len(queries)),
        ("instruction pair[s]", selection.count_pairs(pairs)),
        ("of them in the changed qrels", len(written)),
        (
            "version[s] of narratives",
            Narrative.objects.filter(pair__query__in=[query.pk for query in queries]).count(),
        ),
        (
            "judgment[s] by people under every version",
            judgments.of_people().count(),
        ),
        (
            "settling decision[s] under every version",
            standing_decisions(project).count(),
        ),
        (
            "claim[s] by machines under every version",
            judgments.filter(annotator__is_machine=True).count(),
        ),
        ("flag[s], cleared ones included", Flag.objects.filter(**of_project).count()),
        ("review[s]", Review.objects.submitted().of_people().filter(**of_project).count()),
        ("decision[s] on instructions", Decision.objects.filter(**of_project).count()),
    ]
    if taken_out := QUERIES.removed(project).count():
        counts.append(("quer[y|ies] taken out, with [its|their] instructions", taken_out))
    if machines := Review.objects.submitted().of_machines().filter(**of_project).count():
        counts.append(("review[s] by machines", machines))
    if SampleItem.objects.filter(sample__project=project).exists():
        counts.append(("checked label[s]", statements.count_checked(project)))
    for side, words in (
        (Narrative.Side.ALTERED, "claimed label[s] of accepted instructions"),
        (Narrative.Side.REVERSED, "claimed label[s] under reversed narratives"),
        (Narrative.Side.ORIGINAL, "claimed label[s] under original narratives"),
    ):
        if any(side in pair.claims_on for pair in pairs):
            claimed = sum(pair.claims_on[side] for pair in selection.claimed(pairs, side))
            counts.append((words, claimed))
    version = guideline.version if guideline else None
    labelled = [Counted(agree(words, count), count) for words, count in counts]
    return Preview(labelled, version, _warnings(by, pairs, written, version), *_shares(by))


def _shares(by: Membership) -> tuple[tuple[int, int] | None, list[PairStatus]]:
    """Return the range of the rule on shares (None without such a rule), and pairs outside it."""
    limits = rules_of(kind_of(by.project.kind)).get(Rule.SHARE)
    if limits is None:
        return None, []
    return (limits["least_percent"], limits["most_percent"]), outside_share(rule_report(by))


# What is open, with the sentence for one and for several; pairs by why they are left out.
_OPEN_WORK = {
    "disputed": (
        "1 document is disputed and would be left out of the qrels.",
        "{} documents are disputed and would be left out of the qrels.",
    ),
    "unjudged": (
        (
            "1 document that should be judged is not judged and would be left out: evaluators "
            "treat it as not relevant."
        ),
        (
            "{} documents that should be judged are not judged and would be left out: evaluators "
            "treat them as not relevant."
        ),
    ),
    "sent back": (
        "1 pair is sent back and not rewritten, so it would be left out.",
        "{} pairs are sent back and not rewritten, so they would be left out.",
    ),
    "not written": (
        "1 pair has no altered narrative, so it would be left out.",
        "{} pairs have no altered narrative, so they would be left out.",
    ),
    "not judged": (
        "1 pair has no judgments and no claimed labels that count: it would be left out.",
        "{} pairs have no judgments and no claimed labels that count: they would be left out.",
    ),
    "reviews differ": (
        "Auditors differ on 1 instruction.",
        "Auditors differ on {} instructions.",
    ),
    "undecided": (
        "1 instruction waits for a decision.",
        "{} instructions wait for a decision.",
    ),
    "drafts": (
        "1 review is not submitted yet and would be left out.",
        "{} reviews are not submitted yet and would be left out.",
    ),
}


def _warnings(
    by: Membership, pairs: list[Pair], written: list[Pair], guidelines: int | None
) -> list[str]:
    project = by.project
    drafts = Review.objects.filter(narrative__pair__project=project, submitted_at__isnull=True)
    counts = {
        "disputed": disagreements.count_disagreements(by, QueueFilter(kind=Kind.JUDGMENT)),
        "unjudged": count_unjudged(project, written),
        **Counter(pair.left_out for pair in pairs),
        "reviews differ": disagreements.count_disagreements(by, QueueFilter(kind=Kind.REVIEW)),
        "undecided": narratives_to_decide(by).count(),
        "drafts": drafts.count(),
    }
    sentences = [
        (singular if counts[key] == 1 else plural).format(f"{counts[key]:,}")
        for key, (singular, plural) in _OPEN_WORK.items()
        if counts.get(key)
    ]
    if sentence := undecided_sentence(project):
        sentences.append(sentence)
    planned = any(check.is_drawn for check in kind_of(project.kind).checks)
    if planned and not Sample.objects.filter(project=project).exists():
        sentences.append(
            "The kind of project plans a sample of labels to check, and none is drawn: see Checks."
        )
    if guidelines is None:
        sentences.append("There are no guidelines.")
    return sentences


def count_unjudged(project: Project, written: list[Pair]) -> int:
    """Return how many documents put before judges nobody has judged or settled, in these pairs."""
    sizes = pool_sizes([project], {pair.pk: pair.query.pk for pair in written})
    counts = counts_of(cached_counts.states_in_force([project]))
    judged = {narrative: counted.judged(project) for narrative, counted in counts.items()}
    return sum(
        max(0, sizes[pair.pk] - judged.get(pair.versions[Narrative.Side.ALTERED].pk, 0))
        for pair in written
    )


class FormatCheck(NamedTuple):
    """A format of the release, and why it cannot be written."""

    name: str
    problem: Annotated[str, "Empty: it can be written."]


class Trial(NamedTuple):
    """What the release would say about itself.

    `manifest`: that of its qrels, with the rules, warnings and counts; None if these cannot be
    written. `publication`: what is missing in the publication settings. `findings`: what to look at
    before publishing, with counts. `last`: the newest release, with what changed since.
    """

    formats: list[FormatCheck]
    manifest: Manifest | None
    publication: list[str]
    findings: list[Counted]
    last: Release | None
    changes: list[str]

    @property
    def problems(self) -> list[FormatCheck]:
        """The formats that cannot be written: the release would fail."""
        return [check for check in self.formats if check.problem]


class _FirstFile(Exception):
    """Raised when a layout opens its first file: it has refused nothing."""


class _NoFiles(Writer):
    """A writer that stops at the first file, before which layouts refuse what they cannot hold."""

    def file(self, name: str, holds: str) -> NoReturn:
        raise _FirstFile


def try_release(by: Membership) -> Trial:
    """Write the labels of a release into a folder that is deleted, and check every other format.

    What the formats have in common is read once.
    """
    project = by.project
    last = Release.objects.made().filter(project=project).order_by("-pk").first()
    with snapshot():
        manifest, problem = _try_qrels(project)
        formats = [FormatCheck(Export.Format.TREC.value, problem)]
        formats += [
            FormatCheck(name, _find_problem(project, name))
            for name in format_names(project)
            if name != Export.Format.TREC
        ]
        before_publishing = manifest.get("before_publishing", {}) if manifest else {}
        return Trial(
            formats,
            manifest,
            publishing.preview(project).checks,
            [
                Counted(heading, before_publishing[kind]["count"])
                for kind, (heading, _reason) in KINDS.items()
                if kind in before_publishing and before_publishing[kind]["count"]
            ],
            last,
            changes_since(project, last.at) if last and last.at else [],
        )


def _try_qrels(project: Project) -> tuple[Manifest | None, str]:
    """Return the manifest of the qrels, or None and why they cannot be written."""
    with TemporaryDirectory(prefix="trial-", dir=settings.SCRATCH) as scratch:
        try:
            return paired_qrels.try_labels(project, Writer(Path(scratch))), ""
        except CannotHold as error:
            return None, f"{error}."


def _find_problem(project: Project, name: str) -> str:
    """Return why a format cannot be written, or ""."""
    try:
        WRITERS[Export.Format(name)].write(project, _NoFiles(Path()), lambda _: None)
    except CannotHold as error:
        return f"{error}."
    except _FirstFile:
        pass
    return ""
