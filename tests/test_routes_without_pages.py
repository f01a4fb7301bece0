"""Routes that are not pages: form targets, files, fragments and the API.

`tests/browser/test_accessibility.py` opens all the others.
"""

from __future__ import annotations

from django.test import Client

from tests import factories
from tests.test_permissions import PROGRAMS, RIGHTS, world

# Routes without their own page: form targets, files, fragments and the API.
NO_PAGE = {
    *("healthz", "readyz", "metrics", "status_retry"),
    *("logout", "annotate:assignment", "annotate:give_back_assignment", "annotate:pair_assignment"),
    *("annotate:naming", "annotate:job", "annotate:job_cancellation", "annotate:pool_documents"),
    "annotate:missing_texts_file",
    *("annotate:hard_negatives", "annotate:removal", "annotate:restoration"),
    "annotate:replacement_undoing",
    *("annotate:pause", "annotate:due_date"),
    *("annotate:member", "annotate:archiving", "annotate:load_confirmation"),
    *("annotate:load_recheck", "annotate:load_leaving"),
    "annotate:load_batch_confirmation",
    *("annotate:load_taking_back", "annotate:narrative_current"),
    *("annotate:send_back", "annotate:take_back"),
    "exporters:release_discarding",
    "annotate:undo",
    *("annotate:judgment", "annotate:flag", "annotate:draft", "annotate:advice"),
    *("annotate:audit_log_table", "installation_audit_log_table"),
    *("annotate:documents", "annotate:table", "annotate:token_end", "api_schema"),
    *(
        "annotate:guideline_rejudge_requests_withdrawal",
        "audit:rejudge_request",
        "audit:rejudge_request_withdrawal",
    ),
    "audit:batch_withdrawal",
    *("annotate:taxonomy", "audit:rubric_choice", "audit:rejected_file"),
    *(
        "audit:review_decisions",
        "audit:review_assignment",
        "audit:decision",
        "audit:decision_withdrawal",
    ),
    *("audit:adjudication_withdrawal", "audit:agreement_report"),
    *("audit:agreement_units", "audit:categories_table", "audit:sample_labels"),
    *("audit:checking", "audit:labels", "audit:settling", "audit:check_withdrawal"),
    "audit:check_reason",
    *("audit:model_removal", "audit:model_batch"),
    *("audit:verdict_withdrawal", "audit:review_withdrawal", "audit:reveal_judges"),
    *("audit:check_disagreement_withdrawal", "audit:reveal_auditors", "audit:reveal_checkers"),
    *("audit:disagreement_count", "audit:disagreement_views", "audit:disagreements_table"),
    *("mfa_totp_picture", "mfa_download_recovery_codes", "openid_connect_callback"),
    *("annotate:invitation_withdrawal", "annotate:account_change"),
    *("annotate:account_invitation_withdrawal", "annotate:several_invitations", "annotate:topics"),
    *("exporters:file", "exporters:archive"),
    "exporters:evaluation_table",
    *("exporters:release_file", "exporters:comparison_table"),
    *(name for name, right in RIGHTS.items() if right in PROGRAMS),
}


def test_non_page_routes_return_no_html(db):
    tides = world("tides", "ada", "carla")
    client = Client()
    pages = set()

    for name in sorted(NO_PAGE):
        # Sign in each time, because one of the routes signs out.
        client.force_login(factories.user("carla"))
        answer = client.get(tides.url(name))
        shown = answer.status_code == 200 and "text/html" in answer["content-type"]
        if shown and b"<html" in answer.content:
            pages.add(name)

    assert pages == set()
    assert len(NO_PAGE) > 170
