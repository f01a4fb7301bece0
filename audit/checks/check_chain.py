"""The hash chain of checks: the fields that are hashed, and the label of a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from annotate.judgments.judgment_chain import ended, names_of_narrative, of_text
from annotate.pairs.models import Condition
from annotate.projects.hash_chain import Content, Kind, Row, hashed_time
from audit.checks.models import Check

CHECK = "check"
# What is checked: the label that a sample has, and its claims.
_ITEM = (
    *("item__sample__name", *names_of_narrative("item__narrative")),
    *("item__candidate__query__query_id", "item__candidate__document__doc_id", "item__stratum"),
    *("item__claimed", "item__claimed_topic", "item__claimed_constraint", "item__reason"),
)


def _read(rows: QuerySet[Any]) -> Iterator[Row]:
    found = list(
        rows.values_list(
            *("uuid", *_ITEM, "checker__name", "place", "relevance", "cannot_judge", "words"),
            *("on_topic", "meets_constraint", "at", "text_version", "verdicts"),
            *("ended_at", "withdrawn_at"),
        )
    )
    keys = {int(condition) for row in found for condition in row[-3]}
    numbers = dict(Condition.objects.filter(pk__in=keys).values_list("pk", "number"))
    for name, *what, at, text, verdicts, ended_at, withdrawn_at in found:
        answers = sorted((numbers.get(int(one), 0), answer) for one, answer in verdicts.items())
        written = " ".join(f"{number}:{answer}" for number, answer in answers)
        content = (*what, hashed_time(at), written, *of_text(text))
        yield Row(name, content, ended(ended_at, withdrawn_at))


def _label(what: Content) -> str:
    sample, _query, pair_id, _side, _version, _query_of_document, doc_id = what[:7]
    return f"the check of {doc_id} ({pair_id}) in “{sample}” by {what[len(_ITEM)]}"


KINDS = {CHECK: Kind(Check.objects.all, "checker__project", _read, _label)}
