"""Records -> rows: a file into a project, all of it or nothing, and nothing the second time."""

from __future__ import annotations

from annotate.intake.arrivals import Arrivals, Intake, Options, register
from annotate.intake.files import Arrived, handed_in, on_disk
from annotate.intake.loading import load
from annotate.intake.progress import Progress
from annotate.intake.report import KINDS, FileReport, Problem, RowCounts, totals

__all__ = [
    "KINDS",
    "Arrivals",
    "Arrived",
    "FileReport",
    "Intake",
    "Options",
    "Problem",
    "Progress",
    "RowCounts",
    "handed_in",
    "load",
    "on_disk",
    "register",
    "totals",
]
