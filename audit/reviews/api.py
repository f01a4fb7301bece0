"""API resources of draws, rubrics, reviews, stories of pairs and decisions; and the journal."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.http import Http404, StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.collection.removal import MOST
from annotate.judging.api.journal import FormFieldsField, JournalEntry, SavedEntry, Sender
from annotate.judging.forms import StatementUuidField
from annotate.overview.api.home import SentConfirmation
from annotate.pairs import access as pairs_access
from annotate.pairs.api import OfPairSerializer, VersionSerializer
from annotate.pairs.models import Narrative, ReviewDraw
from annotate.projects import access as annotate_access
from audit.reviews import access, actions, decisions, draws, rejected, rubrics
from audit.reviews.actions import MAX_WORDS, RATED_AGAIN, save_rating
from audit.reviews.criteria import SHIPPED, Rubric, Verdict
from audit.reviews.draws import CurrentDraw
from audit.reviews.forms import DecisionForm, ReviewDrawForm
from audit.reviews.models import Decision, Rating
from audit.reviews.models import Rubric as RubricRow
from audit.reviews.passes import (
    Answer,
    Contrast,
    SignedPass,
    others_reviews,
    pass_of,
    sign_passes,
)
from audit.reviews.review_list import STATES, ReviewFilter, filter_reviews, review_rows
from audit.reviews.review_session import STORED
from audit.reviews.story import Chapter, story
from audit.reviews.texts_at_hand import documents_at_hand, texts_of
from base.api.bodies import FormBody
from base.api.records import RecordSerializer, serializer_of
from base.api.resource import KeyField, QueryParameters, RequestBody, Resource, Scope, reads, writes
from base.errors import Refused
from formats.rubrics import RubricFaults, parse_rubric, rubric_object

# The verdicts on a narrative version.
VERDICT_CHOICES = [(choice.value, choice.value) for choice in Verdict]


class DecisionSerializer(serializers.Serializer[Any]):
    """A decision on a narrative version; `withdrawn_at` is null while it is current."""

    outcome = serializers.ChoiceField(choices=Decision.Outcome.choices)
    reason = serializers.CharField()
    by = serializers.CharField(source="by.name")
    at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)


class RatedSerializer(RecordSerializer):
    """The answer to one criterion; `level` is null while not rated."""

    criterion = serializers.CharField(source="criterion.key")
    level = serializers.CharField(source="level.value", allow_null=True, default=None)

    class Meta:
        record = Answer
        fields = ("criterion", "level", "words")


class ReviewDrawSerializer(serializers.Serializer[Any]):
    """A draw: only the drawn instructions are reviewed."""

    stratify = serializers.ChoiceField(source="draw.stratify", choices=ReviewDraw.Stratify.choices)
    size = serializers.IntegerField(source="draw.size")
    seed = serializers.IntegerField(source="draw.seed")
    fewer = serializers.BooleanField(source="draw.fewer")
    drawn_at = serializers.DateTimeField(source="draw.drawn_at")
    strata = serializer_of(draws.DrawnStratum)(many=True)


class ReviewDrawInForceSerializer(serializers.Serializer[Any]):
    """The current draw, or null."""

    draw = ReviewDrawSerializer(
        allow_null=True, help_text="null: every instruction is to be reviewed."
    )


class InForce(Resource, tag="Reviews"):
    """The draw that limits what is reviewed."""

    @reads(ReviewDrawInForceSerializer)
    def get(self, request: Request, slug: str) -> dict[str, CurrentDraw | None]:
        """Read the current draw, with the numbers of each stratum."""
        member = annotate_access.lead(self.person, slug)
        return {"draw": draws.current_draw(member.project)}

    @writes(ReviewDrawInForceSerializer, body=ReviewDrawForm, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> dict[str, CurrentDraw | None]:
        """Draw the instructions to review. Only these have review tasks from now on."""
        member = annotate_access.lead(self.person, slug)
        draws.draw_for_review(project=member.project, by=member, **self.body())
        return {"draw": draws.current_draw(member.project)}

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(self, request: Request, slug: str) -> None:
        """End the current draw, if any: every instruction is to be reviewed."""
        member = annotate_access.lead(self.person, slug)
        draws.end_draw(project=member.project, by=member)


class LevelSerializer(RequestBody):
    """A level: how well an instruction meets a criterion. Some levels reject the instruction."""

    value = serializers.CharField(max_length=20)
    name = serializers.CharField(max_length=40)
    sentence = serializers.CharField(max_length=300, required=False, allow_blank=True)
    rejects = serializers.BooleanField(required=False)


class CriterionSerializer(RequestBody):
    """One question that an auditor answers about an instruction."""

    key = serializers.CharField(max_length=40)
    name = serializers.CharField(max_length=80)
    asks = serializers.CharField(max_length=500)
    poor_when = serializers.CharField(max_length=500, required=False, allow_blank=True)
    good_example = serializers.CharField(max_length=1_000, required=False, allow_blank=True)
    poor_example = serializers.CharField(max_length=1_000, required=False, allow_blank=True)


class RubricSerializer(RequestBody):
    """A rubric; its content never changes under one name."""

    name = serializers.CharField(max_length=60)
    title = serializers.CharField(max_length=120)
    levels = LevelSerializer(many=True)
    criteria = CriterionSerializer(many=True)


class RubricRowSerializer(serializers.Serializer[Any]):
    """A rubric that a project can choose."""

    rubric = RubricSerializer()
    shipped = serializers.BooleanField(help_text="Whether it comes with Rejudge.")
    in_force = serializers.BooleanField()


class RubricChoiceSerializer(RequestBody):
    """The name of the rubric to make current."""

    name = serializers.CharField(max_length=60)


class Rubrics(Resource, tag="Reviews"):
    """The rubrics that a project can choose."""

    @reads(RubricRowSerializer, many=True)
    def get(self, request: Request, slug: str) -> list[dict[str, Any]]:
        """List the project's rubrics and those that come with Rejudge, by name."""
        member = annotate_access.lead(self.person, slug)
        current = rubrics.current_rubric(member.project_id).name
        own = {row.name: row.content for row in RubricRow.objects.filter(project=member.project_id)}
        available: dict[str, Rubric] = own | SHIPPED
        return [
            {
                "rubric": rubric_object(available[name]),
                "shipped": name in SHIPPED,
                "in_force": name == current,
            }
            for name in sorted(available)
        ]

    @writes(RubricSerializer, body=RubricSerializer, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Save a rubric and make it current. A name with different content is refused."""
        member = annotate_access.lead(self.person, slug)
        try:
            content = parse_rubric(json.dumps(self.body()))
        except RubricFaults as error:
            raise ValidationError(list(error.faults)) from error
        row = rubrics.save_rubric(project=member.project, content=content, by=member)
        return rubric_object(row.content)


class RubricInForce(Resource, tag="Reviews"):
    """The current rubric, which new reviews use."""

    @reads(RubricSerializer)
    def get(self, request: Request, slug: str) -> dict[str, Any]:
        """Read the current rubric."""
        member = annotate_access.lead(self.person, slug)
        return rubric_object(rubrics.current_rubric(member.project_id))

    @writes(RubricSerializer, body=RubricChoiceSerializer, scope=Scope.LEAD)
    def put(self, request: Request, slug: str) -> dict[str, Any]:
        """Make another rubric current. Versions under review keep the rubric they began with."""
        member = annotate_access.lead(self.person, slug)
        name = self.body()["name"]
        row = rubrics.choose_rubric(project=member.project, name=name, by=member)
        return rubric_object(row.content)


class ReviewRowSerializer(OfPairSerializer):
    """A current altered narrative with the progress of its reviews and, if visible, its verdict."""

    category = serializers.CharField(source="pair.category")
    narrative = VersionSerializer()
    submitted = serializers.IntegerField(help_text="Number of submitted reviews.")
    wanted = serializers.IntegerField(help_text="Number of wanted reviews.")
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES, allow_null=True)
    decision = DecisionSerializer(allow_null=True)
    held = serializers.BooleanField(help_text="Whether you hold a review assignment of this pair.")
    mine = serializers.BooleanField(help_text="Whether you have submitted a review.")


class AskedReviews(QueryParameters):
    """Filters of instructions; all by default."""

    state = serializers.ChoiceField(choices=list(STATES), required=False)
    search = serializers.CharField(required=False, max_length=200)
    category = serializers.CharField(
        required=False, max_length=100, help_text="`-`: those without a category."
    )
    author = KeyField(required=False, help_text="A member who wrote it.")
    auditor = KeyField(required=False, help_text="A member who submitted a review.")
    criterion = serializers.CharField(
        required=False, max_length=40, help_text="A criterion on which an auditor rejects it."
    )


class ReviewAssignmentSerializer(serializers.Serializer[Any]):
    """The pair whose instruction is to be reviewed next; null if there is none."""

    pair = serializers.IntegerField(allow_null=True)
    pair_id = serializers.CharField(allow_null=True)


class SentAnswer(RequestBody):
    """The answer to one criterion; a field that is not sent stays unchanged, and an empty level
    takes the level back.
    """

    criterion = serializers.CharField(max_length=40)
    level = serializers.CharField(max_length=20, required=False, allow_blank=True)
    words = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=MAX_WORDS
    )


class SentReview(RequestBody):
    """Answers, with the version of the narrative that was read."""

    narrative = KeyField()
    answers = SentAnswer(many=True)


class SentSubmission(RequestBody):
    """The version that was read, and the texts that were at hand."""

    narrative = KeyField()
    texts = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="`texts` of the review as it was read; the newest texts if left out.",
    )


class ReviewSerializer(OfPairSerializer):
    """The instruction to review, and your review so far."""

    query = serializers.CharField(source="pair.query.title")
    category = serializers.CharField(source="pair.category")
    original = VersionSerializer(allow_null=True)
    narrative = VersionSerializer()
    documents = serializers.ListField(
        child=serializers.IntegerField(), help_text="Candidates of the pool shown beside it."
    )
    texts = serializers.CharField(
        help_text="The text versions of these documents. Send this when you submit."
    )
    rubric = RubricSerializer()
    mine = serializer_of(SignedPass)(allow_null=True)
    others = serializer_of(SignedPass)(
        many=True, help_text="Empty until you submit your own review."
    )


class ContrastSerializer(RecordSerializer):
    """A criterion, and whether auditors differ on whether it rejects."""

    criterion = serializers.CharField(source="criterion.key")

    class Meta:
        record = Contrast
        fields = ("criterion", "straddles")


class ChapterSerializer(RecordSerializer):
    """One version, with the reviews and decisions that the reader may see."""

    narrative = VersionSerializer()
    author = serializers.CharField(source="narrative.author.name", allow_null=True, default=None)
    current = serializers.BooleanField(source="is_current")
    machines = serializer_of(SignedPass)(
        source="machine_reviews", many=True, help_text="They do not count in the verdict."
    )
    decisions = DecisionSerializer(many=True)

    class Meta:
        record = Chapter
        fields = (
            *("narrative", "author", "current", "reviews", "contrasts", "machines"),
            *("hidden", "verdict", "decisions"),
        )


class StorySerializer(OfPairSerializer):
    """The versions of a pair's altered narrative, newest first."""

    chapters = ChapterSerializer(many=True)


class SentDecisions(FormBody):
    """One decision on several altered narratives."""

    narratives = serializers.ListField(child=KeyField(), max_length=MOST)
    outcome = serializers.ChoiceField(choices=[outcome.value for outcome in decisions.OF_MANY])

    class Meta:
        form = DecisionForm


class Reviews(Resource, tag="Reviews"):
    """The instructions of a project and the progress of their reviews."""

    @reads(ReviewRowSerializer, parameters=AskedReviews, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the current altered narratives. Only leads filter by state, people or criterion."""
        member = annotate_access.member(self.person, slug)
        query = self.parameters()
        if query.keys() & {"state", "author", "auditor", "criterion"}:
            member = annotate_access.lead(self.person, slug)
        narratives = filter_reviews(member, ReviewFilter(**query))
        return self.page(narratives, prepare=lambda rows: review_rows(member, rows))


class ReviewDecisions(Resource, tag="Reviews"):
    """Decisions on several instructions at once."""

    @writes(DecisionSerializer, many=True, body=SentDecisions, scope=Scope.LEAD)
    def post(self, request: Request, slug: str) -> list[Decision]:
        """Accept several that passed, or send several back with one reason: all, or none."""
        member = annotate_access.lead(self.person, slug)
        body = self.body()
        narratives = access.ticked_narratives(member, body.pop("narratives"))
        return decisions.decide_many(narratives=narratives, **body, by=member)


class ReviewAssignment(Resource, tag="Reviews"):
    """The review to do next."""

    @writes(ReviewAssignmentSerializer, body=SentConfirmation, scope=Scope.JUDGE)
    def post(self, request: Request, slug: str) -> dict[str, Any]:
        """Continue an assignment that you have begun, or take the next open one."""
        member = annotate_access.member(self.person, slug)
        assignment = actions.take_review(by=member, become_blind=self.body()["become_blind"])
        pair = assignment.pair if assignment is not None else None
        return {"pair": pair and pair.pk, "pair_id": pair and pair.pair_id}


class Review(Resource, tag="Reviews"):
    """Your own review of a pair's instruction."""

    @reads(ReviewSerializer)
    def get(self, request: Request, pair: int) -> dict[str, Any]:
        """Read the instruction to review. 404 if there is no altered narrative."""
        member, row = pairs_access.pair(self.person, pair)
        narrative = row.current(Narrative.Side.ALTERED)
        if narrative is None:
            raise Http404("There is no altered narrative to review yet.")
        return _review_content(access.ReviewTask(member, row, narrative))

    @writes(ReviewSerializer, body=SentReview, scope=Scope.JUDGE)
    def put(self, request: Request, pair: int) -> dict[str, Any]:
        """Save answers in the draft. 409 if the narrative has a newer version."""
        task = access.review_task(self.person, pair)
        body = self.body()
        actions.save_ratings(
            narrative=pairs_access.narrative(task.pair, body["narrative"]),
            answers={
                answer["criterion"]: (answer.get("level"), answer.get("words"))
                for answer in body["answers"]
            },
            by=task.member,
        )
        return _review_content(task)


class ReviewSubmission(Resource, tag="Reviews"):
    """The submission of a review."""

    @writes(ReviewSerializer, body=SentSubmission, scope=Scope.JUDGE)
    def post(self, request: Request, pair: int) -> dict[str, Any]:
        """Submit the draft: it counts from now on. 422 if a criterion has no level, or a level
        that rejects has no words; 409 if the texts at hand are not those in `texts`.
        """
        task = access.review_task(self.person, pair)
        body = self.body()
        narrative = pairs_access.narrative(task.pair, body["narrative"])
        actions.submit_review(narrative=narrative, by=task.member, texts=body.get("texts"))
        return _review_content(task)


class Story(Resource, tag="Reviews"):
    """The versions, reviews and decisions of an instruction."""

    @reads(StorySerializer)
    def get(self, request: Request, pair: int) -> dict[str, Any]:
        """Read its versions, with the reviews and decisions on each that you may see."""
        member, row = pairs_access.pair(self.person, pair)
        return {"pair": row, "chapters": story(row, member)}


class NarrativeDecision(Resource, tag="Reviews"):
    """The decision on a narrative version."""

    @writes(DecisionSerializer, body=DecisionForm, scope=Scope.LEAD, status=201)
    def post(self, request: Request, narrative: int) -> Decision:
        """Accept it, send it back to be rewritten, or remove its pair."""
        member, version = access.review_disagreement(self.person, narrative)
        body = self.body()
        return decisions.decide(
            narrative=version, outcome=body["outcome"], reason=body.get("reason", ""), by=member
        )

    @writes(None, scope=Scope.LEAD, status=204)
    def delete(self, request: Request, narrative: int) -> None:
        """Withdraw the current decision."""
        member, version = access.review_disagreement(self.person, narrative)
        decisions.withdraw_decision(decision=access.decision(version), by=member)


class Rejected(Resource, tag="Reviews"):
    """Instructions that were sent back, for the language model that wrote them."""

    @reads(OpenApiTypes.STR, media="application/jsonl")
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Return a line of JSON for each instruction that was sent back."""
        member = annotate_access.lead(self.person, slug)
        return StreamingHttpResponse(
            rejected.lines(rejected.rejected(member.project, by=member)),
            content_type="application/jsonl; charset=utf-8",
        )


def _review_content(task: access.ReviewTask) -> dict[str, Any]:
    """Return the input for `ReviewSerializer`: the same content as on the review page."""
    member, pair, narrative = task
    mine = pass_of(narrative, member)
    rubric = mine.rubric if mine else rubrics.rubric_for(narrative, pair.project_id)
    _contrasts, others = others_reviews(narrative, mine, member)
    candidates = documents_at_hand(pair, narrative)
    return {
        "pair": pair,
        "original": pair.current(Narrative.Side.ORIGINAL),
        "narrative": narrative,
        "documents": [candidate.pk for candidate in candidates],
        "texts": texts_of(candidates),
        "rubric": rubric_object(rubric),
        "mine": next(iter(sign_passes([mine] if mine else [], member)), None),
        "others": others,
    }


class ShownAnswerField(StatementUuidField):
    """The UUID of the answer that a page showed, from there or from the server."""

    def to_internal_value(self, data: Any) -> UUID:
        """Return the UUID, without what the page's script knows stored answers by."""
        return super().to_internal_value(
            data.removeprefix(STORED) if isinstance(data, str) else data
        )


class RatingEntry(JournalEntry):
    """A level, words, or both, for one criterion of a draft."""

    pair = KeyField()
    narrative = KeyField()
    criterion = serializers.CharField(allow_blank=True, trim_whitespace=False)
    # `level` and `words`; one that is missing is not part of this entry.
    fields = FormFieldsField()  # type: ignore[assignment]
    # The level that is undone, and None for an answer. The entry then holds what stood before.
    undone = serializers.CharField(default=None, allow_null=True, allow_blank=True)
    # The answer that the page showed, or None.
    instead_of = ShownAnswerField(default=None, allow_null=True)

    def record_entry(self, sent: dict[str, Any], *, by: Sender) -> SavedEntry:
        """Save it in the draft of `by`, once; a newer level is neither replaced nor undone."""
        now = timezone.now()
        member, pair = by.pair(sent["pair"])
        narrative = pairs_access.narrative(pair, sent["narrative"])
        criterion, undone = sent["criterion"], sent["undone"]
        level, words = sent["fields"].get("level"), sent["fields"].get("words")
        mine = Rating.objects.filter(
            review__narrative=narrative, review__auditor=member, criterion=criterion
        )
        if undone is not None and mine.exclude(level__in=["", undone]).exists():
            if mine.filter(level=level).exists():
                return SavedEntry(now)
            raise Refused(RATED_AGAIN)
        save_rating(
            narrative=narrative,
            criterion=criterion,
            level=level,
            words=words,
            by=member,
            sent=actions.SentAnswer(sent["uuid"], sent["made_at"], sent["instead_of"]),
            now=now,
        )
        return SavedEntry(now)


ENTRIES = {"rating": RatingEntry()}
