"""One disagreement of each kind, and the lead who reads it, for its page and the API.

`audit.settling.access` finds them for a request.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Model, Prefetch, QuerySet
from django.http import Http404

from annotate.collection.models import Candidate
from annotate.judgments.models import (
    Adjudication,
    ConditionAdjudication,
    Flag,
    Judgment,
    RejudgeRequest,
    Verdict,
)
from annotate.pairs.models import Condition, InstructionPair, Narrative
from annotate.projects.models import Membership
from audit.checks import actions as check_actions
from audit.checks.models import Check, SampleItem
from audit.reviews import access as reviews_access
from audit.reviews import criteria, decisions
from audit.reviews.models import Decision
from audit.reviews.passes import Pass, SignedPass, passes_of, sign_passes, verdict_of
from audit.settling import adjudication
from audit.settling.models import Reveal
from audit.settling.names import Naming, naming_for, reveal_names
from audit.settling.queue import position_of
from audit.settling.queue_filters import DisagreementKey, Kind, QueueFilter
from base.errors import Refused
from base.lookup import row_or_404

Row = TypeVar("Row", bound=Model)


class GivenAnswer(NamedTuple):
    """One person's answer, with their displayed name; `mine`: whether the reader gave it."""

    row: Any
    who: str
    mine: bool


class Disagreement(ABC):
    """One disagreement, and the lead who reads it."""

    kind: ClassVar[Kind]
    # The condition of a verdict, the item of a check.
    part: Condition | SampleItem | None = None
    item: SampleItem | None = None

    def __init__(
        self, member: Membership, narrative: Narrative, candidate: Candidate | None = None
    ) -> None:
        self.member = member
        self.narrative = narrative
        self.candidate = candidate

    @property
    def key(self) -> DisagreementKey:
        """The keys that identify it."""
        candidate, part = (row.pk if row else 0 for row in (self.candidate, self.part))
        return DisagreementKey(self.kind, self.narrative.pk, candidate, part)

    @cached_property
    def naming(self) -> Naming:
        """How the reader sees people's names."""
        return naming_for(self.member, self.key)

    def differs(self) -> bool:
        """Return whether people differ, settled or not."""
        return position_of(self.member, QueueFilter(), self.key) is not None

    def reveal(self) -> Reveal:
        """Reveal the names to the reader, and record that."""
        return reveal_names(
            narrative=self.narrative, candidate=self.candidate, item=self.item, by=self.member
        )

    @abstractmethod
    def decisions(self) -> QuerySet[Any]:
        """Return its decisions, the newest first, withdrawn ones included."""

    @abstractmethod
    def decision(self) -> Any:
        """Return the current decision, or None."""

    @abstractmethod
    def settle(self, fields: Mapping[str, Any]) -> Any:
        """Settle it by the answer in `fields`, or by the one to adopt, and return the decision.

        `fields` may have the decision's `uuid`.
        """

    @abstractmethod
    def withdraw(self) -> None:
        """Withdraw the current decision, or raise Refused or Http404."""


class DocumentDisagreement(Disagreement):
    """A disagreement between the judges of a document: about its grade, or one condition."""

    candidate: Candidate

    @cached_property
    def _current(self) -> list[Judgment]:
        """The current judgments, with their verdicts and conditions."""
        return list(
            Judgment.objects.current()
            .filter(narrative=self.narrative, candidate=self.candidate)
            .select_related("annotator")
            .prefetch_related(Prefetch("verdicts", Verdict.objects.select_related("condition")))
            .order_by("annotator__name")
        )

    @cached_property
    def names(self) -> dict[int, str]:
        """The displayed names of the judges, by the key of the membership, in display order."""
        return self.naming.displayed(
            {
                judgment.annotator_id: judgment.annotator.name
                for judgment in self._current
                if not judgment.annotator.is_machine
            }
        )

    @property
    def judgments(self) -> list[Judgment]:
        """People's current judgments, in display order."""
        by_judge = {judgment.annotator_id: judgment for judgment in self._current}
        return [by_judge[member] for member in self.names]

    @property
    def machines(self) -> list[Judgment]:
        """The current judgments of machines."""
        return [judgment for judgment in self._current if judgment.annotator.is_machine]

    def rejudge_requests(self) -> QuerySet[RejudgeRequest]:
        """Return the document's rejudge requests that are not withdrawn, the oldest first."""
        return (
            RejudgeRequest.objects.not_withdrawn()
            .filter(judgment__narrative=self.narrative, judgment__candidate=self.candidate)
            .select_related("judgment", "by")
            .order_by("at", "pk")
        )

    def decision(self) -> Any:
        """Return the current decision, or None."""
        return self.decisions().filter(withdrawn_at=None, text_replaced_at=None).first()

    def withdraw(self) -> None:
        """Withdraw the current decision, or raise Http404."""
        if (decision := self.decision()) is None:
            raise Http404("This disagreement has no decision.")
        adjudication.withdraw_adjudication(adjudication=decision, by=self.member)


class GivenFlag(NamedTuple):
    """A current flag; `who` is None if the name is hidden."""

    flag: Flag
    who: str | None


class JudgmentDisagreement(DocumentDisagreement):
    """A disagreement between judges about the grade of a document."""

    kind = Kind.JUDGMENT

    def answers(self) -> list[GivenAnswer]:
        """Return people's current judgments, in display order."""
        return [
            GivenAnswer(
                judgment, self.names[judgment.annotator_id], judgment.annotator_id == self.member.pk
            )
            for judgment in self.judgments
        ]

    def flags(self) -> list[GivenFlag]:
        """Return the current flags, in an order that reveals no names: people who only flagged have
        no pseudonym.
        """
        flags = Flag.objects.current().filter(narrative=self.narrative, candidate=self.candidate)
        hidden = self.naming.hidden
        return [
            GivenFlag(
                flag, self.names.get(flag.annotator_id, None if hidden else flag.annotator.name)
            )
            for flag in flags.select_related("annotator").order_by("uuid")
        ]

    def decisions(self) -> QuerySet[Adjudication]:
        """Return its decisions, the newest first, withdrawn ones included."""
        decisions = Adjudication.objects.select_related("narrative")
        return _newest_first(decisions.filter(narrative=self.narrative, candidate=self.candidate))

    def judgment(self, pk: int) -> Judgment:
        """Return one person's judgment, current or not, or raise Http404."""
        judgments = Judgment.objects.of_people().select_related(
            "annotator", "narrative", "candidate"
        )
        return _get_answer(judgments.filter(narrative=self.narrative, candidate=self.candidate), pk)

    def settle(self, fields: Mapping[str, Any]) -> Adjudication:
        """Settle it by a grade, or by adopting one judge's grade."""
        why = _reason_in(fields, self.member)
        if fields.get("adopt") is not None:
            return adjudication.adopt(judgment=self.judgment(fields["adopt"]), **why)
        return adjudication.adjudicate(
            narrative=self.narrative,
            candidate=self.candidate,
            relevance=fields["relevance"],
            **why,
        )


class VerdictDisagreement(DocumentDisagreement):
    """A disagreement between judges about one condition of a document."""

    kind = Kind.VERDICT

    def __init__(self, document: JudgmentDisagreement, condition: Condition) -> None:
        super().__init__(document.member, document.narrative, document.candidate)
        self.condition = self.part = condition

    def answers(self) -> list[GivenAnswer]:
        """Return people's current verdicts, in display order."""
        return [
            GivenAnswer(
                verdict, self.names[judgment.annotator_id], judgment.annotator_id == self.member.pk
            )
            for judgment in self.judgments
            if (verdict := self.verdict_in(judgment)) is not None
        ]

    def verdict_in(self, judgment: Judgment) -> Verdict | None:
        """Return the verdict of a judgment on this condition, if it has one."""
        verdicts = (
            verdict
            for verdict in judgment.verdicts.all()
            if verdict.condition_id == self.condition.pk
        )
        return next(verdicts, None)

    def decisions(self) -> QuerySet[ConditionAdjudication]:
        """Return its decisions, the newest first, withdrawn ones included."""
        decisions = ConditionAdjudication.objects.select_related("condition__narrative")
        return _newest_first(decisions.filter(condition=self.condition, candidate=self.candidate))

    def settle(self, fields: Mapping[str, Any]) -> ConditionAdjudication:
        """Settle it by an answer, or by adopting one judge's answer."""
        why = _reason_in(fields, self.member)
        if fields.get("adopt") is not None:
            verdicts = Verdict.objects.of_judgments().of_people()
            of_document = verdicts.select_related(
                "condition__narrative", "statement__candidate"
            ).filter(condition=self.condition, statement__candidate=self.candidate)
            adopted = _get_answer(of_document, fields["adopt"])
            return adjudication.adopt_verdict(verdict=adopted, **why)
        return adjudication.settle_condition(
            condition=self.condition, candidate=self.candidate, answer=fields["answer"], **why
        )


class ReviewDisagreement(Disagreement):
    """A disagreement between auditors about an instruction."""

    kind = Kind.REVIEW

    @cached_property
    def names(self) -> dict[int, str]:
        """The displayed names of the auditors, by the key of the membership, in display order."""
        return self.naming.displayed(
            {
                review_pass.review.auditor_id: review_pass.review.auditor.name
                for review_pass in self._passes
            }
        )

    @cached_property
    def _passes(self) -> list[Pass]:
        return passes_of([self.narrative])[self.narrative.pk]

    @property
    def passes(self) -> list[Pass]:
        """People's reviews, in display order."""
        by_auditor = {review_pass.review.auditor_id: review_pass for review_pass in self._passes}
        return [by_auditor[member] for member in self.names]

    @cached_property
    def machines(self) -> list[Pass]:
        """The reviews by machines."""
        return passes_of([self.narrative], machines=True)[self.narrative.pk]

    def reviews(self) -> list[SignedPass]:
        """Return people's reviews as the reader sees them: without times while names are hidden."""
        return sign_passes(self.passes, self.member, self.names if self.naming.hidden else None)

    def machine_reviews(self) -> list[SignedPass]:
        """Return the reviews by machines, which never count in the verdict."""
        return sign_passes(self.machines, self.member)

    def verdict(self) -> criteria.Verdict:
        """Return the verdict that follows from people's reviews."""
        return verdict_of(self._passes, self.member.project)

    def decisions(self) -> QuerySet[Decision]:
        """Return its decisions, the newest first, withdrawn ones included."""
        return _newest_first(Decision.objects.filter(narrative=self.narrative))

    def decision(self) -> Decision | None:
        """Return the current decision, or None."""
        return self.decisions().filter(withdrawn_at=None).first()

    def settle(self, fields: Mapping[str, Any]) -> Decision:
        """Decide what becomes of the instruction."""
        return decisions.decide(
            narrative=self.narrative,
            outcome=fields["outcome"],
            reason=fields["reason"],
            uuid=fields.get("uuid"),
            by=self.member,
        )

    def withdraw(self) -> None:
        """Withdraw the current decision, or raise Http404."""
        current = reviews_access.decision(self.narrative)
        decisions.withdraw_decision(decision=current, by=self.member)


class CheckDisagreement(Disagreement):
    """A disagreement between two checkers of a claimed label."""

    kind = Kind.CHECK
    candidate: Candidate
    item: SampleItem

    def __init__(self, member: Membership, item: SampleItem) -> None:
        super().__init__(member, item.narrative, item.candidate)
        self.item = self.part = item

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
        """Return the checks that settled it, the newest first, superseded ones included."""
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
            adopted = _get_answer(first_two, fields["adopt"])
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
        check_actions.withdraw_check(item=self.item, by=self.member)


def save_decision(
    disagreement: Disagreement, given: Mapping[str, Any], instead_of: UUID | None
) -> Any:
    """Settle a disagreement, withdrawing the reader's own decision `instead_of` first.

    A decision with the UUID in `given` changes nothing if there is one already.
    """
    with transaction.atomic():
        # One at a time: a decision that is sent twice at once must not withdraw itself.
        InstructionPair.objects.select_for_update().get(pk=disagreement.narrative.pair_id)
        sent = disagreement.decisions().filter(uuid=given["uuid"]).first()
        if sent is not None:
            return sent
        current = disagreement.decision()
        if current is not None and current.uuid == instead_of:
            decider = current.checker_id if isinstance(current, Check) else current.by_id
            if decider == disagreement.member.pk:
                disagreement.withdraw()
        return disagreement.settle(given)


def _reason_in(fields: Mapping[str, Any], by: Membership) -> dict[str, Any]:
    reason = fields.get("reason", "")
    return {"cause": fields["cause"], "reason": reason, "uuid": fields.get("uuid"), "by": by}


def _newest_first(decisions: QuerySet[Row]) -> QuerySet[Row]:
    return decisions.select_related("by", "withdrawn_by").order_by("-at", "-pk")


def _get_answer(answers: QuerySet[Row], pk: int) -> Row:
    """Return the answer to adopt, or raise Http404."""
    return row_or_404(answers, pk, "There is no such answer in this disagreement.")
