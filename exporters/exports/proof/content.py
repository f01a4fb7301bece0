"""What a reader got out of a layout: counts, sums over every field, and the grades."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, field

# The file that says which tool read a folder, and what came of it.
PROOF = "proof.json"

# Grades by side (original, changed, reversed), pair and document.
Qrels = dict[str, dict[str, dict[str, int]]]


@dataclass
class Sum:
    """How many records there are, and a sum over all their fields in which order does not count."""

    count: int = 0
    total: int = 0

    def add(self, *fields: object) -> None:
        """Count one record."""
        text = json.dumps(fields, ensure_ascii=True).encode()
        self.count += 1
        self.total = (self.total + int.from_bytes(hashlib.sha256(text).digest())) % (1 << 256)

    @property
    def digest(self) -> str:
        """The sum in hexadecimal digits."""
        return f"{self.total:064x}"


def _grades() -> Qrels:
    return defaultdict(lambda: defaultdict(dict))


@dataclass
class Content:
    """Everything that one reader got: sums by part (documents, queries, …), and the grades."""

    parts: dict[str, Sum] = field(default_factory=dict)
    qrels: Qrels = field(default_factory=_grades)

    def add(self, part: str, *fields: object) -> None:
        """Count one record of a part."""
        self.parts.setdefault(part, Sum()).add(*fields)

    def grade(self, side: str, pair: str, doc_id: str, relevance: int) -> None:
        """Take one line of the qrels of a side."""
        self.add(f"qrels {side}", pair, doc_id, relevance)
        self.qrels[side][pair][doc_id] = relevance
