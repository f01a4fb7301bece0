"""Find the claimed labels of a project. No document text is read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet

from annotate.collection.models import Candidate, Document
from annotate.judgments.blindness import must_answer_first
from annotate.judgments.consensus import COUNT_MET, consensus, derive_relevance
from annotate.judgments.in_force import in_pools
from annotate.judgments.machine_claims import counting_claims
from annotate.judgments.models import Adjudication, Judgment, Verdict
from annotate.pairs.models import Condition, InstructionPair, Narrative
from annotate.pairs.pool import judged_narratives
from annotate.projects.models import Membership, Project
from audit.checks.models import Sample
from base.errors import Refused

# Separates the ids in the name of a claim: ids in the field's file formats contain no tab.
SEPARATOR = "\t"

# Strata by claimed label. The last is for labels that do not say why a document is not relevant.
COMPLIES, VIOLATES, OFF_TOPIC, NOT_RELEVANT = "complies", "violates", "off topic", "not relevant"
LABELS = (COMPLIES, VIOLATES, OFF_TOPIC, NOT_RELEVANT)


class ClaimSelection(NamedTuple):
    """A request for claims: whose, only relevant ones or all, what is claimed (`Sample.Asks`), and
    the mode (a side of the narratives) they are claimed under; "" for all modes.
    """

    source: str
    rater: Membership | None = None
    relevant_only: bool = False
    asks: str = Sample.Asks.GRADE
    side: str = ""


class Claim(NamedTuple):
    """One claimed label: a relevance, or how many conditions the document meets."""

    narrative: Narrative
    candidate: int
    document: int
    doc_id: str
    relevance: int
    # What the label claims on the two questions; None if it makes no claim on one.
    topic: bool | None = None
    constraint: bool | None = None
    # Why the document violates the instruction, if the source of the claim gives a reason.
    reason: str = ""
    # The machine's judgment (by key), if a machine claims it.
    judgment: int | None = None

    @property
    def name(self) -> str:
        """Its name in files: the same in every database, so a seed draws the same claims."""
        return f"{narrative_name(self.narrative)}{SEPARATOR}{self.doc_id}"

    def stratum(self, by: str) -> str:
        """Return its stratum (`Sample.Stratify`)."""
        return self.label if by == Sample.Stratify.LABEL else stratum_of(self.narrative, by)

    @property
    def label(self) -> str:
        """The claimed label, one of `LABELS`."""
        if self.constraint:
            return COMPLIES
        if self.topic is None:
            return NOT_RELEVANT
        return VIOLATES if self.topic else OFF_TOPIC

    @property
    def name_in_any_mode(self) -> str:
        """Its name when a single mode is drawn from; a seed draws the same documents in each
        mode.
        """
        return f"{self.narrative.pair.pair_id}{SEPARATOR}{self.doc_id}"


def narrative_name(narrative: Narrative) -> str:
    """Return the name of a narrative in files: pair id and side."""
    return f"{narrative.pair.pair_id}{SEPARATOR}{narrative.side}"


def stratum_of(narrative: Narrative, by: str) -> str:
    """Return its stratum (`Sample.Stratify`); "" without strata or without a category."""
    pair = narrative.pair
    if by == Sample.Stratify.MODEL:
        people = narrative.origin == InstructionPair.Origin.HUMAN
        return "people" if people else narrative.model or "a language model"
    strata: dict[str, str] = {
        Sample.Stratify.CATEGORY: pair.category,
        Sample.Stratify.QUERY: pair.query.query_id,
        Sample.Stratify.DOMAIN: pair.query.domain,
    }
    return strata.get(by, "")


@dataclass(frozen=True)
class Frame:
    """All claims that can be drawn, and all narratives, including those without a claim."""

    claims: list[Claim]
    narratives: list[Narrative]
    # The single mode of the claims; "" for all modes.
    side: str = ""
    # Why there is no claim under a narrative, by its name.
    why_empty: dict[str, str] = field(default_factory=dict)
    # How many claims are left out because their documents have no text.
    without_text: int = 0


def build_frame(project: Project, selection: ClaimSelection) -> Frame:
    """Return the claims under current narratives: a few queries, whatever the source.

    A machine's judgments are its claims; of all machines, those that count (a label that they claim
    differently has no claim until a lead chooses). People claim the consensus of their judgments (a
    disputed or unjudged document has no claim). Relevance from qrels is claimed under the original
    narrative, that of the first pair if a query has several; without one it cannot be checked and
    is left out.

    Earlier non-relevant documents are claimed to stay so under every current altered narrative.

    Claims about documents without a text are left out, unless the project shows their ids: a
    checker would see an empty page.

    The number of conditions met is claimed if the narrative has conditions: by the verdicts of a
    machine if it gave any, which must cover all conditions; else the relevance is taken for the
    number.
    """
    if selection.source == Sample.Source.PRIOR:
        narratives = _original_narratives(project)
        # Verdicts on conditions may still change what is claimed.
        of_all = selection.asks == Sample.Asks.COUNT or not selection.relevant_only
        claims = _claims_of_qrels(project, narratives, None if of_all else project.relevant_from)
    elif selection.source == Sample.Source.NEVER:
        narratives = list(
            _load_narratives(
                Narrative.objects.in_force([project.pk]).filter(side=Narrative.Side.ALTERED)
            ).values()
        )
        claims = _claims_of_never_relevant(project, narratives)
    else:
        by_key = _load_narratives(Narrative.objects.in_force([project.pk]))
        of_people = selection.source == Sample.Source.CONSENSUS
        claims = (
            _claims_of_people(project, by_key)
            if of_people
            else _claims_of_machines(project, by_key, selection.rater)
        )
        # Narratives that people judge belong to the frame even without a claim.
        judged = set(judged_narratives(project).values_list("pk", flat=True))
        judged |= {claim.narrative.pk for claim in claims}
        narratives = [narrative for narrative in by_key.values() if narrative.pk in judged]
    if selection.side:
        claims = [claim for claim in claims if claim.narrative.side == selection.side]
        narratives = [narrative for narrative in narratives if narrative.side == selection.side]
    if selection.asks == Sample.Asks.COUNT:
        claims, narratives = _with_condition_counts(claims, narratives)
    if selection.asks == Sample.Asks.QUESTIONS:
        # An original narrative sets no constraint.
        claims = [claim for claim in claims if claim.narrative.side != Narrative.Side.ORIGINAL]
        narratives = [
            narrative for narrative in narratives if narrative.side != Narrative.Side.ORIGINAL
        ]
    if selection.relevant_only:
        claims = [claim for claim in claims if claim.relevance >= project.relevant_from]
    why_empty = (
        _why_unclaimed(project, claims, narratives, selection.rater)
        if selection.source in (Sample.Source.MACHINE, Sample.Source.CLAIMS)
        else {}
    )
    with_text, without = _divide_by_text(project, claims)
    names_with_text = {narrative_name(claim.narrative) for claim in with_text}
    for name in {narrative_name(claim.narrative) for claim in without} - names_with_text:
        why_empty[name] = "its documents have no text"
    return Frame(with_text, narratives, selection.side, why_empty, len(without))


def refuse_if_blind(selection: ClaimSelection, by: Membership) -> None:
    """Refuse claims that tell a lead who still has to answer what people answered."""
    if selection.source == Sample.Source.CONSENSUS and must_answer_first(by):
        raise Refused(
            "You still judge or review here, so you may not know what people's judgments come to. "
            "Finish or release your tasks, or choose other labels."
        )


def why_unfit(project: Project, selection: ClaimSelection, stratify: str) -> str:
    """Return why claims cannot be sampled in this way, or ""."""
    if selection.asks == Sample.Asks.COUNT and stratify == Sample.Stratify.LABEL:
        return "Samples that ask how many conditions are met cannot have these strata."
    if selection.asks != Sample.Asks.QUESTIONS:
        return ""
    if selection.source == Sample.Source.PRIOR:
        return (
            "Earlier qrels are claimed under the original narrative, which sets no constraint. "
            "Ask for the grade, or choose other labels."
        )
    values = project.grades.values_list("value", flat=True)
    relevant = sum(1 for value in values if value >= project.relevant_from)
    if relevant == 1 and len(values) == 2:
        return ""
    return (
        f"Two questions only distinguish relevant from not relevant. This project has {relevant} "
        f"relevant grades of {len(values)}: ask for the grade instead."
    )


def _claim(
    project: Project,
    narrative: Narrative,
    candidate: int,
    document: int,
    doc_id: str,
    relevance: int,
    *,
    prior: int | None,
    note: str = "",
) -> Claim:
    """Return a claim with what it says on the two questions, and why a document violates.

    A relevant document is on topic and meets the constraint. One that is not relevant violates the
    constraint if it was relevant to the query before, and is off topic if it was not; without an
    earlier relevance (`prior`) the label does not say which.
    """
    if relevance >= project.relevant_from:
        return Claim(narrative, candidate, document, doc_id, relevance, True, True)
    topic = None if prior is None else prior >= project.relevant_from
    constraint = False if topic else None
    return Claim(narrative, candidate, document, doc_id, relevance, topic, constraint, note)


def _with_condition_counts(
    claims: list[Claim], narratives: list[Narrative]
) -> tuple[list[Claim], list[Narrative]]:
    """Return the claims and narratives with conditions, with the claimed number met."""
    sizes = dict(
        Condition.objects.filter(narrative__in={narrative.pk for narrative in narratives})
        .order_by()
        .values_list("narrative")
        .annotate(n=Count("pk"))
    )
    verdicts = _verdicts_on(sizes)
    kept = []
    for claim in claims:
        size = sizes.get(claim.narrative.pk)
        if size is None:
            continue
        claim = claim._replace(reason="")
        answers = verdicts.get(claim.judgment)
        if answers is None:
            kept.append(claim)
            continue
        # Verdicts on only some of the conditions claim no number.
        number = (
            derive_relevance(COUNT_MET, answers, range(size + 1)) if len(answers) == size else None
        )
        if number is not None:
            kept.append(claim._replace(relevance=number))
    return kept, [narrative for narrative in narratives if narrative.pk in sizes]


def _verdicts_on(narratives: Iterable[int]) -> dict[int | None, list[str]]:
    """Return machines' current verdicts on the conditions of these narratives, by judgment."""
    answers: dict[int | None, list[str]] = defaultdict(list)
    verdicts = Verdict.objects.current().filter(
        condition__narrative__in=list(narratives), statement__annotator__is_machine=True
    )
    for judgment, answer in verdicts.values_list("statement", "answer"):
        answers[judgment].append(answer)
    return answers


def _load_narratives(narratives: QuerySet[Narrative]) -> dict[int, Narrative]:
    """Return narratives by key, in the order of their pairs, without texts."""
    rows = narratives.select_related("pair__query").order_by("pair", "pk")
    return {row.pk: row for row in rows.defer("text", "pair__query__description")}


def _original_narratives(project: Project) -> list[Narrative]:
    """Return the current original narrative of each query, from its first pair that has one."""
    originals = Narrative.objects.in_force([project.pk]).filter(side=Narrative.Side.ORIGINAL)
    of_query: dict[int, Narrative] = {}
    for narrative in _load_narratives(originals).values():
        of_query.setdefault(narrative.pair.query_id, narrative)
    return list(of_query.values())


def _claims_of_qrels(
    project: Project, narratives: Iterable[Narrative], least: int | None
) -> list[Claim]:
    """Return earlier relevances under the original narratives; only those from `least` on, if it is
    not None.
    """
    of_query = {narrative.pair.query_id: narrative for narrative in narratives}
    candidates = Candidate.objects.filter(query__project=project, prior_relevance__isnull=False)
    if least is not None:
        candidates = candidates.filter(prior_relevance__gte=least)
    rows: Iterable[Any] = candidates.values_list(
        "pk", "query", "document", "document__doc_id", "prior_relevance"
    )
    return [
        _claim(project, of_query[query], candidate, document, doc_id, relevance, prior=relevance)
        for candidate, query, document, doc_id, relevance in rows
        if query in of_query
    ]


def _claims_of_never_relevant(project: Project, narratives: Iterable[Narrative]) -> list[Claim]:
    """Return earlier non-relevant documents under each altered narrative of their query."""
    of_query: dict[int, list[Narrative]] = defaultdict(list)
    for narrative in narratives:
        of_query[narrative.pair.query_id].append(narrative)
    rows: Iterable[Any] = Candidate.objects.filter(
        query__in=of_query, prior_relevance__lt=project.relevant_from
    ).values_list("pk", "query", "document", "document__doc_id", "prior_relevance", "made_for")
    return [
        _claim(project, narrative, candidate, document, doc_id, relevance, prior=relevance)
        for candidate, query, document, doc_id, relevance, made_for in rows
        for narrative in of_query[query]
        if made_for in (None, narrative.pair_id)
    ]


_COLUMNS = (
    "narrative",
    "candidate",
    "candidate__document",
    "candidate__document__doc_id",
    "relevance",
    "candidate__prior_relevance",
)


def _claims_of_machines(
    project: Project, narratives: Mapping[int, Narrative], rater: Membership | None
) -> list[Claim]:
    """Return the claims of one machine, or those that count of all."""
    judgments = Judgment.objects.filter(annotator__project=project)
    if rater is not None:
        judgments = judgments.filter(annotator=rater)
    claims = []
    columns = ("candidate__document", "candidate__document__doc_id")
    for claim in counting_claims(
        project, judgments, *columns, "candidate__prior_relevance", "note", "pk"
    ):
        if claim.relevance is not None and claim.narrative in narratives:
            document, doc_id, prior, note, judgment = claim.columns
            claims.append(
                _claim(
                    *(project, narratives[claim.narrative], claim.candidate, document, doc_id),
                    claim.relevance,
                    prior=prior,
                    note=note,
                )._replace(judgment=judgment)
            )
    return claims


def _divide_by_text(project: Project, claims: list[Claim]) -> tuple[list[Claim], list[Claim]]:
    """Return the claims that people can check, and those about documents without a text."""
    if project.show_ids:
        return claims, []
    without = set(
        Document.objects.filter(project=project, text_version=None).values_list("pk", flat=True)
    )
    return (
        [claim for claim in claims if claim.document not in without],
        [claim for claim in claims if claim.document in without],
    )


def _why_unclaimed(
    project: Project,
    claims: Iterable[Claim],
    narratives: Iterable[Narrative],
    rater: Membership | None,
) -> dict[str, str]:
    """Return why narratives have no claim, by their names; at most one query."""
    claimed = {claim.narrative.pk for claim in claims}
    empty = [narrative for narrative in narratives if narrative.pk not in claimed]
    if not empty:
        return {}
    judgments = Judgment.objects.current().filter(
        annotator__project=project,
        annotator__is_machine=True,
        narrative__pair__in={narrative.pair_id for narrative in empty},
    )
    if rater is not None:
        judgments = judgments.filter(annotator=rater)
    rows: set[Any] = set(judgments.values_list("narrative", "narrative__pair", "narrative__side"))
    current = {narrative for narrative, _pair, _side in rows}
    of_pairs = {(pair, side) for _narrative, pair, side in rows}

    def why(narrative: Narrative) -> str:
        if narrative.pk in current:
            return "its labels are undecided, or not what this sample asks for"
        if (narrative.pair_id, narrative.side) in of_pairs:
            return "labels were claimed under an earlier version only"
        return "no label is claimed"

    return {narrative_name(narrative): why(narrative) for narrative in empty}


def _claims_of_people(project: Project, narratives: Mapping[int, Narrative]) -> list[Claim]:
    grades: dict[tuple[int, int], list[int]] = defaultdict(list)
    documents: dict[int, tuple[int, str, int | None]] = {}
    rows = (
        Judgment.objects.current()
        .of_people()
        .filter(in_pools(), annotator__project=project)
        .values_list(*_COLUMNS)
    )
    for narrative, candidate, document, doc_id, relevance, prior in rows:
        if narrative in narratives:
            grades[narrative, candidate].append(relevance)
            documents[candidate] = (document, doc_id, prior)
    decisions = Adjudication.objects.current().filter(narrative__pair__project=project)
    decided = decisions.values_by_question()
    claims = []
    for (narrative, candidate), people_grades in grades.items():
        outcome = consensus(people_grades, project.consensus, decided.get((narrative, candidate)))
        if outcome.relevance is not None:
            document, doc_id, prior = documents[candidate]
            claims.append(
                _claim(
                    project,
                    narratives[narrative],
                    candidate,
                    document,
                    doc_id,
                    outcome.relevance,
                    prior=prior,
                )
            )
    return claims
