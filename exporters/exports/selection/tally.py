"""Count current judgments, by how the qrels treat them."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count, Q, QuerySet

from annotate.judgments.in_force import in_pools
from annotate.judgments.models import Adjudication, Judgment
from annotate.pairs.models import Narrative
from annotate.projects.models import Project
from exporters.exports.selection.ordered_rows import stream_rows
from exporters.exports.selection.selection import Pair, written_pairs


def standing_decisions(project: Project) -> QuerySet[Adjudication]:
    """Return the settling decisions that nobody has withdrawn, on every version of narratives.

    Those of queries that were taken out are left out.
    """
    return Adjudication.objects.current().filter(
        narrative__pair__project=project, narrative__pair__query__removed_at=None
    )


def tally(project: Project, of: Sequence[Pair]) -> dict[str, int]:
    """Count the project's current judgments under the keys of manifests.

    People's judgments are counted under the current version, in pairs whose qrels are written;
    set aside in pairs that are left out, or of documents taken out of their pool; or stale under an
    older version of the narrative or of the document's text. Machines' are never among them.
    """
    in_force = {version.pk for pair in of for version in pair.versions.values()}
    counting = {
        pair.versions[side].pk for side in Narrative.Side.values for pair in written_pairs(of, side)
    }
    machines = dict.fromkeys(Narrative.Side.values, 0)
    counted = set_aside = stale = 0
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
            counted += by_people
        elif narrative in in_force:
            set_aside += by_people
        else:
            stale += by_people
    standing = standing_decisions(project)
    decided = standing.filter(in_pools()).values_list("narrative", flat=True)
    return {
        "judgments_by_people": counted + stale + set_aside,
        "judgments_counted": counted,
        "judgments_stale": stale,
        "judgments_set_aside": set_aside,
        "adjudications_standing": standing.count(),
        "adjudications_counted": sum(narrative in counting for narrative in decided),
        "judgments_by_machines": sum(machines.values()),
        **{f"judgments_by_machines_{side}": n for side, n in machines.items() if n},
    }
