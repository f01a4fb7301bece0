"""Page routes of this app."""

from __future__ import annotations

from django.urls import include, path

from audit.checks.views import checking, samples
from audit.machines import views as machines
from audit.model_runs import views as model_runs
from audit.reports import views as reports
from audit.reviews import views as reviews
from audit.settling.queue_filters import Kind
from audit.settling.views import pages as settling

app_name = "audit"

PROJECT = "projects/<slug:slug>/"
NARRATIVE = "narratives/<int:narrative>/"
DOCUMENT = f"{NARRATIVE}candidates/<int:candidate>/"
CONDITION = "conditions/<int:condition>/candidates/<int:candidate>/"
LABEL = "labels/<int:item>/"
# The kind of disagreement that an address is about.
JUDGMENT, VERDICT, REVIEW, CHECK = ({"kind": kind} for kind in Kind)

urlpatterns = [
    # Reviews
    path(f"{PROJECT}reviews/", reviews.reviews, name="reviews"),
    path(f"{PROJECT}reviews/decisions/", reviews.decide_ticked, name="review_decisions"),
    path(f"{PROJECT}reviews/assignment/", reviews.assignment, name="review_assignment"),
    path(f"{PROJECT}reviews/draw/", reviews.review_draw, name="review_draw"),
    path(f"{PROJECT}rubric/", reviews.rubric, name="rubric"),
    path(f"{PROJECT}rubric/choice/", reviews.rubric_choice, name="rubric_choice"),
    path(f"{PROJECT}reviews/rejected.jsonl", reviews.rejected_file, name="rejected_file"),
    path("pairs/<int:pk>/review/", reviews.review, name="review"),
    path("pairs/<int:pk>/review/<int:number>/", reviews.criterion, name="criterion"),
    path("pairs/<int:pk>/story/", reviews.pair_story, name="story"),
    path(f"{NARRATIVE}decision/", reviews.decision, name="decision"),
    path(
        f"{NARRATIVE}decision/withdrawal/", reviews.decision_withdrawal, name="decision_withdrawal"
    ),
    # Label checks
    path(f"{PROJECT}checks/", samples.checks, name="checks"),
    path(f"{PROJECT}checks/new/", samples.new_sample, name="new_sample"),
    path(f"{PROJECT}checks/machines/", samples.machines, name="machines"),
    path(f"{PROJECT}suspects/", samples.suspects, name="suspects"),
    path("samples/<int:pk>/", samples.sample, name="sample"),
    path("samples/<int:pk>/labels.csv", samples.sample_labels, name="sample_labels"),
    path("samples/<int:pk>/checking/", checking.start, {"settles": False}, name="checking"),
    path("samples/<int:pk>/settling/", checking.start, {"settles": True}, name="settling"),
    path("samples/<int:pk>/labels/", checking.labels, name="labels"),
    path("labels/<int:pk>/check/", checking.label, {"settles": False}, name="check"),
    path("labels/<int:pk>/check/withdrawal/", checking.check_withdrawal, name="check_withdrawal"),
    path("labels/<int:pk>/reason/", checking.check_reason, name="check_reason"),
    path("labels/<int:pk>/settlement/", checking.label, {"settles": True}, name="settlement"),
    # Disagreements
    path(f"{PROJECT}disagreements/", settling.disagreements, name="disagreements"),
    path(f"{PROJECT}disagreements/count/", settling.disagreement_count, name="disagreement_count"),
    path(
        f"{PROJECT}disagreements/table/", settling.disagreements_table, name="disagreements_table"
    ),
    path(f"{PROJECT}disagreements/views/", settling.disagreement_views, name="disagreement_views"),
    path(f"{PROJECT}disagreements/reveals/", settling.reveals, name="reveals"),
    path(f"{PROJECT}disagreements/settling/", settling.settling_many, name="settling_many"),
    path(f"{PROJECT}settled/<uuid:batch>/", settling.batch, name="batch"),
    path(
        f"{PROJECT}settled/<uuid:batch>/withdrawal/",
        settling.batch_withdrawal,
        name="batch_withdrawal",
    ),
    path(f"{DOCUMENT}rejudge-request/", settling.rejudge_request, name="rejudge_request"),
    path(
        f"{DOCUMENT}rejudge-request/withdrawal/",
        settling.rejudge_request_withdrawal,
        name="rejudge_request_withdrawal",
    ),
    path(f"{DOCUMENT}disagreement/", settling.disagreement, JUDGMENT, name="disagreement"),
    path(
        f"{DOCUMENT}adjudication/withdrawal/",
        settling.withdrawal,
        JUDGMENT,
        name="adjudication_withdrawal",
    ),
    path(f"{DOCUMENT}names/", settling.names, JUDGMENT, name="reveal_judges"),
    path(f"{CONDITION}disagreement/", settling.disagreement, VERDICT, name="verdict_disagreement"),
    path(
        f"{CONDITION}adjudication/withdrawal/",
        settling.withdrawal,
        VERDICT,
        name="verdict_withdrawal",
    ),
    path(f"{NARRATIVE}disagreement/", settling.disagreement, REVIEW, name="review_disagreement"),
    path(
        f"{NARRATIVE}disagreement/withdrawal/",
        settling.withdrawal,
        REVIEW,
        name="review_withdrawal",
    ),
    path(f"{NARRATIVE}names/", settling.names, REVIEW, name="reveal_auditors"),
    path(f"{LABEL}disagreement/", settling.disagreement, CHECK, name="check_disagreement"),
    path(
        f"{LABEL}disagreement/withdrawal/",
        settling.withdrawal,
        CHECK,
        name="check_disagreement_withdrawal",
    ),
    path(f"{LABEL}names/", settling.names, CHECK, name="reveal_checkers"),
    # Agreement and rules
    path(f"{PROJECT}differences/", reports.differences_page, name="differences"),
    path(f"{PROJECT}collection/", reports.collection, name="collection"),
    path(f"{PROJECT}collection/categories.csv", reports.categories_table, name="categories_table"),
    path(f"{PROJECT}agreement/", reports.agreement, name="agreement"),
    path(f"{PROJECT}agreement/machines/", reports.agreement_machines, name="agreement_machines"),
    path(
        f"{PROJECT}agreement/comparison/", reports.agreement_comparison, name="agreement_comparison"
    ),
    path(f"{PROJECT}agreement/units.csv", reports.agreement_units, name="agreement_units"),
    path(f"{PROJECT}agreement/reports/", reports.agreement_reports, name="agreement_reports"),
    path(f"{PROJECT}agreement/reports/<int:pk>/", reports.agreement_past, name="agreement_past"),
    path(
        f"{PROJECT}agreement/reports/<int:pk>/tables/<slug:table>/",
        reports.agreement_table,
        name="agreement_table",
    ),
    path(
        f"{PROJECT}agreement/reports/<int:pk>.json",
        reports.agreement_report,
        name="agreement_report",
    ),
    # How far a machine may be trusted
    path(f"{PROJECT}machines/<int:pk>/trust/", machines.trust, name="trust"),
    path(
        f"{PROJECT}machines/<int:pk>/trust/documents/",
        machines.trust_documents,
        name="trust_documents",
    ),
    path(
        f"{PROJECT}machines/<int:pk>/second-look/",
        machines.second_look,
        name="second_look",
    ),
    # Language models
    path(f"{PROJECT}models/", model_runs.models, name="models"),
    path(f"{PROJECT}models/new/", model_runs.new_model, name="new_model"),
    path(f"{PROJECT}models/<int:pk>/limits/", model_runs.model_limits, name="model_limits"),
    path(f"{PROJECT}models/<int:pk>/removal/", model_runs.model_removal, name="model_removal"),
    path(f"{PROJECT}models/budget/", model_runs.model_budget, name="model_budget"),
    path(f"{PROJECT}models/prompt/", model_runs.prompt, name="prompt"),
    path(f"{PROJECT}models/runs/new/", model_runs.new_model_run, name="new_model_run"),
    path(f"{PROJECT}models/runs/new/questions.jsonl", model_runs.model_batch, name="model_batch"),
    path(f"{PROJECT}models/runs/<int:pk>/", model_runs.model_run, name="model_run"),
    path(f"{PROJECT}models/runs/<int:pk>/calls/", model_runs.model_calls, name="model_calls"),
    path(f"{PROJECT}models/calls/<int:pk>/", model_runs.model_call, name="model_call"),
    path("api/v1/", include("audit.api_urls")),
]
