"""`manage.py demo` started twice, as a person does, in a data folder that is empty at first."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import sys
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest
from django.conf import settings

from tests.services.processes import running, wait_until

pytestmark = pytest.mark.long

METRICS_TOKEN = "watching"


class Demo:
    """A running demo: its process, its port and its output."""

    def __init__(self, process, port, log):
        self.process, self.port, self._log = process, port, log

    def output(self):
        return self._log.read_text(encoding="utf-8")

    def logins(self):
        return dict(re.findall(r"sign in as (\w+) +password (\S+)", self.output()))

    def request(self, method, path, body=None, headers=None):
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        with closing(connection):
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response, response.read().decode()


@contextmanager
def run_demo(data, log):
    """Start the demo and wait until it has printed the logins."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    env = {name: value for name, value in os.environ.items() if not name.startswith("REJUDGE_")}
    env |= {"DJANGO_SETTINGS_MODULE": "config.settings", "REJUDGE_DATA": str(data)}
    env["REJUDGE_METRICS_TOKEN"] = METRICS_TOKEN
    argv = [sys.executable, "manage.py", "demo", "--port", str(port), "--web-processes", "2"]
    argv.append("--with-model")
    with running(
        argv, log=log, env=env, cwd=Path(settings.BASE_DIR), stop=signal.SIGINT, patience=30
    ) as process:
        demo = Demo(process, port, log)
        wait_until(
            lambda: demo.logins().keys() >= {"ada", "ben", "carla"},
            "the address and the logins",
            seconds=180,
            process=process,
            log=log,
        )
        yield demo


def rows(data, query):
    with closing(sqlite3.connect(data / "rejudge.sqlite3", timeout=20)) as database:
        return database.execute(query).fetchall()


def sign_in(demo, name):
    """Sign in through the form, as a browser without JavaScript does; return the cookies."""
    page, html = demo.request("GET", "/accounts/login/")
    (token,) = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', html)
    cookie = page.getheader("Set-Cookie").split(";")[0]
    answer, _ = demo.request(
        "POST",
        "/accounts/login/",
        f"csrfmiddlewaretoken={token}&username={name}&password={demo.logins()[name]}",
        {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"},
    )
    assert answer.status == 302
    return "; ".join(
        value.split(";")[0] for key, value in answer.getheaders() if key.lower() == "set-cookie"
    )


def test_a_demo_stops_cleanly_keeps_its_data_for_the_next_start_and_counts_all_requests(tmp_path):
    data = tmp_path / "data"
    with run_demo(data, tmp_path / "first.log") as demo:
        assert f"Rejudge is at http://127.0.0.1:{demo.port}/" in demo.output()
        cookies = sign_in(demo, "ada")
        home, html = demo.request("GET", "/", headers={"Cookie": cookies})
        assert home.status == 200
        assert "ada" in html

        wait_until(lambda: rows(data, "SELECT * FROM jobs_heartbeat"), "a heartbeat")
        demo.process.send_signal(signal.SIGINT)

        assert demo.process.wait(timeout=30) == 0
        assert demo.output().endswith("Stopped. Everything is kept.\n")
    assert children_with(data) == []
    assert [path.name for path in data.iterdir() if path.stat().st_mode & 0o077] == []
    before = rows(data, "SELECT count(*) FROM annotate_statement")

    with run_demo(data, tmp_path / "second.log") as demo:
        cookies = sign_in(demo, "carla")

        assert demo.request("GET", "/", headers={"Cookie": cookies})[0].status == 200
        model, html = demo.request(
            "GET", "/projects/example/models/new/", headers={"Cookie": cookies}
        )
        assert model.status == 200
        assert '<option value="imitation">' in html
        # Each request is a new connection, which the kernel gives to either web process.
        for _ in range(20):
            assert demo.request("GET", "/glossary/")[0].status == 302
        assert count_requests(demo, route="glossary") == ["20.0"]
    assert rows(data, "SELECT count(*) FROM annotate_statement") == before
    assert rows(data, "SELECT count(*) FROM annotate_project") == [(1,)]


def count_requests(demo, *, route):
    """Return how many requests all web processes together have answered with a redirect."""
    _, text = demo.request("GET", "/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
    counted = f'rejudge_requests_total{{route="{route}",status="302",verb="GET"}} '
    return [line.removeprefix(counted) for line in text.splitlines() if line.startswith(counted)]


def children_with(data):
    """Return the processes that still run with this data folder, from /proc."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = environment.read_bytes().split(b"\0")
        except OSError:
            continue
        if f"REJUDGE_DATA={data}".encode() in variables:
            found.append(environment.parent.name)
    return found
