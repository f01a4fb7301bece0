"""The hash chain of checks: the fields that are hashed, and the label of a row."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from annotate.judgments.judgment_chain import of_text
from annotate.pairs.models import Condition
from annotate.projects import hash_chain
from annotate.projects.hash_chain import Content, Kind, Row, hashed_time
from annotate.projects.models import Project
from audit.checks.models import Check

CHECK = "check"


def checks(project: int, **among: Any) -> Iterator[tuple[int, Row]]:
    """Yield the checks of a project as chain rows, each with its key."""
    rows = Check.objects.filter(checker__project=project, **among).order_by("pk")
    found = list(
        rows.values_list(
            *("pk", "uuid", "item__sample__name", *_of("item__narrative")),
            *("item__candidate__document__doc_id", "item__claimed", "checker__name", "place"),
            *("relevance", "cannot_judge", "words", "at", "text_version", "verdicts"),
            *("ended_at", "withdrawn_at", "on_topic", "meets_constraint"),
        )
    )
    condition_ids = {int(one) for row in found for one in row[-5]}
    numbers = dict(Condition.objects.filter(pk__in=condition_ids).values_list("pk", "number"))
    for (
        key,
        uuid,
        *what,
        at,
        text,
        verdicts,
        ended_at,
        withdrawn_at,
        topic,
        constraint,
    ) in found:
        answers = sorted((numbers.get(int(one), 0), answer) for one, answer in verdicts.items())
        written = " ".join(f"{number}:{answer}" for number, answer in answers)
        if topic:
            written = f"topic:{topic} constraint:{constraint}"
        ended = (
            None
            if ended_at is None and withdrawn_at is None
            else (hashed_time(ended_at), hashed_time(withdrawn_at))
        )
        yield key, Row(uuid, (*what, hashed_time(at), written, *of_text(text)), ended)


def _of(narrative: str) -> tuple[str, str, str]:
    return (f"{narrative}__pair__pair_id", f"{narrative}__side", f"{narrative}__version")


def _read_checks(project: Project | None) -> Iterator[Row]:
    return hash_chain.sorted_by_uuid(checks(project.pk) if project else ())


def _label_check(what: Content) -> str:
    return f"the check of {what[4]} ({what[1]}) in “{what[0]}” by {what[6]}"


KINDS = {CHECK: Kind(_read_checks, _label_check)}


def follow(
    project: int, *, new: Container[int] = (), ended: Container[int] = (), **among: Any
) -> None:
    """Append new and ended checks to their chain; `among` narrows the query."""
    hash_chain.append_changes(CHECK, project, checks(project, **among), new=new, ended=ended)
