"""Find the rows that statements refer to, and refuse those that do not fit.

The rows are a member, a pair, a candidate, a text version and a narrative; or the statement itself,
if the project has it already.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    Func,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Length

from annotate.collection.intake.arrivals import Intake
from annotate.collection.intake.qrels import Qrels
from annotate.collection.models import Document, DocumentText
from annotate.judgments.intake.statement_kinds import (
    ADJUDICATION,
    FLAG,
    JUDGMENT,
    NAMESPACE,
    StagedStatement,
    StatementKind,
    has_other_verdicts,
    with_text_named,
)
from annotate.pairs.intake.pairs import Pairs, StagedNarrative
from annotate.pairs.intake.steps import find_members as point_to_members
from annotate.pairs.intake.steps import (
    insert_candidates_of_pairs,
    point_to_candidates,
    point_to_pairs,
    refuse_machines,
    refuse_missing_texts,
    refuse_other_query,
    refuse_unknown_pairs,
)
from annotate.pairs.models import InstructionPair, Narrative
from base import bulk
from base.stages import Stage


def find_pairs(intake: Intake) -> None:
    """Find the pair of each statement; create one with an empty original if the query has none."""
    staged = StagedStatement.objects.all()
    refuse_other_query(intake, staged.filter(query_id__isnull=False))
    if intake.report.refused:
        return
    point_to_pairs(intake, staged)
    without = staged.filter(instruction=None)
    refuse_unknown_pairs(
        intake, without.filter(pair_id__isnull=False).exclude(query_id=F("pair_id"))
    )
    _find_sole_pairs(intake)
    pairs = InstructionPair.objects.filter(project=intake.project)
    intake.refuse_rows(
        without.filter(
            Q(pair_id=None) | Q(pair_id=F("query_id")),
            Exists(pairs.filter(pair_id=OuterRef("query_id"))),
        ).values_list("n", "place", "query_id"),
        lambda query_id: (
            f"query {query_id} has no instruction pair, and another query's pair has its id: "
            "load its pair first"
        ),
    )
    if not intake.report.refused:
        _make_pairs(intake)


def _find_sole_pairs(intake: Intake) -> None:
    """Find the pair of each statement that names only its query; refuse a query with several."""
    pairs = InstructionPair.objects.filter(
        query__project=intake.project, query__query_id=OuterRef("query_id")
    ).values("query")
    alone = StagedStatement.objects.filter(instruction=None, pair_id=None)
    intake.refuse_rows(
        alone.annotate(pairs=Subquery(pairs.annotate(pairs=Count("pk")).values("pairs")))
        .filter(pairs__gt=1)
        .values_list("n", "place", "query_id", "pairs"),
        lambda query_id, pairs: (
            f"query {query_id} has {pairs} instruction pairs: say which one, in pair_id"
        ),
    )
    alone.update(instruction=Subquery(pairs.annotate(first=Min("pk")).values("first")))


def _make_pairs(intake: Intake) -> None:
    made = intake.run(
        """
        INSERT INTO annotate_instructionpair
            (project_id, query_id, pair_id, category, origin, model)
        SELECT %(project)s, q.id, q.query_id, '', 'human', '' FROM annotate_query q
        WHERE q.project_id = %(project)s AND q.query_id IN (
            SELECT query_id FROM stage_statements WHERE pair IS NULL
        )
        ORDER BY q.id
        """
    )
    if not made:
        return
    pair = InstructionPair.objects.filter(project=intake.project, pair_id=OuterRef("query_id"))
    StagedStatement.objects.filter(instruction=None).update(instruction=Subquery(pair.values("pk")))
    written = intake.run(
        """
        INSERT INTO annotate_narrative
            (pair_id, side, version, is_current, text, note, created_at)
        SELECT DISTINCT s.pair, 'original', 1, TRUE, '', '', %(now)s FROM stage_statements s
        WHERE NOT EXISTS (SELECT 1 FROM annotate_narrative v WHERE v.pair_id = s.pair)
        """
    )
    intake.row_counts("pairs").new += made
    intake.row_counts("narratives").new += written


def find_candidates(intake: Intake) -> None:
    """Find the candidate of each statement; add documents that are not in the pool to it."""
    staged = StagedStatement.objects.all()
    point_to_candidates(intake, staged)
    joined = insert_candidates_of_pairs(intake, StagedStatement, "judged")
    if joined:
        point_to_candidates(intake, staged)
    if not intake.has_records(Qrels):
        candidates = staged.aggregate(number=Count("candidate", distinct=True))["number"]
        intake.row_counts("candidates").unchanged += candidates - joined


def find_texts(intake: Intake) -> None:
    """Find the text version that each statement is about: the one it names, or the newest."""
    staged = StagedStatement.objects.all()
    refuse_missing_texts(intake, staged, "text_version", "candidate__document__text_version")
    document = Document.objects.filter(candidates=OuterRef("candidate"))
    staged.update(text_read=Coalesce(F("text_version"), Subquery(document.values("text_version"))))
    replacing = DocumentText.objects.filter(
        document__candidates=OuterRef("candidate"),
        document__text_version__gte=F("version"),
        version=OuterRef("text_read") + 1,
    )
    staged.filter(text_version__isnull=False).update(
        text_replaced=Subquery(replacing.values("created_at"))
    )


def find_narratives(intake: Intake, renamed: Stage) -> None:
    """Find the narrative version of each statement: the one it names, or the current one."""
    if intake.has_records(Pairs):
        # Claims are about the narratives they came with, even after these were rewritten.
        named = StagedNarrative.objects.filter(
            pair_id=OuterRef("pair_id"), side=OuterRef("side"), withdrawn_at=None
        )
        StagedStatement.objects.filter(version=None, side__isnull=False).update(
            version=Subquery(named.order_by("-version").values("version")[:1])
        )
    _find_judgments(intake, renamed)
    narratives = Narrative.objects.filter(pair=OuterRef("instruction"))
    altered = narratives.filter(side=Narrative.Side.ALTERED)
    without_side = StagedStatement.objects.filter(side=None)
    without_side.update(
        side=Case(
            When(Exists(altered), then=Value(Narrative.Side.ALTERED)),
            default=Value(Narrative.Side.ORIGINAL),
        )
    )
    _find_flags(intake)
    _find_adjudications()
    of_side = narratives.filter(side=OuterRef("side"))
    new = StagedStatement.objects.filter(known=None)
    new.filter(version=None).update(
        narrative=Subquery(of_side.filter(is_current=True).values("pk"))
    )
    new.filter(version__isnull=False).update(
        narrative=Subquery(of_side.filter(version=OuterRef("version")).values("pk"))
    )
    newest = of_side.order_by("-version").values("version")[:1]
    intake.refuse_rows(
        new.filter(narrative=None)
        .annotate(newest=Subquery(newest))
        .values_list("n", "place", "instruction__pair_id", "side", "version", "newest"),
        lambda pair, side, version, newest: (
            f"the {side} narrative of {pair} has no version {version}; the newest is {newest}"
            if newest
            else f"instruction pair {pair} has no {side} narrative"
        ),
    )


def find_members(intake: Intake) -> None:
    """Find the member who made each statement; create members without a login for new raters."""
    staged = StagedStatement.objects.all()
    intake.add_raters((staged, "rater", "machine"), (staged, "withdrawn_by", Value(0)))
    point_to_members(intake, staged, "rater")
    adjudications = staged.filter(what=ADJUDICATION.what)
    refuse_machines(intake, adjudications, "rater", "an adjudication")


# --- statements that the project already has, by UUID or else by content --------------------------


def _find_judgments(intake: Intake, renamed: Stage) -> None:
    """Find judgments by UUID; refuse one whose content differs.

    `renamed` collects the claims that get another UUID.
    """
    if _find_by_uuid(intake, JUDGMENT):
        return
    if _rename_later_claims(renamed) and _find_by_uuid(intake, JUDGMENT):
        return
    _refuse_other_content(
        intake,
        JUDGMENT,
        Q(repeat=False, flag="", relevance=OuterRef("relevance")),
        unless=has_other_verdicts("known"),
    )


def _find_flags(intake: Intake) -> None:
    """Find flags by UUID, and by content those without one or from before flags had UUIDs."""
    if _find_by_uuid(intake, FLAG):
        return
    same = Q(repeat=False, flag=OuterRef("kind"))
    _refuse_other_content(intake, FLAG, same)
    among = FLAG.staged.filter(Q(given=0) | Q(at__isnull=False), known=None)
    _find_by_content(FLAG, among, same & Q(note=OuterRef("words")))


def _find_adjudications() -> None:
    """Find adjudications by content: they have no UUID."""
    same = Q(relevance=OuterRef("relevance"), cause=OuterRef("kind"), reason=OuterRef("words"))
    _find_by_content(ADJUDICATION, ADJUDICATION.staged.filter(known=None), same)


def _find_by_uuid(intake: Intake, kind: StatementKind) -> int:
    """Find rows by UUID; refuse those of another project, and return how many were refused."""
    stored = kind.model._base_manager
    kind.staged.update(known=Subquery(stored.filter(uuid=OuterRef("uuid")).values("pk")))
    of_others = stored.filter(pk=OuterRef("known")).exclude(
        **{f"{kind.author}__project": intake.project}
    )
    return intake.refuse_rows(
        kind.staged.filter(Exists(of_others)).values_list("n", "place", "uuid"),
        lambda key: (
            f"the {kind.what} with the UUID {key} is already in another project "
            "of this installation, and a UUID can exist only once: remove the field uuid from "
            f"every line, and they become new {kind.what}s of this project"
        ),
    )


def _same_target(kind: StatementKind) -> Any:
    """Return the stored rows with the person, the narrative and the text of a staged statement."""
    return with_text_named(kind.model._base_manager.all()).filter(
        **{kind.author: OuterRef("member")},
        candidate=OuterRef("candidate"),
        narrative__pair=OuterRef("instruction"),
        narrative__side=Coalesce(OuterRef("side"), F("narrative__side")),
        narrative__version=Coalesce(OuterRef("version"), F("narrative__version")),
    )


def _refuse_other_content(
    intake: Intake, kind: StatementKind, same: Q, *, unless: Q | None = None
) -> None:
    """Refuse statements whose UUID is stored with other content.

    `same` compares a stored row with the staged statement; `unless` is a further difference.
    """
    stored = _same_target(kind).filter(same, pk=OuterRef("known"))
    intake.refuse_rows(
        kind.staged.filter(~Exists(stored) | (unless or Q()), known__isnull=False).values_list(
            "n", "place", "uuid"
        ),
        lambda key: f"a {kind.what} with the UUID {key} already exists with other content",
    )


def _find_by_content(kind: StatementKind, among: QuerySet[StagedStatement], same: Q) -> None:
    """Find the first row with the same content, target and time."""
    stored = _same_target(kind).filter(same, at=Coalesce(OuterRef("at"), F("at")))
    # The aggregate Min would group the rows, and SQLite then searches among all of the annotator's.
    lowest = stored.annotate(lowest=Func("pk", function="MIN"))
    among.update(known=Subquery(lowest.values("lowest")))


def _rename_later_claims(renamed: Stage) -> int:
    """Give claims about a newer narrative version their own UUIDs, and return how many there are.

    The version is known only now: until here, a claim repeated for the next version has the UUID
    of the claim for the last one.
    """
    for place, n, key, version in bulk.select(
        """
        SELECT s.place, s.n, s.uuid, s.version FROM stage_statements s
        CROSS JOIN annotate_statement j CROSS JOIN annotate_narrative v
        WHERE s.what = 'judgment' AND s.given = 0 AND j.id = s.known
        AND v.id = j.narrative_id AND v.pair_id = s.pair AND v.side = s.side
        AND v.version < s.version
        ORDER BY s.n
        """
    ):
        name = f"{uuid.UUID(str(key))}\x1f{version}"
        renamed.add(place, n, uuid.uuid5(NAMESPACE, name))
    if renamed.count:
        renamed.settle()
        bulk.index("stage_renamed", "statement")
        bulk.run(
            """
            UPDATE stage_statements SET known = NULL, uuid = (
                SELECT r.uuid FROM stage_renamed r WHERE r.statement = stage_statements.n
            )
            WHERE n IN (SELECT statement FROM stage_renamed)
            """
        )
    return renamed.count


# --- statements that do not fit -------------------------------------------------------------------


def refuse_unknown_grades(intake: Intake) -> None:
    """Refuse grades that the project does not have."""
    grades = sorted(intake.project.grades.values_list("value", flat=True))
    listed = ", ".join(map(str, grades))

    def sentence(relevance: int) -> str:
        text = f"{relevance} is not a grade of this project; its grades are {listed}"
        if relevance < 0 and intake.options.no_grade is None:
            text += f" (if {relevance} means no grade, say so when loading: --no-grade {relevance})"
        return text

    intake.refuse_rows(
        StagedStatement.objects.filter(what__in=(JUDGMENT.what, ADJUDICATION.what))
        .exclude(relevance__in=grades)
        .values_list("n", "place", "relevance"),
        sentence,
    )


def refuse_other_instructions(intake: Intake) -> None:
    """Refuse statements on a document under an instruction that it was not generated for."""
    intake.refuse_rows(
        StagedStatement.objects.filter(candidate__made_for__isnull=False)
        .exclude(candidate__made_for=F("instruction"))
        .values_list(
            "n", "place", "doc_id", "candidate__made_for__pair_id", "instruction__pair_id"
        ),
        lambda doc_id, own, other: (
            f"document {doc_id} was generated for instruction {own}, so it has no label under "
            f"{other}"
        ),
    )


def refuse_spans_outside(intake: Intake) -> None:
    """Refuse new judgments whose spans are outside a known text."""
    new = StagedStatement.objects.filter(known=None)
    text = DocumentText.objects.filter(
        document__candidates=OuterRef("candidate"), version=OuterRef("text_read")
    )
    intake.refuse_rows(
        new.filter(evidence_end__gt=0)
        .annotate(length=Subquery(text.values("length")))
        .filter(length__lt=F("evidence_end"))
        .values_list("n", "place", "doc_id", "evidence_end", "length"),
        lambda doc_id, end, length: (
            f"the evidence goes to character {end:,}, but the text of document {doc_id} has "
            f"{length:,}"
        ),
    )
    intake.refuse_rows(
        new.filter(clauses_end__gt=0)
        .annotate(length=Length("narrative__text"))
        .filter(length__lt=F("clauses_end"))
        .values_list(
            *("n", "place", "instruction__pair_id", "narrative__side", "narrative__version"),
            *("clauses_end", "length"),
        ),
        lambda pair, side, version, end, length: (
            f"the clauses go to character {end:,}, but version {version} of the {side} "
            f"narrative of {pair} has {length:,}"
        ),
    )


def refuse_unknown_conditions(intake: Intake) -> None:
    """Refuse new judgments with a verdict on a condition that their narrative does not have."""
    intake.refuse_rows(
        """
        SELECT x.n, s.place, p.pair_id, v.side, v.version, x.number, (
            SELECT COUNT(*) FROM annotate_condition c WHERE c.narrative_id = v.id
        ) AS conditions
        FROM stage_verdicts x
        CROSS JOIN stage_statements s
        CROSS JOIN annotate_narrative v
        CROSS JOIN annotate_instructionpair p
        WHERE s.n = x.statement AND s.known IS NULL AND v.id = s.narrative AND p.id = v.pair_id
        AND NOT EXISTS (
            SELECT 1 FROM annotate_condition c
            WHERE c.narrative_id = v.id AND c.number = x.number
        )
        """,
        lambda pair, side, version, number, conditions: (
            f"there is a verdict on condition {number}, but version {version} of the {side} "
            f"narrative of {pair} has {conditions or 'no'} "
            f"condition{'' if conditions == 1 else 's'}"
        ),
    )
