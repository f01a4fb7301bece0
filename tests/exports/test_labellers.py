"""The card and about.json say which labels are people's and which a machine's, and how good."""

from __future__ import annotations

import json

import pytest

from annotate.models import Run
from audit.machines.certificates import OF_EACH_INSTRUCTION
from audit.models import Endpoint, ModelRun, Prompt, Sample
from config.examples.making import make_example
from exporters.exports.models import Publication
from exporters.exports.selection.labellers import NO_CERTIFICATE, labellers
from tests import factories
from tests.checks.checking import check_label, claimed_scene, draw

pytestmark = pytest.mark.both_databases

PROMPT = "Grade it."
# printf 'Grade it.' | sha256sum
PROMPT_SHA256 = "8e289c03c529f36dbe5fed3bf4d622a90e986969be450125b527006816e3e1c6"


@pytest.fixture
def scene(db):
    """A machine labelled six documents: ada judged A, two people checked B, and C is theirs too."""
    made = claimed_scene({"C1": {"A": 0, "B": 1, "C": 2, "D": 0, "E": 1, "F": 2}})
    for doc_id in ("A", "C"):
        factories.judgment(made.narratives["C1"], made.candidates[doc_id], made.ada, 1)
    for candidate in made.candidates.values():
        candidate.prior_relevance = 1
        candidate.save()
    return made


@pytest.fixture
def checked(scene):
    """The scene with a settled sample: of B, D, E and F people differ from the machine on D."""
    sample = draw(scene, stratify=Sample.Stratify.NONE, size=6)
    for doc_id, grade in {"A": 1, "B": 1, "C": 2, "D": 1, "E": 1, "F": 2}.items():
        check_label(sample, doc_id, ada=grade, ben=grade)
    return scene


def test_labels_are_counted_by_who_gave_them(scene):
    sample = draw(scene, stratify=Sample.Stratify.NONE, size=6)
    check_label(sample, "B", ada=0, ben=0)

    labels = labellers(scene.project)

    # People judged A and C, and checked B; the machine alone labelled D, E and F.
    assert (labels["people"], labels["checked"]) == (2, 1)
    assert [(one["machine"], one["labels"]) for one in labels["machines"]] == [("model", 3)]


def test_a_machine_from_a_file_has_its_name_only(scene):
    [machine] = labellers(scene.project)["machines"]

    assert machine == {
        "labels": 4,
        "machine": "model",
        "model": None,
        "prompt_version": None,
        "prompt_sha256": None,
        "certificates": [NO_CERTIFICATE],
        "circularity": "",
    }


def test_a_project_without_machines_has_labels_of_people_only(tides):
    tides.model.statements.all().delete()

    assert labellers(tides.project)["machines"] == []


def test_the_certificate_is_stated_in_a_sentence(checked):
    [machine] = labellers(checked.project)["machines"]

    # All six were checked: the machine is wrong on A and D, so nothing is uncertain about shares.
    [certificate] = machine["certificates"]
    assert certificate.startswith(
        "“Spot checks”: people checked 6 of 6 labels drawn from 6 labels of this machine. "
    )
    # 72.86%: then at most two of six have a chance of 5%.
    assert "Relevant or not is wrong in at most 72.9% at 95%." in certificate
    assert "Relevant are 66.7% by the machine alone; by people alone 100.0%" in certificate


def test_the_card_names_model_prompt_and_runs_of_the_same_family(scene, write):
    by, project = scene.carla, scene.project
    endpoint = Endpoint.objects.create(
        project=project, server="lab", model="org/Mistral-7B", most_tokens=1, by=by
    )
    prompt = Prompt.objects.create(project=project, version=3, text=PROMPT, by=by)
    ModelRun.objects.create(
        project=project,
        endpoint=endpoint,
        prompt=prompt,
        machine="model",
        draw_seed=1,
        most_tokens=1,
    )
    Run.objects.create(project=project, name="e5-mistral.run", sha256="0" * 64)
    Publication.objects.create(project=project, claims=True)

    card = write(project, "hf")["README.md"]

    assert f"| model | org/Mistral-7B | version 3, sha256 {PROMPT_SHA256} | 4 |" in card
    assert "The run e5-mistral.run names “mistral”, as this machine does" in card
    assert PROMPT not in card
    assert "This data set has no labels of machines." not in card


def test_the_card_says_if_machines_labels_are_not_published(scene, write):
    for name in ("ada", "ben"):
        by = scene.project.memberships.get(name=name)
        factories.judgment(scene.narratives["C1"], scene.candidates["D"], by, 0)
    card = write(scene.project, "hf")["README.md"]

    assert "This data set has no labels of machines." in card


def test_the_card_of_followtables_example_says_whose_labels_it_has(db, write):
    project = make_example(kind="followtable", by=factories.user("carla"))

    about = json.loads(write(project, "hf")["about.json"])
    card = write(project, "hf")["README.md"]

    [machine] = about["labels"]["machines"]
    assert (machine["machine"], machine["model"]) == ("example-claims", None)
    none, certificate = machine["certificates"]
    assert OF_EACH_INSTRUCTION in none
    # Of 4 drawn of each label people found one wrong, one of those claimed to comply.
    assert certificate.startswith(
        "“Four of each label”: people checked 12 of 12 labels drawn from 51 labels of this "
    )
    assert "Relevant are 39.2% by the machine alone; by people alone 29.4%" in certificate
    assert "| example-claims | not known: loaded from a file | - |" in card
    assert none in card
    assert certificate in card
