"""API for example projects: list the examples and make one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from annotate.projects import access
from annotate.projects.api import FullProjectSerializer
from annotate.projects.models import Membership
from base.api.resource import RequestBody, Resource, Scope, reads, writes
from config.kind_examples.files import Example, kinds_with_examples, read_examples
from config.kind_examples.making import make_example


class SentExample(RequestBody):
    """The kind of the example to make."""

    kind = serializers.ChoiceField(choices=kinds_with_examples())


class Examples(Resource, tag="Projects"):
    """Example projects, one for each kind."""

    @reads(Example, many=True)
    def get(self, request: Request) -> Iterable[Any]:
        """List the examples that you can make."""
        return read_examples()

    @writes(FullProjectSerializer, body=SentExample, status=201, scope=Scope.LEAD)
    def post(self, request: Request) -> Membership:
        """Make an example project of a kind, which you lead; it takes a few seconds."""
        made = make_example(**self.body(), by=self.person)
        return access.member(self.person, made.slug)
