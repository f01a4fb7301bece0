from __future__ import annotations

import os
import time

from celery import shared_task
from django.db.models import F

from jobs.runner import Progress, run
from tests.errands.models import Errand


@shared_task(name=Errand.task)
def go(pk: int) -> None:
    run(Errand, pk, work)


def work(errand: Errand, progress: Progress) -> None:
    Errand.objects.filter(pk=errand.pk).update(begun=F("begun") + 1, process=os.getpid())
    progress.start(3, "Walking")
    progress.advance(3)
    while errand.kind == Errand.Kind.LONG_AT_FIRST and errand.attempts == 1:
        progress.check()
        time.sleep(0.02)
