"""Static files with names that change when their content does."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticStorage(CompressedManifestStaticFilesStorage):
    """Also rewrites the imports between our ES modules, so that they find each other under their new names."""

    support_js_module_import_aggregation = True
