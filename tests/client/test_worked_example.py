"""The example of the client's README of working by program runs unchanged, over HTTP."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command

from annotate.models import Judgment
from annotate.people.tokens import make_token
from exporters.models import Export, Release
from tests import factories

README = Path(django_settings.BASE_DIR) / "client" / "README.md"
EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.fixture
def jobs_run_at_once(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run jobs through their tasks as soon as they are requested."""
    from config.celery import app

    monkeypatch.setattr("jobs.runner.PULSE", 3_600)
    app.autodiscover_tasks(force=True)

    def deliver(task: str, pk: int, *_: Any, **__: Any) -> None:
        app.tasks[task](pk)

    monkeypatch.setattr("config.celery.deliver", deliver)


@pytest.fixture
def example(
    jobs_run_at_once: None,
    live_server: Any,
    settings: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    """Return the code with this server's address; set a token and copy the example's files."""
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(tmp_path / "storage")},
        },
    }
    found = EXAMPLE.search(README.read_text())
    assert found is not None
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    call_command("example", "tides", stdout=StringIO())
    ada = factories.user("ada")
    token = make_token(name="Notebook", scopes=["judge", "lead"], days=1, by=ada).secret
    monkeypatch.setenv("REJUDGE_TOKEN", token)
    return found[1].replace("http://127.0.0.1:8000", live_server.url)


@pytest.mark.long
def test_the_readmes_example_works(example, capsys):
    names: dict[str, Any] = {}

    exec(compile(example, str(README), "exec"), names)  # noqa: S102 (our own README)

    assert Judgment.objects.count() > 0
    assert Export.objects.get().state == Export.State.DONE
    assert Release.objects.get().name == "v1.0"
    qrels = Path("sea-qrels/qrels.changed.txt").read_text().splitlines()
    assert len(qrels) > 0
    assert all(len(line.split(" ")) == 4 for line in qrels)
    assert Path("sea-v1.0/release.json").is_file()
    captured = capsys.readouterr()
    assert "judgments" in captured.out
