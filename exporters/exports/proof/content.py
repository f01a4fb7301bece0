"""The content that a tool read from a layout: counts, checksums over every field, and grades."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, field

# The file with the results of each tool that read a folder.
PROOF = "proof.json"

# Grades by side (original, changed, reversed), pair and document.
Qrels = dict[str, dict[str, dict[str, int]]]


@dataclass
class Checksum:
    """The number of records, and a checksum over all their fields that ignores their order."""

    count: int = 0
    total: int = 0

    def add(self, *fields: object) -> None:
        """Count one record."""
        text = json.dumps(fields, ensure_ascii=True).encode()
        self.count += 1
        self.total = (self.total + int.from_bytes(hashlib.sha256(text).digest())) % (1 << 256)

    @property
    def digest(self) -> str:
        """Return the checksum in hexadecimal digits."""
        return f"{self.total:064x}"


def _grades() -> Qrels:
    return defaultdict(lambda: defaultdict(dict))


@dataclass
class Content:
    """Everything that one tool read: checksums by part (documents, queries, …), and grades."""

    parts: dict[str, Checksum] = field(default_factory=dict)
    qrels: Qrels = field(default_factory=_grades)

    def add(self, part: str, *fields: object) -> None:
        """Count one record of a part."""
        self.parts.setdefault(part, Checksum()).add(*fields)

    def add_grade(self, side: str, pair: str, doc_id: str, relevance: int) -> None:
        """Add one line of the qrels of a side."""
        self.add(f"qrels {side}", pair, doc_id, relevance)
        self.qrels[side][pair][doc_id] = relevance
