"""Earlier events of streams for the fold, and a memory of those that were folded last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, select

from ....domain.errors import VerificationFailedError
from ....domain.memory import Memory
from ....domain.stream import RecordedEvent
from ....projections.fold import Past
from .. import tables
from ..codec import Codec, Encoded
from ..ids import id_to_bytes
from ..keyed import from_microseconds
from .prepared import Prepared

_event = tables.event
_EARLIER = (
    select(
        _event.c.pos,
        _event.c.stream_version,
        _event.c.recorded_at,
        _event.c.topic,
        _event.c.schema_version,
        _event.c.codec,
        _event.c.key_id,
        _event.c.state,
    )
    .where(_event.c.stream_id == bindparam("b_stream"))
    .where(_event.c.stream_version < bindparam("b_version"))
    .where(_event.c.owner_ref == bindparam("b_owner"))
    .order_by(_event.c.stream_version)
)


class FoldedStreams:
    """The memories that were folded last, up to a number of events altogether.

    What is kept is believed only where it ends right before the event that comes next: another
    process may have appended since. What an undone transaction left must be forgotten.
    """

    def __init__(self, greatest: int) -> None:
        self._greatest, self._events = greatest, 0
        self._kept: OrderedDict[str, Past] = OrderedDict()

    def get(self, stream_id: str, stream_version: int) -> Past | None:
        """The memory with exactly the events before that version, if it is here."""
        past = self._kept.get(stream_id)
        if past is None or past.memory.stream_version != stream_version - 1:
            return None
        self._kept.move_to_end(stream_id)
        return past

    def keep(self, folded: Iterable[Past]) -> None:
        """Remember these, and let go of those that were not asked for longest."""
        for past in folded:
            former = self._kept.pop(past.memory.memory_id, None)
            self._events += len(past.memory.entries) - (len(former.memory.entries) if former else 0)
            self._kept[past.memory.memory_id] = past
        while self._events > self._greatest and self._kept:
            _, oldest = self._kept.popitem(last=False)
            self._events -= len(oldest.memory.entries)

    def forget(self) -> None:
        """Forget all of them."""
        self._kept.clear()
        self._events = 0


class StreamLoader:
    """Reads earlier events over the connection that the fold's rows are written with."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._query: Prepared | None = None

    def before(self, connection: Connection, owner_ref: bytes, stream_id: str, stream_version: int) -> Past:
        """The stream with exactly its events before the version.

        Raises:
            VerificationFailedError: some of them are missing, or are another owner's.
        """
        if self._query is None:
            self._query = Prepared(_EARLIER, ["b_stream", "b_version", "b_owner"], connection.dialect)
        found = self._query.one(connection, (id_to_bytes(stream_id), stream_version, owner_ref)).all()
        if len(found) != stream_version - 1:
            raise VerificationFailedError(f"stream {stream_id} has no {stream_version - 1} earlier events")
        entries = tuple(
            RecordedEvent(
                row.pos,
                stream_id,
                row.stream_version,
                from_microseconds(row.recorded_at),
                self._codec.decode(Encoded(row.topic, row.schema_version, row.codec, row.key_id, row.state)),
                owner_ref,
            )
            for row in found
        )
        return Past(Memory(stream_id, entries))
