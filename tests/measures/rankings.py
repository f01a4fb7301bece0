"""Runs made from an order of documents, or from the rank of one document."""

from __future__ import annotations


def ranked(order):
    """Return scores that rank documents in this order."""
    return {document: float(len(order) - place) for place, document in enumerate(order)}


def with_gold_at(rank, size=40):
    """Return a ranking of ``size`` documents with "g" at this rank."""
    others = [f"d{number:02}" for number in range(size - 1)]
    return ranked([*others[: rank - 1], "g", *others[rank - 1 :]])


def three_modes(original, instructed, reverse):
    """Return the three runs of query q with "g" at these ranks."""
    ranks = {"original": original, "instructed": instructed, "reversed": reverse}
    return {mode: {"q": with_gold_at(rank)} for mode, rank in ranks.items()}
