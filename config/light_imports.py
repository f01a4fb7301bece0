"""Keeping modules out of memory that libraries import but Rejudge does not need.

A web process is forked from one that has imported everything, and soon has its own copy of most of
it: a megabyte here is a megabyte in each process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from threading import RLock
from types import ModuleType
from typing import Any

from django.conf import settings

# Another template engine, which Django's test client looks for; the API schema imports that client.
OTHER_TEMPLATES = "jinja2"
# Security keys as a second factor, which are not offered: 11 MB with their imports.
SECURITY_KEYS = "allauth.mfa.webauthn.internal.auth"
# The API framework imports these for fields of PostgreSQL, and for its own test client.
POSTGRESQL, HTTP_CLIENT = "psycopg", "requests"


def read_little() -> None:
    """Set up the imports of a web process; call this before it imports views."""
    for name in (OTHER_TEMPLATES, SECURITY_KEYS):
        read_when_used(name)
    uses_sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
    with hidden(HTTP_CLIENT, *([POSTGRESQL] if uses_sqlite else [])):
        import rest_framework.compat  # noqa: F401


class _Unread(ModuleType):
    """A placeholder for a module that is imported at the first access to an attribute.

    Python's own `LazyLoader` loads a module as soon as it is imported a second time.
    """

    def __getattr__(self, attribute: str) -> Any:
        with _reading:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            module = import_module(self.__name__)
        return getattr(module, attribute)


_reading = RLock()


def read_when_used(name: str) -> None:
    """Let `import name` bind a module that is loaded at the first access to an attribute."""
    if name not in sys.modules:
        module = _Unread(name)
        module.__spec__ = find_spec(name)
        sys.modules[name] = module


@contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Let imports of these modules fail inside the block, unless they were imported before."""
    absent = [name for name in names if name not in sys.modules]
    for name in absent:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
