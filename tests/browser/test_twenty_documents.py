"""Twenty documents by keys alone: the export has exactly what was pressed."""

from __future__ import annotations

import json
from io import StringIO

from django.core.management import call_command
from playwright.sync_api import expect

from annotate.judging.judging_session import judging_order
from annotate.judgments import assignments
from annotate.models import Assignment, Flag, Judgment, Project
from tests import factories
from tests.browser import waiting
from tests.browser.waiting import until

TEXT = "Tides turn mills. Plants at sea turn tides into power."


def test_twenty_documents_by_keys_alone_are_exported_as_they_were_judged(
    live_server, new_person, tmp_path
):
    project = factories.project("tides", judge_order=Project.Order.DOC_ID)
    query = factories.query(project)
    for number in range(20):
        factories.candidate(query, f"D{number:02}", text=TEXT)
    pair = factories.pair(query)
    ada = factories.member(project, "ada")
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
    of_candidate = dict(query.candidates.values_list("pk", "document__doc_id"))
    names = [of_candidate[key] for key in judging_order(pair=pair, by=ada)]
    page = new_person("ada")
    page.goto(f"/pairs/{pair.pk}/judging/")
    keyboard = page.keyboard

    def shows(number: int) -> None:
        waiting.shows(page, names[number])

    def press(keys: str, first: int) -> None:
        for number, key in enumerate(keys, first):
            shows(number)
            keyboard.press(key)

    press("01201", first=0)
    for number in (5, 4, 3):
        shows(number)
        keyboard.press("z")
    press("111", first=2)
    shows(5)
    keyboard.press("p")
    keyboard.type("It is cut off 2.")
    keyboard.press("Control+Enter")
    shows(6)
    keyboard.press("e")
    keyboard.press("Shift+ArrowRight")
    keyboard.press("Enter")
    keyboard.press("2")
    shows(7)
    keyboard.press("c")
    keyboard.type("The table is missing.")
    keyboard.press("Control+Enter")
    press("012012012012", first=8)
    expect(page.get_by_role("heading", name="Query finished")).to_be_visible()
    expect(page.locator("#judge-progress")).to_have_text("20 of 20")
    until(
        page,
        lambda: (Judgment.objects.count(), Flag.objects.count()) == (21, 2),
        "21 judgments, 3 of them taken back, and 2 flags",
    )

    call_command("export", "tides", "jsonl", output=str(tmp_path / "out"), stdout=StringIO())

    judgments = lines(tmp_path, "judgments")
    counted = {line["doc_id"]: line for line in judgments if not line.get("superseded_at")}
    assert {doc_id: line["relevance"] for doc_id, line in counted.items()} == {
        names[0]: 0,
        names[1]: 1,
        names[2]: 1,
        names[3]: 1,
        names[4]: 1,
        names[6]: 2,
        **{names[number]: (number - 8) % 3 for number in range(8, 20)},
    }
    taken_back = [line for line in judgments if line.get("withdrawn_at")]
    assert {line["doc_id"]: line["relevance"] for line in taken_back} == {
        names[2]: 2,
        names[3]: 0,
        names[4]: 1,
    }
    assert len(taken_back) == 3
    assert len(judgments) == 21
    marked = {doc_id: line["evidence"] for doc_id, line in counted.items() if line.get("evidence")}
    (span,) = marked.pop(names[6])
    assert marked == {}
    assert TEXT[span["start"] : span["end"]] == "Tides turn"
    assert {line["pressed"] for line in judgments} == {"key"}
    flags = [(line["doc_id"], line["kind"], line["words"]) for line in lines(tmp_path, "flags")]
    assert sorted(flags) == sorted(
        [
            (names[5], "problem", "It is cut off 2."),
            (names[7], "cannot_judge", "The table is missing."),
        ]
    )


def lines(folder, name):
    with (folder / "out" / f"{name}.jsonl").open(encoding="utf-8") as file:
        return sorted(map(json.loads, file), key=lambda line: (line["doc_id"], line["uuid"]))
