from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.templatetags.static import static
from whitenoise.middleware import WhiteNoiseMiddleware

from config.static import collect_static


@pytest.fixture
def folder(tmp_path, settings):
    """One source of static files, with one file in it."""
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


def test_a_file_that_is_gone_is_gone_from_the_collection(folder, settings):
    (folder / "old.css").touch()
    collect_static()
    (folder / "old.css").unlink()

    collect_static()

    assert not (settings.STATIC_ROOT / "old.css").exists()


def test_a_browser_keeps_a_collected_file_and_asks_for_it_once(folder, settings, rf):
    # The judge page has an address for each document, and a browser looks for the icon with each.
    (folder / "icon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "config.storage.StaticStorage"}
    }
    collect_static()

    answer = WhiteNoiseMiddleware(lambda _: HttpResponse(status=404))(rf.get(static("icon.svg")))

    assert answer.status_code == 200
    assert answer["Cache-Control"] == "max-age=315360000, public, immutable"
    answer.close()
