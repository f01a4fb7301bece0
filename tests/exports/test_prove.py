"""A written layout is read by the installed tools, and the results are compared."""

from __future__ import annotations

import hashlib
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotate.models import Document, Judgment
from exporters.exports.models import Publication
from exporters.exports.proof import proving
from exporters.exports.proof.plain import Content
from exporters.exports.proof.proving import measure_oracle, prove
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tides, write):
    """Return a function that writes a layout of the project of tides with texts."""
    Publication.objects.create(project=tides.project, texts=True, licence="CC-BY-4.0")
    return lambda layout: write(tides.project, layout).folder


def results(proof):
    return {one["tool"]: one["result"] for one in proof["results"]}


def test_ir_measures_and_pytrec_eval_read_every_grade_of_the_qrels(folder):
    proof = prove(folder("trec"))

    found = results(proof)
    assert (found["ir_measures"], found["pytrec_eval-terrier"]) == ("same", "same")
    assert proof["expected"]["qrels changed"]["count"] == 5
    assert proof["expected"]["qrels original.all"]["count"] == 9
    assert proof["oracle"]["nDCG@10 after"] == 1.0


def test_ids_that_split_in_the_tools_of_python_are_their_result(tides, folder):
    # trec_eval separates columns at blanks and tabs only, these tools at every white space.
    Document.objects.filter(doc_id="B").update(doc_id="a\u00a0b")

    proof = prove(folder("trec"))

    found = results(proof)
    assert (found["ir_measures"], found["pytrec_eval-terrier"]) == ("failed", "failed")
    assert proof["expected"]["qrels changed"]["count"] == 5


def test_ir_datasets_reads_what_the_package_registers(folder):
    pytest.importorskip("ir_datasets")

    assert results(prove(folder("ir-datasets")))["ir_datasets"] == "same"


def test_datasets_reads_each_config(folder):
    pytest.importorskip("datasets")

    for layout in ("mteb", "hf"):
        assert results(prove(folder(layout)))["datasets"] == "same"


def test_the_set_of_reversed_narratives_is_read_as_well(tides, folder):
    pytest.importorskip("datasets")
    reverse = factories.narrative(tides.pair, side="reversed", text="Plants on land.")
    for person in (tides.ada, tides.ben):
        tides.judge(reverse, tides.pool["B"], person, 2)

    for layout in ("mteb", "hf"):
        proof = prove(folder(layout))

        assert results(proof)["datasets"] == "same"
        assert proof["expected"]["reversed qrels changed"]["count"] == 1
        assert proof["expected"]["reversed instructions"]["count"] == 2


def test_a_tool_that_reads_another_grade_in_the_reversed_set_differs(tides, folder, monkeypatch):
    reverse = factories.narrative(tides.pair, side="reversed", text="Plants on land.")
    for person in (tides.ada, tides.ben):
        tides.judge(reverse, tides.pool["B"], person, 2)
    path = folder("mteb")

    def read_another_grade(of):
        qrels = of / "reversed/qrels.jsonl"
        qrels.write_text(qrels.read_text().replace('"B", "score": 2', '"B", "score": 1'))
        return proving.PLAIN["mteb"](of)

    reader = proving.Reader("Django", ("mteb",), read_another_grade)
    monkeypatch.setattr("exporters.exports.proof.proving.READERS", [reader])

    (result,) = prove(path)["results"]

    assert result["result"] == "differs"
    assert result["says"] == [
        "reversed qrels changed: as many as expected, but an id, a text or a grade differs."
    ]


def test_datasets_reads_each_of_two_releases_under_one_name(tides, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    Publication.objects.create(project=tides.project, texts=True, licence="CC-BY-4.0")

    for layout in ("mteb", "hf"):
        grades = []
        for release, relevance in (("one", 0), ("two", 2)):
            of_b = Judgment.objects.filter(candidate=tides.pool["B"], narrative=tides.narrative)
            of_b.update(relevance=relevance)
            path = tmp_path / release / layout
            call_command("export", "tides", layout, "--output", str(path), stdout=StringIO())
            rows = datasets.load_dataset(str(path), "default", split="test")
            grades += [
                row["score"]
                for row in rows
                if (row["query-id"], row["corpus-id"]) == ("301-changed", "B")
            ]
        assert grades == [0, 2]


def test_a_folder_whose_rows_come_from_the_cache_of_datasets_differs(folder):
    pytest.importorskip("datasets")
    path = folder("mteb")
    readme, manifest = path / "README.md", path / "manifest.json"
    before = readme.read_bytes()
    lines = before.splitlines(keepends=True)
    readme.write_bytes(b"".join(line for line in lines if b"sha256" not in line))
    known = manifest.read_text()
    sums = [hashlib.sha256(content).hexdigest() for content in (before, readme.read_bytes())]
    manifest.write_text(known.replace(*sums))

    (result,) = prove(path)["results"]

    assert result["result"] == "differs"


def test_a_tool_that_is_not_installed_is_named_with_its_command(folder, monkeypatch):
    missing = proving.Reader("no-such-tool", ("beir",), lambda _: Content())
    monkeypatch.setattr("exporters.exports.proof.proving.READERS", [missing])

    (result,) = prove(folder("beir"))["results"]

    assert (result["result"], result["says"]) == ("not installed", ["pip install no-such-tool"])


def test_the_command_proves_nothing_without_any_tool(folder, monkeypatch):
    missing = proving.Reader("no-such-tool", ("beir",), lambda _: Content())
    monkeypatch.setattr("exporters.exports.proof.proving.READERS", [missing])

    with pytest.raises(CommandError, match="Nothing is proven: none of these tools is installed"):
        call_command("prove", str(folder("beir")))


def test_a_tool_that_reads_another_grade_differs(folder, monkeypatch):
    def read_another_grade(path):
        found = proving.PLAIN["beir"](path)
        found.parts.pop("qrels changed")
        found.qrels.pop("changed")
        found.add_grade("changed", "301", "B", 2)
        return found

    reader = proving.Reader("Django", ("beir",), read_another_grade)
    monkeypatch.setattr("exporters.exports.proof.proving.READERS", [reader])

    (result,) = prove(folder("beir"))["results"]

    assert result["result"] == "differs"
    assert result["says"][0] == "qrels changed: 1 read, 5 expected."


def test_an_exception_of_a_tool_is_its_result(folder, monkeypatch):
    def raises(path):
        raise KeyError("qid")

    reader = proving.Reader("Django", ("beir",), raises)
    monkeypatch.setattr("exporters.exports.proof.proving.READERS", [reader])

    with pytest.raises(CommandError, match="A tool did not read"):
        call_command("prove", str(folder("beir")), stdout=StringIO())


def test_the_proof_is_written_beside_the_files_and_a_new_export_replaces_it(folder, tides):
    path = folder("beir")
    prove(path)

    assert json.loads((path / "proof.json").read_bytes())["layout"] == "beir"
    call_command("export", "tides", "beir", "--output", str(path), stdout=StringIO())
    assert not (path / "proof.json").exists()


def test_a_changed_file_is_refused(folder):
    path = folder("beir")
    (path / "queries.jsonl").write_text("{}\n")

    with pytest.raises(CommandError, match=r"queries\.jsonl is not the file that the manifest"):
        call_command("prove", str(path))


def test_a_folder_that_no_export_wrote_is_refused(tmp_path):
    with pytest.raises(CommandError, match=r"has no manifest\.json that an export wrote"):
        call_command("prove", str(tmp_path))


def test_an_archive_is_unpacked_before_it_is_proven(tmp_path):
    (tmp_path / "sea-v1-trec.zip").write_bytes(b"PK")

    with pytest.raises(CommandError, match="unpack it and name the folder in it"):
        call_command("prove", str(tmp_path / "sea-v1-trec.zip"))


def test_the_oracle_of_a_proof_has_the_p_mrr_of_a_release_and_that_of_mteb_by_its_own_name():
    # The oracle ranks a b d c before and b c d a after the change.
    qrels = {
        "original": {"q": {"a": 1, "b": 1, "c": 0, "d": 0}},
        "changed": {"q": {"a": 0, "b": 1, "c": 1, "d": 0}},
    }

    values = measure_oracle(qrels, relevant=1, as_mteb=True)

    # a lost relevance and falls from 1 to 4; mteb also counts c, which rises from 4 to 2.
    assert values["p-MRR"] == 1 - 1 / 4
    assert values["p-MRR of mteb"] == ((1 - 1 / 4) + (2 / 4 - 1)) / 2
    assert measure_oracle(qrels, relevant=1)["p-MRR"] == values["p-MRR"]


@pytest.mark.parametrize("relevant", [1, 2])
def test_the_proof_and_the_release_measure_one_oracle(tides, folder, relevant):
    tides.project.relevant_from = relevant
    tides.project.save()
    path = folder("trec")

    proof = prove(path)

    manifest = json.loads((path / "manifest.json").read_bytes())
    released = {
        facts["measure"]: facts["oracle"]
        for facts in manifest["oracles"]["measures"]
        if facts["qrels"] == "qrels.changed.txt"
    }
    assert manifest["relevant_from"] == relevant
    assert proof["oracle"] == {name: released.get(name) for name in proof["oracle"]}
