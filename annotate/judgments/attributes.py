"""The attributes (conditions) that a document satisfies and violates, as claimed and as verified.

Claims come from machines and files; verified answers are the consensus of people's verdicts.
Multi-InfoSearch has both for each document of an instruction, and the attributes that its reversed
query negates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from annotate.collection.models import Candidate
from annotate.judgments.consensus import consensus
from annotate.judgments.in_force import in_pools
from annotate.judgments.machine_claims import chosen_machines, machine_that_counts
from annotate.judgments.models import ConditionAdjudication, Judgment, Verdict
from annotate.pairs.models import Condition, InstructionPair, Narrative
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused, Stale


class AttributeAnswers(NamedTuple):
    """The answers on one attribute of a document: None if nobody answered, or answers differ."""

    condition: Condition
    claimed: str | None
    verified: str | None

    @property
    def differs(self) -> bool:
        """Whether the verified answer differs from the claimed one."""
        return None not in (self.claimed, self.verified) and self.claimed != self.verified


class AttributeNames(NamedTuple):
    """The attributes that a document satisfies and violates, by name."""

    satisfied: list[str]
    violated: list[str]


@dataclass(frozen=True)
class DocumentAttributes:
    """A document with its claimed and its verified attributes, in the order of the instruction."""

    api_fields = ("id", "doc_id", "claimed", "verified", "is_verified")

    candidate: Candidate
    attributes: list[AttributeAnswers]

    @property
    def id(self) -> int:
        """The candidate's key."""
        return self.candidate.pk

    @property
    def doc_id(self) -> str:
        """The document's id."""
        return self.candidate.document.doc_id

    @property
    def claimed(self) -> AttributeNames:
        """As claimed."""
        return self._names([(each.condition, each.claimed) for each in self.attributes])

    @property
    def verified(self) -> AttributeNames:
        """As people answered."""
        return self._names([(each.condition, each.verified) for each in self.attributes])

    @property
    def is_verified(self) -> bool:
        """Whether people answered every attribute."""
        return all(attribute.verified is not None for attribute in self.attributes)

    @staticmethod
    def _names(answers: list[tuple[Condition, str | None]]) -> AttributeNames:
        """Return the names (or texts) of the conditions that are met, and of those that are not."""
        met, not_met = (
            [condition.name or condition.text for condition, answer in answers if answer == wanted]
            for wanted in (Verdict.Answer.MET, Verdict.Answer.NOT_MET)
        )
        return AttributeNames(met, not_met)


def current_conditions(pair: InstructionPair) -> list[Condition]:
    """Return the attributes of the current instruction, in order."""
    altered = pair.current(Narrative.Side.ALTERED)
    return list(altered.conditions.order_by("number")) if altered else []


def attributes_of(
    project: Project, conditions: Sequence[Condition], candidates: Sequence[Candidate]
) -> list[DocumentAttributes]:
    """Return the attributes of these documents under one narrative: three queries."""
    keys = [candidate.pk for candidate in candidates]
    collected: dict[tuple[int, int], list[str]] = defaultdict(list)
    claims: dict[tuple[int, int], dict[int, str]] = defaultdict(dict)
    rows: Iterable[tuple[int, int, int, bool, str]] = (
        Verdict.objects.filter(
            condition__in=conditions,
            statement__in=Judgment.objects.current()
            .filter(in_pools(), candidate__in=keys)
            .values("pk"),
        )
        .order_by("statement__annotator")
        .values_list(
            "statement__candidate",
            "condition",
            "statement__annotator",
            "statement__annotator__is_machine",
            "answer",
        )
    )
    for candidate, condition, annotator, is_machine, answer in rows:
        if is_machine:
            claims[condition, candidate][annotator] = answer
        else:
            collected[condition, candidate].append(answer)
    decisions = ConditionAdjudication.objects.current()
    settled = decisions.filter(condition__in=conditions, candidate__in=keys).values_by_question()

    chosen = [machine.pk for machine in chosen_machines(project)]

    def claimed_answer(key: tuple[int, int]) -> str | None:
        machine = machine_that_counts(claims[key], chosen) if key in claims else None
        return None if machine is None else claims[key][machine]

    def verified_answer(key: tuple[int, int]) -> str | None:
        return consensus(collected.get(key, []), project.consensus, settled.get(key)).relevance

    return [
        DocumentAttributes(
            candidate,
            [
                AttributeAnswers(
                    condition,
                    claimed_answer((condition.pk, candidate.pk)),
                    verified_answer((condition.pk, candidate.pk)),
                )
                for condition in conditions
            ],
        )
        for candidate in candidates
    ]


def set_negated(
    *,
    pair: InstructionPair,
    numbers: Collection[int],
    version: int | None = None,
    by: Membership,
    now: datetime | None = None,
) -> list[Condition]:
    """Set, by number, which attributes the reversed query negates, and return all attributes.

    Stale: the current version of the instruction is another one than `version`, if that is given.
    Refused: a member who is not a lead of the project, an archived project, a pair without a
    reversed query, a number that no attribute has, and no numbers at all: a reversed query negates
    at least one attribute.
    """
    if not by.leads or by.project_id != pair.project_id:
        raise Refused("Only leads of this project can set what a reversed query negates.")
    with transaction.atomic():
        project = Project.objects.select_for_update(no_key=True).get(pk=pair.project_id)
        refuse_if_archived(project)
        if pair.current(Narrative.Side.REVERSED) is None:
            raise Refused("This instruction has no reversed query.")
        conditions = current_conditions(pair)
        if version and conditions and conditions[0].narrative.version != version:
            raise Stale(
                f"Version {conditions[0].narrative.version} of the instruction was saved "
                "meanwhile, and its conditions may be others. Look at them, then save again."
            )
        if unknown := sorted(set(numbers) - {condition.number for condition in conditions}):
            raise Refused(f"There is no condition {unknown[0]}.")
        if not numbers:
            raise Refused("A reversed query negates at least one condition. Tick it.")
        before = [condition.number for condition in conditions if condition.negated]
        for condition in conditions:
            condition.negated = condition.number in numbers
        Condition.objects.bulk_update(conditions, ["negated"])
        record(
            project=project,
            what="attributes.negated",
            about=pair,
            changes={"negated": (before, sorted(set(numbers)))},
            by=by,
            now=now,
        )
    return conditions
