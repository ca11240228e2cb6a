"""What every EventStore promises, whatever it is built on."""

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest

from memstrata.domain.errors import (
    ConflictError,
    InvalidInputError,
    OwnerPositionConflictError,
    WrongExpectedVersionError,
)
from memstrata.domain.events import BatchClosed, BatchOpened, Event, TaskChanged
from memstrata.domain.owner import Owner
from memstrata.domain.ports import Append, EventStore
from memstrata.domain.stream import NewEvent

LIN = Owner(tenant="acme", user="lin")
WEI = Owner(tenant="acme", user="wei")
NOON = datetime(2026, 10, 15, 12, tzinfo=UTC)


class ManualClock:
    """Stands still until it is moved."""

    def __init__(self, moment: datetime = NOON) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment


def new_stream() -> str:
    return uuid.uuid4().hex


def task(name: str = "report", *, turn: str = "turn-1") -> TaskChanged:
    return TaskChanged(
        actor="user",
        correlation_id=turn,
        policy="p1",
        said_at=NOON,
        task_id=name,
        change="started",
        at=NOON,
    )


def opened(turn: str = "turn-1") -> BatchOpened:
    return BatchOpened(
        actor="operator:kim",
        correlation_id=turn,
        policy="p1",
        said_at=NOON,
        batch_id="b1",
        kind="rollback",
        reason="wrong session",
        selector={"session": "s1"},
    )


def run_of(stream: str, first: int, *events: Event) -> list[NewEvent]:
    return [NewEvent(stream, first + i, event) for i, event in enumerate(events)]


def append(owner: Owner, expected: int | None, *events: NewEvent, clock: datetime | None = None) -> Append:
    return Append(owner, list(events), expected, clock)


def everything(store: EventStore, owner: Owner = LIN) -> list[tuple[str, int]]:
    return [(e.stream_id, e.stream_version) for e in store.read_owner(owner)]


def outcome(action: Callable[[], object]) -> str:
    try:
        action()
    except ConflictError as error:
        return type(error).__name__
    return "written"


class EventStoreContract:
    """Subclass it and provide the fixture `store`, which takes the time from the fixture `clock`."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    # --- append ----------------------------------------------------------------------------------

    def test_an_append_tells_where_and_when_its_events_were_recorded(self, store: EventStore) -> None:
        stream = new_stream()

        recorded = store.append(append(LIN, 0, *run_of(stream, 1, task(), opened())))

        assert [(e.position, e.stream_id, e.stream_version) for e in recorded] == [
            (1, stream, 1),
            (2, stream, 2),
        ]
        assert [e.recorded_at for e in recorded] == [NOON, NOON]
        assert [e.event for e in recorded] == [task(), opened()]

    def test_what_is_read_is_what_was_recorded(self, store: EventStore) -> None:
        stream = new_stream()
        strange = task("月底前的周报 \u202eשלום 👩‍👩‍👧 \x7f \u2028")

        recorded = store.append(append(LIN, 0, *run_of(stream, 1, strange, opened())))

        assert list(store.read_stream(LIN, stream)) == list(recorded)

    def test_no_events_write_nothing(self, store: EventStore) -> None:
        assert store.append(append(LIN, 0)) == []
        assert store.append_many([]) == []
        assert store.owner_position(LIN) == 0

    def test_an_owner_who_moved_on_refuses_the_writer_who_did_not_see_it(self, store: EventStore) -> None:
        store.append(append(LIN, 0, *run_of(new_stream(), 1, task())))

        with pytest.raises(OwnerPositionConflictError) as caught:
            store.append(append(LIN, 0, *run_of(new_stream(), 1, task())))

        assert (caught.value.expected, caught.value.actual) == (0, 1)
        assert len(everything(store)) == 1

    def test_other_owners_do_not_move_an_owner(self, store: EventStore) -> None:
        store.append(append(WEI, 0, *run_of(new_stream(), 1, task(), task())))

        recorded = store.append(append(LIN, 0, *run_of(new_stream(), 1, task())))

        assert store.owner_position(LIN) == recorded[-1].position

    def test_a_long_job_advances_the_owner_without_comparing(self, store: EventStore) -> None:
        store.append(append(LIN, 0, *run_of(new_stream(), 1, task())))

        store.append(append(LIN, None, *run_of(new_stream(), 1, task())))

        assert store.owner_position(LIN) == 2

    def test_a_taken_stream_version_is_refused_and_nothing_of_the_append_is_written(
        self, store: EventStore
    ) -> None:
        stream, other = new_stream(), new_stream()
        store.append(append(LIN, 0, *run_of(stream, 1, task(), task())))

        with pytest.raises(WrongExpectedVersionError) as caught:
            store.append(append(LIN, 2, NewEvent(other, 1, task()), NewEvent(stream, 2, task())))

        assert (caught.value.stream_id, caught.value.expected) == (stream, 2)
        assert everything(store) == [(stream, 1), (stream, 2)]
        assert store.owner_position(LIN) == 2
        assert store.append(append(LIN, 2, NewEvent(other, 1, task())))[0].position == 3

    @pytest.mark.parametrize("version", [0, 2, 7])
    def test_a_stream_has_no_gap(self, store: EventStore, version: int) -> None:
        with pytest.raises(InvalidInputError):
            store.append(append(LIN, 0, NewEvent(new_stream(), version, task())))

        assert everything(store) == []

    def test_one_append_may_not_give_a_version_twice(self, store: EventStore) -> None:
        stream = new_stream()

        with pytest.raises(WrongExpectedVersionError):
            store.append(append(LIN, 0, NewEvent(stream, 1, task()), NewEvent(stream, 1, task())))

        assert everything(store) == []

    def test_nobody_writes_to_another_owners_stream(self, store: EventStore) -> None:
        stream = new_stream()
        store.append(append(LIN, 0, *run_of(stream, 1, task())))

        with pytest.raises(InvalidInputError):
            store.append(append(WEI, 0, *run_of(stream, 2, task())))

        assert everything(store, WEI) == []

    def test_an_id_that_is_none_is_refused(self, store: EventStore) -> None:
        with pytest.raises(InvalidInputError):
            store.append(append(LIN, 0, NewEvent("memory-1", 1, task())))

    # --- append_many -----------------------------------------------------------------------------

    def test_several_appends_are_written_whole(self, store: EventStore) -> None:
        mine, others = new_stream(), new_stream()

        written = store.append_many(
            [
                append(LIN, 0, *run_of(mine, 1, task("a"))),
                append(WEI, 0, *run_of(others, 1, task("b"), task("c"))),
                append(LIN, 0),
            ]
        )

        assert [[e.event for e in events] for events in written] == [
            [task("a")],
            [task("b"), task("c")],
            [],
        ]
        assert (everything(store, LIN), everything(store, WEI)) == ([(mine, 1)], [(others, 1), (others, 2)])

    def test_an_owners_later_append_continues_what_the_earlier_one_leaves(self, store: EventStore) -> None:
        stream = new_stream()

        store.append_many(
            [
                append(LIN, 0, *run_of(stream, 1, task())),
                append(LIN, 0, *run_of(stream, 2, task())),
                append(LIN, 0, *run_of(stream, 3, task())),
            ]
        )

        assert everything(store) == [(stream, 1), (stream, 2), (stream, 3)]

    def test_one_refused_append_keeps_all_out(self, store: EventStore) -> None:
        stream = new_stream()
        store.append(append(LIN, 0, *run_of(stream, 1, task())))

        with pytest.raises(OwnerPositionConflictError):
            store.append_many(
                [
                    append(WEI, 0, *run_of(new_stream(), 1, task())),
                    append(LIN, 0, *run_of(stream, 2, task())),
                ]
            )

        assert everything(store, WEI) == []
        assert everything(store, LIN) == [(stream, 1)]

    # --- concurrent writers ----------------------------------------------------------------------

    def test_of_two_writers_with_one_expected_position_exactly_one_wins(self, store: EventStore) -> None:
        barrier = Barrier(2)

        def write(_: int) -> str:
            mine = append(LIN, 0, *run_of(new_stream(), 1, task()))
            barrier.wait(10)
            return outcome(lambda: store.append(mine))

        with ThreadPoolExecutor(2) as pool:
            outcomes = sorted(pool.map(write, range(2)))

        assert outcomes == ["OwnerPositionConflictError", "written"]
        assert len(everything(store)) == 1

    def test_of_two_writers_with_one_stream_version_exactly_one_wins(self, store: EventStore) -> None:
        stream, barrier = new_stream(), Barrier(2)

        def write(_: int) -> str:
            mine = append(LIN, None, *run_of(stream, 1, task()))
            barrier.wait(10)
            return outcome(lambda: store.append(mine))

        with ThreadPoolExecutor(2) as pool:
            outcomes = sorted(pool.map(write, range(2)))

        assert outcomes == ["WrongExpectedVersionError", "written"]
        assert everything(store) == [(stream, 1)]

    def test_positions_are_gapless_with_eight_writers(self, store: EventStore) -> None:
        def write(_: int) -> list[int]:
            return [
                event.position
                for _ in range(20)
                for event in store.append(append(LIN, None, *run_of(new_stream(), 1, task(), task())))
            ]

        with ThreadPoolExecutor(8) as pool:
            given = [position for positions in pool.map(write, range(8)) for position in positions]

        assert sorted(given) == list(range(1, 321))
        assert [e.position for e in store.read_owner(LIN)] == list(range(1, 321))

    # --- time ------------------------------------------------------------------------------------

    def test_recorded_times_never_go_backwards(self, store: EventStore, clock: ManualClock) -> None:
        stream, times = new_stream(), []
        for version, hours in enumerate((0, -3, 1, -48), start=1):
            clock.moment = NOON + timedelta(hours=hours)
            times += store.append(append(LIN, None, *run_of(stream, version, task())))

        assert [(e.recorded_at - NOON) / timedelta(hours=1) for e in times] == [0, 0, 1, 1]

    def test_a_simulated_clock_takes_the_place_of_the_real_one(
        self, store: EventStore, clock: ManualClock
    ) -> None:
        earlier = datetime(2025, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)

        first = store.append(append(LIN, 0, *run_of(new_stream(), 1, task()), clock=earlier))
        second = store.append(append(LIN, 1, *run_of(new_stream(), 1, task())))

        assert (first[0].recorded_at, second[0].recorded_at) == (earlier, clock.moment)

    def test_a_moment_finds_the_last_position_known_by_then(
        self, store: EventStore, clock: ManualClock
    ) -> None:
        assert store.position_at(LIN, NOON) == 0
        for hour in range(5):
            clock.moment = NOON + timedelta(hours=hour)
            store.append(append(LIN, None, *run_of(new_stream(), 1, task(), task())))

        found = [
            store.position_at(LIN, NOON + timedelta(minutes=minutes)) for minutes in (-1, 0, 59, 60, 9_000)
        ]

        assert found == [0, 2, 2, 4, 10]

    # --- reading ---------------------------------------------------------------------------------

    def test_what_does_not_exist_is_empty(self, store: EventStore) -> None:
        assert list(store.read_stream(LIN, new_stream())) == []
        assert store.read_streams(LIN, [new_stream()]) == {}
        assert list(store.read_owner(LIN)) == []
        assert store.owner_position(LIN) == 0

    def test_an_owner_cannot_read_anothers_stream(self, store: EventStore) -> None:
        stream = new_stream()
        store.append(append(LIN, 0, *run_of(stream, 1, task())))

        assert list(store.read_stream(WEI, stream)) == []
        assert store.read_streams(WEI, [stream]) == {}
        assert everything(store, WEI) == []

    def test_several_streams_come_each_in_order(self, store: EventStore) -> None:
        first, second = new_stream(), new_stream()
        store.append(append(LIN, 0, NewEvent(first, 1, task()), NewEvent(second, 1, task())))
        store.append(append(LIN, 2, NewEvent(second, 2, task()), NewEvent(first, 2, task())))

        streams = store.read_streams(LIN, [second, first, new_stream(), first])

        assert {s: [e.stream_version for e in events] for s, events in streams.items()} == {
            first: [1, 2],
            second: [1, 2],
        }

    def test_an_owners_events_can_be_narrowed(self, store: EventStore) -> None:
        stream = new_stream()
        events = [task(turn="t1"), opened("t2"), task(turn="t2"), task(turn="t3")]
        store.append(append(LIN, 0, *run_of(stream, 1, *events)))

        def versions(**filters: object) -> list[int]:
            return [e.stream_version for e in store.read_owner(LIN, **filters)]  # type: ignore[arg-type]

        assert versions() == [1, 2, 3, 4]
        assert versions(after_position=2) == [3, 4]
        assert versions(topics=[BatchOpened.TOPIC, BatchClosed.TOPIC]) == [2]
        assert versions(topics=[]) == []
        assert versions(correlation_id="t2") == [2, 3]
        assert versions(correlation_id="t2", topics=[TaskChanged.TOPIC], after_position=2) == [3]

    def test_a_long_log_is_read_whole_while_others_append(self, store: EventStore) -> None:
        stream = new_stream()
        store.append(append(LIN, 0, *run_of(stream, 1, *[task()] * 2_300)))

        reader = store.read_owner(LIN)
        before = next(reader).position
        store.append(append(LIN, None, *run_of(stream, 2_301, task())))

        assert [before, *(e.position for e in reader)] == list(range(1, 2_301))

    # --- names and policies ----------------------------------------------------------------------

    def test_names_depend_on_the_owner_and_what_is_named(self, store: EventStore) -> None:
        names = {
            store.turn_id(LIN, "s1/m1"),
            store.turn_id(LIN, "s1/m2"),
            store.turn_id(WEI, "s1/m1"),
            store.ledger_id(LIN),
            store.ledger_id(WEI),
            store.turn_id(Owner(tenant="acm", user="elin"), "s1/m1"),
        }

        assert len(names) == 6
        assert all(len(name) == 32 and int(name, 16) >= 0 for name in names)
        assert store.turn_id(LIN, "s1/m1") in names

    def test_equal_texts_of_one_owner_have_equal_digests(self, store: EventStore) -> None:
        assert store.digest(LIN, "我在杭州") == store.digest(LIN, "我在杭州")
        assert len({store.digest(LIN, "a"), store.digest(LIN, "b"), store.digest(WEI, "a")}) == 3
        assert len(store.digest(LIN, "")) == 64

    def test_a_policy_is_kept_for_ever(self, store: EventStore) -> None:
        assert store.policy_document("f1") is None

        store.keep_policy("f1", '{"门槛": 0.55}')
        store.keep_policy("f1", '{"门槛": 0.55}')

        assert store.policy_document("f1") == '{"门槛": 0.55}'
