"""Tags that draw components: tables, and the fields and buttons of forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from django import template
from django.forms import BaseForm, BoundField
from django.forms.boundfield import BoundWidget
from django.template import Node, NodeList
from django.template.base import FilterExpression, Parser, Token, token_kwargs
from django.template.context import Context
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

register = template.Library()

HIDDEN = "hidden"


class Column(NamedTuple):
    """The head of a column: its name, its class and whether only screen readers see its name."""

    name: str
    css: str
    is_hidden: bool


def parse_column(heading: str) -> Column:
    """Parse a heading: "Documents|number" has the class `number`; "Change|hidden" is not seen."""
    name, _, css = heading.partition("|")
    return Column(name, "" if css == HIDDEN else css, css == HIDDEN)


class TableNode(Node):
    """A table: the names of its columns or a head of its own, and its rows."""

    child_nodelists = ("head", "rows")

    def __init__(
        self,
        columns: Sequence[FilterExpression],
        options: Mapping[str, FilterExpression],
        head: NodeList,
        rows: NodeList,
    ) -> None:
        self.columns = columns
        self.options = options
        self.head = head
        self.rows = rows

    def render(self, context: Context) -> SafeString:
        """Draw the table with `components/_list.html`."""
        values: dict[str, Any] = {
            name: option.resolve(context) for name, option in self.options.items()
        }
        values["columns"] = [parse_column(column.resolve(context)) for column in self.columns]
        values["head"] = self.head.render(context)
        values["rows"] = self.rows.render(context)
        return render_to_string("components/_list.html", values)


@register.tag
def table(parser: Parser, token: Token) -> TableNode:
    """Draw a table: `{% table "Name|wide" "Answers|number" %} rows {% endtable %}`.

    A head that depends on the page is written out: `{% table %} <th> cells {% rows %} rows
    {% endtable %}`. Options: `label` or `labelled_by` (id of the heading) for a table that people
    scroll by keyboard, `css` (a class) and `id`.
    """
    bits = token.split_contents()[1:]
    columns = []
    while bits and "=" not in bits[0].split('"')[0]:
        columns.append(parser.compile_filter(bits.pop(0)))
    options = token_kwargs(bits, parser)
    head, rows = NodeList(), parser.parse(("rows", "endtable"))
    if parser.next_token().contents == "rows":
        head, rows = rows, parser.parse(("endtable",))
        parser.delete_first_token()
    return TableNode(columns, options, head, rows)


@register.inclusion_tag("components/_field.html")
def field(field: BoundField, *, optional: bool = False) -> dict[str, Any]:
    """Draw a field with its label, help and errors; `optional` says so beside the label."""
    return {"field": field, "optional": optional}


@register.inclusion_tag("components/_form_errors.html")
def form_errors(form: BaseForm) -> dict[str, BaseForm]:
    """Draw the errors of a form as a whole."""
    return {"form": form}


@register.inclusion_tag("components/_form_fields.html")
def form_fields(form: BaseForm) -> dict[str, BaseForm]:
    """Draw the errors of a form as a whole, and all its fields."""
    return {"form": form}


@register.inclusion_tag("components/_submit.html")
def submit(words: str, *, primary: bool = True) -> dict[str, Any]:
    """Draw the end of a form with a single button."""
    return {"words": words, "primary": primary}


@register.filter
def choice_groups(field: BoundField) -> list[tuple[Any, list[BoundWidget]]]:
    """Return the choices of a field in their groups, each with its heading ("" without groups)."""
    grouped: Any = field.field
    return [
        ("" if number is None else list(grouped.choices)[number][0], list(choices))
        for number, choices in groupby(field, key=_group_number)
    ]


def _group_number(choice: BoundWidget) -> int | None:
    # Django numbers a choice "3", and a choice in a group "0_3".
    group, in_group, _ = str(choice.data["index"]).partition("_")
    return int(group) if in_group else None
