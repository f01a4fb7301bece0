"""A request body may only contain declared fields and objects of the person's own project.

Bodies are generated from the declaration of each operation, so new operations are attacked without
being listed here; the columns are those of the models.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from copy import deepcopy
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rest_framework import serializers

from annotate.models import (
    Adjudication,
    Candidate,
    Judgment,
    Membership,
    Narrative,
    Run,
    Statement,
    Verdict,
)
from audit.models import Decision, Endpoint
from audit.reviews.actions import save_ratings
from base.api.resource import KeyField
from tests import factories
from tests.attacks.test_addresses import all_rows, columns, with_the_same_keys
from tests.attacks.test_every_door import writes
from tests.attacks.test_parameters import FOREIGN_KEY, SECRET, others_rows
from tests.attacks.test_tokens import DECLARED, secret_of
from tests.second_pass import levels
from tests.services.database import rolled_back
from tests.test_blindness import ANSWERED_AT, AnswerSet, give_answers
from tests.test_permissions import RIGHTS, Right, rows

pytestmark = pytest.mark.long

# (route, verb) of everything that changes something: with a body, and without one.
SENT = {(name, verb): one.body for name, verb, one in DECLARED if one.body is not None}
SILENT = sorted((name, verb) for name, verb, one in DECLARED if one.writes and one.body is None)
# Fields that no model has but that an attacker would like to set.
TEMPTING_FIELDS: dict[str, Any] = {
    **dict.fromkeys(("id", "pk", "project", "by", "user", "member", "membership", "annotator"), 1),
    **dict.fromkeys(("is_staff", "is_superuser"), True),
    "slug": "other",
    "role": "lead",
    "password": "swordfish",
    "scopes": ["lead"],
    "state": "done",
    "created_at": "2001-02-03",
    "__class__": "x",
    "constructor": "x",
    "user__password": "x",
    "pk__in": [1],
    "": 1,
}
EXTRA = {**columns(), **TEMPTING_FIELDS}

# Who may do it; for other operations a lead without any assignment.
PEOPLE = {
    "annotate:api_judgments": "ada",
    "annotate:api_flags": "ada",
    "audit:api_review": "dan",
    "audit:api_review_submission": "dan",
    "audit:api_check": "nina",
    "annotate:api_narratives": "wim",
    "annotate:api_draft": "wim",
}
OTHERS = ("carla", "root")
Body = dict[str, Any]
# Instead of a value: the field is left out.
LEFT_OUT = object()


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Silence the log: thousands of requests are refused, each with a captured log line."""
    caplog.set_level(logging.CRITICAL, logger="django.request")


@pytest.fixture
def both_projects(beside: SimpleNamespace) -> Iterator[SimpleNamespace]:
    """A project judged by everyone, another project beside it, and a client for each person."""
    with rolled_back():
        give_answers(beside, AnswerSet(1))
        # Withdrawn, because settled and decided rows could not be settled and decided again.
        for model in (Adjudication, Decision):
            model.objects.update(withdrawn_at=ANSWERED_AT, withdrawn_by=beside.carla)
        # They also differ on a condition, and dan only has to submit his review.
        bens = Verdict.objects.filter(
            condition=beside.conditions[0], statement__annotator=beside.ben
        )
        bens.update(answer="cant_tell")
        answers = dict.fromkeys(levels(), ("acceptable", ""))
        save_ratings(narrative=beside.narrative, answers=answers, by=beside.dan, now=ANSWERED_AT)
        narrative = Narrative.objects.filter(pair=beside.other.pair, side="altered").get()
        eve = beside.other.project.memberships.get(user__username="eve")
        factories.judgment(narrative, beside.other.candidate, eve, 1)
        for project in (beside.project, beside.other.project):
            Run.objects.create(project=project, name="bm25", sha256="0" * 64)
        beside.clients = {name: program_of(beside, name) for name in {*PEOPLE.values(), *OTHERS}}
        beside.rows, beside.others_rows = rows(), others_rows(beside)
        yield beside


def program_of(stage: SimpleNamespace, name: str) -> Client:
    """Return an API client of a person, with every scope."""
    member = Membership.objects.select_related("user").filter(name=name, project=stage.project)
    user = member[0].user.username if member and member[0].user else name
    secret = secret_of(user, "judge", "lead")
    return Client(headers={"Authorization": f"Bearer {secret}"}, raise_request_exception=False)


def client_for(stage: SimpleNamespace, route: str) -> Client:
    """Return the API client of a person who may use the route."""
    who = "root" if RIGHTS[route] is Right.API_ADMIN else PEOPLE.get(route, "carla")
    found: Client = stage.clients[who]
    return found


def example(field: Any) -> Any:
    """Return a value that a field would accept."""
    match field:
        case serializers.BaseSerializer() if hasattr(field, "child"):
            return [example(field.child)]
        case serializers.Serializer():
            return {name: example(one) for name, one in field.get_fields().items()}
        case serializers.ListField():
            return [example(field.child)]
        case serializers.DictField():
            return {}
        case serializers.BooleanField():
            return False
        case serializers.ChoiceField():
            return next(value for value in field.choices if value)
        case serializers.IntegerField() | serializers.FloatField() | serializers.DecimalField():
            return max(1, field.min_value or 0)
        case serializers.UUIDField():
            return str(UUID(int=77))
        case serializers.DateTimeField():
            return "2026-03-02T09:30:00Z"
        case serializers.DateField():
            return "2026-03-02"
        case serializers.EmailField():
            return "ada@example.org"
        case serializers.FileField():
            return SimpleUploadedFile("q.txt", b"301 0 D1 1\n")
        case serializers.CharField():
            return "words"
    raise AssertionError(f"no example of {field!r}")


def known(stage: SimpleNamespace) -> dict[str, Body]:
    """Return values that make bodies valid, by serializer; other values are made up."""
    judgment = Judgment.objects.filter(annotator=stage.ben, candidate=stage.first).get()
    verdict = Verdict.objects.filter(statement=judgment, condition=stage.conditions[0]).get()
    verdicts = {str(one.pk): "met" for one in stage.conditions}
    narrative, candidate = stage.narrative.pk, stage.first.pk
    span = [{"start": 0, "end": 1}]
    part = dict.fromkeys(
        ("category", "domain", "side", "criterion", "one", "other", "week"), LEFT_OUT
    )
    part |= {"query": "301", "guideline": LEFT_OUT}
    target = {"narrative": narrative, "candidate": candidate}
    of_pool = [{"query_id": "301", "doc_id": stage.first.document.doc_id}]
    pool = {"runs": ["bm25"], "strata": LEFT_OUT}
    return {
        "SentAccount": {"is_active": True},
        "SentFlag": target,
        "SentJudgment": {**target, "evidence": span, "clauses": span, "verdicts": verdicts},
        "SentGuideline": {"based_on": 1, "cases": [target]},
        "SentNarrative": {"based_on": stage.narrative.version, "confirmed": ""},
        "SentDraft": {"based_on": stage.narrative.version, "drops": [candidate]},
        "SentReview": {
            "narrative": narrative,
            "answers": [{"criterion": "semantic_expansion", "level": "acceptable", "words": ""}],
        },
        "SentSubmission": {"narrative": narrative, "texts": LEFT_OUT},
        "SentConfirmation": {"become_blind": True},
        "SentProject": {"slug": "reefs", "grades": [0, 1]},
        "SentRules": {"grades": [{"value": one, "name": f"{one}"} for one in range(3)]},
        "SentChange": dict.fromkeys(("left", "most_tasks"), LEFT_OUT),
        "SentPeople": {task: [stage.ada.pk] for task in ("rewrite", "judge", "review")},
        "SentDueDate": {"due_on": "2127-03-31"},
        "SentSeen": {"seen_until": "2026-03-02T09:30:00Z"},
        "SentInvitations": {
            "people": [{"username": "newcomer", "email": "new@example.org"}],
            "other_projects": [{"project": stage.project.slug, "role": "annotator"}],
        },
        "SentPart": part,
        "SentComparison": {"part": {"query": "301"}, "against": {"side": "altered"}},
        "SentPlan": {"rater": "machine", "side": LEFT_OUT},
        "SentSample": {"rater": "machine", "name": "Another", "side": LEFT_OUT},
        "SentSuspects": {
            "rater": "machine",
            "side": LEFT_OUT,
            "runs": [Run.objects.get(project=stage.project).pk],
        },
        "SentLooks": {"query": "301"},
        "RubricSerializer": {
            "levels": [
                {"value": "good", "name": "Good"},
                {"value": "bad", "name": "Bad", "rejects": True},
            ],
            "criteria": [{"key": "plain", "name": "Plain", "asks": "Is it plain?"}],
        },
        "SentFile": {"side": LEFT_OUT, "no_grade": LEFT_OUT},
        "SentSendBack": {"version": stage.narrative.version},
        "SentDecisions": {"outcome": "revise"},
        "PublicationSerializer": {"languages": "eng-Latn", "licence": "CC-BY-4.0"},
        "SentChoice": {"machine": "machine"},
        "SentMember": {"username": "eve"},
        "SentInvitation": {"username": "newcomer"},
        "SentAdjudication": {"adopt": judgment.pk, "relevance": None},
        "SentVerdict": {"adopt": verdict.pk, "answer": None},
        "SentRejudgeRequest": {"answer": judgment.pk},
        "SentMany": {
            **dict.fromkeys(("state", "kind", "criterion", "condition", "order"), LEFT_OUT),
            # People cannot be named while names are hidden.
            **dict.fromkeys(("one", "other"), LEFT_OUT),
            **dict.fromkeys(("document", "grade_one", "grade_other", "decides"), LEFT_OUT),
            **dict.fromkeys(("settled_cause", "only"), LEFT_OUT),
            "query": "301",
            "person": stage.ben.pk,
            "grade": 1,
        },
        "SentCheck": {"verdicts": {}},
        "RubricChoiceSerializer": {"name": "followtable-1"},
        "SentRelease": {"name": "v9"},
        "SentEvaluation": {
            "systems": [{"name": "bm25", "original": "bm25"}],
            **dict.fromkeys(("release", "baseline"), LEFT_OUT),
        },
        "PreferencesSerializer": {"time_zone": "UTC"},
        **{key: {"candidates": of_pool} for key in ("SentCandidates", "SentRemoval")},
        **{
            key: {**of_pool[0], "new_doc_id": "NEW-1", "title": "", "text": "A better text."}
            for key in ("SentNewDocument", "SentReplacement")
        },
        **{key: {"pairs": [stage.pair.pair_id]} for key in ("SentPairs", "SentPairRemoval")},
        **{key: {"queries": ["301"]} for key in ("SentQueries", "SentQueryRemoval")},
        "SentNegated": {"negated": [1]},
        "SentRun": {
            "endpoint": stage.world.keys["model"],
            "most_tokens": 9,
            "most_cost": None,
            "answers": LEFT_OUT,
        },
        "SentLimits": {"most_cost": None},
        "SentDraw": dict.fromkeys(("narrative", "least", "most"), LEFT_OUT),
        "SentSystems": {"runs": ["bm25"]},
        "PassagesSerializer": {"words": 2},
        "SentRule": pool,
        "SentPool": {**pool, "counted": LEFT_OUT},
    }


def bodies(stage: SimpleNamespace) -> Iterator[tuple[str, str, Any, Body]]:
    """Yield route, verb, serializer and a body that refers to existing rows."""
    right = known(stage)
    for (name, verb), sent in SENT.items():
        body = {**example(sent()), **right.get(sent.__name__, {})}
        yield name, verb, sent(), {key: one for key, one in body.items() if one is not LEFT_OUT}


def ask(stage: SimpleNamespace, name: str, verb: str, body: Any) -> tuple[Any, bool]:
    """Send a body, undo it, and return the response and whether a refusal changed anything.

    Also asserts that nothing of the other project was changed.
    """
    client, url = client_for(stage, name), stage.world.url(name)
    with rolled_back():
        with writes() as written:
            files = [body.get("file"), *(body.get("files") or ())]
            if uploaded := [file for file in files if isinstance(file, SimpleUploadedFile)]:
                for file in uploaded:
                    file.seek(0)
                answer = client.post(url, body)
            else:
                sent = json.dumps(body)
                answer = client.generic(verb, url, sent, content_type="application/json")
        assert not written or others_rows(stage) == stage.others_rows, (name, verb, body)
        # Some are refused half-way and roll back, so compare the rows.
        half = bool(written) and answer.status_code >= 400 and rows() != stage.rows
    return answer, half


def objects_in(field: Any, body: Any, at: str = "") -> Iterator[tuple[str, Any, Body]]:
    """Yield every object in a body: its pointer, its serializer, and itself."""
    if isinstance(field, serializers.Serializer):
        yield at, field, body
        for name, one in field.get_fields().items():
            if name in body:
                yield from objects_in(one, body[name], f"{at}/{name}")
    elif hasattr(field, "child") and isinstance(body, list):
        for number, entry in enumerate(body):
            yield from objects_in(field.child, entry, f"{at}/{number}")


def test_an_unknown_field_is_refused_by_name(both_projects, record_property):
    tried, failures, nested = 0, {}, 0
    for name, verb, form, body in bodies(both_projects):
        for place in [at for at, _field, _here in objects_in(form, body)]:
            attacked = deepcopy(body)
            found = {at: (one, part) for at, one, part in objects_in(form, attacked)}
            field, here = found[place]
            more = {key: value for key, value in EXTRA.items() if key not in field.get_fields()}
            here.update(more)
            tried, nested = tried + len(more), nested + bool(place)
            answer, half = ask(both_projects, name, verb, attacked)
            reported = {fault["pointer"] for fault in answer.json().get("errors", ())}
            missed = {f"{place}/{key}" for key in more} - reported
            if answer.status_code != 400 or missed or half:
                failures[verb, name, place] = answer.status_code, sorted(missed)[:5], half
    record_property(
        "tried",
        f"mass assignment over the API: {tried:,} fields that nobody asked for, in {len(SENT)} "
        f"bodies and {nested} places within them",
    )

    assert failures == {}
    assert len(SENT) > 35
    assert nested > 8


def test_a_body_for_an_operation_without_one_changes_nothing(both_projects, record_property):
    failures, changing = {}, 0
    before = all_rows()
    for name, verb in SILENT:
        states = []
        for body in ({}, EXTRA):
            with with_the_same_keys():
                answer = client_for(both_projects, name).generic(
                    verb,
                    both_projects.world.url(name),
                    json.dumps(body),
                    content_type="application/json",
                )
                states.append((answer.status_code, all_rows()))
        changing += states[0][1] != before
        if states[0] != states[1]:
            failures[verb, name] = states[0][0], states[1][0]
    record_property(
        "tried",
        f"mass assignment over the API: {len(EXTRA)} fields sent to each of {len(SILENT)} writes "
        f"that take none; {changing} of them change something",
    )

    assert failures == {}
    assert changing > 5


# Operations whose valid body is refused for a reason other than the body.
NOT_NOW = {
    # The token is not that of a preview.
    "annotate:api_rejudge_requests_of_guideline": 409,
    "audit:api_settling_many": 409,
    "annotate:api_replacements": 409,
    # The action is not possible now.
    "annotate:api_confirmation": 422,
    # The version is the current one.
    "annotate:api_narrative_current": 422,
    "annotate:api_pair_assignments": 422,
    "audit:api_settling": 422,
    "audit:api_review_decisions": 422,
    "annotate:api_attributes": 422,
    # The run has no documents.
    "audit:api_suspects": 422,
    # Nobody differs from the machine.
    "audit:api_second_look": 422,
    # No server of models is allowed, and the words are no prompt.
    "audit:api_models": 422,
    "audit:api_model_runs": 422,
    "audit:api_prompts": 422,
}


def leaves(
    field: Any, body: Any, at: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the path and field of every value in a body."""
    if isinstance(field, serializers.Serializer) and body is not None:
        for name, one in field.get_fields().items():
            # Also fields that the example leaves out.
            yield from leaves(one, body.get(name), (*at, name))
    elif hasattr(field, "child") and not isinstance(field, serializers.DictField):
        for number, entry in enumerate(body or ()):
            yield from leaves(field.child, entry, (*at, number))
    else:
        yield at, field


def changed(body: Body, path: tuple[Any, ...], value: Any) -> Body:
    """Return a copy of the body with another value at one path."""
    made = deepcopy(body)
    here: Any = made
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = value
    return made


def test_the_unchanged_bodies_are_accepted(both_projects):
    refused = {}
    for name, verb, _form, body in bodies(both_projects):
        answer, _changed = ask(both_projects, name, verb, body)
        if answer.status_code >= 300:
            refused[name] = answer.status_code

    assert refused == NOT_NOW


def test_an_error_in_a_body_names_its_field(both_projects):
    _, _, _, body = next(
        one for one in bodies(both_projects) if one[0] == "audit:api_settling_many"
    )

    answer, _half = ask(both_projects, "audit:api_settling_many", "POST", {**body, "query": "999"})

    assert [one["pointer"] for one in answer.json()["errors"]] == ["/query"]


# The model that a key field refers to, and the lookup of its project.
KEYS = {
    **dict.fromkeys(("narrative", "narratives"), (Narrative, "pair__project")),
    **dict.fromkeys(("candidate", "drops"), (Candidate, "query__project")),
    **dict.fromkeys(("answer", "adopt"), (Statement, "annotator__project")),
    **dict.fromkeys(("one", "other", "person"), (Membership, "project")),
    **dict.fromkeys(("rewrite", "judge", "review"), (Membership, "project")),
    **dict.fromkeys(("runs",), (Run, "project")),
    **dict.fromkeys(("endpoint",), (Endpoint, "project")),
}


def test_keys_of_another_project_are_refused_everywhere(both_projects, record_property):
    other = both_projects.other
    names = ["other", "eve", "frank", other.keys["release"]]
    tried, keys = 0, 0
    failures: dict[tuple[Any, ...], Any] = {}
    for name, verb, form, body in bodies(both_projects):
        for path, field in leaves(form, body):
            if isinstance(field, serializers.FileField):
                continue
            # A field that takes no key must only not break, and not look the name up.
            number = isinstance(field, serializers.IntegerField)
            values: list[Any] = [FOREIGN_KEY if number else "other"]
            refused: set[Any] = set()
            if isinstance(field, KeyField):
                model, way = KEYS[[step for step in path if isinstance(step, str)][-1]]
                refused = set(
                    model._default_manager.filter(**{way: other.project}).values_list("pk")
                )
                refused = {key for (key,) in refused}
                assert refused, path
                values, keys = [*refused, *names], keys + 1
            elif isinstance(field, serializers.DictField):
                values = [{str(key): "met"} for key in (FOREIGN_KEY, "other")]
            for value in values:
                tried += 1
                answer, half = ask(both_projects, name, verb, changed(body, path, value))
                where = (verb, name, path, str(value))
                if half:
                    failures[where] = "refused, and changed all the same"
                if answer.status_code >= 500 or SECRET in answer.content.decode():
                    failures[where] = answer.status_code, answer.content[:200]
                if isinstance(value, int) and value in refused:
                    if path[-2:] == ("drops", 0) and answer.status_code == 200:
                        # Foreign candidates are dropped from the stored draft.
                        assert answer.json()["draft"]["drops"] == []
                    elif answer.status_code < 400:
                        failures[where] = answer.status_code, answer.content[:200]
    record_property(
        "tried",
        f"foreign keys in bodies: {tried:,} requests with keys and names of another "
        f"project, {keys} of the fields are keys",
    )

    assert failures == {}
    assert keys > 15
