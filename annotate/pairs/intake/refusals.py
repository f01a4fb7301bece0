"""Refuse instruction pairs that would overwrite existing versions, or that restate no pair."""

from __future__ import annotations

from functools import partial

from annotate.collection.intake.arrivals import Intake
from base import bulk

# Narratives of the file that already exist: `s` is the staged row, `o` the existing one.
_KNOWN = """
    FROM stage_narratives s
    CROSS JOIN annotate_instructionpair p
    CROSS JOIN annotate_narrative o
    WHERE p.project_id = %(project)s AND p.pair_id = s.pair_id
    AND o.pair_id = p.id AND o.side = s.side AND o.version = s.version
"""


# Whether the file has such a narrative with the same text and different conditions.
_OTHER_CONDITIONS = """
    o.text = s.text AND (
        (SELECT COUNT(*) FROM annotate_condition c WHERE c.narrative_id = o.id)
        <> (SELECT COUNT(*) FROM stage_conditions x WHERE x.pair_id = s.pair_id
            AND x.side = s.side AND x.version = s.version)
        OR EXISTS (
            SELECT 1 FROM stage_conditions x WHERE x.pair_id = s.pair_id
            AND x.side = s.side AND x.version = s.version AND NOT EXISTS (
                SELECT 1 FROM annotate_condition c WHERE c.narrative_id = o.id
                AND c.number = x.number AND c.name = x.name AND c.text = x.text
            )
        )
    )
"""


def refuse_overwriting(intake: Intake) -> None:
    """Refuse versions that exist with another text, other conditions or another writer."""
    for what, differs in (("words", "o.text <> s.text"), ("conditions", _OTHER_CONDITIONS)):
        intake.refuse_rows(
            f"""
            SELECT s.n, s.place, s.pair_id, s.side, s.version, (
                SELECT MAX(v.version) FROM annotate_narrative v
                WHERE v.pair_id = o.pair_id AND v.side = o.side
            ) AS newest
            {_KNOWN} AND {differs}
            """,  # noqa: S608 (our own conditions)
            partial(_overwriting_message, what),
        )
    intake.refuse_rows(
        f"""
        SELECT s.n, s.place, s.pair_id, s.side, s.version, o.origin, o.model
        {_KNOWN} AND s.names_writer = 1 AND (o.origin <> s.origin OR o.model <> s.model)
        """,
        lambda pair, side, version, origin, model: (
            f"version {version} of the {side} narrative of {pair} already exists, written by "
            f"{_writer_name(origin, model)}: the writer of a version is never changed"
        ),
    )
    other = bulk.number(
        f"""
        SELECT COUNT(*) {_KNOWN} AND s.names_writer = 0 AND s.side <> 'original'
        AND s.author IS NULL AND o.author_id IS NULL
        AND (o.origin <> s.origin OR o.model <> s.model)
        """,
        intake.params,
    )
    if other:
        versions = "version already exists" if other == 1 else "versions already exist"
        intake.report.notes.append(
            f"{other:,} {versions}, written by another model: the recorded writer stays"
        )


def refuse_unknown_restated(intake: Intake) -> None:
    """Refuse pairs that restate a pair that their query does not have."""
    intake.refuse_rows(
        """
        SELECT s.n, s.place, s.pair_id, s.restates FROM stage_pairs s
        WHERE s.restates <> '' AND NOT EXISTS (
            SELECT 1 FROM stage_pairs f
            WHERE f.pair_id = s.restates AND f.query_id = s.query_id
        ) AND NOT EXISTS (
            SELECT 1 FROM annotate_instructionpair p JOIN annotate_query q ON q.id = p.query_id
            WHERE p.project_id = %(project)s AND p.pair_id = s.restates
            AND q.query_id = s.query_id
        )
        """,
        lambda pair, restated: (
            f"instruction pair {pair} restates {restated}, which is not a pair of its query"
        ),
    )


def _overwriting_message(what: str, pair: str, side: str, version: int, newest: int) -> str:
    return (
        f"version {version} of the {side} narrative of {pair} already exists with other {what}, "
        f"and no version is overwritten: load these as version {newest + 1}"
    )


def _writer_name(origin: str, model: str) -> str:
    return "people" if origin == "human" else model or "a language model"
