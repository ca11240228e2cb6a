"""A clock that jumps: what is recorded stays in order, and nothing that was acknowledged is lost."""

from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from faults.telling import NOON, OWNER, holds, said, turn, view

from memstrata import Memstrata, Selector
from memstrata.domain.errors import InvalidInputError

DAY, YEAR = timedelta(days=1), timedelta(days=365)
JUMPS = (YEAR, -2 * YEAR, 20 * YEAR, -30 * YEAR, DAY, timedelta(microseconds=-1), timedelta(0), 40 * YEAR)


class JumpingClock:
    """A system clock that somebody sets."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment


def test_times_of_recording_ascend_whatever_the_clock_does(tmp_path: Path) -> None:
    clock = JumpingClock(NOON + YEAR)
    path, latest = str(tmp_path / "store.db"), clock.moment
    for number, jump in enumerate(JUMPS):  # opened anew each time, as after a restart with another clock
        with Memstrata.open(path, clock=clock) as memory:
            latest = max(latest, clock.moment)
            one = turn(number).model_copy(update={"at": min(turn(number).at or NOON, clock.moment)})

            assert memory.ingest(OWNER, [one]).turns[0].status == "new"

            entries = list(memory.log(OWNER))
            assert entries[-1].recorded_at == latest
            assert all(a.recorded_at <= b.recorded_at for a, b in pairwise(entries))
            assert memory.ingest(OWNER, [one]).turns[0].status == "known"
            assert holds(memory)
        clock.moment += jump

    with Memstrata.open(path, clock=clock) as memory:
        assert said(memory) == [f"s{number}" for number in range(len(JUMPS))]
        assert len({entry.stream_id for entry in memory.log(OWNER)}) > len(JUMPS)


def test_a_rollback_and_its_undo_do_not_mind_a_clock_set_back(tmp_path: Path) -> None:
    clock = JumpingClock(NOON + YEAR)
    with Memstrata.open(str(tmp_path / "store.db"), clock=clock) as memory:
        memory.ingest(OWNER, [turn(1), turn(2)])
        before = view(memory)
        first = list(memory.log(OWNER))[-1].recorded_at

        clock.moment -= 5 * YEAR
        selector = Selector(session="s2")
        report = memory.apply(
            OWNER, memory.plan_rollback(OWNER, selector), actor="operator:mei", reason="wrong"
        )
        assert report.batch_id
        assert view(memory) != before
        memory.apply(OWNER, memory.plan_undo(OWNER, report.batch_id), actor="operator:mei", reason="right")

        assert view(memory) == before
        assert {entry.recorded_at for entry in memory.log(OWNER)} == {first}
        assert holds(memory)


def test_a_turn_of_a_clock_that_was_ahead_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    clock = JumpingClock(NOON + 10 * YEAR)
    with Memstrata.open(str(tmp_path / "store.db"), clock=clock) as memory:
        ahead = turn(1).model_copy(update={"at": clock.moment})
        memory.ingest(OWNER, [ahead])
        clock.moment -= 9 * YEAR

        with pytest.raises(InvalidInputError, match="check the clock that wrote it"):
            memory.ingest(OWNER, [turn(2).model_copy(update={"at": ahead.at})])

        assert said(memory) == ["s1"]
        assert memory.ingest(OWNER, [ahead, turn(3)], strict=False).turns[1].status == "new"
        assert said(memory) == ["s1", "s3"]
        assert holds(memory)


def test_a_clock_that_follows_the_turns_may_not_run_before_what_a_clock_ahead_recorded(
    tmp_path: Path,
) -> None:
    clock = JumpingClock(NOON + 10 * YEAR)
    with Memstrata.open(str(tmp_path / "store.db"), clock=clock) as memory:
        memory.ingest(OWNER, [turn(1)])
        clock.moment -= 9 * YEAR

        with pytest.raises(InvalidInputError, match="use a fresh store, or leave the real clock in place"):
            memory.ingest(OWNER, [turn(2)], simulated_clock=True)

        assert said(memory) == ["s1"]


def test_a_clock_that_follows_turns_out_of_order_records_in_order(tmp_path: Path) -> None:
    with Memstrata.open(str(tmp_path / "store.db"), clock=JumpingClock(NOON + YEAR)) as memory:
        days = (5, 2, 9, 3)

        memory.ingest(OWNER, [turn(day) for day in days], simulated_clock=True)

        entries = list(memory.log(OWNER))
        assert all(a.recorded_at <= b.recorded_at for a, b in pairwise(entries))
        assert {entry.recorded_at for entry in entries} == {NOON + 5 * DAY, NOON + 9 * DAY}
        assert said(memory) == [f"s{day}" for day in days]
        assert holds(memory)
