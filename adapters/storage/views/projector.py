"""Writes the projections' rows in the transaction that appends the events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Dialect, event

from ....domain.memory import Memory
from ....domain.stream import RecordedEvent
from ....projections.fold import Changes, Past, fold
from ....projections.memories import Shaping
from ....projections.rows import PeriodRow
from ..codec import Codec
from ..driver import Driver, driver_of
from .checkpoints import Checkpoints, create_live
from .streams import EventReader, FoldedStreams
from .tables import LIVE, ViewTables
from .writer import RowWriter, Work, execute


class RowFolder:
    """Folds events into one generation of tables.

    Args:
        tables: Where the rows go.
        shaping: What rows depend on besides the events.
        codec: Reads earlier events of a stream.
        dialect: The database's.
        kept_events: How many events of folded memories are remembered for the next fold.
    """

    def __init__(
        self, tables: ViewTables, shaping: Shaping, codec: Codec, dialect: Dialect, *, kept_events: int
    ) -> None:
        self._shaping = shaping
        self._streams, self._reader = FoldedStreams(kept_events), EventReader(codec, dialect)
        self._writer = RowWriter(tables, dialect)

    def fold(self, driver: Driver, events_by_owner: Iterable[tuple[bytes, Sequence[RecordedEvent]]]) -> Work:
        """What is to be written for each owner's new events, which are given in ascending position.

        The events are in the log already. An owner is named at most once, and what is returned is
        written before anything else of these owners is folded.
        """
        changes = [(ref, self._fold(driver, ref, events)) for ref, events in events_by_owner]
        for _, change in changes:
            self._streams.keep(change.folded.values())
        return self._writer.work(changes)

    def forget(self) -> None:
        """Forget folded memories: their last events were undone with their transaction."""
        self._streams.forget()

    def _fold(self, driver: Driver, owner_ref: bytes, events: Sequence[RecordedEvent]) -> Changes:
        def before(stream_id: str, stream_version: int) -> Past:
            past = self._streams.get(stream_id, stream_version) or Past(Memory(stream_id))
            return self._reader.before(driver, owner_ref, past, stream_version)

        def known_until(memory_id: str) -> Sequence[PeriodRow]:
            return self._writer.known_until(driver, owner_ref, memory_id)

        return fold(events, before, known_until, self._shaping)


class ViewProjector:
    """Keeps the live tables in step with the log, inside each append's transaction.

    Tables that were never built from the whole log, or by another version of the projections, are left
    alone until they are rebuilt: rows of a part of the events would look like an answer.
    """

    def __init__(self, shaping: Shaping, codec: Codec | None = None) -> None:
        self._shaping, self._codec = shaping, codec or Codec()
        self._folder: RowFolder | None = None
        self._checkpoints = Checkpoints()

    def create_tables(self, connection: Connection) -> None:
        """Create what is missing. See the protocol."""
        create_live(connection)
        if not event.contains(connection.engine, "rollback", self._forget):
            event.listen(connection.engine, "rollback", self._forget)

    def apply(
        self, connection: Connection, part: int, owner_ref: bytes, events: Sequence[RecordedEvent]
    ) -> None:
        """Apply one owner's new events, in ascending position. See the protocol."""
        driver, dialect = driver_of(connection), connection.dialect
        if not events or not self._checkpoints.advance(driver, dialect, part, events[-1].position):
            return
        if self._folder is None:
            self._folder = RowFolder(LIVE, self._shaping, self._codec, dialect, kept_events=20_000)
        execute(driver, self._folder.fold(driver, [(owner_ref, events)]))

    def _forget(self, _: Connection) -> None:
        if self._folder is not None:
            self._folder.forget()
