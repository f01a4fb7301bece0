"""Keep modules out of memory that libraries import and that are not needed here.

A web process is a copy of one that has read everything, and soon has a copy of its own of most of
it: a megabyte here is a megabyte in each of them.
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

# Templates of another kind, which the tests' client of Django looks for: the API's schema imports
# that client.
OTHER_TEMPLATES = "jinja2"
# A second factor that is a key to plug in, which is not offered: 11 MB with what it imports.
SECURITY_KEYS = "allauth.mfa.webauthn.internal.auth"
# What the API framework imports for fields that only PostgreSQL has, and for a client of its own.
POSTGRESQL, HTTP_CLIENT = "psycopg", "requests"


def read_little() -> None:
    """Set the imports of a web process up; to be called before it imports views."""
    for name in (OTHER_TEMPLATES, SECURITY_KEYS):
        read_when_used(name)
    uses_sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
    with hidden(HTTP_CLIENT, *([POSTGRESQL] if uses_sqlite else [])):
        import rest_framework.compat  # noqa: F401


class _Unread(ModuleType):
    """Stands for a module until something of it is looked up. Python's own `LazyLoader` reads a
    module as soon as it is imported a second time.
    """

    def __getattr__(self, attribute: str) -> Any:
        with _reading:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            module = import_module(self.__name__)
        return getattr(module, attribute)


_reading = RLock()


def read_when_used(name: str) -> None:
    """Let `import name` bind a module that is read when something of it is first looked up."""
    if name not in sys.modules:
        module = _Unread(name)
        module.__spec__ = find_spec(name)
        sys.modules[name] = module


@contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Let the import of these modules fail in here, unless they were imported before."""
    absent = [name for name in names if name not in sys.modules]
    for name in absent:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
