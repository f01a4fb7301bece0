"""The page that shows and changes a project's kind."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from annotate.projects import access, kind_settings
from annotate.projects.forms.project import RulesForm
from annotate.projects.kind_settings import Difference
from annotate.projects.kinds import KINDS, ProjectKind, kind_of
from annotate.projects.models import Project
from annotate.projects.project_page import project_page
from annotate.projects.taxonomies import TAXONOMIES
from base.page_request import PageRequest, refusal_as_message


@require_http_methods(["GET", "POST"])
def kind(request: PageRequest, slug: str) -> HttpResponse:
    """Show what the kind sets and what the project has changed; `?kind=` previews another one."""
    member = access.lead(request.user, slug)
    if request.method == "POST":
        with refusal_as_message(request):
            kind_settings.change_kind(key=request.POST.get("kind", ""), by=member)
            messages.success(request, "Saved. The settings of this kind apply from now on.")
        return redirect("annotate:kind", slug)
    project = member.project
    now = kind_of(project.kind)
    shown = KINDS.get(request.GET.get("kind", ""), now)
    return project_page(
        request,
        "projects/kind.html",
        member,
        section="settings",
        kinds=list(KINDS.values()),
        now=now,
        shown=shown,
        settings=_settings(shown),
        types=TAXONOMIES.get(shown.taxonomy, ()),
        changes=[_row(difference) for difference in kind_settings.differences(project, shown)],
        in_the_way=kind_settings.refusal_reason(project, shown),
    )


def _settings(shown: ProjectKind) -> list[dict[str, Any]]:
    """Return the settings of a kind, with the labels of the settings page."""
    return [
        {"label": _label(field), "value": _words(field, value)}
        for field, value in shown.settings.items()
    ]


def _row(difference: Difference) -> dict[str, Any]:
    return {
        "label": _label(difference.field),
        "before": _words(difference.field, difference.here),
        "after": _words(difference.field, difference.of_kind),
    }


def _label(field: str) -> str:
    return str(RulesForm.base_fields[field].label)


def _words(field: str, value: object) -> str:
    of_field: Any = Project._meta.get_field(field)
    return str(dict(of_field.choices or ()).get(value, value))
