"""What has been written for the evaluator, and what was released for good."""

from __future__ import annotations

from exporters.evaluations.models import Evaluation, SettlingEffect
from exporters.exports.models import Export, Publication
from exporters.releases.models import Release

__all__ = ["Evaluation", "Export", "Publication", "Release", "SettlingEffect"]
