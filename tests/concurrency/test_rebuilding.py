"""Rebuilds while others write, and several of them at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from .acting import OWNER, Deed
from .racing import Peer, Situation, acting, at_once, check_sound

TOOK_OVER = "another rebuild took over"


def talk(writer: int, turns: int) -> list[Deed]:
    return [
        {
            "do": "say",
            "text": f"w{writer}.{number}",
            "session": f"s{number}",
            "finds": [["taste", f"thing {number % 7}"], ["city", f"place {number}"]],
        }
        for number in range(turns)
    ]


@pytest.fixture
def situation(tmp_path: Path) -> Situation:
    return Situation(tmp_path, talk(0, 40))


@pytest.mark.parametrize("check", [False, True], ids=["rebuild", "check"])
def test_others_write_while_one_rebuilds(check: bool, situation: Situation, peers: tuple[Peer, Peer]) -> None:
    path, (writer, builder) = situation.copy(), peers
    for peer in peers:
        peer.open(path)

    writer.ask(act=[{"do": "one by one", "deeds": talk(w, 15)} for w in (1, 2, 3)], start=0.0)
    rebuilt = []
    while not rebuilt or not writer.has_answered():
        rebuilt.append(builder.told(rebuild=check, start=0.0))
    said = writer.answer()

    assert set(rebuilt) == {True}
    assert [[outcome[0] for outcome in outcomes] for outcomes in said] == [["new"] * 15] * 3
    with acting(path) as actor:
        check_sound(actor, path, OWNER)
        assert [peer.told(look=OWNER) for peer in peers] == [actor.view()] * 2


@pytest.mark.parametrize("second", [False, True], ids=["rebuild", "check"])
@pytest.mark.parametrize("first", [False, True], ids=["rebuild", "check"])
def test_of_two_rebuilds_at_once_one_goes_through_and_the_other_says_so(
    first: bool, second: bool, situation: Situation, peers: tuple[Peer, Peer]
) -> None:
    path = situation.copy()
    for peer in peers:
        peer.open(path)

    for _ in range(5):
        answers = at_once([(peers[0], {"rebuild": first}), (peers[1], {"rebuild": second})])

        assert True in answers
        assert all(answer is True or TOOK_OVER in answer for answer in answers), answers
    with acting(path) as actor:
        check_sound(actor, path, OWNER)
