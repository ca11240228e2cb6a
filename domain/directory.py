"""Where memories are found by what they come to: kept up as they change, built when first asked for."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from .layered import Layered
from .memory import Memory
from .slot import Registry

_BEHIND = 512
"""Changes that a table puts off until it is asked for, or there are so many."""


@dataclass(frozen=True, eq=False)
class Index:
    """One way to find memories: by the keys that a memory comes to, which depend on nothing else.

    Make it once; a directory tells one from another by identity.
    """

    keys_of: Callable[[Memory, Registry], Iterable[Hashable]]


@dataclass(frozen=True, slots=True)
class _Table:
    """What one index finds; `behind` are memories that have changed since."""

    ids: Layered[Hashable, tuple[str, ...]] = field(default_factory=Layered)
    """By key, the memories that come to it, in the order in which they were opened."""
    keys: Layered[str, tuple[Hashable, ...]] = field(default_factory=Layered)
    behind: tuple[str, ...] = ()


@dataclass(frozen=True)
class Directory:
    """An owner's memories by the keys of any index. Immutable but for tables that catch up when asked."""

    registry: Registry
    memories: Layered[str, Memory] = field(default_factory=Layered)
    _opened: Layered[str, int] = field(default_factory=Layered, compare=False)
    """By memory, how many were opened before it."""
    _tables: dict[Index, _Table] = field(default_factory=dict, compare=False)

    def changed(self, memories: Mapping[str, Memory]) -> Directory:
        """The directory with these memories as they are now; new ones are opened in this order."""
        if not memories:
            return self
        new = [memory_id for memory_id in memories if memory_id not in self.memories]
        opened = self._opened.changed(dict(zip(new, count(len(self.memories)), strict=False)))
        tables = {i: _Table(t.ids, t.keys, (*t.behind, *memories)) for i, t in self._tables.items()}
        after = Directory(self.registry, self.memories.changed(memories), opened, tables)
        for index, table in tables.items():
            if len(table.behind) > _BEHIND:
                after._table(index)
        return after

    def indexed_like(self, other: Directory) -> Directory:
        """This directory, with the tables of another one over memories that say the same."""
        return replace(self, _opened=other._opened, _tables=dict(other._tables))

    def find(self, index: Index, *keys: Hashable) -> list[Memory]:
        """The memories that come to any of the keys, in the order in which they were opened."""
        table = self._table(index)
        found = [ids for key in keys if (ids := table.ids.get(key))]
        if not found:
            return []
        ids = found[0]
        if len(found) > 1:
            ids = tuple(sorted({one for some in found for one in some}, key=self._opened.__getitem__))
        return [self.memories[memory_id] for memory_id in ids]

    def _table(self, index: Index) -> _Table:
        """The index's table, up to date."""
        table = self._tables.get(index)
        if table is None:
            table = _Table(behind=tuple(self.memories))
        if table.behind:
            table = self._tables[index] = self._caught_up(index, table)
        return table

    def _caught_up(self, index: Index, table: _Table) -> _Table:
        ids: dict[Hashable, list[str]] = {}
        keys: dict[str, tuple[Hashable, ...]] = {}
        order = self._opened.__getitem__
        for memory_id in dict.fromkeys(table.behind):
            before = table.keys.get(memory_id) or ()
            now = tuple(dict.fromkeys(index.keys_of(self.memories[memory_id], self.registry)))
            if now == before:
                continue
            keys[memory_id] = now
            for key in {*before, *now}:
                if key not in ids:
                    ids[key] = list(table.ids.get(key) or ())
                if key not in now:
                    ids[key].remove(memory_id)
                elif key not in before:
                    insort(ids[key], memory_id, key=order)
        return _Table(
            table.ids.changed({key: tuple(found) for key, found in ids.items()}), table.keys.changed(keys)
        )
