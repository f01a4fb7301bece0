"""Rows and files that are made for the first test of a file, and copied for the others."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from django.db import connection

Made = TypeVar("Made")


class Kept(Generic[Made]):
    """A copy of the whole database and of a folder of files, with what names them.

    For tests with a server of their own, whose rows cannot be rolled back. SQLite only, which the
    browser tests run on.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "data"
        self._files = folder / "files"
        self._rows = sqlite3.connect(":memory:")
        self._made: list[Made] = []

    def copy_or_make(self, make: Callable[[], Made]) -> Made:
        """Bring back what was made before; the first time, make it."""
        connection.ensure_connection()
        if self._made:
            self._rows.backup(connection.connection)
            shutil.rmtree(self.folder)
            shutil.copytree(self._files, self.folder)
        else:
            self.folder.mkdir()
            self._made.append(make())
            connection.connection.backup(self._rows)
            shutil.copytree(self.folder, self._files)
        return self._made[0]
