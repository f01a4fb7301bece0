"""Page routes of this app."""

from __future__ import annotations

from django.urls import include, path

from annotate.collection import views as collection
from annotate.guidelines import urls as guidelines
from annotate.judging import urls as judging
from annotate.judgments import urls as judgments
from annotate.overview.views import dashboard, home
from annotate.overview.views import project as overview
from annotate.people import views as people
from annotate.pools import views as pools
from annotate.projects import views as projects
from annotate.rewriting import views as rewriting

app_name = "annotate"

PROJECT = "projects/<slug:slug>/"

POOL = f"{PROJECT}pools/<int:pk>/"

urlpatterns = [
    # Projects
    path("projects/", projects.new_project, name="new_project"),
    path("projects/<slug:slug>/settings/", projects.settings, name="settings"),
    path("projects/<slug:slug>/kind/", projects.kind, name="kind"),
    path("projects/<slug:slug>/categories/", projects.categories, name="categories"),
    path("projects/<slug:slug>/categories/taking/", projects.taxonomy, name="taxonomy"),
    path("projects/<slug:slug>/audit-log/", projects.audit_log, name="audit_log"),
    path("projects/<slug:slug>/audit-log/table/", projects.audit_log_table, name="audit_log_table"),
    path("projects/<slug:slug>/archiving/", projects.archiving, name="archiving"),
    path("projects/<slug:slug>/jobs/<int:pk>/", projects.job, name="job"),
    path(
        "projects/<slug:slug>/jobs/<int:pk>/cancellation/",
        projects.cancellation,
        name="job_cancellation",
    ),
    path("projects/<slug:slug>/pause/", projects.pause, name="pause"),
    path("projects/<slug:slug>/due-date/", projects.due_date, name="due_date"),
    # People
    path("settings/", people.preferences, name="preferences"),
    path("accounts/", people.account, name="account"),
    path("accounts/sessions/", people.sessions, name="sessions"),
    path("invitations/<str:token>/", people.invitation, name="invitation"),
    path("people/", people.accounts, name="people"),
    path("people/<int:pk>/", people.change_account, name="account_change"),
    path(
        "people/invitations/<int:pk>/withdrawal/",
        people.account_withdrawal,
        name="account_invitation_withdrawal",
    ),
    path("settings/tokens/", people.tokens, name="tokens"),
    path("settings/tokens/<int:pk>/ending/", people.token_end, name="token_end"),
    path("projects/<slug:slug>/naming/", people.naming, name="naming"),
    path("projects/<slug:slug>/members/", people.members, name="members"),
    path("projects/<slug:slug>/members/<int:pk>/", people.change_member, name="member"),
    path("projects/<slug:slug>/invitations/", people.several, name="several_invitations"),
    path(
        "projects/<slug:slug>/invitations/<int:pk>/withdrawal/",
        people.withdrawal,
        name="invitation_withdrawal",
    ),
    # Collection
    path("projects/<slug:slug>/passages/", collection.passages, name="passages"),
    path("projects/<slug:slug>/loads/", collection.loads, name="loads"),
    path("projects/<slug:slug>/loads/<uuid:batch>/", collection.load_batch, name="load_batch"),
    path(
        "projects/<slug:slug>/loads/<uuid:batch>/confirmation/",
        collection.batch_confirmation,
        name="load_batch_confirmation",
    ),
    path("projects/<slug:slug>/loads/<int:pk>/", collection.load, name="load"),
    path(
        "projects/<slug:slug>/loads/<int:pk>/confirmation/",
        collection.confirmation,
        name="load_confirmation",
    ),
    path("projects/<slug:slug>/loads/<int:pk>/recheck/", collection.recheck, name="load_recheck"),
    path("projects/<slug:slug>/loads/<int:pk>/leaving/", collection.leaving, name="load_leaving"),
    path(f"{PROJECT}removed-queries/", collection.removed, name="removed_queries"),
    *judgments.urlpatterns,
    # Pools
    path(f"{PROJECT}pools/", pools.pools, name="pools"),
    path(f"{PROJECT}pools/new/", pools.new_pool, name="new_pool"),
    path(f"{PROJECT}pools/hard-negatives/", pools.hard_negatives, name="hard_negatives"),
    path(POOL, pools.pool, name="pool"),
    path(f"{POOL}documents.csv", pools.documents, name="pool_documents"),
    path(f"{PROJECT}missing-texts/", pools.missing_texts, name="missing_texts"),
    path(
        f"{PROJECT}missing-texts.txt",
        pools.missing_texts_file,
        name="missing_texts_file",
    ),
    path(
        f"{PROJECT}loads/<int:pk>/taking-back/",
        pools.taking_back,
        name="load_taking_back",
    ),
    path(f"{PROJECT}removed-candidates/", pools.removed, name="removed_candidates"),
    path(
        f"{PROJECT}queries/<int:pk>/candidates/<int:candidate>/replacement/",
        pools.replacement,
        name="replacement",
    ),
    path(f"{PROJECT}replacements/", pools.replacements, name="replacements"),
    path(
        f"{PROJECT}replacements/<int:pk>/undoing/",
        pools.undoing,
        name="replacement_undoing",
    ),
    # Rewriting
    path("pairs/<int:pk>/narrative/", rewriting.rewrite, name="rewrite"),
    path("pairs/<int:pk>/draft/", rewriting.draft, name="draft"),
    path("pairs/<int:pk>/advice/", rewriting.advice, name="advice"),
    path("pairs/<int:pk>/narratives/<int:narrative>/", rewriting.narrative, name="narrative"),
    path(
        "pairs/<int:pk>/narratives/<int:narrative>/current/",
        rewriting.make_current,
        name="narrative_current",
    ),
    path("pairs/<int:pk>/sent-back/", rewriting.send_back, name="send_back"),
    path("pairs/<int:pk>/sent-back/withdrawal/", rewriting.take_back, name="take_back"),
    path("pairs/<int:pk>/documents/<int:candidate_pk>/", rewriting.document, name="document"),
    *judging.urlpatterns,
    *guidelines.urlpatterns,
    # Overview
    path("", home.home, name="home"),
    path("notices/", home.notices, name="notices"),
    path("projects/<slug:slug>/", overview.project, name="project"),
    path("projects/<slug:slug>/assignments/", home.assignment, name="assignment"),
    path(
        "projects/<slug:slug>/assignments/<int:pk>/leaving/",
        home.give_back_assignment,
        name="give_back_assignment",
    ),
    path("projects/<slug:slug>/queries/", overview.queries, name="queries"),
    path("projects/<slug:slug>/topics/", overview.topics, name="topics"),
    path("projects/<slug:slug>/queries/<int:pk>/", overview.query, name="query"),
    path(
        "projects/<slug:slug>/queries/<int:pk>/people/",
        overview.query_people,
        name="query_people",
    ),
    path("projects/<slug:slug>/taken-out/<str:kind>/", overview.removal, name="removal"),
    path(
        "projects/<slug:slug>/taken-out/<str:kind>/restoration/",
        overview.restoration,
        name="restoration",
    ),
    path("projects/<slug:slug>/search/", overview.search_project, name="search"),
    path("projects/<slug:slug>/progress/", dashboard.progress, name="progress"),
    path("projects/<slug:slug>/matrix/", dashboard.matrix, name="matrix"),
    path("projects/<slug:slug>/flags/", dashboard.flags, name="flags"),
    path("projects/<slug:slug>/people/<int:pk>/", dashboard.person, name="person"),
    path("pairs/<int:pk>/assignments/", home.pair_assignment, name="pair_assignment"),
    path("api/v1/", include("annotate.api_urls")),
]
