"""The page for making an example project of a kind."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from annotate.projects.kinds import KINDS
from base.page_request import PageRequest, refusal_in
from config.kind_examples.files import read_examples
from config.kind_examples.making import make_example


def _choices() -> list[tuple[str, str]]:
    return [
        (
            example.kind,
            format_html(
                "<strong>{}</strong>: {}. {}",
                KINDS[example.kind].name,
                example.name,
                example.description,
            ),
        )
        for example in read_examples()
    ]


class ExampleForm(forms.Form):
    """The kind of the example to make."""

    kind = forms.ChoiceField(label="Kind", choices=_choices, widget=forms.RadioSelect)


@require_http_methods(["GET", "POST"])
def examples(request: PageRequest) -> HttpResponse:
    """Make an example project that the reader leads."""
    form = ExampleForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusal_in(form, "kind"):
            project = make_example(kind=form.cleaned_data["kind"], by=request.user)
            messages.success(request, "The example project is ready. You are its lead.")
            return redirect("annotate:project", project.slug)
    return render(request, "examples.html", {"form": form}, status=422 if form.errors else 200)
