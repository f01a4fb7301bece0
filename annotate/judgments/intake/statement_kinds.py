"""The stages of statements, and the three kinds of statements in the database."""

from __future__ import annotations

import uuid
from typing import Any, NamedTuple

from django.db import models
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from annotate.collection.intake.arrivals import StagedLine
from annotate.collection.models import Candidate
from annotate.judgments.models import Adjudication, Statement, Verdict
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Membership
from base.stages import StagedRow, key_of

# The namespace of derived UUIDs: an arbitrary constant that must not change.
NAMESPACE = uuid.UUID("7d6e2f0a-6c0b-5b43-9d55-0d5a3a2f6c41")


class StagedStatement(StagedLine):
    """A judgment, a flag or an adjudication."""

    what = models.TextField()
    query_id = models.TextField(null=True)
    pair_id = models.TextField(null=True)
    side = models.TextField(null=True)
    version = models.BigIntegerField(null=True)
    doc_id = models.TextField()
    text_version = models.BigIntegerField(null=True)
    at = models.DateTimeField(null=True)
    rater = models.TextField()
    machine = models.BigIntegerField()
    # Whether the UUID came with the record.
    given = models.BigIntegerField()
    evidence = models.JSONField()
    clauses = models.JSONField()
    # The end of the last span of each; 0 if there is none.
    evidence_end = models.BigIntegerField()
    clauses_end = models.BigIntegerField()
    relevance = models.BigIntegerField(null=True)
    words = models.TextField()
    # The kind of a flag, or the cause of an adjudication.
    kind = models.TextField()
    uuid = models.UUIDField(null=True)
    # All of them in one text, for comparison with those of another line.
    verdicts = models.TextField()
    active_ms = models.BigIntegerField(null=True)
    pressed = models.TextField()
    made_at = models.DateTimeField(null=True)
    # When it ended: superseded, cleared or withdrawn.
    ended_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_by = models.TextField(null=True)
    # 1 if its relevance is the value that means no grade.
    ungraded = models.BigIntegerField()
    # Found while writing: the rows it refers to, ...
    instruction = key_of(InstructionPair, "pair")
    candidate = key_of(Candidate, "candidate")
    member = key_of(Membership, "member")
    narrative = key_of(Narrative, "narrative")
    # ... the text version it is about, and when a newer one replaced that, ...
    text_read = models.BigIntegerField(null=True, db_default=None)
    text_replaced = models.DateTimeField(null=True, db_default=None)
    # ... the key of the equal row, if there is one, and of the one it supersedes.
    known = models.BigIntegerField(null=True, db_default=None)
    superseded = models.BigIntegerField(null=True, db_default=None)
    # 1 changed, 2 new.
    state = models.IntegerField(db_default=0)

    class Meta(StagedRow.Meta):
        db_table = "stage_statements"


# The fields of their content, and the value of each if a record has none.
CONTENT: dict[str, Any] = {
    "relevance": None,
    "words": "",
    "kind": "",
    "uuid": None,
    "verdicts": "",
    "active_ms": None,
    "pressed": "",
    "made_at": None,
    "ended_at": None,
    "withdrawn_at": None,
    "withdrawn_by": None,
    "ungraded": 0,
}


class StagedVerdict(StagedLine):
    """A verdict on a condition; `statement` is the number of its judgment."""

    statement = models.BigIntegerField()
    number = models.BigIntegerField()
    answer = models.TextField()

    class Meta(StagedRow.Meta):
        db_table = "stage_verdicts"


class RenamedClaim(StagedLine):
    """The other UUID of a claim; `statement` is its number."""

    statement = models.BigIntegerField()
    uuid = models.UUIDField()

    class Meta(StagedRow.Meta):
        db_table = "stage_renamed"


class StatementKind(NamedTuple):
    """A kind of statement: its name in the stage, its model, the fields of its author and end."""

    what: str
    model: type[Statement] | type[Adjudication]
    author: str
    ended: str
    # A condition for the rows that a staged statement on the same document supersedes.
    excludes: dict[str, Any]

    @property
    def table(self) -> str:
        """The table of its rows."""
        return self.model._meta.db_table

    @property
    def staged(self) -> QuerySet[StagedStatement]:
        """The staged rows of this kind."""
        return StagedStatement.objects.filter(what=self.what)

    @property
    def where(self) -> str:
        """SQL that is true for staged rows of this kind."""
        return f"what = '{self.what}'"


_SAME_PERSON = {"annotator": OuterRef("member"), "repeat": False}
JUDGMENT = StatementKind("judgment", Statement, "annotator", "ended_at", _SAME_PERSON)
FLAG = StatementKind("flag", Statement, "annotator", "ended_at", _SAME_PERSON)
ADJUDICATION = StatementKind("adjudication", Adjudication, "by", "withdrawn_at", {})

# The fields that group statements on the same target, which exclude each other.
KEY = (
    *(Coalesce(name, Value("")) for name in ("query_id", "pair_id", "side")),
    *(Coalesce("version", 0), F("doc_id"), Coalesce("text_version", 0), F("rater")),
)


def with_text_named(stored: QuerySet[Any]) -> Any:
    """Keep rows with the text version that the staged statement names, or all if it names none."""
    named = Coalesce(OuterRef("text_version"), F("text_version"), 1)
    return stored.annotate(text=Coalesce("text_version", 1)).filter(text=named)


def has_other_verdicts(stored: str) -> Q:
    """Return whether the file has a verdict that the judgment, a field of a key, does not have."""
    same = Verdict.objects.filter(
        statement=OuterRef(OuterRef(stored)),
        condition__number=OuterRef("number"),
        answer=OuterRef("answer"),
    )
    return Q(Exists(StagedVerdict.objects.filter(~Exists(same), statement=OuterRef("n"))))
