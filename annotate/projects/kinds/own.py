"""A project that follows no paper, with the default settings."""

from __future__ import annotations

from annotate.projects.kinds.declaration import KindGrade, MustHold, ProjectKind

OWN = ProjectKind(
    key="own",
    name="Own",
    sentence="No paper is followed: you choose every setting yourself.",
    settings={},
    grades=(
        KindGrade(0, "Not relevant", ""),
        KindGrade(1, "Relevant", ""),
        KindGrade(2, "Highly relevant", ""),
    ),
    sides=("original", "altered"),
    must_hold=(
        MustHold("shrinking"),
        MustHold("change"),
        MustHold("balance", {"complying": 3, "violating": 3}),
    ),
    steps=("load", "rewrite", "judge", "review", "settle", "release"),
    optional_steps=("review",),
)
