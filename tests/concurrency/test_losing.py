"""Who loses decides again; and is not overtaken another time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from contracts.histories import task_changed

from memstrata import Memstrata
from memstrata.adapters.storage import SqlEventStore, UuidSevenIds
from memstrata.application.owners import Lines, OwnerStates, Writer
from memstrata.domain.draft import Draft
from memstrata.domain.owner import Owner

from .acting import StandingClock

LIN, WEI = Owner(tenant="acme", user="lin"), Owner(tenant="acme", user="wei")


class Writing:
    """One opening of the store, as a process of its own has it."""

    def __init__(self, path: Path, *, group_commit: bool) -> None:
        self.memory = Memstrata.open(str(path), clock=StandingClock(), group_commit=group_commit)
        self.store: SqlEventStore = self.memory.store
        states = OwnerStates(self.store, self.memory.policy.registry)
        self.writer = Writer(self.store, states, UuidSevenIds(StandingClock()))

    def starts(self, task: str, owner: Owner = LIN) -> None:
        self.writer.write(owner, lambda draft: (start(draft, task), None))


def start(draft: Draft, task: str) -> int:
    draft.add(draft.state.ledger.ledger_id, task_changed("started").model_copy(update={"task_id": task}))
    return len(draft.state.ledger.tasks)


@pytest.fixture(params=[False, True], ids=["each by itself", "in groups"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Writing, Writing]]:
    one, other = (Writing(tmp_path / "store.db", group_commit=request.param) for _ in "12")
    yield one, other
    one.memory.close()
    other.memory.close()


def tasks(writing: Writing, owner: Owner = LIN) -> list[str]:
    return [entry.event.task_id for entry in writing.store.read_owner(owner)]  # type: ignore[attr-defined]


def test_a_decision_is_made_again_on_what_the_faster_one_left(both: tuple[Writing, Writing]) -> None:
    (one, other), found = both, []

    def decide(draft: Draft) -> tuple[int, None]:
        found.append(list(draft.state.ledger.tasks))
        if len(found) == 1:
            other.starts("faster")
        return start(draft, "mine"), None

    one.writer.write(LIN, decide)

    assert found == [[], ["faster"]]
    assert tasks(one) == ["faster", "mine"]


def test_who_lost_once_is_not_overtaken_again(both: tuple[Writing, Writing]) -> None:
    (one, other), decided = both, []

    def decide(draft: Draft) -> tuple[None, None]:
        decided.append(len(draft.state.ledger.tasks))
        if len(decided) == 1:
            other.starts("faster")
        else:
            late.append(pool.submit(other.starts, "late"))
            elsewhere.append(pool.submit(other.starts, "elsewhere", WEI))
            time.sleep(0.05)  # if they could write now, they would
            assert not late[0].done()
        start(draft, "mine")
        return None, None

    late: list[Future[None]] = []
    elsewhere: list[Future[None]] = []
    with ThreadPoolExecutor(2) as pool:
        one.writer.write(LIN, decide)
        late[0].result(30)
        elsewhere[0].result(30)

    assert decided == [0, 1]
    assert tasks(one) == ["faster", "mine", "late"]
    assert tasks(one, WEI) == ["elsewhere"]
    assert (one.store.verify().ok, one.memory.rebuild(check=True).same) == (True, True)


def test_who_was_overtaken_decides_undisturbed_until_nobody_else_writes_any_more(
    both: tuple[Writing, Writing],
) -> None:
    one, other = both
    undisturbed = []

    def decide(draft: Draft) -> tuple[None, None]:
        undisturbed.append(one.store._database.is_mine)
        start(draft, f"mine {len(undisturbed)}")
        return None, None

    def overtaken(draft: Draft) -> tuple[None, None]:
        if not tasks(one):
            other.starts("faster")
        start(draft, "mine")
        return None, None

    one.writer.write(LIN, overtaken)
    other.starts("between")
    for _ in range(4):
        one.writer.write(LIN, decide)

    assert undisturbed == [True, True, False, False]


def test_who_changes_his_mind_while_others_wait_writes_nothing_and_holds_nobody_up(
    both: tuple[Writing, Writing],
) -> None:
    (one, other), decided = both, []

    def decide(draft: Draft) -> tuple[None, None]:
        decided.append(None)
        start(draft, "mine")
        if len(decided) == 1:
            other.starts("faster")
            return None, None
        raise InterruptedError

    with pytest.raises(InterruptedError):
        one.writer.write(LIN, decide)
    other.starts("after")
    one.starts("later")

    assert tasks(one) == ["faster", "after", "later"]


def test_threads_of_one_owner_write_in_the_order_in_which_they_came() -> None:
    lines, order, arrived = Lines(), [], threading.Semaphore(0)

    def come(number: int) -> None:
        with lines.turn(LIN):
            order.append(number)

    with ThreadPoolExecutor(8) as pool, lines.turn(LIN):
        for number in range(8):
            pool.submit(come, number)
            while len(lines._lines[LIN]) < number + 2:
                time.sleep(0.001)
        with lines.turn(WEI):  # another owner's line is another one
            arrived.release()

    assert order == list(range(8))
    assert arrived.acquire(blocking=False)
    assert lines._lines == {}


def test_whose_decision_fails_lets_the_next_one_go_on() -> None:
    lines = Lines()

    with pytest.raises(InterruptedError), lines.turn(LIN):
        raise InterruptedError

    with lines.turn(LIN):
        pass
    assert lines._lines == {}
