"""Pages of language models: which are used, what they are asked, runs, and their calls."""

from __future__ import annotations

from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.forms import model_to_dict
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.judgments.blindness import must_answer_first
from annotate.projects.access import lead
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from audit.model_runs import access
from audit.model_runs.actions import (
    EXAMPLES,
    add_endpoint,
    batch_file,
    current_prompt,
    new_run,
    plan_run,
    remove_endpoint,
    request_run,
    save_prompt,
    set_budget,
    set_limits,
)
from audit.model_runs.figures import (
    CALL_FILTERS,
    Use,
    budget_of,
    run_figures,
    use_by_endpoint,
    use_of,
)
from audit.model_runs.forms import (
    BudgetForm,
    EndpointForm,
    LimitsForm,
    PlanForm,
    PromptForm,
    RunForm,
)
from audit.model_runs.models import Endpoint, ModelRun, Prompt
from audit.model_runs.tasks import task_of, tasks_for
from audit.reports.access import unblinded_lead
from base.errors import Refused, Stale
from base.pagination import newest_by_key, page_by_key
from base.requests import PageRequest, refusal_as_message, refusal_in
from llm.prompts import PromptError

PAGE_SIZE = 25
CALLS_ON_A_PAGE = 50
SECTION = "models"
CHANGED = (
    "Nothing was started: the choices or the prompt were changed since. This is what the run would "
    "do now."
)


@require_GET
def models(request: PageRequest, slug: str) -> HttpResponse:
    """List the models of a project, the prompts, and the runs, the newest first."""
    member = lead(request.user, slug)
    page = newest_by_key(access.model_runs(member), request.GET, PAGE_SIZE)
    uses = use_by_endpoint(member.project)
    return project_page(
        request,
        "model_runs/models.html",
        member,
        SECTION,
        servers=list(settings.MODEL_SERVERS),
        models=[
            {"endpoint": endpoint, "use": uses.get(endpoint.pk, Use())}
            for endpoint in Endpoint.objects.in_use(member.project_id)
        ],
        budget=budget_of(member.project),
        use=use_of(member.project),
        prompts=[current_prompt(member.project, task.name) for task in tasks_for(member)],
        runs=page.rows,
        page=page,
    )


@require_http_methods(["GET", "POST"])
def model_budget(request: PageRequest, slug: str) -> HttpResponse:
    """Show what all runs of the project have used, and set what they may use."""
    member = lead(request.user, slug)
    form = BudgetForm(request.POST or None, instance=budget_of(member.project))
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            set_budget(**form.cleaned_data, by=member)
            messages.success(request, "The budget is saved. A run under way obeys it at once.")
            return redirect("audit:models", slug)
    return project_page(
        request,
        "model_runs/budget.html",
        member,
        SECTION,
        form=form,
        budget=budget_of(member.project),
        use=use_of(member.project),
        status=422 if form.errors else 200,
    )


@require_http_methods(["GET", "POST"])
def new_model(request: PageRequest, slug: str) -> HttpResponse:
    """Show the form of a model, and add it."""
    member = lead(request.user, slug)
    form = EndpointForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            endpoint = add_endpoint(Endpoint(**form.cleaned_data), by=member)
            messages.success(request, f"{endpoint} is added. Look at the prompt, then start a run.")
            return redirect("audit:models", slug)
    return project_page(
        request,
        "model_runs/new_model.html",
        member,
        SECTION,
        form=form,
        servers=list(settings.MODEL_SERVERS),
        status=422 if form.errors else 200,
    )


@require_http_methods(["GET", "POST"])
def model_limits(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show what all runs of a model have used, and set what they may use."""
    member, endpoint = access.endpoint(request.user, slug, pk)
    form = LimitsForm(request.POST or None, instance=endpoint)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            set_limits(endpoint=endpoint, limits=form.cleaned_data, by=member)
            messages.success(request, f"The limits of {endpoint} are saved.")
            return redirect("audit:models", slug)
    return project_page(
        request,
        "model_runs/limits.html",
        member,
        SECTION,
        form=form,
        budget=Endpoint.objects.get(pk=pk),
        use=use_by_endpoint(member.project).get(pk, Use()),
        status=422 if form.errors else 200,
    )


@require_POST
def model_removal(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Take a model out of use."""
    member, endpoint = access.endpoint(request.user, slug, pk)
    with refusal_as_message(request):
        remove_endpoint(endpoint=endpoint, by=member)
        kept = "Its runs are kept; add it with the same choices to ask it again."
        messages.success(request, f"{endpoint} is no longer asked. {kept}")
    return redirect("audit:models", slug)


@require_http_methods(["GET", "POST"])
def prompt(request: PageRequest, slug: str) -> HttpResponse:
    """Show the prompt of a task, filled with a few examples; a POST saves or, with `preview`, fills
    it.
    """
    member = lead(request.user, slug)
    task = task_of(request.POST.get("task") or request.GET.get("task", ""))
    current = current_prompt(member.project, task.name)
    starting = {"task": task.name, "text": current.text, "based_on": current.version}
    form = PromptForm(request.POST or None, initial=starting)
    text = current.text
    if request.method == "POST" and form.is_valid():
        text = form.cleaned_data["text"]
        try:
            if "preview" not in request.POST:
                saved = save_prompt(**form.cleaned_data, by=member)
                messages.success(request, f"Saved as version {saved.version}.")
                return redirect(saved)
        except Stale as stale:
            form = PromptForm({**request.POST.dict(), "based_on": current.version})
            form.add_error("text", str(stale))
        except Refused as refused:
            form.add_error("text", str(refused))
    examples, problem = [], ""
    blind = ""
    if must_answer_first(member):
        if task.shows_answers:
            blind = access.BLIND
        elif task.shows_relevant:
            blind = access.BLIND_TO_EARLIER_RELEVANCE
    try:
        filled = task.read_prompt(text)
        items = [] if blind else task.examples(member, EXAMPLES)
        examples = list(task.questions(ModelRun(project=member.project), filled, items))
    except PromptError as error:
        problem = str(error)
    return project_page(
        request,
        "model_runs/prompt.html",
        member,
        SECTION,
        form=form,
        prompt=current,
        task=task,
        variables=sorted(f"{{{name}}}" for name in task.shipped.variables),
        blind=blind,
        versions=Prompt.objects.filter(project=member.project, task=task.name)
        .select_related("by")
        .order_by("-version"),
        examples=examples,
        problem=problem,
        status=422 if form.errors else 200,
    )


@require_http_methods(["GET", "POST"])
def new_model_run(request: PageRequest, slug: str) -> HttpResponse:
    """Show what a run would do, and start it; the choices are in the address."""
    member = lead(request.user, slug)
    sent = request.POST or (request.GET if "endpoint" in request.GET else None)
    form = RunForm(member, sent, request.FILES or None)
    plan, shown = None, ""
    # The plan is shown beside a limit that is wrong.
    if sent and not form.errors.keys() & PlanForm.base_fields.keys():
        run = new_run(**form.cleaned_data)
        shown = f"{_choices_of(run)}&prompt={run.prompt.version}"
        is_changed = request.POST.get("shown", shown) != shown
        if is_changed and "plan" not in request.POST:
            messages.warning(request, CHANGED)
        if is_changed or "plan" in request.POST:
            return redirect(plan_address(run))
        with refusal_in(form):
            plan = plan_run(run, by=member)
            if request.method == "POST" and form.is_valid():
                return redirect(request_run(run, by=member))
            if request.method == "GET":
                chosen = {name: value for name, value in request.GET.dict().items() if value}
                form = RunForm(member, chosen | plan.proposed_limits)
    return project_page(
        request,
        "model_runs/new_run.html",
        member,
        SECTION,
        form=form,
        plan=plan,
        shown=shown,
        blind=must_answer_first(member),
        status=422 if request.method == "POST" and form.errors else 200,
    )


@require_GET
def model_batch(request: PageRequest, slug: str) -> HttpResponseBase:
    """Download the questions of a run with these choices that were not answered, as JSON lines."""
    member = unblinded_lead(request.user, slug)
    form = RunForm(member, request.GET)
    if not form.is_valid():
        return redirect(f"{reverse('audit:new_model_run', args=[slug])}?{request.GET.urlencode()}")
    try:
        return batch_file(new_run(**form.cleaned_data), by=member)
    except Refused as refused:
        messages.error(request, str(refused))
        return redirect("audit:models", slug)


@require_GET
def model_run(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show the progress of a run, and what came of it."""
    member, run = access.model_run(request.user, slug, pk)
    blind = must_answer_first(member)
    return project_page(
        request,
        "model_runs/run.html",
        member,
        SECTION,
        run=run,
        blind=access.BLIND if blind else "",
        figures=run_figures(run, blind=blind),
        machine=Membership.objects.filter(project=member.project, name=run.machine).first(),
        again=plan_address(run),
    )


def plan_address(run: ModelRun) -> str:
    """Return the address that shows what a run with the choices of this one would do."""
    return f"{reverse('audit:new_model_run', args=[run.project.slug])}?{_choices_of(run)}"


def _choices_of(run: ModelRun) -> str:
    """Return the choices of a run as a query string."""
    choices = model_to_dict(run, list(PlanForm.base_fields))
    # As browsers send a box: only if it is ticked.
    choices["best_passage"] = "on" if run.best_passage else None
    return urlencode({name: choice for name, choice in choices.items() if choice is not None})


@require_GET
def model_calls(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """List the calls of a run, in their order."""
    member, run, calls = access.calls(request.user, slug, pk)
    asked = request.GET.get("show", "")
    asked = asked if asked in CALL_FILTERS else ""
    page = page_by_key(calls.filter(CALL_FILTERS[asked][1]), request.GET, CALLS_ON_A_PAGE)
    return project_page(
        request,
        "model_runs/calls.html",
        member,
        SECTION,
        run=run,
        calls=page.rows,
        show=asked,
        filters=[(key, name) for key, (name, _) in CALL_FILTERS.items()],
        page=page,
    )


@require_GET
def model_call(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show all that was said in one call."""
    member, call = access.call(request.user, slug, pk)
    best = None
    if call.passages > 1:
        same = {name: getattr(call, name) for name in ("narrative", "candidate", "sample")}
        best = call.run.calls.filter(**same).whole_answers().first()
    return project_page(
        request, "model_runs/call.html", member, SECTION, call=call, run=call.run, best=best
    )
