"""Reads judgements and proposals: found by their keys, read from their events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select

from ....domain.events import Proposed
from ....domain.many_objects import many_objects
from ....domain.memory import Memory
from ....domain.owner import Owner
from ....domain.values import EventRef
from ....projections.decisions import decision_row, turn_row
from ....projections.ports import DecisionQuery
from ....projections.rows import DecisionRow, TurnRow
from ....projections.versions import strikes
from ..keyed import to_microseconds
from ..store import SqlEventStore
from .tables import LIVE

_memory, _decision = LIVE.memory, LIVE.decision

_DECIDED = select(_decision.c.position, _decision.c.struck_by, _memory.c.status).join_from(
    _decision,
    _memory,
    (_decision.c.owner_ref == _memory.c.owner_ref) & (_decision.c.memory_id == _memory.c.memory_id),
    isouter=True,
)


class DecisionQueries:
    """What `Views` promises of decisions, over the tables that live beside the log of `store`."""

    def __init__(self, store: SqlEventStore) -> None:
        self._store = store

    def fitting(self, owner: Owner, query: DecisionQuery) -> list[DecisionRow]:
        """`Views.decisions`."""
        found = _restricted(_DECIDED.where(self._of(owner)), query).order_by(_decision.c.position.desc())
        rows = self._rows(found.limit(query.limit))
        with many_objects():
            entries = self._store.read_at(owner, [position for position, _, _ in rows])
        decided = []
        for position, struck_by, status in reversed(rows):
            entry = entries[position]
            of_memory = isinstance(entry.event, Proposed) and entry.event.target == entry.stream_id
            row = decision_row(entry, struck_by, erased=of_memory and status == "erased")
            assert row is not None
            decided.append(row)
        return decided

    def recorded_by(self, owner: Owner, ref: EventRef) -> DecisionRow | None:
        """`Views.decision`."""
        entries = self._store.read_stream(owner, ref.stream)
        if not 1 <= ref.version <= len(entries):
            return None
        erased = Memory(ref.stream, tuple(entries)).erased
        return decision_row(entries[ref.version - 1], strikes(entries).get(ref.version), erased=erased)

    def turns(self, owner: Owner, session: str | None, limit: int | None) -> list[TurnRow]:
        """`Views.turns`."""
        last = func.max(_decision.c.position)
        query = select(_decision.c.turn_id).where(self._of(owner), _decision.c.outcome.is_(None))
        query = query if session is None else query.where(_decision.c.session == session)
        with self._store.one_view():
            found = self._rows(query.group_by(_decision.c.turn_id).order_by(last.desc()).limit(limit))
            streams = self._store.read_streams(owner, [turn_id for (turn_id,) in found])
        rows = [turn_row(streams[turn_id]) for (turn_id,) in reversed(found)]
        return [row for row in rows if row is not None]

    def _of(self, owner: Owner) -> ColumnElement[bool]:
        return _decision.c.owner_ref == self._store.owner_ref(owner)

    def _rows(self, query: Select[Any]) -> Sequence[Any]:
        with self._store.reading() as connection:
            return connection.execute(query).all()


def _restricted(found: Select[Any], query: DecisionQuery) -> Select[Any]:
    kept = _decision.c
    for name in ("session", "outcome", "turn_id", "memory_id", "correlation_id"):
        value = getattr(query, name)
        found = found if value is None else found.where(kept[name] == value)
    if query.kind is not None:
        judged = kept.outcome.is_(None)
        found = found.where(judged if query.kind == "judged" else ~judged)
    if query.in_force is not None:
        stands = kept.struck_by.is_(None)
        found = found.where(stands if query.in_force else ~stands)
    if query.since is not None:
        found = found.where(kept.said_at >= to_microseconds(query.since))
    if query.until is not None:
        found = found.where(kept.said_at < to_microseconds(query.until))
    return found
