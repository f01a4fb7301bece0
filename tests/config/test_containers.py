"""docker-compose.yml and the Dockerfiles: their properties, and their commands on real servers.

No container is started here; the commands run as in the containers, with the variables that docker
compose would set, on the test's own PostgreSQL and Redis.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from functools import partial
from http.client import HTTPConnection
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from django.conf import settings
from ruamel.yaml import YAML

from tests.services.postgres import postgres
from tests.services.processes import running, short_folder, wait_until
from tests.services.wheel import link_libraries

ROOT = Path(settings.BASE_DIR)
COMPOSE = YAML(typ="safe", pure=True).load((ROOT / "docker-compose.yml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
OUR_SERVICES = ["prepare", "web", "worker", "beat"]
# The user of the image, who is nobody here.
UNPRIVILEGED = 10001
DOCKERFILES = [ROOT / "Dockerfile", ROOT / "proxy" / "Dockerfile"]
# The variables that the README says to set in .env.
SET_IN_ENV = {
    "REJUDGE_SITE": "rejudge.example.org",
    "REJUDGE_SECRET_KEY": "0123456789abcdef" * 4,
    "POSTGRES_PASSWORD": "secret",
    "REJUDGE_METRICS_TOKEN": "watching",
    "REJUDGE_MAIL": "smtp+tls://rejudge:secret@mail.example.org:587",
    "REJUDGE_MAIL_FROM": "rejudge@example.org",
}


def test_the_compose_file_follows_the_specification():
    checked = subprocess.run(
        [
            *(sys.executable, "-m", "check_jsonschema"),
            *("--builtin-schema", "vendor.compose-spec", ROOT / "docker-compose.yml"),
        ],
        capture_output=True,
        text=True,
    )

    assert checked.returncode == 0, checked.stdout


def test_the_dockerfiles_pass_hadolint():
    linted = subprocess.run(
        [Path(sys.executable).parent / "hadolint", *DOCKERFILES],
        capture_output=True,
        text=True,
    )

    assert linted.returncode == 0, linted.stdout


@pytest.mark.parametrize("name", ["postgres", "redis"])
def test_images_from_elsewhere_are_pinned(name):
    assert re.fullmatch(r"[a-z]+:\d+\.\d+(\.\d+)?-[a-z]+", SERVICES[name]["image"])


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=["rejudge", "proxy"])
def test_base_images_are_pinned(dockerfile):
    bases = re.findall(r"^FROM (\S+)", dockerfile.read_text("utf-8"), re.MULTILINE)

    assert len(set(bases)) == 1
    assert re.fullmatch(r"[a-z]+:\d+\.\d+\.\d+-[a-z-]+", bases[0])


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=["rejudge", "proxy"])
def test_our_images_run_as_an_unprivileged_user(dockerfile):
    assert re.findall(r"^USER (\S+)", dockerfile.read_text("utf-8"), re.MULTILINE) == ["10001"]


def test_the_documentation_names_the_versions_that_run():
    caddy = re.findall(r"^FROM caddy:([\d.]+)-", DOCKERFILES[1].read_text("utf-8"), re.MULTILINE)
    images = [re.split("[:-]", SERVICES[name]["image"])[1] for name in ("postgres", "redis")]

    documented = re.findall(
        r"^\| (?:PostgreSQL|Redis|Caddy) \| [\d.]+ \| ([\d.]+) \|",
        (ROOT / "docs" / "services.md").read_text("utf-8"),
        re.MULTILINE,
    )

    assert documented == [*images, *caddy]


def test_nothing_runs_as_root():
    built = {name for name in SERVICES if "build" in SERVICES[name]}

    assert built == {"proxy", *OUR_SERVICES}
    assert {name: SERVICES[name].get("user") for name in SERVICES} == {
        "postgres": "postgres",
        "redis": "redis",
        **dict.fromkeys(built),
    }


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_has_only_the_privileges_it_needs(name):
    service = SERVICES[name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "proxy" else [])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_has_resource_limits(name):
    service = SERVICES[name]

    assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    # Nor fill its disk with a log.
    assert set(service["logging"]["options"]) == {"max-size", "max-file"}


def test_only_the_proxy_is_reached_from_outside():
    networks = {name: set(service["networks"]) for name, service in SERVICES.items()}

    assert [name for name in SERVICES if "ports" in SERVICES[name]] == ["proxy"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert networks["postgres"] == networks["redis"] == {"inside"}
    assert networks["proxy"] == {"outside"}


def test_web_and_worker_containers_have_replicas():
    replicas = {
        name: service["deploy"]["replicas"]
        for name, service in SERVICES.items()
        if "replicas" in service["deploy"]
    }

    assert replicas == {
        "web": "${REJUDGE_WEB_REPLICAS:-2}",
        "worker": "${REJUDGE_WORKER_REPLICAS:-2}",
        "beat": 1,
    }
    assert not any("container_name" in service for service in SERVICES.values())


def test_data_is_kept_in_volumes():
    volumes = {
        mount.partition(":")[0] for service in SERVICES.values() for mount in service["volumes"]
    }

    assert volumes == set(COMPOSE["volumes"]) == {"certificates", "database", "broker", "data"}


def test_every_long_running_service_has_a_health_check():
    staying = {name for name, service in SERVICES.items() if service["restart"] != "no"}

    assert staying == {"proxy", "postgres", "redis", "web", "worker", "beat"}
    assert {name for name in SERVICES if "healthcheck" in SERVICES[name]} == staying


def test_the_proxy_uses_the_port_of_the_web_containers():
    caddyfile = (ROOT / "proxy" / "Caddyfile").read_text("utf-8")
    exposed = re.findall(r"^EXPOSE (\d+)$", DOCKERFILES[0].read_text("utf-8"), re.MULTILINE)

    assert "web" in SERVICES
    assert re.findall(r"dynamic a (\S+) (\d+)", caddyfile) == [("web", *exposed)]
    ports = dict(re.findall(r"^\t(http_port|https_port) (\d+)$", caddyfile, re.MULTILINE))
    inside = [mapping.rpartition(":")[2] for mapping in SERVICES["proxy"]["ports"]]
    assert inside == [ports["http_port"], ports["https_port"]]


def run_lines(dockerfile):
    """Return the commands of each RUN line."""
    text = dockerfile.read_text("utf-8").replace("\\\n", " ")
    lines = re.findall(r"^RUN (.+)$", text, re.MULTILINE)
    return [[command.strip() for command in line.split("&&")] for line in lines]


def below(folder, command):
    """Return a command of the image with its own folders, and its account, below `folder`."""
    command = re.sub(r"(?<=\s)(/(?:venv|build|data)\b)", rf"{folder}\1", f" {command}").strip()
    if os.geteuid() != 0:
        command = command.replace("--owner 10001 --group 10001 ", "")
    return command.replace("useradd ", f"useradd --prefix {folder} ")


@pytest.fixture
def image(wheel):
    """A folder as the image: each RUN line of the Dockerfile is executed, without a network.

    The libraries and uv are links to those of the tests, so the lines that install them only
    compare versions and hashes.
    """
    with short_folder("image") as folder:
        folder.chmod(0o755)
        # bin/setup may have removed pip from the environment of the tests.
        subprocess.run([sys.executable, "-m", "venv", folder / "tools"], check=True)
        link_libraries([distribution("uv")], *folder.glob("tools/lib/python*/site-packages"))
        (folder / "build").mkdir()
        (folder / "etc").mkdir()
        for name in ("passwd", "group", "shadow", "gshadow"):
            (folder / "etc" / name).touch()
        shutil.copy(ROOT / "requirements.lock", folder / "build")
        shutil.copy(wheel, folder / "build")
        names = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
        programs = Path(sys.executable).parent
        env = {
            "PATH": f"{folder}/tools/bin:{programs}:/usr/sbin:{os.environ['PATH']}",
            "PIP_NO_INDEX": "1",
            "UV_OFFLINE": "1",
        }
        for command in [part for line in run_lines(DOCKERFILES[0]) for part in line]:
            ran = subprocess.run(
                ["sh", "-c", below(folder, command)], env=env, capture_output=True, text=True
            )
            assert ran.returncode == 0, (command, ran.stderr)
            if command.startswith("python -m venv"):
                (packages,) = folder.glob("venv/lib/python*/site-packages")
                installed = [of for name in names for of in Distribution.discover(name=name)]
                link_libraries(installed, packages)
        yield folder


@pytest.mark.long
def test_the_run_lines_make_an_image_that_prepares_and_shows_a_page(image):
    """As a user who is not root and can write to the data folder only."""
    as_user = ["setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups"]
    prefix = as_user if os.geteuid() == 0 else []
    env = {
        "PATH": f"{image}/venv/bin:{os.environ['PATH']}",
        # A folder that this user cannot write to, as in the image.
        "HOME": str(image),
        "REJUDGE_DATA": str(image / "data"),
    }
    port = free_port()

    prepared = subprocess.run(
        [*prefix, *SERVICES["prepare"]["command"]],
        cwd=image,
        env=env,
        capture_output=True,
        text=True,
    )
    assert prepared.returncode == 0, prepared.stderr
    argv = [*prefix, *SERVICES["web"]["command"], "--port", port]
    with running(argv, log=image / "log", env=env, cwd=image):
        wait_until(partial(listens, port), "a web server", seconds=90, log=image / "log")
        answer, page = get_page(port, "/accounts/login/", Host="localhost")
        documentation = get_page(port, "/help/start/", Host="localhost")[1]

    assert (answer.status, "Sign in" in page) == (200, True)
    assert "Ten minutes from nothing to qrels" in documentation
    account = (image / "etc" / "passwd").read_text().split(":")
    assert (account[0], account[2]) == ("rejudge", str(UNPRIVILEGED))


def test_the_image_is_made_without_a_compiler():
    commands = [part for line in run_lines(DOCKERFILES[0]) for part in line]

    (libraries,) = [command for command in commands if "requirements.lock" in command]
    assert "--only-binary :all:" in libraries
    assert re.findall(r"--no-binary (\S+)", libraries) == ["cwl-eval"]
    assert not any("apt" in command or "gcc" in command for command in commands)


def test_the_image_is_made_of_the_wheel_alone():
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    taken = [line[1:] for line in ignored if line.startswith("!")]

    assert taken == ["requirements.lock", "dist", "dist/rejudge-*.whl"]
    copied = re.findall(
        r"^COPY (?!--from)(.+) \S+$", DOCKERFILES[0].read_text("utf-8"), re.MULTILINE
    )
    assert copied == ["requirements.lock dist/rejudge-*.whl"]


def read_env_example():
    """Return the variables of .env, made from .env.example as the README says."""
    lines = (ROOT / ".env.example").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if re.match(r"[A-Z_]+=", line)) | SET_IN_ENV


def fill_variables(value, variables):
    """Return a value of docker-compose.yml with its variables filled in."""

    def fill(match):
        name, default = match[1], match[2]
        return variables.get(name) or (default or "").removeprefix(":-")

    return re.sub(r"\$\{([A-Z_]+)(:-[^}]*)?(?::\?[^}]*)?\}", fill, value)


@pytest.fixture
def installation(tmp_path, redis_url):
    """The environment that docker compose gives a container, with the test's own addresses."""
    variables = read_env_example()
    container_env = {
        name: fill_variables(value, variables)
        for name, value in SERVICES["web"]["environment"].items()
    }
    here = {
        name: value
        for name, value in os.environ.items()
        if "REJUDGE_" not in name and name not in {"DATABASE_URL", "REDIS_URL"}
    }
    assert container_env["DATABASE_URL"] == "postgres://rejudge:secret@postgres:5432/rejudge"
    with postgres() as url:
        yield (
            here
            | variables
            | container_env
            | {
                "DJANGO_SETTINGS_MODULE": "config.settings",
                "REJUDGE_DATA": str(tmp_path / "data"),
                "DATABASE_URL": url,
                "REDIS_URL": redis_url,
            }
        )


def command(name, *more):
    """Return the command of a service, for the checkout of the tests."""
    program, *arguments = SERVICES[name]["command"]
    assert program == "rejudge"
    return [sys.executable, "manage.py", *arguments, *more]


def health(name, installation, *more):
    check, program, *arguments = SERVICES[name]["healthcheck"]["test"]
    assert (check, program) == ("CMD", "rejudge")
    return subprocess.run(
        [sys.executable, "manage.py", *arguments, *more],
        cwd=ROOT,
        env=installation,
        capture_output=True,
        text=True,
    )


def is_healthy(name, installation, *more):
    return health(name, installation, *more).returncode == 0


def listens(port):
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", int(port)), timeout=1).close()
        return True
    return False


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


def get_page(port, address, **headers):
    with contextlib.closing(HTTPConnection("127.0.0.1", int(port), timeout=20)) as connection:
        connection.request("GET", address, headers=headers)
        response = connection.getresponse()
        return response, response.read().decode(errors="replace")


def read_json_lines(log):
    """Return the lines of a log, each of which must be a JSON object.

    The last lines of Celery, which bypass logging, are left out.
    """
    lines = log.read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line and not line.startswith("worker: ")]


def test_the_containers_commands_make_a_healthy_installation(installation, tmp_path):
    ports = [free_port(), free_port()]
    prepared = subprocess.run(
        command("prepare"), cwd=ROOT, env=installation, capture_output=True, text=True
    )
    assert prepared.returncode == 0, prepared.stderr
    before = [
        health("web", installation, "--port", ports[0]),
        health("worker", installation),
        health("beat", installation),
    ]

    with contextlib.ExitStack() as stack:
        parts = {
            "web-1": command("web", "--port", ports[0]),
            "web-2": command("web", "--port", ports[1]),
            "worker": command("worker"),
            "beat": command("beat"),
        }
        for name, argv in parts.items():
            log = tmp_path / name
            stack.enter_context(running(argv, log=log, env=installation, cwd=ROOT))
        # A health check costs a second of processor time, so cheaper signs are awaited first.
        for number, port in enumerate(ports, 1):
            log = tmp_path / f"web-{number}"
            wait_until(partial(listens, port), "a web server that listens", seconds=90, log=log)
            wait_until(
                partial(is_healthy, "web", installation, "--port", port),
                "a healthy web server",
                log=log,
            )
        log = tmp_path / "worker"
        wait_until(lambda: b" ready." in log.read_bytes(), "a worker", seconds=90, log=log)
        for name in ("worker", "beat"):
            wait_until(
                partial(is_healthy, name, installation),
                f"a healthy {name}",
                log=tmp_path / name,
            )
        ready = [get_page(port, "/readyz") for port in ports]
        as_proxy = {"Host": SET_IN_ENV["REJUDGE_SITE"], "X-Forwarded-Proto": "https"}
        sign_in = get_page(ports[1], "/accounts/login/", **as_proxy)
        plain = get_page(ports[1], "/accounts/login/", Host=SET_IN_ENV["REJUDGE_SITE"])
        stranger = get_page(ports[0], "/accounts/login/", Host="elsewhere.example.org")
        hidden = get_page(ports[0], "/metrics")
        figures = get_page(ports[0], "/metrics", Authorization="Bearer watching")
        style = re.search(r"/static/css/all\.[0-9a-f]{12}\.css", sign_in[1])
        assert style is not None
        styles = get_page(ports[0], style[0], **as_proxy, **{"Accept-Encoding": "gzip"})[0]

    assert [check.returncode for check in before] == [1, 1, 1]
    assert before[0].stderr.startswith("CommandError: The web server does not answer at port")
    assert before[1].stderr.startswith("CommandError: No worker is alive on ")
    assert before[2].stderr == "CommandError: No worker takes work.\n"
    everything = {"database": True, "broker": True, "migrations": True}
    assert [(answer.status, json.loads(body)) for answer, body in ready] == [(200, everything)] * 2
    assert sign_in[0].status == 200
    assert sign_in[0].getheader("Strict-Transport-Security", "").startswith("max-age=")
    assert (plain[0].status, plain[0].getheader("Location")) == (
        301,
        f"https://{SET_IN_ENV['REJUDGE_SITE']}/accounts/login/",
    )
    assert stranger[0].status == 400
    assert hidden[0].status == 404
    assert figures[0].status == 200
    assert 'rejudge_requests_total{route="readyz",status="200",verb="GET"} 1.0' in figures[1]
    assert "rejudge_database_up 1.0" in figures[1]
    assert "rejudge_broker_up 1.0" in figures[1]
    # Compressed, and cached for ever: new content gets a new name.
    assert styles.getheader("Content-Encoding") == "gzip"
    assert "immutable" in styles.getheader("Cache-Control")
    sign_in_lines = [
        line for line in read_json_lines(tmp_path / "web-2") if line.get("route") == "account_login"
    ]
    assert [line["status"] for line in sign_in_lines] == [200]
    assert sign_in_lines[0]["request"] == sign_in[0].getheader("X-Request-ID")
    assert read_json_lines(tmp_path / "worker")
