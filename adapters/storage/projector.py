"""Where projections meet the append: rows that must be true as soon as the events are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlalchemy import Connection

from ...domain.stream import RecordedEvent


class InlineProjector(Protocol):
    """Writes projection rows in the transaction that appends the events."""

    def create_tables(self, connection: Connection) -> None:
        """Create what is missing. Called at each opening; must not write when nothing is missing."""

    def apply(
        self, connection: Connection, part: int, owner_ref: bytes, events: Sequence[RecordedEvent]
    ) -> None:
        """Apply one owner's new events, in ascending position. An error undoes the whole append."""
