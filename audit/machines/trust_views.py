"""Pages that say how far a machine may be trusted."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.views.decorators.http import require_GET

from annotate.judgments.document_names import names_for
from annotate.judgments.models import Judgment
from annotate.projects.project_page import project_page
from audit.machines.access import machine_for_lead
from audit.machines.blind_answers import Chosen, first_chosen
from audit.machines.trust import MANY, MOST_PEOPLE, trust_of
from audit.machines.trust_documents import DocumentsForm, documents_asked_for
from base.page_request import PageRequest
from base.pagination import page_in_order

# Shares of fewer documents are marked: their intervals are wide.
FEW = 30
# The number of queries on one page.
QUERIES = 50


@require_GET
def trust(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show how a machine's grades compare with those of people who had not seen them."""
    member, machine = machine_for_lead(request.user, slug, pk)
    asked = request.GET.get("chosen")
    chosen = Chosen(asked) if asked in Chosen.values else first_chosen(machine)
    figures = trust_of(machine, chosen)
    return project_page(
        request,
        "machines/trust.html",
        member,
        "agreement",
        machine=machine,
        kinds=Chosen,
        figures=figures,
        queries=Paginator(figures.queries, QUERIES).get_page(request.GET.get("page")),
        few=FEW,
        most_people=MOST_PEOPLE,
        many=MANY,
    )


@require_GET
def trust_documents(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """List the documents that the machine and people grade differently, or those of one cell."""
    member, machine = machine_for_lead(request.user, slug, pk)
    grades = list(member.project.grades.order_by("value"))
    asked = request.GET.copy()
    asked.setdefault("chosen", first_chosen(machine))
    form = DocumentsForm([grade.value for grade in grades], asked)
    listed = documents_asked_for(machine, form)
    judgments = Judgment.objects.select_related("narrative__pair__query", "candidate__document")
    page = page_in_order(judgments, list(listed), request.GET)
    names = names_for(member, [judgment.candidate for judgment in page.rows])
    return project_page(
        request,
        "machines/trust_documents.html",
        member,
        "agreement",
        page=page,
        machine=machine,
        form=form,
        rows=[
            {
                "judgment": judgment,
                "name": names[judgment.candidate_id],
                "grades": sorted(listed[judgment.pk].people.values()),
            }
            for judgment in page.rows
        ],
        total=len(listed),
        grades=grades,
    )
