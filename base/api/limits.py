"""Limits of API requests: JSON only, a maximum size, throttles."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from json import JSONDecodeError
from typing import IO, Any

from django.core.cache import caches
from rest_framework.exceptions import ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import JSONParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.throttling import UserRateThrottle
from rest_framework.views import APIView

from base.api.problems import TooLarge

log = logging.getLogger(__name__)


# Enough for a hundred entries with long notes. Files have their own resources.
MAX_BODY = 2_621_440


SAFE = {"GET", "HEAD", "OPTIONS"}


class AlwaysJson(BaseContentNegotiation):
    """Content negotiation that always answers in JSON."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """Return the first parser for the request's content type, or None."""
        media = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == media), None)

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the first renderer, ignoring the Accept header."""
        return renderers[0], renderers[0].media_type


class LimitedJsonParser(JSONParser):
    """A JSON parser with a size limit."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Parse the body; 413 if it is too large, 400 if it is not JSON or nested too deeply."""
        request = (parser_context or {})["request"]
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdecimal() or int(length[:20]) > MAX_BODY:
            most = f"{MAX_BODY:,}"
            raise TooLarge(f"A request may have at most {most} bytes.")
        try:
            return super().parse(stream, media_type, dict(parser_context or {}))
        except ParseError as error:
            if isinstance(error.__context__, JSONDecodeError):
                raise
            # Else the sentence is Python's own: about bytes, or about the digits of a number.
            raise ParseError(
                "This is not JSON in UTF-8, or a number in it is NaN or has thousands of digits."
            ) from error
        except RecursionError as error:
            raise ParseError("This is nested too deeply.") from error


class Throttle(UserRateThrottle, ABC):
    """A limit on one person's requests, by the rate that the settings give for `scope`."""

    cache = caches["rates"]

    def get_rate(self) -> str | None:
        """Return the current rate."""
        rates: dict[str, Any] = api_settings.DEFAULT_THROTTLE_RATES
        rate: str | None = rates[str(self.scope)]
        return rate

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Return whether the request is within the rate; requests not counted always are."""
        if not self.applies_to(request):
            return True
        try:
            return super().allow_request(request, view)
        except Exception:  # whatever the cache's client raises
            # Judging goes on while the cache that counts requests is down.
            log.warning("rates cannot be counted now", exc_info=True)
            return True

    @abstractmethod
    def applies_to(self, request: Request) -> bool:
        """Return whether a request counts toward this limit."""
