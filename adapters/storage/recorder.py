"""Our recorder for eventsourcing's `Application`, plugged in by its persistence setting.

One application and one recorder per partition. What the library has no field for (owner, schema
version, codec, key) travels beside its stored events through `save(**kwargs)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NoReturn

from eventsourcing.application import Application
from eventsourcing.domain import DomainEventProtocol
from eventsourcing.persistence import (
    ApplicationRecorder,
    InfrastructureFactory,
    InfrastructureFactoryError,
    Mapper,
    Notification,
    NotSupportedError,
    ProgrammingError,
    StoredEvent,
    TrackingRecorder,
)
from eventsourcing.utils import Environment, EnvType
from sqlalchemy import Connection, Dialect, Row, Select, Table, bindparam, insert, select, tuple_, update

from ...domain.errors import (
    InvalidInputError,
    OwnerPositionConflictError,
    StoreUnavailableError,
    WrongExpectedVersionError,
)
from ...domain.events import Event
from ...domain.ports import Clock
from ...domain.stream import RecordedEvent
from . import tables
from .codec import Codec, Encoded
from .ids import id_to_bytes, id_to_text
from .keyed import chain, from_microseconds, leaf_of, to_microseconds
from .projector import InlineProjector
from .sqlite import SqliteDatabase


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """A domain event with the names that the library reads."""

    originator_id: str
    originator_version: int
    event: Event


@dataclass(frozen=True)
class EnvelopedEvent(StoredEvent):
    """The library's stored event with the envelope columns that it lacks."""

    schema_version: int
    codec: int
    key_id: bytes


@dataclass(slots=True)
class PlannedAppend:
    """One owner's events on their way into the log; `recorded` is filled when they are there."""

    owner_ref: bytes
    events: Sequence[PendingEvent]
    expected: int | None
    clock: datetime | None
    recorded: list[RecordedEvent] = field(default_factory=list)


class Pending:
    """Hands the events of several appends to `Application.save` in one piece."""

    def __init__(self, appends: Sequence[PlannedAppend]) -> None:
        self.id, self._appends = "", appends

    def collect_events(self) -> Sequence[DomainEventProtocol[Any]]:
        """Every append's events, in order."""
        return [event for append in self._appends for event in append.events]


class EventMapper(Mapper[str]):
    """Turns events into stored ones by our codec alone; the library's transcoder is not asked."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec

    def to_stored_event(self, domain_event: DomainEventProtocol[str]) -> EnvelopedEvent:
        """Encode one pending event."""
        assert isinstance(domain_event, PendingEvent)
        encoded = self._codec.encode(domain_event.event)
        return EnvelopedEvent(
            domain_event.originator_id,
            domain_event.originator_version,
            encoded.topic,
            encoded.state,
            encoded.schema_version,
            encoded.codec,
            encoded.key_id,
        )

    def to_domain_event(self, stored_event: StoredEvent) -> DomainEventProtocol[str]:
        """Decode one stored event."""
        assert isinstance(stored_event, EnvelopedEvent)
        encoded = Encoded(
            stored_event.topic,
            stored_event.schema_version,
            stored_event.codec,
            stored_event.key_id,
            stored_event.state,
        )
        event = self._codec.decode(encoded)
        return PendingEvent(str(stored_event.originator_id), stored_event.originator_version, event)


class RowInsert:
    """An insert rendered once for the dialect and handed to the driver as it is.

    Measured at 1,000 rows: building SQLAlchemy's parameter dictionaries costs more than the insert.
    """

    def __init__(self, table: Table, dialect: Dialect) -> None:
        self._names = [column.name for column in table.columns]
        compiled = insert(table).compile(dialect=dialect, column_keys=self._names)
        self._sql, self._positional = str(compiled), dialect.positional

    def execute(self, connection: Connection, rows: list[tuple[Any, ...]]) -> None:
        """Insert rows whose values stand in the order of the table's columns."""
        if self._positional:
            connection.exec_driver_sql(self._sql, rows)
        else:
            connection.exec_driver_sql(self._sql, [dict(zip(self._names, row, strict=True)) for row in rows])


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
        self._insert = RowInsert(tables.event, partition.database.dialect)

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int]:
        """Append the events of `appends`, which must be those of `stored_events`, in order.

        Raises:
            OwnerPositionConflictError: an owner's position is not the expected one.
            sqlalchemy.exc.IntegrityError: a stream has such a version already.
            ProgrammingError: `appends` is missing, so that no owner is named.
        """
        appends: Sequence[PlannedAppend] | None = kwargs.get("appends")
        if appends is None:
            raise ProgrammingError("insert_events() needs appends=, which names the owners")
        with self._partition.database.writing() as connection:
            return _Transaction(self._partition, connection, appends).write(stored_events, self._insert)

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
    return EnvelopedEvent(
        id_to_text(row.stream_id),
        row.stream_version,
        row.topic,
        row.state,
        row.schema_version,
        row.codec,
        row.key_id,
    )


_head = tables.head
_owner = tables.owner
# FOR UPDATE orders the writers of a partition; on SQLite, which has none, BEGIN IMMEDIATE did so.
_SELECT_HEAD = (
    select(_head.c.pos, _head.c.recorded_at, _head.c.digest)
    .where(_head.c.part == bindparam("p"))
    .with_for_update()
)
_UPDATE_HEAD = update(_head).where(_head.c.part == bindparam("p"))
_SELECT_OWNERS = select(_owner.c.owner_ref, _owner.c.pos).where(
    _owner.c.part == bindparam("p"), _owner.c.owner_ref.in_(bindparam("refs", expanding=True))
)
_UPDATE_OWNER = (
    update(_owner)
    .where(_owner.c.part == bindparam("p"), _owner.c.owner_ref == bindparam("ref"))
    .values(pos=bindparam("new"))
)
_event = tables.event
_SELECT_FORMER = select(_event.c.stream_id, _event.c.stream_version, _event.c.owner_ref).where(
    tuple_(_event.c.stream_id, _event.c.stream_version).in_(bindparam("former", expanding=True))
)
_CHUNK = 500
"""Values in one IN: every database takes as many."""


class _StreamGuard:
    """Keeps streams whole: versions follow each other, and all events of one are one owner's.

    That a version is not taken twice is the table's unique constraint; it cannot see a gap.
    """

    def __init__(self) -> None:
        self._last: dict[bytes, tuple[int, bytes]] = {}
        self._former: dict[tuple[bytes, int], bytes] = {}

    def take(self, stream_id: bytes, version: int, owner_ref: bytes) -> None:
        """Note one event that is about to be written, in order."""
        last, of = self._last.get(stream_id, (version - 1, owner_ref))
        if version <= last:
            raise WrongExpectedVersionError(id_to_text(stream_id), version)
        if version != last + 1 or of != owner_ref or version < 1:
            raise _gap(stream_id, version)
        if stream_id not in self._last and version > 1:
            self._former[stream_id, version - 1] = owner_ref
        self._last[stream_id] = (version, owner_ref)

    def check_former(self, connection: Connection) -> None:
        """Every stream that is continued stands where its first new event expects it."""
        todo = list(self._former)
        for start in range(0, len(todo), _CHUNK):
            some = {"former": todo[start : start + _CHUNK]}
            for stream_id, version, owner_ref in connection.execute(_SELECT_FORMER, some):
                if self._former.get((stream_id, version)) == owner_ref:
                    del self._former[stream_id, version]
        for stream_id, version in self._former:
            raise _gap(stream_id, version + 1)


def _gap(stream_id: bytes, version: int) -> InvalidInputError:
    problem = f"this owner's stream {id_to_text(stream_id)} does not end just before {version}"
    return InvalidInputError("stream_version", problem, "load the stream and number on from its end")


class _Transaction:
    """Writes appends after the head of one partition."""

    def __init__(
        self, partition: Partition, connection: Connection, appends: Sequence[PlannedAppend]
    ) -> None:
        self._partition, self._connection, self._appends = partition, connection, appends
        head = connection.execute(_SELECT_HEAD, {"p": partition.part}).one_or_none()
        if head is None:
            raise StoreUnavailableError(
                partition.database.where, f"partition {partition.part} has no head", "restore from a backup"
            )
        self._position, self._recorded_at, self._digest = head
        self._owners = self._owner_positions()
        self._known = set(self._owners)
        self._streams = _StreamGuard()

    def write(self, stored_events: Sequence[StoredEvent], rows_into: RowInsert) -> list[int]:
        """Insert, project, and move owners and head; return the positions."""
        first, todo = self._position + 1, iter(stored_events)
        rows: list[tuple[Any, ...]] = []
        for append in self._appends:
            self._take(append)
            moment = append.clock or self._partition.clock.now()
            self._recorded_at = max(self._recorded_at, to_microseconds(moment))
            append.recorded = [self._record(append, pending, next(todo), rows) for pending in append.events]
            self._owners[append.owner_ref] = self._position
        self._streams.check_former(self._connection)
        rows_into.execute(self._connection, rows)
        self._advance()
        self._project()
        return list(range(first, self._position + 1))

    def _owner_positions(self) -> dict[bytes, int]:
        refs = list({append.owner_ref for append in self._appends})
        found: dict[bytes, int] = {}
        for start in range(0, len(refs), _CHUNK):
            some = {"p": self._partition.part, "refs": refs[start : start + _CHUNK]}
            found.update((ref, pos) for ref, pos in self._connection.execute(_SELECT_OWNERS, some))
        return found

    def _take(self, append: PlannedAppend) -> None:
        actual = self._owners.get(append.owner_ref, 0)
        if append.expected is not None and append.expected != actual:
            raise OwnerPositionConflictError(append.expected, actual)

    def _record(
        self,
        append: PlannedAppend,
        pending: PendingEvent,
        stored: StoredEvent,
        rows: list[tuple[Any, ...]],
    ) -> RecordedEvent:
        assert isinstance(stored, EnvelopedEvent)
        self._position += 1
        stream_id = id_to_bytes(pending.originator_id)
        self._streams.take(stream_id, pending.originator_version, append.owner_ref)
        # In the order of both the leaf's arguments and the table's columns.
        body = (
            append.owner_ref,
            stream_id,
            pending.originator_version,
            stored.topic,
            stored.schema_version,
            self._recorded_at,
            stored.codec,
            stored.key_id,
            stored.state,
        )
        leaf = leaf_of(*body)
        self._digest = chain(self._digest, self._position, leaf)
        rows.append((self._partition.part, self._position, *body, leaf, self._digest))
        return RecordedEvent(
            self._position,
            pending.originator_id,
            pending.originator_version,
            from_microseconds(self._recorded_at),
            pending.event,
            append.owner_ref,
        )

    def _advance(self) -> None:
        part = self._partition.part
        moved = {ref: pos for ref, pos in self._owners.items() if ref in self._known}
        new = [
            {"part": part, "owner_ref": ref, "pos": pos}
            for ref, pos in self._owners.items()
            if ref not in self._known
        ]
        if moved:
            values = [{"p": part, "ref": ref, "new": pos} for ref, pos in moved.items()]
            self._connection.execute(_UPDATE_OWNER, values)
        if new:
            self._connection.execute(insert(_owner), new)
        self._connection.execute(
            _UPDATE_HEAD,
            {
                "p": part,
                "pos": self._position,
                "recorded_at": self._recorded_at,
                "digest": self._digest,
            },
        )

    def _project(self) -> None:
        projector = self._partition.projector
        if projector is None:
            return
        by_owner: dict[bytes, list[RecordedEvent]] = {}
        for append in self._appends:
            by_owner.setdefault(append.owner_ref, []).extend(append.recorded)
        for owner_ref, events in by_owner.items():
            projector.apply(self._connection, self._partition.part, owner_ref, events)


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
        self._partition, self._codec = partition, codec
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

    def construct_mapper(self) -> EventMapper:
        """Our mapper; it needs the codec, which no setting can name."""
        return EventMapper(self._codec)
