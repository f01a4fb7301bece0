"""What a script of an example can do: the actions of the pages, and the project they act on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

from annotate.collection import intake, topics
from annotate.collection.marking import Span
from annotate.collection.models import Candidate, Run
from annotate.guidelines import actions as guidelines
from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.judgments.consensus import derive_relevance
from annotate.loading.load import load_file
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pools import actions as pools
from annotate.projects.models import Membership, Project
from annotate.rewriting import actions as rewriting
from annotate.rewriting import drafts
from audit.checks import actions as checks
from audit.checks import samples
from audit.checks.claims import ClaimSelection
from audit.checks.models import Question, Sample, SampleItem
from audit.reports import actions as reports
from audit.reviews import actions as reviews
from audit.reviews import decisions, draws
from audit.settling import adjudication
from base.extras import missing_extra
from exporters.evaluations import actions as evaluations
from exporters.evaluations.systems import propose_systems
from exporters.exports import actions as exports
from exporters.exports.publishing import set_publication
from exporters.releases import actions as releases

# Seconds that successive answers take, repeated in turn.
PACES = (34, 51, 27, 45, 62, 38)


@dataclass
class Stage:
    """The project in which a script runs, the folder of its files, and its people by name."""

    project: Project
    folder: Path
    people: Mapping[str, Membership]
    now: datetime = field(init=False)
    by: Membership = field(init=False)

    def pair(self, pair_id: str) -> InstructionPair:
        """Return the instruction pair with this id."""
        return self.project.pairs.get(pair_id=pair_id)

    def narrative(self, pair_id: str, side: str = Narrative.Side.ALTERED) -> Narrative:
        """Return the current narrative on a side of a pair."""
        narrative = self.pair(pair_id).current(side)
        assert narrative is not None, f"{pair_id} has no {side} narrative"
        return narrative

    def candidate(self, pair: InstructionPair, doc_id: str) -> Candidate:
        """Return the candidate with this document id in the pool of the pair's query."""
        pool = Candidate.objects.select_related("document")
        return pool.get(query=pair.query_id, document__doc_id=doc_id)

    def rater(self, name: str) -> Membership | None:
        """Return the rater of this name; None for an empty name."""
        return self.project.memberships.get(name=name) if name else None


def take_assignment(stage: Stage, pair: InstructionPair, task: str) -> None:
    """Take an assignment, or keep the one that the person already has."""
    assignments.take(pair=pair, task=task, by=stage.by, become_blind=True, now=stage.now)


def answer_times(stage: Stage) -> Iterator[tuple[datetime, int]]:
    """Yield the time of each answer and the milliseconds for which the document was viewed."""
    now = stage.now
    for seconds in cycle(PACES):
        now += timedelta(seconds=seconds)
        yield now, (seconds - 2) * 1000


def verdict_answers(narrative: Narrative, letters: str) -> dict[int, str]:
    """Return an answer for each condition, by its key: y is met, n is not met, ? is can't tell."""
    keys = narrative.conditions.order_by("number").values_list("pk", flat=True) if letters else []
    words = {"y": "met", "n": "not_met", "?": "cant_tell"}
    return {key: words[letter] for key, letter in zip(keys, letters, strict=True)}


def load(stage: Stage, file: str, format_name: str, **options: Any) -> None:
    """Load a file of the example; `options` are those of `load_file`."""
    report = load_file(
        project=stage.project,
        format_name=format_name,
        # Under its file name only, so that the path of this installation is not revealed.
        file=intake.file_on_disk(str(stage.folder / file))._replace(name=file),
        by=stage.by,
        now=stage.now,
        **options,
    )
    if report.refused:
        raise RuntimeError(str(report.problems[0]))


def write_guideline(stage: Stage, file: str) -> None:
    """Write the next version of the guidelines."""
    latest = stage.project.guidelines.count()
    text = (stage.folder / file).read_text(encoding="utf-8")
    guidelines.write_guideline(text=text, by=stage.by, based_on=latest, now=stage.now)


def draw_topics(stage: Stage, number: int, seed: int, least: int | None = None) -> None:
    """Draw topics; take the others out."""
    topics.draw_topics(
        project=stage.project,
        conditions=topics.Conditions(least=least),
        number=number,
        seed=seed,
        by=stage.by,
        now=stage.now,
    )


def make_pool(
    stage: Stage, name: str, method: str, runs: list[str], depth: int | None = None
) -> None:
    """Request a pool."""
    recipe = pools.recipe_of(project=stage.project, method=method, runs=runs, depth=depth)
    pools.request_pool(recipe=recipe, name=name, by=stage.by, now=stage.now)


def measure(stage: Stage, baseline: str = "") -> None:
    """Request an evaluation of every system with runs, on the current labels.

    `baseline` is the system with which the others are compared. Where ir_measures is not installed,
    the example has no evaluation.
    """
    if missing_extra("evaluation", "The evaluation"):
        return
    runs = list(Run.objects.filter(project=stage.project).order_by("name"))
    evaluations.request_evaluation(
        project=stage.project,
        measured=propose_systems(runs),
        baseline=baseline,
        by=stage.by,
        now=stage.now,
    )


def publish(stage: Stage, **changes: Any) -> None:
    """Change the publication settings."""
    set_publication(project=stage.project, changes=changes, by=stage.by, now=stage.now)


def rewrite(stage: Stage, pair: str, text: str, note: str = "") -> None:
    """Write the next version of an altered narrative."""
    instruction_pair = stage.pair(pair)
    if not stage.by.leads:
        take_assignment(stage, instruction_pair, Assignment.Task.REWRITE)
    current = instruction_pair.current(Narrative.Side.ALTERED)
    rewriting.rewrite_narrative(
        pair=instruction_pair,
        text=text,
        note=note,
        based_on=current.version if current else 0,
        by=stage.by,
        now=stage.now,
    )


def draft(stage: Stage, pair: str, text: str, drops: list[str]) -> None:
    """Save a narrative as a draft; `drops` are documents that would become not relevant."""
    instruction_pair = stage.pair(pair)
    take_assignment(stage, instruction_pair, Assignment.Task.REWRITE)
    candidates = tuple(stage.candidate(instruction_pair, doc).pk for doc in drops)
    turn = int(stage.now.timestamp() * 1000)
    drafts.save_draft(
        pair=instruction_pair,
        side=Narrative.Side.ALTERED,
        writing=drafts.Writing("example", turn, text, drops=candidates),
        by=stage.by,
        now=stage.now,
    )


def judge(stage: Stage, pair: str, answers: dict[str, Any]) -> None:
    """Judge documents one after the other. An answer is a grade or arguments of `_judge_one`."""
    instruction_pair = stage.pair(pair)
    take_assignment(stage, instruction_pair, Assignment.Task.JUDGE)
    for (doc, answer), (now, spent) in zip(answers.items(), answer_times(stage), strict=False):
        fields = answer if isinstance(answer, dict) else {"grade": answer}
        _judge_one(stage, instruction_pair, doc, now=now, spent=spent, **fields)


def _judge_one(
    stage: Stage,
    pair: InstructionPair,
    doc: str,
    *,
    now: datetime,
    spent: int,
    grade: int | None = None,
    note: str = "",
    evidence: str = "",
    verdicts: str = "",
    flag: str = "",
) -> None:
    """Judge or flag a document.

    `evidence` is a passage of its text. `verdicts` has a letter for each condition
    (`verdict_answers`); if `grade` is None, it follows from them. `flag` is a kind of flag, and
    `note` its words.
    """
    narrative = judging.narrative_for(stage.by, pair)
    candidate = stage.candidate(pair, doc)
    if flag:
        judging.flag(
            narrative=narrative,
            candidate=candidate,
            kind=flag,
            words=note,
            by=stage.by,
            made_at=now,
            now=now,
        )
        return
    condition_verdicts = verdict_answers(narrative, verdicts)
    if grade is None:
        grades = list(stage.project.grades.values_list("value", flat=True))
        verdict_values = list(condition_verdicts.values())
        grade = derive_relevance(stage.project.condition_rule, verdict_values, grades)
    assert grade is not None, f"no grade for {doc}"
    judging.judge(
        narrative=narrative,
        candidate=candidate,
        relevance=grade,
        note=note,
        evidence=_spans(candidate, evidence),
        verdicts=condition_verdicts,
        active_ms=spent,
        pressed="key",
        made_at=now,
        by=stage.by,
        now=now,
    )


def _spans(candidate: Candidate, words: str) -> list[Span]:
    if not words:
        return []
    text = candidate.document.texts.current().get().text
    begin = text.index(words)
    return [Span(begin, begin + len(words))]


def adjudicate(stage: Stage, pair: str, doc: str, grade: int, reason: str, cause: str) -> None:
    """Settle a document on which judges disagree."""
    instruction_pair = stage.pair(pair)
    adjudication.adjudicate(
        narrative=stage.narrative(pair),
        candidate=stage.candidate(instruction_pair, doc),
        relevance=grade,
        reason=reason,
        cause=cause,
        by=stage.by,
        now=stage.now,
    )


def settle_condition(
    stage: Stage, pair: str, doc: str, condition: int, answer: str, reason: str, cause: str
) -> None:
    """Settle one condition of a document; conditions are numbered from 1."""
    instruction_pair = stage.pair(pair)
    adjudication.settle_condition(
        condition=stage.narrative(pair).conditions.get(number=condition),
        candidate=stage.candidate(instruction_pair, doc),
        answer=answer,
        reason=reason,
        cause=cause,
        by=stage.by,
        now=stage.now,
    )


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


def _of_project(action: Callable[..., object]) -> Callable[..., None]:
    """Return the script action with the fields of an action of the project as a whole."""

    def act(stage: Stage, **fields: Any) -> None:
        action(project=stage.project, by=stage.by, now=stage.now, **fields)

    return act


ACTIONS: Mapping[str, Callable[..., None]] = {
    "load": load,
    "write_guideline": write_guideline,
    "draw_topics": draw_topics,
    "rewrite": rewrite,
    "draft": draft,
    "judge": judge,
    "adjudicate": adjudicate,
    "settle_condition": settle_condition,
    "review": review,
    "draw_for_review": _of_project(draws.draw_for_review),
    "decide": decide,
    "draw_sample": draw_sample,
    "pick_suspects": pick_suspects,
    "check": check,
    "settle_check": settle_check,
    "make_pool": make_pool,
    "hard_negatives": _of_project(pools.choose_hard_negatives),
    "measure": measure,
    "report_agreement": _of_project(reports.request_agreement),
    "publish": publish,
    "export": _of_project(exports.request_export),
    "release": _of_project(releases.request_release),
}
