"""What checks of a drawn sample certify about a machine's labels; each can be counted by hand."""

from __future__ import annotations

import math

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.models import Run
from audit.checks.claims import ClaimSelection
from audit.checks.figures import figures
from audit.machines.certificates import OF_EACH_INSTRUCTION, SAW_CLAIMS, certificates_of
from audit.machines.origin import circularity_of, family_of, origin_of
from audit.models import Endpoint, ModelRun, Prompt, Sample
from tests import factories
from tests.checks.checking import check_label, claimed_scene, draw
from tests.machines.conftest import LABELS, judge

pytestmark = pytest.mark.both_databases


@pytest.fixture
def scene(db):
    return claimed_scene(LABELS)


@pytest.fixture
def sample(scene):
    """Four of the eight labels, of which the machine finds five relevant. People differ on D.

    The machine grades A 0, B 1, D 2 and E 0; from grade 1 a document is relevant.
    """
    made = draw(scene, stratify=Sample.Stratify.NONE, size=4)
    for doc_id, grade in {"A": 0, "B": 1, "D": 0, "E": 0}.items():
        check_label(made, doc_id, ada=grade, ben=grade)
    return made


@pytest.fixture
def led(sample, scene, client):
    """The scene with its checked sample and the page's address; its lead is signed in."""
    client.force_login(scene.carla.user)
    scene.page = reverse("audit:trust", args=[scene.project.slug, scene.model.pk])
    return scene


def certificate_of(machine):
    """Return the certificate of the machine's only sample."""
    (certificate,) = certificates_of(machine)
    return certificate


def text(response):
    assert response.status_code == 200
    return " ".join(response.getvalue().decode().split())


def test_the_share_is_that_of_the_machine_corrected_by_the_checked_labels(sample, scene):
    certificate = certificate_of(scene.model)

    assert (certificate.labels, certificate.drawn, certificate.checked) == (8, 4, 4)
    certified = certificate.certified
    assert certified.by_machine == 5 / 8
    # Of the four, people find one relevant and the machine two: 5/8 - 1/4.
    assert certified.by_people.value == pytest.approx(1 / 4)
    assert certified.combined.value == pytest.approx(3 / 8)
    # One of four values is another one, both times: their variance is 1/4, that of a mean of four
    # of eight 1/4 / 4 / 2. The quantile of t with 3 degrees is 3.1824.
    reach = 3.1824 * math.sqrt(1 / 32)
    for share in (certified.by_people, certified.combined):
        low, high = share.value - reach, share.value + reach
        assert share.interval == pytest.approx((low, high), abs=1e-4)


def test_the_bound_is_that_of_the_sample(sample, scene):
    certificate = certificate_of(scene.model)

    # At most one wrong label of four has a chance of 5% if 75.14% are wrong: 1/4 is wrong.
    assert certificate.certified.wrong.at_most == pytest.approx(0.7514, abs=1e-4)
    assert certificate.certified.wrong == figures(sample).overall.status


def test_strata_count_by_their_sizes(db):
    scene = claimed_scene({"C1": dict.fromkeys("ABCDEF", 1), "S1": {"G": 1, "H": 0}})
    sample = draw(scene, size=2)
    grades = {"G": 1, "H": 1} | dict(zip(drawn_of(sample, "C1"), (1, 0), strict=True))
    for doc_id, grade in grades.items():
        check_label(sample, doc_id, ada=grade, ben=grade)

    certificate = certificate_of(scene.model)

    certified = certificate.certified
    # One of two labels stands for six of C1, both of S1 are relevant.
    assert certified.by_people.value == pytest.approx(6 / 8 * 1 / 2 + 2 / 8)
    # The machine finds seven relevant; people take off half of C1, and add one of S1's two.
    assert certified.combined.value == pytest.approx(7 / 8 - 6 / 8 * 1 / 2 + 2 / 8 * 1 / 2)
    weighted = figures(sample).weighted
    assert weighted is not None
    assert certified.wrong == weighted.status


def drawn_of(sample, stratum):
    items = sample.items.filter(stratum=stratum)
    return items.values_list("candidate__document__doc_id", flat=True)


def test_labels_that_were_claimed_later_do_not_count(sample, scene):
    before = certificates_of(scene.model)
    query = scene.narratives["C1"].pair.query
    later = factories.candidate(query, "later", text="Body.")
    factories.judgment(scene.narratives["C1"], later, scene.model, 2)

    assert certificates_of(scene.model) == before


def test_nothing_is_certified_before_every_drawn_label_is_settled(scene):
    sample = draw(scene, stratify=Sample.Stratify.NONE, size=4)
    for doc_id in ("A", "B", "E"):
        check_label(sample, doc_id, ada=1, ben=1)
    check_label(sample, "D", ada=1, ben=0)

    certificate = certificate_of(scene.model)

    assert (certificate.checked, certificate.certified) == (3, None)
    assert certificate.note == "1 of 4 drawn labels are not checked or settled yet"


def test_labels_that_nobody_could_judge_count_as_not_drawn(scene):
    sample = draw(scene, stratify=Sample.Stratify.NONE, size=4)
    for doc_id, grade in {"A": 0, "B": 1, "D": 1}.items():
        check_label(sample, doc_id, ada=grade, ben=grade)
    check_label(sample, "E", ada=None, ben=None, dan=None)

    certificate = certificate_of(scene.model)

    assert (certificate.checked, certificate.unjudgeable) == (3, 1)
    assert certificate.certified.by_people.value == pytest.approx(2 / 3)


def test_a_label_that_was_taken_out_before_it_was_checked_counts_as_not_drawn(scene, client):
    sample = draw(scene, stratify=Sample.Stratify.NONE, size=4)
    for doc_id, grade in {"A": 0, "B": 1, "D": 1}.items():
        check_label(sample, doc_id, ada=grade, ben=grade)
    candidate = scene.candidates["E"]
    candidate.removed_at, candidate.removed_reason = timezone.now(), "Not a document."
    candidate.save()
    # What was checked before stays, as nobody is asked about it again.
    checked = scene.candidates["D"]
    checked.removed_at, checked.removed_reason = timezone.now(), "Not a document."
    checked.save()

    certificate = certificate_of(scene.model)

    assert (certificate.note, certificate.checked, certificate.taken_out) == ("", 3, 1)
    assert certificate.certified.by_people.value == pytest.approx(2 / 3)
    client.force_login(scene.carla.user)
    page = text(client.get(reverse("audit:trust", args=[scene.project.slug, scene.model.pk])))
    assert "1 was taken out before being checked, and counts as not drawn." in page


def test_a_figure_that_cannot_be_computed_says_why(scene):
    sample = draw(scene, stratify=Sample.Stratify.NONE, size=4)
    for doc_id in "ABDE":
        check_label(sample, doc_id, ada=None, ben=None, dan=None)

    certificate = certificate_of(scene.model)

    certified = certificate.certified
    for share, note in (
        (certified.wrong.share, certified.wrong.note),
        (certified.by_people.value, certified.by_people.note),
        (certified.combined.value, certified.combined.note),
    ):
        assert share is None
        assert note.startswith("undefined:")
        assert note in certificate.sentence


@pytest.mark.parametrize(
    ("choices", "note"),
    [({"shows_claim": True}, SAW_CLAIMS), ({"per": Sample.Per.INSTRUCTION}, OF_EACH_INSTRUCTION)],
)
def test_some_samples_certify_nothing(choices, note, scene):
    draw(scene, **choices)

    certificate = certificate_of(scene.model)

    assert (certificate.note, certificate.certified) == (note, None)
    assert note in certificate.sentence


def test_each_sample_of_the_machines_labels_is_certified_apart(sample, scene):
    draw(scene, name="All", selection=ClaimSelection(Sample.Source.CLAIMS))
    draw(scene, name="Counts", selection=scene.selection._replace(asks=Sample.Asks.GRADE))
    other = factories.machine(scene.project, "other")

    certificates = certificates_of(scene.model)

    assert [(one.name, one.of_all_machines) for one in certificates] == [
        *(("Spot checks", False), ("All", True), ("Counts", False)),
    ]
    assert [one.name for one in certificates_of(other)] == ["All"]


def test_labels_that_a_lead_checked_are_counted(scene):
    sample = draw(scene, stratify=Sample.Stratify.NONE, size=4)
    check_label(sample, "A", ada=0, carla=0)
    check_label(sample, "B", ada=1, ben=1)

    certificate = certificate_of(scene.model)

    assert certificate.by_leads == 1


def test_a_certificate_needs_as_many_queries_for_more_labels(sample, scene):
    with CaptureQueriesContext(connection) as few:
        certificates_of(scene.model)
    check_label(draw(scene, name="Other", size=4), "G", ada=2, ben=2)

    with CaptureQueriesContext(connection) as more:
        certificates_of(scene.model)

    assert len(more) == len(few) + 2


def test_the_page_shows_the_certificate_that_the_api_returns(led, client):
    page = text(client.get(led.page))
    answer = client.get(reverse("audit:api_trust", args=[led.project.slug, led.model.pk])).json()

    (certificate,) = answer["certificates"]
    assert certificate["certified"]["combined"]["value"] == pytest.approx(0.375)
    assert certificate["certified"]["wrong"]["at_most"] == pytest.approx(0.7514, abs=1e-4)
    assert "At most 75.2%" in page
    assert all(share in page for share in ("62.5%", "25.0%", "37.5%"))
    assert "for this model, prompt and collection" in page


def test_documents_chosen_otherwise_certify_nothing(led, client):
    judge(led, "C", ada=2)

    page = text(client.get(led.page + "?chosen=otherwise"))

    assert "At most" not in page


def test_a_sample_of_two_questions_is_certified_without_grades_to_compare(db, client):
    scene = claimed_scene({"C1": {"A": 1, "B": 0, "C": 1}})
    scene.project.grades.filter(value=2).delete()
    client.force_login(scene.carla.user)
    draw(scene, selection=scene.selection._replace(asks=Sample.Asks.QUESTIONS))

    page = text(client.get(reverse("audit:trust", args=[scene.project.slug, scene.model.pk])))

    assert "the checks asked two questions" in page


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "llama"),
        ("gpt-4o-mini", "gpt"),
        ("Qwen2.5-7B", "qwen"),
        ("o3-mini", "o3-mini"),
    ],
)
def test_the_family_of_a_model_is_what_its_name_begins_with(model, family):
    assert family_of(model) == family


def test_runs_that_name_the_machines_model_are_a_warning(led, client):
    led.model.name = "llama-3-8b, by a script"
    led.model.save()
    for name, tag in (("a.run", "RankLlama"), ("Llama2.run", ""), ("bm25.run", "bm25")):
        Run.objects.create(project=led.project, name=name, tag=tag, sha256="0" * 64)

    assert circularity_of(led.model).runs == ["Llama2.run", "a.run"]
    assert "The runs Llama2.run, a.run name “llama”" in text(client.get(led.page))


def test_a_machine_from_a_file_has_no_prompt(scene):
    assert origin_of(scene.model) is None
    assert circularity_of(scene.model).sentence == ""


def test_a_model_that_was_asked_here_has_a_prompt_of_which_only_the_sum_is_told(scene):
    by = scene.carla
    endpoint = Endpoint.objects.create(
        project=scene.project, server="lab", model="org/Mistral-7B", most_tokens=1, by=by
    )
    prompt = Prompt.objects.create(project=scene.project, version=3, text="Grade it.", by=by)
    ModelRun.objects.create(
        project=scene.project,
        endpoint=endpoint,
        prompt=prompt,
        machine=scene.model.name,
        draw_seed=1,
        most_tokens=1,
    )
    Run.objects.create(project=scene.project, name="e5-mistral.run", sha256="0" * 64)

    # printf 'Grade it.' | sha256sum
    digest = "8e289c03c529f36dbe5fed3bf4d622a90e986969be450125b527006816e3e1c6"
    run = origin_of(scene.model)
    assert run is not None
    asked = (run.endpoint.model, run.prompt.version, run.prompt.sha256)
    assert asked == ("org/Mistral-7B", 3, digest)
    assert circularity_of(scene.model).runs == ["e5-mistral.run"]
