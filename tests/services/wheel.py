"""The wheel, made as `bin/build` makes it, and environments with the libraries of the tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from importlib.metadata import Distribution
from pathlib import Path

from django.conf import settings

PACKAGES = Path(sysconfig.get_paths()["purelib"])


def build_documentation(folder: Path) -> None:
    """Make the documentation's pages in a folder, as `bin/docs` does."""
    _run("properdocs", "build", "--strict", "--site-dir", str(folder), cwd=settings.BASE_DIR)


def build_wheel(checkout: Path, documentation: Path) -> None:
    """Make the wheel in `dist` of a copy of the checkout, as `bin/build` does."""
    left_out = shutil.ignore_patterns(".git", ".venv", ".*_cache", "tests", "help", "dist")
    shutil.copytree(settings.BASE_DIR, checkout, ignore=left_out)
    shutil.copytree(documentation, checkout / "help")
    _run("hatchling", "build", "--target", "wheel", cwd=checkout)


def _run(*program: str, cwd: Path) -> None:
    made = subprocess.run([sys.executable, "-m", *program], cwd=cwd, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr


def files_of(library: Distribution) -> list[Path]:
    """Return the installed files of a library in the tests' folder of packages."""
    paths = (Path(str(library.locate_file(file))) for file in library.files or [])
    return [path for path in paths if path.is_relative_to(PACKAGES) and path.exists()]


def link_libraries(libraries: Iterable[Distribution], packages: Path) -> None:
    """Make libraries of the tests visible in another environment's folder of packages.

    What describes them is copied, because uv takes no link for a description.
    """
    names = {path.relative_to(PACKAGES).parts[0] for of in libraries for path in files_of(of)}
    for name in names:
        if name.endswith(".dist-info"):
            shutil.copytree(PACKAGES / name, packages / name, dirs_exist_ok=True)
        elif not (packages / name).exists():
            (packages / name).symlink_to(PACKAGES / name)
