"""API programs can make every change that pages make, except those left to pages on purpose.

Pages are read from the URL configuration: the test fails for a page that changes something until
SAME names the API operation that does the same, or LEFT_TO_PAGES the page.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from annotate.models import Membership
from tests import factories
from tests.attacks.test_tokens import DECLARED
from tests.test_permissions import RIGHTS, ROUTES, Right, World, world

API_TEXT = Path(settings.BASE_DIR) / "docs" / "api.md"
# Signing in, and the reader's own account.
LEFT_TO_PAGES = {
    *("annotate:invitation", "annotate:tokens", "annotate:token_end"),
    *("annotate:account", "annotate:sessions"),
}
OF_LIBRARIES = ("account_", "mfa_", "socialaccount_", "openid_connect_", "password_change", "log")

# Each page that changes something, and the operations that do the same.
SAME = {
    "annotate:preferences": ["PATCH annotate:api_preferences"],
    "annotate:naming": ["PUT annotate:api_naming"],
    "annotate:people": ["POST annotate:api_account_invitations"],
    "annotate:account_change": [
        "PATCH annotate:api_account",
        "DELETE annotate:api_account_sessions",
    ],
    "annotate:account_invitation_withdrawal": ["DELETE annotate:api_account_invitation"],
    "annotate:new_project": ["POST annotate:api_projects"],
    "examples": ["POST api_examples"],
    "annotate:assignment": ["POST annotate:api_assignments"],
    "annotate:give_back_assignment": ["DELETE annotate:api_assignment"],
    "annotate:guidelines": ["POST annotate:api_guidelines"],
    "annotate:guideline_rejudge_requests": ["POST annotate:api_rejudge_requests_of_guideline"],
    "annotate:guideline_rejudge_requests_withdrawal": [
        "DELETE annotate:api_rejudge_requests_of_guideline"
    ],
    "annotate:members": ["POST annotate:api_members", "POST annotate:api_invitations"],
    "annotate:several_invitations": ["POST annotate:api_several_invitations"],
    "annotate:member": ["PATCH annotate:api_member"],
    "annotate:invitation_withdrawal": ["DELETE annotate:api_invitation"],
    "annotate:settings": ["PATCH annotate:api_project"],
    "annotate:notices": ["PUT annotate:api_notices"],
    "annotate:tour": ["PATCH annotate:api_preferences"],
    "annotate:query_people": ["PUT annotate:api_query_people", "PATCH annotate:api_query"],
    "annotate:pause": ["PUT annotate:api_pause", "DELETE annotate:api_pause"],
    "annotate:due_date": ["PUT annotate:api_due_date"],
    "annotate:kind": ["PUT annotate:api_kind"],
    "annotate:topics": ["POST annotate:api_topics", "POST annotate:api_topic_draw"],
    "annotate:removal": [
        "POST annotate:api_removed_queries",
        "POST annotate:api_removed_pairs",
        "POST annotate:api_removed_candidates",
    ],
    "annotate:restoration": [
        "POST annotate:api_query_restoration",
        "POST annotate:api_pair_restoration",
        "POST annotate:api_candidate_restoration",
    ],
    "annotate:categories": ["PUT annotate:api_categories"],
    "annotate:taxonomy": ["POST annotate:api_taxonomy"],
    "annotate:archiving": ["PUT annotate:api_archiving", "DELETE annotate:api_archiving"],
    "annotate:loads": ["POST annotate:api_loads", "POST annotate:api_several_loads"],
    "annotate:load_batch_confirmation": ["PUT annotate:api_load_batch_confirmation"],
    "annotate:load_confirmation": ["PUT annotate:api_confirmation"],
    "annotate:job_cancellation": ["POST annotate:api_job_cancellation"],
    "annotate:load_recheck": ["POST annotate:api_recheck"],
    "annotate:load_leaving": ["PUT annotate:api_leaving"],
    "annotate:passages": ["PATCH annotate:api_passages"],
    "annotate:new_pool": ["POST annotate:api_pools", "POST annotate:api_pool_count"],
    "annotate:hard_negatives": ["PUT annotate:api_hard_negatives"],
    "annotate:attributes": ["PUT annotate:api_attributes"],
    "annotate:replacement": [
        "POST annotate:api_replacements",
        "POST annotate:api_replacement_preview",
    ],
    "annotate:replacement_undoing": ["POST annotate:api_replacement_undoing"],
    "annotate:pair_assignment": ["POST annotate:api_pair_assignments"],
    "annotate:rewrite": ["POST annotate:api_narratives"],
    "annotate:load_taking_back": ["PUT annotate:api_taking_back"],
    "annotate:send_back": ["PUT annotate:api_sent_back"],
    "annotate:take_back": ["DELETE annotate:api_sent_back"],
    "annotate:narrative_current": ["PUT annotate:api_narrative_current"],
    "annotate:draft": [
        "PUT annotate:api_draft",
        "DELETE annotate:api_draft",
        "PUT annotate:api_overtaken",
        "DELETE annotate:api_overtaken",
    ],
    "annotate:advice": ["POST annotate:api_advice"],
    "annotate:undo": ["POST annotate:api_undo"],
    "annotate:judgment": ["POST annotate:api_judgments", "DELETE annotate:api_judgment"],
    "annotate:flag": ["POST annotate:api_flags", "DELETE annotate:api_flag"],
    "audit:review_decisions": ["POST audit:api_review_decisions"],
    "audit:review_assignment": ["POST audit:api_review_assignment"],
    "audit:review_draw": ["PUT audit:api_review_draw", "DELETE audit:api_review_draw"],
    "audit:rubric": ["POST audit:api_rubrics"],
    "audit:rubric_choice": ["PUT audit:api_rubric"],
    "audit:review": ["PUT audit:api_review", "POST audit:api_review_submission"],
    "audit:decision": ["POST audit:api_decision"],
    "audit:decision_withdrawal": ["DELETE audit:api_decision"],
    "audit:settling_many": ["POST audit:api_settling_many"],
    "audit:batch_withdrawal": ["DELETE audit:api_batch"],
    "audit:disagreement": ["POST audit:api_adjudication"],
    "audit:adjudication_withdrawal": ["DELETE audit:api_adjudication"],
    "audit:rejudge_request": ["POST audit:api_rejudge_requests"],
    "audit:rejudge_request_withdrawal": ["DELETE audit:api_rejudge_request"],
    "audit:reveal_judges": ["POST audit:api_judges_revealed"],
    "audit:verdict_disagreement": ["POST audit:api_verdict_adjudication"],
    "audit:verdict_withdrawal": ["DELETE audit:api_verdict_adjudication"],
    "audit:review_disagreement": ["POST audit:api_decision"],
    "audit:review_withdrawal": ["DELETE audit:api_decision"],
    "audit:reveal_auditors": ["POST audit:api_auditors_revealed"],
    "audit:check_disagreement": ["PUT audit:api_settling"],
    "audit:check_disagreement_withdrawal": ["DELETE audit:api_check"],
    "audit:reveal_checkers": ["POST audit:api_checkers_revealed"],
    "audit:new_sample": ["POST audit:api_samples", "POST audit:api_sample_plan"],
    "audit:machines": ["PUT audit:api_machine_choice"],
    "audit:new_model": ["POST audit:api_models"],
    "audit:model_limits": ["PATCH audit:api_model"],
    "audit:model_removal": ["DELETE audit:api_model"],
    "audit:model_budget": ["PUT audit:api_model_budget"],
    "audit:prompt": ["POST audit:api_prompts"],
    "audit:new_model_run": ["POST audit:api_model_runs"],
    "audit:suspects": ["POST audit:api_suspects"],
    "audit:second_look": ["POST audit:api_second_look"],
    "audit:check": ["PUT audit:api_check"],
    "audit:check_withdrawal": ["DELETE audit:api_check"],
    "audit:check_reason": ["POST audit:api_label_reason"],
    "audit:settlement": ["PUT audit:api_settling"],
    "audit:agreement": ["POST audit:api_reports"],
    "audit:agreement_machines": ["POST audit:api_reports"],
    "audit:agreement_comparison": ["POST audit:api_comparisons"],
    "exporters:exports": ["POST exporters:api_exports"],
    "exporters:publication": ["PATCH exporters:api_publication"],
    "exporters:evaluations": ["POST exporters:api_evaluations"],
    "exporters:new_release": ["POST exporters:api_releases"],
    "exporters:release_discarding": ["DELETE exporters:api_release"],
    "status_retry": ["PUT api_status_retry"],
}
OPERATIONS = {f"{verb} {name}" for name, verb, one in DECLARED if verb != "GET"}


def administered_world() -> World:
    """Make a world that the administrator root leads too, so that no right is missing."""
    made = world("tides", "ada", "carla")
    root = factories.user("root")
    root.is_staff = root.is_superuser = True
    root.save()
    factories.member(made.project, "root", Membership.Role.LEAD)
    return made


@pytest.fixture
def tides(db) -> World:
    return administered_world()


def takes(client: Client, url: str) -> bool:
    """Return whether a page accepts POST or PUT."""
    return any(client.generic(verb, url).status_code != 405 for verb in ("POST", "PUT"))


def test_every_page_that_changes_something_has_its_operation(tides):
    pages = set()
    for name in ROUTES:
        if "api_" in name or name.startswith(OF_LIBRARIES) or RIGHTS[name] is Right.HIDDEN:
            continue
        client = Client()
        client.force_login(factories.user("root"))
        if takes(client, tides.url(name)):
            pages.add(name)

    assert pages - LEFT_TO_PAGES == set(SAME)
    assert {one for same in SAME.values() for one in same} <= OPERATIONS


def test_every_operation_that_changes_something_has_its_page():
    assert OPERATIONS - {one for same in SAME.values() for one in same} == set()


def test_the_api_docs_say_what_is_left_to_pages():
    assert "## What is left to the pages" in API_TEXT.read_text()
