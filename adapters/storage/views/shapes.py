"""How a row of a projection is kept in its table, and read back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Generic, TypeVar

from sqlalchemy import Boolean, Column, Table

from ....domain.errors import ProjectionDamagedError
from ..failures import WRONG_KIND
from ..keyed import from_microseconds, to_microseconds
from .tables import OPEN

R = TypeVar("R")


class Shape(Generic[R]):
    """Translates between rows and the columns of a table that have the names of their fields.

    Args:
        table: The table.
        names: The fields that are columns.
        make: Makes a row of its values by field.
    """

    def __init__(self, table: Table, names: Sequence[str], make: Callable[[dict[str, Any]], R]) -> None:
        self._table, self._make, self._names = table.name, make, tuple(names)
        self.columns = [table.columns[name] for name in names]
        kept = [column for column in table.columns if column.name != "owner_ref"]
        self._get = attrgetter(*(column.name for column in kept))
        self._encoders = [(place + 1, encode) for place, encode in enumerate(map(_encoder, kept)) if encode]
        self.decoders = {c.name: decode for c in self.columns if (decode := _decoder(c)) is not None}
        """What makes values of those columns that are kept in another form."""

    def place(self, name: str) -> int:
        """Where among `columns` a field stands, from 0."""
        return self._names.index(name)

    def encode(self, owner_ref: bytes, row: R) -> tuple[Any, ...]:
        """The values in the order of the table's columns."""
        values = [owner_ref, *self._get(row)]
        for place, encode in self._encoders:
            values[place] = encode(values[place])
        return tuple(values)

    def decode(self, found: Sequence[Any]) -> R:
        """The row of which `columns` were selected; what stands behind them is not looked at."""
        values = dict(zip(self._names, found, strict=False))
        try:
            for name, decode in self.decoders.items():
                values[name] = decode(values[name])
            return self._make(values)
        except WRONG_KIND as error:
            raise ProjectionDamagedError(f"a row of the table {self._table} cannot be read") from error


Translate = Callable[[Any], Any]


def _encoder(column: Column[Any]) -> Translate | None:
    match column.info.get("as"):
        case "moment":
            return _optional_microseconds if column.nullable else to_microseconds
        case "open moment":
            return lambda moment: OPEN if moment is None else to_microseconds(moment)
        case "open position":
            return lambda position: OPEN if position is None else position
    return None


def _decoder(column: Column[Any]) -> Translate | None:
    match column.info.get("as"):
        case "moment":
            return _optional_moment if column.nullable else from_microseconds
        case "open moment":
            return lambda count: None if count == OPEN else from_microseconds(count)
        case "open position":
            return lambda position: None if position == OPEN else position
    # What is prepared comes from the driver as the database has it.
    return bool if isinstance(column.type, Boolean) else None


def _optional_microseconds(moment: datetime | None) -> int | None:
    return None if moment is None else to_microseconds(moment)


def _optional_moment(count: int | None) -> datetime | None:
    return None if count is None else from_microseconds(count)
