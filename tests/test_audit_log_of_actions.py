"""The audit log has every action of leads once, and none that was refused or changed nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate.collection.passages import set_passage_rule
from annotate.collection.removal import INSTRUCTIONS, QUERIES
from annotate.guidelines import actions as guidelines
from annotate.guidelines import rejudge_requests
from annotate.guidelines.rejudge_requests import AnswerSelection
from annotate.judging import actions as judging
from annotate.judgments import assignments
from annotate.loading import load_jobs
from annotate.models import Assignment, AuditEvent, Judgment, Run, Verdict
from annotate.pairs.named_people import name_people, set_urgent
from annotate.pools import actions as pooling
from annotate.pools.actions import choose_hard_negatives
from annotate.pools.removal import DOCUMENTS
from annotate.pools.replacing import (
    NewDocument,
    effects,
    replace_document,
    undo_replacement,
)
from annotate.projects import actions as projects
from annotate.projects import schedule, taxonomy
from annotate.projects.audit_log import AUDIT_EVENTS
from annotate.projects.kinds import KindGrade
from annotate.projects.project_jobs import cancel_job
from annotate.projects.taxonomy import Kind
from audit.checks import actions as checks
from audit.checks.claims import ClaimSelection
from audit.checks.machines import choose_machine
from audit.checks.samples import draw_sample
from audit.model_runs import actions as models
from audit.model_runs.models import Endpoint
from audit.model_runs.tasks import task_of
from audit.reports import actions as reports_actions
from audit.reviews import actions as audit
from audit.reviews.criteria import MULTICONIR
from audit.reviews.decisions import decide, withdraw_decision
from audit.reviews.draws import draw_for_review, end_draw
from audit.reviews.rubrics import choose_rubric
from audit.settling import adjudication, settle_many
from audit.settling import settle_many as settling_many
from audit.settling.kinds import JudgmentDisagreement
from audit.settling.queue_filters import QueueFilter
from base.errors import Refused
from exporters.evaluations.actions import request_evaluation
from exporters.evaluations.systems import System
from exporters.exports import actions as exports
from exporters.exports.publishing import set_publication
from exporters.releases import actions as releasing
from jobs import runner
from keeping.verify import verify
from tests import factories
from tests.collection.arriving import load
from tests.second_pass import levels

JUDGE, REVIEW = Assignment.Task.JUDGE, Assignment.Task.REVIEW

# Events that other tests cover.
ELSEWHERE = {
    key
    for key in AUDIT_EVENTS
    if key.partition(".")[0]
    in {"account", "admin", "errand", "invitation", "job", "member", "token"}
} | {
    # tests/judgments/test_attributes.py
    "attributes.negated",
    # tests/pools/test_taking_back.py
    "load.taken_back",
    # tests/rewriting/test_versions.py
    "narrative.replaced",
    "narrative.returned",
    # tests/rewriting/test_sending_back.py
    "narrative.sent_back",
    "narrative.kept",
    # tests/releases/test_release_trial.py
    "release.discarded",
    "export.taken",
    "project.backed_up",
    "project.purged",
    "project.restored",
    "release.taken",
}


class Story:
    """A project in which people judge and review, and then take one step after another."""

    def __init__(self) -> None:
        self.carla_user = factories.user("carla")
        self.project = projects.create_project(slug="tides", grades=[0, 1, 2], by=self.carla_user)
        self.carla = self.project.memberships.get(user=self.carla_user)
        self.ada, self.ben, self.dan = (
            factories.member(self.project, name) for name in ("ada", "ben", "dan")
        )
        self.query = factories.query(self.project)
        self.candidates = [factories.candidate(self.query, name) for name in ("A", "B", "C")]
        self.pair = factories.pair(self.query)
        self.narrative = factories.altered(self.pair)
        self.condition = self.narrative.conditions.create(number=1, text="At sea.")
        for by, grades, answer in ((self.ada, (0, 1, 2), "met"), (self.ben, (2, 0, 0), "not_met")):
            assignments.take(pair=self.pair, task=JUDGE, by=by)
            for candidate, relevance in zip(self.candidates, grades, strict=True):
                judging.judge(
                    narrative=self.narrative,
                    candidate=candidate,
                    relevance=relevance,
                    by=by,
                    verdicts={self.condition.pk: answer},
                )
        for by in (self.ben, self.dan):
            assignments.take(pair=self.pair, task=REVIEW, by=by)
            audit.save_ratings(narrative=self.narrative, answers=levels(), by=by)
            audit.submit_review(narrative=self.narrative, by=by)

    @property
    def events(self) -> list[str]:
        return list(AuditEvent.objects.order_by("pk").values_list("what", flat=True))

    def logs(self, *what: str, times: int = 1) -> Callable[[Callable[[], Any]], Any]:
        """Run a step `times` times, and check that it added exactly these audit events."""

        def run(step: Callable[[], Any]) -> Any:
            before = len(self.events)
            for _ in range(times):
                done = step()
            assert self.events[before:] == list(what)
            return done

        return run


@pytest.fixture
def story(db, storage, published) -> Story:
    return Story()


@pytest.fixture
def storage(settings, tmp_path):
    default = {**settings.STORAGES["default"], "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "default": default}


def test_every_action_of_a_lead_is_in_the_audit_log_once(story, settings):
    carla, project = story.carla, story.project
    first, second, _third = story.candidates
    why: dict[str, Any] = {"cause": "edge", "reason": "Agreed."}
    assert story.events == ["project.made"]

    # Rules, categories and guidelines.
    grades = [KindGrade(value, f"Grade {value}") for value in (0, 1, 2)]
    story.logs("project.rules", times=2)(
        lambda: projects.change_rules(changes={"overlap_judge": 3}, grades=grades, by=carla)
    )
    made = AuditEvent.objects.latest("pk")
    assert made.changes["overlap_judge"] == [2, 3]
    story.logs("categories.changed", times=2)(
        lambda: taxonomy.set_categories(kinds=[Kind("C1", "One", "A type.")], by=carla)
    )
    guideline = story.logs("guidelines.written")(
        lambda: guidelines.write_guideline(text="Only at sea.", by=carla, based_on=0)
    )

    # Files.
    def hand_in():
        file = SimpleUploadedFile("qrels.txt", b"302 0 Z 1\n")
        return load_jobs.request_load(format_name="trec-qrels", file=file, by=carla)

    preview = story.logs("load.asked")(hand_in)
    preview.report, preview.state = {"refused": 0}, "done"
    preview.finished_at = preview.requested_at
    preview.save()
    confirmed = story.logs("load.confirmed", times=2)(
        lambda: load_jobs.confirm_load(preview=preview, by=carla)
    )
    story.logs("load.cancelled", times=2)(lambda: cancel_job(job=confirmed, by=carla))
    left = story.logs("load.asked")(hand_in)
    left.report, left.state, left.finished_at = {"refused": 0}, "done", left.requested_at
    left.save()
    story.logs("load.left", times=2)(lambda: load_jobs.discard_preview(preview=left, by=carla))
    refused = story.logs("load.asked")(hand_in)
    refused.report, refused.state = {"refused": 1, "likely_format": "trec-run"}, "done"
    refused.finished_at = refused.requested_at
    refused.save()
    story.logs("load.rechecked")(lambda: load_jobs.recheck_load(preview=refused, by=carla))
    story.logs("load.done", times=2)(lambda: load(project, "trec-qrels", "302 0 Z 1\n"))
    assert AuditEvent.objects.latest("pk").words == "1 new, 0 changed, 0 unchanged"

    # Assignments.
    project.refresh_from_db()
    assignment = assignments.take(pair=story.pair, task=JUDGE, by=story.dan)
    story.logs("assignment.freed")(lambda: assignments.give_back(assignment=assignment, by=carla))
    own = assignments.take(pair=story.pair, task=JUDGE, by=story.dan)
    story.logs()(lambda: assignments.give_back(assignment=own, by=story.dan))

    # Disagreements.
    story.logs("names.revealed", times=2)(
        lambda: JudgmentDisagreement(carla, story.narrative, first).reveal()
    )
    settled = story.logs("judgment.settled", times=2)(
        lambda: adjudication.adjudicate(
            narrative=story.narrative, candidate=first, relevance=1, by=carla, **why
        )
    )
    story.logs("judgment.unsettled", times=2)(
        lambda: adjudication.withdraw_adjudication(adjudication=settled, by=carla)
    )
    judgment = Judgment.objects.get(candidate=second, annotator=story.ada)
    adopted = story.logs("judgment.settled")(
        lambda: adjudication.adopt(judgment=judgment, cause="edge", by=carla)
    )
    adjudication.withdraw_adjudication(adjudication=adopted, by=carla)
    settled = story.logs("condition.settled", times=2)(
        lambda: adjudication.settle_condition(
            condition=story.condition, candidate=first, answer="met", by=carla, **why
        )
    )
    story.logs("condition.unsettled", times=2)(
        lambda: adjudication.withdraw_adjudication(adjudication=settled, by=carla)
    )
    verdict = Verdict.objects.get(statement=judgment)
    story.logs("condition.settled")(
        lambda: adjudication.adopt_verdict(verdict=verdict, cause="edge", by=carla)
    )
    how = settling_many.RuleChoice(settling_many.Rule.GRADE, grade=1)
    token = settling_many.preview(carla, QueueFilter(), how).token
    batch = story.logs("judgments.settled")(
        lambda: settling_many.settle_many(
            filters=QueueFilter(), choice=how, token=token, by=carla, **why
        )
    )
    story.logs("judgments.unsettled", times=2)(
        lambda: settle_many.withdraw_batch(batch=batch, by=carla)
    )

    # Rejudge requests.
    rejudge_request = story.logs("rejudging.asked", times=2)(
        lambda: rejudge_requests.ask(statement=judgment, words="Look again.", by=carla)
    )
    story.logs("rejudging.withdrawn", times=2)(
        lambda: rejudge_requests.withdraw(rejudge_request=rejudge_request, by=carla)
    )
    token = rejudge_requests.count_older(guideline, AnswerSelection()).token
    story.logs("rejudging.asked")(
        lambda: rejudge_requests.ask_older(
            guideline=guideline,
            selection=AnswerSelection(),
            words="Look again.",
            token=token,
            by=carla,
        )
    )
    story.logs("rejudging.withdrawn", times=2)(
        lambda: rejudge_requests.withdraw_older(guideline=guideline, by=carla)
    )

    # The second pass.
    story.logs("rubric.chosen", times=2)(
        lambda: choose_rubric(project=project, name=MULTICONIR.name, by=carla)
    )
    decided = story.logs("instruction.decided", times=2)(
        lambda: decide(narrative=story.narrative, outcome="revise", reason="Why.", by=carla)
    )
    story.logs("instruction.undecided", times=2)(
        lambda: withdraw_decision(decision=decided, by=carla)
    )
    machine = factories.machine(project, "gen-2")
    story.logs("claims.chosen")(lambda: choose_machine(machine=machine, by=carla))
    story.logs()(lambda: choose_machine(machine=machine, by=carla))
    sample = story.logs("sample.made")(
        lambda: draw_sample(
            name="one",
            selection=ClaimSelection("prior"),
            stratify="none",
            per="stratum",
            size=1,
            seed=1,
            by=carla,
        )
    )
    item = sample.items.get()
    for relevance, checker in enumerate((story.ada, story.ben)):
        story.logs()(lambda: checks.check(item=item, relevance=relevance, by=checker))  # noqa: B023
    story.logs("label.settled", times=2)(lambda: checks.settle(item=item, relevance=2, by=carla))
    story.logs("label.unsettled", times=2)(lambda: checks.withdraw_check(item=item, by=carla))
    story.logs()(lambda: checks.settle(item=item, relevance=2, by=story.dan))
    report = story.logs("agreement.asked", times=2)(
        lambda: reports_actions.request_agreement(project=project, by=carla)
    )
    story.logs("agreement.cancelled", times=2)(lambda: cancel_job(job=report, by=carla))

    # Language models.
    settings.MODEL_SERVERS = {"lab": "http://127.0.0.1:1/v1"}
    endpoint = story.logs("model.added")(
        lambda: models.add_endpoint(
            Endpoint(server="lab", model="small", most_tokens=9_000), by=carla
        )
    )
    story.logs("prompt.saved")(
        lambda: models.save_prompt(
            task="grade", text=f"{task_of('grade').shipped.text}Be brief.", by=carla
        )
    )
    story.logs("model.limited")(
        lambda: models.set_limits(endpoint=endpoint, limits={"most_tokens": 9_500}, by=carla)
    )
    story.logs("model_budget.set")(
        lambda: models.set_budget(most_tokens=9_000, most_cost=None, by=carla)
    )
    model_run = story.logs("model_run.asked")(
        lambda: models.request_run(
            models.new_run(endpoint=endpoint, subjects="all", most_tokens=9_000), by=carla
        )
    )
    story.logs("model_run.cancelled", times=2)(lambda: cancel_job(job=model_run, by=carla))
    story.logs("model.removed", times=2)(
        lambda: models.remove_endpoint(endpoint=endpoint, by=carla)
    )

    # Exports, evaluations and releases.
    export = story.logs("export.asked", times=2)(
        lambda: exports.request_export(project=project, format_name="trec", by=carla)
    )
    story.logs("export.cancelled", times=2)(lambda: cancel_job(job=export, by=carla))
    run = Run.objects.create(project=project, name="one.run", sha256="0" * 64)
    evaluation = story.logs("evaluation.asked", times=2)(
        lambda: request_evaluation(
            project=project, measured=[System("one", {"original": run})], by=carla
        )
    )
    story.logs("evaluation.cancelled", times=2)(lambda: cancel_job(job=evaluation, by=carla))
    release = story.logs("release.asked")(
        lambda: releasing.request_release(project=project, name="v1", note="First.", by=carla)
    )
    story.logs("publication.changed", times=2)(
        lambda: set_publication(project=project, changes={"licence": "MIT"}, by=carla)
    )
    story.logs("release.cancelled", times=2)(lambda: cancel_job(job=release, by=carla))

    # Pools and passages.
    recipe = pooling.recipe_of(project=project, method="judged", runs=[run.name])
    pool = story.logs("pool.asked")(
        lambda: pooling.request_pool(recipe=recipe, name="first", by=carla)
    )
    story.logs("pool.made")(lambda: runner.run(pool.pk))
    other = story.logs("pool.asked")(
        lambda: pooling.request_pool(recipe=recipe, name="second", by=carla)
    )
    story.logs("pool.cancelled", times=2)(lambda: cancel_job(job=other, by=carla))
    these = {"project": project, "keys": [first.pk, second.pk], "by": carla}
    story.logs("candidates.removed", times=2)(
        lambda: DOCUMENTS.remove(reason="Twice here.", **these)
    )
    assert AuditEvent.objects.latest("pk").about == "2 documents · 301"
    story.logs("candidates.restored", times=2)(lambda: DOCUMENTS.restore(**these))
    new = NewDocument("NEW", text="A better text.")
    replaced = story.logs("document.replaced")(
        lambda: replace_document(
            candidate=first,
            new=new,
            reason="Off topic.",
            token=effects(first, new).token,
            by=carla,
        )
    )
    story.logs("document.replacement_undone", times=2)(
        lambda: undo_replacement(replacement=replaced, by=carla)
    )
    story.logs("hard_negatives.chosen", times=2)(
        lambda: choose_hard_negatives(project=project, runs=[run.name], depth=5, by=carla)
    )
    story.logs("passages.changed", times=2)(
        lambda: set_passage_rule(project=project, changes={"words": 300}, by=carla)
    )
    # A draw for review, and its end: the second time there is none to end.
    draw = {"project": project, "by": carla}
    story.logs("review_draw.made")(lambda: draw_for_review(stratify="none", size=1, seed=1, **draw))
    story.logs("review_draw.ended", times=2)(lambda: end_draw(**draw))
    # Queries and instructions that are taken out.
    out = {"project": project, "by": carla}
    queries, pairs = [story.query.pk], [story.pair.pk]
    story.logs("queries.removed", times=2)(
        lambda: QUERIES.remove(keys=queries, reason="Off topic.", **out)
    )
    story.logs("queries.restored", times=2)(lambda: QUERIES.restore(keys=queries, **out))
    story.logs("pairs.removed", times=2)(
        lambda: INSTRUCTIONS.remove(keys=pairs, reason="Too vague.", **out)
    )
    story.logs("pairs.restored", times=2)(lambda: INSTRUCTIONS.restore(keys=pairs, **out))

    # People named for tasks, pauses and due dates.
    on = {"query": story.query, "people": {"judge": [carla.pk]}}
    story.logs("query.people", times=2)(lambda: name_people(by=carla, **on))
    story.logs("query.urgent", times=2)(
        lambda: set_urgent(query=story.query, urgent=True, by=carla)
    )
    story.logs("project.paused", times=2)(lambda: schedule.pause(by=carla))
    story.logs("project.resumed", times=2)(lambda: schedule.resume(by=carla))
    due_on = date(2127, 3, 31)
    story.logs("project.due", times=2)(lambda: schedule.set_due_date(due_on=due_on, by=carla))

    # The project as a whole.
    story.logs("project.kind", "project.rules", times=2)(
        lambda: projects.change_kind(key="followir", by=carla)
    )
    story.logs("project.archived", times=2)(lambda: projects.archive(by=carla))
    carla.refresh_from_db()
    story.logs("project.unarchived", times=2)(lambda: projects.unarchive(by=carla))

    assert set(story.events) == set(AUDIT_EVENTS) - ELSEWHERE
    assert {name for (name,) in AuditEvent.objects.values_list("name")} == {"carla", ""}
    assert AuditEvent.objects.filter(name="").values_list("what", flat=True).get() == "load.done"
    assert verify(project).faults == []


def test_refused_actions_are_not_in_the_audit_log(story):
    with pytest.raises(Refused):
        adjudication.adjudicate(
            narrative=story.narrative,
            candidate=story.candidates[0],
            relevance=1,
            reason="I think so.",
            cause="edge",
            by=story.ada,
        )
    with pytest.raises(Refused):
        projects.archive(by=story.ada)

    assert story.events == ["project.made"]


def test_audit_events_hold_no_grades_or_reasons(story):
    adjudication.adjudicate(
        narrative=story.narrative,
        candidate=story.candidates[0],
        relevance=2,
        reason="ada is right about the turbines.",
        cause="edge",
        by=story.carla,
    )
    audit_event = AuditEvent.objects.latest("pk")

    assert (audit_event.about, audit_event.words, audit_event.changes) == (
        "301 · altered 1 · A",
        "",
        {},
    )
