"""What one transaction of appends does: compare, insert, move owners and head, project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from eventsourcing.persistence import StoredEvent
from sqlalchemy import Connection, Dialect, bindparam, select, update

from ...domain.errors import (
    InvalidInputError,
    OwnerPositionConflictError,
    StoreUnavailableError,
    WrongExpectedVersionError,
)
from ...domain.ports import Append, Clock
from ...domain.stream import RecordedEvent
from . import tables
from .codec import Encoded
from .driver import Prepared, driver_of, insert_into
from .ids import id_to_bytes, id_to_text
from .keyed import chain, from_microseconds, leaf_of, to_microseconds
from .projector import InlineProjector
from .sqlite import SqliteDatabase


class EnvelopedEvent(StoredEvent):
    """The library's stored event, with everything that the codec said."""

    __slots__ = ("encoded", "originator_id", "originator_version")

    encoded: Encoded

    def __init__(self, originator_id: str, originator_version: int, encoded: Encoded) -> None:
        # Past the frozen dataclass, which sets field by field and takes three times as long.
        _set_id(self, originator_id)
        _set_version(self, originator_version)
        _set_encoded(self, encoded)

    @property
    def topic(self) -> str:
        """The event type's stored name."""
        return self.encoded.topic

    @property
    def state(self) -> bytes:
        """The payload as stored."""
        return self.encoded.state


_set_id, _set_version, _set_encoded = (
    vars(EnvelopedEvent)[name].__set__ for name in ("originator_id", "originator_version", "encoded")
)


class PlannedAppend:
    """One owner's events on their way into the log, encoded; `recorded` is filled when they are there."""

    __slots__ = ("clock", "events", "expected", "owner_ref", "part", "recent", "recorded", "stored")

    def __init__(self, part: int, owner_ref: bytes, batch: Append, stored: Sequence[EnvelopedEvent]) -> None:
        self.part, self.owner_ref, self.stored = part, owner_ref, stored
        self.events, self.clock, self.recent = batch.events, batch.clock, batch.recent
        self.expected = batch.expected_owner_position
        self.recorded: list[RecordedEvent] = []


@dataclass(frozen=True, slots=True)
class Partition:
    """What a recorder works with: one partition of one database."""

    database: SqliteDatabase
    part: int
    clock: Clock
    projector: InlineProjector | None = None


class AppendStatements:
    """What an append says to the database, rendered once.

    Owners and streams are asked for one by one: the database is in this process, and a question takes
    two microseconds, less than it takes to write a longer one.
    """

    def __init__(self, dialect: Dialect) -> None:
        head, owner, event = tables.head, tables.owner, tables.event
        # FOR UPDATE orders the writers of a partition; SQLite has none, there BEGIN IMMEDIATE does.
        self.head = Prepared(
            select(head.c.pos, head.c.recorded_at, head.c.digest)
            .where(head.c.part == bindparam("p"))
            .with_for_update(),
            dialect,
            ["p"],
        )
        self.move_head = Prepared(
            update(head)
            .where(head.c.part == bindparam("p"))
            .values(pos=bindparam("n"), recorded_at=bindparam("at"), digest=bindparam("d")),
            dialect,
            ["n", "at", "d", "p"],
        )
        this_owner = (owner.c.part == bindparam("p"), owner.c.owner_ref == bindparam("ref"))
        self.owner = Prepared(select(owner.c.pos).where(*this_owner), dialect, ["p", "ref"])
        self.move_owner = Prepared(
            update(owner).where(*this_owner).values(pos=bindparam("n")), dialect, ["n", "p", "ref"]
        )
        self.former = Prepared(
            select(event.c.owner_ref).where(
                event.c.stream_id == bindparam("s"), event.c.stream_version == bindparam("v")
            ),
            dialect,
            ["s", "v"],
        )
        self.insert_event = insert_into(tables.event, dialect)
        self.insert_owner = insert_into(tables.owner, dialect)


class _Streams:
    """Keeps streams whole: versions follow each other, and all events of one are one owner's.

    That a version is not taken twice is the table's unique constraint; it cannot see a gap.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[bytes, int, bytes]] = {}
        self.former: dict[tuple[bytes, int], bytes] = {}
        """Events that must stand in the log already, with whose they must be."""

    def take(self, stream: str, version: int, owner_ref: bytes) -> bytes:
        """Note one event that is about to be written, in order; the stream's id as stored."""
        known = self._last.get(stream)
        if known is None:
            stream_id = id_to_bytes(stream)
            if version > 1:
                self.former[stream_id, version - 1] = owner_ref
            elif version < 1:
                raise _gap(stream, version)
        else:
            stream_id, last, of = known
            if version <= last:
                raise WrongExpectedVersionError(stream, version)
            if version != last + 1 or of != owner_ref:
                raise _gap(stream, version)
        self._last[stream] = (stream_id, version, owner_ref)
        return stream_id


def _gap(stream: str, version: int) -> InvalidInputError:
    problem = f"this owner's stream {stream} does not end just before {version}"
    return InvalidInputError("stream_version", problem, "load the stream and number on from its end")


class AppendTransaction:
    """Writes appends after the head of one partition.

    A position is taken from the head inside the transaction that inserts the event: gapless, and in the
    order of the commits.
    """

    def __init__(
        self,
        partition: Partition,
        connection: Connection,
        statements: AppendStatements,
        appends: Sequence[PlannedAppend],
    ) -> None:
        self._partition, self._connection, self._statements = partition, connection, statements
        self._part, self._appends, self._streams = partition.part, appends, _Streams()
        self._driver = driver_of(connection)

    def write(self, stored_events: Sequence[StoredEvent]) -> list[int]:
        """Compare, insert, and move owners and head; return the positions."""
        driver, statements, part = self._driver, self._statements, self._part
        head = driver.one(statements.head, part)
        if head is None:
            problem = f"partition {part} has no head"
            raise StoreUnavailableError(self._partition.database.where, problem, "restore from a backup")
        self._position, self._recorded_at, self._digest = head
        self._owners = self._read_owners()
        known, first = set(self._owners), self._position + 1
        rows = self._rows(iter(stored_events))
        self._check_former()
        driver.run_many(statements.insert_event, rows)
        for owner_ref, position in self._owners.items():
            if owner_ref in known:
                driver.run(statements.move_owner, position, part, owner_ref)
            else:
                driver.run(statements.insert_owner, part, owner_ref, position)
        driver.run(statements.move_head, self._position, self._recorded_at, self._digest, part)
        return list(range(first, self._position + 1))

    def _rows(self, stored_events: Iterator[StoredEvent]) -> list[tuple[Any, ...]]:
        """Rows for the log; `recorded` of each append is filled beside them."""
        part, owners, take = self._part, self._owners, self._streams.take
        position, recorded_at, digest = self._position, self._recorded_at, self._digest
        rows: list[tuple[Any, ...]] = []
        for append in self._appends:
            owner_ref, expected, recorded = append.owner_ref, append.expected, []
            if expected is not None and expected != owners.get(owner_ref, 0):
                raise OwnerPositionConflictError(expected, owners.get(owner_ref, 0))
            recorded_at = max(recorded_at, to_microseconds(append.clock or self._partition.clock.now()))
            moment = from_microseconds(recorded_at)
            # `append.events` first: zip takes from the stored ones only when there is a match for them.
            for new, stored in zip(append.events, stored_events, strict=False):
                assert isinstance(stored, EnvelopedEvent)
                stream, version = new.stream_id, new.stream_version
                topic, schema_version, codec, key_id, state = stored.encoded
                stream_id = take(stream, version, owner_ref)
                position += 1
                leaf = leaf_of(
                    owner_ref, stream_id, version, topic, schema_version, recorded_at, codec, key_id, state
                )
                digest = chain(digest, position, leaf)
                rows.append(
                    (
                        part,
                        position,
                        owner_ref,
                        stream_id,
                        version,
                        topic,
                        schema_version,
                        recorded_at,
                        codec,
                        key_id,
                        state,
                        leaf,
                        digest,
                    )
                )
                recorded.append(RecordedEvent(position, stream, version, moment, new.event, owner_ref))
            owners[owner_ref], append.recorded = position, recorded
        self._position, self._recorded_at, self._digest = position, recorded_at, digest
        return rows

    def _read_owners(self) -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        for owner_ref in {append.owner_ref for append in self._appends}:
            row = self._driver.one(self._statements.owner, self._part, owner_ref)
            if row is not None:
                found[owner_ref] = row[0]
        return found

    def _check_former(self) -> None:
        """Every stream that is continued stands where its first new event expects it."""
        for (stream_id, version), owner_ref in self._streams.former.items():
            row = self._driver.one(self._statements.former, stream_id, version)
            if row is None or row[0] != owner_ref:
                raise _gap(id_to_text(stream_id), version + 1)

    def project(self) -> None:
        """Hand each owner's new events to the projections, in one piece."""
        projector = self._partition.projector
        if projector is None:
            return
        by_owner: dict[bytes, list[RecordedEvent]] = {}
        for append in self._appends:
            by_owner.setdefault(append.owner_ref, []).extend(append.recorded)
        for owner_ref, events in by_owner.items():
            projector.apply(self._connection, self._part, owner_ref, events)
