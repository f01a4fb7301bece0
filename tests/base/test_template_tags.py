"""The template tags show the values they are given, and never let people's text run as code."""

from __future__ import annotations

import datetime
from types import SimpleNamespace

import pytest
from django.template import Context, Template, TemplateSyntaxError
from django.test import RequestFactory

from agreement.coefficient import Coefficient, Interval
from annotate.models import Preferences
from base.tags import figures
from base.tags.figures import (
    browser_name,
    characters,
    duration,
    interval,
    interval_plot,
    local_time,
    percent,
    percent_of,
    share_bar,
    stacked_bar,
)
from base.tags.frame import STATES, badge
from base.tags.grades import grade_badge, grade_mark, grade_tone
from base.tags.texts import diff_marks, narrative_marks, paragraphs
from base.word_diff import diff
from tests import factories
from tests.pages import shows

AGENTS = {
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0"
    " Safari/537.36": "Chrome 140 on Linux",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0": "Edge 140 on Windows",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:143.0) Gecko/20100101 Firefox/143.0": (
        "Firefox 143 on macOS"
    ),
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like"
    " Gecko) Version/18.6 Mobile/15E148 Safari/604.1": "Safari 18 on iPhone",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0"
    " Mobile Safari/537.36": "Chrome 140 on Android",
    "rejudge-client/0.1": "rejudge-client/0.1",
    "": "",
}
GRADES = [
    SimpleNamespace(value=0, name="Not relevant"),
    SimpleNamespace(value=1, name="Relevant"),
    SimpleNamespace(value=2, name="Highly relevant"),
]
MOMENT = datetime.datetime(2026, 11, 21, 12, 3, 7, tzinfo=datetime.UTC)


def coefficient(value, interval=None, note=""):
    return Coefficient(
        name="Cohen's kappa",
        method="plain",
        value=value,
        note=note,
        interval=interval,
        interval_note="",
        units=10,
        excluded=(),
        raters=2,
        pairs=1,
        categories=(0, 1),
    )


def render(source, **context):
    return Template(source).render(Context(context))


def test_a_time_shows_its_zone_and_has_a_value_for_the_script():
    shown = local_time(MOMENT)

    assert shown == (
        '<time datetime="2026-11-21T12:03:07Z" data-local="datetime">21 Nov 2026, 12:03 UTC</time>'
    )


def test_a_time_in_another_zone_is_shown_in_utc():
    east = datetime.timezone(datetime.timedelta(hours=3))
    moment = datetime.datetime(2026, 11, 22, 1, 3, 7, tzinfo=east)

    shown = local_time(moment, "time")

    assert shown == '<time datetime="2026-11-21T22:03:07Z" data-local="time">22:03:07 UTC</time>'


def test_a_time_stored_as_text_is_parsed():
    assert local_time("2026-11-21T12:03:07+00:00", "date") == (
        '<time datetime="2026-11-21T12:03:07Z" data-local="date">21 Nov 2026</time>'
    )


def test_no_time_is_a_dash():
    assert local_time(None) == "–"


def test_an_unknown_style_of_time_is_refused():
    with pytest.raises(TemplateSyntaxError, match="no style 'year'"):
        local_time(MOMENT, "year")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.004, "0.1 s"),
        (0.4, "0.4 s"),
        (0.96, "1 s"),
        (8.4, "8 s"),
        (59.6, "1 min"),
        (185, "3 min"),
        (3_599, "1 h 0 min"),
        (7_500, "2 h 5 min"),
    ],
)
def test_a_duration_is_shown_as_an_estimate(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0, "0%"),
        (0.004, "1%"),
        (0.437, "44%"),
        (0.996, "99%"),
        (1, "100%"),
        (None, "–"),
    ],
)
def test_only_an_exact_share_is_shown_as_0_or_100_percent(share, shown):
    assert percent(share) == shown


def test_a_share_of_nothing_is_a_dash():
    assert percent_of(0, 0) == "–"


def test_a_coefficient_has_three_digits_and_a_real_minus():
    assert figures.coefficient(coefficient(0.5)) == "0.500"
    assert figures.coefficient({"value": -0.0394}) == "−0.039"


def test_an_undefined_coefficient_says_why():
    undefined = coefficient(None, note="undefined: only one category was used")

    assert figures.coefficient(undefined) == (
        '<span class="muted">undefined: only one category was used</span>'
    )
    assert interval(undefined) == "–"
    assert interval_plot(undefined) == ""


def test_an_interval_is_read_from_a_record_and_from_its_stored_forms():
    computed = coefficient(0.5, Interval(-0.1, 0.75))

    assert interval(computed) == "−0.100 to 0.750"
    assert interval({"interval": [-0.1, 0.75]}) == "−0.100 to 0.750"
    assert interval({"interval": {"low": -0.1, "high": 0.75}}) == "−0.100 to 0.750"


def test_an_interval_is_drawn_at_its_position_on_the_line():
    drawn = interval_plot({"value": 0.4, "interval": [-0.5, 0.7]})

    assert '<line class="zero" x1="16.67" x2="16.67"' in drawn
    assert '<line class="span" x1="0.00" x2="75.00"' in drawn
    assert '<line class="point" x1="50.00" x2="50.00"' in drawn


@pytest.mark.parametrize(
    ("value", "tone"), [(0, "tone-0"), (1, "tone-2"), (2, "tone-4"), (16, "tone-none")]
)
def test_grades_are_spread_over_the_tones(value, tone):
    assert grade_tone(value, GRADES) == tone


def test_two_grades_are_the_first_and_the_last_tone():
    two = GRADES[:2]

    assert [grade_tone(grade.value, two) for grade in two] == ["tone-0", "tone-4"]


def test_every_grade_has_its_own_shape():
    shapes = {grade_mark(grade.value, GRADES) for grade in GRADES}

    assert len(shapes) == 3


def test_the_middle_of_three_grades_is_filled_to_the_middle():
    assert "M2.00 8.00A6 6 0 0 0 14.00 8.00z" in grade_mark(1, GRADES)


def test_a_badge_shows_value_and_name():
    badge = grade_badge(2, GRADES)

    assert '<span class="grade-value">2</span> <span>Highly relevant</span>' in badge


def test_a_relevance_that_is_not_a_grade_is_shown_as_a_number_only():
    badge = grade_badge(16, GRADES)

    assert badge.endswith('<span class="grade-value">16</span></span>')


def test_no_relevance_is_a_dash():
    assert grade_badge(None, GRADES) == "–"


def test_changes_are_marked_and_replacements_have_a_class():
    marked = diff_marks(diff("boats or ships", "boats and big ships"))

    assert marked == ('boats <del>or</del><ins class="instead">and big</ins> ships')


def test_markup_in_a_narrative_stays_text():
    marked = diff_marks([("kept", "<b>"), ("added", "<script>"), ("removed", "&")])

    assert marked == "&lt;b&gt;<ins>&lt;script&gt;</ins><del>&amp;</del>"


def test_a_narrative_that_was_narrowed_shows_its_change():
    marked = narrative_marks(diff("boats of any kind", "boats of any kind with a sail"))

    assert marked == "boats of any kind<ins> with a sail</ins>"


def test_a_rewritten_narrative_has_no_marks():
    marked = narrative_marks(
        diff("Reports on the glaciers.", "A table with the <years> in columns, and no other.")
    )

    assert marked == "A table with the &lt;years&gt; in columns, and no other."


def test_a_short_line_before_a_paragraph_is_its_heading():
    text = "Judging\r\n\r\n0: it does not <help>.\r\n1: it does.\r\n\r\nWhen in doubt, take 0."

    assert paragraphs(text, 2) == (
        '<h2 dir="auto">Judging</h2>\n\n'
        '<p dir="auto">0: it does not &lt;help&gt;.\n1: it does.</p>\n\n'
        '<p dir="auto">When in doubt, take 0.</p>'
    )


@pytest.mark.parametrize(
    "text",
    [
        "Read it all",
        "Read it all.\n\nThen judge by what the document says, and by nothing else, every time.",
        "0 not relevant\n\n1 relevant\n\n2 highly relevant",
        "0 not relevant\n\n1 relevant\n\nWhen in doubt, take 0.",
    ],
)
def test_sentences_and_lists_are_not_headings(text):
    assert "<h3" not in paragraphs(text, 3)


def test_a_bar_lays_its_parts_end_to_end_and_leaves_the_rest():
    bar = render("{% stacked_bar 8 kept=2 dropped=0 disputed=4 %}")

    assert '<rect x="0.000" y="0" width="25.000" height="4" class="part-kept"/>' in bar
    assert '<rect x="25.000" y="0" width="50.000" height="4" class="part-disputed"/>' in bar
    assert "part-dropped" not in bar


def test_a_bar_of_nothing_is_an_empty_track():
    assert "<rect" not in stacked_bar(0, kept=0)


def test_a_share_bar_is_as_long_as_the_share():
    assert 'width="37.50" height="4" data-tally-bar' in share_bar(3, 8)
    assert 'width="0.00" height="4" data-tally-bar' in share_bar(0, 0)


def test_an_unknown_state_raises():
    with pytest.raises(KeyError, match="wonderful"):
        badge("wonderful", "Wonderful")


def test_a_notice_shows_its_content_beside_the_mark_of_its_kind():
    page = Template("{% notice 'error' %}{{ words }} <b>twice</b>{% endnotice %}").render(
        Context({"words": "<i>Nothing</i> is saved"})
    )

    assert 'class="notice notice--error"' in page
    assert "<p>&lt;i&gt;Nothing&lt;/i&gt; is saved <b>twice</b></p>" in page


def test_a_notice_can_be_set_apart():
    page = Template("{% notice 'info' apart=True %}Later{% endnotice %}").render(Context())

    assert 'class="notice notice--info notice--apart"' in page


def test_an_empty_state_says_what_will_be_here_and_how_to_fill_it():
    page = Template(
        "{% empty_state title action='Load' action_url='/l/' %}"
        "Load <b>a file</b>.{% endempty_state %}"
    ).render(Context({"title": "Topics & more"}))

    assert "<h2>Topics &amp; more</h2>" in page
    assert "<p>Load <b>a file</b>.</p>" in page
    assert '<a class="button" href="/l/">Load</a>' in page


def test_an_empty_state_without_an_address_has_no_link():
    page = Template(
        "{% empty_state 'Topics' action='Load' action_url=missing %}"
        "A lead loads them.{% endempty_state %}"
    ).render(Context())

    assert "A lead loads them." in page
    assert "<a" not in page


def test_a_table_shows_the_names_of_its_columns_above_its_rows():
    page = render(
        "{% table 'Name|wide' 'Answers|number' 'Change|hidden'"
        " label=label css='rates' id='people' %}"
        "<tr><td>{{ name }}</td></tr>{% endtable %}",
        label="People & machines",
        name="<b>ada</b>",
    )

    assert shows(page, '<table class="table rates" id="people"><thead>')
    assert shows(
        page, '<th class="wide" scope="col">Name</th><th class="number" scope="col">Answers</th>'
    )
    assert shows(
        page, '<th scope="col"><span class="visually-hidden">Change</span></th></tr></thead>'
    )
    assert shows(page, "<tbody><tr><td>&lt;b&gt;ada&lt;/b&gt;</td></tr></tbody>")
    assert shows(page, 'tabindex="0" role="group" aria-label="People &amp; machines"')


def test_a_table_can_write_out_its_head():
    page = render(
        "{% table labelled_by='title' %}{% if named %}<th>Who</th>{% endif %}"
        "{% rows %}<tr><td>ada</td></tr>{% endtable %}",
        named=True,
    )

    assert shows(page, "<thead><tr><th>Who</th></tr></thead><tbody><tr><td>ada</td></tr></tbody>")
    assert 'aria-labelledby="title"' in page


@pytest.mark.parametrize("state", sorted(STATES))
def test_every_state_has_a_drawing(state):
    assert "<svg" in badge(state, "word")


@pytest.mark.parametrize(
    ("cookie", "theme"), [("dark", "dark"), ("light", "light"), ('"><script>', ""), (None, "")]
)
def test_only_a_known_theme_reaches_the_page(cookie, theme):
    request = RequestFactory().get("/")
    if cookie is not None:
        request.COOKIES["theme"] = cookie

    assert render("{% theme %}", request=request) == theme


@pytest.mark.django_db
@pytest.mark.parametrize(("stored", "theme"), [("light", "light"), ("", ""), (None, "")])
def test_a_signed_in_person_has_their_own_theme_not_the_browsers(stored, theme):
    request = RequestFactory().get("/")
    request.COOKIES["theme"] = "dark"
    request.user = factories.user("ada")
    if stored is not None:
        Preferences.objects.create(user=request.user, theme=stored)

    assert render("{% theme %}", request=request) == theme


def test_a_page_without_a_request_has_no_forced_theme():
    assert render("{% theme %}") == ""


@pytest.mark.parametrize(
    ("count", "words"),
    [(None, "no text"), (1, "1 character"), (0, "0 characters"), (441_022, "441,022 characters")],
)
def test_the_length_of_a_text_is_shown(count, words):
    assert characters(count) == words


@pytest.mark.parametrize(("agent", "words"), AGENTS.items())
def test_a_browser_is_named_by_its_common_name(agent, words):
    assert browser_name(agent) == words
