"""Turns for the tests of faults, and what must hold of a store whatever happened to it."""

from datetime import UTC, datetime, timedelta

from memstrata import Memstrata, Turn

OWNER = "acme/lin"
NOON = datetime(2026, 10, 15, 12, tzinfo=UTC)
CITIES = ("成都", "绵阳", "杭州", "苏州", "上海", "北京", "广州", "深圳")


def turn(number: int) -> Turn:
    """The n-th turn: the user moved again."""
    return Turn(
        user=f"我现在住在{CITIES[number % len(CITIES)]}",
        session=f"s{number}",
        message_id="m1",
        at=NOON + timedelta(days=number),
    )


def said(memory: Memstrata) -> list[str]:
    """Sessions of the turns that the store knows, in order."""
    return [entry.event.context.session for entry in memory.log(OWNER) if entry.event.TOPIC == "turn.judged"]


def holds(memory: Memstrata) -> bool:
    """Whether the log verifies and every projected row is what the events say."""
    return all(report.ok for report in memory.verify()) and memory.rebuild(check=True).same
