"""Everything of one owner that decisions are made on: the memories and the ledger.

The owner is the consistency boundary: a decision read this state at `position`, and the append is
refused when the owner has moved on since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from .events import (
    BatchClosed,
    BatchOpened,
    Created,
    Endorsed,
    Erased,
    Expired,
    ProcessChanged,
    Proposed,
    RolledBack,
    Superseded,
    TaskChanged,
    Updated,
)
from .ledger import Ledger
from .memory import Memory
from .slot import Registry, Slot, slot_of
from .statement import Statement
from .stream import RecordedEvent

STATE_TOPICS: tuple[str, ...] = tuple(
    cls.TOPIC
    for cls in (
        Proposed,
        Created,
        Updated,
        Superseded,
        Expired,
        RolledBack,
        Endorsed,
        Erased,
        TaskChanged,
        ProcessChanged,
        BatchOpened,
        BatchClosed,
    )
)
"""Topics to read for folding an owner's state; `Judged` is not among them."""


@dataclass(frozen=True)
class OwnerState:
    """One owner's memories and ledger at a position of the owner's.

    `turns` are the streams that turned out to be turns: they hold proposals, but no memory.
    """

    registry: Registry
    ledger: Ledger
    position: int = 0
    memories: dict[str, Memory] = field(default_factory=dict)
    _keys: dict[str, tuple[Memory, str | None]] = field(default_factory=dict, repr=False, compare=False)
    """Slot keys that were worked out for these very memories; handed on, since few of them change."""

    def evolve(self, events: Iterable[RecordedEvent]) -> OwnerState:
        """The state after further events, which are given in their order.

        Events of turns are passed over: a stream is a memory once it holds an event that only a
        memory can hold, or a proposal that targets the stream itself.
        """
        memories, ledger, position = dict(self.memories), self.ledger, self.position
        grouped: dict[str, list[RecordedEvent]] = {}
        for entry in events:
            position = max(position, entry.position)
            if entry.stream_id == ledger.ledger_id:
                ledger = ledger.evolve((entry,))
            elif entry.stream_id in memories or entry.stream_id in grouped or _opens_memory(entry):
                grouped.setdefault(entry.stream_id, []).append(entry)
        for stream_id, entries in grouped.items():
            memories[stream_id] = (memories.get(stream_id) or Memory(stream_id)).evolve(entries)
        return OwnerState(self.registry, ledger, position, memories, self._keys)

    def as_of(self, position: int) -> OwnerState:
        """The state as it was known once the position was recorded."""
        if position >= self.position:
            return self
        known = {key: memory.as_of(position) for key, memory in self.memories.items()}
        kept = {key: memory for key, memory in known.items() if memory.entries}
        return OwnerState(self.registry, self.ledger.as_of(position), position, kept)

    # --- finding ---------------------------------------------------------------------------------

    def active(self) -> Iterator[Memory]:
        """The memories with a version that stands, oldest first."""
        return (memory for memory in self.memories.values() if memory.current is not None)

    def held(self) -> Iterator[Memory]:
        """The memories that are proposed and not active, oldest first."""
        return (memory for memory in self.memories.values() if memory.status == "held")

    @cached_property
    def standing(self) -> tuple[tuple[str, Statement], ...]:
        """Id and present statement of each active memory, oldest first; dated ends are not looked at."""
        return tuple(
            (memory_id, version.statement)
            for memory_id, memory in self.memories.items()
            if (version := memory.current) is not None
        )

    @cached_property
    def by_slot(self) -> dict[str, str]:
        """The memory that occupies each slot, by the slot's key.

        Where several fell into one slot (the registry changed), an active one wins over others,
        then the older one.
        """
        occupied: dict[str, str] = {}
        for memory_id, memory in self.memories.items():
            key = self._slot_key(memory)
            if key is None:
                continue
            rival = occupied.get(key)
            if rival is None or (self.memories[rival].current is None and memory.current is not None):
                occupied[key] = memory_id
        return occupied

    def _slot_key(self, memory: Memory) -> str | None:
        known = self._keys.get(memory.memory_id)
        if known is not None and known[0] is memory:
            return known[1]
        statement = statement_of(memory)
        key = None if statement is None else self.slot(statement).key
        self._keys[memory.memory_id] = (memory, key)
        return key

    def slot(self, statement: Statement) -> Slot:
        """The slot that a statement belongs to."""
        return slot_of(
            self.registry,
            statement.subject,
            statement.attribute,
            statement.value if statement.value is not None else statement.content,
            statement.scope,
        )

    def in_slot(self, slot: Slot) -> Memory | None:
        """The memory that occupies the slot, active or not; None when it is free."""
        memory_id = self.by_slot.get(slot.key)
        return None if memory_id is None else self.memories[memory_id]


def statement_of(memory: Memory) -> Statement | None:
    """What the memory is about: its latest statement, else what its last hint would say.

    None for a memory that was erased, and for one that never said anything: they occupy no slot.
    """
    return None if memory.said is None else memory.said[1]


def _opens_memory(entry: RecordedEvent) -> bool:
    event = entry.event
    if isinstance(event, Proposed):
        return event.target == entry.stream_id
    return isinstance(event, Created | Updated | Superseded | Expired | Endorsed | Erased)
