"""Everything of one owner that decisions are made on: the memories and the ledger.

The owner is the consistency boundary: a decision read this state at `position`, and the append is
refused when the owner has moved on since.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from .directory import Directory, Index
from .events import EVENT_TYPES, Judged
from .layered import Layered
from .ledger import Ledger
from .memory import Memory
from .scope import Scope
from .slot import Registry, Slot, fold_value, slot_of
from .statement import Statement
from .stream import RecordedEvent, kind_of

STATE_TOPICS: tuple[str, ...] = tuple(topic for topic, cls in EVENT_TYPES.items() if cls is not Judged)
"""Topics to read for folding an owner's state; what was judged of a turn says nothing of memories."""

_LATEST = 256
"""Changes of memories that are remembered in their order."""


@dataclass(frozen=True)
class OwnerState:
    """One owner's memories and ledger at a position of the owner's.

    Immutable. The state after an event shares what did not change with the one before, so that an
    event costs the same for an owner with many memories.
    """

    registry: Registry
    ledger: Ledger
    position: int = 0
    _directory: Directory | None = field(default=None, repr=False)
    """The memories, and what was worked out to find them by; None while there are none."""
    _changes: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """Memories in the order of their latest events, the last of all at the end, some of them twice."""

    def evolve(self, events: Iterable[RecordedEvent]) -> OwnerState:
        """The state after further events, which are given in their order.

        Events of turns are passed over.
        """
        memories, ledger_id, position = self.memories, self.ledger.ledger_id, self.position
        of_ledger: list[RecordedEvent] = []
        grouped: dict[str, list[RecordedEvent]] = {}
        changes: list[str] = []
        for entry in events:
            position = max(position, entry.position)
            stream_id = entry.stream_id
            if stream_id == ledger_id:
                of_ledger.append(entry)
            elif stream_id in grouped or stream_id in memories or kind_of(entry) == "memory":
                grouped.setdefault(stream_id, []).append(entry)
                changes.append(stream_id)
        changed = {
            stream_id: (memories.get(stream_id) or Memory(stream_id)).evolve(entries)
            for stream_id, entries in grouped.items()
        }
        ledger = self.ledger.evolve(of_ledger) if of_ledger else self.ledger
        return self._after(position, ledger, changed, changes)

    @cached_property
    def memories(self) -> Layered[str, Memory]:
        """Every memory by its id, in the order in which they were opened."""
        return self._found_by.memories

    def restated(self, ledger: Ledger, memories: Mapping[str, Memory]) -> OwnerState:
        """The state with another ledger, and with these memories instead of what they were."""
        return self._after(self.position, ledger, memories, tuple(memories))

    def _after(
        self, position: int, ledger: Ledger, changed: Mapping[str, Memory], changes: Sequence[str]
    ) -> OwnerState:
        if not changed:
            return OwnerState(self.registry, ledger, position, self._directory, self._changes)
        directory = self._found_by.changed(changed)
        latest = (*self._changes, *changes)[-_LATEST:]
        return OwnerState(self.registry, ledger, position, directory, latest)

    def found_like(self, other: OwnerState) -> OwnerState:
        """This state, with what was worked out for another one to find its memories by.

        The other's memories say the same as these; they may differ in positions and times.
        """
        return replace(self, _directory=self._found_by.indexed_like(other._found_by))

    def as_of(self, position: int) -> OwnerState:
        """The state as it was known once the position was recorded."""
        if position >= self.position:
            return self
        known = {key: memory.as_of(position) for key, memory in self.memories.items()}
        kept = {key: memory for key, memory in known.items() if memory.entries}
        directory = Directory(self.registry).changed(kept)
        return OwnerState(self.registry, self.ledger.as_of(position), position, directory)

    # --- finding ---------------------------------------------------------------------------------

    @property
    def _found_by(self) -> Directory:
        return self._directory or Directory(self.registry)

    def find(self, index: Index, *keys: Hashable) -> list[Memory]:
        """The memories that come to any of an index's keys, oldest first."""
        return self._found_by.find(index, *keys)

    def about(self, subject: str, *attributes: str, only: bool = False) -> list[Memory]:
        """The active memories of a subject and of any of these attributes, oldest first.

        With `only` those whose statement is exclusive.
        """
        folded = fold_value(subject)
        keys = ((folded, attribute) for attribute in attributes)
        return self.find(_EXCLUSIVE if only else _ABOUT, *keys)

    def hinted(self, attribute: str, value: str) -> list[Memory]:
        """The memories that count a hint for a family of tasks, by what is counted, oldest first."""
        return self.find(_HINTED, (attribute, fold_value(value)))

    def active(self) -> Iterator[Memory]:
        """The memories with a version that stands, oldest first."""
        return (memory for memory in self.memories.values() if memory.current is not None)

    def latest(self) -> Iterator[Memory]:
        """The active memories by their last event, the latest first."""
        seen: set[str] = set()
        for memory_id in reversed(self._changes):
            memory = self.memories[memory_id]
            if memory_id not in seen and memory.current is not None:
                yield memory
            seen.add(memory_id)
        rest = [memory for memory in self.active() if memory.memory_id not in seen]
        yield from sorted(rest, key=lambda memory: -memory.entries[-1].position)

    def slot(self, statement: Statement, scope: Scope | None = None) -> Slot:
        """The slot that a statement belongs to, or would in another scope."""
        return slot_of(self.registry, statement, scope)

    def in_slot(self, slot: Slot) -> Memory | None:
        """The memory that occupies the slot, active or not; None when it is free.

        Where several fell into one slot (the registry changed), an active one wins over others,
        then the older one.
        """
        found = self.find(_IN_SLOT, slot.key)
        standing = (memory for memory in found if memory.current is not None)
        return next(standing, found[0] if found else None)

    def standing_in(self, slot: Slot) -> list[Memory]:
        """The active memories that occupy the slot, oldest first; one at the most where all is well."""
        return [memory for memory in self.find(_IN_SLOT, slot.key) if memory.current is not None]


def _slot_keys(memory: Memory, registry: Registry) -> Iterator[str]:
    if memory.said is not None:  # else it was erased or never said anything, and occupies no slot
        _, statement = memory.said
        yield slot_of(registry, statement).key


def _about_keys(memory: Memory, _: Registry) -> Iterator[tuple[str, str]]:
    if memory.current is not None:
        said = memory.current.statement
        yield fold_value(said.subject), said.attribute


def _exclusive_keys(memory: Memory, registry: Registry) -> Iterator[tuple[str, str]]:
    if memory.current is not None and memory.current.statement.exclusive:
        yield from _about_keys(memory, registry)


def _hinted_keys(memory: Memory, _: Registry) -> Iterator[tuple[str, str]]:
    said = memory.hints[-1][1].statement if memory.status == "held" else None
    if said is not None and said.scope.kind == "family":
        yield said.attribute, fold_value(said.value_or_content)


_IN_SLOT = Index(_slot_keys)
_ABOUT = Index(_about_keys)
_EXCLUSIVE = Index(_exclusive_keys)
_HINTED = Index(_hinted_keys)
