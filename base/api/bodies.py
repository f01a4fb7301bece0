"""Request bodies and query parameters, as a rule with the fields of the form of a page.

`@writes(body=SomeForm)` and `@reads(parameters=SomeForm)` accept the fields of the form. `FormBody`
and `FormParameters` are for what differs from it. Rules about several fields belong into the
action: the form's `clean` is not called.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from django import forms
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.fields import empty

from base.requests import LARGEST_KEY


class RequestBody(serializers.Serializer[Any]):
    """A request body. Unknown fields are refused: they are misspelt or not permitted."""

    def to_internal_value(self, data: Any) -> Any:
        """Validate the body and refuse unknown fields."""
        if isinstance(data, Mapping) and (unknown := set(data) - set(self.fields)):
            sentence = "There is no such field."
            raise ValidationError({str(name): [sentence] for name in sorted(map(str, unknown))})
        return super().to_internal_value(data)


class Settings(RequestBody):
    """Settings, as they are read and as PATCH changes those that are sent."""

    def get_fields(self) -> dict[str, Any]:
        """Return the fields without defaults: each is in the answer."""
        fields = super().get_fields()
        for field in fields.values():
            field.required, field.default = True, empty
        return fields


class QueryParameters(serializers.Serializer[Any]):
    """Query parameters that filter a list. Unknown ones are ignored."""


class FormFields(serializers.Serializer[Any]):
    """The fields of `Meta.form` that `Meta.fields` names, and those that the class declares.

    They have the labels and help texts of the form. One that the form does not require, or that
    has an initial value there, may be left out. A class that extends others has their fields too.
    """

    Meta: ClassVar[Any]

    def get_fields(self) -> dict[str, Any]:
        """Return the fields of the forms, then those that only this class has."""
        declared = super().get_fields()
        shared: dict[str, Any] = {}
        for meta in [
            vars(cls)["Meta"] for cls in reversed(type(self).__mro__) if "Meta" in vars(cls)
        ]:
            fields = meta.form.base_fields
            names = getattr(meta, "fields", fields)
            shared |= {name: declared.get(name) or field_like(fields[name]) for name in names}
        return {**shared, **declared}


class FormBody(FormFields, RequestBody):
    """A body with fields of a form."""


class FormParameters(FormFields, QueryParameters):
    """Query parameters with fields of a form."""


@cache
def body_of(form: type[forms.BaseForm]) -> type[RequestBody]:
    """Return the body with all fields of a form; of a form of a model, with the model's rules."""
    name, content = f"Sent{form.__name__.removesuffix('Form')}", _content(form)
    if not issubclass(form, forms.ModelForm):
        return type(name, (FormBody,), content)
    meta = type("Meta", (), {"model": form._meta.model, "fields": list(form.base_fields)})
    return type(name, (serializers.ModelSerializer, RequestBody), {**content, "Meta": meta})


@cache
def parameters_of(form: type[forms.BaseForm]) -> type[FormParameters]:
    """Return the query parameters with all fields of a form."""
    return type(f"Asked{form.__name__.removesuffix('Form')}", (FormParameters,), _content(form))


def _content(form: type[forms.BaseForm]) -> dict[str, Any]:
    return {"__doc__": form.__doc__, "Meta": type("Meta", (), {"form": form})}


def field_like(field: Any) -> Any:
    """Return the serializer field that accepts what this field of a form does."""
    described = [str(text) for text in (field.label, field.help_text) if text]
    options: dict[str, Any] = {"help_text": " ".join(map(_sentence, described))}
    all_choices: Any = list(getattr(field, "choices", ()))
    choices = [choice for choice in all_choices if choice[0] != ""]
    if not field.required or field.initial is not None:
        options |= {"required": False, "default": field.initial}
    null = not field.required and field.initial is None
    match field:
        case forms.BooleanField():
            return serializers.BooleanField(**options | {"default": bool(field.initial)})
        case forms.FileField():
            return serializers.FileField(allow_null=null, max_length=field.max_length, **options)
        case forms.ModelChoiceField():
            # The key of a row, which the view gets as it gets every row of a project.
            options |= {"min_value": 1, "max_value": LARGEST_KEY}
            return serializers.IntegerField(allow_null=null, **options)
        case forms.MultipleChoiceField():
            choice: Any = serializers.ChoiceField(choices)
            return serializers.ListField(child=choice, **options | {"default": list})
        case forms.ChoiceField() if choices != all_choices:
            options["default"] = field.initial or ""
            return serializers.ChoiceField(choices, allow_blank=True, **options)
        case forms.ChoiceField() if choices:
            return serializers.ChoiceField(choices, allow_null=null, **options)
        case forms.DecimalField():
            options |= {"min_value": field.min_value, "max_value": field.max_value}
            options |= {"max_digits": field.max_digits, "decimal_places": field.decimal_places}
            return serializers.DecimalField(allow_null=null, **options)
        case forms.FloatField():
            options |= {"min_value": field.min_value, "max_value": field.max_value}
            return serializers.FloatField(allow_null=null, **options)
        case forms.IntegerField():
            options |= {"min_value": field.min_value, "max_value": field.max_value}
            return serializers.IntegerField(allow_null=null, **options)
        case forms.DateField():
            return serializers.DateField(allow_null=null, **options)
        case forms.ChoiceField():
            # Its choices are known only for a reader, so the form of that reader checks them.
            return serializers.CharField(allow_blank=True, **options | {"default": ""})
        case forms.CharField():
            if "default" in options:
                options |= {"default": field.initial or "", "allow_blank": True}
            options |= {"max_length": field.max_length, "trim_whitespace": field.strip}
            is_mail = isinstance(field, forms.EmailField)
            return (serializers.EmailField if is_mail else serializers.CharField)(**options)
    raise TypeError(f"no serializer field is like {field!r}")


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", ":")) else f"{text}."
