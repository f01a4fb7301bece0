"""An evaluation is requested, computed by a worker, stored, shown, and downloaded."""

from __future__ import annotations

import csv
import io
import json
from io import StringIO
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotate.judgments import assignments
from annotate.models import InstructionPair, Judgment
from annotate.projects import actions as projects
from base.errors import Refused
from exporters.evaluations.actions import request_evaluation
from exporters.evaluations.systems import System
from exporters.models import Evaluation
from jobs.errors import JobError
from jobs.runner import Progress, run
from measures import CannotMeasure
from tests import factories
from tests.evaluations.evaluating import both_systems, make_evaluation, scene, store_run
from tests.exports.conftest import make_release
from tests.pages import shows
from tests.programs import Program


@pytest.fixture
def made(db) -> SimpleNamespace:
    return scene()


def page_url(made, name="evaluations", *rest):
    return reverse(f"exporters:{name}", args=[made.project.slug, *rest])


def p_mrr(found):
    return {one["name"]: one["values"]["p-mrr"]["value"] for one in found.results["systems"]}


@pytest.mark.both_databases
def test_the_row_says_what_was_measured_and_how(made, settings):
    found = make_evaluation(made, options={"p-mrr.ties": "file"})

    assert (found.state, found.release, found.baseline) == ("done", None, "still")
    assert found.systems[0] == {
        "name": "good",
        "runs": {
            side: {"name": f"good.{side}.run", "sha256": made.runs[f"good.{side}.run"].sha256}
            for side in ("original", "changed")
        },
    }
    assert found.options == {"p-mrr.ties": "file"}
    assert found.code_version == settings.VERSION
    assert set(found.results["qrels"]) >= {"qrels.original.txt", "qrels.changed.txt"}


def test_a_run_over_queries_and_one_over_pairs_are_one_system(made):
    # a falls from rank 1 under query q to rank 4 under pair q_1.
    assert p_mrr(make_evaluation(made)) == {"good": 0.75, "still": 0.0}


def test_a_release_is_measured_as_it_was(made):
    v1 = make_release(made, "v1")
    Judgment.objects.filter(candidate=made.pool["a"]).update(relevance=1)

    assert p_mrr(make_evaluation(made, release=v1)) == {"good": 0.75, "still": 0.0}
    assert p_mrr(make_evaluation(made)) == {"good": None, "still": None}


def test_a_release_is_measured_by_the_lowest_relevant_grade_that_it_was_made_with(made):
    v1 = make_release(made, "v1")

    projects.change_rules(changes={"relevant_from": 2}, by=made.carla)

    assert p_mrr(make_evaluation(made, release=v1)) == {"good": 0.75, "still": 0.0}
    assert p_mrr(make_evaluation(made)) == {"good": None, "still": None}


def test_a_release_is_measured_with_the_number_of_documents_that_it_had(made):
    robot = factories.machine(made.project)
    for doc, grade in {"a": 0, "b": 1}.items():
        factories.judgment(made.narrative, made.pool[doc], robot, grade)
    # It lacks a, whose rank therefore follows from the number of documents.
    short = store_run(made.project, "short.changed.run", "q_1", "bcd")
    system = System("short", {"original": made.runs["good.original.run"], "changed": short})
    v1 = make_release(made, "v1")

    def values(name, release=None):
        found = make_evaluation(made, measured=[system], baseline="", release=release)
        return found.results["systems"][0]["values"][name]["value"]

    released = {name: values(name, v1) for name in ("irs", "nfr")}
    for _ in range(96):
        factories.document(made.project)

    assert {name: values(name, v1) for name in ("irs", "nfr")} == released
    assert values("irs") != released["irs"]


def test_a_reversed_run_is_measured_where_people_judged_reversed_narratives(made):
    reverse = factories.narrative(made.pair, "reversed", text="Not b.")
    for doc, grade in {"a": 1, "b": 0}.items():
        factories.judgment(reverse, made.pool[doc], made.ada, grade)
    turned = store_run(made.project, "good.reversed.run", "q_1", "acdb")
    good, _still = both_systems(made)

    found = make_evaluation(
        made, measured=[System("good", {**good.runs, "reversed": turned})], baseline=""
    )

    assert found.results["systems"][0]["values"]["wise"]["value"] == pytest.approx(0.95)


def test_the_progress_says_what_is_done_now(made):
    steps: dict[str, None] = {}

    class NotedProgress(Progress):
        def check(self) -> None:
            steps[self.step] = None

    with patch("jobs.runner.Progress", NotedProgress):
        make_evaluation(made)

    assert list(steps) == [
        *("Reading the qrels", "Reading the runs", "Computing the measures"),
        "Measuring what disagreements decide",
    ]


@pytest.mark.both_databases
def test_requesting_a_queued_evaluation_again_returns_it(made, published):
    options = {"project": made.project, "measured": both_systems(made), "by": made.carla}

    first, second = request_evaluation(**options), request_evaluation(**options)
    other = request_evaluation(**options, baseline="still")

    assert (first, second == other) == (second, False)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"measured": []}, "Choose at least one run"),
        (
            {"baseline": "nobody"},
            "There is no system nobody to compare with. Choose one of: good, still",
        ),
        ({"options": {"p-mrr.k": "1"}}, "p-mrr has no option 'k'"),
    ],
)
def test_invalid_evaluations_are_refused_with_a_sentence(made, change, sentence):
    options = {
        "project": made.project,
        "measured": both_systems(made),
        "by": made.carla,
        **change,
    }

    with pytest.raises(Refused, match=r".") as refused:
        request_evaluation(**options)

    assert sentence in str(refused.value)
    assert not Evaluation.objects.exists()


def test_only_sentences_of_measures_are_shown_to_people(made):
    target = "exporters.evaluations.measuring.system_measures.evaluate"
    wrong = CannotMeasure("query q names 9 tables, more than tables=3")
    with patch(target, side_effect=wrong), pytest.raises(JobError, match="query q names 9 tables"):
        make_evaluation(made)

    with patch(target, side_effect=ValueError("operands")), pytest.raises(ValueError) as raised:
        make_evaluation(made)

    assert "operands" not in Evaluation.objects.latest("pk").error
    assert not isinstance(raised.value, JobError)


def test_a_run_that_names_no_judged_pair_is_refused(made):
    system = System("odd", {"changed": made.runs["good.original.run"]})

    with pytest.raises(JobError, match="names a pair that is judged"):
        make_evaluation(made, measured=[system], baseline="")


def test_unjudged_ids_of_a_run_are_noted_and_those_that_differ_in_case(made, client):
    lines = "".join(f"{topic} Q0 {doc} 1 1 t\n" for topic in ("q_1", "Q_1", "z") for doc in "ab")
    other = store_run(made.project, "odd.changed.run", "q_1", "ab")
    other.file.save("odd", ContentFile(lines.encode()), save=True)

    found = make_evaluation(made, measured=[System("odd", {"changed": other})], baseline="")

    assert found.results["notes"] == [
        "odd.changed.run: 2 ids belong to no judged pair and are not measured.",
        "odd.changed.run: Q_1 differs from the id of a judged pair only in case.",
    ]
    client.force_login(made.carla.user)
    page = client.get(found.get_absolute_url()).content.decode()
    # All notes are folded into one notice.
    assert page.count("notice--info") == 1
    assert "2 notes on what is not measured" in page
    assert all(sentence in page for sentence in found.results["notes"])


def test_pairs_may_have_the_ids_of_their_queries(made):
    # As in FollowIR: the lines of both runs name the query.
    InstructionPair.objects.update(pair_id="q")
    before, after = made.runs["good.original.run"], store_run(made.project, "x.run", "q", "bcda")

    found = make_evaluation(
        made, measured=[System("good", {"original": before, "changed": after})], baseline=""
    )

    assert p_mrr(found) == {"good": 0.75}


def test_only_leads_of_the_project_request_evaluations(made):
    other = factories.lead(factories.project("other"), "olga")

    for by in (made.ada, other):
        with pytest.raises(Refused, match="Only leads of this project"):
            request_evaluation(project=made.project, measured=both_systems(made), by=by)


def test_a_run_of_another_project_is_refused(made):
    elsewhere = store_run(factories.project("other"), "x.run", "q", "ab")

    with pytest.raises(Refused, match="A run of another project"):
        request_evaluation(
            project=made.project, measured=[System("x", {"original": elsewhere})], by=made.carla
        )


def test_an_archived_project_is_refused(made):
    projects.archive(by=made.carla)
    made.project.refresh_from_db()

    with pytest.raises(Refused, match="archived"):
        request_evaluation(project=made.project, measured=both_systems(made), by=None)


def test_a_project_without_judgments_says_what_to_do(made, client):
    Judgment.objects.all().delete()
    client.force_login(made.carla.user)

    found = make_evaluation(made)
    page = client.get(found.get_absolute_url()).content.decode()

    assert found.results["measures"] == []
    assert "Judge at least one pair, or load labels that a machine claims" in page


def test_a_run_with_too_many_lines_is_refused(made):
    with (
        patch("exporters.evaluations.measuring.MOST_LINES", 5),
        pytest.raises(JobError, match="cut them to 1,000 documents per query"),
    ):
        make_evaluation(made)


# --- the command ----------------------------------------------------------------------------------


def command(made, *words, **options):
    out = StringIO()
    with patch("jobs.runner.PULSE", 3_600):
        call_command("measure", made.project.slug, *words, stdout=out, **options)
    return out.getvalue()


def test_the_command_prints_every_value_as_csv(made):
    rows = list(csv.DictReader(io.StringIO(command(made, *made.runs, "--csv"))))

    [row] = [row for row in rows if (row["system"], row["measure"]) == ("good", "p-MRR")]
    assert (row["value"], row["n"]) == ("0.75", "1")


def test_the_command_prints_json_markdown_and_latex(made):
    data = json.loads(command(made, *made.runs, "--json", "--baseline", "still"))

    assert data["results"]["differences"]["p-mrr"]["good"]["difference"] == 0.75
    assert command(made, *made.runs).startswith("| system ")
    assert command(made, *made.runs, "--latex").startswith(r"\begin{tabular}")


def test_the_tables_of_the_command_fit_a_terminal(made):
    lines = command(made, *made.runs, "--baseline", "still").splitlines()

    tables = [line for line in lines if line.startswith("|")]
    assert max(map(len, tables)) <= 90
    assert [cell.strip() for cell in lines[0].split("|")[1:-1]] == [
        *("system", "measure", "value", "low", "high", "n")
    ]
    differences = lines[lines.index("Difference from still:") + 1]
    assert differences.split()[1:4] == ["system", "|", "measure"]
    assert differences.split()[-2] == "p_holm"
    assert "good p-MRR" in next(line for line in lines if line.endswith("at least two queries"))


def test_the_command_takes_system_and_side_by_name(made):
    names = ("x:original=good.original.run", "x:changed=still.changed.run")
    data = json.loads(command(made, *names, "--json", "--option", "p-mrr.documents=changed"))

    assert [one["name"] for one in data["systems"]] == ["x"]
    assert data["options"] == {"p-mrr.documents": "changed"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nothing.run"], "has no run called 'nothing.run'. Its runs: good.changed.run"),
        (["up=good.original.run"], "'up' is not a side"),
        (["good.original.run", "--option", "documents"], "write MEASURE.OPTION=VALUE"),
        (["good.original.run", "--release", "v9"], "has no release called 'v9'"),
    ],
)
def test_the_command_says_what_is_wrong(made, words, sentence):
    with pytest.raises(CommandError) as refused:
        command(made, *words)

    assert sentence in str(refused.value)


# --- the pages ------------------------------------------------------------------------------------


@pytest.fixture
def leading(made, client):
    client.force_login(made.carla.user)
    return made


def test_the_page_offers_the_systems_proposed_from_runs(leading, client):
    page = client.get(page_url(leading)).content.decode()

    assert "good: original good.original.run, changed good.changed.run" in page
    assert "Nothing has been measured yet." in page


def test_a_post_requests_an_evaluation_of_the_chosen_systems(leading, client, published):
    form = client.get(page_url(leading)).context["form"]

    answer = client.post(
        page_url(leading), {"systems": list(form.offered), "baseline": "still", "options": ""}
    )

    requested = Evaluation.objects.get()
    assert answer.url == page_url(leading)
    assert [one["name"] for one in requested.systems] == ["good", "still"]
    assert published == []  # until the transaction of the request is committed


def test_a_requested_evaluation_is_followed_on_the_page_until_it_is_done(leading, client):
    earlier = make_evaluation(leading)
    requested = Evaluation.objects.create(project=leading.project, systems=[], by=leading.carla)

    page = client.get(page_url(leading))

    assert page.context["requested"] == requested
    assert 'id="job"' in page.text
    assert page.context["newest"] == earlier
    make_evaluation(leading)
    assert client.get(page_url(leading)).context["requested"] is None


def test_the_newest_release_is_chosen_unless_the_address_names_another(leading, client):
    assert client.get(page_url(leading)).context["form"]["release"].initial == ""
    for name in ("v1", "v2"):
        make_release(leading, name)

    assert client.get(page_url(leading)).context["form"]["release"].initial == "v2"
    page = client.get(page_url(leading) + "?release=v1")
    assert page.context["form"]["release"].initial == "v1"


def test_a_system_assembled_by_hand_is_measured_too(leading, client, published):
    runs = leading.runs
    client.post(
        page_url(leading),
        {
            "name": "mixed",
            "original": runs["good.original.run"].pk,
            "changed": runs["still.changed.run"].pk,
            "options": "p-mrr.documents=changed",
        },
    )

    requested = Evaluation.objects.get()
    assert [one["name"] for one in requested.systems] == ["mixed"]
    assert requested.options == {"p-mrr.documents": "changed"}


def test_a_system_assembled_by_hand_can_be_the_baseline(leading, client, published):
    runs = leading.runs
    sent = {
        "systems": f"{runs['good.original.run'].pk}-{runs['good.changed.run'].pk}",
        "baseline": "/",
    }

    answer = client.post(page_url(leading), sent)
    assert shows(answer, "Combine its runs under “Another system”, or choose another.")
    assert not Evaluation.objects.exists()

    client.post(page_url(leading), {**sent, "original": runs["still.original.run"].pk})
    requested = Evaluation.objects.get()
    assert requested.baseline == "still.original.run"
    assert [one["name"] for one in requested.systems] == ["good", "still.original.run"]


def test_a_form_without_a_system_says_so(leading, client):
    answer = client.post(page_url(leading), {"options": ""})

    assert answer.status_code == 422
    assert "Choose at least one run to measure." in answer.content.decode()


def test_the_page_shows_values_differences_and_charts_with_their_links(leading, client):
    found = make_evaluation(leading)

    answer = client.get(found.get_absolute_url())
    page = answer.content.decode()

    assert "+0.750" in page
    best = answer.context["bars"][0]
    assert f"<title>{best.label}: {best.value:+.3f}</title>" in page
    assert "Ranks of documents that lost relevance, " in page
    settle = reverse("audit:disagreement", args=[leading.narrative.pk, leading.pool["a"].pk])
    query = reverse("annotate:query", args=[leading.project.slug, leading.pair.query_id])
    # Each is in the chart, and in the table of the same values.
    assert page.count(settle) == 2
    # The bar, its table, the table of the histogram, the share that dropped, the figures by pair.
    assert page.count(f'href="{query}"') == 5
    assert "Does this set measure anything?" in page


def test_the_list_begins_with_the_charts_of_the_newest_results(leading, client):
    make_evaluation(leading)
    newest = make_evaluation(leading)
    Evaluation.objects.create(project=leading.project, systems=[], by=leading.carla)

    page = client.get(page_url(leading))

    assert page.context["newest"] == newest
    assert [bar.value for bar in page.context["bars"]] == [0.75]
    assert "Ranks of documents that lost relevance, " in page.content.decode()


def test_the_list_shows_no_results_to_a_lead_who_still_judges(leading, client):
    make_evaluation(leading)
    other = factories.pair(leading.pair.query, pair_id="q_2")
    assignments.take(pair=other, task="judge", by=leading.carla, become_blind=True)

    page = client.get(page_url(leading))

    assert "bars" not in page.context
    assert "Ranks of documents that lost relevance, " not in page.content.decode()


def test_the_charts_begin_with_a_measure_that_has_values(leading, client):
    Judgment.objects.filter(candidate=leading.pool["a"]).update(relevance=1)
    found = make_evaluation(leading)

    page = client.get(found.get_absolute_url())

    assert p_mrr(found) == {"good": None, "still": None}
    assert page.context["measure"] != "p-mrr"
    assert page.context["bars"]


def test_negative_values_have_a_true_minus_sign(leading, client):
    found = make_evaluation(leading)
    value = found.results["systems"][0]["values"]["p-mrr"]
    value.update(value=-0.25, low=-0.5, high=0.125)
    found.save()

    page = client.get(found.get_absolute_url()).content.decode()

    assert "−0.250" in page
    assert "[−0.500, 0.125]" in page


def test_query_parameters_choose_system_and_measure(leading, client):
    found = make_evaluation(leading)

    page = client.get(f"{found.get_absolute_url()}?system=still&measure=AP+after")

    assert (page.context["system"], page.context["measure"]) == ("still", "AP after")
    assert [bar.value for bar in page.context["bars"]] == [0.5]


def test_tables_are_downloads(leading, client):
    found = make_evaluation(leading)

    answer = client.get(page_url(leading, "evaluation_table", found.pk, "documents", "csv"))

    assert answer["Content-Disposition"].endswith(f'tides-evaluation-{found.pk}-documents.csv"')
    assert "q_1,a,good,1,4,0.75" in answer.content.decode()
    for table, kind in (("nothing", "csv"), ("documents", "exe"), ("results", "csv")):
        response = client.get(page_url(leading, "evaluation_table", found.pk, table, kind))
        assert response.status_code == 404


def test_a_lead_who_has_yet_to_judge_sees_no_figures(leading, client):
    found = make_evaluation(leading)
    query = factories.query(leading.project, "r")
    factories.candidate(query, "e")
    factories.assignment(factories.pair(query, pair_id="r_1"), leading.carla)

    page = client.get(found.get_absolute_url())

    assert "You have judging or reviewing left" in page.content.decode()
    assert page.context["results"] is None
    table = client.get(page_url(leading, "evaluation_table", found.pk, "systems", "csv"))
    assert table.status_code == 403


# --- programs -------------------------------------------------------------------------------------


def test_a_program_requests_and_reads_an_evaluation(made, published):
    program = Program("carla", "lead")
    systems = [
        {"name": "good", "original": "good.original.run", "changed": "good.changed.run"},
        {"name": "still", "original": "still.original.run", "changed": "still.changed.run"},
    ]

    requested = program.send(
        "POST", "projects/tides/evaluations/", {"systems": systems, "baseline": "still"}
    ).json()
    with patch("jobs.runner.PULSE", 3_600):
        run(requested["id"])
    data = program.get(f"projects/tides/evaluations/{requested['id']}/").json()

    assert data["state"] == "done"
    assert data["results"]["differences"]["p-mrr"]["good"]["difference"] == 0.75
    assert "results" not in program.get("projects/tides/evaluations/").json()["results"][0]


def test_an_unknown_run_or_release_is_named_in_the_api_error(made):
    program = Program("carla", "lead")

    run_answer = program.send(
        "POST", "projects/tides/evaluations/", {"systems": [{"name": "x", "original": "gone.run"}]}
    )
    release_answer = program.send(
        "POST",
        "projects/tides/evaluations/",
        {"systems": [{"name": "x", "original": "good.original.run"}], "release": "v9"},
    )

    assert (run_answer.status_code, release_answer.status_code) == (400, 400)
    assert "no run called gone.run" in run_answer.content.decode()
    assert "no release called v9" in release_answer.content.decode()
