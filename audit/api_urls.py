"""API routes of this app, under /api/v1/."""

from __future__ import annotations

from audit.checks.api import checking, samples
from audit.machines import api as machines
from audit.model_runs import api as model_runs
from audit.reports import api as reports
from audit.reviews import api as reviews
from audit.settling.api import disagreements, settling
from base.api.resource import route

PROJECT = "projects/<slug:slug>/"
PAIR = "pairs/<int:pair>/"
NARRATIVE = "narratives/<int:narrative>/"
SAMPLE = "samples/<int:sample>/"
LABEL = "labels/<int:item>/"
DOCUMENT = f"{NARRATIVE}candidates/<int:candidate>/"
CONDITION = "conditions/<int:condition>/candidates/<int:candidate>/"
REPORT = f"{PROJECT}agreement/reports/<int:report>/"

urlpatterns = [
    # Reviews
    route(f"{PROJECT}reviews/", reviews.Reviews, "api_reviews"),
    route(f"{PROJECT}reviews/decisions/", reviews.ReviewDecisions, "api_review_decisions"),
    route(f"{PROJECT}reviews/assignment/", reviews.ReviewAssignment, "api_review_assignment"),
    route(f"{PROJECT}review-draw/", reviews.InForce, "api_review_draw"),
    route(f"{PROJECT}rejected/", reviews.Rejected, "api_rejected"),
    route(f"{PAIR}review/", reviews.Review, "api_review"),
    route(f"{PAIR}review/submission/", reviews.ReviewSubmission, "api_review_submission"),
    route(f"{PAIR}story/", reviews.Story, "api_story"),
    route(f"{NARRATIVE}decision/", reviews.NarrativeDecision, "api_decision"),
    route(f"{PROJECT}rubrics/", reviews.Rubrics, "api_rubrics"),
    route(f"{PROJECT}rubric/", reviews.RubricInForce, "api_rubric"),
    # Label checks
    route(f"{PROJECT}runs/", samples.Runs, "api_runs"),
    route(f"{PROJECT}samples/", samples.Samples, "api_samples"),
    route(f"{PROJECT}samples/plan/", samples.SamplePlan, "api_sample_plan"),
    route(f"{PROJECT}machine-claims/", samples.MachineClaims, "api_machine_claims"),
    route(f"{PROJECT}machine-claims/choice/", samples.MachineChoice, "api_machine_choice"),
    route(f"{PROJECT}suspects/", samples.Suspects, "api_suspects"),
    route(SAMPLE, samples.OneSample, "api_sample"),
    route(f"{SAMPLE}figures/", samples.SampleFigures, "api_sample_figures"),
    route(f"{SAMPLE}labels/", samples.SampleLabels, "api_sample_labels"),
    route(f"{SAMPLE}next/", checking.NextLabel, "api_next_label"),
    route(LABEL, checking.Label, "api_label"),
    route(f"{LABEL}check/", checking.LabelCheck, "api_check"),
    route(f"{LABEL}reason/", checking.LabelReason, "api_label_reason"),
    route(f"{LABEL}settling/", checking.LabelSettling, "api_settling"),
    # Disagreements
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
    # Agreement and rules
    route(f"{PROJECT}agreement/reports/", reports.AgreementReports, "api_reports"),
    route(f"{PROJECT}agreement/comparisons/", reports.AgreementComparisons, "api_comparisons"),
    route(REPORT, reports.OneAgreementReport, "api_report"),
    route(f"{PROJECT}agreement/units/", reports.AgreementUnits, "api_units"),
    route(f"{PROJECT}rules/", reports.Rules, "api_rules"),
    route(f"{PROJECT}differences/", reports.Differences, "api_differences"),
    route(f"{PROJECT}categories/figures/", reports.FiguresOfCategories, "api_category_figures"),
    route(f"{PROJECT}coverage/", reports.Coverage, "api_coverage"),
    # How far a machine may be trusted
    route(f"{PROJECT}machines/<int:machine>/trust/", machines.MachineTrust, "api_trust"),
    route(
        f"{PROJECT}machines/<int:machine>/second-look/",
        machines.SecondLooks,
        "api_second_look",
    ),
    # Language models
    route(f"{PROJECT}models/", model_runs.Models, "api_models"),
    route(f"{PROJECT}models/<int:model>/", model_runs.OneModel, "api_model"),
    route(f"{PROJECT}model-budget/", model_runs.ModelBudget, "api_model_budget"),
    route(f"{PROJECT}prompts/", model_runs.Prompts, "api_prompts"),
    route(f"{PROJECT}model-runs/", model_runs.ModelRuns, "api_model_runs"),
    route(f"{PROJECT}model-runs/plan/", model_runs.ModelRunPlan, "api_model_run_plan"),
    route(f"{PROJECT}model-runs/questions/", model_runs.ModelBatch, "api_model_batch"),
    route(f"{PROJECT}model-runs/<int:run>/", model_runs.OneModelRun, "api_model_run"),
    route(f"{PROJECT}model-runs/<int:run>/calls/", model_runs.ModelCalls, "api_model_calls"),
    route(f"{PROJECT}model-calls/<int:call>/", model_runs.OneModelCall, "api_model_call"),
]
