"""What a load does to answers under earlier versions of narratives, and claims carried over.

A new version makes the answers under the one before stale. The report counts them, and a lead may
carry machines' claims over to the new versions for which the file has none.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.expressions import RawSQL

from annotate.collection.answers import describe_under
from annotate.collection.intake.arrivals import Intake, StagedLine
from annotate.collection.intake.documents import Documents
from annotate.collection.intake.qrels import Qrels, StagedQrel
from annotate.judgments import judgment_chain
from annotate.judgments.in_force import in_pools
from annotate.judgments.intake.statement_kinds import JUDGMENT
from annotate.judgments.intake.statements import Statements
from annotate.judgments.machine_claims import count_undecided
from annotate.judgments.models import Flag, Judgment, Verdict
from annotate.pairs.intake.pairs import Pairs, StagedCondition, StagedPair
from annotate.pairs.models import Assignment, Condition, InstructionPair, Narrative
from annotate.projects import hash_chain
from annotate.projects.kinds import kind_of
from base import bulk
from base.texts import amount

_AT_ONCE = 1_000


def describe_rows(intake: Intake) -> None:
    """Report what the written rows break, make stale and leave undecided; carry claims over."""
    _report_broken_rules(intake)
    _note_stale_answers(intake)
    if intake.has_records(Documents) and not intake.report.refused:
        _end_flags_without_text(intake)
    if earlier := _earlier_versions(intake):
        _offer_claims(intake, earlier)
    _note_removed_pairs(intake)
    if intake.has_records(Statements):
        _note_labels_of_earlier_versions(intake)
        if undecided := count_undecided(intake.project):
            intake.report.notes.append(
                f"{amount(undecided, 'label is', 'labels are')} claimed differently by several "
                "machines: once this is loaded, choose whose claims count, under Checks"
            )


def _note_stale_answers(intake: Intake) -> None:
    """Count the answers under the narratives that get another version, and note them."""
    replaced = sorted(intake.replaced_narratives)
    # The rows may be written a second time, after a conflict.
    intake.replaced_narratives.clear()
    intake.report.stale_answers = describe_under(replaced) if replaced else ""
    if intake.report.stale_answers:
        narratives = amount(len(replaced), "narrative gets", "narratives get")
        intake.report.notes.append(
            f"{narratives} another version. Answers under the present one: "
            f"{intake.report.stale_answers}. They are kept with it and become stale: they no "
            "longer count, and people are asked again. A lead can go back to the earlier version"
        )


def _end_flags_without_text(intake: Intake) -> None:
    """End the flags that people gave here because a document had no text, where it has one now.

    A first text replaces nothing, so that grades stay; but whoever could not read is asked again.
    """
    documents = RawSQL("SELECT x.id FROM stage_docs_changed x WHERE x.version IS NOT NULL", ())
    flags = (
        Flag.objects.current()
        .final()
        .filter(source=Flag.Source.PAGE, text_version=None, candidate__document__in=documents)
    )
    theirs = flags.filter(narrative__pair=OuterRef("pair"), annotator=OuterRef("member"))
    Assignment.objects.filter(Exists(theirs), task=Assignment.Task.JUDGE).update(done_at=None)
    if ended := flags.update(ended_at=intake.now):
        intake.report.notes.append(
            f"{amount(ended, 'flag', 'flags')} on documents that had no text "
            f"{'ends' if ended == 1 else 'end'}: whoever could not judge is asked again"
        )


def _earlier_versions(intake: Intake) -> dict[int, int]:
    """Return the versions that this load made current, each with the one that was before."""
    last = intake.newest_narrative
    before = Narrative.objects.filter(
        pair=OuterRef("pair"), side=OuterRef("side"), pk__lte=last, withdrawn_at__isnull=True
    ).order_by("-version")
    new = Narrative.objects.filter(pair__project=intake.project, pk__gt=last).current()
    follow_ups = new.annotate(before=Subquery(before.values("pk")[:1]))
    return dict(follow_ups.filter(before__isnull=False).values_list("pk", "before"))


def _offer_claims(intake: Intake, earlier: Mapping[int, int]) -> None:
    """Count the claims that can be carried over, or carry them over if the lead chose so."""
    claimed = Judgment.objects.current().filter(annotator__is_machine=True)
    with_claims = claimed.filter(narrative__in=earlier).values_list("narrative", flat=True)
    without = {new: old for new, old in earlier.items() if new not in set(with_claims)}
    claims = claimed.filter(in_pools(), narrative__in=without.values())
    number = claims.count()
    if not number:
        return
    labels = amount(number, "claimed label", "claimed labels")
    if intake.options.carry_claims and not intake.dry_run:
        _carry_claims(intake, claims, {old: new for new, old in without.items()})
        intake.report.notes.append(f"{labels} of the version before carried over to the new one")
        return
    intake.report.claims_to_carry = number
    versions = amount(
        Narrative.objects.filter(pk__in=claims.values("narrative")).count(),
        "new version has",
        "new versions have",
    )
    intake.report.notes.append(
        f"{versions} no claimed labels in this file: {labels} of the version before can be "
        "carried over"
    )


def _carry_claims(intake: Intake, claims: QuerySet[Judgment], new_of: Mapping[int, int]) -> None:
    """Copy claims to the new versions, with the verdicts on conditions that did not change."""
    conditions = {
        (narrative, number, text): pk
        for pk, narrative, number, text in Condition.objects.filter(
            narrative__in=new_of.values()
        ).values_list("pk", "narrative", "number", "text")
    }
    made: list[Judgment] = []
    verdicts: list[Verdict] = []
    for claim in claims.prefetch_related("verdicts__condition").order_by("pk"):
        copy = Judgment(
            uuid=uuid.uuid4(),
            narrative_id=new_of[claim.narrative_id],
            candidate_id=claim.candidate_id,
            annotator_id=claim.annotator_id,
            relevance=claim.relevance,
            note=claim.note,
            source=Judgment.Source.FILE,
            at=intake.now,
            text_version=claim.text_version,
        )
        made.append(copy)
        for verdict in claim.verdicts.all():
            of = verdict.condition
            if condition := conditions.get((copy.narrative_id, of.number, of.text)):
                verdicts.append(
                    Verdict(statement=copy, condition_id=condition, answer=verdict.answer)
                )
    Judgment.objects.bulk_create(made, batch_size=_AT_ONCE)
    Verdict.objects.bulk_create(verdicts, batch_size=_AT_ONCE)
    intake.row_counts("judgments").new += len(made)
    copies = Judgment.objects.filter(narrative__in=new_of.values(), annotator__is_machine=True)
    events = hash_chain.events_of_new(judgment_chain.KIND, copies)
    hash_chain.append(intake.project.pk, uuid.uuid4(), events, after=hash_chain.End())


def _note_removed_pairs(intake: Intake) -> None:
    """Say which instructions with new versions are taken out."""
    new = Narrative.objects.filter(pk__gt=intake.newest_narrative, pair=OuterRef("pk"))
    removed = InstructionPair.objects.filter(
        project=intake.project, removed_at__isnull=False, pk__in=new.values("pair")
    ).order_by("pair_id")
    ids = list(removed.values_list("pair_id", flat=True))
    if ids:
        intake.report.notes.append(
            f"{amount(len(ids), 'instruction', 'instructions')} of this file "
            f"{'is' if len(ids) == 1 else 'are'} taken out ({_first(ids)}): the new versions are "
            "kept, and count only once the instruction is brought back"
        )


def _note_labels_of_earlier_versions(intake: Intake) -> None:
    """Say how many labels of the file are about a narrative that is no longer current."""
    rows = bulk.select(
        """
        SELECT p.pair_id, COUNT(*) FROM stage_statements s
        LEFT JOIN annotate_statement j ON j.id = s.known
        CROSS JOIN annotate_narrative v
        JOIN annotate_instructionpair p ON p.id = v.pair_id
        WHERE s.what = 'judgment' AND s.machine = 1 AND v.id = COALESCE(j.narrative_id, s.narrative)
        AND NOT v.is_current
        GROUP BY p.pair_id ORDER BY p.pair_id
        """
    )
    labels_by_pair = dict(rows)
    if labels_by_pair:
        number = sum(labels_by_pair.values())
        labels = amount(number, "claimed label", "claimed labels")
        belong = "belongs" if number == 1 else "belong"
        pairs = _first(list(labels_by_pair))
        kept = "it is kept there and does" if number == 1 else "they are kept there and do"
        intake.report.notes.append(
            f"{labels} of this file {belong} to an earlier version of the narrative ({pairs}): "
            f"{kept} not count. Claims about the current version are loaded in one pairs-jsonl "
            "file with that version"
        )


def _first(ids: list[str]) -> str:
    """Return the first ids of a list, and how many more there are."""
    shown = ", ".join(ids[:3])
    return f"{shown} and {len(ids) - 3:,} more" if len(ids) > 3 else shown


# --- rules of the kind ----------------------------------------------------------------------------


class LoadRule(StrEnum):
    """A rule of a kind on the rows of a file."""

    # A least number of documents is relevant to each instruction.
    POSITIVES = "positives"
    # A reversed instruction comes with the instruction that it reverses.
    REVERSED = "reversed"
    # No narrative has more conditions than the kind allows, no label counts more than there are.
    CONDITION_COUNT = "condition_count"
    # The category of an instruction is one of the project's types.
    CATEGORY = "category"
    # The dimension of a condition is one of the project's types.
    DIMENSION = "dimension"


def _report_broken_rules(intake: Intake) -> None:
    """Report, row by row, what breaks rules of the kind. Nothing is corrected, nothing refused.

    The rows are written by now, so these queries see the file with the project's own rows.
    """
    intake.report.clear_broken()
    for rule in kind_of(intake.project.kind).load_rules:
        _RULES[LoadRule(rule.rule)](intake, rule.limits)


def _positives(intake: Intake, limits: Mapping[str, int]) -> None:
    """Report instructions whose labels have too few relevant documents."""
    if not intake.has_records(Pairs):
        return
    least = limits["least"]
    intake.report_broken_rows(
        """
        SELECT s.n, s.place, s.pair_id, COUNT(DISTINCT CASE
            WHEN j.relevance >= %(relevant_from)s AND c.removed_at IS NULL
            THEN j.candidate_id END) AS relevant
        FROM stage_pairs s
        JOIN annotate_instructionpair p ON p.project_id = %(project)s AND p.pair_id = s.pair_id
        JOIN annotate_narrative v ON v.pair_id = p.id AND v.side = 'altered' AND v.is_current
        JOIN annotate_statement j ON j.narrative_id = v.id AND j.ended_at IS NULL
            AND j.text_replaced_at IS NULL AND NOT j.repeat AND j.relevance IS NOT NULL
        JOIN annotate_candidate c ON c.id = j.candidate_id
        GROUP BY s.n, s.place, s.pair_id
        HAVING COUNT(DISTINCT CASE
            WHEN j.relevance >= %(relevant_from)s AND c.removed_at IS NULL
            THEN j.candidate_id END) < %(least)s
        """,
        lambda pair, relevant: (
            f"instruction {pair} has {relevant} relevant "
            f"{'document' if relevant == 1 else 'documents'}; this kind asks for at least {least}"
        ),
        relevant_from=intake.project.relevant_from,
        least=least,
    )


def _reversed(intake: Intake, limits: Mapping[str, int]) -> None:
    """Report reversed instructions without the instruction that they reverse."""
    if not intake.has_records(Pairs):
        return
    intake.report_broken_rows(
        """
        SELECT MIN(s.n) AS n, MIN(s.place) AS place, s.pair_id
        FROM stage_narratives s
        JOIN annotate_instructionpair p ON p.project_id = %(project)s AND p.pair_id = s.pair_id
        WHERE s.side = 'reversed' AND NOT EXISTS (
            SELECT 1 FROM annotate_narrative o WHERE o.pair_id = p.id AND o.side = 'altered'
        )
        GROUP BY s.pair_id
        """,
        lambda pair: f"{pair} has a reversed instruction but not the one that it reverses",
    )


def _condition_count(intake: Intake, limits: Mapping[str, int]) -> None:
    """Report narratives with too many conditions, and labels above the number of conditions."""
    if intake.has_records(Pairs):
        most = limits["most"]
        intake.report_broken_rows(
            """
            SELECT MIN(s.n) AS n, MIN(s.place) AS place, s.pair_id, COUNT(*) AS conditions
            FROM stage_conditions s
            GROUP BY s.pair_id, s.side, s.version HAVING COUNT(*) > %(most)s
            """,
            lambda pair, conditions: (
                f"instruction {pair} has {conditions} conditions; this kind allows at most {most}"
            ),
            most=most,
        )
    if intake.has_records(Statements):
        conditions = Condition.objects.filter(narrative=OuterRef("narrative")).values("narrative")
        intake.report_broken_rows(
            JUDGMENT.staged.annotate(
                conditions=Subquery(conditions.annotate(number=Count("pk")).values("number"))
            )
            .filter(relevance__gt=F("conditions"))
            .values_list("n", "place", "doc_id", "relevance", "conditions"),
            _too_many_conditions,
        )
    if intake.has_records(Qrels):
        narratives = (
            Narrative.objects.filter(
                pair__query__project=intake.project, pair__query__query_id=OuterRef("query_id")
            )
            .annotate(number=Count("conditions"))
            .order_by("-number")
        )
        intake.report_broken_rows(
            StagedQrel.objects.annotate(conditions=Subquery(narratives.values("number")[:1]))
            .filter(conditions__gt=0, relevance__gt=F("conditions"))
            .values_list("n", "place", "doc_id", "relevance", "conditions"),
            _too_many_conditions,
        )


def _too_many_conditions(doc_id: str, relevance: int, conditions: int) -> str:
    return (
        f"{doc_id} is labelled as meeting {relevance} conditions, but there "
        f"{'is' if conditions == 1 else 'are'} {conditions}"
    )


def _type(
    staged: type[StagedLine], field: str, noun: str, intake: Intake, limits: Mapping[str, int]
) -> None:
    """Report rows whose field names none of the project's types, if it has types."""
    types = list(intake.project.categories.values_list("key", flat=True))
    if not intake.has_records(Pairs) or not types:
        return
    intake.report_broken_rows(
        staged.objects.exclude(**{f"{field}__in": ["", *types]}).values_list("n", "place", field),
        lambda name: f"the {noun} {name} is not one of the project's types",
    )


_RULES: Mapping[LoadRule, Callable[[Intake, Mapping[str, int]], None]] = {
    LoadRule.POSITIVES: _positives,
    LoadRule.REVERSED: _reversed,
    LoadRule.CONDITION_COUNT: _condition_count,
    LoadRule.CATEGORY: partial(_type, StagedPair, "category", "category"),
    LoadRule.DIMENSION: partial(_type, StagedCondition, "name", "dimension"),
}
