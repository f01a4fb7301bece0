"""Every page is accessible: to leads and annotators, light and dark, zoomed, and by keyboard.

The routes are read from the URL configuration: a route that is neither tested nor listed as not a
page fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import resolve, reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotate.guidelines import rejudge_requests
from annotate.guidelines.actions import cases_waiting, write_guideline
from annotate.loading import load_jobs
from annotate.models import (
    Assignment,
    Candidate,
    Condition,
    Guideline,
    InstructionPair,
    Judgment,
    Load,
    Membership,
    Narrative,
    Pool,
    Project,
    User,
    Verdict,
)
from annotate.people.invitations import invite
from annotate.pools import actions as pooling
from annotate.pools.removal import DOCUMENTS
from audit.checks import actions as checking
from audit.checks.claims import ClaimSelection
from audit.checks.samples import draw_sample
from audit.model_runs.tasks import task_of
from audit.models import AgreementReport, Call, Endpoint, ModelRun, Prompt, Sample
from audit.settling.kinds import ReviewDisagreement
from audit.settling.queue import read_page
from audit.settling.queue_filters import Kind, QueueFilter
from audit.settling.settle_many import Rule, RuleChoice, preview, settle_many
from config.examples.tides import ensure_example
from exporters.evaluations.actions import request_evaluation
from exporters.evaluations.systems import propose_systems
from exporters.exports import actions as exporting
from exporters.models import Evaluation, Export
from exporters.releases import actions as releasing
from tests import factories
from tests.browser.axe import OF_LOOKS, bring_axe, violations
from tests.services.copied import Copied
from tests.test_permissions import RIGHTS, ROUTES, Right
from tests.test_routes_without_pages import NO_PAGE

pytestmark = pytest.mark.long

# Drawn by the packaged Swagger UI: a page, but not our code.
NOT_OURS = {"api_page"}

# Changing the theme changes colours, and those of buttons have a transition. A busy browser may not
# draw for a while, so this waits at most a second for a frame.
SETTLE = """async (scheme) => {
    const frame = () => new Promise((done) => {
        requestAnimationFrame(done);
        setTimeout(done, 1000);
    });
    while (!matchMedia(`(prefers-color-scheme: ${scheme})`).matches) await frame();
    await frame();
    await frame();
    document.getAnimations().forEach((one) => one.finish());
}"""

OVERFLOW = "document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"

# After a key press, an element with the focus must show it: on itself, on its ::after, on its label
# or on its parent. Returns the elements that do not, and those that Tab does not reach.
FOCUS_PROBLEMS = """() => {
    const drawn = (style) => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    const all = "a[href], button, input, select, textarea, summary, [tabindex]";
    // The points of a chart are links for the mouse; the table below it has the same for everybody.
    // What scrolls a table is for two keys alone.
    const buttons = "button:not([aria-hidden], [data-table-scroll])";
    const own = `a:not(svg a), ${buttons}, input, select, textarea`;
    const found = [...document.querySelectorAll(all)];
    const shown = found.filter((one) => one.checkVisibility() && !one.disabled);
    return shown.filter((element) => {
        if (element.tabIndex < 0) return element.matches(own);
        element.focus();
        if (document.activeElement !== element) return false;
        const around = [element.closest("label"), element.parentElement, ...(element.labels ?? [])];
        return ![element, ...around].some((one) => one && drawn(getComputedStyle(one)))
            && !drawn(getComputedStyle(element, "::after"));
    }).map((element) => element.outerHTML.slice(0, 140));
}"""


@dataclass
class Scene:
    """The example project with some work done, and with every kind of page.

    `pages` has for each person every address that is a page for them, with its route.
    """

    project: Project
    extra: dict[str, list[str]]
    pages: dict[str, dict[str, str]] = field(default_factory=dict)

    def project_url(self, name: str, **others: Any) -> str:
        return reverse(name, kwargs={"slug": self.project.slug, **others})

    def pair(self, task: str, who: str) -> InstructionPair:
        """Return a pair on which this person has an assignment."""
        return (
            self.project.memberships.get(name=who).assignments.filter(task=task).earliest("pk").pair
        )


Task = Assignment.Task


def judge_pages(scene: Scene) -> list[str]:
    pair = scene.pair(Task.JUDGE, "ada")
    candidate = Candidate.objects.filter(query=pair.query).earliest("pk")
    return [reverse("annotate:judge", args=[pair.pk, candidate.pk])]


def document_pages(scene: Scene) -> list[str]:
    tables = Candidate.objects.filter(query__project=scene.project).exclude(document__markup="")
    of_kinds = [
        tables.exclude(document__markup="plain").order_by("pk").first(),
        tables.filter(document__markup="plain").order_by("pk").first(),
    ]
    return [
        reverse("annotate:document", args=[candidate.query.pairs.earliest("pk").pk, candidate.pk])
        for candidate in of_kinds
        if candidate is not None
    ]


def task_pages(name: str, task: str) -> Callable[[Scene], list[str]]:
    """Return addresses of the page `name` for the pair on which ada has a task."""
    return lambda scene: [reverse(name, args=[scene.pair(task, "ada").pk])]


def project_pages(name: str, *queries: str) -> Callable[[Scene], list[str]]:
    """Return addresses of a page of the project, without and with each of the query strings."""
    return lambda scene: [scene.project_url(name) + query for query in ("", *queries)]


def machine_pages(name: str, *queries: str) -> Callable[[Scene], list[str]]:
    """Return addresses of a page of a machine of the project, with each of the query strings."""
    return lambda scene: [
        scene.project_url(name, pk=machine.pk) + query
        for machine in scene.project.memberships.filter(is_machine=True)
        for query in queries
    ]


def page_outside_projects(name: str) -> Callable[[Scene], list[str]]:
    """Return the address of a page outside any project."""
    return lambda scene: [reverse(name)]


PAGES: dict[str, Callable[[Scene], list[str]]] = {
    "account_change_password": page_outside_projects("account_change_password"),
    "account_email": page_outside_projects("account_email"),
    "account_reauthenticate": page_outside_projects("account_reauthenticate"),
    "account_reset_password": page_outside_projects("account_reset_password"),
    "account_reset_password_done": page_outside_projects("account_reset_password_done"),
    "account_reset_password_from_key": lambda scene: ["/accounts/password/reset/1-abc/"],
    "account_reset_password_from_key_done": page_outside_projects(
        "account_reset_password_from_key_done"
    ),
    "account_confirm_email": lambda scene: ["/accounts/email/confirmation/abc/"],
    "account_email_verification_sent": page_outside_projects("account_email_verification_sent"),
    "account_inactive": page_outside_projects("account_inactive"),
    "mfa_index": page_outside_projects("mfa_index"),
    "socialaccount_connections": page_outside_projects("socialaccount_connections"),
    "socialaccount_login_cancelled": page_outside_projects("socialaccount_login_cancelled"),
    "annotate:account": page_outside_projects("annotate:account"),
    "annotate:sessions": page_outside_projects("annotate:sessions"),
    "annotate:invitation": lambda scene: scene.extra["annotate:invitation"],
    "password_change": page_outside_projects("password_change"),
    "password_change_done": page_outside_projects("password_change_done"),
    "glossary": page_outside_projects("glossary"),
    "examples": page_outside_projects("examples"),
    "status": page_outside_projects("status"),
    "annotate:home": page_outside_projects("annotate:home"),
    "annotate:preferences": page_outside_projects("annotate:preferences"),
    "annotate:tour": lambda scene: [
        f"{reverse('annotate:tour')}?step={step}" for step in (1, 2, 3, 4, 5)
    ],
    "annotate:tokens": page_outside_projects("annotate:tokens"),
    "annotate:new_project": page_outside_projects("annotate:new_project"),
    "annotate:project": lambda scene: [
        scene.project_url("annotate:project"),
        reverse("annotate:project", args=["empty"]),
    ],
    "annotate:search": project_pages("annotate:search", "?q=a", "?q=nothing-has-this"),
    "annotate:queries": project_pages(
        "annotate:queries", "?search=nothing-has-this", "?choose=yes&number=1&seed=1"
    ),
    "annotate:query": lambda scene: [
        scene.project_url("annotate:query", pk=scene.project.queries.earliest("pk").pk)
    ],
    "annotate:query_people": lambda scene: [
        scene.project_url("annotate:query_people", pk=scene.project.queries.earliest("pk").pk)
    ],
    "annotate:progress": lambda scene: [
        scene.project_url("annotate:progress"),
        reverse("annotate:progress", args=["empty"]),
    ],
    "annotate:matrix": lambda scene: [
        *project_pages("annotate:matrix", "?state=disputed", "?grades=0~1", "?query=none")(scene),
        reverse("annotate:matrix", args=["empty"]),
    ],
    "installation_audit_log": page_outside_projects("installation_audit_log"),
    "annotate:audit_log": lambda scene: [
        *project_pages("annotate:audit_log", "?what=project.rules", "?since=yesterday")(scene),
        reverse("annotate:audit_log", args=["empty"]),
    ],
    "annotate:flags": project_pages("annotate:flags", "?kind=problem", "?kind=later&person=1"),
    "annotate:person": lambda scene: [
        scene.project_url("annotate:person", pk=scene.project.memberships.get(name=name).pk)
        for name in ("ada", "carla")
    ],
    "audit:differences": lambda scene: [
        scene.project_url("audit:differences"),
        reverse("audit:differences", args=["empty"]),
    ],
    "audit:collection": lambda scene: [
        scene.project_url("audit:collection"),
        reverse("audit:collection", args=["empty"]),
    ],
    "annotate:guidelines": project_pages("annotate:guidelines", "?edit=1", "?version=2&changes=1"),
    "annotate:guideline_rejudge_requests": lambda scene: [
        scene.project_url("annotate:guideline_rejudge_requests", version=version) + query
        for version, query in ((1, ""), (2, ""), (2, "?query=none"))
    ],
    "annotate:members": project_pages("annotate:members", "?several=1"),
    "annotate:notices": page_outside_projects("annotate:notices"),
    "annotate:categories": project_pages("annotate:categories"),
    "annotate:kind": project_pages("annotate:kind", "?kind=followtable"),
    "annotate:pools": lambda scene: [
        scene.project_url("annotate:pools"),
        reverse("annotate:pools", args=["empty"]),
    ],
    "annotate:new_pool": project_pages("annotate:new_pool", "?method=judged"),
    "annotate:pool": lambda scene: [
        scene.project_url("annotate:pool", pk=pool.pk) for pool in Pool.objects.order_by("pk")
    ],
    "annotate:missing_texts": lambda scene: [
        scene.project_url("annotate:missing_texts"),
        reverse("annotate:missing_texts", args=["empty"]),
    ],
    "annotate:removed_candidates": lambda scene: [
        scene.project_url("annotate:removed_candidates"),
        reverse("annotate:removed_candidates", args=["empty"]),
    ],
    "annotate:attributes": lambda scene: [
        reverse("annotate:attributes", args=[one.pk])
        for one in InstructionPair.objects.filter(
            narratives__conditions__isnull=False, project=scene.project
        ).distinct()[:1]
    ],
    "annotate:replacement": lambda scene: [
        reverse("annotate:replacement", args=[scene.project.slug, one.query_id, one.pk])
        for one in Candidate.objects.filter(query__project=scene.project)[:1]
    ],
    "annotate:replacements": lambda scene: [
        scene.project_url("annotate:replacements"),
        reverse("annotate:replacements", args=["empty"]),
    ],
    "annotate:passages": project_pages("annotate:passages"),
    "annotate:removed_queries": project_pages("annotate:removed_queries"),
    "audit:review_draw": project_pages("audit:review_draw", "?size=1&seed=1&stratify=none"),
    "audit:rubric": project_pages("audit:rubric", "?edit=1"),
    "annotate:settings": project_pages("annotate:settings"),
    "annotate:loads": lambda scene: [
        scene.project_url("annotate:loads"),
        reverse("annotate:loads", args=["empty"]),
    ],
    "annotate:load_batch": lambda scene: [
        scene.project_url("annotate:load_batch", batch=batch)
        for batch in set(
            Load.objects.filter(project=scene.project)
            .exclude(batch=None)
            .values_list("batch", flat=True)
        )
    ],
    "annotate:load": lambda scene: [
        scene.project_url("annotate:load", pk=load.pk)
        for load in Load.objects.filter(project=scene.project).order_by("pk")
    ],
    "annotate:rewrite": lambda scene: [
        reverse("annotate:rewrite", args=[scene.project.pairs.earliest("pk").pk])
    ],
    "annotate:narrative": lambda scene: [
        reverse("annotate:narrative", args=[pair.pk, pair.narratives.latest("pk").pk])
        for pair in [scene.project.pairs.earliest("pk")]
    ],
    "annotate:judging": task_pages("annotate:judging", Task.JUDGE),
    "annotate:listing": task_pages("annotate:listing", Task.JUDGE),
    "annotate:judge": lambda scene: judge_pages(scene) + scene.extra["annotate:judge"],
    "annotate:document": document_pages,
    "audit:reviews": project_pages("audit:reviews", "?state=to-decide", "?state=sent-back"),
    "audit:review": lambda scene: [
        reverse("audit:review", args=[scene.pair(Task.REVIEW, name).pk]) for name in ("dan", "ada")
    ],
    "audit:story": lambda scene: [
        reverse("audit:story", args=[pair.pk]) for pair in scene.project.pairs.order_by("pk")[:2]
    ],
    "audit:disagreements": project_pages("audit:disagreements", "?state=settled", "?kind=review"),
    "audit:settling_many": project_pages(
        "audit:settling_many", "?rule=grade&grade=0", "?rule=person", "?query=none&rule=majority"
    ),
    "audit:batch": lambda scene: scene.extra["audit:batch"],
    "audit:disagreement": lambda scene: scene.extra["audit:disagreement"],
    "audit:review_disagreement": lambda scene: scene.extra["audit:review_disagreement"],
    "audit:verdict_disagreement": lambda scene: scene.extra["audit:verdict_disagreement"],
    "audit:check_disagreement": lambda scene: scene.extra["audit:check_disagreement"],
    "audit:reveals": lambda scene: [
        scene.project_url("audit:reveals"),
        reverse("audit:reveals", args=["empty"]),
    ],
    "audit:checks": lambda scene: [
        scene.project_url("audit:checks"),
        reverse("audit:checks", args=["empty"]),
    ],
    "audit:new_sample": project_pages("audit:new_sample"),
    "audit:machines": project_pages("audit:machines"),
    "audit:models": lambda scene: [
        scene.project_url("audit:models"),
        reverse("audit:models", args=["empty"]),
    ],
    "audit:new_model": project_pages("audit:new_model"),
    "audit:model_budget": project_pages("audit:model_budget"),
    "audit:prompt": project_pages("audit:prompt"),
    "audit:new_model_run": lambda scene: scene.extra["audit:new_model_run"],
    "audit:model_limits": lambda scene: scene.extra["audit:model_limits"],
    "audit:model_run": lambda scene: scene.extra["audit:model_run"],
    "audit:model_calls": lambda scene: scene.extra["audit:model_calls"],
    "audit:model_call": lambda scene: scene.extra["audit:model_call"],
    "audit:suspects": lambda scene: [
        scene.project_url("audit:suspects"),
        reverse("audit:suspects", args=["empty"]),
    ],
    "audit:sample": lambda scene: scene.extra["audit:sample"],
    "audit:check": lambda scene: scene.extra["audit:check"],
    "audit:settlement": lambda scene: scene.extra["audit:settlement"],
    "audit:agreement": project_pages("audit:agreement", "?blind=1", "?query=no-such-query"),
    "audit:agreement_machines": project_pages("audit:agreement_machines"),
    "audit:trust": machine_pages("audit:trust", "?chosen=otherwise", "?chosen=drawn"),
    "audit:trust_documents": machine_pages("audit:trust_documents", "?chosen=otherwise"),
    "audit:second_look": machine_pages("audit:second_look", ""),
    "audit:agreement_comparison": project_pages(
        "audit:agreement_comparison", "?of=&against=blind%3D1"
    ),
    "audit:agreement_past": lambda scene: [
        scene.project_url(
            "audit:agreement_past",
            pk=AgreementReport.objects.filter(project=scene.project).latest("pk").pk,
        )
    ],
    "audit:agreement_table": lambda scene: [
        scene.project_url(
            "audit:agreement_table",
            pk=AgreementReport.objects.filter(project=scene.project).latest("pk").pk,
            table="judgments",
        )
    ],
    "audit:agreement_reports": project_pages("audit:agreement_reports"),
    "exporters:exports": project_pages("exporters:exports"),
    "exporters:publication": project_pages("exporters:publication"),
    "exporters:before_publishing": project_pages("exporters:before_publishing", "?findings=1"),
    "exporters:export": lambda scene: [
        scene.project_url("exporters:export", pk=export.pk)
        for export in Export.objects.filter(project=scene.project).order_by("pk")
    ],
    "exporters:evaluations": lambda scene: [
        scene.project_url("exporters:evaluations"),
        reverse("exporters:evaluations", args=["empty"]),
    ],
    "exporters:evaluation": lambda scene: [
        scene.project_url("exporters:evaluation", pk=one.pk)
        for one in Evaluation.objects.filter(project=scene.project)
    ],
    "exporters:releases": lambda scene: [
        scene.project_url("exporters:releases"),
        reverse("exporters:releases", args=["empty"]),
    ],
    "exporters:new_release": project_pages("exporters:new_release", "?trial=1"),
    "exporters:release": lambda scene: [
        scene.project_url("exporters:release", release=name) for name in ("v1.0", "v1.1")
    ],
    "exporters:comparison": lambda scene: [
        scene.project_url("exporters:comparison", before="v1.0", after="v1.1") + f"?show={show}"
        for show in ("grades", "queries", "narratives", "listed")
    ],
}
# Pages that are the same for leads and annotators: carla opens them for both.
SAME_FOR_EVERYBODY = {
    name for name, right in RIGHTS.items() if right in {Right.OPEN, Right.PERSON, Right.DOOR}
} - {"annotate:home", "annotate:notices"}
# Pages before or while signing in: see tests/browser/test_accounts.py.
SIGN_IN_PAGES = {
    *("login", "account_login", "account_signup", "socialaccount_login_error"),
    *("socialaccount_signup", "mfa_authenticate"),
}
# Pages that ask for a confirmation first, or are for administrators: see there too.
GUARDED_PAGES = {
    *("account_set_password", "mfa_reauthenticate", "mfa_activate_totp", "mfa_deactivate_totp"),
    *("mfa_view_recovery_codes", "mfa_generate_recovery_codes", "openid_connect_login"),
    "annotate:people",
}


# The documentation, which has a frame of its own: tests/browser/test_help.py.
DOCUMENTATION = {"help"}
# Tested with the other tasks of the work page: tests/browser/test_work_page.py.
WORK_PAGES = {"audit:criterion"}


def test_every_route_is_tested_or_listed_as_not_a_page():
    elsewhere = NO_PAGE | NOT_OURS | SIGN_IN_PAGES | GUARDED_PAGES | WORK_PAGES | DOCUMENTATION
    assert set(ROUTES) == set(PAGES) | elsewhere
    assert not set(PAGES) & NO_PAGE


SCENE: Copied[Scene] = Copied("scene")


@pytest.fixture
def scene(
    live_server: Any,
    published: Any,
    finish_jobs: Callable[[], int],
    settings: Any,
    tmp_path: Path,
    own_storage: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Scene:
    """The example project with every kind of page: created once, and copied for later tests."""
    settings.DATA = tmp_path
    return SCENE.copy_or_make(
        lambda: _make_scene(settings, finish_jobs), tmp_path_factory, settings.DATA
    )


def _make_scene(settings: Any, finish_jobs: Callable[[], int]) -> Scene:
    ensure_example()
    project = Project.objects.get(slug="example")
    lead = project.memberships.get(name="carla")
    topics = (Path(settings.BASE_DIR) / "examples/tides" / "topics.trec").read_bytes()
    for content in (topics, b"<top>"):
        file = SimpleUploadedFile("topics.trec", content)
        load_jobs.request_load(format_name="trec-topics", file=file, by=lead)
    together = [SimpleUploadedFile(f"{name}.trec", topics) for name in ("first", "second")]
    load_jobs.request_batch(files=together, format_name="trec-topics", by=lead)
    exporting.request_export(project=project, format_name="trec", by=lead)
    finish_jobs()
    measured = propose_systems(list(project.runs.order_by("name")))
    request_evaluation(project=project, measured=measured, by=lead)
    finish_jobs()
    _releases(project, lead, finish_jobs)
    # Carla is staff too, and a job has failed.
    User.objects.filter(username="carla").update(is_staff=True)
    Export.objects.create(
        project=project,
        by=lead,
        format="trec",
        state="failed",
        error="No.",
        finished_at=timezone.now(),
    )
    more_pages = _guidelines(project, lead)
    factories.lead(factories.project("empty"), "carla")
    factories.member(Project.objects.get(slug="empty"), "ada")
    checks = _checks(project)
    _disagreeing_verdicts(project)
    found = _disagreements(project) | checks | _batch(project, lead) | _model_run(project, lead)
    _pool(project, lead, finish_jobs)
    link = invite(role="annotator", by=lead)
    more_pages["annotate:invitation"] = [reverse("annotate:invitation", args=[link.token])]
    scene = Scene(project, found | more_pages)
    scene.pages["carla"] = _pages_for(scene, "carla")
    scene.pages["ada"] = {
        address: route
        for address, route in _pages_for(scene, "ada").items()
        if address not in scene.pages["carla"] or route not in SAME_FOR_EVERYBODY
    }
    return scene


def _pages_for(scene: Scene, name: str) -> dict[str, str]:
    client = _signed_in(name)
    return {
        address: route
        for route, addresses in PAGES.items()
        for address in addresses(scene)
        if client.get(address).status_code == 200
    }


def _checks(project: Project) -> dict[str, list[str]]:
    """Draw a sample of earlier labels: two people agree on one, one is to settle, the rest open."""
    sample = draw_sample(
        name="Spot checks",
        selection=ClaimSelection(Sample.Source.PRIOR),
        stratify=Sample.Stratify.QUERY,
        per=Sample.Per.STRATUM,
        size=2,
        seed=1,
        fewer=True,
        by=project.memberships.get(name="carla"),
    )
    first, second, third = sample.items.order_by("pk")[:3]
    for item, (ben, dan) in ((first, (1, 1)), (second, (0, 1))):
        for name, relevance in (("ben", ben), ("dan", dan)):
            by = project.memberships.get(name=name)
            checking.check(item=item, relevance=relevance, by=by)
    return {
        "audit:sample": [sample.get_absolute_url()],
        "audit:check": [reverse("audit:check", args=[third.pk])],
        "audit:settlement": [reverse("audit:settlement", args=[second.pk])],
    }


def _pool(project: Project, lead: Membership, finish_jobs: Callable[[], int]) -> None:
    """Make a pool of two runs, and take a document out of a query that nobody has judged."""
    runs = list(project.runs.order_by("name").values_list("name", flat=True)[:2])
    recipe = pooling.recipe_of(project=project, method="union", runs=runs, depth=2)
    pooling.request_pool(recipe=recipe, name="first", by=lead)
    finish_jobs()
    one = Candidate.objects.filter(query__project=project, query__query_id="905").earliest("pk")
    DOCUMENTS.remove(project=project, keys=[one.pk], reason="Twice here.", by=lead)


def _batch(project: Project, lead: Membership) -> dict[str, list[str]]:
    """Settle all disagreements of one query together; return the page of the batch."""
    last = read_page(lead, QueueFilter(kind=Kind.JUDGMENT)).items[-1]
    how, wanted = RuleChoice(Rule.GRADE, grade=0), QueueFilter(query=last.narrative.pair.query_id)
    batch = settle_many(
        filters=wanted,
        choice=how,
        cause="edge",
        reason="Agreed in the meeting.",
        token=preview(lead, wanted, how).token,
        by=lead,
    )
    url = reverse("audit:batch", args=[project.slug, batch])
    return {"audit:batch": [url]}


def _model_run(project: Project, lead: Membership) -> dict[str, list[str]]:
    """Make a run of a model with a call of each kind: answered, failed and in doubt."""
    endpoint = Endpoint.objects.create(
        project=project, server="lab", model="small", most_tokens=9_000, by=lead
    )
    prompt = Prompt.objects.create(
        project=project, version=1, text=task_of("grade").shipped.text, by=lead
    )
    now = timezone.now()
    run = ModelRun.objects.create(
        project=project,
        by=lead,
        endpoint=endpoint,
        prompt=prompt,
        machine="small, prompt 1",
        draw_seed=1,
        most_tokens=9_000,
        stopped="This run may use 9,000 tokens, and the next call could exceed it.",
        state="done",
        finished_at=now,
    )
    narrative = Narrative.objects.filter(pair__project=project, is_current=True).earliest("pk")
    answered = {"answered_at": now, "replies": ['{"quote": "x", "grade": 1}'], "model": "small"}
    ends: list[dict[str, Any]] = [
        {**answered, "value": {"grade": 1}, "outcome": "1", "remarks": ["The quote is not there."]},
        {**answered, "failure": "unreadable", "reason": "The model's answer cannot be read."},
        {},
    ]
    candidates = Candidate.objects.filter(query=narrative.pair.query_id).order_by("pk")
    calls = [
        Call.objects.create(
            run=run,
            pair=narrative.pair,
            narrative=narrative,
            candidate=candidate,
            text_version=1,
            key=f"{number}" * 64,
            request={"messages": [{"role": "user", "content": "Is it relevant?"}]},
            reserved_tokens=10,
            **end,
        )
        for number, (candidate, end) in enumerate(zip(candidates, ends, strict=False))
    ]
    new_run = reverse("audit:new_model_run", args=[project.slug])
    return {
        "audit:new_model_run": [new_run, reverse("audit:new_model_run", args=["empty"])],
        "audit:model_limits": [reverse("audit:model_limits", args=[project.slug, endpoint.pk])],
        "audit:model_run": [run.get_absolute_url()],
        "audit:model_calls": [reverse("audit:model_calls", args=[project.slug, run.pk])],
        "audit:model_call": [call.get_absolute_url() for call in calls],
    }


def _guidelines(project: Project, lead: Membership) -> dict[str, list[str]]:
    """Write a second version of the guidelines, led by a case, and ask for a judgment again.

    Return the page of that judgment, which is one of ada's.
    """
    first = Guideline.objects.get(project=project)
    cases = list(cases_waiting(project).values_list("narrative", "candidate"))
    write_guideline(
        text=f"{first.text}\n\nGrowth on a rotor counts.", by=lead, based_on=1, cases=cases
    )
    ada = project.memberships.get(name="ada")
    # Her latest pair: on the first one everything is done, and its page only says so.
    pair = ada.assignments.filter(task=Task.JUDGE).latest("pk").pair
    judgment = Judgment.objects.current().filter(annotator=ada, narrative__pair=pair).earliest("pk")
    rejudge_requests.ask(statement=judgment, words="Read the end of it.", by=lead)
    return {"annotate:judge": [reverse("annotate:judge", args=[pair.pk, judgment.candidate_id])]}


def _releases(project: Project, lead: Membership, finish_jobs: Callable[[], int]) -> None:
    """Make two releases, and between them change a grade, a narrative and the queries."""
    releasing.request_release(project=project, name="v1.0", note="For the paper.", by=lead)
    finish_jobs()
    of_ben = {"annotator__name": "ben", "narrative__pair__project": project}
    one = Judgment.objects.current().filter(**of_ben).earliest("pk")
    Judgment.objects.filter(pk=one.pk).update(ended_at=timezone.now())
    factories.query(project, "zz-new", title="not there before")
    pair = project.pairs.earliest("pk")
    old = pair.narratives.filter(side=Narrative.Side.ORIGINAL).latest("version")
    factories.narrative(pair, old.side, f"{old.text} More.", old.version + 1)
    releasing.request_release(project=project, name="v1.1", by=lead)
    finish_jobs()


def _disagreeing_verdicts(project: Project) -> None:
    """Let two people differ on a condition, and let carla reveal the names."""
    judgment = Judgment.objects.current().of_people().filter(narrative__pair__project=project)
    first = judgment.order_by("pk").first()
    assert first is not None
    condition = Condition.objects.create(narrative=first.narrative, number=90, text="At sea.")
    other = factories.judgment(
        first.narrative, first.candidate, factories.member(project, "zoe"), first.relevance
    )
    for judged, answer in ((first, "met"), (other, "not_met")):
        Verdict.objects.create(statement=judged, condition=condition, answer=answer)
    ReviewDisagreement(project.memberships.get(name="carla"), first.narrative).reveal()


def _disagreements(project: Project) -> dict[str, list[str]]:
    """Return the pages of disagreements: the first open one of each kind, and a settled one."""
    client = _signed_in("carla")
    kinds = ("disagreement", "verdict_disagreement", "review_disagreement", "check_disagreement")
    found: dict[str, list[str]] = {f"audit:{kind}": [] for kind in kinds}
    for query in (*(f"?kind={kind.value}" for kind in Kind), "?state=settled"):
        address = reverse("audit:disagreements", args=[project.slug]) + query
        for row in client.get(address).context["rows"][:1]:
            path = row["url"].partition("?")[0]
            found[resolve(path).view_name].append(path)
    return found


def _signed_in(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


# Each part of the pages is a separate test, so that several processes share the work.
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", ["carla", "ada"])
def test_every_page_is_accessible_in_both_themes_zoomed_and_by_keyboard(
    scene, new_person, name, part
):
    page = new_person(name, viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    bring_axe(page)
    problems = []

    for address in list(scene.pages[name])[part::PARTS]:
        page.set_viewport_size({"width": 1280, "height": 800})
        page.emulate_media(color_scheme="light")
        response = page.goto(address)
        if 'role="status"' not in response.text():
            problems.append(f"{address}: no live region")
        problems += [f"{address} light 1280: {line}" for line in violations(page)]
        problems += [f"{address} at 1280: {line}" for line in overflow(page)]
        problems += [f"{address}: {line}" for line in focus_problems(page)]
        # Elements that wrap or fold on a narrow page have their own colours and targets.
        page.set_viewport_size({"width": 800, "height": 800})
        page.emulate_media(color_scheme="dark")
        page.evaluate(SETTLE, "dark")
        problems += [f"{address} dark 800: {line}" for line in violations(page, OF_LOOKS)]
        problems += [f"{address} at 800: {line}" for line in overflow(page)]
        # 1280 px zoomed to 200 and 400 percent.
        for width in (640, 320):
            page.set_viewport_size({"width": width, "height": 800})
            problems += [f"{address} at {width}: {line}" for line in overflow(page)]

    assert problems == []


def test_every_page_is_a_page_for_somebody(scene):
    seen = {address for pages in scene.pages.values() for address in pages}

    unseen = [route for route, addresses in PAGES.items() if seen.isdisjoint(addresses(scene))]
    assert unseen == []


def test_the_skip_link_leads_past_everything_to_the_content(live_server, new_person):
    factories.user("carla")
    page = new_person("carla")
    page.goto("/")

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    page.keyboard.press("Enter")

    expect(page.locator("#content")).to_be_focused()


def test_printed_pages_are_black_on_white_without_buttons(scene, new_person):
    page = new_person("carla", color_scheme="dark")
    page.goto(scene.project_url("annotate:progress"))

    page.emulate_media(media="print")

    expect(page.get_by_role("heading", name="Tasks")).to_be_visible()
    expect(page.locator(".rail")).to_be_hidden()
    assert page.locator("button:visible, a.button:visible").count() == 0
    lightness = "getComputedStyle(document.body).color.match(/oklch\\(([\\d.]+)/)[1]"
    assert float(page.evaluate(lightness)) < 0.3


def test_nothing_moves_if_less_motion_is_preferred(scene, new_person):
    page = new_person("carla", reduced_motion="reduce")
    page.goto("/projects/example/")

    moving = page.evaluate(
        """() => [...document.querySelectorAll("*")].filter((element) => {
            const style = getComputedStyle(element);
            const longest = (text) => Math.max(...text.split(",").map(parseFloat));
            return longest(style.transitionDuration) > 0.01
                || longest(style.animationDuration) > 0.01 || style.scrollBehavior === "smooth";
        }).length"""
    )

    assert moving == 0


def test_sign_in_and_error_pages_are_accessible(live_server, new_person, expected_complaints):
    factories.member(factories.project("tides"), "ada")
    expected_complaints += ["status of 404", "status of 403"]
    nobody, ada = new_person(), new_person("ada")
    problems = []

    for opened, path, status in (
        (nobody, "/accounts/login/", 200),
        (ada, "/nowhere/", 404),
        (ada, "/projects/tides/settings/", 403),
    ):
        response = opened.goto(path)
        assert response.status == status
        for scheme in ("light", "dark"):
            opened.emulate_media(color_scheme=scheme)
            opened.evaluate(SETTLE, scheme)
            problems += [f"{path} {scheme}: {line}" for line in violations(opened)]

    assert problems == []


def test_a_refused_sign_in_is_read_out(live_server, page):
    factories.user("ada")
    page.goto("/accounts/login/")
    page.get_by_label("User name or mail address").fill("ada")
    page.get_by_label("Password").fill("not hers")
    page.keyboard.press("Enter")

    expect(page.get_by_role("alert")).to_contain_text("The user name or the password is wrong")
    assert violations(page) == []


def focus_problems(page: Page) -> list[str]:
    """Return what Tab does not reach on an open page, and what hides that it has the focus."""
    begins = page.evaluate("document.activeElement === document.body")
    page.keyboard.press("Tab")
    # A page that is only a form gives it the focus from the beginning.
    leads = page.evaluate("document.activeElement.className") == "skip-link" or not begins
    found = [] if leads else ["Tab does not lead to the skip link first"]
    found += page.evaluate(FOCUS_PROBLEMS)
    page.evaluate("document.activeElement.blur()")
    return found


def overflow(page: Page) -> list[str]:
    """Return by how much a page is wider than its window, if it is."""
    over = page.evaluate(OVERFLOW)
    return [f"{over} px too wide"] if over else []
