"""Page routes of reviews."""

from __future__ import annotations

from django.urls import path

from audit.reviews.views import draws, reviews, rubrics
from audit.reviews.views import list as review_list

urlpatterns = [
    path("projects/<slug:slug>/reviews/", review_list.reviews, name="reviews"),
    path(
        "projects/<slug:slug>/reviews/decisions/",
        review_list.decide_ticked,
        name="review_decisions",
    ),
    path("projects/<slug:slug>/reviews/assignment/", reviews.assignment, name="review_assignment"),
    path("projects/<slug:slug>/reviews/draw/", draws.review_draw, name="review_draw"),
    path("projects/<slug:slug>/rubric/", rubrics.rubric, name="rubric"),
    path("projects/<slug:slug>/rubric/choice/", rubrics.rubric_choice, name="rubric_choice"),
    path(
        "projects/<slug:slug>/reviews/rejected.jsonl",
        review_list.rejected_file,
        name="rejected_file",
    ),
    path("pairs/<int:pk>/review/", reviews.review, name="review"),
    path("pairs/<int:pk>/review/<int:number>/", reviews.criterion, name="criterion"),
    path("pairs/<int:pk>/story/", reviews.pair_story, name="story"),
    path("narratives/<int:narrative>/decision/", reviews.decision, name="decision"),
    path(
        "narratives/<int:narrative>/decision/withdrawal/",
        reviews.decision_withdrawal,
        name="decision_withdrawal",
    ),
]
