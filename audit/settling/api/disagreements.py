"""The queue of disagreements, and each disagreement with its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.guidelines import rejudge_requests
from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from audit.settling import access
from audit.settling.api.shapes import (
    AskedDisagreements,
    CheckDisagreementSerializer,
    CountsSerializer,
    DisagreementSerializer,
    JudgmentDisagreementSerializer,
    RejudgeRequestSerializer,
    RevealSerializer,
    ReviewDisagreementSerializer,
    SentRejudgeRequest,
    VerdictDisagreementSerializer,
)
from audit.settling.forms import NAMES_ARE_HIDDEN, QueueFilterForm
from audit.settling.models import Reveal
from audit.settling.queue import count_by_kind, read_page
from audit.settling.queue_filters import QueueFilter, QueuePosition
from base.api.paging import invalid_cursor, page_response, page_size, requested_cursor
from base.api.resource import Resource, Scope, form_errors, no_content, reads, writes


class Disagreements(Resource):
    """The disagreements of a project: open, waiting or settled."""

    tag = "Disagreements"

    @reads(DisagreementSerializer, parameters=AskedDisagreements, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List them, the farthest apart first. Names are pseudonyms until they are revealed."""
        member = annotate_access.lead(self.person, slug)
        filters = queue_filter_from(member, self.parameters())
        after = None
        if given := requested_cursor(request):
            try:
                after = QueuePosition.parse(given)
            except ValueError as error:
                raise invalid_cursor() from error
        found = read_page(member, filters, after=after, size=page_size(request))
        rows = self.shape(found.items)
        return page_response(request, rows, str(found.after) if found.after else None)


class DisagreementCounts(Resource):
    """The numbers of disagreements."""

    tag = "Disagreements"

    @reads(CountsSerializer, parameters=AskedDisagreements, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """Count them by kind."""
        member = annotate_access.lead(self.person, slug)
        found = count_by_kind(member, queue_filter_from(member, self.parameters()))
        return self.answer({kind.value: count for kind, count in found.items()})


class Reveals(Resource):
    """The records of who looked up names."""

    tag = "Disagreements"

    @reads(RevealSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List them, the newest first."""
        member = annotate_access.lead(self.person, slug)
        found = Reveal.objects.filter(by__project=member.project_id).select_related("by")
        return self.page(found, newest_first=True)


class JudgmentDisagreement(Resource):
    """A disagreement between judges about the grade of a document."""

    tag = "Disagreements"

    @reads(JudgmentDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, narrative: int, candidate: int) -> Response:
        """Return each answer and the decisions. 403 for a lead who has yet to judge it."""
        found = access.judgment_disagreement(self.person, narrative, candidate)
        return self.answer(found)


class JudgesRevealed(Resource):
    """The record that a lead knows who judged a document."""

    tag = "Disagreements"

    @writes(RevealSerializer, scope=Scope.LEAD, status=201)
    def post(self, request: Request, narrative: int, candidate: int) -> Response:
        """Reveal who gave which answer. It is recorded that you looked."""
        made = access.judgment_disagreement(self.person, narrative, candidate).reveal()
        return self.answer(made)


class VerdictDisagreement(Resource):
    """A disagreement between judges about one condition of a document."""

    tag = "Disagreements"

    @reads(VerdictDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, condition: int, candidate: int) -> Response:
        """Return each answer and the decisions. 403 for a lead who has yet to judge it."""
        found = access.verdict_disagreement(self.person, condition, candidate)
        return self.answer(found)


class ReviewDisagreement(Resource):
    """A disagreement between auditors about a narrative version. A decision settles it."""

    tag = "Disagreements"

    @reads(ReviewDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, narrative: int) -> Response:
        """Return each review and the decisions. 403 for a lead who has yet to review it."""
        found = access.review_disagreement(self.person, narrative)
        return self.answer(found)


class AuditorsRevealed(Resource):
    """The record that a lead knows who reviewed an instruction."""

    tag = "Disagreements"

    @writes(RevealSerializer, scope=Scope.LEAD, status=201)
    def post(self, request: Request, narrative: int) -> Response:
        """Reveal who gave which answer. It is recorded that you looked."""
        made = access.review_disagreement(self.person, narrative).reveal()
        return self.answer(made)


class CheckDisagreement(Resource):
    """A disagreement between two checkers of a claimed label."""

    tag = "Disagreements"

    @reads(CheckDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, item: int) -> Response:
        """Return the two checks once both are there, and how a third person settled it."""
        found = access.check_disagreement(self.person, item)
        return self.answer(found)


class CheckersRevealed(Resource):
    """The record that a lead knows who checked a label."""

    tag = "Disagreements"

    @writes(RevealSerializer, scope=Scope.LEAD, status=201)
    def post(self, request: Request, item: int) -> Response:
        """Reveal who gave which answer. It is recorded that you looked."""
        made = access.check_disagreement(self.person, item).reveal()
        return self.answer(made)


class RejudgeRequests(Resource):
    """Requests to judges to look at a document again."""

    tag = "Disagreements"

    @writes(RejudgeRequestSerializer, body=SentRejudgeRequest, scope=Scope.LEAD, status=201)
    def post(self, request: Request, narrative: int, candidate: int) -> Response:
        """Ask a judge to look at the document again. Their judgment is not changed."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        given = self.body()
        made = rejudge_requests.ask(
            judgment=disagreement.judgment(given["judgment"]),
            words=given["words"],
            by=disagreement.member,
        )
        return self.answer(made)


class OneRejudgeRequest(Resource):
    """One rejudge request."""

    tag = "Disagreements"

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(
        self, request: Request, narrative: int, candidate: int, rejudge_request: int
    ) -> Response:
        """Withdraw it: the judge is no longer asked. 422 once it is answered."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        rejudge_requests.withdraw(
            rejudge_request=access.rejudge_request(disagreement, str(rejudge_request)),
            by=disagreement.member,
        )
        return no_content()


def queue_filter_from(
    member: Membership, asked: Mapping[str, Any], before: str = "?"
) -> QueueFilter:
    """Return the filter that the parameters name; 400 if one is invalid. `before` precedes a
    parameter's name in errors: "?" for the query string.
    """
    if member.project.hide_names:
        for name in ("one", "other"):
            if asked.get(name):
                raise ValidationError({f"{before}{name}": [str(NAMES_ARE_HIDDEN)]})
    form = QueueFilterForm(member, {name: str(value) for name, value in asked.items()})
    if not form.is_valid():
        raise form_errors(form, before)
    return form.queue_filter()
