"""The client offers every format that the server exports."""

from __future__ import annotations

from typing import get_args

from exporters.models import Export
from rejudge_client.records import ExportFormat


def test_the_client_knows_every_export_format():
    assert list(get_args(ExportFormat)) == Export.Format.values
