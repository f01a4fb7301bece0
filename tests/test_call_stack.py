"""`with_large_stack` gives deep calls enough stack, and otherwise changes nothing about a call."""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor

import pytest

from base.call_stack import with_large_stack


def test_arguments_results_and_errors_pass_through():
    def divide(number, *, by):
        """Divide."""
        return number / by

    wrapped = with_large_stack(divide)

    assert wrapped(6, by=3) == 2
    assert wrapped.__doc__ == "Divide."
    with pytest.raises(ZeroDivisionError):
        wrapped(1, by=0)


def test_calls_at_any_depth_map_no_memory():
    def leaf(number):
        return number

    def deep(levels):
        if levels:
            return deep(levels - 1)
        for number in range(100):
            leaf(number)
        return None

    def faults():
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
        # Among so many depths, one is at the end of a chunk, wherever the chunk begins.
        for levels in range(200):
            deep(levels)
        return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before

    # In their own thread, because this test itself already runs inside `with_large_stack`.
    with ThreadPoolExecutor(1) as thread:
        without = thread.submit(faults).result()
        with_room = thread.submit(with_large_stack(faults)).result()

    # The few faults come from touching the larger stack for the first time.
    assert with_room < 50 < without
