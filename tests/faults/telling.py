"""Turns for the tests of faults, and what must hold of a store whatever happened to it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from memstrata import Memstrata, Turn
from memstrata.domain.events import BatchClosed, BatchOpened, Judged

OWNER = "acme/lin"
NOON = datetime(2024, 10, 15, 12, tzinfo=UTC)
CITIES = ("成都", "绵阳", "杭州", "苏州", "上海", "北京", "广州", "深圳")

STORY = (
    "我住在成都，对花生过敏",
    "今天天气真好",
    "I don't like coriander. I work as a nurse.",
    "期望薪资 15-20k",
    "这次周报写短一点，只保留结论",
    "期望薪资改成 25k 以上了，我搬到杭州了",
    "我现在喜欢吃香菜了，以后写汇报都先给结论",
    "我不住在杭州了，搬到苏州了",
)
"""Versions, held hints, refusals, changes of mind; everything of one turn is written with it."""


def turn(number: int) -> Turn:
    """The n-th turn: the user moved again."""
    return _said(number, f"我现在住在{CITIES[number % len(CITIES)]}")


def story() -> list[Turn]:
    """The turns of the story, a session and a day for each."""
    return [_said(number, text) for number, text in enumerate(STORY)]


def as_lines(turns: Sequence[Turn]) -> str:
    """The turns as a file of the command line."""
    return "".join(
        json.dumps(
            {
                "user": one.user,
                "session": one.session,
                "message_id": one.message_id,
                "at": one.at and one.at.isoformat(),
            }
        )
        + "\n"
        for one in turns
    )


def _said(number: int, text: str) -> Turn:
    at = NOON + timedelta(days=number)
    return Turn(user=text, session=f"s{number}", message_id="m1", at=at)


def said(memory: Memstrata, owner: str = OWNER) -> list[str]:
    """Sessions of the turns that the store knows, in order."""
    events = (entry.event for entry in memory.log(owner))
    return [event.context.session for event in events if isinstance(event, Judged)]


def produced(memory: Memstrata, owner: str = OWNER) -> dict[str, list[Any]]:
    """All that each turn wrote, in order, by the turn's session; ids left out, which differ everywhere.

    An event that belongs to no turn that is there stands under "".
    """
    entries = list(memory.log(owner))
    session_of = {
        entry.event.correlation_id: entry.event.context.session
        for entry in entries
        if isinstance(entry.event, Judged)
    }
    found: dict[str, list[Any]] = {}
    for entry in entries:
        event = entry.event
        statement = getattr(event, "statement", None)
        told = [event.TOPIC, statement and (statement.content, statement.value)]
        told += [
            getattr(event, name, None) for name in ("action", "outcome", "reason", "rule", "kind", "how")
        ]
        found.setdefault(session_of.get(event.correlation_id, ""), []).append(told)
    return found


def view(memory: Memstrata, owner: str = OWNER) -> list[tuple[str, str, str]]:
    """What each memory says now, in no state that is told by ids."""
    rows = [one.memory for status in ("active", "held", "ended") for one in memory.by_status(owner, status)]
    return sorted((row.status, row.content, row.value or "") for row in rows)


def batches_are_whole(memory: Memstrata, owner: str = OWNER) -> bool:
    """Whether each batch that was opened was closed too, and wrote what it says."""
    events = [entry.event for entry in memory.log(owner)]
    opened = [event.batch_id for event in events if isinstance(event, BatchOpened)]
    closed = {event.batch_id: event.written for event in events if isinstance(event, BatchClosed)}
    written = {batch: sum(event.correlation_id == batch for event in events) - 2 for batch in opened}
    return closed == written


def holds(memory: Memstrata) -> bool:
    """Whether the log verifies and every projected row is what the events say."""
    return all(report.ok for report in memory.verify()) and memory.rebuild(check=True).same
