"""The steps of `bin/release`."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
CHECKSUMS = "SHA256SUMS"


def main() -> None:
    """Make the files of a release, and print them with the next steps."""
    parser = argparse.ArgumentParser(description="Make everything that a release has, in dist/.")
    parser.add_argument("--dry-run", action="store_true", help="make no tag; take any checkout")
    dry_run = parser.parse_args().dry_run
    version = read_version()
    section = find_changes((ROOT / "CHANGELOG.md").read_text("utf-8"), version, dry_run=dry_run)
    if not dry_run:
        refuse_uncommitted(version)
    shutil.rmtree(DIST, ignore_errors=True)
    run("bin/build")
    write_bill_of_materials(version)
    (DIST / f"changes-{version}.md").write_text(section, encoding="utf-8")
    image = describe_image((ROOT / "Dockerfile").read_text("utf-8"), version)
    (DIST / f"image-{version}.json").write_text(json.dumps(image, indent=2) + "\n", "utf-8")
    write_checksums(DIST)
    if not dry_run:
        run("git", "tag", "--annotate", f"v{version}", "--message", f"Rejudge {version}")
    print(f"Rejudge {version}{' (dry run)' if dry_run else ''}, in {DIST}:")
    for path in sorted(DIST.iterdir()):
        print(f"  {path.stat().st_size:>10,} bytes  {path.name}")
    print("Nothing was published. docs/releases.md says how a person does it.")


def read_version() -> str:
    """Return the version of the server, which the client must have too."""
    server, client = (
        tomllib.loads((ROOT / path).read_text("utf-8"))["project"]["version"]
        for path in ("pyproject.toml", "client/pyproject.toml")
    )
    if server != client:
        sys.exit(f"The server has version {server}, the client {client}. Give both the same.")
    return str(server)


def find_changes(changelog: str, version: str, *, dry_run: bool) -> str:
    """Return the section of the changelog about a version; a dry run may find it unreleased."""
    sections = dict(re.findall(r"^## (\S+).*\n((?:(?!^## ).*\n?)*)", changelog, re.MULTILINE))
    section = sections.get(version) or (sections.get("Unreleased") if dry_run else None)
    if not section or not section.strip():
        sys.exit(
            f"CHANGELOG.md has no section “## {version}” with changes. Rename “Unreleased” to "
            f"“{version} (date)”."
        )
    return f"# Rejudge {version}\n\n{section.strip()}\n"


def refuse_uncommitted(version: str) -> None:
    """End if the checkout has changes that are not committed, or the version has its tag."""
    if run("git", "status", "--porcelain"):
        sys.exit("The checkout has changes that are not committed. Commit them first.")
    if run("git", "tag", "--list", f"v{version}"):
        sys.exit(f"The tag v{version} exists already. Raise the version in both pyproject.toml.")


def write_bill_of_materials(version: str) -> None:
    """List the locked libraries with their hashes, as CycloneDX."""
    target = DIST / f"rejudge-{version}.cdx.json"
    run(
        *(sys.executable, "-m", "cyclonedx_py", "requirements", "requirements.lock"),
        *("--pyproject", "pyproject.toml", "--output-reproducible", "--output-file", str(target)),
    )


def describe_image(dockerfile: str, version: str) -> dict[str, Any]:
    """Return what the image is made of and how it runs, with the labels of the OCI."""

    def all_of(instruction: str) -> list[str]:
        return re.findall(rf"^{instruction} (.+)$", dockerfile, re.MULTILINE)

    return {
        "labels": {
            "org.opencontainers.image.title": "Rejudge",
            "org.opencontainers.image.version": version,
            "org.opencontainers.image.licenses": "GPL-3.0-or-later",
            "org.opencontainers.image.base.name": all_of("FROM")[-1],
        },
        "wheel": f"rejudge-{version}-py3-none-any.whl",
        "user": all_of("USER")[-1],
        "ports": all_of("EXPOSE"),
        "volumes": all_of("VOLUME"),
        "command": json.loads(all_of("CMD")[-1]),
    }


def write_checksums(folder: Path) -> None:
    """Write the SHA-256 of every file of a folder, as `sha256sum --check` reads them."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.iterdir())
        if path.name not in (CHECKSUMS, ".gitignore")
    ]
    (folder / CHECKSUMS).write_text("".join(lines), encoding="ascii")


def run(*command: str) -> str:
    """Run a program in the checkout, and return what it prints; end with its errors if it fails."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
