"""Writes changes of rows into one generation of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    Table,
    and_,
    bindparam,
    delete,
    insert,
    literal_column,
    null,
    select,
    update,
)

from ....projections.fold import Changes
from ....projections.rows import BatchRow, DecisionRow, MemoryRow, PeriodRow, TurnRow, VersionRow
from ..keyed import to_microseconds
from .prepared import Prepared
from .shapes import Shape
from .tables import OPEN, ViewTables

R = TypeVar("R")

OwnersChanges = tuple[bytes, Changes]
"""An `owner_ref` and what changes for this owner."""


class RowWriter:
    """Writes changes; every statement is rendered once."""

    def __init__(self, tables: ViewTables, dialect: Dialect) -> None:
        self._memories = _Replacing(tables.memory, Shape(tables.memory, MemoryRow), dialect)
        self._versions = _Replacing(tables.version, Shape(tables.version, VersionRow), dialect)
        self._turns = _Replacing(tables.turn, Shape(tables.turn, TurnRow), dialect)
        self._periods = _Adding(tables.period, Shape(tables.period, PeriodRow), dialect)
        self._decisions = _Adding(tables.decision, Shape(tables.decision, DecisionRow), dialect)
        self._batches = _Adding(tables.batch, Shape(tables.batch, BatchRow), dialect)
        self._period_shape = Shape(tables.period, PeriodRow)
        self._known = _known(tables.period, dialect)
        self._close = _setting(
            tables.period, ["owner_ref", "memory_id", "known_from", "valid_from"], ["known_to"], dialect
        )
        self._strike = _setting(
            tables.decision, ["owner_ref", "stream_id", "stream_version"], ["in_force", "struck_by"], dialect
        )
        self._close_batch = _setting(
            tables.batch, ["owner_ref", "batch_id"], ["closed_pos", "written"], dialect
        )
        key = ["owner_ref", "memory_id"]
        gone = delete(tables.memory).where(_matching(tables.memory, key))
        self._gone = Prepared(gone, _bound(key), dialect)
        self._erase = _erasing(tables, dialect)

    def known_until(self, connection: Connection, owner_ref: bytes, memory_id: str) -> Sequence[PeriodRow]:
        """The stored period rows of a memory that are still known."""
        found = self._known.one(connection, (owner_ref, memory_id, OPEN)).mappings()
        return [self._period_shape.decode(row) for row in found]

    def write(self, connection: Connection, changes: Sequence[OwnersChanges]) -> None:
        """Write the changes of several owners."""
        self._memories.write(connection, [(ref, row) for ref, c in changes for row in c.memories])
        self._gone.run(connection, [(ref, memory_id) for ref, c in changes for memory_id in c.gone])
        self._versions.write(connection, [(ref, row) for ref, c in changes for row in c.versions])
        self._close.run(
            connection,
            [
                (ref, row.memory_id, row.known_from, to_microseconds(row.valid_from), row.known_to)
                for ref, c in changes
                for row in c.closed
            ],
        )
        self._periods.write(connection, [(ref, row) for ref, c in changes for row in c.periods])
        self._decisions.write(connection, [(ref, row) for ref, c in changes for row in c.decisions])
        self._strike.run(
            connection,
            [
                (ref, strike.stream_id, strike.stream_version, strike.struck_by is None, strike.struck_by)
                for ref, c in changes
                for strike in c.strikes
            ],
        )
        self._turns.write(connection, [(ref, row) for ref, c in changes for row in c.turns])
        self._close_batch.run(
            connection, [(ref, *closing) for ref, c in changes for closing in c.batches_closed]
        )
        self._batches.write(connection, [(ref, row) for ref, c in changes for row in c.batches])
        erased = [(ref, memory_id) for ref, c in changes for memory_id in c.erased]
        for statement in self._erase:
            statement.run(connection, erased)


class _Adding(Generic[R]):
    """Rows whose key is new."""

    def __init__(self, table: Table, shape: Shape[R], dialect: Dialect) -> None:
        names = [column.name for column in table.columns]
        self._shape, self._insert = shape, Prepared(insert(table), names, dialect)

    def write(self, connection: Connection, rows: Sequence[tuple[bytes, R]]) -> None:
        self._insert.run(connection, [self._shape.encode(owner_ref, row) for owner_ref, row in rows])


class _Replacing(Generic[R]):
    """Rows that take the place of those with their key."""

    def __init__(self, table: Table, shape: Shape[R], dialect: Dialect) -> None:
        names = [column.name for column in table.columns]
        key = [column.name for column in table.primary_key.columns]
        self._places, self._shape = [names.index(name) for name in key], shape
        # One statement instead of two where the database can; these tables have no other unique key.
        replaces = dialect.name == "sqlite"
        statement = insert(table).prefix_with("OR REPLACE") if replaces else insert(table)
        self._insert = Prepared(statement, names, dialect)
        self._delete = (
            None if replaces else Prepared(delete(table).where(_matching(table, key)), _bound(key), dialect)
        )

    def write(self, connection: Connection, rows: Sequence[tuple[bytes, R]]) -> None:
        encoded = [self._shape.encode(owner_ref, row) for owner_ref, row in rows]
        if self._delete is not None:
            self._delete.run(connection, [tuple(row[place] for place in self._places) for row in encoded])
        self._insert.run(connection, encoded)


def _bound(names: Sequence[str]) -> list[str]:
    # A parameter may not have the name of a column that is set.
    return [f"b_{name}" for name in names]


def _matching(table: Table, names: Sequence[str]) -> ColumnElement[bool]:
    return and_(*(table.c[name] == bindparam(f"b_{name}") for name in names))


def _setting(table: Table, key: Sequence[str], values: Sequence[str], dialect: Dialect) -> Prepared:
    """An update of `values` where `key` is; parameters in the order of key, then values."""
    statement = update(table).where(_matching(table, key))
    statement = statement.values({name: bindparam(f"b_{name}") for name in values})
    return Prepared(statement, _bound([*key, *values]), dialect)


def _known(period: Table, dialect: Dialect) -> Prepared:
    key = ["owner_ref", "memory_id", "known_to"]
    columns = [column for column in period.columns if column.name != "owner_ref"]
    return Prepared(select(*columns).where(_matching(period, key)), _bound(key), dialect)


def _erasing(tables: ViewTables, dialect: Dialect) -> tuple[Prepared, Prepared]:
    """What takes a memory's words out of rows that were written before it was erased."""
    memory_key, stream_key = ["owner_ref", "memory_id"], ["owner_ref", "stream_id"]
    periods = delete(tables.period).where(_matching(tables.period, memory_key))
    emptied: dict[str, Any] = {"attribute": null(), "content": literal_column("''"), "candidate": null()}
    decisions = update(tables.decision).where(_matching(tables.decision, stream_key)).values(emptied)
    return (
        Prepared(periods, _bound(memory_key), dialect),
        Prepared(decisions, _bound(stream_key), dialect),
    )
