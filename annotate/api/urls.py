"""Where the resources of this room are found, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.api import (
    accounts,
    categories,
    collection,
    dashboard,
    guidelines,
    journal,
    judgments,
    loads,
    me,
    members,
    projects,
    seats,
    sitting,
    trail,
    writing,
)

PROJECT = "projects/<slug:slug>/"
QUERY = f"{PROJECT}queries/<int:query>/"
GUIDELINE = f"{PROJECT}guidelines/<int:version>/"
LOAD = f"{PROJECT}loads/<int:load>/"
PAIR = "pairs/<int:pair>/"

urlpatterns = [
    path("journal/", journal.journal, name="api_journal"),
    path("me/", me.Me.as_view(), name="api_me"),
    path("me/preferences/", me.MyPreferences.as_view(), name="api_preferences"),
    path("formats/", loads.Formats.as_view(), name="api_formats"),
    path("accounts/", accounts.Accounts.as_view(), name="api_accounts"),
    path("accounts/<int:account>/", accounts.Account.as_view(), name="api_account"),
    path(
        "accounts/<int:account>/sessions/",
        accounts.AccountSessions.as_view(),
        name="api_account_sessions",
    ),
    path(
        "accounts/invitations/",
        accounts.AccountInvitations.as_view(),
        name="api_account_invitations",
    ),
    path(
        "accounts/invitations/<int:invitation>/",
        accounts.OneAccountInvitation.as_view(),
        name="api_account_invitation",
    ),
    path("projects/", projects.Projects.as_view(), name="api_projects"),
    path(PROJECT, projects.OneProject.as_view(), name="api_project"),
    path(f"{PROJECT}archiving/", projects.Archiving.as_view(), name="api_archiving"),
    path(f"{PROJECT}categories/", categories.Categories.as_view(), name="api_categories"),
    path(f"{PROJECT}categories/taking/", categories.Taxonomy.as_view(), name="api_taxonomy"),
    path(f"{PROJECT}members/", members.Members.as_view(), name="api_members"),
    path(f"{PROJECT}members/<int:member>/", members.OneMember.as_view(), name="api_member"),
    path(
        f"{PROJECT}members/<int:member>/pace/",
        dashboard.MemberPace.as_view(),
        name="api_member_pace",
    ),
    path(f"{PROJECT}invitations/", members.Invitations.as_view(), name="api_invitations"),
    path(
        f"{PROJECT}invitations/<int:invitation>/",
        members.OneInvitation.as_view(),
        name="api_invitation",
    ),
    path(f"{PROJECT}trail/", trail.Trail.as_view(), name="api_trail"),
    path(f"{PROJECT}trail/table/", trail.TrailTable.as_view(), name="api_trail_table"),
    path(f"{PROJECT}progress/", dashboard.Progress.as_view(), name="api_progress"),
    path(f"{PROJECT}pace/", dashboard.Pace.as_view(), name="api_pace"),
    path(f"{PROJECT}matrix/", dashboard.MatrixPart.as_view(), name="api_matrix"),
    path(f"{PROJECT}flags/", dashboard.ProjectFlags.as_view(), name="api_project_flags"),
    path(f"{PROJECT}guidelines/", guidelines.Guidelines.as_view(), name="api_guidelines"),
    path(GUIDELINE, guidelines.OneGuideline.as_view(), name="api_guideline"),
    path(f"{GUIDELINE}looks/", guidelines.Looks.as_view(), name="api_looks"),
    path(f"{PROJECT}loads/", loads.Loads.as_view(), name="api_loads"),
    path(LOAD, loads.OneLoad.as_view(), name="api_load"),
    path(f"{LOAD}confirmation/", loads.Confirmation.as_view(), name="api_confirmation"),
    path(f"{LOAD}cancellation/", loads.Cancellation.as_view(), name="api_cancellation"),
    path(f"{LOAD}leaving/", loads.Leaving.as_view(), name="api_leaving"),
    path(f"{PROJECT}queries/", collection.Queries.as_view(), name="api_queries"),
    path(QUERY, collection.OneQuery.as_view(), name="api_query"),
    path(f"{QUERY}candidates/", collection.Candidates.as_view(), name="api_candidates"),
    path(f"{PROJECT}pairs/", collection.Pairs.as_view(), name="api_pairs"),
    path(f"{PROJECT}seats/", seats.Seats.as_view(), name="api_seats"),
    path(f"{PROJECT}seats/<int:seat>/", seats.OneSeat.as_view(), name="api_seat"),
    path(PAIR, collection.OnePair.as_view(), name="api_pair"),
    path(f"{PAIR}seats/", seats.PairSeats.as_view(), name="api_pair_seats"),
    path(f"{PAIR}narratives/", collection.Narratives.as_view(), name="api_narratives"),
    path(
        f"{PAIR}narratives/<int:narrative>/",
        collection.OneNarrative.as_view(),
        name="api_narrative",
    ),
    path(
        f"{PAIR}documents/<int:candidate>/", collection.OneDocument.as_view(), name="api_document"
    ),
    path(f"{PAIR}draft/", writing.MyDraft.as_view(), name="api_draft"),
    path(f"{PAIR}draft/overtaken/<str:which>/", writing.Overtaken.as_view(), name="api_overtaken"),
    path(f"{PAIR}advice/", writing.LookAtWords.as_view(), name="api_advice"),
    path(f"{PAIR}stake/", writing.AtStake.as_view(), name="api_stake"),
    path(f"{PAIR}sitting/", sitting.MySitting.as_view(), name="api_sitting"),
    path(f"{PAIR}sheets/", sitting.Sheets.as_view(), name="api_sheets"),
    path(f"{PAIR}undo/", sitting.Undo.as_view(), name="api_undo"),
    path(f"{PAIR}judgments/", judgments.Judgments.as_view(), name="api_judgments"),
    path(f"{PAIR}judgments/<uuid:uuid>/", judgments.OneJudgment.as_view(), name="api_judgment"),
    path(f"{PAIR}flags/", judgments.Flags.as_view(), name="api_flags"),
    path(f"{PAIR}flags/<uuid:uuid>/", judgments.OneFlag.as_view(), name="api_flag"),
]
