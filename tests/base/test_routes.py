"""No route hides another one."""

from __future__ import annotations

from typing import Any

from django.urls import NoReverseMatch, URLResolver, get_resolver, reverse
from django.urls.resolvers import RoutePattern

VALUES = {
    "int": 7,
    "slug": "tides",
    "str": "one",
    "path": "one.txt",
    "release": "v1.0",
    "uuid": "8f20c0fe-2525-434a-ba4e-7a5b13bccefb",
}


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
