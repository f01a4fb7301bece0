from __future__ import annotations

import pytest
from django.db import connection

pytestmark = pytest.mark.postgresql


def test_no_statement_is_compiled_even_if_the_server_would(db):
    with connection.cursor() as cursor:
        cursor.execute("SELECT setting, boot_val FROM pg_settings WHERE name = 'jit'")

        assert cursor.fetchone() == ("off", "on")
