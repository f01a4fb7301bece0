"""Exports and releases over the API: hidden until complete, every file with its checksum."""

from __future__ import annotations

import hashlib

from annotate.judgments import assignments
from annotate.models import Assignment
from exporters.models import Export, Release
from tests.exports.conftest import make_release
from tests.programs import Program


def content(response) -> bytes:
    return b"".join(response.streaming_content)


def test_an_export_is_requested_and_each_file_matches_its_checksum(tides, published, finish_jobs):
    carla = Program("carla", "lead")

    response = carla.send("POST", "projects/tides/exports/", {"format": "trec"})
    here = f"projects/tides/exports/{response.json()['id']}/"
    early = carla.get(f"{here}files/manifest.json")
    finish_jobs()
    done = carla.get(here).json()

    assert (response.status_code, response.json()["files"], early.status_code) == (201, [], 404)
    assert done["state"] == "done"
    assert done["counts"]["disputed"] == 1
    for entry in done["files"]:
        got = carla.get(f"{here}files/{entry['name']}")
        assert got["Content-Disposition"].startswith("attachment")
        assert hashlib.sha256(content(got)).hexdigest() == entry["sha256"]
    assert content(carla.get(f"{here}archive/")).startswith(b"PK")


def test_a_file_that_is_not_in_the_list_is_not_found(tides, published, finish_jobs):
    carla = Program("carla", "lead")
    made = carla.send("POST", "projects/tides/exports/", {"format": "trec"}).json()["id"]
    finish_jobs()

    for name in ("../manifest.json", "..%2f..%2fmanifest.json", "export.zip/", "none.txt"):
        assert carla.get(f"projects/tides/exports/{made}/files/{name}").status_code == 404, name


def test_two_requests_with_one_idempotency_key_make_one_export(tides, published):
    carla = Program("carla", "lead")
    key = {"Idempotency-Key": "one-export"}

    first, second = (
        carla.send("POST", "projects/tides/exports/", {"format": "jsonl"}, **key) for _ in "12"
    )

    assert first.json() == second.json()
    assert Export.objects.count() == 1


def test_a_lead_who_has_yet_to_judge_gets_no_file(tides, published, finish_jobs):
    carla = Program("carla", "lead")
    made = carla.send("POST", "projects/tides/exports/", {"format": "trec"}).json()["id"]
    finish_jobs()
    tides.project.overlap_judge = 3
    tides.project.save()
    assignments.take(pair=tides.pair, task=Assignment.Task.JUDGE, by=tides.carla, become_blind=True)

    data = carla.get(f"projects/tides/exports/{made}/").json()

    assert (data["counts"], data["files"]) == (None, [])
    assert carla.get(f"projects/tides/exports/{made}/files/manifest.json").status_code == 403
    assert carla.get("projects/tides/release-preview/").status_code == 403
    refused = carla.send("POST", "projects/tides/releases/", {"name": "v1.0"})
    assert refused.status_code == 422
    assert not Release.objects.exists()


def test_a_release_is_made_read_and_cited(tides, published, finish_jobs):
    carla = Program("carla", "lead")

    response = carla.send("POST", "projects/tides/releases/", {"name": "v1.0", "note": "First."})
    taken = carla.send("POST", "projects/tides/releases/", {"name": "V1.0"})
    finish_jobs()
    made = carla.get("projects/tides/releases/v1.0/").json()
    (first, *_rest) = made["files"]
    got = carla.get(f"projects/tides/releases/v1.0/files/{first['name']}")

    assert (response.status_code, taken.status_code) == (201, 422)
    assert (first["name"], first["sha256"]) == ("release.json", made["sha256"])
    assert hashlib.sha256(content(got)).hexdigest() == made["sha256"]
    assert made["sha256"] in made["citation"]


def test_the_comparison_of_two_releases_is_paginated(tides):
    make_release(tides, "v1.0")
    tides.judge(tides.narrative, tides.pool["FT-10"], tides.dan, 0)
    tides.judge(tides.narrative, tides.pool["é"], tides.dan, 2)
    make_release(tides, "v2.0")
    carla = Program("carla", "lead")
    here = "projects/tides/comparisons/v1.0/v2.0/"

    data = carla.get(here).json()
    changes, path = [], f"{here}changes/?show=grades&page_size=1"
    while path:
        page = carla.get(path).json()
        changes += page["results"]
        path = (page["next"] or "").removeprefix("http://testserver/api/v1/")
    table = content(carla.get(f"{here}changes.csv")).decode().splitlines()

    counts = {one["key"]: (one["before"], one["after"]) for one in data["counts"]}
    judgments = counts["judgments_by_people"]
    assert judgments[1] - judgments[0] == 2
    assert [",".join(change.values()) for change in changes] == [
        line for line in table if line.startswith("grade,")
    ]
    assert len(changes) > 1
    nowhere = carla.get(f"{here}changes/?cursor=nowhere")
    assert (nowhere.status_code, nowhere.json()["errors"][0]["pointer"]) == (400, "?cursor")
