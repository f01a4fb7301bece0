"""API routes of reviews, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from audit.reviews.api import draws, reviews, rubrics

PROJECT = "projects/<slug:slug>/"
PAIR = "pairs/<int:pair>/"
NARRATIVE = "narratives/<int:narrative>/"

urlpatterns = [
    path(f"{PROJECT}reviews/", reviews.Reviews.as_view(), name="api_reviews"),
    path(
        f"{PROJECT}reviews/acceptance/",
        reviews.ReviewAcceptance.as_view(),
        name="api_review_acceptance",
    ),
    path(
        f"{PROJECT}reviews/assignment/",
        reviews.ReviewAssignment.as_view(),
        name="api_review_assignment",
    ),
    path(f"{PROJECT}review-draw/", draws.InForce.as_view(), name="api_review_draw"),
    path(f"{PROJECT}rejected/", reviews.Rejected.as_view(), name="api_rejected"),
    path(f"{PAIR}review/", reviews.Review.as_view(), name="api_review"),
    path(
        f"{PAIR}review/submission/",
        reviews.ReviewSubmission.as_view(),
        name="api_review_submission",
    ),
    path(f"{PAIR}story/", reviews.Story.as_view(), name="api_story"),
    path(f"{NARRATIVE}decision/", reviews.NarrativeDecision.as_view(), name="api_decision"),
    path(f"{PROJECT}rubrics/", rubrics.Rubrics.as_view(), name="api_rubrics"),
    path(f"{PROJECT}rubric/", rubrics.RubricInForce.as_view(), name="api_rubric"),
]
