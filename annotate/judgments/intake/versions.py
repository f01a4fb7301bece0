"""What a load does to answers under earlier versions of narratives, and claims carried over.

A new version makes the answers under the one before stale. The report counts them, and a lead may
carry machines' claims over to the new versions for which the file has none.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from django.db.models import OuterRef, QuerySet, Subquery

from annotate.collection.intake.arrivals import Intake
from annotate.judgments import judgment_chain
from annotate.judgments.in_force import in_pools
from annotate.judgments.intake.kind_rules import report_broken_rules
from annotate.judgments.intake.statements import Statements
from annotate.judgments.machine_claims import count_undecided
from annotate.judgments.models import Judgment, Verdict
from annotate.judgments.narrative_answers import describe_answers
from annotate.pairs.models import Condition, InstructionPair, Narrative
from annotate.projects import hash_chain
from base import bulk

_AT_ONCE = 1_000


def describe_rows(intake: Intake) -> None:
    """Report what the written rows break, make stale and leave undecided; carry claims over."""
    report_broken_rules(intake)
    _note_stale_answers(intake)
    if earlier := _earlier_versions(intake):
        _offer_claims(intake, earlier)
    _note_removed_pairs(intake)
    if intake.has_records(Statements):
        _note_labels_of_earlier_versions(intake)
        if undecided := count_undecided(intake.project):
            intake.report.notes.append(
                f"{_amount(undecided, 'label is', 'labels are')} claimed differently by several "
                "machines: once this is loaded, choose whose claims count, under Checks"
            )


def _note_stale_answers(intake: Intake) -> None:
    """Count the answers under the narratives that get another version, and note them."""
    replaced = sorted(intake.replaced_narratives)
    # The rows may be written a second time, after a conflict.
    intake.replaced_narratives.clear()
    intake.report.stale_answers = describe_answers(replaced) if replaced else ""
    if intake.report.stale_answers:
        narratives = _amount(len(replaced), "narrative gets", "narratives get")
        intake.report.notes.append(
            f"{narratives} another version. Answers under the present one: "
            f"{intake.report.stale_answers}. They are kept with it and become stale: they no "
            "longer count, and people are asked again. A lead can go back to the earlier version"
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
    labels = _amount(number, "claimed label", "claimed labels")
    if intake.options.carry_claims and not intake.dry_run:
        _carry_claims(intake, claims, {old: new for new, old in without.items()})
        intake.report.notes.append(f"{labels} of the version before carried over to the new one")
        return
    intake.report.claims_to_carry = number
    versions = _amount(
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
    rows = judgment_chain.rows(copies.order_by("pk"))
    hash_chain.append(intake.project.pk, uuid.uuid4(), judgment_chain.events_of_new(rows))


def _note_removed_pairs(intake: Intake) -> None:
    """Say which instructions with new versions are taken out."""
    new = Narrative.objects.filter(pk__gt=intake.newest_narrative, pair=OuterRef("pk"))
    removed = InstructionPair.objects.filter(
        project=intake.project, removed_at__isnull=False, pk__in=new.values("pair")
    ).order_by("pair_id")
    ids = list(removed.values_list("pair_id", flat=True))
    if ids:
        intake.report.notes.append(
            f"{_amount(len(ids), 'instruction', 'instructions')} of this file "
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
        labels = _amount(number, "claimed label", "claimed labels")
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


def _amount(n: int, singular: str, plural: str) -> str:
    return f"{n:,} {singular if n == 1 else plural}"
