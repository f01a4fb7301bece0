"""API resources of label checks: samples, their figures, labels to check, and settling them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.models import Run
from annotate.judgments.document_names import name_of
from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from audit.checks import access, actions, samples
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
from audit.checks.claims import ClaimSelection, build_frame, why_unfit
from audit.checks.condition_counts import BrokenConditions, broken_conditions, broken_conditions_of
from audit.checks.figures import Figures, figures
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.queue import (
    filter_labels,
    hide_open_checks,
    next_item,
    next_to_check,
    progress,
    to_check,
    to_settle,
)
from audit.checks.sampled_claims import plan
from audit.checks.suspects import find_suspects
from base.api.paging import page_response, requested_part
from base.api.resource import Resource, Scope, reads, writes


class Runs(Resource, tag="Checks"):
    """The runs of a project."""

    @reads(RunSerializer, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the runs that were loaded."""
        member = annotate_access.lead(self.person, slug)
        found = Run.objects.filter(project=member.project_id)
        return self.page(found)


class Samples(Resource, tag="Checks"):
    """The samples of a project."""

    @reads(SampleSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the samples, with how many labels of each you can check or settle."""
        member = annotate_access.member(self.person, slug)
        found = Sample.objects.filter(project=member.project_id).select_related("rater")
        return self.page(found, prepare=lambda rows: _sample_rows(member, rows))

    @writes(SampleSerializer, body=SentSample, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Draw a random sample. The same seed draws the same labels on any installation."""
        member = annotate_access.lead(self.person, slug)
        given = self.body()
        selection = _parse_selection(member, given)
        names = ("name", "stratify", "per", "size", "seed", "fewer", "shows_claim", "shows_reason")
        made = samples.draw_sample(
            selection=selection, by=member, **{name: given[name] for name in names}
        )
        return _sample_rows(member, [made])[0]


class SamplePlan(Resource, tag="Checks"):
    """The strata of a sample before it is drawn."""

    @writes(PlanSerializer, body=SentPlan, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Count the strata. Nothing is drawn."""
        member = annotate_access.lead(self.person, slug)
        given = self.body()
        selection = _parse_selection(member, given)
        if unfit := why_unfit(member.project, selection, given["stratify"]):
            return {"strata": [], "refused": unfit}
        found = plan(
            build_frame(member.project, selection),
            **{name: given[name] for name in ("stratify", "per", "size", "seed", "fewer")},
        )
        strata = [
            {"stratum": label, "size": size, "taken": found.taken.get(label)}
            for label, size in found.sizes.items()
        ]
        return {"strata": strata, "refused": found.refused}


class Suspects(Resource, tag="Checks"):
    """Documents claimed to be relevant that runs miss."""

    @reads(SuspectSerializer, parameters=AskedSuspects, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the suspects, most missed first."""
        member = annotate_access.lead(self.person, slug)
        given = self.parameters()
        keys = [int(key) for key in given["runs"].split(",")] if given.get("runs") else None
        runs = _parse_runs(member, keys, "?runs")
        found = find_suspects(
            member.project,
            _parse_selection(member, given, "?"),
            runs=runs,
            depth=given["depth"],
            at_least=given["at_least"],
            below=given.get("below"),
        ).suspects
        places = [f"{one.missed}-{one.claim.narrative.pk}-{one.claim.candidate}" for one in found]
        part, following = requested_part(request, places)
        return page_response(request, self.shape(found[part]), following)

    @writes(SampleSerializer, body=SentSuspects, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Make a sample of the suspects. It is not a random sample of the labels."""
        member = annotate_access.lead(self.person, slug)
        given = self.body()
        made = samples.pick_suspects(
            name=given["name"],
            selection=_parse_selection(member, given),
            runs=_parse_runs(member, given["runs"], "runs"),
            depth=given["depth"],
            at_least=given["at_least"],
            below=given.get("below"),
            stratify=given["stratify"],
            shows_claim=given["shows_claim"],
            by=member,
        )
        return _sample_rows(member, [made])[0]


class OneSample(Resource, tag="Checks"):
    """One sample."""

    @reads(SampleSerializer)
    def get(self, request: Request, sample: int) -> dict[str, Any]:
        """Read its progress, and how many labels you can check or settle."""
        member, found = access.sample(self.person, sample)
        return _sample_rows(member, [found])[0]


class SampleFigures(Resource, tag="Checks"):
    """The figures of a sample."""

    @reads(FiguresSerializer, parameters=AskedSample, scope=Scope.LEAD)
    def get(self, request: Request, sample: int) -> Figures:
        """Compute the error rates with their intervals, and the agreement of the two checkers."""
        member, found = access.sample(self.person, sample)
        annotate_access.lead(self.person, member.project.slug)
        return figures(found, bound=self.parameters()["bound"])


class SampleLabels(Resource, tag="Checks"):
    """The labels of a sample."""

    @reads(LabelRowSerializer, parameters=AskedLabels, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, sample: int) -> Response:
        """List the labels, or some of them."""
        member, found = access.sample(self.person, sample)
        annotate_access.lead(self.person, member.project.slug)
        rows = filter_labels(found, self.parameters()["show"])
        return self.page(rows, prepare=lambda part: _label_rows(found, part))


class NextLabel(Resource, tag="Checks"):
    """The next label to check or settle."""

    @reads(NextLabelSerializer, parameters=AskedNext)
    def get(self, request: Request, sample: int) -> dict[str, int | None]:
        """Return the label that you can check, or settle, after another one."""
        member, found = access.sample(self.person, sample)
        query = self.parameters()
        after = query.get("after")
        if query["task"] == "check":
            label = next_to_check(member, to_check(member, found), after)
        else:
            label = next_item(to_settle(member, found), after)
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
        member, found = access.item(self.person, item)
        actions.check(item=found, by=member, **self.body())
        return _label_content(member, found)

    @writes(None, scope=Scope.JUDGE, status=204)
    def delete(self, request: Request, item: int) -> None:
        """Withdraw your check or your settlement. Without one, nothing changes."""
        member, found = access.item(self.person, item)
        actions.withdraw_check(item=found, by=member)


class LabelReason(Resource, tag="Checks"):
    """Why a document is claimed to violate its instruction."""

    @writes(LabelSerializer, scope=Scope.JUDGE)
    def post(self, request: Request, item: int) -> dict[str, Any]:
        """Read the reason, once you have answered. After that your answer cannot change."""
        member, found = access.item(self.person, item)
        actions.read_reason(item=found, by=member)
        return _label_content(member, found)


class LabelSettling(Resource, tag="Checks"):
    """A third person's answer where two differ."""

    @writes(LabelSerializer, body=SentCheck, scope=Scope.JUDGE)
    def put(self, request: Request, item: int) -> dict[str, Any]:
        """Settle the label. 422 for one of the two, and if there is nothing to settle."""
        member, found = access.item(self.person, item)
        actions.settle(item=found, by=member, **self.body())
        return _label_content(member, found)


def _sample_rows(member: Membership, samples: list[Sample]) -> list[dict[str, Any]]:
    """Return the input for `SampleSerializer`; how samples were made and how many labels are
    checked only for leads.
    """
    found = progress(member, samples)
    return [
        {
            "sample": one,
            "name": one.name_for(member),
            "kind": one.kind if member.leads or one.shows_claim else None,
            "drawn": one if member.leads else None,
            "progress": found[one.pk]
            if member.leads
            else {**found[one.pk]._asdict(), "checked": None},
        }
        for one in samples
    ]


def _label_rows(sample: Sample, labels: list[Any]) -> list[Any]:
    """Return the input for `LabelRowSerializer`."""
    broken = broken_conditions(sample, labels)
    for label in hide_open_checks(labels):
        label.broken = broken.get(label.pk, BrokenConditions(None, None))
    return labels


def _label_content(member: Membership, item: SampleItem) -> dict[str, Any]:
    """Return the input for `LabelSerializer`."""
    current = list(Check.objects.current().filter(item=item).order_by("place"))
    mine = next((one for one in current if one.checker_id == member.pk), None)
    settles = mine is not None and mine.place == Check.SETTLES
    can_settle = settles or to_settle(member, item.sample).filter(pk=item.pk).exists()
    first_two = [one for one in current if one.place != Check.SETTLES] if can_settle else []
    broken = broken_conditions_of(item) if mine is not None else None
    return {
        "item": item,
        "name": name_of(
            item.candidate.document,
            member.project,
            hidden=mine is None or (can_settle and not settles),
        ),
        "conditions": list(item.narrative.conditions.order_by("number")),
        "claimed": item.claimed if item.sample.shows_claim else None,
        "reason": item.reason if mine is not None and mine.reason_read_at else None,
        "claimed_breaks": broken.claimed if broken else None,
        "can_check": (mine is not None and not settles)
        or to_check(member, item.sample).filter(pk=item.pk).exists(),
        "can_settle": can_settle,
        "mine": mine and {"row": mine, "who": member.name, "mine": True},
        # The third person sees the answers without the names.
        "answers": [{"row": one, "who": str(one.place), "mine": False} for one in first_two],
    }


def _parse_selection(
    member: Membership, given: Mapping[str, Any], before: str = ""
) -> ClaimSelection:
    """Return the request for claims; 400 for an unknown machine."""
    rater = None
    if given["source"] == Sample.Source.MACHINE:
        machines = member.project.memberships.filter(is_machine=True)
        rater = machines.filter(name=given.get("rater", "")).first()
        if rater is None:
            raise ValidationError(
                {f"{before}rater": ["There is no machine of that name in this project."]}
            )
    elif given.get("rater"):
        raise ValidationError(
            {f"{before}rater": ["Name a rater only for the judgments of a machine."]}
        )
    return ClaimSelection(
        given["source"],
        rater,
        given.get("relevant_only", False),
        given.get("asks", Sample.Asks.GRADE),
        given.get("side", ""),
    )


def _parse_runs(member: Membership, keys: list[int] | None, field: str) -> list[Run]:
    """Return runs of the project by their keys, or all; 400 for an unknown run."""
    found = {run.pk: run for run in Run.objects.filter(project=member.project_id).order_by("name")}
    if keys is None:
        return list(found.values())
    if missing := [key for key in keys if key not in found]:
        raise ValidationError({field: [f"There is no run {missing[0]} in this project."]})
    return [found[key] for key in dict.fromkeys(keys)]
