"""Live rows are what the events say, whatever happened: the rebuilt ones are the same, byte for byte."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from contracts.event_store import ManualClock
from contracts.histories import created, expired, judged, proposed, rolled_back, statement, stream, updated
from contracts.random_histories import MEMORIES, TURNS, ask_at, histories
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, inspect, select, text

from memstrata.adapters.storage import SqlEventStore, open_store
from memstrata.adapters.storage.views import SqlViews, ViewProjector, rebuild
from memstrata.adapters.storage.views.tables import view_tables
from memstrata.domain.events import Event
from memstrata.domain.memory import Memory
from memstrata.domain.owner import Owner
from memstrata.domain.ports import Append
from memstrata.domain.stream import NewEvent
from memstrata.projections.memories import Shaping, memory_row
from memstrata.projections.ports import DecisionQuery
from memstrata.projections.versions import version_rows

LIN, WEI = Owner(tenant="local", user="lin"), Owner(tenant="local", user="wei")
M1, T1 = MEMORIES[0], TURNS[0]

Rows = dict[str, list[tuple[object, ...]]]


def all_rows(store: SqlEventStore) -> Rows:
    """Every stored row, as it is stored."""
    with store.reading() as connection:
        return {
            table.name: [
                tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key.columns))
            ]
            for table in view_tables(1).all
        }


def append(store: SqlEventStore, stream_id: str, first: int, *events: Event, owner: Owner = LIN) -> int:
    new = [NewEvent(stream_id, first + i, event) for i, event in enumerate(events)]
    return store.append(Append(owner, new, None))[-1].position


@contextmanager
def memory_store(shaping: Shaping, *, partitions: int = 1) -> Iterator[SqlEventStore]:
    projector = ViewProjector(shaping)
    with open_store("sqlite://", clock=ManualClock(), projector=projector, partitions=partitions) as store:
        yield store


def play(store: SqlEventStore, owner: Owner, history: Sequence[Sequence[NewEvent]]) -> None:
    for events in history:
        store.append(Append(owner, events, None))


@st.composite
def worlds(draw: st.DrawFn, *, erasing: bool) -> list[list[NewEvent]]:
    probe = stream(0xF1)
    return draw(histories(probe, erasing=erasing))


quick = settings(max_examples=40, deadline=None)


def with_ledger(
    store: SqlEventStore, owner: Owner, history: Sequence[Sequence[NewEvent]]
) -> list[list[NewEvent]]:
    """The history with the owner's own ledger in place of the one it was made with."""
    ledger = store.ledger_id(owner)
    return [
        [NewEvent(ledger if new.stream_id == stream(0xF1) else new.stream_id, new.stream_version, new.event)
         for new in events]
        for events in history
    ]  # fmt: skip


@quick
@given(history=worlds(erasing=True))
def test_after_any_history_the_live_rows_are_the_rebuilt_rows(
    shaping: Shaping, history: list[list[NewEvent]]
) -> None:
    with memory_store(shaping) as store:
        play(store, LIN, with_ledger(store, LIN, history))
        live = all_rows(store)

        first = rebuild(store, shaping)
        once = all_rows(store)
        second = rebuild(store, shaping)

        assert first.same
        assert second.same
        assert live == once == all_rows(store)
        assert first.events == second.events == sum(map(len, history))


@quick
@given(history=worlds(erasing=False), data=st.data())
def test_every_answer_as_of_any_position_is_the_fold_of_the_events_until_then(
    shaping: Shaping, history: list[list[NewEvent]], data: st.DataObject
) -> None:
    with memory_store(shaping) as store:
        play(store, LIN, with_ledger(store, LIN, history))
        views, head = SqlViews(store, shaping), store.head_position()
        for position in data.draw(st.sets(st.integers(0, head), min_size=1, max_size=4)):
            known = [Memory(m, tuple(store.read_stream(LIN, m))).as_of(position) for m in MEMORIES]
            for moment in data.draw(st.sets(st.sampled_from(ask_at()), min_size=1, max_size=4)):
                listed = views.memories(LIN, valid_at=moment, as_of=position)
                expected = {
                    memory.memory_id: (version.number, version.statement)
                    for memory in known
                    if (version := memory.holding(moment)) is not None
                }
                found = {
                    item.memory.memory_id: (item.period.number, item.statement)
                    for item in listed
                    if item.period is not None
                }
                assert found == expected
                assert len(listed) == len(expected)
            for memory in known:
                row = memory_row(memory, shaping)
                assert views.memory(LIN, memory.memory_id, as_of=position) == row
                assert views.versions(LIN, memory.memory_id, as_of=position) == version_rows(memory)
                periods = views.periods(LIN, memory.memory_id, as_of=position)
                assert [(p.number, p.valid_from, p.valid_to) for p in periods] == [
                    (p.version, p.valid_from, p.valid_to) for p in memory.periods
                ]


@quick
@given(history=worlds(erasing=False), moment=st.sampled_from(ask_at()))
def test_the_present_is_the_last_position(
    shaping: Shaping, history: list[list[NewEvent]], moment: datetime
) -> None:
    with memory_store(shaping) as store:
        play(store, LIN, with_ledger(store, LIN, history))
        views, head = SqlViews(store, shaping), store.head_position()

        now = views.memories(LIN, valid_at=moment)
        assert now == views.memories(LIN, valid_at=moment, as_of=head)
        some = views.memories(LIN, valid_at=moment, status=["active", "ended"])
        assert some == [item for item in now if item.memory.status in ("active", "ended")]
        assert views.memories(LIN) == views.memories(LIN, as_of=head)
        assert views.memories(LIN, status="held") == views.memories(LIN, status="held", as_of=head)
        for memory_id in MEMORIES:
            assert views.memory(LIN, memory_id) == views.memory(LIN, memory_id, as_of=head)
            assert views.versions(LIN, memory_id) == views.versions(LIN, memory_id, as_of=head)


def test_several_partitions_and_owners_are_rebuilt_each_for_itself(shaping: Shaping) -> None:
    with memory_store(shaping, partitions=3) as store:
        owners = [Owner(tenant="local", user=f"u{i}") for i in range(6)]
        for i, owner in enumerate(owners, start=1):
            append(store, stream(i), 1, created(statement("15k")), rolled_back(1), owner=owner)
        live = all_rows(store)

        report = rebuild(store, shaping)

        assert report.same
        assert all_rows(store) == live
        assert len({store.part_of(owner) for owner in owners}) > 1
        assert len(live["memory"]) == 6


def test_a_check_names_the_table_that_differs_and_changes_nothing(
    store: SqlEventStore, shaping: Shaping
) -> None:
    append(store, M1, 1, created(statement("15k")))
    with store.writing() as connection:
        connection.execute(text("UPDATE memory SET content = 'forged'"))
    forged = all_rows(store)

    report = rebuild(store, shaping, check=True)

    assert [table.name for table in report.tables if not table.same] == ["memory"]
    assert not report.same
    assert not report.swapped
    assert all_rows(store) == forged


def test_a_rebuild_mends_what_differs(store: SqlEventStore, shaping: Shaping) -> None:
    append(store, M1, 1, created(statement("15k")))
    good = all_rows(store)
    with store.writing() as connection:
        connection.execute(text("DELETE FROM memory_period"))

    report = rebuild(store, shaping)

    assert not report.same
    assert report.swapped
    assert all_rows(store) == good


def test_nothing_is_left_of_the_tables_in_the_making(store: SqlEventStore, shaping: Shaping) -> None:
    append(store, M1, 1, created(statement("15k")))

    def names(connection: Connection) -> set[str]:
        return set(inspect(connection).get_table_names())

    with store.reading() as connection:
        before = names(connection)
    for _ in range(3):
        rebuild(store, shaping)
    rebuild(store, shaping, check=True)
    with store.reading() as connection:
        assert names(connection) == before


def test_rows_go_on_being_written_after_a_rebuild(store: SqlEventStore, shaping: Shaping) -> None:
    append(store, M1, 1, created(statement("15k")))
    rebuild(store, shaping)
    append(store, M1, 2, updated("replace", statement("20k")))

    assert rebuild(store, shaping, check=True).same


def test_progress_is_told_up_to_the_last_event(store: SqlEventStore, shaping: Shaping) -> None:
    append(store, M1, 1, created(statement("15k")), rolled_back(1))
    told: list[tuple[int, int]] = []

    rebuild(store, shaping, progress=lambda done, there: told.append((done, there)))

    assert told[-1] == (2, 2)


def test_events_that_came_before_the_tables_wait_for_a_rebuild(tmp_path: Path, shaping: Shaping) -> None:
    path, clock = str(tmp_path / "store.db"), ManualClock()
    with open_store(path, clock=clock) as plain:
        append(plain, M1, 1, created(statement("15k")))
    with open_store(path, clock=clock, projector=ViewProjector(shaping)) as store:
        views = SqlViews(store, shaping)
        append(store, M1, 2, expired("ended", statement("x").valid_from))
        lagging = views.stale()
        unanswered = views.memories(LIN)

        rebuild(store, shaping)

        assert "active_memories" in lagging
        assert unanswered == []
        assert views.stale() == []
        assert [item.memory.status for item in views.memories(LIN)] == ["ended"]


def append_and_undo(store: SqlEventStore, stream_id: str, first: int, event: Event) -> None:
    """Append in a transaction that is then undone, as by a failing commit."""
    with store.writing():
        append(store, stream_id, first, event)
        raise InterruptedError


def test_an_undone_append_leaves_nothing_behind_in_the_next_one(
    store: SqlEventStore, shaping: Shaping, views: SqlViews
) -> None:
    append(store, M1, 1, created(statement("15k")))
    with pytest.raises(InterruptedError):
        append_and_undo(store, M1, 2, updated("replace", statement("never said")))
    append(store, M1, 2, proposed(T1, "15k", "confirmed", target=M1))
    append(store, M1, 3, rolled_back(2))

    assert [v.statement.content for v in views.versions(LIN, M1) if v.statement] == ["15k"]
    assert rebuild(store, shaping, check=True).same


def test_an_undone_append_is_not_believed_after_another_process_wrote_in_its_place(
    tmp_path: Path, shaping: Shaping
) -> None:
    path, clock = str(tmp_path / "store.db"), ManualClock()
    with (
        closing(open_store(path, clock=clock, projector=ViewProjector(shaping))) as one,
        closing(open_store(path, clock=clock, projector=ViewProjector(shaping))) as other,
    ):
        append(one, M1, 1, created(statement("15k")))
        with pytest.raises(InterruptedError):
            append_and_undo(one, M1, 2, updated("replace", statement("never said")))
        append(other, M1, 2, updated("replace", statement("20k")))
        append(one, M1, 3, proposed(T1, "20k", "confirmed", target=M1))

        row = SqlViews(one, shaping).memory(LIN, M1)

        assert row is not None
        assert row.content == "20k"


def test_two_processes_that_write_in_turn_see_each_others_events(tmp_path: Path, shaping: Shaping) -> None:
    path, clock = str(tmp_path / "store.db"), ManualClock()
    with (
        closing(open_store(path, clock=clock, projector=ViewProjector(shaping))) as one,
        closing(open_store(path, clock=clock, projector=ViewProjector(shaping))) as other,
    ):
        for version in range(1, 9):
            writer = one if version % 2 else other
            later = statement(f"{version}k").valid_from + timedelta(hours=version)
            append(writer, M1, version, updated("replace", statement(f"{version}k", later)))

        row = SqlViews(other, shaping).memory(LIN, M1)

        assert row is not None
        assert (row.content, row.stream_version, row.chain_version) == ("8k", 8, 8)
        assert rebuild(one, shaping, check=True).same


def test_an_edited_turn_counts_its_revisions_and_strikes_what_it_said_first(
    store: SqlEventStore, views: SqlViews
) -> None:
    append(store, T1, 1, judged(T1, "first words"), proposed(T1, "a joke", "refused"))
    append(store, T1, 3, rolled_back(1, 2, batch="b7"), judged(T1, "second words"))

    turn = views.turn(LIN, T1)

    assert turn is not None
    assert (turn.text, turn.revisions, turn.in_force, turn.stream_version) == ("second words", 1, True, 4)
    decisions = views.decisions(LIN, DecisionQuery(turn_id=T1))
    assert [(d.kind, d.in_force, d.struck_by) for d in decisions] == [
        ("judged", False, "b7"),
        ("proposed", False, "b7"),
        ("judged", True, None),
    ]
