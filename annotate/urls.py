"""Where the pages of this room are found."""

from __future__ import annotations

from django.urls import include, path

from annotate.collection.views import loads
from annotate.guidelines import views as guidelines
from annotate.judging.views import judge as judging
from annotate.judging.views import list as listing
from annotate.judgments import views as documents
from annotate.overview.views import dashboard, home
from annotate.overview.views import project as projects
from annotate.people.views import account, accounts, members, preferences, tokens
from annotate.projects.views import audit_log, taxonomy
from annotate.projects.views import project as views_project
from annotate.projects.views import project as views_project_
from annotate.rewriting import views as rewriting

app_name = "annotate"
urlpatterns = [
    path("", home.home, name="home"),
    path("settings/", preferences.preferences, name="preferences"),
    path("accounts/", account.account, name="account"),
    path("accounts/sessions/", account.sessions, name="sessions"),
    path("invitations/<str:token>/", accounts.invitation, name="invitation"),
    path("people/", accounts.accounts, name="people"),
    path("people/<int:pk>/", accounts.account, name="account_change"),
    path(
        "people/invitations/<int:pk>/withdrawal/",
        accounts.account_withdrawal,
        name="account_invitation_withdrawal",
    ),
    path("settings/tokens/", tokens.tokens, name="tokens"),
    path("settings/tokens/<int:pk>/ending/", tokens.token_end, name="token_end"),
    path("projects/", views_project.new_project, name="new_project"),
    path("projects/<slug:slug>/", projects.project, name="project"),
    path("projects/<slug:slug>/seats/", home.seat, name="seat"),
    path(
        "projects/<slug:slug>/seats/<int:pk>/leaving/", home.give_back_seat, name="give_back_seat"
    ),
    path("projects/<slug:slug>/queries/", projects.queries, name="queries"),
    path("projects/<slug:slug>/queries/<int:pk>/", projects.query, name="query"),
    path("projects/<slug:slug>/progress/", dashboard.progress, name="progress"),
    path("projects/<slug:slug>/matrix/", dashboard.matrix, name="matrix"),
    path("projects/<slug:slug>/flags/", dashboard.flags, name="flags"),
    path("projects/<slug:slug>/people/<int:pk>/", dashboard.person, name="person"),
    path("projects/<slug:slug>/guidelines/", guidelines.guidelines, name="guidelines"),
    path(
        "projects/<slug:slug>/guidelines/<int:version>/looks/",
        guidelines.looks,
        name="guideline_looks",
    ),
    path(
        "projects/<slug:slug>/guidelines/<int:version>/looks/withdrawal/",
        guidelines.looks_withdrawal,
        name="guideline_looks_withdrawal",
    ),
    path("projects/<slug:slug>/members/", members.members, name="members"),
    path("projects/<slug:slug>/members/<int:pk>/", members.fellow, name="member"),
    path(
        "projects/<slug:slug>/invitations/<int:pk>/withdrawal/",
        accounts.withdrawal,
        name="invitation_withdrawal",
    ),
    path("projects/<slug:slug>/settings/", views_project_.settings, name="settings"),
    path("projects/<slug:slug>/categories/", taxonomy.categories, name="categories"),
    path("projects/<slug:slug>/categories/taking/", taxonomy.taxonomy, name="taxonomy"),
    path("projects/<slug:slug>/trail/", audit_log.trail, name="trail"),
    path("projects/<slug:slug>/trail/table/", audit_log.table, name="trail_table"),
    path("projects/<slug:slug>/archiving/", views_project_.archiving, name="archiving"),
    path("projects/<slug:slug>/loads/", loads.loads, name="loads"),
    path("projects/<slug:slug>/loads/<int:pk>/", loads.load, name="load"),
    path(
        "projects/<slug:slug>/loads/<int:pk>/confirmation/",
        loads.confirmation,
        name="load_confirmation",
    ),
    path(
        "projects/<slug:slug>/loads/<int:pk>/cancellation/",
        loads.cancellation,
        name="load_cancellation",
    ),
    path("projects/<slug:slug>/loads/<int:pk>/leaving/", loads.leaving, name="load_leaving"),
    path("pairs/<int:pk>/seats/", home.pair_seat, name="pair_seat"),
    path("pairs/<int:pk>/narrative/", rewriting.rewrite, name="rewrite"),
    path("pairs/<int:pk>/draft/", rewriting.draft, name="draft"),
    path("pairs/<int:pk>/advice/", rewriting.advice, name="advice"),
    path("pairs/<int:pk>/narratives/<int:narrative>/", rewriting.narrative, name="narrative"),
    path("pairs/<int:pk>/judging/", judging.judging, name="judging"),
    path("pairs/<int:pk>/list/", listing.listing, name="listing"),
    path("pairs/<int:pk>/documents/", judging.documents, name="documents"),
    path("pairs/<int:pk>/undo/", judging.undo, name="undo"),
    path("pairs/<int:pk>/documents/<int:candidate_pk>/", rewriting.document, name="document"),
    path("pairs/<int:pk>/documents/<int:candidate_pk>/table/", documents.table, name="table"),
    path("pairs/<int:pk>/candidates/<int:candidate_pk>/", judging.judge, name="judge"),
    path(
        "pairs/<int:pk>/candidates/<int:candidate_pk>/judgment/", judging.judgment, name="judgment"
    ),
    path("pairs/<int:pk>/candidates/<int:candidate_pk>/flag/", judging.flag, name="flag"),
    path("api/v1/", include("annotate.api_urls")),
]
