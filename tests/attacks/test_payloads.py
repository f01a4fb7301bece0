"""Texts of people and files never run as code: all text columns are filled with payloads.

Then every page is parsed, and no payload may be more than text. The columns are read from the
models, so new ones are attacked without being listed here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.db import DatabaseError, models, transaction
from django.utils import timezone

from annotate.loading import load_jobs
from annotate.models import (
    Candidate,
    Document,
    InstructionPair,
    Load,
    Membership,
    Narrative,
    Project,
    Query,
    User,
)
from audit.reports.actions import request_agreement
from audit.reports.scopes import Scope
from audit.reviews.criteria import SHIPPED, Rubric
from audit.reviews.rubrics import save_rubric
from exporters.exports.actions import request_export
from jobs.errors import JobError
from tests.attacks.reading import ALL, PAYLOADS, SHORT, find_running_code
from tests.services.database import rolled_back
from tests.test_blindness import (
    AnswerSet,
    addresses,
    answer,
    crawl,
    give_answers,
    open_to_annotators,
)
from tests.test_permissions import APPS

pytestmark = pytest.mark.long

# Columns with codes instead of text: the program writes them or parses them.
CODES = {
    *("annotate.Project.slug", "annotate.Document.digest", "annotate.Run.sha256"),
    *("annotate.User.password", "annotate.Load.format", "annotate.Load.file"),
    *("annotate.Preferences.time_zone", "annotate.Draft.place"),
    *("audit.Review.rubric", "audit.Rating.criterion", "audit.Rating.level", "audit.Rubric.name"),
    *("audit.AgreementReport.scope", "audit.AgreementReport.against"),
    *("audit.AgreementReport.sha256", "exporters.Export.folder", "jobs.Job.kind"),
    *("audit.Call.key", "audit.Call.failure"),
}
# Types that a browser shows as plain text.
PLAIN = {f"Content-Type: {kind}" for kind in ("application/json", "text/plain")}
# Only failed jobs may have an error: attacked with a failed job.
OF_FAILED = "error"
# Only rows that are taken out may have a reason: attacked with such rows.
OF_REMOVED = "removed_reason"
# Triggers refuse updates of these models: attacked when a row is created. Only jobs of named kinds
# may have a name.
UNCHANGING = {"exporters.Release", "annotate.AuditEvent", "annotate.Link", "jobs.Job.name"}


def columns() -> Iterator[tuple[type[models.Model], models.Field[Any, Any], int]]:
    """Yield every column with texts of people or files, each with a number."""
    number = 0
    for room in (*APPS, "jobs"):
        for model in apps.get_app_config(room).get_models():
            if model._meta.proxy:
                continue
            for field in model._meta.local_concrete_fields:
                label = f"{model._meta.label}.{field.name}"
                if (
                    isinstance(field, models.CharField | models.TextField)
                    and not field.choices
                    and label not in CODES
                    and field.name not in {OF_FAILED, OF_REMOVED}
                ):
                    number += 1
                    yield model, field, number


def word_of(number: int) -> str:
    """Return the word by which a column's payload is recognized on pages."""
    return f"zz{number}zz"


def fill_with_payloads(project: Project) -> tuple[int, dict[str, str]]:
    """Add a payload to every text; return the number of texts, and the word of each column."""
    filled, words = 0, {}
    # Only pairs and narratives by a language model may name the model.
    InstructionPair.objects.update(origin=InstructionPair.Origin.LLM)
    # Only narratives that were sent back have a reason for it.
    for narrative in Narrative.objects.all():
        leads = narrative.pair.project.memberships.filter(role=Membership.Role.LEAD)
        narrative.sent_back_at, narrative.sent_back_by = timezone.now(), leads.first()
        narrative.save()
    Narrative.objects.update(origin=InstructionPair.Origin.LLM)
    for model, field, number in columns():
        for row in model._default_manager.order_by("pk"):
            old = str(getattr(row, field.attname) or "")
            word = word_of(number)
            room = (field.max_length or 10_000) - len(old) - len(word)
            tried = (ALL, *PAYLOADS[row.pk % 5 :], *PAYLOADS, SHORT)
            fitting = [one for one in tried if len(one) <= room]
            payload = fitting[0] if fitting else SHORT
            value = f"{old}{word}{payload}"[: field.max_length]
            try:
                with transaction.atomic():
                    model._default_manager.filter(pk=row.pk).update(**{field.attname: value})
            except DatabaseError:
                label = model._meta.label
                assert {label, f"{label}.{field.name}"} & UNCHANGING, f"{label}.{field.name}"
                continue
            filled += 1
            words[word] = f"{model._meta.label}.{field.name}"
    return filled + _take_out(project), words | {word_of(0): OF_REMOVED}


def _take_out(project: Project) -> int:
    """Create a query, an instruction and a candidate that are taken out; return their number."""
    out = {"removed_at": project.created_at, "removed_reason": f"{word_of(0)}{SHORT} {ALL}"}
    query = Query.objects.create(project=project, query_id="out", title="Out", **out)
    InstructionPair.objects.create(project=project, query=query, pair_id="out", **out)
    shown = project.queries.earliest("pk")
    document = Document.objects.create(project=project, doc_id="out")
    Candidate.objects.create(query=shown, document=document, origin="listed", **out)
    return 3


def create_objects(stage: SimpleNamespace) -> None:
    """Create objects from texts with payloads: reports, refusals, failed jobs."""
    carla = Membership.objects.select_related("project", "user").get(pk=stage.carla.pk)
    project = carla.project
    first = SHIPPED[next(iter(SHIPPED))]
    criteria = tuple(
        one._replace(**{name: f"{SHORT}" for name in ("title", "question") if name in one._fields})
        for one in first.criteria
    )
    save_rubric(
        project=project,
        content=Rubric(*first._replace(name="own-1", title=SHORT, criteria=criteria)),
        by=carla,
    )
    lines = f'301 0 "{SHORT} {ALL}\n{ALL}\n'.encode()
    bad = ContentFile(lines, name="zqn\"'><zqa onerror=zqc()>.txt")
    load_jobs.request_load(format_name="trec-qrels", file=bad, by=carla)
    pairs = json.dumps({"query_id": ALL, "pair_id": ALL, SHORT: SHORT}).encode()
    load_jobs.request_load(
        format_name="pairs-jsonl", file=ContentFile(pairs, name=f"{SHORT}.jsonl"), by=carla
    )
    request_agreement(project=project, scope=Scope(), by=carla)
    request_export(project=project, format_name="jsonl", by=carla)
    try:
        stage.finish_jobs()
    except JobError:
        # Not every format can contain such an id: that job failed, with the id in its error.
        stage.finish_jobs()
    Load.objects.create(
        project=project,
        by=carla,
        format="trec-qrels",
        file_name=ALL[:255],
        state="failed",
        error=ALL,
        finished_at=carla.joined_at,
        step=SHORT,
    )


def test_no_payload_runs_on_any_page_or_fragment(stage, asking_for_htmx, record_property):
    stage.finish_jobs()
    with rolled_back():
        give_answers(stage, AnswerSet(1))
        filled, words = fill_with_payloads(stage.carla.project)
        create_objects(stage)
        failures, shown, inline = {}, set(), {}
        read = {"pages": 0, "fragments": 0}
        for name in ("carla", "ada", "dan"):
            member = Membership.objects.select_related("user").get(pk=stage.members[name].pk)
            doors = [f"/projects/{member.project.slug}/loads/", *addresses(stage)]
            doors += [load.get_absolute_url() for load in Load.objects.all()]
            pages = crawl(member, doors if member.leads else open_to_annotators(doors))
            asking = [url for url in pages if url in asking_for_htmx]
            fragments = crawl(member, asking, follow=False, htmx=True)
            for kind, answers in (("pages", pages), ("fragments", fragments)):
                read[kind] += len(answers)
                for url, (status, headers, body) in answers.items():
                    # Compressed content is downloaded and never shown.
                    text = body.decode(errors="replace")
                    shown |= {word for word in words if word in text}
                    if any("text/html" in one for one in headers):
                        if found := find_running_code(text):
                            failures[kind, url] = found
                    elif status == 200 and not any("attachment" in one for one in headers):
                        inline[url] = headers
        record_property(
            "tried",
            f"payloads: {filled:,} texts in {len(words)} columns, {read['pages']:,} pages and "
            f"{read['fragments']:,} fragments read, texts of {len(shown)} columns seen in them",
        )

    assert failures == {}
    # Everything else that a browser shows is plain text.
    kinds = {part.partition(";")[0] for headers in inline.values() for part in headers}
    assert {kind for kind in kinds if kind.startswith("Content-Type")} <= PLAIN
    assert len(shown) > 30
    assert read["fragments"] > 20


def test_no_payload_runs_in_the_administration(stage, client):
    client.force_login(User.objects.get(username="root"))
    with rolled_back():
        give_answers(stage, AnswerSet(1))
        fill_with_payloads(stage.carla.project)
        seen = 0
        for model in apps.get_models():
            url = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
            if (listed := client.get(url)).status_code == 404:
                continue
            pages = [listed]
            first = model._default_manager.first()
            if first is not None:
                pages.append(client.get(f"{url}{first.pk}/change/"))
            for page in pages:
                seen += 1
                found = [one for one in find_running_code(answer(page)[2].decode()) if "zq" in one]
                assert found == [], page.request["PATH_INFO"]

    assert seen > 10
