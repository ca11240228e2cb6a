"""What is found through tables is what a look at every memory would find."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from memstrata.domain.directory import Directory, Index
from memstrata.domain.memory import Memory
from memstrata.domain.slot import Registry

from .deciding import POLICY, Story

# A memory's keys are the digits of its id in a history that is told by ids alone.
Steps = list[list[tuple[int, str]]]
steps = st.lists(st.lists(st.tuples(st.integers(0, 20), st.text("abc", max_size=3)), max_size=6), max_size=25)


class Said(Memory):
    """A memory that says which keys it comes to."""

    keys = ""


def said(memory_id: str, keys: str) -> Memory:
    memory = Said(memory_id)
    vars(memory)["keys"] = keys
    return memory


def keys_of(memory: Memory, _: Registry) -> Iterator[str]:
    assert isinstance(memory, Said)
    yield from memory.keys


@given(steps, st.sets(st.integers(0, 24)))
def test_a_table_finds_what_a_scan_finds_in_the_order_of_opening(told: Steps, asked_after: set[int]) -> None:
    index, late = Index(keys_of), Index(keys_of)
    directory = Directory(POLICY.registry)
    for number, step in enumerate(told):
        directory = directory.changed({f"m{one}": said(f"m{one}", keys) for one, keys in step})
        if number in asked_after:  # a table that is asked seldom catches up with more at once
            _compare(directory, index)
    _compare(directory, index)
    _compare(directory, late)


def _compare(directory: Directory, index: Index) -> None:
    for asked in ("a", "b", "c", "ab", "abc", "d"):
        scanned = [m for m in directory.memories.values() if set(keys_of(m, POLICY.registry)) & set(asked)]
        assert directory.find(index, *asked) == scanned


def test_a_directory_of_before_finds_what_was_so_before() -> None:
    index = Index(keys_of)
    before = Directory(POLICY.registry).changed({"m1": said("m1", "a")})
    assert [m.memory_id for m in before.find(index, "a")] == ["m1"]

    after = before.changed({"m1": said("m1", "b"), "m2": said("m2", "a")})

    assert [m.memory_id for m in after.find(index, "a")] == ["m2"]
    assert [m.memory_id for m in after.find(index, "b")] == ["m1"]
    assert [m.memory_id for m in before.find(index, "a")] == ["m1"]


def test_many_changes_between_two_questions_are_all_seen() -> None:
    index = Index(keys_of)
    directory = Directory(POLICY.registry).changed({"m0": said("m0", "a")})
    assert directory.find(index, "a")
    for number in range(1, 1_200):
        directory = directory.changed({f"m{number % 7}": said(f"m{number % 7}", "ab"[number % 2])})

    _compare(directory, index)


def test_the_memories_changed_last_come_first() -> None:
    story = Story()
    ids = [story.given(f"fact {number}") for number in range(300)]
    assert [m.memory_id for m in story.state.latest()] == ids[::-1]
