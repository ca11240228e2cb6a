"""Writes changes of rows into one generation of tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import ColumnElement, Dialect, Table, and_, bindparam, delete, insert, select, update

from ....projections.fold import Changes
from ....projections.rows import BatchRow, DecisionKeys, MemoryRow, PeriodRow
from ..driver import Driver, Prepared, insert_into
from ..keyed import to_microseconds
from .shapes import Shape
from .tables import OPEN, ViewTables

OwnersChanges = tuple[bytes, Changes]
"""An `owner_ref` and what changes for this owner."""

Work = list[tuple[Prepared, list[tuple[Any, ...]]]]
"""Statements in their order, each with the rows that it is executed for."""


def memory_shape(tables: ViewTables) -> Shape[MemoryRow]:
    """Memories, all but the statement, which stays in its event."""
    names = [field.name for field in fields(MemoryRow) if field.name != "statement"]
    return Shape(tables.memory, names, MemoryRow.of)


def period_shape(tables: ViewTables) -> Shape[PeriodRow]:
    """Periods."""
    return Shape(tables.period, [field.name for field in fields(PeriodRow)], PeriodRow.of)


def decision_shape(tables: ViewTables) -> Shape[DecisionKeys]:
    """What decisions are found by."""
    return Shape(tables.decision, DecisionKeys._fields, lambda values: DecisionKeys(**values))


def batch_shape(tables: ViewTables) -> Shape[BatchRow]:
    """Batches."""
    return Shape(tables.batch, [field.name for field in fields(BatchRow)], lambda values: BatchRow(**values))


class RowWriter:
    """Turns changes into statements, each rendered once."""

    def __init__(self, tables: ViewTables, dialect: Dialect) -> None:
        self._memory, self._period = memory_shape(tables), period_shape(tables)
        self._decision, self._batch = decision_shape(tables), batch_shape(tables)
        memory_key, period_key = ["owner_ref", "memory_id"], ["owner_ref", "memory_id", "known_from"]
        self._remove, self._put = _replacing(tables.memory, memory_key, dialect)
        self._gone = _deleting(tables.memory, memory_key, dialect)
        self._open = insert_into(tables.period, dialect)
        self._close = _setting(tables.period, [*period_key, "valid_from"], ["known_to"], dialect)
        self._erase = _deleting(tables.period, memory_key, dialect)
        self._known = _known(tables.period, self._period, dialect)
        self._decide = insert_into(tables.decision, dialect)
        self._strike = _setting(tables.decision, ["owner_ref", "position"], ["struck_by"], dialect)
        self._begin = insert_into(tables.batch, dialect)
        self._finish = _setting(tables.batch, ["owner_ref", "batch_id"], ["closed_pos", "written"], dialect)

    def known_until(self, driver: Driver, owner_ref: bytes, memory_id: str) -> Sequence[PeriodRow]:
        """The stored period rows of a memory that are still known, ascending by `valid_from`."""
        return [self._period.decode(row) for row in driver.all(self._known, owner_ref, memory_id, OPEN)]

    def work(self, changes: Sequence[OwnersChanges]) -> Work:
        """What is to be executed for the changes of several owners."""
        memories = [self._memory.encode(ref, row) for ref, c in changes for row in c.memories]
        work: Work = []
        if self._remove is not None:
            work.append((self._remove, [row[:2] for row in memories]))
        work += [
            (self._put, memories),
            (self._gone, [(ref, memory_id) for ref, c in changes for memory_id in c.gone]),
            (
                self._close,
                [
                    (ref, row.memory_id, row.known_from, to_microseconds(row.valid_from), row.known_to)
                    for ref, c in changes
                    for row in c.closed
                ],
            ),
            (self._open, [self._period.encode(ref, row) for ref, c in changes for row in c.periods]),
            (self._decide, [self._decision.encode(ref, row) for ref, c in changes for row in c.decisions]),
            (self._strike, [(ref, s.position, s.struck_by) for ref, c in changes for s in c.strikes]),
            (self._finish, [(ref, *closing) for ref, c in changes for closing in c.batches_closed]),
            (self._begin, [self._batch.encode(ref, row) for ref, c in changes for row in c.batches]),
            # What was known of it goes; what else shows its words reads them from its events.
            (self._erase, [(ref, memory_id) for ref, c in changes for memory_id in c.erased]),
        ]
        return [(statement, rows) for statement, rows in work if rows]


def execute(driver: Driver, work: Work) -> None:
    """Write it."""
    for statement, rows in work:
        driver.run_many(statement, rows)


def _replacing(table: Table, key: Sequence[str], dialect: Dialect) -> tuple[Prepared | None, Prepared]:
    """What puts a row in the place of the one that has its key: a deletion, where it needs one, first."""
    if dialect.name == "sqlite":  # one statement instead of two; the tables have no other unique key
        names = [column.name for column in table.columns]
        return None, Prepared(insert(table).prefix_with("OR REPLACE"), dialect, names)
    return _deleting(table, key, dialect), insert_into(table, dialect)


def _deleting(table: Table, key: Sequence[str], dialect: Dialect) -> Prepared:
    return Prepared(delete(table).where(_matching(table, key)), dialect, _bound(key))


def _setting(table: Table, key: Sequence[str], values: Sequence[str], dialect: Dialect) -> Prepared:
    """An update of `values` where `key` is; parameters in the order of key, then values."""
    statement = update(table).where(_matching(table, key))
    statement = statement.values({name: bindparam(f"b_{name}") for name in values})
    return Prepared(statement, dialect, _bound([*key, *values]))


def _known(period: Table, shape: Shape[PeriodRow], dialect: Dialect) -> Prepared:
    key = ["owner_ref", "memory_id", "known_to"]
    query = select(*shape.columns).where(_matching(period, key)).order_by(period.c.valid_from)
    return Prepared(query, dialect, _bound(key))


def _bound(names: Sequence[str]) -> list[str]:
    # A parameter may not have the name of a column that is set.
    return [f"b_{name}" for name in names]


def _matching(table: Table, names: Sequence[str]) -> ColumnElement[bool]:
    return and_(*(table.c[name] == bindparam(f"b_{name}") for name in names))
