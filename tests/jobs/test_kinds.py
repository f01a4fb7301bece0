"""Each kind of job says what runs it."""

from __future__ import annotations

import pytest
from django.utils.module_loading import import_string

from jobs.models import Job, job_kinds, specific
from tests.errands.models import Errand


def test_the_kinds_of_jobs():
    kinds = ["agreement", "errand", "evaluation", "export", "load", "model_run", "pool", "release"]

    assert sorted(job_kinds()) == kinds


@pytest.mark.parametrize("kind", job_kinds().values())
def test_the_work_of_each_kind_can_be_imported(kind):
    assert callable(import_string(kind.WORK))


@pytest.mark.django_db
def test_jobs_are_read_as_rows_of_their_kinds(django_assert_num_queries):
    first, second = (
        Errand.objects.create(),
        Errand.objects.create(length=Errand.Length.LONG_AT_FIRST),
    )

    with django_assert_num_queries(2):
        rows = specific(Job.objects.order_by("-pk"))

    assert rows == [second, first]
    assert [row.project.slug for row in rows] == ["errands", "errands"]
