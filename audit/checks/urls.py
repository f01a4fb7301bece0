"""Page routes of label checks."""

from __future__ import annotations

from django.urls import path

from audit.checks.views import checking, machines, samples

urlpatterns = [
    path("projects/<slug:slug>/checks/", samples.checks, name="checks"),
    path("projects/<slug:slug>/checks/new/", samples.new_sample, name="new_sample"),
    path("projects/<slug:slug>/checks/machines/", machines.machines, name="machines"),
    path("projects/<slug:slug>/suspects/", samples.suspects, name="suspects"),
    path("samples/<int:pk>/", samples.sample, name="sample"),
    path("samples/<int:pk>/labels.csv", samples.sample_labels, name="sample_labels"),
    path("samples/<int:pk>/checking/", checking.checking, name="checking"),
    path("samples/<int:pk>/settling/", checking.settling, name="settling"),
    path("samples/<int:pk>/labels/", checking.labels, name="labels"),
    path("labels/<int:pk>/check/", checking.check, name="check"),
    path("labels/<int:pk>/check/withdrawal/", checking.check_withdrawal, name="check_withdrawal"),
    path("labels/<int:pk>/reason/", checking.check_reason, name="check_reason"),
    path("labels/<int:pk>/settlement/", checking.settlement, name="settlement"),
]
