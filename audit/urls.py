"""Where the pages of this room are found."""

from __future__ import annotations

from django.urls import include, path

from audit.checks import views as checks
from audit.reports.views import agreement, dashboard
from audit.reviews.views import reviews, rubrics
from audit.settling.views import many as bulk
from audit.settling.views import queue as disagreements
from audit.settling.views import rejudge
from audit.settling.views import settle as settling

app_name = "audit"
urlpatterns = [
    path("projects/<slug:slug>/reviews/", reviews.reviews, name="reviews"),
    path("projects/<slug:slug>/reviews/seat/", reviews.seat, name="review_seat"),
    path("projects/<slug:slug>/rubric/", rubrics.rubric, name="rubric"),
    path("projects/<slug:slug>/rubric/choice/", rubrics.rubric_choice, name="rubric_choice"),
    path(
        "projects/<slug:slug>/reviews/rejected.jsonl", reviews.rejected_file, name="rejected_file"
    ),
    path("pairs/<int:pk>/review/", reviews.review, name="review"),
    path("pairs/<int:pk>/story/", reviews.pair_story, name="story"),
    path("narratives/<int:narrative>/decision/", reviews.decision, name="decision"),
    path(
        "narratives/<int:narrative>/decision/withdrawal/",
        reviews.decision_withdrawal,
        name="decision_withdrawal",
    ),
    path("projects/<slug:slug>/disagreements/", disagreements.disagreements, name="disagreements"),
    path(
        "projects/<slug:slug>/disagreements/count/",
        disagreements.disagreement_count,
        name="disagreement_count",
    ),
    path("projects/<slug:slug>/disagreements/reveals/", disagreements.reveals, name="reveals"),
    path("projects/<slug:slug>/disagreements/settling/", bulk.settling_many, name="settling_many"),
    path("projects/<slug:slug>/settled/<uuid:batch>/", bulk.batch, name="batch"),
    path(
        "projects/<slug:slug>/settled/<uuid:batch>/withdrawal/",
        bulk.batch_withdrawal,
        name="batch_withdrawal",
    ),
    path(
        "narratives/<int:narrative>/candidates/<int:candidate>/disagreement/",
        settling.disagreement,
        name="disagreement",
    ),
    path(
        "narratives/<int:narrative>/candidates/<int:candidate>/adjudication/withdrawal/",
        settling.adjudication_withdrawal,
        name="adjudication_withdrawal",
    ),
    path(
        "narratives/<int:narrative>/candidates/<int:candidate>/look-again/",
        rejudge.look_again,
        name="look_again",
    ),
    path(
        "narratives/<int:narrative>/candidates/<int:candidate>/look-again/withdrawal/",
        rejudge.look_again_withdrawal,
        name="look_again_withdrawal",
    ),
    path(
        "narratives/<int:narrative>/candidates/<int:candidate>/names/",
        settling.reveal_judges,
        name="reveal_judges",
    ),
    path(
        "conditions/<int:condition>/candidates/<int:candidate>/disagreement/",
        settling.verdict_disagreement,
        name="verdict_disagreement",
    ),
    path(
        "conditions/<int:condition>/candidates/<int:candidate>/adjudication/withdrawal/",
        settling.verdict_withdrawal,
        name="verdict_withdrawal",
    ),
    path(
        "narratives/<int:narrative>/disagreement/",
        settling.review_disagreement,
        name="review_disagreement",
    ),
    path(
        "narratives/<int:narrative>/disagreement/withdrawal/",
        settling.review_withdrawal,
        name="review_withdrawal",
    ),
    path("narratives/<int:narrative>/names/", settling.reveal_auditors, name="reveal_auditors"),
    path("labels/<int:pk>/disagreement/", settling.check_disagreement, name="check_disagreement"),
    path(
        "labels/<int:pk>/disagreement/withdrawal/",
        settling.check_disagreement_withdrawal,
        name="check_disagreement_withdrawal",
    ),
    path("labels/<int:pk>/names/", settling.reveal_checkers, name="reveal_checkers"),
    path("projects/<slug:slug>/checks/", checks.checks, name="checks"),
    path("projects/<slug:slug>/checks/new/", checks.new_sample, name="new_sample"),
    path("projects/<slug:slug>/suspects/", checks.suspects, name="suspects"),
    path("samples/<int:pk>/", checks.sample, name="sample"),
    path("samples/<int:pk>/checking/", checks.checking, name="checking"),
    path("samples/<int:pk>/settling/", checks.settling, name="settling"),
    path("labels/<int:pk>/check/", checks.check, name="check"),
    path("labels/<int:pk>/check/withdrawal/", checks.check_withdrawal, name="check_withdrawal"),
    path("labels/<int:pk>/settlement/", checks.settlement, name="settlement"),
    path("projects/<slug:slug>/differences/", dashboard.differences_page, name="differences"),
    path("projects/<slug:slug>/collection/", dashboard.collection, name="collection"),
    path("projects/<slug:slug>/agreement/", agreement.agreement, name="agreement"),
    path(
        "projects/<slug:slug>/agreement/machines/",
        agreement.agreement_machines,
        name="agreement_machines",
    ),
    path(
        "projects/<slug:slug>/agreement/comparison/",
        agreement.agreement_comparison,
        name="agreement_comparison",
    ),
    path(
        "projects/<slug:slug>/agreement/units.csv",
        agreement.agreement_units,
        name="agreement_units",
    ),
    path(
        "projects/<slug:slug>/agreement/reports/",
        agreement.agreement_reports,
        name="agreement_reports",
    ),
    path(
        "projects/<slug:slug>/agreement/reports/<int:pk>/",
        agreement.agreement_past,
        name="agreement_past",
    ),
    path(
        "projects/<slug:slug>/agreement/reports/<int:pk>.json",
        agreement.agreement_report,
        name="agreement_report",
    ),
    path(
        "projects/<slug:slug>/agreement/reports/<int:pk>/cancellation/",
        agreement.agreement_cancellation,
        name="agreement_cancellation",
    ),
    path("api/v1/", include("audit.api_urls")),
]
