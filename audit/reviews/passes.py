"""Reviews as pages show them: who may see them, their verdicts, and what waits for a decision."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b, sha256
from string import ascii_uppercase
from typing import Annotated, Any, NamedTuple
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Greatest
from django.urls import reverse

from annotate.collection.answers import AnswerKind
from annotate.judgments.blindness import must_review_first
from annotate.pairs.models import (
    Assignment,
    InstructionPair,
    Narrative,
    is_in_draw,
    wanted_reviews,
)
from annotate.projects.kinds import KINDS, kind_of
from annotate.projects.models import Membership, Project
from annotate.rewriting.sending_back import Remark, SentBack
from audit.reviews import rubrics
from audit.reviews.criteria import Criterion, Level, Rubric, Verdict, straddles, verdict
from audit.reviews.models import Decision, Rating, Review

# Kinds in which more than half of the auditors have to reject an instruction.
_BY_MAJORITY = [kind.key for kind in KINDS.values() if kind.rejects_by_majority]


def positions_of(about: Iterable[int], people: Iterable[int]) -> dict[int, int]:
    """Return the position, from 0, of each person (keys of memberships) in a disagreement; `about`:
    the keys that identify it.
    """
    disagreement = ":".join(map(str, about))

    def shuffled(person: int) -> bytes:
        return sha256(f"{disagreement}/{person}".encode()).digest()

    return {person: place for place, person in enumerate(sorted(set(people), key=shuffled))}


def pseudonym(place: int) -> str:
    """Return the pseudonym at a position: Person A, Person B ... Person AA."""
    letters = ""
    place += 1
    while place:
        place, last = divmod(place - 1, len(ascii_uppercase))
        letters = ascii_uppercase[last] + letters
    return f"Person {letters}"


class Answer(NamedTuple):
    """One auditor's answer to one criterion; `level` and `uuid` are None without one."""

    criterion: Criterion
    level: Level | None
    words: str
    uuid: UUID | None


@dataclass(frozen=True)
class Pass:
    """One auditor's review as pages show it: an answer for each criterion, in order."""

    review: Review
    rubric: Rubric
    answers: list[Answer]
    # How many reviews of its narrative are wanted, if it was read for a verdict (`passes_of`).
    wanted: int = 0

    @property
    def levels(self) -> list[Level]:
        """The levels given."""
        return [answer.level for answer in self.answers if answer.level]

    @property
    def rejected(self) -> int:
        """Number of criteria on which it rejects."""
        return sum(level.rejects for level in self.levels)

    @property
    def unrated(self) -> list[Criterion]:
        """The criteria without a level."""
        return [answer.criterion for answer in self.answers if answer.level is None]

    @property
    def unexplained(self) -> list[Criterion]:
        """The criteria rejected without words."""
        return [
            answer.criterion
            for answer in self.answers
            if answer.level and answer.level.rejects and not answer.words.strip()
        ]


class SignedPass(NamedTuple):
    """One auditor's review as a reader sees it: an answer for each criterion of its rubric."""

    auditor: Annotated[str, "A number or a pseudonym if names are hidden."]
    rubric: str
    submitted_at: datetime | None
    answers: list[Answer]


def sign_passes(
    passes: Iterable[Pass], reader: Membership, names: Mapping[int, str] | None = None
) -> list[SignedPass]:
    """Return reviews with the names that `reader` sees.

    With `names` (by member key), auditors have these names and times are left out. Otherwise leads
    see auditors' names; others see numbers, except for their own name. Machines have their name.
    The numbers are the same on the review page, which leaves out the reader's own review.
    """
    signed = []
    numbered = 0
    for review_pass in passes:
        auditor, at = review_pass.review.auditor, review_pass.review.submitted_at
        if names is not None:
            who, at = names[auditor.pk], None
        elif auditor.is_machine or reader.leads or auditor.pk == reader.pk:
            who = auditor.name
        else:
            numbered += 1
            who = f"Auditor {numbered}"
        signed.append(SignedPass(who, review_pass.rubric.name, at, review_pass.answers))
    return signed


class Contrast(NamedTuple):
    """A criterion with all auditors' answers, and whether they differ on whether it rejects."""

    criterion: Criterion
    # One for each auditor; None if their rubric does not have the criterion.
    answers: list[Answer | None]
    straddles: bool


def pseudonyms_of(
    narrative: Narrative, passes: list[Pass], reader: Membership
) -> dict[int, str] | None:
    """Return the pseudonyms of auditors if they differ and the project hides names; else None.

    They are those of the queue of disagreements, by the key of the membership and in its order.
    """
    differ = any(one.straddles for one in contrasts(passes))
    if not differ or not reader.project.hide_names:
        return None
    places = positions_of((narrative.pk, 0, 0), [one.review.auditor_id for one in passes])
    return {auditor: pseudonym(place) for auditor, place in places.items()}


def sort_by_pseudonym(passes: list[Pass], names: Mapping[int, str]) -> None:
    """Sort reviews in the order of their auditors' pseudonyms."""
    in_order = list(names)
    passes.sort(key=lambda one: in_order.index(one.review.auditor_id))


def submitted_reviews(projects: Sequence[int] | None) -> QuerySet[Review]:
    """Return people's submitted reviews of the current altered narratives of projects (by key;
    None: of all narratives), with `of_pair` and `of_member`.
    """
    reviews = Review.objects.submitted().of_people()
    reviews = reviews.annotate(of_pair=F("narrative__pair_id"), of_member=F("auditor_id"))
    if projects is None:
        return reviews
    altered = Narrative.objects.in_force(projects).filter(side=Narrative.Side.ALTERED)
    return reviews.filter(narrative__in=altered)


def passes_of(
    narratives: Iterable[Narrative], *, drafts: bool = False, machines: bool = False
) -> dict[int, list[Pass]]:
    """Return people's reviews of some narratives by narrative id, first started first: three
    queries.

    `drafts`: include drafts. `machines`: return the reviews of machines instead, which are shown
    beside those of people and never counted among them.
    """
    reviews = Review.objects.filter(narrative__in=[one.pk for one in narratives])
    reviews = reviews.of_machines() if machines else reviews.of_people()
    if not drafts:
        reviews = reviews.submitted()
    found: dict[int, list[Pass]] = defaultdict(list)
    given: dict[int, dict[str, Rating]] = defaultdict(dict)
    reviews = reviews.select_related("auditor").order_by("pk")
    rows: list[Any] = list(reviews.annotate(wanted=wanted_reviews("narrative__pair__")))
    for rating in Rating.objects.filter(review__in=[review.pk for review in rows]):
        given[rating.review_id][rating.criterion] = rating
    known = rubrics.rubrics_of(rows)
    for review in rows:
        rubric = known[review.auditor.project_id, review.rubric]
        answers = _answers(rubric, given[review.pk])
        found[review.narrative_id].append(Pass(review, rubric, answers, review.wanted))
    return found


def pass_of(narrative: Narrative, by: Membership) -> Pass | None:
    """Return the review of `by` of a narrative, draft or submitted, or None."""
    review = Review.objects.filter(narrative=narrative, auditor=by).first()
    if review is None:
        return None
    rubric = rubrics.get_rubric(by.project_id, review.rubric)
    given = {one.criterion: one for one in review.ratings.all()}
    return Pass(review, rubric, _answers(rubric, given))


def others_reviews(
    narrative: Narrative, mine: Pass | None, reader: Membership
) -> tuple[list[Contrast], list[SignedPass]]:
    """Return the reviews of others, which an auditor sees after submitting their own (`mine`): the
    answers side by side, and the reviews under the names that they have in the story.
    """
    if mine is None or mine.review.submitted_at is None:
        return [], []
    passes = passes_of([narrative])[narrative.pk]
    names = pseudonyms_of(narrative, passes, reader)
    if names and Decision.objects.current().filter(narrative=narrative).exists():
        names = None
    if names:
        sort_by_pseudonym(passes, names)
    others = [one for one in passes if one.review.auditor_id != reader.pk]
    return contrasts(others), sign_passes(others, reader, names)


def summary_digest(review_pass: Pass) -> str:
    """Return a digest of the review's answers, to recognise the summary that was confirmed."""
    answers = [
        (one.criterion.key, one.level.value if one.level else "", one.words)
        for one in review_pass.answers
    ]
    return digest_of_answers(review_pass.review.narrative_id, review_pass.rubric, answers)


def digest_of_answers(
    narrative: int, rubric: Rubric, answers: Iterable[tuple[str, str, str]]
) -> str:
    """Return the digest of a summary that shows these answers: criterion, level and words of each.

    Forms send every end of a line as two signs, so the kind of line ends does not count.
    """
    unified = [
        [criterion, level, words.replace("\r\n", "\n").replace("\r", "\n")]
        for criterion, level, words in answers
    ]
    content = json.dumps([narrative, rubric.name, unified])
    return blake2b(content.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def verdict_of(passes: Iterable[Pass], project: Project) -> Verdict:
    """Return the verdict of the submitted reviews of a narrative (`passes_of`) in a project."""
    passes = list(passes)
    return verdict(
        [one.levels for one in passes],
        max((one.wanted for one in passes), default=0),
        by_majority=kind_of(project.kind).rejects_by_majority,
    )


def rejected_by_auditors() -> Q:
    """Return a filter for narratives that auditors reject, by the same rule as `verdict_of`."""
    against = Rating.objects.of_people().filter(
        review__narrative=OuterRef("pk"), review__submitted_at__isnull=False, rejects=True
    )
    reviews = Review.objects.submitted().of_people().filter(narrative=OuterRef("pk")).order_by()
    rejecting = Rating.objects.filter(review=OuterRef("pk"), rejects=True)
    votes: QuerySet[Any, Any] = (
        reviews.annotate(is_against=Exists(rejecting))
        .values("narrative", wanted=F("narrative__pair__project__overlap_review"))
        .annotate(n=Count("pk"), twice_against=2 * Count("pk", filter=Q(is_against=True)))
    )
    by_most = Q(Exists(votes.filter(twice_against__gt=Greatest(F("n"), F("wanted"))))) | (
        # No further review is wanted outside a draw.
        ~is_in_draw("pair__") & Q(Exists(votes.filter(twice_against__gt=F("n"))))
    )
    majority = Q(pair__project__kind__in=_BY_MAJORITY)
    return (~majority & Q(Exists(against))) | (majority & by_most)


def contrasts(passes: list[Pass]) -> list[Contrast]:
    """Return several auditors' answers side by side, criterion by criterion.

    Reviews from files may have different rubrics: criteria with the same key share a row.
    """
    criteria: dict[str, Criterion] = {}
    for one in passes:
        for answer in one.answers:
            criteria.setdefault(answer.criterion.key, answer.criterion)
    given = [{answer.criterion.key: answer for answer in one.answers} for one in passes]
    found = []
    for key, criterion in criteria.items():
        answers = [answers.get(key) for answers in given]
        levels = [answer.level for answer in answers if answer and answer.level]
        found.append(Contrast(criterion, answers, straddles(levels)))
    return found


def words_for(narrative: Narrative) -> list[Answer]:
    """Return auditors' answers with words on a version, by criterion and without their names."""
    passes = passes_of([narrative])[narrative.pk]
    return [
        answer
        for contrast in contrasts(passes)
        for answer in contrast.answers
        if answer is not None and answer.level is not None and answer.words.strip()
    ]


def why_sent_back(pair: InstructionPair, reader: Membership) -> SentBack | None:
    """Return why the current version was sent back, or None if it was not.

    For its rewriter; None also if they still owe a review of it, which they could submit once the
    decision is withdrawn.
    """
    narrative = pair.current(Narrative.Side.ALTERED)
    if narrative is None or narrative.sent_back_at is None:
        return None
    decision = (
        Decision.objects.current()
        .select_related("by")
        .filter(narrative=narrative, outcome=Decision.Outcome.REVISE)
        .first()
    )
    if decision is None or owes_review(reader, narrative):
        return None
    remarks = [
        Remark(one.criterion.name, one.level.name, one.words, one.level.rejects)
        for one in words_for(narrative)
        if one.level
    ]
    return SentBack(
        decision.by.name,
        decision.at,
        decision.reason,
        sorted(remarks, key=lambda remark: not remark.rejects),
        reverse("audit:story", args=[pair.pk]),
    )


def narratives_to_decide(*leads: Membership) -> QuerySet[Narrative]:
    """Return the current altered narratives that wait for the decision of these leads of different
    projects.

    Auditors reject them (`rejected_by_auditors`) or every wanted review is submitted; no lead sent
    them back; and this lead owes no review of them.
    """
    reviews = Review.objects.submitted().of_people().filter(narrative=OuterRef("pk"))
    count = reviews.order_by().values("narrative").annotate(n=Count("pk")).values("n")
    # A project that wants no reviews may still get some from a file. An instruction outside a draw
    # needs no decision, also if some of its reviews are in; a lead may decide on it.
    wanted = Greatest(F("pair__project__overlap_review"), Value(1))
    return (
        Narrative.objects.in_force([one.project_id for one in leads])
        .filter(
            side=Narrative.Side.ALTERED,
            # The filters below require at least one review. Starting from the reviews is faster
            # than looking for the reviews of each narrative.
            pk__in=Review.objects.submitted().of_people().values("narrative"),
        )
        .annotate(submitted=Coalesce(Subquery(count), Value(0)))
        .filter(rejected_by_auditors() | Q(submitted__gte=wanted))
        .filter(~Exists(Decision.objects.current().filter(narrative=OuterRef("pk"))))
        .filter(owes_no_review(*leads), sent_back_at=None)
    )


def owes_no_review(*members: Membership, narrative: str = "") -> Q:
    """Return a filter for rows whose narrative (at that path) none of these members of different
    projects still has to review, so that they stay blind (`owes_review` is the same for one).
    """
    path = f"{narrative}__" if narrative else ""
    owed = Assignment.objects.filter(
        pair=OuterRef(f"{path}pair"), task=Assignment.Task.REVIEW, member__in=members
    )
    own = Review.objects.submitted().filter(narrative=OuterRef(f"{path}pk"), auditor__in=members)
    written = Narrative.objects.written_by(*members).filter(pk=OuterRef(f"{path}pk"))
    return Q(~Exists(owed)) | Q(Exists(own)) | Q(Exists(written))


def count_to_decide(leads: Sequence[Membership]) -> dict[int, int]:
    """Return how many narratives wait for the decision of each of these leads of different
    projects, by the key of the lead.
    """
    waiting = narratives_to_decide(*leads).order_by().values("pk")
    rows = Narrative.objects.filter(pk__in=waiting).values_list("pair__project")
    counts = dict(rows.annotate(n=Count("pk")))
    return {one.pk: counts.get(one.project_id, 0) for one in leads}


def owes_review(who: Membership, narrative: Narrative) -> bool:
    """Return whether `who` holds a review assignment of this version and has not submitted yet."""
    own = Review.objects.submitted().filter(narrative=narrative, auditor=who)
    return must_review_first(who, narrative, own)


def _answers(rubric: Rubric, given: dict[str, Rating]) -> list[Answer]:
    answers = []
    for criterion in rubric.criteria:
        rating = given.get(criterion.key)
        answers.append(
            Answer(
                criterion,
                rubric.level(rating.level) if rating is not None else None,
                rating.words if rating is not None else "",
                rating.uuid if rating is not None else None,
            )
        )
    return answers


ANSWERS = (
    AnswerKind(
        singular="review",
        plural="reviews",
        current=lambda: Review.objects.submitted().of_people(),
        beside="texts__document",
    ),
    AnswerKind(singular="decision", plural="decisions", current=Decision.objects.current),
)
