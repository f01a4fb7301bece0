"""FollowIR (Weller et al.), section 3: narratives are narrowed and relevant documents re-judged."""

from __future__ import annotations

from annotate.projects.kinds.declaration import (
    KindGrade,
    MustHold,
    PlannedCheck,
    ProjectKind,
)

FOLLOWIR = ProjectKind(
    key="followir",
    name="FollowIR",
    sentence="Annotators narrow the narratives of TREC topics until about half of the relevant "
    "documents drop out. Only documents that were relevant are judged again.",
    settings={
        "judge_scope": "relevant",
        "relevant_from": 1,
        "overlap_rewrite": 1,
        "overlap_judge": 2,
        "overlap_review": 0,
    },
    grades=(
        KindGrade(0, "Not relevant", "The document does not meet the altered narrative."),
        KindGrade(1, "Relevant", "The document meets the altered narrative."),
        KindGrade(
            2, "Highly relevant", "The document fully answers what the altered narrative asks for."
        ),
    ),
    sides=("original", "altered"),
    # The topics of TREC RAG 2025 have their narrative as title.
    narrative_from_title=True,
    must_hold=(
        MustHold("shrinking"),
        MustHold("change"),
        # The paper says about half should drop out; the range is our choice.
        MustHold("share", {"least_percent": 25, "most_percent": 75}),
    ),
    steps=("load", "choose", "rewrite", "judge", "settle", "release"),
    step_names={"judge": "Re-judge"},
    formats=(
        "trec-topics",
        "trec-topics-xml",
        "topics-json",
        "trec-qrels",
        "trec-docs",
        "docs-jsonl",
        "trec-run",
    ),
    checks=(
        PlannedCheck(
            "Documents that were never relevant: they stay non-relevant under the new narrative.",
            size=100,
            name="Spot check",
            source="never",
        ),
    ),
    exports=("trec", "mteb", "hf"),
    measures=("p_mrr",),
)
