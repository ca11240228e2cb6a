"""Reads the projections: the `Views` of one owner on SQL."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from operator import itemgetter
from typing import Any

from sqlalchemy import Column, Dialect, Row, Select, bindparam, distinct, func, select, true

from ....domain.many_objects import many_objects
from ....domain.memory import Memory, Status
from ....domain.owner import Owner
from ....domain.scope import ScopeKind
from ....domain.statement import Statement
from ....domain.values import EventRef
from ....projections.decisions import turn_row
from ....projections.memories import Shaping, memory_row
from ....projections.ports import Counts, DecisionQuery, Found, Kind, Listed
from ....projections.rows import BatchRow, DecisionRow, HeldRow, MemoryRow, PeriodRow, TurnRow, VersionRow
from ....projections.versions import version_rows
from ..driver import Prepared, driver_of
from ..keyed import to_microseconds
from ..store import SqlEventStore
from .checkpoints import stale
from .decision_queries import DecisionQueries
from .held import HeldQuery
from .stored_rows import BESIDE, MEMORY, PERIOD, Statements, statements_at, stored_period
from .tables import LIVE, OPEN
from .writer import batch_shape

_memory, _period = LIVE.memory, LIVE.period
_decision, _batch = LIVE.decision, LIVE.batch
_BATCH = batch_shape(LIVE)

_AGE = itemgetter(MEMORY.place("created_pos"), MEMORY.place("memory_id"))

_STATUS = BESIDE + PERIOD.place("status")
_SAID = BESIDE + PERIOD.place("said_pos")
_SCOPE = BESIDE + PERIOD.place("scope_kind")

_FULL, _PREFIX = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{1,32}")


class SqlViews:
    """`Views` over the tables that live beside the log of `store`."""

    def __init__(self, store: SqlEventStore, shaping: Shaping) -> None:
        self._store, self._shaping = store, shaping
        self._holding_queries: tuple[Prepared, Prepared] | None = None
        self._prefix_queries: dict[Kind, Prepared] | None = None
        self._decisions = DecisionQueries(store)
        self._held = HeldQuery(store, self.said, lambda content: " ".join(shaping.tokens(content)))

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
        with many_objects():
            return self._memories(owner, valid_at, _statuses(status), as_of, scope, limit)

    def _memories(
        self,
        owner: Owner,
        valid_at: datetime | None,
        wanted: Collection[Status] | None,
        as_of: int | None,
        scope: ScopeKind | None,
        limit: int | None,
    ) -> Sequence[Listed]:
        if valid_at is not None:
            return self._holding(owner, valid_at, wanted, as_of, scope, limit)
        if as_of is not None:
            return self._known(owner, wanted, as_of, scope)[:limit]
        query = select(*MEMORY.columns).where(self._of(owner, _memory))
        query = query if wanted is None else query.where(_memory.c.status.in_(wanted))
        query = query if scope is None else query.where(_memory.c.scope_kind == scope)
        found = self._rows(query.order_by(_memory.c.created_pos, _memory.c.memory_id).limit(limit))
        return [Listed(row) for row in self._stored(owner, found)]

    def held(self, owner: Owner, valid_at: datetime) -> Sequence[HeldRow]:
        """What holds at a moment. See the port."""
        with many_objects():
            return self._held.rows(owner, valid_at)

    def said(self, owner: Owner, positions: Sequence[int]) -> dict[int, Statement]:
        """The statements of the owner's events at these positions. See the port."""
        return statements_at(self._store, owner, positions)

    def memory(self, owner: Owner, memory_id: str, *, as_of: int | None = None) -> MemoryRow | None:
        """One memory by its full id. See the port."""
        query = select(*MEMORY.columns).where(self._of(owner, _memory), _memory.c.memory_id == memory_id)
        row = next(iter(self._stored(owner, self._rows(query))), None)
        # An erased memory has no past to be shown either. One without a row may have had one: what
        # made it a memory was undone since.
        if as_of is None or (row is not None and row.status == "erased"):
            return row
        return self._folded(owner, [memory_id], as_of).get(memory_id)

    def versions(self, owner: Owner, memory_id: str, *, as_of: int | None = None) -> Sequence[VersionRow]:
        """Every version by number, from the memory's own events. See the port."""
        memory = Memory(memory_id, tuple(self._store.read_stream(owner, memory_id)))
        if as_of is None:
            return version_rows(memory)
        if memory.erased:
            return [row for row in version_rows(memory) if row.position <= as_of]
        return version_rows(memory.as_of(as_of))

    def periods(self, owner: Owner, memory_id: str, *, as_of: int | None = None) -> Sequence[PeriodRow]:
        """What was known to hold when. See the port."""
        query = select(*PERIOD.columns).where(self._of(owner, _period), _period.c.memory_id == memory_id)
        query = query.where(_known_at(as_of)).order_by(_period.c.valid_from)
        return [replace(PERIOD.decode(row), known_to=None) for row in self._rows(query)]

    def known_periods(self, owner: Owner, memory_id: str) -> Sequence[PeriodRow]:
        """All that ever was known to hold. See the port."""
        query = select(*PERIOD.columns).where(self._of(owner, _period), _period.c.memory_id == memory_id)
        rows = self._rows(query.order_by(_period.c.known_from, _period.c.valid_from))
        return [PERIOD.decode(row) for row in rows]

    def _holding(
        self,
        owner: Owner,
        valid_at: datetime,
        wanted: Collection[Status] | None,
        as_of: int | None,
        scope: ScopeKind | None,
        limit: int | None,
    ) -> list[Listed]:
        owner_ref, moment = self._store.owner_ref(owner), to_microseconds(valid_at)
        known = (OPEN,) if as_of is None else (as_of, as_of)
        with self._store.reading() as connection:
            query = self._prepared(connection.dialect)[as_of is not None]
            found = driver_of(connection).all(query, owner_ref, moment, moment, *known)
        # Cheaper than in the database, which would sort and carry whole rows.
        found.sort(key=_AGE)
        found = [
            row
            for row in found
            if (wanted is None or row[_STATUS] in wanted) and (scope is None or row[_SCOPE] == scope)
        ][:limit]
        statements = Statements(self._store, owner, [row[_SAID] for row in found])
        if as_of is None:
            periods, rows = [stored_period(row) for row in found], [statements.row(row) for row in found]
        else:
            periods = [replace(PERIOD.decode(row[BESIDE:]), known_to=None) for row in found]
            then = self._folded(owner, [period.memory_id for period in periods], as_of)
            rows = [then[period.memory_id] for period in periods]
        return [Listed(row, period, statements.at) for row, period in zip(rows, periods, strict=True)]

    def _prepared(self, dialect: Dialect) -> tuple[Prepared, Prepared]:
        """What holds, as known now and as known at a position."""
        if self._holding_queries is None:
            query = _HOLDING.where(
                _period.c.owner_ref == bindparam("owner"),
                _period.c.valid_from <= bindparam("begun"),
                _period.c.valid_to > bindparam("not_over"),
            )
            names = ["owner", "begun", "not_over"]
            now = query.where(_period.c.known_to == bindparam("open"))
            then = query.where(
                _period.c.known_from <= bindparam("known"), _period.c.known_to > bindparam("still")
            )
            self._holding_queries = (
                Prepared(now, dialect, [*names, "open"]),
                Prepared(then, dialect, [*names, "known", "still"]),
            )
        return self._holding_queries

    def _known(
        self, owner: Owner, wanted: Collection[Status] | None, as_of: int, scope: ScopeKind | None
    ) -> list[Listed]:
        query = select(_memory.c.memory_id, _memory.c.created_pos, _memory.c.status)
        found = self._rows(query.where(self._of(owner, _memory), _memory.c.created_pos <= as_of))
        # What was a memory then and is none now has left its proposals.
        opened = select(_decision.c.memory_id, func.min(_decision.c.position))
        opened = opened.where(self._of(owner, _decision), _decision.c.position <= as_of)
        opened = opened.where(_decision.c.memory_id.is_not(None)).group_by(_decision.c.memory_id)
        first = {row[0]: row[1] for row in (*self._rows(opened), *found)}
        erased = {memory_id for memory_id, _, status in found if status == "erased"}
        ids = [
            memory_id
            for memory_id in sorted(first, key=lambda one: (first[one], one))
            if memory_id not in erased
        ]
        rows = self._folded(owner, ids, as_of)
        return [
            Listed(rows[memory_id])
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
        return self._decisions.fitting(owner, query)

    def decision(self, owner: Owner, ref: EventRef) -> DecisionRow | None:
        """The judgement or proposal that an event recorded. See the port."""
        return self._decisions.recorded_by(owner, ref)

    def turn(self, owner: Owner, turn_id: str) -> TurnRow | None:
        """One turn by its full id, from its own events. See the port."""
        return turn_row(self._store.read_stream(owner, turn_id)) if _FULL.fullmatch(turn_id) else None

    def turns(
        self, owner: Owner, *, session: str | None = None, limit: int | None = None
    ) -> Sequence[TurnRow]:
        """Turns, ascending by position. See the port."""
        return self._decisions.turns(owner, session, limit)

    def batches(self, owner: Owner) -> Sequence[BatchRow]:
        """Batches in the order in which they were opened. See the port."""
        query = select(*_BATCH.columns).where(self._of(owner, _batch)).order_by(_batch.c.position)
        return [_BATCH.decode(row) for row in self._rows(query)]

    # --- ids and counts --------------------------------------------------------------------------

    def resolve(self, owner: Owner, prefix: str, kind: Kind | None = None) -> Sequence[Found]:
        """What has an id that begins with these digits. See the port."""
        if not _PREFIX.fullmatch(prefix):
            return []
        owner_ref, found = self._store.owner_ref(owner), []
        with self._store.reading() as connection:
            driver, queries = driver_of(connection), self._prefixes(connection.dialect)
            for of_kind in [kind] if kind is not None else queries:
                # "g" follows every hex digit.
                rows = driver.all(queries[of_kind], owner_ref, prefix, prefix + "g")
                found += [Found(of_kind, found_id) for (found_id,) in rows]
        return found

    def _prefixes(self, dialect: Dialect) -> dict[Kind, Prepared]:
        if self._prefix_queries is None:
            columns: list[tuple[Kind, Column[Any], Any]] = [
                ("memory", _memory.c.memory_id, true()),
                ("turn", _decision.c.turn_id, _decision.c.outcome.is_(None)),
                ("batch", _batch.c.batch_id, true()),
            ]
            self._prefix_queries = {
                kind: Prepared(
                    select(column)
                    .distinct()
                    .where(column.table.c.owner_ref == bindparam("owner"), of_kind)
                    .where(column >= bindparam("from"), column < bindparam("until"))
                    .order_by(column),
                    dialect,
                    ["owner", "from", "until"],
                )
                for kind, column, of_kind in columns
            }
        return self._prefix_queries

    def counts(self, owner: Owner) -> Counts:
        """How much there is. See the port."""
        memories = select(_memory.c.status, func.count()).where(self._of(owner, _memory))
        mine, kept = self._of(owner, _decision), _decision.c
        decided = select(kept.outcome, func.count()).where(mine, kept.outcome.is_not(None))
        decided = decided.where(kept.struck_by.is_(None)).group_by(kept.outcome)
        turns = select(func.count(distinct(kept.turn_id))).where(mine, kept.outcome.is_(None))
        with self._store.one_view():
            return Counts(
                memories={row[0]: row[1] for row in self._rows(memories.group_by(_memory.c.status))},
                decisions={row[0]: row[1] for row in self._rows(decided)},
                turns=self._rows(turns)[0][0],
            )

    # --- inside ----------------------------------------------------------------------------------

    def _of(self, owner: Owner, table: Any) -> Any:
        return table.c.owner_ref == self._store.owner_ref(owner)

    def _rows(self, query: Select[Any]) -> Sequence[Any]:
        with self._store.reading() as connection:
            return connection.execute(query).all()

    def _stored(self, owner: Owner, found: Sequence[Row[Any]]) -> list[MemoryRow]:
        """The rows of which the columns of `MEMORY` were selected."""
        statements = Statements(self._store, owner, [row.said_pos for row in found])
        return [statements.row(row) for row in found]


_HOLDING: Select[Any] = select(*MEMORY.columns, *PERIOD.columns).join_from(
    _period,
    _memory,
    (_period.c.owner_ref == _memory.c.owner_ref) & (_period.c.memory_id == _memory.c.memory_id),
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
