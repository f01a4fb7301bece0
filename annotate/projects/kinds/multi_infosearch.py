"""Multi-InfoSearch, section 3: two or three attributes per query, verdicts for each of them."""

from __future__ import annotations

from annotate.projects.kinds.declaration import KindGrade, MustHold, ProjectKind

MULTI_INFOSEARCH = ProjectKind(
    key="multi-infosearch",
    name="Multi-InfoSearch",
    sentence="A query names two or three conditions. A rewritten positive document satisfies all "
    "of them; a hard negative violates at least one. People give a verdict per condition.",
    settings={
        "judge_scope": "pool",
        "relevant_from": 1,
        "condition_rule": "all_met",
        "overlap_rewrite": 0,
        "overlap_judge": 2,
        "overlap_review": 0,
    },
    grades=(
        KindGrade(0, "Not relevant", "The document violates one or more conditions."),
        KindGrade(1, "Relevant", "The document satisfies all conditions."),
    ),
    sides=("original", "altered", "reversed"),
    must_hold=(MustHold("attributes"),),
    load_rules=(MustHold("reversed"), MustHold("dimension")),
    steps=("load", "judge", "settle", "release"),
    step_names={"load": "Load queries and documents", "judge": "Verdict per condition"},
    first_files="Begin with the Multi-InfoSearch folder: final_sorted.jsonl and query-doc.json, "
    "as one zip archive.",
    formats=(
        "multi-infosearch-folder",
        "multi-infosearch",
        "multi-infosearch-docs",
        "trec-run",
    ),
    taxonomy="InfoSearch",
    measures=("m_wise", "m_sicr"),
    counts_claims=True,
)
