"""Speed of judging: a real server with many simultaneous annotators, and with a real Chromium.

    python -m benchmarks.judging [--database sqlite|postgresql] [--seconds 10]
                                 [--only load|browser]

Fills a new database with 10,000 documents of 400 words in 100 pools, starts the server as people do
(`manage.py serve`: web server and worker) on a free port, and prints JSON:

- `annotators`: 1, 8 and 32 of them without a browser (benchmarks/annotators.py), who fetch twenty
  documents at a time and judge each. `one_by_one` sends each judgment in its own request, as soon
  as the one before is saved. The others send what has piled up, as the page does, and a judgment's
  time is from its key press to the response that it is saved: `as_it_piles_up` presses one and a
  half times as many keys as the goal, to see how many are saved in time; `two_a_second` is the rate
  of fast people.
- `browser`: from key press to next document painted, over 200 presses; the first load of the page.
- `memory_mb`: PSS and RSS of all processes of the server, when idle and after the load.
- `bounds`: upper bounds for this machine, measured in the same run: the same rows written by the
  bare driver, one transaction each; and the sign-in page, which reads nothing.
- `ratios`: the rate of `one_by_one` divided by each bound, by number of annotators.

The annotators and the server share the machine. `load_before` is the load average. `processor_ms`
is the processor time of one judgment, with its share of the documents, in the server's processes
and the annotators' (the database's own are not counted); it is steadier on a busy machine. SQLite
is configured as the server does it; PostgreSQL waits for the disk at each commit (fsync on).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks.annotators import Timings, measure
from benchmarks.bare import insert_judgments
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

DOCUMENTS, WORDS, POOL = 10_000, 400, 100
PRESSES = 200
# Number of simultaneous annotators -> the goal in judgments per second: four times what the best
# other tool saved on the same two cores.
GOALS = {1: 107, 8: 175, 32: 208}
# Way of judging -> the maximum rate that is possible, or tried, as a multiple of the goal.
RATES = {"one_by_one": 3.0, "as_it_piles_up": 1.5, "two_a_second": 0.3}


def main() -> None:
    """Measure on each database in turn."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_databases(parser)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each crowd (%(default)s)")
    parser.add_argument("--only", choices=["load", "browser"], help="run only this half")
    options = parse_options(parser, STEPS)
    figures: dict[str, Any] = {
        "documents": DOCUMENTS,
        "words": WORDS,
        "pools": DOCUMENTS // POOL,
        "cores": os.cpu_count(),
        "goals": {
            "judgments_per_second": GOALS,
            "p95_ms_at_32": 250,
            "painted_p95_ms": 60,
            "first_load": {"requests": 30, "kb": 200},
            "idle_memory_mb": 350,
        },
    }
    measure_databases(figures, _measure, options)


def _measure(database: str, options: argparse.Namespace) -> dict[str, Any]:
    seconds, only = options.seconds, options.only
    found: dict[str, Any] = {"load_before": round(os.getloadavg()[0], 2)}
    with installation(database, durable=True) as (env, folder):
        plan = run_step("fill", env=env)
        with running_server(env, folder) as (process, port):
            amounts = {"idle": memory(process.pid)}
            # Warm up every web process with the requests to come.
            warmed = measure("one_by_one", port, plan["warm"], seconds=2)
            if only != "browser":
                found["annotators"] = _measure_annotators(process.pid, port, plan, seconds)
                amounts["after_the_load"] = memory(process.pid)
                found["bounds"] = {
                    "sign_in_pages_per_second": {
                        n: _summary(measure("sign_in_page", port, [{}] * n, seconds=seconds / 2))
                        for n in GOALS
                    },
                    "bare_driver": run_step("bare", env=env),
                }
                found["ratios"] = _ratios(found["annotators"]["one_by_one"], found["bounds"])
            if only != "load":
                found["browser"] = run_step("browser", env={**env, "BENCH_PORT": str(port)})
                amounts["after_the_browser"] = memory(process.pid)
            found["memory_mb"] = amounts
        if only != "browser":
            counts = [
                crowd["count"] for way in found["annotators"].values() for crowd in way.values()
            ]
            answered = sum(counts) + len(warmed.saving)
            kept = run_step("count", env=env)
            if kept != answered:
                raise RuntimeError(f"{answered} judgments were acknowledged, {kept} are stored")
    return found


def _measure_annotators(
    server: int, port: int, plan: dict[str, Any], seconds: float
) -> dict[str, dict[int, Any]]:
    found: dict[str, dict[int, Any]] = {}
    for way in RATES:
        found[way] = {}
        for many in GOALS:
            before = processor_seconds(server)
            seen = measure(
                way, port, plan[f"{way} {many}"], seconds=seconds, rate=_rate(way, many) / many
            )
            count = len(seen.saving)
            found[way][many] = {
                **_summary(seen),
                "processor_ms": {
                    "server": round(1000 * (processor_seconds(server) - before) / count, 2),
                    "annotators": round(1000 * seen.processor_seconds / count, 2),
                },
            }
    return found


def _ratios(crowds: dict[int, Any], bounds: dict[str, Any]) -> dict[str, dict[int, float]]:
    pages = bounds["sign_in_pages_per_second"]
    rows = bounds["bare_driver"]["rows_per_second"]
    return {
        "to_sign_in_pages": {
            n: round(crowd["per_second"] / pages[n]["per_second"], 2) for n, crowd in crowds.items()
        },
        "to_bare_driver": {n: round(crowd["per_second"] / rows, 2) for n, crowd in crowds.items()},
    }


def _rate(way: str, many: int) -> float:
    """Return the keys a second of all annotators together."""
    return {"two_a_second": 2.0 * many}.get(way, RATES[way] * GOALS[many])


def _summary(seen: Timings) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "count": len(seen.saving),
        "per_second": round(len(seen.saving) / (seen.ended - seen.begun), 1),
        "ms": quantiles([1000 * one for one in seen.saving]),
    }
    if seen.batches:
        summary["entries_per_request"] = round(statistics.mean(seen.batches), 2)
    if seen.fetching:
        summary["twenty_documents_ms"] = quantiles([1000 * one for one in seen.fetching])
    return summary


# --- steps, each in a process of its own ----------------------------------------------------------


def _fill(seconds: float) -> dict[str, Any]:
    """Make the project for all crowds of this run."""
    # Enough work for each, however fast the server is.
    sizes = {"warm": (8, 2), "browser": (1, 4)}
    for way in RATES:
        for many in GOALS:
            each = _rate(way, many) * seconds / many
            sizes[f"{way} {many}"] = (many, int(each / POOL) + 2)
    return fill(sizes)


def fill(sizes: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """Make the project and return the plan: crowd -> annotators with their work.

    `sizes`: the number of annotators in each crowd, and the number of pools each of them judges.
    """
    set_up(migrate=True)
    from django.conf import settings
    from django.db import transaction

    from annotate.models import Assignment, Membership
    from benchmarks import world

    rng = random.Random(7)
    words = world.vocabulary(rng, 20_000, "etaoinshrdlucmfwypvbgk")
    # Zipf's law, as in natural text: the second word occurs half as often as the first.
    often = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    with transaction.atomic():
        project = world.add_project("bench", "Bench", overlap=50)
        pools = world.add_pools(
            project,
            pools=DOCUMENTS // POOL,
            size=POOL,
            words=words,
            rng=rng,
            text=lambda: " ".join(rng.choices(words, cum_weights=often, k=WORDS)),
        )
    work = [
        {
            "pair": pool.pair.pk,
            "narrative": pool.altered.pk,
            "candidates": [one.pk for one in pool.candidates],
        }
        for pool in pools
    ]
    plan: dict[str, list[dict[str, Any]]] = {}
    place = 0
    for crowd, (many, each) in sizes.items():
        plan[crowd] = []
        for n in range(many):
            user = world.add_user(f"{crowd} {n}".replace(" ", "-"))
            member = Membership.objects.create(project=project, user=user, name=user.username)
            mine = [(place + step) % len(work) for step in range(min(each, len(work)))]
            for place in mine:
                taken = Assignment.objects.filter(pair=pools[place].pair, task="judge").count()
                Assignment.objects.create(
                    pair=pools[place].pair, task="judge", seat=taken + 1, member=member
                )
            place += len(mine)
            if crowd == "lead":
                Membership.objects.filter(pk=member.pk).update(role=Membership.Role.LEAD)
            plan[crowd].append(
                {
                    "user": user.pk,
                    "member": member.pk,
                    "session": world.sign_in(user),
                    "work": [work[place] for place in mine],
                }
            )
    world.analyze()
    (Path(settings.DATA) / "plan.json").write_text(json.dumps(plan))
    return plan


def count_judgments() -> int:
    """Return how many judgments of the annotators without a browser are stored."""
    set_up()
    from annotate.models import Judgment

    judgments = Judgment.objects.current().filter(annotator__user__isnull=False)
    return judgments.exclude(annotator__name__startswith="browser").count()


# Measures from the key press to the frame after the next document is inserted, which the event
# reports.
WATCH = """
(() => {
  let pressed = 0;
  window.painted = [];
  addEventListener("keydown", () => (pressed = performance.now()), true);
  addEventListener("judge:document", () => {
    if (!pressed) return;
    const since = pressed;
    pressed = 0;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.painted.push(performance.now() - since);
      port2.postMessage(null);
    });
  }, true);
})();
"""


def _browser() -> dict[str, Any]:
    """Press keys in a real Chromium, and measure the first load."""
    from playwright.sync_api import sync_playwright

    from tests.services.chromium import FLAGS, chromium

    plan = json.loads((Path(os.environ["REJUDGE_DATA"]) / "plan.json").read_text())
    (annotator,) = plan["browser"]
    url = f"http://127.0.0.1:{os.environ['BENCH_PORT']}"
    found = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found.executable, args=FLAGS, env={**os.environ, **found.env}
        )
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.add_cookies([{"name": "sessionid", "value": annotator["session"], "url": url}])
        page = context.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.add_init_script(WATCH)
        requests: dict[str, dict[str, Any]] = {}
        network = context.new_cdp_session(page)
        network.send("Network.enable")

        def begun(event: dict[str, Any]) -> None:
            requests[event["requestId"]] = {"url": event["request"]["url"], "bytes": 0}

        def ended(event: dict[str, Any]) -> None:
            requests[event["requestId"]]["bytes"] = event["encodedDataLength"]

        network.on("Network.requestWillBeSent", begun)
        network.on("Network.loadingFinished", ended)
        presses: list[float] = []
        first: dict[str, Any] = {}
        for work in annotator["work"]:
            page.goto(f"{url}/pairs/{work['pair']}/judging/")
            page.wait_for_load_state("networkidle")
            first = first or _sum_bytes(list(requests.values()), url)
            # The last judgment leads to the end page, not to a document.
            for _ in range(min(POOL - 1, PRESSES - len(presses))):
                count = page.evaluate("window.painted.length")
                page.keyboard.press(random.choice("012"))
                page.wait_for_function("count => window.painted.length > count", arg=count)
            presses += page.evaluate("window.painted.splice(0)")
            if len(presses) >= PRESSES:
                break
        page.wait_for_selector(".save-line[data-state=saved]")
        outside = sorted(
            {one["url"] for one in requests.values() if not one["url"].startswith(url)}
        )
        browser.close()
    if complaints or len(presses) < PRESSES:
        raise RuntimeError(f"{len(presses)} presses; the page complained: {complaints[:3]}")
    return {
        "key_to_next_document_painted_ms": {"presses": len(presses), **quantiles(presses)},
        "first_load": first,
        "from_outside": outside,
    }


def _sum_bytes(requests: list[dict[str, Any]], url: str) -> dict[str, Any]:
    """Return the bytes received, with headers, for the page itself and the documents ahead."""
    ahead = [one for one in requests if "/documents/" in one["url"]]
    page = [one for one in requests if one not in ahead]

    def kb(some: list[dict[str, Any]]) -> float:
        total: float = sum(one["bytes"] for one in some)
        return round(total / 1000, 1)

    heaviest = sorted(page, key=lambda one: -one["bytes"])[:5]
    return {
        "requests": len(page),
        "kb": kb(page),
        "documents_fetched_ahead": {"requests": len(ahead), "kb": kb(ahead)},
        "heaviest_kb": {one["url"].removeprefix(url): kb([one]) for one in heaviest},
    }


STEPS: Steps = {
    "fill": lambda options: _fill(options.seconds),
    "bare": lambda options: insert_judgments(options.seconds),
    "count": lambda _: count_judgments(),
    "browser": lambda _: _browser(),
}


if __name__ == "__main__":
    main()
