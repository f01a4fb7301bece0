"""Rules for every pair, the pairs that break them, and the coverage of the taxonomy."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.urls import reverse

from annotate.collection.removal import QUERIES
from annotate.judgments.pair_rules import Change, Counts, Rule, RuleStatus, change
from annotate.judgments.rule_report import rule_report
from annotate.models import Adjudication, Assignment, Category, InstructionPair, Project
from annotate.rewriting import sending_back
from audit.models import Decision
from audit.reports.coverage import coverage
from tests import factories
from tests.pages import shows


@pytest.mark.parametrize(
    ("before", "now", "became"),
    [
        (1, 1, Change.KEPT),
        (2, 0, Change.DROPPED),
        (0, 1, Change.GREW),
        (0, 0, Change.STAYED),
        # Without a prior label, it can count neither as grown nor as dropped.
        (None, 1, Change.KEPT),
        (None, 0, Change.STAYED),
    ],
)
def test_change_of_a_document(before, now, became):
    assert change(before, now, 1) is became


KEPT, NOT_YET, BROKEN = RuleStatus.HOLDS, RuleStatus.NOT_KNOWN, RuleStatus.BROKEN


@pytest.mark.parametrize(
    ("counts", "shrinking", "changes", "balance"),
    [
        (Counts(kept=3, dropped=3), KEPT, KEPT, KEPT),
        (Counts(kept=3, dropped=3, grew=1), BROKEN, KEPT, KEPT),
        (Counts(kept=5), KEPT, BROKEN, BROKEN),
        (Counts(kept=5, unjudged=2), KEPT, NOT_YET, BROKEN),
        (Counts(kept=5, unjudged=3), KEPT, NOT_YET, NOT_YET),
        # Two that comply and one that violates are missing: three open ones may still supply them.
        (Counts(kept=1, dropped=2, disputed=3), KEPT, KEPT, NOT_YET),
        (Counts(kept=1, dropped=2, disputed=2), KEPT, KEPT, BROKEN),
        (Counts(kept=3, unknown_before=3), KEPT, KEPT, KEPT),
    ],
)
def test_states_of_the_rules(counts, shrinking, changes, balance):
    assert counts.status(Rule.SHRINKING) is shrinking
    assert counts.status(Rule.CHANGE) is changes
    assert counts.status(Rule.BALANCE) is balance


@pytest.fixture(scope="module")
def tides_of_file(rows_of_file):
    """Four pairs: a good one, one that grew, one without change, one without judgments."""
    project = factories.project(judge_scope="pool")
    made = SimpleNamespace(
        project=project,
        carla=factories.lead(project),
        ada=factories.member(project, "ada"),
        ben=factories.member(project, "ben"),
        pairs={},
        docs={},
    )
    grades: dict[str, list[tuple[int, int | None]]] = {
        # The prior relevance of each document, and ada's grade.
        "good": [(1, 1), (1, 1), (1, 1), (1, 0), (1, 0), (1, 0)],
        "grown": [(0, 1), (1, 1), (1, 1), (1, 0), (1, 0), (1, 0)],
        "same": [(1, 1), (1, 2), (1, 1)],
        "silent": [(1, None)],
    }
    for number, (name, documents) in enumerate(grades.items()):
        query = factories.query(project, f"30{number}", title=name)
        pair = made.pairs[name] = factories.pair(query, category=f"C{number}")
        made.docs[name] = [
            factories.candidate(query, f"{name}-{place}", prior=prior)
            for place, (prior, _) in enumerate(documents)
        ]
        for candidate, (_, grade) in zip(made.docs[name], documents, strict=True):
            if grade is not None:
                factories.judgment(factories.altered(pair), candidate, made.ada, grade)
    return made


@pytest.fixture
def tides(tides_of_file, copy_rows):
    return copy_rows(tides_of_file)


def standing(found, rule) -> dict[str, list[str]]:
    return {
        promise.value: [one.pair.query.title for one in pairs]
        for promise, pairs in found.pairs_by_status(rule).items()
    }


def test_the_pairs_that_break_a_rule_are_named(tides):
    found = rule_report(tides.carla)

    assert standing(found, Rule.SHRINKING) == {
        "holds": ["good", "same"],
        "not_known": [],
        "broken": ["grown"],
    }
    assert standing(found, Rule.CHANGE) == {
        "holds": ["good", "grown"],
        "not_known": [],
        "broken": ["same"],
    }
    assert standing(found, Rule.BALANCE) == {
        "holds": ["good", "grown"],
        "not_known": [],
        "broken": ["same"],
    }
    assert (found.silent, found.hidden) == (1, 0)
    (grown,) = found.pairs_by_status(Rule.SHRINKING)[BROKEN]
    assert [found.documents[candidate] for candidate in grown.grown] == ["grown-0"]


def test_disputed_documents_are_open_and_settled_ones_count(tides):
    under = factories.altered(tides.pairs["same"])
    first, second, _ = tides.docs["same"]
    factories.judgment(under, first, tides.ben, 0)
    factories.judgment(under, second, tides.ben, 0)
    before = rule_report(tides.carla)
    Adjudication.objects.create(
        narrative=under, candidate=first, relevance=0, reason="No.", cause="error", by=tides.carla
    )

    after = rule_report(tides.carla)

    assert "same" in standing(before, Rule.CHANGE)["not_known"]
    assert "same" in standing(after, Rule.CHANGE)["holds"]
    (same,) = [one for one in after.pairs if one.pair.query.title == "same"]
    assert (same.counts.kept, same.counts.dropped, same.counts.disputed) == (1, 1, 1)


def test_decision_counts_even_without_judgments(tides):
    under = factories.altered(tides.pairs["silent"])
    (only,) = tides.docs["silent"]
    Adjudication.objects.create(
        narrative=under, candidate=only, relevance=0, reason="No.", cause="error", by=tides.carla
    )

    found = rule_report(tides.carla)

    assert found.silent == 0
    assert "silent" in standing(found, Rule.CHANGE)["holds"]


def test_machines_older_narratives_and_removed_pairs_do_not_count(tides):
    factories.judgment(
        factories.altered(tides.pairs["good"]),
        factories.candidate(tides.pairs["good"].query, "machines", prior=0),
        factories.machine(tides.project),
        2,
    )
    factories.narrative(tides.pairs["grown"], version=2)
    InstructionPair.objects.filter(pk=tides.pairs["same"].pk).update(
        removed_at="2026-01-01T00:00Z", removed_by=tides.carla
    )

    found = rule_report(tides.carla)

    assert [one.pair.query.title for one in found.pairs] == ["good"]
    assert standing(found, Rule.SHRINKING)["holds"] == ["good"]
    assert found.silent == 2


def test_a_pair_that_the_lead_still_judges_is_left_out(tides, client):
    factories.assignment(tides.pairs["grown"], tides.carla)
    client.force_login(tides.carla.user)

    page = client.get(reverse("audit:collection", args=["tides"]))

    assert page.context["report"].hidden == 1
    assert "grown-0" not in page.content.decode()
    assert "that you still judge yourself" in page.content.decode()


def test_page_links_to_documents_that_became_relevant(tides, client):
    client.force_login(tides.carla.user)

    page = client.get(reverse("audit:collection", args=["tides"]))

    shown = page.content.decode()
    address = reverse(
        "audit:disagreement",
        args=[factories.altered(tides.pairs["grown"]).pk, tides.docs["grown"][0].pk],
    )
    assert shows(shown, f'<a href="{address}" dir="auto">grown-0</a>')
    assert client.get(address).status_code == 200
    counts = {rule.rule.value: len(rule.broken) for rule, _listed in page.context["rules"]}
    assert counts == {"shrinking": 1, "change": 1, "balance": 1}


def test_the_bar_of_a_rule_shows_pairs_without_a_judgment_as_not_known(tides, client):
    client.force_login(tides.carla.user)

    page = client.get(reverse("audit:collection", args=["tides"]))

    # Of four pairs two hold, one is broken, and nobody has judged the fourth.
    shrinking, _listed = page.context["rules"][0]
    assert (shrinking.holds, shrinking.not_known) == (2, 1)
    assert (len(shrinking.broken), shrinking.pairs) == (1, 4)
    assert '<rect x="0.000" y="0" width="50.000" height="4" class="part-kept"/>' in (
        page.content.decode()
    )


def test_pairs_that_break_a_rule_are_paged(tides, client, monkeypatch):
    monkeypatch.setattr("audit.reports.views.BROKEN_AT_ONCE", 1)
    monkeypatch.setattr("audit.reports.api.BROKEN_AT_ONCE", 1)
    Project.objects.update(relevant_from=2)
    tides.carla.project.refresh_from_db()
    client.force_login(tides.carla.user)
    url = reverse("audit:collection", args=["tides"])

    rule, first = client.get(url).context["rules"][2]
    _rule, second = client.get(url + first["next_url"].partition("#")[0]).context["rules"][2]

    assert len(rule.broken) == 3
    assert [row["pair"].query.title for row in first["rows"]] == ["good"]
    assert [row["pair"].query.title for row in second["rows"]] == ["grown"]
    assert second["first_url"] == "?rule=balance#balance-title"
    api = reverse("audit:api_rules", args=["tides"])
    in_api = [
        client.get(api, {"after": key} if key else {}).json()["rules"][2]
        for key in (0, first["rows"][0]["pair"].pk)
    ]
    assert [part["breaking"] for part in in_api] == [3, 3]
    assert [row["pair"] for part in in_api for row in part["broken"]] == [
        row["pair"].pk for part in (first, second) for row in part["rows"]
    ]


def test_the_page_of_an_empty_project_says_what_will_be_there(tides, client):
    client.force_login(factories.lead(factories.project("empty"), "dora").user)

    page = client.get(reverse("audit:collection", args=["empty"])).content.decode()

    assert "The rules will be checked here" in page
    assert "The categories will appear here" in page


def test_the_page_costs_the_same_however_many_pairs(tides, client, django_assert_max_num_queries):
    client.force_login(tides.carla.user)

    with django_assert_max_num_queries(27) as queries:
        client.get(reverse("audit:collection", args=["tides"]))

    assert not any("documenttext" in query["sql"].lower() for query in queries.captured_queries)


def covered(found) -> dict[str, tuple[int, ...]]:
    return {
        one.key: (one.pairs, one.accepted, one.revised, one.removed, one.undecided)
        for one in found.categories
    }


def decide(tides, name: str, outcome: str, narrative=None, **fields) -> None:
    Decision.objects.create(
        narrative=narrative or factories.altered(tides.pairs[name]),
        outcome=outcome,
        reason="Because.",
        by=tides.carla,
        **fields,
    )


def test_categories_are_counted_by_decision(tides):
    for place, key in enumerate(("C9", "C0", "C1")):
        Category.objects.create(project=tides.project, key=key, name=f"Type {key}", place=place)
    decide(tides, "good", "accepted")
    # Sent back by its lead, rewritten, and accepted.
    sending_back.send_back(
        pair=tides.pairs["grown"], version=1, reason="Name a river.", by=tides.carla
    )
    decide(tides, "grown", "accepted", factories.narrative(tides.pairs["grown"], version=2))
    InstructionPair.objects.filter(pk=tides.pairs["same"].pk).update(
        removed_at="2026-01-01T00:00Z", removed_by=tides.carla
    )
    InstructionPair.objects.filter(pk=tides.pairs["silent"].pk).update(category="")

    found = coverage(tides.carla)

    assert covered(found) == {
        "C9": (0, 0, 0, 0, 0),
        "C0": (1, 1, 0, 0, 0),
        "C1": (1, 1, 1, 0, 0),
        "": (1, 0, 0, 0, 1),
        "C2": (1, 0, 0, 1, 0),
    }
    assert [one.key for one in found.empty] == ["C9"]
    assert [one.key for one in found.unknown] == ["C2"]
    assert (found.pairs, found.most) == (4, 1)
    sending_back.send_back(pair=tides.pairs["good"], version=1, reason="No.", by=tides.carla)
    assert covered(coverage(tides.carla))["C0"] == (1, 0, 1, 0, 1)


def test_a_pair_that_names_several_categories_counts_for_each_of_them(tides):
    """An instruction of Multi-InfoSearch names two or three attributes."""
    for place, key in enumerate(("length", "audience", "source")):
        Category.objects.create(project=tides.project, key=key, name=key, place=place)
    InstructionPair.objects.filter(project=tides.project).update(category="length, audience")
    InstructionPair.objects.filter(pk=tides.pairs["good"].pk).update(category="length, tone")

    found = coverage(tides.carla)

    assert [one.key for one in found.empty] == ["source"]
    assert [one.key for one in found.unknown] == ["length, tone"]


def test_queries_that_were_taken_out_are_not_among_the_removed_instructions(tides):
    before = sum(one.removed for one in coverage(tides.carla).categories)
    query = tides.pairs["good"].query
    QUERIES.remove(project=tides.project, keys=[query.pk], reason="Not drawn.", by=tides.carla)

    found = coverage(tides.carla)

    assert sum(one.removed for one in found.categories) == before
    assert found.pairs == 3


def test_withdrawn_and_outdated_decisions_accept_nothing(tides):
    decide(
        tides,
        "good",
        "accepted",
        withdrawn_at="2026-01-01T00:00Z",
        withdrawn_by=tides.carla,
    )
    decide(tides, "grown", "accepted")
    factories.narrative(tides.pairs["grown"], version=2)

    assert sum(one.accepted for one in coverage(tides.carla).categories) == 0


def test_lead_who_has_yet_to_review_does_not_see_the_decision(tides):
    decide(tides, "good", "accepted")
    before = coverage(tides.carla)
    factories.assignment(tides.pairs["good"], tides.carla, Assignment.Task.REVIEW)

    after = coverage(tides.carla)

    assert covered(before)["C0"] == (1, 1, 0, 0, 0)
    assert covered(after)["C0"] == (1, 0, 0, 0, 1)


def test_no_category_is_unknown_without_a_taxonomy(tides):
    found = coverage(tides.carla)

    assert (found.empty, found.unknown) == ([], [])
    assert list(covered(found)) == ["C0", "C1", "C2", "C3"]


def test_a_category_that_joins_types_is_known_and_counted_with_each(tides):
    for place, (key, name) in enumerate((("a", "Audience"), ("l", "Length"), ("s", "Source"))):
        Category.objects.create(project=tides.project, key=key, name=name, place=place)
    tides.project.pairs.update(category="Audience, Length")
    of = tides.project.pairs.count()

    found = coverage(tides.carla)

    assert {one.name: (one.pairs, one.combined) for one in found.categories} == {
        "Audience": (0, of),
        "Length": (0, of),
        "Source": (0, 0),
        "Audience, Length": (of, 0),
    }
    assert [one.name for one in found.empty] == ["Source"]
    assert found.unknown == []
    assert found.pairs == of


def test_a_query_without_an_instruction_is_not_counted(tides):
    plain = factories.query(tides.project, "999", title="no instruction")
    factories.pair(plain, altered=None)
    before = coverage(tides.carla).pairs

    factories.narrative(plain.pairs.get(), text="Only new ones.")

    assert coverage(tides.carla).pairs == before + 1
    assert "" in {one.key for one in coverage(tides.carla).categories}
