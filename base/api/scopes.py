"""The scopes of API tokens; every operation requires one."""

from __future__ import annotations

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Scope(TextChoices):
    """What a token permits; never more than its owner may do."""

    READ = "read", _("Read what you can read")
    JUDGE = "judge", _("Take tasks, rewrite, judge, review and check")
    LEAD = "lead", _("Everything that leads do: people, rules, files, settling, exports")
