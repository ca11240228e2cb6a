"""The recorder under eventsourcing's own classes, and the inline projections in its transaction."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from contracts.event_store import LIN, NOON, WEI, ManualClock, append, new_stream, run_of, task
from eventsourcing.persistence import (
    InfrastructureFactory,
    InfrastructureFactoryError,
    NotSupportedError,
    ProgrammingError,
)
from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, insert, select

from memstrata.adapters.storage import Codec, SqlEventStore, open_store
from memstrata.adapters.storage.appending import Partition
from memstrata.adapters.storage.recorder import Log, LogFactory, LogRecorder, PendingEvent
from memstrata.adapters.storage.sqlite import SqliteDatabase
from memstrata.domain.stream import RecordedEvent


@pytest.fixture
def log(store: SqlEventStore, path: Path, clock: ManualClock) -> Iterator[Log]:
    """A library application on the store's file, beside the store."""
    database = SqliteDatabase(str(path), durability="full")
    with Log(Partition(database, 0, clock), Codec()) as application:
        yield application
    database.close()


def test_the_persistence_setting_finds_our_factory(log: Log) -> None:
    assert isinstance(log.factory, LogFactory)
    assert isinstance(log.recorder, LogRecorder)


def test_the_environment_of_other_applications_is_not_ours(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CIPHER_KEY", "theirs")
    monkeypatch.setenv("LOG_PERSISTENCE_MODULE", "eventsourcing.popo")

    assert set(log.construct_env("Log", {"A": "b"})) == {"A"}


def test_the_librarys_event_store_reads_a_stream(store: SqlEventStore, log: Log) -> None:
    stream = new_stream()
    store.append(append(LIN, 0, *run_of(stream, 1, *[task(f"t{n}") for n in range(1, 6)])))

    def versions(**limits: int | bool) -> list[int]:
        return [e.originator_version for e in log.events.get(stream, **limits)]  # type: ignore[arg-type]

    assert versions() == [1, 2, 3, 4, 5]
    assert versions(gt=2) == [3, 4, 5]
    assert versions(lte=4, desc=True, limit=2) == [4, 3]
    assert list(log.events.get(stream, lte=1)) == [PendingEvent(stream, 1, task("t1"))]


def test_the_librarys_notification_log_is_ours(store: SqlEventStore, log: Log) -> None:
    assert log.recorder.max_notification_id() is None
    first, second = new_stream(), new_stream()
    store.append(append(LIN, 0, *run_of(first, 1, *[task()] * 7)))
    store.append(append(WEI, 0, *run_of(second, 1, *[task()] * 7)))

    section = log.notification_log["8,12"]

    assert [(n.id, n.originator_id, n.originator_version) for n in section.items] == [
        (position, second, position - 7) for position in range(8, 13)
    ]
    assert log.recorder.max_notification_id() == 14
    some = log.recorder.select_notifications(3, 10, stop=5, inclusive_of_start=False)
    assert [n.id for n in some] == [4, 5]
    assert log.recorder.select_notifications(None, 10, topics=["memory.created"]) == []


def test_nothing_is_recorded_without_an_owner(log: Log) -> None:
    with pytest.raises(ProgrammingError, match="owner"):
        log.save(PendingEvent(new_stream(), 1, task()))

    assert log.recorder.max_notification_id() is None


def test_what_is_not_there_says_so(log: Log) -> None:
    with pytest.raises(NotSupportedError):
        log.recorder.subscribe()
    factory: InfrastructureFactory = LogFactory({})  # type: ignore[type-arg]
    for build in (
        factory.application_recorder,
        factory.aggregate_recorder,
        factory.tracking_recorder,
        factory.process_recorder,
    ):
        with pytest.raises(InfrastructureFactoryError):
            build()


# --- inline projections ------------------------------------------------------------------------------

metadata = MetaData()
seen = Table("seen", metadata, Column("pos", Integer, primary_key=True), Column("owner", String(32)))


class Seen:
    """Keeps position and owner of every event; refuses tasks named `refused`."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []

    def create_tables(self, connection: Connection) -> None:
        metadata.create_all(connection)

    def apply(
        self, connection: Connection, part: int, owner_ref: bytes, events: Sequence[RecordedEvent]
    ) -> None:
        self.calls.append((part, len(events)))
        rows = [{"pos": event.position, "owner": owner_ref.hex()} for event in events]
        connection.execute(insert(seen), rows)
        if any(getattr(event.event, "task_id", "") == "refused" for event in events):
            raise LookupError("refused")


@pytest.fixture
def projector() -> Seen:
    return Seen()


@pytest.fixture(params=["file", "memory"])
def projected(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock, projector: Seen
) -> Iterator[SqlEventStore]:
    url = "sqlite://" if request.param == "memory" else str(tmp_path / "projected.db")
    with open_store(url, clock=clock, projector=projector) as store:
        yield store


def rows(store: SqlEventStore) -> list[tuple[int, str]]:
    with store.reading() as connection:
        return [(row.pos, row.owner) for row in connection.execute(select(seen).order_by(seen.c.pos))]


def test_projections_see_each_owners_events_once_and_in_order(
    projected: SqlEventStore, projector: Seen
) -> None:
    stream = new_stream()
    projected.append_many(
        [
            append(LIN, 0, *run_of(stream, 1, task())),
            append(WEI, 0, *run_of(new_stream(), 1, task())),
            append(LIN, 0, *run_of(stream, 2, task())),
        ]
    )

    lin, wei = projected.owner_ref(LIN).hex(), projected.owner_ref(WEI).hex()
    assert rows(projected) == [(1, lin), (2, wei), (3, lin)]
    assert projector.calls == [(0, 2), (0, 1)]


def test_an_error_in_a_projection_undoes_the_append(projected: SqlEventStore) -> None:
    with pytest.raises(LookupError):
        projected.append(append(LIN, 0, *run_of(new_stream(), 1, task("refused"))))

    assert (rows(projected), projected.head_position(), projected.owner_position(LIN)) == ([], 0, 0)
    assert projected.append(append(LIN, 0, *run_of(new_stream(), 1, task())))[0].recorded_at == NOON


def test_a_projection_gets_its_tables_in_a_store_that_is_older(
    store: SqlEventStore, path: Path, clock: ManualClock, projector: Seen
) -> None:
    with open_store(str(path), clock=clock, projector=projector) as later:
        later.append(append(LIN, 0, *run_of(new_stream(), 1, task())))
        assert len(rows(later)) == 1


def test_missing_tables_wait_for_another_process(
    store: SqlEventStore, path: Path, clock: ManualClock, projector: Seen
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO meta VALUES ('note', 'x')")  # what the opener looked at is now old
        release = threading.Timer(0.3, other.commit)
        release.start()

        with open_store(str(path), clock=clock, projector=projector, patience=10) as later:
            assert rows(later) == []
        release.join()


def test_opening_waits_for_nobody_when_no_table_is_missing(
    path: Path, clock: ManualClock, projector: Seen
) -> None:
    with (
        open_store(str(path), clock=clock, projector=projector) as store,
        store.writing(),
        open_store(str(path), clock=clock, projector=projector, patience=0) as other,
    ):
        assert rows(other) == []


def test_a_rebuild_may_read_and_write_in_one_transaction(projected: SqlEventStore) -> None:
    projected.append(append(LIN, 0, *run_of(new_stream(), 1, task(), task())))

    with projected.writing() as connection:
        connection.execute(seen.delete())
        for event in projected.read_log():
            connection.execute(insert(seen), {"pos": event.position, "owner": "rebuilt"})

    assert rows(projected) == [(1, "rebuilt"), (2, "rebuilt")]


def test_an_interrupted_rebuild_changes_nothing(projected: SqlEventStore) -> None:
    projected.append(append(LIN, 0, *run_of(new_stream(), 1, task())))
    before = rows(projected)

    def interrupted() -> None:
        with projected.writing() as connection:
            connection.execute(seen.delete())
            raise InterruptedError

    with pytest.raises(InterruptedError):
        interrupted()

    assert rows(projected) == before
