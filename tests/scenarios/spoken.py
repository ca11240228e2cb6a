"""A conversation on the real gate, told turn by turn on a clock that follows it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from memstrata import Memstrata, Turn
from memstrata.application.reports import TurnReport
from memstrata.domain.events import BatchClosed, BatchOpened, Judged, Proposed, RolledBack, Updated
from memstrata.projections.ports import Listed

OWNER = "acme/lin"


class ManualClock:
    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        self.moment += timedelta(milliseconds=1)
        return self.moment


class Conversation:
    """One owner talks; each turn is recorded at the moment it is said."""

    def __init__(self, start: datetime, url: str = "sqlite://") -> None:
        self.clock = ManualClock(start)
        self.memory = Memstrata.open(url, clock=self.clock)
        self.turns: list[Turn] = []

    def says(self, text: str, at: datetime | None = None, **turn: Any) -> TurnReport:
        self.clock.moment = at or self.clock.moment + timedelta(minutes=1)
        given: dict[str, Any] = {"session": "s1", "assistant": "好的。", "tz": "Asia/Shanghai", **turn}
        self.turns.append(Turn(user=text, at=self.clock.moment, **given))
        return self.memory.ingest(OWNER, [self.turns[-1]]).turns[0]

    def listed(self, **when: Any) -> list[Listed]:
        return list(self.memory.memories(OWNER, **when))

    def active(self, **when: Any) -> list[str]:
        """Contents that hold, oldest memory first."""
        return [one.statement.content for one in self.listed(**when) if one.statement is not None]

    def written_since(self, position: int) -> list[str]:
        """Every event after a position but judgements, accepted proposals and a batch's frame."""
        told = []
        for entry in self.memory.log(OWNER, after_position=position):
            event = entry.event
            if isinstance(event, Judged | BatchOpened | BatchClosed):
                continue
            if isinstance(event, Proposed):
                if event.outcome != "accepted":
                    told.append(f"Proposed({event.outcome}, {event.reason})")
                continue
            kind = getattr(event, "kind", None) if isinstance(event, Updated) else None
            named = f"({','.join(map(str, event.names))})" if isinstance(event, RolledBack) else ""
            told.append(type(event).__name__ + (f"({kind})" if kind else named))
        return told

    @property
    def position(self) -> int:
        return self.memory.store.head_position()

    def check(self) -> None:
        """What holds after every story: rebuild = live, the chain verifies, nothing new on repeat."""
        before = self.position
        for turn in self.turns:
            self.memory.ingest(OWNER, [turn])
        assert self.position == before
        assert self.memory.rebuild(check=True).same
        assert [report.problem for report in self.memory.verify()] == [None]
