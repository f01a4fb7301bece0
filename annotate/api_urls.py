"""Where the resources of this room are found, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.collection.api import loads
from annotate.guidelines import api as guidelines
from annotate.judging.api import journal, judgments, session
from annotate.overview.api import assignments, collection, dashboard
from annotate.people.api import accounts, me, members
from annotate.projects.api import audit_log, projects, taxonomy
from annotate.rewriting.api import drafts, narratives

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
    path(f"{PROJECT}categories/", taxonomy.Categories.as_view(), name="api_categories"),
    path(f"{PROJECT}categories/taking/", taxonomy.Taxonomy.as_view(), name="api_taxonomy"),
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
    path(f"{PROJECT}trail/", audit_log.Trail.as_view(), name="api_trail"),
    path(f"{PROJECT}trail/table/", audit_log.TrailTable.as_view(), name="api_trail_table"),
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
    path(f"{PROJECT}seats/", assignments.Seats.as_view(), name="api_seats"),
    path(f"{PROJECT}seats/<int:seat>/", assignments.OneSeat.as_view(), name="api_seat"),
    path(PAIR, collection.OnePair.as_view(), name="api_pair"),
    path(f"{PAIR}seats/", assignments.PairSeats.as_view(), name="api_pair_seats"),
    path(f"{PAIR}narratives/", narratives.Narratives.as_view(), name="api_narratives"),
    path(
        f"{PAIR}narratives/<int:narrative>/",
        narratives.OneNarrative.as_view(),
        name="api_narrative",
    ),
    path(
        f"{PAIR}documents/<int:candidate>/", collection.OneDocument.as_view(), name="api_document"
    ),
    path(f"{PAIR}draft/", drafts.MyDraft.as_view(), name="api_draft"),
    path(f"{PAIR}draft/overtaken/<str:which>/", drafts.Overtaken.as_view(), name="api_overtaken"),
    path(f"{PAIR}advice/", drafts.LookAtWords.as_view(), name="api_advice"),
    path(f"{PAIR}stake/", drafts.AtStake.as_view(), name="api_stake"),
    path(f"{PAIR}sitting/", session.MySitting.as_view(), name="api_sitting"),
    path(f"{PAIR}sheets/", session.Sheets.as_view(), name="api_sheets"),
    path(f"{PAIR}undo/", session.Undo.as_view(), name="api_undo"),
    path(f"{PAIR}judgments/", judgments.Judgments.as_view(), name="api_judgments"),
    path(f"{PAIR}judgments/<uuid:uuid>/", judgments.OneJudgment.as_view(), name="api_judgment"),
    path(f"{PAIR}flags/", judgments.Flags.as_view(), name="api_flags"),
    path(f"{PAIR}flags/<uuid:uuid>/", judgments.OneFlag.as_view(), name="api_flag"),
]
