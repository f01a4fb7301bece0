"""Runs a command as `python -m rejudge`: in a wheel, `manage.py` is `rejudge/__init__.py`."""

from __future__ import annotations

from rejudge import main  # type: ignore[import-not-found]  # only a wheel has this package

main()
