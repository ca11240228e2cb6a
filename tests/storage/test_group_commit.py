"""The group-commit writer: who shares a transaction, and who gets which answer."""

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from contracts.event_store import LIN, WEI, ManualClock, append, everything, new_stream, outcome, run_of, task

from memstrata.adapters.storage import open_store
from memstrata.adapters.storage.appending import PlannedAppend
from memstrata.adapters.storage.group_commit import GroupCommitWriter, Unit
from memstrata.domain.errors import OwnerPositionConflictError, StoreUnavailableError
from memstrata.domain.owner import Owner

BAD = 99


def unit(number: int, events: int = 1) -> Unit:
    batch = append(LIN, None, *run_of("", 0, *[task()] * events))
    return [PlannedAppend(0, bytes([number]), batch, [])]


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


class Callers:
    """A writer in the middle of its first transaction, number 0, and those who come after it."""

    def __init__(self, disk: Disk, max_events: int = 2_000) -> None:
        self.disk, self.writer = disk, GroupCommitWriter(disk.write, "test", max_events)
        self._pool = ThreadPoolExecutor(20)
        self._answers = [self._pool.submit(self.writer.write, unit(0))]
        assert disk.entered.wait(10)

    def come(self, number: int, events: int = 1) -> None:
        """One more caller; the next one comes later."""
        self._answers.append(self._pool.submit(self.writer.write, unit(number, events)))
        self.wait_for(len(self._answers) - 1)

    def wait_for(self, waiting: int) -> None:
        deadline = time.monotonic() + 10
        while len(self.writer._waiting) < waiting:
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def close_in_background(self) -> "Future[None]":
        closing = self._pool.submit(self.writer.close)
        self.wait_for(len(self._answers))
        return closing

    def answers(self) -> list[BaseException | None]:
        """Let the disk go on; what each caller got, in the order in which they came."""
        self.disk.go.set()
        errors = [answer.exception(10) for answer in self._answers]
        self._pool.shutdown()
        return errors


def test_what_waits_during_a_transaction_goes_into_the_next_one_together() -> None:
    callers = Callers(Disk())
    for number in range(1, 6):
        callers.come(number)

    assert callers.answers() == [None] * 6
    assert callers.disk.transactions == [[0], [1, 2, 3, 4, 5]]


def test_a_lone_caller_writes_in_his_own_thread() -> None:
    threads = []
    writer = GroupCommitWriter(lambda units: threads.append((threading.get_ident(), len(units))), "test")

    writer.write(unit(1))
    writer.write(unit(2))

    assert threads == [(threading.get_ident(), 1)] * 2


def test_a_transaction_is_not_filled_over_its_limit() -> None:
    callers = Callers(Disk(), max_events=10)
    for number in range(1, 5):
        callers.come(number, events=5)

    assert callers.answers() == [None] * 5
    assert callers.disk.transactions == [[0], [1, 2], [3, 4]]


def test_an_error_reaches_only_the_caller_whose_unit_is_refused() -> None:
    callers = Callers(Disk())
    for number in (1, 2, BAD, 3, 4):
        callers.come(number)

    answers = callers.answers()

    assert isinstance(answers.pop(3), OwnerPositionConflictError)
    assert answers == [None] * 5
    assert sorted(number for numbers in callers.disk.transactions for number in numbers) == [0, 1, 2, 3, 4]


def test_a_store_that_is_unavailable_refuses_everybody_at_once() -> None:
    callers = Callers(Disk(StoreUnavailableError("test", "the disk is full", "free some space")))
    for number in (1, BAD, 2):
        callers.come(number)

    answers = callers.answers()

    assert [type(answer) for answer in answers] == [type(None)] + [StoreUnavailableError] * 3
    assert callers.disk.transactions == [[0]]


def test_who_is_interrupted_while_he_writes_leaves_nobody_waiting() -> None:
    callers = Callers(Disk(KeyboardInterrupt()))  # type: ignore[arg-type]
    for number in (1, BAD, 2):
        callers.come(number)

    first, leader, *others = callers.answers()

    assert (first, type(leader)) == (None, KeyboardInterrupt)
    assert [str(error) for error in others] == ["test: the writer was interrupted; repeat as it is"] * 2
    callers.writer.write(unit(3))
    assert callers.disk.transactions == [[0], [3]]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C reaches this process; a shell starts what runs in its background with that signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="a thread is interrupted by a signal")
def test_who_is_interrupted_while_he_waits_is_not_waited_for(interruptible: None) -> None:
    callers = Callers(Disk())
    me = threading.get_ident()

    def interrupt() -> None:
        callers.wait_for(1)
        signal.pthread_kill(me, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        callers.writer.write(unit(1))
    thread.join()
    callers.come(2)

    assert callers.answers() == [None, None]
    assert callers.disk.transactions == [[0], [2]]


def test_closing_writes_what_came_before_and_refuses_the_rest() -> None:
    callers = Callers(Disk())
    callers.come(1)
    closing = callers.close_in_background()

    with pytest.raises(StoreUnavailableError, match="closed"):
        callers.writer.write(unit(2))
    assert not closing.done()
    assert callers.answers() == [None, None]
    assert closing.exception(10) is None
    callers.writer.close()
    assert callers.disk.transactions == [[0], [1]]


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
