"""The event store: appends, reads, and the keyed names of owners, turns and texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from types import TracebackType
from typing import Any, NamedTuple, Self

from sqlalchemy import Connection, Row, Select, bindparam, insert, select, tuple_
from sqlalchemy.exc import IntegrityError

from ...domain.errors import VerificationFailedError, WrongExpectedVersionError
from ...domain.events import Event, Payload
from ...domain.many_objects import many_objects
from ...domain.owner import Owner
from ...domain.ports import Append, Clock
from ...domain.stream import RecordedEvent
from . import recent, tables
from .appending import Partition, PlannedAppend
from .codec import Codec, Encoded
from .driver import Prepared, Several, driver_of
from .failures import refused_error
from .group_commit import GroupCommitWriter, Unit
from .ids import id_to_bytes, id_to_text
from .keyed import Pepper, from_microseconds, to_microseconds
from .projector import InlineProjector
from .reading import CODED, EVENTS, recorded
from .recorder import Log
from .sqlite import SqliteDatabase
from .verify import LogVerifier, VerifyReport

_PAGE = 1_000
_CHUNK = 500
"""Values in one IN: every database takes as many."""

_event = tables.event


class TrustedEvent(NamedTuple):
    """A recorded event whose payload was lifted to today's shape but not validated again."""

    position: int
    stream_id: str
    stream_version: int
    recorded_at: datetime
    topic: str
    payload: Payload
    owner_ref: bytes


class SqlEventStore:
    """The domain's `EventStore` on a SQL database; safe for threads and for several processes.

    `open_store` builds it. With `group_commit`, appends of concurrent threads share transactions.
    """

    def __init__(
        self,
        database: SqliteDatabase,
        *,
        pepper: bytes,
        partitions: int,
        clock: Clock,
        codec: Codec,
        projector: InlineProjector | None = None,
        group_commit: bool = False,
    ) -> None:
        self._database, self._codec = database, codec
        self._pepper = Pepper(pepper)
        self._logs = [Log(Partition(database, part, clock, projector), codec) for part in range(partitions)]
        self._group = GroupCommitWriter(self._write_units, database.where) if group_commit else None
        self._kept_policies: set[str] = set()
        self._recent = recent.RecentTurnBuffer(database.dialect)
        self._event_at = Prepared(
            EVENTS.where(
                _event.c.part == bindparam("part"),
                _event.c.pos == bindparam("position"),
                _event.c.owner_ref == bindparam("owner"),
            ),
            database.dialect,
            ["part", "position", "owner"],
        )
        self._log_page = Prepared(
            EVENTS.where(_event.c.part == bindparam("part"), _event.c.pos > bindparam("after"))
            .order_by(_event.c.pos)
            .limit(bindparam("size")),
            database.dialect,
            ["part", "after", "size"],
        )
        self._owner_at = Prepared(
            select(tables.owner.c.pos).where(
                tables.owner.c.part == bindparam("part"), tables.owner.c.owner_ref == bindparam("ref")
            ),
            database.dialect,
            ["part", "ref"],
        )
        self._streams = Several(
            _event.c.stream_id,
            EVENTS.where(_event.c.owner_ref == bindparam("ref")).order_by(
                _event.c.stream_id, _event.c.stream_version
            ),
            database.dialect,
            ["ref"],
        )

    # --- writing ---------------------------------------------------------------------------------

    def append(self, batch: Append) -> Sequence[RecordedEvent]:
        """Write one owner's events, all or none. See the port."""
        plan = self._planned(batch)
        if batch.events:
            self._write_unit([plan])
        return plan.recorded

    def append_many(self, batches: Sequence[Append]) -> Sequence[Sequence[RecordedEvent]]:
        """Write several appends in one transaction. See the port.

        Of several appends of one owner, only the first one's `expected_owner_position` is compared:
        the later ones were decided on what the earlier ones leave, and nothing can come between.
        """
        plans = [self._planned(batch) for batch in batches]
        unit = [plan for plan in plans if plan.events]
        chained: set[bytes] = set()
        for plan in unit:
            if plan.owner_ref in chained:
                plan.expected = None
            chained.add(plan.owner_ref)
        if unit:
            self._write_unit(unit)
        return [plan.recorded for plan in plans]

    def alone(self, owner: Owner) -> AbstractContextManager[object]:
        """Keep all others from appending. See the port."""
        return self.writing()

    def keep_policy(self, fingerprint: str, document: str) -> None:
        """Keep a policy's document under its fingerprint; the first one kept stays."""
        if fingerprint in self._kept_policies:
            return
        if self.policy_document(fingerprint) is None:
            row = {"fingerprint": fingerprint, "document": document}
            try:
                with self.writing() as connection:
                    connection.execute(insert(tables.policy), row)
            except IntegrityError as error:
                if self.policy_document(fingerprint) is None:
                    raise refused_error(self.where) from error
                # else another process kept it between our look and our write
        self._kept_policies.add(fingerprint)

    # --- reading ---------------------------------------------------------------------------------

    def one_view(self) -> AbstractContextManager[object]:
        """Read several times from one state. See the port."""
        return self._database.one_view()

    def read_stream(self, owner: Owner, stream_id: str) -> Sequence[RecordedEvent]:
        """The stream's events in order; empty when the owner has no such stream."""
        return self.read_streams(owner, [stream_id]).get(stream_id, [])

    def read_streams(self, owner: Owner, stream_ids: Sequence[str]) -> dict[str, list[RecordedEvent]]:
        """Several streams in one consistent view; those that do not exist are left out."""
        wanted = [id_to_bytes(stream_id) for stream_id in dict.fromkeys(stream_ids)]
        found: dict[str, list[RecordedEvent]] = {}
        with self.reading() as connection:
            rows = self._streams.all(driver_of(connection), wanted, self._pepper.owner_ref(owner))
            for entry in self._recorded(rows):
                found.setdefault(entry.stream_id, []).append(entry)
        return found

    def read_at(self, owner: Owner, positions: Sequence[int]) -> dict[int, RecordedEvent]:
        """The owner's events at these positions, by position; others than the owner's are left out."""
        owner_ref = self._pepper.owner_ref(owner)
        part = self._part(owner_ref)
        with self.reading() as connection:
            driver = driver_of(connection)
            rows = [driver.one(self._event_at, part, position, owner_ref) for position in positions]
        return {entry.position: entry for entry in self._recorded(row for row in rows if row is not None)}

    def read_owner(
        self,
        owner: Owner,
        *,
        after_position: int = 0,
        topics: Sequence[str] | None = None,
        correlation_id: str | None = None,
    ) -> Iterator[RecordedEvent]:
        """The owner's events up to now, ascending; what is appended meanwhile is not among them."""
        owner_ref, last = self._pepper.owner_ref(owner), self.owner_position(owner)
        query = EVENTS.where(_event.c.part == self._part(owner_ref), _event.c.owner_ref == owner_ref)
        query = query if topics is None else query.where(_event.c.topic.in_(topics))
        for page in self._pages(query, after_position, last):
            with many_objects():
                events = self._recorded(page)
            yield from (e for e in events if correlation_id in (None, e.event.correlation_id))

    def read_log(self, part: int = 0, *, after_position: int = 0, limit: int = 1_000) -> list[RecordedEvent]:
        """A partition's events with `position > after_position`, ascending, at most `limit`."""
        return self._recorded(self._log_rows(part, after_position, limit))

    def read_log_trusted(
        self, part: int = 0, *, after_position: int = 0, limit: int = 1_000
    ) -> list[TrustedEvent]:
        """As `read_log`, with payloads that are not validated again."""
        decode, make, trusted = self._codec.decode_trusted, Encoded._make, []
        for row in self._log_rows(part, after_position, limit):
            position, owner_ref, stream_id, version, recorded_at, topic, *_ = row
            try:
                payload = decode(make(row[CODED:]))
            except VerificationFailedError as error:
                raise VerificationFailedError(error.problem, position) from error
            at = from_microseconds(recorded_at)
            trusted.append(
                TrustedEvent(position, id_to_text(stream_id), version, at, topic, payload, owner_ref)
            )
        return trusted

    def owner_position(self, owner: Owner) -> int:
        """Position of the owner's last event; 0 for an owner without any."""
        owner_ref = self._pepper.owner_ref(owner)
        with self.reading() as connection:
            row = driver_of(connection).one(self._owner_at, self._part(owner_ref), owner_ref)
        return 0 if row is None else int(row[0])

    def head_position(self, part: int = 0) -> int:
        """Position of the partition's last event; 0 for an empty one."""
        return self._scalar(select(tables.head.c.pos).where(tables.head.c.part == part)) or 0

    def position_at(self, owner: Owner, moment: datetime) -> int:
        """The last position of the owner's partition with `recorded_at <= moment`; 0 before all.

        Times ascend with positions, so that halving finds it without an index on times.
        """
        part, limit = self._part(self._pepper.owner_ref(owner)), to_microseconds(moment)
        low, high = 0, self.head_position(part)
        with self.reading() as connection:
            while low < high:
                middle = (low + high + 1) // 2
                query = select(_event.c.recorded_at).where(_event.c.part == part, _event.c.pos == middle)
                if connection.execute(query).scalar_one() <= limit:
                    low = middle
                else:
                    high = middle - 1
        return low

    def recent_turns(self, owner: Owner, sessions: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
        """Turn ids and masked texts of the sessions' last turns, oldest first. See the port."""
        with self.reading() as connection:
            return self._recent.of(connection, self._pepper.owner_ref(owner), sessions)

    def purge_recent_turns(self, owner: Owner) -> None:
        """Empty the buffer of the owner's recent turns."""
        with self.writing() as connection:
            recent.purge(connection, self._pepper.owner_ref(owner))

    def head_time(self, owner: Owner) -> datetime | None:
        """`recorded_at` of the last event in the owner's partition; None while it is empty."""
        kept = tables.head.c
        query = select(kept.recorded_at).where(kept.part == self.part_of(owner), kept.pos > 0)
        recorded_at = self._scalar(query)
        return None if recorded_at is None else from_microseconds(recorded_at)

    def policy_document(self, fingerprint: str) -> str | None:
        """A document that was kept, None when it never was."""
        kept = tables.policy.c
        document: str | None = self._scalar(select(kept.document).where(kept.fingerprint == fingerprint))
        return document

    # --- names -----------------------------------------------------------------------------------

    @property
    def partitions(self) -> range:
        """The numbers of the partitions."""
        return range(len(self._logs))

    @property
    def where(self) -> str:
        """The file's path, or `memory`."""
        return self._database.where

    def owner_ref(self, owner: Owner) -> bytes:
        """16 bytes that stand for the owner in every table."""
        return self._pepper.owner_ref(owner)

    def part_of(self, owner: Owner) -> int:
        """The number of the owner's partition."""
        return self._part(self._pepper.owner_ref(owner))

    def digest(self, owner: Owner, text: str) -> str:
        """64 hex digits: equal texts of one owner, equal digests."""
        return self._pepper.digest(owner, text)

    def turn_id(self, owner: Owner, key: str) -> str:
        """The stream id of the owner's turn with this key."""
        return self._pepper.turn_id(owner, key)

    def ledger_id(self, owner: Owner) -> str:
        """The stream id of the owner's ledger."""
        return self._pepper.ledger_id(owner)

    # --- for projections, checks and the end -----------------------------------------------------

    def reading(self) -> AbstractContextManager[Connection]:
        """A read transaction: a consistent view of events and projection rows."""
        return self._database.reading()

    def writing(self) -> AbstractContextManager[Connection]:
        """A write transaction, for rebuilding projections; appends wait while it is open."""
        return self._database.writing()

    def verify(self, part: int = 0, *, progress: Callable[[int], None] | None = None) -> VerifyReport:
        """Recompute the partition's digests and compare everything that must agree with them.

        `progress` is called now and then with the position reached. Memory does not grow with the log.
        """
        with self.reading() as connection:
            return LogVerifier(connection, part, progress).run()

    def close(self) -> None:
        """Write what waits, then close every connection. Closing twice is no error."""
        if self._group is not None:
            self._group.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- inside ----------------------------------------------------------------------------------

    def _part(self, owner_ref: bytes) -> int:
        return int.from_bytes(owner_ref[:4], "big") % len(self._logs)

    def _planned(self, batch: Append) -> PlannedAppend:
        owner_ref = self._pepper.owner_ref(batch.owner)
        return self._logs[self._part(owner_ref)].planned(owner_ref, batch)

    def _write_unit(self, unit: Unit) -> None:
        if self._group is None or self._database.is_mine:  # nobody else can write before we are done
            self._write_units([unit])
        else:
            self._group.write(unit)

    def _write_units(self, units: Sequence[Unit]) -> None:
        """Write units in one transaction, all or none."""
        by_part: dict[int, list[PlannedAppend]] = {}
        for unit in units:
            for plan in unit:
                by_part.setdefault(plan.part, []).append(plan)
        try:
            with self._database.writing() as connection:
                for part, plans in by_part.items():
                    self._logs[part].save(appends=plans)
                    for plan in plans:
                        if plan.recent:
                            self._recent.keep(connection, plan.owner_ref, plan.recorded, plan.recent)
        except IntegrityError as error:
            raise self._conflict(units) from error

    def _conflict(self, units: Sequence[Unit]) -> Exception:
        """What a broken constraint means: usually the stream version that somebody else wrote first."""
        wanted = [
            (id_to_bytes(new.stream_id), new.stream_version)
            for unit in units
            for plan in unit
            for new in plan.events
        ]
        key = tuple_(_event.c.stream_id, _event.c.stream_version)
        with self.reading() as connection:
            for start in range(0, len(wanted), _CHUNK):
                query = select(_event.c.stream_id, _event.c.stream_version)
                taken = connection.execute(query.where(key.in_(wanted[start : start + _CHUNK]))).first()
                if taken is not None:
                    return WrongExpectedVersionError(id_to_text(taken.stream_id), taken.stream_version)
        return refused_error(self.where)

    def _pages(self, query: Select[Any], after: int, last: int) -> Iterator[Sequence[Row[Any]]]:
        """Pages of rows with `after < pos <= last`; no transaction stays open between them."""
        ordered = query.where(_event.c.pos <= last).order_by(_event.c.pos).limit(_PAGE)
        while True:
            with self.reading() as connection:
                page = connection.execute(ordered.where(_event.c.pos > after)).all()
            yield page
            if len(page) < _PAGE:
                return
            after = page[-1].pos

    def _log_rows(self, part: int, after: int, limit: int) -> Sequence[tuple[Any, ...]]:
        with self.reading() as connection:
            return driver_of(connection).all(self._log_page, part, after, limit)

    def _scalar(self, query: Select[tuple[Any]]) -> Any:
        with self.reading() as connection:
            return connection.execute(query).scalar()

    def _recorded(self, rows: Iterable[Sequence[Any]]) -> list[RecordedEvent]:
        return recorded(rows, self._decode)

    def _decode(self, *coded: Any) -> Event:
        return self._codec.decode(Encoded(*coded))
