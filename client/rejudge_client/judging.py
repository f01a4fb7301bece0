"""Judging the documents of one pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast
from uuid import uuid4

from rejudge_client.connection import Connection
from rejudge_client.records import DocumentView, Judged, Narrative

# How many documents are fetched at once, with their texts.
FETCH_SIZE = 10


@dataclass(frozen=True)
class JudgingResult:
    """The number of documents of a pool that were judged now, and that are still open."""

    judged: int
    open: int


@dataclass(frozen=True)
class Case:
    """A document to judge, with its query and narrative."""

    query: str
    narrative: str
    document_view: DocumentView


@dataclass(frozen=True)
class JudgingSession:
    """Your judging of the pool of one pair."""

    rejudge: Connection
    pair: int
    query: str
    # The current narratives.
    narratives: list[Narrative]

    def judge(
        self,
        choose_grade: Callable[[Case], int | None],
        *,
        write_note: Callable[[Case], str] | None = None,
    ) -> JudgingResult:
        """Judge the open documents in your order; see `Project.judge`."""
        session = self.rejudge.get(f"pairs/{self.pair}/judging-session/")
        answered = {int(number) for number in (*session["judged"], *session["flagged"])}
        waiting = [
            one for one in session["order"] if one not in answered or one in session["again"]
        ]
        texts = {one["id"]: one["text"] for one in self.narratives}
        narrative, judged = session["narrative"], 0
        with self.rejudge.bar(len(waiting), f"Pair {self.pair}", "documents") as bar:
            for start in range(0, len(waiting), FETCH_SIZE):
                for document_view in self.document_views(waiting[start : start + FETCH_SIZE]):
                    case = Case(self.query, texts.get(narrative, ""), document_view)
                    relevance = choose_grade(case)
                    if relevance is not None:
                        note = write_note(case) if write_note else ""
                        self.send_judgment(narrative, document_view["number"], relevance, note=note)
                        judged += 1
                    bar.update()
        return JudgingResult(judged, len(waiting) - judged)

    def document_views(self, numbers: list[int]) -> list[DocumentView]:
        """Return documents with their texts, in the form that you see; at most about 20."""
        parameters = {"candidates": ",".join(map(str, numbers))}
        return cast(
            list[DocumentView], self.rejudge.get(f"pairs/{self.pair}/document-views/", parameters)
        )

    def send_judgment(
        self, narrative: int, number: int, relevance: int, *, note: str = ""
    ) -> Judged:
        """Record a grade for a document under the narrative version that was read.

        It takes effect once, however often it is retried. Raises Conflict if the narrative has a
        newer version.
        """
        body = {
            "uuid": str(uuid4()),
            "narrative": narrative,
            "candidate": number,
            "relevance": relevance,
            "note": note,
        }
        return cast(Judged, self.rejudge.post(f"pairs/{self.pair}/judgments/", body))
