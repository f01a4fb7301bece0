"""Checks of claimed labels: samples and what they come to, labels to check, and settling them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.models import Run
from annotate.collection.text_versions import MAX_TEXT_VERSION
from annotate.judgments.document_names import name_of
from annotate.judgments.models import Verdict
from annotate.pairs.api.shapes import ConditionSerializer, VersionSerializer
from annotate.projects import access as annotate_access
from annotate.projects.models import Membership
from audit.checks import access, actions
from audit.checks.actions import MAX_ITEMS, MAX_NAME, MAX_WORDS, Answering
from audit.checks.api.shapes import (
    CheckedSerializer,
    CoefficientSerializer,
    ProportionSerializer,
    WeightedSerializer,
)
from audit.checks.claims import Asked as Claims
from audit.checks.claims import frame, plan
from audit.checks.figures import BOUND, figures
from audit.checks.forms import MAX_SEED
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.queue import SHOWN, following, labels_of, progress, to_check, to_settle
from audit.checks.suspects import suspicion
from base.api.paging import cursor_of, nowhere, paged, size_of
from base.api.resource import Asked, KeyField, Resource, Scope, Sent, done, reads, writes

SMALL = 32_767


class _SentClaims(Sent):
    """Whose labels are looked at."""

    source = serializers.ChoiceField(choices=Sample.Source.choices)  # type: ignore[assignment]
    rater = serializers.CharField(
        max_length=150, required=False, help_text="The machine's name, for `machine`."
    )


class SentPlan(_SentClaims):
    """What is drawn."""

    relevant_only = serializers.BooleanField(default=False)
    asks = serializers.ChoiceField(choices=Sample.Asks.choices, default=Sample.Asks.GRADE)
    stratify = serializers.ChoiceField(
        choices=Sample.Stratify.choices, default=Sample.Stratify.NONE
    )
    per = serializers.ChoiceField(choices=Sample.Per.choices, default=Sample.Per.STRATUM)
    size = serializers.IntegerField(min_value=1, max_value=MAX_ITEMS)
    seed = serializers.IntegerField(min_value=0, max_value=MAX_SEED)
    fewer = serializers.BooleanField(
        default=False, help_text="Where there are fewer, take what there is."
    )


class SentSample(SentPlan):
    """What is drawn, and under which name."""

    name = serializers.CharField(max_length=MAX_NAME)
    shows_claim = serializers.BooleanField(
        default=False, help_text="Whether checkers see what is claimed."
    )


class AskedSuspects(Asked):
    """Which documents are suspects: claimed relevant, and missed by runs."""

    source = serializers.ChoiceField(  # type: ignore[assignment]
        choices=Sample.Source.choices, default=Sample.Source.PRIOR
    )
    rater = serializers.CharField(max_length=150, required=False)
    runs = serializers.RegexField(
        r"^[1-9][0-9]{0,17}(,[1-9][0-9]{0,17})*$",
        required=False,
        help_text="Keys of runs, commas between; all runs without.",
    )
    depth = serializers.IntegerField(min_value=1, max_value=1_000_000, default=100)
    at_least = serializers.IntegerField(min_value=1, max_value=SMALL, default=1)
    below = serializers.FloatField(required=False)


class SentSuspects(_SentClaims):
    """Suspects that are sent to be looked at, and under which name."""

    name = serializers.CharField(max_length=MAX_NAME)
    runs = serializers.ListField(child=KeyField(), min_length=1, max_length=1_000)
    depth = serializers.IntegerField(min_value=1, max_value=1_000_000, default=100)
    at_least = serializers.IntegerField(min_value=1, max_value=SMALL, default=1)
    below = serializers.FloatField(required=False, allow_null=True)
    stratify = serializers.ChoiceField(
        choices=Sample.Stratify.choices, default=Sample.Stratify.NONE
    )
    shows_claim = serializers.BooleanField(default=False)


class SentCheck(Sent):
    """What one says of a claimed label: a grade, or that one cannot judge it, with words; or, where
    the sample asks for conditions, an answer to each by its key.
    """

    text_version = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_TEXT_VERSION,
        help_text="The version of the document's text that was read, 0 for none; the newest where "
        "it is not said.",
    )
    uuid = serializers.UUIDField(
        required=False, help_text="Made by the sender: sent twice, it counts once."
    )
    relevance = serializers.IntegerField(
        min_value=-SMALL - 1, max_value=SMALL, required=False, allow_null=True
    )
    cannot_judge = serializers.BooleanField(default=False)
    verdicts = serializers.DictField(
        child=serializers.ChoiceField(choices=Verdict.Answer.choices), required=False
    )
    words = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=MAX_WORDS
    )

    def validate_verdicts(self, verdicts: dict[str, str]) -> dict[int, str]:
        """Read the keys of the conditions."""
        if not all(key.isascii() and key.isdecimal() and len(key) < 19 for key in verdicts):
            raise serializers.ValidationError(_("The keys must be those of conditions."))
        return {int(key): answer for key, answer in verdicts.items()}


class StratumSerializer(serializers.Serializer[Any]):
    """One stratum: how many claims there are, and how many of them are taken."""

    stratum = serializers.CharField(allow_blank=True)
    size = serializers.IntegerField()
    taken = serializers.IntegerField(allow_null=True)


class PlanSerializer(serializers.Serializer[Any]):
    """What a sample would take; `refused` says why it cannot be drawn, if so."""

    strata = StratumSerializer(many=True)
    refused = serializers.CharField(allow_blank=True)


class DrawnSerializer(serializers.ModelSerializer[Sample]):
    """How a sample came about: for leads."""

    rater = serializers.CharField(source="rater.name", allow_null=True, default=None)

    class Meta:
        model = Sample
        fields = (
            "source",
            "rater",
            "relevant_only",
            "stratify",
            "seed",
            "per",
            "size",
            "fewer",
            "at_least",
            "depth",
            "below",
            "shows_claim",
        )
        read_only_fields = fields


class SampleSerializer(serializers.Serializer[Any]):
    """A sample, and what of it waits for you."""

    id = serializers.IntegerField(source="sample.pk")
    name = serializers.CharField(source="sample.name")
    kind = serializers.ChoiceField(source="sample.kind", choices=Sample.Kind.choices)
    asks = serializers.ChoiceField(source="sample.asks", choices=Sample.Asks.choices)
    created_at = serializers.DateTimeField(source="sample.created_at")
    drawn = DrawnSerializer(allow_null=True, help_text="For leads; else null.")
    items = serializers.IntegerField(source="progress.items")
    checked = serializers.IntegerField(source="progress.checked", allow_null=True)
    mine = serializers.IntegerField(source="progress.mine")
    to_check = serializers.IntegerField(source="progress.to_check")
    to_settle = serializers.IntegerField(source="progress.to_settle")


class RatesSerializer(serializers.Serializer[Any]):
    """How many claims are wrong: in being relevant or not (`status`), and in their grade."""

    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    items = serializers.IntegerField()
    checked = serializers.IntegerField()
    unjudgeable = serializers.IntegerField()
    frame = serializers.IntegerField()
    status = ProportionSerializer()
    grade = ProportionSerializer()
    more_status = serializers.IntegerField(allow_null=True)
    more_grade = serializers.IntegerField(allow_null=True)


class WeightedRatesSerializer(serializers.Serializer[Any]):
    """The same of all there was to draw from, weighted by the sizes of the strata."""

    status = WeightedSerializer()
    grade = WeightedSerializer()


class FiguresSerializer(serializers.Serializer[Any]):
    """What the checks of a sample come to."""

    bound = serializers.FloatField()
    overall = RatesSerializer()
    strata = RatesSerializer(many=True)
    weighted = WeightedRatesSerializer(allow_null=True)
    differed = serializers.IntegerField()
    to_settle = serializers.IntegerField()
    settled = serializers.IntegerField()
    unsure = serializers.IntegerField()
    unchecked = serializers.IntegerField()
    percent = CoefficientSerializer()
    kappa = CoefficientSerializer()
    sentence = serializers.CharField(allow_blank=True)


class LabelRowSerializer(serializers.Serializer[Any]):
    """A claimed label. What the two said stands there once both have, what was claimed once that is
    checked: leads check as well.
    """

    id = serializers.IntegerField(source="pk")
    pair_id = serializers.CharField(source="narrative.pair.pair_id")
    narrative = serializers.IntegerField(source="narrative_id")
    side = serializers.CharField(source="narrative.side")
    candidate = serializers.IntegerField(source="candidate_id")
    doc_id = serializers.CharField(source="candidate.document.doc_id")
    stratum = serializers.CharField(allow_blank=True)
    missed = serializers.IntegerField(allow_null=True)
    spoken = serializers.IntegerField(help_text="How many of the two have checked it.")
    first = serializers.SerializerMethodField()
    second = serializers.SerializerMethodField()
    outcome = serializers.IntegerField(allow_null=True)
    claimed = serializers.SerializerMethodField()
    unjudgeable = serializers.BooleanField()

    def get_first(self, item: Any) -> int | None:
        """What one of them said."""
        return item.first if item.spoken == 2 else None

    def get_second(self, item: Any) -> int | None:
        """What the other said."""
        return item.second if item.spoken == 2 else None

    def get_claimed(self, item: Any) -> int | None:
        """What was claimed."""
        return item.claimed if item.outcome is not None else None


class LabelSerializer(serializers.Serializer[Any]):
    """A claimed label as it is checked, blind to what others say of it."""

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
        source="name.label", help_text="What pages call the document: its title, or a neutral name."
    )
    doc_id = serializers.CharField(
        source="name.doc_id", allow_null=True, help_text="null until you have answered."
    )
    claimed = serializers.IntegerField(
        allow_null=True, help_text="Null where checkers are blind to it."
    )
    can_check = serializers.BooleanField()
    can_settle = serializers.BooleanField()
    mine = CheckedSerializer(allow_null=True)
    said = CheckedSerializer(many=True, help_text="What the two said, to a third who settles it.")


class NextLabelSerializer(serializers.Serializer[Any]):
    """The label to go to; null where nothing waits."""

    label = serializers.IntegerField(allow_null=True)  # type: ignore[assignment]


class AskedSample(Asked):
    """Below which rate the bound shall come."""

    bound = serializers.FloatField(min_value=0.0001, max_value=0.5, default=BOUND)


class AskedLabels(Asked):
    """Which labels; all where nothing is said."""

    show = serializers.ChoiceField(choices=SHOWN, default=SHOWN[0])


class AskedNext(Asked):
    """What one does, and after which label."""

    task = serializers.ChoiceField(choices=["check", "settle"], default="check")
    after = KeyField(required=False)


class SuspectSerializer(serializers.Serializer[Any]):
    """A document that is claimed to be relevant, and how many of the runs miss it."""

    pair_id = serializers.CharField(source="claim.under.pair_id")
    query_id = serializers.CharField(source="claim.under.query_id")
    narrative = serializers.IntegerField(source="claim.under.narrative")
    candidate = serializers.IntegerField(source="claim.candidate")
    doc_id = serializers.CharField(source="claim.doc_id")
    missed = serializers.IntegerField()
    of = serializers.IntegerField()


class RunSerializer(serializers.Serializer[Any]):
    """A system's ranking, as it was handed in."""

    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    tag = serializers.CharField(allow_blank=True)
    side = serializers.ChoiceField(
        choices=Run.Side.choices, help_text="altered: over instructions; original: over queries."
    )
    sha256 = serializers.CharField()
    loaded_at = serializers.DateTimeField()


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
        """List the samples, with what waits in each for you."""
        member = annotate_access.member(self.person, slug)
        found = Sample.objects.filter(project=member.project_id).select_related("rater")
        return self.page(found, lambda rows: _samples(member, rows))

    @writes(SampleSerializer, sent=SentSample, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Draw a sample at random. The same seed draws the same labels, here and anywhere."""
        member = annotate_access.lead(self.person, slug)
        given = self.sent()
        asked = _claims(member, given)
        names = ("name", "stratify", "per", "size", "seed", "fewer", "shows_claim")
        made = actions.draw_sample(asked=asked, by=member, **{name: given[name] for name in names})
        return Response(_samples(member, [made])[0], status=201)


class SamplePlan(Resource):
    """What a sample would take."""

    tag = "Checks"

    @writes(PlanSerializer, sent=SentPlan, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> Response:
        """Count the strata. Nothing is drawn."""
        member = annotate_access.lead(self.person, slug)
        given = self.sent()
        found = plan(
            frame(member.project, _claims(member, given)),
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
        """List them, those first that most runs miss."""
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
        """Send them to be looked at, as a sample. What is picked stands for nothing but itself."""
        member = annotate_access.lead(self.person, slug)
        given = self.sent()
        made = actions.pick_suspects(
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
        """Read how far it is, and what of it waits for you."""
        member, found = access.sample(self.person, sample)
        return Response(_samples(member, [found])[0])


class SampleFigures(Resource):
    """What the checks of a sample come to."""

    tag = "Checks"

    @reads(FiguresSerializer, asked=AskedSample, scope=Scope.LEAD)
    def get(self, request: Request, sample: int) -> Response:
        """Count how many labels are wrong, and how sure that is."""
        member, found = access.sample(self.person, sample)
        annotate_access.lead(self.person, member.project.slug)
        return Response(FiguresSerializer(figures(found, bound=self.asked()["bound"])).data)


class SampleLabels(Resource):
    """The labels of a sample."""

    tag = "Checks"

    @reads(LabelRowSerializer, asked=AskedLabels, paged=True, scope=Scope.LEAD)
    def get(self, request: Request, sample: int) -> Response:
        """List them, or some of them."""
        member, found = access.sample(self.person, sample)
        annotate_access.lead(self.person, member.project.slug)
        rows = labels_of(found, self.asked()["show"])
        return self.page(rows, lambda part: list(LabelRowSerializer(part, many=True).data))


class NextLabel(Resource):
    """The label to go to next."""

    tag = "Checks"

    @reads(NextLabelSerializer, asked=AskedNext)
    def get(self, request: Request, sample: int) -> Response:
        """Tell which label you could check, or settle, after another one."""
        member, found = access.sample(self.person, sample)
        asked = self.asked()
        waiting = (to_check if asked["task"] == "check" else to_settle)(member, found)
        return Response({"label": following(waiting, asked.get("after"))})


class Label(Resource):
    """One claimed label."""

    tag = "Checks"

    @reads(LabelSerializer)
    def get(self, request: Request, item: int) -> Response:
        """Read what there is to check, and what you said of it."""
        return Response(_label(*access.item(self.person, item)))


class LabelCheck(Resource):
    """What you say of a claimed label, as one of two."""

    tag = "Checks"

    @writes(LabelSerializer, sent=SentCheck, scope=Scope.JUDGE)
    def put(self, request: Request, item: int) -> Response:
        """Check it. Something else takes the place of what you said before, until it is settled."""
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
        """Take back what you said of it, checked or settled. Where that is nothing, nothing
        changes.
        """
        member, found = access.item(self.person, item)
        actions.take_back(item=found, by=member)
        return done()


class LabelSettling(Resource):
    """What a third person says where two differ."""

    tag = "Checks"

    @writes(LabelSerializer, sent=SentCheck, scope=Scope.JUDGE)
    def put(self, request: Request, item: int) -> Response:
        """Settle it. 422 for one of the two, and where there is nothing to settle."""
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
    """Samples as they are told: how one came about, and how far the others are, only to leads."""
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
        "can_check": (mine is not None and not settles)
        or to_check(member, item.sample).filter(pk=item.pk).exists(),
        "can_settle": can_settle,
        "mine": mine and {"row": mine, "who": member.name, "mine": True},
        # Whoever settles weighs what was said, not who said it.
        "said": [{"row": one, "who": str(one.place), "mine": False} for one in first_two],
    }
    return dict(LabelSerializer(told).data)


def _answering(given: Mapping[str, Any]) -> Answering:
    return Answering(
        relevance=given.get("relevance"),
        cannot_judge=given["cannot_judge"],
        verdicts=given.get("verdicts"),
        words=given.get("words", ""),
    )


def _claims(member: Membership, given: Mapping[str, Any], before: str = "") -> Claims:
    """Whose claims are meant; 400 for a machine that there is not."""
    rater = None
    if given["source"] == Sample.Source.MACHINE:
        machines = member.project.memberships.filter(is_machine=True)
        rater = machines.filter(name=given.get("rater", "")).first()
        if rater is None:
            raise ValidationError({f"{before}rater": [_("There is no machine of that name here.")]})
    elif given.get("rater"):
        raise ValidationError(
            {f"{before}rater": [_("Only the judgments of machines are by name.")]}
        )
    return Claims(
        given["source"],
        rater,
        given.get("relevant_only", False),
        given.get("asks", Sample.Asks.GRADE),
    )


def _runs(member: Membership, keys: list[int] | None, field: str) -> list[Run]:
    """Runs of the project by their keys, all without; 400 for one that there is not."""
    found = {run.pk: run for run in Run.objects.filter(project=member.project_id).order_by("name")}
    if keys is None:
        return list(found.values())
    if missing := [key for key in keys if key not in found]:
        raise ValidationError({field: [_("There is no run %(key)s here.") % {"key": missing[0]}]})
    return [found[key] for key in dict.fromkeys(keys)]
