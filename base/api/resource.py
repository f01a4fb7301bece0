"""The base classes and decorators of all API resources.

A resource is a class with a method for each verb, decorated with `@reads` or `@writes`. These
declare the request, the response and the scope; the schema is generated from them. A
method returns what the declared serializer reads, or a finished response.
Exceptions of a method (`Refused`, Http404 ...) are answered by `base.api.problems`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, TypeVar

from django.db.models import Model, QuerySet
from django.forms import BaseForm, Form, ModelForm
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ParseError, ValidationError
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.parsers import BaseParser
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from base.api.bodies import FormParameters as FormParameters
from base.api.bodies import QueryParameters as QueryParameters
from base.api.bodies import RequestBody as RequestBody
from base.api.bodies import body_of, parameters_of
from base.api.limits import SAFE, AlwaysJson, LimitedJsonParser, Throttle
from base.api.records import is_record, serializer_of
from base.idempotency import StoredResponse, run_once
from base.pagination import parse_key as key_of
from base.requests import LARGEST_KEY
from base.users import Scope as Scope
from base.users import User

Row = TypeVar("Row", bound=Model)

MOST_ON_A_PAGE = 500
KEY_HEADER = "Idempotency-Key"
MAX_KEY = 255


class KeyField(serializers.IntegerField):
    """A row's primary key."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": 1, "max_value": LARGEST_KEY, **options})


class Nothing(RequestBody):
    """An empty request body: no content, or an empty object."""


@dataclass(frozen=True)
class Operation:
    """The declaration of one verb of a resource, used by its method and the schema."""

    scope: str
    # A serializer class; None: no content. For answers other than JSON, a type of the schema.
    answer: Any
    status: int = 200
    # A serializer class; None: no request body.
    body: type[serializers.BaseSerializer[Any]] | None = None
    # The query parameters.
    parameters: type[QueryParameters] | None = None
    many: bool = False
    # Whether the answer comes in pages with cursors.
    paged: bool = False
    # The media type if it is not JSON.
    media: str = ""
    writes: bool = False

    def respond(self, result: Any) -> HttpResponseBase:
        """Return the response to what a method returned."""
        if isinstance(result, HttpResponseBase):
            return result
        if self.answer is None:
            return Response(status=self.status)
        return Response(self.answer(result, many=self.many).data, self.status)


Method = Callable[..., Any]


def reads(
    answer: Any,
    *,
    parameters: type[QueryParameters | Form] | None = None,
    many: bool = False,
    paged: bool = False,
    media: str = "",
) -> Callable[[Method], Method]:
    """Declare a method that changes nothing: every token may call it, with its owner's rights.

    `answer`: a serializer class, or a record that is shown whole (see `base.api.records`); `paged`:
    it answers with `self.page`; `many`: with a list. `parameters`: a serializer class, or the form
    of the page's filter.
    """
    answer = serializer_of(answer) if is_record(answer) else answer
    if parameters is not None and issubclass(parameters, Form):
        parameters = parameters_of(parameters)
    operation = Operation(
        Scope.READ, answer, parameters=parameters, many=many or paged, paged=paged, media=media
    )

    def declare(method: Method) -> Method:
        @wraps(method)
        def answered(view: Resource, *args: Any, **kwargs: Any) -> HttpResponseBase:
            return operation.respond(method(view, *args, **kwargs))

        answered.operation = operation  # type: ignore[attr-defined]
        return answered

    return declare


def writes(
    answer: Any,
    *,
    scope: str,
    body: type[serializers.BaseSerializer[Any] | Form | ModelForm[Any]] | None = None,
    parameters: type[QueryParameters] | None = None,
    status: int = 200,
    many: bool = False,
    secret: Iterable[str] = (),
    apart: bool = False,
) -> Callable[[Method], Method]:
    """Declare a method that changes something, once for each `Idempotency-Key`.

    `body`: a serializer class, or a form whose fields are sent (see `base.api.bodies`); `secret`:
    fields of the answer that are not stored for a replay; `apart`: it takes long and manages its
    own transaction (see `base.idempotency`).
    """
    answer = serializer_of(answer) if is_record(answer) else answer
    body = body_of(body) if body is not None and issubclass(body, (Form, ModelForm)) else body
    hidden = tuple(secret)
    operation = Operation(scope, answer, status, body, parameters, many=many, writes=True)

    def declare(method: Method) -> Method:
        @wraps(method)
        def answered(
            view: Resource, request: Request, *args: Any, **kwargs: Any
        ) -> HttpResponseBase:
            key = request.headers.get(KEY_HEADER)
            if key is None:
                return operation.respond(method(view, request, *args, **kwargs))
            _check_key(key)
            responses: list[HttpResponseBase] = []

            def do() -> StoredResponse:
                response = operation.respond(method(view, request, *args, **kwargs))
                responses.append(response)
                return StoredResponse(response.status_code, _body(response, hidden))

            assert isinstance(request.user, User)
            outcome = run_once(
                key=key, digest=_digest(request), do=do, by=request.user, apart=apart
            )
            if not outcome.is_replay:
                return responses[-1]
            again = HttpResponse(
                outcome.done.body, status=outcome.done.status, content_type="application/json"
            )
            again["Idempotent-Replayed"] = "true"
            return again

        answered.operation = operation  # type: ignore[attr-defined]
        return answered

    return declare


class Page(CursorPagination):
    """A page of a list, with the addresses of the previous and the next page."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = MOST_ON_A_PAGE
    ordering = "pk"
    cursor_query_description = "Where the page begins: from `next` or `previous` of another."
    page_size_query_description = f"Entries on a page: 50, at most {MOST_ON_A_PAGE}."

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return the requested position; refuse a cursor that is not from one of our pages."""
        wrong = ValidationError({"?cursor": ["This cursor is not valid."]})
        try:
            cursor = super().decode_cursor(request)
        except NotFound as error:
            raise wrong from error
        if cursor is not None and key_of(str(cursor.position)) is None:
            raise wrong
        return cursor


class Reads(Throttle):
    """The throttle of reading requests."""

    scope = "reads"

    def applies_to(self, request: Request) -> bool:
        """Return whether the request changes nothing."""
        return request.method in SAFE


class Writes(Throttle):
    """The throttle of writing requests."""

    scope = "writes"

    def applies_to(self, request: Request) -> bool:
        """Return whether the request may change something."""
        return request.method not in SAFE


class HasScope(BasePermission):
    """Check that the token has the scope of the operation; sessions have every scope."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Compare the token's scopes with the one that the method declares.

        A verb that the resource does not have passes, and is answered with 405.
        """
        # A session has no token and no scopes.
        scopes = getattr(request.auth, "scopes", None)
        if scopes is None:
            return True
        handler = getattr(view, (request.method or "").lower(), None)
        operation = getattr(handler, "operation", None)
        if operation is None or operation.scope in scopes:
            return True
        self.message = f"This token may not do that: it lacks the scope “{operation.scope}”."
        return False


class Resource(APIView):
    """The base class of all API resources; `tag` is the heading in the schema."""

    tag: ClassVar[str]

    # No OPTIONS: the schema describes the API.
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    permission_classes = (IsAuthenticated, HasScope)
    throttle_classes = (Reads, Writes)
    parser_classes: tuple[type[BaseParser], ...] = (LimitedJsonParser,)
    renderer_classes = (JSONRenderer,)
    content_negotiation_class = AlwaysJson
    pagination_class = Page

    def __init_subclass__(cls, tag: str = "") -> None:
        """Refuse a verb without `@reads` or `@writes`."""
        super().__init_subclass__()
        if tag:
            cls.tag = tag
        for verb in ("get", "post", "put", "patch", "delete"):
            method = cls.__dict__.get(verb)
            if method is not None and not hasattr(method, "operation"):
                raise TypeError(f"{cls.__name__}.{verb} needs @reads or @writes")

    @property
    def person(self) -> User:
        """Return the user who sent the request."""
        assert isinstance(self.request.user, User)
        return self.request.user

    def body(self) -> dict[str, Any]:
        """Return the request body, validated by the method's serializer; 400 if it is invalid.

        PATCH changes only the fields that are sent.
        """
        operation = self._operation()
        assert operation.body is not None
        form = operation.body(data=self.request.data, partial=self.request.method == "PATCH")
        form.is_valid(raise_exception=True)
        return dict(form.validated_data)

    def parameters(self) -> dict[str, Any]:
        """Return the query parameters, validated by the method's serializer; 400 if invalid."""
        operation = self._operation()
        assert operation.parameters is not None
        form = operation.parameters(data=self.request.query_params.dict())
        if not form.is_valid():
            raise ValidationError({f"?{name}": fault for name, fault in form.errors.items()})
        return dict(form.validated_data)

    def page(
        self,
        rows: QuerySet[Row],
        *,
        prepare: Callable[[list[Row]], Iterable[Any]] = list,
        newest_first: bool = False,
        **context: Any,
    ) -> Response:
        """Return the page of the list that the request asks for, in the order of keys.

        The method's serializer reads what `prepare` makes of the rows of the page, in a context.
        """
        pages = self.pagination_class()
        pages.ordering = "-pk" if newest_first else "pk"
        rows_of_page = pages.paginate_queryset(rows.order_by(), self.request, view=self)
        return pages.get_paginated_response(self.shape(prepare(rows_of_page or []), **context))

    def shape(self, content: Any, **context: Any) -> Any:
        """Return content as the method's serializer reads it in a context."""
        operation = self._operation()
        return operation.answer(content, many=operation.many, context=context).data

    def _operation(self) -> Operation:
        verb = (self.request.method or "").lower()
        operation = getattr(self, verb if verb != "head" else "get").operation
        assert isinstance(operation, Operation)
        return operation


def route(address: str, resource: type[Resource], name: str) -> URLPattern:
    """Return the route of a resource."""
    return path(address, resource.as_view(), name=name)


def form_errors(form: BaseForm, before: str = "") -> ValidationError:
    """Return a form's errors as a ValidationError; field names get the prefix `before`."""
    return ValidationError(
        {
            f"{before}{name}": [str(fault) for fault in faults]
            for name, faults in form.errors.items()
        }
    )


def _check_key(key: str) -> None:
    if not key or len(key) > MAX_KEY or not key.isascii() or not key.isprintable():
        raise ParseError(
            f"{KEY_HEADER} must have 1 to {MAX_KEY} printable characters, such as a UUID."
        )


def _digest(request: Request) -> str:
    """Return a digest of the request: a key may only be reused for the same request."""
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if isinstance(request.data, QueryDict):
        for name, value in sorted(request.data.items()):
            digest.update(f"{name}\n".encode())
            if name in request.FILES:
                for chunk in request.FILES[name].chunks():
                    digest.update(chunk)
                request.FILES[name].seek(0)
            else:
                digest.update(f"{value}\n".encode(errors="surrogatepass"))
    else:
        digest.update(JSONRenderer().render(request.data))
    return digest.hexdigest()


def _body(response: HttpResponseBase, hidden: tuple[str, ...]) -> str:
    """Return the part of a response that is stored for replays."""
    assert isinstance(response, Response)
    if response.data is None:
        return ""
    data = response.data
    if hidden:
        data = {name: None if name in hidden else value for name, value in data.items()}
    return JSONRenderer().render(data).decode()


CURSOR = Page.cursor_query_param


def page_size(request: Request) -> int:
    """Return the number of entries per page."""
    return Page().get_page_size(request) or Page.page_size


def requested_cursor(request: Request) -> str:
    """Return the request's cursor as `page_response` wrote it; "" at the start."""
    return str(request.query_params.get(CURSOR, ""))


def invalid_cursor() -> ValidationError:
    """Return the error to raise for an invalid cursor."""
    return ValidationError({f"?{CURSOR}": ["This cursor is not valid."]})


def requested_part(request: Request, cursors: Sequence[str]) -> tuple[slice, str | None]:
    """Return which part of a list the request asks for, and the cursor of the next part; `cursors`
    are those of all entries, in order. 400 if the request's cursor is not among them.
    """
    after, size = requested_cursor(request), page_size(request)
    if after and after not in cursors:
        raise invalid_cursor()
    start = cursors.index(after) + 1 if after else 0
    end = start + size
    return slice(start, end), cursors[end - 1] if end < len(cursors) else None


def page_response(request: Request, results: Iterable[Any], following: str | None) -> Response:
    """Return the response for a page; `following` is the cursor of the next one, None at the end.

    These lists are read forward only.
    """
    here = request.build_absolute_uri()
    return Response(
        {
            "next": replace_query_param(here, CURSOR, following) if following else None,
            "previous": None,
            "results": list(results),
        }
    )
