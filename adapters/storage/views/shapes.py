"""How a row of a projection is kept in its table, and read back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from operator import attrgetter
from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from sqlalchemy import Column, RowMapping, Table

from ....domain.values import EventRef
from ..keyed import from_microseconds, to_microseconds
from .tables import OPEN

R = TypeVar("R")


class Shape(Generic[R]):
    """Translates between a row class and the columns of a table that have its fields' names."""

    def __init__(self, table: Table, cls: type[R]) -> None:
        kept = [column for column in table.columns if column.name != "owner_ref"]
        self._cls = cls
        self._names = [column.name for column in kept]
        self._get = attrgetter(*self._names)
        self._encoders = [_encoder(column) for column in kept]
        self._decoders = [_decoder(column) for column in kept]
        self._translated = [i for i, encoder in enumerate(self._encoders) if encoder is not None]

    def encode(self, owner_ref: bytes, row: R) -> tuple[Any, ...]:
        """The values in the order of the table's columns."""
        values = [owner_ref, *self._get(row)]
        for place in self._translated:
            encoder = self._encoders[place]
            assert encoder is not None
            values[place + 1] = encoder(values[place + 1])
        return tuple(values)

    def decode(self, found: RowMapping, prefix: str = "") -> R:
        """The row whose columns stand under their names, or under `prefix` and name."""
        values = {}
        for name, decoder in zip(self._names, self._decoders, strict=True):
            value = found[prefix + name]
            values[name] = value if decoder is None else decoder(value)
        return self._cls(**values)


def _encoder(column: Column[Any]) -> Callable[[Any], Any] | None:
    match column.info.get("as"):
        case None:
            return None
        case "moment":
            return _optional_microseconds
        case "open moment":
            return lambda moment: OPEN if moment is None else to_microseconds(moment)
        case "open position":
            return lambda position: OPEN if position is None else position
        case "refs":
            return lambda refs: " ".join(f"{ref.stream}:{ref.version}" for ref in refs)
        case _:
            return lambda model: None if model is None else model.model_dump_json(exclude_none=True)


def _decoder(column: Column[Any]) -> Callable[[Any], Any] | None:
    match column.info.get("as"):
        case None:
            return None
        case "moment":
            return lambda count: None if count is None else from_microseconds(count)
        case "open moment":
            return lambda count: None if count == OPEN else from_microseconds(count)
        case "open position":
            return lambda position: None if position == OPEN else position
        case "refs":
            return _parse_refs
        case model:
            return _model_decoder(model)


def _optional_microseconds(moment: datetime | None) -> int | None:
    return None if moment is None else to_microseconds(moment)


def _parse_refs(text: str) -> tuple[EventRef, ...]:
    pairs = (item.split(":") for item in text.split())
    return tuple(EventRef(stream=stream, version=int(version)) for stream, version in pairs)


def _model_decoder(model: type[BaseModel]) -> Callable[[Any], Any]:
    return lambda text: None if text is None else model.model_validate_json(text)
