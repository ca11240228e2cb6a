"""An event in its envelope, before and after it was recorded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from .events import Event
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
