"""Everything that people can do in the second pass. Pages and jobs come through here.

Actions: keyword-only, the actor is `by`, one transaction, refused with a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.judgments import assignments
from annotate.judgments.completion import open_assignments
from annotate.pairs.models import Assignment, InstructionPair, Narrative
from annotate.projects import access as projects_access
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from annotate.rewriting import actions as rewriting
from audit.reviews import chain_content as sums
from audit.reviews import rubrics
from audit.reviews.criteria import SHIPPED, Criterion, Rubric, Verdict
from audit.reviews.models import Decision, Rating, Review
from audit.reviews.models import Rubric as Kept
from audit.reviews.passes import Pass, pass_of, passes_of, summary_digest, verdict_of
from audit.reviews.texts_at_hand import check_texts, keep_texts
from base.errors import Refused, Stale, Unconfirmed, Unfit
from formats.records import RubricRecord

MAX_WORDS = 10_000

_CHANGED = gettext_lazy(
    "The narrative changed while you were reading. Read it again, then rate it."
)


def take_review(
    *, by: Membership, become_blind: bool = False, now: datetime | None = None
) -> Assignment | None:
    """Return the assignment in which `by` reviews next, or None where nothing waits for them.

    What they have begun comes first, or has come again as a new version; then the next open
    assignment, which a lead confirms with `become_blind` (`assignments.take_next`).
    """
    begun = [
        assignment
        for assignment in open_assignments(by, Assignment.Task.REVIEW)
        if assignment.touched_at is not None
    ]
    if begun:
        return min(begun, key=lambda assignment: (assignment.taken_at, assignment.pk))
    return assignments.take_next(
        task=Assignment.Task.REVIEW, by=by, become_blind=become_blind, now=now
    )


def start_review(*, narrative: Narrative, by: Membership, now: datetime | None = None) -> Review:
    """Return the review of `by` of a narrative version, begun if they have none: one for each.

    Refused: no review assignment, their own words, sent back or removed. Stale: there is a newer
    version.
    """
    now = now or timezone.now()
    with transaction.atomic():
        assignment = _assignment(narrative, by)
        review = _begin(narrative, by, now)
        assignments.touch(assignment, done=review.submitted_at is not None, now=now)
    return review


def save_rating(
    *,
    narrative: Narrative,
    criterion: str,
    by: Membership,
    level: str | None = None,
    words: str | None = None,
    now: datetime | None = None,
) -> Review:
    """Keep one answer in the draft of `by`: see `save_ratings`."""
    return save_ratings(narrative=narrative, answers={criterion: (level, words)}, by=by, now=now)


def save_ratings(
    *,
    narrative: Narrative,
    answers: Mapping[str, tuple[str | None, str | None]],
    by: Membership,
    now: datetime | None = None,
) -> Review:
    """Keep answers in the draft of `by`, and return it: a level and words for each criterion's key.

    None leaves what was there, but another level drops the words that explained the one before.
    Poor without words is kept as well; only submitting asks for them.
    Refused and Stale as `start_review`; also refused, as a whole: an unknown criterion or level,
    too many words, a review that is submitted.
    """
    now = now or timezone.now()
    with transaction.atomic():
        assignment = _assignment(narrative, by)
        review = _begin(narrative, by, now)
        rubric = rubrics.named(by.project_id, review.rubric)
        for criterion, (level, words) in answers.items():
            _refuse_unknown(rubric, criterion, level, words)
        if review.submitted_at is not None:
            raise Refused(_("You have submitted this review, so it stays as it is."))
        levels = dict(review.ratings.exclude(level="").values_list("criterion", "level"))
        for criterion, (level, words) in answers.items():
            is_replaced = level is not None and levels.get(criterion, level) != level
            said = _rating_columns(rubric, level, "" if is_replaced and words is None else words)
            if any(said.values()):
                Rating.objects.update_or_create(review=review, criterion=criterion, defaults=said)
            elif said:
                # Words taken back; where there were none, nothing said yet is no row.
                Rating.objects.filter(review=review, criterion=criterion).update(**said)
        assignments.touch(assignment, done=False, now=now)
    return review


def submit_review(
    *,
    narrative: Narrative,
    by: Membership,
    confirmed: str | None = None,
    texts: str | None = None,
    now: datetime | None = None,
) -> Review:
    """Hand in the review of `by`: from now on it counts, and they see the others'.

    A page shows a summary first and sends its digest (`audit.reviews.passes.summary_digest`) as
    `confirmed`; Unconfirmed if the draft is not what that summary showed. None asks for none.
    `texts`: the text versions of the documents at hand that the page offered (`at_hand.texts_of`);
    None takes those that are the newest now. They are kept with the review.
    Twice changes nothing. Refused: a criterion without a level, poor without words, no assignment.
    Stale: there is a newer version, and the draft stays with the old one; or other texts are at
    hand.
    """
    now = now or timezone.now()
    with transaction.atomic():
        assignment = _assignment(narrative, by)
        said = pass_of(narrative, by)
        if said is None:
            raise Refused(_("Nothing is rated yet. Rate each criterion, then submit."))
        review = said.review
        if review.submitted_at is None:
            _refuse_incomplete(said)
            found = check_texts(narrative, texts)
            if confirmed is not None and confirmed != summary_digest(said):
                raise Unconfirmed(_("Read what you are about to submit, then submit it."))
            keep_texts(review, found)
            review.submitted_at = now
            review.save(update_fields=["submitted_at"])
            sums.follow(sums.REVIEW, by.project_id, new={review.pk}, pk=review.pk, texts=True)
        assignments.touch(assignment, done=True, now=now)
    return review


def save_rubric(
    *,
    project: Project,
    content: RubricRecord,
    by: Membership | None,
    now: datetime | None = None,
) -> Kept:
    """Insert a rubric into a project and put it in force, and return its row. Nobody: a command.

    The same again only puts it in force. Refused: who does not lead, an archived project, and a
    name under which something else is known, here or to Rejudge.
    """
    now = now or timezone.now()
    with transaction.atomic():
        _rubrics_of(project, by)
        known = Kept.objects.filter(project=project, name=content.name).first()
        shipped = SHIPPED.get(content.name)
        said = shipped if shipped is not None else known.content if known is not None else None
        if said is not None and tuple(said) != tuple(content):
            free = rubrics.next_name(project.pk, content.name)
            raise Refused(
                _(
                    "There is a rubric “%(name)s” already, and it says otherwise. Reviews go on "
                    "naming it, so give yours another name, for example “%(free)s”."
                )
                % {"name": content.name, "free": free}
            )
        kept = known or Kept.of(content, project=project, created_at=now, created_by=by)
        return _put_in_force(kept, by, now)


def choose_rubric(
    *, project: Project, name: str, by: Membership | None, now: datetime | None = None
) -> Kept:
    """Put one of the project's rubrics in force, or one that comes with Rejudge. Nobody: a command.

    Refused: who does not lead, an archived project, a name that neither has.
    """
    now = now or timezone.now()
    with transaction.atomic():
        _rubrics_of(project, by)
        try:
            content = rubrics.named(project.pk, name)
        except rubrics.UnknownRubric:
            raise Refused(
                _("There is no rubric “%(name)s” in this project. There are: %(known)s.")
                % {"name": name, "known": ", ".join(rubrics.names(project.pk))}
            ) from None
        known = Kept.objects.filter(project=project, name=name).first()
        kept = known or Kept.of(content, project=project, created_at=now, created_by=by)
        return _put_in_force(kept, by, now)


def take_rubric(project: Project, name: str, by: Membership | None) -> None:
    """Put a rubric that comes with Rejudge in force, where another one is."""
    if rubrics.in_force(project.pk).name != name:
        choose_rubric(project=project, name=name, by=by)


def _rubrics_of(project: Project, by: Membership | None) -> None:
    """Lock the project, so that of two leads one comes last."""
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if by is not None and (not by.leads or by.project_id != project.pk):
        raise Refused(_("Only leads of this project say what instructions are rated on."))
    projects_access.refuse_if_archived(project)


def _put_in_force(kept: Kept, by: Membership | None, now: datetime) -> Kept:
    in_force = Kept.objects.in_force(kept.project_id)
    if in_force is None or in_force.pk != kept.pk:
        kept.chosen_at, kept.chosen_by = now, by
        kept.save()
        before = in_force.name if in_force is not None else None
        record(
            project=kept.project,
            what="rubric.chosen",
            about=kept,
            changes={"rubric": (before, kept.name)},
            by=by,
            now=now,
        )
    return kept


def decide(
    *,
    narrative: Narrative,
    outcome: str,
    by: Membership,
    reason: str = "",
    now: datetime | None = None,
) -> Decision:
    """Accept an altered narrative, send it back to be written anew, or remove its pair.

    The same decision again changes nothing. Refused: who does not lead, an outcome that is none
    (`Decision.Outcome`), no reason where one is needed (all but accepting what passed), decided
    already, no review yet; accepting before every auditor is heard. Stale: there is a newer
    version.
    """
    now = now or timezone.now()
    reason = reason.strip()
    if outcome not in Decision.Outcome.values:
        raise Refused(_("Choose one: accept, send back, or remove."))
    if len(reason) > MAX_WORDS:
        raise Refused(
            _("The reason has %(reason)s characters; at most %(max_words)s are kept.")
            % {"reason": f"{len(reason):,}", "max_words": f"{MAX_WORDS:,}"}
        )
    with transaction.atomic():
        _led_pair(narrative, by)
        _refuse_superseded(
            narrative, _("The narrative changed. Read the new version, then decide.")
        )
        standing = (
            Decision.objects.current().select_related("by").filter(narrative=narrative).first()
        )
        if standing is not None:
            if (standing.outcome, standing.reason, standing.by_id) == (outcome, reason, by.pk):
                return standing
            raise Refused(
                _("%(by)s has decided this: %(standing)s. Withdraw that decision first.")
                % {"by": standing.by, "standing": standing.get_outcome_display().lower()}
            )
        _refuse_undecided(narrative, outcome, reason, by.project)
        decision = Decision.objects.create(
            narrative=narrative, outcome=outcome, reason=reason, by=by, at=now
        )
        if outcome == Decision.Outcome.REVISE:
            rewriting.send_back(pair=narrative.pair, by=by, now=now)
        elif outcome == Decision.Outcome.REMOVED:
            rewriting.remove(pair=narrative.pair, by=by, now=now)
        sums.follow(sums.DECISION, by.project_id, new={decision.pk}, narrative=narrative)
        _record_decision("instruction.decided", decision, by, now)
    return decision


def withdraw_decision(
    *, decision: Decision, by: Membership, now: datetime | None = None
) -> Decision:
    """Take a decision back: the pair is as it was before it. Twice changes nothing.

    Refused: who does not lead. Stale: it was rewritten since, so the decision is history.
    """
    now = now or timezone.now()
    with transaction.atomic():
        _led_pair(decision.narrative, by)
        standing = Decision.objects.select_for_update().get(pk=decision.pk)
        if standing.withdrawn_at is not None:
            return standing
        _refuse_superseded(
            decision.narrative, _("A new version was written since, so this decision is history.")
        )
        standing.withdrawn_at, standing.withdrawn_by = now, by
        standing.save(update_fields=["withdrawn_at", "withdrawn_by"])
        if standing.outcome != Decision.Outcome.ACCEPTED:
            rewriting.take_back_decision(pair=decision.narrative.pair, by=by)
        about = decision.narrative_id
        sums.follow(sums.DECISION, by.project_id, ended={standing.pk}, narrative=about)
        _record_decision("instruction.undecided", standing, by, now)
    return standing


def _record_decision(what: str, decision: Decision, by: Membership, now: datetime) -> None:
    narrative = decision.narrative
    named = f"{narrative.pair} · {narrative}"
    made, gone = (None, decision.outcome), (decision.outcome, None)
    record(
        project=by.project,
        what=what,
        about=decision,
        named=named,
        by=by,
        changes={"outcome": gone if decision.withdrawn_at else made},
        now=now,
    )


def _refuse_unknown(rubric: Rubric, criterion: str, level: str | None, words: str | None) -> None:
    if criterion not in rubric.keys:
        raise Refused(_("“%(criterion)s” is not one of the criteria.") % {"criterion": criterion})
    if level is not None and rubric.level(level) is None:
        raise Refused(
            _("“%(level)s” is not a level. Choose one of: %(levels)s.")
            % {"level": level, "levels": ", ".join(one.name.lower() for one in rubric.levels)}
        )
    if words is not None and len(words) > MAX_WORDS:
        raise Refused(
            _("You wrote %(words)s characters; at most %(max_words)s are kept.")
            % {"words": f"{len(words):,}", "max_words": f"{MAX_WORDS:,}"}
        )


def _rating_columns(rubric: Rubric, level: str | None, words: str | None) -> dict[str, Any]:
    """Return the columns of a rating that an answer sets; what is None stays as it was."""
    said: dict[str, Any] = {} if words is None else {"words": words}
    chosen = None if level is None else rubric.level(level)
    if chosen is not None:
        said |= {
            "level": chosen.value,
            "place": rubric.place(chosen),
            "rejects": chosen.rejects,
        }
    return said


def _assignment(narrative: Narrative, by: Membership) -> Assignment:
    """Return the review assignment, locked; it keeps one auditor's two tabs apart."""
    projects_access.refuse_if_archived(by.project)
    assignment = assignments.hold(pair=narrative.pair, task=Assignment.Task.REVIEW, by=by)
    if narrative.side != Narrative.Side.ALTERED:
        raise Refused(_("Only the altered narrative is reviewed."))
    _refuse_superseded(narrative, _CHANGED)
    if narrative.author_id == by.pk:
        raise Refused(_("You wrote this narrative, so somebody else reviews it."))
    return assignment


def _begin(narrative: Narrative, by: Membership, now: datetime) -> Review:
    begun = Review.objects.filter(narrative=narrative, auditor=by).first()
    if begun is not None:
        return begun
    pair = InstructionPair.objects.get(pk=narrative.pair_id)
    if pair.removed_at is not None:
        raise Refused(_("This instruction was removed, so there is nothing to review."))
    if pair.sent_back_at is not None and pair.sent_back_at > narrative.created_at:
        raise Refused(_("This instruction was sent back. Review it when it comes again."))
    rubric = rubrics.under(narrative, by.project_id)
    return Review.objects.create(
        narrative=narrative, auditor=by, rubric=rubric.name, started_at=now
    )


def _refuse_superseded(narrative: Narrative, sentence: str | Promise) -> None:
    newer = Narrative.objects.filter(
        pair=narrative.pair_id, side=narrative.side, version__gt=narrative.version
    )
    if newer.exists():
        raise Stale(str(sentence))


def _refuse_incomplete(said: Pass) -> None:
    if said.unrated:
        raise Refused(_("Not rated yet: %(said)s.") % {"said": _names(said.unrated)})
    if said.unexplained:
        raise Refused(
            _("Say in words why it fails on: %(said)s.") % {"said": _names(said.unexplained)}
        )


def _refuse_undecided(narrative: Narrative, outcome: str, reason: str, project: Project) -> None:
    passes = passes_of([narrative])[narrative.pk]
    wanted = project.overlap_review
    state = verdict_of(passes, wanted)
    if state is Verdict.UNREVIEWED:
        raise Refused(_("Nobody has reviewed this version yet, so there is nothing to decide."))
    if outcome != Decision.Outcome.ACCEPTED:
        if not reason:
            raise Unfit(_("Give a reason; its author will read it."), "reason")
    elif state is Verdict.INCOMPLETE:
        raise Refused(
            _("%(passes)s of %(wanted)s reviews are in. Accept it once all are.")
            % {"passes": len(passes), "wanted": wanted}
        )
    elif state is Verdict.REJECTED and not reason:
        raise Unfit(
            _("An auditor rejects it. Give the reason for accepting it all the same."), "reason"
        )


def _led_pair(narrative: Narrative, by: Membership) -> InstructionPair:
    """Return the pair, locked: it keeps two leads, and a rewriter, apart."""
    pair = InstructionPair.objects.select_for_update().get(pk=narrative.pair_id)
    if not by.leads or by.project_id != pair.project_id:
        raise Refused(_("Only leads of this project decide what becomes of an instruction."))
    projects_access.refuse_if_archived(by.project)
    return pair


def _names(criteria: list[Criterion]) -> str:
    return ", ".join(criterion.name.lower() for criterion in criteria)
