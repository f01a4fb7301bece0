"""Page routes of judging."""

from __future__ import annotations

from django.urls import path

from annotate.judging.views import judge as judging
from annotate.judging.views import list as listing

urlpatterns = [
    path("pairs/<int:pk>/judging/", judging.judging, name="judging"),
    path("pairs/<int:pk>/list/", listing.listing, name="listing"),
    path("pairs/<int:pk>/documents/", judging.documents, name="documents"),
    path("pairs/<int:pk>/undo/", judging.undo, name="undo"),
    path("pairs/<int:pk>/candidates/<int:candidate_pk>/", judging.judge, name="judge"),
    path(
        "pairs/<int:pk>/candidates/<int:candidate_pk>/judgment/", judging.judgment, name="judgment"
    ),
    path("pairs/<int:pk>/candidates/<int:candidate_pk>/flag/", judging.flag, name="flag"),
]
