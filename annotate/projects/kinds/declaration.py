"""The declaration of a kind of project: everything that a published way of working sets. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, NamedTuple


class KindGrade(NamedTuple):
    """A grade of the kind."""

    value: int
    name: str
    sentence: str = ""


class MustHold(NamedTuple):
    """A rule of the kind, with its limits.

    `rule`: a value of `annotate.judgments.pair_rules.Rule`.
    """

    rule: str
    limits: Mapping[str, int] = {}


class PlannedCheck(NamedTuple):
    """A sample of labels that the paper's authors checked.

    `source`, `per`, `asks` and `stratify` are values of `audit.checks.models.Sample`. A sample that
    is not drawn is picked: suspects from runs. Checkers see `name`, which does not reveal the
    claims.
    """

    sentence: str
    size: int
    name: str = ""
    source: str = "machine"
    per: str = "stratum"
    asks: str = "grade"
    stratify: str = "none"
    # Whether checkers may read why a document violates the instruction after they have answered.
    shows_reason: bool = False
    is_drawn: Annotated[bool, "False: suspects from runs, which are picked."] = True
    # Values of `annotate.pairs.models.Narrative.Side`; empty: one sample.
    modes: Annotated[tuple[str, ...], "Sides of the narratives, each with its own sample."] = ()


class ProjectKind(NamedTuple):
    """A kind of project, with everything it sets."""

    key: str
    name: str
    sentence: str
    # Fields of Project, which `annotate.projects.actions.FIELDS` names.
    settings: Annotated[Mapping[str, object], "Rules of the project, by name."]
    grades: tuple[KindGrade, ...]
    # The narratives of an instruction: values of `annotate.pairs.models.Narrative.Side`.
    sides: tuple[str, ...]
    must_hold: tuple[MustHold, ...]
    # In the order of work: keys of `annotate.overview.steps`.
    steps: tuple[str, ...]
    step_names: Annotated[
        Mapping[str, str], "Names of steps that differ in the paper, by key."
    ] = {}
    # Steps that a release does not wait for until somebody has begun them.
    optional_steps: tuple[str, ...] = ()
    # Shown in a project without documents: what to load first.
    first_files: str = (
        "Begin with the topics, then the documents, then the earlier judgments (qrels)."
    )
    # Names in formats.registry.FORMATS that the form for loading lists first, in the order of work.
    formats: tuple[str, ...] = ()
    # A name in TAXONOMIES; "" for none.
    taxonomy: str = ""
    # The name of a ready-made rubric; "" keeps the current one.
    rubric: str = ""
    checks: tuple[PlannedCheck, ...] = ()
    # Values of `exporters.exports.models.Export.Format`.
    exports: tuple[str, ...] = ("trec", "jsonl")
    # Measures as docs/measures.md names them.
    measures: tuple[str, ...] = ()
    # Rules for rows of files: values of `annotate.judgments.intake.versions.LoadRule`. A file
    # that breaks one is loaded only if a lead confirms it.
    load_rules: tuple[MustHold, ...] = ()
    # Whether a long title of a topic without a narrative is also its original narrative.
    narrative_from_title: bool = False
    # Whether rules also count claims of machines and files for documents that nobody judged.
    counts_claims: bool = False
    # Whether more than half of the auditors must reject an instruction; else one is enough.
    rejects_by_majority: bool = False
