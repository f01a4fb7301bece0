"""API routes of label checks, under /api/v1/."""

from __future__ import annotations

from audit.checks.api import checks, machines
from base.api.resource import route

PROJECT = "projects/<slug:slug>/"
SAMPLE = "samples/<int:sample>/"
LABEL = "labels/<int:item>/"

urlpatterns = [
    route(f"{PROJECT}runs/", checks.Runs, "api_runs"),
    route(f"{PROJECT}samples/", checks.Samples, "api_samples"),
    route(f"{PROJECT}samples/plan/", checks.SamplePlan, "api_sample_plan"),
    route(f"{PROJECT}machine-claims/", machines.MachineClaims, "api_machine_claims"),
    route(f"{PROJECT}machine-claims/choice/", machines.MachineChoice, "api_machine_choice"),
    route(f"{PROJECT}suspects/", checks.Suspects, "api_suspects"),
    route(SAMPLE, checks.OneSample, "api_sample"),
    route(f"{SAMPLE}figures/", checks.SampleFigures, "api_sample_figures"),
    route(f"{SAMPLE}labels/", checks.SampleLabels, "api_sample_labels"),
    route(f"{SAMPLE}next/", checks.NextLabel, "api_next_label"),
    route(LABEL, checks.Label, "api_label"),
    route(f"{LABEL}check/", checks.LabelCheck, "api_check"),
    route(f"{LABEL}reason/", checks.LabelReason, "api_label_reason"),
    route(f"{LABEL}settling/", checks.LabelSettling, "api_settling"),
]
