"""Several processes find no store and make one, at one moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from .acting import OWNER
from .racing import Peer, acting, at_once, check_sound


@pytest.mark.parametrize("round_", range(4))
def test_two_processes_that_create_a_store_at_once_write_into_one(
    round_: int, peers: tuple[Peer, Peer], tmp_path: Path
) -> None:
    path = tmp_path / "fresh.db"
    opening = {"open": str(path), "group_commit": bool(round_ % 2), "durability": "full"}
    deeds = [{"do": "say", "text": f"{n}", "finds": [["taste", f"thing {n}"]]} for n in range(4)]

    assert at_once([(peer, opening) for peer in peers]) == ["open", "open"]
    answers = at_once([(peers[0], {"act": deeds[:2]}), (peers[1], {"act": deeds[2:]})])

    assert [outcome[0] for outcomes in answers for outcome in outcomes] == ["new"] * 4
    with acting(path) as actor:
        check_sound(actor, path, OWNER)
        assert [peer.told(look=OWNER) for peer in peers] == [actor.view()] * 2
        assert len(actor.memory.memories(OWNER)) == 4
