"""Turn records into rows: load a file into a project, all or nothing, and repeatably."""

from __future__ import annotations

from annotate.collection.intake.arrivals import Arrivals, Intake, Options, register
from annotate.collection.intake.files import Arrived, handed_in, on_disk
from annotate.collection.intake.load import load
from annotate.collection.intake.progress import Progress
from annotate.collection.intake.report import KINDS, FileReport, Problem, RowCounts, totals

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
