"""FollowTable, section 4: two people check every instruction, and five tables of each."""

from __future__ import annotations

from annotate.projects.kinds.declaration import (
    KindGrade,
    MustHold,
    PlannedCheck,
    ProjectKind,
)

FOLLOWTABLE = ProjectKind(
    key="followtable",
    name="FollowTable",
    sentence="Two people review each instruction on six criteria; what fails is rewritten or taken "
    "out. Labels of five tables of each instruction are checked.",
    settings={
        "judge_scope": "pool",
        "relevant_from": 1,
        # Labels are claims, checked on a sample.
        "overlap_rewrite": 0,
        "overlap_judge": 0,
        "overlap_review": 2,
    },
    grades=(
        KindGrade(0, "Not relevant", "The table is off topic or violates the constraint."),
        KindGrade(1, "Relevant", "The table is on topic and meets the constraint."),
    ),
    sides=("original", "altered"),
    must_hold=(MustHold("balance", {"complying": 3, "violating": 3}),),
    load_rules=(MustHold("positives", {"least": 3}), MustHold("category")),
    steps=("load", "review", "check", "settle", "release"),
    step_names={
        "load": "Load queries, instructions and tables",
        "review": "Check instructions",
        "check": "Audit five tables each",
    },
    first_files="Begin with the FollowTable folder: query_instruction.json and tables/, as one zip "
    "archive.",
    formats=("followtable", "pairs-jsonl", "trec-run"),
    taxonomy="FollowTable",
    rubric="followtable-1",
    checks=(
        PlannedCheck(
            "Five tables per instruction, in turn from those that comply, violate and are off "
            "topic: alignment with the query topic and the constraint.",
            size=5,
            name="Tables of each instruction",
            per="instruction",
            asks="questions",
            stratify="label",
            shows_reason=True,
        ),
    ),
    exports=("trec", "beir", "mteb"),
    measures=("irs",),
    counts_claims=True,
)
