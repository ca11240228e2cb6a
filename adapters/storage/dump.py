"""Everything that stands in the tables, for looking whether something stands there that must not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Result, inspect, literal_column, select, table


def cells(connection: Connection) -> Iterator[str | bytes]:
    """Every text and every binary value of every column of every table, row by row."""
    for name in inspect(connection).get_table_names():
        rows: Result[Any] = connection.execute(select(literal_column("*")).select_from(table(name)))
        for row in rows:
            yield from (cell for cell in row if isinstance(cell, str | bytes))
