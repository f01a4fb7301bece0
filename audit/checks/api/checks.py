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
        runs = Run.objects.filter(project=member.project_id)
        return self.page(runs)


class Samples(Resource, tag="Checks"):
    """The samples of a project."""

    @reads(SampleSerializer, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the samples, with how many labels of each you can check or settle."""
        member = annotate_access.member(self.person, slug)
        samples = Sample.objects.filter(project=member.project_id).select_related("rater")
        return self.page(samples, prepare=lambda rows: _sample_rows(member, rows))

    @writes(SampleSerializer, body=SentSample, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Draw a random sample. The same seed draws the same labels on any installation."""
        member = annotate_access.lead(self.person, slug)
        body = self.body()
        selection = _parse_selection(member, body)
        names = ("name", "stratify", "per", "size", "seed", "fewer", "shows_claim", "shows_reason")
        made = samples.draw_sample(
            selection=selection, by=member, **{name: body[name] for name in names}
        )
        return _sample_rows(member, [made])[0]


class SamplePlan(Resource, tag="Checks"):
    """The strata of a sample before it is drawn."""

    @writes(PlanSerializer, body=SentPlan, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Count the strata. Nothing is drawn."""
        member = annotate_access.lead(self.person, slug)
        body = self.body()
        selection = _parse_selection(member, body)
        if unfit := why_unfit(member.project, selection, body["stratify"]):
            return {"strata": [], "without_text": 0, "refused": unfit}
        frame = build_frame(member.project, selection)
        planned = plan(
            frame,
            **{name: body[name] for name in ("stratify", "per", "size", "seed", "fewer")},
        )
        strata = [
            {"stratum": label, "size": size, "taken": planned.taken.get(label)}
            for label, size in planned.sizes.items()
        ]
        return {"strata": strata, "without_text": frame.without_text, "refused": planned.refused}


class Suspects(Resource, tag="Checks"):
    """Documents claimed to be relevant that runs miss."""

    @reads(SuspectSerializer, parameters=AskedSuspects, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, slug: str) -> Response:
        """List the suspects, most missed first."""
        member = annotate_access.lead(self.person, slug)
        query = self.parameters()
        keys = [int(key) for key in query["runs"].split(",")] if query.get("runs") else None
        runs = _parse_runs(member, keys, "?runs")
        suspects = find_suspects(
            member.project,
            _parse_selection(member, query, "?"),
            runs=runs,
            depth=query["depth"],
            at_least=query["at_least"],
            below=query.get("below"),
        ).suspects
        places = [
            f"{suspect.missed}-{suspect.claim.narrative.pk}-{suspect.claim.candidate}"
            for suspect in suspects
        ]
        part, following = requested_part(request, places)
        return page_response(request, self.shape(suspects[part]), following)

    @writes(SampleSerializer, body=SentSuspects, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Make a sample of the suspects. It is not a random sample of the labels."""
        member = annotate_access.lead(self.person, slug)
        body = self.body()
        made = samples.pick_suspects(
            name=body["name"],
            selection=_parse_selection(member, body),
            runs=_parse_runs(member, body["runs"], "runs"),
            depth=body["depth"],
            at_least=body["at_least"],
            below=body.get("below"),
            stratify=body["stratify"],
            shows_claim=body["shows_claim"],
            by=member,
        )
        return _sample_rows(member, [made])[0]


class OneSample(Resource, tag="Checks"):
    """One sample."""

    @reads(SampleSerializer)
    def get(self, request: Request, sample: int) -> dict[str, Any]:
        """Read its progress, and how many labels you can check or settle."""
        member, row = access.sample(self.person, sample)
        return _sample_rows(member, [row])[0]


class SampleFigures(Resource, tag="Checks"):
    """The figures of a sample."""

    @reads(FiguresSerializer, parameters=AskedSample, scope=Scope.LEAD)
    def get(self, request: Request, sample: int) -> Figures:
        """Compute the error rates with their intervals, and the agreement of the two checkers."""
        member, row = access.sample(self.person, sample)
        annotate_access.lead(self.person, member.project.slug)
        return figures(row, bound=self.parameters()["bound"])


class SampleLabels(Resource, tag="Checks"):
    """The labels of a sample."""

    @reads(LabelRowSerializer, parameters=AskedLabels, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, sample: int) -> Response:
        """List the labels, or some of them."""
        member, row = access.sample(self.person, sample)
        annotate_access.lead(self.person, member.project.slug)
        rows = filter_labels(row, self.parameters()["show"])
        return self.page(rows, prepare=lambda part: _label_rows(row, part))


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


def _sample_rows(member: Membership, samples: list[Sample]) -> list[dict[str, Any]]:
    """Return the input for `SampleSerializer`; how samples were made and how many labels are
    checked only for leads.
    """
    progress_by_sample = progress(member, samples)
    return [
        {
            "sample": sample,
            "name": sample.name_for(member),
            "kind": sample.kind if member.leads or sample.shows_claim else None,
            "drawn": sample if member.leads else None,
            "progress": progress_by_sample[sample.pk]
            if member.leads
            else {**progress_by_sample[sample.pk]._asdict(), "checked": None},
        }
        for sample in samples
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
    mine = next((check for check in current if check.checker_id == member.pk), None)
    settles = mine is not None and mine.place == Check.SETTLES
    can_settle = settles or to_settle(member, item.sample).filter(pk=item.pk).exists()
    first_two = [check for check in current if check.place != Check.SETTLES] if can_settle else []
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
        "answers": [{"row": check, "who": str(check.place), "mine": False} for check in first_two],
    }


def _parse_selection(
    member: Membership, fields: Mapping[str, Any], before: str = ""
) -> ClaimSelection:
    """Return the request for claims; 400 for an unknown machine."""
    rater = None
    if fields["source"] == Sample.Source.MACHINE:
        machines = member.project.memberships.filter(is_machine=True)
        rater = machines.filter(name=fields.get("rater", "")).first()
        if rater is None:
            raise ValidationError(
                {f"{before}rater": ["There is no machine of that name in this project."]}
            )
    elif fields.get("rater"):
        raise ValidationError(
            {f"{before}rater": ["Name a rater only for the judgments of a machine."]}
        )
    return ClaimSelection(
        fields["source"],
        rater,
        fields.get("relevant_only", False),
        fields.get("asks", Sample.Asks.GRADE),
        fields.get("side", ""),
    )


def _parse_runs(member: Membership, keys: list[int] | None, field: str) -> list[Run]:
    """Return runs of the project by their keys, or all; 400 for an unknown run."""
    runs = {run.pk: run for run in Run.objects.filter(project=member.project_id).order_by("name")}
    if keys is None:
        return list(runs.values())
    if missing := [key for key in keys if key not in runs]:
        raise ValidationError({field: [f"There is no run {missing[0]} in this project."]})
    return [runs[key] for key in dict.fromkeys(keys)]
