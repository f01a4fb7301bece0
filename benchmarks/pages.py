"""Processor time of each page: requests answered one after another in one process.

    python -m benchmarks.pages [--database sqlite|postgresql] [--projects 50] [--rounds 40]
                               [--share 1.0] [--only NAME] [--before FILE] [--profile]

Fills a new database with one project of 30,030 candidates in 77 pools and 100,000 judgments by
people, and 49 smaller ones with the same lead (`--projects`), and prints JSON. For each page:

- `ms`: milliseconds of processor time of one request, the median of all rounds after two that are
  not counted. It includes all of Django with its middleware, and the test client (`bare` is the
  time of an almost empty page), but neither the web server nor a server of PostgreSQL.
- `wall_ms`: the median of the whole time, which includes PostgreSQL.
- `queries`: the number of database queries, without BEGIN and COMMIT.
- `kb`: the size of the response before compression.

- `times_bare`: the time as a multiple of `bare`, which is requested in turn with each page. It is
  more comparable than `ms` between machines, and on a busy one.
- `before`: the figures of an earlier commit for the same page
  (`--before FILE`).

With REJUDGE_DATA (and DATABASE_URL) set, the database of an earlier run is used again.

`judgment` is one entry of the journal, `batch` is twenty of them, and `each_further` is what each
of the other nineteen adds; `ahead` fetches twenty documents. `--profile` instead prints where the
time goes, for the pages that `--only` names.
"""

from __future__ import annotations

import argparse
import contextlib
import cProfile
import json
import os
import pstats
import random
import statistics
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.annotators import journal_entry
from benchmarks.serving import DATABASES, installation, set_up

QUERIES, POOL, PEOPLE, JUDGMENTS = 77, 390, 6, 100_000
# Milliseconds of processor for any page of a lead.
GOAL_MS = 100
# Pages of the project for a lead, by the last part of their URLs.
LISTS = (
    "disagreements",
    "matrix",
    "flags",
    "members",
    "loads",
    "reviews",
    "checks",
    "differences",
    "collection",
    "agreement",
    "guidelines",
    "releases",
    "exports",
    "pools",
)


def main() -> None:
    """Fill a database, request each page many times, and print the times."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--database", choices=DATABASES, default="sqlite")
    parser.add_argument("--projects", type=int, default=50, help="of the lead (%(default)s)")
    parser.add_argument("--rounds", type=int, default=40, help="requests of each (%(default)s)")
    parser.add_argument("--share", type=float, default=1.0, help="of all rows (%(default)s)")
    parser.add_argument("--only", action="append", help="a page by its name in the figures")
    parser.add_argument("--before", type=Path, help="what an earlier commit printed")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        if "REJUDGE_DATA" not in os.environ:
            env, _folder = stack.enter_context(installation(options.database))
            os.environ |= env
        os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "REJUDGE_WEB_PROCESS": "1"}
        set_up()
        from config.static import collect_static

        collect_static()
        figures = _measure(_plan(options), options)
    if not options.profile:
        print(json.dumps(figures, indent=2))


def _plan(options: argparse.Namespace) -> dict[str, Any]:
    """Fill the database, unless an earlier run in the same data folder has."""
    from django.conf import settings

    path = Path(settings.DATA) / "pages.json"
    if not path.exists():
        path.write_text(json.dumps(fill(options.share, options.projects)))
    plan: dict[str, Any] = json.loads(path.read_text())
    return plan


def fill(share: float, projects: int = 50) -> dict[str, Any]:
    """Make the projects and return the plan of requests."""
    set_up(migrate=True)
    from django.db import transaction
    from django.utils import timezone

    from annotate.models import Judgment, Membership
    from benchmarks import world

    rng = random.Random(7)
    words = world.vocabulary(rng, 3_000)
    now = timezone.now()
    with transaction.atomic():
        people = [world.add_user(f"judge{n}") for n in range(PEOPLE)]
        lead = world.add_user("carla")
        for number in range(projects):
            large = number == 0
            project = world.add_project(f"bench{number}", f"Bench {number}", overlap=4)
            Membership.objects.create(project=project, user=lead, name="carla", role="lead")
            members = Membership.objects.bulk_create(
                Membership(project=project, user=user, name=user.username) for user in people
            )
            pools = world.add_pools(
                project,
                pools=max(1, round(QUERIES * share)) if large else 3,
                size=POOL if large else 20,
                words=words,
                rng=rng,
                text=lambda: " ".join(rng.choices(words, k=400)),
            )
            wanted = round(JUDGMENTS * share) if large else 60
            judgments = _assign_and_judge(pools, members, 3 if large else 1, wanted, now, rng)
            rng.shuffle(judgments)
            Judgment.objects.bulk_create(judgments, batch_size=2000)
            if large:
                plan = _annotator(pools, members)
    world.analyze()
    return {**plan, "lead": lead.pk}


def _assign_and_judge(
    pools: list[Any],
    members: list[Any],
    judges: int,
    wanted: int,
    now: datetime,
    rng: random.Random,
) -> list[Any]:
    """Assign each pool to four members; return the judgments of the first ones on all of it.

    The fourth member answers as many more as are needed for the wanted total.
    """
    from annotate.models import Assignment, Judgment, Membership

    def make_judgment(pool: Any, candidate: Any, by: Membership, relevance: int) -> Judgment:
        return Judgment(
            narrative=pool.altered,
            candidate=candidate,
            annotator=by,
            relevance=relevance,
            active_ms=4_000,
            at=now - timedelta(minutes=rng.randrange(60_000)),
        )

    judgments: list[Judgment] = []
    fourths = []
    for pool in pools:
        *first, fourth = assigned = rng.sample(members, 4)
        fourths.append(fourth)
        Assignment.objects.bulk_create(
            Assignment(pair=pool.pair, task="judge", seat=seat, member=one, touched_at=now)
            for seat, one in enumerate(assigned, start=1)
        )
        judgments += [
            make_judgment(pool, candidate, one, rng.choice((0, 0, 1, 2)))
            for one in first[:judges]
            for candidate in pool.candidates
        ]
    for pool, fourth in zip(pools, fourths, strict=True):
        judgments += [
            make_judgment(pool, candidate, fourth, 1)
            for candidate in pool.candidates[: max(0, wanted - len(judgments))]
        ]
    return judgments


def _annotator(pools: list[Any], members: list[Any]) -> dict[str, Any]:
    """Return an annotator who still has most of a pool to judge."""
    pair, _original, narrative, candidates = pools[-1]
    fourth = pair.assignments.get(seat=4).member
    return {
        "annotator": fourth.user_id,
        "pair": pair.pk,
        "narrative": narrative.pk,
        "candidates": [one.pk for one in candidates[-300:]],
    }


def _entry(plan: dict[str, Any], candidate: int) -> dict[str, Any]:
    return journal_entry(plan["annotator"], plan["pair"], plan["narrative"], candidate)


def _pages(plan: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """Return a function that requests each page, by its name in the figures."""
    from django.conf import settings
    from django.test import Client

    from annotate.models import Membership, User
    from benchmarks.world import sign_in

    lead, annotator, visitor = (Client(SERVER_NAME="localhost") for _ in range(3))
    for client, name in ((lead, "lead"), (annotator, "annotator")):
        client.cookies[settings.SESSION_COOKIE_NAME] = sign_in(User.objects.get(pk=plan[name]))
    member = Membership.objects.get(user=plan["annotator"], project__slug="bench0")
    upcoming = iter(plan["candidates"] * 1000)

    def journal(entries: int) -> Any:
        answer = annotator.post(
            "/api/v1/journal/",
            json.dumps({"entries": [_entry(plan, next(upcoming)) for _ in range(entries)]}),
            content_type="application/json",
        )
        assert answer.content.count(b'"saved"') == entries, answer.content[:500]
        return answer

    def ahead() -> Any:
        asked = "&".join(f"candidate={next(upcoming)}" for _ in range(20))
        return annotator.get(f"/pairs/{plan['pair']}/documents/?{asked}")

    return {
        "bare": lambda: visitor.get("/healthz"),
        "sign_in": lambda: visitor.get("/accounts/login/"),
        "home": lambda: lead.get("/"),
        "home_annotator": lambda: annotator.get("/"),
        "notices": lambda: lead.get("/notices/"),
        "project": lambda: lead.get("/projects/bench0/"),
        "project_annotator": lambda: annotator.get("/projects/bench0/"),
        "queries": lambda: lead.get("/projects/bench0/queries/"),
        "progress": lambda: lead.get("/projects/bench0/progress/"),
        "person": lambda: annotator.get(f"/projects/bench0/people/{member.pk}/"),
        **{
            name: lambda name=name: lead.get(f"/projects/bench0/{name}/")  # type: ignore[misc]
            for name in LISTS
        },
        "preferences": lambda: annotator.get("/settings/"),
        "judge": lambda: annotator.get(
            f"/pairs/{plan['pair']}/candidates/{plan['candidates'][50]}/"
        ),
        "ahead": ahead,
        "judgment": lambda: journal(1),
        "batch": lambda: journal(20),
    }


def _measure(plan: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    pages = _pages(plan)
    figures: dict[str, Any] = {
        "cores": os.cpu_count(),
        "load_before": round(os.getloadavg()[0], 2),
        "goal_ms": GOAL_MS,
    }
    before = json.loads(options.before.read_text()) if options.before else {}
    for name, request_page in pages.items():
        if options.only and name not in options.only:
            continue
        for _ in range(2):
            answer = request_page()
            assert answer.status_code == 200, (name, answer.status_code, answer.content[:500])
        if options.profile:
            _profile(name, request_page, options.rounds)
            continue
        times, bare, whole = [], [], []
        for _ in range(options.rounds):
            bare.append(_timed(pages["bare"]))
            begun = time.perf_counter()
            times.append(_timed(request_page))
            whole.append(1000 * (time.perf_counter() - begun))
        with CaptureQueriesContext(connection) as asked:
            answer = request_page()
        figures[name] = {
            "ms": round(statistics.median(times), 2),
            "least_ms": round(min(times), 2),
            "wall_ms": round(statistics.median(whole), 2),
            "queries": sum(not one["sql"].startswith(("BEGIN", "COMMIT")) for one in asked),
            "kb": round(len(b"".join(answer)) / 1000, 1),
            "times_bare": round(statistics.median(times) / statistics.median(bare), 1),
            **({"before": before[name]} if name in before else {}),
        }
    if "batch" in figures and "judgment" in figures:
        more = figures["batch"]["ms"] - figures["judgment"]["ms"]
        figures["batch"]["each_further"] = round(more / 19, 2)
    return figures


def _timed(request_page: Callable[[], Any]) -> float:
    """Return the milliseconds of processor time of one request."""
    begun = time.process_time()
    request_page()
    return 1000 * (time.process_time() - begun)


def _profile(name: str, request_page: Callable[[], Any], rounds: int) -> None:
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(rounds):
        request_page()
    profile.disable()
    print(f"== {name}, {rounds} requests")
    pstats.Stats(profile).sort_stats("cumulative").print_stats(70)
    pstats.Stats(profile).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
