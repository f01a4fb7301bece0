"""Static files with names that change when their content does."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage

_pattern, _rewritings = CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns
assert _pattern == "*.js"


class StaticStorage(CompressedManifestStaticFilesStorage):
    """Also rewrites the imports between our ES modules, so that they find each other renamed.

    Only ours: a package's module may import what only its own build would provide.
    """

    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = ("js/*.js", _rewritings)
