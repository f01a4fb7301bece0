"""Pages that say how far a machine may be trusted, and that give its doubtful labels to people."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods

from annotate.judgments.document_names import names_for
from annotate.judgments.models import Judgment
from annotate.projects.models import Membership
from annotate.projects.project_page import project_page
from audit.machines.blind_answers import Chosen, Item, blind_items, first_chosen, settled_only
from audit.machines.second_look import SecondLookForm, second_looks, take_second_look
from audit.machines.trust import MANY, MOST_PEOPLE, trust_of
from audit.model_runs import access
from base.pagination import page_in_order
from base.requests import PageRequest, refusal_in

# Shares of fewer documents are marked: their intervals are wide.
FEW = 30
# The number of queries on one page.
QUERIES = 50


@require_GET
def trust(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show how a machine's grades compare with those of people who had not seen them."""
    member, machine = access.machine(request.user, slug, pk)
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


# In place of a grade of people.
DIFFER = "differ"


class DocumentsForm(forms.Form):
    """Which documents are listed: without a grade, those that the machine and a person grade
    differently.
    """

    chosen = forms.ChoiceField(label="Documents", choices=Chosen.choices)
    people = forms.ChoiceField(label="People agree on", required=False)
    machine = forms.ChoiceField(label="The machine’s grade", required=False)
    category = forms.CharField(label="Category", max_length=255, required=False)
    query = forms.CharField(label="Query", max_length=255, required=False)

    def __init__(self, scale: Sequence[int], asked: QueryDict) -> None:
        super().__init__(asked)
        grades = [("", "Any"), *((str(grade), str(grade)) for grade in scale)]
        for name, more in (("people", [(DIFFER, "They differ")]), ("machine", [])):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [*grades, *more]

    def matches(self, item: Item) -> bool:
        """Return whether the form, which is valid, asks for this document."""
        asked: dict[str, str] = self.cleaned_data
        agreed = DIFFER if item.agreed is None else str(item.agreed)
        is_in_cell = asked["people"] in ("", agreed) and asked["machine"] in ("", str(item.grade))
        if not asked["people"] and not asked["machine"]:
            is_in_cell = any(grade != item.grade for grade in item.people.values())
        return (
            is_in_cell
            and asked["category"] in ("", item.category)
            and asked["query"] in ("", item.query)
        )


def documents_asked_for(machine: Membership, form: DocumentsForm) -> tuple[dict[int, Item], int]:
    """Return the documents that the form asks for by the machine's judgments, in their order, and
    how many more there are whose labels somebody has to check or settle; none if it is not valid.
    """
    if not form.is_valid():
        return {}, 0
    items, _left_out = blind_items(machine, form.cleaned_data["chosen"])
    asked_for = {item.judgment: item for item in items if form.matches(item)}
    settled = settled_only(Judgment.objects.filter(annotator=machine))
    keys = set(settled.values_list("pk", flat=True))
    listed = {key: item for key, item in asked_for.items() if key in keys}
    return listed, len(asked_for) - len(listed)


@require_GET
def trust_documents(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """List the documents that the machine and people grade differently, or those of one cell."""
    member, machine = access.machine(request.user, slug, pk)
    grades = list(member.project.grades.order_by("value"))
    asked = request.GET.copy()
    asked.setdefault("chosen", first_chosen(machine))
    form = DocumentsForm([grade.value for grade in grades], asked)
    listed, unsettled = documents_asked_for(machine, form)
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
        unsettled=unsettled,
        grades=grades,
    )


@require_http_methods(["GET", "POST"])
def second_look(request: PageRequest, slug: str, pk: int) -> HttpResponse:
    """Show how many labels are in doubt, and make a sample of those in most doubt."""
    member, machine = access.machine(request.user, slug, pk)
    looks = second_looks(machine)
    form = SecondLookForm(looks, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            sample = take_second_look(machine=machine, by=member, **form.cleaned_data)
            messages.success(request, "People who have not answered these documents check them.")
            return redirect(sample)
    return project_page(
        request,
        "machines/second_look.html",
        member,
        "agreement",
        machine=machine,
        form=form,
        looks=looks,
        possible=any(look.claims for look in looks),
        status=422 if form.errors else 200,
    )
