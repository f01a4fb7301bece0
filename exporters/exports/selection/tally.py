"""Count current judgments, by how the qrels treat them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet

from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Adjudication, Judgment
from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from exporters.exports.selection.ordered_rows import stream_rows
from exporters.exports.selection.selection import Pair, written_pairs


class Tally(NamedTuple):
    """Counts of current judgments, by how the qrels treat them.

    `people`: of people under the current version, by side, in pairs whose qrels are written.
    `set_aside`: the same in pairs that are left out, or of documents taken out of their pool.
    `stale`: of people under an older version of the narrative or of the document's text.
    `machines`: of machines, by side, never counted among people. `settled`: current settling
    decisions; `settled_counted`: those of them that count in the qrels.
    """

    people: dict[str, int]
    set_aside: int
    stale: int
    machines: dict[str, int]
    settled: int
    settled_counted: int

    def counts(self) -> dict[str, int]:
        """Return the counts under the keys of manifests."""
        counted = sum(self.people.values())
        by_machines = sum(self.machines.values())
        return {
            "judgments_by_people": counted + self.stale + self.set_aside,
            "judgments_counted": counted,
            "judgments_stale": self.stale,
            "judgments_set_aside": self.set_aside,
            "adjudications_standing": self.settled,
            "adjudications_counted": self.settled_counted,
            "judgments_by_machines": by_machines,
            **{f"judgments_by_machines_{side}": n for side, n in self.machines.items() if n},
        }


def standing_decisions(project: Project) -> QuerySet[Adjudication]:
    """Return the settling decisions that nobody has withdrawn, on every version of narratives.

    Those of queries that were taken out are left out.
    """
    return Adjudication.objects.current().filter(
        narrative__pair__project=project, narrative__pair__query__removed_at=None
    )


def tally(project: Project, of: Sequence[Pair]) -> Tally:
    """Count the project's current judgments, by how the qrels treat them."""
    in_force = {version.pk for pair in of for version in pair.versions.values()}
    counting = {
        pair.versions[side].pk: side
        for side in Narrative.Side.values
        for pair in written_pairs(of, side)
    }
    people = dict.fromkeys(Narrative.Side.values, 0)
    machines = dict.fromkeys(Narrative.Side.values, 0)
    set_aside = stale = 0
    of_newest_text = Q(annotator__is_machine=False, text_replaced_at=None)
    rows = (
        Judgment.objects.not_superseded()
        .filter(narrative__pair__project=project)
        .order_by()
        .values("narrative", "narrative__side")
        .annotate(
            by_people=Count("pk", filter=of_newest_text & in_pools()),
            of_removed=Count("pk", filter=of_newest_text & ~in_pools()),
            by_machines=Count("pk", filter=Q(annotator__is_machine=True)),
            of_older_texts=Count(
                "pk", filter=Q(annotator__is_machine=False, text_replaced_at__isnull=False)
            ),
        )
    )
    for narrative, side, by_people, of_removed, by_machines, of_older_texts in stream_rows(
        rows,
        *("narrative", "narrative__side", "by_people", "of_removed", "by_machines"),
        "of_older_texts",
    ):
        machines[side] += by_machines
        set_aside += of_removed
        stale += of_older_texts
        if narrative in counting:
            people[counting[narrative]] += by_people
        elif narrative in in_force:
            set_aside += by_people
        else:
            stale += by_people
    standing = standing_decisions(project)
    decided = [key for (key,) in stream_rows(standing.filter(in_pools()), "narrative")]
    counted = sum(key in counting for key in decided)
    return Tally(people, set_aside, stale, machines, standing.count(), counted)
