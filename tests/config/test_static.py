from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings as project_settings
from django.http import HttpResponse
from django.templatetags.static import static
from whitenoise.middleware import WhiteNoiseMiddleware

from config.static import collect_static
from config.static_bundles import join_modules


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


def test_a_collected_file_is_cached_as_immutable(folder, settings, rf):
    # The judge page has an address for each document, and a browser requests the icon at each.
    (folder / "icon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "config.storage.StaticStorage"}
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


def bundle(**sources: str) -> dict[str, str]:
    modules = {f"js/{name}.js": source for name, source in sources.items()}
    return join_modules(modules.__getitem__, list(modules))


def bundle_our_modules() -> dict[str, str]:
    """Return our own modules, bundled as when collected, by name."""
    names = sorted(str(path.relative_to(SOURCES)) for path in (SOURCES / "js").rglob("*.js"))
    return join_modules(lambda name: (SOURCES / name).read_text("utf-8"), names)


def run_with_node(folder: Path, name: str) -> str:
    command = [Path(sys.executable).with_name("node"), folder / name]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write(folder: Path, modules: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    for name, text in modules.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def test_a_page_gets_one_style_sheet_with_all_its_imports(folder, settings):
    (folder / "css").mkdir()
    (folder / "css/all.css").write_text('@import url("a.css");\n@import url("b.css");', "utf-8")
    (folder / "css/a.css").write_text("/* One. */\nmain { margin: 0 }", "utf-8")
    (folder / "css/b.css").write_text("nav { margin: 1px }", "utf-8")
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "config.storage.StaticStorage"}
    }

    collect_static()

    (named,) = (settings.STATIC_ROOT / "css").glob("all.*[0-9a-f].css")
    assert named.read_text("utf-8") == "main{margin:0}nav{margin:1px}"


def test_bundled_modules_run_once_each_in_browser_order(tmp_path):
    sources = {
        "main": 'import "./shared.js";\nconsole.log("main");\n',
        "shared": 'export const order = [];\norder.push("shared");\n',
        "page": 'import { add as append } from "./part.js";\nimport { order } from "./shared.js";\n'
        'append("page");\nconsole.log(await order.join());\n',
        "part": 'import { order } from "./shared.js";\nconst word = "part";\norder.push(word);\n'
        "export function add(word) {\n  order.push(word);\n}\n",
    }
    apart = {f"js/{name}.js": text for name, text in sources.items()}
    write(tmp_path / "apart", apart)
    write(tmp_path / "together", bundle(**sources))

    printed = [run_with_node(tmp_path / where, "js/page.js") for where in ("apart", "together")]

    assert printed[0] == "shared,part,page\n"
    # A page also loads main.js, and modules in that file are not repeated in the other.
    assert printed[1] == "main\nshared,part,page\n"
    assert "shared" not in bundle(**sources)["js/page.js"].replace("js_shared", "")


@pytest.mark.parametrize(
    "source",
    [
        "export default 1;\n",
        "export { a };\n",
        'import * as all from "./b.js";\n',
        'import b from "./b.js";\n',
        'const later = () => import("./b.js");\n',
        "export let changing = 1;\n",
    ],
)
def test_a_module_that_cannot_be_joined_is_an_error(source):
    with pytest.raises(ValueError, match=r"js/a\.js: .* cannot be joined"):
        bundle(a=source, b="")


def test_modules_that_import_each_other_are_an_error():
    with pytest.raises(ValueError, match="imports itself"):
        bundle(a='import "./b.js";\n', b='import "./a.js";\n')


def test_our_own_modules_are_valid_when_bundled(tmp_path):
    modules = bundle_our_modules()
    write(tmp_path, {name: f"() => {{}};\n{text}" for name, text in modules.items()})

    for name in modules:
        command = [Path(sys.executable).with_name("node"), "--check", tmp_path / name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (name, done.stderr)


def test_no_page_loads_a_module_twice():
    """If two files of a page contained the same module, each would have its own state."""
    modules = bundle_our_modules()
    held = {
        name: set(re.findall(r"const (js_\w+)=\(\(\)=>", text)) for name, text in modules.items()
    }
    for template in TEMPLATES.rglob("*.html"):
        modules_used = re.findall(r"static '(js/[^']+)'", template.read_text("utf-8"))
        assert set(modules_used) <= modules.keys(), template.name
        parts = [part for name in {*modules_used, "js/main.js"} for part in held[name]]
        assert sorted(parts) == sorted(set(parts)), template.name


def test_a_static_file_has_no_headers_of_pages(client, folder, settings):
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "config.storage.StaticStorage"}
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
