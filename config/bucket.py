"""Uploads, exports and releases in a store that speaks S3, where a team sets one."""

from __future__ import annotations

import posixpath
from typing import Any

from storages.backends.s3 import S3Storage

# What people name: two of them may hand in a file of one name at the same moment.
NAMED_BY_PEOPLE = ("uploads/", "runs/")


class Bucket(S3Storage):
    """Django's storage over one bucket.

    A folder of files refuses to make the same file twice; a bucket would let the second overwrite
    the first. So what people name gets some letters of chance, always. All other names are made so
    that only the same bytes ever have them.
    """

    def get_default_settings(self) -> dict[str, Any]:
        return {
            **super().get_default_settings(),
            "file_overwrite": False,
            # Nobody but this class reads the bucket; a name must not decide what its bytes are.
            "object_parameters": {"ContentType": "application/octet-stream"},
            "default_acl": None,
            # What is read comes through a file: beyond this many bytes, one on the disk.
            "max_memory_size": 1_048_576,
        }

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Return a name under which nothing lies, nor will by anybody else's doing."""
        if name.startswith(NAMED_BY_PEOPLE):
            root, extension = posixpath.splitext(name)
            name = self.get_alternative_name(root, extension)
        return str(super().get_available_name(name, max_length))
