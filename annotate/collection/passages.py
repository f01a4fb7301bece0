"""Passages of a project's documents: how they are cut, and which of them layouts publish.

Judgments stay with documents. The functions here take texts as arguments; none reads one from the
database.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from annotate.collection.models import Document, PassageRule
from annotate.projects.access import lock_project
from annotate.projects.audit_log import record
from annotate.projects.models import Membership, Project
from base.errors import Refused
from formats import passages

FIELDS = ("words", "overlap", "at_sentences", "published", "share")
MOST_WORDS = 100_000


class PassageText(NamedTuple):
    """A passage with its id, its text, and its offsets in the text of its document."""

    passage_id: str
    text: str
    start: int
    end: int


def passage_rule_of(project: Project) -> PassageRule:
    """Return a project's passage rule; if it has none yet, an unsaved one with the defaults."""
    return PassageRule.objects.filter(project=project).first() or PassageRule(project=project)


def passages_of_document(
    rule: PassageRule, doc_id: str, text: str, markup: str = Document.Markup.PLAIN
) -> list[PassageText]:
    """Return all passages of a document's text. A table is one passage, since it cannot be cut."""
    if markup != Document.Markup.PLAIN:
        return _with_texts(doc_id, text, [passages.Passage(1, 0, len(text))])
    cut = passages.cut_passages(
        text, words=rule.words, overlap=rule.overlap, at_sentences=rule.at_sentences
    )
    return _with_texts(doc_id, text, cut)


def evidence_passages_of_document(
    rule: PassageRule,
    doc_id: str,
    text: str,
    evidence: Iterable[tuple[int, int]],
    markup: str = Document.Markup.PLAIN,
) -> list[PassageText]:
    """Return only passages around the evidence, within the share of the text that the lead set.

    Documents without evidence and tables have none.
    """
    if markup != Document.Markup.PLAIN:
        return []
    return _with_texts(doc_id, text, passages.excerpts(text, evidence, share=rule.share))


def _with_texts(doc_id: str, text: str, cut: Iterable[passages.Passage]) -> list[PassageText]:
    return [
        PassageText(
            passages.passage_id(doc_id, passage.number),
            text[passage.start : passage.end],
            passage.start,
            passage.end,
        )
        for passage in cut
    ]


def manifest_sentence(rule: PassageRule) -> str:
    """Describe for a manifest which texts a layout contains; "" for whole documents."""
    if rule.published == PassageRule.Published.DOCUMENTS:
        return ""
    if rule.published == PassageRule.Published.EVIDENCE:
        return (
            "Of each document only passages around the evidence of judgments are published, at "
            f"most {rule.share}% of its characters. Documents without evidence and tables have "
            "none."
        )
    borders = ", cut between sentences" if rule.at_sentences else ""
    return (
        f"Texts are published as passages of {rule.words:,} words with an overlap of "
        f"{rule.overlap:,}{borders}. The id of a passage is that of its document, an underscore "
        "and a number; tables are one passage."
    )


def set_passage_rule(
    *,
    project: Project,
    changes: Mapping[str, Any],
    by: Membership | None,
    now: datetime | None = None,
) -> PassageRule:
    """Change how passages are cut and published, and return the rule.

    Refused: a member who is not a lead, an archived project, an overlap that is not below the
    length, a share outside 1 to 100, an unknown way to publish.
    """
    with transaction.atomic():
        locked = lock_project(project.pk, by, "Only leads of this project can change its passages.")
        rule = passage_rule_of(locked)
        before = {name: getattr(rule, name) for name in FIELDS}
        for name in FIELDS:
            setattr(rule, name, changes.get(name, before[name]))
        _check(rule)
        after = {name: getattr(rule, name) for name in FIELDS}
        if before == after:
            return rule
        rule.save()
        record(
            project=locked,
            what="passages.changed",
            about=locked,
            by=by,
            changes={name: (before[name], after[name]) for name in FIELDS},
            now=now,
        )
    return rule


def _check(rule: PassageRule) -> None:
    try:
        passages.check_size(rule.words, rule.overlap)
    except ValueError as error:
        raise Refused(str(error)) from error
    if rule.words > MOST_WORDS:
        raise Refused(f"A passage has at most {MOST_WORDS:,} words.")
    if not 1 <= rule.share <= 100:
        raise Refused("The share of a document is a percentage from 1 to 100.")
    if rule.published not in PassageRule.Published.values:
        raise Refused(
            f"{rule.published} is not a way to publish texts. The ways are: "
            f"{', '.join(PassageRule.Published.values)}."
        )
