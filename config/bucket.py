"""Storage of uploads, exports and releases in an S3-compatible bucket, if one is set."""

from __future__ import annotations

import posixpath
from typing import Any

from storages.backends.s3 import S3Storage

# Folders whose file names people choose: two of them may upload the same name at the same time.
NAMED_BY_PEOPLE = ("uploads/", "runs/")


class Bucket(S3Storage):
    """Django's storage in one bucket.

    A file system refuses to create the same file twice; a bucket would let the second overwrite
    the first. So names that people choose always get a random suffix. All other names are built so
    that only the same bytes ever have the same name.
    """

    def get_default_settings(self) -> dict[str, Any]:
        return {
            **super().get_default_settings(),
            "file_overwrite": False,
            # Only this class reads the bucket; the content type must not follow from the name.
            "object_parameters": {"ContentType": "application/octet-stream"},
            "default_acl": None,
            # Files are read through a buffer, which moves to the disk beyond this many bytes.
            "max_memory_size": 1_048_576,
        }

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Return a name that is free and that no concurrent upload will take."""
        if name.startswith(NAMED_BY_PEOPLE):
            root, extension = posixpath.splitext(name)
            name = self.get_alternative_name(root, extension)
        return str(super().get_available_name(name, max_length))
