"""Pages where people check labels and settle those on which two checkers differ."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.db.models import F, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.collection.document_rendering import DocumentPane, build_pane
from annotate.collection.models import DocumentText
from annotate.judging.forms import VERDICT_PREFIX
from annotate.judgments.document_names import Name, name_of
from annotate.pairs.models import Condition
from annotate.pairs.pool import words_to_mark
from annotate.projects.models import Grade, Guideline, Membership
from annotate.projects.project_page import project_page
from audit.checks import access, actions
from audit.checks.condition_counts import claimed_breaks_for
from audit.checks.forms import CheckForm
from audit.checks.models import Check, Question, Sample, SampleItem
from audit.checks.queue import (
    MODES,
    checks_in_modes,
    next_item,
    next_to_check,
    open_documents,
    to_check,
    to_settle,
    waiting_by_mode,
)
from base import keymap
from base.errors import Refused
from base.pagination import parse_key
from base.requests import PageRequest, refusal_as_message

# How long the page offers to undo a check with one key.
UNDO_OFFERED = timedelta(hours=1)


# The most labels that are sent at once.
MAX_LABELS = 50
NOTHING_TO_CHECK = "There is nothing more for you to check in this sample."
NOTHING_TO_SETTLE = "There is nothing more for you to settle in this sample."
NOTHING_IN_MODE = "You have no more labels in this mode."
CHECKED_BY_TWO = "Two people have checked this one already."
PAUSED = "The project is paused, so it gives out no labels to check."
NOT_OPEN = "This label is not open to you: its document was taken out, or you know it already."
NOTHING_HERE_TO_SETTLE = "There is nothing for you to settle in that label."


@dataclass(frozen=True)
class CheckingSession:
    """The labels of one person in the order in which they are checked, and their answers."""

    # Every label the person has answered or can answer, in the order of its key.
    order: list[int]
    answers: dict[int, Check]
    settles: bool

    @property
    def left(self) -> int:
        """How many labels the person can still answer."""
        return len(self.order) - len(self.answers)

    @property
    def sums(self) -> Counter[int | None]:
        """How many labels have each grade; None: they could not be judged."""
        return Counter(check.relevance for check in self.answers.values())

    @property
    def history(self) -> list[int]:
        """The labels whose answer can be undone, the latest answer last."""
        since = timezone.now() - UNDO_OFFERED
        undoable = [
            check
            for check in self.answers.values()
            if check.at > since and check.reason_read_at is None
        ]
        return [check.item_id for check in sorted(undoable, key=lambda check: (check.at, check.pk))]

    @property
    def last(self) -> Check | None:
        """The person's latest answer, if undo is offered for it."""
        return self.answers[self.history[-1]] if self.history else None

    def position(self, item: int) -> int:
        """Return the position of a label, from 1."""
        return self.order.index(item) + 1

    def beside(self, item: int, step: int) -> int | None:
        """Return the label before (-1) or after (1) this one, answered or not."""
        at = self.order.index(item) + step
        return self.order[at] if 0 <= at < len(self.order) else None


def read_session(member: Membership, item: SampleItem, *, settles: bool) -> CheckingSession:
    """Return the session in which `member` answers `item`: the labels of its sample or, if the
    project's kind checks in modes, all labels of its mode. Two queries.
    """
    mine = Check.objects.current().filter(_place(settles), checker=member)
    waiting: QuerySet[SampleItem] = to_settle(member, item.sample)
    if settles or not checks_in_modes(member.project):
        mine = mine.filter(item__sample=item.sample_id)
    else:
        side = item.narrative.side
        mine = mine.filter(item__sample__project=member.project_id, item__narrative__side=side)
    if not settles:
        waiting = waiting_labels(member, item)
    # A paused project gives nobody a next label to check, and still shows what was answered.
    gives = settles or member.project.gives_out_tasks
    open_labels = list(waiting.values_list("pk", flat=True)) if gives else []
    answers = {check.item_id: check for check in mine}
    return CheckingSession(sorted({*open_labels, *answers}), answers, settles)


def waiting_labels(member: Membership, item: SampleItem) -> QuerySet[SampleItem]:
    """Return the labels that `member` can check in the session of `item`."""
    if checks_in_modes(member.project):
        return to_check(member).filter(narrative__side=item.narrative.side)
    return to_check(member, item.sample)


def session_data(
    member: Membership,
    item: SampleItem,
    session: CheckingSession,
    grades: list[Grade],
    grade_keys: dict[int, str],
) -> dict[str, Any]:
    """Return the data on a checking session for the page's script, to be written as JSON."""
    page, start = (
        ("audit:settlement", "audit:settling")
        if session.settles
        else ("audit:check", "audit:checking")
    )
    return {
        "user": member.user_id,
        "task": "settle" if session.settles else "check",
        "candidate": item.pk,
        "order": session.order,
        "answers": {
            label: ["check", check.relevance, str(check.uuid)]
            for label, check in session.answers.items()
        },
        "history": session.history,
        "grades": [
            {"value": grade.value, "name": grade.name, "key": grade_keys[grade.value]}
            for grade in grades
        ],
        "urls": {
            "documents": reverse("audit:labels", args=[item.sample_id])
            + ("?settles=1" if session.settles else ""),
            "judging": reverse(start, args=[item.sample_id]),
            "candidate": reverse(page, args=[0]),
        },
    }


def _place(settles: bool) -> Q:
    return Q(place=Check.SETTLES) if settles else ~Q(place=Check.SETTLES)


@dataclass(frozen=True)
class LabelView:
    """One claimed label with its document, its position and the checker's answer to it."""

    item: SampleItem
    position: int
    shown: DocumentPane
    # The id is shown once the checker has no open answer about the document.
    name: Name
    conditions: list[Condition]
    answer: Check | None
    # For who settles: the answers of the two, without their names.
    answers: list[Check]
    claimed_breaks: list[int] | None

    @property
    def sample(self) -> Sample:
        """The sample of the label."""
        return self.item.sample

    @property
    def text_version(self) -> int:
        """The version of the text that is shown; 0 if there is no text."""
        return self.shown.text_version

    @property
    def counts(self) -> bool:
        """Whether conditions are answered instead of a grade."""
        return self.sample.asks == Sample.Asks.COUNT

    @property
    def questions(self) -> bool:
        """Whether two questions are answered instead of a grade."""
        return self.sample.asks == Sample.Asks.QUESTIONS

    @property
    def answer_json(self) -> str:
        """The checker's answer for the page's script: the fields of the form that gives it."""
        return json.dumps(_answer_data(self.answer), ensure_ascii=False, separators=(",", ":"))


def label_views(
    member: Membership, session: CheckingSession, items: Iterable[SampleItem]
) -> list[LabelView]:
    """Return the views of `items`, except those not in the session.

    The items come with sample, narrative, pair, query and document. One query for all texts, and
    for each narrative one for its conditions and one for the words to mark.
    """
    items = [item for item in items if item.pk in set(session.order)]
    texts = dict(
        DocumentText.objects.filter(
            document__in={item.candidate.document_id for item in items},
            version=F("document__text_version"),
        ).values_list("document", "text")
    )
    narratives = {item.narrative_id: item.narrative for item in items}
    words = {pk: words_to_mark(narrative.pair, narrative) for pk, narrative in narratives.items()}
    conditions = {
        pk: list(narrative.conditions.order_by("number")) for pk, narrative in narratives.items()
    }
    still_open = open_documents(member, {item.candidate.document_id for item in items})
    views = []
    for item in items:
        answer = session.answers.get(item.pk)
        document = item.candidate.document
        has_open_labels = document.pk in still_open
        hidden = answer is None or (not session.settles and has_open_labels)
        views.append(
            LabelView(
                item=item,
                position=session.position(item.pk),
                shown=build_pane(document, texts.get(document.pk), words[item.narrative_id]),
                name=name_of(document, member.project, hidden=hidden),
                conditions=conditions[item.narrative_id],
                answer=answer,
                answers=_answers_of_the_two(item) if session.settles else [],
                claimed_breaks=claimed_breaks_for(
                    member, item, answer=answer, has_open_labels=has_open_labels
                )
                if answer
                else None,
            )
        )
    return views


def _answers_of_the_two(item: SampleItem) -> list[Check]:
    checks = Check.objects.current().filter(item=item).exclude(place=Check.SETTLES)
    return list(checks.order_by("place"))


def _answer_data(check: Check | None) -> dict[str, Any]:
    if check is None:
        return {}
    verdicts = {f"{VERDICT_PREFIX}{key}": answer for key, answer in check.answers().items()}
    replies = {
        question.column: reply
        for question in Question
        if (reply := getattr(check, question.column))
    }
    unable = check.cannot_judge and not verdicts and not replies
    return {
        "kind": "check",
        "uuid": str(check.uuid),
        "note": "" if unable else check.words,
        "fields": {**verdicts, **replies},
        "final": check.reason_read_at is not None,
    }


@require_GET
def start(request: PageRequest, pk: int, *, settles: bool) -> HttpResponse:
    """Redirect to the next label that the reader can check or, if it `settles`, on which two others
    differ.
    """
    return _redirect_to_next(request, *access.sample(request.user, pk), settles=settles)


@require_http_methods(["GET", "POST"])
@gzip_page
@never_cache  # a cached page would show answers that are no longer current
def label(request: PageRequest, pk: int, *, settles: bool) -> HttpResponse:
    """Show a document and its narrative, to a third person also the two checks, and record the
    reader's answer; then go to the next.
    """
    member, item = access.item(request.user, pk)
    save = actions.settle if settles else actions.check
    is_saved, error = _save_answer(request, member, item, save)
    if not is_saved:
        session = read_session(member, item, settles=settles)
        if item.pk in session.order:
            return _render_page(request, member, item, session, error)
        mine = Check.objects.current().filter(item=item, checker=member).first()
        if mine is not None and mine.place == Check.SETTLES and not settles:
            return redirect("audit:settlement", item.pk)
        nothing = NOTHING_HERE_TO_SETTLE if settles else _why_not_open(member, item)
        messages.info(request, error or nothing)
    return _redirect_to_next(request, member, item.sample, item, settles=settles)


def _why_not_open(member: Membership, item: SampleItem) -> str:
    """Return why a member cannot check a label."""
    if Check.objects.current().filter(item=item, place__lt=Check.SETTLES).count() == 2:
        return CHECKED_BY_TWO
    return NOT_OPEN if member.project.paused_at is None else PAUSED


@require_GET
@gzip_page
@never_cache
def labels(request: PageRequest, pk: int) -> HttpResponse:
    """Render requested labels (`?candidate=93&candidate=94`) for the script to keep ready; with
    `?settles=1` for who settles them.
    """
    member, sample = access.sample(request.user, pk)
    numbers = [parse_key(value) for value in request.GET.getlist("candidate")[:MAX_LABELS]]
    items = access.items_of(sample.project, [number for number in numbers if number is not None])
    settles = "settles" in request.GET
    # They are all of one session; a label of another one is left out.
    session = read_session(member, items[0], settles=settles) if items else None
    views = label_views(member, session, items) if session is not None else []
    modes = MODES if checks_in_modes(member.project) and not settles else ()
    context = {
        "label_views": views,
        **_page_context(request, member),
        "settling": settles,
        "modes": modes,
    }
    return render(request, "checks/labels.html", {"project": sample.project, **context})


@require_POST
def check_withdrawal(request: PageRequest, pk: int) -> HttpResponse:
    """Withdraw the reader's check of a label, and show the label again."""
    member, item = access.item(request.user, pk)
    with refusal_as_message(request):
        taken = actions.withdraw_check(item=item, by=member)
        if taken is not None:
            messages.success(request, "Your answer is withdrawn.")
            return _redirect_to_answer(taken)
        messages.info(request, "You have no answer here to withdraw.")
    return redirect(item.sample)


@require_POST
def check_reason(request: PageRequest, pk: int) -> HttpResponse:
    """Record that the reader reads the reason, and show it; their answer can no longer change."""
    member, item = access.item(request.user, pk)
    try:
        return _redirect_to_answer(actions.read_reason(item=item, by=member))
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect(item.sample)


def _redirect_to_answer(mine: Check) -> HttpResponse:
    settles = mine.place == Check.SETTLES
    return redirect("audit:settlement" if settles else "audit:check", mine.item_id)


def _save_answer(
    request: PageRequest, member: Membership, item: SampleItem, save: Callable[..., Check]
) -> tuple[bool, str]:
    """Save an answer that was sent; return whether it is saved, and why it was refused."""
    if request.method != "POST":
        return False, ""
    form = CheckForm(item.sample.asks, request.POST)
    try:
        if not form.is_valid():
            raise Refused(form.sentence())
        save(item=item, by=member, **form.answer())
    except Refused as refused:
        return False, str(refused)
    return True, ""


def _page_context(request: PageRequest, member: Membership) -> dict[str, Any]:
    """Return what the page shows beside the label: the grades with their keys, and the key map."""
    grades = list(member.project.grades.order_by("value"))
    keys = keymap.keys_for(request.user)
    of_grade = keymap.grade_keys(grades, keymap.keys_on_page("work", keys))
    for grade in grades:
        grade.key = of_grade[grade.value]
    return {"grades": grades, "grade_keys": of_grade, "keys": keys}


def _render_page(
    request: PageRequest,
    member: Membership,
    item: SampleItem,
    session: CheckingSession,
    error: str,
) -> HttpResponse:
    """Render the page of a label; `error`: why the answer that was just sent is refused."""
    context = _page_context(request, member)
    (view,) = label_views(member, session, [item])
    answer = view.answer
    unable = (
        answer is not None and answer.cannot_judge and not answer.verdicts and not answer.on_topic
    )
    stored = answer.words if answer is not None else ""
    words = request.POST.get("words", stored)
    modes = [] if session.settles else _mode_links(member, item)
    context |= {
        "view": view,
        "sample": item.sample,
        "name": item.sample.name_for(member),
        "item": item,
        "answer": answer,
        "questions": _question_rows(request, answer) if view.questions else [],
        "saved_at": answer.at if answer is not None else None,
        "guideline": Guideline.objects.latest_of(member.project),
        "judging_session": session_data(
            member, item, session, context["grades"], context["grade_keys"]
        ),
        "settling": session.settles,
        "session": session,
        "note": "" if unable or "cannot_judge" in request.POST else words,
        "unable": words if unable or "cannot_judge" in request.POST else "",
        "end_title": _end_title(session, modes),
        "modes": modes,
        "other_modes": [mode for mode in modes if mode["url"] and not mode["is_here"]],
        "previous_url": _label_url(session, session.beside(item.pk, -1)),
        "next_url": _label_url(session, session.beside(item.pk, 1)),
        "uuid": uuid.uuid4(),
        "error": error,
    }
    status = 422 if error else 200
    return project_page(request, "checks/check.html", member, "checks", status=status, **context)


def _end_title(session: CheckingSession, modes: list[dict[str, Any]]) -> str:
    """Return the heading of the card after the last label."""
    if session.settles:
        return NOTHING_TO_SETTLE
    return NOTHING_IN_MODE if modes else NOTHING_TO_CHECK


def _question_rows(request: PageRequest, answer: Check | None) -> list[dict[str, Any]]:
    """Return the two questions with the reader's replies: those just sent, else the stored ones."""
    return [
        {
            "id": question.column,
            "number": question.number,
            "text": question.sentence,
            "answer": request.POST.get(question.column)
            or (getattr(answer, question.column) if answer else ""),
        }
        for question in Question
    ]


def _label_url(session: CheckingSession, item: int | None) -> str:
    if item is None:
        return ""
    return reverse("audit:settlement" if session.settles else "audit:check", args=[item])


def _mode_links(member: Membership, item: SampleItem) -> list[dict[str, Any]]:
    """Return the modes with how many labels the reader can check in each; an empty list if the kind
    of project has no modes. One query.
    """
    if not checks_in_modes(member.project):
        return []
    waiting = waiting_by_mode(member)
    links = []
    for mode in MODES:
        left, onward = waiting.get(mode, (0, None))
        links.append(
            {
                "mode": mode,
                "left": left,
                "is_here": mode == item.narrative.side,
                "url": reverse("audit:check", args=[onward]) if onward else "",
            }
        )
    return links


def _redirect_to_next(
    request: PageRequest,
    member: Membership,
    sample: Sample,
    after: SampleItem | None = None,
    *,
    settles: bool = False,
) -> HttpResponse:
    """Redirect to the next label that the reader can check or settle, or say that none is left."""
    key = after.pk if after else None
    if settles:
        onward = next_item(to_settle(member, sample), key)
    else:
        waiting = waiting_labels(member, after) if after else to_check(member, sample)
        onward = next_to_check(member, waiting, key)
    if onward is not None:
        return redirect("audit:settlement" if settles else "audit:check", onward)
    # The page of a paused or archived project already says that it is.
    if settles or member.project.gives_out_tasks:
        if not settles and checks_in_modes(member.project) and waiting_by_mode(member):
            messages.info(request, f"{NOTHING_IN_MODE} Continue with another mode.")
            return redirect("audit:checks", member.project.slug)
        messages.info(request, NOTHING_TO_SETTLE if settles else NOTHING_TO_CHECK)
    return redirect(sample)
