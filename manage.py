#!/usr/bin/env python
"""Rejudge's command line: load, export, agreement, serve, demo, and Django's own commands.

A wheel also has this file as the `__init__.py` of its package `rejudge`, with the folders of the
checkout below it, so that `rejudge demo` and `manage.py demo` run the same code.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Run one management command."""
    # Whoever calls this with an older Python needs the sentence, not an error of syntax.
    if sys.version_info < (3, 11):  # noqa: UP036
        sys.exit(
            "Rejudge needs Python 3.11 or newer; this is Python "
            f"{sys.version_info[0]}.{sys.version_info[1]}. Install a newer one, and make the "
            "environment again with it."
        )
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from django.core.exceptions import ImproperlyConfigured
    from django.db import Error as DatabaseError

    from config.command_line import CommandLine

    try:
        if sys.argv[1:] in (["--version"], ["version"]):
            from django.conf import settings

            print(settings.VERSION)
            return
        CommandLine(sys.argv).execute()
        sys.stdout.flush()
    except ImproperlyConfigured as error:
        # Whoever sets Rejudge up needs the sentence, not a Python traceback.
        sys.exit(f"Rejudge does not start.\n{error}")
    except BrokenPipeError:
        # The reader of a pipe, such as `head`, wants no more. Python would complain on exit that it
        # cannot write the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (DatabaseError, OSError) as error:
        explanation = _explain(error)
        if not explanation or "--traceback" in sys.argv:
            raise
        sys.exit(explanation)


def _explain(error: Exception) -> str:
    """Return what to do about a full disk, missing rights or an unready database, else ""."""
    from django.conf import settings
    from django.db import Error as DatabaseError

    from base.database_version import unapplied_migrations
    from config.data_folder import explain_disk_error
    from jobs.errors import is_away, is_damaged

    if explanation := explain_disk_error(error, settings.DATA):
        return explanation
    if not isinstance(error, DatabaseError):
        return ""
    if is_damaged(error):
        path = settings.DATABASES["default"]["NAME"]
        return (
            f"The database {path} cannot be read: {error}. Restore a backup into another data "
            "folder: REJUDGE_DATA names it."
        )
    if is_away(error):
        return f"The database does not answer: {' '.join(str(error).split())}"
    if unapplied_migrations():
        return f"The database is new, or older than the code. Run: {settings.COMMAND} prepare"
    return ""


if __name__ == "__main__":
    main()
