"""URLs of the settling resources, under /api/v1/."""

from __future__ import annotations

from audit.settling.api import disagreements, settling
from base.api.resource import route

PROJECT = "projects/<slug:slug>/"
NARRATIVE = "narratives/<int:narrative>/"
DOCUMENT = f"{NARRATIVE}candidates/<int:candidate>/"
CONDITION = "conditions/<int:condition>/candidates/<int:candidate>/"
LABEL = "labels/<int:item>/"

urlpatterns = [
    route(f"{PROJECT}disagreements/", disagreements.Disagreements, "api_disagreements"),
    route(
        f"{PROJECT}disagreements/counts/",
        disagreements.DisagreementCounts,
        "api_disagreement_counts",
    ),
    route(
        f"{PROJECT}disagreements/table/",
        disagreements.DisagreementsTable,
        "api_disagreements_table",
    ),
    route(f"{PROJECT}disagreements/reveals/", disagreements.Reveals, "api_reveals"),
    route(f"{PROJECT}disagreements/settling/", settling.SettlingMany, "api_settling_many"),
    route(f"{PROJECT}settled/<uuid:batch>/", settling.Batch, "api_batch"),
    route(f"{DOCUMENT}disagreement/", disagreements.JudgmentDisagreement, "api_disagreement"),
    route(f"{DOCUMENT}adjudication/", settling.Settling, "api_adjudication"),
    route(f"{DOCUMENT}names/", disagreements.JudgesRevealed, "api_judges_revealed"),
    route(f"{DOCUMENT}rejudge-requests/", disagreements.RejudgeRequests, "api_rejudge_requests"),
    route(
        f"{DOCUMENT}rejudge-requests/<int:rejudge_request>/",
        disagreements.OneRejudgeRequest,
        "api_rejudge_request",
    ),
    route(
        f"{CONDITION}disagreement/", disagreements.VerdictDisagreement, "api_verdict_disagreement"
    ),
    route(f"{CONDITION}adjudication/", settling.ConditionSettling, "api_verdict_adjudication"),
    route(f"{NARRATIVE}disagreement/", disagreements.ReviewDisagreement, "api_review_disagreement"),
    route(f"{NARRATIVE}names/", disagreements.AuditorsRevealed, "api_auditors_revealed"),
    route(f"{LABEL}disagreement/", disagreements.CheckDisagreement, "api_check_disagreement"),
    route(f"{LABEL}names/", disagreements.CheckersRevealed, "api_checkers_revealed"),
]
