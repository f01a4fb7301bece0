"""The schema of the API (OpenAPI 3), generated from the declarations of the resources."""

from __future__ import annotations

import re
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

from base.api.problems import MEDIA_TYPE, ProblemSerializer
from base.api.resource import KEY_HEADER, MAX_KEY, Operation, RequestBody

# Error statuses of every operation, of those with query parameters, and of writes.
# 422 is in ALWAYS because some resources can be read only by people with an assignment.
ALWAYS = (401, 403, 404, 422, 429, 503)
ASKING = (400,)
WRITING = (400, 409, 413, 415)


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The schema's entry for token authentication."""

    # A name, not an import: tokens belong to a higher package.
    target_class = "annotate.people.tokens.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """Return an entry of `securitySchemes`."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token that a person made under Your settings, Tokens.",
        }


class ApiSchema(AutoSchema):
    """One verb of one resource in the schema."""

    def get_operation_id(self) -> str:
        """Return the resource's name and the verb, which generated clients use as a name."""
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(self.view).__name__).lower()
        return f"{name}_{self.method.lower()}"

    def get_tags(self) -> list[str]:
        """Return the heading."""
        return [self.view.tag]  # type: ignore[attr-defined]

    def get_summary(self) -> str:
        """Return the first sentence of the method's docstring."""
        return re.split(r"(?<=[.;:])\s", self.get_description(), maxsplit=1)[0].rstrip(".;:")

    def get_request_serializer(self) -> Any:
        """Return the declared request body."""
        return self._declared.body

    def get_response_serializers(self) -> Any:
        """Return the response to a successful request."""
        operation = self._declared
        if operation.answer is None:
            return {operation.status: None}
        if operation.media:
            return {(operation.status, operation.media): operation.answer}
        return {
            operation.status: operation.answer(many=True) if operation.many else operation.answer
        }

    def get_override_parameters(self) -> list[Any]:
        """Return the query parameters, and for writes the idempotency key."""
        operation = self._declared
        parameters: list[Any] = [operation.parameters] if operation.parameters else []
        if operation.writes:
            parameters.append(
                OpenApiParameter(
                    KEY_HEADER,
                    {"type": "string", "minLength": 1, "maxLength": MAX_KEY},
                    OpenApiParameter.HEADER,
                    description="A request that is sent again with the same key within a day is "
                    "carried out once and gets the first response.",
                )
            )
        return parameters

    @property
    def _declared(self) -> Operation:
        operation = getattr(self.view, self.method.lower()).operation
        assert isinstance(operation, Operation)
        return operation

    def _get_paginator(self) -> Any:
        return super()._get_paginator() if self._declared.paged else None  # type: ignore[no-untyped-call]

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        operation = self._declared
        wrong = {*ALWAYS, *(ASKING if operation.parameters or operation.paged else ())}
        for status in sorted(wrong | set(WRITING if operation.writes else ())):
            bodies[str(status)] = self._get_response_for_code(  # type: ignore[no-untyped-call]
                ProblemSerializer, str(status), media_types=[MEDIA_TYPE]
            )
        return bodies

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Any:
        schema = super()._map_basic_serializer(serializer, direction)  # type: ignore[no-untyped-call]
        if isinstance(serializer, RequestBody):
            schema["additionalProperties"] = False
        return schema
