"""Rows of what is stored, whose fields and statements are read when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ....domain.events import Created, Proposed, Updated
from ....domain.owner import Owner
from ....domain.statement import Statement
from ....projections.rows import MemoryRow, PeriodRow
from ..store import SqlEventStore
from .shapes import Shape
from .tables import LIVE
from .writer import memory_shape, period_shape

R = TypeVar("R")

MEMORY: Shape[MemoryRow] = memory_shape(LIVE)
PERIOD: Shape[PeriodRow] = period_shape(LIVE)
BESIDE = len(MEMORY.columns)
"""Where the columns of a period begin that are selected behind those of its memory."""

_MOST_AHEAD = 256
"""How many statements are read at once for somebody who goes through a list."""


def _reading(cls: type[R], shape: Shape[R], first: int) -> type[R]:
    """A class of rows that read their fields from what was selected, when they are asked for.

    The columns of the shape begin at the place `first`.
    """

    def field(place: int, name: str) -> property:
        decode = shape.decoders.get(name)
        if decode is None:
            return property(lambda row: row._found[place])
        return property(lambda row: decode(row._found[place]))

    fields = {c.name: field(place, c.name) for place, c in enumerate(shape.columns, start=first)}
    return type(f"Stored{cls.__name__}", (cls,), fields)


class _StatedRow(MemoryRow):
    """A memory whose statement is read from its event when it is asked for."""

    _statements: Statements

    @property
    def statement(self) -> Statement | None:
        return None if self.said_pos is None else self._statements.at(self.said_pos)


_StoredMemory = _reading(_StatedRow, MEMORY, 0)
_StoredPeriod = _reading(PeriodRow, PERIOD, BESIDE)
_new, _put = object.__new__, object.__setattr__


def stored_period(found: Sequence[Any]) -> PeriodRow:
    """The row of a period of which the columns of `PERIOD` were selected behind those of `MEMORY`."""
    row = _new(_StoredPeriod)
    _put(row, "_found", found)
    return row


class Statements:
    """Statements of one owner's events, read when they are asked for: events never change.

    `positions` are those that may be asked for, in the order in which it is likely.
    """

    def __init__(self, store: SqlEventStore, owner: Owner, positions: Sequence[int]) -> None:
        self._store, self._owner, self._positions = store, owner, positions
        self._places: Mapping[int, int] | None = None
        self._read: dict[int, Statement] = {}
        self._ahead, self._next = 1, 0

    def row(self, found: Sequence[Any]) -> MemoryRow:
        """The row of a memory of which the columns of `MEMORY` were selected, and more behind them."""
        row = _new(_StoredMemory)
        _put(row, "_found", found)
        _put(row, "_statements", self)
        return row

    def at(self, position: int) -> Statement:
        """The statement of the event at a position that has one."""
        if position not in self._read:
            if self._places is None:
                self._places = {known: place for place, known in enumerate(self._positions)}
            place = self._places.get(position, -1)
            # Whoever goes through the list is read ahead for; whoever picks from it is not.
            self._ahead = min(2 * self._ahead, _MOST_AHEAD) if place == self._next else 1
            self._next = place + self._ahead
            chosen = self._positions[place : self._next] if place >= 0 else [position]
            self._read |= statements_at(self._store, self._owner, chosen)
        return self._read[position]


def statements_at(store: SqlEventStore, owner: Owner, positions: Sequence[int]) -> dict[int, Statement]:
    """The statements of the owner's events at these positions; those that have none are left out."""
    return {
        position: entry.event.statement
        for position, entry in store.read_at(owner, positions).items()
        if isinstance(entry.event, Created | Updated | Proposed) and entry.event.statement is not None
    }
