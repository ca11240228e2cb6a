"""Our recorder for eventsourcing's `Application`, plugged in by its persistence setting.

One application and one recorder per partition. What the library has no field for (owner, schema
version, codec, key) travels beside its stored events through `save(**kwargs)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from eventsourcing.application import Application
from eventsourcing.domain import DomainEventProtocol
from eventsourcing.persistence import (
    ApplicationRecorder,
    EventStore,
    InfrastructureFactory,
    InfrastructureFactoryError,
    Mapper,
    Notification,
    NotSupportedError,
    ProgrammingError,
    Recording,
    StoredEvent,
    TrackingRecorder,
)
from eventsourcing.utils import Environment, EnvType
from sqlalchemy import Connection, Dialect, Row, Select, bindparam, select, update

from ...domain.errors import (
    InvalidInputError,
    OwnerPositionConflictError,
    StoreUnavailableError,
    WrongExpectedVersionError,
)
from ...domain.events import Event
from ...domain.ports import Append, Clock
from ...domain.stream import NewEvent, RecordedEvent
from . import tables
from .codec import Codec, Encoded
from .driver import Prepared, driver_of, insert_into
from .ids import id_to_bytes, id_to_text
from .keyed import chain, from_microseconds, leaf_of, to_microseconds
from .projector import InlineProjector
from .sqlite import SqliteDatabase


class PendingEvent(NamedTuple):
    """A domain event with the names that the library reads."""

    originator_id: str
    originator_version: int
    event: Event


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


class EventMapper(Mapper[str]):
    """Turns events into stored ones by our codec alone; the library's transcoder is not asked."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec

    def to_stored_event(self, domain_event: DomainEventProtocol[str]) -> EnvelopedEvent:
        """Encode one pending event."""
        assert isinstance(domain_event, PendingEvent)
        stream_id, version, event = domain_event
        return EnvelopedEvent(stream_id, version, self._codec.encode(event))

    def to_stored_events(self, events: Sequence[NewEvent]) -> list[EnvelopedEvent]:
        """Encode new events, in order."""
        encode = self._codec.encode
        return [EnvelopedEvent(new.stream_id, new.stream_version, encode(new.event)) for new in events]

    def to_domain_event(self, stored_event: StoredEvent) -> DomainEventProtocol[str]:
        """Decode one stored event."""
        assert isinstance(stored_event, EnvelopedEvent)
        event = self._codec.decode(stored_event.encoded)
        return PendingEvent(str(stored_event.originator_id), stored_event.originator_version, event)


class LogEvents(EventStore[str]):
    """The library's event store, for events that come together with their owners."""

    def put(self, domain_events: Sequence[DomainEventProtocol[str]], **kwargs: Any) -> list[Recording[str]]:
        """Record the encoded events of `appends`; what was recorded stands in each append.

        Raises:
            ProgrammingError: events without an owner, that is beside `appends`.
        """
        appends: Sequence[PlannedAppend] = kwargs.get("appends", ())
        if domain_events or not appends:
            raise ProgrammingError("save() takes appends=, which names the owner of every event")
        self.recorder.insert_events([event for append in appends for event in append.stored], appends=appends)
        return []


@dataclass(frozen=True, slots=True)
class Partition:
    """What a recorder works with: one partition of one database."""

    database: SqliteDatabase
    part: int
    clock: Clock
    projector: InlineProjector | None = None


class LogRecorder(ApplicationRecorder):
    """Appends to one partition and reads from it.

    A position is taken from the partition's head inside the transaction that inserts the event:
    gapless, and in the order of the commits.
    """

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._statements = AppendStatements(partition.database.dialect)

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int]:
        """Append the events of `appends`, which must be those of `stored_events`, in order.

        Raises:
            OwnerPositionConflictError: an owner's position is not the expected one.
            sqlalchemy.exc.IntegrityError: a stream has such a version already.
        """
        appends: Sequence[PlannedAppend] = kwargs["appends"]
        with self._partition.database.writing() as connection:
            transaction = _Transaction(self._partition, connection, self._statements, appends)
            positions = transaction.write(stored_events)
            _project(self._partition, connection, appends)
        return positions

    def select_events(
        self,
        originator_id: Any,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        """Events of one stream with `gt < version <= lte`."""
        version = tables.event.c.stream_version
        query = (
            select(tables.event)
            .where(tables.event.c.stream_id == id_to_bytes(str(originator_id)))
            .order_by(version.desc() if desc else version)
            .limit(limit)
        )
        query = query if gt is None else query.where(version > gt)
        query = query if lte is None else query.where(version <= lte)
        return [_enveloped(row) for row in self._rows(query)]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """The partition's log from `start` to `stop`, both included unless said otherwise."""
        position = tables.event.c.pos
        query = select(tables.event).where(tables.event.c.part == self._partition.part)
        if start is not None:
            query = query.where(position >= start if inclusive_of_start else position > start)
        query = query if stop is None else query.where(position <= stop)
        query = query.where(tables.event.c.topic.in_(topics)) if topics else query
        return [
            Notification(id_to_text(row.stream_id), row.stream_version, row.topic, row.state, row.pos)
            for row in self._rows(query.order_by(position).limit(limit))
        ]

    def max_notification_id(self) -> int | None:
        """The head's position, None before the first event."""
        query = select(tables.head).where(tables.head.c.part == self._partition.part)
        return self._rows(query)[0].pos or None

    def subscribe(self, gt: int | None = None, topics: Sequence[str] = ()) -> NoReturn:
        """Refused: readers of this log follow it by position."""
        raise NotSupportedError("this log is not pushed; read it on with select_notifications()")

    def _rows(self, query: Select[Any]) -> Sequence[Row[Any]]:
        with self._partition.database.reading() as connection:
            return connection.execute(query).all()


def _enveloped(row: Row[Any]) -> EnvelopedEvent:
    encoded = Encoded(row.topic, row.schema_version, row.codec, row.key_id, row.state)
    return EnvelopedEvent(id_to_text(row.stream_id), row.stream_version, encoded)


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


class _Transaction:
    """Writes appends after the head of one partition."""

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


def _project(partition: Partition, connection: Connection, appends: Sequence[PlannedAppend]) -> None:
    """Hand each owner's new events to the projections, in one piece."""
    if partition.projector is None:
        return
    by_owner: dict[bytes, list[RecordedEvent]] = {}
    for append in appends:
        by_owner.setdefault(append.owner_ref, []).extend(append.recorded)
    for owner_ref, events in by_owner.items():
        partition.projector.apply(connection, partition.part, owner_ref, events)


class LogFactory(InfrastructureFactory[TrackingRecorder]):
    """Builds the recorder of the partition that it was given."""

    partition: Partition | None = None

    def application_recorder(self) -> LogRecorder:
        """The partition's recorder."""
        if self.partition is None:
            raise InfrastructureFactoryError("give the factory a partition first")
        return LogRecorder(self.partition)

    def aggregate_recorder(self, purpose: str = "events") -> NoReturn:
        """Refused: there are no snapshots; events carry the whole statement."""
        raise InfrastructureFactoryError(f"no separate recorder for {purpose}")

    def tracking_recorder(self, tracking_recorder_class: object = None) -> NoReturn:
        """Refused: projections keep their own checkpoints."""
        raise InfrastructureFactoryError("projections keep their own checkpoints")

    def process_recorder(self) -> NoReturn:
        """Refused: projections keep their own checkpoints."""
        raise InfrastructureFactoryError("projections keep their own checkpoints")


class Log(Application[str]):
    """One partition's log as an eventsourcing application."""

    def __init__(self, partition: Partition, codec: Codec) -> None:
        self._partition, self._events_mapper = partition, EventMapper(codec)
        super().__init__({"PERSISTENCE_MODULE": __name__})

    def construct_env(self, name: str, env: EnvType | None = None) -> Environment:
        """Only our settings: another application's variables in this process must not reach us."""
        return Environment(name, env)

    def construct_factory(self, env: Environment) -> InfrastructureFactory[TrackingRecorder]:
        """The factory that the persistence setting names, with the partition handed to it."""
        factory = super().construct_factory(env)
        assert isinstance(factory, LogFactory)
        factory.partition = self._partition
        return factory

    def planned(self, owner_ref: bytes, batch: Append) -> PlannedAppend:
        """Encode what one owner wants written, before anybody waits for it."""
        stored = self._events_mapper.to_stored_events(batch.events)
        return PlannedAppend(self._partition.part, owner_ref, batch, stored)

    def save(self, *objs: Any, **kwargs: Any) -> list[Recording[str]]:
        """Record `appends`. There are no aggregates to collect, no snapshots and no subscribers."""
        if objs:
            return super().save(*objs, **kwargs)
        return self.events.put((), **kwargs)

    def construct_event_store(self) -> LogEvents:
        """Our event store, on the library's mapper and recorder."""
        return LogEvents(self.mapper, self.recorder)

    def construct_mapper(self) -> EventMapper:
        """Our mapper; it needs the codec, which no setting can name."""
        return self._events_mapper
