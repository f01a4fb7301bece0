from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_example_lists_exactly_the_variables_that_are_read():
    read = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', text("config/settings.py")))
    read |= set(re.findall(r"\$\{([A-Z_]+)", text("docker-compose.yml")))

    listed = re.findall(r"^(?:# )?([A-Z_]+)=", text(".env.example"), flags=re.MULTILINE)

    assert {"REJUDGE_DATA", "DATABASE_URL", "REDIS_URL", "POSTGRES_PASSWORD"} <= read
    assert Counter(listed) == dict.fromkeys(read, 1)


def test_the_example_explains_each_variable():
    blocks = text(".env.example").split("\n\n")

    for block in blocks:
        if re.search(r"^(?:# )?[A-Z_]+=", block, flags=re.MULTILINE):
            assert re.match(r"# \S+ \S+", block), block
