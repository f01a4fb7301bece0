"""Where the resources of this room are found, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from audit.checks.api import checks
from audit.reports import api as agreement
from audit.reviews.api import reviews, rubrics
from audit.settling.api import disagreements, settling

PROJECT = "projects/<slug:slug>/"
PAIR = "pairs/<int:pair>/"
NARRATIVE = "narratives/<int:narrative>/"
DOCUMENT = f"{NARRATIVE}candidates/<int:candidate>/"
CONDITION = "conditions/<int:condition>/candidates/<int:candidate>/"
SAMPLE = "samples/<int:sample>/"
LABEL = "labels/<int:item>/"
REPORT = f"{PROJECT}agreement/reports/<int:report>/"

urlpatterns = [
    path(f"{PROJECT}reviews/", reviews.Reviews.as_view(), name="api_reviews"),
    path(f"{PROJECT}reviews/seat/", reviews.ReviewSeat.as_view(), name="api_review_seat"),
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
        disagreements.JudgmentsDiffering.as_view(),
        name="api_disagreement",
    ),
    path(f"{DOCUMENT}adjudication/", settling.Settling.as_view(), name="api_adjudication"),
    path(f"{DOCUMENT}names/", disagreements.JudgesRevealed.as_view(), name="api_judges_revealed"),
    path(f"{DOCUMENT}wishes/", disagreements.LooksAgain.as_view(), name="api_wishes"),
    path(f"{DOCUMENT}wishes/<int:wish>/", disagreements.OneLookAgain.as_view(), name="api_wish"),
    path(
        f"{CONDITION}disagreement/",
        disagreements.VerdictsDiffering.as_view(),
        name="api_verdict_disagreement",
    ),
    path(
        f"{CONDITION}adjudication/",
        settling.ConditionSettling.as_view(),
        name="api_verdict_adjudication",
    ),
    path(
        f"{NARRATIVE}disagreement/",
        disagreements.ReviewsDiffering.as_view(),
        name="api_review_disagreement",
    ),
    path(
        f"{NARRATIVE}names/",
        disagreements.AuditorsRevealed.as_view(),
        name="api_auditors_revealed",
    ),
    path(f"{PROJECT}runs/", checks.Runs.as_view(), name="api_runs"),
    path(f"{PROJECT}samples/", checks.Samples.as_view(), name="api_samples"),
    path(f"{PROJECT}samples/plan/", checks.SamplePlan.as_view(), name="api_sample_plan"),
    path(f"{PROJECT}suspects/", checks.Suspects.as_view(), name="api_suspects"),
    path(SAMPLE, checks.OneSample.as_view(), name="api_sample"),
    path(f"{SAMPLE}figures/", checks.SampleFigures.as_view(), name="api_sample_figures"),
    path(f"{SAMPLE}labels/", checks.SampleLabels.as_view(), name="api_sample_labels"),
    path(f"{SAMPLE}next/", checks.NextLabel.as_view(), name="api_next_label"),
    path(LABEL, checks.Label.as_view(), name="api_label"),
    path(f"{LABEL}check/", checks.LabelCheck.as_view(), name="api_check"),
    path(f"{LABEL}settling/", checks.LabelSettling.as_view(), name="api_settling"),
    path(
        f"{LABEL}disagreement/",
        disagreements.ChecksDiffering.as_view(),
        name="api_check_disagreement",
    ),
    path(f"{LABEL}names/", disagreements.CheckersRevealed.as_view(), name="api_checkers_revealed"),
    path(f"{PROJECT}agreement/reports/", agreement.AgreementReports.as_view(), name="api_reports"),
    path(
        f"{PROJECT}agreement/comparisons/",
        agreement.AgreementComparisons.as_view(),
        name="api_comparisons",
    ),
    path(REPORT, agreement.OneAgreementReport.as_view(), name="api_report"),
    path(
        f"{REPORT}cancellation/",
        agreement.AgreementCancellation.as_view(),
        name="api_report_cancellation",
    ),
    path(f"{PROJECT}agreement/units/", agreement.AgreementUnits.as_view(), name="api_units"),
    path(f"{PROJECT}differences/", agreement.Differences.as_view(), name="api_differences"),
    path(f"{PROJECT}coverage/", agreement.Coverage.as_view(), name="api_coverage"),
]
