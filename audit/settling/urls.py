"""URLs of the settling pages."""

from __future__ import annotations

from django.urls import path

from audit.settling.views import check, judgment, names, rejudge, review, verdict
from audit.settling.views import many as bulk
from audit.settling.views import queue as disagreements

urlpatterns = [
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
        judgment.disagreement,
        name="disagreement",
    ),
    path(
        "narratives/<int:narrative>/candidates/<int:candidate>/adjudication/withdrawal/",
        judgment.adjudication_withdrawal,
        name="adjudication_withdrawal",
    ),
    path(
        "narratives/<int:narrative>/candidates/<int:candidate>/rejudge-request/",
        rejudge.rejudge_request,
        name="rejudge_request",
    ),
    path(
        "narratives/<int:narrative>/candidates/<int:candidate>/rejudge-request/withdrawal/",
        rejudge.rejudge_request_withdrawal,
        name="rejudge_request_withdrawal",
    ),
    path(
        "narratives/<int:narrative>/candidates/<int:candidate>/names/",
        names.reveal_judges,
        name="reveal_judges",
    ),
    path(
        "conditions/<int:condition>/candidates/<int:candidate>/disagreement/",
        verdict.verdict_disagreement,
        name="verdict_disagreement",
    ),
    path(
        "conditions/<int:condition>/candidates/<int:candidate>/adjudication/withdrawal/",
        verdict.verdict_withdrawal,
        name="verdict_withdrawal",
    ),
    path(
        "narratives/<int:narrative>/disagreement/",
        review.review_disagreement,
        name="review_disagreement",
    ),
    path(
        "narratives/<int:narrative>/disagreement/withdrawal/",
        review.review_withdrawal,
        name="review_withdrawal",
    ),
    path("narratives/<int:narrative>/names/", names.reveal_auditors, name="reveal_auditors"),
    path("labels/<int:pk>/disagreement/", check.check_disagreement, name="check_disagreement"),
    path(
        "labels/<int:pk>/disagreement/withdrawal/",
        check.check_disagreement_withdrawal,
        name="check_disagreement_withdrawal",
    ),
    path("labels/<int:pk>/names/", names.reveal_checkers, name="reveal_checkers"),
]
