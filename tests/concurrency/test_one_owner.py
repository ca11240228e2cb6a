"""Two processes write for one owner at one moment: what comes out is what some order would give.

Each race begins from the same file; the same deeds are done on copies of it in every order, and the log,
the views and the outcomes of the race must be those of one of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memstrata import Memstrata

from .acting import OWNER, Deed
from .racing import Peer, Race, Situation

ROUNDS = int(os.environ.get("MEMSTRATA_RACES", "3"))
"""How often each race is run; more at night."""

EARLY, LATER, LAST = (f"2026-11-{day:02}T09:00:00+00:00" for day in (2, 3, 4))


def say(text: str, *finds: Sequence[Any], session: str | None = None, **more: Any) -> Deed:
    return {"do": "say", "text": text, "session": session or text, "finds": finds, "at": EARLY, **more}


def finish(task: str) -> Deed:
    return {"do": "finish task", "task": task}


def roll_back(session: str) -> Deed:
    return {"do": "roll back", "session": session}


def undo(batch: str) -> Deed:
    return {"do": "undo", "batch": batch}


def person(verb: str, memory: str, *arguments: str) -> Deed:
    return {"do": "person", "verb": verb, "memory": memory, "arguments": arguments}


def bring(**memory: Any) -> Deed:
    return {"do": "bring", "memories": [memory]}


def held(memory: Memstrata) -> str:
    (row,) = memory.held(OWNER)
    return row.memory_id


def remembered(memory: Memstrata) -> str:
    (listed,) = memory.memories(OWNER)
    return listed.memory_id


def last_batch(memory: Memstrata) -> str:
    return memory.batches(OWNER)[-1].batch_id


CITY, OTHER_CITY, THIRD_CITY = (
    say(name, ["city", name], at=at) for name, at in (("杭州", EARLY), ("苏州", LATER), ("无锡", LAST))
)
FOURTH_CITY = say("南京", ["city", "南京"])
HINTS = [say(text, ["habit", "weekly:short"]) for text in "abcde"]
SHORTER = say("shorter", ["passing", "报告写短一点"], task="t1")

RACES: dict[str, tuple[list[Deed], list[Deed]]] = {
    "two values of one slot": ([], [CITY, OTHER_CITY]),
    "three values of one slot that holds one": (
        [CITY],
        [OTHER_CITY, THIRD_CITY, say("南京", ["city", "南京"])],
    ),
    "two wordings of one fact": (
        [],
        [
            say("a", ["standing", "写周报时先写结论，再写风险"]),
            say("b", ["standing", "周报先写结论再写风险"]),
        ],
    ),
    "four turns about different and equal things": (
        [],
        [
            say("a", ["taste", "茶"], ["city", "杭州"]),
            say("b", ["taste", "茶"], ["taste", "咖啡"]),
            say("c", ["taste", "咖啡"]),
            say("d", ["city", "苏州"], ["taste", "茶"]),
        ],
    ),
    "the second and third hint": (HINTS[:1], HINTS[1:3]),
    "the third and fourth hint": (HINTS[:2], HINTS[2:4]),
    "hints of one occasion": (HINTS[:1], [{**hint, "session": "s"} for hint in HINTS[1:4]]),
    "a task's end and a turn of it": ([], [SHORTER, finish("t1")]),
    "a task's end twice": ([SHORTER], [finish("t1"), finish("t1")]),
    "a rollback and a task's end": (
        [CITY, say("more", ["passing", "只保留结论"], task="t1", session="s1"), SHORTER],
        [roll_back("s1"), finish("t1")],
    ),
    "two rollbacks that overlap": (
        [CITY, OTHER_CITY, THIRD_CITY],
        [roll_back("苏州"), roll_back("无锡"), roll_back("杭州")],
    ),
    "a rollback and a turn about the same": ([CITY, OTHER_CITY], [roll_back("苏州"), THIRD_CITY]),
    "a rollback and the fact said again": (
        [CITY, OTHER_CITY],
        [roll_back("苏州"), say("again", ["city", "苏州"], at=LAST)],
    ),
    "a rollback and a turn about something else": (
        [CITY, OTHER_CITY],
        [roll_back("苏州"), say("tea", ["taste", "茶"])],
    ),
    "a revision and a rollback of one turn": (
        [CITY, OTHER_CITY],
        [roll_back("苏州"), say("南京", ["city", "南京"], session="苏州", message="苏州", revise=True)],
    ),
    "a revision and a turn about the same": (
        [CITY],
        [say("南京", ["city", "南京"], session="杭州", message="杭州", revise=True), OTHER_CITY],
    ),
    "two revisions of one turn": (
        [CITY],
        [
            say("南京", ["city", "南京"], session="杭州", message="杭州", revise=True),
            say("镇江", ["city", "镇江"], session="杭州", message="杭州", revise=True),
        ],
    ),
    "an edited turn and its revision": (
        [],
        [
            say("南京", ["city", "南京"], session="s1", message="m1"),
            say("镇江", ["city", "镇江"], session="s1", message="m1", revise=True),
        ],
    ),
    "one turn from two sides": ([], [CITY, CITY]),
    "a retraction and the value said again": (
        [say("tea", ["taste", "茶"])],
        [say("no tea", ["dropped", "taste", "茶"], at=LATER), say("tea!", ["taste", "茶"], at=LAST)],
    ),
    "an import beside turns": (
        [CITY],
        [
            bring(content="用户住在北京", attribute="city", value="北京"),
            OTHER_CITY,
            bring(content="用户喜欢茶", attribute="taste", value="茶"),
            say("tea", ["taste", "茶"]),
        ],
    ),
}


def race_again(peers: tuple[Peer, Peer], folder: Path, before: Sequence[Deed], deeds: Sequence[Deed]) -> None:
    Race(Situation(folder, before), peers, deeds).run(ROUNDS)


@pytest.mark.parametrize("name", RACES)
def test_what_two_processes_do_at_once_is_what_some_order_gives(
    name: str, peers: tuple[Peer, Peer], tmp_path: Path
) -> None:
    race_again(peers, tmp_path, *RACES[name])


@pytest.mark.parametrize("verb", ["confirm", "reject"])
def test_a_persons_word_about_a_hint_meets_the_next_hint(
    verb: str, peers: tuple[Peer, Peer], tmp_path: Path
) -> None:
    situation = Situation(tmp_path, HINTS[:2])
    memory = situation.known(held)

    Race(situation, peers, [person(verb, memory), HINTS[2], HINTS[3]]).run(ROUNDS)


@pytest.mark.parametrize(
    "other", [roll_back("杭州"), OTHER_CITY, {"do": "forget"}], ids=["rollback", "turn", "forget"]
)
def test_a_correction_meets_what_changes_the_memory(
    other: Deed, peers: tuple[Peer, Peer], tmp_path: Path
) -> None:
    situation = Situation(tmp_path, [CITY])
    memory = situation.known(remembered)
    deed = person("forget", memory) if other["do"] == "forget" else other

    Race(situation, peers, [person("correct", memory, "用户住在湖州"), deed]).run(ROUNDS)


@pytest.mark.parametrize(
    "others",
    [[THIRD_CITY], [CITY], [roll_back("杭州")], [finish("t1"), THIRD_CITY]],
    ids=["a turn", "a known turn", "a rollback", "a task's end and a turn"],
)
def test_an_undo_meets_what_came_meanwhile(
    others: list[Deed], peers: tuple[Peer, Peer], tmp_path: Path
) -> None:
    situation = Situation(tmp_path, [CITY, OTHER_CITY, SHORTER, roll_back("苏州")])
    batch = situation.known(last_batch)

    Race(situation, peers, [undo(batch), *others]).run(ROUNDS)


def test_of_two_who_undo_one_batch_one_does(peers: tuple[Peer, Peer], tmp_path: Path) -> None:
    situation = Situation(tmp_path, [CITY, OTHER_CITY, roll_back("苏州")])
    batch = situation.known(last_batch)

    Race(situation, peers, [undo(batch), undo(batch), undo(batch)]).run(ROUNDS)


def test_a_task_that_was_ended_by_mistake_is_reopened_while_its_turns_come_in(
    peers: tuple[Peer, Peer], tmp_path: Path
) -> None:
    situation = Situation(tmp_path, [SHORTER, finish("t1")])
    batch = situation.known(last_batch)
    turn = say("conclusion", ["passing", "只保留结论"], task="t1", session="shorter")

    Race(situation, peers, [undo(batch), turn, finish("t1")]).run(ROUNDS)
