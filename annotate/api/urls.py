"""Where the resources of this room are found, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.api import journal, judgments, me, members, projects

PROJECT = "projects/<slug:slug>/"
PAIR = "pairs/<int:pair>/"

urlpatterns = [
    path("journal/", journal.journal, name="api_journal"),
    path("me/", me.Me.as_view(), name="api_me"),
    path("me/preferences/", me.MyPreferences.as_view(), name="api_preferences"),
    path("projects/", projects.Projects.as_view(), name="api_projects"),
    path(PROJECT, projects.OneProject.as_view(), name="api_project"),
    path(f"{PROJECT}archiving/", projects.Archiving.as_view(), name="api_archiving"),
    path(f"{PROJECT}members/", members.Members.as_view(), name="api_members"),
    path(f"{PROJECT}members/<int:member>/", members.OneMember.as_view(), name="api_member"),
    path(f"{PAIR}judgments/", judgments.Judgments.as_view(), name="api_judgments"),
    path(f"{PAIR}judgments/<uuid:uuid>/", judgments.OneJudgment.as_view(), name="api_judgment"),
    path(f"{PAIR}flags/", judgments.Flags.as_view(), name="api_flags"),
    path(f"{PAIR}flags/<uuid:uuid>/", judgments.OneFlag.as_view(), name="api_flag"),
]
