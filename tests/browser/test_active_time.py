"""Active time counts while the document is visible and in focus and the person is not idle."""

from __future__ import annotations

import pytest
from django.templatetags.static import static

RUN = """async ([address, steps]) => {
    const { Clock } = await import(address);
    let now = 0;
    const clock = new Clock(() => now);
    const seconds = [];
    for (const [at, what, document] of steps) {
        now = at * 1000;
        const result = clock[what](document);
        if (what === "read") seconds.push(result / 1000);
    }
    return seconds;
}"""


@pytest.mark.parametrize(
    ("steps", "seconds"),
    [
        pytest.param(
            [(0, "look"), (0, "turn", 1), (5, "read", 1)],
            [5],
            id="five seconds of reading",
        ),
        pytest.param(
            [(0, "look"), (0, "turn", 1), (20, "touch"), (45, "read", 1)],
            [45],
            id="something was done within every half minute",
        ),
        pytest.param(
            [(0, "look"), (0, "turn", 1), (10, "touch"), (100, "read", 1)],
            [40],
            id="idle: until thirty seconds after the last thing done",
        ),
        pytest.param(
            [(0, "look"), (0, "turn", 1), (5, "away"), (65, "look"), (68, "read", 1)],
            [8],
            id="a minute in another window does not count",
        ),
        pytest.param(
            [(0, "turn", 1), (7, "read", 1), (7, "look"), (9, "read", 1)],
            [0, 2],
            id="a page that is not looked at has no time",
        ),
        pytest.param(
            [
                *[(0, "look"), (0, "turn", 1), (4, "turn", 2), (10, "turn", 1)],
                *[(13, "read", 1), (13, "read", 2), (13, "clear", 1), (15, "read", 1)],
            ],
            [7, 6, 2],
            id="each document has its own time, which goes on when one comes back",
        ),
    ],
)
def test_the_clock_counts_only_time_spent_there(page, steps, seconds):
    page.goto("/accounts/login/")

    assert page.evaluate(RUN, [static("js/judging/clock.js"), steps]) == seconds


SPENT = """async ([address, entries]) => {
    const base = address.slice(0, address.lastIndexOf("/"));
    const { JudgingSession } = await import(`${base}/judging-session.js`);
    const { summarize } = await import(address);
    const pageData = { noted: [], active_ms: { 1: 60000 } };
    const session = { order: [1, 2, 3], answers: { 1: ["judgment", 0, "a"] }, history: [1] };
    const judgingSession = new JudgingSession(session);
    const card = document.createElement("ul");
    for (const name of ["seconds", "minutes", "hours"]) card.dataset[name] = `{count} ${name}`;
    card.innerHTML = "<li data-time><span>Time</span><span></span></li>";
    const known = new Map();
    const number = new Intl.NumberFormat("en");
    const refused = new Set(["refused"]);
    return entries.map((entry) => {
        known.set(entry.uuid, entry);
        judgingSession.apply(entry);
        if (refused.has(entry.uuid)) judgingSession.withdraw(entry);
        const about = { judgingSession, entries: known, address: String, number };
        summarize(card, { given: pageData, ...about });
        return card.textContent;
    });
}"""


def test_the_end_card_adds_up_the_time_with_judged_documents_alone(page):
    page.goto("/accounts/login/")

    def judged(uuid: str, candidate: int, seconds: int) -> dict[str, object]:
        entry = {"uuid": uuid, "kind": "judgment", "candidate": candidate, "relevance": 1}
        return {**entry, "active_ms": seconds * 1_000}

    def undone(uuid: str, candidate: int, undoes: str) -> dict[str, object]:
        return {"uuid": uuid, "kind": "undo", "candidate": candidate, "undoes": undoes}

    times = page.evaluate(
        SPENT,
        [
            static("js/judging/end.js"),
            [
                judged("b", 2, 120),
                judged("refused", 3, 600),
                undone("c", 2, "b"),
                judged("d", 2, 60),
                undone("e", 1, "a"),
            ],
        ],
    )

    # The minute of document 1 was spent before the page was rendered.
    assert times == [
        "Time3 minutes",
        "Time3 minutes",
        "Time1 minutes",
        "Time4 minutes",
        "Time3 minutes",
    ]
