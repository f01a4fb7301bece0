"""The tables and files that a backup keeps, and which rows belong to one project."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from django.apps import apps
from django.core.files.storage import default_storage
from django.db import models

from annotate.projects.models import Project
from audit.reports.statements_since import NEWEST_ROWS
from base.texts import code_not_in_names
from exporters.exports.access import ARCHIVE
from exporters.exports.files import delete_folder
from exporters.exports.manifest import manifest
from exporters.exports.models import Export
from exporters.releases import contents, file_store
from exporters.releases.models import Release

AnyModel = type[models.Model]

PROJECT = "annotate.project"
USER = "annotate.user"
AUDIT_EVENT = "annotate.auditevent"

# Tables that a backup leaves out, and why.
LEFT_OUT: dict[str, str] = {
    "contenttypes.contenttype": "every installation creates them; rows refer to them by name",
    "auth.permission": "every installation creates them; rows refer to them by name",
    "sessions.session": "they give access to accounts; people sign in again",
    "usersessions.usersession": "lists who is signed in, and after a restore nobody is",
    "jobs.heartbeat": "heartbeats of the workers that are running",
    "annotate.revision": "triggers create them when rows are restored",
}
# Those among them to which rows point by natural key.
BY_NATURAL_KEY = {"contenttypes.contenttype", "auth.permission"}
# Tables that the backup of one project leaves out: they belong to people or to the installation.
NOT_OF_A_PROJECT: dict[str, str] = {
    USER: "people are restored by user name, without their passwords",
    "annotate.user_groups": "permissions in an installation",
    "annotate.user_user_permissions": "permissions in an installation",
    "auth.group": "permissions in an installation",
    "auth.group_permissions": "permissions in an installation",
    "admin.logentry": "what was done to the installation",
    "annotate.preferences": "personal settings",
    "annotate.token": "lets programs act as a person in all their projects",
    "annotate.keptanswer": "responses to API requests, stored for retries",
    "account.emailaddress": "how a person signs in",
    "account.emailconfirmation": "how a person signs in",
    "mfa.authenticator": "how a person signs in",
    "socialaccount.socialaccount": "how a person signs in",
    "socialaccount.socialtoken": "how a person signs in",
    "socialaccount.socialapp": "how people sign in to an installation",
}
# The columns of an account that the backup of one project keeps.
PERSON_COLUMNS = ("username", "first_name", "last_name", "email", "is_active", "date_joined")

# Tables whose column `name` people type, in pages, files and commands.
WITH_NAMES = (
    *(PROJECT, "annotate.membership", "annotate.grade", "annotate.category"),
    *("audit.sample", "jobs.job"),
)

# Columns that are not foreign keys but contain keys of rows. Keys change when a project is restored
# into an installation that has other rows: column -> function that renews the keys in its value.
RenewKeys = Callable[[Any, Mapping[str, int], Mapping[str, Any]], Any]


# Top folders of the storage; in each, a project's files are in a folder named by its key.
PROJECT_FOLDERS = ("runs", "uploads", "exports", "releases")
# Columns that name a folder of the storage: (table, column).
FOLDER_COLUMNS = {("exporters.export", "folder")}
# Columns with a manifest that lists files by name and sha256.
LISTS_OF_FILES = {("exporters.export", "manifest"), ("exporters.release", "manifest")}


def _renew_dict_keys(table: str) -> RenewKeys:
    def renew(value: Any, shifts: Mapping[str, int], row: Mapping[str, Any]) -> Any:
        return {str(int(key) + shifts[table]): entry for key, entry in value.items()}

    return renew


def _renew_list_items(table: str) -> RenewKeys:
    def renew(value: Any, shifts: Mapping[str, int], row: Mapping[str, Any]) -> Any:
        return [key + shifts[table] for key in value]

    return renew


def _renew_overtaken(value: Any, shifts: Mapping[str, int], row: Mapping[str, Any]) -> Any:
    drops = _renew_list_items("annotate.candidate")
    return [{**entry, "drops": drops(entry["drops"], shifts, row)} for entry in value]


def _renew_through(value: Any, shifts: Mapping[str, int], row: Mapping[str, Any]) -> Any:
    """Renew the keys of the newest rows that a report covers; 0 means there were none."""
    if not value or not value.get("through"):
        return value
    tables = {name: label(model._meta.concrete_model) for name, (model, _) in NEWEST_ROWS.items()}
    seen = {
        name: key + shifts[tables[name]] if key else key for name, key in value["through"].items()
    }
    return {**value, "through": seen}


def _renew_audit_key(value: Any, shifts: Mapping[str, int], row: Mapping[str, Any]) -> Any:
    """Renew a key whose table is in the column `kind`."""
    return value if value is None else value + shifts.get(row["kind"], 0)


KEYS_INSIDE: dict[tuple[str, str], RenewKeys] = {
    ("audit.check", "verdicts"): _renew_dict_keys("annotate.condition"),
    ("annotate.draft", "drops"): _renew_list_items("annotate.candidate"),
    ("annotate.draft", "overtaken"): _renew_overtaken,
    ("audit.agreementreport", "figures"): _renew_through,
    (AUDIT_EVENT, "key"): _renew_audit_key,
}


class Column(NamedTuple):
    """A column of a table: the field, and the table whose keys it holds ("" if none)."""

    field: Any
    keys_of: str

    @property
    def name(self) -> str:
        """Return the column's name in the database."""
        return str(self.field.column)


def label(model: AnyModel) -> str:
    """Return a table's name in a backup."""
    return str(model._meta.label_lower)


def every_table() -> list[AnyModel]:
    """Return all tables of all apps, including those of many-to-many fields.

    A table comes after those that it points to.
    """
    models = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy
    ]
    by_name = {label(model): model for model in sorted(models, key=label)}
    ordered: dict[str, AnyModel] = {}

    def place(name: str, ancestors: frozenset[str]) -> None:
        if name in ordered or name in ancestors:
            return
        for column in columns(by_name[name]):
            # A table may point to itself; such rows need no order.
            if column.keys_of and column.keys_of != name:
                place(column.keys_of, ancestors | {name})
        ordered[name] = by_name[name]

    for name in by_name:
        place(name, frozenset())
    return list(ordered.values())


def kept_tables() -> list[AnyModel]:
    """Return the tables in a backup of a whole installation."""
    return [model for model in every_table() if label(model) not in LEFT_OUT]


def columns(model: AnyModel) -> list[Column]:
    """Return the columns of a table, in the order of the model."""
    return [Column(field, _keys_of_field(field)) for field in model._meta.local_concrete_fields]


def _keys_of_field(field: Any) -> str:
    """Return the table whose keys a field holds; for a foreign key, the table it points to."""
    if field.is_relation:
        return label(field.related_model._meta.concrete_model)
    return label(field.model) if field.primary_key and _is_automatic(field) else ""


def _is_automatic(field: Any) -> bool:
    return isinstance(field, models.AutoField)


# --- one project ----------------------------------------------------------------------------------


def project_paths() -> dict[str, str]:
    """Return the lookup path to the project for each table whose rows belong to one.

    Such a path is "narrative__pair__project", or "pk" for projects themselves. It is the shortest
    one that is never null or, if there is none, the shortest. Tables without a path do not belong
    to projects.
    """
    pointing: dict[str, list[tuple[str, str, int]]] = {}
    for model in every_table():
        for column in columns(model):
            if column.field.is_relation:
                step_cost = 1_000 if column.field.null else 1
                pointing.setdefault(column.keys_of, []).append(
                    (label(model), column.field.name, step_cost)
                )
    paths: dict[str, str] = {}
    queue: list[tuple[int, str, str]] = [(0, "", PROJECT)]
    while queue:
        distance, path, name = heapq.heappop(queue)
        if name in paths:
            continue
        paths[name] = path
        for other, field_name, step_cost in pointing.get(name, ()):
            if other not in paths:
                through = f"{field_name}__{path}" if path else field_name
                heapq.heappush(queue, (distance + step_cost, through, other))
    paths[PROJECT] = "pk"
    return {name: path for name, path in paths.items() if name not in _excluded_tables()}


def _excluded_tables() -> set[str]:
    return {*LEFT_OUT, *NOT_OF_A_PROJECT}


def tables_of_a_project() -> list[tuple[AnyModel, str]]:
    """Return the tables in a backup of one project, each with its path to the project."""
    paths_by_table = project_paths()
    return [
        (model, paths_by_table[label(model)])
        for model in every_table()
        if label(model) in paths_by_table
    ]


def people_of_project(project: int) -> set[int]:
    """Return the keys of all accounts that rows of a project point to."""
    people: set[int] = set()
    for model, path in tables_of_a_project():
        rows = model._base_manager.filter(**{path: project})
        for column in columns(model):
            if column.keys_of == USER:
                people.update(
                    rows.exclude(**{column.field.attname: None})
                    .order_by()
                    .values_list(column.field.attname, flat=True)
                    .distinct()
                )
    return people


def file_names_in_rows(project: int | None = None) -> list[str]:
    """Return the sorted storage names of all files that rows of one project (a key) or of all name.

    Files that do not exist are included.
    """
    names = {*_names_in_fields(project), *_names_in_exports(project), *_names_in_releases(project)}
    return sorted(names)


def move_name(name: str, before: int, now: int) -> str:
    """Return a file's name in an installation where its project has the key `now`."""
    top_folder, _, rest = name.partition("/")
    owner, _, inside = rest.partition("/")
    return (
        f"{top_folder}/{now}/{inside}"
        if top_folder in PROJECT_FOLDERS and owner == str(before)
        else name
    )


def is_relative(name: str) -> bool:
    """Return whether a file's name stays inside the folder that it is relative to."""
    return not ({"", ".", ".."} & set(name.split("/")) or "\\" in name or code_not_in_names(name))


def is_in_project(name: str, project: int | None) -> bool:
    """Return whether a file of the storage is in a folder of this project or, if None, of any."""
    top_folder, _, rest = name.partition("/")
    owner, _, inside = rest.partition("/")
    return (
        is_relative(name)
        and top_folder in PROJECT_FOLDERS
        and (owner.isdigit() if project is None else owner == str(project))
        and inside != ""
    )


def file_fields(model: type[models.Model]) -> list[str]:
    """Return the columns of a table that name files."""
    fields = [column.field for column in columns(model)]
    return [str(field.column) for field in fields if isinstance(field, models.FileField)]


def delete_project_files(project: int) -> int:
    """Delete all files in a project's folders; return how many there were."""
    return sum(delete_folder(f"{top_folder}/{project}") for top_folder in PROJECT_FOLDERS)


def _names_in_fields(project: int | None) -> Iterator[str]:
    paths = project_paths()
    for model in kept_tables():
        for column in file_fields(model):
            rows = model._base_manager.exclude(**{column: ""})
            if project is not None:
                if (path := paths.get(label(model))) is None:
                    continue
                rows = rows.filter(**{path: project})
            yield from rows.order_by().values_list(column, flat=True).distinct()


def _names_in_exports(project: int | None) -> Iterator[str]:
    rows = Export.objects.exclude(folder="")
    if project is not None:
        rows = rows.filter(project=project)
    for export in rows.iterator(chunk_size=100):
        named = [entry["name"] for entry in (export.manifest or {}).get("files", ())]
        for name in (*named, manifest.NAME, ARCHIVE):
            yield f"{export.folder}/{name}"


def _names_in_releases(project: int | None) -> Iterator[str]:
    rows = Release.objects.filter(manifest__isnull=False)
    if project is not None:
        rows = rows.filter(project=project)
    for release in rows.iterator(chunk_size=100):
        for entry in contents.files(release).values():
            yield file_store.path_of(release.project_id, entry["sha256"])


def files_in_storage(project: Project) -> list[str]:
    """Return the sorted names of all files in a project's folders, named by rows or not."""
    return sorted(
        name
        for top_folder in PROJECT_FOLDERS
        for name in _files_below(f"{top_folder}/{project.pk}")
    )


def _files_below(folder: str) -> Iterator[str]:
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    yield from (f"{folder}/{name}" for name in files)
    for name in folders:
        yield from _files_below(f"{folder}/{name}")
