"""No table is forgotten: each is backed up by a rule or listed with a reason."""

from __future__ import annotations

from django.apps import apps

from keeping import tables, values

# The app of the tests themselves.
OURS = "errands."


def rooms():
    return [model for model in tables.every_table(apps) if not tables.label(model).startswith(OURS)]


def test_every_table_is_kept_or_left_out_for_a_reason():
    kept = {tables.label(model) for model in tables.kept_tables(apps)}
    every = {tables.label(model) for model in tables.every_table(apps)}

    assert kept | tables.LEFT_OUT.keys() == every
    assert kept & tables.LEFT_OUT.keys() == set()
    assert all(reason for reason in tables.LEFT_OUT.values())


def test_the_tables_that_hold_peoples_work_are_all_kept():
    kept = {tables.label(model) for model in tables.kept_tables(apps)}

    assert {
        *("annotate.user", "annotate.judgment", "annotate.verdict", "annotate.flag"),
        *("annotate.documenttext", "audit.rating", "audit.sample_runs", "exporters.release"),
    } <= kept


def test_every_column_that_is_kept_is_of_a_kind_that_a_backup_can_hold():
    strange = [
        f"{tables.label(model)}.{column.name}: {values.kind_of(column.field)}"
        for model in tables.kept_tables(apps)
        for column in tables.columns(model)
        if values.kind_of(column.field) not in values.KINDS
    ]

    assert strange == []


def test_every_table_is_of_a_project_or_named_as_something_else():
    owned = tables.paths(apps).keys()
    neither = [
        tables.label(model)
        for model in rooms()
        if tables.label(model) not in owned
        and tables.label(model) not in {*tables.LEFT_OUT, *tables.NOT_OF_A_PROJECT}
    ]

    assert neither == []
    assert owned & {*tables.LEFT_OUT, *tables.NOT_OF_A_PROJECT} == set()


def test_what_is_named_is_there():
    every = {tables.label(model) for model in tables.every_table(apps)}

    assert {*tables.LEFT_OUT, *tables.NOT_OF_A_PROJECT} <= every
    assert {f"{table}.{column}" for table, column in tables.KEYS_INSIDE if table in every} <= {
        f"{tables.label(model)}.{column.name}"
        for model in tables.every_table(apps)
        for column in tables.columns(model)
    }


def test_no_row_of_a_project_points_out_of_it_but_to_people():
    owned = tables.paths(apps)
    cut = [
        f"{tables.label(model)}.{column.name}"
        for model, _ in tables.tables_of_a_project(apps)
        for column in tables.cut(model, owned)
        # Keys that point out of the project are restored empty, so they must be nullable.
        if not column.field.null
    ]

    assert cut == []


def test_every_number_that_is_a_key_and_says_so_only_by_its_name_was_looked_at():
    """JSON may contain keys of rows, which change when a project is restored elsewhere.

    A new JSON column belongs below, or into KEYS_INSIDE.
    """
    without_keys = {
        "annotate.preferences.keys",
        *("annotate.judgment.evidence", "annotate.judgment.clauses"),
        *("annotate.repeat.evidence", "annotate.repeat.clauses"),
        "annotate.load.report",
        # Ranks and percentages; they refer to queries and runs by name.
        *("annotate.pool.strata", "annotate.pool.counts"),
        *("audit.rubric.levels", "audit.rubric.criteria"),
        "audit.sample.frame",
        "annotate.reviewdraw.frame",
        # Former values of settings; they are part of a sum.
        "annotate.auditevent.changes",
        *("exporters.export.manifest", "exporters.release.manifest", "exporters.export.proof"),
        # They refer to runs, topics and documents by name.
        *("exporters.evaluation.systems", "exporters.evaluation.options"),
        "exporters.evaluation.results",
        # Names of layouts.
        "exporters.publication.layouts",
    }
    owned = tables.paths(apps)
    found = {
        f"{tables.label(model)}.{column.name}"
        for model in rooms()
        if tables.label(model) in owned
        for column in tables.columns(model)
        if values.kind_of(column.field) == "JSONField"
    }
    renewed = {f"{table}.{column}" for table, column in tables.KEYS_INSIDE}

    assert found - renewed - without_keys == set()


def test_the_way_from_a_row_to_its_project_is_never_null_where_there_is_one():
    ways = tables.paths(apps)

    assert ways["annotate.project"] == "pk"
    assert ways["annotate.verdict"] == "judgment__annotator__project"
    assert ways["audit.sample_runs"] == "run__project"
    assert ways["annotate.documenttext"] == "document__project"
