"""Sixty-four callers of one service at once, who want things that cannot all be."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from contracts.histories import task_changed

from memstrata.domain.errors import OwnerPositionConflictError, WrongExpectedVersionError
from memstrata.domain.events import Judged
from memstrata.domain.owner import Owner
from memstrata.domain.ports import Append
from memstrata.domain.stream import NewEvent

from .acting import OWNER, Deed
from .racing import Situation, acting, check_sound, told_log, told_view

CALLERS = 64


def all_at_once(acts: list[Callable[[], Any]]) -> list[Any]:
    barrier = threading.Barrier(len(acts))

    def run(act: Callable[[], Any]) -> Any:
        barrier.wait()
        return act()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def test_of_sixty_four_decisions_on_one_state_one_is_written(tmp_path: Path) -> None:
    path = Situation(tmp_path).copy()
    owner = Owner.parse(OWNER)
    with acting(path, group_commit=True) as actor:
        store = actor.memory.store

        def append(number: int) -> str:
            stream = store.turn_id(owner, str(number))
            try:
                store.append(Append(owner, [NewEvent(stream, 1, task_changed("started"))], 0))
            except (OwnerPositionConflictError, WrongExpectedVersionError) as error:
                return type(error).__name__
            return "written"

        answers = Counter(all_at_once([lambda n=n: append(n) for n in range(CALLERS)]))  # type: ignore[misc]

        assert answers == {"written": 1, "OwnerPositionConflictError": CALLERS - 1}
        assert store.head_position() == 1


def test_of_sixty_four_who_continue_one_stream_one_does_and_other_owners_are_not_disturbed(
    tmp_path: Path,
) -> None:
    path = Situation(tmp_path).copy()
    owner = Owner.parse(OWNER)
    with acting(path, group_commit=True) as actor:
        store = actor.memory.store

        def append(number: int) -> str:
            mine = owner if number % 2 else Owner(tenant="acme", user=f"u{number}")
            event = NewEvent(store.ledger_id(mine), 1, task_changed("started"))
            try:
                store.append(Append(mine, [event], None))  # as long jobs do, which rely on streams alone
            except WrongExpectedVersionError:
                return "too late"
            return "written"

        answers = all_at_once([lambda n=n: append(n) for n in range(CALLERS)])  # type: ignore[misc]

        assert answers[::2] == ["written"] * (CALLERS // 2)
        assert Counter(answers[1::2]) == {"written": 1, "too late": CALLERS // 2 - 1}
        assert store.verify().ok


def test_sixty_four_turns_of_one_owner_are_all_taken_in_as_one_after_another(tmp_path: Path) -> None:
    situation = Situation(tmp_path)
    path = situation.copy()
    deeds: dict[str, Deed] = {
        f"turn {n}": {
            "do": "say",
            "text": f"turn {n}",
            "session": f"s{n}",
            "finds": [["city", f"place {n % 5}"], ["taste", f"thing {n % 3}"], ["habit", "weekly:short"]],
        }
        for n in range(CALLERS)
    }

    with acting(path, group_commit=True) as actor:
        outcomes = all_at_once([lambda d=d: actor.do(d) for d in deeds.values()])  # type: ignore[misc]

        assert [outcome[0] for outcome in outcomes] == ["new"] * CALLERS
        assert actor.counting.extracted == actor.counting.judged == Counter(dict.fromkeys(deeds, 1))
        check_sound(actor, path, OWNER)
        with acting(situation.copy()) as alone:
            for entry in actor.memory.log(OWNER, topics=[Judged.TOPIC]):
                alone.do(deeds[entry.event.context.message_id])  # type: ignore[attr-defined]
            assert told_log(actor.memory) == told_log(alone.memory)
            assert told_view(actor.memory) == told_view(alone.memory)
