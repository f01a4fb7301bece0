"""Bundles style sheets and ES modules: one file for each that a page links.

The sources are many small files, and in development pages link them and browsers follow their
imports. When static files are collected, each file that a page links is replaced by one file with
all its imports:

- `css/all.css` is bundled by Lightning CSS.
- Each module under `js/` is preceded by the modules it imports, in the order in which a browser
  would run them. The Python package index has no bundler for ES modules (its packages download one
  when they run), so this is done here, for the few forms of import and export that our modules use;
  any other form is an error. The modules that `js/main.js` imports are only in that file, which
  every page loads once, and other files import them from there: a module runs once and has one
  state.
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
    """Return the style sheet at `path` with all its imports, minified."""
    # Imported here: only a process that collects files needs it.
    from lightningcss import bundle_css

    styles: str = bundle_css(path)
    return styles


def join_modules(read: Callable[[str], str], names: list[str]) -> dict[str, str]:
    """Return the bundle of `MAIN`, and of each module that is not part of it, by name.

    `read` returns the source of a module by its name. Raises ValueError for a form of import or
    export that is not supported.
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
        # The module itself is not wrapped: it may use `await`, which the wrapping functions cannot.
        lines.append(modules[name].open())
        if name == MAIN:
            lines.append(f"export {{ {', '.join(_variable(one) for one in parts[:-1])} }};")
        joined[name] = jsmin("\n".join(lines))
    return joined


class _Module:
    """One module: its imports as (names, module), its exports and its body."""

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
        """Return the module's body, preceded by constants for the names it imports."""
        given = "".join(
            f"const {{ {names.replace(' as ', ': ')} }} = {_variable(of)};\n"
            for names, of in self.imports
            if names
        )
        return given + self.body

    def wrapped(self) -> str:
        """Return the module as a function that runs at once and returns its exports."""
        return (
            f"const {_variable(self.name)} = (() => {{\n{self.open()}\n"
            f"return {{ {', '.join(self.exports)} }};\n}})();"
        )


def _in_order(name: str, modules: Mapping[str, _Module]) -> list[str]:
    """Return a module's name after those of all its imports, each once."""
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
