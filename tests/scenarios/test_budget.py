"""What fits into a budget is chosen by what lines cost at least, before they are read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memstrata import Memstrata, Turn
from memstrata.application.recall import _may_fit, _said_in, estimated_tokens

OWNER = "acme/lin"


@pytest.mark.parametrize(
    "content", ["用户喜欢面条", "The user likes noodles", "用户用 Python 写代码", "短", "x"]
)
@pytest.mark.parametrize("month", range(1, 13))
def test_what_fits_is_never_left_unread(content: str, month: int) -> None:
    cost = estimated_tokens(f"{content}{_said_in(content, datetime(2026, month, 28, tzinfo=UTC))}")

    assert _may_fit(content, cost)
    assert _may_fit(content, cost + 1)


def test_what_cannot_fit_is_not_read() -> None:
    assert not _may_fit("用户喜欢面条", 6)
    assert not _may_fit("The user likes noodles", 5)


def test_a_short_line_fits_behind_a_longer_one_that_does_not() -> None:
    with Memstrata.open("sqlite://") as memory:
        said = ["I live in Leeds", "I like tea", "I have a cat called Tom", "我喜欢吃荔枝和火龙果还有榴莲"]
        memory.ingest(OWNER, [Turn(user=text, session="s1") for text in said])
        every = memory.context(OWNER, "tea", budget=1_000)
        assert len(every) >= len(said)

        for budget in range(1, sum(line.cost for line in every) + 1):
            chosen, left = [], budget
            for line in every:
                if line.cost <= left:
                    chosen.append(line.text)
                    left -= line.cost
            assert [line.text for line in memory.context(OWNER, "tea", budget=budget)] == chosen
