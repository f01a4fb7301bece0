"""Static files with names that change when their content does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage

STYLES = "css/all.css"
_pattern, _rewritings = CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns


class StaticStorage(CompressedManifestStaticFilesStorage):
    """Also renames the modules that our modules import, and bundles the style sheets.

    Only our modules: a package's module may import something that only its own build provides.
    """

    # Pages link the bundled style sheet (`base.tags.frame.style_sheets`).
    joins_files = True
    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = ("js/*.js", _rewritings)

    def post_process(
        self, paths: dict[str, tuple[Any, str]], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[str, str | None, Any]]:
        """Bundle the collected style sheets, then rename and compress all files."""
        if STYLES in paths and not dry_run:
            Path(self.path(STYLES)).write_text(join_styles(self.path(STYLES)), encoding="utf-8")
            paths = paths | {STYLES: (self, STYLES)}
        yield from super().post_process(paths, dry_run, **options)


def join_styles(path: str) -> str:
    """Return the style sheet at `path` with all its imports, minified."""
    # Imported here: only a process that collects files needs it.
    from lightningcss import bundle_css

    styles: str = bundle_css(path)
    return styles
