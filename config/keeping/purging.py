"""Taking a project away for good: its rows, and its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.apps import apps
from django.db import connection, transaction

from annotate import bulk
from annotate.errors import Refused
from annotate.models import Judgment, Project
from config.keeping import files, tables
from jobs.models import Job


class Purged(NamedTuple):
    """What was taken away: how many rows, and how many files."""

    rows: int
    files: int


class Held(NamedTuple):
    """What a project holds, for whoever is about to take it away."""

    name: str
    judgments: int
    people: int
    files: int


def held(slug: str) -> Held:
    """Say what a project holds. Refused: one that there is not, or that is not archived."""
    project = _archived(Project.objects.filter(slug=slug).first(), slug)
    judgments = Judgment.objects.filter(annotator__project=project).count()
    return Held(
        name=project.name,
        judgments=judgments,
        people=project.memberships.people().count(),
        files=len(files.of_the_storage(project)),
    )


def purge(*, slug: str, typed: str) -> Purged:
    """Take an archived project away, with everything that anybody said in it. There is no way back
    but a backup. Accounts stay.

    Refused: where what was `typed` is not the project's short name; a project that is not there, is
    not archived, or has a job under way.
    """
    if typed != slug:
        raise Refused(f"That is not “{slug}”. Nothing was deleted.")
    with transaction.atomic():
        locked = Project.objects.select_for_update().filter(slug=slug)
        project = _archived(locked.first(), slug)
        gone = tables.tables_of_a_project(apps)
        for model, path in gone:
            if issubclass(model, Job) and (
                model._base_manager.filter(**{path: project.pk}, state=Job.State.RUNNING).exists()
            ):
                raise Refused("A job of this project is under way. Wait for it, or call it off.")
        guarded = _guarded()
        # What is guarded, and what says whose it is, goes last: meanwhile nobody can write there.
        late = {
            table
            for model, path in gone
            if _name(model) in guarded
            for table in tables.along(model, path)
        }
        # What points to others goes before them.
        first = [one for one in reversed(gone) if tables.label(one[0]) not in late]
        last = [one for one in reversed(gone) if tables.label(one[0]) in late]
        rows = _delete(first, project)
        with _unguarded([turn for model, _ in last for turn in guarded.get(_name(model), ())]):
            rows += _delete(last, project)
            # PostgreSQL alters no table while something of it waits to be checked.
            connection.check_constraints()
    # The rows are gone: what is left of the files after a power cut is named by nobody.
    return Purged(rows=rows, files=files.clear(project.pk))


def _archived(project: Project | None, slug: str) -> Project:
    if project is None:
        raise Refused(f"There is no project “{slug}”.")
    if project.archived_at is None:
        raise Refused(
            f"The project “{slug}” is in use. A lead archives it in its settings; then it can be "
            "purged."
        )
    return project


def _delete(some: Iterable[tuple[tables.AnyModel, str]], project: Project) -> int:
    """Delete the project's rows of some tables, and nothing else; return how many."""
    rows = 0
    for model, path in some:
        doomed: Any = model._base_manager.filter(**{path: project.pk})
        rows += doomed._raw_delete(connection.alias)
    return rows


def _name(model: tables.AnyModel) -> str:
    return str(model._meta.db_table)


def _guarded() -> dict[str, list[tuple[str, str]]]:
    """The triggers that have a word in deleting: table -> how each is taken off, and put back."""
    quote = connection.ops.quote_name
    found: dict[str, list[tuple[str, str]]] = {}
    if bulk.on_postgresql():
        rows = bulk.select(
            "SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            # 8: of DELETE.
            "WHERE NOT t.tgisinternal AND (t.tgtype & 8) <> 0 AND pg_table_is_visible(c.oid)"
        )
        for table, name in rows:
            change = f"ALTER TABLE {quote(table)} {{}} TRIGGER {quote(name)}"
            found.setdefault(table, []).append((change.format("DISABLE"), change.format("ENABLE")))
        return found
    rows = bulk.select("SELECT tbl_name, name, sql FROM sqlite_master WHERE type = 'trigger'")
    for table, name, sql in rows:
        if "DELETE" in sql.partition(" ON ")[0].upper():
            found.setdefault(table, []).append((f"DROP TRIGGER {quote(name)}", sql))
    return found


@contextmanager
def _unguarded(triggers: Sequence[tuple[str, str]]) -> Iterator[None]:
    """While entered these triggers are off, for this transaction only: the one place where what is
    kept for good may go.
    """
    for off, _ in triggers:
        bulk.run(off)
    yield
    for _, on in triggers:
        bulk.run(on)
