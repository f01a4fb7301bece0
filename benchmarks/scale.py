"""Processor time as an installation grows, on PostgreSQL.

    python -m benchmarks.scale [--size 1.0] [--only NAME] [--explain 5] [--minutes 25]

One database grows in three steps, and after each the same small project is measured:

1. `alone`: the small project and nothing else;
2. `projects`: 300 projects, the small one still the only one with judgments;
3. `judgments`: 600,000 candidates and 2,000,000 judgments by 200 people in all projects, 200,000 of
   them in the largest project, which is measured as `largest`.

`--size 0.1` makes a tenth of the projects and a tenth of the queries of each. All rows are written
by COPY. Prints JSON: for every page of a lead of all projects and of an annotator, for a saved
judgment and for long work, at each step:

- `ms`: milliseconds of processor time of this process and of its server process of PostgreSQL,
  which uses no further ones: the least of several requests, since other work only adds to it;
- `database_ms`: the part of PostgreSQL; `queries`: the number of queries;
- `first_wall_ms`: the whole time of the first request, which finds nothing in the caches;
- `times_bare`: the time as a multiple of that of an almost empty page, requested in turn with it:
  comparable on a busy machine, and what growth is computed from.

`start` is the processor time of the web server and the worker until they are ready.

The pages are those routes that need no key but the project's name, and PAGES_WITH_KEYS; a person's
pages are those that open for them. `growth` has exponents: 0 does not grow, 1 grows in proportion.

- `with_projects`: the small project, from step 1 to step 2;
- `with_others`: the small project, from step 2 to step 3, with the judgments of other projects;
- `with_own`: from the small to the largest project, with the project's own judgments.

`goals` lists what is missed. `slowest` has the plans of the slowest queries of pages of the largest
project.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.annotators import journal_entry
from benchmarks.serving import (
    installation,
    parse_options,
    processor_seconds,
    run_step,
    running_server,
    set_up,
)

if TYPE_CHECKING:
    from benchmarks.scale_world import Project, World

# The lines of the file that is loaded.
LINES = 100_000
# A page is requested so often again, or for so many seconds.
ROUNDS, SECONDS = 5, 2.0
# Milliseconds of processor for a page, and how many times as long a saved judgment may take.
GOALS = {"annotator_ms": 60, "lead_ms": 200, "judgment_times": 1.3, "growth_of_a_project": 0.05}
# Pages whose address needs more than the project's name, with these keys of the project.
PAGES_WITH_KEYS = {
    "annotate:judge": ("pair", "candidate"),
    "annotate:listing": ("pair",),
    "annotate:rewrite": ("pair",),
    "audit:story": ("pair",),
    "annotate:query": ("slug", "query"),
    "annotate:query_people": ("slug", "query"),
    "annotate:person": ("slug", "member"),
    "annotate:member": ("slug", "member"),
    "audit:disagreement": ("narrative", "candidate"),
}
# PostgreSQL as docs/services.md advises it for 200 people; one process does all of a query's work.
POSTGRESQL = {"shared_buffers": "1GB", "work_mem": "16MB", "max_parallel_workers_per_gather": "0"}


def main() -> None:
    """Fill the database step by step, measure after each, and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=float, default=1.0, help="of all rows (%(default)s)")
    parser.add_argument("--only", action="append", help="a page or work by its name")
    parser.add_argument("--minutes", type=float, default=25.0, help="then it ends (%(default)s)")
    parser.add_argument("--explain", type=int, default=5, help="so many of the slowest queries")
    parse_options(parser, {"grow": _grow})
    with installation("postgresql", settings=POSTGRESQL) as (env, _folder):
        print(json.dumps(run_step("grow", env=env | {"REJUDGE_WEB_PROCESS": "1"}), indent=2))


def _grow(options: argparse.Namespace) -> dict[str, Any]:
    set_up(migrate=True)
    from django.test import Client

    from benchmarks.scale_world import World
    from config.static import collect_static

    # Pages that do not open for a person are no fault here.
    logging.disable(logging.WARNING)
    collect_static()
    world = World(options.size)
    ends = time.monotonic() + 60 * options.minutes
    unmeasured = []
    bare = partial(Client(SERVER_NAME="localhost").get, "/healthz")
    slow: list[_Query] = []
    seen: dict[str, dict[str, Any]] = {}
    sizes = {}
    for step in ("alone", "projects", "judgments"):
        begun = time.monotonic()
        world.grow(step)
        filled = round(time.monotonic() - begun)
        sizes[step] = {**world.counts(), "seconds_to_fill": filled}
        if not options.only or "start" in options.only:
            seen.setdefault("start", {})[step] = {"ms": _start_ms()}
        places = {step: world.small} | ({"largest": world.largest} if step == "judgments" else {})
        for name, project in places.items():
            for what, work in works(world, project, options.size).items():
                if time.monotonic() > ends:
                    unmeasured.append(f"{what} ({name})")
                elif not options.only or what in options.only:
                    figures = measured(what, work, bare, slow if name == "largest" else [])
                    if figures is not None:
                        seen.setdefault(what, {})[name] = figures
    counts = sizes["judgments"]
    ranges = {
        "with_projects": ("alone", "projects", counts["projects"]),
        "with_others": (
            *("projects", "judgments"),
            counts["judgments"] / sizes["projects"]["judgments"],
        ),
        "with_own": ("judgments", "largest", world.largest.judgments / world.small.judgments),
    }
    for figures in seen.values():
        figures["growth"] = {
            name: round(
                math.log(figures[after]["times_bare"] / figures[before]["times_bare"], times), 2
            )
            for name, (before, after, times) in ranges.items()
            if "times_bare" in figures.get(before, {}) and "times_bare" in figures.get(after, {})
        }
    slow.sort(key=lambda query: -query.seconds)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "sizes": sizes,
        "goals": GOALS | {"missed": list(_missed(seen))},
        "measured": seen,
        "unmeasured": unmeasured,
        "slowest": [query.explained() for query in slow[: options.explain]],
    }


def _start_ms() -> float:
    """Return the processor time that the web server and the worker need until they are ready."""
    env = {name: value for name, value in os.environ.items() if name != "REJUDGE_WEB_PROCESS"}
    with running_server(env, Path(os.environ["REJUDGE_DATA"])) as (process, _port):
        return round(1_000 * processor_seconds(process.pid), 1)


class _Query(NamedTuple):
    """A query of a page, with the time that it took."""

    seconds: float
    page: str
    sql: str

    def explained(self) -> dict[str, Any]:
        """Return the query with its plan."""
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("EXPLAIN (ANALYZE, BUFFERS) " + self.sql.replace("%", "%%"), [])
            plan = [line for (line,) in cursor.fetchall()]
        return {"page": self.page, "ms": 1_000 * self.seconds, "sql": self.sql, "plan": plan}


def measured(
    what: str, work: Callable[[], Any], bare: Callable[[], Any], slow: list[_Query]
) -> dict[str, Any] | None:
    """Return the figures of some work; None if it is a page that does not open for this person."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    times: list[tuple[float, float]] = []
    bare_times: list[float] = []

    def request() -> Any:
        before = _processor_ms()
        answer = work()
        after = _processor_ms()
        times.append((after[0] - before[0], after[1] - before[1]))
        bare()
        bare_times.append(_processor_ms()[0] - after[0])
        return answer

    begun = time.monotonic()
    with CaptureQueriesContext(connection) as context:
        answer = request()
    took = time.monotonic() - begun
    if answer is not None and getattr(answer, "status_code", 200) != 200:
        return None
    queries = [query for query in context if not query["sql"].startswith(("BEGIN", "COMMIT"))]
    slow += [
        _Query(float(query["time"]), what, query["sql"])
        for query in queries
        if query["sql"].startswith(("SELECT", "WITH"))
    ]
    while len(times) <= ROUNDS and time.monotonic() - begun < SECONDS:
        request()
    here, there = min(times, key=sum)
    return {
        "ms": round(here + there, 1),
        "database_ms": round(there, 1),
        "times_bare": round((here + there) / min(bare_times), 2),
        "queries": len(queries),
        "first_wall_ms": round(1_000 * took, 1),
    }


def _processor_ms() -> tuple[float, float]:
    """Return the processor time so far of this process, and of its server process."""
    from django.db import connection

    connection.ensure_connection()
    server = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat").read_text()
    return time.process_time() * 1_000, int(server.split()[0]) / 1_000_000


def _missed(seen: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield what misses the goals, in words."""
    for what, figures in seen.items():
        who, _space, page = what.partition(" ")
        most = GOALS[f"{who}_ms"] if page else math.inf
        for place in ("judgments", "largest"):
            if figures.get(place, {"ms": 0})["ms"] > most:
                yield f"{what} ({place}): {figures[place]['ms']} ms, at most {most}"
        for name in ("with_projects", "with_others"):
            if figures["growth"].get(name, 0) > GOALS["growth_of_a_project"]:
                yield f"{what} grows {name}: {figures['growth'][name]}"
    if "largest" in seen.get("judgment", {}):
        times = seen["judgment"]["largest"]["times_bare"] / seen["judgment"]["alone"]["times_bare"]
        if times > GOALS["judgment_times"]:
            yield f"judgment: {times:.2f} times the small one"


def works(world: World, project: Project, size: float) -> dict[str, Callable[[], Any]]:
    """Return a function for each page and for each work, by its name in the figures."""
    from django.conf import settings
    from django.test import Client

    from benchmarks.world import sign_in

    clients = {
        "lead": Client(SERVER_NAME="localhost"),
        "annotator": Client(SERVER_NAME="localhost"),
    }
    for user, client in zip((world.lead, world.annotator), clients.values(), strict=True):
        client.cookies[settings.SESSION_COOKIE_NAME] = sign_in(user)
    works: dict[str, Callable[[], Any]] = {
        f"{who} {name}": lambda client=client, url=url: client.get(url)  # type: ignore[misc]
        for who, client in clients.items()
        for name, url in _addresses(project).items()
    }
    pair, narrative = project.first + 1, project.first + 2

    def judgment() -> Any:
        candidate = next(world.upcoming[project.slug])
        entry = journal_entry(world.annotator.pk, pair, narrative, candidate)
        body = json.dumps({"entries": [entry]})
        answer = clients["annotator"].post("/api/v1/journal/", body, "application/json")
        assert answer.content.count(b'"saved"') == 1, answer.content[:500]
        return answer

    return {"judgment": judgment} | works | _long_works(world, project, size)


def _addresses(project: Project) -> dict[str, str]:
    """Return the address of each page, by its route."""
    from django.urls import get_resolver, reverse

    keys = {
        "slug": project.slug,
        "pair": project.first + 1,
        "query": project.first + 1,
        "narrative": project.first + 2,
        "candidate": project.first + project.shape.pool,
        "member": project.members[0],
    }
    addresses = {}
    for app in ("annotate", "audit", "exporters"):
        _prefix, resolver = get_resolver().namespace_dict[app]
        for name in filter(lambda name: isinstance(name, str), resolver.reverse_dict):
            route = f"{app}:{name}"
            ((_path, parameters),), *_ = resolver.reverse_dict.getlist(name)[0]
            values = [keys[key] for key in PAGES_WITH_KEYS.get(route, parameters) if key in keys]
            if len(values) == len(parameters) and not name.startswith("api"):
                addresses[route.partition(":")[2]] = reverse(route, args=values)
    return addresses


def _long_works(world: World, project: Project, size: float) -> dict[str, Callable[[], Any]]:
    """Return what a worker or a command does."""
    from annotate import models
    from annotate.collection.intake import file_on_disk
    from annotate.collection.intake.files import NoProgress
    from annotate.loading.load import load_file
    from annotate.projects.actions import create_project
    from audit.reports.reliability import agreement_of
    from base.snapshot import snapshot
    from exporters.exports.actions import write
    from keeping.backup import back_up
    from keeping.verify import verify

    row = models.Project.objects.get(pk=project.pk)
    folder = Path(tempfile.mkdtemp(dir=os.environ["REJUDGE_DATA"]))
    numbers = iter(range(1_000))

    def load() -> None:
        world.loads += 1
        path = folder / "qrels.txt"
        many = round(LINES * min(size, 1.0))
        path.write_text("".join(f"{n % 100} 0 D{n} {n % 3}\n" for n in range(many)))
        into = create_project(slug=f"load{world.loads}")
        report = load_file(project=into, format_name="trec-qrels", file=file_on_disk(str(path)))
        assert report.read == many, report

    def export() -> None:
        target = folder / f"export{next(numbers)}"
        target.mkdir()
        write(row, "trec", target)

    def verified() -> None:
        with snapshot():
            assert not (result := verify(row)).wrong, result.faults[:3]

    return {
        **({"load": load} if project == world.small else {}),
        "export": export,
        "agreement": lambda: agreement_of(row, seed=7, resamples=2_000),
        "backup": lambda: back_up(
            path=folder / f"{next(numbers)}.zip", project=project.slug, progress=NoProgress()
        ),
        "verify": verified,
    }


if __name__ == "__main__":
    main()
