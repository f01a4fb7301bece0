"""FollowTable's protocol on its own instructions, as two auditors and a lead follow it.

Four instructions of IndusTR are loaded and rated by keys; one is rejected with words, rewritten by
a second generator, rated again and accepted; five tables of each are checked; the agreement is
read; a release is made and exported twice.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect

from annotate.models import InstructionPair, Narrative
from audit.models import Sample
from tests import factories
from tests.browser.test_releasing import archive, release
from tests.browser.waiting import document_on, press, saved

pytestmark = pytest.mark.long

# Two instructions of each of two queries, by their original positions.
ENTRIES = (0, 49)
EACH = 2
# The keys that each presses for the six criteria: 3 excellent, 2 acceptable, 1 poor.
ADA = {"0_0": "333332", "0_1": "323133", "49_0": "332323", "49_1": "223333"}
BEN = {"0_0": "333333", "0_1": "323233", "49_0": "332323", "49_1": "222333"}
# The instruction that is rejected, and the keys that both press once it is rewritten.
REJECTED, AGAIN = "0_1", "333333"
# The machine that answers; the one that wrote the instructions claims the labels of the others.
SECOND_MACHINE = "gen-2"
WORDS = "It names the very values of one table."
ANEW = (
    "Keep to tables that give a minimum discharge time for an extinguisher's rating. "
    "Fill masses do not matter."
)


@pytest.fixture
def industr(shared_data, tmp_path) -> Path:
    """A zip archive of the two queries with their tables, as FollowTable lays them out."""
    folder = shared_data / "followtable" / "IndusTR"
    entries = json.loads((folder / "query_instruction.json").read_text(encoding="utf-8"))
    positions = json.loads((folder / "index_map.json").read_text(encoding="utf-8"))
    chosen = [
        {**one, "outs": one["outs"][:EACH]}
        for place, one in enumerate(entries)
        if positions[str(place)] in ENTRIES
    ]
    used = [positions[str(place)] for place in range(len(entries))]
    used = [position for position in used if position in ENTRIES]
    names = {name for one in chosen for name in one["query_positive"]}
    names |= {name for one in chosen for out in one["outs"] for name in out["all_tables"]}
    archive: Path = tmp_path / "industr.zip"
    with zipfile.ZipFile(archive, "w") as into:
        into.writestr("query_instruction.json", json.dumps(chosen))
        into.writestr("index_map.json", json.dumps({str(n): p for n, p in enumerate(used)}))
        for name in sorted(names):
            into.write(folder / "tables" / name, f"tables/{name}")
    return archive


def claims_of(archive: Path) -> dict[str, dict[str, int]]:
    """Return the file's claim for every table of each instruction's pool, by pair and table."""
    with zipfile.ZipFile(archive) as files:
        entries = json.loads(files.read("query_instruction.json"))
        positions = json.loads(files.read("index_map.json"))
    return {
        f"{positions[str(place)]}_{number}": {
            name.removesuffix(".txt"): int(name in out["instruction_positive"])
            for name in out["all_tables"]
        }
        for place, one in enumerate(entries)
        for number, out in enumerate(one["outs"])
    }


def labels_in(qrels: bytes) -> dict[str, dict[str, int]]:
    """Return the labels of a qrels file by topic and table; none may occur twice."""
    found: dict[str, dict[str, int]] = {}
    for line in qrels.decode().splitlines():
        topic, zero, doc_id, relevance = line.split(" ")
        assert zero == "0"
        assert doc_id not in found.setdefault(topic, {})
        found[topic][doc_id] = int(relevance)
    return found


def upload(page: Page, kind: str, name: str, content: bytes) -> None:
    """Load a file through its page: preview it, then load it."""
    page.goto("/projects/tides/loads/")
    page.get_by_label("One or more files").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    )
    page.get_by_text("Choose another, or more options").click()
    page.get_by_label(re.compile(f"^{kind}")).check()
    page.get_by_role("button", name="Check the file").click()
    expect(page.get_by_role("heading", name="What would change")).to_be_visible()
    page.get_by_role("button", name="Load it").click()
    expect(page.get_by_role("heading", name="What has changed")).to_be_visible()


def review(page: Page, levels: dict[str, str]) -> list[str]:
    """Rate the open reviews by keys; return the instructions in the order they were shown."""
    seen: list[str] = []
    for _ in levels:
        page.goto("/projects/tides/reviews/")
        press(page, "Enter")
        pair_id = page.locator(".judge__place .id").inner_text()
        seen.append(pair_id)
        rated = page.locator("#judge-progress")
        expect(rated).to_have_text("0 of 6")
        for key in levels[pair_id]:
            page.keyboard.press(key)
            if key == "1":
                page.keyboard.type(WORDS)
                page.keyboard.press("Enter")
        expect(rated).to_have_text("6 of 6")
        expect(page.get_by_role("heading", name="Submit this review?")).to_be_visible()
        press(page, "Enter")
        expect(page.get_by_text("What the others said")).to_be_visible()
    assert sorted(seen) == sorted(levels)
    return seen


def generator_answer(rejected: dict[str, Any]) -> bytes:
    """Return the answer of a generator: the next version, and its claim about each table."""
    claims = Narrative.objects.get(pair__pair_id=rejected["pair_id"], side="altered").statements
    lines: list[dict[str, Any]] = [
        {
            "pair_id": rejected["pair_id"],
            "query_id": rejected["query_id"],
            "origin": "llm",
            "narratives": [{"side": "altered", "version": rejected["version"] + 1, "text": ANEW}],
        }
    ]
    lines += [
        {
            "type": "claim",
            "pair_id": rejected["pair_id"],
            "doc_id": claim.candidate.document.doc_id,
            "relevance": claim.relevance,
            "rater": SECOND_MACHINE,
        }
        for claim in claims.select_related("candidate__document").order_by("pk")
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def shown_document(page: Page) -> str:
    """Return the table and the instruction that a checker is shown."""
    doc_id = document_on(page)
    return doc_id + page.locator(".judge__question .id").first.inner_text()


def check_all(page: Page, sample: Sample, answers: dict[str, int]) -> None:
    """Press a grade for every label, in the order in which they are shown."""
    page.goto(f"/samples/{sample.pk}/checking/")
    seen = []
    for _ in answers:
        seen.append(shown_document(page))
        page.keyboard.press(str(answers[seen[-1]]))
        expect(page.locator("#judge-progress")).to_contain_text(f"{len(seen)} of")
    saved(page)
    assert sorted(seen) == sorted(answers)


def decide(page: Page, pair_id: str, key: str, reason: str = "") -> None:
    """Open an instruction that waits for a decision, and decide it."""
    page.goto("/projects/tides/reviews/?state=to-decide")
    page.get_by_role("link", name=pair_id, exact=True).click()
    page.wait_for_load_state()
    page.keyboard.press(key)
    if reason:
        page.get_by_label("Because").fill(reason)
    with page.expect_navigation():
        page.get_by_role("button", name="Decide").click()
    expect(page.get_by_text(f"{pair_id}: ")).to_be_visible()


def test_from_generated_instructions_to_a_release(
    live_server, new_person, redis_worker, industr, tmp_path
):
    project = factories.project("tides", grades=(0, 1), overlap_review=2)
    factories.member(project, "ada")
    factories.member(project, "ben")
    factories.lead(project, "carla")
    ada, ben, carla = new_person("ada"), new_person("ben"), new_person("carla")

    upload(carla, "FollowTable", "industr.zip", industr.read_bytes())
    assert set(InstructionPair.objects.values_list("pair_id", flat=True)) == set(ADA)

    review(ada, ADA)
    review(ben, BEN)
    carla.goto("/projects/tides/disagreements/")
    for pair_id in sorted(set(ADA) - {REJECTED}):
        decide(carla, pair_id, "3")
    decide(carla, REJECTED, "2", "One auditor is right: say it without the values.")

    # The generator gets the words, and answers with a new version and its claims.
    carla.goto("/projects/tides/reviews/?state=sent-back")
    with carla.expect_download() as download:
        carla.get_by_role("link", name="File for the generator").click()
    rejected = [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()]
    assert [one["pair_id"] for one in rejected] == [REJECTED]
    assert [(one["criterion"], one["answers"]) for one in rejected[0]["criteria"]] == [
        ("constraint_abstraction", [{"level": "poor", "words": WORDS}])
    ]
    upload(carla, "Instruction pairs", "answer.jsonl", generator_answer(rejected[0]))

    for page in (ada, ben):
        review(page, {REJECTED: AGAIN})
    decide(carla, REJECTED, "3")
    carla.goto(f"/pairs/{InstructionPair.objects.get(pair_id=REJECTED).pk}/story/")
    for words in (WORDS, "say it without the values", "Version 2", "Version 1"):
        expect(carla.get_by_text(words).first).to_be_visible()

    # Five tables of each instruction are drawn, and checked by two.
    carla.goto("/projects/tides/checks/new/")
    carla.get_by_label("Name", exact=True).fill("Five tables each")
    carla.get_by_label("Labels to check").select_option("claims")
    carla.get_by_label("Strata").select_option("category")
    carla.get_by_label("How many").fill("5")
    carla.get_by_label("Of what").select_option("instruction")
    carla.get_by_role("button", name="Draw the sample").click()
    expect(carla.get_by_text("The sample is drawn.")).to_be_visible()
    sample = Sample.objects.get()
    claimed = {
        item.candidate.document.doc_id + item.narrative.pair.pair_id: item.claimed
        for item in sample.items.select_related("candidate__document", "narrative__pair")
    }
    assert len(claimed) == 5 * len(ADA)
    # ben disagrees on three of them; on two of these the third checker agrees with him.
    apart = sorted(claimed)[:3]
    check_all(ada, sample, claimed)
    check_all(ben, sample, {**claimed, **{key: 1 - claimed[key] for key in apart}})
    settled = {**{key: 1 - claimed[key] for key in apart}, apart[0]: claimed[apart[0]]}
    for _ in apart:
        carla.goto(f"/samples/{sample.pk}/settling/")
        carla.keyboard.press(str(settled[shown_document(carla)]))
        saved(carla)
    carla.goto(f"/samples/{sample.pk}/")
    # 2 of 20: the tails at these limits are 2.5%.
    together = carla.locator("#rates-grade tfoot tr")
    for figure in ("20 of 20", "10.0%", "1.2 to 31.7%"):
        expect(together).to_contain_text(figure)
    expect(carla.get_by_role("row", name="percent agreement")).to_contain_text("0.850")

    # Four instructions and the new version of one: 30 ratings, of which 27 are the same. ada says
    # excellent 23 times, acceptable 6, poor 1, ben 23, 7, 0: by chance 571 of 900 would be.
    carla.goto("/projects/tides/agreement/")
    carla.get_by_role("button", name="Compute").click()
    reviews = carla.get_by_role("region", name="Reviews of instructions", exact=True)
    reviews.get_by_text("All coefficients").click()
    every = carla.locator("#agreement-reviews details tbody").first
    expect(every.get_by_role("row", name="percent agreement")).to_contain_text("0.900")
    kappa = every.get_by_role("row", name="Cohen's kappa", exact=False).first
    expect(kappa).to_contain_text("0.726")
    expect(kappa).to_contain_text(re.compile(r"0\.\d{3} to [01]\.\d{3}"))
    expect(kappa).to_contain_text("30")

    # A release keeps the same bytes, even after a decision is withdrawn.
    release(carla, "v1.0")
    archived = archive(carla, "v1.0", tmp_path)
    carla.goto(f"/pairs/{InstructionPair.objects.get(pair_id='0_0').pk}/story/")
    with carla.expect_navigation():
        carla.get_by_role("button", name=re.compile("^Withdraw")).click()
    assert archive(carla, "v1.0", tmp_path) == archived
    call_command(
        "export",
        "tides",
        "trec",
        release="v1.0",
        output=str(tmp_path / "out"),
        stdout=io.StringIO(),
    )
    files = zipfile.ZipFile(io.BytesIO(archived))
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert {name: files.read(name) for name in files.namelist()} == {
        f"tides-trec/{name}": content for name, content in written.items()
    }
    pairs = [line.split("\t")[0] for line in written["pairs.tsv"].decode().splitlines()[1:]]
    assert pairs == sorted(ADA)
    qrels = written["qrels.original.txt"].decode().splitlines()
    # Tables in the first query's pool that are not positives are explicit zeros.
    assert Counter(line.split()[3] for line in qrels) == {"1": 31, "0": 26}

    # Claimed labels of the accepted instructions: 35 tables for each of the first query's, 22 for
    # each of the other's. Two were corrected; on the third the checkers confirmed the claim.
    expected = claims_of(industr)
    for pair_id, labels in expected.items():
        labels |= {name: settled[key] for name in labels if (key := name + pair_id) in settled}
    assert labels_in(written["qrels.claimed.txt"]) == expected
    assert {pair_id: len(labels) for pair_id, labels in expected.items()} == {
        "0_0": 35,
        "0_1": 35,
        "49_0": 22,
        "49_1": 22,
    }
    assert written["topics.claimed.txt"].count(b"<top>") == 4
    assert ANEW.encode() in written["topics.claimed.txt"]
    assert written["qrels.changed.txt"] == b""
    counts = json.loads(written["manifest.json"])["counts"]
    assert (counts["claims"], counts["claims_checked"], counts["claims_corrected"]) == (114, 20, 2)
    columns = [line.split("\t")[4:] for line in written["pairs.tsv"].decode().splitlines()[1:]]
    assert columns == [["claimed only", "yes"]] * 4

    # The instruction whose decision was withdrawn is no longer accepted nor in the next release.
    release(carla, "v1.1")
    files = zipfile.ZipFile(io.BytesIO(archive(carla, "v1.1", tmp_path)))
    del expected["0_0"]
    assert labels_in(files.read("tides-trec/qrels.claimed.txt")) == expected
    carla.goto("/projects/tides/releases/v1.0/v1.1/")
    expect(carla.get_by_text("claimed only")).to_be_visible()
