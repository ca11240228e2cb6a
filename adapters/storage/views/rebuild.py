"""Recompute every projection from the first event, compare, and put the new tables in place.

The new tables are built beside the live ones: owner by owner, each of whose streams is folded once and
whole, in short transactions, so that others go on reading and writing. Each of them says how far it came;
a rebuild that was interrupted goes on from there. What was appended meanwhile is folded as appends fold it.
Then the rows are compared on one consistent view, and the last transaction swaps.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from sqlalchemy import Connection, Table, and_, delete, func, insert, inspect, select, text, update
from sqlalchemy.schema import DropTable

from ....domain.errors import StoreUnavailableError
from ....domain.stream import RecordedEvent
from ....projections.memories import Shaping
from ....projections.rows import PROJECTIONS
from .. import tables as log
from ..codec import Codec
from ..driver import driver_of
from ..store import SqlEventStore
from ..trusted import many_objects
from .checkpoints import GENERATION, create_live, create_tables, generation_of, set_checkpoints
from .projector import RowFolder
from .streams import EventReader
from .tables import RETIRED, view_tables
from .writer import Work, execute

_SHADOW = "_rebuilt"
_REBUILD = "rebuild"
_SLICE = 2_500
"""Events that are in memory at a time, and written in one transaction. An owner who has more of them is
folded in pieces of the log."""
_OWNERS = 2_000
_TRIES = 3
"""How often a moment without appends is looked for to compare at, before appends are made to wait."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class TableReport:
    """One table's rows before the rebuild and after it; `equal_rows` are in both, alike in every column."""

    name: str
    live_rows: int
    rebuilt_rows: int
    equal_rows: int

    @property
    def same(self) -> bool:
        """Whether the live rows were what the events say."""
        return self.live_rows == self.rebuilt_rows == self.equal_rows


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What a rebuild folded and found. `swapped` says whether the new tables are in place."""

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
    fresh: bool = False,
    codec: Codec | None = None,
    progress: Progress | None = None,
) -> RebuildReport:
    """Rebuild all projections of all owners.

    Args:
        store: The store; its tables may be missing or of an earlier version of the projections.
        shaping: What rows depend on besides the events; the same as the live projector's.
        check: Compare only, and leave the live tables as they are.
        fresh: Begin anew, even where an interrupted rebuild could go on.
        codec: Reads payloads; None for the product's events.
        progress: Called after each transaction with the events folded and the events known to be there.

    Raises:
        VerificationFailedError: an event cannot be read; the live tables are untouched.
        StoreUnavailableError: another rebuild of the same store took over.
    """
    run = _Run(store, shaping, codec or Codec(), progress)
    run.begin(fresh=fresh)
    try:
        run.fold_owners()
        run.catch_up(until_behind_by=_SLICE)
        tables = run.compare()
        if check:
            run.end()
        else:
            run.swap()
    except Exception:
        run.end()
        raise
    return RebuildReport(run.events, tables, swapped=not check)


@dataclass(frozen=True, slots=True)
class _Done:
    """How far one partition is: the owners up to `owner` have their events up to position `until`.

    The next owner has those up to `within`. Once all owners are through, `until` moves on with the log.
    """

    until: int
    owner: bytes = b""
    within: int = 0
    all_owners: bool = False

    def __str__(self) -> str:
        return json.dumps([self.until, self.owner.hex(), self.within, self.all_owners])

    @classmethod
    def parse(cls, kept: str) -> _Done:
        until, owner, within, all_owners = json.loads(kept)
        return cls(until, bytes.fromhex(owner), within, all_owners)


class _Run:
    """One rebuild; it owns the shadow tables as long as its token stands beside them."""

    def __init__(
        self, store: SqlEventStore, shaping: Shaping, codec: Codec, progress: Progress | None
    ) -> None:
        self._store, self._shaping, self._codec, self._progress = store, shaping, codec, progress
        self._token = secrets.token_hex(8)
        self._done: dict[int, _Done] = {}
        self.events = 0

    # --- the shadow tables -----------------------------------------------------------------------

    def begin(self, *, fresh: bool) -> None:
        """Create the shadow tables, or take over those of an interrupted rebuild of the same kind."""
        shape = json.dumps([sorted(PROJECTIONS.items()), self._shaping.fingerprint])
        kind = hashlib.sha256(shape.encode()).hexdigest()[:32]
        with self._store.writing() as connection:
            create_live(connection)
            self._generation = (generation_of(connection) or 1) + 1
            self._live, self._shadow = view_tables(1), view_tables(self._generation, _SHADOW)
            kept = _kept(connection)
            parts = [f"{_REBUILD}_{part}" for part in self._store.partitions]
            former = kept.get(_REBUILD, "").split()[:2] == [str(self._generation), kind]
            if former and not fresh and all(name in kept for name in parts):
                self._done = {part: _Done.parse(kept[parts[part]]) for part in self._store.partitions}
            else:
                _drop(connection, self._shadow.all)
                create_tables(connection, self._shadow)
                self._done = {part: _Done(self._store.head_position(part)) for part in self._store.partitions}
            connection.execute(delete(log.meta).where(log.meta.c.name.in_(list(kept))))
            rows = [{"name": _REBUILD, "value": f"{self._generation} {kind} {self._token}"}]
            rows += [{"name": parts[part], "value": str(done)} for part, done in self._done.items()]
            connection.execute(insert(log.meta), rows)
            dialect = connection.dialect
        self._reader = EventReader(self._codec, dialect)
        self._whole = RowFolder(self._shadow, self._shaping, self._codec, dialect, kept_events=0)
        self._pieces = RowFolder(self._shadow, self._shaping, self._codec, dialect, kept_events=_SLICE)

    def _own(self, connection: Connection) -> None:
        if not _kept(connection).get(_REBUILD, "").endswith(self._token):
            raise StoreUnavailableError(
                self._store.where, "another rebuild took over", "wait for it; it goes on where this one was"
            )

    def _write(self, part: int, work: Work, done: _Done) -> None:
        with self._store.writing() as connection:
            self._own(connection)
            execute(driver_of(connection), work)
            self._keep(connection, part, done)
        self._done[part] = done

    @staticmethod
    def _keep(connection: Connection, part: int, done: _Done) -> None:
        mine = log.meta.c.name == f"{_REBUILD}_{part}"
        connection.execute(update(log.meta).where(mine).values(value=str(done)))

    def end(self) -> None:
        """Drop the shadow tables, unless another rebuild goes on with them."""
        with self._store.writing() as connection:
            kept = _kept(connection)
            if kept.get(_REBUILD, "").endswith(self._token):
                _drop(connection, self._shadow.all)
                connection.execute(delete(log.meta).where(log.meta.c.name.in_(list(kept))))

    # --- folding ---------------------------------------------------------------------------------

    def fold_owners(self) -> None:
        """Fold all events that were there at the beginning, owner by owner."""
        for part, done in self._done.items():
            if done.all_owners:
                self._told(done.until)
                continue
            self._told(self._folded_before(part, done))
            while owners := self._owners(part):
                for chosen in _slices(owners):
                    if len(chosen) == 1 and chosen[0][1] > _SLICE:
                        self._fold_in_pieces(part, chosen[0][0])
                    else:
                        self._fold_whole(part, chosen[0][0], chosen[-1][0])
            done = replace(self._done[part], all_owners=True)
            self._write(part, [], done)

    def _owners(self, part: int) -> list[tuple[bytes, int]]:
        done = self._done[part]
        with self._store.reading() as connection:
            return self._reader.owners(
                driver_of(connection), part, after=done.owner, until=done.until, limit=_OWNERS
            )

    def _folded_before(self, part: int, done: _Done) -> int:
        """How many events an interrupted rebuild folded."""
        if not done.owner:
            return 0
        event = log.event.c
        through = and_(event.part == part, event.owner_ref <= done.owner, event.pos <= done.until)
        with self._store.reading() as connection:
            return connection.execute(select(func.count()).where(through)).scalar_one()

    def _fold_whole(self, part: int, first: bytes, last: bytes) -> None:
        done = self._done[part]
        with many_objects():
            with self._store.reading() as connection:
                driver = driver_of(connection)
                entries = self._reader.among(driver, part, first, last, done.until)
                work = self._whole.fold(driver, _by_owner(entries))
            self._write(part, work, replace(done, owner=last, within=0))
            folded = len(entries)
            del entries, work
        self._told(folded)

    def _fold_in_pieces(self, part: int, owner_ref: bytes) -> None:
        done = self._done[part]
        while True:
            with self._store.reading() as connection:
                driver = driver_of(connection)
                entries = self._reader.page(
                    driver, part, owner_ref, after=done.within, until=done.until, limit=_SLICE
                )
                work = self._pieces.fold(driver, [(owner_ref, entries)] if entries else [])
            if not entries:
                break
            done = replace(done, within=entries[-1].position)
            self._write(part, work, done)
            self._told(len(entries))
        self._write(part, [], replace(done, owner=owner_ref, within=0))

    def catch_up(self, *, until_behind_by: int, locked: bool = False) -> None:
        """Fold what was appended meanwhile, until each partition has at most so many events left.

        `locked`: this thread's write transaction is open, and sees what was not committed yet.
        """
        reading = self._store.writing if locked else self._store.reading
        for part in self._done:
            while self._store.head_position(part) - self._done[part].until > until_behind_by:
                done = self._done[part]
                with reading() as connection:
                    driver = driver_of(connection)
                    entries = self._reader.log(driver, part, after=done.until, limit=_SLICE)
                    entries.sort(key=attrgetter("owner_ref", "position"))
                    work = self._pieces.fold(driver, _by_owner(entries))
                self._write(part, work, replace(done, until=max(entry.position for entry in entries)))
                self._told(len(entries))

    def _told(self, folded: int) -> None:
        self.events += folded
        if self._progress is not None and folded:
            self._progress(self.events, sum(map(self._store.head_position, self._done)))

    # --- the end ---------------------------------------------------------------------------------

    def compare(self) -> tuple[TableReport, ...]:
        """Compare all rows as of one position."""
        for _ in range(_TRIES):
            self.catch_up(until_behind_by=0)
            with self._store.reading() as connection:
                if self._is_level(connection):
                    return self._compared(connection)
        with self._store.writing() as connection:
            self.catch_up(until_behind_by=0, locked=True)
            return self._compared(connection)

    def _is_level(self, connection: Connection) -> bool:
        heads = {row.part: row.pos for row in connection.execute(select(log.head.c.part, log.head.c.pos))}
        return heads == {part: done.until for part, done in self._done.items()}

    def _compared(self, connection: Connection) -> tuple[TableReport, ...]:
        pairs = zip(self._live.all, self._shadow.all, strict=True)
        return tuple(_compared(connection, live, rebuilt) for live, rebuilt in pairs)

    def swap(self) -> None:
        """Fold the last events and let the new tables take the live ones' names."""
        with self._store.writing() as connection:
            self._own(connection)
            self.catch_up(until_behind_by=0, locked=True)
            quote = connection.dialect.identifier_preparer.quote
            for name in (*(table.name for table in self._live.all), *RETIRED):
                connection.execute(text(f"DROP TABLE IF EXISTS {quote(name)}"))
            for old, new in zip(self._live.all, self._shadow.all, strict=True):
                connection.execute(text(f"ALTER TABLE {quote(new.name)} RENAME TO {quote(old.name)}"))
            meta = log.meta.c
            generation = update(log.meta).where(meta.name == GENERATION)
            connection.execute(generation.values(value=str(self._generation)))
            set_checkpoints(connection, {part: done.until for part, done in self._done.items()})
            connection.execute(delete(log.meta).where(meta.name.in_(list(_kept(connection)))))


def _kept(connection: Connection) -> dict[str, str]:
    """What is written down about a rebuild that is not complete; usually nothing."""
    rows = connection.execute(select(log.meta.c.name, log.meta.c.value))
    return {name: value for name, value in rows if name.split("_")[0] == _REBUILD}


def _slices(owners: Sequence[tuple[bytes, int]]) -> Iterator[list[tuple[bytes, int]]]:
    """Neighbours that have at most `_SLICE` events together, or a single owner who has more."""
    chosen: list[tuple[bytes, int]] = []
    size = 0
    for owner_ref, events in owners:
        if chosen and size + events > _SLICE:
            yield chosen
            chosen, size = [], 0
        chosen.append((owner_ref, events))
        size += events
    yield chosen


def _by_owner(entries: Sequence[RecordedEvent]) -> list[tuple[bytes, list[RecordedEvent]]]:
    """Events that are given owner by owner."""
    return [(owner_ref, list(group)) for owner_ref, group in groupby(entries, attrgetter("owner_ref"))]


def _compared(connection: Connection, live: Table, rebuilt: Table) -> TableReport:
    rebuilt_rows = connection.execute(select(func.count()).select_from(rebuilt)).scalar_one()
    # A table of an earlier version of the projections may lack columns: then it differs.
    found = {column["name"] for column in inspect(connection).get_columns(live.name)}
    if found != {column.name for column in live.columns}:
        return TableReport(live.name, 0, rebuilt_rows, 0)
    live_rows = connection.execute(select(func.count()).select_from(live)).scalar_one()
    same = and_(*(column.is_not_distinct_from(rebuilt.c[column.name]) for column in live.columns))
    key = and_(*(column == rebuilt.c[column.name] for column in live.primary_key.columns))
    equal = connection.execute(select(func.count()).select_from(live.join(rebuilt, key)).where(same))
    return TableReport(live.name, live_rows, rebuilt_rows, equal.scalar_one())


def _drop(connection: Connection, tables: Sequence[Table]) -> None:
    for table in tables:
        connection.execute(DropTable(table, if_exists=True))
