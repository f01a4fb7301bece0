"""Fills the database before the storm and checks it afterwards: `python -m tests.chaos.truth STEP`.

Each step is a process of its own with the storm's settings. `fill PEOPLE` makes a project and
prints its people; `settle` waits until no job is waiting or running; `check FILE` reads what people
recorded from a JSON file and prints counts and complaints.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django

PAIRS, POOL, OVERLAP = 60, 8, 3
# Seconds after the storm within which every job must have ended.
SETTLED_AFTER = 240.0


def fill(people: int) -> dict[str, Any]:
    """Make a project with pools to judge, and annotators and a lead who are signed in."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore
    from django.core.management import call_command
    from django.db import transaction

    from annotate.models import Membership
    from tests import factories

    def signed_in(member: Membership) -> dict[str, Any]:
        session = SessionStore()
        session[SESSION_KEY] = str(member.user_id)
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session[HASH_SESSION_KEY] = factories.user(member.name).get_session_auth_hash()
        session.save()
        return {"name": member.name, "user": member.user_id, "session": session.session_key}

    call_command("migrate", verbosity=0)
    with transaction.atomic():
        project = factories.project("storm", overlap_judge=OVERLAP)
        for number in range(PAIRS):
            query = factories.query(project, str(9_000 + number))
            for place in range(POOL):
                factories.candidate(
                    query, f"D{number}-{place}", text="Turbines in the Severn. " * 9
                )
            factories.pair(query)
        annotators = [factories.member(project, f"annotator-{n}") for n in range(people)]
        lead = factories.lead(project)
        return {
            "annotators": [signed_in(member) for member in annotators],
            "lead": signed_in(lead),
        }


def settle() -> dict[str, Any]:
    """Wait until no job waits or runs; return the number of jobs in each state, by kind."""
    from django.db.models import Count

    from jobs.models import Job

    until = time.monotonic() + SETTLED_AFTER
    while Job.objects.filter(state__in=Job.UNDER_WAY).exists():
        if time.monotonic() > until:
            break
        time.sleep(0.2)
    counts: dict[str, dict[str, int]] = {}
    for kind, state, n in Job.objects.values_list("kind", "state").annotate(n=Count("pk")):
        counts.setdefault(kind, {})[state] = n
    return counts


def check(record: dict[str, Any]) -> dict[str, Any]:
    """Compare the responses that people got with the stored data."""
    complaints: list[str] = []
    counts: dict[str, Any] = {}
    for part in PARTS:
        complaints += part(record, counts)
    return {"counts": counts, "complaints": complaints}


def statements(record: dict[str, Any], counts: dict[str, Any]) -> Iterator[str]:
    """Check the judgments and flags.

    Every acknowledged one is stored once and unchanged, no others are stored, and for each document
    the last one that was not undone is current.
    """
    from annotate.models import Statement

    rows = {str(row.uuid): row for row in Statement.objects.select_related("annotator")}
    sent: list[dict[str, Any]] = record["statements"]
    acknowledged = [one for one in sent if one["acknowledged"]]
    missing = [one for one in acknowledged if one["uuid"] not in rows]
    for one in missing[:5]:
        yield f"acknowledged and not there: {one}"
    unknown = rows.keys() - {one["uuid"] for one in sent}
    if unknown:
        yield f"{len(unknown)} statements are there that nobody made"
    refused = {one["uuid"] for one in sent if one["refused"]}
    if found := refused & rows.keys():
        yield f"{len(found)} refused statements are there"
    for one in sent:
        row = rows.get(one["uuid"])
        if row is None:
            continue
        content = (row.narrative_id, row.candidate_id, row.annotator.user_id)
        if (*content, row.answer) != (one["narrative"], one["candidate"], one["user"], one["says"]):
            yield f"sent {one}, stored {content} {row.answer}"
    current: dict[tuple[int, int, int | None], str] = {}
    last: dict[tuple[int, int, int | None], str] = {}
    for row in rows.values():
        place = (row.narrative_id, row.candidate_id, row.annotator.user_id)
        if row.ended_at is None:
            if place in current:
                yield f"two statements are current at {place}"
            current[place] = str(row.uuid)
    for one in sent:
        if one["uuid"] in rows and not one["undone"]:
            last[one["narrative"], one["candidate"], one["user"]] = one["uuid"]
    differing = [
        place for place in last.keys() | current.keys() if last.get(place) != current.get(place)
    ]
    for place in differing[:5]:
        yield f"at {place} {current.get(place)} is current, and {last.get(place)} is the last"
    counts |= {
        "pressed": len(sent),
        "acknowledged": len(acknowledged),
        "found": len(acknowledged) - len(missing),
        "refused": Counter(one["refused"] for one in sent if one["refused"]),
        "never_answered": sum(not one["acknowledged"] and not one["refused"] for one in sent),
        "undone": sum(one["undone"] for one in sent),
        "current": len(current),
    }


def assignments(_record: dict[str, Any], counts: dict[str, Any]) -> Iterator[str]:
    """Check the assignments: at most the overlap per pair, one person each, none judged without."""
    from annotate.models import Assignment, Judgment

    taken = list(Assignment.objects.values_list("pair", "task", "seat", "member"))
    counts["assignments"] = len(taken)
    if len({(pair, task, assignment) for pair, task, assignment, _ in taken}) != len(taken):
        yield "two people on one assignment"
    if len({(pair, task, member) for pair, task, _, member in taken}) != len(taken):
        yield "one person on two assignments of a pair"
    if any(not 1 <= assignment <= OVERLAP for _, _, assignment, _ in taken):
        yield "an assignment beyond the overlap"
    judged = set(Judgment.objects.values_list("narrative__pair", "annotator").distinct())
    if strays := judged - {(pair, member) for pair, task, _, member in taken if task == "judge"}:
        yield f"{len(strays)} judged without an assignment: {sorted(strays)[:5]}"
    touched = Assignment.objects.filter(task="judge", touched_at=None).values_list("pair", "member")
    if idle := judged & set(touched):
        yield f"{len(idle)} judged in an assignment that is marked as untouched"


def chains(_record: dict[str, Any], counts: dict[str, Any]) -> Iterator[str]:
    """Check that no link of a hash chain was lost or inserted twice."""
    from annotate.models import Project
    from keeping.verify import verify

    counts["links"] = 0
    for project in (Project.objects.get(slug="storm"), None):
        found = verify(project)
        counts["links"] += found.links
        for fault in found.faults[:5]:
            yield f"chains: {fault.sentence}"


def loads(record: dict[str, Any], counts: dict[str, Any]) -> Iterator[str]:
    """Check that all lines of a file are stored if its load is done, and otherwise none."""
    from annotate.models import Candidate, Load, Query

    whole = 0
    for name, file in record["handed_in"].items():
        # Including hidden rows: nothing of a killed load may be left at the end.
        there = Candidate._base_manager.filter(query__query_id__in=file["queries"]).count()
        done = Load.objects.filter(file_name=name, dry_run=False, state=Load.State.DONE).exists()
        whole += there == file["lines"]
        if there != (file["lines"] if done else 0):
            yield f"{name}: {there} of {file['lines']} lines, done: {done}"
        if not done and Query._base_manager.filter(query_id__in=file["queries"]).exists():
            yield f"{name}: queries of a file that is not loaded"
    counts |= {"files_handed_in": len(record["handed_in"]), "files_loaded": whole}
    if Load.objects.filter(file_name="qrels-1002.txt", dry_run=False, state="done").count() != 1:
        yield "the file handed in after the storm is not loaded"


def exports(_record: dict[str, Any], counts: dict[str, Any]) -> Iterator[str]:
    """Check that offered exports are complete, and that no other files are left."""
    import hashlib

    from django.core.files.storage import default_storage

    from annotate.models import Project
    from exporters.models import Export

    offered = Export.objects.exclude(folder="")
    counts["exports_offered"] = offered.count()
    if offered.exclude(state=Export.State.DONE).exists():
        yield "an export that is not done has a folder"
    if Export.objects.filter(state=Export.State.DONE, folder="").exists():
        yield "an export that is done has no folder"
    for export in offered:
        assert export.manifest is not None
        for entry in export.manifest["files"]:
            with default_storage.open(f"{export.folder}/{entry['name']}") as stream:
                if hashlib.sha256(stream.read()).hexdigest() != entry["sha256"]:
                    yield f"half a file in {export.folder}: {entry['name']}"
    shelf = f"exports/{Project.objects.get(slug='storm').pk}"
    folders, _files = default_storage.listdir(shelf)
    if left := {f"{shelf}/{name}" for name in folders} - {one.folder for one in offered}:
        yield f"left on the shelf: {sorted(left)}"


def jobs(_record: dict[str, Any], counts: dict[str, Any]) -> Iterator[str]:
    """Check that all jobs are over, and count them and their errors."""
    from jobs.models import Job

    counts["jobs"], counts["attempts"], counts["failed"] = 0, 0, Counter()
    for job in Job.objects.all():
        counts["jobs"] += 1
        counts["attempts"] += job.attempts
        if job.error:
            counts["failed"][job.error] += 1
        if not job.is_over:
            yield f"{job} is {job.state} after {job.attempts} attempts"


def database(_record: dict[str, Any], _counts: dict[str, Any]) -> Iterator[str]:
    """Check the integrity of the database itself."""
    from django.db import connection

    connection.check_constraints()
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA integrity_check")
            if (found := cursor.fetchall()) != [("ok",)]:
                yield f"SQLite: {found}"


PARTS = (statements, assignments, chains, loads, exports, jobs, database)


def main() -> None:
    """Run one step."""
    django.setup()
    step, *more = sys.argv[1:]
    found: Any
    if step == "fill":
        found = fill(int(more[0]))
    elif step == "settle":
        found = settle()
    else:
        found = check(json.loads(Path(more[0]).read_text()))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
