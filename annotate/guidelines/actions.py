"""Guidelines: every change inserts a version, with the cases of disagreement that led to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone

from annotate.collection.models import Candidate
from annotate.guidelines.models import GuidelineCase
from annotate.judgments.blindness import blind_pairs
from annotate.judgments.models import Adjudication, Judgment
from annotate.pairs.models import Narrative
from annotate.projects.access import lock_project
from annotate.projects.audit_log import record
from annotate.projects.models import Guideline, Membership, Project
from base.errors import Refused, Stale, refuse_invalid_characters, refuse_longer
from base.pagination import parse_key
from base.texts import tidy

MAX_LENGTH = 100_000
MAX_CASES = 1_000

# A narrative and a candidate, by their keys.
Case = tuple[int, int]


def write_guideline(
    *,
    text: str,
    by: Membership,
    based_on: int,
    cases: Collection[Case] = (),
    now: datetime | None = None,
) -> Guideline:
    """Insert the next version of the guidelines, with the cases that led to it, and return it.

    `based_on` is the version that the author edited; Stale if somebody saved a newer one. Refused:
    a member who is not a lead, an empty or too long text, an unchanged text, too many cases, a case
    that is not in the project.
    """
    now = now or timezone.now()
    text = tidy(text)
    if not text:
        raise Refused("The guidelines are empty. Write what judges should know.")
    refuse_longer(
        text, MAX_LENGTH, "The guidelines have %(length)s characters; at most %(most)s are allowed."
    )
    refuse_invalid_characters(text)
    linked = sorted(set(cases))
    if len(linked) > MAX_CASES:
        raise Refused(f"At most {MAX_CASES:,} cases can lead to one version.")
    with transaction.atomic():
        project = lock_project(
            by.project_id, by, "Only leads of this project can write its guidelines."
        )
        _refuse_foreign_cases(linked, by)
        latest = Guideline.objects.latest_of(project)
        version = latest.version if latest else 0
        if version != based_on:
            raise Stale(
                f"Version {version} was saved while you were writing. Your text is still "
                "here: compare it with that version, then save again."
            )
        if latest is not None and latest.text == text:
            raise Refused("Nothing has changed yet, so there is no new version to save.")
        made = Guideline.objects.create(
            project=project, version=version + 1, text=text, author=by, created_at=now
        )
        GuidelineCase.objects.bulk_create(
            GuidelineCase(guideline=made, narrative_id=narrative, candidate_id=candidate)
            for narrative, candidate in linked
        )
        record(
            project=project,
            what="guidelines.written",
            about=made,
            changes={"version": (version, made.version)},
            by=by,
            now=now,
        )
    return made


def cases_waiting(*projects: Project | int) -> QuerySet[Adjudication]:
    """Return the decisions with the cause "gap in the guidelines" that led to no version yet."""
    linked = GuidelineCase.objects.filter(
        narrative=OuterRef("narrative"), candidate=OuterRef("candidate")
    )
    return Adjudication.objects.current().filter(
        ~Exists(linked),
        narrative__pair__project__in=projects,
        narrative__pair__removed_at__isnull=True,
        cause=Adjudication.Cause.GUIDELINE,
    )


def count_waiting(projects: Sequence[int]) -> dict[int, int]:
    """Return the number of such decisions in each of these projects, by key."""
    rows = cases_waiting(*projects).order_by().values_list("narrative__pair__project")
    return dict(rows.annotate(n=Count("pk")))


def _refuse_foreign_cases(cases: Collection[Case], by: Membership) -> None:
    """Refuse a case whose narrative and candidate do not belong to one query of the project."""
    narratives = dict(
        Narrative.objects.filter(
            pair__project=by.project_id, pk__in={narrative for narrative, _ in cases}
        ).values_list("pk", "pair__query__pk")
    )
    candidates = dict(
        Candidate.with_removed.filter(pk__in={candidate for _, candidate in cases}).values_list(
            "pk", "query__pk"
        )
    )
    for narrative, candidate in cases:
        query = narratives.get(narrative)
        if query is None or query != candidates.get(candidate):
            raise Refused("One of the cases is not in this project. Reload the page.")


# The most cases shown beside the editor; the newest come first.
MAX_SHOWN = 30


@dataclass
class ShownCase:
    """A case as a lead sees it: answers without names."""

    narrative: Narrative
    candidate: Candidate
    # Empty while the reader has yet to judge the document themselves.
    answers: list[Judgment] = field(default_factory=list)
    decision: Adjudication | None = None
    hidden: bool = False
    # Whether it is ticked beside the editor.
    chosen: bool = False

    @property
    def key(self) -> str:
        """The key of the case in forms and URLs."""
        return f"{self.narrative.pk}-{self.candidate.pk}"

    @property
    def grades(self) -> list[int]:
        """The grades of the answers."""
        return [judgment.relevance for judgment in self.answers]


def parse_case(key: str) -> Case | None:
    """Parse a case's key, as from `ShownCase.key`; None if it is invalid."""
    narrative, _hyphen, candidate = key.partition("-")
    keys = parse_key(narrative), parse_key(candidate)
    return None if keys[0] is None or keys[1] is None else (keys[0], keys[1])


def cases_for_editor(reader: Membership, chosen: Sequence[Case]) -> tuple[list[ShownCase], int]:
    """Return the cases to tick, `chosen` ones first, and the number of waiting cases not shown."""
    waiting = cases_waiting(reader.project).order_by("-at", "-pk")
    others = [
        case for case in waiting.values_list("narrative__pk", "candidate__pk") if case not in chosen
    ]
    shown = shown_cases(reader, [*chosen, *others[:MAX_SHOWN]])
    for case in shown:
        case.chosen = (case.narrative.pk, case.candidate.pk) in chosen
    return shown, len(others[MAX_SHOWN:])


def cases_of(reader: Membership, guideline: Guideline) -> list[ShownCase]:
    """Return the cases that led to a version of the guidelines."""
    linked = guideline.cases.order_by("pk")
    return shown_cases(reader, list(linked.values_list("narrative__pk", "candidate__pk")))


def shown_cases(reader: Membership, cases: Sequence[Case]) -> list[ShownCase]:
    """Return these cases as they are shown: five queries, none of which reads a document's text.

    Cases outside the reader's project are left out.
    """
    narratives = (
        Narrative.objects.filter(pair__project=reader.project_id)
        .select_related("pair__query")
        .in_bulk([narrative for narrative, _ in cases])
    )
    candidates = Candidate.with_removed.select_related("document").in_bulk(
        [candidate for _, candidate in cases]
    )
    same = {"narrative__in": narratives, "candidate__in": candidates}
    answers: dict[Case, list[Judgment]] = defaultdict(list)
    for judgment in (
        Judgment.objects.current().of_people().filter(**same).order_by("relevance", "pk")
    ):
        answers[judgment.narrative_id, judgment.candidate_id].append(judgment)
    decisions = {
        (decision.narrative_id, decision.candidate_id): decision
        for decision in Adjudication.objects.current().filter(**same)
    }
    # A reader who judges the pair must answer before seeing others' answers.
    blind = blind_pairs(reader)
    shown = []
    for case in dict.fromkeys(cases):
        narrative, candidate = narratives.get(case[0]), candidates.get(case[1])
        if narrative is None or candidate is None or candidate.query_id != narrative.pair.query_id:
            continue
        has_judged = any(judgment.annotator_id == reader.pk for judgment in answers[case])
        if narrative.pair_id in blind and not has_judged:
            shown.append(ShownCase(narrative, candidate, hidden=True))
        else:
            shown.append(ShownCase(narrative, candidate, answers[case], decisions.get(case)))
    return shown
