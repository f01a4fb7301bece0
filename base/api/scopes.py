"""The scopes of API tokens; every operation requires one."""

from __future__ import annotations

from django.db.models import TextChoices


class Scope(TextChoices):
    """What a token permits; never more than its owner may do."""

    READ = "read", "Read what you can read"
    JUDGE = "judge", "Take tasks, rewrite, judge, review and check"
    LEAD = "lead", "Everything that leads do: people, rules, files, settling, exports"
