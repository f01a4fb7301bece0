"""Take back a loaded file of qrels by a program."""

from __future__ import annotations

from rest_framework.request import Request

from annotate.collection import access
from annotate.pools.taking_back import take_back
from base.api.resource import Resource, Scope, writes


class TakingBack(Resource, tag="Loading"):
    """Taking back a load of qrels."""

    @writes(None, status=204, scope=Scope.LEAD)
    def put(self, request: Request, slug: str, load: int) -> None:
        """Undo what a load of qrels wrote, while nothing stands on it."""
        by, upload = access.load(self.person, slug, load)
        take_back(load=upload, by=by)
