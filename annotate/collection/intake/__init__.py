"""Records of files, staged and then turned into rows; `annotate.loading` loads a file by them."""

from __future__ import annotations

from annotate.collection.intake.arrivals import (
    Intake,
    Options,
    StagedLine,
    StagedRecords,
    register,
)
from annotate.collection.intake.files import InputFile, Progress, file_on_disk, uploaded_file
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
    "StagedLine",
    "StagedRecords",
    "file_on_disk",
    "register",
    "totals",
    "uploaded_file",
]
