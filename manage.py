#!/usr/bin/env python
"""Rejudge's command line: load, export, agreement, serve, demo, and Django's own commands."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except ImproperlyConfigured as error:
        # Whoever sets Rejudge up needs the sentence, not a Python traceback.
        sys.exit(f"Rejudge does not start.\n{error}")
    except BrokenPipeError:
        # The reader of a pipe, such as `head`, wants no more. Python would complain on exit that it
        # cannot write the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


if __name__ == "__main__":
    main()
