"""A project with a judged pool, and a model at a server on this machine that grades by words."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from annotate.models import Judgment, Project
from audit.model_runs.actions import add_endpoint, new_run, request_run
from audit.model_runs.models import Endpoint, ModelRun
from jobs.runner import run as run_job
from llm.imitation import imitate
from tests import factories
from tests.services.model_server import MODEL, model_server

KEY = "sk-of-nobody-1234567890"
# Documents have three of the narrative's five long words, one, and none: their grades are 2, 1, 0.
NARRATIVE = "Plants count where waves are heavy."
TEXTS = {"D1": "Plants count the waves.", "D2": "Two plants stand there.", "D3": "A river."}


class Killed(BaseException):
    """The worker's process ends."""


@pytest.fixture(autouse=True)
def no_pulse(monkeypatch):
    """Keep the thread that writes progress idle: it waits for the transaction of the test."""
    monkeypatch.setattr("jobs.runner.PULSE", 3_600)


@pytest.fixture
def server(settings):
    with model_server() as running:
        running.rule = imitate
        settings.MODEL_SERVERS = {"lab": running.base_url}
        settings.MODEL_KEYS = {"lab": KEY}
        yield running


@pytest.fixture
def cast(db):
    """A pair with three documents, of which ada has judged the first two; carla leads."""
    project = factories.project(judge_scope=Project.Scope.POOL)
    carla, ada = factories.lead(project), factories.member(project, "ada")
    query = factories.query(project)
    pair = factories.pair(query, altered=NARRATIVE)
    narrative = factories.altered(pair)
    candidates = [factories.candidate(query, doc_id, text=text) for doc_id, text in TEXTS.items()]
    for candidate, grade in zip(candidates, (2, 0), strict=False):
        factories.judgment(narrative, candidate, ada, grade)
    return SimpleNamespace(
        project=project,
        carla=carla,
        ada=ada,
        query=query,
        pair=pair,
        narrative=narrative,
        candidates=candidates,
    )


@pytest.fixture
def endpoint(cast, server):
    # One request after the other, so that the server does things in the order of the documents.
    values = {"server": "lab", "model": MODEL, "most_tokens": 1_000_000, "concurrency": 1}
    return add_endpoint(Endpoint(**values), by=cast.carla)


@pytest.fixture
def grade(cast, endpoint):
    """A function that requests a run and does it; it returns the run's row."""

    def request_and_run(**choices) -> ModelRun:
        chosen = {"endpoint": endpoint, "subjects": ModelRun.Subjects.ALL} | choices
        run = request_run(new_run(**{"most_tokens": 100_000} | chosen), by=cast.carla)
        return run_again(run)

    return request_and_run


def run_again(run: ModelRun) -> ModelRun:
    """Have a worker do a run, and return its row as it is afterwards."""
    run_job(run.pk)
    return ModelRun.objects.get(pk=run.pk)


def grades(project: Project) -> dict[str, int]:
    """Return the current grades of machines by document."""
    judged = Judgment.objects.current().filter(annotator__is_machine=True)
    rows = judged.filter(annotator__project=project).order_by("candidate__document__doc_id")
    return dict(rows.values_list("candidate__document__doc_id", "relevance"))
