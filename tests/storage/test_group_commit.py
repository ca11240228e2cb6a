"""The group-commit writer: who shares a transaction, and who gets which answer."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from contracts.event_store import LIN, WEI, ManualClock, append, everything, new_stream, outcome, run_of, task

from memstrata.adapters.storage import open_store
from memstrata.adapters.storage.group_commit import GroupCommitWriter, Unit
from memstrata.adapters.storage.recorder import PlannedAppend
from memstrata.domain.errors import OwnerPositionConflictError, StoreUnavailableError
from memstrata.domain.owner import Owner

BAD = 99


def unit(number: int, events: int = 1) -> Unit:
    return [PlannedAppend(bytes([number]), run_of("", 0, *[task()] * events), None, None)]


class Disk:
    """Keeps the numbers of the units of each transaction; the first waits until `go` is set."""

    def __init__(self, problem: Exception | None = None) -> None:
        self.transactions: list[list[int]] = []
        self.entered, self.go = threading.Event(), threading.Event()
        self.problem = problem or OwnerPositionConflictError(1, 2)

    def write(self, units: Sequence[Unit]) -> None:
        self.entered.set()
        self.go.wait(10)
        numbers = [planned.owner_ref[0] for unit in units for planned in unit]
        if BAD in numbers:
            raise self.problem
        self.transactions.append(numbers)


def held_up(disk: Disk, max_events: int = 2_000) -> GroupCommitWriter:
    """A writer in the middle of its first transaction, number 0."""
    writer = GroupCommitWriter(disk.write, "test", max_events)
    writer.submit(unit(0))
    assert disk.entered.wait(10)
    return writer


def test_what_waits_during_a_transaction_goes_into_the_next_one_together() -> None:
    disk = Disk()
    writer = held_up(disk)
    for number in range(1, 6):
        writer.submit(unit(number))

    disk.go.set()
    writer.close()

    assert disk.transactions == [[0], [1, 2, 3, 4, 5]]


def test_a_transaction_is_not_filled_over_its_limit() -> None:
    disk = Disk()
    writer = held_up(disk, max_events=10)
    for number in range(1, 5):
        writer.submit(unit(number, events=5))

    disk.go.set()
    writer.close()

    assert disk.transactions == [[0], [1, 2], [3, 4]]


def test_an_error_reaches_only_the_caller_whose_unit_is_refused() -> None:
    disk = Disk()
    writer = held_up(disk)
    futures = {number: writer.submit(unit(number)) for number in (1, 2, BAD, 3, 4)}

    disk.go.set()
    writer.close()

    assert isinstance(futures.pop(BAD).exception(), OwnerPositionConflictError)
    assert [future.exception() for future in futures.values()] == [None] * 4
    assert sorted(number for numbers in disk.transactions for number in numbers) == [0, 1, 2, 3, 4]


def test_a_store_that_is_unavailable_refuses_everybody_at_once() -> None:
    disk = Disk(StoreUnavailableError("test", "the disk is full", "free some space"))
    writer = held_up(disk)
    futures = [writer.submit(unit(number)) for number in (1, BAD, 2)]

    disk.go.set()
    writer.close()

    assert all(isinstance(future.exception(), StoreUnavailableError) for future in futures)


def test_closing_writes_what_was_submitted_and_refuses_the_rest() -> None:
    disk = Disk()
    writer = held_up(disk)
    future = writer.submit(unit(1))
    disk.go.set()

    writer.close()
    writer.close()

    assert future.done()
    with pytest.raises(StoreUnavailableError, match="closed"):
        writer.submit(unit(2))


def test_many_callers_are_all_answered_and_conflicts_stay_with_theirs(path: Path, clock: ManualClock) -> None:
    owners = [Owner(tenant="acme", user=f"u{number}") for number in range(16)]
    with open_store(str(path), clock=clock, group_commit=True) as store:
        store.append(append(WEI, 0, *run_of(new_stream(), 1, task())))

        def write(owner: Owner) -> list[str]:
            answers = []
            for _ in range(10):
                position, stale = (
                    store.owner_position(owner),
                    append(WEI, 0, *run_of(new_stream(), 1, task())),
                )
                mine = append(owner, position, *run_of(new_stream(), 1, task(), task()))
                answers += [outcome(lambda mine=mine: store.append(mine))]  # type: ignore[misc]
                answers += [outcome(lambda stale=stale: store.append(stale))]  # type: ignore[misc]
            return answers

        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(write, owners))

        assert answers == [["written", "OwnerPositionConflictError"] * 10] * 16
        assert [len(everything(store, owner)) for owner in owners] == [20] * 16
        assert (len(everything(store, WEI)), everything(store, LIN)) == (1, [])
        assert (store.verify().ok, store.head_position()) == (True, 321)
