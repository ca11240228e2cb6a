"""The tables of a rebuild in the making: folded owner by owner, by as many processes as there are halves.

Beside the tables stands how far each half is, in the transaction that writes the rows: what was
interrupted goes on from there. And whose they are: a rebuild that finds another token there has been
taken over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from sqlalchemy import Connection, and_, delete, func, insert, inspect, select, text, update
from sqlalchemy.schema import DropTable

from ....domain.errors import StoreUnavailableError
from ....domain.many_objects import many_objects
from ....domain.stream import RecordedEvent
from ....projections.memories import Shaping
from .. import tables as log
from ..codec import Codec
from ..driver import driver_of
from ..store import SqlEventStore
from .checkpoints import create_tables
from .projector import RowFolder
from .streams import EventReader
from .tables import view_tables
from .writer import Work, execute

SLICE = 1_000
"""Events that are in memory at a time, and written in one transaction. An owner who has more of them is
folded in pieces of the log."""
_KEPT = 20_000
"""Events of memories that are remembered from one piece to the next."""
_SUFFIX, _FORMER = "_rebuilt", "_former"
_MARK = "rebuild"
_OWNERS = 2_000

HALVES = ((b"", bytes([0x7F]) + bytes([0xFF]) * 15), (bytes([0x7F]) + bytes([0xFF]) * 15, bytes([0xFF]) * 16))
"""Owners of each half: from behind the first reference up to and with the second. References are hashes,
so that the halves are about equal."""

Told = Callable[[int], None]
"""Called after each transaction with the number of events that were folded."""


@dataclass(frozen=True, slots=True)
class _Half:
    """How far one half of a partition is.

    The owners up to `owner` have their events up to position `until`, the next one those up to `within`.
    """

    until: int
    owner: bytes
    within: int = 0

    def __str__(self) -> str:
        return json.dumps([self.until, self.owner.hex(), self.within])

    @classmethod
    def parse(cls, kept: str) -> _Half:
        until, owner, within = json.loads(kept)
        return cls(until, bytes.fromhex(owner), within)


class Shadow:
    """The tables of one rebuild.

    Args:
        store: The store.
        shaping: What rows depend on besides the events.
        codec: Reads payloads.
        generation: Of the tables.
        token: Says whose they are.
    """

    def __init__(
        self, store: SqlEventStore, shaping: Shaping, codec: Codec, generation: int, token: str
    ) -> None:
        self.tables, self.generation, self.token = view_tables(generation, _SUFFIX), generation, token
        self._store = store
        with store.reading() as connection:
            dialect = connection.dialect
        self._reader = EventReader(codec, dialect)
        self._whole = RowFolder(self.tables, shaping, codec, dialect, kept_events=0)
        self._pieces = RowFolder(self.tables, shaping, codec, dialect, kept_events=_KEPT)

    # --- whose they are, and how far -------------------------------------------------------------

    def take(self, kind: str, *, fresh: bool) -> None:
        """Take over what an interrupted rebuild of the same kind left, else create the tables."""
        self.drop_former()  # of one that was interrupted at its very end
        with self._store.writing() as connection:
            kept = _kept(connection)
            same = kept.get(_MARK, "").split()[:2] == [str(self.generation), kind]
            if not same or fresh:
                _drop(connection, self)
                create_tables(connection, self.tables)
                for part in self._store.partitions:
                    until = self._store.head_position(part)
                    _keep(connection, _reached(part), str(until))
                    for half, (first, _) in enumerate(HALVES):
                        _keep(connection, _name(part, half), str(_Half(until, first)))
            _keep(connection, _MARK, f"{self.generation} {kind} {self.token}")

    def reached(self, part: int) -> int:
        """The position up to which a partition is folded, once both of its halves are."""
        with self._store.reading() as connection:
            return int(_kept(connection)[_reached(part)])

    def check_owned(self, connection: Connection) -> None:
        """Refuse to go on with what another rebuild took over.

        Raises:
            StoreUnavailableError: another one did.
        """
        if not _kept(connection).get(_MARK, "").endswith(self.token):
            raise StoreUnavailableError(
                self._store.where, "another rebuild took over", "wait for it: it goes on where this one was"
            )

    def drop(self) -> None:
        """Drop the tables, unless another rebuild goes on with them."""
        with self._store.writing() as connection:
            if _kept(connection).get(_MARK, "").endswith(self.token):
                _drop(connection, self)

    def take_place(self, connection: Connection, live: Sequence[str]) -> None:
        """Give the tables the names of the live ones, which get others."""
        there, quote = (
            set(inspect(connection).get_table_names()),
            connection.dialect.identifier_preparer.quote,
        )
        names = [(name, name + _FORMER) for name in live if name in there]
        names += [(table.name, table.name.removesuffix(_SUFFIX)) for table in self.tables.all]
        for name, other in names:
            connection.execute(text(f"ALTER TABLE {quote(name)} RENAME TO {quote(other)}"))
        _forget(connection)

    def drop_former(self) -> None:
        """Drop what the live tables were, one after the other: a big one takes a while."""
        with self._store.reading() as connection:
            former = [name for name in inspect(connection).get_table_names() if name.endswith(_FORMER)]
        for name in former:
            with self._store.writing() as connection:
                quoted = connection.dialect.identifier_preparer.quote(name)
                connection.execute(text(f"DROP TABLE IF EXISTS {quoted}"))

    def _write(self, work: Work, name: str, value: str) -> None:
        with self._store.writing() as connection:
            self.check_owned(connection)
            execute(driver_of(connection), work)
            _keep(connection, name, value)

    # --- folding ---------------------------------------------------------------------------------

    def folded(self) -> int:
        """How many events are folded already: by an interrupted rebuild, before this one goes on."""
        with self._store.reading() as connection:
            kept = _kept(connection)
            parts = self._store.partitions
            reached = sum(int(kept[_reached(part)]) for part in parts)
            return reached - sum(
                _left(connection, part, _Half.parse(kept[_name(part, half)]), last)
                for part in parts
                for half, (_, last) in enumerate(HALVES)
            )

    def fold_half(self, part: int, half: int, told: Told) -> None:
        """Fold all events that were there at the beginning of the owners of a half."""
        last = HALVES[half][1]
        with self._store.reading() as connection:
            done = _Half.parse(_kept(connection)[_name(part, half)])
        while owners := self._owners(part, done, last):
            for chosen in _slices(owners):
                if len(chosen) == 1 and chosen[0][1] > SLICE:
                    done = self._fold_in_pieces(part, half, done, chosen[0][0], told)
                else:
                    done = self._fold_whole(part, half, done, chosen, told)
        self._write([], _name(part, half), str(replace(done, owner=last)))

    def _owners(self, part: int, done: _Half, last: bytes) -> list[tuple[bytes, int]]:
        with self._store.reading() as connection:
            return self._reader.owners(
                driver_of(connection), part, after=done.owner, last=last, until=done.until, limit=_OWNERS
            )

    def _fold_whole(
        self, part: int, half: int, done: _Half, owners: Sequence[tuple[bytes, int]], told: Told
    ) -> _Half:
        first, last = owners[0][0], owners[-1][0]
        after = replace(done, owner=last, within=0)
        with many_objects():
            with self._store.reading() as connection:
                driver = driver_of(connection)
                entries = self._reader.among(driver, part, first, last, done.until)
                work = self._whole.fold(driver, _by_owner(entries))
            self._write(work, _name(part, half), str(after))
            folded = len(entries)
            del entries, work
        told(folded)
        return after

    def _fold_in_pieces(self, part: int, half: int, done: _Half, owner_ref: bytes, told: Told) -> _Half:
        while True:
            with self._store.reading() as connection:
                driver = driver_of(connection)
                entries = self._reader.page(
                    driver, part, owner_ref, after=done.within, until=done.until, limit=SLICE
                )
                work = self._pieces.fold(driver, [(owner_ref, entries)] if entries else [])
            if not entries:
                return replace(done, owner=owner_ref, within=0)
            done = replace(done, within=entries[-1].position)
            self._write(work, _name(part, half), str(done))
            told(len(entries))

    def catch_up(self, part: int, told: Told, *, until_behind_by: int = 0, locked: bool = False) -> None:
        """Fold what was appended meanwhile, until at most so many events are left.

        `locked`: this thread's write transaction is open, and sees what was not committed yet.
        """
        reading, reached = (self._store.writing if locked else self._store.reading), self.reached(part)
        while self._store.head_position(part) - reached > until_behind_by:
            with reading() as connection:
                driver = driver_of(connection)
                entries = self._reader.log(driver, part, after=reached, limit=SLICE)
                entries.sort(key=attrgetter("owner_ref", "position"))
                work = self._pieces.fold(driver, _by_owner(entries))
            reached = max(entry.position for entry in entries)
            self._write(work, _reached(part), str(reached))
            told(len(entries))


def _left(connection: Connection, part: int, done: _Half, last: bytes) -> int:
    """How many events of a half are still to be folded."""
    event = log.event.c
    others = and_(event.part == part, event.owner_ref > done.owner, event.owner_ref <= last)
    left = connection.execute(select(func.count()).where(others, event.pos <= done.until)).scalar_one()
    if done.within:
        next_one = select(func.min(event.owner_ref)).where(others).scalar_subquery()
        folded = and_(event.part == part, event.owner_ref == next_one, event.pos <= done.within)
        left -= connection.execute(select(func.count()).where(folded)).scalar_one()
    return int(left)


def _reached(part: int) -> str:
    return f"{_MARK}_{part}"


def _name(part: int, half: int) -> str:
    return f"{_MARK}_{part}_{half}"


def _kept(connection: Connection) -> dict[str, str]:
    """What is written down about a rebuild that is not complete; usually nothing."""
    rows = connection.execute(select(log.meta.c.name, log.meta.c.value))
    return {row.name: row.value for row in rows if row.name.split("_")[0] == _MARK}


def _keep(connection: Connection, name: str, value: str) -> None:
    changed = connection.execute(update(log.meta).where(log.meta.c.name == name).values(value=value))
    if changed.rowcount == 0:
        connection.execute(insert(log.meta), {"name": name, "value": value})


def _forget(connection: Connection) -> None:
    connection.execute(delete(log.meta).where(log.meta.c.name.in_(list(_kept(connection)))))


def _drop(connection: Connection, shadow: Shadow) -> None:
    for table in shadow.tables.all:
        connection.execute(DropTable(table, if_exists=True))
    _forget(connection)


def _slices(owners: Sequence[tuple[bytes, int]]) -> Iterator[list[tuple[bytes, int]]]:
    """Neighbours that have at most `SLICE` events together, or a single owner who has more."""
    chosen: list[tuple[bytes, int]] = []
    size = 0
    for owner_ref, events in owners:
        if chosen and size + events > SLICE:
            yield chosen
            chosen, size = [], 0
        chosen.append((owner_ref, events))
        size += events
    yield chosen


def _by_owner(entries: Sequence[RecordedEvent]) -> list[tuple[bytes, list[RecordedEvent]]]:
    """Events that are given owner by owner."""
    return [(owner_ref, list(group)) for owner_ref, group in groupby(entries, attrgetter("owner_ref"))]
