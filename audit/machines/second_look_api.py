"""API resource of second looks at labels of a machine."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from audit.checks.api.samples import SampleSerializer, sample_rows
from audit.machines.access import machine_for_lead
from audit.machines.second_look import SecondLookForm, take_second_look
from base.api.resource import Resource, Scope, writes


class SecondLooks(Resource, tag="Checks"):
    """Samples of labels of a machine that are in doubt."""

    @writes(SampleSerializer, body=SecondLookForm, scope=Scope.LEAD, status=201)
    def post(self, request: Request, slug: str, machine: int) -> dict[str, Any]:
        """Make a sample of the labels in most doubt, for people who are still blind to them.

        It is not a random sample of the labels. 403 while you are still blind.
        """
        member, row = machine_for_lead(self.person, slug, machine)
        sample = take_second_look(machine=row, by=member, **self.body())
        return sample_rows(member, [sample])[0]
