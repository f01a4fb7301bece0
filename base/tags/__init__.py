"""What the pages of every room draw alike: times, shares, grades, marks of change and small charts.

Everything shown goes through `format_html`: what people and files wrote is text, whatever it holds.
Each module registers its tags and filters with the library.
"""

from __future__ import annotations

from base.tags import changes, charts, figures, frame, grades
from base.tags.library import register

__all__ = ["changes", "charts", "figures", "frame", "grades", "register"]
