"""The API as a readable list: a line for each operation and one for each shape.

`python -m tests.config.api_outline` rewrites docs/api-outline.txt.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "docs" / "api-outline.txt"
VERBS = ("get", "post", "put", "patch", "delete")
WIDTH = 128
HEADING = """\
Every operation of the API: verb, address, ?parameters, name, what is sent -> status and answer.
Then every shape: its fields with their types. `?` may be left out, `|null` may be null, `[]` is a
list, `{}` maps names. /api/v1/schema/ of a running installation is the whole schema (OpenAPI), with
descriptions and errors.
"""


def outline(schema: dict[str, Any]) -> str:
    """Return the outline of an OpenAPI schema."""
    lines = [
        _operation(verb.upper(), path, verbs[verb])
        for path, verbs in sorted(schema["paths"].items())
        for verb in VERBS
        if verb in verbs
    ]
    shapes = [
        f"{name}: {' '.join(_fields(shape))}"
        for name, shape in sorted(schema["components"]["schemas"].items())
    ]
    return f"{HEADING}\n{_wrapped(lines)}\n\n{_wrapped(shapes)}\n"


def _wrapped(lines: list[str]) -> str:
    return "\n".join(
        textwrap.fill(
            line,
            WIDTH,
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in lines
    )


def _operation(verb: str, path: str, operation: dict[str, Any]) -> str:
    parameters = [
        f"{one['name']}{'' if one.get('required') else '?'}"
        for one in operation.get("parameters", ())
        if one["in"] == "query"
    ]
    query = f" ?{'&'.join(sorted(parameters))}" if parameters else ""
    sent = "".join(f" {one}" for one in _bodies(operation.get("requestBody", {})))
    answered = ", ".join(
        " ".join([status, *_bodies(answer)])
        for status, answer in sorted(operation["responses"].items())
        if status < "400"
    )
    return f"{verb} {path}{query} {operation['operationId']}{sent} -> {answered}"


def _bodies(place: dict[str, Any]) -> Iterator[str]:
    yield from sorted({_type(one.get("schema", {})) for one in place.get("content", {}).values()})


def _fields(shape: dict[str, Any]) -> Iterator[str]:
    if "properties" not in shape:
        yield _type(shape)
    required = set(shape.get("required", ()))
    for name, field in shape.get("properties", {}).items():
        yield f"{name}{'' if name in required else '?'}:{_type(field)}"


def _type(schema: dict[str, Any]) -> str:
    null = "|null" if schema.get("nullable") else ""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2] + null
    if parts := schema.get("oneOf") or schema.get("anyOf") or schema.get("allOf"):
        return "|".join(_type(part) for part in parts) + null
    if "enum" in schema:
        return "|".join("null" if one is None else str(one) for one in schema["enum"]) + (
            "" if None in schema["enum"] else null
        )
    if schema.get("type") == "array":
        return f"{_type(schema.get('items', {}))}[]{null}"
    if schema.get("type") == "object":
        inside = schema.get("additionalProperties")
        return f"{{{_type(inside) if isinstance(inside, dict) else ''}}}{null}"
    return str(schema.get("format") or schema.get("type") or "any") + null


def main() -> None:
    """Rewrite the file."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    from drf_spectacular.generators import SchemaGenerator

    FILE.write_text(outline(SchemaGenerator().get_schema(public=True)), encoding="utf-8")


if __name__ == "__main__":
    main()
