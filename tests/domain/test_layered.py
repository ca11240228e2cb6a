"""A map that shares what it can is a plain dict to whoever reads it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memstrata.domain.layered import Layered

changes = st.lists(st.dictionaries(st.integers(0, 300), st.integers(), max_size=40), max_size=30)


@given(changes)
def test_it_reads_like_a_dict_that_was_updated(steps: list[dict[int, int]]) -> None:
    plain: dict[int, int] = {}
    layered: Layered[int, int] = Layered()
    for step in steps:
        plain.update(step)
        layered = layered.changed(step)

        assert list(layered.items()) == list(plain.items()), "the same keys in the same order"
        assert len(layered) == len(plain)
        assert all(layered.get(key, -1) == plain.get(key, -1) for key in range(-1, 301))


@given(changes)
def test_what_it_came_from_stays_as_it_was(steps: list[dict[int, int]]) -> None:
    states: list[Layered[int, int]] = [Layered({1: 1, 2: 2})]
    told = [dict(states[0])]
    for step in steps:
        states.append(states[-1].changed(step))
        told.append({**told[-1], **step})

    assert [dict(state) for state in states] == told


def test_a_key_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        Layered({"a": 1}).changed({"b": 2})["c"]
