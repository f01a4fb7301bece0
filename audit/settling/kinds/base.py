"""What the kinds of disagreement have in common: rows of the queue, answers, decisions.

Each kind is a class in a module of this package. Its `source` is one query whose rows can be
ordered, paged and counted: they hold the distance between the answers (`distance`), the effect of
settling on the result (`effect`) and the time of the disagreement (`since`). Settled ones are rows
of the decision tables, so no answers are counted for them. An instance is one disagreement with the
lead who reads it, for its page and the API; `audit.settling.access` finds it for a request.

The effect is 2 if settling decides on a document that was relevant before, or on a whole
instruction; 1 if it decides on another document; 0 if no document's relevance depends on it: all
answers are on one side of `Project.relevant_from`, or the answer is not a relevance in the qrels
(verdicts and checks). With `Order.MEASURE` the effect of a judgment is how far settling it would
move a measure, in millionths, in the newest evaluation of systems; that of other kinds is 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.forms import Form
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.judgments.models import RejudgeRequest
from annotate.pairs.models import Condition, InstructionPair, Narrative
from annotate.projects.access import refuse_if_archived
from annotate.projects.audit_log import record
from annotate.projects.models import Membership
from audit.checks.models import Check, SampleItem
from audit.reviews.passes import positions_of, pseudonym
from audit.settling.models import Reveal
from audit.settling.queue_filters import (
    DisagreementKey,
    Kind,
    QueueFilter,
    QueuePosition,
    Reader,
    reveal_keys,
)
from base.errors import Refused
from base.requests import row_or_404

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Source:
    """The rows of one kind, with `distance`, `effect` and `since`; `ids` are the columns of the
    narrative and, if the kind has them, of the candidate and of the part; `project` is that of the
    project.
    """

    kind: Kind
    rows: QuerySet[Any, Any]
    ids: tuple[str, ...]
    project: str

    def matching(self, key: DisagreementKey) -> Q:
        """Return the condition for the row of one disagreement."""
        return Q(**dict(zip(self.ids, key[1:], strict=False)))


class Voice(NamedTuple):
    """One person's answer in the list: by kind a relevance, an answer, or the number of criteria
    they reject.
    """

    who: Annotated[str, "A pseudonym where names are hidden."]
    relevance: int | None = None
    answer: Annotated[str, "To a condition."] = ""
    rejects: int | None = None
    replies: Annotated[str, "Answers to the two questions, in words."] = ""


class Naming(NamedTuple):
    """Whether names are hidden from a reader, and who has revealed them so far."""

    disagreement_key: DisagreementKey
    hidden: bool
    reveals: list[Reveal]

    def displayed(self, people: Mapping[int, str]) -> dict[int, str]:
        """Return the displayed names of people (real names by the keys of memberships)."""
        return display_names(self.disagreement_key, people, self.hidden)


def display_names(
    disagreement_key: DisagreementKey, people: Mapping[int, str], hidden: bool
) -> dict[int, str]:
    """Return the names or pseudonyms of people, in an order that does not depend on the names."""
    in_order = positions_of(reveal_keys(disagreement_key), people)
    if hidden:
        return {member: pseudonym(place) for member, place in in_order.items()}
    return {member: people[member] for member in in_order}


# The answers of people to one disagreement, by the key of the membership.
Voices = dict[int, Voice]


@dataclass
class Item:
    """One disagreement as the list shows it."""

    position: QueuePosition
    narrative: Narrative
    candidate: Candidate | None
    condition: Condition | None = None
    sample: SampleItem | None = None
    voices: list[Voice] = field(default_factory=list)
    # Whether settling decides if a document, or a whole instruction, counts.
    decides: bool = False
    distance: int = 0
    settled: Any = None
    # The latest rejudge request, answered or not.
    rejudge_request: RejudgeRequest | None = None

    @property
    def key(self) -> DisagreementKey:
        """The keys that identify it."""
        return self.position.key

    @property
    def is_settled(self) -> bool:
        """Whether the list shows its decision."""
        return self.settled is not None

    @property
    def waiting(self) -> bool:
        """Whether an annotator was asked again and has yet to answer."""
        return self.rejudge_request is not None and self.rejudge_request.statement.is_current


@dataclass(frozen=True)
class GivenAnswer:
    """One person's answer, with their displayed name; `mine`: whether the reader gave it."""

    row: Any
    who: str
    mine: bool

    @property
    def statement(self) -> Any:
        """The judgment or the check that it was given in."""
        return getattr(self.row, "statement", self.row)

    @property
    def words(self) -> str:
        """The note of the judgment, or the words of the check."""
        words: str = self.row.words if isinstance(self.row, Check) else self.statement.note
        return words


class Disagreement(ABC):
    """One disagreement, and the lead who reads it."""

    kind: ClassVar[Kind]
    # Its decisions, and their columns of what was decided, by whom and why.
    model: ClassVar[Any]
    value: ClassVar[str]
    decided_by: ClassVar = "by"
    reason: ClassVar = "reason"
    # Which of its decisions can be undone.
    undoable: ClassVar = Q()
    # The columns that identify it, which its address names, by those of its key.
    columns: ClassVar[Mapping[str, str]]
    # Its form and template, and the routes of its page, of withdrawing a decision, of names.
    form: ClassVar[type[Form]]
    template: ClassVar[str]
    routes: ClassVar[tuple[str, str, str]]
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
        """How the reader sees people's names: one query."""
        narrative, candidate, item = reveal_keys(self.key)
        of_this = {"narrative": narrative, "candidate": candidate or None, "item": item or None}
        reveals = list(Reveal.objects.filter(**of_this).select_related("by").order_by("at", "pk"))
        seen = any(reveal.by_id == self.member.pk for reveal in reveals)
        return Naming(self.key, self.member.project.hide_names and not seen, reveals)

    def differs(self) -> bool:
        """Return whether people differ, settled or not."""
        source = self.source(Reader(self.member), QueueFilter(only=(self.key,)), True)
        return source.rows.filter(source.matching(self.key)).exists()

    def reveal(self, now: datetime | None = None) -> Reveal:
        """Reveal to the reader who gave which answer, and record that. Repeating changes nothing.
        Refused: not a lead.
        """
        by, narrative, candidate = self.member, self.narrative, self.candidate
        if not by.leads or by.project_id != narrative.pair.project_id:
            raise Refused("Only leads of this project can reveal names.")
        refuse_if_archived(by.project)
        with transaction.atomic():
            # After a double click, the second request waits here and finds the first one's row.
            Membership.objects.select_for_update().get(pk=by.pk)
            revealed, made = Reveal.objects.get_or_create(
                narrative=narrative,
                candidate=candidate,
                item=self.item,
                by=by,
                defaults={"at": now or timezone.now()},
            )
            if made:
                whose = candidate.document if candidate is not None else "its reviewers"
                record(
                    project=by.project,
                    what="names.revealed",
                    about=revealed,
                    named=f"{narrative.pair} · {narrative} · {whose}",
                    by=by,
                    now=now,
                )
        return revealed

    @classmethod
    @abstractmethod
    def source(cls, reader: Reader, filters: QueueFilter, in_any_state: bool) -> Source:
        """Return the rows of the queue, open or settled. `in_any_state`: also those that are
        settled, or that the reader cannot settle. `build_source` applies the filters that all
        kinds have in common.
        """

    @classmethod
    @abstractmethod
    def read_voices(cls, keys: Sequence[DisagreementKey]) -> dict[DisagreementKey, Voices]:
        """Return people's answers to several disagreements."""

    @staticmethod
    @abstractmethod
    def compare_voices(item: Item, relevant_from: int) -> None:
        """Set the distance between the answers of an item, and whether settling decides."""

    @classmethod
    def current_decisions(cls, project: int) -> QuerySet[Any]:
        """Return the current decisions of a project on disagreements of this kind."""
        parts = [column for column, part in cls.columns.items() if part == "part"]
        decisions: QuerySet[Any] = cls.model.objects.current()
        of_project = decisions.filter(**{f"{cls.decided_by}__project": project})
        return of_project.select_related(cls.decided_by, *parts)

    @staticmethod
    @abstractmethod
    def key_of(decision: Any) -> DisagreementKey:
        """Return the disagreement that a decision settles."""

    @classmethod
    def value_of(cls, decision: Any) -> Any:
        """Return the value of a decision: a grade, an answer to a condition, or an outcome."""
        return getattr(decision, cls.value)

    @classmethod
    def words_of(cls, decision: Any) -> Any:
        """Return the value of a decision for use in a sentence."""
        name = f"get_{cls.value}_display"
        return getattr(decision, name)() if hasattr(decision, name) else cls.value_of(decision)

    @classmethod
    def keys_of(cls, key: DisagreementKey) -> dict[str, int]:
        """Return the values of the columns that identify a disagreement."""
        return {column: getattr(key, part) for column, part in cls.columns.items()}

    def decisions(self) -> Any:
        """Return its decisions, the newest first, ended ones included."""
        made = self.model.objects.filter(**self.keys_of(self.key)).order_by("-at", "-pk")
        return made.select_related("by", "withdrawn_by")

    def decision(self) -> Any:
        """Return the current decision, or None."""
        return self.decisions().current().first()

    @abstractmethod
    def settle(self, fields: Mapping[str, Any]) -> Any:
        """Settle it by the answer in `fields`, or by the one to adopt, and return the decision.

        `fields` may have the decision's `uuid`.
        """

    @abstractmethod
    def withdraw(self) -> None:
        """Withdraw the current decision, or raise Refused or Http404."""

    @abstractmethod
    def page_context(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the `decision`, and what its template needs beside `item`, which holds what every
        kind has (`audit.settling.views.kind_pages.item_context`).
        """

    def message(self, made: Any) -> str:
        """Return a message for the lead about a decision just made."""
        assert self.candidate is not None
        return f"{self.candidate.document.doc_id} is settled as {self.words_of(made)}."

    def can_settle(self, context: Mapping[str, Any]) -> bool:
        """Return whether the lead can settle it now, provided that it is open."""
        return not context["stale"]

    def other_page_url(self) -> str:
        """Return the address of the page that settles it instead of this one, if any."""
        return ""

    def save_decision(self, fields: Mapping[str, Any], instead_of: UUID | None) -> Any:
        """Settle it, withdrawing the reader's own decision `instead_of` first.

        Sending it again under the UUID in `fields` changes nothing. Refused: another decision has
        this UUID.
        """
        with transaction.atomic():
            # One at a time: a decision that is sent twice at once must not withdraw itself.
            self._lock_pair()
            if self.model.objects.filter(uuid=fields["uuid"]).exists():
                return self._find_sent(fields)
            current = self.decision()
            is_own = current is not None and current.by_id == self.member.pk
            if is_own and current.uuid == instead_of:
                self.withdraw()
            return self.settle(fields)

    def undo(self, uuid: UUID) -> None:
        """Withdraw the decision with this UUID. Calling twice changes nothing. Refused: it is not
        there, or there is a newer one.
        """
        with transaction.atomic():
            self._lock_pair()
            current = self.decision()
            if current is not None and current.uuid == uuid:
                self.withdraw()
            elif not self.decisions().filter(uuid=uuid).exists():
                raise Refused(
                    "This decision is not there, so it cannot be undone. Reload the page."
                )
            elif current is not None:
                raise Refused("There is a newer decision on this. The newer one counts.")

    def _lock_pair(self) -> None:
        InstructionPair.objects.select_for_update().get(pk=self.narrative.pair_id)

    def _find_sent(self, fields: Mapping[str, Any]) -> Any:
        """Return the reader's decision that was sent under this UUID; refuse any other one."""
        mine = {"uuid": fields["uuid"], self.decided_by: self.member}
        sent = self.decisions().filter(**mine).first()
        value = None if fields.get("adopt") else fields[self.value]
        if sent is None or value not in (None, "", getattr(sent, self.value)):
            raise Refused("This was already sent with another decision. Reload the page.")
        return sent


def get_answer(answers: QuerySet[Row], pk: int) -> Row:
    """Return the answer to adopt, or raise Http404."""
    return row_or_404(answers, pk, "There is no such answer in this disagreement.")
