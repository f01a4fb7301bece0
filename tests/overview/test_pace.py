"""When the work left will be done: a range estimated from the last days, or why there is none."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.judgments import assignments
from annotate.judgments.completion import judging
from annotate.models import Assignment, Candidate, Flag, InstructionPair, Judgment
from annotate.overview.finish_date import Estimate, Unknown, estimate
from annotate.overview.pace import (
    PACES,
    Calendar,
    Day,
    count_final_flags,
    last_days,
    people_pace,
    person_pace,
    time_estimate,
)
from annotate.overview.progress import people_progress
from tests import factories
from tests.pages import shows

pytestmark = pytest.mark.both_databases

TODAY = date(2026, 11, 20)


def estimated(left: int, done: list[int]) -> Estimate:
    found = estimate(left, done, TODAY)
    assert isinstance(found, Estimate)
    return found


def test_an_even_pace_gives_one_date():
    found = estimated(50, [10, 10, 10, 10, 10, 10, 10])

    assert (found.pace, found.slow, found.fast) == (10.0, 10.0, 10.0)
    assert found.soonest == found.latest == date(2026, 11, 25)


def test_days_that_differ_give_a_range():
    # The mean is 20; the standard deviation of 10 and 30 is 14.142, so that of the mean is 10;
    # t for one degree of freedom is 3.078: the slowest pace is below 0, so there is none.
    wide = estimated(40, [10, 30])
    # Four days: mean 20, deviation 11.547, of the mean 5.774, times 1.638 is 9.457.
    narrower = estimated(40, [10, 30, 10, 30])

    assert (wide.pace, wide.slow, round(wide.fast, 2)) == (20.0, 0.0, 50.78)
    assert (wide.soonest, wide.latest) == (date(2026, 11, 21), None)
    assert (round(narrower.slow, 2), round(narrower.fast, 2)) == (10.54, 29.46)
    # 40 / 29.46 is 1.4 days and 40 / 10.54 is 3.8, each counted whole from tomorrow on.
    assert (narrower.soonest, narrower.latest) == (date(2026, 11, 22), date(2026, 11, 24))


@pytest.mark.parametrize(
    ("left", "done", "asked", "why"),
    [
        (0, [], False, Unknown.NOTHING_ASKED),
        (0, [3, 4], True, Unknown.NOTHING_LEFT),
        (5, [0, 0, 0], True, Unknown.NOTHING_DONE),
        (5, [], True, Unknown.NOTHING_DONE),
        (5, [4], True, Unknown.TOO_LITTLE),
        (5, [4, 0, 0], True, Unknown.TOO_LITTLE),
        # Today is the last day: it is not over, so without work it is ignored.
        (5, [4, 0], True, Unknown.TOO_LITTLE),
    ],
)
def test_there_is_no_estimate_without_enough_days(left, done, asked, why):
    assert estimate(left, done, TODAY, asked=asked) == why


def test_an_end_beyond_ten_years_is_not_named():
    found = estimated(1_000_000, [1, 1])

    assert (found.soonest, found.latest) == (None, None)


def test_today_counts_and_the_days_before_the_first_piece_of_work_do_not():
    counts = [0, 0, 5, 0, 7, 100]
    days = [Day(TODAY - timedelta(days=5 - at), count) for at, count in enumerate(counts)]

    assert last_days(days, 7) == [5, 0, 7, 100]
    assert last_days(days, 2) == [7, 100]


def test_a_today_without_work_does_not_slow_the_pace():
    assert estimated(50, [10, 10, 0]) == estimated(50, [10, 10])
    assert estimated(50, [10, 10, 10]).days == 3


@pytest.fixture
def tides(db):
    """One pair with four documents that ada and ben judge; carla leads."""
    project = factories.project()
    query = factories.query(project)
    documents = [factories.candidate(query, f"D{number}") for number in range(4)]
    pair = factories.pair(query)
    ada, ben = factories.member(project, "ada"), factories.member(project, "ben")
    return project, pair, documents, ada, ben, factories.lead(project)


def judged(pair: InstructionPair, candidate, by, at: datetime, **fields) -> Judgment:
    return factories.judgment(factories.altered(pair), candidate, by, at=at, **fields)


@pytest.mark.parametrize(
    ("zone", "days"),
    [
        ("UTC", {date(2026, 11, 18): 1, date(2026, 11, 19): 2}),
        # Half an hour after midnight in Berlin is the evening before in UTC.
        ("Europe/Berlin", {date(2026, 11, 19): 3}),
        # Nepal is off the full hour: its days begin at 18:15 UTC.
        ("Asia/Kathmandu", {date(2026, 11, 19): 2, date(2026, 11, 20): 1}),
    ],
)
def test_days_are_those_of_the_reader(tides, zone, days):
    _, pair, documents, ada, _, carla = tides
    judged(pair, documents[0], ada, datetime(2026, 11, 18, 23, 30, tzinfo=UTC))
    judged(pair, documents[1], ada, datetime(2026, 11, 19, 18, 14, tzinfo=UTC))
    judged(pair, documents[2], ada, datetime(2026, 11, 19, 18, 15, tzinfo=UTC))
    calendar = Calendar.of(ZoneInfo(zone), datetime(2026, 11, 20, 12, tzinfo=UTC))

    (found,) = [one for one in people_pace(carla, calendar) if one.member == ada]

    assert {day.on: day.counting for day in found.days if day.made} == days
    assert len(found.days) == 56
    assert found.days[-1].on == TODAY


def test_answers_that_no_longer_count_are_shown_beside_those_that_do(tides):
    _, pair, documents, ada, _, carla = tides
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    at = now - timedelta(days=1)
    judged(pair, documents[0], ada, at, active_ms=30_000)
    # A superseded judgment, one under an older version, and one loaded from a file.
    judged(pair, documents[1], ada, at, ended_at=now, active_ms=10_000)
    factories.narrative(pair, version=2)
    factories.judgment(factories.altered(pair), documents[2], ada, at=at, source="file")
    factories.judgment(factories.altered(pair), documents[3], ada, at=at, active_ms=50_000)

    (found,) = people_pace(carla, Calendar.of(UTC, now), of=ada)

    (day,) = [day for day in found.days if day.made]
    assert (day.counting, day.other) == (1, 2)
    assert (day.active, day.timed) == (90.0, 3)
    assert found.answered == 2
    assert (found.effort.seconds, found.effort.judgments, found.effort.each) == (50.0, 1, 50.0)
    assert found.active == 90.0


def test_the_time_of_a_judgment_is_that_of_all_answers_to_its_document(tides):
    _, pair, documents, ada, _, carla = tides
    begin = datetime(2026, 11, 19, 12, tzinfo=UTC)
    noted, corrected, undone, flagged = documents[:4]

    def answered(document, minute, active_ms, **fields) -> None:
        at = begin + timedelta(minutes=minute)
        judged(pair, document, ada, at, active_ms=active_ms, **fields)

    def ended(minute) -> dict[str, datetime]:
        return {"ended_at": begin + timedelta(minutes=minute)}

    # A note was added twice: once with a second on the page, once without script.
    answered(noted, 0, 30_000, **ended(1))
    answered(noted, 1, 1_000, **ended(2))
    answered(noted, 2, None)
    # A slip of the finger was undone, and the document judged again.
    answered(corrected, 3, 20_000, **ended(4), withdrawn_at=begin + timedelta(minutes=4))
    answered(corrected, 4, 2_000)
    # Undone for good, or a flag in the end: no judgment, no time of one.
    answered(undone, 5, 90_000, **ended(6), withdrawn_at=begin + timedelta(minutes=6))
    answered(flagged, 7, 70_000, **ended(8))
    under = factories.altered(pair)
    Flag.objects.create(narrative=under, candidate=flagged, annotator=ada, flag="problem")

    (found,) = people_pace(carla, Calendar.of(UTC, begin), of=ada)

    assert (found.answered, found.active) == (3, 213.0)
    assert (found.effort.seconds, found.effort.judgments) == (53.0, 2)
    left = time_estimate(carla, judging(carla.project))
    assert left is not None
    assert (left.each, left.measured) == (26.5, 2)


def test_an_answer_to_a_document_that_was_taken_out_no_longer_counts(tides):
    project, pair, documents, ada, _, carla = tides
    model = factories.machine(project)
    at = datetime(2026, 11, 19, 12, tzinfo=UTC)
    for document in documents[:2]:
        judged(pair, document, ada, at, active_ms=30_000)
        judged(pair, document, model, at)
    calendar = Calendar.of(UTC, datetime(2026, 11, 20, 12, tzinfo=UTC))
    assert person_pace(carla, ada, calendar, PACES[0]).answered == 2

    Candidate.objects.filter(pk=documents[0].pk).update(
        removed_at=timezone.now(), removed_reason="Twice in the pool."
    )

    pace = person_pace(carla, ada, calendar, PACES[0])
    assert (pace.answered, pace.effort.judgments, pace.active) == (1, 1, 60.0)
    assert [(day.counting, day.other) for day in pace.days if day.made] == [(1, 1)]
    progress = {row.member: row.answered for row in people_progress(project)}
    assert (progress[ada], progress[model]) == (1, 1)


def test_an_imported_judgment_is_on_the_day_that_its_file_gives_else_on_none(tides):
    _, pair, documents, ada, _, carla = tides
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    made = datetime(2026, 11, 17, 9, tzinfo=UTC)
    judged(pair, documents[0], ada, now, source="file", made_at=made, active_ms=20_000)
    judged(pair, documents[1], ada, now, source="file")

    (found,) = people_pace(carla, Calendar.of(UTC, now), of=ada)

    assert {day.on: (day.counting, day.active) for day in found.days if day.made} == {
        date(2026, 11, 17): (1, 20.0)
    }
    assert found.answered == 2


def test_a_lead_who_judges_learns_how_many_answers_others_gave_and_nothing_else(tides):
    project, pair, documents, ada, _, carla = tides
    project.overlap_judge = carla.project.overlap_judge = 3
    project.save()
    assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=carla, become_blind=True)
    judged(pair, documents[0], ada, timezone.now(), active_ms=30_000)
    judged(pair, documents[0], carla, timezone.now(), active_ms=10_000)
    under = factories.altered(pair)
    Flag.objects.create(narrative=under, candidate=documents[1], annotator=ada, flag="problem")

    found = {one.member.name: one for one in people_pace(carla, Calendar.of(UTC))}

    # Judgments and final flags are counted together, so this lead cannot tell them apart.
    assert (found["ada"].answered, found["carla"].answered) == (2, 1)
    assert (found["ada"].effort.judgments, found["carla"].effort.judgments) == (0, 1)
    assert found["ada"].days[-1].timed == 0
    assert found["ada"].flags == 0
    assert count_final_flags(carla) == 0


def test_extra_answers_do_not_reduce_the_work_left(tides):
    project, pair, documents, ada, ben, carla = tides
    at = timezone.now()
    under = factories.altered(pair)
    judged(pair, documents[0], ada, at)
    judged(pair, documents[0], ben, at)
    judged(pair, documents[1], ada, at)
    # A third answer to the first document reduces nothing that is wanted elsewhere.
    judged(pair, documents[0], factories.member(project, "dan"), at)
    judged(pair, documents[2], factories.machine(project), at)
    Flag.objects.create(narrative=under, candidate=documents[1], annotator=ben, flag="problem")
    Flag.objects.create(narrative=under, candidate=documents[2], annotator=ada, flag="later")

    found = judging(carla.project)

    # 4 documents x 2 people. The first document has both answers, the third one does not count; the
    # second has a judgment and a final flag; "later" and a machine's judgment are not answers.
    assert (found.wanted, found.answered, found.left) == (8, 4, 4)
    assert count_final_flags(carla) == 1


def test_a_pair_that_was_sent_back_leaves_nothing_to_judge(tides):
    _, pair, documents, ada, _, carla = tides
    judged(pair, documents[0], ada, timezone.now())
    pair.narratives.current().update(sent_back_at=timezone.now(), sent_back_by=carla)

    found = judging(carla.project)

    assert (found.wanted, found.answered, found.left) == (0, 0, 0)


def test_the_page_shows_the_estimate_and_its_basis(tides, client):
    _, pair, documents, ada, _, carla = tides
    now = timezone.now().replace(hour=12)
    for back, candidate in ((1, documents[0]), (2, documents[1])):
        judged(pair, candidate, ada, now - timedelta(days=back), active_ms=60_000)
    client.force_login(carla.user)

    page = client.get(reverse("annotate:progress", args=["tides"])).content.decode()

    # Two judgments in two days, six left: done on the sixth day from now.
    assert shows(page, f"{(now + timedelta(days=6)).day} ")
    assert shows(page, "2 done, 1.0 a day")
    assert shows(page, "answered, of 8 wanted")
    assert shows(page, "1 min per judgment")
    assert shows(page, "6 min</dd>")
    assert page.count('class="counting"') == 4


def test_the_page_of_an_empty_project_explains_what_will_appear(db, client):
    carla = factories.lead(factories.project())
    client.force_login(carla.user)

    page = client.get(reverse("annotate:progress", args=["tides"])).content.decode()

    assert "Nothing to do yet" in page
    assert "No activity yet" in page


def test_one_day_of_work_gives_no_estimate(tides, client):
    _, pair, documents, ada, _, carla = tides
    judged(pair, documents[0], ada, timezone.now() - timedelta(days=1))
    client.force_login(carla.user)

    page = client.get(reverse("annotate:progress", args=["tides"])).content.decode()

    assert "No estimate yet" in page
    assert "An estimate needs two days with work; the last 7 days have one." in page
    # The day had work, but no assignment was finished on it.
    assert "two days on which tasks were done; the last 7 days have none." in page


@pytest.mark.parametrize("days", ["28", "7", "x", "1000"])
def test_the_pace_is_counted_by_the_days_that_are_asked_for(tides, client, days):
    client.force_login(tides[-1].user)

    page = client.get(reverse("annotate:progress", args=["tides"]), {"pace": days})

    chosen = 28 if days == "28" else 7
    assert f'<strong aria-current="true">{chosen} days</strong>' in page.content.decode()


def test_the_page_costs_the_same_however_much_was_done(
    tides, client, django_assert_max_num_queries
):
    _, pair, documents, ada, ben, carla = tides
    for by in (ada, ben):
        assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=by)
        for candidate in documents:
            judged(pair, candidate, by, timezone.now())
    client.force_login(carla.user)

    # Pools, judgments and flags are counted only at the first request.
    with django_assert_max_num_queries(31) as queries:
        client.get(reverse("annotate:progress", args=["tides"]))
    with django_assert_max_num_queries(24):
        client.get(reverse("annotate:progress", args=["tides"]))

    assert not any("documenttext" in query["sql"].lower() for query in queries.captured_queries)
