"""Writes the projections' rows in the transaction that appends the events."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, event

from ....domain.stream import RecordedEvent
from ....projections.fold import Changes, Past, fold
from ....projections.memories import Shaping
from ....projections.rows import PeriodRow
from ..codec import Codec
from .checkpoints import Checkpoints, create_live
from .streams import FoldedStreams, StreamLoader
from .tables import ViewTables, view_tables
from .writer import RowWriter


class RowFolder:
    """Folds events into one generation of tables.

    Args:
        tables: Where the rows go.
        shaping: What rows depend on besides the events.
        codec: Reads earlier events of a stream.
        kept_events: How many events of folded memories are remembered for the next fold.
    """

    def __init__(
        self, tables: ViewTables, shaping: Shaping, codec: Codec, *, kept_events: int = 20_000
    ) -> None:
        self._tables, self._shaping = tables, shaping
        self._streams, self._loader = FoldedStreams(kept_events), StreamLoader(codec)
        self._writer: RowWriter | None = None

    def write(
        self, connection: Connection, events_by_owner: Sequence[tuple[bytes, Sequence[RecordedEvent]]]
    ) -> None:
        """Fold each owner's new events, in ascending position, and write what changes.

        The events are in the log already. An owner is named at most once.
        """
        if self._writer is None:
            self._writer = RowWriter(self._tables, connection.dialect)
        changes = [(ref, self._fold(connection, ref, events)) for ref, events in events_by_owner]
        self._writer.write(connection, changes)
        for _, change in changes:
            self._streams.keep(change.folded.values())

    def forget(self) -> None:
        """Forget folded memories: their last events were undone with their transaction."""
        self._streams.forget()

    def _fold(self, connection: Connection, owner_ref: bytes, events: Sequence[RecordedEvent]) -> Changes:
        writer = self._writer
        assert writer is not None

        def before(stream_id: str, stream_version: int) -> Past:
            return self._streams.get(stream_id, stream_version) or self._loader.before(
                connection, owner_ref, stream_id, stream_version
            )

        def known_until(memory_id: str) -> Sequence[PeriodRow]:
            return writer.known_until(connection, owner_ref, memory_id)

        return fold(events, before, known_until, self._shaping)


class ViewProjector:
    """Keeps the live tables in step with the log, inside each append's transaction.

    Tables that were never built from the whole log, or by another version of the projections, are left
    alone until they are rebuilt: rows of a part of the events would look like an answer.
    """

    def __init__(self, shaping: Shaping, codec: Codec | None = None) -> None:
        self._folder = RowFolder(view_tables(1), shaping, codec or Codec())
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
        if events and self._checkpoints.advance(connection, part, events[-1].position):
            self._folder.write(connection, [(owner_ref, events)])

    def _forget(self, _: Connection) -> None:
        self._folder.forget()
