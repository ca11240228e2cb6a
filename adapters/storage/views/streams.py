"""Events for the fold, read over the connection that its rows are written with."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Dialect, bindparam, func, select

from ....domain.errors import VerificationFailedError
from ....domain.stream import RecordedEvent
from ....projections.fold import UNREAD, Past, needs_whole
from .. import tables
from ..codec import Codec
from ..driver import Driver, Prepared
from ..ids import id_to_bytes
from ..reading import EVENTS, recorded
from ..trusted import ExcerptDecoder

_event = tables.event


class EventReader:
    """Reads as much of events as the fold needs; every statement is rendered once."""

    def __init__(self, codec: Codec, dialect: Dialect) -> None:
        self._codec = ExcerptDecoder(codec, UNREAD, needs_whole)
        kept = _event.c
        earlier = EVENTS.where(
            kept.stream_id == bindparam("stream"),
            kept.stream_version > bindparam("after"),
            kept.stream_version < bindparam("version"),
            kept.owner_ref == bindparam("owner"),
        ).order_by(kept.stream_version)
        self._earlier = Prepared(earlier, dialect, ["stream", "after", "version", "owner"])
        part, known = kept.part == bindparam("part"), kept.pos <= bindparam("until")
        owners = (
            select(kept.owner_ref, func.count())
            .where(part, kept.owner_ref > bindparam("after"), kept.owner_ref <= bindparam("last"), known)
            .group_by(kept.owner_ref)
            .order_by(kept.owner_ref)
            .limit(bindparam("size"))
        )
        self._owners = Prepared(owners, dialect, ["part", "after", "last", "until", "size"])
        among = EVENTS.where(
            part, kept.owner_ref >= bindparam("first"), kept.owner_ref <= bindparam("last"), known
        ).order_by(kept.owner_ref, kept.pos)
        self._among = Prepared(among, dialect, ["part", "first", "last", "until"])
        page = EVENTS.where(
            part, kept.owner_ref == bindparam("owner"), kept.pos > bindparam("after"), known
        ).order_by(kept.pos)
        self._page = Prepared(
            page.limit(bindparam("size")), dialect, ["part", "owner", "after", "until", "size"]
        )
        log = EVENTS.where(part, kept.pos > bindparam("after")).order_by(kept.pos)
        self._log = Prepared(log.limit(bindparam("size")), dialect, ["part", "after", "size"])

    def before(self, driver: Driver, owner_ref: bytes, past: Past, stream_version: int) -> Past:
        """The stream with exactly its events before the version; `past` has the first of them, if any.

        Raises:
            VerificationFailedError: some of them are missing, or are another owner's.
        """
        memory, wanted = past.memory, stream_version - 1
        if memory.stream_version == wanted:
            return past
        stream_id = id_to_bytes(memory.memory_id)
        found = driver.all(self._earlier, stream_id, memory.stream_version, stream_version, owner_ref)
        if memory.stream_version + len(found) != wanted:
            raise VerificationFailedError(f"stream {memory.memory_id} has no {wanted} earlier events")
        return Past(memory.evolve(self._recorded(found)))

    def owners(
        self, driver: Driver, part: int, *, after: bytes, last: bytes, until: int, limit: int
    ) -> list[Any]:
        """Owners in the order of their references, each with the number of events up to a position."""
        return driver.all(self._owners, part, after, last, until, limit)

    def among(self, driver: Driver, part: int, first: bytes, last: bytes, until: int) -> list[RecordedEvent]:
        """The events of all owners from the first to the last one, owner by owner, ascending."""
        return self._recorded(driver.all(self._among, part, first, last, until))

    def page(
        self, driver: Driver, part: int, owner_ref: bytes, *, after: int, until: int, limit: int
    ) -> list[RecordedEvent]:
        """Events of one owner with `after < position <= until`, ascending."""
        return self._recorded(driver.all(self._page, part, owner_ref, after, until, limit))

    def log(self, driver: Driver, part: int, *, after: int, limit: int) -> list[RecordedEvent]:
        """Events of a partition with `position > after`, ascending."""
        return self._recorded(driver.all(self._log, part, after, limit))

    def _recorded(self, rows: Sequence[tuple[Any, ...]]) -> list[RecordedEvent]:
        return recorded(rows, self._codec.decode)


class FoldedStreams:
    """The memories that were folded last, up to a number of events altogether.

    Another process may have appended since: what is kept is a beginning, on which the rest is read. What
    an undone transaction left must be forgotten.
    """

    def __init__(self, greatest: int) -> None:
        self._greatest, self._events = greatest, 0
        self._kept: OrderedDict[str, Past] = OrderedDict()

    def get(self, stream_id: str, stream_version: int) -> Past | None:
        """The memory with events before that version, if it is here."""
        past = self._kept.get(stream_id)
        if past is None or past.memory.stream_version >= stream_version:
            return None
        self._kept.move_to_end(stream_id)
        return past

    def keep(self, folded: Iterable[Past]) -> None:
        """Remember these, and let go of those that were not asked for longest."""
        if not self._greatest:
            return
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
