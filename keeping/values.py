"""Converting the values of a row between a backup and each of the two databases."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import connection

from base import bulk

Converter = Callable[[Any], Any]

# Types of fields whose values are JSON already.
PLAIN = {
    *("AutoField", "BigAutoField", "SmallAutoField"),
    *("IntegerField", "BigIntegerField", "SmallIntegerField", "FloatField", "BooleanField"),
    *("PositiveIntegerField", "PositiveBigIntegerField", "PositiveSmallIntegerField"),
    *("CharField", "TextField", "SlugField", "EmailField", "URLField"),
    *("FileField", "FilePathField", "GenericIPAddressField"),
}
# Types of fields whose values are written as text, with the function that parses the text.
_PARSERS: dict[str, Converter] = {
    "DateTimeField": datetime.fromisoformat,
    "DateField": date.fromisoformat,
    "TimeField": time.fromisoformat,
    "DecimalField": Decimal,
    "UUIDField": UUID,
    "BinaryField": base64.b64decode,
}
KINDS = {*PLAIN, *_PARSERS, "JSONField"}


def field_type(field: Any) -> str:
    """Return the internal type of a field; of a foreign key, that of the key it points to."""
    while field.is_relation:
        field = field.target_field
    return str(field.get_internal_type())


def write_row(row: Any) -> bytes:
    """Return one row, a sequence of values from the models, as a line of a backup."""
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"), default=_as_text)
    # JSON in SQLite may contain a lone surrogate; it is restored unchanged.
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _as_text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, memoryview)):
        return base64.b64encode(value).decode()
    if isinstance(value, (UUID, Decimal)):
        return str(value)
    raise TypeError(f"a backup cannot hold {type(value).__name__}")


def read_row(line: bytes) -> list[Any]:
    """Parse a line of a backup into a list of values; types that JSON lacks stay strings."""
    row: list[Any] = json.loads(line.decode("utf-8", "surrogatepass"))
    return row


def database_converter(field: Any) -> Converter | None:
    """Return a function from a parsed value to one for this database, or None if not needed."""
    kind = field_type(field)
    if kind == "JSONField":
        return _json_or_null if field.null else _json
    if kind in PLAIN:
        return None
    to_python, adapt = _PARSERS[kind], _database_adapter(kind)
    if adapt is None:
        return lambda value: None if value is None else to_python(value)
    return lambda value: None if value is None else adapt(to_python(value))


def _database_adapter(kind: str) -> Converter | None:
    if bulk.on_postgresql():
        return None
    operations = connection.ops
    adapters: dict[str, Converter] = {
        "DateTimeField": operations.adapt_datetimefield_value,
        "DateField": operations.adapt_datefield_value,
        "TimeField": operations.adapt_timefield_value,
        "DecimalField": str,
        "UUIDField": lambda value: value.hex,
    }
    return adapters.get(kind)


def _json(value: Any) -> str:
    return json.dumps(value)


def _json_or_null(value: Any) -> str | None:
    return None if value is None else json.dumps(value)
