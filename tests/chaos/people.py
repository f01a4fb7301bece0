"""People without a browser: annotators who send journal entries like the judge page, and a lead.

The lead loads files and downloads exports. All of them go on whatever happens to the server.
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
from urllib.parse import urlencode
from uuid import UUID

TOKEN = "stormstormstormstormstormstormst"  # any will do: cookie and header must agree
# As in static/js/journal.js.
BATCH = 50
# At this number of unsaved entries a person stops judging.
MAX_WAITING = 200
# Seconds to wait for a response; then the request is sent again.
PATIENCE = 10.0
PAUSE = 0.3
# Seconds after the storm within which every entry must be saved.
GRACE_SECONDS = 90.0

_JUDGING_SESSION = re.compile(
    r'<script id="judging-session" type="application/json">(.*?)</script>', re.DOTALL
)


class Unanswered(Exception):
    """Raised if the server is down or cannot answer now."""


@dataclass
class Answer:
    """A response of the server."""

    status: int
    body: bytes
    location: str


class Connection:
    """A connection of one person, which reconnects when it breaks."""

    def __init__(self, port: int, session: str, *, patience: float = PATIENCE) -> None:
        self._port, self._patience = port, patience
        self._head = {
            "Host": f"localhost:{port}",
            "Cookie": f"csrftoken={TOKEN}; sessionid={session}",
            "X-CSRFToken": TOKEN,
        }
        self._open: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: bytes | None = None, kind: str = "") -> Answer:
        """Return the response. Raise Unanswered for no connection, a timeout, 429 or 5xx."""
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
        return self.ask(
            "POST", path, urlencode(fields).encode(), "application/x-www-form-urlencoded"
        )

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
        """Close the connection."""
        if self._open is not None:
            self._open.close()
            self._open = None


@dataclass
class Statement:
    """A grade or a flag that a person gave, and whether it was saved or refused."""

    uuid: str
    kind: str
    user: int
    pair: int
    narrative: int
    candidate: int
    says: int | str
    undone: bool = False
    # The time at which the server says it was saved; "" until then.
    acknowledged: str = ""
    refused: str = ""


@dataclass
class Diary:
    """What one person did and saw."""

    statements: list[Statement] = field(default_factory=list)
    # Violations by the server.
    complaints: list[str] = field(default_factory=list)
    assignments: int = 0
    requests: int = 0
    unanswered: int = 0
    sent_again: int = 0
    # Seconds from a key press to the response that it is saved.
    waits: list[float] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the diary as plain values."""
        return asdict(self)


class Person(threading.Thread, ABC):
    """A person with their own connection, who goes on until `enough` is set."""

    def __init__(self, port: int, who: dict[str, Any], seed: int, enough: threading.Event) -> None:
        super().__init__(name=who["name"], daemon=True)
        self.diary = Diary()
        self._user: int = who["user"]
        self._wire = Connection(port, who["session"])
        self._random = random.Random(seed)
        self._enough = enough

    def run(self) -> None:
        """Run `act` and record any exception as a complaint."""
        try:
            self.act()
        except Exception as error:  # noqa: BLE001 (a thread that ends without a word hides it)
            self.diary.complaints.append(f"{self.name}: {error!r}")
        self._wire.close()

    @abstractmethod
    def act(self) -> None:
        """Do what this person does."""

    def _ask(self, send: Callable[[], Answer]) -> Answer:
        self.diary.requests += 1
        try:
            return send()
        except Unanswered:
            self.diary.unanswered += 1
            raise

    def _uuid(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))


class Annotator(Person):
    """Takes assignments, presses keys at a pace, and sends entries until they are saved."""

    def __init__(
        self, port: int, who: dict[str, Any], seed: int, enough: threading.Event, pace: float
    ) -> None:
        super().__init__(port, who, seed, enough)
        self._pace = pace
        # Unanswered entries, oldest first, with the times of their key presses.
        self._journal: list[tuple[dict[str, Any], float]] = []
        self._send_at = 0.0

    def act(self) -> None:
        """Judge pair after pair; at the end, send until every entry is answered."""
        while not self._enough.is_set():
            work = self._take()
            if work is None:
                self._wait_for_next_key()
                continue
            self._judge(work)
        until = time.monotonic() + GRACE_SECONDS
        while self._journal and time.monotonic() < until:
            self._send()
            time.sleep(0.05)

    def _take(self) -> dict[str, Any] | None:
        """Take an assignment and open its page; return None if that does not work now."""
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
        """Judge or flag every document of a pair, and now and then undo or change an answer."""
        done: list[Statement] = []
        for candidate in work["order"]:
            if self._enough.is_set():
                return
            done.append(self._press(work, candidate, None))
            chance = self._random.random()
            if chance < 0.06:
                self._undo(self._random.choice(done))
            elif chance < 0.14:
                before = self._random.choice(done)
                done.append(self._press(work, before.candidate, before))

    def _press(self, work: dict[str, Any], candidate: int, before: Statement | None) -> Statement:
        flagged = self._random.random() < 0.08
        statement = Statement(
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
        self.diary.statements.append(statement)
        fields: dict[str, Any] = (
            {"flag": statement.says, "words": "Cut off." if statement.says == "problem" else ""}
            if flagged
            else {"relevance": statement.says, "note": "", "active_ms": 900, "pressed": "key"}
        )
        self._add_entry(statement, fields | {"instead_of": before.uuid if before else None})
        return statement

    def _undo(self, statement: Statement) -> None:
        if statement.undone:
            return
        statement.undone = True
        self._add_entry(statement, {"kind": "undo", "uuid": self._uuid(), "undoes": statement.uuid})

    def _add_entry(self, statement: Statement, more: dict[str, Any]) -> None:
        entry = {
            "uuid": statement.uuid,
            "kind": statement.kind,
            "user": statement.user,
            "pair": statement.pair,
            "narrative": statement.narrative,
            "candidate": statement.candidate,
            "made_at": datetime.now(UTC).isoformat(),
            **more,
        }
        self._journal.append((entry, time.monotonic()))
        self._wait_for_next_key()
        while len(self._journal) >= MAX_WAITING and not self._enough.is_set():
            self._wait_for_next_key()

    def _wait_for_next_key(self) -> None:
        """Send waiting entries, then wait until the next key press."""
        self._send()
        self._enough.wait(self._random.uniform(0.5, 1.5) * self._pace)

    def _send(self) -> None:
        if not self._journal or time.monotonic() < self._send_at:
            return
        batch = self._journal[:BATCH]
        body = json.dumps({"entries": [entry for entry, _ in batch]}).encode()
        # Now and then a batch is sent twice, as by a page that lost the first response.
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
        by_uuid = {one.uuid: one for one in self.diary.statements[-4 * MAX_WAITING :]}
        at = time.monotonic()
        for (entry, pressed), answer in zip(batch, answers, strict=True):
            statement = by_uuid.get(entry["uuid"])
            self.diary.waits.append(at - pressed)
            if statement is None:
                target = by_uuid[entry["undoes"]]
                if answer["state"] != "saved" and not target.refused:
                    self.diary.complaints.append(f"undo: {answer}")
            elif answer["state"] == "saved":
                statement.acknowledged = answer["at"]
            else:
                statement.refused = answer["sentence"] or answer["state"]
        del self._journal[: len(batch)]


class Lead(Person):
    """Uploads one file after the other, confirms its preview, and downloads exports."""

    def __init__(
        self, port: int, who: dict[str, Any], seed: int, enough: threading.Event, lines: int
    ) -> None:
        super().__init__(port, who, seed, enough)
        self._lines = lines
        # Names of uploaded files -> the queries and the number of lines in each.
        self.handed_in: dict[str, dict[str, Any]] = {}
        self.taken_away = 0
        # Set while a job that this lead watches is running.
        self.sees_work = threading.Event()

    def act(self) -> None:
        """Load and export in turns; after the storm, load and export once more in each format."""
        number = 0
        while not self._enough.is_set():
            number += 1
            self._load(number)
            self._export("trec" if number % 2 else "jsonl")
        for number, kind in ((1001, "trec"), (1002, "jsonl")):
            self._load(number, last=True)
            if not self._export(kind, last=True):
                self.diary.complaints.append(f"no {kind} export came of it in peace")

    def _ask_until_answered(self, send: Callable[[], Answer]) -> Answer:
        """Send a request until it is answered."""
        for _ in range(300):
            try:
                return self._ask(send)
            except Unanswered:
                time.sleep(PAUSE)
        raise RuntimeError("the server did not come back")

    def _load(self, number: int, *, last: bool = False) -> None:
        """Upload a qrels file and confirm its preview."""
        name = f"qrels-{number}.txt"
        queries = [f"{number}-{part}" for part in range(10)]
        each = self._lines // len(queries)
        text = "".join(
            f"{query} 0 {number}-{line} {line % 3}\n" for query in queries for line in range(each)
        )
        self.handed_in[name] = {"queries": queries, "lines": each * len(queries)}
        found = self._ask_until_answered(
            lambda: self._wire.upload(
                "/projects/storm/loads/", name, text.encode(), format="trec-qrels"
            )
        )
        if found.status != 302:
            # On a full disk the form is refused with a sentence.
            return
        preview = self._watch_job(found.location, last=last)
        if b"/confirmation/" in preview.body:
            confirmed = self._ask_until_answered(
                lambda: self._wire.form(f"{found.location}confirmation/")
            )
            if confirmed.status == 302:
                self._watch_job(confirmed.location, last=last)

    def _export(self, kind: str, *, last: bool = False) -> bool:
        """Request an export and check that an offered one is complete; return whether one was."""
        found = self._ask_until_answered(
            lambda: self._wire.form("/projects/storm/exports/", format=kind)
        )
        if found.status != 302:
            return False
        page = self._watch_job(found.location, last=last)
        if b"/archive/" not in page.body:
            return False
        offered = self._ask_until_answered(
            lambda: self._wire.ask("GET", f"{found.location}archive/")
        )
        if offered.status != 200:
            self.diary.complaints.append(f"an offered export was not there: {offered.status}")
            return False
        with zipfile.ZipFile(io.BytesIO(offered.body)) as archive:
            [top] = {name.partition("/")[0] for name in archive.namelist()}
            manifest = json.loads(archive.read(f"{top}/manifest.json"))
            for entry in manifest["files"]:
                if (
                    hashlib.sha256(archive.read(f"{top}/{entry['name']}")).hexdigest()
                    != entry["sha256"]
                ):
                    self.diary.complaints.append(f"{found.location}: half a {entry['name']}")
        self.taken_away += 1
        return True

    def _watch_job(self, path: str, *, last: bool) -> Answer:
        """Watch a job's page until the job is over or, during the storm, for 20 seconds."""
        until = time.monotonic() + (150 if last else 20)
        while True:
            page = self._ask_until_answered(lambda: self._wire.ask("GET", path))
            over = b"/cancellation/" not in page.body
            if over or b"Waiting for the worker" in page.body:
                self.sees_work.clear()
            else:
                self.sees_work.set()
            if over or time.monotonic() > until:
                self.sees_work.clear()
                return page
            time.sleep(0.1)


def combine_diaries(people: list[Person]) -> dict[str, Any]:
    """Return the diaries of all people combined."""
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
