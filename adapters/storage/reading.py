"""Events as they are read from the log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Select, select

from ...domain.errors import VerificationFailedError
from ...domain.events import Event
from ...domain.stream import RecordedEvent
from . import tables
from .failures import WRONG_KIND
from .ids import id_to_text
from .keyed import from_microseconds

_event = tables.event
EVENTS: Select[Any] = select(
    _event.c.pos,
    _event.c.owner_ref,
    _event.c.stream_id,
    _event.c.stream_version,
    _event.c.recorded_at,
    _event.c.topic,
    _event.c.schema_version,
    _event.c.codec,
    _event.c.key_id,
    _event.c.state,
)
"""What a `RecordedEvent` is made of, then, from `CODED` on, the columns of `Encoded`, each in its order."""
CODED = 5

Decode = Callable[[str, int, int, bytes, bytes], Event]
"""Makes an event of the fields of `Encoded`."""


def recorded(rows: Iterable[Sequence[Any]], decode: Decode) -> list[RecordedEvent]:
    """The events of rows that were selected as `EVENTS`.

    Raises:
        VerificationFailedError: names the position of an event that cannot be read.
        UnknownEventError: from a later version of the program.
    """
    found = []
    for position, owner_ref, stream_id, version, at, *coded in rows:
        try:
            event = decode(*coded)
            stream, moment = id_to_text(stream_id), from_microseconds(at)
        except VerificationFailedError as error:
            raise VerificationFailedError(error.problem, position) from error
        except WRONG_KIND as error:
            raise VerificationFailedError("a column holds a value of the wrong kind", position) from error
        found.append(RecordedEvent(position, stream, version, moment, event, owner_ref))
    return found
