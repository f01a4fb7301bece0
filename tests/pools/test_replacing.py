"""A failed gold document is replaced, after a preview of the effects; this can be undone."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotate.judgments.rule_report import rule_report
from annotate.models import AuditEvent, Candidate, Document, Judgment, Narrative, Replacement
from annotate.pools.replacing import NewDocument, effects, replace_document, undo_replacement
from audit.reports.rule_standings import rule_standings
from base.errors import Refused
from keeping.verify import verify
from tests import factories
from tests.pages import shows
from tests.programs import Program

pytestmark = pytest.mark.django_db


class Scene:
    """Queries 1 and 2 share a core query, 3 has another; G is in every pool, gold of query 1.

    A machine claims G relevant to the instructed and, wrongly, to the reversed query 1.
    """

    def __init__(self) -> None:
        self.project = factories.project(kind="infosearch", judge_scope="pool", grades=(0, 1))
        self.carla = factories.lead(self.project)
        self.ada = factories.member(self.project, "ada")
        self.machine = factories.machine(self.project)
        self.pools = {}
        for query_id, core in (("1", "acne"), ("2", "acne"), ("3", "mint")):
            query = factories.query(self.project, query_id)
            query.core = core
            query.save()
            pair = factories.pair(query)
            self.pools[query_id] = self.put("G", query)
            if query_id == "1":
                self.pair = pair
        self.altered = factories.altered(self.pair)
        turned = factories.narrative(self.pair, Narrative.Side.REVERSED, "Not so.")
        for narrative, claim in ((self.altered, 1), (turned, 1)):
            factories.judgment(narrative, self.pools["1"], self.machine, claim)
        factories.judgment(self.altered, self.pools["1"], self.ada, 1)

    def put(self, doc_id, query):
        document = Document.objects.filter(project=self.project, doc_id=doc_id).first()
        if document is None:
            return factories.candidate(query, doc_id, prior=1, text="Of the sea.")
        return Candidate.objects.create(
            query=query, document=document, prior_relevance=1, origin="prior"
        )

    def replace(self, new=None, **fields):
        new = new or NewDocument("H", text="Better.")
        token = effects(self.pools["1"], new).token
        return replace_document(
            **{
                "candidate": self.pools["1"],
                "new": new,
                "reason": "Off topic.",
                "token": token,
                "by": self.carla,
                **fields,
            }
        )

    def pool(self, query_id):
        rows = Candidate.objects.filter(query__query_id=query_id)
        return sorted(rows.values_list("document__doc_id", "prior_relevance"))


@pytest.fixture(scope="module")
def tides_of_file(rows_of_file):
    return Scene()


@pytest.fixture
def tides(tides_of_file, copy_rows):
    return copy_rows(tides_of_file)


def test_a_preview_counts_what_changes_and_writes_nothing(tides):
    found = effects(tides.pools["1"], NewDocument("H", text="Better."))

    assert [one.query.query_id for one in found.pools] == ["1", "2"]
    assert (found.answers, found.claims, found.releases) == (["1 judgment"], 2, [])
    assert found.rules == {"gold": ["1"]}
    assert found.makes_document
    assert not Document.objects.filter(doc_id="H").exists()


def test_the_new_document_is_in_every_pool_of_the_core_query_with_the_claims(tides):
    tides.replace()

    assert [tides.pool(query_id) for query_id in "123"] == [[("H", 1)], [("H", 1)], [("G", 1)]]
    claims = Judgment.objects.filter(candidate__document__doc_id="H")
    assert sorted(claims.values_list("annotator__name", "narrative__side", "relevance")) == [
        (tides.machine.name, "altered", 1),
        (tides.machine.name, "reversed", 1),
    ]


def test_judgments_of_the_old_document_are_kept_and_its_removal_has_a_reason(tides):
    tides.replace()

    old = Candidate.with_removed.get(pk=tides.pools["1"].pk)
    assert old.removed_reason == "Replaced by H: Off topic."
    assert old.statements.count() == 3
    event = AuditEvent.objects.get(what="document.replaced")
    assert (event.about, event.words) == ("G → H · 2", "Off topic.")


def test_undoing_brings_the_old_document_and_its_rule_back(tides):
    [before] = rule_standings(rule_report(tides.carla))
    made = tides.replace()

    undo_replacement(replacement=made, by=tides.carla)
    undo_replacement(replacement=made, by=tides.carla)

    [after] = rule_standings(rule_report(tides.carla))
    assert [tides.pool(query_id) for query_id in "123"] == [[("G", 1)]] * 3
    assert (after.state, len(after.broken)) == (before.state, len(before.broken))
    assert Replacement.objects.get().undone_by == tides.carla


def test_a_document_can_be_replaced_again_after_undoing(tides):
    undo_replacement(replacement=tides.replace(), by=tides.carla)

    tides.replace(NewDocument("H"))

    assert tides.pool("1") == [("H", 1)]
    assert Judgment.objects.filter(candidate__document__doc_id="H").count() == 2


def test_a_replacement_is_undone_after_that_of_its_new_document(tides):
    first = tides.replace()
    tides.pools["1"] = Candidate.objects.get(query__query_id="1")
    second = tides.replace(NewDocument("I", text="Better still."))

    with pytest.raises(Refused, match="H was replaced by I since"):
        undo_replacement(replacement=first, by=tides.carla)
    undo_replacement(replacement=second, by=tides.carla)
    undo_replacement(replacement=first, by=tides.carla)

    assert tides.pool("1") == [("G", 1)]


def test_claims_that_move_to_the_new_document_are_in_the_chain(tides):
    before = verify(tides.project)

    tides.replace()

    after = verify(tides.project)
    assert after.rows["judgment"] == before.rows["judgment"] + 2
    assert after.wrong == before.wrong


@pytest.mark.parametrize(
    ("new", "sentence"),
    [
        (NewDocument("G"), "This is the old document itself."),
        (NewDocument("N"), "This project has no document N. Give its text, or load it first."),
        (NewDocument("K", text="More."), "Document K already exists."),
        (NewDocument("P"), "Document P is already in the pool of query 2."),
        (
            NewDocument("a b"),
            "The new document has no valid id: doc_id 'a b' contains white space.",
        ),
    ],
)
def test_an_invalid_new_document_is_refused(tides, new, sentence):
    factories.document(tides.project, "K")
    factories.candidate(tides.pools["2"].query, "P")

    with pytest.raises(Refused) as refused:
        effects(tides.pools["1"], new)

    assert str(refused.value).startswith(sentence)


def test_effects_that_changed_since_the_preview_are_refused(tides):
    token = effects(tides.pools["1"], NewDocument("H", text="Better.")).token
    factories.judgment(tides.altered, tides.pools["1"], factories.member(tides.project, "ben"), 0)

    with pytest.raises(Refused, match=r"have changed since the preview"):
        tides.replace(token=token)

    assert not Replacement.objects.exists()


@pytest.mark.parametrize(("reason", "by"), [(" ", "carla"), ("Off topic.", "ada")])
def test_only_leads_replace_and_they_say_why(tides, reason, by):
    with pytest.raises(Refused):
        tides.replace(reason=reason, by=getattr(tides, by))

    assert not Replacement.objects.exists()


def test_the_pages_show_the_effects_replace_and_undo(tides, client):
    client.force_login(tides.carla.user)
    old = tides.pools["1"]
    page = reverse("annotate:replacement", args=["tides", old.query_id, old.pk])
    fields = {"doc_id": "H", "text": "Better.", "reason": "Off topic."}

    shown = client.post(page, {**fields, "preview": "yes"})
    token = shown.context["effects"].token
    done = client.post(page, {**fields, "token": token})
    listed = client.get(reverse("annotate:replacements", args=["tides"])).content.decode()
    client.post(
        reverse("annotate:replacement_undoing", args=["tides", Replacement.objects.get().pk])
    )

    assert "2 claimed labels move to the new document." in shown.content.decode()
    assert "No longer counted, but kept: 1 judgment." in shown.content.decode()
    assert done.status_code == 302
    assert "Off topic." in listed
    assert tides.pool("1") == [("G", 1)]


def test_a_new_document_of_several_lines_is_made_on_the_page(tides, client):
    client.force_login(tides.carla.user)
    candidate = tides.pools["1"]
    args = [tides.project.slug, candidate.query_id, candidate.pk]
    sent = {"doc_id": "H", "text": "First line.\r\n\r\nThird line.", "reason": "Off topic."}
    where = reverse("annotate:replacement", args=args)

    preview = client.post(where, sent | {"preview": "yes"})
    client.post(where, sent | {"token": preview.context["effects"].token})

    [text] = Document.objects.get(doc_id="H").texts.all()
    assert text.text == "First line.\n\nThird line."


def test_what_was_written_stays_if_another_lead_takes_the_document_out(tides, client):
    client.force_login(tides.carla.user)
    candidate = tides.pools["1"]
    args = [tides.project.slug, candidate.query_id, candidate.pk]
    Candidate.objects.update(removed_at=timezone.now(), removed_reason="A double.")
    sent = {"doc_id": "H", "text": "A long text.", "reason": "Off topic.", "preview": "yes"}

    refused = client.post(reverse("annotate:replacement", args=args), sent)

    assert refused.status_code == 422
    assert shows(refused, "This document was already taken out of its pool.")
    assert shows(refused, "A long text.")


def test_the_api_previews_replaces_lists_and_undoes(tides):
    program = Program("carla", "read", "lead")
    body = {"query_id": "1", "doc_id": "G", "new_doc_id": "H", "text": "Better."}
    at = "projects/tides/replacements/"

    preview = program.send("POST", f"{at}preview/", body).json()
    made = program.send(
        "POST", at, {**body, "reason": "Off topic.", "token": preview["token"]}
    ).json()
    undone = program.send("POST", f"{at}{made['id']}/undoing/").json()

    assert (preview["queries"], preview["rules"]) == (["1", "2"], {"gold": ["1"]})
    assert (made["old"], made["new"], made["undone_at"]) == ("G", "H", None)
    assert undone["undone_by"] == "carla"
    assert [row["id"] for row in program.get(at).json()["results"]] == [made["id"]]


def test_the_command_previews_and_replaces(tides, tmp_path):
    (tmp_path / "h.txt").write_text("Better.")
    out = StringIO()
    arguments = ["tides", "replace", "--candidate", "1", "G", "--with", "H", "--by", "carla"]
    arguments += ["--text", str(tmp_path / "h.txt"), "--reason", "Off topic."]

    call_command("candidates", *arguments, "--dry-run", stdout=out)
    before = tides.pool("1")
    call_command("candidates", *arguments, stdout=out)

    preview = (
        "2 pools\n"
        "2 claimed labels move to the new document\n"
        "no longer counted, but kept: 1 judgment\n"
    )
    assert out.getvalue() == preview + preview + "replaced\n"
    assert (before, tides.pool("1")) == ([("G", 1)], [("H", 1)])
    assert Replacement.objects.get().by == tides.carla


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [("--by", "Name with --by the lead"), ("--with", "the new one with --with")],
)
def test_the_command_needs_a_lead_and_a_new_document(tides, missing, sentence):
    options = {"--candidate": ["1", "G"], "--with": ["H"], "--by": ["carla"]}
    del options[missing]

    with pytest.raises(CommandError, match=sentence):
        call_command(
            "candidates",
            "tides",
            "replace",
            *(word for name, values in options.items() for word in (name, *values)),
        )


def test_the_command_says_that_a_document_was_taken_out_before(tides):
    Candidate.objects.update(removed_at=timezone.now(), removed_reason="A double.")
    arguments = ["tides", "replace", "--candidate", "1", "G", "--with", "3", "--by", "carla"]

    with pytest.raises(CommandError, match="already taken out of its pool"):
        call_command("candidates", *arguments, "--text", __file__)
