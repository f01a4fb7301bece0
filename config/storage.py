"""Static files with names that change when their content does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage

from config.static_bundles import STYLES, join_modules, join_styles

_pattern, _rewritings = CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns
assert _pattern == "*.js"


class StaticStorage(CompressedManifestStaticFilesStorage):
    """Bundles files (`config.static_bundles`) and rewrites imports between our renamed ES modules.

    Only our modules: a package's module may import something that only its own build provides.
    """

    # Pages link the bundled style sheet (`base.tags.frame.style_sheets`).
    joins_files = True
    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = ("js/*.js", _rewritings)

    def post_process(
        self, paths: dict[str, tuple[Any, str]], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[str, str | None, Any]]:
        """Bundle the collected files, then rename and compress them."""
        if not dry_run:
            joined = joined_files(paths)
            for name, content in joined.items():
                Path(self.path(name)).write_text(content, encoding="utf-8")
            paths = paths | {name: (self, name) for name in joined}
        yield from super().post_process(paths, dry_run, **options)


def joined_files(paths: dict[str, tuple[Any, str]]) -> dict[str, str]:
    """Return the content of every bundled file, by name. `paths` maps names to their sources."""

    def source(name: str) -> Path:
        storage, path = paths[name]
        return Path(storage.path(path))

    ours = sorted(name for name in paths if name.startswith("js/") and name.endswith(".js"))
    found = join_modules(lambda name: source(name).read_text(encoding="utf-8"), ours)
    if STYLES in paths:
        found[STYLES] = join_styles(str(source(STYLES)))
    return found
