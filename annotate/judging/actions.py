"""Judging: a grade, a flag, and taking either back.

What someone says of a document under one narrative version is a chain. A new statement ends the one
that stands at its own moment (`superseded_at` or `cleared_at` is the `at` of what came after);
taking one back links its neighbours. So any statement can be taken back at any time, and what it
had replaced stands again, unless something newer stands.
"""

from __future__ import annotations

import uuid as uuids
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypedDict, Unpack

from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.collection import text_versions
from annotate.collection.models import Candidate, Document
from annotate.collection.spans import Span
from annotate.collection.unseen import Unseen, seen
from annotate.judging.judging_session import asked_again, others_unsettled, pool_and_repeats
from annotate.judgments import assignments, judgment_chain
from annotate.judgments.conditions import derived
from annotate.judgments.evidence import checked, is_wanted, lacking
from annotate.judgments.models import Flag, Judgment, Repeat, Verdict
from annotate.judgments.repeats import chance, number, unmasked
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.pairs.pool import judged_narrative, repeat_words
from annotate.projects import access as projects_access
from annotate.projects import chain
from annotate.projects.models import Grade, Membership, Project
from base.errors import NotHere, Refused, Stale, refuse_strange
from base.raw_sql import moment, values_of

MAX_NOTE = 10_000
# A day in milliseconds: longer nobody has one document before their eyes.
MAX_ACTIVE_MS = 86_400_000
# For `instead_of`: the sender does not say what they saw to stand, so nothing is compared with it.
UNSAID = uuids.UUID(int=0)
# As `On.text`: the document had no text when it was read.
NO_TEXT = 0

_KEYS = range(1, 2**63)
_INSTANT = timedelta(microseconds=1)
_ENDED = {Judgment: "superseded_at", Flag: "cleared_at"}


class On(NamedTuple):
    """What something is said of: a document of a pair's pool under a narrative version, by their
    keys.
    """

    pair: InstructionPair
    narrative: int
    candidate: int
    # Whether it has come to this person a second time, unmarked: what is said is a `Repeat`.
    again: bool = False
    # The text version that was on the screen: NO_TEXT for none, None for the newest one.
    text: int | None = None


def on_number(
    pair: InstructionPair, narrative: int, number: int, by: Membership, text: int | None = None
) -> On:
    """The document that the pages of `by` know by this number (see `annotate.judgments.repeats`),
    and the text version they showed.
    """
    spot = unmasked(number, by.pk)
    return On(pair, narrative, spot.candidate, spot.again, text)


class Recorded(NamedTuple):
    """What was recorded, and a sentence that the person must be told although it was; "" for
    none.
    """

    row: Judgment | Flag | Repeat
    warning: str = ""


class Saying(TypedDict, total=False):
    """What may go with a grade or a flag.

    `made_at`: when it was pressed, by the sender's clock. `instead_of`: the UUID of what the sender
    saw to stand there, None for nothing. `late`: it comes from a journal, later than it was said;
    then it is kept also under a narrative that has a newer version, and an assignment that was
    given back meanwhile is taken again.
    """

    uuid: uuids.UUID | None
    made_at: datetime | None
    instead_of: uuids.UUID | None
    late: bool
    now: datetime | None


class Grading(Saying, total=False):
    """What may go with a grade.

    `evidence` and `clauses`: spans of the document's and of the narrative's text. `verdicts`: a
    `Verdict.Answer` by the key of the condition. `pressed`: a `Judgment.Pressed`.
    """

    note: str
    evidence: Iterable[Span]
    clauses: Iterable[Span]
    verdicts: Mapping[int, str] | None
    active_ms: int | None
    pressed: str


def narrative_for(member: Membership, pair: InstructionPair) -> Narrative:
    """Return what is judged under now, to someone who holds an assignment here; else refuse."""
    if not assignments.holds(pair=pair, task=Assignment.Task.JUDGE, by=member):
        raise Refused(assignments.NOT_YOURS)
    narrative = judged_narrative(pair)
    if narrative is None:
        raise Refused(_("There is no narrative to judge under yet."))
    return narrative


def judge(
    *,
    narrative: Narrative,
    candidate: Candidate,
    relevance: int,
    by: Membership,
    **how: Unpack[Grading],
) -> Judgment:
    """Record what `by` says of a candidate under the narrative version they read, and return the
    row: `say_grade` for who has the rows.
    """
    on = On(narrative.pair, narrative.pk, candidate.pk)
    row = say_grade(on=on, relevance=relevance, by=by, **how).row
    assert isinstance(row, Judgment)
    return row


def flag(
    *,
    narrative: Narrative,
    candidate: Candidate,
    kind: str,
    by: Membership,
    words: str = "",
    **how: Unpack[Saying],
) -> Flag:
    """Put a flag on a candidate instead of a grade, and return it: `say_flag` for who has the
    rows.
    """
    on = On(narrative.pair, narrative.pk, candidate.pk)
    row = say_flag(on=on, kind=kind, words=words, by=by, **how).row
    assert isinstance(row, Flag)
    return row


def say_grade(
    *,
    on: On,
    relevance: int,
    by: Membership,
    note: str = "",
    evidence: Iterable[Span] = (),
    clauses: Iterable[Span] = (),
    verdicts: Mapping[int, str] | None = None,
    active_ms: int | None = None,
    pressed: str = "",
    made_at: datetime | None = None,
    uuid: uuids.UUID | None = None,
    instead_of: uuids.UUID | None = UNSAID,
    late: bool = False,
    now: datetime | None = None,
) -> Recorded:
    """Record a grade.

    What they said before gives way, and is kept. The same UUID with the same content again changes
    nothing. Refused: a grade the project does not have, a span outside the text, evidence that the
    project wants and that is missing, conditions that are not answered, or contradicted without a
    note, a UUID used for something else, an assignment that is not theirs, a document that is not
    to be judged (NotHere: not even of this pair), a text version that the document does not have.
    Stale, unless `late`: the narrative or the text has a newer version.
    """
    given = _Given(
        relevance,
        _words(note, _("The note")),
        sorted(evidence),
        sorted(clauses),
        dict(verdicts or {}),
    )
    if pressed and pressed not in Judgment.Pressed.values:
        raise Refused(_("A grade is given with a key or a click."))
    if active_ms is not None and not 0 <= active_ms <= MAX_ACTIVE_MS:
        raise Refused(_("The time spent with a document is at most a day."))
    uuid = uuid or uuids.uuid4()
    with _speaking(on, by, uuid, late=late, now=now) as place:
        if place.sent:
            return _sent_before(on, by, uuid, instead_of, place, given)
        place.refuse_if_closed(by, late=late)
        given = _checked(given, by.project, place)
        if on.again:
            repeat = _repeat(on, by, uuid, made_at, place)
            repeat.relevance, repeat.note = relevance, given.note
            repeat.evidence = [span._asdict() for span in given.evidence]
            repeat.clauses = [span._asdict() for span in given.clauses]
            repeat.verdicts = {str(key): answer for key, answer in sorted(given.verdicts.items())}
            repeat.active_ms, repeat.pressed = active_ms, pressed
            return _said_again(repeat, on, by, instead_of, place)
        row = Judgment(
            uuid=uuid,
            narrative_id=on.narrative,
            candidate_id=on.candidate,
            annotator=by,
            relevance=relevance,
            note=given.note,
            evidence=[span._asdict() for span in given.evidence],
            clauses=[span._asdict() for span in given.clauses],
            active_ms=active_ms,
            pressed=pressed,
            made_at=made_at,
            at=place.now,
            replaces_id=place.judgment.pk if place.judgment else None,
            **place.text_read(),
        )
        place.end_what_stands()
        row.save(force_insert=True)
        if given.verdicts:
            Verdict.objects.bulk_create(
                Verdict(judgment=row, condition_id=condition, answer=answer)
                for condition, answer in sorted(given.verdicts.items())
            )
        place.link(on, by, said=_summed(row, given, on, by, place))
        place.settle_assignment(on, by, settled=True)
    return Recorded(row, place.warning(instead_of, relevance))


def say_flag(
    *,
    on: On,
    kind: str,
    by: Membership,
    words: str = "",
    made_at: datetime | None = None,
    uuid: uuids.UUID | None = None,
    instead_of: uuids.UUID | None = UNSAID,
    late: bool = False,
    now: datetime | None = None,
) -> Recorded:
    """Put a flag (a `Flag.Kind`) on a candidate instead of a grade.

    "Cannot judge" and "problem" need words. What they said before gives way, and is kept. Sending
    it twice, and what is refused: as with `say_grade`.
    """
    words = _words(words, _("What you wrote")).strip()
    if kind not in Flag.Kind.values:
        raise Refused(_("“%(kind)s” is no kind of flag.") % {"kind": kind[:40]})
    if kind != Flag.Kind.LATER and not words:
        raise Refused(_("Say in a few words why, so that the lead can act on it."))
    uuid = uuid or uuids.uuid4()
    with _speaking(on, by, uuid, late=late, now=now) as place:
        if place.sent:
            return _sent_before(on, by, uuid, instead_of, place, (kind, words))
        place.refuse_if_closed(by, late=late)
        if on.again:
            repeat = _repeat(on, by, uuid, made_at, place)
            repeat.flag, repeat.note = kind, words
            return _said_again(repeat, on, by, instead_of, place)
        row = Flag(
            uuid=uuid,
            narrative_id=on.narrative,
            candidate_id=on.candidate,
            annotator=by,
            kind=kind,
            words=words,
            made_at=made_at,
            at=place.now,
            **place.text_read(),
        )
        place.end_what_stands()
        row.save(force_insert=True)
        place.link(on, by)
        place.settle_assignment(on, by, settled=kind != Flag.Kind.LATER)
    return Recorded(row, place.warning(instead_of, kind))


def withdraw(
    *, uuid: uuids.UUID, pair: InstructionPair, by: Membership, now: datetime | None = None
) -> Recorded:
    """Take back the judgment, the flag or the answer to a repeat of `by` that has this UUID.

    Doing it twice changes nothing. Refused: what is not here, or not theirs; what came from a file.
    """
    projects_access.refuse_if_archived(by.project)
    with transaction.atomic():
        assignments.hold(pair=pair, task=Assignment.Task.JUDGE, by=by)
        mine = {"uuid": uuid, "annotator": by, "narrative__pair": pair}
        row: Judgment | Flag | Repeat | None = (
            Judgment.objects.filter(**mine).first()
            or Flag.objects.filter(**mine).first()
            or Repeat.objects.filter(**mine).first()
        )
        if row is None:
            raise Refused(_("What was to be taken back is not here: it was not saved."))
        text_versions.hold(row.candidate_id)
        return _withdraw(row, pair, by, now or timezone.now())


def undo(
    *, narrative: Narrative, by: Membership, now: datetime | None = None
) -> Judgment | Flag | Repeat:
    """Take back the latest judgment, flag or answer to a repeat of `by` that stands under
    `narrative`; return it.

    Again and again, this goes back as far as there is anything. Refused when there is nothing.
    """
    projects_access.refuse_if_archived(by.project)
    with transaction.atomic():
        assignments.hold(pair=narrative.pair, task=Assignment.Task.JUDGE, by=by)
        mine = {"narrative": narrative, "annotator": by}
        judgments = Judgment.objects.current().filter(**mine, source=Judgment.Source.PAGE)
        standing = [
            judgments.order_by("-at", "-pk").first(),
            Flag.objects.current().filter(**mine).order_by("-at", "-pk").first(),
            Repeat.objects.current().filter(**mine).order_by("-at", "-pk").first(),
        ]
        last = max((row for row in standing if row), key=lambda row: row.at, default=None)
        if last is None:
            raise Refused(_("There is nothing to take back here."))
        text_versions.hold(last.candidate_id)
        _withdraw(last, narrative.pair, by, now or timezone.now())
    return last


def check_grade(by: Membership, relevance: int) -> None:
    """Refuse a relevance that is not one of the grades of the project of `by`."""
    grades = Grade.objects.filter(project=by.project_id).values_list("value", flat=True)
    _refuse_unless_among(relevance, sorted(grades))


def grades_that_need_evidence(
    project: Project, prior: int | None, grades: Sequence[int]
) -> list[int]:
    """The grades of a document, which came with the relevance `prior`, that the project takes only
    with a marked passage or clause.
    """
    if project.evidence_rule == Project.EvidenceRule.NONE:
        return []
    return [
        grade
        for grade in grades
        if is_wanted(
            relevance=grade,
            prior=prior,
            relevant_from=project.relevant_from,
            prior_known=project.show_prior or project.judge_scope == Project.Scope.RELEVANT,
        )
    ]


# --- what is said, and whether it may be ----------------------------------------------------------


class _Given(NamedTuple):
    """The content of a judgment: what makes one the same as another."""

    relevance: int
    note: str
    evidence: list[Span]
    clauses: list[Span]
    verdicts: dict[int, str]


def _checked(given: _Given, project: Project, place: _Place) -> _Given:
    """Return a judgment as it is kept, its spans in order, or refuse it."""
    _refuse_unless_among(given.relevance, place.grades)
    if given.evidence and place.document_length is None:
        raise Refused(
            _("The text of this document is not here, so no passage of it can be marked.")
        )
    try:
        given = given._replace(
            evidence=checked(given.evidence, place.document_length or 0),
            clauses=checked(given.clauses, place.narrative_length),
        )
    except ValueError as error:
        raise Refused(str(error)) from error
    _check_conditions(given, project, place)
    of_document = project.evidence_rule == Project.EvidenceRule.DOCUMENT
    lacks = lacking(
        rule=project.evidence_rule,
        wanted=bool(grades_that_need_evidence(project, place.prior, [given.relevance])),
        passages=len(given.evidence),
        clauses=len(given.clauses),
        markable=place.markable if of_document else bool(place.narrative_length),
        note=given.note,
    )
    if lacks:
        raise Refused(lacks)
    return given


def _check_conditions(given: _Given, project: Project, place: _Place) -> None:
    if not given.verdicts.keys() <= place.conditions.keys():
        raise Refused(
            _("A verdict is on a condition that this narrative does not have. Load the page anew.")
        )
    if not set(Verdict.Answer.values).issuperset(given.verdicts.values()):
        raise Refused(_("A condition is met, not met, or one can't tell."))
    if project.condition_rule == Project.ConditionRule.BY_HAND or not place.conditions:
        return
    if len(given.verdicts) < len(place.conditions):
        raise Refused(_("Answer all conditions first; they decide the grade."))
    follows = derived(project.condition_rule, list(given.verdicts.values()), place.grades)
    if follows not in {None, given.relevance} and not given.note.strip():
        raise Refused(
            _(
                "By its conditions this document is a %(follows)s. Say in the note why it is a "
                "%(given)s all the same, then give the grade again."
            )
            % {"follows": follows, "given": given.relevance}
        )


def _refuse_unless_among(relevance: int, grades: Sequence[int]) -> None:
    if relevance not in grades:
        known = ", ".join(map(str, grades))
        shown = str(relevance) if abs(relevance) < 10**9 else _("This number")
        raise Refused(
            _("%(shown)s is not a grade of this project. Its grades are %(known)s.")
            % {"shown": shown, "known": known}
        )


def _words(text: str, what: str) -> str:
    """Return what someone typed with line ends of one kind, or refuse what cannot be kept."""
    if len(text) > MAX_NOTE:
        raise Refused(
            _("%(what)s has %(length)s characters; at most %(most)s are kept.")
            % {"what": what, "length": f"{len(text):,}", "most": f"{MAX_NOTE:,}"}
        )
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    refuse_strange(text)
    return text


# --- where it is said -----------------------------------------------------------------------------


class _Standing(NamedTuple):
    """A judgment or flag that stands."""

    pk: int
    uuid: uuids.UUID
    at: datetime
    says: int | str


@dataclass
class _Place:
    """What the database knows of a document, a narrative version and a person, read under the lock
    on their assignment.
    """

    now: datetime
    again: bool
    side: str
    version: int
    narrative_length: int
    stale: bool
    to_judge: bool
    prior: int | None
    doc_id: str
    # The text version that was read, None where there was no text, and since when there is a newer
    # one.
    text_version: int | None
    text_replaced_at: datetime | None
    # Of the text that was read.
    document_length: int | None
    markable: bool
    grades: list[int]
    # Their numbers by their keys.
    conditions: dict[int, int]
    # What stands of the document; where it has come again, what was said of it then.
    judgment: _Standing | None
    flag: _Standing | None
    # The current judgment of a document that has come again.
    first: int | None
    # Whether a lead wants that judgment looked at again.
    asked: bool
    # Whether the UUID was used before.
    sent: bool
    done: bool
    others_left: bool
    # The end of the assignment's chain of sums, which the lock keeps as it is.
    end: chain.End

    def refuse_if_closed(self, by: Membership, *, late: bool) -> None:
        """Refuse where nothing can be said now."""
        projects_access.refuse_if_archived(by.project)
        if self.stale and not late:
            raise Stale(
                _("The narrative changed while you were reading. Read it again, then judge.")
            )
        if self.text_replaced_at is not None and not late:
            raise Stale(
                _("The document got another text while you were reading. Read it, then judge.")
            )
        if not self.to_judge:
            raise Refused(_("This document is not among those to be judged for this query."))

    def text_read(self) -> dict[str, Any]:
        """The fields of `ReadsText` of what is said here."""
        return {"text_version": self.text_version, "text_replaced_at": self.text_replaced_at}

    @property
    def is_history(self) -> bool:
        """Whether the narrative or the text that was read has a newer version."""
        return self.stale or self.text_replaced_at is not None

    def end_what_stands(self) -> None:
        """Let what was said before give way."""
        if self.again:
            ended = [standing.pk for standing in (self.judgment, self.flag) if standing]
            if ended:
                Repeat.objects.filter(pk__in=ended).update(superseded_at=self.now)
            return
        if self.judgment:
            Judgment.objects.filter(pk=self.judgment.pk).update(superseded_at=self.now)
        if self.flag:
            Flag.objects.filter(pk=self.flag.pk).update(cleared_at=self.now)

    def link(self, on: On, by: Membership, *, said: chain.Event | None = None) -> None:
        """Put a new judgment, and that it ended what stood, into the assignment's chain: one
        statement.

        What is said of a document that has come again is no judgment, and has no link.
        """
        events = [said] if said else []
        if self.judgment and not self.again:
            events.append(judgment_chain.event_of_end(self.judgment.uuid, self.now))
        if events:
            of = chain.of_assignment(on.pair.pair_id, by.name)
            chain.append(by.project_id, of, events, after=self.end)

    def settle_assignment(self, on: On, by: Membership, *, settled: bool) -> None:
        """Record whether anything is left to do in the assignment. What is said under an older
        version does not change that.
        """
        done = settled and not self.others_left
        if not self.is_history and done != self.done:
            assignments.end(
                pair=on.pair, task=Assignment.Task.JUDGE, by=by, at=self.now if done else None
            )

    def warning(self, instead_of: uuids.UUID | None, says: int | str) -> str:
        """What the person must be told although what they said was recorded."""
        return _warning(self, self.judgment or self.flag, instead_of, says)


def _warning(
    place: _Place,
    before: _Standing | None,
    instead_of: uuids.UUID | None,
    says: int | str,
) -> str:
    """`before`: what gave way."""
    sentences = []
    if place.stale:
        sentences.append(
            _(
                "The narrative has changed since. This is kept under version %(version)d, which "
                "you read; read the new one and judge again."
            )
            % {"version": place.version}
        )
    if place.text_replaced_at is not None:
        sentences.append(
            _(
                "The document has got another text since. This is kept under version %(version)d "
                "of its text, which you read; read the new one and judge again."
            )
            % {"version": place.text_version or 1}
        )
    known = instead_of == UNSAID or before is None or before.uuid == instead_of
    if before is not None and not known and before.says != says:
        sentences.append(
            _(
                "In another tab or place you had said something else of this document meanwhile. "
                "Both are kept; this one counts."
            )
        )
    return " ".join(sentences)


@contextmanager
def _speaking(
    on: On, by: Membership, uuid: uuids.UUID, *, late: bool, now: datetime | None
) -> Iterator[_Place]:
    """One transaction in which `by` says something, under the lock on their assignment: it keeps
    one person's tabs apart.
    """
    if on.narrative not in _KEYS or on.candidate not in _KEYS:
        raise NotHere(_not_here())
    now = now or timezone.now()
    try:
        with transaction.atomic():
            if not assignments.work_in(pair=on.pair, task=Assignment.Task.JUDGE, by=by, now=now):
                if not late:
                    raise Refused(assignments.NOT_YOURS)
                assignments.take(
                    pair=on.pair, task=Assignment.Task.JUDGE, by=by, become_blind=True, now=now
                )
                assignments.work_in(pair=on.pair, task=Assignment.Task.JUDGE, by=by, now=now)
            yield _place(on, by, uuid, now)
    except IntegrityError as error:
        # Under another lock somebody else used the UUID a moment ago.
        if any(model.objects.filter(uuid=uuid).exists() for model in (Judgment, Flag, Repeat)):
            raise Refused(_used_before()) from error
        raise


def _place(on: On, by: Membership, uuid: uuids.UUID, now: datetime) -> _Place:
    """Look everything up that decides whether something may be said: one query, not many, for this
    is what every key press waits for.
    """
    project = by.project
    listed = "string_agg(%s::text, ',')" if _is_postgresql() else "group_concat(%s)"
    # What is said of a repeat stands in one table, and its first judgment beside it.
    says, flags, cleared, first, asked = (
        ("repeat", "repeat", "superseded_at", "o.id", "0")
        if on.again
        else ("judgment", "flag", "cleared_at", "NULL", asked_again("j"))
    )
    # The names in here are our own tables, and what `pool` and this function write.
    sql = f"""
        SELECT v.side, v.version, LENGTH(v.text),
            EXISTS (
                SELECT 1 FROM annotate_narrative w
                WHERE w.pair_id = v.pair_id AND w.side = v.side AND w.version > v.version
            ),
            c.prior_relevance, d.doc_id, d.text_version, t.version, t.length, t.markup,
            (
                SELECT n.created_at FROM annotate_documenttext n
                WHERE n.document_id = d.id AND n.version = {_NEXT_TEXT}
            ),
            (
                SELECT {listed % "g.value"} FROM annotate_grade g
                WHERE g.project_id = %(project)s
            ),
            (
                SELECT {listed % "(k.id || ':' || k.number)"} FROM annotate_condition k
                WHERE k.narrative_id = v.id
            ),
            j.id, j.uuid, j.at, j.relevance, f.id, f.uuid, f.at, f.{"flag" if on.again else "kind"},
            {asked}, {first},
            EXISTS (SELECT 1 FROM annotate_judgment u WHERE u.uuid = %(uuid)s)
                OR EXISTS (SELECT 1 FROM annotate_flag u WHERE u.uuid = %(uuid)s)
                OR EXISTS (SELECT 1 FROM annotate_repeat u WHERE u.uuid = %(uuid)s),
            (
                SELECT s.done_at IS NOT NULL FROM annotate_assignment s
                WHERE s.pair_id = v.pair_id AND s.task = 'judge' AND s.member_id = %(member)s
            ),
            {others_unsettled(project, again=on.again)},
            {pool_and_repeats(project, again=on.again)},
            {_LAST_LINK % "number"}, {_LAST_LINK % "sum"}
        FROM annotate_narrative v
        JOIN annotate_candidate c ON c.id = %(candidate)s AND c.query_id = %(query)s
        JOIN annotate_document d ON d.id = c.document_id
        LEFT JOIN annotate_documenttext t ON t.document_id = d.id AND t.version = {_TEXT_READ}
            AND t.version <= d.text_version
        LEFT JOIN annotate_{says} j ON j.narrative_id = v.id AND j.candidate_id = c.id
            AND j.annotator_id = %(member)s AND j.superseded_at IS NULL AND {_same_text("j")}
            {"AND j.flag = ''" if on.again else ""}
        LEFT JOIN annotate_{flags} f ON f.narrative_id = v.id AND f.candidate_id = c.id
            AND f.annotator_id = %(member)s AND f.{cleared} IS NULL AND {_same_text("f")}
            {"AND f.flag <> ''" if on.again else ""}
        {_FIRST if on.again else ""}
        WHERE v.id = %(narrative)s AND v.pair_id = %(pair)s
            AND {seen(Unseen.Kind.CANDIDATE, "c.id")}
        {text_versions.SHARE_LOCK if _is_postgresql() else ""}
    """  # noqa: S608
    links = chain.of_assignment(on.pair.pair_id, by.name)
    row = values_of(
        sql,
        {
            "project": project.pk,
            "relevant_from": project.relevant_from,
            "query": on.pair.query_id,
            "pair": on.pair.pk,
            "narrative": on.narrative,
            "candidate": on.candidate,
            "text": on.text,
            "member": by.pk,
            "uuid": uuid if _is_postgresql() else uuid.hex,
            "chain": links if _is_postgresql() else links.hex,
        },
    )
    if row is None:
        raise NotHere(_not_here())
    side, version, length, stale, prior, doc_id, newest, *rest = row
    text, document_length, markup, replaced_at, grades, conditions, *rest = rest
    if on.text and text is None:
        raise Refused(text_versions.no_version(on.text, newest))
    judgment, flagged = _standing(rest[0:4]), _standing(rest[4:8])
    for standing in (judgment, flagged):
        if standing:
            # Whatever the clocks say: what comes after is later.
            now = max(now, standing.at + _INSTANT)
    return _Place(
        now=now,
        again=on.again,
        side=side,
        version=version,
        narrative_length=length,
        stale=bool(stale),
        to_judge=project.judge_scope != Project.Scope.RELEVANT
        or (prior is not None and prior >= project.relevant_from),
        prior=prior,
        doc_id=doc_id,
        text_version=text,
        text_replaced_at=moment(replaced_at),
        document_length=document_length,
        markable=markup == Document.Markup.PLAIN and bool(document_length),
        grades=sorted(map(int, (grades or "").split(",") if grades else ())),
        conditions=dict(_numbers(conditions)),
        judgment=judgment,
        flag=flagged,
        asked=bool(rest[8]),
        first=rest[9],
        sent=bool(rest[10]),
        done=bool(rest[11]),
        others_left=bool(rest[12]) or _repeats_left(on, by, side, version, rest[13], rest[14]),
        end=chain.End(rest[15], bytes(rest[16])) if rest[15] else chain.End(),
    )


# The link after which the next one of an assignment comes.
_LAST_LINK = """(
    SELECT l.%s FROM annotate_link l WHERE l.project_id = %%(project)s AND l.chain = %%(chain)s
    ORDER BY l.number DESC LIMIT 1
)"""


_FIRST = """
    LEFT JOIN annotate_judgment o ON o.narrative_id = v.id AND o.candidate_id = c.id
        AND o.annotator_id = %(member)s AND o.superseded_at IS NULL
        AND o.text_replaced_at IS NULL
"""

# The text version that was read: the one that was sent, else the newest; 0 where there was no text.
_TEXT_READ = "COALESCE(%(text)s, d.text_version, 0)"
# The version that replaced it: the first text of a document replaces nothing.
_NEXT_TEXT = f"CASE WHEN {_TEXT_READ} < 1 THEN 2 ELSE {_TEXT_READ} + 1 END"


def _same_text(row: str) -> str:
    """SQL that says whether a row was said of the text that was read."""
    return (
        f"(COALESCE({row}.text_version, 1) = CASE WHEN {_TEXT_READ} < 1 THEN 1 "
        f"ELSE {_TEXT_READ} END)"
    )


def _repeats_left(on: On, by: Membership, side: str, version: int, size: int, settled: int) -> bool:
    """Whether repeats are left other than that of the document, if it has come again."""
    percent = by.project.repeat_percent
    if not percent:
        return False
    wanted = number(size, percent, chance(repeat_words(on.pair, side, version, by)))
    return settled + on.again < wanted


def _numbers(conditions: str | None) -> Iterator[tuple[int, int]]:
    """Read "17:1,18:2": keys of conditions and their numbers."""
    for one in conditions.split(",") if conditions else ():
        key, _colon, number = one.partition(":")
        yield int(key), int(number)


def _standing(columns: Sequence[Any]) -> _Standing | None:
    pk, uuid, at, says = columns
    if pk is None:
        return None
    # SQLite keeps a UUID as its digits.
    uuid = uuid if isinstance(uuid, uuids.UUID) else uuids.UUID(uuid)
    stands_since = moment(at)
    assert stands_since is not None
    return _Standing(pk, uuid, stands_since, says)


def _not_here() -> str:
    return _(
        "This document is not among those to be judged for this query, or the narrative is not "
        "one of its own."
    )


def _is_postgresql() -> bool:
    return connection.vendor == "postgresql"


def _summed(row: Judgment, given: _Given, on: On, by: Membership, place: _Place) -> chain.Event:
    """A judgment as its assignment's chain keeps it."""
    numbered = {place.conditions[key]: answer for key, answer in given.verdicts.items()}
    what = judgment_chain.content(
        pair_id=on.pair.pair_id,
        side=place.side,
        version=place.version,
        doc_id=place.doc_id,
        annotator=by.name,
        relevance=row.relevance,
        note=row.note,
        evidence=judgment_chain.spans(given.evidence),
        clauses=judgment_chain.spans(given.clauses),
        verdicts=judgment_chain.answers(numbered),
        active_ms=row.active_ms,
        pressed=row.pressed,
        source=row.source,
        at=row.at,
        made_at=row.made_at,
        text_version=row.text_version,
    )
    return chain.said(judgment_chain.KIND, row.uuid, what)


# --- what came again ------------------------------------------------------------------------------


def _repeat(
    on: On, by: Membership, uuid: uuids.UUID, made_at: datetime | None, place: _Place
) -> Repeat:
    return Repeat(
        uuid=uuid,
        narrative_id=on.narrative,
        candidate_id=on.candidate,
        annotator=by,
        first_id=place.first,
        made_at=made_at,
        at=place.now,
        **place.text_read(),
    )


def _said_again(
    repeat: Repeat, on: On, by: Membership, instead_of: uuids.UUID | None, place: _Place
) -> Recorded:
    place.end_what_stands()
    repeat.save(force_insert=True)
    place.settle_assignment(on, by, settled=repeat.flag != Flag.Kind.LATER)
    return Recorded(repeat, place.warning(instead_of, _says(repeat)))


def _withdraw_repeat(row: Repeat, pair: InstructionPair, by: Membership, now: datetime) -> Recorded:
    """Take back what was said of a document that had come again; what it had replaced stands
    again, unless something newer does.
    """
    if row.withdrawn_at is not None:
        return Recorded(row)
    ended = row.superseded_at
    moment = max(now, row.at + _INSTANT, *([ended + _INSTANT] if ended else []))
    Repeat.objects.filter(pk=row.pk).update(superseded_at=moment, withdrawn_at=moment)
    if ended is not None:
        return Recorded(row, _newer_stands())
    before = Repeat.objects.filter(_chain(row), withdrawn_at=None).order_by("-at").first()
    if before is not None:
        Repeat.objects.filter(pk=before.pk).update(superseded_at=None)
    _settle(row, pair, by, moment)
    return Recorded(row)


def _newer_stands() -> str:
    return _("You had said something newer of this document meanwhile. It stands.")


# --- what was said before -------------------------------------------------------------------------


def _sent_before(
    on: On,
    by: Membership,
    uuid: uuids.UUID,
    instead_of: uuids.UUID | None,
    place: _Place,
    content: _Given | tuple[str, str],
) -> Recorded:
    """Return the statement that was sent before with this UUID, if it says the same; refuse a UUID
    used for something else.
    """
    where = {
        "uuid": uuid,
        "narrative": on.narrative,
        "candidate": on.candidate,
        "annotator": by,
    }
    row: Judgment | Flag | Repeat | None
    says: int | str
    if on.again:
        row = Repeat.objects.filter(**where).first()
        kept = _with_checked_spans(content) if isinstance(content, _Given) else content
        same = row is not None and _content(row) == kept
        says = content[0]
    elif isinstance(content, _Given):
        row = Judgment.objects.filter(**where).first()
        same = row is not None and _content(row) == _with_checked_spans(content)
        says = content.relevance
    else:
        row = Flag.objects.filter(**where).first()
        same = row is not None and (row.kind, row.words) == content
        says = content[0]
    if row is None or not same:
        raise Refused(_used_before())
    before = _repeat_before(row) if isinstance(row, Repeat) else _before(row)
    return Recorded(
        row,
        _warning(
            place,
            _Standing(before.pk, before.uuid, before.at, _says(before)) if before else None,
            instead_of,
            says,
        ),
    )


def _content(row: Judgment | Repeat) -> _Given | tuple[str, str]:
    if row.relevance is None:
        return (row.flag, row.note)
    return _Given(
        row.relevance,
        row.note,
        [Span(span["start"], span["end"]) for span in row.evidence],
        [Span(span["start"], span["end"]) for span in row.clauses],
        row.answers(),
    )


def _with_checked_spans(given: _Given) -> _Given:
    """A judgment with its spans as they would have been kept, if they would."""
    try:
        return given._replace(
            evidence=checked(given.evidence, _KEYS.stop), clauses=checked(given.clauses, _KEYS.stop)
        )
    except ValueError:
        return given


def _used_before() -> str:
    return _("This was already sent with other content. Load the page anew and judge again.")


def _says(row: Judgment | Flag | Repeat) -> int | str:
    if isinstance(row, Flag):
        return row.kind
    return row.flag if row.relevance is None else row.relevance


def _ended(row: Judgment | Flag) -> datetime | None:
    return row.superseded_at if isinstance(row, Judgment) else row.cleared_at


def _end(row: Judgment | Flag, at: datetime | None) -> None:
    type(row)._default_manager.filter(pk=row.pk).update(**{_ENDED[type(row)]: at})


def _chain(row: Judgment | Flag | Repeat) -> Q:
    """What all that one person said of one document under one narrative version and one text has
    in common.
    """
    same_text = Q(text_version=row.text_version or 1)
    if (row.text_version or 1) == 1:
        same_text |= Q(text_version=None)
    return same_text & Q(
        narrative=row.narrative_id, candidate=row.candidate_id, annotator=row.annotator_id
    )


def _before(row: Judgment | Flag) -> Judgment | Flag | None:
    """What gave way to a statement."""
    judged = Q(superseded_at=row.at)
    if isinstance(row, Judgment) and row.replaces_id is not None:
        judged |= Q(pk=row.replaces_id)
    found: list[Judgment | Flag] = [
        *Judgment.objects.filter(judged, _chain(row), withdrawn_at=None),
        *Flag.objects.filter(_chain(row), cleared_at=row.at),
    ]
    return max((one for one in found if one != row), key=lambda one: one.at, default=None)


def _repeat_before(row: Repeat) -> Repeat | None:
    """What an answer to a repeat gave way to it."""
    earlier = Repeat.objects.filter(_chain(row), withdrawn_at=None, at__lt=row.at)
    return earlier.order_by("-at").first()


def _behind(row: Judgment | Flag) -> Judgment | Flag | None:
    """What a statement gave way to; None for one that stands, or was taken back."""
    ended = _ended(row)
    if ended is None:
        return None
    of_it = _chain(row) & Q(at=ended)
    return Judgment.objects.filter(of_it).first() or Flag.objects.filter(of_it).first()


def _withdraw(
    row: Judgment | Flag | Repeat, pair: InstructionPair, by: Membership, now: datetime
) -> Recorded:
    """Take a statement out of its chain, under the lock on the assignment."""
    if isinstance(row, Repeat):
        return _withdraw_repeat(row, pair, by, now)
    ended, behind = _ended(row), _behind(row)
    if isinstance(row, Judgment):
        if row.withdrawn_at is not None:
            return Recorded(row)
        if row.source != Judgment.Source.PAGE:
            raise Refused(_("This came from a file, and cannot be taken back here."))
    elif ended is not None and behind is None:
        return Recorded(row)
    before = _before(row)
    moment = max(now, row.at + _INSTANT, *([ended + _INSTANT] if ended else []))
    if isinstance(row, Judgment):
        # It gives up the place it took as well: another one may take it.
        replaced = row.replaces_id
        Judgment.objects.filter(pk=row.pk).update(
            superseded_at=moment, withdrawn_at=moment, replaces=None
        )
        Judgment.objects.filter(replaces=row.pk).update(replaces=replaced)
    else:
        _end(row, moment)
    if ended is not None:
        if before is not None:
            _end(before, ended)
        _link_ends([row, before], pair, by)
        return Recorded(row, _newer_stands())
    stands = (
        Judgment.objects.filter(_chain(row), superseded_at=None).exists()
        or Flag.objects.filter(_chain(row), cleared_at=None).exists()
    )
    if before is not None and not stands:
        _end(before, None)
    _link_ends([row, before], pair, by)
    _settle(row, pair, by, moment)
    return Recorded(row)


def _link_ends(
    rows: Iterable[Judgment | Flag | None], pair: InstructionPair, by: Membership
) -> None:
    """Put into the assignment's chain since when these no longer stand, or that they stand
    again.
    """
    changed = {f"k{row.pk}": row.pk for row in rows if isinstance(row, Judgment)}
    if not changed:
        return
    among = ", ".join(f"%({name})s" for name in changed)
    found = list(judgment_chain.rows(f"j.id IN ({among})", changed, order="j.id", texts=True))
    links = chain.of_assignment(pair.pair_id, by.name)
    # The assignment's lock keeps others from its chain.
    end = chain.end_of(by.project_id, links)
    chain.append(by.project_id, links, judgment_chain.events_of_ended(found), after=end)


def _settle(
    row: Judgment | Flag | Repeat, pair: InstructionPair, by: Membership, now: datetime
) -> None:
    """Record anew whether anything is left to do in the assignment, after a statement was taken
    back.
    """
    text = NO_TEXT if row.text_version is None else row.text_version
    on = On(pair, row.narrative_id, row.candidate_id, isinstance(row, Repeat), text)
    place = _place(on, by, row.uuid, now)
    settled = (place.judgment is not None and not place.asked) or (
        place.flag is not None and place.flag.says != Flag.Kind.LATER
    )
    place.settle_assignment(on, by, settled=settled)
