"""How what auditors say is drawn."""

from __future__ import annotations

from typing import Any

from audit.criteria import Rubric


def levels_of(rubric: Rubric) -> list[dict[str, Any]]:
    """Return how the levels of a rubric are drawn, best first, and the key that gives each.

    Keys: value, name, sentence, rejects, key, icon (star, check, cross), tone (good, care, wrong).
    """
    drawn = []
    for place, level in enumerate(rubric.levels):
        icon, tone = ("star", "good") if place == 0 else ("check", "care")
        if level.rejects:
            icon, tone = "cross", "wrong"
        drawn.append({**level._asdict(), "key": str(place + 1), "icon": icon, "tone": tone})
    return drawn
