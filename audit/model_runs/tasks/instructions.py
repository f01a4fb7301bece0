"""What models read of a query and its instruction, and what auditors criticise about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from annotate.collection.models import Candidate, DocumentText
from annotate.pairs.models import Condition, InstructionPair, Narrative
from audit.model_runs.tasks.base import Item, ModelTask
from audit.reviews.models import Decision
from audit.reviews.passes import passes_of
from base.errors import refuse_invalid_characters, refuse_longer
from llm.documents import cut, delimit
from llm.prompts import Prompt

MAX_WORDS = 4_000
# Documents of a query that an author reads the beginning of: they show what kind they are.
DOCUMENTS = 3
MAX_CHARACTERS = 4_000


class AboutInstructions(ModelTask):
    """A task with one question about each instruction."""

    thing = "instruction"
    columns = ("pair__pk", "pk")
    ids = ("pair__pair_id",)


def fill_about(prompt: Prompt, narrative: Narrative, **others: str) -> str:
    """Return a prompt filled with an instruction, its query and other texts."""
    query = delimit(query_text(narrative.pair), "query")
    return prompt.fill(query=query, instruction=delimit(narrative.text, "instruction"), **others)


def narratives_of(items: Iterable[Item]) -> dict[int, Narrative]:
    """Return the narratives that questions are about, by key, with their queries: one query."""
    narratives = Narrative.objects.select_related("pair__query")
    return narratives.in_bulk({item.narrative for item in items})


def conditions_of(narratives: Iterable[int]) -> dict[int, dict[int, str]]:
    """Return the conditions of narratives (by key), by number, each on one line: one query."""
    conditions: dict[int, dict[int, str]] = defaultdict(dict)
    for condition in Condition.objects.filter(narrative__in=narratives).order_by("number"):
        words = f"{condition.name}: {condition.text}" if condition.name else condition.text
        conditions[condition.narrative_id][condition.number] = " ".join(words.split())
    return conditions


def delimit_conditions(conditions: Mapping[int, str]) -> str:
    """Return conditions as a model reads them."""
    lines = (f"{number}. {words}" for number, words in conditions.items())
    return delimit("\n".join(lines), "conditions")


def query_text(pair: InstructionPair, original: str = "") -> str:
    """Return a query as a model reads it: title, description and original narrative."""
    parts = (pair.query.title, pair.query.description, original)
    return "\n".join(part for part in parts if part.strip())


def some_documents(pairs: Iterable[InstructionPair]) -> dict[int, str]:
    """Return the beginnings of a few documents of each query, by its key, as a model reads them; ""
    without any: two queries.
    """
    queries = {pair.query_id for pair in pairs}
    order = (F("prior_relevance").desc(nulls_last=True), F("pk").asc())
    ranked = (
        Candidate.objects.filter(
            query__in=queries, made_for=None, document__text_version__isnull=False
        )
        .annotate(rank=Window(RowNumber(), partition_by=F("query"), order_by=order))
        .filter(rank__lte=DOCUMENTS)
        .order_by("query", "rank")
    )
    chosen = list(ranked.values_list("query__pk", "document__pk"))
    texts = DocumentText.objects.current().filter(document__in={document for _, document in chosen})
    by_document = dict(texts.values_list("document__pk", "text"))
    documents: dict[int, list[str]] = defaultdict(list)
    for query, document in chosen:
        documents[query].append(delimit(cut(by_document[document], MAX_CHARACTERS).text))
    return {query: "\n".join(documents[query]) for query in queries}


def criticism_of(narratives: Iterable[Narrative]) -> dict[int, list[str]]:
    """Return what speaks against each narrative, by its key: rejecting answers of people and
    machines with their words, and the reasons of leads. Nobody is named.
    """
    narratives = list(narratives)
    criticism: dict[int, list[str]] = {narrative.pk: [] for narrative in narratives}
    for passes in (passes_of(narratives), passes_of(narratives, machines=True)):
        for key, reviews in passes.items():
            for review in reviews:
                criticism[key].extend(
                    f"{answer.criterion.name}, {answer.level.name}: {answer.words}".strip(": ")
                    for answer in review.answers
                    if answer.level is not None and answer.level.rejects
                )
    for decision in Decision.objects.current().filter(narrative__in=narratives):
        criticism[decision.narrative_id].append(decision.reason)
    for narrative in narratives:
        criticism[narrative.pk].append(narrative.sent_back_reason)
    return {
        key: [words for words in dict.fromkeys(several) if words.strip()]
        for key, several in criticism.items()
    }


def check_words(words: str) -> None:
    """Refuse words of a model that cannot be stored."""
    refuse_longer(words, MAX_WORDS, "A text has %(length)s characters; at most %(most)s.")
    refuse_invalid_characters(words)
