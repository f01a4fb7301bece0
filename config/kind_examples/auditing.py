"""Script actions: reviews, decisions and label checks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from annotate.collection.models import Run
from annotate.pairs.models import Assignment, Narrative
from audit.checks import actions as checks
from audit.checks import samples
from audit.checks.claims import ClaimSelection
from audit.checks.models import Question, Sample, SampleItem
from audit.reviews import actions as reviews
from audit.reviews import decisions, draws
from config.kind_examples.stage import Stage, answer_times, take_assignment, verdict_answers


def review(
    stage: Stage,
    pair: str,
    ratings: dict[str, Any],
    side: str = Narrative.Side.ALTERED,
    *,
    submitted: bool = True,
) -> None:
    """Rate a narrative. `ratings` maps each criterion to a level or to [level, words]."""
    narrative = stage.narrative(pair, side)
    take_assignment(stage, narrative.pair, Assignment.Task.REVIEW)
    answers = {
        criterion: (rating, None) if isinstance(rating, str) else (rating[0], rating[1])
        for criterion, rating in ratings.items()
    }
    reviews.save_ratings(narrative=narrative, answers=answers, by=stage.by, now=stage.now)
    if submitted:
        now = stage.now + timedelta(minutes=4)
        reviews.submit_review(narrative=narrative, by=stage.by, now=now)


def draw_for_review(
    stage: Stage, size: int, seed: int, stratify: str, *, fewer: bool = False
) -> None:
    """Draw the instructions to review."""
    draws.draw_for_review(
        project=stage.project,
        stratify=stratify,
        size=size,
        seed=seed,
        fewer=fewer,
        by=stage.by,
        now=stage.now,
    )


def decide(stage: Stage, pair: str, outcome: str, reason: str = "") -> None:
    """Decide on a reviewed instruction."""
    narrative = stage.narrative(pair)
    decisions.decide(
        narrative=narrative, outcome=outcome, reason=reason, by=stage.by, now=stage.now
    )


def draw_sample(
    stage: Stage,
    name: str,
    source: str,
    size: int,
    seed: int,
    rater: str = "",
    per: str = Sample.Per.STRATUM,
    asks: str = Sample.Asks.GRADE,
    stratify: str = Sample.Stratify.NONE,
    *,
    fewer: bool = False,
    side: str = "",
    **visible: bool,
) -> None:
    """Draw a sample of claimed labels; if `side` is given, of that side only.

    `visible` says which parts of the claim checkers see.
    """
    samples.draw_sample(
        name=name,
        selection=ClaimSelection(source, stage.rater(rater), asks=asks, side=side),
        stratify=stratify,
        per=per,
        size=size,
        seed=seed,
        fewer=fewer,
        by=stage.by,
        now=stage.now,
        **visible,
    )


def pick_suspects(
    stage: Stage, name: str, rater: str, runs: list[str], depth: int, at_least: int
) -> None:
    """Pick documents that are claimed relevant but that runs fail to rank."""
    samples.pick_suspects(
        name=name,
        selection=ClaimSelection(Sample.Source.MACHINE, stage.rater(rater), relevant_only=True),
        runs=list(Run.objects.filter(project=stage.project, name__in=runs)),
        depth=depth,
        at_least=at_least,
        by=stage.by,
        now=stage.now,
    )


def check(
    stage: Stage,
    sample: str,
    pair: str,
    answers: dict[str, Any],
    side: str = Narrative.Side.ALTERED,
) -> None:
    """Check the sampled labels of a narrative one after the other.

    `answers` maps documents of the pool to answers in the form that `_parse_answer` reads. Only
    those of documents in the sample are used, because the sample is drawn at random.
    """
    items = _sample_items(stage, sample, pair, side)
    sampled = [doc for doc in answers if doc in items]
    assert sampled, f"nothing of {pair} is in the sample"
    for doc, (now, _spent) in zip(sampled, answer_times(stage), strict=False):
        checks.check(
            item=items[doc], by=stage.by, now=now, **_parse_answer(items[doc], answers[doc])
        )


def settle_check(
    stage: Stage,
    sample: str,
    pair: str,
    doc: str,
    answer: Any,
    side: str = Narrative.Side.ALTERED,
) -> None:
    """Settle a label on which two checkers disagree."""
    item = _sample_items(stage, sample, pair, side)[doc]
    checks.settle(item=item, by=stage.by, now=stage.now, **_parse_answer(item, answer))


def _sample_items(stage: Stage, sample: str, pair: str, side: str) -> dict[str, SampleItem]:
    """Return a sample's items for a narrative, by document id."""
    items = SampleItem.objects.filter(
        sample__project=stage.project,
        sample__name=sample,
        narrative__pair__pair_id=pair,
        narrative__side=side,
    )
    rows = items.select_related("candidate__document", "narrative", "sample")
    return {item.candidate.document.doc_id: item for item in rows}


def _parse_answer(item: SampleItem, answer: Any) -> checks.CheckAnswer:
    """Parse an answer to a label: a grade, or an object.

    The object has `grade`, `verdicts` (a letter for each condition), `questions` (a letter for
    each) or `cannot_judge`, and may have `words`.
    """
    fields = dict(answer) if isinstance(answer, dict) else {"grade": answer}
    parsed: checks.CheckAnswer = {"words": fields.pop("words", "")}
    if "verdicts" in fields:
        parsed["verdicts"] = verdict_answers(item.narrative, fields.pop("verdicts"))
    elif "questions" in fields:
        names = {"y": "yes", "n": "no", "?": "cant_tell"}
        letters = zip(Question, fields.pop("questions"), strict=True)
        parsed["questions"] = {question.value: names[letter] for question, letter in letters}
    elif fields.pop("cannot_judge", False):
        parsed["cannot_judge"] = True
    else:
        parsed["relevance"] = fields.pop("grade")
    assert not fields, f"unknown: {', '.join(fields)}"
    return parsed
