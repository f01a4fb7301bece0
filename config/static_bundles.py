"""Joins style sheets and ES modules into one file for each that a page names.

Sources stay many small files, which pages link, and browsers follow, in development. When static
files are collected, what a page names is replaced by one file with all that it imports:

- `css/all.css` is bundled by Lightning CSS.
- Each module under `js/` gets what it imports put before it, in the order in which a browser would
  run it. No bundler of ES modules installs from the Python package index (those that are there
  fetch one when they run), so that this is done here, for the few forms of import and export that
  our modules use; any other form is an error. What `js/main.js` imports is in that file alone, on
  every page once, and other files import it from there: a module runs once, and has one state.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping

MAIN = "js/main.js"
STYLES = "css/all.css"

_NAMES = r"\w+(?: as \w+)?"
_IMPORT = re.compile(
    rf'^import (?:\{{ ({_NAMES}(?:, {_NAMES})*) \}} from )?"(\.{{1,2}}/[\w./-]+)";$', re.MULTILINE
)
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*|.*\bimport(?:\(|\.meta).*", re.MULTILINE)


def join_styles(path: str) -> str:
    """Return a style sheet with all that it imports, minified. `path`: where it lies."""
    # Read here: only a process that collects files needs it.
    from lightningcss import bundle_css

    styles: str = bundle_css(path)
    return styles


def join_modules(read: Callable[[str], str], names: list[str]) -> dict[str, str]:
    """Return the joined text of each module that is not part of `MAIN`, and of `MAIN`.

    `read` returns the source of a module by its name. Raises ValueError for what a module says
    that is not understood here.
    """
    modules = {name: _Module(name, read(name)) for name in names}
    shared = _in_order(MAIN, modules) if MAIN in modules else []
    from rjsmin import jsmin

    joined = {}
    for name in names:
        if name in shared and name != MAIN:
            continue
        parts = [one for one in _in_order(name, modules) if name == MAIN or one not in shared]
        elsewhere = {
            imported
            for part in parts
            for _, imported in modules[part].imports
            if imported not in parts
        }
        lines = [
            f'import {{ {_variable(one)} }} from "{_relative(MAIN, name)}";'
            for one in sorted(elsewhere)
        ]
        lines += [modules[part].wrapped() for part in parts[:-1]]
        # What nothing imports may wait for something before it goes on, which no function here may.
        lines.append(modules[name].open())
        if name == MAIN:
            lines.append(f"export {{ {', '.join(_variable(one) for one in parts[:-1])} }};")
        joined[name] = jsmin("\n".join(lines))
    return joined


class _Module:
    """One module: what it imports (names, module) and exports, and what it runs."""

    def __init__(self, name: str, source: str) -> None:
        self.name = name
        self.imports = [
            (names, posixpath.normpath(posixpath.join(posixpath.dirname(name), where)))
            for names, where in _IMPORT.findall(source)
        ]
        self.exports = [what for _, what in _EXPORT.findall(source)]
        self.body = _EXPORT.sub(r"\1 \2", _IMPORT.sub("", source))
        if other := _OTHER.search(self.body):
            raise ValueError(f"{name}: {other[0]!r} cannot be joined")

    def open(self) -> str:
        """The module with what it imports at hand."""
        given = "".join(
            f"const {{ {names.replace(' as ', ': ')} }} = {_variable(of)};\n"
            for names, of in self.imports
            if names
        )
        return given + self.body

    def wrapped(self) -> str:
        """The module as a function that runs at once and returns what it exports."""
        return (
            f"const {_variable(self.name)} = (() => {{\n{self.open()}\n"
            f"return {{ {', '.join(self.exports)} }};\n}})();"
        )


def _in_order(name: str, modules: Mapping[str, _Module]) -> list[str]:
    """A module after all that it imports, each once."""
    found: list[str] = []
    open_: list[str] = []

    def visit(one: str) -> None:
        if one in found:
            return
        if one in open_:
            raise ValueError(f"{one} imports itself by way of {', '.join(open_)}")
        open_.append(one)
        for _, imported in modules[one].imports:
            visit(imported)
        open_.remove(one)
        found.append(one)

    visit(name)
    return found


def _variable(name: str) -> str:
    return re.sub(r"\W", "_", name.removesuffix(".js"))


def _relative(name: str, to: str) -> str:
    found = posixpath.relpath(name, posixpath.dirname(to))
    return found if found.startswith(".") else f"./{found}"
