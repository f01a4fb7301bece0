"""Sentences of manifests: the rules of an export, warnings, and notes for its users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from annotate.judgments.consensus import RULES
from annotate.pairs.models import Narrative
from annotate.projects.models import Membership, Project
from base.texts import amount
from exporters.exports.manifest.manifest import LeftOut, PairFacts, Rule, count_key
from exporters.exports.proof.oracles import list_first
from exporters.exports.selection import claimed
from exporters.exports.selection.selection import CLAIMED


def trec_rules(project: Project, raters: Mapping[str, Sequence[Membership]]) -> list[Rule]:
    """Return the rules that turn judgments into relevance; `raters`: claiming machines, by side."""
    if project.judge_scope == Project.Scope.RELEVANT:
        scope = (
            f"Judges see the documents with an earlier relevance of at least "
            f"{project.relevant_from}. In qrels.changed.txt the others keep the relevance that "
            "they were loaded with, because a narrower narrative makes no document relevant. If "
            "people judged one of them anyway, their consensus counts; if they differ, it is "
            "disputed like any other document."
        )
    elif project.judge_scope == Project.Scope.EXISTING:
        scope = (
            "Judges see every document in the pool except those written for an instruction, which "
            "have claimed labels only."
        )
    else:
        scope = "Judges see every document in the pool."
    return [
        Rule(
            about="Relevant",
            says=f"A document with a relevance of at least {project.relevant_from}.",
        ),
        Rule(about="Consensus", says=RULES[project.consensus]),
        Rule(
            about="Settled",
            says="A lead's settling decision takes precedence over the judgments it settles.",
        ),
        Rule(
            about="Who counts",
            says="People's judgments under the current narrative. Judgments of machines and "
            "judgments under older narratives do not count"
            + (", except as claimed labels." if raters else "."),
        ),
        Rule(about="Scope", says=scope),
        Rule(
            about="Left out",
            says="A document that is disputed, or that nobody has judged, has no line in the "
            "qrels; disputed.tsv and unjudged.tsv list them. Pairs that were removed or sent back, "
            "and pairs whose altered narrative is not written or not judged, are not in the "
            "changed files; pairs.tsv lists them with the reason.",
        ),
        Rule(
            about="Pairing",
            says="qrels.original.txt has the topics of qrels.changed.txt and no others, so means "
            "over the two files are over the same topics; left_out in the manifest names the "
            "others with the reason. While qrels.changed.txt is empty, it has every query. "
            "qrels.original.all.txt always has every query, under the queries' ids. Queries that "
            "were taken out are in no qrels.",
        ),
        Rule(
            about="Ids",
            says="The changed qrels and topics, and the original ones that are paired with them, "
            "have the ids of pairs; pairs.tsv has the query of each.",
        ),
        *(_claimed_rules(raters) if raters else ()),
    ]


def _claimed_rules(raters: Mapping[str, Sequence[Membership]]) -> list[Rule]:
    files = []
    for side, machines in raters.items():
        names = ", ".join(f"“{rater.name}”" for rater in machines)
        under = f"under current {side} narratives"
        files.append(f"{claimed.file_name(side)} has the labels of {names} {under}.")
        if len(machines) > 1:
            files.append("Each of these machines has a file of its own, too.")
    return [
        Rule(
            about="Claimed labels",
            says=f"{' '.join(files)} There is a line for each document with a claimed label, also "
            "for labels of 0. The relevance is people's consensus if they judged the document; "
            "else the outcome of the label's check, in the newest sample that has one; else the "
            "claim. The claim also counts while a check is open, if nobody could judge the label, "
            "and if people's judgments are disputed. Where several machines claim different "
            "grades, that of the machine that a lead chose counts; without a choice the label has "
            "no line.",
        ),
        Rule(
            about="Accepted",
            says="If any instruction was reviewed or decided on, the claimed files have only "
            "instructions whose current version was accepted; otherwise all that were not removed "
            "or sent back. While a draw limits the reviews, an instruction that was not drawn "
            "needs no decision. The column claimed of pairs.tsv says which are in these files, and "
            "why the others are not. If an instruction is left out, so are the claims under its "
            "original and reversed narratives.",
        ),
    ]


def about_trec(
    *,
    counts: Mapping[str, int],
    pairs: list[PairFacts],
    asked: int,
    elsewhere: Mapping[str, Mapping[str, int]],
    differing: list[str],
    left_out: Sequence[LeftOut],
    texts: int,
    not_in_runs: Sequence[str],
) -> list[str]:
    """Return the notes for users of the TREC files, a sentence or two each.

    `asked`: how many people judge each document. `elsewhere`: documents by state under the
    narratives of other sides than the altered one. `differing`: queries whose pairs have several
    original narratives. `left_out`: topics missing from the paired qrels. `texts`: how many
    records of documents are written. `not_in_runs`: topics of the original qrels that a run over
    queries does not have, if there are runs.
    """
    written = [facts for facts in pairs if not facts["left_out"]]
    sentences = [
        *_about_pairs(pairs),
        *_about_pairing(left_out),
        *_about_claims(counts, pairs),
        *_about_judgments(counts, asked),
    ]
    if any(map(_has_answers, written)) and not counts["grew"]:
        sentences.append("The relevant set only shrinks: no document became relevant.")
    for side, states in elsewhere.items():
        each = ", ".join(f"{n:,} {state}" for state, n in states.items() if n)
        sentences.append(f"Documents under the {side} narratives: {each}.")
    if differing:
        sentences.append(
            "Pairs of one query have different original narratives; topics.original.all.txt has "
            f"that of the first pair. Queries concerned: {list_first(differing)}"
        )
    if not_in_runs:
        sentences.append(
            "A run over queries has the ids of queries, so evaluators score it as if it ranked "
            "nothing for topics of qrels.original.txt with the id of a pair. Measure it on "
            "qrels.original.all.txt, or with the command measure, which counts it for every pair. "
            f"Topics concerned: {list_first(not_in_runs)}"
        )
    if texts:
        sentences.append(
            "documents.changed.jsonl contains the known texts of documents. Leave the file out if "
            "their licence does not allow you to pass them on."
        )
    return sentences


def trec_warnings(
    counts: Mapping[str, int],
    pairs: list[PairFacts],
    without_prior: list[str],
    measured: Sequence[str] = (),
) -> list[str]:
    """Return warnings, such as pairs whose relevant set grew or whose documents did not change.

    `without_prior`: topics of the changed qrels that the original qrels cannot have. `measured`:
    warnings of `exporters.exports.proof.oracles`.
    """
    answered = [facts for facts in pairs if not facts["left_out"] and _has_answers(facts)]
    sentences = []
    if grown := [facts["pair_id"] for facts in answered if facts["counts"]["grew"]]:
        grew = amount(counts["grew"], "document")
        sentences.append(
            f"The relevant set should only shrink, but {grew} became relevant "
            f"(“grew” in documents.changed.tsv), in: {list_first(grown)}"
        )
    if same := [facts["pair_id"] for facts in answered if not facts["counts"]["changed"]]:
        sentences.append(
            "At least one document should change in every pair, but none has changed in: "
            f"{list_first(same)}"
        )
    undecided = (counts.get(count_key(claimed.UNDECIDED, side), 0) for side in claimed.SIDES)
    if n := sum(undecided):
        labels = amount(n, "label is", "labels are")
        sentences.append(
            f"{labels} claimed differently by several machines and left out: nobody has chosen "
            "whose claims count."
        )
    sentences += measured
    if open_ones := [
        facts["pair_id"]
        for facts in answered
        if facts["counts"]["unjudged"] or facts["counts"]["disputed"]
    ]:
        sentences.append(
            "Documents that nobody has judged, or that are disputed, have no line, and evaluators "
            "treat them as not relevant. Scores are final only once these pairs are judged and "
            f"settled: {list_first(open_ones)}"
        )
    if without_prior:
        sentences.append(
            "Topics of qrels.changed.txt that have no line in qrels.original.txt, because none of "
            "their documents has an earlier relevance; leave them out when you compare means: "
            f"{list_first(without_prior)}"
        )
    return sentences


def jsonl_rules(*, published: bool) -> list[Rule]:
    """Return the rules of the JSON lines: what the files hold, and which records count."""
    people = (
        "People who agreed to be named appear by name, the others by number, as in about.json."
        if published
        else "Everybody appears by name: do not publish this export."
    )
    return [
        Rule(about="People", says=people),
        Rule(
            about="Current records",
            says="judgments.jsonl has every judgment ever made. One with superseded_at is no "
            "longer current: its annotator judged again, put a flag instead, or withdrew it "
            "(withdrawn_at). A flag is current until cleared_at; a settling decision, and a "
            "decision on an instruction, until withdrawn_at.",
        ),
        Rule(
            about="Taken out",
            says="collection.jsonl has the queries, instructions and candidates that are taken "
            "out, with the reason. Answers about them are in every file: this is a record.",
        ),
        Rule(
            about="Versions read",
            says="side and version name the narrative that was on the screen; pairs.jsonl has its "
            "text. text_version names the text of the document, which is in documents.jsonl; a "
            "record without it is about a document that has had only one text.",
        ),
        Rule(
            about="Conditions",
            says="verdicts.jsonl has a line for each document that somebody judged condition by "
            "condition under a current narrative. agreed is the consensus of people's answers to "
            "a condition, by the project's rule for several grades, or a lead's decision (state "
            "is settled); met is the number of conditions agreed to be met, or null while there "
            "is no agreement on one.",
        ),
        Rule(
            about="Checks",
            says="checks.jsonl has the labels on which two people agree or which a third has "
            "settled, with the claim and each person's answer; samples.jsonl has how each sample "
            "was drawn, and from how many labels of each stratum. Labels whose check is not over "
            "are counted and left out.",
        ),
        Rule(
            about="Repeats",
            says="repeats.jsonl has people's answers to documents that were shown to them again, "
            "unmarked, beside their first answers. Answers to repeats count in no relevance.",
        ),
        Rule(
            about="Machines",
            says="machine marks the judgments, flags and reviews of machines; they are never "
            "counted among people's.",
        ),
    ]


# What the JSON lines cannot move into another project, by count.
_NOT_MOVED = {
    "samples": "label checks",
    "repeats": "answers to repeated documents",
    "conditions_settled": "leads' decisions on conditions",
    "review_draws": "draws of instructions to review",
}


def about_jsonl(counts: Mapping[str, int]) -> list[str]:
    """Return the notes for users of the JSON lines.

    `counts`: of the manifest, and of `conditions_settled` and `review_draws`.
    """
    sentences = []
    if n := counts["drafts"]:
        sentences.append(f"{amount(n, 'review is', 'reviews are')} not submitted yet and left out.")
    if lost := [words for key, words in _NOT_MOVED.items() if counts[key]]:
        sentences.append(
            f"These files do not restore: {', '.join(lost)}; only the backup of a project moves "
            "them."
        )
    return sentences


def _about_pairs(pairs: list[PairFacts]) -> list[str]:
    empty = "so qrels.changed.txt and topics.changed.txt are empty."
    if not pairs:
        return [f"The project has no instruction pairs, {empty}"]
    why = Counter(facts["left_out"] for facts in pairs if facts["left_out"])
    sentences = []
    if why["not written"] == len(pairs):
        sentences.append(f"No altered narrative has been written, {empty}")
    elif why:
        left_out = amount(why.total(), "pair is", "pairs are")
        sentences.append(f"{left_out} left out of the changed files: {_reasons(why)}.")
    return sentences


def _about_pairing(left_out: Sequence[LeftOut]) -> list[str]:
    if not left_out:
        return []
    why = Counter(topic["why"] for topic in left_out)
    names = [topic["pair_id"] or topic["query_id"] for topic in left_out]
    topics = amount(len(left_out), "topic is", "topics are")
    sentence = (
        f"{topics} in neither qrels.original.txt nor qrels.changed.txt ({_reasons(why)}): "
        f"{list_first(names)} left_out in the manifest gives the reason for each, and "
        "qrels.original.all.txt has their queries."
    )
    return [sentence]


def _about_claims(counts: Mapping[str, int], pairs: list[PairFacts]) -> list[str]:
    sentences = []
    for side in claimed.SIDES:
        if count_key("claims", side) in counts:
            sentences.append(_claims_on(side, counts))
            if side == Narrative.Side.ALTERED:
                sentences += _without_claims(pairs)
            if n := counts[count_key("claims_set_aside", side)]:
                aside = amount(n, "claimed label belongs", "claimed labels belong")
                files = "claimed files" if side == Narrative.Side.ALTERED else f"{side} ones"
                sentences.append(f"{aside} to pairs that are left out of the {files}.")
    return sentences


def _claims_on(side: str, counts: Mapping[str, int]) -> str:
    def counted(key: str) -> int:
        return counts[count_key(key, side)]

    labels = amount(counted("claims"), "claimed label")
    of_pairs = amount(counted("pairs_claimed"), "pair")
    under = "" if side == Narrative.Side.ALTERED else f" under {side} narratives"
    checked, corrected, judged = (
        f"{counted(f'claims_{key}'):,} {words}"
        for key, words in (
            ("checked", "checked"),
            ("corrected", "of these corrected"),
            ("judged", "judged by people instead"),
        )
    )
    return f"{labels} of {of_pairs}{under}: {checked}, {corrected}; {judged}."


def _without_claims(pairs: list[PairFacts]) -> list[str]:
    why = Counter(facts["claimed"] for facts in pairs)
    del why[CLAIMED]
    if not why:
        return []
    left_out = amount(why.total(), "pair is", "pairs are")
    return [f"{left_out} left out of the claimed files: {_reasons(why)}."]


# A count of the manifest, what it counts, and the rest of the sentence.
_ABOUT_JUDGMENTS = (
    ("disputed", "document is", "documents are", "disputed and left out; see disputed.tsv"),
    ("unjudged", "document is", "documents are", "not judged and left out; see unjudged.tsv"),
    (
        *("fewer_than_asked", "document was", "documents were"),
        "judged by fewer people than the {asked} asked for; their relevance counts",
    ),
    (
        *("judgments_stale", "judgment was", "judgments were"),
        "made under an older version of a narrative or of a text and not counted",
    ),
    (
        *("judgments_set_aside", "judgment belongs", "judgments belong"),
        "to pairs or documents that are left out",
    ),
    (
        *("judgments_by_machines", "judgment was", "judgments were"),
        "made by machines and not counted{where}",
    ),
)


def _about_judgments(counts: Mapping[str, int], asked: int) -> list[str]:
    has_claims = any(count_key("claims", side) in counts for side in claimed.SIDES)
    where = " in the changed qrels" if has_claims else ""
    return [
        f"{amount(counts[key], singular, plural)} {rest.format(asked=asked, where=where)}."
        for key, singular, plural, rest in _ABOUT_JUDGMENTS
        if counts[key]
    ]


def _has_answers(facts: PairFacts) -> bool:
    """Return whether any document of the pair has a judgment or a decision."""
    counts = facts["counts"]
    return any(counts[state] for state in ("judged", "settled", "disputed"))


def _reasons(why: Counter[str]) -> str:
    """Return how many there are of each reason."""
    return ", ".join(f"{n:,} {reason}" for reason, n in sorted(why.items()))
