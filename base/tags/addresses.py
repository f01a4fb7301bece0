"""The tag `url` of every template: Django's own, but that it remembers the addresses it has found.

A page links some twenty pages, and to find an address takes Django longer than to draw the link.
"""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.conf import settings
from django.template import Context, defaulttags
from django.template.base import Parser, Token
from django.urls import NoReverseMatch, get_script_prefix, get_urlconf, reverse
from django.utils.html import conditional_escape

register = template.Library()

# How many addresses a process remembers: those of the pages that are looked at in turn.
REMEMBERED = 2_048


class AddressNode(defaulttags.URLNode):
    """An address whose values are numbers and strings; with others, as Django draws it."""

    def render(self, context: Context) -> str:
        """Draw the address, or keep it under the name that `as` gives."""
        args = tuple(one.resolve(context) for one in self.args)
        kwargs = tuple((name, one.resolve(context)) for name, one in self.kwargs.items())
        if not all(type(value) in (int, str) for value in (*args, *(one for _, one in kwargs))):
            return str(super().render(context))
        urls = get_urlconf() or settings.ROOT_URLCONF
        view = self.view_name.resolve(context)
        try:
            address = _address(urls, get_script_prefix(), view, args, kwargs)
        except NoReverseMatch:
            return str(super().render(context))
        if self.asvar:
            context[self.asvar] = address
            return ""
        return conditional_escape(address) if context.autoescape else address


@lru_cache(REMEMBERED)
def _address(
    urls: str,
    _prefix: str,
    view: str,
    args: tuple[int | str, ...],
    kwargs: tuple[tuple[str, int | str], ...],
) -> str:
    return reverse(view, urlconf=urls, args=args, kwargs=dict(kwargs))


@register.tag
def url(parser: Parser, token: Token) -> AddressNode:
    """Draw the address of a view, as Django's tag of that name does."""
    node = defaulttags.url(parser, token)
    return AddressNode(node.view_name, node.args, node.kwargs, node.asvar)
