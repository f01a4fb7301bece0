"""What a request may hold and how often one may come: JSON, its size, the throttle."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import IO, Any

from django.core.cache import caches
from django.utils.translation import gettext as _
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


# A hundred entries with long notes; what is larger was not typed. Files have their own resources.
MAX_BODY = 2_621_440


SAFE = {"GET", "HEAD", "OPTIONS"}


class AlwaysJson(BaseContentNegotiation):
    """Answers are JSON, whatever a program says it would like."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """The first that reads what was sent."""
        media = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == media), None)

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The first."""
        return renderers[0], renderers[0].media_type


class Json(JSONParser):
    """JSON of a size that was typed."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Read it; too large is 413, nested deeper than anything we ask for 400."""
        request = (parser_context or {})["request"]
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdecimal() or int(length[:20]) > MAX_BODY:
            most = f"{MAX_BODY:,}"
            raise TooLarge(_("At most %(most)s bytes are taken at once.") % {"most": most})
        try:
            return super().parse(stream, media_type, dict(parser_context or {}))
        except RecursionError as error:
            raise ParseError(_("This is nested too deeply.")) from error


class Throttle(UserRateThrottle, ABC):
    """How much one person's programs may ask, by the rate of the settings for `scope`."""

    cache = caches["rates"]

    def get_rate(self) -> str | None:
        """The rate as it is set now."""
        rates: dict[str, Any] = api_settings.DEFAULT_THROTTLE_RATES
        rate: str | None = rates[str(self.scope)]
        return rate

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Whether this one is within the rate; those it does not concern are."""
        if not self.concerns(request):
            return True
        try:
            return super().allow_request(request, view)
        except Exception:  # whatever the cache's client raises
            # Who judges goes on where what counts them is away.
            log.warning("rates cannot be counted now", exc_info=True)
            return True

    @abstractmethod
    def concerns(self, request: Request) -> bool:
        """Whether requests of this kind are counted."""
