"""How a row of a projection is kept in its table, and read back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Generic, TypeVar

from sqlalchemy import Boolean, Column, Table

from ..keyed import from_microseconds, to_microseconds
from .tables import OPEN

R = TypeVar("R")


class Shape(Generic[R]):
    """Translates between rows and the columns of a table that have the names of their fields.

    Args:
        table: The table.
        names: The fields that are columns, in the order in which `make` takes them.
        make: Makes a row of their values.
    """

    def __init__(self, table: Table, names: Sequence[str], make: Callable[..., R]) -> None:
        self._make = make
        self.columns = [table.columns[name] for name in names]
        kept = [column for column in table.columns if column.name != "owner_ref"]
        self._get = attrgetter(*(column.name for column in kept))
        self._encoders = _translators(kept, _encoder)
        self._decoders = _translators(self.columns, _decoder)

    def encode(self, owner_ref: bytes, row: R) -> tuple[Any, ...]:
        """The values in the order of the table's columns."""
        values = [owner_ref, *self._get(row)]
        for place, encode in self._encoders:
            values[place + 1] = encode(values[place + 1])
        return tuple(values)

    def decode(self, found: Sequence[Any]) -> R:
        """The row of which `columns` were selected."""
        values = list(found)
        for place, decode in self._decoders:
            values[place] = decode(values[place])
        return self._make(*values)


Translate = Callable[[Any], Any]


def _translators(
    columns: Sequence[Column[Any]], translator: Callable[[Column[Any]], Translate | None]
) -> list[tuple[int, Translate]]:
    """What is to be translated, by its place among the columns."""
    found = ((place, translator(column)) for place, column in enumerate(columns))
    return [(place, translate) for place, translate in found if translate is not None]


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
