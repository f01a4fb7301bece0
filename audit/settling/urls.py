"""URLs of the settling pages."""

from __future__ import annotations

from django.urls import path

from audit.settling.queue_filters import Kind
from audit.settling.views import many as bulk
from audit.settling.views import pages, rejudge
from audit.settling.views import queue as disagreements

NARRATIVE = "narratives/<int:narrative>/"
DOCUMENT = f"{NARRATIVE}candidates/<int:candidate>/"
CONDITION = "conditions/<int:condition>/candidates/<int:candidate>/"
LABEL = "labels/<int:item>/"
JUDGMENT, VERDICT, REVIEW, CHECK = ({"kind": kind} for kind in Kind)

urlpatterns = [
    path("projects/<slug:slug>/disagreements/", disagreements.disagreements, name="disagreements"),
    path(
        "projects/<slug:slug>/disagreements/count/",
        disagreements.disagreement_count,
        name="disagreement_count",
    ),
    path(
        "projects/<slug:slug>/disagreements/table/",
        disagreements.disagreements_table,
        name="disagreements_table",
    ),
    path(
        "projects/<slug:slug>/disagreements/views/",
        pages.disagreement_views,
        name="disagreement_views",
    ),
    path("projects/<slug:slug>/disagreements/reveals/", disagreements.reveals, name="reveals"),
    path("projects/<slug:slug>/disagreements/settling/", bulk.settling_many, name="settling_many"),
    path("projects/<slug:slug>/settled/<uuid:batch>/", bulk.batch, name="batch"),
    path(
        "projects/<slug:slug>/settled/<uuid:batch>/withdrawal/",
        bulk.batch_withdrawal,
        name="batch_withdrawal",
    ),
    path(f"{DOCUMENT}rejudge-request/", rejudge.rejudge_request, name="rejudge_request"),
    path(
        f"{DOCUMENT}rejudge-request/withdrawal/",
        rejudge.rejudge_request_withdrawal,
        name="rejudge_request_withdrawal",
    ),
    path(f"{DOCUMENT}disagreement/", pages.disagreement, JUDGMENT, name="disagreement"),
    path(
        f"{DOCUMENT}adjudication/withdrawal/",
        pages.withdrawal,
        JUDGMENT,
        name="adjudication_withdrawal",
    ),
    path(f"{DOCUMENT}names/", pages.names, JUDGMENT, name="reveal_judges"),
    path(f"{CONDITION}disagreement/", pages.disagreement, VERDICT, name="verdict_disagreement"),
    path(
        f"{CONDITION}adjudication/withdrawal/", pages.withdrawal, VERDICT, name="verdict_withdrawal"
    ),
    path(f"{NARRATIVE}disagreement/", pages.disagreement, REVIEW, name="review_disagreement"),
    path(
        f"{NARRATIVE}disagreement/withdrawal/", pages.withdrawal, REVIEW, name="review_withdrawal"
    ),
    path(f"{NARRATIVE}names/", pages.names, REVIEW, name="reveal_auditors"),
    path(f"{LABEL}disagreement/", pages.disagreement, CHECK, name="check_disagreement"),
    path(
        f"{LABEL}disagreement/withdrawal/",
        pages.withdrawal,
        CHECK,
        name="check_disagreement_withdrawal",
    ),
    path(f"{LABEL}names/", pages.names, CHECK, name="reveal_checkers"),
]
