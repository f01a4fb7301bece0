"""API routes of label checks, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from audit.checks.api import checks

PROJECT = "projects/<slug:slug>/"
SAMPLE = "samples/<int:sample>/"
LABEL = "labels/<int:item>/"

urlpatterns = [
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
    path(f"{LABEL}reason/", checks.LabelReason.as_view(), name="api_label_reason"),
    path(f"{LABEL}settling/", checks.LabelSettling.as_view(), name="api_settling"),
]
