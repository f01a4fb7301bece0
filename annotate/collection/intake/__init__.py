"""Turn records into rows: load a file into a project, all or nothing, and repeatably."""

from __future__ import annotations

from annotate.collection.intake.arrivals import Intake, Options, StagedRecords, register
from annotate.collection.intake.files import InputFile, Progress, file_on_disk, uploaded_file
from annotate.collection.intake.load import load
from annotate.collection.intake.report import KINDS, FileReport, LineProblem, RowCounts, totals

__all__ = [
    "KINDS",
    "FileReport",
    "InputFile",
    "Intake",
    "LineProblem",
    "Options",
    "Progress",
    "RowCounts",
    "StagedRecords",
    "file_on_disk",
    "load",
    "register",
    "totals",
    "uploaded_file",
]
