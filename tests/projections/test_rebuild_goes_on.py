"""A rebuild is interrupted, taken over, helped and overtaken by appends; the rows are the same."""

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from functools import partial
from operator import attrgetter
from pathlib import Path

import pytest
from contracts.event_store import ManualClock
from contracts.histories import created, judged, proposed, rolled_back, statement, updated
from sqlalchemy import inspect, select

from memstrata.adapters.storage import SqlEventStore, open_store, tables
from memstrata.adapters.storage.codec import Codec
from memstrata.adapters.storage.views import SqlViews, ViewProjector, rebuild
from memstrata.adapters.storage.views.helping import Helper
from memstrata.adapters.storage.views.shadow import SLICE, Shadow
from memstrata.adapters.storage.views.tables import view_tables
from memstrata.domain.errors import StoreUnavailableError
from memstrata.domain.events import Event
from memstrata.domain.owner import Owner
from memstrata.domain.ports import Append
from memstrata.domain.stream import NewEvent
from memstrata.projections.memories import Shaping

SHAPING = Shaping(attrgetter("attribute"), str.split, "a test's")
OWNERS = [Owner(tenant="local", user=f"u{number}") for number in range(12)]
BIG = Owner(tenant="local", user="big")


def an_id(number: int) -> str:
    return f"{number:032x}"


def opened(path: Path) -> SqlEventStore:
    return open_store(str(path), clock=ManualClock(), projector=ViewProjector(SHAPING))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlEventStore]:
    with opened(tmp_path / "store.db") as store:
        yield store


def append(store: SqlEventStore, owner: Owner, stream_id: str, first: int, *events: Event) -> None:
    new = [NewEvent(stream_id, first + i, event) for i, event in enumerate(events)]
    store.append(Append(owner, new, None))


def fill(store: SqlEventStore, owners: list[Owner], each: int) -> None:
    """So many events for each owner: turns, a chain of versions, and some that are undone."""
    for number, owner in enumerate(owners):
        memory, turn = an_id(1000 + number), an_id(5000 + number)
        append(store, owner, turn, 1, judged(turn, "words"), proposed(turn, "a joke", "refused"))
        said = statement("1k").valid_from
        chain = [
            updated("replace", statement(f"{k}k", said + timedelta(minutes=k))) for k in range(2, each - 3)
        ]
        append(store, owner, memory, 1, created(statement("1k")), *chain)
        append(
            store,
            owner,
            memory,
            each - 3,
            rolled_back(2, 3),
            proposed(turn, "1k", "confirmed", target=memory),
        )


def rows(store: SqlEventStore) -> dict[str, list[str]]:
    with store.reading() as connection:
        return {
            table.name: [
                tuple(r) for r in connection.execute(select(table).order_by(*table.primary_key.columns))
            ]
            for table in view_tables(1).all
        }


def left_over(store: SqlEventStore) -> set[str]:
    """Tables and notes of a rebuild that is not complete."""
    with store.reading() as connection:
        names = {name for name in inspect(connection).get_table_names() if name.endswith("_rebuilt")}
        noted = connection.execute(select(tables.meta.c.name).where(tables.meta.c.name.like("rebuild%")))
        return names | set(noted.scalars())


def stop_after(calls: int) -> Callable[[int, int], None]:
    told: list[int] = []

    def progress(folded: int, there: int) -> None:
        told.append(folded)
        if len(told) == calls:
            raise KeyboardInterrupt

    return progress


def test_what_was_interrupted_goes_on_where_it_was(store: SqlEventStore) -> None:
    fill(store, OWNERS, 300)
    live = rows(store)
    with pytest.raises(KeyboardInterrupt):
        rebuild(store, SHAPING, progress=stop_after(2))
    assert left_over(store)
    told: list[tuple[int, int]] = []

    report = rebuild(store, SHAPING, progress=lambda *counts: told.append(counts))

    assert told[0][0] > SLICE / 2  # what the first one folded is not folded again
    assert [folded for folded, _ in told] == sorted({folded for folded, _ in told})
    assert told[-1] == (report.events, report.events)
    assert report.events == store.head_position()
    assert report.same
    assert rows(store) == live
    assert left_over(store) == set()


def test_a_rebuild_begins_anew_when_it_is_told_to_and_when_rows_would_be_others(store: SqlEventStore) -> None:
    fill(store, OWNERS, 300)
    told: list[int] = []

    def keep(folded: int, there: int) -> None:
        told.append(folded)

    for shaping, fresh in (
        (SHAPING, True),
        (Shaping(attrgetter("content"), str.split, "another"), False),
    ):
        with pytest.raises(KeyboardInterrupt):
            rebuild(store, SHAPING, progress=stop_after(2))
        told.clear()

        report = rebuild(store, shaping, fresh=fresh, progress=keep)

        assert told[0] <= SLICE
        assert report.events == store.head_position()
        assert left_over(store) == set()
    (shown,) = SqlViews(store, SHAPING).memories(OWNERS[0])
    assert shown.memory.slot_key == shown.memory.content


def test_an_owner_with_many_events_is_folded_in_pieces_and_goes_on_between_them(store: SqlEventStore) -> None:
    fill(store, [*OWNERS[:3], BIG], 2 * SLICE + 300)
    live = rows(store)
    for calls in (1, 2, 3, 4):
        with pytest.raises(KeyboardInterrupt):
            rebuild(store, SHAPING, progress=stop_after(calls))

    report = rebuild(store, SHAPING)

    assert report.same
    assert report.events == store.head_position()
    assert rows(store) == live


def test_what_is_appended_meanwhile_is_in_the_new_tables(store: SqlEventStore) -> None:
    fill(store, OWNERS, 300)
    added: list[int] = []

    def progress(folded: int, there: int) -> None:
        if len(added) < 3:
            number = 9000 + len(added)
            added.append(number)
            append(store, OWNERS[len(added)], an_id(number), 1, created(statement("late")), rolled_back(1))
            append(store, OWNERS[4], an_id(1004), 298 + len(added), rolled_back(len(added)))

    report = rebuild(store, SHAPING, progress=progress)

    assert len(added) == 3
    assert report.same
    assert report.events == store.head_position()
    assert rebuild(store, SHAPING, check=True).same


def test_two_rebuilds_at_once_do_not_mix(store: SqlEventStore, tmp_path: Path) -> None:
    fill(store, OWNERS, 300)
    live = rows(store)
    with closing(opened(tmp_path / "store.db")) as other:
        finished: list[bool] = []

        def progress(folded: int, there: int) -> None:
            if not finished:
                finished.append(rebuild(other, SHAPING).same)

        with pytest.raises(StoreUnavailableError, match="another rebuild took over"):
            rebuild(store, SHAPING, progress=progress)

        assert finished == [True]
        assert rows(store) == live
        assert left_over(store) == set()


def test_a_helper_folds_the_other_half(store: SqlEventStore) -> None:
    fill(store, OWNERS, 40)
    live, head = rows(store), store.head_position()
    shadow = Shadow(store, SHAPING, Codec(), 2, "helped")
    shadow.take("of one kind", fresh=False)
    told: list[int] = []

    helper = Helper.start(store, partial(Shaping, attrgetter("attribute"), str.split), shadow, worth=1)
    assert helper is not None
    helper.wait(told.append)
    helper.stop()

    assert 0 < sum(told) == shadow.folded() < head
    shadow.fold_half(0, 0, told.append)
    shadow.fold_half(0, 1, told.append)
    assert sum(told) == head
    with store.writing() as connection:
        shadow.take_place(connection, [table.name for table in view_tables(1).all])
    assert rows(store) == live


def test_what_a_helper_cannot_do_is_done_without_it(store: SqlEventStore) -> None:
    fill(store, OWNERS, 40)
    shadow = Shadow(store, SHAPING, Codec(), 2, "helped")
    shadow.take("of one kind", fresh=False)
    told: list[int] = []

    helper = Helper.start(store, partial(Shaping, attrgetter("attribute")), shadow, worth=1)  # type: ignore[arg-type]
    assert helper is not None
    helper.wait(told.append)
    helper.stop()

    assert told == []
    shadow.drop()
    assert rebuild(store, SHAPING).same


def test_a_long_chain_is_folded_to_the_rows_that_its_appends_left(store: SqlEventStore) -> None:
    memory, said = an_id(1), statement("0k").valid_from
    append(store, BIG, memory, 1, created(statement("0k")))
    for first in range(2, 1_200, 300):
        chain = [
            updated("late" if k % 50 == 0 else "replace", statement(f"{k}k", said + timedelta(minutes=k)))
            for k in range(first, first + 300)
        ]
        append(store, BIG, memory, first, *chain)
    append(store, BIG, memory, 1_202, rolled_back(700, 701))

    report = rebuild(store, SHAPING, check=True)

    assert report.same
    row = SqlViews(store, SHAPING).memory(BIG, memory)
    assert row is not None
    assert (row.content, row.versions) == ("1201k", 1_201)
