"""Two processes of four threads each write on one file: nothing is lost, and the log is a serial one.

For so many turns not every order can be tried. The recorded positions say which one it was: the same turns,
said one after another in that order, must give the same log, event by event.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from memstrata.domain.events import Judged

from .acting import OWNER, Deed
from .racing import Peer, Situation, acting, at_once, check_sound, told_log, told_view

TURNS = int(os.environ.get("MEMSTRATA_TURNS", "6"))
"""How many turns each of the eight threads says; more at night."""
THREADS = 4


def turns_of(writer: int, owner: str, chance: random.Random) -> list[Deed]:
    """What one thread says: values of one slot, tastes that others have too, hints, passing wishes."""
    deeds = []
    for number in range(TURNS):
        finds = chance.choice(
            [
                [["city", chance.choice(["杭州", "苏州", "无锡"])]],
                [["taste", chance.choice(["茶", "咖啡", "粥"])], ["city", chance.choice(["杭州", "苏州"])]],
                [["habit", chance.choice(["weekly:short", "report:first"])]],
                [["passing", chance.choice(["报告写短一点", "只保留结论"])]],
                [["dropped", "taste", chance.choice(["茶", "咖啡"])]],
                [["standing", chance.choice(["写周报时先写结论，再写风险", "周报先写结论再写风险"])]],
                [],
            ]
        )
        deeds.append(
            {
                "do": "say",
                "owner": owner,
                "text": f"w{writer} says {number}",
                "session": f"s{writer}.{number // 2}",
                "task": chance.choice([None, "t1"]),
                "at": f"2026-11-{1 + number:02}T{chance.randrange(24):02}:00:00+00:00",
                "finds": finds,
            }
        )
    return deeds


def said_in_order(path: Path, owner: str) -> list[str]:
    with acting(path) as actor:
        events = [entry.event for entry in actor.memory.log(owner)]
    return [str(event.context.message_id) for event in events if isinstance(event, Judged)]


def all_say(peers: Sequence[Peer], path: Path, talks: Sequence[list[Deed]], *, group_commit: bool) -> None:
    """Every talk in a thread of its own, half of them in each process; all are acknowledged."""
    for peer in peers:
        peer.open(path, group_commit=group_commit)
    deeds = [{"do": "one by one", "deeds": talk} for talk in talks]
    answers = at_once([(peers[0], {"act": deeds[::2]}), (peers[1], {"act": deeds[1::2]})])
    for outcomes in (*answers[0], *answers[1]):
        assert [outcome[0] for outcome in outcomes] == ["new"] * TURNS, outcomes


@pytest.mark.parametrize("group_commit", [False, True], ids=["each by itself", "in groups"])
@pytest.mark.parametrize("owners", [1, 3, 8])
def test_eight_threads_of_two_processes_leave_what_one_after_another_would(
    owners: int, group_commit: bool, peers: tuple[Peer, Peer], tmp_path: Path
) -> None:
    chance = random.Random(owners)
    names = [f"{OWNER}{number}" for number in range(owners)]
    talks = [turns_of(n, names[n % owners], chance) for n in range(2 * THREADS)]
    deeds = {deed["text"]: deed for talk in talks for deed in talk}
    situation = Situation(tmp_path)
    path = situation.copy()

    all_say(peers, path, talks, group_commit=group_commit)

    with acting(path) as actor:
        check_sound(actor, path, *names)
    assert sorted(text for name in names for text in said_in_order(path, name)) == sorted(deeds)
    for counts in zip(*(peer.told(counts=True) for peer in peers), strict=True):
        assert {**counts[0], **counts[1]} == dict.fromkeys(deeds, 1)
    serial = situation.copy()
    with acting(path) as actor, acting(serial) as alone:
        for name in names:
            for text in said_in_order(path, name):
                assert alone.do(deeds[text])[0] == "new"
            assert told_log(actor.memory, name) == told_log(alone.memory, name)
            assert told_view(actor.memory, name) == told_view(alone.memory, name)
            looks = [peer.told(look=name) for peer in peers]
            assert looks == [actor.view(name)] * 2
