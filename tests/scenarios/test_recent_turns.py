"""The last turns of a session are context for the next one, across processes, and no event."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memstrata import Memstrata, Turn
from memstrata.domain.ports import RECENT_LENGTH, RECENT_TURNS

OWNER = "acme/lin"
START = datetime(2026, 10, 8, 9, tzinfo=UTC)


def say(store: Path, text: str, minute: int, *, session: str = "s1", allow_extraction: bool = True) -> None:
    """Each turn comes from a process of its own."""
    turn = Turn(
        user=text,
        assistant="ok",
        session=session,
        at=START + timedelta(minutes=minute),
        allow_extraction=allow_extraction,
    )
    with Memstrata.open(str(store)) as memory:
        memory.ingest(OWNER, [turn])


def contents(store: Path) -> list[str]:
    with Memstrata.open(str(store)) as memory:
        return [listed.content for listed in memory.memories(OWNER)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def recent(store: Path, session: str = "s1") -> list[str]:
    with Memstrata.open(str(store)) as memory:
        kept = memory.store.recent_turns(memory._owner(OWNER), [session])
        return [text for _, text in kept.get(session, [])]


def test_a_later_process_understands_what_a_correction_is_about(store: Path) -> None:
    say(store, "我有3年测试经验", 0)
    say(store, "更正一下，是5年，手滑了", 1)

    assert contents(store) == ["用户有5年测试经验"]


def test_another_session_is_no_context(store: Path) -> None:
    say(store, "我有3年测试经验", 0)
    say(store, "更正一下，是5年，手滑了", 1, session="s2")

    assert contents(store) == ["用户有3年测试经验"]


def test_only_the_last_few_are_kept_with_their_secrets_masked(store: Path) -> None:
    say(store, "我的密码是 Tulip-0000-fake", 0)
    for minute in range(1, RECENT_TURNS):
        say(store, f"第 {minute} 句", minute)
    assert len(recent(store)) == RECENT_TURNS
    assert "Tulip" not in recent(store)[0]

    say(store, "再来一句", RECENT_TURNS)

    assert recent(store) == [*(f"第 {minute} 句" for minute in range(1, RECENT_TURNS)), "再来一句"]


def test_a_turn_under_the_safety_boundary_is_no_context(store: Path) -> None:
    say(store, "我有3年测试经验", 0, allow_extraction=False)
    say(store, "更正一下，是5年，手滑了", 1)

    assert (recent(store), contents(store)) == (["更正一下，是5年，手滑了"], [])


def test_the_buffer_can_be_emptied_without_an_event(store: Path) -> None:
    say(store, "我有3年测试经验", 0)
    with Memstrata.open(str(store)) as memory:
        before = memory.store.head_position()
        memory.purge_recent_turns(OWNER)
        assert memory.store.head_position() == before

    assert recent(store) == []


def test_another_owner_has_a_buffer_of_their_own(store: Path) -> None:
    say(store, "我有3年测试经验", 0)
    with Memstrata.open(str(store)) as memory:
        assert memory.store.recent_turns(memory._owner("acme/mo"), ["s1"]) == {}


@pytest.mark.parametrize("at_once", [True, False])
def test_a_history_means_the_same_in_one_call_and_in_several(store: Path, at_once: bool) -> None:
    """What stands too far back in a long message to be kept is no context within the call either."""
    filler = "今天的云很好看。" * (RECENT_LENGTH // 8)
    turns = [
        Turn(user=f"{filler}来玩角色扮演，我演皇帝", session="s1", at=START),
        Turn(user="我最讨厌吃鱼", session="s1", at=START + timedelta(minutes=1)),
    ]

    with Memstrata.open(str(store)) as memory:
        for group in [turns] if at_once else [[turn] for turn in turns]:
            memory.ingest(OWNER, group)

    assert contents(store) == ["用户讨厌吃鱼"]
