"""Drawing samples of claimed labels, checking them, and settling what two checkers differ on.

As in `audit.reviews.actions`: keyword-only, the actor is `by`, one transaction, refused with a
sentence.
"""

from __future__ import annotations

import math
import uuid as uuids
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypedDict, Unpack

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.collection import text_versions
from annotate.collection.models import Run
from annotate.judging.answer_rules import check_grade
from annotate.judgments.conditions import COUNT_MET, derived
from annotate.judgments.models import Verdict
from annotate.projects import access as assignments
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from audit.checks import chain_content
from audit.checks.claims import Asked, Claim, frame, plan, sizes_of
from audit.checks.models import Check, Sample, SampleItem
from audit.checks.suspects import suspicion
from base.control_characters import tidy
from base.errors import Refused, refuse_strange

MAX_WORDS = 10_000
# What people can look at, and what its page counts in one go.
MAX_ITEMS = 20_000
MAX_NAME = Sample._meta.get_field("name").max_length or 0
_AT_ONCE = 1_000


def draw_sample(
    *,
    name: str,
    asked: Asked,
    stratify: str,
    per: str,
    size: int,
    seed: int,
    by: Membership,
    fewer: bool = False,
    shows_claim: bool = False,
    now: datetime | None = None,
) -> Sample:
    """Draw a sample of what is claimed, and return it: `Sample` says what the choices mean.

    Refused, with nothing drawn: who does not lead, no name or one that is taken, a choice that is
    none, a sample larger than its frame, a stratum with nothing in it, more than MAX_ITEMS.
    """
    name = _check_choices(name, asked, stratify, by)
    if per not in Sample.Per.values:
        raise Refused(_("Choose whether the number is of each stratum or of each instruction."))
    with transaction.atomic():
        _refuse_taken(name, by)
        drawn = plan(
            frame(by.project, asked),
            stratify=stratify,
            per=per,
            size=size,
            seed=seed,
            fewer=fewer,
        )
        if drawn.refused:
            raise Refused(drawn.refused)
        sample = Sample(
            kind=Sample.Kind.RANDOM,
            stratify=stratify,
            per=per,
            size=size,
            seed=seed,
            fewer=fewer,
            frame=drawn.sizes,
        )
        return _make(
            sample, name, asked, [(*one, None) for one in drawn.claims], shows_claim, by, now
        )


def pick_suspects(
    *,
    name: str,
    asked: Asked,
    runs: Collection[Run],
    depth: int,
    at_least: int,
    by: Membership,
    below: float | None = None,
    stratify: str = Sample.Stratify.NONE,
    shows_claim: bool = False,
    now: datetime | None = None,
) -> Sample:
    """Make a sample of the documents claimed relevant that at least so many runs fail to rank, or
    score lower than `below`.

    Refused, with nothing made: as `draw_sample`; no run, one of another project, a depth or number
    below 1, more than there are runs, runs for other queries, no suspects.
    """
    name = _check_choices(name, asked, stratify, by)
    _check_runs(runs, depth, at_least, below, by)
    with transaction.atomic():
        _refuse_taken(name, by)
        found = suspicion(by.project, asked, runs=runs, depth=depth, at_least=at_least, below=below)
        if not found.gold:
            raise Refused(
                _(
                    "No document that is claimed relevant has a query that %(count)s of these runs "
                    "have. Choose runs for the queries of this project."
                )
                % {"count": at_least}
            )
        if not found.suspects:
            raise Refused(_("The runs find all of them, so there is nothing to look at."))
        sample = Sample(
            kind=Sample.Kind.SUSPECTS,
            stratify=stratify,
            depth=depth,
            at_least=at_least,
            below=below,
            frame=sizes_of((one.claim for one in found.suspects), stratify),
        )
        picked = [
            (one.claim, one.claim.under.stratum(stratify), one.missed) for one in found.suspects
        ]
        asked = asked._replace(relevant_only=True)
        made = _make(sample, name, asked, picked, shows_claim, by, now)
        made.runs.set(runs)
    return made


class Answering(TypedDict, total=False):
    """What someone says of a claimed label: exactly one of the first three, and words.

    `relevance`: the grade. `cannot_judge`: none can be given; needs words. `verdicts`: of a sample
    that asks for conditions, a `Verdict.Answer` by the key of each condition, from which follows
    how many are met; where one cannot tell of one of them, one cannot judge.
    """

    relevance: int | None
    cannot_judge: bool
    verdicts: Mapping[int, str] | None
    words: str


class _Answer(NamedTuple):
    """The content of a check: what makes one the same as another."""

    relevance: int | None
    cannot_judge: bool
    verdicts: dict[str, str]
    words: str


def check(
    *,
    item: SampleItem,
    by: Membership,
    uuid: uuids.UUID | None = None,
    text: int | None = None,
    now: datetime | None = None,
    **said: Unpack[Answering],
) -> Check:
    """Keep what `by` says of a claimed label, blind to what was claimed and to the other checker.

    Saying something else takes the place of what they said before, until the item is settled. The
    same UUID again changes nothing. Refused: two others have checked it, a grade the project does
    not have, a condition without an answer, settled already; of a lead, both have spoken, because
    leads see what both said. Stale: the document has a newer text than `text`, the version that was
    on the screen (`annotate.collection.text_versions.read_now`).
    """
    answer = _answer(said)
    now = now or timezone.now()
    with transaction.atomic():
        _hold(item, by)
        if (sent := _sent_before(uuid, item, answer, by)) is not None:
            return sent
        read = text_versions.read_now(item.candidate.document_id, text)
        others = _said_now(item)
        answer = _checked(answer, item, by)
        mine = next((one for one in others if one.checker_id == by.pk), None)
        if mine is not None:
            _refuse_fixed(mine, others, by)
            if _content(mine) == answer:
                return mine
            mine.superseded_at = now
            mine.save(update_fields=["superseded_at"])
            chain_content.follow(by.project_id, ended={mine.pk}, pk=mine.pk, texts=True)
            place = mine.place
        else:
            free = {1, 2} - {one.place for one in others}
            if not free:
                raise Refused(_("Two people have checked this one already. Here is the next."))
            place = min(free)
        return _say(item, place, answer, read, uuid, by, now)


def settle(
    *,
    item: SampleItem,
    by: Membership,
    uuid: uuids.UUID | None = None,
    text: int | None = None,
    now: datetime | None = None,
    **said: Unpack[Answering],
) -> Check:
    """Settle what two checkers differ on, or could not judge, as a third person.

    The same UUID, or the same again by the same person, changes nothing. Refused: one of the two,
    checked by fewer than two, nothing to settle, settled by somebody else, a grade the project does
    not have. Stale: as `check`.
    """
    answer = _answer(said)
    now = now or timezone.now()
    with transaction.atomic():
        _hold(item, by)
        if (sent := _sent_before(uuid, item, answer, by)) is not None:
            return sent
        read = text_versions.read_now(item.candidate.document_id, text)
        others = _said_now(item)
        answer = _checked(answer, item, by)
        first_two = [one for one in others if one.place != Check.SETTLES]
        if any(one.checker_id == by.pk for one in first_two):
            raise Refused(_("You are one of the two who checked this. A third person settles it."))
        if len(first_two) < 2:
            raise Refused(_("Two people have to check this one before it can be settled."))
        # Two who could not judge have found nothing that they agree on.
        if first_two[0].relevance == first_two[1].relevance is not None:
            raise Refused(_("The two agree here, so there is nothing to settle."))
        standing = next((one for one in others if one.place == Check.SETTLES), None)
        if standing is not None:
            if standing.checker_id != by.pk:
                raise Refused(_("Somebody else has settled this one."))
            if _content(standing) == answer:
                return standing
            standing.superseded_at = now
            standing.save(update_fields=["superseded_at"])
            chain_content.follow(by.project_id, ended={standing.pk}, pk=standing.pk, texts=True)
        made = _say(item, Check.SETTLES, answer, read, uuid, by, now)
        _record("label.settled", made, by, now)
    return made


def take_back(*, item: SampleItem, by: Membership, now: datetime | None = None) -> Check | None:
    """Take back what `by` said of an item, as if they had not; None where they said nothing.

    Refused: settled by somebody else since; of a lead, both have spoken.
    """
    now = now or timezone.now()
    with transaction.atomic():
        _hold(item, by)
        said = _said_now(item)
        mine = next((one for one in said if one.checker_id == by.pk), None)
        if mine is None:
            return None
        if mine.place != Check.SETTLES:
            _refuse_fixed(mine, said, by)
        mine.superseded_at = mine.withdrawn_at = now
        mine.save(update_fields=["superseded_at", "withdrawn_at"])
        chain_content.follow(by.project_id, ended={mine.pk}, pk=mine.pk, texts=True)
        if mine.place == Check.SETTLES:
            _record("label.unsettled", mine, by, now)
    return mine


def _record(what: str, settled: Check, by: Membership, now: datetime) -> None:
    """Whoever is the third person may settle; the audit log has what leads do."""
    if not by.leads:
        return
    item = settled.item
    named = f"{item.narrative.pair} · {item.narrative} · {item.candidate.document}"
    record(project=by.project, what=what, about=settled, named=named, by=by, now=now)


def _say(
    item: SampleItem,
    place: int,
    answer: _Answer,
    read: dict[str, Any],
    uuid: uuids.UUID | None,
    by: Membership,
    now: datetime,
) -> Check:
    made = Check.objects.create(
        uuid=uuid or uuids.uuid4(),
        item=item,
        checker=by,
        place=place,
        at=now,
        **answer._asdict(),
        **read,
    )
    chain_content.follow(by.project_id, new={made.pk}, pk=made.pk, texts=True)
    return made


def _answer(said: Answering) -> _Answer:
    """Return what was said as it is kept: from verdicts follows how many are met, or that one
    cannot judge.
    """
    cannot_judge, words = bool(said.get("cannot_judge")), _words(said.get("words", ""))
    # Who cannot judge a document leaves open what they had answered before they saw that.
    given = {} if cannot_judge else said.get("verdicts") or {}
    verdicts = {str(key): answer for key, answer in sorted(given.items())}
    if not verdicts:
        return _Answer(said.get("relevance"), cannot_judge, {}, words)
    met = derived(COUNT_MET, list(verdicts.values()), range(len(verdicts) + 1))
    return _Answer(met, met is None, verdicts, words)


def _checked(answer: _Answer, item: SampleItem, by: Membership) -> _Answer:
    """Return an answer that the item's sample asks for, or refuse it."""
    if item.sample.asks == Sample.Asks.COUNT and (answer.verdicts or not answer.cannot_judge):
        known = item.narrative.conditions.order_by("number").values_list("pk", flat=True)
        if {int(key) for key in answer.verdicts} != set(known):
            raise Refused(_("Answer all conditions first; they decide what is counted."))
        if not set(Verdict.Answer.values).issuperset(answer.verdicts.values()):
            raise Refused(_("A condition is met, not met, or one can't tell."))
        return answer
    if answer.verdicts:
        raise Refused(_("This sample asks for a grade, not for conditions."))
    if answer.cannot_judge:
        if answer.relevance is not None:
            raise Refused(_("Give a grade, or say that you cannot judge it: not both."))
        if not answer.words:
            raise Refused(_("Say in a few words what is missing to judge it."))
        return answer
    if answer.relevance is None:
        raise Refused(_("Choose one of the grades."))
    check_grade(by, answer.relevance)
    return answer


def _content(row: Check) -> _Answer:
    return _Answer(row.relevance, row.cannot_judge, row.verdicts, row.words)


def _check_choices(name: str, asked: Asked, stratify: str, by: Membership) -> str:
    """Return the name as it is kept, or refuse."""
    if not by.leads:
        raise Refused(_("Only leads of this project choose what is checked."))
    assignments.refuse_if_archived(by.project)
    name = " ".join(name.split())
    if not name:
        raise Refused(_("Give the sample a name."))
    if len(name) > MAX_NAME:
        raise Refused(
            _("The name has %(length)s characters; at most %(most)s are kept.")
            % {"length": f"{len(name):,}", "most": MAX_NAME}
        )
    refuse_strange(name)
    if asked.source not in Sample.Source.values:
        raise Refused(_("Choose whose labels are checked."))
    if (asked.source == Sample.Source.MACHINE) != (asked.rater is not None):
        raise Refused(_("Choose the machine whose judgments are checked."))
    rater = asked.rater
    if rater is not None and (rater.project_id != by.project_id or not rater.is_machine):
        raise Refused(_("Choose a machine of this project."))
    if asked.asks not in Sample.Asks.values:
        raise Refused(_("Choose what is asked of who checks."))
    if stratify not in Sample.Stratify.values:
        raise Refused(_("Choose what the strata are."))
    return name


def _check_runs(
    runs: Collection[Run], depth: int, at_least: int, below: float | None, by: Membership
) -> None:
    if not runs:
        raise Refused(_("Choose at least one run."))
    if any(run.project_id != by.project_id for run in runs):
        raise Refused(_("Choose runs of this project."))
    if below is not None and not math.isfinite(below):
        raise Refused(_("The score is a number, such as 0.5."))
    if depth < 1 or at_least < 1:
        raise Refused(_("The rank and the number of runs begin at 1."))
    if at_least > len(runs):
        raise Refused(
            _(
                "%(asked)s runs cannot miss a document where %(chosen)s are chosen. "
                "Choose more runs, or ask for fewer."
            )
            % {"asked": at_least, "chosen": len(runs)}
        )


def _refuse_taken(name: str, by: Membership) -> None:
    # Two leads at once: the second waits here and then finds the first one's.
    Project.objects.select_for_update(no_key=True).get(pk=by.project_id)
    if Sample.objects.filter(project=by.project_id, name=name).exists():
        raise Refused(
            _("There is a sample called “%(name)s” already. Give this one another name.")
            % {"name": name}
        )


def _make(
    sample: Sample,
    name: str,
    asked: Asked,
    items: Sequence[tuple[Claim, str, int | None]],
    shows_claim: bool,
    by: Membership,
    now: datetime | None,
) -> Sample:
    if len(items) > MAX_ITEMS:
        raise Refused(
            _("These are %(count)s labels; at most %(most)s are one sample.")
            % {"count": f"{len(items):,}", "most": f"{MAX_ITEMS:,}"}
        )
    sample.project, sample.name = by.project, name
    sample.source, sample.rater, sample.relevant_only, sample.asks = asked
    sample.shows_claim = shows_claim
    sample.created_by, sample.created_at = by, now or timezone.now()
    sample.save()
    SampleItem.objects.bulk_create(
        (
            SampleItem(
                sample=sample,
                narrative_id=claim.under.narrative,
                candidate_id=claim.candidate,
                claimed=claim.relevance,
                stratum=stratum,
                missed=missed,
            )
            for claim, stratum, missed in items
        ),
        batch_size=_AT_ONCE,
    )
    record(project=by.project, what="sample.made", about=sample, by=by, now=now)
    return sample


def _hold(item: SampleItem, by: Membership) -> None:
    """Lock an item, to keep people apart who check it. Refused: who may not check it."""
    assignments.refuse_if_archived(by.project)
    sample = Sample.objects.get(pk=item.sample_id)
    if by.project_id != sample.project_id or by.is_machine or by.left_at is not None:
        raise Refused(_("Only people of this project check its labels."))
    SampleItem.objects.select_for_update().get(pk=item.pk)


def _said_now(item: SampleItem) -> list[Check]:
    """What people say of an item now, by place."""
    return list(Check.objects.current().filter(item=item).order_by("place"))


def _sent_before(
    uuid: uuids.UUID | None, item: SampleItem, answer: _Answer, by: Membership
) -> Check | None:
    """Return the check that was sent under this UUID, or refuse it where it said something else."""
    sent = Check.objects.filter(uuid=uuid).first() if uuid is not None else None
    if sent is None:
        return None
    if (sent.item_id, sent.checker_id, _content(sent)) != (item.pk, by.pk, answer):
        raise Refused(_("This was sent before with something else in it. Reload the page."))
    return sent


def _refuse_fixed(mine: Check, said: Sequence[Check], by: Membership) -> None:
    """Refuse to change what one of the two said, once they could know what the other did."""
    if any(one.place == Check.SETTLES for one in said):
        raise Refused(_("This one is settled, so what you said stays as it is."))
    if by.leads and len(said) > 1:
        raise Refused(_("Both have spoken, and leads see what was said, so it stays as it is."))


def _words(words: str) -> str:
    words = tidy(words)
    if len(words) > MAX_WORDS:
        raise Refused(
            _("You wrote %(length)s characters; at most %(most)s are kept.")
            % {"length": f"{len(words):,}", "most": f"{MAX_WORDS:,}"}
        )
    refuse_strange(words)
    return words
