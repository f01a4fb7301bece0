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
        from_main = {
            imported
            for part in parts
            for _, imported in modules[part].imports
            if imported not in parts
        }
        lines = [
            f'import {{ {_variable(one)} }} from "{_relative(MAIN, name)}";'
            for one in sorted(from_main)
        ]
        lines += [modules[part].as_function() for part in parts[:-1]]
        # The module itself is not wrapped: it may use `await`, which the wrapping functions cannot.
        lines.append(modules[name].with_imports())
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
        self.exports = [export for _, export in _EXPORT.findall(source)]
        self.body = _EXPORT.sub(r"\1 \2", _IMPORT.sub("", source))
        if other := _OTHER.search(self.body):
            raise ValueError(f"{name}: {other[0]!r} cannot be joined")

    def with_imports(self) -> str:
        """Return the module's body, preceded by constants for the names it imports."""
        constants = "".join(
            f"const {{ {names.replace(' as ', ': ')} }} = {_variable(of)};\n"
            for names, of in self.imports
            if names
        )
        return constants + self.body

    def as_function(self) -> str:
        """Return the module as a function that runs at once and returns its exports."""
        return (
            f"const {_variable(self.name)} = (() => {{\n{self.with_imports()}\n"
            f"return {{ {', '.join(self.exports)} }};\n}})();"
        )


def _in_order(name: str, modules: Mapping[str, _Module]) -> list[str]:
    """Return a module's name after those of all its imports, each once."""
    order: list[str] = []
    in_progress: list[str] = []

    def visit(module: str) -> None:
        if module in order:
            return
        if module in in_progress:
            raise ValueError(f"{module} imports itself by way of {', '.join(in_progress)}")
        in_progress.append(module)
        for _, imported in modules[module].imports:
            visit(imported)
        in_progress.remove(module)
        order.append(module)

    visit(name)
    return order


def _variable(name: str) -> str:
    return re.sub(r"\W", "_", name.removesuffix(".js"))


def _relative(name: str, to: str) -> str:
    path = posixpath.relpath(name, posixpath.dirname(to))
    return path if path.startswith(".") else f"./{path}"
