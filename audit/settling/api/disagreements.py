"""The queue of disagreements, and each disagreement with its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.guidelines import rejudge_requests
from annotate.judgments.models import RejudgeRequest
from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from audit.settling import access, disagreements
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
from audit.settling.queue_filters import Kind, QueueFilter, QueuePosition
from audit.settling.queue_table import table_rows
from base.api.paging import invalid_cursor, page_response, page_size, requested_cursor
from base.api.resource import Resource, Scope, form_errors, reads, writes
from base.csv_output import csv_response


class Disagreements(Resource, tag="Disagreements"):
    """The disagreements of a project: open, waiting or settled."""

    @reads(DisagreementSerializer, parameters=AskedDisagreements, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List them, the farthest apart first. Names are pseudonyms until they are revealed."""
        member = annotate_access.lead(self.person, slug)
        filters = queue_filter_from(member, self.parameters())
        after = None
        if cursor := requested_cursor(request):
            try:
                after = QueuePosition.parse(cursor)
            except ValueError as error:
                raise invalid_cursor() from error
        page = read_page(member, filters, after=after, size=page_size(request))
        rows = self.shape(page.items)
        return page_response(request, rows, str(page.after) if page.after else None)


class DisagreementsTable(Resource, tag="Disagreements"):
    """The disagreements of a project as a table."""

    @reads(OpenApiTypes.STR, parameters=AskedDisagreements, media="text/csv", scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Download the same list as CSV."""
        member = annotate_access.lead(self.person, slug)
        return csv_response(table_rows(member, queue_filter_from(member, self.parameters())))


class DisagreementCounts(Resource, tag="Disagreements"):
    """The numbers of disagreements."""

    @reads(CountsSerializer, parameters=AskedDisagreements, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> dict[str, int]:
        """Count them by kind."""
        member = annotate_access.lead(self.person, slug)
        counts = count_by_kind(member, queue_filter_from(member, self.parameters()))
        return {kind.value: count for kind, count in counts.items()}


class Reveals(Resource, tag="Disagreements"):
    """The records of who looked up names."""

    @reads(RevealSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List them, the newest first."""
        member = annotate_access.lead(self.person, slug)
        reveals = Reveal.objects.filter(by__project=member.project_id).select_related("by")
        return self.page(reveals, newest_first=True)


class JudgmentDisagreement(Resource, tag="Disagreements"):
    """A disagreement between judges about the grade of a document."""

    @reads(JudgmentDisagreementSerializer, scope=Scope.LEAD)
    def get(
        self, request: Request, narrative: int, candidate: int
    ) -> disagreements.JudgmentDisagreement:
        """Return each answer and the decisions. 403 for a lead who has yet to judge it."""
        return access.judgment_disagreement(self.person, narrative, candidate)


class _NamesRevealed(Resource, tag="Disagreements"):
    """The record that a lead knows who gave which answer in a disagreement."""

    kind: ClassVar[Kind]

    @writes(RevealSerializer, scope=Scope.LEAD, status=201)
    def post(self, request: Request, **keys: int) -> Reveal:
        """Reveal who gave which answer. It is recorded that you looked."""
        return access.disagreement(self.person, self.kind, **keys).reveal()


class JudgesRevealed(_NamesRevealed):
    """The record that a lead knows who judged a document."""

    kind = Kind.JUDGMENT


class VerdictDisagreement(Resource, tag="Disagreements"):
    """A disagreement between judges about one condition of a document."""

    @reads(VerdictDisagreementSerializer, scope=Scope.LEAD)
    def get(
        self, request: Request, condition: int, candidate: int
    ) -> disagreements.VerdictDisagreement:
        """Return each answer and the decisions. 403 for a lead who has yet to judge it."""
        return access.verdict_disagreement(self.person, condition, candidate)


class ReviewDisagreement(Resource, tag="Disagreements"):
    """A disagreement between auditors about a narrative version. A decision settles it."""

    @reads(ReviewDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, narrative: int) -> disagreements.ReviewDisagreement:
        """Return each review and the decisions. 403 for a lead who has yet to review it."""
        return access.review_disagreement(self.person, narrative)


class AuditorsRevealed(_NamesRevealed):
    """The record that a lead knows who reviewed an instruction."""

    kind = Kind.REVIEW


class CheckDisagreement(Resource, tag="Disagreements"):
    """A disagreement between two checkers of a claimed label."""

    @reads(CheckDisagreementSerializer, scope=Scope.LEAD)
    def get(self, request: Request, item: int) -> disagreements.CheckDisagreement:
        """Return the two checks once both are there, and how a third person settled it."""
        return access.check_disagreement(self.person, item)


class CheckersRevealed(_NamesRevealed):
    """The record that a lead knows who checked a label."""

    kind = Kind.CHECK


class RejudgeRequests(Resource, tag="Disagreements"):
    """Requests to judges to look at a document again."""

    @writes(RejudgeRequestSerializer, body=SentRejudgeRequest, scope=Scope.LEAD, status=201)
    def post(self, request: Request, narrative: int, candidate: int) -> RejudgeRequest:
        """Ask a judge to look at the document again. Their judgment is not changed."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        body = self.body()
        return rejudge_requests.ask(
            judgment=disagreement.judgment(body["judgment"]),
            words=body["words"],
            by=disagreement.member,
        )


class OneRejudgeRequest(Resource, tag="Disagreements"):
    """One rejudge request."""

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(
        self, request: Request, narrative: int, candidate: int, rejudge_request: int
    ) -> None:
        """Withdraw it: the judge is no longer asked. 422 once it is answered."""
        disagreement = access.judgment_disagreement(self.person, narrative, candidate)
        rejudge_requests.withdraw(
            rejudge_request=access.rejudge_request(disagreement, str(rejudge_request)),
            by=disagreement.member,
        )


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
