"""Processes do not import modules that they do not use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def modules_after(code: str, tmp_path, **env: str) -> set[str]:
    """Return the modules that a new process has imported after running `code`."""
    printed = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport json, sys; print(json.dumps(list(sys.modules)))"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "REJUDGE_DATA": str(tmp_path), **env},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(printed.stdout.splitlines()[-1]))


def test_a_web_process_on_sqlite_imports_no_driver_no_http_client_and_no_cryptography(tmp_path):
    held = modules_after("import config.web as web; web._read_all()", tmp_path)

    unused = {"psycopg", "requests", "fido2", "cryptography", "jinja2.environment", "lightningcss"}
    assert held & unused == set()
    assert "annotate.judging.views.judge" in held


def test_a_web_process_imports_nothing_that_only_the_measuring_of_systems_needs(tmp_path):
    held = modules_after("import config.web as web; web._read_all()", tmp_path)

    assert held & {"numpy", "pandas", "ir_measures", "exporters.evaluations.measuring"} == set()
    assert "exporters.evaluations.views" in held


def test_a_web_process_imports_openid_connect_only_if_it_is_set(tmp_path):
    held = modules_after(
        "import config.web as web; web._read_all()",
        tmp_path,
        REJUDGE_OIDC_ISSUER="https://login.example.org",
        REJUDGE_OIDC_CLIENT="rejudge",
    )

    assert {"requests", "allauth.socialaccount.providers.openid_connect.views"} <= held


def test_a_worker_imports_no_interactive_shell_and_no_pages(tmp_path):
    held = modules_after("import config.worker; config.worker.app.Worker", tmp_path)

    assert held & {"celery.bin.celery", "prompt_toolkit", "config.urls", "requests"} == set()
    assert "celery.apps.worker" in held


def test_a_deferred_module_is_loaded_on_first_use(tmp_path):
    held = modules_after(
        "import sys\n"
        "from config.light_imports import read_when_used\n"
        "read_when_used('jinja2'), read_when_used('colorsys')\n"
        "import jinja2, colorsys; assert 'jinja2.environment' not in sys.modules\n"
        "assert colorsys.rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0)\n"
        "import jinja2.loaders",
        tmp_path,
        DJANGO_SETTINGS_MODULE="config.settings",
    )

    assert "jinja2.environment" in held


def test_a_hidden_module_can_be_imported_afterwards(tmp_path):
    code = """
from config.light_imports import hidden
with hidden("colorsys", "sys"):
    import sys
    try:
        import colorsys
    except ImportError:
        print("hidden")
    else:
        raise AssertionError
import colorsys"""
    held = modules_after(code, tmp_path, DJANGO_SETTINGS_MODULE="config.settings")

    assert "colorsys" in held
