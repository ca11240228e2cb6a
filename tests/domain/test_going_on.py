"""A memory that goes on from what was folded of it before is the memory that is folded anew."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memstrata.domain.draft import Header
from memstrata.domain.events import Created, Event, Expired, RolledBack, Updated
from memstrata.domain.expiry import End
from memstrata.domain.memory import Memory
from memstrata.domain.stream import RecordedEvent

from .deciding import START, Story

MEMORY = "a" * 32
KINDS = ("replace", "correct", "refine", "merge", "extend", "reweigh", "rescope", "late")

moments = st.integers(0, 9)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("version"), st.sampled_from(KINDS), moments, st.integers(0, 6)),
        st.tuples(st.sampled_from(["ended", "retracted"]), moments),
        st.tuples(st.just("undo"), st.sets(st.integers(1, 12), min_size=1, max_size=3)),
    ),
    max_size=14,
)


def event(step: tuple[Any, ...], number: int) -> Event:
    said_at = START + timedelta(hours=number)
    fields = Header("user", MEMORY, "policy", said_at).fields()
    match step:
        case ("version", kind, day, of):
            story = Story()
            given = story.memory(story.given(f"fact {number}")).current
            assert given is not None
            start = START + timedelta(days=day)
            end = End(kind="date", at=start + timedelta(days=2)) if day % 3 == 0 else given.statement.end
            said = given.statement.model_copy(update={"valid_from": start, "end": end})
            if number == 1:
                return Created(**fields, statement=said)
            return Updated(**fields, kind=kind, of=of or None, statement=said)
        case ("undo", names):
            earlier = tuple(sorted(name for name in names if name < number))
            return RolledBack(**fields, names=earlier or (1,), batch_id="b", reason="test")
        case (how, day):
            return Expired(**fields, kind=how, at=START + timedelta(days=day), reason="test")
    raise AssertionError(step)


def told(memory: Memory) -> tuple[object, ...]:
    return memory.versions, memory.periods, memory.current, memory.closing, memory.status, memory.latest


@given(steps, st.integers(1, 4))
def test_event_by_event_or_at_once_it_comes_to_the_same(
    history: list[tuple[Any, ...]], at_a_time: int
) -> None:
    first = ("version", "replace", 1, 0)
    entries = [
        RecordedEvent(number, MEMORY, number, START, event(step, number))
        for number, step in enumerate([first, *history], start=1)
    ]
    seen = []
    memory = Memory(MEMORY)
    for start in range(0, len(entries), at_a_time):
        memory = memory.evolve(entries[start : start + at_a_time])
        seen.append((memory, told(memory)))

    for memory, was in seen:
        assert told(Memory(MEMORY, memory.entries)) == was == told(memory), "nor does it change afterwards"
        number = len(memory.entries) + 1
        otherwise = event(("version", "replace", 9, 0), number)
        branch = memory.evolve([RecordedEvent(number, MEMORY, number, START, otherwise)])
        assert told(Memory(MEMORY, branch.entries)) == told(branch), "nor is it tied to one future"
