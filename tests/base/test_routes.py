"""Routes grouped in a tree match the same addresses as the flat list."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.urls import NoReverseMatch, URLResolver, get_resolver, path, reverse
from django.urls.exceptions import Resolver404
from django.urls.resolvers import RoutePattern

from base.routes import group_routes

VALUES = {
    "int": 7,
    "slug": "tides",
    "str": "one",
    "path": "one.txt",
    "release": "v1.0",
    "uuid": "8f20c0fe-2525-434a-ba4e-7a5b13bccefb",
}


def view(request: HttpRequest, **parameters: Any) -> HttpResponse:
    return HttpResponse()


def resolver(*routes: str) -> URLResolver:
    patterns = group_routes([path(route, view, name=route) for route in routes])
    return URLResolver(RoutePattern("/"), patterns)


def test_routes_that_begin_alike_are_compared_once():
    found = resolver("projects/<slug:slug>/", "projects/<slug:slug>/queries/", "status/")

    assert [str(one.pattern) for one in found.url_patterns] == ["projects/", "status/"]


@pytest.mark.parametrize(
    ("address", "route", "values"),
    [
        ("/projects/", "projects/", {}),
        ("/projects/new/", "projects/new/", {}),
        ("/projects/tides/", "projects/<slug:slug>/", {"slug": "tides"}),
        ("/projects/tides/9/", "projects/<slug:slug>/<int:pk>/", {"slug": "tides", "pk": 9}),
        (
            "/projects/tides/9.csv",
            "projects/<slug:slug>/<int:pk>.csv",
            {"slug": "tides", "pk": 9},
        ),
    ],
)
def test_an_address_leads_to_its_route_with_its_values(address, route, values):
    found = resolver(
        "projects/",
        "projects/new/",
        "projects/<slug:slug>/",
        "projects/<slug:slug>/<int:pk>/",
        "projects/<slug:slug>/<int:pk>.csv",
    ).resolve(address)

    assert (found.url_name, found.kwargs, found.route) == (route, values, route)


def test_an_address_of_no_route_is_not_found():
    with pytest.raises(Resolver404):
        resolver("projects/<slug:slug>/", "projects/new/").resolve("/projects/tides/nothing/")


def test_every_reversed_address_resolves_to_its_route():
    failures = []
    for name, values in _routes(get_resolver()):
        try:
            address = reverse(name, kwargs=values)
        except NoReverseMatch:
            failures.append(name)
            continue
        if get_resolver().resolve(address).view_name != name:
            failures.append(name)

    assert failures == []


def _routes(
    found: URLResolver, space: str = "", around: str = ""
) -> list[tuple[str, dict[str, Any]]]:
    """Return every named route of our apps, with values for its parameters."""
    routes = []
    for one in found.url_patterns:
        if isinstance(one, URLResolver):
            inner = f"{space}{one.namespace}:" if one.namespace else space
            routes += _routes(one, inner, around + str(one.pattern))
        elif isinstance(one.pattern, RoutePattern) and one.name:
            whole = around + str(one.pattern)
            if space.startswith(("annotate", "audit", "exporters")):
                routes.append((space + one.name, _values(whole)))
    return routes


def _values(route: str) -> dict[str, Any]:
    parts = [part.partition(">")[0] for part in route.split("<")[1:]]
    return {part.partition(":")[2]: VALUES[part.partition(":")[0]] for part in parts}
