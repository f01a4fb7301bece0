"""URLs of the settling resources, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from audit.settling.api import disagreements, settling

PROJECT = "projects/<slug:slug>/"
NARRATIVE = "narratives/<int:narrative>/"
DOCUMENT = f"{NARRATIVE}candidates/<int:candidate>/"
CONDITION = "conditions/<int:condition>/candidates/<int:candidate>/"
LABEL = "labels/<int:item>/"

urlpatterns = [
    path(
        f"{PROJECT}disagreements/",
        disagreements.Disagreements.as_view(),
        name="api_disagreements",
    ),
    path(
        f"{PROJECT}disagreements/counts/",
        disagreements.DisagreementCounts.as_view(),
        name="api_disagreement_counts",
    ),
    path(
        f"{PROJECT}disagreements/reveals/",
        disagreements.Reveals.as_view(),
        name="api_reveals",
    ),
    path(
        f"{PROJECT}disagreements/settling/",
        settling.SettlingMany.as_view(),
        name="api_settling_many",
    ),
    path(f"{PROJECT}settled/<uuid:batch>/", settling.Batch.as_view(), name="api_batch"),
    path(
        f"{DOCUMENT}disagreement/",
        disagreements.JudgmentDisagreement.as_view(),
        name="api_disagreement",
    ),
    path(f"{DOCUMENT}adjudication/", settling.Settling.as_view(), name="api_adjudication"),
    path(f"{DOCUMENT}names/", disagreements.JudgesRevealed.as_view(), name="api_judges_revealed"),
    path(
        f"{DOCUMENT}rejudge-requests/",
        disagreements.RejudgeRequests.as_view(),
        name="api_rejudge_requests",
    ),
    path(
        f"{DOCUMENT}rejudge-requests/<int:rejudge_request>/",
        disagreements.OneRejudgeRequest.as_view(),
        name="api_rejudge_request",
    ),
    path(
        f"{CONDITION}disagreement/",
        disagreements.VerdictDisagreement.as_view(),
        name="api_verdict_disagreement",
    ),
    path(
        f"{CONDITION}adjudication/",
        settling.ConditionSettling.as_view(),
        name="api_verdict_adjudication",
    ),
    path(
        f"{NARRATIVE}disagreement/",
        disagreements.ReviewDisagreement.as_view(),
        name="api_review_disagreement",
    ),
    path(
        f"{NARRATIVE}names/",
        disagreements.AuditorsRevealed.as_view(),
        name="api_auditors_revealed",
    ),
    path(
        f"{LABEL}disagreement/",
        disagreements.CheckDisagreement.as_view(),
        name="api_check_disagreement",
    ),
    path(f"{LABEL}names/", disagreements.CheckersRevealed.as_view(), name="api_checkers_revealed"),
]
