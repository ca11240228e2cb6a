"""Reads the projections: the `Views` of one owner on SQL."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, Select, func, select

from ....domain.memory import Memory, Status
from ....domain.owner import Owner
from ....domain.scope import ScopeKind
from ....domain.statement import Statement
from ....domain.values import EventRef
from ....projections.memories import Shaping, memory_row
from ....projections.ports import Counts, DecisionQuery, Found, Listed
from ....projections.rows import BatchRow, DecisionRow, MemoryRow, PeriodRow, TurnRow, VersionRow
from ....projections.versions import version_rows
from ..keyed import to_microseconds
from ..store import SqlEventStore
from .checkpoints import stale
from .shapes import Shape
from .tables import OPEN, view_tables

_tables = view_tables(1)
_memory, _version, _period = _tables.memory, _tables.version, _tables.period
_decision, _turn, _batch = _tables.decision, _tables.turn, _tables.batch
_MEMORY, _VERSION = Shape(_memory, MemoryRow), Shape(_version, VersionRow)
_PERIOD, _DECISION = Shape(_period, PeriodRow), Shape(_decision, DecisionRow)
_TURN, _BATCH = Shape(_turn, TurnRow), Shape(_batch, BatchRow)

_PREFIX = re.compile(r"[0-9a-f]{1,32}")


class SqlViews:
    """`Views` over the tables that live beside the log of `store`."""

    def __init__(self, store: SqlEventStore, shaping: Shaping) -> None:
        self._store, self._shaping = store, shaping

    def stale(self) -> list[str]:
        """Projections that must be rebuilt before they answer; empty when all are in step."""
        with self._store.reading() as connection:
            return stale(connection)

    # --- memories --------------------------------------------------------------------------------

    def memories(
        self,
        owner: Owner,
        *,
        valid_at: datetime | None = None,
        status: Status | Collection[Status] | None = None,
        as_of: int | None = None,
        scope: ScopeKind | None = None,
        limit: int | None = None,
    ) -> Sequence[Listed]:
        """Memories, oldest first. See the port."""
        wanted = _statuses(status)
        if valid_at is not None:
            return self._holding(owner, valid_at, wanted, as_of, scope, limit)
        if as_of is not None:
            return self._known(owner, wanted, as_of, scope)[:limit]
        query = select(_memory).where(self._of(owner, _memory))
        query = query if wanted is None else query.where(_memory.c.status.in_(wanted))
        query = query if scope is None else query.where(_memory.c.scope_kind == scope)
        rows = self._rows(query.order_by(_memory.c.created_pos, _memory.c.memory_id).limit(limit))
        return [Listed(row, row.statement) for row in map(_MEMORY.decode, rows)]

    def memory(self, owner: Owner, memory_id: str, *, as_of: int | None = None) -> MemoryRow | None:
        """One memory by its full id. See the port."""
        query = select(_memory).where(self._of(owner, _memory), _memory.c.memory_id == memory_id)
        rows = self._rows(query)
        row = _MEMORY.decode(rows[0]) if rows else None
        # An erased memory has no past to be shown either. One without a row may have had one: what
        # made it a memory was undone since.
        if as_of is None or (row is not None and row.status == "erased"):
            return row
        return self._folded(owner, [memory_id], as_of).get(memory_id)

    def versions(self, owner: Owner, memory_id: str, *, as_of: int | None = None) -> Sequence[VersionRow]:
        """Every version by number. See the port."""
        query = select(_version).where(self._of(owner, _version), _version.c.memory_id == memory_id)
        rows = [_VERSION.decode(row) for row in self._rows(query.order_by(_version.c.number))]
        if as_of is None or any(row.statement is None for row in rows):
            return [row for row in rows if as_of is None or row.position <= as_of]
        memory = Memory(memory_id, tuple(self._store.read_stream(owner, memory_id))).as_of(as_of)
        return version_rows(memory)

    def periods(self, owner: Owner, memory_id: str, *, as_of: int | None = None) -> Sequence[PeriodRow]:
        """What was known to hold when. See the port."""
        query = select(_period).where(self._of(owner, _period), _period.c.memory_id == memory_id)
        query = query.where(_known_at(as_of)).order_by(_period.c.valid_from)
        return [replace(_PERIOD.decode(row), known_to=None) for row in self._rows(query)]

    def known_periods(self, owner: Owner, memory_id: str) -> Sequence[PeriodRow]:
        """All that ever was known to hold. See the port."""
        query = select(_period).where(self._of(owner, _period), _period.c.memory_id == memory_id)
        rows = self._rows(query.order_by(_period.c.known_from, _period.c.valid_from))
        return [_PERIOD.decode(row) for row in rows]

    def _holding(
        self,
        owner: Owner,
        valid_at: datetime,
        wanted: Collection[Status] | None,
        as_of: int | None,
        scope: ScopeKind | None,
        limit: int | None,
    ) -> list[Listed]:
        moment = to_microseconds(valid_at)
        query = (
            _HOLDING.where(self._of(owner, _period), _known_at(as_of))
            .where(_period.c.valid_from <= moment, _period.c.valid_to > moment)
            .order_by(_memory.c.created_pos, _memory.c.memory_id)
            .limit(limit)
        )
        query = query if wanted is None else query.where(_period.c.status.in_(wanted))
        query = query if scope is None else query.where(_period.c.scope_kind == scope)
        rows = self._rows(query)
        ids = [row["memory_id"] for row in rows]
        then = {} if as_of is None else self._folded(owner, ids, as_of)
        listed = []
        for row in rows:
            memory = _MEMORY.decode(row) if as_of is None else then[row["memory_id"]]
            statement = memory.statement
            if memory.chain_version != row["period_number"] or statement is None:
                statement = Statement.model_validate_json(row["said"])
            period = replace(_PERIOD.decode(row, "period_"), known_to=None)
            listed.append(Listed(memory, statement, period))
        return listed

    def _known(
        self, owner: Owner, wanted: Collection[Status] | None, as_of: int, scope: ScopeKind | None
    ) -> list[Listed]:
        query = select(_memory.c.memory_id, _memory.c.created_pos, _memory.c.status)
        found = self._rows(query.where(self._of(owner, _memory), _memory.c.created_pos <= as_of))
        # What was a memory then and is none now has left its proposals.
        opened = select(_decision.c.memory_id, func.min(_decision.c.position).label("created_pos"))
        opened = opened.where(self._of(owner, _decision), _decision.c.position <= as_of)
        opened = opened.where(_decision.c.memory_id.is_not(None)).group_by(_decision.c.memory_id)
        first = {row["memory_id"]: row["created_pos"] for row in self._rows(opened)}
        first |= {row["memory_id"]: row["created_pos"] for row in found}
        erased = {row["memory_id"] for row in found if row["status"] == "erased"}
        ids = [
            memory_id
            for memory_id in sorted(first, key=lambda one: (first[one], one))
            if memory_id not in erased
        ]
        rows = self._folded(owner, ids, as_of)
        return [
            Listed(rows[memory_id], rows[memory_id].statement)
            for memory_id in ids
            if memory_id in rows
            and (wanted is None or rows[memory_id].status in wanted)
            and (scope is None or rows[memory_id].scope_kind == scope)
        ]

    def _folded(self, owner: Owner, memory_ids: Sequence[str], as_of: int) -> dict[str, MemoryRow]:
        """The rows as they were at a position, from the events themselves."""
        rows = {}
        for memory_id, entries in self._store.read_streams(owner, memory_ids).items():
            row = memory_row(Memory(memory_id, tuple(entries)).as_of(as_of), self._shaping)
            if row is not None:
                rows[memory_id] = row
        return rows

    # --- decisions, turns, batches ---------------------------------------------------------------

    def decisions(self, owner: Owner, query: DecisionQuery) -> Sequence[DecisionRow]:
        """The decisions that fit, ascending by position. See the port."""
        kept = _decision.c
        found = select(_decision).where(self._of(owner, _decision))
        for name in ("session", "outcome", "kind", "turn_id", "memory_id", "correlation_id", "in_force"):
            value = getattr(query, name)
            found = found if value is None else found.where(kept[name] == value)
        if query.since is not None:
            found = found.where(kept.said_at >= to_microseconds(query.since))
        if query.until is not None:
            found = found.where(kept.said_at < to_microseconds(query.until))
        rows = self._rows(found.order_by(kept.position.desc()).limit(query.limit))
        return [_DECISION.decode(row) for row in reversed(rows)]

    def decision(self, owner: Owner, ref: EventRef) -> DecisionRow | None:
        """The judgement or proposal that an event recorded. See the port."""
        query = select(_decision).where(self._of(owner, _decision))
        query = query.where(_decision.c.stream_id == ref.stream, _decision.c.stream_version == ref.version)
        rows = self._rows(query)
        return _DECISION.decode(rows[0]) if rows else None

    def turn(self, owner: Owner, turn_id: str) -> TurnRow | None:
        """One turn by its full id. See the port."""
        rows = self._rows(select(_turn).where(self._of(owner, _turn), _turn.c.turn_id == turn_id))
        return _TURN.decode(rows[0]) if rows else None

    def turns(
        self, owner: Owner, *, session: str | None = None, limit: int | None = None
    ) -> Sequence[TurnRow]:
        """Turns, ascending by position. See the port."""
        query = select(_turn).where(self._of(owner, _turn)).order_by(_turn.c.position.desc()).limit(limit)
        query = query if session is None else query.where(_turn.c.session == session)
        return [_TURN.decode(row) for row in reversed(self._rows(query))]

    def batches(self, owner: Owner) -> Sequence[BatchRow]:
        """Batches in the order in which they were opened. See the port."""
        query = select(_batch).where(self._of(owner, _batch)).order_by(_batch.c.position)
        return [_BATCH.decode(row) for row in self._rows(query)]

    # --- ids and counts --------------------------------------------------------------------------

    def resolve(self, owner: Owner, prefix: str) -> Sequence[Found]:
        """Everything whose id begins with these digits. See the port."""
        if not _PREFIX.fullmatch(prefix):
            return []
        found: list[Found] = []
        for kind, column in (
            ("memory", _memory.c.memory_id),
            ("turn", _turn.c.turn_id),
            ("batch", _batch.c.batch_id),
        ):
            # "g" follows every hex digit, so that this is a stretch of the key's index.
            query = select(column.label("id")).where(
                self._of(owner, column.table), column >= prefix, column < prefix + "g"
            )
            found += [Found(kind, row["id"]) for row in self._rows(query.order_by(column))]  # type: ignore[arg-type]
        return found

    def counts(self, owner: Owner) -> Counts:
        """How much there is. See the port."""
        by_status = (
            select(_memory.c.status, func.count().label("n"))
            .where(self._of(owner, _memory))
            .group_by(_memory.c.status)
        )
        by_outcome = (
            select(_decision.c.outcome, func.count().label("n"))
            .where(self._of(owner, _decision), _decision.c.outcome.is_not(None))
            .where(_decision.c.in_force)
            .group_by(_decision.c.outcome)
        )
        turns = select(func.count().label("n")).where(self._of(owner, _turn))
        return Counts(
            memories={row["status"]: row["n"] for row in self._rows(by_status)},
            decisions={row["outcome"]: row["n"] for row in self._rows(by_outcome)},
            turns=self._rows(turns)[0]["n"],
        )

    # --- inside ----------------------------------------------------------------------------------

    def _of(self, owner: Owner, table: Any) -> Any:
        return table.c.owner_ref == self._store.owner_ref(owner)

    def _rows(self, query: Select[Any]) -> Sequence[RowMapping]:
        with self._store.reading() as connection:
            return connection.execute(query).mappings().all()


_HOLDING: Select[Any] = (
    select(
        _memory,
        *(column.label(f"period_{column.name}") for column in _period.columns),
        _version.c.statement.label("said"),
    )
    .join_from(
        _period,
        _memory,
        (_period.c.owner_ref == _memory.c.owner_ref) & (_period.c.memory_id == _memory.c.memory_id),
    )
    .join(
        _version,
        (_period.c.owner_ref == _version.c.owner_ref)
        & (_period.c.memory_id == _version.c.memory_id)
        & (_period.c.number == _version.c.number),
    )
)


def _known_at(as_of: int | None) -> Any:
    """Known once the position was recorded; None: known now."""
    if as_of is None:
        return _period.c.known_to == OPEN
    return (_period.c.known_from <= as_of) & (_period.c.known_to > as_of)


def _statuses(status: Status | Collection[Status] | None) -> Collection[Status] | None:
    if isinstance(status, str):
        return [status]
    return status
