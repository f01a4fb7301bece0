"""The tag `url` of every template: Django's own, but that each address is made once.

A page links some twenty pages, and to find an address takes Django longer than to draw the link.
"""

from __future__ import annotations

from django import template
from django.template import Context, defaulttags
from django.template.base import Parser, Token
from django.urls import NoReverseMatch
from django.utils.html import conditional_escape

from base.routes import address

register = template.Library()


class AddressNode(defaulttags.URLNode):
    """An address whose values are numbers and strings; with others, as Django draws it."""

    def render(self, context: Context) -> str:
        """Draw the address, or keep it under the name that `as` gives."""
        args = [one.resolve(context) for one in self.args]
        kwargs = {name: one.resolve(context) for name, one in self.kwargs.items()}
        if not all(type(value) in (int, str) for value in (*args, *kwargs.values())):
            return str(super().render(context))
        try:
            found = address(self.view_name.resolve(context), *args, **kwargs)
        except NoReverseMatch:
            return str(super().render(context))
        if self.asvar:
            context[self.asvar] = found
            return ""
        return conditional_escape(found) if context.autoescape else found


@register.tag
def url(parser: Parser, token: Token) -> AddressNode:
    """Draw the address of a view, as Django's tag of that name does."""
    node = defaulttags.url(parser, token)
    return AddressNode(node.view_name, node.args, node.kwargs, node.asvar)
