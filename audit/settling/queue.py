"""The queue of disagreements: one list over judgments, verdicts, reviews and checks, in pages that
a key opens.

What is in it is said by `audit.settling.disagreement_queries`, kind by kind; here the kinds are
put in one order. No document's text is read here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

from django.db.models import Case, Count, IntegerField, Q, Value, When, Window

from annotate.collection.models import Candidate
from annotate.judgments.models import (
    Adjudication,
    ConditionAdjudication,
    Judgment,
    RejudgeRequest,
    Verdict,
)
from annotate.pairs.models import Condition, Narrative
from annotate.projects.models import Membership, Project
from audit.checks.models import Check, SampleItem
from audit.reviews.models import Decision, Review
from audit.settling.disagreement_queries import (
    DisagreementKey,
    Kind,
    Order,
    Reader,
    Source,
    Wanted,
    source,
)
from audit.settling.models import Reveal
from audit.settling.pseudonyms import person, places
from base.prepared import Built, counted, prepared

__all__ = [
    "PAGE_SIZE",
    "DisagreementKey",
    "Item",
    "Key",
    "Kind",
    "Order",
    "Page",
    "Voice",
    "Wanted",
    "count",
    "counts",
    "following",
    "is_open",
    "key_of",
    "page",
    "reveal_of",
]

PAGE_SIZE = 50
# Narratives in which the next one is looked for before all are.
_NEAR = 5
# Databases count rows in 64 bits.
_TOO_LARGE = 2**63


class Key(NamedTuple):
    """The place of one disagreement in the list. What is not ordered by may be 0."""

    effect: int
    distance: int
    at: datetime
    kind: Kind
    narrative: int
    candidate: int
    part: int

    def __str__(self) -> str:
        numbers = (self.effect, self.distance), (self.narrative, self.candidate, self.part)
        return "~".join(
            (*map(str, numbers[0]), self.at.isoformat(), self.kind.value, *map(str, numbers[1]))
        )

    @property
    def disagreement_key(self) -> DisagreementKey:
        """What it is the place of."""
        return DisagreementKey(self.kind, self.narrative, self.candidate, self.part)

    @classmethod
    def parse(cls, text: str) -> Key:
        """Read a key as `str` writes it, or raise ValueError."""
        effect, distance, at, kind, narrative, candidate, part = text.split("~")
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or not 1970 <= moment.year < 9999:
            raise ValueError(f"{at!r} is no moment of this list")

        def number(given: str) -> int:
            if not 0 <= int(given) < _TOO_LARGE:
                raise ValueError(f"{given!r} is a number that no row has")
            return int(given)

        place = number(effect), number(distance), moment, Kind(kind)
        return cls(*place, number(narrative), number(candidate), number(part))


class Voice(NamedTuple):
    """What one person said, in a list: the relevance, or the answer to a condition, or on how many
    criteria they reject. `name` is what they are called there.
    """

    name: str
    relevance: int | None = None
    answer: str = ""
    rejects: int | None = None


@dataclass
class Item:
    """One disagreement as the list shows it."""

    key: Key
    narrative: Narrative
    candidate: Candidate | None
    condition: Condition | None = None
    sample: SampleItem | None = None
    voices: list[Voice] = field(default_factory=list)
    # Whether settling decides if a document, or a whole instruction, counts.
    decides: bool = False
    distance: int = 0
    settled: Adjudication | ConditionAdjudication | Decision | Check | None = None
    # What was asked again of it last, answered or not.
    rejudge_request: RejudgeRequest | None = None


@dataclass(frozen=True)
class Page:
    """A stretch of the list. `after` opens the next one; None at the end."""

    items: list[Item]
    after: Key | None
    # How many there are of each kind, whichever kind is listed.
    counts: dict[Kind, int]
    total: int


def page(
    by: Membership, wanted: Wanted, *, after: Key | None = None, size: int = PAGE_SIZE
) -> Page:
    """Return the disagreements behind `after` as the list shows them: a fixed number of queries."""
    reader = Reader(by)
    found: list[Key] = []
    totals = dict.fromkeys(Kind, 0)
    for kind in wanted.kinds:
        behind, _, totals[kind] = _stretch(source(kind, reader, wanted), wanted, after, size + 1)
        found += behind
    total = sum(totals.values())
    if wanted.kind is not None:
        totals |= _counts(reader, wanted.of(kind=None), leave_out=wanted.kinds)
    keys = _sorted(found, wanted)
    return Page(
        _items(reader, keys[:size], wanted),
        keys[size - 1] if len(keys) > size else None,
        totals,
        total,
    )


def counts(by: Membership, wanted: Wanted) -> dict[Kind, int]:
    """Return how many disagreements there are of each kind."""
    return dict.fromkeys(Kind, 0) | _counts(Reader(by), wanted)


def count(by: Membership, wanted: Wanted) -> int:
    """Return how many disagreements there are."""
    reader = Reader(by)
    if wanted != Wanted() or reader.has_assignments or reader.anything_sent_back:
        return sum(_counts(reader, wanted).values())
    machines = {"machines": reader.machines} if reader.machines else {}
    project = reader.project
    grades = tuple(reader.grades) if project.consensus == Project.Consensus.MAJORITY else ()
    found = _all_open.rows(
        project.consensus, grades, bool(machines), project=project.pk, member=by.pk, **machines
    )
    return sum(number for (number,) in found)


@prepared("project", "member", "machines")
def _all_open(
    consensus: str,
    grades: tuple[int, ...],
    has_machines: bool,
    project: int,
    member: int,
    machines: int,
) -> Built:
    """How many of each kind are open to a lead without an assignment, where nothing was sent
    back.
    """
    rules = Project(pk=project, consensus=consensus)
    reader = Reader.knowing(
        Membership(pk=member, project=rules),
        machines=[machines] if has_machines else [],
        grades=list(grades),
    )
    counts = [counted(source(kind, reader, Wanted()).rows) for kind in Kind]
    parameters = [one for _, given in counts for one in given]
    return " UNION ALL ".join(sql for sql, _ in counts), parameters


def following(by: Membership, wanted: Wanted, key: Key | None) -> Key | None:
    """Return the disagreement to open after `key`: onward, then around; None: none left."""
    reader = Reader(by)
    if key is not None and (near := _nearest(reader, wanted, key)) is not None:
        return near
    behind: list[Key] = []
    around: list[Key] = []
    for kind in wanted.kinds:
        onward, rest, _ = _stretch(source(kind, reader, wanted), wanted, key, 2)
        behind += onward
        around += rest
    others = [
        one
        for one in _sorted(around, wanted)
        if key is None or one.disagreement_key != key.disagreement_key
    ]
    return next(iter([*_sorted(behind, wanted), *others]), None)


def _nearest(reader: Reader, wanted: Wanted, key: Key) -> Key | None:
    """The next one of the same kind that is as far apart, under this narrative or the few that
    follow: nothing else comes before it, and little is read. None where there may be another one.
    """
    if key.kind not in wanted.kinds or wanted.settled or wanted.order is Order.AGE:
        return None
    if key.kind is Kind.CHECK:
        # Claimed labels may be of older narratives as well.
        return None
    of = source(key.kind, reader, wanted)
    narratives = reader.narratives(wanted, None).filter(pk__gte=key.narrative).order_by("pk")
    near = {f"{of.ids[0]}__in": list(narratives.values_list("pk", flat=True)[:_NEAR])}
    alike = {name.lstrip("-"): getattr(key, name.lstrip("-")) for name in _main(wanted)}
    rows = of.rows.filter(_after(of, key), **near).filter(**alike).order_by(*of.ids)
    found = rows.values_list("effect", "distance", "since", *of.ids)[:1]
    return next((_key(of, *row) for row in found), None)


def key_of(by: Membership, wanted: Wanted, disagreement_key: DisagreementKey) -> Key | None:
    """Return the place of something in the list; None: people do not differ on it. What is settled
    has its place among the open ones as well, so that one can go on from there.
    """
    of_one = source(
        disagreement_key.kind, Reader(by), wanted, only=disagreement_key, in_any_state=True
    )
    found = _stretch(of_one, wanted, None, 1)[1]
    return found[0] if found else None


def is_open(by: Membership, disagreement_key: DisagreementKey) -> bool:
    """Tell whether people differ on something that this lead may settle now."""
    return source(disagreement_key.kind, Reader(by), Wanted(), only=disagreement_key).rows.exists()


def reveal_of(disagreement_key: DisagreementKey) -> tuple[int, int, int]:
    """Return the keys of what is revealed with it: narrative, candidate and sample's item, 0 for
    none. Who judged a document is known for its verdicts, too.
    """
    item = disagreement_key.part if disagreement_key.kind is Kind.CHECK else 0
    return disagreement_key.narrative, disagreement_key.candidate, item


def _counts(reader: Reader, wanted: Wanted, leave_out: Iterable[Kind] = ()) -> dict[Kind, int]:
    kinds = [kind for kind in wanted.kinds if kind not in leave_out]
    return {kind: source(kind, reader, wanted).rows.count() for kind in kinds}


# --- one order over all kinds ---------------------------------------------------------------------


def _main(wanted: Wanted) -> tuple[str, ...]:
    """What the list is ordered by first, as `order_by` says it; then come kind and keys."""
    if wanted.settled:
        return ("-since",)
    if wanted.order is Order.AGE:
        return ("since",)
    if wanted.order in {Order.EFFECT, Order.MEASURE}:
        return ("-effect", "-distance")
    return ("-distance",)


def _sorted(keys: list[Key], wanted: Wanted) -> list[Key]:
    found = sorted(keys, key=attrgetter("kind", "narrative", "candidate", "part"))
    for name in reversed(_main(wanted)):
        attribute = name.lstrip("-").replace("since", "at")
        found.sort(key=attrgetter(attribute), reverse=name.startswith("-"))
    return found


def _stretch(
    of: Source, wanted: Wanted, after: Key | None, size: int
) -> tuple[list[Key], list[Key], int]:
    """Return the first keys of one kind behind `after`, those from the start on, as many as are
    wanted in all, and how many there are: one query. Where there is no `after`, all are from the
    start on, and behind it.
    """
    is_behind = _behind(of, wanted, after) if after is not None else None
    rows = of.rows.annotate(
        behind=Value(1)
        if is_behind is None
        else Case(When(is_behind, then=Value(1)), default=Value(0), output_field=IntegerField()),
        n_all=Window(Count("*")),
    ).order_by("-behind", *_main(wanted), *of.ids)
    behind: list[Key] = []
    around: list[Key] = []
    total = 0
    columns = ("behind", "n_all", "effect", "distance", "since", *of.ids)
    for onward, total, *row in rows.values_list(*columns)[:size]:  # noqa: B007
        if row[2] is None:
            continue
        key = _key(of, *row)
        if onward:
            behind.append(key)
        if after is None or not onward:
            around.append(key)
    return behind, around, total


def _key(of: Source, effect: int, distance: int, since: datetime, *ids: int) -> Key:
    narrative, candidate, part = [*ids, 0, 0][:3]
    return Key(effect, distance, since, of.kind, narrative, candidate, part)


def _behind(of: Source, wanted: Wanted, after: Key) -> Q:
    """What comes after a place in the order of the list."""
    behind, same = Q(), Q()
    for name in _main(wanted):
        column = name.lstrip("-")
        value = after.at if column == "since" else getattr(after, column)
        behind |= same & Q(**{f"{column}__{'lt' if name.startswith('-') else 'gt'}": value})
        same &= Q(**{column: value})
    if of.kind > after.kind:
        return behind | same
    if of.kind is after.kind:
        behind |= same & _after(of, after)
    return behind


def _after(of: Source, key: Key) -> Q:
    """What comes after a place among those of its kind that are otherwise alike."""
    behind, same = Q(), Q()
    for column, value in zip(of.ids, key.disagreement_key[1:], strict=False):
        behind |= same & Q(**{f"{column}__gt": value})
        same &= Q(**{column: value})
    return behind


# --- what the list shows of them ------------------------------------------------------------------


def _items(reader: Reader, keys: list[Key], wanted: Wanted) -> list[Item]:
    """Read what the list shows of these keys."""
    narratives = (
        Narrative.objects.select_related("pair__query")
        .defer("text", "pair__query__description")
        .in_bulk([key.narrative for key in keys])
    )
    candidates = Candidate.with_removed.select_related("document").in_bulk(
        [key.candidate for key in keys if key.candidate]
    )
    parts = {kind: [key.part for key in keys if key.kind is kind] for kind in Kind}
    conditions = Condition.objects.in_bulk(parts[Kind.VERDICT])
    samples = SampleItem.objects.select_related("sample").in_bulk(parts[Kind.CHECK])
    items = {
        key.disagreement_key: Item(
            key,
            narratives[key.narrative],
            candidates.get(key.candidate),
            conditions.get(key.part) if key.kind is Kind.VERDICT else None,
            samples.get(key.part) if key.kind is Kind.CHECK else None,
            distance=key.distance,
        )
        for key in keys
    }
    names = _Names(reader, keys)
    _add_judgments(items, names, reader)
    _add_reviews(items, names)
    _add_checks(items, names)
    if wanted.settled:
        _add_decisions(items)
    else:
        _add_rejudge_requests(items)
    return list(items.values())


class _Names:
    """What people are called in a list: their names where those are not hidden from the reader."""

    def __init__(self, reader: Reader, keys: list[Key]) -> None:
        self._hides = reader.project.hide_names
        self._known: set[tuple[int, int, int]] = set()
        if self._hides and keys:
            seen = Reveal.objects.filter(
                by=reader.member, narrative__in={key.narrative for key in keys}
            )
            self._known = {
                (narrative, candidate or 0, item or 0)
                for narrative, candidate, item in seen.values_list("narrative", "candidate", "item")
            }

    def of(self, disagreement_key: DisagreementKey, people: dict[int, str]) -> dict[int, str]:
        """What each of these people is called, in the order in which they are listed."""
        about = reveal_of(disagreement_key)
        in_order = sorted(places(about, people).items(), key=lambda one: one[1])
        if self._hides and about not in self._known:
            return {member: person(place) for member, place in in_order}
        return {member: people[member] for member, _place in in_order}


def _of(items: dict[DisagreementKey, Item], *kinds: Kind) -> list[DisagreementKey]:
    return [disagreement_key for disagreement_key in items if disagreement_key.kind in kinds]


def _add_judgments(items: dict[DisagreementKey, Item], names: _Names, reader: Reader) -> None:
    """What judges said of a document, and of one condition."""
    disagreement_keys = _of(items, Kind.JUDGMENT, Kind.VERDICT)
    documents = {
        (disagreement_key.narrative, disagreement_key.candidate)
        for disagreement_key in disagreement_keys
    }
    said: dict[tuple[int, int], dict[int, tuple[str, int, int]]] = {}
    rows = (
        Judgment.objects.current()
        .of_people()
        .filter(
            narrative__in={narrative for narrative, _candidate in documents},
            candidate__in={candidate for _narrative, candidate in documents},
        )
        .values_list("narrative", "candidate", "annotator", "annotator__name", "relevance", "pk")
    )
    for narrative, candidate, member, name, relevance, pk in rows:
        if (narrative, candidate) in documents:
            said.setdefault((narrative, candidate), {})[member] = name, relevance, pk
    verdicts = Verdict.objects.filter(
        condition__in=[disagreement_key.part for disagreement_key in _of(items, Kind.VERDICT)],
        judgment__in=[pk for people in said.values() for _name, _relevance, pk in people.values()],
    )
    answers = {
        (judgment, condition): answer
        for judgment, condition, answer in verdicts.values_list("judgment", "condition", "answer")
    }
    threshold = reader.project.relevant_from
    for disagreement_key in disagreement_keys:
        people = said.get((disagreement_key.narrative, disagreement_key.candidate), {})
        called = names.of(disagreement_key, {member: name for member, (name, *_) in people.items()})
        item = items[disagreement_key]
        for member, shown in called.items():
            _name, relevance, judgment = people[member]
            if disagreement_key.kind is Kind.JUDGMENT:
                item.voices.append(Voice(shown, relevance=relevance))
            elif answer := answers.get((judgment, disagreement_key.part)):
                item.voices.append(Voice(shown, answer=answer))
        if disagreement_key.kind is Kind.JUDGMENT and item.voices:
            grades = [voice.relevance for voice in item.voices if voice.relevance is not None]
            item.distance = max(grades) - min(grades)
            item.decides = min(grades) < threshold <= max(grades)
        elif disagreement_key.kind is Kind.VERDICT:
            given = {voice.answer for voice in item.voices}
            item.distance = 2 if {Verdict.Answer.MET, Verdict.Answer.NOT_MET} <= given else 1


def _add_reviews(items: dict[DisagreementKey, Item], names: _Names) -> None:
    """On how many criteria each auditor rejects."""
    disagreement_keys = {
        disagreement_key.narrative: disagreement_key for disagreement_key in _of(items, Kind.REVIEW)
    }
    said: dict[int, dict[int, tuple[str, int]]] = {}
    rows = (
        Review.objects.submitted()
        .of_people()
        .filter(narrative__in=disagreement_keys)
        .annotate(n_rejects=Count("ratings", filter=Q(ratings__rejects=True)))
        .values_list("narrative", "auditor", "auditor__name", "n_rejects")
    )
    for narrative, member, name, rejects in rows:
        said.setdefault(narrative, {})[member] = name, rejects
    for narrative, disagreement_key in disagreement_keys.items():
        people = said.get(narrative, {})
        items[disagreement_key].decides = True
        for member, shown in names.of(
            disagreement_key, {member: name for member, (name, _rejects) in people.items()}
        ).items():
            items[disagreement_key].voices.append(Voice(shown, rejects=people[member][1]))


def _add_checks(items: dict[DisagreementKey, Item], names: _Names) -> None:
    """What the first two said of a claimed label."""
    disagreement_keys = {
        disagreement_key.part: disagreement_key for disagreement_key in _of(items, Kind.CHECK)
    }
    said: dict[int, dict[int, tuple[str, int | None]]] = {}
    rows = (
        Check.objects.current()
        .filter(item__in=disagreement_keys)
        .exclude(place=Check.SETTLES)
        .values_list("item", "checker", "checker__name", "relevance")
    )
    for item, member, name, relevance in rows:
        said.setdefault(item, {})[member] = name, relevance
    for part, disagreement_key in disagreement_keys.items():
        people = said.get(part, {})
        for member, shown in names.of(
            disagreement_key, {member: name for member, (name, _relevance) in people.items()}
        ).items():
            items[disagreement_key].voices.append(Voice(shown, relevance=people[member][1]))
        grades = [relevance for _name, relevance in people.values() if relevance is not None]
        if people:
            apart = len(grades) == len(people)
            items[disagreement_key].distance = max(grades) - min(grades) if apart else 1


def _add_rejudge_requests(items: dict[DisagreementKey, Item]) -> None:
    """What was sent back to an annotator last: of a document, and so of each of its conditions."""
    disagreement_keys = _of(items, Kind.JUDGMENT, Kind.VERDICT)
    rejudge_requests = RejudgeRequest.objects.standing().filter(
        judgment__narrative__in={
            disagreement_key.narrative for disagreement_key in disagreement_keys
        },
        judgment__candidate__in={
            disagreement_key.candidate for disagreement_key in disagreement_keys
        },
    )
    last = {
        (
            rejudge_request.judgment.narrative_id,
            rejudge_request.judgment.candidate_id,
        ): rejudge_request
        for rejudge_request in rejudge_requests.select_related("judgment", "by").order_by(
            "at", "pk"
        )
    }
    for disagreement_key in disagreement_keys:
        items[disagreement_key].rejudge_request = last.get(
            (disagreement_key.narrative, disagreement_key.candidate)
        )


def _add_decisions(items: dict[DisagreementKey, Item]) -> None:
    """The decision that settled each."""
    documents = _of(items, Kind.JUDGMENT)
    adjudications = Adjudication.objects.current().filter(
        narrative__in=[disagreement_key.narrative for disagreement_key in documents],
        candidate__in=[disagreement_key.candidate for disagreement_key in documents],
    )
    for one in adjudications.select_related("by"):
        if item := items.get(DisagreementKey(Kind.JUDGMENT, one.narrative_id, one.candidate_id, 0)):
            item.settled = one
    verdicts = {
        (disagreement_key.candidate, disagreement_key.part): disagreement_key
        for disagreement_key in _of(items, Kind.VERDICT)
    }
    on_conditions = ConditionAdjudication.objects.current().filter(
        condition__in=[part for _candidate, part in verdicts]
    )
    for answer in on_conditions.select_related("by"):
        if disagreement_key := verdicts.get((answer.candidate_id, answer.condition_id)):
            items[disagreement_key].settled = answer
    reviews = {
        disagreement_key.narrative: disagreement_key for disagreement_key in _of(items, Kind.REVIEW)
    }
    for decision in Decision.objects.current().filter(narrative__in=reviews).select_related("by"):
        items[reviews[decision.narrative_id]].settled = decision
    checks = {
        disagreement_key.part: disagreement_key for disagreement_key in _of(items, Kind.CHECK)
    }
    thirds = Check.objects.current().filter(item__in=checks, place=Check.SETTLES)
    for check in thirds.select_related("checker"):
        items[checks[check.item_id]].settled = check
