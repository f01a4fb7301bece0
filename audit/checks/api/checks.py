"""API resources of label checks: samples, their figures, labels to check, and settling them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.models import Run
from annotate.judgments.document_names import name_of
from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from audit.checks import access, actions, samples
from audit.checks.actions import Answering
from audit.checks.api.sent import (
    AskedLabels,
    AskedNext,
    AskedSample,
    AskedSuspects,
    SentCheck,
    SentPlan,
    SentSample,
    SentSuspects,
)
from audit.checks.api.shapes import (
    FiguresSerializer,
    LabelRowSerializer,
    LabelSerializer,
    NextLabelSerializer,
    PlanSerializer,
    RunSerializer,
    SampleSerializer,
    SuspectSerializer,
)
from audit.checks.claims import Asked as Claims
from audit.checks.claims import frame, why_unfit
from audit.checks.condition_counts import broken_conditions
from audit.checks.figures import figures
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.plans import plan
from audit.checks.queue import (
    following,
    labels_of,
    next_to_check,
    progress,
    to_check,
    to_settle,
    with_checks,
)
from audit.checks.suspects import suspicion
from base.api.paging import cursor_of, nowhere, paged, size_of
from base.api.resource import Resource, Scope, done, reads, writes


class Runs(Resource):
    """The runs of a project."""

    tag = "Checks"

    @reads(RunSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the runs that were loaded."""
        member = annotate_access.lead(self.person, slug)
        found = Run.objects.filter(project=member.project_id)
        return self.page(found, lambda rows: list(RunSerializer(rows, many=True).data))


class Samples(Resource):
    """The samples of a project."""

    tag = "Checks"

    @reads(SampleSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the samples, with how many labels of each you can check or settle."""
        member = annotate_access.member(self.person, slug)
        found = Sample.objects.filter(project=member.project_id).select_related("rater")
        return self.page(found, lambda rows: _samples(member, rows))

    @writes(SampleSerializer, sent=SentSample, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Draw a random sample. The same seed draws the same labels on any installation."""
        member = annotate_access.lead(self.person, slug)
        given = self.sent()
        asked = _claims(member, given)
        names = ("name", "stratify", "per", "size", "seed", "fewer", "shows_claim", "shows_reason")
        made = samples.draw_sample(asked=asked, by=member, **{name: given[name] for name in names})
        return Response(_samples(member, [made])[0], status=201)


class SamplePlan(Resource):
    """The strata of a sample before it is drawn."""

    tag = "Checks"

    @writes(PlanSerializer, sent=SentPlan, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Response:
        """Count the strata. Nothing is drawn."""
        member = annotate_access.lead(self.person, slug)
        given = self.sent()
        asked = _claims(member, given)
        if unfit := why_unfit(member.project, asked, given["stratify"]):
            return Response(PlanSerializer({"strata": [], "refused": unfit}).data)
        found = plan(
            frame(member.project, asked),
            **{name: given[name] for name in ("stratify", "per", "size", "seed", "fewer")},
        )
        strata = [
            {"stratum": label, "size": size, "taken": found.taken.get(label)}
            for label, size in found.sizes.items()
        ]
        return Response(PlanSerializer({"strata": strata, "refused": found.refused}).data)


class Suspects(Resource):
    """Documents claimed to be relevant that runs miss."""

    tag = "Checks"

    @reads(SuspectSerializer, asked=AskedSuspects, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the suspects, most missed first."""
        member = annotate_access.lead(self.person, slug)
        given = self.asked()
        keys = [int(key) for key in given["runs"].split(",")] if given.get("runs") else None
        runs = _runs(member, keys, "?runs")
        found = suspicion(
            member.project,
            _claims(member, given, "?"),
            runs=runs,
            depth=given["depth"],
            at_least=given["at_least"],
            below=given.get("below"),
        ).suspects
        places = [
            f"{one.missed}-{one.claim.under.narrative}-{one.claim.candidate}" for one in found
        ]
        after, size = cursor_of(request), size_of(request)
        if after and after not in places:
            raise nowhere()
        start = places.index(after) + 1 if after else 0
        rows = SuspectSerializer(found[start : start + size], many=True).data
        more = start + size < len(found)
        return paged(request, rows, places[start + size - 1] if more else None)

    @writes(SampleSerializer, sent=SentSuspects, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Make a sample of the suspects. It is not a random sample of the labels."""
        member = annotate_access.lead(self.person, slug)
        given = self.sent()
        made = samples.pick_suspects(
            name=given["name"],
            asked=_claims(member, given),
            runs=_runs(member, given["runs"], "runs"),
            depth=given["depth"],
            at_least=given["at_least"],
            below=given.get("below"),
            stratify=given["stratify"],
            shows_claim=given["shows_claim"],
            by=member,
        )
        return Response(_samples(member, [made])[0], status=201)


class OneSample(Resource):
    """One sample."""

    tag = "Checks"

    @reads(SampleSerializer)
    def get(self, request: Request, sample: int) -> Response:
        """Read its progress, and how many labels you can check or settle."""
        member, found = access.sample(self.person, sample)
        return Response(_samples(member, [found])[0])


class SampleFigures(Resource):
    """The figures of a sample."""

    tag = "Checks"

    @reads(FiguresSerializer, asked=AskedSample, scope=Scope.LEAD)
    def get(self, request: Request, sample: int) -> Response:
        """Compute the error rates with their intervals, and the agreement of the two checkers."""
        member, found = access.sample(self.person, sample)
        annotate_access.lead(self.person, member.project.slug)
        return Response(FiguresSerializer(figures(found, bound=self.asked()["bound"])).data)


class SampleLabels(Resource):
    """The labels of a sample."""

    tag = "Checks"

    @reads(LabelRowSerializer, asked=AskedLabels, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, sample: int) -> Response:
        """List the labels, or some of them."""
        member, found = access.sample(self.person, sample)
        annotate_access.lead(self.person, member.project.slug)
        rows = labels_of(found, self.asked()["show"])

        def as_json(part: list[Any]) -> list[Any]:
            broken = broken_conditions(found, part)
            return list(LabelRowSerializer(part, many=True, context={"broken": broken}).data)

        return self.page(rows, as_json)


class NextLabel(Resource):
    """The next label to check or settle."""

    tag = "Checks"

    @reads(NextLabelSerializer, asked=AskedNext)
    def get(self, request: Request, sample: int) -> Response:
        """Return the label that you can check, or settle, after another one."""
        member, found = access.sample(self.person, sample)
        asked = self.asked()
        after = asked.get("after")
        if asked["task"] == "check":
            label = next_to_check(member, to_check(member, found), after)
        else:
            label = following(to_settle(member, found), after)
        return Response({"label": label})


class Label(Resource):
    """One claimed label."""

    tag = "Checks"

    @reads(LabelSerializer)
    def get(self, request: Request, item: int) -> Response:
        """Read the label to check, and your answer to it."""
        return Response(_label(*access.item(self.person, item)))


class LabelCheck(Resource):
    """Your check of a claimed label, as one of two."""

    tag = "Checks"

    @writes(LabelSerializer, sent=SentCheck, scope=Scope.JUDGE)
    def put(self, request: Request, item: int) -> Response:
        """Check the label. A different answer supersedes your previous one, until it is settled."""
        member, found = access.item(self.person, item)
        given = self.sent()
        actions.check(
            item=found,
            by=member,
            uuid=given.get("uuid"),
            text=given.get("text_version"),
            **_answering(given),
        )
        return Response(_label(member, found))

    @writes(None, scope=Scope.JUDGE, status=204)
    def delete(self, request: Request, item: int) -> Response:
        """Withdraw your check or your settlement. Without one, nothing changes."""
        member, found = access.item(self.person, item)
        actions.take_back(item=found, by=member)
        return done()


class LabelReason(Resource):
    """Why a document is claimed to violate its instruction."""

    tag = "Checks"

    @writes(LabelSerializer, scope=Scope.JUDGE)
    def post(self, request: Request, item: int) -> Response:
        """Read the reason, once you have answered. After that your answer cannot change."""
        member, found = access.item(self.person, item)
        actions.read_reason(item=found, by=member)
        return Response(_label(member, found))


class LabelSettling(Resource):
    """A third person's answer where two differ."""

    tag = "Checks"

    @writes(LabelSerializer, sent=SentCheck, scope=Scope.JUDGE)
    def put(self, request: Request, item: int) -> Response:
        """Settle the label. 422 for one of the two, and if there is nothing to settle."""
        member, found = access.item(self.person, item)
        given = self.sent()
        actions.settle(
            item=found,
            by=member,
            uuid=given.get("uuid"),
            text=given.get("text_version"),
            **_answering(given),
        )
        return Response(_label(member, found))


def _samples(member: Membership, rows: list[Sample]) -> list[dict[str, Any]]:
    """Return samples as JSON; how they were made and how many are checked only for leads."""
    far = progress(member, rows)
    return [
        dict(
            SampleSerializer(
                {
                    "sample": one,
                    "drawn": one if member.leads else None,
                    "progress": far[one.pk] if member.leads else far[one.pk]._replace(checked=None),  # type: ignore[arg-type]
                }
            ).data
        )
        for one in rows
    ]


def _label(member: Membership, item: SampleItem) -> dict[str, Any]:
    current = list(Check.objects.current().filter(item=item).order_by("place"))
    mine = next((one for one in current if one.checker_id == member.pk), None)
    settles = mine is not None and mine.place == Check.SETTLES
    can_settle = settles or to_settle(member, item.sample).filter(pk=item.pk).exists()
    first_two = [one for one in current if one.place != Check.SETTLES] if can_settle else []
    told = {
        "item": item,
        "name": name_of(
            item.candidate.document,
            member.project,
            hidden=mine is None or (can_settle and not settles),
        ),
        "conditions": list(item.narrative.conditions.order_by("number")),
        "claimed": item.claimed if item.sample.shows_claim else None,
        "reason": item.reason if mine is not None and mine.reason_read_at else None,
        "claimed_breaks": _claimed_breaks(item) if mine is not None else None,
        "can_check": (mine is not None and not settles)
        or to_check(member, item.sample).filter(pk=item.pk).exists(),
        "can_settle": can_settle,
        "mine": mine and {"row": mine, "who": member.name, "mine": True},
        # The third person sees the answers without the names.
        "said": [{"row": one, "who": str(one.place), "mine": False} for one in first_two],
    }
    return dict(LabelSerializer(told).data)


def _claimed_breaks(item: SampleItem) -> list[int] | None:
    """Return the conditions claimed to be broken, once the label is checked."""
    rows = list(with_checks(SampleItem.objects.filter(pk=item.pk)))
    broken = broken_conditions(item.sample, rows).get(item.pk)
    return broken.claimed if broken else None


def _answering(given: Mapping[str, Any]) -> Answering:
    return Answering(
        relevance=given.get("relevance"),
        cannot_judge=given["cannot_judge"],
        verdicts=given.get("verdicts"),
        questions=given.get("questions"),
        words=given.get("words", ""),
    )


def _claims(member: Membership, given: Mapping[str, Any], before: str = "") -> Claims:
    """Return the request for claims; 400 for an unknown machine."""
    rater = None
    if given["source"] == Sample.Source.MACHINE:
        machines = member.project.memberships.filter(is_machine=True)
        rater = machines.filter(name=given.get("rater", "")).first()
        if rater is None:
            raise ValidationError(
                {f"{before}rater": [_("There is no machine of that name in this project.")]}
            )
    elif given.get("rater"):
        raise ValidationError(
            {f"{before}rater": [_("Name a rater only for the judgments of a machine.")]}
        )
    return Claims(
        given["source"],
        rater,
        given.get("relevant_only", False),
        given.get("asks", Sample.Asks.GRADE),
        given.get("side", ""),
    )


def _runs(member: Membership, keys: list[int] | None, field: str) -> list[Run]:
    """Return runs of the project by their keys, or all; 400 for an unknown run."""
    found = {run.pk: run for run in Run.objects.filter(project=member.project_id).order_by("name")}
    if keys is None:
        return list(found.values())
    if missing := [key for key in keys if key not in found]:
        raise ValidationError(
            {field: [_("There is no run %(key)s in this project.") % {"key": missing[0]}]}
        )
    return [found[key] for key in dict.fromkeys(keys)]
