"""`memory_versions`: every version ever, and when which version was known to hold.

The second is bitemporal. Each event that changes what holds closes the rows that are gone and opens
the new ones at its position, so that an undo needs no rule of its own: it changes what holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..domain.events import Created, Erased, Expired, RolledBack, Superseded, Updated
from ..domain.history import struck_versions
from ..domain.memory import Memory, Status
from ..domain.stream import RecordedEvent
from .rows import PeriodRow, VersionRow

CHANGES_WHAT_HOLDS = (Created, Updated, Superseded, Expired, RolledBack, Erased)


@dataclass(frozen=True, slots=True)
class Holding:
    """That a version holds over a period of valid time, while the memory has a status."""

    number: int
    status: Status
    valid_from: datetime
    valid_to: datetime | None


def holdings(memory: Memory) -> frozenset[Holding]:
    """What holds after the events of the memory, and when; nothing once it is erased."""
    status = memory.status
    if status == "erased":
        return frozenset()
    return frozenset(Holding(p.version, status, p.valid_from, p.valid_to) for p in memory.periods)


def opened(memory: Memory, new: Iterable[Holding], position: int) -> list[PeriodRow]:
    """Rows for what holds since the position, ascending by the start of their validity."""
    rows = []
    for holding in sorted(new, key=lambda h: h.valid_from):
        version = memory.versions[holding.number - 1]
        rows.append(
            PeriodRow(
                memory_id=memory.memory_id,
                number=holding.number,
                kind=version.kind,
                status=holding.status,
                scope_kind=version.statement.scope.kind,
                scope_anchor=version.statement.scope.anchor,
                valid_from=holding.valid_from,
                valid_to=holding.valid_to,
                known_from=position,
                known_to=None,
            )
        )
    return rows


def strikes(entries: Sequence[RecordedEvent]) -> dict[int, str]:
    """By stream version of each event that is undone: the first batch in force that undid it."""
    struck = struck_versions(entries)
    batches: dict[int, str] = {}
    for entry in entries:
        if isinstance(entry.event, RolledBack) and entry.stream_version not in struck:
            for name in entry.event.names:
                batches.setdefault(name, entry.event.batch_id)
    return batches


def version_rows(memory: Memory, *, after: int = 0) -> list[VersionRow]:
    """The versions with a number greater than `after`, ascending; those that are undone too."""
    struck, erased = strikes(memory.entries), memory.status == "erased"
    rows = []
    for version in memory.versions[after:]:
        entry, event = version.entry, version.entry.event
        assert isinstance(event, Created | Updated)
        rows.append(
            VersionRow(
                memory_id=memory.memory_id,
                number=version.number,
                stream_version=entry.stream_version,
                position=entry.position,
                recorded_at=entry.recorded_at,
                kind=version.kind,
                of=event.of if isinstance(event, Updated) else None,
                in_force=version.in_force,
                struck_by=struck.get(entry.stream_version),
                actor=event.actor,
                correlation_id=event.correlation_id,
                policy=event.policy,
                based_on=event.based_on,
                caused_by=event.caused_by,
                statement=None if erased else version.statement,
            )
        )
    return rows
