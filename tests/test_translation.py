"""Every word on a page goes through gettext, and the translation tools find it."""

from __future__ import annotations

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext
from django.utils.translation.template import templatize

ROOT = Path(settings.BASE_DIR)
FOLDER = ROOT / "templates"
TEMPLATES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.html"))

# The same in every language: the product's name, the label of a key, the name of a checksum.
NAMES = {"Rejudge", "Esc", "sha"}
SPOKEN = {"aria-label", "aria-description", "title", "placeholder", "alt"}
COMMENT = re.compile(r"\{% comment .*?%\}.*?\{% endcomment %\}|\{#.*?#\}", re.DOTALL)
BLOCK = re.compile(r"\{% blocktranslate\b.*?\{% endblocktranslate %\}", re.DOTALL)
# The block of base.html that holds attributes of <body>.
ATTRIBUTES = re.compile(r"\{% block body %\}.*?\{% endblock %\}", re.DOTALL)
TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
WORD = re.compile(r"[^\W\d_]{2,}")


class VisibleText(HTMLParser):
    """Collect what a reader sees or hears of a template whose tags were removed."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in SPOKEN and value]


def untranslated(source: str) -> list[str]:
    """Return the words that a template shows outside its translation tags."""
    for pattern in (COMMENT, BLOCK, ATTRIBUTES):
        source = pattern.sub("", source)
    visible = VisibleText()
    visible.feed(TAG.sub("", source))
    visible.close()
    return [word for text in visible.found for word in WORD.findall(text) if word not in NAMES]


def test_every_word_of_a_template_can_be_translated():
    found = {name: untranslated((FOLDER / name).read_text("utf-8")) for name in TEMPLATES}

    assert {name: words for name, words in found.items() if words} == {}
    assert len(found) > 100


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("<p>Saved</p>", ["Saved"]),
        ('<p aria-label="The row">{% translate "Row" %}</p>', ["The", "row"]),
        ("<p>{% blocktranslate %}Saved {{ at }}{% endblocktranslate %}</p>", []),
        ("{% comment %}What it is{% endcomment %}{# and why #}<kbd>Esc</kbd> · 5 x", []),
        ('<p {% if a %}class="open"{% endif %} title="{% translate "Row" %}">{{ words }}</p>', []),
    ],
)
def test_words_outside_the_translation_tags_are_found(source, words):
    assert untranslated(source) == words


def test_the_tools_extract_the_words_of_every_template():
    left, plurals = {}, {}
    for name in TEMPLATES:
        source = COMMENT.sub("", (FOLDER / name).read_text("utf-8"))
        wanted = re.findall(r"""\{% translate ('[^']*'|"[^"]*")""", source)
        taken = templatize((FOLDER / name).read_text("utf-8"), origin=name).replace("%%", "%")
        if words := [one for one in wanted if f"gettext(u{one[1:-1]!r})" not in taken]:
            left[name] = words
        counts = taken.count("ngettext("), len(re.findall(r"\{% blocktranslate count", source))
        if counts[0] < counts[1]:
            plurals[name] = counts

    assert left == {}
    assert plurals == {}


def test_no_message_is_used_both_with_and_without_a_plural():
    """One catalogue entry cannot be both, and the tools stop with an error."""
    quoted = r"(u'(?:[^'\\]|\\.)*'|u\"(?:[^\"\\]|\\.)*\")"
    taken = "".join(templatize((FOLDER / name).read_text("utf-8")) for name in TEMPLATES)
    alone = set(re.findall(rf"(?<!n)gettext\({quoted}\)", taken))
    with_plural = set(re.findall(rf"ngettext\({quoted}, *{quoted}", taken))

    assert {one for one, _ in with_plural} & alone == set()
    assert len(with_plural) == len({one for one, _ in with_plural})
    assert with_plural


def sentences() -> dict[str, list[ast.Call]]:
    """Return every call of gettext in Python by file: `_`, `gettext`, `ngettext`, lazy ones."""
    called = {"_", "_now", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy", "pgettext"}
    found: dict[str, list[ast.Call]] = {}
    for room in ("base", "annotate", "audit", "exporters", "keeping", "jobs", "config"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in called:
                    found.setdefault(str(path.relative_to(ROOT)), []).append(node)
    return found


def test_the_tools_can_extract_every_message_in_python():
    """The tools find only string literals, not strings that are computed."""
    unreadable = [
        f"{path}:{call.lineno}"
        for path, calls in sentences().items()
        for call in calls
        if not (isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str))
    ]

    assert unreadable == []
    assert "base/keymap.py" in sentences()


def test_messages_and_errors_go_through_gettext():
    """The sentences of Refused and Stale, of messages, and of form errors."""
    bare = []
    for room in ("base", "annotate", "audit", "exporters"):
        # Management commands address administrators, in English, as Django's own do.
        pages = (path for path in (ROOT / room).rglob("*.py") if "management" not in path.parts)
        for path in sorted(pages):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                output = _message_of(node) if isinstance(node, ast.Call) else None
                if isinstance(output, ast.JoinedStr | ast.Constant):
                    bare.append(f"{path.relative_to(ROOT)}:{output.lineno}")

    assert bare == []


def _message_of(call: ast.Call) -> ast.expr | None:
    """Return the sentence that a call shows to a person, or None if it shows none."""
    whole = ast.unparse(call.func)
    if whole in {"Refused", "Stale", "ValidationError", "forms.ValidationError", "Todo"}:
        return call.args[0] if call.args else None
    if whole.startswith("messages.") and len(call.args) > 1:
        return call.args[1]
    return None


def test_english_is_shipped_and_needs_no_catalogue():
    with translation.override("en"):
        assert gettext("Choose light, dark, or the same as the system.").startswith("Choose")
    # A second language would need catalogues.
    assert settings.USE_I18N is (len(settings.LANGUAGES) > 1)


def test_pages_are_in_one_language_whatever_the_browser_prefers(db, client):
    page = client.post("/accounts/login/", {"login": ""}, headers={"accept-language": "de"})

    assert b'<html lang="en">' in page.content
    assert b"This field is required." in page.content
