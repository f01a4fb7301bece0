"""Where the pages of this subject are found."""

from __future__ import annotations

from django.urls import path

from audit.settling.views import many as bulk
from audit.settling.views import queue as disagreements
from audit.settling.views import rejudge
from audit.settling.views import settle as settling

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
        settling.disagreement,
        name="disagreement",
    ),
    path(
        "narratives/<int:narrative>/candidates/<int:candidate>/adjudication/withdrawal/",
        settling.adjudication_withdrawal,
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
]
