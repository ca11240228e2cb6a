"""Recompute every projection from the first event, compare, and put the new tables in place.

The new tables are built beside the live ones in transactions of one page each, so that others go on
reading and writing. The last transaction folds what came meanwhile, compares, and swaps.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import orjson
from sqlalchemy import Connection, Table, inspect, select, text, update
from sqlalchemy.schema import DropTable

from ....domain.stream import RecordedEvent
from ....projections.memories import Shaping
from .. import tables as log
from ..codec import Codec
from ..store import SqlEventStore
from .checkpoints import (
    GENERATION,
    create_bare,
    create_indexes,
    create_live,
    generation_of,
    set_checkpoints,
)
from .projector import RowFolder
from .tables import ViewTables, view_tables

_SHADOW = "_rebuilt"
_PAGE = 2_000
_BATCH = 5_000


@dataclass(frozen=True, slots=True)
class TableReport:
    """One table's rows before the rebuild and after it.

    The digest is SHA-256 over the rows in the order of their key, in hex.
    """

    name: str
    live_rows: int
    rebuilt_rows: int
    live_digest: str
    rebuilt_digest: str

    @property
    def same(self) -> bool:
        """Whether the live rows were what the events say."""
        return (self.live_rows, self.live_digest) == (self.rebuilt_rows, self.rebuilt_digest)


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What a rebuild read and found. `swapped` says whether the new tables are in place."""

    events: int
    tables: tuple[TableReport, ...]
    swapped: bool

    @property
    def same(self) -> bool:
        """Whether every live table was what the events say."""
        return all(table.same for table in self.tables)


def rebuild(
    store: SqlEventStore,
    shaping: Shaping,
    *,
    check: bool = False,
    codec: Codec | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RebuildReport:
    """Rebuild all projections of all owners.

    Args:
        store: The store; its tables may be missing or of an earlier version of the projections.
        shaping: What rows depend on besides the events; the same as the live projector's.
        check: Compare only, and leave the live tables as they are.
        codec: Reads payloads; None for the product's events.
        progress: Called after each page with the events read and the events known to be there.

    Raises:
        VerificationFailedError: an event cannot be read; the live tables are untouched.
    """
    with store.writing() as connection:
        create_live(connection)
        generation = (generation_of(connection) or 1) + 1
        live, shadow = view_tables(1), view_tables(generation, _SHADOW)
        _drop(connection, shadow)
        create_bare(connection, shadow)
    try:
        run = _Run(store, shadow, shaping, codec or Codec(), progress)
        run.read(until_behind_by=_PAGE)
        with store.writing() as connection:
            run.read(until_behind_by=0)
            tables = tuple(
                _compared(connection, old, new) for old, new in zip(live.all, shadow.all, strict=True)
            )
            if not check:
                _swap(connection, live, shadow, generation, run.positions)
            return RebuildReport(run.events, tables, swapped=not check)
    finally:
        with store.writing() as connection:
            _drop(connection, shadow)


class _Run:
    """Reads the log of each partition and folds it into the shadow tables."""

    def __init__(
        self,
        store: SqlEventStore,
        shadow: ViewTables,
        shaping: Shaping,
        codec: Codec,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._store, self._progress = store, progress
        self._folder = RowFolder(shadow, shaping, codec, kept_events=100_000)
        self.events = 0
        self.positions = dict.fromkeys(store.partitions, 0)

    def read(self, *, until_behind_by: int) -> None:
        """Fold page after page until each partition has at most so many events left."""
        for part in self.positions:
            while self._store.head_position(part) - self.positions[part] > until_behind_by:
                page = self._store.read_log(part, after_position=self.positions[part], limit=_PAGE)
                with self._store.writing() as connection:
                    self._folder.write(connection, _by_owner(page))
                self.positions[part] = page[-1].position
                self.events += len(page)
                if self._progress is not None:
                    self._progress(self.events, sum(map(self._store.head_position, self.positions)))


def _by_owner(page: Sequence[RecordedEvent]) -> list[tuple[bytes, list[RecordedEvent]]]:
    owners: dict[bytes, list[RecordedEvent]] = {}
    for entry in page:
        owners.setdefault(entry.owner_ref, []).append(entry)
    return list(owners.items())


def _compared(connection: Connection, live: Table, rebuilt: Table) -> TableReport:
    # A table of an earlier version of the projections may lack columns: then it differs.
    found = {column["name"] for column in inspect(connection).get_columns(live.name)}
    comparable = found == {column.name for column in live.columns}
    live_rows, live_digest = _digest(connection, live) if comparable else (0, "")
    rebuilt_rows, rebuilt_digest = _digest(connection, rebuilt)
    return TableReport(live.name, live_rows, rebuilt_rows, live_digest, rebuilt_digest)


def _digest(connection: Connection, table: Table) -> tuple[int, str]:
    """Number of the rows, and a digest of them in the order of their key."""
    digest, count = hashlib.sha256(), 0
    query = select(table).order_by(*table.primary_key.columns)
    for rows in connection.execute(query, execution_options={"yield_per": _BATCH}).partitions():
        for row in rows:
            digest.update(orjson.dumps([v.hex() if isinstance(v, bytes) else v for v in row]) + b"\n")
        count += len(rows)
    return count, digest.hexdigest()


def _swap(
    connection: Connection, live: ViewTables, shadow: ViewTables, generation: int, positions: dict[int, int]
) -> None:
    create_indexes(connection, shadow)
    quote = connection.dialect.identifier_preparer.quote
    for old, new in zip(live.all, shadow.all, strict=True):
        connection.execute(DropTable(old))
        connection.execute(text(f"ALTER TABLE {quote(new.name)} RENAME TO {quote(old.name)}"))
    connection.execute(update(log.meta).where(log.meta.c.name == GENERATION).values(value=str(generation)))
    set_checkpoints(connection, positions)


def _drop(connection: Connection, shadow: ViewTables) -> None:
    for table in shadow.all:
        connection.execute(DropTable(table, if_exists=True))
