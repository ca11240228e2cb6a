"""Our recorder for eventsourcing's `Application`, plugged in by its persistence setting.

One application and one recorder per partition. What the library has no field for (owner, schema
version, codec, key) travels beside its stored events through `save(**kwargs)`.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from sqlalchemy import Row, Select, select

from ...domain.events import Event
from ...domain.ports import Append
from ...domain.stream import NewEvent
from . import tables
from .appending import AppendStatements, AppendTransaction, EnvelopedEvent, Partition, PlannedAppend
from .codec import Codec, Encoded
from .ids import id_to_bytes, id_to_text


class PendingEvent(NamedTuple):
    """A domain event with the names that the library reads."""

    originator_id: str
    originator_version: int
    event: Event


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


class LogRecorder(ApplicationRecorder):
    """Appends to one partition and reads from it."""

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
            transaction = AppendTransaction(self._partition, connection, self._statements, appends)
            positions = transaction.write(stored_events)
            transaction.project()
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
