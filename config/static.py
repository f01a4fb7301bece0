"""Static files: collected only if one has changed; their names change with their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from whitenoise.storage import CompressedManifestStaticFilesStorage

STYLES = "css/all.css"
_pattern, _rewritings = CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns


def collect_static() -> bool:
    """Collect, compress and rename the static files, unless these very files were collected before.

    Returns whether anything was done.
    """
    stamp = _stamp()
    fingerprint = _fingerprint()
    if stamp.exists() and stamp.read_text(encoding="ascii") == fingerprint:
        return False
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(fingerprint, encoding="ascii")
    return True


def is_static_collected() -> bool:
    """Return whether static files were ever collected on this machine: pages need them."""
    return _stamp().exists()


def _stamp() -> Path:
    return Path(settings.STATIC_ROOT) / ".collected"


def _fingerprint() -> str:
    """Return a digest of every file's name, size and modification time."""
    digest = hashlib.sha256(django.get_version().encode())
    for finder in get_finders():
        for name, storage in sorted(finder.list([]), key=lambda found: found[0]):
            status = Path(storage.path(name)).stat()
            digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


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
