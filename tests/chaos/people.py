"""People without a browser: annotators who judge through the journal as the judge page does, and a
lead who loads files and takes exports away, whatever becomes of the server meanwhile.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import random
import re
import threading
import time
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

TOKEN = "stormstormstormstormstormstormst"  # any will do: cookie and header must agree
# As in static/js/journal.js.
BATCH = 50
# A person who sees that nothing gets saved stops at some point.
MOST_WAITING = 200
# Seconds for one answer; what is not answered by then is sent again.
PATIENCE = 10.0
PAUSE = 0.3
# Seconds in which, once the storm is over, everything said must be saved.
LAST_WORDS = 90.0

_JUDGING_SESSION = re.compile(
    r'<script id="judging-session" type="application/json">(.*?)</script>', re.DOTALL
)


class Unanswered(Exception):
    """The server is not there, or cannot do it now."""


@dataclass
class Answer:
    """What a server said."""

    status: int
    body: bytes
    location: str


class Wire:
    """A connection of one person, made anew whenever it breaks."""

    def __init__(self, port: int, session: str, *, patience: float = PATIENCE) -> None:
        self._port, self._patience = port, patience
        self._head = {
            "Host": f"localhost:{port}",
            "Cookie": f"csrftoken={TOKEN}; sessionid={session}",
            "X-CSRFToken": TOKEN,
        }
        self._open: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: bytes | None = None, kind: str = "") -> Answer:
        """Return the answer, or raise Unanswered: no connection, no answer in time, 429, 5xx."""
        head = {**self._head, "Content-Type": kind} if kind else self._head
        try:
            if self._open is None:
                self._open = http.client.HTTPConnection(
                    "localhost", self._port, timeout=self._patience
                )
            self._open.request(method, path, body=body, headers=head)
            answer = self._open.getresponse()
            found = Answer(answer.status, answer.read(), answer.getheader("Location", ""))
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Unanswered(repr(error)) from error
        if found.status >= 500 or found.status == 429:
            raise Unanswered(f"{found.status}: {found.body[:200]!r}")
        return found

    def form(self, path: str, **fields: str) -> Answer:
        """Post a form."""
        body = "&".join(f"{name}={value}" for name, value in fields.items())
        return self.ask("POST", path, body.encode(), "application/x-www-form-urlencoded")

    def upload(self, path: str, name: str, content: bytes, **fields: str) -> Answer:
        """Post a form with a file."""
        edge = b"storm-edge"
        parts = [
            b'Content-Disposition: form-data; name="%s"\r\n\r\n%s' % (key.encode(), value.encode())
            for key, value in fields.items()
        ]
        parts.append(
            b'Content-Disposition: form-data; name="file"; filename="%s"\r\n'
            b"Content-Type: text/plain\r\n\r\n%s" % (name.encode(), content)
        )
        body = b"".join(b"--%s\r\n%s\r\n" % (edge, part) for part in parts)
        kind = f"multipart/form-data; boundary={edge.decode()}"
        return self.ask("POST", path, body + b"--%s--\r\n" % edge, kind)

    def close(self) -> None:
        """Hang up."""
        if self._open is not None:
            self._open.close()
            self._open = None


@dataclass
class Statement:
    """A grade or a flag that somebody gave, and what became of it."""

    uuid: str
    kind: str
    user: int
    pair: int
    narrative: int
    candidate: int
    says: int | str
    undone: bool = False
    # The server's word that it is saved; "" while it has not said so.
    acknowledged: str = ""
    refused: str = ""


@dataclass
class Diary:
    """What one person went through."""

    statements: list[Statement] = field(default_factory=list)
    # Things the server must never do.
    complaints: list[str] = field(default_factory=list)
    assignments: int = 0
    requests: int = 0
    unanswered: int = 0
    sent_again: int = 0
    # Seconds from a key to the word that it is saved.
    waits: list[float] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return it in plain values."""
        return asdict(self)


class Person(threading.Thread, ABC):
    """Somebody with a connection of their own, who goes on until told that it is enough."""

    def __init__(self, port: int, who: dict[str, Any], seed: int, enough: threading.Event) -> None:
        super().__init__(name=who["name"], daemon=True)
        self.diary = Diary()
        self._user: int = who["user"]
        self._wire = Wire(port, who["session"])
        self._random = random.Random(seed)
        self._enough = enough

    def run(self) -> None:
        """Live."""
        try:
            self.live()
        except Exception as error:  # noqa: BLE001 (a thread that ends without a word hides it)
            self.diary.complaints.append(f"{self.name}: {error!r}")
        self._wire.close()

    @abstractmethod
    def live(self) -> None:
        """What this person does."""

    def _ask(self, how: Callable[[], Answer]) -> Answer:
        self.diary.requests += 1
        try:
            return how()
        except Unanswered:
            self.diary.unanswered += 1
            raise

    def _uuid(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))


class Annotator(Person):
    """Takes assignments, presses keys at a pace, and sends what waits until the server has it."""

    def __init__(
        self, port: int, who: dict[str, Any], seed: int, enough: threading.Event, pace: float
    ) -> None:
        super().__init__(port, who, seed, enough)
        self._pace = pace
        # What the server has not answered: entries, oldest first, and when they were pressed.
        self._journal: list[tuple[dict[str, Any], float]] = []
        self._send_at = 0.0

    def live(self) -> None:
        """Judge pair after pair; at the end, send until nothing waits."""
        while not self._enough.is_set():
            work = self._take()
            if work is None:
                self._rest()
                continue
            self._judge(work)
        until = time.monotonic() + LAST_WORDS
        while self._journal and time.monotonic() < until:
            self._send()
            time.sleep(0.05)

    def _take(self) -> dict[str, Any] | None:
        """Take an assignment and open its page; None where that does not work now."""
        try:
            taken = self._ask(lambda: self._wire.form("/projects/storm/assignments/", task="judge"))
            if taken.status != 302 or "/pairs/" not in taken.location:
                return None
            page, path = taken, taken.location
            for _ in range(3):
                if page.status == 302:
                    path = page.location
                page = self._ask(lambda path=path: self._wire.ask("GET", path))  # type: ignore[misc]
                if page.status != 302:
                    break
            found = _JUDGING_SESSION.search(page.body.decode())
            if page.status != 200 or found is None:
                return None
            judging_session: dict[str, Any] = json.loads(found[1])
            wanted = "&".join(f"candidate={one}" for one in judging_session["order"])
            self._ask(
                lambda: self._wire.ask(
                    "GET", f"/pairs/{judging_session['pair']}/documents/?{wanted}"
                )
            )
        except Unanswered:
            return None
        self.diary.assignments += 1
        return judging_session

    def _judge(self, work: dict[str, Any]) -> None:
        """Say something of every document of a pair, and change one's mind now and then."""
        done: list[Statement] = []
        for candidate in work["order"]:
            if self._enough.is_set():
                return
            done.append(self._press(work, candidate, None))
            chance = self._random.random()
            if chance < 0.06:
                self._take_back(self._random.choice(done))
            elif chance < 0.14:
                before = self._random.choice(done)
                done.append(self._press(work, before.candidate, before))

    def _press(self, work: dict[str, Any], candidate: int, before: Statement | None) -> Statement:
        flagged = self._random.random() < 0.08
        said = Statement(
            uuid=self._uuid(),
            kind="flag" if flagged else "judgment",
            user=self._user,
            pair=work["pair"],
            narrative=work["narrative"],
            candidate=candidate,
            says=self._random.choice(("later", "problem"))
            if flagged
            else self._random.choice((0, 1, 2)),
        )
        self.diary.statements.append(said)
        how: dict[str, Any] = (
            {"flag": said.says, "words": "Cut off." if said.says == "problem" else ""}
            if flagged
            else {"relevance": said.says, "note": "", "active_ms": 900, "pressed": "key"}
        )
        self._write_down(said, how | {"instead_of": before.uuid if before else None})
        return said

    def _take_back(self, said: Statement) -> None:
        if said.undone:
            return
        said.undone = True
        self._write_down(said, {"kind": "undo", "uuid": self._uuid(), "undoes": said.uuid})

    def _write_down(self, said: Statement, more: dict[str, Any]) -> None:
        entry = {
            "uuid": said.uuid,
            "kind": said.kind,
            "user": said.user,
            "pair": said.pair,
            "narrative": said.narrative,
            "candidate": said.candidate,
            "made_at": datetime.now(UTC).isoformat(),
            **more,
        }
        self._journal.append((entry, time.monotonic()))
        self._rest()
        while len(self._journal) >= MOST_WAITING and not self._enough.is_set():
            self._rest()

    def _rest(self) -> None:
        """Until the next key; meanwhile what waits is sent."""
        self._send()
        self._enough.wait(self._random.uniform(0.5, 1.5) * self._pace)

    def _send(self) -> None:
        if not self._journal or time.monotonic() < self._send_at:
            return
        batch = self._journal[:BATCH]
        body = json.dumps({"entries": [entry for entry, _ in batch]}).encode()
        # Now and then the same is sent twice, as by a page whose first answer got lost.
        for _ in range(2 if self._random.random() < 0.04 else 1):
            try:
                answered = self._ask(
                    lambda: self._wire.ask("POST", "/api/v1/journal/", body, "application/json")
                )
            except Unanswered:
                self._send_at = time.monotonic() + PAUSE
                self.diary.sent_again += len(batch)
                return
            if answered.status != 200:
                raise RuntimeError(f"the journal got {answered.status}: {answered.body[:300]!r}")
        answers = json.loads(answered.body)["answers"]
        by_uuid = {said.uuid: said for said in self.diary.statements[-4 * MOST_WAITING :]}
        at = time.monotonic()
        for (entry, pressed), answer in zip(batch, answers, strict=True):
            said = by_uuid.get(entry["uuid"])
            self.diary.waits.append(at - pressed)
            if said is None:
                target = by_uuid[entry["undoes"]]
                if answer["state"] != "saved" and not target.refused:
                    self.diary.complaints.append(f"undo: {answer}")
            elif answer["state"] == "saved":
                said.acknowledged = answer["at"]
            else:
                said.refused = answer["sentence"] or answer["state"]
        del self._journal[: len(batch)]


class Lead(Person):
    """Hands in one file after the other, confirms it, and takes exports away."""

    def __init__(
        self, port: int, who: dict[str, Any], seed: int, enough: threading.Event, lines: int
    ) -> None:
        super().__init__(port, who, seed, enough)
        self._lines = lines
        # Names of uploaded files -> the queries in each, and how many lines.
        self.handed_in: dict[str, dict[str, Any]] = {}
        self.taken_away = 0
        # Set while a job that this lead watches is being done.
        self.sees_work = threading.Event()

    def live(self) -> None:
        """Load and export by turns; at the end once more of each, in peace."""
        number = 0
        while not self._enough.is_set():
            number += 1
            self._load(number)
            self._export("trec" if number % 2 else "jsonl")
        for number, kind in ((1001, "trec"), (1002, "jsonl")):
            self._load(number, last=True)
            if not self._export(kind, last=True):
                self.diary.complaints.append(f"no {kind} export came of it in peace")

    def _again(self, how: Callable[[], Answer]) -> Answer:
        """Ask until there is an answer."""
        for _ in range(300):
            try:
                return self._ask(how)
            except Unanswered:
                time.sleep(PAUSE)
        raise RuntimeError("the server did not come back")

    def _load(self, number: int, *, last: bool = False) -> None:
        """Hand a file of qrels in, and confirm its preview."""
        name = f"qrels-{number}.txt"
        queries = [f"{number}-{part}" for part in range(10)]
        each = self._lines // len(queries)
        text = "".join(
            f"{query} 0 {number}-{line} {line % 3}\n" for query in queries for line in range(each)
        )
        self.handed_in[name] = {"queries": queries, "lines": each * len(queries)}
        found = self._again(
            lambda: self._wire.upload(
                "/projects/storm/loads/", name, text.encode(), format="trec-qrels"
            )
        )
        if found.status != 302:
            # On a full disk, a form is refused with a sentence.
            return
        preview = self._watched(found.location, last=last)
        if b"/confirmation/" in preview.body:
            confirmed = self._again(lambda: self._wire.form(f"{found.location}confirmation/"))
            if confirmed.status == 302:
                self._watched(confirmed.location, last=last)

    def _export(self, kind: str, *, last: bool = False) -> bool:
        """Ask for an export; what is offered must be whole. Whether one was."""
        found = self._again(lambda: self._wire.form("/projects/storm/exports/", format=kind))
        if found.status != 302:
            return False
        page = self._watched(found.location, last=last)
        if b"/archive/" not in page.body:
            return False
        offered = self._again(lambda: self._wire.ask("GET", f"{found.location}archive/"))
        if offered.status != 200:
            self.diary.complaints.append(f"an offered export was not there: {offered.status}")
            return False
        with zipfile.ZipFile(io.BytesIO(offered.body)) as archive:
            manifest = json.loads(archive.read("manifest.json"))
            for entry in manifest["files"]:
                if hashlib.sha256(archive.read(entry["name"])).hexdigest() != entry["sha256"]:
                    self.diary.complaints.append(f"{found.location}: half a {entry['name']}")
        self.taken_away += 1
        return True

    def _watched(self, path: str, *, last: bool) -> Answer:
        """Look at a job's page until the job is over, or, while it storms, enough has been seen."""
        until = time.monotonic() + (150 if last else 20)
        while True:
            page = self._again(lambda: self._wire.ask("GET", path))
            over = b"/cancellation/" not in page.body
            if over or b"Waiting for the worker" in page.body:
                self.sees_work.clear()
            else:
                self.sees_work.set()
            if over or time.monotonic() > until:
                self.sees_work.clear()
                return page
            time.sleep(0.1)


def gathered(people: list[Person]) -> dict[str, Any]:
    """What all of them wrote down."""
    diaries = [person.diary for person in people]
    return {
        "statements": [asdict(one) for diary in diaries for one in diary.statements],
        "complaints": [one for diary in diaries for one in diary.complaints],
        "waits": [one for diary in diaries for one in diary.waits],
        **{
            name: sum(getattr(diary, name) for diary in diaries)
            for name in ("assignments", "requests", "unanswered", "sent_again")
        },
    }
