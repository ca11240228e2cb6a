"""Whoever reads while others write sees each turn whole or not at all."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memstrata import Memstrata
from memstrata.domain.events import Judged

from .acting import NOW, OWNER, Deed
from .racing import Peer, Situation, acting, check_sound

TURNS = int(os.environ.get("MEMSTRATA_TURNS", "6")) * 8


def moves(number: int, writer: int) -> Deed:
    """A turn that gives two memories a version, always with the same value."""
    value = f"{writer}.{number}"
    finds = [["said", "city", value], ["said", "preferred_name", value]]
    return {"do": "say", "text": value, "session": f"s{writer}", "finds": finds}


def edits(number: int, writer: int) -> Deed:
    """One turn, said anew with another value each time."""
    value = f"{writer}.{number}"
    message = f"m{writer}"
    finds = [["said", "city", value], ["said", "preferred_name", value]]
    return {
        "do": "say",
        "text": value,
        "session": "s",
        "message": message,
        "revise": True,
        "finds": finds,
    }


def check_list(memory: Memstrata) -> None:
    values = [one.memory.value for one in memory.memories(OWNER)]
    assert len(values) in (0, 2)
    assert len(set(values)) <= 1, values


def check_counts(memory: Memstrata) -> None:
    counts = memory.counts(OWNER)
    assert counts.memories.get("active", 0) in (0, 2), counts
    assert counts.decisions.get("accepted", 0) >= 2 * counts.turns, counts


def check_context(memory: Memstrata) -> None:
    values = {one.statement.value for one in memory.context(OWNER, "city preferred_name")}
    assert len(values) <= 1, values


def check_history(memory: Memstrata) -> None:
    for listed in memory.memories(OWNER):
        versions = memory.history(OWNER, listed.memory_id)
        assert [version.number for version in versions] == list(range(1, len(versions) + 1))
        assert len(versions) >= listed.memory.versions
        positions = [version.position for version in versions]
        assert positions == sorted(positions)


def check_why(memory: Memstrata) -> None:
    """The version that stands rests on the very words that it says."""
    for listed in memory.memories(OWNER):
        why = memory.why(OWNER, listed.memory_id)
        current = why.memory.current
        if current is None:
            continue
        (link,) = [one for one in why.links if one.version.number == current.number]
        assert link.judged is not None
        assert isinstance(link.judged.event, Judged)
        assert link.judged.event.text == current.statement.value
        assert link.proposal is not None


def check_past(memory: Memstrata) -> None:
    """What was known at any time is the same whenever it is asked."""
    for entry in itertools.islice(memory.log(OWNER, topics=[Judged.TOPIC]), 0, None, 7):
        then = [one.memory.value for one in memory.memories(OWNER, as_of=entry.position, valid_at=NOW)]
        assert len(set(then)) <= 1


@pytest.mark.parametrize("turn", [moves, edits])
@pytest.mark.parametrize(
    "check", [check_list, check_counts, check_context, check_history, check_why, check_past]
)
def test_no_reader_sees_half_a_turn(
    check: Callable[[Memstrata], None],
    turn: Callable[[int, int], Deed],
    peers: tuple[Peer, Peer],
    tmp_path: Path,
) -> None:
    path = Situation(tmp_path).copy()
    for peer in peers:
        peer.open(path)
    count = TURNS // 3 if turn is edits else TURNS
    talks = [[turn(number, writer) for number in range(count)] for writer in range(2)]

    with acting(path) as reader:
        for peer, talk in zip(peers, talks, strict=True):
            peer.ask(act=[{"do": "one by one", "deeds": talk}], start=0.0)
        checked = 0
        while checked < 5 or not all(peer.has_answered() for peer in peers):
            check(reader.memory)
            checked += 1
        for peer in peers:
            (outcomes,) = peer.answer()
            assert {outcome[0] for outcome in outcomes} <= {"new", "revised"}, outcomes
        check(reader.memory)
        check_sound(reader, path, OWNER)
