"""Template tags shared by all apps: times, shares, grades, change marks, texts and small charts.

Everything shown goes through `format_html`: text from people and files is always escaped. Each
module registers its tags and filters with the library.
"""

from __future__ import annotations

from base.tags import components, figures, frame, grades, texts
from base.tags.library import register

__all__ = ["components", "figures", "frame", "grades", "register", "texts"]
