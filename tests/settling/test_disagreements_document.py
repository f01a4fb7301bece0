"""docs/disagreements.md agrees with the code."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from annotate.models import Adjudication, Verdict
from audit.reviews.passes import pseudonym
from audit.settling.forms import QueueFilterForm
from audit.settling.queue_filters import Kind


@pytest.fixture(scope="module")
def page():
    return (Path(settings.BASE_DIR) / "docs/disagreements.md").read_text()


def test_every_kind_has_its_line(page):
    table = page[page.index("| kind |") :].split("\n\n")[0].splitlines()[2:]
    kinds = [line.strip("|").split("|")[0].strip() for line in table]

    called = {Kind.VERDICT: "condition"}
    assert kinds == [called.get(kind, kind.value) for kind in Kind]


def test_every_order_cause_and_answer_is_named(page):
    text = " ".join(page.split()).lower()
    for order in ("Farthest apart", "Effect on the result", "Oldest"):
        assert f"**{order.lower()}**" in text
        assert order in str(QueueFilterForm.base_fields["order"].widget.render("order", ""))
    for label in (*Adjudication.Cause.labels, *Verdict.Answer.labels):
        assert str(label).lower().removeprefix("gap in ") in text
    assert f"{pseudonym(0)}".lower() in text
