"""The tag `url` of every template: Django's own with a cache of addresses.

A page has about twenty links, and Django takes longer to reverse an address than to render a link.
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
    """A cached address if its values are numbers and strings; otherwise Django's own node."""

    def render(self, context: Context) -> str:
        """Render the address, or store it under the name that `as` gives."""
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
    """Render the address of a view, like Django's tag of this name."""
    node = defaulttags.url(parser, token)
    return AddressNode(node.view_name, node.args, node.kwargs, node.asvar)
