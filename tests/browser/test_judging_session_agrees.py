"""The rule for the next document exists in Python and in the browser, and both agree."""

from __future__ import annotations

import random
from typing import Any

from django.templatetags.static import static

from annotate.judging.judging_session import JudgingSession

ASK = """async ([address, cases]) => {
    const { JudgingSession } = await import(address);
    return cases.map(({ order, answers, asked, after }) => {
        const at = new JudgingSession({ order, answers, asked });
        return [at.total, at.settled, at.done, at.next(), at.next(after), at.before(after),
                at.following(after)];
    });
}"""


def cases() -> list[dict[str, Any]]:
    """Return a thousand random judging sessions of up to nine documents.

    Each document is judged, flagged in one of three ways, or neither; some answers are asked for
    again.
    """
    draw = random.Random(20_250_101)
    made = []
    for _ in range(1_000):
        order = draw.sample(range(1, 100), draw.randint(1, 9))
        answers: dict[int, list[Any]] = {}
        for candidate in order:
            match draw.randrange(6):
                case 0 | 1:
                    answers[candidate] = ["judgment", draw.randrange(3), f"j{candidate}"]
                case 2:
                    answers[candidate] = ["flag", "later", f"f{candidate}"]
                case 3:
                    kind = draw.choice(["cannot_judge", "problem"])
                    answers[candidate] = ["flag", kind, f"x{candidate}"]
        asked = [
            uuid for _, _, uuid in answers.values() if uuid[0] != "x" and draw.randrange(3) == 0
        ]
        made.append(
            {"order": order, "answers": answers, "asked": asked, "after": draw.choice(order)}
        )
    return made


def results_of_the_server(case: dict[str, Any]) -> list[Any]:
    """Return the results of annotate.judging.judging_session.JudgingSession for a case."""
    answers = case["answers"].items()
    at = JudgingSession(
        order=case["order"],
        judged={candidate: value for candidate, (kind, value, _) in answers if kind == "judgment"},
        flagged={candidate: value for candidate, (kind, value, _) in answers if kind == "flag"},
        again=frozenset(
            candidate
            for candidate, (kind, _, uuid) in answers
            if kind == "judgment" and uuid in case["asked"]
        ),
    )
    after = case["after"]
    return [
        *(at.total, at.settled, at.done),
        *(at.next(), at.next(after), at.before(after), at.following(after)),
    ]


def test_the_browser_and_the_server_find_the_same_next_document(page):
    page.goto("/accounts/login/")
    drawn = cases()

    found = page.evaluate(ASK, [static("js/judging/judging-session.js"), drawn])

    assert found == [results_of_the_server(case) for case in drawn]


STATEMENTS = """async (address) => {
    const { JudgingSession } = await import(address);
    const judgment = (uuid, candidate, relevance) =>
        ({ uuid, kind: "judgment", candidate, relevance });
    const undo = (uuid, undoes) => ({ uuid, kind: "undo", undoes });
    const at = new JudgingSession({
        order: [1, 2, 3], answers: { 1: ["judgment", 0, "a"] }, history: [1],
    });
    const found = [];
    const note = () => found.push([1, 2, 3].map((one) => at.answerOf(one)?.value ?? null));
    at.apply(judgment("b", 2, 1)); note();
    at.apply(judgment("c", 1, 2)); note();
    at.apply(judgment("c", 1, 2)); note();
    at.apply(undo("d", at.last().uuid)); note();
    at.apply(undo("e", at.last().uuid)); note();
    at.withdraw(undo("e", "b")); note();
    at.withdraw(judgment("b", 2, 1)); note();
    at.apply(undo("f", at.last().uuid)); note();
    return [found, at.last()];
}"""


def test_undone_or_refused_answers_restore_the_previous_ones(page):
    page.goto("/accounts/login/")

    found, last = page.evaluate(STATEMENTS, static("js/judging/judging-session.js"))

    assert found == [
        [0, 1, None],
        [2, 1, None],  # 1 was judged again
        [2, 1, None],  # applied twice, it counts once
        [0, 1, None],  # undone: the earlier judgment of 1 is current again
        [0, None, None],  # the one before it, of 2, is undone too
        [0, 1, None],  # that undo was refused
        [0, None, None],  # the judgment itself was refused
        [None, None, None],
    ]
    assert last is None
