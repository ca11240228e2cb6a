"""Statements rendered once and handed to the driver as they are.

Rendering and parameter dictionaries cost more than the small statements that an append is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, CursorResult, Delete, Dialect, Insert, Select, Update


class Prepared:
    """A statement whose parameters are given in the order of `names`."""

    def __init__(
        self, statement: Insert | Update | Delete | Select[Any], names: Sequence[str], dialect: Dialect
    ) -> None:
        keys = list(names) if isinstance(statement, Insert) else None
        compiled = statement.compile(dialect=dialect, column_keys=keys)
        self._sql, self._names = str(compiled), list(names)
        self._order: list[int] | None = None
        if dialect.positional:
            order = getattr(compiled, "positiontup", None)
            assert order is not None, "a positional dialect renders its parameters in an order"
            self._order = [self._names.index(name) for name in order]
            if self._order == list(range(len(self._names))):
                self._order = []

    def run(self, connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute once for each row of parameters; no rows, no statement."""
        if rows:
            connection.exec_driver_sql(self._sql, [self._bound(row) for row in rows])

    def one(self, connection: Connection, row: tuple[Any, ...]) -> CursorResult[Any]:
        """Execute once and hand back what came of it."""
        return connection.exec_driver_sql(self._sql, self._bound(row))

    def _bound(self, row: tuple[Any, ...]) -> Any:
        if self._order is None:
            return dict(zip(self._names, row, strict=True))
        return tuple(row[place] for place in self._order) if self._order else row
