"""API routes of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from annotate.collection import api as collection
from annotate.guidelines import api as guidelines
from annotate.judging.api import journal, session
from annotate.judgments import api as attributes
from annotate.loading import api as loading
from annotate.overview.api import collection as overview
from annotate.overview.api import dashboard, home
from annotate.people import api as people
from annotate.pools import api as pools
from annotate.projects import api as projects
from annotate.rewriting import api as rewriting
from base.api.resource import route

PROJECT = "projects/<slug:slug>/"
QUERY = f"{PROJECT}queries/<int:query>/"
PAIR = "pairs/<int:pair>/"
POOL = f"{PROJECT}pools/<int:pool>/"
BATCH = f"{PROJECT}loads/<uuid:batch>/"
LOAD = f"{PROJECT}loads/<int:load>/"
GUIDELINE = f"{PROJECT}guidelines/<int:version>/"

urlpatterns = [
    # First, because every key press sends to it.
    path("journal/", journal.journal, name="api_journal"),
    # Projects
    route("projects/", projects.Projects, "api_projects"),
    route("kinds/", projects.Kinds, "api_kinds"),
    route(f"{PROJECT}kind/", projects.KindOfProject, "api_kind"),
    route(PROJECT, projects.OneProject, "api_project"),
    route(f"{PROJECT}archiving/", projects.Archiving, "api_archiving"),
    route(
        f"{PROJECT}jobs/<int:job>/cancellation/",
        projects.JobCancellation,
        "api_job_cancellation",
    ),
    route(f"{PROJECT}pause/", projects.Pause, "api_pause"),
    route(f"{PROJECT}due-date/", projects.DueDate, "api_due_date"),
    route(f"{PROJECT}categories/", projects.Categories, "api_categories"),
    route(f"{PROJECT}categories/taking/", projects.Taxonomy, "api_taxonomy"),
    route(f"{PROJECT}audit-log/", projects.AuditLog, "api_audit_log"),
    route(f"{PROJECT}audit-log/table/", projects.AuditLogTable, "api_audit_log_table"),
    # People
    route("me/", people.Me, "api_me"),
    route("me/preferences/", people.MyPreferences, "api_preferences"),
    route("accounts/", people.Accounts, "api_accounts"),
    route("accounts/<int:account>/", people.Account, "api_account"),
    route("accounts/<int:account>/sessions/", people.AccountSessions, "api_account_sessions"),
    route("accounts/invitations/", people.AccountInvitations, "api_account_invitations"),
    route(
        "accounts/invitations/<int:invitation>/",
        people.OneAccountInvitation,
        "api_account_invitation",
    ),
    route(f"{PROJECT}naming/", people.MyNaming, "api_naming"),
    route(f"{PROJECT}members/", people.Members, "api_members"),
    route(f"{PROJECT}members/<int:member>/", people.OneMember, "api_member"),
    route(f"{PROJECT}invitations/", people.Invitations, "api_invitations"),
    route(f"{PROJECT}invitations/several/", people.SeveralInvitations, "api_several_invitations"),
    route(f"{PROJECT}invitations/<int:invitation>/", people.OneInvitation, "api_invitation"),
    # Collection
    route(f"{PROJECT}passages/", collection.Passages, "api_passages"),
    route(f"{PROJECT}filters/", collection.Filters, "api_filters"),
    route(f"{PROJECT}topics/", collection.Topics, "api_topics"),
    route(f"{PROJECT}topics/draw/", collection.TopicDraw, "api_topic_draw"),
    route(f"{PROJECT}removed-queries/", collection.RemovedQueries, "api_removed_queries"),
    route(
        f"{PROJECT}removed-queries/restoration/",
        collection.QueryRestoration,
        "api_query_restoration",
    ),
    route(f"{PROJECT}removed-pairs/", collection.RemovedPairs, "api_removed_pairs"),
    route(
        f"{PROJECT}removed-pairs/restoration/", collection.PairRestoration, "api_pair_restoration"
    ),
    # Loading
    route("formats/", loading.Formats, "api_formats"),
    route(f"{PROJECT}loads/", loading.Loads, "api_loads"),
    route(f"{PROJECT}loads/several/", loading.SeveralLoads, "api_several_loads"),
    route(BATCH, loading.LoadBatch, "api_load_batch"),
    route(f"{BATCH}confirmation/", loading.BatchConfirmation, "api_load_batch_confirmation"),
    route(LOAD, loading.OneLoad, "api_load"),
    route(f"{LOAD}confirmation/", loading.Confirmation, "api_confirmation"),
    route(f"{LOAD}recheck/", loading.Recheck, "api_recheck"),
    route(f"{LOAD}leaving/", loading.Leaving, "api_leaving"),
    route(f"{PROJECT}loads/<int:load>/taking-back/", loading.TakingBack, "api_taking_back"),
    # Attributes
    route(f"{PAIR}attributes/", attributes.Attributes, "api_attributes"),
    route(
        f"{PAIR}attributes/documents/",
        attributes.DocumentsWithAttributes,
        "api_attribute_documents",
    ),
    # Pools
    route(f"{PROJECT}pools/", pools.Pools, "api_pools"),
    route(f"{PROJECT}pools/count/", pools.PoolCount, "api_pool_count"),
    route(POOL, pools.OnePool, "api_pool"),
    route(f"{POOL}documents.csv", pools.PoolDocuments, "api_pool_documents"),
    route(f"{PROJECT}missing-texts/", pools.MissingTexts, "api_missing_texts"),
    route(f"{PROJECT}labelled/", pools.LabelledAt, "api_labelled"),
    route(f"{PROJECT}hard-negatives/", pools.HardNegativeSystems, "api_hard_negatives"),
    route(f"{PROJECT}replacements/", pools.Replacements, "api_replacements"),
    route(f"{PROJECT}replacements/preview/", pools.ReplacementPreview, "api_replacement_preview"),
    route(
        f"{PROJECT}replacements/<int:replacement>/undoing/",
        pools.ReplacementUndoing,
        "api_replacement_undoing",
    ),
    route(f"{PROJECT}removed-candidates/", pools.RemovedCandidates, "api_removed_candidates"),
    route(
        f"{PROJECT}removed-candidates/restoration/",
        pools.CandidateRestoration,
        "api_candidate_restoration",
    ),
    # Rewriting
    route(f"{PAIR}narratives/", rewriting.Narratives, "api_narratives"),
    route(f"{PAIR}narratives/<int:narrative>/", rewriting.OneNarrative, "api_narrative"),
    route(
        f"{PAIR}narratives/<int:narrative>/current/",
        rewriting.CurrentNarrative,
        "api_narrative_current",
    ),
    route(f"{PAIR}sent-back/", rewriting.NarrativeSentBack, "api_sent_back"),
    route(f"{PAIR}stale-answers/", rewriting.StaleAnswers, "api_stale_answers"),
    route(f"{PAIR}draft/", rewriting.MyDraft, "api_draft"),
    route(f"{PAIR}draft/overtaken/<str:which>/", rewriting.Overtaken, "api_overtaken"),
    route(f"{PAIR}advice/", rewriting.LookAtWords, "api_advice"),
    route(f"{PAIR}rewrite-impact/", rewriting.ImpactedDocuments, "api_rewrite_impact"),
    # Judging
    route(f"{PAIR}judging-session/", session.MyJudgingSession, "api_judging_session"),
    route(f"{PAIR}document-views/", session.DocumentViews, "api_document_views"),
    route(f"{PAIR}undo/", session.Undo, "api_undo"),
    route(f"{PAIR}judgments/", session.Judgments, "api_judgments"),
    route(f"{PAIR}judgments/<uuid:uuid>/", session.OneJudgment, "api_judgment"),
    route(f"{PAIR}flags/", session.Flags, "api_flags"),
    route(f"{PAIR}flags/<uuid:uuid>/", session.OneFlag, "api_flag"),
    # Guidelines
    route(f"{PROJECT}guidelines/", guidelines.Guidelines, "api_guidelines"),
    route(GUIDELINE, guidelines.OneGuideline, "api_guideline"),
    route(
        f"{GUIDELINE}rejudge-requests/",
        guidelines.OlderAnswers,
        "api_rejudge_requests_of_guideline",
    ),
    # Overview
    route(f"{PROJECT}members/<int:member>/pace/", dashboard.MemberPace, "api_member_pace"),
    route("me/notices/", home.MyNotices, "api_notices"),
    route(f"{PROJECT}steps/", dashboard.Steps, "api_steps"),
    route(f"{PROJECT}progress/", dashboard.Progress, "api_progress"),
    route(f"{PROJECT}pace/", dashboard.Pace, "api_pace"),
    route(f"{PROJECT}matrix/", dashboard.MatrixPart, "api_matrix"),
    route(f"{PROJECT}flags/", dashboard.ProjectFlags, "api_project_flags"),
    route(f"{PROJECT}search/", overview.Search, "api_search"),
    route(f"{PROJECT}queries/", overview.Queries, "api_queries"),
    route(QUERY, overview.OneQuery, "api_query"),
    route(f"{QUERY}people/", overview.QueryPeople, "api_query_people"),
    route(f"{QUERY}candidates/", overview.Candidates, "api_candidates"),
    route(f"{PROJECT}pairs/", overview.Pairs, "api_pairs"),
    route(f"{PROJECT}assignments/", home.Assignments, "api_assignments"),
    route(f"{PROJECT}assignments/<int:assignment>/", home.OneAssignment, "api_assignment"),
    route(PAIR, overview.OnePair, "api_pair"),
    route(f"{PAIR}assignments/", home.PairAssignments, "api_pair_assignments"),
    route(f"{PAIR}documents/<int:candidate>/", overview.OneDocument, "api_document"),
]
