"""A span that begins or ends within a word is widened to the whole word."""

from __future__ import annotations

from django.templatetags.static import static

# A text, the selected UTF-16 units, and the part that is marked.
SNAPPED = [
    ("The tide drives", 5, 6, "tide"),
    ("The tide drives", 3, 10, " tide drives"),
    ("The tide drives", 0, 15, "The tide drives"),
    ("It doesn't count.", 5, 7, "doesn't"),
    ("Nobody counts it.", 16, 17, "."),
    ("🏭 plant 🌊", 4, 5, "plant"),
    ("🏭 plant 🌊", 9, 11, "🌊"),
    ("تعمل المحطة بالمد", 6, 7, "المحطة"),
    ("la cafe\u0301 noire", 4, 5, "cafe\u0301"),
]


def test_a_span_snaps_to_the_words_of_every_script_and_stays_within_the_text(page):
    page.goto("/accounts/login/")

    found = page.evaluate(
        """async ([address, cases]) => {
            const { Words } = await import(address);
            return cases.map(([text, start, end]) => {
                const span = new Words(text, "en").snapped([start, end]);
                return text.slice(...span);
            });
        }""",
        [static("js/judging/choosing.js"), SNAPPED],
    )

    assert found == [marked for *_, marked in SNAPPED]
