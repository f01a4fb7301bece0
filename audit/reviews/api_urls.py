"""API routes of reviews, under /api/v1/."""

from __future__ import annotations

from audit.reviews.api import draws, reviews, rubrics
from base.api.resource import route

PROJECT = "projects/<slug:slug>/"
PAIR = "pairs/<int:pair>/"
NARRATIVE = "narratives/<int:narrative>/"

urlpatterns = [
    route(f"{PROJECT}reviews/", reviews.Reviews, "api_reviews"),
    route(f"{PROJECT}reviews/decisions/", reviews.ReviewDecisions, "api_review_decisions"),
    route(f"{PROJECT}reviews/assignment/", reviews.ReviewAssignment, "api_review_assignment"),
    route(f"{PROJECT}review-draw/", draws.InForce, "api_review_draw"),
    route(f"{PROJECT}rejected/", reviews.Rejected, "api_rejected"),
    route(f"{PAIR}review/", reviews.Review, "api_review"),
    route(f"{PAIR}review/submission/", reviews.ReviewSubmission, "api_review_submission"),
    route(f"{PAIR}story/", reviews.Story, "api_story"),
    route(f"{NARRATIVE}decision/", reviews.NarrativeDecision, "api_decision"),
    route(f"{PROJECT}rubrics/", rubrics.Rubrics, "api_rubrics"),
    route(f"{PROJECT}rubric/", rubrics.RubricInForce, "api_rubric"),
]
