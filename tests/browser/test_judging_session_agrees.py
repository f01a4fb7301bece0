"""The rule for the next document exists in Python and in the browser, and both agree."""

from __future__ import annotations

import random
from typing import Any

from django.templatetags.static import static

from annotate.judging.judging_session import JudgingSession

ASK = """async ([address, cases]) => {
    const { JudgingSession } = await import(address);
    return cases.map(({ order, said, asked, after }) => {
        const at = new JudgingSession({ order, said, asked });
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
        said: dict[int, list[Any]] = {}
        for candidate in order:
            match draw.randrange(6):
                case 0 | 1:
                    said[candidate] = ["judgment", draw.randrange(3), f"j{candidate}"]
                case 2:
                    said[candidate] = ["flag", "later", f"f{candidate}"]
                case 3:
                    kind = draw.choice(["cannot_judge", "problem"])
                    said[candidate] = ["flag", kind, f"x{candidate}"]
        asked = [uuid for _, _, uuid in said.values() if uuid[0] != "x" and draw.randrange(3) == 0]
        made.append({"order": order, "said": said, "asked": asked, "after": draw.choice(order)})
    return made


def results_of_the_server(case: dict[str, Any]) -> list[Any]:
    """Return the results of annotate.judging.judging_session.JudgingSession for a case."""
    said = case["said"].items()
    at = JudgingSession(
        order=case["order"],
        judged={candidate: value for candidate, (kind, value, _) in said if kind == "judgment"},
        flagged={candidate: value for candidate, (kind, value, _) in said if kind == "flag"},
        again=frozenset(
            candidate
            for candidate, (kind, _, uuid) in said
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

    told = page.evaluate(ASK, [static("js/judging/judging-session.js"), drawn])

    assert told == [results_of_the_server(case) for case in drawn]


STATEMENTS = """async (address) => {
    const { JudgingSession } = await import(address);
    const judgment = (uuid, candidate, relevance) =>
        ({ uuid, kind: "judgment", candidate, relevance });
    const undo = (uuid, undoes) => ({ uuid, kind: "undo", undoes });
    const at = new JudgingSession({
        order: [1, 2, 3], said: { 1: ["judgment", 0, "a"] }, history: [1],
    });
    const told = [];
    const tell = () => told.push([1, 2, 3].map((one) => at.said(one)?.value ?? null));
    at.apply(judgment("b", 2, 1)); tell();
    at.apply(judgment("c", 1, 2)); tell();
    at.apply(judgment("c", 1, 2)); tell();
    at.apply(undo("d", at.last().uuid)); tell();
    at.apply(undo("e", at.last().uuid)); tell();
    at.withdraw(undo("e", "b")); tell();
    at.withdraw(judgment("b", 2, 1)); tell();
    at.apply(undo("f", at.last().uuid)); tell();
    return [told, at.last()];
}"""


def test_undone_or_refused_answers_restore_the_previous_ones(page):
    page.goto("/accounts/login/")

    told, last = page.evaluate(STATEMENTS, static("js/judging/judging-session.js"))

    assert told == [
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
