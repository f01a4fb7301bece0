"""Routes grouped in a tree for fast matching, and a cache of reversed addresses.

Django compares an address with one route after another. Most of ours begin alike, so each group
that shares its next segment (`projects/`, `<slug:slug>/`) is compared once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from django.urls import (
    URLPattern,
    URLResolver,
    get_script_prefix,
    get_urlconf,
    include,
    path,
    reverse,
)
from django.urls.resolvers import RoutePattern

Route = URLPattern | URLResolver


def address(name: str, *arguments: int | str, **named: int | str) -> str:
    """Return what `reverse` returns, cached by its arguments."""
    return _address(name, arguments, tuple(named.items()), get_script_prefix(), get_urlconf())


@lru_cache(maxsize=4_000)
def _address(
    name: str,
    arguments: tuple[int | str, ...],
    named: tuple[tuple[str, int | str], ...],
    _prefix: str,
    urlconf: str | None,
) -> str:
    return reverse(name, urlconf=urlconf, args=arguments, kwargs=dict(named))


def group_routes(routes: Sequence[Route]) -> list[Route]:
    """Return routes that match the same addresses, grouped by the segments they begin with.

    A group takes the position of its first route and keeps the order of its routes. So no route may
    match an address that belongs to a later route with other segments.
    """
    groups: dict[str, list[Route]] = {}
    for number, route in enumerate(routes):
        segment, ends, _rest = str(route.pattern).partition("/")
        # A route that cannot be split forms its own group, under a name that no segment has.
        divided = ends and isinstance(route.pattern, RoutePattern) and "path:" not in segment
        groups.setdefault(segment + "/" if divided else f"/{number}", []).append(route)
    found: list[Route] = []
    for segment, group in groups.items():
        if len(group) == 1:
            found += group
        else:
            found.append(
                path(
                    segment,
                    include(group_routes([_without_segment(segment, one) for one in group])),
                )
            )
    return found


def _without_segment(segment: str, route: Route) -> Route:
    """Return a route without its first segment."""
    rest = str(route.pattern).removeprefix(segment)
    if isinstance(route, URLPattern):
        pattern = RoutePattern(rest, name=route.name, is_endpoint=True)
        return URLPattern(pattern, route.callback, route.default_args, route.name)
    return URLResolver(
        RoutePattern(rest),
        route.urlconf_name,
        route.default_kwargs,
        app_name=route.app_name,
        namespace=route.namespace,
    )
