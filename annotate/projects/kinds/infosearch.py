"""InfoSearch, section 3: a query in original, instructed and reversed mode, in six dimensions."""

from __future__ import annotations

from annotate.projects.kinds.declaration import (
    KindGrade,
    MustHold,
    PlannedCheck,
    ProjectKind,
)

INFOSEARCH = ProjectKind(
    key="infosearch",
    name="InfoSearch",
    sentence="Each query comes without an instruction, with one, and with its reverse, in one of "
    "six dimensions. People look at documents whose ranks are odd.",
    settings={
        "judge_scope": "pool",
        "relevant_from": 1,
        # Labels are claims, and suspects from runs are checked.
        "overlap_rewrite": 0,
        "overlap_judge": 0,
        "overlap_review": 2,
    },
    grades=(
        KindGrade(0, "Not relevant", "The document does not answer the query in this mode."),
        KindGrade(1, "Relevant", "The document answers the query in this mode."),
    ),
    sides=("original", "altered", "reversed"),
    must_hold=(MustHold("gold"),),
    load_rules=(MustHold("reversed"), MustHold("category")),
    steps=(
        "load",
        "review",
        "check_original",
        "check_instructed",
        "check_reversed",
        "settle",
        "release",
    ),
    step_names={
        "load": "Load queries and modes",
        "review": "Validate instructions",
        "check_original": "Judge gold documents: original mode",
        "check_instructed": "Judge gold documents: instructed mode",
        "check_reversed": "Judge gold documents: reversed mode",
    },
    first_files="Begin with the InfoSearch folder: queries.jsonl, corpus.jsonl and the three "
    "folders of qrels, as one zip archive.",
    formats=("infosearch", "trec-run", "infosearch-results"),
    taxonomy="InfoSearch",
    checks=(
        PlannedCheck(
            "Gold documents outside the top 50 of six or more of twelve models: suspects from "
            "runs, screened by hand.",
            size=50,
            is_drawn=False,
        ),
        PlannedCheck(
            "Documents of every query in three modes: original, instructed and reversed, each a "
            "pass of its own with its narrative.",
            size=10,
            name="Three modes",
            per="instruction",
            modes=("original", "altered", "reversed"),
        ),
    ),
    exports=("trec", "mteb", "hf"),
    measures=("wise", "sicr"),
    counts_claims=True,
)
