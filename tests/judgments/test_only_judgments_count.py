"""Flags and answers to repeats are in the table of judgments and change none of their figures."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.utils import timezone

from annotate.judgments import completion
from annotate.judgments.answer_counts import uncached_counts
from annotate.judgments.machine_claims import counting_claims
from annotate.judgments.rule_report import rule_report
from annotate.models import Candidate, Flag, Judgment, Narrative, Repeat, Statement, Verdict
from audit.reports.reliability import agreement_of
from audit.settling import queue
from audit.settling.queue_filters import QueueFilter
from tests.exports.conftest import WrittenExport
from tests.exports.random_projects import RandomProject

pytestmark = pytest.mark.both_databases

# These list flags and repeats, or count them.
ABOUT_OTHERS = ("manifest.json", "flags.jsonl", "repeats.jsonl")


def files_of(made: RandomProject) -> dict[str, bytes]:
    """Return every file of two exports that has judgments or follows from them."""
    files: dict[str, bytes] = {}
    for layout in ("trec", "jsonl"):
        with TemporaryDirectory() as folder:
            written = WrittenExport(made.project, layout, Path(folder) / layout).bytes()
            files |= {f"{layout}/{name}": content for name, content in written.items()}
    return {name: files[name] for name in files if not name.endswith(ABOUT_OTHERS)}


def agreement(made: RandomProject) -> Any:
    return agreement_of(made.project, seed=1, resamples=100, by=())["judgments"]


def progress(made: RandomProject) -> dict[str, Any]:
    """Return the counts of answers, of progress, and of what is disputed or broken."""
    narratives = list(Narrative.objects.order_by("pk").values_list("pk", flat=True))
    return {
        "answers": uncached_counts(narratives),
        "progress": completion.judging(made.project),
        "disagreements": queue.count_by_kind(made.carla, QueueFilter()),
        "rules": rule_report(made.carla),
        "claims": list(counting_claims(made.project, Judgment.objects.all())),
    }


def places_of(made: RandomProject) -> list[dict[str, Any]]:
    """Return whom one can ask about what: narrative, candidate and annotator."""
    return [
        {"narrative": narrative, "candidate": candidate, "annotator": person}
        for narrative in Narrative.objects.filter(pair__project=made.project).order_by("pk")
        for candidate in Candidate.with_removed.filter(query=narrative.pair.query_id).order_by("pk")
        for person in (*made.people, *made.machines)
    ]


def add_repeats(made: RandomProject, random: Random) -> None:
    """Add grades with verdicts and flags: current, ended, and of older texts."""
    for place in random.sample(places := places_of(made), len(places) // 2):
        flag = random.choice(["", "", "later", "problem"])
        repeat = Repeat.objects.create(
            **place,
            repeat=True,
            relevance=None if flag else random.randint(0, 2),
            flag=flag,
            active_ms=random.choice([None, 700]),
            ended_at=random.choice([None, timezone.now()]),
            text_replaced_at=random.choice([None, None, timezone.now()]),
        )
        for condition in () if flag else place["narrative"].conditions.all():
            answer = random.choice(Verdict.Answer.values)
            Verdict.objects.create(statement=repeat, condition=condition, answer=answer)


def add_flags(made: RandomProject, random: Random, kind: str, **fields: Any) -> None:
    """Add flags where somebody has no answer yet."""
    for place in random.sample(places := places_of(made), len(places) // 2):
        if not Statement.objects.current().filter(repeat=False, **place).exists():
            Flag.objects.create(**place, flag=kind, note="So.", **fields)


@pytest.mark.parametrize("seed", range(6))
def test_flags_and_repeats_change_no_figure_of_judgments(db, seed):
    made, random = RandomProject(seed), Random(seed)
    files, agreed, counts = files_of(made), agreement(made), progress(made)

    add_repeats(made, random)
    add_flags(made, random, Flag.Kind.PROBLEM, ended_at=timezone.now())
    add_flags(made, random, Flag.Kind.LATER)

    assert progress(made) == counts
    assert agreement(made) == agreed
    assert files_of(made) == files

    # A final flag is an answer, so it changes progress, but it is not a grade.
    Flag.objects.filter(flag=Flag.Kind.LATER).update(flag=Flag.Kind.CANNOT_JUDGE)

    assert agreement(made) == agreed
    assert files_of(made) == files
