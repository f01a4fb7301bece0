"""Models of exports, releases and evaluations."""

from __future__ import annotations

from exporters.evaluations.models import Evaluation, SettlingEffect
from exporters.exports.models import Export, Publication
from exporters.releases.models import Release

__all__ = ["Evaluation", "Export", "Publication", "Release", "SettlingEffect"]
