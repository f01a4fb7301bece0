"""The schema of the whole API, and the page for reading it and trying it out."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer2, OpenApiYamlRenderer2
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from base.api.limits import AlwaysJson
from config.request_guard import content_policy


@cache
def schema() -> dict[str, Any]:
    """Return the API schema of all apps; generated once, because it takes a second."""
    generated: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return generated


@cache
def render_schema(form: str) -> bytes:
    """Return the schema as `yaml` or `json`."""
    renderer = OpenApiJsonRenderer2() if form == "json" else OpenApiYamlRenderer2()
    text: bytes = renderer.render(schema(), renderer_context={})
    return text


class Schema(APIView):
    """The API schema in YAML or, with `?form=json`, in JSON."""

    permission_classes = (IsAuthenticated,)
    content_negotiation_class = AlwaysJson
    # The schema does not include this route.
    schema = None

    def get(self, request: Request) -> HttpResponse:
        """Return the schema."""
        form = "json" if request.query_params.get("form") == "json" else "yaml"
        media = "application/json" if form == "json" else "application/yaml"
        return HttpResponse(render_schema(form), content_type=f"{media}; charset=utf-8")


@require_GET
def schema_page(request: HttpRequest) -> HttpResponse:
    """Show the schema in the packaged Swagger UI, whose icons are `data:` URLs."""
    page = render(request, "api/schema.html")
    page.headers["Content-Security-Policy"] = content_policy(pictures="data:")
    return page
