"""Page routes of this app."""

from __future__ import annotations

from django.urls import include, path

from annotate.collection import views as collection
from annotate.guidelines import views as guidelines
from annotate.judging.views import judge as judging
from annotate.judging.views import list as listing
from annotate.judgments import views as documents
from annotate.loading import views as loading
from annotate.overview.views import dashboard, home
from annotate.overview.views import project as overview
from annotate.people.views import accounts, invitations, members, own
from annotate.pools import views as pools
from annotate.projects import views as projects
from annotate.rewriting import views as rewriting

app_name = "annotate"

PROJECT = "projects/<slug:slug>/"
PAIR = "pairs/<int:pk>/"
POOL = f"{PROJECT}pools/<int:pk>/"

urlpatterns = [
    path("api/v1/", include("annotate.api_urls")),
    # Projects
    path("projects/", projects.new_project, name="new_project"),
    path(f"{PROJECT}settings/", projects.settings, name="settings"),
    path(f"{PROJECT}kind/", projects.kind, name="kind"),
    path(f"{PROJECT}categories/", projects.categories, name="categories"),
    path(f"{PROJECT}categories/taking/", projects.taxonomy, name="taxonomy"),
    path(f"{PROJECT}audit-log/", projects.audit_log, name="audit_log"),
    path(f"{PROJECT}audit-log/table/", projects.audit_log_table, name="audit_log_table"),
    path(f"{PROJECT}archiving/", projects.archiving, name="archiving"),
    path(f"{PROJECT}jobs/<int:pk>/", projects.job, name="job"),
    path(f"{PROJECT}jobs/<int:pk>/cancellation/", projects.cancellation, name="job_cancellation"),
    path(f"{PROJECT}pause/", projects.pause, name="pause"),
    path(f"{PROJECT}due-date/", projects.due_date, name="due_date"),
    # People
    path("settings/", own.preferences, name="preferences"),
    path("accounts/", own.account, name="account"),
    path("accounts/sessions/", own.sessions, name="sessions"),
    path("invitations/<str:token>/", invitations.invitation, name="invitation"),
    path("people/", accounts.accounts, name="people"),
    path("people/<int:pk>/", accounts.change_account, name="account_change"),
    path(
        "people/invitations/<int:pk>/withdrawal/",
        invitations.account_withdrawal,
        name="account_invitation_withdrawal",
    ),
    path("settings/tokens/", own.tokens, name="tokens"),
    path("settings/tokens/<int:pk>/ending/", own.token_end, name="token_end"),
    path(f"{PROJECT}naming/", own.naming, name="naming"),
    path(f"{PROJECT}members/", members.members, name="members"),
    path(f"{PROJECT}members/<int:pk>/", members.change_member, name="member"),
    path(f"{PROJECT}invitations/", members.several, name="several_invitations"),
    path(
        f"{PROJECT}invitations/<int:pk>/withdrawal/",
        invitations.withdrawal,
        name="invitation_withdrawal",
    ),
    # Collection
    path(f"{PROJECT}passages/", collection.passages, name="passages"),
    path(f"{PROJECT}removed-queries/", collection.removed, name="removed_queries"),
    # Loading
    path(f"{PROJECT}loads/", loading.loads, name="loads"),
    path(f"{PROJECT}loads/<uuid:batch>/", loading.load_batch, name="load_batch"),
    path(
        f"{PROJECT}loads/<uuid:batch>/confirmation/",
        loading.batch_confirmation,
        name="load_batch_confirmation",
    ),
    path(f"{PROJECT}loads/<int:pk>/", loading.load, name="load"),
    path(
        f"{PROJECT}loads/<int:pk>/confirmation/",
        loading.confirmation,
        name="load_confirmation",
    ),
    path(f"{PROJECT}loads/<int:pk>/recheck/", loading.recheck, name="load_recheck"),
    path(f"{PROJECT}loads/<int:pk>/leaving/", loading.leaving, name="load_leaving"),
    path(f"{PROJECT}loads/<int:pk>/taking-back/", loading.taking_back, name="load_taking_back"),
    # Attributes and big tables of documents
    path(f"{PAIR}attributes/", documents.attributes, name="attributes"),
    path(f"{PAIR}documents/<int:candidate_pk>/table/", documents.table, name="table"),
    # Pools
    path(f"{PROJECT}pools/", pools.pools, name="pools"),
    path(f"{PROJECT}pools/new/", pools.new_pool, name="new_pool"),
    path(f"{PROJECT}pools/hard-negatives/", pools.hard_negatives, name="hard_negatives"),
    path(POOL, pools.pool, name="pool"),
    path(f"{POOL}documents.csv", pools.documents, name="pool_documents"),
    path(f"{PROJECT}missing-texts/", pools.missing_texts, name="missing_texts"),
    path(f"{PROJECT}missing-texts.txt", pools.missing_texts_file, name="missing_texts_file"),
    path(f"{PROJECT}removed-candidates/", pools.removed, name="removed_candidates"),
    path(
        f"{PROJECT}queries/<int:pk>/candidates/<int:candidate>/replacement/",
        pools.replacement,
        name="replacement",
    ),
    path(f"{PROJECT}replacements/", pools.replacements, name="replacements"),
    path(f"{PROJECT}replacements/<int:pk>/undoing/", pools.undoing, name="replacement_undoing"),
    # Rewriting
    path(f"{PAIR}narrative/", rewriting.rewrite, name="rewrite"),
    path(f"{PAIR}draft/", rewriting.draft, name="draft"),
    path(f"{PAIR}advice/", rewriting.advice, name="advice"),
    path(f"{PAIR}narratives/<int:narrative>/", rewriting.narrative, name="narrative"),
    path(
        f"{PAIR}narratives/<int:narrative>/current/",
        rewriting.make_current,
        name="narrative_current",
    ),
    path(f"{PAIR}sent-back/", rewriting.send_back, name="send_back"),
    path(f"{PAIR}sent-back/withdrawal/", rewriting.take_back, name="take_back"),
    path(f"{PAIR}documents/<int:candidate_pk>/", rewriting.document, name="document"),
    # Judging
    path(f"{PAIR}judging/", judging.judging, name="judging"),
    path(f"{PAIR}list/", listing.listing, name="listing"),
    path(f"{PAIR}documents/", judging.documents, name="documents"),
    path(f"{PAIR}undo/", judging.undo, name="undo"),
    path(f"{PAIR}candidates/<int:candidate_pk>/", judging.judge, name="judge"),
    path(f"{PAIR}candidates/<int:candidate_pk>/judgment/", judging.judgment, name="judgment"),
    path(f"{PAIR}candidates/<int:candidate_pk>/flag/", judging.flag, name="flag"),
    # Guidelines
    path(f"{PROJECT}guidelines/", guidelines.guidelines, name="guidelines"),
    path(
        f"{PROJECT}guidelines/<int:version>/rejudge-requests/",
        guidelines.rejudge_older,
        name="guideline_rejudge_requests",
    ),
    path(
        f"{PROJECT}guidelines/<int:version>/rejudge-requests/withdrawal/",
        guidelines.rejudge_requests_withdrawal,
        name="guideline_rejudge_requests_withdrawal",
    ),
    # Overview
    path("", home.home, name="home"),
    path("notices/", home.notices, name="notices"),
    path("tour/", home.tour, name="tour"),
    path(PROJECT, overview.project, name="project"),
    path(f"{PROJECT}assignments/", home.assignment, name="assignment"),
    path(
        f"{PROJECT}assignments/<int:pk>/leaving/",
        home.give_back_assignment,
        name="give_back_assignment",
    ),
    path(f"{PROJECT}queries/", overview.queries, name="queries"),
    path(f"{PROJECT}topics/", overview.topics, name="topics"),
    path(f"{PROJECT}queries/<int:pk>/", overview.query, name="query"),
    path(f"{PROJECT}queries/<int:pk>/people/", overview.query_people, name="query_people"),
    path(f"{PROJECT}taken-out/<str:kind>/", overview.removal, name="removal"),
    path(f"{PROJECT}taken-out/<str:kind>/restoration/", overview.restoration, name="restoration"),
    path(f"{PROJECT}search/", overview.search_project, name="search"),
    path(f"{PROJECT}progress/", dashboard.progress, name="progress"),
    path(f"{PROJECT}matrix/", dashboard.matrix, name="matrix"),
    path(f"{PROJECT}flags/", dashboard.flags, name="flags"),
    path(f"{PROJECT}people/<int:pk>/", dashboard.person, name="person"),
    path(f"{PAIR}assignments/", home.pair_assignment, name="pair_assignment"),
]
