"""Speed of a long queue of disagreements: a real server, one lead, HTTP.

    python -m benchmarks.queue [--database sqlite|postgresql] [--rounds 30] [--share 1.0]

Fills a new database with 5,000 candidates in 50 pools, which ten people judge under two narratives
each, the original and the altered: 100,000 judgments and 10,000 disagreements. All but 600 of the
10,000 documents under a narrative are judged differently; disagreements on 500 conditions, 50
instructions and 50 checked labels make up the number. Each altered narrative has two conditions,
which two people answer for every document. Each document has 400 words; a page of the queue only
reads the one document it shows. `--share 0.05` makes a twentieth of everything.

Prints JSON, in milliseconds, over `rounds` requests each after two that are not counted:

- `first_page`: the first page of the list in its three orders, of one kind, of two people, and of
  settled ones; `deep_page` is one near the end, reached by its address.
- `settle`: pressing "Settle it": `post` is the redirect, `next_item` the page of the next item, and
  `together` the time that the lead waits. The goal is 200 ms. `count` is the number of open items,
  which that page requests after it has loaded.
- `project`, `progress`: the first pages of the project for a lead.
- `memory_mb`: PSS and RSS of all processes of the server, when idle and afterwards.
- `bounds`: lower bounds for this machine, measured in the same run: `grouping`, the bare driver,
  which groups all judgments and counts those that differ; `sign_in_page`, a page without queries.

The lead and the server share the machine. `load_before` is the load average. `processor_ms` is the
processor time of one request in the server's processes (the database's own are not counted); it is
steadier on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Callable
from typing import Any

from benchmarks.queue_world import fill
from benchmarks.serving import (
    Steps,
    add_databases,
    installation,
    measure_databases,
    memory,
    parse_options,
    processor_seconds,
    quantiles,
    run_step,
    running_server,
    set_up,
)
from tests.chaos.people import Answer, Connection


def main() -> None:
    """Measure on each database in turn."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_databases(parser)
    parser.add_argument("--rounds", type=int, default=30, help="requests of each (%(default)s)")
    parser.add_argument("--share", type=float, default=1.0, help="of all rows (%(default)s)")
    options = parse_options(parser, STEPS)
    figures: dict[str, Any] = {
        "cores": os.cpu_count(),
        "share": options.share,
        "goals": {"settle_together_p95_ms": 200},
    }
    measure_databases(figures, _measure, options)


def _measure(database: str, options: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {"load_before": round(os.getloadavg()[0], 2)}
    with installation(database, durable=True) as (env, folder):
        plan = run_step("fill", env=env)
        found["rows"] = plan["rows"]
        with running_server(env, folder) as (process, port):
            amounts = {"idle": memory(process.pid)}
            lead = Lead(port, plan["session"])
            found |= _pages(lead, plan, options.rounds, process.pid)
            found["settle"] = _settling(lead, options.rounds, process.pid)
            amounts["afterwards"] = memory(process.pid)
            found["memory_mb"] = amounts
            found["bounds"] = {
                "sign_in_page": _timed(
                    lambda: Lead(port, "").get("/accounts/login/"), options.rounds
                ),
                "grouping": run_step("grouping", env=env),
            }
        found["load_after"] = round(os.getloadavg()[0], 2)
    return found


class Lead:
    """A lead's browser with one connection."""

    def __init__(self, port: int, session: str) -> None:
        self._wire = Connection(port, session, patience=60)

    def get(self, path: str) -> str:
        """Return a page; raise RuntimeError unless the status is 200."""
        return self._check(self._wire.ask("GET", path), path, 200).body.decode()

    def post(self, path: str, **given: str) -> str:
        """Submit a form and return the address that it redirects to."""
        return self._check(self._wire.form(path, **given), path, 302).location

    def _check(self, answer: Answer, path: str, status: int) -> Answer:
        if answer.status != status:
            raise RuntimeError(f"{path}: {answer.status}\n{answer.body[:2000].decode()}")
        return answer


def _timed(ask: Callable[[], Any], rounds: int, server: int | None = None) -> dict[str, Any]:
    times = []
    before = 0.0
    for number in range(rounds + 2):
        if number == 2 and server is not None:
            before = processor_seconds(server)
        begun = time.perf_counter()
        ask()
        if number >= 2:
            times.append(1000 * (time.perf_counter() - begun))
    if server is None:
        return quantiles(times)
    spent = 1000 * (processor_seconds(server) - before) / rounds
    return {**quantiles(times), "processor_ms": round(spent, 1)}


def _pages(lead: Lead, plan: dict[str, Any], rounds: int, server: int) -> dict[str, Any]:
    here = "/projects/bench/disagreements/"
    asked = {
        "distance": "",
        "effect": "?order=effect",
        "age": "?order=age",
        "judgments": "?kind=judgment",
        "two_people": f"?one={plan['people'][0]}&other={plan['people'][1]}",
        "settled": "?state=settled",
    }
    first = lead.get(here)
    shown = int(re.search(r"of ([\d,]+) shown", first).group(1).replace(",", ""))  # type: ignore[union-attr]
    if shown != plan["rows"]["disagreements"]:
        raise RuntimeError(f"{shown} disagreements are listed, {plan['rows']} were made")
    deep = here + "?after=" + plan["deep"]
    return {
        "first_page": {
            name: _timed(lambda query=query: lead.get(here + query), rounds, server)  # type: ignore[misc]
            for name, query in asked.items()
        },
        "deep_page": _timed(lambda: lead.get(deep), rounds, server),
        "count": _timed(lambda: lead.get(here + "count/"), rounds, server),
        "project": _timed(lambda: lead.get("/projects/bench/"), rounds, server),
        "progress": _timed(lambda: lead.get("/projects/bench/progress/"), rounds, server),
    }


def _settling(lead: Lead, rounds: int, server: int) -> dict[str, Any]:
    """Adopt the first answer of one disagreement after another, as the key does."""
    path = re.search(r'id="first" href="([^"]+)"', lead.get("/projects/bench/disagreements/"))
    assert path is not None
    here = path.group(1).replace("&amp;", "&")
    text = lead.get(here)
    posts, pages, both = [], [], []
    before = 0.0
    for number in range(rounds + 2):
        adopted = re.search(r'name="adopt" value="(\d+)"', text)
        following = re.search(r'name="next" value="([^"]*)"', text)
        assert adopted is not None
        assert following is not None
        if number == 2:
            before = processor_seconds(server)
        begun = time.perf_counter()
        here = lead.post(here, adopt=adopted.group(1), cause="edge", next=following.group(1))
        posted = time.perf_counter()
        text = lead.get(here)
        ended = time.perf_counter()
        if number >= 2:
            posts.append(1000 * (posted - begun))
            pages.append(1000 * (ended - posted))
            both.append(1000 * (ended - begun))
    spent = 1000 * (processor_seconds(server) - before) / rounds
    return {
        "post": quantiles(posts),
        "next_item": quantiles(pages),
        "together": {**quantiles(both), "processor_ms": round(spent, 1)},
    }


# --- steps, each in a process of its own ----------------------------------------------------------


def _grouping(options: argparse.Namespace) -> dict[str, Any]:
    """Group all judgments with the bare driver and count the groups that differ."""
    set_up()
    from django.db import connection

    connection.ensure_connection()
    driver = connection.connection
    statement = """
        SELECT COUNT(*) FROM (
            SELECT 1 FROM annotate_statement WHERE ended_at IS NULL
            GROUP BY narrative_id, candidate_id HAVING MIN(relevance) < MAX(relevance)
        ) AS differing
    """
    return _timed(lambda: driver.execute(statement).fetchone(), options.rounds)


STEPS: Steps = {"fill": fill, "grouping": _grouping}


if __name__ == "__main__":
    main()
