"""API errors as `application/problem+json` (RFC 9457).

`type` is omitted, which means "about:blank": the status says what happened, `code` says it more
exactly, `detail` is a sentence for people.
"""

from __future__ import annotations

import sys
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.template import loader
from django.views import defaults
from rest_framework import exceptions, serializers
from rest_framework.response import Response
from rest_framework.views import exception_handler

from base.errors import ObjectNotFound, Refused, Stale
from jobs.errors import is_full

MEDIA_TYPE = "application/problem+json"
# The prefix of API addresses; everything else is a page.
API = "/api/"
# Status -> default code and sentence.
SENTENCES = {
    HTTPStatus.BAD_REQUEST: ("invalid", "This request cannot be read."),
    HTTPStatus.FORBIDDEN: (
        "permission_denied",
        "Only pages of this site may send this, or the form's token is missing.",
    ),
    HTTPStatus.NOT_FOUND: ("not_found", "There is nothing at this address."),
    HTTPStatus.METHOD_NOT_ALLOWED: (
        "method_not_allowed",
        "This method is not allowed at this address: see “Allow”.",
    ),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: (
        "too_large",
        "This request is too large.",
    ),
    HTTPStatus.INTERNAL_SERVER_ERROR: (
        "error",
        "Something went wrong. The error is in the log.",
    ),
}


class Conflict(exceptions.APIException):
    """The object has changed in the meantime (409)."""

    status_code = HTTPStatus.CONFLICT
    default_code = "stale"


class Unprocessable(exceptions.APIException):
    """An action refused the request (422)."""

    status_code = HTTPStatus.UNPROCESSABLE_ENTITY
    default_code = "refused"


class TooLarge(exceptions.APIException):
    """The request is too large (413)."""

    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


class Busy(exceptions.APIException):
    """The database cannot answer now (503)."""

    status_code = HTTPStatus.SERVICE_UNAVAILABLE
    default_code = "busy"


class FaultSerializer(serializers.Serializer[Any]):
    """One error in the request."""

    pointer = serializers.CharField(
        help_text="Where: a JSON pointer into the request body, or `?name` for a parameter."
    )
    detail = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """An error as RFC 9457 defines it. The status says what happened, `code` more exactly."""

    title = serializers.CharField(help_text="The name of the status.")
    status = serializers.IntegerField()
    code = serializers.CharField(
        help_text="One word: invalid, stale, refused, throttled, not_found ..."
    )
    detail = serializers.CharField(help_text="A sentence for a person.")
    errors = FaultSerializer(many=True, required=False)  # type: ignore[assignment]


def handler(problem: Exception, context: dict[str, Any]) -> Response | None:
    """Return the response to an exception from a resource; None if Django has to answer it."""
    shown = _api_exception(problem)
    response = exception_handler(shown, context)
    if response is None:
        return None
    if isinstance(problem, OperationalError):
        response["Retry-After"] = "1"
    response.data = _problem_data(shown, response)
    response.content_type = MEDIA_TYPE
    return response


def as_problem(
    request: HttpRequest, response: HttpResponseBase, faults: dict[str, str] | None = None
) -> HttpResponseBase:
    """Turn an error page below /api/ into a problem; return any other response unchanged.

    So no error below /api/ is a page, whether the guard, Django or another library answers.
    `faults` maps places to what is wrong there.
    """
    if (
        response.status_code < HTTPStatus.BAD_REQUEST
        or not isinstance(response, HttpResponse)
        or response.get("Content-Type") == MEDIA_TYPE
        or not request.path_info.startswith(API)
        or response.get("Content-Type", "").startswith("application/json")
    ):
        return response
    problem = _status_problem(HTTPStatus(response.status_code), faults)
    response.content = problem.content
    response["Content-Type"] = problem["Content-Type"]
    response["Content-Length"] = str(len(problem.content))
    return response


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an unknown address: a problem below /api/, else a page."""
    if request.path.startswith(API):
        return _status_problem(HTTPStatus.NOT_FOUND)
    return defaults.page_not_found(request, exception)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that Django itself refuses to read."""
    if request.path.startswith(API):
        return _status_problem(HTTPStatus.BAD_REQUEST)
    return defaults.bad_request(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer an unexpected exception, which is in the log.

    A database that does not answer and a full disk are expected and get a 503: try again later.
    """
    # Django calls this inside its exception handler, also for exceptions raised before any view.
    error = sys.exc_info()[1]
    if error and (is_full(error) or isinstance(error, OperationalError | InterfaceError)):
        return unavailable(request, error)
    if request.path.startswith(API):
        return _status_problem(HTTPStatus.INTERNAL_SERVER_ERROR)
    return defaults.server_error(request)


def unavailable(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Answer 503 and say why."""
    response: HttpResponse
    if request.path.startswith(API):
        problem = unavailable_problem(error)
        response = _problem_response(
            HTTPStatus.SERVICE_UNAVAILABLE, problem["code"], problem["detail"]
        )
    else:
        # Rendered without the request, because reading its user needs the database.
        page = loader.get_template("503.html").render({"full": is_full(error)})
        response = HttpResponse(page, status=HTTPStatus.SERVICE_UNAVAILABLE)
    response["Retry-After"] = "1"
    return response


def unavailable_problem(error: BaseException) -> dict[str, str]:
    """Return code and sentence for a failed database write: the disk is full, or it is busy."""
    if is_full(error):
        sentence = "The disk is full. Nothing is lost: send it again later."
        return {"code": "disk_full", "detail": sentence}
    return {"code": "busy", "detail": "The database is busy. Nothing is lost: send it again."}


def _api_exception(problem: Exception) -> Exception:
    """Return the API exception that corresponds to an exception; others unchanged."""
    if isinstance(problem, ObjectNotFound):
        return exceptions.NotFound(str(problem))
    if isinstance(problem, Stale):
        return Conflict(str(problem))
    if isinstance(problem, Refused):
        return Unprocessable(str(problem))
    if isinstance(problem, OperationalError):
        return Busy(**unavailable_problem(problem))
    if isinstance(problem, RequestDataTooBig):
        most = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,}"
        return TooLarge(f"A request may have at most {most} bytes.")
    if isinstance(problem, Http404):
        return exceptions.NotFound(*problem.args)
    if isinstance(problem, PermissionDenied):
        return exceptions.PermissionDenied(*problem.args)
    return problem


def _problem_data(problem: Exception, response: Response) -> dict[str, Any]:
    status = HTTPStatus(response.status_code)
    fields: dict[str, Any] = {"title": status.phrase, "status": status.value}
    if isinstance(problem, exceptions.ValidationError):
        faults = list(_faults(problem.detail, ""))
        sentence = "The request is not valid: see the errors."
        return {**fields, "code": "invalid", "detail": sentence, "errors": faults}
    assert isinstance(problem, exceptions.APIException)
    detail = problem.detail
    code = getattr(detail, "code", problem.default_code)
    return {**fields, "code": str(code), "detail": str(detail)}


def _faults(detail: Any, pointer: str) -> list[dict[str, str]]:
    """Flatten validation errors into a list, each with its pointer."""
    if isinstance(detail, dict):
        entries = [
            (pointer if key == "non_field_errors" else f"{pointer}{_step(str(key))}", value)
            for key, value in detail.items()
        ]
        return [fault for place, value in entries for fault in _faults(value, place)]
    if isinstance(detail, list):
        # If a list was sent, each entry has its own errors, empty if it is valid.
        nested = any(isinstance(entry, (dict, list)) for entry in detail)
        return [
            fault
            for place, entry in enumerate(detail)
            for fault in _faults(entry, f"{pointer}/{place}" if nested else pointer)
        ]
    return [{"pointer": pointer, "detail": str(detail)}]


def _step(key: str) -> str:
    """Return a key as a step of a JSON pointer (RFC 6901); query parameters are unchanged."""
    return key if key.startswith("?") else "/" + key.replace("~", "~0").replace("/", "~1")


def _status_problem(status: HTTPStatus, faults: dict[str, str] | None = None) -> JsonResponse:
    """Return the default problem of a status."""
    code, sentence = SENTENCES.get(status, (status.phrase.lower().replace(" ", "_"), status.phrase))
    return _problem_response(status, code, str(sentence), faults)


def _problem_response(
    status: HTTPStatus, code: str, sentence: str, faults: dict[str, str] | None = None
) -> JsonResponse:
    problem: dict[str, Any] = {"title": status.phrase, "status": status.value, "code": code}
    problem["detail"] = sentence
    if faults:
        problem["errors"] = [{"pointer": place, "detail": fault} for place, fault in faults.items()]
    return JsonResponse(problem, status=status, content_type=MEDIA_TYPE)
