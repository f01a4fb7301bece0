"""A lower package asks and a higher one answers; without an answer the question raises."""

from __future__ import annotations

import pytest

from base.providers import NotRegistered, Provider


def test_a_question_without_an_answer_raises():
    question: Provider[[int], int] = Provider("how much is twice")

    assert not question.is_registered
    with pytest.raises(NotRegistered, match="how much is twice"):
        question(2)


def test_the_registered_function_answers():
    question: Provider[[int], int] = Provider("how much is twice")

    question.register(lambda one: 2 * one)

    assert question.is_registered
    assert question(2) == 4


def test_a_question_has_one_answer():
    question: Provider[[int], int] = Provider("how much is twice")
    question.register(abs)
    question.register(abs)

    with pytest.raises(RuntimeError, match="already has an answer"):
        question.register(lambda one: 2 * one)
