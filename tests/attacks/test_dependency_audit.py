"""The audit of dependencies reports packages as clean only if it asked about them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from django.conf import settings

from tests.services.vulnerabilities import CLEAN, KNOWN, NOT_CHECKED, audit, read

CHECKED = {"name": "django", "version": "5.2", "vulns": []}
UNCHECKED = {"name": "celery", "skip_reason": "Dependency not found on PyPI"}
VULNERABLE = {
    "name": "django",
    "version": "5.2",
    "vulns": [{"id": "PYSEC-2025-1", "fix_versions": ["5.2.1"], "aliases": []}],
}


def test_an_audit_of_all_packages_without_a_vulnerability_is_clean():
    assert read([CHECKED]) == (CLEAN, "1 of 1 packages were checked")


def test_an_unchecked_package_is_neither_clean_nor_a_failure():
    how, words = read([CHECKED, UNCHECKED])

    assert how == NOT_CHECKED
    assert words == "1 of 2 packages were checked\nNOT CHECKED: celery"


def test_an_audit_that_checked_no_package_says_so():
    how, words = read([UNCHECKED])

    assert how == NOT_CHECKED
    assert words.startswith("NOTHING WAS CHECKED")


def test_no_packages_are_not_clean():
    assert read([]).how == NOT_CHECKED


def test_a_vulnerability_fails_the_audit_even_if_other_packages_were_not_checked():
    how, words = read([VULNERABLE, UNCHECKED])

    assert how == KNOWN
    assert words.startswith("django 5.2: PYSEC-2025-1, fixed in 5.2.1\n")


def test_an_unreachable_service_is_reported(tmp_path: Path):
    lock = tmp_path / "one.lock"
    lock.write_text("six==1.16.0 --hash=sha256:" + "0" * 64 + "\n")

    how, words = audit(lock, "--vulnerability-service", "osv", "--osv-url", "http://127.0.0.1:9/")

    assert how == NOT_CHECKED
    assert words.startswith("NOTHING WAS CHECKED")


def test_an_audit_that_takes_too_long_is_reported(tmp_path: Path):
    lock = tmp_path / "one.lock"
    lock.write_text("six==1.16.0 --hash=sha256:" + "0" * 64 + "\n")

    assert audit(lock, longest=0.01) == (
        NOT_CHECKED,
        "NOTHING WAS CHECKED: no answer within 0.01 s",
    )


def test_the_check_script_runs_the_audit_and_reports_its_result(tmp_path: Path):
    script = (Path(settings.BASE_DIR) / "bin" / "check").read_text(encoding="utf-8")

    assert "tests.services.vulnerabilities" in script
    begin = script.index("# Runs the audit")
    end = script.index("}\n", begin) + 2
    ending = 'audit_dependencies\nprintf "failed:%s" "$failed"'
    for code, shown in ((0, "ok"), (1, "FAILED"), (3, "NOT CHECKED")):
        fake = tmp_path / "python"
        fake.write_text(f"#!{sys.executable}\nprint('audit output')\nraise SystemExit({code})\n")
        fake.chmod(0o755)
        begun = f"scratch={tmp_path} python={fake} failed=\n"
        ran = subprocess.run(
            ["sh", "-euc", f"{begun}{script[begin:end]}{ending}"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert shown in ran.stdout
        assert ("vulnerabilities" in ran.stdout.partition("failed:")[2]) is (code == 1)
        assert ("audit output" in ran.stdout) is (code != 0)
