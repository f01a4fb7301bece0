"""Runs made of an order of documents."""

from __future__ import annotations


def ranked(order):
    """Scores that rank documents in this order."""
    return {document: float(len(order) - place) for place, document in enumerate(order)}
