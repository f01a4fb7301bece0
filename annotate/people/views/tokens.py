"""The page of the reader's API tokens."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from annotate.people.forms.tokens import TokenForm
from annotate.people.tokens import end_token, make_token
from base.errors import ObjectNotFound
from base.page_request import PageRequest, refusal_in

# How many of the newest ended or expired tokens are listed.
PAST = 20


@require_http_methods(["GET", "POST"])
@never_cache  # a new token is shown once
@sensitive_variables("made")
def tokens(request: PageRequest) -> HttpResponse:
    """List the reader's tokens; make one, which is shown only in this response."""
    form = TokenForm(request.POST or None)
    made = None
    if request.method == "POST" and form.is_valid():
        with refusal_in(form):
            made = make_token(**form.cleaned_data, by=request.user)
            form = TokenForm()
    now = timezone.now()
    valid = request.user.tokens.valid(now)
    past = request.user.tokens.exclude(pk__in=valid.values("pk"))
    return render(
        request,
        "people/tokens.html",
        {
            "form": form,
            "made": made,
            "tokens": valid.order_by("-pk"),
            "past": past.order_by("-pk")[:PAST],
        },
        status=422 if form.errors else 200,
    )


@require_POST
def token_end(request: PageRequest, pk: int) -> HttpResponse:
    """End one of the reader's tokens at once."""
    try:
        token = end_token(pk=pk, by=request.user)
    except ObjectNotFound as not_here:
        raise Http404(str(not_here)) from not_here
    messages.success(
        request,
        f"The token “{token.name}” has ended. No program can use it now.",
    )
    return redirect("annotate:tokens")
