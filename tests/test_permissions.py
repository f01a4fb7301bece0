"""Who may use each route. `tests.attacks.test_every_door` tests this table with requests.

The routes are read from the URL configuration; a new one fails until RIGHTS says who may use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.urls.resolvers import RoutePattern
from django.utils import timezone

from annotate.guidelines.actions import write_guideline
from annotate.judgments import assignments
from annotate.models import (
    Adjudication,
    Assignment,
    Candidate,
    Condition,
    InstructionPair,
    Load,
    Pool,
    Project,
    Replacement,
    User,
)
from annotate.people.invitations import invite, invite_to_installation
from annotate.people.tokens import make_token
from audit.model_runs.tasks import task_of
from audit.models import (
    AgreementReport,
    Call,
    Endpoint,
    ModelRun,
    Prompt,
    Sample,
    SampleItem,
)
from exporters.models import Evaluation, Export, Release
from tests import factories


class Right(Enum):
    """Who may use a route."""

    OPEN = "anybody, signed in or not"
    PERSON = "whoever is signed in"
    MEMBER = "members of the project"
    READ = "members of the project; leads may also write"
    LEAD = "leads of the project"
    API = "programs of members; others get an error, never a redirect to a page"
    ADMIN = "administrators of the installation"
    DOOR = "steps of signing in and of the own account; they do nothing outside their step"
    HIDDEN = "administrators and holders of the metrics token; others get 404"
    STAFF = "staff of the installation"
    API_PERSON = "programs of whoever is signed in"
    API_READ = "programs of members; those of leads may also write"
    API_LEAD = "programs of leads"
    API_ADMIN = "programs of administrators of the installation"
    JOURNAL = "programs of whoever is signed in; rights are checked for each entry"


LEADS = {Right.LEAD, Right.API_LEAD}
ADMINS = {Right.ADMIN, Right.API_ADMIN}
PROGRAMS = {
    *(Right.API, Right.API_PERSON, Right.API_READ, Right.API_LEAD, Right.API_ADMIN, Right.JOURNAL),
}


RIGHTS = {
    "login": Right.OPEN,
    "logout": Right.PERSON,
    "password_change": Right.PERSON,
    "password_change_done": Right.PERSON,
    "account_login": Right.OPEN,
    "account_signup": Right.OPEN,
    "account_inactive": Right.OPEN,
    "account_reauthenticate": Right.PERSON,
    "account_change_password": Right.PERSON,
    "account_set_password": Right.PERSON,
    "account_reset_password": Right.OPEN,
    "account_reset_password_done": Right.OPEN,
    "account_reset_password_from_key": Right.OPEN,
    "account_reset_password_from_key_done": Right.OPEN,
    "account_email": Right.PERSON,
    "account_email_verification_sent": Right.OPEN,
    "account_confirm_email": Right.DOOR,
    "mfa_index": Right.PERSON,
    "mfa_authenticate": Right.DOOR,
    "mfa_reauthenticate": Right.DOOR,
    "mfa_activate_totp": Right.PERSON,
    "mfa_totp_picture": Right.DOOR,
    "mfa_deactivate_totp": Right.DOOR,
    "mfa_view_recovery_codes": Right.DOOR,
    "mfa_generate_recovery_codes": Right.PERSON,
    "mfa_download_recovery_codes": Right.DOOR,
    "socialaccount_connections": Right.PERSON,
    "socialaccount_signup": Right.DOOR,
    "socialaccount_login_cancelled": Right.OPEN,
    "socialaccount_login_error": Right.DOOR,
    "openid_connect_login": Right.DOOR,
    "openid_connect_callback": Right.DOOR,
    "annotate:account": Right.PERSON,
    "annotate:sessions": Right.DOOR,
    "annotate:invitation": Right.OPEN,
    "annotate:people": Right.ADMIN,
    "annotate:account_change": Right.ADMIN,
    "annotate:account_invitation_withdrawal": Right.ADMIN,
    "healthz": Right.OPEN,
    "readyz": Right.OPEN,
    # A program without the token finds nothing, signed in or not.
    "metrics": Right.HIDDEN,
    "glossary": Right.PERSON,
    "help": Right.OPEN,
    "examples": Right.PERSON,
    "status": Right.STAFF,
    "status_retry": Right.STAFF,
    "installation_audit_log": Right.STAFF,
    "installation_audit_log_table": Right.STAFF,
    "annotate:home": Right.PERSON,
    "annotate:notices": Right.PERSON,
    "annotate:tour": Right.PERSON,
    "annotate:preferences": Right.PERSON,
    "annotate:new_project": Right.PERSON,
    "annotate:project": Right.MEMBER,
    "annotate:assignment": Right.MEMBER,
    "annotate:give_back_assignment": Right.MEMBER,
    "annotate:queries": Right.MEMBER,
    "annotate:search": Right.MEMBER,
    "annotate:query": Right.MEMBER,
    "annotate:progress": Right.LEAD,
    "annotate:matrix": Right.LEAD,
    "annotate:flags": Right.LEAD,
    "annotate:person": Right.MEMBER,
    "annotate:guidelines": Right.READ,
    "annotate:guideline_rejudge_requests": Right.LEAD,
    "annotate:guideline_rejudge_requests_withdrawal": Right.LEAD,
    "annotate:naming": Right.MEMBER,
    "annotate:members": Right.READ,
    "annotate:member": Right.LEAD,
    "annotate:invitation_withdrawal": Right.LEAD,
    "annotate:several_invitations": Right.LEAD,
    "annotate:settings": Right.LEAD,
    "annotate:query_people": Right.LEAD,
    "annotate:api_query_people": Right.API_LEAD,
    "annotate:job": Right.LEAD,
    "annotate:job_cancellation": Right.LEAD,
    "annotate:pause": Right.LEAD,
    "annotate:due_date": Right.LEAD,
    "annotate:api_job_cancellation": Right.API_LEAD,
    "annotate:api_pause": Right.API_LEAD,
    "annotate:api_due_date": Right.API_LEAD,
    "annotate:kind": Right.LEAD,
    "annotate:topics": Right.LEAD,
    "annotate:removed_queries": Right.LEAD,
    "annotate:removal": Right.LEAD,
    "annotate:restoration": Right.LEAD,
    "annotate:api_topics": Right.API_LEAD,
    "annotate:api_filters": Right.API_LEAD,
    "annotate:api_topic_draw": Right.API_LEAD,
    "annotate:api_removed_queries": Right.API_LEAD,
    "annotate:api_query_restoration": Right.API_LEAD,
    "annotate:api_removed_pairs": Right.API_LEAD,
    "annotate:api_pair_restoration": Right.API_LEAD,
    "annotate:categories": Right.LEAD,
    "annotate:taxonomy": Right.LEAD,
    "annotate:archiving": Right.LEAD,
    "annotate:audit_log": Right.LEAD,
    "annotate:audit_log_table": Right.LEAD,
    "annotate:loads": Right.LEAD,
    "annotate:pools": Right.LEAD,
    "annotate:passages": Right.LEAD,
    "annotate:new_pool": Right.LEAD,
    "annotate:hard_negatives": Right.LEAD,
    "annotate:pool": Right.LEAD,
    "annotate:pool_documents": Right.LEAD,
    "annotate:removed_candidates": Right.LEAD,
    "annotate:missing_texts": Right.LEAD,
    "annotate:missing_texts_file": Right.LEAD,
    "annotate:attributes": Right.LEAD,
    "annotate:replacement": Right.LEAD,
    "annotate:replacements": Right.LEAD,
    "annotate:replacement_undoing": Right.LEAD,
    "annotate:load": Right.LEAD,
    "annotate:load_batch": Right.LEAD,
    "annotate:load_batch_confirmation": Right.LEAD,
    "annotate:load_confirmation": Right.LEAD,
    "annotate:load_recheck": Right.LEAD,
    "annotate:load_leaving": Right.LEAD,
    "annotate:pair_assignment": Right.MEMBER,
    "annotate:rewrite": Right.MEMBER,
    "annotate:draft": Right.MEMBER,
    "annotate:advice": Right.MEMBER,
    "annotate:narrative": Right.MEMBER,
    "annotate:narrative_current": Right.LEAD,
    "annotate:send_back": Right.LEAD,
    "annotate:take_back": Right.LEAD,
    "exporters:release_discarding": Right.LEAD,
    "annotate:judging": Right.MEMBER,
    "annotate:documents": Right.MEMBER,
    "annotate:listing": Right.MEMBER,
    "annotate:undo": Right.MEMBER,
    "annotate:document": Right.MEMBER,
    "annotate:table": Right.MEMBER,
    "annotate:judge": Right.MEMBER,
    "annotate:judgment": Right.MEMBER,
    "annotate:flag": Right.MEMBER,
    "annotate:tokens": Right.PERSON,
    "annotate:token_end": Right.PERSON,
    "api_status": Right.API_ADMIN,
    "api_examples": Right.API_PERSON,
    "api_status_retry": Right.API_ADMIN,
    "api_installation_audit_log": Right.API_ADMIN,
    "api_installation_audit_log_table": Right.API_ADMIN,
    "api_schema": Right.API_PERSON,
    "api_page": Right.PERSON,
    "annotate:api_journal": Right.JOURNAL,
    "annotate:api_me": Right.API_PERSON,
    "annotate:api_notices": Right.API_PERSON,
    "annotate:api_preferences": Right.API_PERSON,
    "annotate:api_naming": Right.API,
    "annotate:api_projects": Right.API_PERSON,
    "annotate:api_project": Right.API_READ,
    "annotate:api_archiving": Right.API_LEAD,
    "annotate:api_formats": Right.API_PERSON,
    "annotate:api_categories": Right.API_LEAD,
    "annotate:api_taxonomy": Right.API_LEAD,
    "annotate:api_kinds": Right.API_PERSON,
    "annotate:api_kind": Right.API_LEAD,
    "audit:api_rules": Right.API_LEAD,
    "annotate:api_steps": Right.API_LEAD,
    "annotate:api_members": Right.API_READ,
    "annotate:api_invitations": Right.API_LEAD,
    "annotate:api_several_invitations": Right.API_LEAD,
    "annotate:api_invitation": Right.API_LEAD,
    "annotate:api_audit_log": Right.API_LEAD,
    "annotate:api_audit_log_table": Right.API_LEAD,
    "annotate:api_accounts": Right.API_ADMIN,
    "annotate:api_account_invitations": Right.API_ADMIN,
    "annotate:api_account_invitation": Right.API_ADMIN,
    "annotate:api_account": Right.API_ADMIN,
    "annotate:api_account_sessions": Right.API_ADMIN,
    "annotate:api_member_pace": Right.API,
    "annotate:api_progress": Right.API,
    "annotate:api_pace": Right.API_LEAD,
    "annotate:api_matrix": Right.API_LEAD,
    "annotate:api_project_flags": Right.API_LEAD,
    "annotate:api_guidelines": Right.API_READ,
    "annotate:api_guideline": Right.API,
    "annotate:api_rejudge_requests_of_guideline": Right.API_LEAD,
    "annotate:api_loads": Right.API_LEAD,
    "annotate:api_pools": Right.API_LEAD,
    "annotate:api_passages": Right.API_LEAD,
    "annotate:api_pool_count": Right.API_LEAD,
    "annotate:api_pool": Right.API_LEAD,
    "annotate:api_pool_documents": Right.API_LEAD,
    "annotate:api_labelled": Right.API_LEAD,
    "annotate:api_hard_negatives": Right.API_LEAD,
    "annotate:api_removed_candidates": Right.API_LEAD,
    "annotate:api_missing_texts": Right.API_LEAD,
    "annotate:api_candidate_restoration": Right.API_LEAD,
    "annotate:api_attributes": Right.API_LEAD,
    "annotate:api_attribute_documents": Right.API_LEAD,
    "annotate:api_replacements": Right.API_LEAD,
    "annotate:api_replacement_preview": Right.API_LEAD,
    "annotate:api_replacement_undoing": Right.API_LEAD,
    "annotate:api_load": Right.API_LEAD,
    "annotate:api_several_loads": Right.API_LEAD,
    "annotate:api_load_batch": Right.API_LEAD,
    "annotate:api_load_batch_confirmation": Right.API_LEAD,
    "annotate:api_confirmation": Right.API_LEAD,
    "annotate:api_recheck": Right.API_LEAD,
    "annotate:api_leaving": Right.API_LEAD,
    "annotate:api_queries": Right.API,
    "annotate:api_search": Right.API,
    "annotate:api_query": Right.API_READ,
    "annotate:api_candidates": Right.API,
    "annotate:api_pairs": Right.API,
    "annotate:api_assignments": Right.API,
    "annotate:api_assignment": Right.API,
    "annotate:api_pair": Right.API,
    "annotate:api_pair_assignments": Right.API,
    "annotate:api_narratives": Right.API,
    "annotate:api_narrative": Right.API,
    "annotate:load_taking_back": Right.LEAD,
    "annotate:api_taking_back": Right.API_LEAD,
    "annotate:api_narrative_current": Right.API_LEAD,
    "annotate:api_sent_back": Right.API_READ,
    "annotate:api_stale_answers": Right.API,
    "annotate:api_document": Right.API,
    "annotate:api_draft": Right.API,
    "annotate:api_overtaken": Right.API,
    "annotate:api_advice": Right.API,
    "annotate:api_rewrite_impact": Right.API,
    "annotate:api_judging_session": Right.API,
    "annotate:api_document_views": Right.API,
    "annotate:api_undo": Right.API,
    "annotate:api_member": Right.API_READ,
    "annotate:api_judgments": Right.API,
    "annotate:api_judgment": Right.API,
    "annotate:api_flags": Right.API,
    "annotate:api_flag": Right.API,
    "audit:rubric": Right.LEAD,
    "audit:review_draw": Right.LEAD,
    "audit:rejected_file": Right.LEAD,
    "audit:rubric_choice": Right.LEAD,
    "audit:reviews": Right.MEMBER,
    "audit:review_decisions": Right.LEAD,
    "audit:review_assignment": Right.MEMBER,
    "audit:review": Right.MEMBER,
    "audit:criterion": Right.MEMBER,
    "audit:story": Right.MEMBER,
    "audit:decision": Right.LEAD,
    "audit:decision_withdrawal": Right.LEAD,
    "audit:disagreements": Right.LEAD,
    "audit:review_disagreement": Right.LEAD,
    "audit:disagreement": Right.LEAD,
    "audit:adjudication_withdrawal": Right.LEAD,
    "audit:settling_many": Right.LEAD,
    "audit:batch": Right.LEAD,
    "audit:batch_withdrawal": Right.LEAD,
    "audit:rejudge_request": Right.LEAD,
    "audit:rejudge_request_withdrawal": Right.LEAD,
    "audit:reveals": Right.LEAD,
    "audit:disagreement_count": Right.LEAD,
    "audit:disagreements_table": Right.LEAD,
    "audit:disagreement_views": Right.LEAD,
    "audit:verdict_disagreement": Right.LEAD,
    "audit:check_disagreement": Right.LEAD,
    "audit:verdict_withdrawal": Right.LEAD,
    "audit:review_withdrawal": Right.LEAD,
    "audit:check_disagreement_withdrawal": Right.LEAD,
    "audit:reveal_judges": Right.LEAD,
    "audit:reveal_auditors": Right.LEAD,
    "audit:reveal_checkers": Right.LEAD,
    "audit:checks": Right.MEMBER,
    "audit:new_sample": Right.LEAD,
    "audit:suspects": Right.LEAD,
    "audit:machines": Right.LEAD,
    "audit:models": Right.LEAD,
    "audit:new_model": Right.LEAD,
    "audit:model_budget": Right.LEAD,
    "audit:model_limits": Right.LEAD,
    "audit:model_removal": Right.LEAD,
    "audit:prompt": Right.LEAD,
    "audit:new_model_run": Right.LEAD,
    "audit:model_batch": Right.LEAD,
    "audit:model_run": Right.LEAD,
    "audit:model_calls": Right.LEAD,
    "audit:model_call": Right.LEAD,
    "audit:sample": Right.MEMBER,
    "audit:sample_labels": Right.LEAD,
    "audit:checking": Right.MEMBER,
    "audit:labels": Right.MEMBER,
    "audit:settling": Right.MEMBER,
    "audit:check": Right.MEMBER,
    "audit:check_withdrawal": Right.MEMBER,
    "audit:check_reason": Right.MEMBER,
    "audit:settlement": Right.MEMBER,
    "audit:differences": Right.LEAD,
    "audit:collection": Right.LEAD,
    "audit:categories_table": Right.LEAD,
    "audit:agreement": Right.LEAD,
    "audit:agreement_machines": Right.LEAD,
    "audit:agreement_comparison": Right.LEAD,
    "audit:agreement_reports": Right.LEAD,
    "audit:agreement_past": Right.LEAD,
    "audit:agreement_table": Right.LEAD,
    "audit:agreement_units": Right.LEAD,
    "audit:agreement_report": Right.LEAD,
    "audit:trust": Right.LEAD,
    "audit:trust_documents": Right.LEAD,
    "audit:api_trust": Right.API_LEAD,
    "audit:second_look": Right.LEAD,
    "audit:api_second_look": Right.API_LEAD,
    "audit:api_reviews": Right.API,
    "audit:api_review_decisions": Right.API_LEAD,
    "audit:api_review_assignment": Right.API,
    "audit:api_rejected": Right.API_LEAD,
    "audit:api_review": Right.API,
    "audit:api_review_submission": Right.API,
    "audit:api_story": Right.API,
    "audit:api_decision": Right.API_LEAD,
    "audit:api_rubrics": Right.API_LEAD,
    "audit:api_rubric": Right.API_LEAD,
    "audit:api_review_draw": Right.API_LEAD,
    "audit:api_disagreements": Right.API_LEAD,
    "audit:api_disagreement_counts": Right.API_LEAD,
    "audit:api_disagreements_table": Right.API_LEAD,
    "audit:api_reveals": Right.API_LEAD,
    "audit:api_settling_many": Right.API_LEAD,
    "audit:api_batch": Right.API_LEAD,
    "audit:api_disagreement": Right.API_LEAD,
    "audit:api_adjudication": Right.API_LEAD,
    "audit:api_judges_revealed": Right.API_LEAD,
    "audit:api_rejudge_requests": Right.API_LEAD,
    "audit:api_rejudge_request": Right.API_LEAD,
    "audit:api_verdict_disagreement": Right.API_LEAD,
    "audit:api_verdict_adjudication": Right.API_LEAD,
    "audit:api_review_disagreement": Right.API_LEAD,
    "audit:api_auditors_revealed": Right.API_LEAD,
    "audit:api_runs": Right.API_LEAD,
    "audit:api_samples": Right.API_READ,
    "audit:api_sample_plan": Right.API_LEAD,
    "audit:api_suspects": Right.API_LEAD,
    "audit:api_machine_claims": Right.API_LEAD,
    "audit:api_machine_choice": Right.API_LEAD,
    "audit:api_sample": Right.API,
    "audit:api_sample_figures": Right.API_LEAD,
    "audit:api_sample_labels": Right.API_LEAD,
    "audit:api_next_label": Right.API,
    "audit:api_label": Right.API,
    "audit:api_check": Right.API,
    "audit:api_label_reason": Right.API,
    "audit:api_settling": Right.API,
    "audit:api_check_disagreement": Right.API_LEAD,
    "audit:api_checkers_revealed": Right.API_LEAD,
    "audit:api_reports": Right.API_LEAD,
    "audit:api_comparisons": Right.API_LEAD,
    "audit:api_report": Right.API_LEAD,
    "audit:api_units": Right.API_LEAD,
    "audit:api_differences": Right.API_LEAD,
    "audit:api_coverage": Right.API_LEAD,
    "audit:api_category_figures": Right.API_LEAD,
    "audit:api_models": Right.API_LEAD,
    "audit:api_model": Right.API_LEAD,
    "audit:api_model_budget": Right.API_LEAD,
    "audit:api_prompts": Right.API_LEAD,
    "audit:api_model_runs": Right.API_LEAD,
    "audit:api_model_run_plan": Right.API_LEAD,
    "audit:api_model_batch": Right.API_LEAD,
    "audit:api_model_run": Right.API_LEAD,
    "audit:api_model_calls": Right.API_LEAD,
    "audit:api_model_call": Right.API_LEAD,
    "exporters:exports": Right.LEAD,
    "exporters:export": Right.LEAD,
    "exporters:publication": Right.LEAD,
    "exporters:before_publishing": Right.LEAD,
    "exporters:file": Right.LEAD,
    "exporters:archive": Right.LEAD,
    "exporters:releases": Right.LEAD,
    "exporters:new_release": Right.LEAD,
    "exporters:release": Right.LEAD,
    "exporters:release_file": Right.LEAD,
    "exporters:comparison": Right.LEAD,
    "exporters:comparison_table": Right.LEAD,
    "exporters:evaluations": Right.LEAD,
    "exporters:evaluation": Right.LEAD,
    "exporters:evaluation_table": Right.LEAD,
    "exporters:api_exports": Right.API_LEAD,
    "exporters:api_export": Right.API_LEAD,
    "exporters:api_publication": Right.API_LEAD,
    "exporters:api_export_file": Right.API_LEAD,
    "exporters:api_export_archive": Right.API_LEAD,
    "exporters:api_releases": Right.API_LEAD,
    "exporters:api_release_preview": Right.API_LEAD,
    "exporters:api_release": Right.API_LEAD,
    "exporters:api_release_file": Right.API_LEAD,
    "exporters:api_releases_compared": Right.API_LEAD,
    "exporters:api_release_changes": Right.API_LEAD,
    "exporters:api_release_changes_table": Right.API_LEAD,
    "exporters:api_evaluations": Right.API_LEAD,
    "exporters:api_evaluation": Right.API_LEAD,
    "exporters:api_evaluation_table": Right.API_LEAD,
}

# The statuses of a request that is permitted: to a page, and to the API with an empty body.
PERMITTED = {False: {200, 302, 422}, True: {200, 201, 204, 400, 422}}
VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def routes(patterns: Any = None, namespace: str = "", before: str = "") -> dict[str, URLPattern]:
    """Return every named route except those of Django's admin, each as one whole pattern."""
    found: dict[str, URLPattern] = {}
    for entry in patterns or get_resolver().url_patterns:
        whole = f"{before}{entry.pattern}"
        if isinstance(entry, URLResolver):
            if entry.app_name != "admin":
                inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
                found |= routes(entry.url_patterns, inner, whole)
        elif isinstance(entry.pattern, RoutePattern):
            pattern = RoutePattern(whole, name=entry.name, is_endpoint=True)
            found[f"{namespace}{entry.name}"] = URLPattern(pattern, entry.callback, name=entry.name)
        else:
            found[f"{namespace}{entry.name}"] = entry
    return found


ROUTES = routes()


@dataclass
class World:
    """A project with one row of every kind."""

    project: Project
    pair: InstructionPair
    candidate: Candidate
    keys: dict[str, Any]

    def url(self, name: str) -> str:
        wanted = ROUTES[name].pattern.converters
        keys = {key: self._key(name, key) for key in wanted}
        return reverse(name, kwargs=keys)

    def _key(self, name: str, key: str) -> Any:
        if key == "pk":
            return self.keys.get(f"{name}.pk", self.keys["pair"])
        return self.keys.get(f"{name}.{key}", self.keys[key])


def world(slug: str, annotator: str, lead: str) -> World:
    project = factories.project(slug)
    carla, ada = factories.lead(project, lead), factories.member(project, annotator)
    machine = factories.machine(project, "umbrela")
    query = factories.query(project)
    candidate = factories.candidate(query)
    pair = factories.pair(query)
    assignment = assignments.take(pair=pair, task=Assignment.Task.JUDGE, by=ada)
    load = Load.objects.create(
        project=project, by=carla, format="trec-qrels", file_name="q.txt", batch=uuid4(), place=1
    )
    pool = Pool.objects.create(project=project, by=carla, name="first", method="union", depth=1)
    replacement = Replacement.objects.create(
        project=project,
        old=candidate.document,
        new=factories.document(project, "R"),
        reason="Off topic.",
        by=carla,
    )
    export = Export.objects.create(project=project, by=carla, format="trec")
    release = Release.objects.create(project=project, by=carla, name=f"{slug}-1")
    report = AgreementReport.objects.create(project=project)
    evaluation = Evaluation.objects.create(project=project, by=carla, systems=[])
    sample = Sample.objects.create(
        project=project, name="Sample", source="prior", seed=1, size=1, created_by=carla
    )
    label = SampleItem.objects.create(
        sample=sample, narrative=factories.altered(pair), candidate=candidate, claimed=1
    )
    endpoint = Endpoint.objects.create(
        project=project, server="lab", model="small", most_tokens=1_000, by=carla
    )
    model_run = ModelRun.objects.create(
        project=project,
        by=carla,
        endpoint=endpoint,
        prompt=Prompt.objects.create(
            project=project, version=1, text=task_of("grade").shipped.text, by=carla
        ),
        machine="small, prompt 1",
        draw_seed=1,
        most_tokens=1_000,
        # No server is allowed, so no worker may find it waiting.
        state="done",
        finished_at=timezone.now(),
    )
    call = Call.objects.create(
        run=model_run,
        pair=pair,
        narrative=factories.altered(pair),
        candidate=candidate,
        text_version=1,
        key="0" * 64,
        request={"messages": [{"role": "user", "content": "Is it relevant?"}]},
        reserved_tokens=10,
    )
    guideline = write_guideline(text="Read it all.", by=carla, based_on=0)
    settled = Adjudication.objects.create(
        narrative=factories.altered(pair),
        candidate=candidate,
        relevance=1,
        reason="Agreed.",
        cause="edge",
        by=carla,
        batch=uuid4(),
        # Withdrawn, so that nothing in this world is settled.
        withdrawn_at=timezone.now(),
        withdrawn_by=carla,
    )
    condition = Condition.objects.create(
        narrative=factories.altered(pair), number=1, text="At sea."
    )
    link = invite(role="annotator", by=carla)
    root = User.objects.filter(is_superuser=True).first() or User.objects.create_superuser("root")
    to_all = invite_to_installation(by=root)
    token = make_token(name="Notebook", scopes=[], days=1, by=factories.user(annotator)).token
    keys = {
        "slug": slug,
        "uidb36": "1",
        "key": "abc-123",
        "provider_id": "team",
        "token": link.token,
        "annotate:invitation_withdrawal.pk": link.invitation.pk,
        "annotate:account_invitation_withdrawal.pk": to_all.invitation.pk,
        "annotate:api_account_invitation.invitation": to_all.invitation.pk,
        "annotate:account_change.pk": ada.user_id,
        "pair": pair.pk,
        "narrative": factories.altered(pair).pk,
        "candidate": candidate.pk,
        "candidate_pk": candidate.pk,
        "version": guideline.version,
        "batch": settled.batch,
        "criterion": "semantic_expansion",
        "condition": condition.pk,
        "name": "manifest.json",
        "release": release.name,
        "before": release.name,
        "after": release.name,
        "query": query.pk,
        "job": export.pk,
        "invitation": link.invitation.pk,
        "account": ada.user_id,
        "status_retry.pk": export.pk,
        "member": ada.pk,
        "machine": machine.pk,
        "sample": sample.pk,
        "item": label.pk,
        "report": report.pk,
        "export": export.pk,
        "evaluation": evaluation.pk,
        "table": "systems",
        "kind": "csv",
        # There is no rejudge request here.
        "rejudge_request": 1,
        "assignment": assignment.pk,
        "load": load.pk,
        "pool": pool.pk,
        "annotate:pool.pk": pool.pk,
        "annotate:pool_documents.pk": pool.pk,
        "annotate:removal.kind": "queries",
        "annotate:restoration.kind": "queries",
        "annotate:replacement.pk": query.pk,
        "annotate:replacement_undoing.pk": replacement.pk,
        "replacement": replacement.pk,
        "which": "none",
        "number": 1,
        "uuid": uuid4(),
        "annotate:query.pk": query.pk,
        "annotate:query_people.pk": query.pk,
        "annotate:token_end.pk": token.pk,
        "annotate:member.pk": ada.pk,
        "annotate:person.pk": ada.pk,
        "annotate:give_back_assignment.pk": assignment.pk,
        "annotate:job.pk": load.pk,
        "annotate:job_cancellation.pk": load.pk,
        "annotate:load.pk": load.pk,
        "annotate:load_batch.batch": load.batch,
        "annotate:load_batch_confirmation.batch": load.batch,
        "annotate:api_load_batch.batch": load.batch,
        "annotate:api_load_batch_confirmation.batch": load.batch,
        "annotate:load_confirmation.pk": load.pk,
        "annotate:load_recheck.pk": load.pk,
        "annotate:load_leaving.pk": load.pk,
        "annotate:load_taking_back.pk": load.pk,
        "exporters:export.pk": export.pk,
        "exporters:file.pk": export.pk,
        "exporters:archive.pk": export.pk,
        "exporters:evaluation.pk": evaluation.pk,
        "exporters:evaluation_table.pk": evaluation.pk,
        "model": endpoint.pk,
        "run": model_run.pk,
        "call": call.pk,
        "audit:model_limits.pk": endpoint.pk,
        "audit:model_removal.pk": endpoint.pk,
        "audit:model_run.pk": model_run.pk,
        "audit:model_calls.pk": model_run.pk,
        "audit:model_call.pk": call.pk,
        "audit:sample.pk": sample.pk,
        "audit:sample_labels.pk": sample.pk,
        "audit:checking.pk": sample.pk,
        "audit:labels.pk": sample.pk,
        "audit:settling.pk": sample.pk,
        "audit:check.pk": label.pk,
        "audit:check_withdrawal.pk": label.pk,
        "audit:check_reason.pk": label.pk,
        "audit:settlement.pk": label.pk,
        "audit:check_disagreement.pk": label.pk,
        "audit:check_disagreement_withdrawal.pk": label.pk,
        "audit:reveal_checkers.pk": label.pk,
        "audit:trust.pk": machine.pk,
        "audit:trust_documents.pk": machine.pk,
        "audit:second_look.pk": machine.pk,
        "audit:agreement_report.pk": report.pk,
        "audit:agreement_past.pk": report.pk,
        "audit:agreement_table.pk": report.pk,
        "audit:agreement_table.table": "judgments",
    }
    return World(project, pair, candidate, keys)


@pytest.fixture
def tides(db) -> World:
    return world("tides", "ada", "carla")


APPS = ("annotate", "audit", "exporters")
# Fields left out of `rows`: signing in alone changes them.
IGNORED_FIELDS = {"annotate.User": {"last_login"}}


def rows() -> dict[str, list[Any]]:
    """Return all rows of all tables, to check that nothing changed."""
    return {
        model._meta.label: list(
            model._default_manager.order_by("pk").values_list(
                *(
                    field.attname
                    for field in model._meta.concrete_fields
                    if field.name not in IGNORED_FIELDS.get(model._meta.label, ())
                )
            )
        )
        for room in APPS
        for model in apps.get_app_config(room).get_models()
    }


def test_every_route_says_who_may_use_it():
    assert set(ROUTES) == set(RIGHTS)


def test_rows_of_another_project_are_not_found_under_ones_own(tides, client, record_property):
    other = world("other", "eve", "frank")
    frank = other.project.memberships.get(name="frank")
    newer = write_guideline(text="Read it twice.", by=frank, based_on=1)
    client.force_login(factories.user("carla"))
    mixed = World(
        tides.project,
        tides.pair,
        tides.candidate,
        {
            **other.keys,
            # Versions are numbered in each project; this number exists in the other one only.
            "version": newer.version,
            **{key: tides.keys[key] for key in ("slug", "narrative", "pair", "criterion", "name")},
        },
    )
    before, tried, failures = rows(), 0, {}
    for name in RIGHTS:
        named = ROUTES[name].pattern.converters.keys() - {"kind"}
        if len(named) < 2 or named.isdisjoint({"slug", "candidate", "candidate_pk"}):
            # This route names one row, or one row and a word.
            continue
        for verb in VERBS:
            tried += 1
            status = client.generic(verb, mixed.url(name)).status_code
            if status not in {404, 405}:
                failures[verb, name] = status
    record_property("tried", f"things of another project under one's own: {tried:,} requests")

    assert failures == {}
    assert rows() == before
    assert tried > 400
