"""Serializers of typed records, so that an answer is declared once: by its NamedTuple or dataclass.

`@reads(Record)` shows every field of the record, or of a dataclass the fields and properties that
it names in `api_fields`. `RecordSerializer` is for a record that is shown with other fields, as
ModelSerializer is for a model. `Annotated[int, "Help."]` describes a field.
A record that modules import only for type checking, because its package imports numpy, is named as
`Meta.record = "agreement.Coefficient"`; in the types of other records it is `Coefficient`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from functools import cache, partial
from inspect import getdoc
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)
from uuid import UUID

from django.utils.module_loading import import_string
from rest_framework import serializers

_fields: dict[Any, Any] = {
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    str: serializers.CharField,
    UUID: serializers.UUIDField,
    date: serializers.DateField,
    datetime: serializers.DateTimeField,
    Decimal: partial(serializers.DecimalField, max_digits=20, decimal_places=6),
    object: serializers.JSONField,
}
_serializers: dict[type | str, type[RecordSerializer]] = {}


class RecordSerializer(serializers.Serializer[Any]):
    """A serializer of `Meta.record`, also where that record is part of another one.

    It has the fields and properties that `Meta.fields` names, by default the record's `api_fields`
    or all its fields, and those it declares.
    """

    Meta: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        """Register it for its record."""
        super().__init_subclass__()
        if "Meta" in cls.__dict__:
            assert _serializers.setdefault(cls.Meta.record, cls) is cls, cls.Meta.record

    def get_fields(self) -> dict[str, Any]:
        """Return the fields, in the order of `Meta.fields`."""
        declared, record = super().get_fields(), self.Meta.record
        record = import_string(record) if isinstance(record, str) else record
        names = getattr(self.Meta, "fields", None) or getattr(record, "api_fields", _hints(record))
        shown = {name: declared.get(name) or _field(_hint(record, name)) for name in names}
        return {**shown, **declared}


def is_record(kind: Any) -> bool:
    """Return whether this is a NamedTuple, a dataclass, a TypedDict or the serializer of one."""
    is_serializer = isinstance(kind, type) and issubclass(kind, RecordSerializer)
    return is_dataclass(kind) or hasattr(kind, "_fields") or is_typeddict(kind) or is_serializer


def serializer_of(record: type) -> type[RecordSerializer]:
    """Return the serializer of a record, by default one that shows it by its own declaration."""
    if issubclass(record, RecordSerializer):
        return record
    if record not in _serializers:
        content = {"__doc__": _summary(record), "Meta": type("Meta", (), {"record": record})}
        type(f"{record.__name__}Serializer", (RecordSerializer,), content)
    return _serializers[record]


def _field(hint: Any, **options: Any) -> Any:
    """Return the serializer field for values of this type."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _field(parts[0], help_text=parts[1], **options)
    if origin in (Union, UnionType) and len(parts) == 2 and NoneType in parts:
        [kind] = set(parts) - {NoneType}
        return _field(kind, allow_null=True, **options)
    if origin in (list, tuple, Sequence, Iterable):
        if is_record(parts[0]):
            return serializer_of(parts[0])(many=True, **options)
        return serializers.ListField(child=_field(parts[0]), **options)
    if origin in (dict, Mapping):
        return serializers.DictField(child=_field(parts[1]), **options)
    if is_record(hint):
        return serializer_of(hint)(**options)
    if origin is Literal:
        return serializers.ChoiceField(choices=parts, **options)
    if issubclass(hint, Enum):
        choices = getattr(hint, "choices", None) or [choice.value for choice in hint]
        return serializers.ChoiceField(choices=choices, **options)
    return _fields[hint](**options)


@cache
def _hints(described: Any) -> dict[str, Any]:
    """Return the types of a record's fields, or of a function's arguments and result.

    For a record that is named by a string it is the serializer.
    """
    imported = vars(sys.modules[described.__module__])
    named = {
        name: serializer
        for path, serializer in _serializers.items()
        if isinstance(path, str) and (name := path.rpartition(".")[2]) not in imported
    }
    return get_type_hints(described, localns=named, include_extras=True)


def _hint(record: type, name: str) -> Any:
    """Return the type of a field, or of a property with its docstring."""
    if name in _hints(record):
        return _hints(record)[name]
    getter = getattr(record, name)
    returned = _hints(getattr(getter, "fget", None) or getter.func)["return"]
    return Annotated[returned, _summary(getter)]


def _summary(described: Any) -> str:
    """Return the first paragraph of a docstring."""
    return (getdoc(described) or "").partition("\n\n")[0]
