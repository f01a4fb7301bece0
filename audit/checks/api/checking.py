"""API resources of claimed labels: the next one, checking and settling it; and the journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request

from annotate.collection.text_versions import MAX_TEXT_VERSION
from annotate.judging.api.journal import FormFieldsField, JournalEntry, SavedEntry, Sender
from annotate.judging.forms import StatementUuidField
from annotate.judgments.document_names import name_of
from annotate.judgments.models import Verdict
from annotate.pairs.api import ConditionSerializer, VersionSerializer
from annotate.projects.models import Membership
from audit.checks import access, actions
from audit.checks.condition_counts import claimed_breaks_for
from audit.checks.forms import CheckForm
from audit.checks.models import Check, Reply, Sample, SampleItem
from audit.checks.queue import next_item, next_to_check, open_documents, to_check, to_settle
from base.api.bodies import FormBody
from base.api.resource import KeyField, QueryParameters, Resource, Scope, reads, writes
from base.errors import Refused


class SentCheck(FormBody):
    """An answer to a claimed label: a grade, or "cannot judge" with words; or, if the sample asks
    for conditions, an answer to each by its key.
    """

    text_version = serializers.IntegerField(
        source="text",
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_TEXT_VERSION,
        help_text="The version of the document's text that was read, 0 for none; the newest if "
        "left out.",
    )
    uuid = serializers.UUIDField(
        required=False, help_text="Created by the client: sent twice, it counts once."
    )
    verdicts = serializers.DictField(
        child=serializers.ChoiceField(choices=Verdict.Answer.choices), required=False
    )
    questions = serializers.DictField(
        child=serializers.ChoiceField(choices=Reply.choices),
        required=False,
        help_text="Answers to the two questions: `topic` and `constraint`.",
    )

    class Meta:
        form = CheckForm
        fields = ("relevance", "cannot_judge", "words")

    def validate_verdicts(self, verdicts: dict[str, str]) -> dict[int, str]:
        """Convert the condition keys to integers, or refuse them."""
        if not all(key.isascii() and key.isdecimal() and len(key) < 19 for key in verdicts):
            raise serializers.ValidationError("The keys must be those of conditions.")
        return {int(key): answer for key, answer in verdicts.items()}


class AskedNext(QueryParameters):
    """The task, and the label after which to continue."""

    task = serializers.ChoiceField(choices=["check", "settle"], default="check")
    after = KeyField(required=False)


class CheckedSerializer(serializers.Serializer[Any]):
    """A check of a claimed label by one of the first two."""

    check = serializers.IntegerField(source="row.pk")
    who = serializers.CharField()
    mine = serializers.BooleanField()
    relevance = serializers.IntegerField(source="row.relevance", allow_null=True)
    cannot_judge = serializers.BooleanField(source="row.cannot_judge")
    verdicts = serializers.DictField(
        source="row.verdicts", child=serializers.ChoiceField(choices=Verdict.Answer.choices)
    )
    questions = serializers.DictField(
        source="row.questions",
        child=serializers.ChoiceField(choices=Reply.choices),
        help_text="Answers to the two questions; empty if these are not asked.",
    )
    words = serializers.CharField(source="row.words")
    at = serializers.DateTimeField(source="row.at")


class LabelSerializer(serializers.Serializer[Any]):
    """A claimed label to check, blind to the answers of others."""

    id = serializers.IntegerField(source="item.pk")
    sample = serializers.IntegerField(source="item.sample_id")
    asks = serializers.ChoiceField(source="item.sample.asks", choices=Sample.Asks.choices)
    pair = serializers.IntegerField(source="item.narrative.pair_id")
    pair_id = serializers.CharField(source="item.narrative.pair.pair_id")
    query_id = serializers.CharField(source="item.narrative.pair.query.query_id")
    narrative = VersionSerializer(source="item.narrative")
    conditions = ConditionSerializer(many=True)
    candidate = serializers.IntegerField(source="item.candidate_id")
    name = serializers.CharField(
        source="name.label", help_text="The name on pages: the document's title, or a neutral name."
    )
    doc_id = serializers.CharField(
        source="name.doc_id",
        allow_null=True,
        help_text="null until you have answered each label of the document that you could check.",
    )
    claimed = serializers.IntegerField(
        allow_null=True, help_text="Null if checkers are blind to it."
    )
    shows_reason = serializers.BooleanField(
        source="item.sample.shows_reason",
        help_text="Whether you may read the reason, once you have answered.",
    )
    reason = serializers.CharField(
        allow_null=True, help_text="Why the document violates; null until you have read it."
    )
    claimed_breaks = serializers.ListField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="Conditions claimed to be broken, once the label is checked and no answer of "
        "yours can follow them.",
    )
    can_check = serializers.BooleanField()
    can_settle = serializers.BooleanField()
    mine = CheckedSerializer(allow_null=True)
    answers = CheckedSerializer(
        many=True, help_text="The two checks, for a third who settles them."
    )


class NextLabelSerializer(serializers.Serializer[Any]):
    """The next label; null if none is left."""

    label = serializers.IntegerField(allow_null=True)  # type: ignore[assignment]


class NextLabel(Resource, tag="Checks"):
    """The next label to check or settle."""

    @reads(NextLabelSerializer, parameters=AskedNext)
    def get(self, request: Request, sample: int) -> dict[str, int | None]:
        """Return the label that you can check, or settle, after another one."""
        member, row = access.sample(self.person, sample)
        query = self.parameters()
        after = query.get("after")
        if query["task"] == "check":
            label = next_to_check(member, to_check(member, row), after)
        else:
            label = next_item(to_settle(member, row), after)
        return {"label": label}


class Label(Resource, tag="Checks"):
    """One claimed label."""

    @reads(LabelSerializer)
    def get(self, request: Request, item: int) -> dict[str, Any]:
        """Read the label to check, and your answer to it."""
        return _label_content(*access.item(self.person, item))


class LabelCheck(Resource, tag="Checks"):
    """Your check of a claimed label, as one of two."""

    @writes(LabelSerializer, body=SentCheck, scope=Scope.JUDGE)
    def put(self, request: Request, item: int) -> dict[str, Any]:
        """Check the label. A different answer supersedes your previous one, until it is settled."""
        member, label = access.item(self.person, item)
        actions.check(item=label, by=member, **self.body())
        return _label_content(member, label)

    @writes(None, scope=Scope.JUDGE, status=204)
    def delete(self, request: Request, item: int) -> None:
        """Withdraw your check or your settlement. Without one, nothing changes."""
        member, label = access.item(self.person, item)
        actions.withdraw_check(item=label, by=member)


class LabelReason(Resource, tag="Checks"):
    """Why a document is claimed to violate its instruction."""

    @writes(LabelSerializer, scope=Scope.JUDGE)
    def post(self, request: Request, item: int) -> dict[str, Any]:
        """Read the reason, once you have answered. After that your answer cannot change."""
        member, label = access.item(self.person, item)
        actions.read_reason(item=label, by=member)
        return _label_content(member, label)


class LabelSettling(Resource, tag="Checks"):
    """A third person's answer where two differ."""

    @writes(LabelSerializer, body=SentCheck, scope=Scope.JUDGE)
    def put(self, request: Request, item: int) -> dict[str, Any]:
        """Settle the label. 422 for one of the two, and if there is nothing to settle."""
        member, label = access.item(self.person, item)
        actions.settle(item=label, by=member, **self.body())
        return _label_content(member, label)


def _label_content(member: Membership, item: SampleItem) -> dict[str, Any]:
    """Return the input for `LabelSerializer`."""
    current = list(Check.objects.current().filter(item=item).order_by("place"))
    mine = next((check for check in current if check.checker_id == member.pk), None)
    settles = mine is not None and mine.place == Check.SETTLES
    can_settle = settles or to_settle(member, item.sample).filter(pk=item.pk).exists()
    first_two = [check for check in current if check.place != Check.SETTLES] if can_settle else []
    document = item.candidate.document
    has_open_labels = bool(open_documents(member, {document.pk}))
    hidden = mine is None or (not settles and has_open_labels)
    return {
        "item": item,
        "name": name_of(document, member.project, hidden=hidden),
        "conditions": list(item.narrative.conditions.order_by("number")),
        "claimed": item.claimed if item.sample.shows_claim else None,
        "reason": item.reason if mine is not None and mine.reason_read_at else None,
        "claimed_breaks": claimed_breaks_for(
            member, item, answer=mine, has_open_labels=has_open_labels
        )
        if mine is not None
        else None,
        "can_check": not settles and not actions.why_fixed(mine, current, member)
        if mine is not None
        else to_check(member, item.sample).filter(pk=item.pk).exists(),
        "can_settle": can_settle,
        "mine": mine and {"row": mine, "who": member.name, "mine": True},
        # The third person sees the answers without the names.
        "answers": [{"row": check, "who": str(check.place), "mine": False} for check in first_two],
    }


class CheckEntry(JournalEntry):
    """An answer to a label."""

    item = KeyField()
    # The fields of the form on its page.
    fields = FormFieldsField()  # type: ignore[assignment]
    # The answer that the page replaces, or None.
    instead_of = StatementUuidField(default=None, allow_null=True)

    action: ClassVar[Callable[..., Check]] = staticmethod(actions.check)

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Save the answer; warn if it replaces one that the page did not show."""
        member, item = access.item(by.user, sent["item"])
        form = CheckForm(item.sample.asks, sent["fields"])
        if not form.is_valid():
            raise Refused(form.sentence())
        before = Check.objects.current().filter(item=item, checker=member).first()
        made = self.action(item=item, by=member, **(form.answer() | {"uuid": sent["uuid"]}))
        if before is None or before.uuid in (sent["instead_of"], made.uuid):
            return SavedEntry(made.at)
        return SavedEntry(
            made.at,
            (
                "You had answered this label in another tab or on another device. Both answers "
                "are kept; this one counts."
            ),
        )


class SettlementEntry(CheckEntry):
    """The same by the person who settles a label."""

    action = staticmethod(actions.settle)


class CheckWithdrawalEntry(JournalEntry):
    """The undoing of an answer."""

    item = KeyField()
    undoes = StatementUuidField()

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Withdraw the answer, unless it was withdrawn already or a newer one counts."""
        member, item = access.item(by.user, sent["item"])
        now = timezone.now()
        actions.withdraw_check(item=item, by=member, uuid=sent["undoes"], now=now)
        return SavedEntry(now)


ENTRIES = {
    "check": CheckEntry(),
    "settle": SettlementEntry(),
    "check_withdrawal": CheckWithdrawalEntry(),
}
