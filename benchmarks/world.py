"""The project for benchmarks: its people, and pools of documents to judge.

Import it only after Django is set up (`benchmarks.serving.set_up`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from allauth.usersessions.models import UserSession
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection

from annotate.collection.models import Candidate, Document, DocumentText, Query
from annotate.pairs.models import InstructionPair, Narrative
from annotate.projects.models import Grade, Project
from base.users import User

LETTERS = "etaoinshrdlu"


class Pool(NamedTuple):
    """The pair of a query, its two narratives, and the documents to judge."""

    pair: InstructionPair
    original: Narrative
    altered: Narrative
    candidates: list[Candidate]


def vocabulary(rng: random.Random, many: int, letters: str = LETTERS) -> list[str]:
    """Return words of two to nine letters."""
    return ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(many)]


def add_project(slug: str, name: str, overlap: int) -> Project:
    """Make a project with three grades."""
    project = Project.objects.create(slug=slug, name=name, overlap_judge=overlap)
    Grade.objects.bulk_create(
        Grade(project=project, value=value, name=name, sentence="Under this narrative.")
        for value, name in enumerate(("Not relevant", "Relevant", "Highly relevant"))
    )
    return project


def add_pools(
    project: Project,
    *,
    pools: int,
    size: int,
    words: list[str],
    rng: random.Random,
    text: Callable[[], str],
    prior: Callable[[int], int] = lambda _number: 1,
) -> list[Pool]:
    """Make `pools` queries with `size` documents each; no document belongs to two queries.

    `text` returns the text of a document; `prior` maps its number to its prior relevance.
    """
    titles = (" ".join(rng.choices(words, k=6)) for _ in range(pools * size))
    documents = _add_documents(project, titles, [text() for _ in range(pools * size)])
    queries = Query.objects.bulk_create(
        Query(project=project, query_id=str(300 + n), title=" ".join(rng.choices(words, k=3)))
        for n in range(pools)
    )
    pairs = InstructionPair.objects.bulk_create(
        InstructionPair(project=project, query=query, pair_id=query.query_id) for query in queries
    )
    narratives: list[Narrative] = []
    for pair in pairs:
        original = rng.choices(words, k=60)
        for side, texts in (("original", original), ("altered", [*original, *words[:12]])):
            words_of_narrative = " ".join(texts)
            narratives.append(
                Narrative(pair=pair, side=side, version=1, is_current=True, text=words_of_narrative)
            )
    Narrative.objects.bulk_create(narratives)
    candidates = Candidate.objects.bulk_create(
        [
            Candidate(
                query=queries[n // size],
                document=document,
                prior_relevance=prior(n),
                origin="prior",
            )
            for n, document in enumerate(documents)
        ],
        batch_size=1000,
    )
    return [
        Pool(
            pair,
            narratives[2 * n],
            narratives[2 * n + 1],
            candidates[n * size : (n + 1) * size],
        )
        for n, pair in enumerate(pairs)
    ]


def _add_documents(project: Project, titles: Iterable[str], texts: Sequence[str]) -> list[Document]:
    documents = Document.objects.bulk_create(
        [
            Document(project=project, doc_id=f"D{n}", title=title, length=len(one), text_version=1)
            for n, (title, one) in enumerate(zip(titles, texts, strict=True))
        ],
        batch_size=2000,
    )
    DocumentText.objects.bulk_create(
        (
            DocumentText(document=document, text=one, length=len(one))
            for document, one in zip(documents, texts, strict=True)
        ),
        batch_size=1000,
    )
    return documents


def add_user(name: str) -> User:
    """Create an account without a password; `sign_in` signs it in."""
    user = User.objects.create(username=name)
    user.set_unusable_password()
    user.save()
    return user


def sign_in(user: User) -> str:
    """Return the key of a new session of a user."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    key = session.session_key
    assert key is not None
    list_session(user, key)
    return key


def list_session(user: User, key: str) -> None:
    """Add a session to its account's list, as signing in does."""
    UserSession.objects.create(user=user, session_key=key, ip="127.0.0.1", user_agent="", data={})


def analyze() -> None:
    """Update the database's statistics after filling it."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
