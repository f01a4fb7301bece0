"""MultiConIR, section 3.2 and appendix C: queries of one to ten conditions."""

from __future__ import annotations

from annotate.projects.kinds.declaration import (
    KindGrade,
    MustHold,
    PlannedCheck,
    ProjectKind,
)

CONDITIONS = 10

MULTICONIR = ProjectKind(
    key="multiconir",
    name="MultiConIR",
    sentence="Ten people say whether a query is valid: natural, exact and possible. Two people "
    "count the conditions that sampled documents meet; a third settles.",
    settings={
        "judge_scope": "pool",
        "relevant_from": CONDITIONS,
        "condition_rule": "count_met",
        "overlap_rewrite": 0,
        # Labels are claims, checked on a sample.
        "overlap_judge": 0,
        "overlap_review": 10,
    },
    grades=tuple(
        KindGrade(
            met, f"{met} of {CONDITIONS}", f"The document meets {met} of {CONDITIONS} conditions."
        )
        for met in range(CONDITIONS + 1)
    ),
    sides=("original", "altered"),
    must_hold=(MustHold("conditions"),),
    load_rules=(MustHold("condition_count", {"most": CONDITIONS}),),
    steps=("load", "filter", "review", "check", "settle", "release"),
    step_names={
        "load": "Load queries and documents",
        "filter": "LLM filtering",
        "review": "Query validity",
        "check": "Document-label validity",
    },
    first_files="Begin with the MultiConIR table (CSV), then what a machine's filter decided.",
    formats=("multiconir", "filter-jsonl", "filter-csv", "trec-run"),
    rubric="multiconir-1",
    checks=(
        PlannedCheck(
            "100 documents per domain: is the labelled number of satisfied conditions correct?",
            size=100,
            name="Condition counts",
            asks="count",
            stratify="domain",
        ),
    ),
    measures=("win_rate", "flip_rate"),
    counts_claims=True,
    # Ten people say valid or not; a single one cannot make a query invalid.
    rejects_by_majority=True,
)
