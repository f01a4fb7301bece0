from __future__ import annotations

import os
import time

from django.db.models import F

from jobs.runner import Progress
from tests.errands.models import Errand


def work(errand: Errand, progress: Progress) -> None:
    Errand.objects.filter(pk=errand.pk).update(begun=F("begun") + 1, process=os.getpid())
    progress.start(3, "Walking")
    progress.advance(3)
    while errand.length == Errand.Length.LONG_AT_FIRST and errand.attempts == 1:
        progress.check()
        time.sleep(0.02)
