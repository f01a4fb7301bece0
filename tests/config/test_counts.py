from __future__ import annotations

import os
import subprocess
import sys

from config.metric_files import new_folder


def test_a_metrics_folder_belongs_to_its_process_only(tmp_path):
    folder = new_folder(tmp_path)

    assert folder.name.startswith(f"rejudge-metrics-{os.getpid()}-")
    assert folder.stat().st_mode & 0o777 == 0o700


def test_only_folders_of_ended_processes_are_deleted(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f"rejudge-metrics-{ended.pid}-abc"
    left.mkdir()
    (left / "counter_1.db").write_bytes(b"x")
    (tmp_path / "something-else").mkdir()
    mine = new_folder(tmp_path)

    second = new_folder(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [mine.name, second.name, "something-else"]
    )
