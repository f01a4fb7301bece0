"""The whole workflow: rewrite, judge by keys, settle, export, and read the export back.

And a lead's way through two whole jobs, on as few pages as `LeadsPages` allows.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Collection
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval
from playwright.sync_api import Page, Response, expect

from annotate.judging.actions import judge, narrative_for
from annotate.judgments.assignments import take_next
from annotate.models import Candidate, Judgment, Membership, Narrative, Project
from annotate.rewriting.actions import rewrite_narrative
from audit.checks.actions import check
from audit.models import Sample
from audit.reviews.actions import save_ratings, submit_review, take_review
from audit.reviews.rubrics import current_rubric
from tests import factories
from tests.browser.waiting import document_on, hides, saved, shows

pytestmark = pytest.mark.long

ORIGINAL = "Any plant counts, whether it is planned or at work."
ALTERED = "Any plant counts, whether it is planned or at work, but only at sea."

# The keys that each person presses, by document. They differ on C.
PRESSED = {
    "ada": {"A": "2", "B": "0", "C": "1", "D": "0"},
    "ben": {"A": "2", "B": "0", "C": "0", "D": "0"},
}


@pytest.fixture
def tides(live_server):
    project = factories.project("tides")
    query = factories.query(project, "301", title="tidal power")
    for doc_id in "ABCD":
        factories.candidate(query, doc_id, prior=1, text=f"This is document {doc_id}.")
    factories.candidate(query, "E", prior=0, text="Never relevant.")
    factories.pair(query, original=ORIGINAL, altered=None)
    factories.member(project, "ada")
    factories.member(project, "ben")
    factories.lead(project, "carla")
    return project


def sign_in(page: Page, name: str) -> None:
    page.goto("/")
    page.get_by_label("User name or mail address").fill(name)
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your work")).to_be_visible()


def take_assignment(page: Page, task: str) -> None:
    page.goto("/")
    page.get_by_role("listitem").filter(has_text=task).get_by_role("button").click()


def judge_all(page: Page, grades: dict[str, str]) -> None:
    page.wait_for_load_state()
    for _ in grades:
        shown = document_on(page)
        page.keyboard.press(grades[shown])
        hides(page, shown)
    expect(page.get_by_role("heading", name="Query finished")).to_be_visible()
    saved(page)


def test_from_signing_in_to_qrels(tides, new_person, redis_worker, tmp_path: Path):
    # ada rewrites the narrative and judges.
    ada = new_person()
    sign_in(ada, "ada")
    take_assignment(ada, "Rewrite")
    ada.get_by_label("Altered").fill(ALTERED)
    ada.get_by_role("button", name="Save as a new version").click()
    expect(ada.get_by_text("Version 1 is saved")).to_be_visible()
    take_assignment(ada, "Judge")
    expect(ada.locator(".narrative ins").filter(has_text="but only at sea")).to_be_visible()
    judge_all(ada, PRESSED["ada"])

    # ben judges the same documents, and sees nothing of ada's answers.
    ben = new_person()
    sign_in(ben, "ben")
    take_assignment(ben, "Judge")
    judge_all(ben, PRESSED["ben"])

    # carla settles the disagreement.
    carla = new_person()
    sign_in(carla, "carla")
    carla.goto("/projects/tides/disagreements/")
    carla.keyboard.press("Enter")
    shows(carla, "C")
    expect(carla.get_by_role("region", name="Person A")).to_contain_text("elevant")
    carla.wait_for_load_state()
    carla.keyboard.press("r")
    expect(carla.get_by_role("region", name="ada")).to_contain_text("Relevant")
    expect(carla.get_by_role("region", name="ben")).to_contain_text("Not relevant")
    carla.wait_for_load_state()
    carla.keyboard.press("b")
    carla.keyboard.press("n")
    carla.keyboard.type("A barrage stands in a river mouth.")
    carla.keyboard.press("Escape")
    carla.keyboard.press("0")
    expect(carla.locator(".finished")).to_contain_text("No disagreement is left here")
    saved(carla)

    # carla requests the export and downloads it.
    carla.goto("/projects/tides/exports/")
    carla.get_by_label("TREC").check()
    carla.get_by_role("button", name="Export", exact=True).click()
    link = carla.get_by_role("link", name="All in one archive")
    expect(link).to_be_visible()
    with carla.expect_download() as download:
        link.click()
    archive = tmp_path / "export.zip"
    download.value.save_as(archive)
    files = zipfile.ZipFile(io.BytesIO(archive.read_bytes()))
    original = files.read("tides-trec/qrels.original.txt").decode()
    changed = files.read("tides-trec/qrels.changed.txt").decode()

    # The qrels hold what was pressed, and evaluation tools read them.
    assert original == "301 0 A 1\n301 0 B 1\n301 0 C 1\n301 0 D 1\n301 0 E 0\n"
    assert changed == "301 0 A 2\n301 0 B 0\n301 0 C 0\n301 0 D 0\n301 0 E 0\n"
    read = {(q.query_id, q.doc_id): q.relevance for q in ir_measures.read_trec_qrels(changed)}
    assert read == {
        ("301", "A"): 2,
        ("301", "B"): 0,
        ("301", "C"): 0,
        ("301", "D"): 0,
        ("301", "E"): 0,
    }
    assert pytrec_eval.parse_qrel(io.StringIO(changed)) == {
        "301": {"A": 2, "B": 0, "C": 0, "D": 0, "E": 0}
    }
    for name, grades in PRESSED.items():
        judgments = Judgment.objects.current().filter(annotator__name=name)
        assert {
            row["candidate__document__doc_id"]: str(row["relevance"])
            for row in judgments.values("candidate__document__doc_id", "relevance")
        } == grades


EXAMPLES = Path(__file__).parents[2] / "examples"
# The most pages that a lead opens in a whole job of a kind. What a page does in place opens none.
FOLLOWIR_PAGES, FOLLOWTABLE_PAGES = 18, 18


class LeadsPages:
    """The pages that a lead opens, one after the other.

    A page that a finished job refreshes is not opened again.
    """

    def __init__(self, page: Page) -> None:
        self.opened: list[str] = []
        self.refreshes = 0
        self.page = page
        page.on("response", self.note)

    def note(self, response: Response) -> None:
        if "hx-refresh" in response.headers:
            self.refreshes += 1
        request, kind = response.request, response.headers.get("content-type", "")
        if not request.is_navigation_request() or response.status != 200 or "html" not in kind:
            return
        if self.refreshes:
            self.refreshes -= 1
        else:
            self.opened.append(response.url)


class Lead:
    """A lead's acts on the pages, from a new project to a release."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.pages = LeadsPages(page)

    def press(self, words: str | re.Pattern[str]) -> None:
        self.page.get_by_role("button", name=words).first.click()

    def follow(self, words: str | re.Pattern[str]) -> None:
        self.page.get_by_role("link", name=words).first.click()

    def open_part(self, words: str) -> None:
        """Open a part of the page that is folded."""
        self.page.locator("summary", has_text=words).click()

    def turn_to(self, entry: str) -> None:
        """Open a page by the navigation of the project."""
        links = self.page.get_by_role("navigation").get_by_role("link", name=entry, exact=True)
        links.first.click()

    def reads(self, words: str | re.Pattern[str]) -> None:
        expect(self.page.get_by_text(words).first).to_be_visible()

    def open_work(self) -> None:
        """Come back later, and open what waits."""
        self.page.goto("/")
        self.follow(re.compile("^Open"))

    def make_project(self, name: str, kind: str) -> Project:
        self.page.goto("/")
        self.follow("New project")
        self.page.get_by_label("Name", exact=True).fill(name)
        self.page.get_by_label(re.compile(f"^{kind}")).first.check()
        self.press("Create the project")
        expect(self.page).to_have_url(re.compile("/loads/$"))
        return Project.objects.get()

    def upload(self, *paths: Path) -> None:
        self.page.get_by_label("One or more files").set_input_files(paths)
        self.press("Check the file")

    def invite(self, names: Collection[str]) -> None:
        self.open_part("Invite several people")
        self.page.get_by_label("People", exact=True).fill("\n".join(names))
        self.press("Invite")
        self.reads("was added at once")

    def tick(self, pairs: Collection[str]) -> None:
        for pair in pairs:
            self.page.get_by_label(f"Tick instruction {pair}").check()

    def draw_planned_sample(self, size: int) -> Sample:
        self.turn_to("Checks")
        self.open_part("Draw this sample")
        self.page.get_by_label("How many").fill(str(size))
        self.press("Draw the sample")
        self.reads("The sample is drawn.")
        return Sample.objects.get()

    def settle_together(self) -> None:
        self.follow("Settle these together")
        self.page.get_by_label("Reason").fill("Both read it again.")
        # Documents have a cause, checked labels have none.
        cause = self.page.get_by_role("radio", name="Edge case")
        if cause.count():
            cause.check()
        self.press(re.compile("^Settle [0-9]"))
        self.reads(re.compile("settled together|is settled"))

    def compute_agreement(self) -> None:
        self.turn_to("Agreement")
        self.press("Compute")
        self.reads("For the paper")

    def release(self) -> None:
        """Make a release, from the page of agreement."""
        self.follow("Make a release")
        self.open_part("Change the publication settings")
        self.page.get_by_label("Licence of instructions and labels").fill("CC-BY-4.0")
        self.press("Save these settings")
        self.reads("The publication settings are saved.")
        expect(self.page.get_by_role("heading", name="Formats")).to_be_visible()
        self.page.get_by_label("Name", exact=True).fill("v1.0")
        self.page.get_by_label(re.compile("^I have read what is open")).check()
        self.press("Release it")
        expect(self.page.get_by_role("heading", name="What it holds")).to_be_visible()


@pytest.fixture
def lead(live_server, new_person, redis_worker) -> Lead:
    for name in ("ada", "ben", "carla"):
        factories.user(name)
    return Lead(new_person("carla"))


def member(project: Project, name: str) -> Membership:
    return project.memberships.select_related("user", "project").get(name=name)


def rewrite_all(project: Project) -> None:
    ada = member(project, "ada")
    while taken := take_next(task="rewrite", by=ada):
        text = "Only reports that name nine places or more."
        rewrite_narrative(pair=taken.pair, text=text, by=ada, based_on=0)


def judge_relevant(project: Project) -> None:
    """Let two people judge everything; they differ on the first document of each query."""
    for name, first in (("ada", 0), ("ben", 1)):
        by = member(project, name)
        while taken := take_next(task="judge", by=by):
            pool = Candidate.objects.filter(query=taken.pair.query, prior_relevance__gte=1)
            for number, candidate in enumerate(pool.order_by("pk")):
                grade = number % 2 if number else first
                narrative = narrative_for(by, taken.pair)
                judge(narrative=narrative, candidate=candidate, relevance=grade, by=by)


def review_all(project: Project, poor: Collection[str] = ()) -> None:
    """Let two people review everything: these instructions are poor, the others excellent."""
    for name in ("ada", "ben"):
        by = member(project, name)
        while taken := take_review(by=by):
            level = ("poor", "Too narrow.") if taken.pair.pair_id in poor else ("excellent", None)
            answers = {one.key: level for one in current_rubric(project.pk).criteria}
            narrative = taken.pair.current(Narrative.Side.ALTERED)
            assert narrative is not None
            save_ratings(narrative=narrative, answers=answers, by=by)
            submit_review(narrative=narrative, by=by)


def generator_answer(rejected: Path, into: Path) -> Path:
    """Write what a second generator answers: new words, and its claims."""
    lines = []
    given = [json.loads(line) for line in rejected.read_text().splitlines()]
    for one in given:
        version = {"side": "altered", "version": one["version"] + 1, "text": "Tables of prices."}
        pair = {"pair_id": one["pair_id"], "query_id": one["query_id"], "origin": "llm"}
        lines.append({**pair, "narratives": [version]})
    pairs = {one["pair_id"] for one in given}
    for line in (EXAMPLES / "followtable" / "instructions.jsonl").read_text().splitlines():
        claim = json.loads(line)
        if claim["type"] == "claim" and claim["pair_id"] in pairs:
            lines.append({**claim, "rater": "gen-2"})
    into.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return into


def test_a_lead_opens_few_pages_from_topics_to_a_measured_release(lead):
    folder = EXAMPLES / "followir"
    project = lead.make_project("Night trains", "FollowIR")
    lead.upload(*(folder / name for name in ("topics.trec", "documents.jsonl", "qrels.txt")))
    lead.press("Load 3 files, in this order")
    lead.follow("Next: Choose topics")
    lead.page.get_by_label("Topics to draw").fill("3")
    lead.press("Look at the draw")
    lead.press(re.compile("^Keep these 3 topics"))
    lead.invite(("ada", "ben"))
    rewrite_all(project)
    judge_relevant(project)

    lead.open_work()
    lead.settle_together()
    for item in lead.draw_planned_sample(6).items.all():
        for name in ("ada", "ben"):
            check(item=item, by=member(project, name), relevance=0)
    lead.follow("Spot check")
    lead.reads("How many are wrong")
    lead.compute_agreement()
    lead.release()

    lead.follow("Publish it")
    lead.press("Write and prove")
    lead.reads("Oracle on what it read")

    lead.turn_to("Load")
    lead.upload(folder / "reader.original.run", folder / "reader.changed.run")
    lead.press("Load 2 files, in this order")
    expect(lead.page.get_by_text("Loaded", exact=True)).to_have_count(2)
    lead.follow("Next: Measure systems")
    expect(lead.page.get_by_label("Measure on")).to_have_value("v1.0")
    lead.press("Measure")
    lead.reads("The newest results, on v1.0")
    lead.reads("p-MRR")

    assert len(lead.pages.opened) <= FOLLOWIR_PAGES, "\n".join(lead.pages.opened)


def test_a_lead_opens_few_pages_from_generated_instructions_to_a_release(lead, tmp_path):
    folder = EXAMPLES / "followtable"
    files = ("queries.jsonl", "tables.jsonl", "qrels.txt", "instructions.jsonl")
    good, poor = ("21_0", "21_1", "22_1", "23_0", "23_1", "23_2"), ("21_2", "22_0")
    project = lead.make_project("Ferries", "FollowTable")
    lead.upload(*(folder / name for name in files))
    lead.press("Load 3 files, in this order")
    # The rule of an instruction with too few tables is read and confirmed on the same page.
    lead.open_part("Rows of instructions.jsonl")
    lead.reads("has 2 relevant documents")
    lead.page.get_by_label("Load it even though rows break rules").check()
    lead.press("Load instructions.jsonl")
    lead.follow("Next: Add members")
    lead.invite(("ada", "ben"))
    review_all(project, poor)

    lead.open_work()
    lead.open_part("What the auditors say: 22_0")
    lead.reads("Too narrow.")
    lead.tick(good)
    lead.press("Accept the ticked ones")
    lead.reads("6 instructions are accepted")
    lead.tick(poor)
    lead.page.get_by_label("Reason", exact=True).fill("Say it without the values.")
    lead.press("Send the ticked ones back")
    lead.reads("2 instructions are sent back")
    with lead.page.expect_download() as download:
        lead.follow("File for the generator")
    lead.open_part("Load the generator's answer")
    lead.upload(generator_answer(Path(download.value.path()), tmp_path / "answer.jsonl"))
    lead.reads("What would change")
    if (broken := lead.page.get_by_label("Load it even though rows break rules")).count():
        broken.check()
    lead.press("Load it")
    lead.reads("What has changed")
    review_all(project)

    lead.open_work()
    lead.tick(poor)
    lead.press("Accept the ticked ones")
    lead.reads("2 instructions are accepted")
    sample = lead.draw_planned_sample(4)
    for number, item in enumerate(sample.items.order_by("pk")):
        for name, apart in (("ada", False), ("ben", number == 0)):
            answers = {"topic": "yes", "constraint": "no" if apart else "yes"}
            check(item=item, by=member(project, name), questions=answers)
    lead.open_work()
    lead.settle_together()
    lead.follow("Tables of each instruction")
    lead.reads("How many are wrong")
    lead.compute_agreement()
    lead.release()

    assert len(lead.pages.opened) <= FOLLOWTABLE_PAGES, "\n".join(lead.pages.opened)
