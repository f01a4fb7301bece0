from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from django.conf import settings as project_settings
from django.http import HttpResponse
from django.templatetags.static import static
from whitenoise.middleware import WhiteNoiseMiddleware

from config.static import collect_static


@pytest.fixture
def folder(tmp_path, settings):
    """A source folder of static files with one file in it."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "page.css").write_text("main { color: black }", encoding="utf-8")
    settings.STATICFILES_DIRS = [source]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = tmp_path / "collected"
    return source


def test_static_files_are_collected_once(folder, settings):
    first, second = collect_static(), collect_static()

    assert (first, second) == (True, False)
    assert (settings.STATIC_ROOT / "page.css").exists()


def test_a_changed_file_is_collected_again(folder, settings):
    collect_static()
    (folder / "page.css").write_text("main { color: darkblue }", encoding="utf-8")

    again = collect_static()

    assert again
    assert "darkblue" in (settings.STATIC_ROOT / "page.css").read_text(encoding="utf-8")


def test_a_deleted_file_is_removed_from_the_collection(folder, settings):
    (folder / "old.css").touch()
    collect_static()
    (folder / "old.css").unlink()

    collect_static()

    assert not (settings.STATIC_ROOT / "old.css").exists()


@pytest.mark.django_db
def test_a_collected_file_is_cached_as_immutable(folder, settings, rf):
    # The judge page has an address for each document, and a browser requests the icon at each.
    (folder / "icon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "config.static.StaticStorage"}
    }
    collect_static()

    answer = WhiteNoiseMiddleware(lambda _: HttpResponse(status=404))(rf.get(static("icon.svg")))

    assert answer.status_code == 200
    assert answer["Cache-Control"] == "max-age=315360000, public, immutable"
    answer.close()


def test_no_custom_property_is_used_both_as_a_length_and_as_a_colour():
    # If an element inherits a length instead of a colour, its background becomes transparent.
    sheets = [path.read_text("utf-8") for path in (SOURCES / "css").rglob("*.css")]
    lengths = {
        name
        for sheet in sheets
        for name in re.findall(r"(--[\w-]+):\s*[\d.]+(?:rem|em|px|%|d?vh|d?vw)\s*;", sheet)
    }
    colours = {
        name
        for sheet in sheets
        for name in re.findall(r"(?:background|background-color|color):\s*var\((--[\w-]+)", sheet)
    }

    assert lengths & colours == set()


TEMPLATES = Path(project_settings.BASE_DIR) / "templates"
SOURCES = Path(project_settings.BASE_DIR) / "static"


def test_a_page_gets_one_style_sheet_with_all_its_imports(folder, settings):
    (folder / "css").mkdir()
    (folder / "css/all.css").write_text('@import url("a.css");\n@import url("b.css");', "utf-8")
    (folder / "css/a.css").write_text("/* One. */\nmain { margin: 0 }", "utf-8")
    (folder / "css/b.css").write_text("nav { margin: 1px }", "utf-8")
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "config.static.StaticStorage"}
    }

    collect_static()

    (named,) = (settings.STATIC_ROOT / "css").glob("all.*[0-9a-f].css")
    assert named.read_text("utf-8") == "main{margin:0}nav{margin:1px}"


def imported_modules(*names: str) -> set[str]:
    """Return the names of all modules that these import, also by way of others."""
    imported: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        source = (SOURCES / name).read_text("utf-8")
        for path in re.findall(r'^import (?:.* from )?"(.+)";$', source, re.MULTILINE):
            module = os.path.normpath(Path(name).parent / path)
            if module not in imported:
                imported.add(module)
                waiting.append(module)
    return imported


def test_the_judge_page_preloads_all_modules_that_it_imports():
    source = (TEMPLATES / "judging/_modules.html").read_text("utf-8")

    preloaded = re.findall(r"<link rel=\"modulepreload\" href=\"\{% static '(.+)' %\}\">", source)

    assert sorted(preloaded) == sorted(imported_modules("js/main.js", "js/judging/judge.js"))


def test_a_module_imports_others_by_their_collected_names(folder, settings):
    (folder / "js").mkdir()
    (folder / "js/main.js").write_text('import "./keys.js";\n', "utf-8")
    (folder / "js/keys.js").write_text("export const keys = {};\n", "utf-8")
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "config.static.StaticStorage"}
    }

    collect_static()

    (main,) = (settings.STATIC_ROOT / "js").glob("main.*.js")
    (keys,) = (settings.STATIC_ROOT / "js").glob("keys.*.js")
    assert main.read_text("utf-8") == f'import"./{keys.name}";\n'


@pytest.mark.django_db
def test_a_static_file_has_no_headers_of_pages(client, folder, settings):
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "config.static.StaticStorage"}
    }
    collect_static()

    answer = client.get(static("page.css"))
    answer.close()

    assert sorted({*answer.headers} - {"X-Request-ID"}) == [
        "Cache-Control",
        "Content-Length",
        "Content-Type",
        "Cross-Origin-Resource-Policy",
        "ETag",
        "Last-Modified",
        "Referrer-Policy",
        "X-Content-Type-Options",
    ]
