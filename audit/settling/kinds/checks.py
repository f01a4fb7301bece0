"""Disagreements between the two checkers of a claimed label.

They differ when their answers do, or one of them is "cannot judge". A third check settles it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Abs, Coalesce, Greatest
from django.urls import reverse

from annotate.collection.models import Candidate
from annotate.judgments.in_force import in_pools
from annotate.projects.models import Membership
from audit.checks import actions as check_actions
from audit.checks.models import Check, Question, Sample, SampleItem, describe_replies
from audit.checks.queue import TO_SETTLE, to_settle, with_checks
from audit.settling.kinds.base import (
    Disagreement,
    GivenAnswer,
    Item,
    Source,
    Voice,
    Voices,
    get_answer,
)
from audit.settling.kinds.pages import GradeForm, document_context, grades_context
from audit.settling.queue_filters import DisagreementKey, Kind, QueueFilter, Reader
from base.errors import Refused


class CheckDisagreement(Disagreement):
    """A disagreement between two checkers of a claimed label."""

    kind = Kind.CHECK
    model, value, decided_by, reason = Check, "relevance", "checker", "words"
    columns: ClassVar = {"item": "part"}
    form, template = GradeForm, "settling/check.html"
    routes = ("check_disagreement", "check_disagreement_withdrawal", "reveal_checkers")
    undoable: ClassVar = Q(reason_read_at=None)
    candidate: Candidate
    item: SampleItem

    def __init__(self, member: Membership, item: SampleItem) -> None:
        super().__init__(member, item.narrative, item.candidate)
        self.item = self.part = item

    @classmethod
    def source(cls, reader: Reader, filters: QueueFilter, in_any_state: bool) -> Source:
        """Return the source of check disagreements, open or settled by a third person."""
        items = SampleItem.objects.filter(
            in_pools(), sample__project__in=reader.projects, narrative__pair__removed_at=None
        )
        if filters.query is not None:
            items = items.filter(narrative__pair__query=filters.query)
        answers = Check.objects.current().filter(item=OuterRef("pk"))
        first_two = answers.filter(place__lt=Check.SETTLES)
        if filters.people is not None and not in_any_state:
            items = items.filter(*(Exists(first_two.filter(checker=one)) for one in filters.people))
        items = items.filter(
            *(Exists(first_two.filter(relevance=grade)) for grade in filters.grades)
        )
        ids, project = ("narrative_id", "candidate_id", "pk"), "sample__project"
        third = answers.filter(place=Check.SETTLES)
        if filters.settled:
            settled = items.filter(Exists(third)).annotate(
                distance=Value(0), effect=Value(0), since=Subquery(third.values("at")[:1])
            )
            return Source(cls.kind, settled, ids, project)
        rows = with_checks(items)
        if in_any_state:
            rows = rows.filter(TO_SETTLE | Q(Exists(third)))
        else:
            # A third person settles: not one who has checked the label.
            rows = rows.filter(TO_SETTLE).exclude(
                Exists(answers.filter(checker__in=reader.members))
            )
        rows = rows.annotate(
            # "Cannot judge" has no place on the scale and counts as one step from any grade.
            distance=Greatest(Coalesce(Abs(F("first") - F("second")), 1), 1),
            effect=Value(0),
            since=Subquery(first_two.order_by("-at").values("at")[:1]),
        )
        return Source(cls.kind, rows, ids, project)

    @classmethod
    def read_voices(cls, keys: Sequence[DisagreementKey]) -> dict[DisagreementKey, Voices]:
        """Return the answers of the first two checkers of claimed labels."""
        of = {key.part: key for key in keys}
        columns = [question.column for question in Question]
        rows = (
            Check.objects.current()
            .filter(item__in=of)
            .exclude(place=Check.SETTLES)
            .values_list("item", "checker", "checker__name", "relevance", *columns)
        )
        voices: dict[DisagreementKey, Voices] = defaultdict(dict)
        for item, member, name, relevance, *replies in rows:
            said = describe_replies(*replies)
            voices[of[item]][member] = Voice(name, relevance=relevance, replies=said)
        return voices

    @staticmethod
    def compare_voices(item: Item, relevant_from: int) -> None:
        """Set the distance between the two answers."""
        grades = [voice.relevance for voice in item.voices if voice.relevance is not None]
        if item.voices:
            apart = len(grades) == len(item.voices)
            # Different answers to the two questions may lead to the same grade.
            item.distance = max(max(grades) - min(grades), 1) if apart else 1

    @classmethod
    def current_decisions(cls, project: int) -> QuerySet[Check]:
        """Return the current checks of a project that settle a label."""
        return super().current_decisions(project).filter(place=Check.SETTLES)

    @staticmethod
    def key_of(decision: Check) -> DisagreementKey:
        """Return the disagreement that a check settles."""
        item = decision.item
        return DisagreementKey(Kind.CHECK, item.narrative_id, item.candidate_id, item.pk)

    @staticmethod
    def value_of(decision: Check) -> int | str:
        """Return the grade that was decided, or that nobody can judge it."""
        return "cannot_judge" if decision.relevance is None else decision.relevance

    @classmethod
    def words_of(cls, decision: Check) -> int | str:
        """Return the grade, or that nobody can judge it."""
        return "“cannot judge”" if decision.relevance is None else decision.relevance

    @cached_property
    def _checks(self) -> list[Check]:
        checks = Check.objects.current().filter(item=self.item)
        return list(checks.select_related("checker").order_by("place"))

    @cached_property
    def third(self) -> Check | None:
        """The check of a third person, which settles it."""
        return next((check for check in self._checks if check.place == Check.SETTLES), None)

    def answers(self) -> list[GivenAnswer]:
        """Return the checks of the first two, in display order."""
        first_two = {
            check.checker_id: check for check in self._checks if check.place != Check.SETTLES
        }
        names = self.naming.displayed({key: check.checker.name for key, check in first_two.items()})
        return [
            GivenAnswer(first_two[key], who, key == self.member.pk) for key, who in names.items()
        ]

    def decisions(self) -> QuerySet[Check]:
        """Return the checks that settled it, the newest first, ended ones included."""
        return Check.objects.filter(item=self.item, place=Check.SETTLES).order_by("-at", "-pk")

    def decision(self) -> Check | None:
        """Return the check of a third person, or None."""
        return self.third

    def shows_claim(self, *, differs: bool) -> bool:
        """Return whether the reader may see the claim: whoever settles is as blind as the two."""
        return self.item.sample.shows_claim or self.third is not None or not differs

    def settle(self, fields: Mapping[str, Any]) -> Check:
        """Settle it by a grade, or by adopting one of the two answers."""
        words: str = fields["reason"]
        how: dict[str, Any] = {"relevance": fields["relevance"]}
        if fields["adopt"] is not None:
            first_two = Check.objects.current().filter(item=self.item, place__in=(1, 2))
            adopted = get_answer(first_two, fields["adopt"])
            how = {"relevance": adopted.relevance}
            if adopted.cannot_judge:
                # "Cannot judge" needs words: adopting the answer adopts its words.
                how, words = {"cannot_judge": True}, words or adopted.words
        how |= {"words": words, "uuid": fields.get("uuid")}
        return check_actions.settle(item=self.item, by=self.member, **how)

    def withdraw(self) -> None:
        """Withdraw the reader's own decision, or raise Refused."""
        if self.third is None or self.third.checker_id != self.member.pk:
            raise Refused("You have no decision to withdraw here.")
        check_actions.withdraw_check(item=self.item, by=self.member, uuid=self.third.uuid)

    def can_settle(self, context: Mapping[str, Any]) -> bool:
        """Return False for the two checkers. A claim on an older narrative can be settled."""
        return not context["own_check"]

    def other_page_url(self) -> str:
        """Return the address of the page with the conditions or questions of the sample, if it has
        them: there the lead settles the label, or changes their own settlement.
        """
        member, label = self.member, self.item
        if label.sample.asks == Sample.Asks.GRADE:
            return ""
        third = self.third
        is_own = third is not None and third.checker_id == member.pk
        if is_own or to_settle(member, label.sample).filter(pk=label.pk).exists():
            return reverse("audit:settlement", args=[label.pk])
        return ""

    def page_context(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the document, the two answers, the claim if it may be seen, and the decision."""
        answers = self.answers()
        document = document_context(self, self.candidate)
        # The prior relevance may be the claim.
        shows_claim = self.shows_claim(differs=item["differs"])
        return {
            **document,
            "sample": self.item.sample,
            "item": self.item,
            "conditions": list(self.narrative.conditions.order_by("number")),
            "shows_claim": shows_claim,
            "prior": document["prior"] if shows_claim else None,
            **grades_context(self.member.project, answers, item["keys"]),
            "decision": self.third,
            "reason_optional": True,
            "own_check": any(answer.mine for answer in answers),
        }
