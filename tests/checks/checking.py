"""Helpers for tests of label checks: a project with claims, drawing a sample, checking labels."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

from annotate.models import Narrative
from audit.checks import actions, samples
from audit.checks.claims import ClaimSelection
from audit.models import Sample
from tests import factories


def claimed_scene(claims: dict[str, dict[str, int]] | None = None) -> SimpleNamespace:
    """A project with everybody, a pair per category, and a machine's claims on their documents.

    `claims` is {category: {document: relevance}}; each category is one query with one pair.
    """
    claims = claims or {"C1": {"A": 0, "B": 1, "C": 2}, "S1": {"D": 0, "E": 1, "F": 2}}
    project = factories.project()
    made = SimpleNamespace(
        project=project,
        ada=factories.member(project, "ada"),
        ben=factories.member(project, "ben"),
        carla=factories.lead(project),
        dan=factories.member(project, "dan"),
        eve=factories.lead(factories.project("other"), "eve"),
        model=factories.machine(project),
        narratives={},
        candidates={},
    )
    for number, (category, labels) in enumerate(claims.items(), start=301):
        query = factories.query(project, str(number), title=f"question {number}")
        pair = factories.pair(query, category=category)
        made.narratives[category] = factories.altered(pair)
        for doc_id, relevance in labels.items():
            candidate = factories.candidate(query, doc_id, text=f"Body of {doc_id}.")
            made.candidates[doc_id] = candidate
            factories.judgment(made.narratives[category], candidate, made.model, relevance)
    made.selection = ClaimSelection(Sample.Source.MACHINE, made.model)
    return made


def draw(scene: SimpleNamespace, **choices: Any) -> Sample:
    """Draw a sample of the machine's claims with default choices, which `choices` override."""
    usual = {
        "name": "Spot checks",
        "selection": scene.selection,
        "stratify": Sample.Stratify.CATEGORY,
        "per": Sample.Per.STRATUM,
        "size": 3,
        "seed": 7,
        "by": scene.carla,
    }
    return samples.draw_sample(**(usual | choices))


def check_label(sample: Sample, doc_id: str, **grades: int | None) -> None:
    """Record people's checks of one document: `check_label(sample, "A", ada=1, ben=0)`.

    A third person settles; None is "cannot judge".
    """
    item = sample.items.get(candidate__document__doc_id=doc_id)
    for place, (name, relevance) in enumerate(grades.items(), start=1):
        do = actions.settle if place == 3 else actions.check
        by = sample.project.memberships.get(name=name)
        if relevance is None:
            do(item=item, cannot_judge=True, words="It is cut off.", by=by)
        else:
            do(item=item, relevance=relevance, by=by)


def shown_on(page: str) -> str:
    """Return a page without what its script keeps ready for other labels."""
    return re.sub(r"<template data-for-slot.*?</template>", "", page, flags=re.DOTALL)


def original(narrative: Narrative) -> Narrative:
    """Return the original narrative of the same pair."""
    return narrative.pair.narratives.get(side=Narrative.Side.ORIGINAL)
