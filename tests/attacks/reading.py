"""Parse pages like a browser: find code that would run, and the forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

# Every payload contains this mark and a letter, so that its result can be recognized.
MARK = "zq"
# Payloads for texts that are not escaped: they close an attribute, a raw-text element or a comment,
# add an element or attribute that runs code, or contain template syntax.
PAYLOADS = (
    "\"'><zqa zqb=1 onerror=zqc()>",
    "</textarea></title></script></style>--><script>zqd()</script><svg/onload=zqe()>",
    "<img src=x onerror=zqf()><a href=javascript:zqg()>",
    "{{ zqh|safe }}{% zqi %}${zqj}",
    "' onmouseover=zqk() style=zql:1 x='",
)
# A payload for columns with short texts.
SHORT = "\"'><zqa onerror=zqc()>"
ALL = " ".join(PAYLOADS)

_ADDRESSES = {"href", "src", "action", "formaction", "data", "srcdoc", "poster", "xlink:href"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag.startswith(MARK):
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            address = (value or "").strip().lower()
            if MARK in name or name.startswith("on") or name in {"style", "srcdoc"}:
                self.found.append(f"<{tag} {name}>")
            if name in _ADDRESSES and (
                address.startswith(("javascript:", "data:", "vbscript:", "//"))
            ):
                self.found.append(f"<{tag} {name}={address[:40]}>")
        if tag in {"iframe", "object", "embed", "base"}:
            self.found.append(f"<{tag}>")
        if tag == "script":
            self._open = tag
            named = dict(attrs)
            if "src" not in named and named.get("type") != "application/json":
                self.found.append("<script> without src")

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open and MARK in data and "<" in data:
            self.found.append(f"<script> holds {data[:60]!r}")

    def handle_comment(self, data: str) -> None:
        if MARK in data:
            self.found.append("a comment holds a payload")


def find_running_code(page: str) -> list[str]:
    """Return everything in a page that would run or that a payload created; [] for a good page."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return list(dict.fromkeys(reader.found))


@dataclass
class Form:
    """A form of a page: its address, its method, and the unchanged values of its fields."""

    action: str
    method: str
    fields: dict[str, list[str]] = field(default_factory=dict)
    # The names of file fields.
    files: list[str] = field(default_factory=list)
    # The names of submit buttons, with all their values.
    buttons: dict[str, list[str]] = field(default_factory=dict)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: list[Form] = []
        self._by_id: dict[str, Form] = {}
        self._here: Form | None = None
        self._select: tuple[Form, str] | None = None
        self._area: tuple[Form, str] | None = None
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._here = Form(attributes.get("action", ""), attributes.get("method", "get").lower())
            self.forms.append(self._here)
            if "id" in attributes:
                self._by_id[attributes["id"]] = self._here
            return
        form = self._by_id.get(attributes["form"]) if "form" in attributes else self._here
        name = attributes.get("name", "")
        if form is None or not name:
            if tag == "option" and self._select is not None:
                self._option(attributes)
            return
        if tag == "input":
            kind = attributes.get("type", "text")
            if kind == "file":
                form.files.append(name)
            elif kind == "submit":
                form.buttons.setdefault(name, []).append(attributes.get("value", ""))
            elif kind not in {"checkbox", "radio"} or "checked" in attributes:
                plain = "on" if kind in {"checkbox", "radio"} else ""
                form.fields.setdefault(name, []).append(attributes.get("value", plain))
            else:
                form.fields.setdefault(name, [])
        elif tag == "button":
            form.buttons.setdefault(name, []).append(attributes.get("value", ""))
        elif tag == "select":
            form.fields.setdefault(name, [])
            self._select = (form, name)
        elif tag == "textarea":
            self._area, self._text = (form, name), ""

    def _option(self, attributes: dict[str, str]) -> None:
        assert self._select is not None
        form, name = self._select
        if "selected" in attributes or not form.fields[name]:
            form.fields[name] = [attributes.get("value", "")]

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._here = None
        elif tag == "select":
            self._select = None
        elif tag == "textarea" and self._area is not None:
            form, name = self._area
            form.fields.setdefault(name, []).append(self._text.removeprefix("\n"))
            self._area = None


def forms(page: str) -> list[Form]:
    """Return every form of a page."""
    reader = _Forms()
    reader.feed(page)
    reader.close()
    return reader.forms
