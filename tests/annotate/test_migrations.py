"""What migrations do to rows that are there already."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


@pytest.fixture
def before_judging(transactional_db) -> Iterator[Any]:
    """The rows' classes as they were before 0003; afterwards everything is as it is now."""
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()
    executor.migrate([("annotate", "0002_candidate_listed")])
    try:
        state = executor.loader.project_state([("annotate", "0002_candidate_listed")])
        yield state.apps
    finally:
        migrate_to(latest)


def migrate_to(targets: list[tuple[str, str]]) -> Any:
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return executor.loader.project_state(targets).apps


def test_flags_from_before_get_a_uuid_each(before_judging):
    old = before_judging.get_model
    project = old("annotate", "Project").objects.create(slug="tides", name="Tides")
    query = old("annotate", "Query").objects.create(project=project, query_id="301")
    pair = old("annotate", "InstructionPair").objects.create(
        project=project, query=query, pair_id="301"
    )
    narrative = old("annotate", "Narrative").objects.create(
        pair=pair, side="altered", text="At sea."
    )
    member = old("annotate", "Membership").objects.create(project=project, name="ada")
    for number in range(3):
        document = old("annotate", "Document").objects.create(project=project, doc_id=f"D{number}")
        candidate = old("annotate", "Candidate").objects.create(
            query=query, document=document, prior_relevance=1, origin="prior"
        )
        old("annotate", "Flag").objects.create(
            narrative=narrative, candidate=candidate, annotator=member, kind="later"
        )

    new = migrate_to([("annotate", "0003_judging")])

    uuids = list(new.get_model("annotate", "Flag").objects.values_list("uuid", flat=True))
    assert None not in uuids
    assert len(set(uuids)) == 3
