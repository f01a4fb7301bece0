"""What went wrong, told to programs: `application/problem+json` (RFC 9457).

`type` is left out, as "about:blank": the status says what happened, `code` says it more exactly,
`detail` is the sentence a person reads.
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
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views import defaults
from rest_framework import exceptions, serializers
from rest_framework.response import Response
from rest_framework.views import exception_handler

from base.errors import NotHere, Refused, Stale
from jobs.unavailable import is_full

MEDIA_TYPE = "application/problem+json"
# Where programs ask; everything else is a page.
API = "/api/"
# What is told where nothing else is known: a word and a sentence for each status.
SENTENCES = {
    HTTPStatus.BAD_REQUEST: ("invalid", gettext_lazy("This request cannot be read.")),
    HTTPStatus.FORBIDDEN: (
        "permission_denied",
        gettext_lazy("This is for pages of ours alone, or the form's secret is missing."),
    ),
    HTTPStatus.NOT_FOUND: ("not_found", gettext_lazy("There is nothing at this address.")),
    HTTPStatus.METHOD_NOT_ALLOWED: (
        "method_not_allowed",
        gettext_lazy("This is not done at this address: see “Allow”."),
    ),
    HTTPStatus.REQUEST_TIMEOUT: (
        "too_slow",
        gettext_lazy("The content took too long to arrive. Nothing is kept: send it again."),
    ),
    HTTPStatus.LENGTH_REQUIRED: (
        "length_required",
        gettext_lazy("The content came without its length. Send it with a Content-Length."),
    ),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: (
        "too_large",
        gettext_lazy("This is more than is taken at once."),
    ),
    HTTPStatus.INTERNAL_SERVER_ERROR: (
        "error",
        gettext_lazy("Something went wrong here. It is in the log."),
    ),
}


class Conflict(exceptions.APIException):
    """What was acted on has changed in the meantime."""

    status_code = HTTPStatus.CONFLICT
    default_code = "stale"


class Unprocessable(exceptions.APIException):
    """An action refused."""

    status_code = HTTPStatus.UNPROCESSABLE_ENTITY
    default_code = "refused"


class TooLarge(exceptions.APIException):
    """More than is taken at once."""

    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


class Busy(exceptions.APIException):
    """The database cannot answer now."""

    status_code = HTTPStatus.SERVICE_UNAVAILABLE
    default_code = "busy"


class FaultSerializer(serializers.Serializer[Any]):
    """One thing that is wrong with what was sent."""

    pointer = serializers.CharField(
        help_text="Where: a JSON pointer into what was sent; or `?name` for a parameter."
    )
    detail = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """What went wrong, as RFC 9457 has it. The status says what; `code` more exactly."""

    title = serializers.CharField(help_text="The name of the status.")
    status = serializers.IntegerField()
    code = serializers.CharField(
        help_text="One word: invalid, stale, refused, throttled, not_found ..."
    )
    detail = serializers.CharField(help_text="A sentence for a person.")
    errors = FaultSerializer(many=True, required=False)  # type: ignore[assignment]


def handler(problem: Exception, context: dict[str, Any]) -> Response | None:
    """Answer what a resource raised; None for what nobody foresaw, which Django answers."""
    known = _known(problem)
    response = exception_handler(known, context)
    if response is None:
        return None
    if isinstance(problem, OperationalError):
        response["Retry-After"] = "1"
    response.data = _problem(known, response)
    response.content_type = MEDIA_TYPE
    return response


def in_json(
    request: HttpRequest, response: HttpResponseBase, faults: dict[str, str] | None = None
) -> HttpResponseBase:
    """An error that comes as a page, as a problem where a program asked; all else as it is.

    So no error below /api/ is a page, whoever answers it: the guard, Django, another library.
    `faults`: what is wrong, by the place where it is.
    """
    if (
        response.status_code < HTTPStatus.BAD_REQUEST
        or not isinstance(response, HttpResponse)
        or response.get("Content-Type") == MEDIA_TYPE
        or not request.path_info.startswith(API)
        or response.get("Content-Type", "").startswith("application/json")
    ):
        return response
    told = _plain(HTTPStatus(response.status_code), faults)
    response.content = told.content
    response["Content-Type"] = told["Content-Type"]
    response["Content-Length"] = str(len(told.content))
    return response


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The answer where no address fits: for programs a problem, for people a page."""
    if request.path.startswith(API):
        return _plain(HTTPStatus.NOT_FOUND)
    return defaults.page_not_found(request, exception)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The answer to what Django itself refuses to read."""
    if request.path.startswith(API):
        return _plain(HTTPStatus.BAD_REQUEST)
    return defaults.bad_request(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """The answer to what nobody foresaw; the log has it.

    A database that is away, and a disk without room, are foreseen: whoever asks again later gets
    their answer.
    """
    # Django calls this while it handles what was raised, wherever that was: also before any view.
    error = sys.exc_info()[1]
    if error and (is_full(error) or isinstance(error, OperationalError | InterfaceError)):
        return unavailable(request, error)
    if request.path.startswith(API):
        return _plain(HTTPStatus.INTERNAL_SERVER_ERROR)
    return defaults.server_error(request)


def unavailable(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Answer that it does not work now (503), and why."""
    response: HttpResponse
    if request.path.startswith(API):
        problem = unavailable_problem(error)
        response = _written(HTTPStatus.SERVICE_UNAVAILABLE, problem["code"], problem["detail"])
    else:
        # Without the request: who asks is in the database.
        page = loader.get_template("503.html").render({"full": is_full(error)})
        response = HttpResponse(page, status=HTTPStatus.SERVICE_UNAVAILABLE)
    response["Retry-After"] = "1"
    return response


def unavailable_problem(error: BaseException) -> dict[str, str]:
    """Return code and sentence for why the database could not take something: for want of room on
    the disk, or because it is busy.
    """
    if is_full(error):
        sentence = _("There is no room left on the disk. Nothing is lost: send it again later.")
        return {"code": "disk_full", "detail": sentence}
    return {"code": "busy", "detail": _("The database is busy. Nothing is lost: send it again.")}


def _known(problem: Exception) -> Exception:
    """The same as an exception whose answer is known."""
    if isinstance(problem, NotHere):
        return exceptions.NotFound(str(problem))
    if isinstance(problem, Stale):
        return Conflict(str(problem))
    if isinstance(problem, Refused):
        return Unprocessable(str(problem))
    if isinstance(problem, OperationalError):
        return Busy(**unavailable_problem(problem))
    if isinstance(problem, RequestDataTooBig):
        most = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,}"
        return TooLarge(_("At most %(most)s bytes are taken at once.") % {"most": most})
    if isinstance(problem, Http404):
        return exceptions.NotFound(*problem.args)
    if isinstance(problem, PermissionDenied):
        return exceptions.PermissionDenied(*problem.args)
    return problem


def _problem(problem: Exception, response: Response) -> dict[str, Any]:
    status = HTTPStatus(response.status_code)
    told: dict[str, Any] = {"title": status.phrase, "status": status.value}
    if isinstance(problem, exceptions.ValidationError):
        faults = list(_faults(problem.detail, ""))
        sentence = _("What was sent is not right: see the errors.")
        return {**told, "code": "invalid", "detail": sentence, "errors": faults}
    assert isinstance(problem, exceptions.APIException)
    detail = problem.detail
    code = getattr(detail, "code", problem.default_code)
    return {**told, "code": str(code), "detail": str(detail)}


def _faults(detail: Any, pointer: str) -> list[dict[str, str]]:
    """What is wrong, flat, each with its place."""
    if isinstance(detail, dict):
        entries = [
            (pointer if key == "non_field_errors" else f"{pointer}{_step(str(key))}", value)
            for key, value in detail.items()
        ]
        return [fault for place, value in entries for fault in _faults(value, place)]
    if isinstance(detail, list):
        # Of a list that was sent each entry has its own faults, empty where it is right.
        nested = any(isinstance(entry, (dict, list)) for entry in detail)
        return [
            fault
            for place, entry in enumerate(detail)
            for fault in _faults(entry, f"{pointer}/{place}" if nested else pointer)
        ]
    return [{"pointer": pointer, "detail": str(detail)}]


def _step(key: str) -> str:
    """A key as JSON pointers write it (RFC 6901); a parameter of the address stands as it is."""
    return key if key.startswith("?") else "/" + key.replace("~", "~0").replace("/", "~1")


def _plain(status: HTTPStatus, faults: dict[str, str] | None = None) -> JsonResponse:
    """What a status says of itself."""
    code, sentence = SENTENCES.get(status, (status.phrase.lower().replace(" ", "_"), status.phrase))
    return _written(status, code, str(sentence), faults)


def _written(
    status: HTTPStatus, code: str, sentence: str, faults: dict[str, str] | None = None
) -> JsonResponse:
    told: dict[str, Any] = {"title": status.phrase, "status": status.value, "code": code}
    told["detail"] = sentence
    if faults:
        told["errors"] = [{"pointer": place, "detail": fault} for place, fault in faults.items()]
    return JsonResponse(told, status=status, content_type=MEDIA_TYPE)
