"""Label views: claimed labels as a checker sees them, each with this checker's answer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import F

from annotate.collection.document_rendering import DocumentPane, build_pane
from annotate.collection.models import DocumentText
from annotate.judging.forms import VERDICT_PREFIX
from annotate.judgments.document_names import Name, name_of
from annotate.pairs.marked_words import words_to_mark
from annotate.pairs.models import Condition
from annotate.projects.models import Membership
from audit.checks.checking_session import CheckingSession
from audit.checks.condition_counts import BrokenConditions, broken_conditions_of
from audit.checks.models import Check, Question, Sample, SampleItem
from audit.checks.queue import to_check


@dataclass(frozen=True)
class LabelView:
    """One claimed label with its document, its position and the checker's answer to it."""

    item: SampleItem
    position: int
    shown: DocumentPane
    # The id is shown once the checker has no open answer about the document.
    name: Name
    conditions: list[Condition]
    answer: Check | None
    # For who settles: the answers of the two, without their names.
    answers: list[Check]
    broken: BrokenConditions | None

    @property
    def sample(self) -> Sample:
        """The sample of the label."""
        return self.item.sample

    @property
    def text_version(self) -> int:
        """The version of the text that is shown; 0 if there is no text."""
        return self.shown.text_version

    @property
    def counts(self) -> bool:
        """Whether conditions are answered instead of a grade."""
        return self.sample.asks == Sample.Asks.COUNT

    @property
    def questions(self) -> bool:
        """Whether two questions are answered instead of a grade."""
        return self.sample.asks == Sample.Asks.QUESTIONS

    @property
    def answer_json(self) -> str:
        """The checker's answer for the page's script: the fields of the form that gives it."""
        return json.dumps(_answer_data(self.answer), ensure_ascii=False, separators=(",", ":"))


def label_views(
    member: Membership, session: CheckingSession, items: Iterable[SampleItem]
) -> list[LabelView]:
    """Return the views of `items`, except those not in the session.

    The items come with sample, narrative, pair, query and document. One query for all texts, and
    for each narrative one for its conditions and one for the words to mark.
    """
    items = [item for item in items if item.pk in set(session.order)]
    texts = dict(
        DocumentText.objects.filter(
            document__in={item.candidate.document_id for item in items},
            version=F("document__text_version"),
        ).values_list("document", "text")
    )
    narratives = {item.narrative_id: item.narrative for item in items}
    words = {pk: words_to_mark(narrative.pair, narrative) for pk, narrative in narratives.items()}
    conditions = {
        pk: list(narrative.conditions.order_by("number")) for pk, narrative in narratives.items()
    }
    still_open = set(
        to_check(member)
        .filter(candidate__document__in={item.candidate.document_id for item in items})
        .values_list("candidate__document", flat=True)
    )
    views = []
    for item in items:
        answer = session.answers.get(item.pk)
        document = item.candidate.document
        hidden = answer is None or (not session.settles and document.pk in still_open)
        views.append(
            LabelView(
                item=item,
                position=session.position(item.pk),
                shown=build_pane(document, texts.get(document.pk), words[item.narrative_id]),
                name=name_of(document, member.project, hidden=hidden),
                conditions=conditions[item.narrative_id],
                answer=answer,
                answers=_answers_of_the_two(item) if session.settles else [],
                broken=broken_conditions_of(item) if answer else None,
            )
        )
    return views


def _answers_of_the_two(item: SampleItem) -> list[Check]:
    checks = Check.objects.current().filter(item=item).exclude(place=Check.SETTLES)
    return list(checks.order_by("place"))


def _answer_data(check: Check | None) -> dict[str, Any]:
    if check is None:
        return {}
    verdicts = {f"{VERDICT_PREFIX}{key}": answer for key, answer in check.answers().items()}
    replies = {
        question.column: reply
        for question in Question
        if (reply := getattr(check, question.column))
    }
    unable = check.cannot_judge and not verdicts and not replies
    return {
        "kind": "check",
        "uuid": str(check.uuid),
        "note": "" if unable else check.words,
        "fields": {**verdicts, **replies},
    }
