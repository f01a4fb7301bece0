"""No table is forgotten: each is backed up by a rule or listed with a reason."""

from __future__ import annotations

from keeping import archive, tables

# The app of the tests themselves.
TEST_TABLES = "errands."


def product_tables():
    return [
        model for model in tables.every_table() if not tables.label(model).startswith(TEST_TABLES)
    ]


def test_every_table_is_backed_up_or_left_out_for_a_reason():
    backed_up = {tables.label(model) for model in tables.kept_tables()}
    every = {tables.label(model) for model in tables.every_table()}

    assert backed_up | tables.LEFT_OUT.keys() == every
    assert backed_up & tables.LEFT_OUT.keys() == set()
    assert all(reason for reason in tables.LEFT_OUT.values())


def test_all_tables_with_peoples_work_are_backed_up():
    backed_up = {tables.label(model) for model in tables.kept_tables()}

    assert {
        *("annotate.user", "annotate.statement", "annotate.verdict"),
        *("annotate.documenttext", "audit.rating", "audit.sample_runs", "exporters.release"),
    } <= backed_up


def test_a_backup_can_hold_the_type_of_every_column():
    unsupported = [
        f"{tables.label(model)}.{column.name}: {archive.field_type(column.field)}"
        for model in tables.kept_tables()
        for column in tables.columns(model)
        if archive.field_type(column.field) not in archive.KINDS
    ]

    assert unsupported == []


def test_every_table_belongs_to_a_project_or_is_listed_as_an_exception():
    owned = tables.project_paths().keys()
    unlisted = [
        tables.label(model)
        for model in product_tables()
        if tables.label(model) not in owned
        and tables.label(model) not in {*tables.LEFT_OUT, *tables.NOT_OF_A_PROJECT}
    ]

    assert unlisted == []
    assert owned & {*tables.LEFT_OUT, *tables.NOT_OF_A_PROJECT} == set()


def test_every_listed_table_and_column_exists():
    every = {tables.label(model) for model in tables.every_table()}

    assert {*tables.LEFT_OUT, *tables.NOT_OF_A_PROJECT} <= every
    assert {f"{table}.{column}" for table, column in tables.KEYS_INSIDE if table in every} <= {
        f"{tables.label(model)}.{column.name}"
        for model in tables.every_table()
        for column in tables.columns(model)
    }


def test_only_nullable_columns_point_out_of_a_project():
    backed_up = {*tables.project_paths(), *tables.BY_NATURAL_KEY, tables.USER}
    cut = [
        f"{tables.label(model)}.{column.name}"
        for model, _ in tables.tables_of_a_project()
        for column in tables.columns(model)
        if column.keys_of
        and column.keys_of not in backed_up
        # Keys that point out of the project are restored empty, so they must be nullable.
        and not column.field.null
    ]

    assert cut == []


def test_every_json_column_is_listed_as_with_or_without_keys():
    """JSON may contain keys of rows, which change when a project is restored elsewhere.

    A new JSON column belongs below, or into KEYS_INSIDE.
    """
    without_keys = {
        "annotate.preferences.keys",
        *("annotate.statement.evidence", "annotate.statement.clauses"),
        "annotate.load.report",
        # Ranks and percentages; they refer to queries and runs by name.
        *("annotate.pool.strata", "annotate.pool.counts"),
        *("audit.rubric.levels", "audit.rubric.criteria"),
        "audit.sample.frame_grades",
        "annotate.reviewdraw.frame",
        # Former values of settings; they are part of a sum.
        "annotate.auditevent.changes",
        *("exporters.export.manifest", "exporters.release.manifest", "exporters.export.proof"),
        # They refer to runs, topics and documents by name.
        *("exporters.evaluation.systems", "exporters.evaluation.options"),
        "exporters.evaluation.results",
        # Names of layouts.
        "exporters.publication.layouts",
        # UUIDs of answers.
        "audit.rating.answered",
        # What was sent and what came back: texts and numbers.
        *("audit.call.request", "audit.call.replies", "audit.call.value"),
        *("audit.call.evidence", "audit.call.remarks"),
    }
    owned = tables.project_paths()
    found = {
        f"{tables.label(model)}.{column.name}"
        for model in product_tables()
        if tables.label(model) in owned
        for column in tables.columns(model)
        if archive.field_type(column.field) == "JSONField"
    }
    renewed = {f"{table}.{column}" for table, column in tables.KEYS_INSIDE}

    assert found - renewed - without_keys == set()


def test_the_path_to_the_project_avoids_nullable_columns():
    ways = tables.project_paths()

    assert ways["annotate.project"] == "pk"
    assert ways["annotate.verdict"] == "statement__annotator__project"
    assert ways["audit.sample_runs"] == "run__project"
    assert ways["annotate.documenttext"] == "document__project"
