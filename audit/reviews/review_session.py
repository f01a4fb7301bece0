"""A review on the work page: its criteria take the place of documents."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.urls import reverse

from audit.reviews import rubrics
from audit.reviews.access import ReviewTask
from audit.reviews.criteria import Criterion, Level, Rubric
from audit.reviews.models import Review
from audit.reviews.passes import Answer, Pass, pass_of

# Before the UUID of an answer that was on the server when the page was rendered.
STORED = "stored-"


@dataclass(frozen=True)
class CriterionView:
    """One criterion with its number and the auditor's answer to it."""

    number: int
    criterion: Criterion
    level: Level | None
    words: str
    stored: UUID | None

    @property
    def uuid(self) -> str:
        """The name of the stored rating for the page's script; it differs from every entry's."""
        return f"{STORED}{self.stored}"

    @property
    def answer_json(self) -> str:
        """The auditor's answer for the page's script: the fields of the form that gives it."""
        if self.level is None:
            return "{}"
        fields = {"level": self.level.value, "words": self.words}
        answer = {"kind": "rating", "uuid": self.uuid, "note": self.words, "fields": fields}
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class ReviewSession:
    """One auditor's review of a narrative: its criteria in order, and whether it can change."""

    task: ReviewTask
    # The auditor's review, a draft or submitted; None before the first answer.
    mine: Pass | None
    rubric: Rubric
    criteria: list[CriterionView]

    @property
    def submitted(self) -> Review | None:
        """The auditor's review once it is submitted."""
        review = self.mine.review if self.mine else None
        return review if review and review.submitted_at else None

    @property
    def closed(self) -> bool:
        """Whether the auditor cannot rate: they submitted the review, or wrote the narrative."""
        return self.submitted is not None or self.task.narrative.is_by(self.task.member)

    @property
    def rated(self) -> list[CriterionView]:
        """The criteria that have a level."""
        return [view for view in self.criteria if view.level is not None]

    @property
    def first_open(self) -> CriterionView | None:
        """The first criterion without a level."""
        return next((view for view in self.criteria if view.level is None), None)

    def view(self, number: int) -> CriterionView | None:
        """Return the criterion with this number, from 1, or None."""
        return self.criteria[number - 1] if 0 < number <= len(self.criteria) else None

    def url(self, number: int) -> str:
        """Return the URL of a criterion, or "" if there is none with this number."""
        address = reverse("audit:criterion", args=[self.task.pair.pk, number])
        return address if self.view(number) else ""

    def data(self, current: CriterionView | None) -> dict[str, Any]:
        """Return the data for the page's script, to be written as JSON."""
        pair = self.task.pair.pk
        return {
            "user": self.task.member.user_id,
            "task": "review",
            "pair": pair,
            "narrative": self.task.narrative.pk,
            "candidate": current and current.number,
            "order": [view.number for view in self.criteria],
            "criteria": self.rubric.keys,
            "answers": {
                view.number: ["rating", view.level.value, view.uuid]
                for view in self.criteria
                if view.level
            },
            "history": [view.number for view in self.rated],
            "grades": [
                {"value": level.value, "name": level.name, "rejects": level.rejects}
                for level in self.rubric.levels
            ],
            "urls": {
                "judging": reverse("audit:review", args=[pair]),
                "candidate": reverse("audit:criterion", args=[pair, 0]),
            },
        }


def read_session(task: ReviewTask) -> ReviewSession:
    """Return the session in which an auditor reviews a narrative: three queries."""
    mine = pass_of(task.narrative, task.member)
    rubric = mine.rubric if mine else rubrics.rubric_for(task.narrative, task.pair.project_id)
    answers = {answer.criterion.key: answer for answer in mine.answers} if mine else {}
    views = []
    for number, criterion in enumerate(rubric.criteria, start=1):
        answer = answers.get(criterion.key, Answer(criterion, None, "", None))
        views.append(CriterionView(number, *answer))
    return ReviewSession(task, mine, rubric, views)
