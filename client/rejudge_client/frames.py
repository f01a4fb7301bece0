"""Rows of the API as a data frame of pandas, for programs that ask for one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import pandas as pd


def frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a data frame with a column for each field; `a.b` is the field b within a.

    `frame(project.members())`. Raises ImportError with the command that installs pandas.
    """
    try:
        import pandas as pd
    except ImportError as missing:
        raise ImportError(
            "Data frames need pandas. Run: pip install 'rejudge-client[frames]'"
        ) from missing
    return pd.json_normalize(cast(list[dict[str, Any]], [dict(row) for row in rows]))
