"""An event in its envelope, before and after it was recorded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from .events import (
    BatchClosed,
    BatchOpened,
    Created,
    Endorsed,
    Erased,
    Event,
    Expired,
    Judged,
    ProcessChanged,
    Proposed,
    Superseded,
    TaskChanged,
    Updated,
)
from .values import EventRef


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event that wants to become the `stream_version`-th of its stream (the first is 1)."""

    stream_id: str
    stream_version: int
    event: Event

    @property
    def ref(self) -> EventRef:
        """How other events name this one."""
        return EventRef(stream=self.stream_id, version=self.stream_version)


class RecordedEvent(NamedTuple):
    """An event with what the store gave it.

    `position` is its place in the partition's log: gapless, in commit order, never reused, from 1.
    `recorded_at` is when it was learned, set by the store in the append's transaction, UTC.
    """

    position: int
    stream_id: str
    stream_version: int
    recorded_at: datetime
    event: Event
    owner_ref: bytes = b""

    @property
    def ref(self) -> EventRef:
        """How other events name this one."""
        return EventRef(stream=self.stream_id, version=self.stream_version)


StreamKind = Literal["memory", "turn", "ledger"]

_KINDS: dict[type[Event], StreamKind] = {
    Created: "memory",
    Updated: "memory",
    Superseded: "memory",
    Expired: "memory",
    Endorsed: "memory",
    Erased: "memory",
    Judged: "turn",
    TaskChanged: "ledger",
    ProcessChanged: "ledger",
    BatchOpened: "ledger",
    BatchClosed: "ledger",
}


def kind_of(entry: RecordedEvent) -> StreamKind | None:
    """What the stream of an event is; None for a `RolledBack`, which every stream may hold.

    A proposal stays with its turn, unless it targets the stream that it is in: that is a memory.
    """
    event = entry.event
    if isinstance(event, Proposed):
        return "memory" if event.target == entry.stream_id else "turn"
    return _KINDS.get(type(event))
