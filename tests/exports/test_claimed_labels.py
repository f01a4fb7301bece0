"""Claimed labels in the TREC export: which instructions count, and corrections by people."""

from __future__ import annotations

import io
from types import SimpleNamespace

import ir_measures
import pytest
import pytrec_eval
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.models import Adjudication, Candidate, InstructionPair, Narrative
from audit.checks import actions
from audit.checks.machines import choose_machine
from audit.models import Decision, Review, Sample
from audit.reviews.criteria import FOLLOWTABLE
from exporters.exports import publishing
from exporters.exports.layouts.paired_qrels import size
from exporters.exports.selection import claimed, selection
from exporters.releases import comparison, contents
from exporters.releases.preview import preview
from tests import factories
from tests.checks.checking import check_label, claimed_scene, draw
from tests.exports.conftest import make_release

pytestmark = pytest.mark.both_databases

# One instruction of each query: 301 to 306.
CLAIMS = {
    "C1": {"é": 0, "A": 0, "B": 1, "a": 1, "C": 1, "FT-9": 2, "FT-10": 2},
    "C2": {"D": 1, "E": 0},
    "S1": {"F": 1},
    "S2": {"G": 1},
    "S3": {"H": 1, "I": 0},
    "S4": {},
}
NOT_CLAIMED = "not claimed"


@pytest.fixture(scope="module")
def scene_of_file(rows_of_file) -> SimpleNamespace:
    return claimed_scene(CLAIMS)


def decide(scene: SimpleNamespace, category: str, outcome: str = "accepted") -> Decision:
    reason = "" if outcome == "accepted" else "It is too wide."
    under = scene.narratives[category]
    return Decision.objects.create(
        narrative=under, outcome=outcome, reason=reason, by=scene.carla, at=timezone.now()
    )


def sample_of(scene: SimpleNamespace, **choices) -> Sample:
    """Draw a sample with every label of every instruction."""
    return draw(scene, **{"stratify": "none", "size": 13, "fewer": True, **choices})


def left_out(files, column: str) -> dict[str, str]:
    heading, *rows = [line.split("\t") for line in files["pairs.tsv"].splitlines()]
    return {row[0]: row[heading.index(column)] for row in rows}


def of_claims(files) -> dict[str, int]:
    counts = files.manifest["counts"]
    return {key: n for key, n in counts.items() if key.startswith("claims") and n}


def test_every_claim_counts_where_nothing_was_reviewed_or_decided(scene, write):
    files = write(scene.project)

    assert files["qrels.claimed.txt"] == (
        "301 0 A 0\n"
        "301 0 B 1\n"
        "301 0 C 1\n"
        "301 0 FT-10 2\n"
        "301 0 FT-9 2\n"
        "301 0 a 1\n"
        "301 0 é 0\n"
        "302 0 D 1\n"
        "302 0 E 0\n"
        "303 0 F 1\n"
        "304 0 G 1\n"
        "305 0 H 1\n"
        "305 0 I 0\n"
    )
    assert files["topics.claimed.txt"].count("<top>") == 5
    assert of_claims(files) == {"claims": 13, "claims_unchecked": 13}


def test_only_accepted_instructions_count_once_one_is_decided_on(scene, write):
    decide(scene, "C2")
    decide(scene, "S1", "revise")
    Narrative.objects.filter(pair__pair_id="303", side="altered").update(
        sent_back_at=timezone.now(), sent_back_by=scene.carla
    )
    decide(scene, "S2", "removed")
    InstructionPair.objects.filter(pair_id="304").update(
        removed_at=timezone.now(), removed_by=scene.carla
    )

    files = write(scene.project)

    assert files["qrels.claimed.txt"] == "302 0 D 1\n302 0 E 0\n"
    assert files["topics.claimed.txt"] == (
        "<top>\n\n<num> Number: 302\n<title> question 302\n\n"
        "<narr> Narrative:\nOnly plants at sea count.\n\n</top>\n\n"
    )
    assert left_out(files, "claimed") == {
        "301": "not accepted",
        "302": "yes",
        "303": "sent back",
        "304": "removed",
        "305": "not accepted",
        "306": NOT_CLAIMED,
    }
    assert [pair["claimed"] for pair in files.manifest["pairs"]] == list(
        left_out(files, "claimed").values()
    )
    # 7 of 301, 1 of 303, 1 of 304, 2 of 305.
    assert of_claims(files) == {"claims": 2, "claims_unchecked": 2, "claims_set_aside": 11}
    assert files.manifest["counts"]["pairs_claimed"] == 1
    assert (
        "5 pairs are left out of the claimed files: 2 not accepted, 1 not claimed, 1 removed, "
        "1 sent back." in files.manifest["notes"]
    )


def test_no_side_has_claims_of_an_instruction_that_nobody_accepted(scene, write):
    query = factories.query(scene.project, "307", "locks")
    unwritten = factories.pair(query, altered=None)
    reverse = factories.narrative(unwritten, "reversed", "No plant at sea counts.")
    candidate = factories.candidate(query, "L")
    for under in (unwritten.narratives.get(side="original"), reverse):
        factories.judgment(under, candidate, scene.project.memberships.get(is_machine=True))
    names = ("qrels.claimed.original.txt", "qrels.claimed.reversed.txt")
    files = write(scene.project)
    assert [files[name] for name in names] == ["307 0 L 1\n", "307 0 L 1\n"]
    decide(scene, "C2")

    files = write(scene.project)

    assert [files[name] for name in names] == ["", ""]
    assert files.manifest["pairs"][-1]["claimed_on"] == {
        "original": "not accepted",
        "reversed": "not accepted",
    }
    assert files.manifest["counts"]["claims_reversed_set_aside"] == 1


def test_claimed_labels_are_not_in_the_changed_files(scene, write):
    decide(scene, "C2")

    files = write(scene.project)

    assert files["qrels.changed.txt"] == files["topics.changed.txt"] == ""
    assert left_out(files, "left_out") == {
        "301": "not judged",
        "302": "claimed only",
        "303": "not judged",
        "304": "not judged",
        "305": "not judged",
        "306": "not judged",
    }


def test_a_submitted_review_makes_acceptance_necessary_but_a_draft_does_not(scene, write):
    review = Review.objects.create(
        narrative=scene.narratives["C1"], auditor=scene.ada, rubric=FOLLOWTABLE.name
    )
    assert write(scene.project).manifest["counts"]["claims"] == 13

    review.submitted_at = timezone.now()
    review.save()

    files = write(scene.project)
    assert files["qrels.claimed.txt"] == ""
    assert of_claims(files) == {"claims_set_aside": 13}


def test_a_withdrawn_decision_or_one_on_an_older_version_accepts_nothing(scene, write):
    taken_back, outdated = decide(scene, "C1"), decide(scene, "C2")
    taken_back.withdrawn_at, taken_back.withdrawn_by = timezone.now(), scene.carla
    taken_back.save()
    newer = factories.narrative(outdated.narrative.pair, text="Only new plants.", version=2)
    factories.judgment(newer, scene.candidates["D"], scene.model, 0)

    assert write(scene.project)["qrels.claimed.txt"] == ""

    scene.narratives["C2"] = newer
    decide(scene, "C2")
    files = write(scene.project)
    # Its claims about D and E under version 1 no longer count.
    assert files["qrels.claimed.txt"] == "302 0 D 0\n"
    assert "Only new plants." in files["topics.claimed.txt"]


def test_the_outcome_of_a_check_replaces_the_claim(scene, write):
    sample = sample_of(scene)
    check_label(sample, "A", ada=0, ben=0)  # two agree with the claim
    check_label(sample, "B", ada=0, ben=0)  # two agree on another grade
    check_label(sample, "C", ada=1, ben=0, dan=0)  # a third settles against it
    check_label(sample, "a", ada=1, ben=0, dan=1)  # a third settles for it
    check_label(sample, "FT-9", ada=None, ben=0, dan=None)  # none can judge it
    check_label(sample, "FT-10", ada=0, ben=1)  # open: waits for a third
    check_label(sample, "é", ada=1)  # open: one has answered

    files = write(scene.project)

    assert files["qrels.claimed.txt"].splitlines()[:7] == [
        "301 0 A 0",
        "301 0 B 0",
        "301 0 C 0",
        "301 0 FT-10 2",
        "301 0 FT-9 2",
        "301 0 a 1",
        "301 0 é 0",
    ]
    # The other 6 of 13 are in the sample too, but nobody has checked them yet.
    assert of_claims(files) == {
        "claims": 13,
        "claims_checked": 4,
        "claims_corrected": 2,
        "claims_open": 8,
        "claims_unjudgeable": 1,
    }
    assert (
        "13 claimed labels of 5 pairs: 4 checked, 2 of these corrected; 0 judged by people instead."
        in files.manifest["notes"]
    )


def test_the_last_sample_with_an_outcome_decides(scene, write):
    check_label(sample_of(scene, name="Z first"), "B", ada=0, ben=0)
    check_label(sample_of(scene, name="Y second"), "B", ada=2, ben=2)
    sample_of(scene, name="X third")

    files = write(scene.project)

    assert "301 0 B 2\n" in files["qrels.claimed.txt"]
    assert of_claims(files)["claims_checked"] == 1


def test_a_count_of_conditions_corrects_grades_that_are_counts(scene, write):
    scene.project.condition_rule = "count_met"
    scene.project.save()

    check_meets_no_condition(scene, "B")

    files = write(scene.project)
    assert "301 0 B 0\n" in files["qrels.claimed.txt"]
    assert of_claims(files) == {
        "claims": 13,
        "claims_unchecked": 12 - 6,
        "claims_open": 6,
        "claims_checked": 1,
        "claims_corrected": 1,
    }


def test_a_count_of_conditions_does_not_correct_grades_that_are_not_counts(scene, write):
    check_meets_no_condition(scene, "B")

    files = write(scene.project)

    assert "301 0 B 1\n" in files["qrels.claimed.txt"]
    assert of_claims(files) == {"claims": 13, "claims_unchecked": 13}


def check_meets_no_condition(scene, doc_id: str) -> None:
    """Let two people answer that a document meets none of the conditions (there is one)."""
    under = scene.narratives["C1"]
    condition = under.conditions.create(number=1, text="At sea.")
    scene.selection = scene.selection._replace(asks=Sample.Asks.COUNT)
    sample = sample_of(scene)
    for by in (scene.ada, scene.ben):
        item = sample.items.get(candidate__document__doc_id=doc_id)
        actions.check(item=item, verdicts={condition.pk: "not_met"}, by=by)


def test_peoples_judgments_take_precedence_over_checks_and_claims(scene, write):
    under, of = scene.narratives["C1"], scene.candidates
    sample = sample_of(scene)
    check_label(sample, "B", ada=0, ben=0)
    check_label(sample, "C", ada=0, ben=0)
    for by in (scene.ada, scene.ben):
        factories.judgment(under, of["B"], by, 2)  # both judge 2, the check found 0
    for by, grade in ((scene.ada, 0), (scene.ben, 2)):
        factories.judgment(under, of["C"], by, grade)  # disputed, the check found 0
        factories.judgment(under, of["a"], by, grade)  # disputed, the check is open
        factories.judgment(under, of["A"], by, grade)  # settled by a lead
    Adjudication.objects.create(
        narrative=under, candidate=of["A"], relevance=2, reason="Read it.", by=scene.carla
    )

    files = write(scene.project)

    assert files["qrels.claimed.txt"].splitlines()[:7] == [
        "301 0 A 2",
        "301 0 B 2",
        "301 0 C 0",
        "301 0 FT-10 2",
        "301 0 FT-9 2",
        "301 0 a 1",
        "301 0 é 0",
    ]
    assert files["qrels.changed.txt"] == "301 0 A 2\n301 0 B 2\n"
    counts = of_claims(files)
    assert (counts["claims_judged"], counts["claims_checked"]) == (2, 1)
    assert (counts["claims_corrected"], counts["claims_disputed"]) == (1, 1)
    assert counts["claims_open"] == 13 - 4


def test_there_are_no_claimed_files_without_current_claims(scene, write):
    for narrative in scene.narratives.values():
        factories.narrative(narrative.pair, text="Anew.", version=narrative.version + 1)

    files = write(scene.project)

    assert not [name for name in files.bytes() if "claimed" in name]
    assert set(left_out(files, "claimed").values()) == {NOT_CLAIMED}
    assert not of_claims(files)


def test_claims_of_a_second_machine_count_beside_those_of_the_first(scene, write):
    second = factories.machine(scene.project, "gen-2")
    factories.judgment(
        scene.narratives["S4"], factories.candidate(scene.narratives["S4"].pair.query, "K"), second
    )
    decide(scene, "C2")
    decide(scene, "S4")

    files = write(scene.project)

    assert files["qrels.claimed.txt"] == "302 0 D 1\n302 0 E 0\n306 0 K 1\n"
    assert files["qrels.claimed.gen-2.txt"] == "306 0 K 1\n"
    assert of_claims(files)["claims"] == 3
    assert ("claimed labels of accepted instructions", 3) in preview(scene.carla).counts


def test_a_label_that_machines_claim_differently_counts_once_a_lead_chooses(scene, write):
    second = factories.machine(scene.project, "gen-2")
    factories.judgment(scene.narratives["C2"], scene.candidates["D"], second, 0)  # model: 1
    factories.judgment(scene.narratives["C2"], scene.candidates["E"], second, 0)  # model: 0
    decide(scene, "C2")
    undecided = write(scene.project)
    choose_machine(machine=second, by=scene.carla)
    chosen = write(scene.project)
    choose_machine(machine=scene.model, by=scene.carla)
    chosen_again = write(scene.project)

    assert undecided["qrels.claimed.txt"] == "302 0 E 0\n"
    assert of_claims(undecided)["claims_undecided"] == 1
    assert (
        "1 label is claimed differently by several machines and left out: nobody has chosen "
        "whose claims count." in undecided.manifest["warnings"]
    )
    assert chosen["qrels.claimed.txt"] == "302 0 D 0\n302 0 E 0\n"
    assert "claims_undecided" not in of_claims(chosen)
    assert chosen_again["qrels.claimed.txt"] == "302 0 D 1\n302 0 E 0\n"


def test_an_undecided_label_that_people_judged_or_checked_has_their_relevance(scene, write):
    second = factories.machine(scene.project, "gen-2")
    for doc_id in ("B", "C", "a"):  # model: 1
        factories.judgment(scene.narratives["C1"], scene.candidates[doc_id], second, 0)
    check_label(sample_of(scene), "B", ada=2, ben=2)
    factories.judgment(scene.narratives["C1"], scene.candidates["C"], scene.ada, 0)
    factories.judgment(scene.narratives["C1"], scene.candidates["C"], scene.ben, 0)

    files = write(scene.project)

    assert "301 0 B 2\n301 0 C 0\n301 0 FT-10" in files["qrels.claimed.txt"]
    counts = of_claims(files)
    assert (counts["claims_checked"], counts["claims_judged"], counts["claims_undecided"]) == (
        (1, 1, 1)
    )


def test_several_machines_have_a_file_each_with_a_safe_name(scene, write):
    names = ("../up", "é", "Model", "b c")
    for name in names:
        rater = factories.machine(scene.project, name)
        factories.judgment(scene.narratives["C2"], scene.candidates["D"], rater, 0)

    files = write(scene.project)

    # In the byte order of the machines' names: ../up, Model, b c, model, é.
    assert [entry["name"] for entry in files.manifest["files"] if "claimed" in entry["name"]] == [
        "qrels.claimed.txt",
        "qrels.claimed.up.txt",
        "qrels.claimed.Model.txt",
        "qrels.claimed.b-c.txt",
        "qrels.claimed.2-model.txt",
        "qrels.claimed.machine.txt",
        "topics.claimed.txt",
    ]
    assert files["qrels.claimed.b-c.txt"] == "302 0 D 0\n"
    assert "302 0 D 1\n" in files["qrels.claimed.2-model.txt"]
    assert of_claims(files) == {"claims": 12, "claims_unchecked": 12, "claims_undecided": 1}
    [rule] = [rule for rule in files.manifest["rules"] if rule["about"] == "Claimed labels"]
    assert "“../up”, “Model”, “b c”, “model”, “é”" in rule["says"]


def test_evaluators_read_them_with_their_zeros(scene, write):
    decide(scene, "C2")
    path = write(scene.project).folder / "qrels.claimed.txt"

    found = [(q.query_id, q.doc_id, q.relevance) for q in ir_measures.read_trec_qrels(str(path))]
    with path.open(encoding="utf-8") as stream:
        by_trec_eval = pytrec_eval.parse_qrel(stream)

    assert found == [("302", "D", 1), ("302", "E", 0)]
    assert by_trec_eval == {"302": {"D": 1, "E": 0}}


def test_claimed_files_load_as_a_separate_collection(scene, write):
    decide(scene, "C2")
    folder = write(scene.project).folder

    for format_name, name in (("trec-topics", "topics"), ("trec-qrels", "qrels")):
        path = str(folder / f"{name}.claimed.txt")
        call_command("load", "anew", format_name, path, "--create", stdout=io.StringIO())

    found = Candidate.objects.filter(query__project__slug="anew")
    assert set(found.values_list("query__query_id", "document__doc_id", "prior_relevance")) == {
        ("302", "D", 1),
        ("302", "E", 0),
    }
    [narrative] = Narrative.objects.filter(pair__project__slug="anew", side="original")
    assert narrative.text == "Only plants at sea count."


def test_the_same_rows_make_the_same_bytes(scene, write):
    check_label(sample_of(scene), "B", ada=0, ben=0)

    assert write(scene.project).bytes() == write(scene.project).bytes()


def test_reading_claims_takes_a_constant_number_of_queries_and_no_text(scene):
    def asked() -> list[str]:
        pairs = selection.claimed(selection.pairs(scene.project))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            found = list(claimed.labels(scene.project, pairs))
        assert len(found) == sum(pair.claims for pair in pairs)
        return [query["sql"] for query in queries]

    before = asked()
    query = factories.query(scene.project, "399")
    under = factories.altered(factories.pair(query))
    for _ in range(30):
        factories.judgment(under, factories.candidate(query), scene.model, 1)
    check_label(sample_of(scene, size=50), "B", ada=0, ben=0)
    after = asked()

    # The machines that a lead chose, the claims, the checks and the pools.
    assert len(before) == len(after) == 4
    assert not [sql for sql in after if "documenttext" in sql]


def test_progress_counts_each_claim(scene, tmp_path):
    decide(scene, "C2")

    # 13 documents have an earlier relevance; the changed qrels are empty, and two labels count.
    assert size(scene.project) == 13 + 2


def test_a_release_holds_claimed_labels_and_comparisons_count_them(scene):
    decide(scene, "C2")
    first = make_release(scene, "v1.0")
    decide(scene, "C1")
    check_label(sample_of(scene), "B", ada=0, ben=0)
    second = make_release(scene, "v1.1")

    assert {"trec/qrels.claimed.txt", "trec/topics.claimed.txt"} <= set(contents.files(second))
    compared = comparison.Comparison(first, second)
    assert [(one.pair_id, one.before, one.after) for one in compared.presence_changes()] == [
        ("301", "not judged", "claimed only")
    ]
    assert [
        (one.key, one.before, one.after) for one in compared.counts() if "claim" in one.key
    ] == [("pairs_claimed", 1, 2), ("claims", 2, 9), ("claims_corrected", 0, 1)]
    assert len(list(comparison.table(compared))) == 2


def test_a_comparison_lists_the_claimed_labels_that_differ(scene):
    first = make_release(scene, "v1.0")
    check_label(sample_of(scene), "B", ada=0, ben=0)
    second = make_release(scene, "v1.1")

    differing = list(comparison.Comparison(first, second).grades())

    assert [(one.narrative, *one[3:]) for one in differing] == [
        ("claimed-altered", "301", "B", "1", "0")
    ]
    assert contents.all_counts(contents.of(second))["claims_checked"] == 1


def test_the_page_of_a_new_release_says_how_many_would_be_in_it(scene):
    decide(scene, "C2")

    shown = preview(scene.carla)

    assert ("claimed labels of accepted instructions", 2) in shown.counts
    # Of the six pairs, only that of 302 has claimed labels that count.
    assert (
        "5 pairs have no judgments and no claimed labels that count: they would be left out."
    ) in shown.warnings
    assert "checked labels" not in dict(shown.counts)


def test_the_page_of_a_new_release_counts_the_labels_whose_check_is_over(scene):
    sample = sample_of(scene)
    check_label(sample, "D", ada=1, ben=1)  # two agree
    check_label(sample, "E", ada=1, ben=0, dan=0)  # a third settles
    check_label(sample, "F", ada=1, ben=0)  # open: waits for a third
    check_label(sample, "G", ada=1)  # open: one has answered

    assert dict(preview(scene.carla).counts)["checked labels"] == 2


def test_the_publish_page_counts_pairs_with_claimed_labels_alone(scene):
    """C1 (7 labels) and C2 (2 labels) are accepted, and nobody has judged any of them."""
    decide(scene, "C1")
    decide(scene, "C2")
    kept_back = publishing.preview(scene.project)
    publishing.set_publication(project=scene.project, changes={"claims": True}, by=scene.carla)
    published = publishing.preview(scene.project)

    assert kept_back.counts[:2] == [
        ("instruction pairs that people judged", 0),
        ("instruction pairs with claimed labels only", 0),
    ]
    assert kept_back.checks[0] == (
        "2 instruction pairs have claimed labels only. The publication settings leave claimed "
        "labels out."
    )
    assert dict(published.counts) == {
        "instruction pairs that people judged": 0,
        "instruction pairs with claimed labels only": 2,
        "instruction pairs that are left out": 4,
        "queries": 2,
        "documents": 9,
    }
    assert not any("no layout can be written" in one for one in published.checks)
