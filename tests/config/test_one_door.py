"""Every page and every API operation gets its rows through a module `access`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
APPS = ("annotate", "audit", "exporters")
VERBS = {"get", "post", "put", "patch", "delete"}

# Views that do not need an `access` module, by reason.
EXEMPT = {
    "nothing of a project": {
        "annotate/loading/api.py:Formats.get",
        "annotate/projects/api.py:Kinds.get",
        "annotate/projects/views.py:new_project",
    },
    "the reader's own": {
        "annotate/overview/api/home.py:MyNotices.get",
        "annotate/overview/api/home.py:MyNotices.put",
        "annotate/overview/views/home.py:notices",
        "annotate/people/api.py:Me.get",
        "annotate/people/api.py:MyPreferences.get",
        "annotate/people/api.py:MyPreferences.patch",
        "annotate/people/views/own.py:account",
        "annotate/people/views/own.py:sessions",
        "annotate/people/views/own.py:token_end",
        "annotate/people/views/own.py:tokens",
    },
    "whoever has the secret of the link": {"annotate/people/views/invitations.py:invitation"},
    "each of its entries is let in by its sender": {"annotate/judging/api/journal.py:journal"},
    "called by views that came through a door": {
        "annotate/collection/views.py:choose",
        "annotate/collection/views.py:choosing_context",
        "annotate/overview/views/home.py:confirm_assignment",
        "annotate/overview/views/home.py:confirmed",
        "annotate/people/api.py:link_response",
        "annotate/people/views/invitations.py:new_link_context",
        "audit/reviews/views.py:try_decide",
        "audit/settling/views/kind_pages.py:item_context",
        "audit/settling/views/kind_pages.py:session_context",
        "audit/settling/views/addresses.py:disagreement_of_form",
    },
}


def test_every_view_and_resource_uses_an_access_module():
    found = {
        f"{path.relative_to(ROOT).as_posix()}:{name}"
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        if {"views", "api"} & {path.stem, *path.parts}
        for name in _views_without_access(ast.parse(path.read_text("utf-8")))
    }

    assert found == set().union(*EXEMPT.values())


def test_every_subject_that_finds_rows_of_a_request_has_an_access_module():
    doors = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("*/*/access.py")}

    assert {f"annotate/{one}" for one in ("projects", "people", "collection", "pairs")} <= doors
    assert {f"audit/{one}" for one in ("reviews", "checks", "settling", "reports")} <= doors
    assert {"exporters/exports", "exporters/releases"} <= doors


def _views_without_access(tree: ast.Module) -> Iterator[str]:
    """Yield views, and methods of resources, that use no module `access`."""
    doors = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == "access" or (node.module or "").endswith(".access")
    }
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}

    def uses(node: ast.AST, seen: frozenset[str] = frozenset()) -> bool:
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        called = (names & functions.keys()) - seen
        return bool(names & doors) or any(uses(functions[one], seen | called) for one in called)

    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            first = node.args.args[0].arg if node.args.args else ""
            if first == "request" and not node.name.startswith("_") and not uses(node):
                yield node.name
        elif isinstance(node, ast.ClassDef):
            if "Resource" not in {base.id for base in node.bases if isinstance(base, ast.Name)}:
                continue
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            helpers = {one.name for one in methods if one.name not in VERBS and uses(one)}
            for one in methods:
                names = {part.attr for part in ast.walk(one) if isinstance(part, ast.Attribute)}
                if one.name in VERBS and not uses(one) and not names & helpers:
                    yield f"{node.name}.{one.name}"
