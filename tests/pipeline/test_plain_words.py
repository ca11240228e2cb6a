"""What people say of themselves in a few plain words, and remarks that hold nothing lasting.

The statements were made up before it was looked at whether the gate finds them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memstrata import Memstrata, Turn

GOLD = Path(__file__).parent / "gold"


def share_kept(name: str) -> float:
    """Of the lines of a file, each told by somebody else, the share that left something behind."""
    lines = GOLD.joinpath(f"plain_{name}.txt").read_text("utf-8").splitlines()
    owners = [f"acme/teller-{number}" for number in range(len(lines))]
    at = datetime(2026, 10, 8, 9, tzinfo=UTC)
    with Memstrata.open(":memory:") as memory:
        for owner, line in zip(owners, lines, strict=True):
            memory.ingest(owner, [Turn(user=line, session="s", at=at)])
        return sum(bool(memory.memories(owner)) for owner in owners) / len(lines)


@pytest.mark.parametrize(("language", "least"), [("en", 0.91), ("zh", 0.86)])
def test_what_is_said_plainly_is_kept(language: str, least: float) -> None:
    assert share_kept(f"{language}_kept") >= least


@pytest.mark.parametrize("language", ["en", "zh"])
def test_remarks_leave_nothing(language: str) -> None:
    assert share_kept(f"{language}_passing") <= 0.03
